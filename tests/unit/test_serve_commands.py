"""The command line: output, exit statuses, and the service as a process."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

import fundamentals
import pipelines.dagster_app
from serve.access import accounts
from serve.cli import workers
from serve.http import server
from serve.http.edge import Front
from tests import builds

ROOT = Path(__file__).parents[2]
EMAIL = "reader@example.org"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate home for every test, without other settings in the environment."""
    for name in [name for name in os.environ if name.startswith("FUNDAMENTALS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Check that the command exits with 1 after one line on standard error; return the line."""
    capsys.readouterr()
    assert fundamentals.main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"fundamentals: [^\n]+\n", printed.err)
    return printed.err


def test_a_key_is_printed_once_and_nothing_else(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fundamentals.main(["keys", "create", EMAIL]) == 0
    printed = capsys.readouterr()
    assert re.fullmatch(r"fds_live_[0-9A-Za-z]{40}\n", printed.out)
    assert printed.err == ""
    assert (home / "accounts.sqlite").exists()


def test_keys_are_listed_and_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    fundamentals.main(["keys", "create", EMAIL])
    key = capsys.readouterr().out.strip()
    assert fundamentals.main(["keys", "list", EMAIL, "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert listed.keys() == {"id", "prefix", "last_four", "created_at", "last_used_at", "revoked_at"}
    assert (listed["prefix"], listed["last_four"], listed["revoked_at"]) == ("fds_live_", key[-4:], None)
    assert fundamentals.main(["keys", "revoke", listed["id"]]) == 0
    assert fundamentals.main(["keys", "list", EMAIL]) == 0
    line = capsys.readouterr().out
    assert re.fullmatch(rf"{listed['id']}  fds_live_…{key[-4:]}  created \S+Z  last used never  revoked \S+Z\n", line)
    assert key not in line


def test_a_home_is_private_after_any_command(home: Path) -> None:
    """A home that a command makes, and a home that others could read before it."""
    fundamentals.main(["keys", "create", EMAIL])
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    for command in (["keys", "list", EMAIL], ["explain", "XQORC", "revenue", "FY2024"]):
        home.chmod(0o755)
        fundamentals.main(command)
        assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_subscriptions_are_set(capsys: pytest.CaptureFixture[str]) -> None:
    fundamentals.main(["keys", "create", EMAIL])
    assert [fundamentals.main(["subscriptions", "set", EMAIL, status]) for status in ("active", "inactive")] == [0, 0]


def test_failures_are_reported_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is not a folder" in fails(capsys, "keys", "list", EMAIL)
    assert "is not a folder" in fails(capsys, "serve", "--port", "0")
    fundamentals.main(["keys", "create", EMAIL])
    assert "there is no account" in fails(capsys, "keys", "list", "nobody@example.org")
    assert "there is no account" in fails(capsys, "subscriptions", "set", "nobody@example.org", "active")
    assert "no key has the id" in fails(capsys, "keys", "revoke", "key_0")
    assert "is not an e-mail address" in fails(capsys, "keys", "create", "nobody")
    monkeypatch.setattr(accounts, "MOST_KEYS", 1)
    assert "has 1 active keys and can have no more; revoke one first" in fails(capsys, "keys", "create", EMAIL)
    assert "each worker counts the rate limits on its own" in fails(capsys, "serve", "--workers", "2")
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(home / "accounts.sqlite"))
    assert "FUNDAMENTALS_HOME" in fails(capsys, "keys", "create", EMAIL)
    assert "FUNDAMENTALS_HOME" in fails(capsys, "serve", "--port", "0")


def test_damaged_accounts_are_reported_with_what_to_do(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    (home / "accounts.sqlite").write_bytes(b"garbage, not a database" * 500)
    for arguments in (("keys", "list", EMAIL), ("accounts", "invite", EMAIL), ("serve", "--port", "0")):
        assert "is damaged: stop the service, and run `fundamentals restore PATH --accounts`" in fails(
            capsys, *arguments
        )


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    status = fundamentals.main(["--version"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (status, capsys.readouterr().out) == (0, f"fundamentals {project['version']}\n")


def test_an_unwritable_home_is_reported(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "is not writable" in fails(capsys, "serve", "--port", "0")


def test_an_address_that_is_in_use_or_invalid_is_reported(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen on 127.0.0.1 port {port}: Address already in use;" in fails(
            capsys, "serve", "--port", port
        )
    assert "cannot listen on 192.0.2.1" in fails(capsys, "serve", "--host", "192.0.2.1", "--port", "0")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing"],
        ["keys"],
        ["keys", "create"],
        ["subscriptions", "set", EMAIL, "perhaps"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "-1"],
        ["serve", "--port", "x"],
        ["serve", "--workers", "many"],
        ["sync", "--symbols", "A,,B"],
        ["sync", "--nothing"],
        ["sample"],
        ["accept", "12345678901"],
        ["accounts", "copy"],
        ["accounts", "copy", "--from", "a.sqlite", "--to", "b.sqlite"],
        ["builds", "forget"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert fundamentals.main(arguments) == 2
    assert capsys.readouterr().err.startswith("Usage: fundamentals")


def test_the_command_line_and_the_service_load_nothing_of_the_pipelines() -> None:
    """Which takes time, and changes how the process allocates memory."""
    code = "import sys, fundamentals, serve.cli.workers; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = {name.partition(".")[0] for name in loaded.split()}
    assert {"click", "serve", "warehouse"} <= packages
    assert packages & {"pipelines", "dagster", "polars", "pyarrow"} == set()


def test_sync_calls_the_pipelines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment gives the defaults of the command line; the exit status comes from the pipelines."""
    called = []
    module = types.ModuleType("pipelines.dagster_app.synchronize")

    def main(*given: object) -> int:
        called.append(given)
        return 3

    module.main = main  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pipelines.dagster_app.synchronize", module)
    monkeypatch.setattr(pipelines.dagster_app, "synchronize", module, raising=False)
    assert fundamentals.main(["sync"]) == 3
    fundamentals.main(["sync", "--source", "live", "--symbols", "ABCX, LNTR", "--full"])
    monkeypatch.setenv("FUNDAMENTALS_SOURCE", "mirror")
    monkeypatch.setenv("FUNDAMENTALS_SYMBOLS", "ABCX,FJRD")
    fundamentals.main(["sync"])
    assert called == [
        ("sample", (), False),
        ("live", ("ABCX", "LNTR"), True),
        ("mirror", ("ABCX", "FJRD"), False),
    ]


@contextmanager
def running(home: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`fundamentals serve` as a process on a free port: the process, its address and its output."""
    command = [sys.executable, "-m", "fundamentals", "serve", "--port", "0"]
    environment = {**os.environ, "FUNDAMENTALS_HOME": str(home)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            said = process.stderr.readline()
            found = re.match(r"serving (http://127\.0\.0\.1:\d+/v1) from ", said)
            assert found, said + process.stderr.read()
            yield process, found[1], said
        finally:
            process.kill()


def test_the_service_runs_as_a_process_and_stops_on_a_signal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Started before anything is published; other commands take effect while it runs; links have its public address."""
    fundamentals.main(["keys", "create", EMAIL])
    fundamentals.main(["subscriptions", "set", EMAIL, "active"])
    key = capsys.readouterr().out.strip()
    transport = httpx.HTTPTransport(
        retries=5
    )  # the line is printed when the socket listens, just before requests are answered
    with running(home) as (process, address, said), httpx.Client(base_url=address, transport=transport) as client:
        assert "nothing is published yet: run `fundamentals sync`" in said
        assert client.get("/status").json()["data"]["status"] == "degraded"
        builds.small(home / "published")
        profile = client.get("/companies/LNTR", headers={"X-Api-Key": key})
        assert profile.json()["data"]["links"]["financials"] == f"{address}/companies/LNTR/financials"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr
        *requests, last = process.stderr.read().splitlines()
        assert last == "stopped"
        assert [json.loads(line)["status"] for line in requests] == [200, 200]
        assert key not in "".join(requests)


def test_the_service_prints_the_state_of_the_build(home: Path) -> None:
    builds.small(home / "published")
    with running(home) as (_, _, said):
        assert said.endswith("build b1\n")
    (home / "published" / "CURRENT.json").write_text("nothing of the kind")
    with running(home) as (_, _, said):
        assert "CURRENT.json" in said


def test_serving_ends_with_status_0(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, with a stop signal before it starts."""
    builds.small(home / "published")
    real = server.server

    def stopping(app: Front, *settings: object) -> uvicorn.Server:
        made = real(app, *settings)  # type: ignore[arg-type]
        made.should_exit = True
        return made

    monkeypatch.setattr(workers, "server", stopping)
    assert fundamentals.main(["serve", "--port", "0"]) == 0
    assert capsys.readouterr().err.endswith("build b1\nstopped\n")


def test_without_a_command_all_commands_are_listed(capsys):
    """With a line about each, and status 0: nothing was wrong."""
    assert fundamentals.main([]) == 0
    told = capsys.readouterr().out
    for name in (
        "sync",
        "serve",
        "explain",
        "keys",
        "subscriptions",
        "accounts",
        "builds",
        "doctor",
        "backup",
        "restore",
    ):
        assert re.search(rf"^  {name}\s+[A-Z]", told, re.MULTILINE), name
