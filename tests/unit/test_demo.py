"""The demonstration: its example requests work, and it creates no key if it cannot serve."""

import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import httpx
import pytest

from serve.access.accounts import Accounts
from serve.access.holders import Holders
from serve.cli import demo
from serve.settings import Settings
from tests import builds

ROOT = Path(__file__).parents[2]
LAST_LINE = "warehouse.duckdb"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the small build; its path contains a blank."""
    home = tmp_path / "a home"
    builds.small(home / "published")
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(home))
    return home


@contextmanager
def demonstrated() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`python -m serve.cli.demo` as a process on a free port, and its output before it serves."""
    command = [sys.executable, "-m", "serve.cli.demo", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            printed = ""
            for line in process.stdout:
                printed += line
                if LAST_LINE in line:
                    break
            yield process, printed
        finally:
            process.kill()


def pasted(printed: str) -> list[str]:
    """The example lines to paste."""
    return re.findall(r"^curl .*$", printed, re.MULTILINE)


def test_the_requests_are_answered_and_the_file_opens(home: Path) -> None:
    with demonstrated() as (process, printed):
        answers = []
        for line in pasted(printed):
            program, option, header, url = shlex.split(line)
            name, _, key = header.partition(": ")
            assert (program, option, name) == ("curl", "-H", "X-Api-Key")
            assert url.startswith("http://127.0.0.1:")
            with httpx.Client(transport=httpx.HTTPTransport(retries=3)) as client:
                answers.append(client.get(url, headers={name: key}))
        assert [answer.status_code for answer in answers] == [200, 200, 200]
        companies, profile, financials = (answer.json()["data"] for answer in answers)
        assert [company["symbol"] for company in companies] == ["ABCX", "FJRD", "LNTR", "LNTR-B", "ODDY"]
        assert profile["symbol"] == "FJRD"
        assert [period["period"] for period in financials] == ["FY2024", "FY2023"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    file = printed.strip().splitlines()[-1].strip()
    assert file == str(home / "published" / "warehouse.duckdb")
    with duckdb.connect(file, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM companies").fetchall() == [(7,)]


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="bash or curl is missing")
@pytest.mark.usefixtures("home")
def test_the_lines_work_in_bash_unchanged() -> None:
    with demonstrated() as (_, printed):
        script = "\n".join(
            line.replace("curl ", "curl --silent --show-error --fail --retry 3 ", 1) for line in pasted(printed)
        )
        ran = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count('"api_version":"v1"') == 3


def test_the_requests_go_to_this_machine_whatever_the_public_address(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the key is valid, with an active subscription, when serving starts on the printed port.

    If the account has as many keys as it may have, the oldest one is revoked.
    """
    accounts = Accounts(home / "accounts.sqlite")
    for number in range(10):
        accounts.create_key(demo.EMAIL, number)
    served = []

    def run(settings: Settings, listener: socket.socket) -> None:
        served.append((settings, listener.getsockname()[1]))

    monkeypatch.setattr(demo, "run", run)
    monkeypatch.setenv("FUNDAMENTALS_BASE_URL", "https://data.example.org/v1")
    assert demo.main(["--port", "0"]) == 0
    printed = capsys.readouterr().out
    [(settings, port)] = served
    assert settings == Settings(home, "https://data.example.org/v1")
    assert len(pasted(printed)) == 3
    assert all(f"'http://127.0.0.1:{port}/v1/companies" in line for line in pasted(printed))
    assert [key.revoked_at is None for key in accounts.keys_of(demo.EMAIL)] == [False] + [True] * 10
    holders = Holders(accounts, lambda: 1.0)
    holder = holders.who(re.findall(r"^  (fds_live_\w{40})$", printed, re.MULTILINE)[0].encode())
    holders.close()
    accounts.close()
    assert holder
    assert holder.is_active


def fails(home: Path, capsys: pytest.CaptureFixture[str], port: str = "0") -> str:
    """Check that the demonstration exits with 1 without a key; return its one line on standard error."""
    assert demo.main(["--port", port]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"demo: [^\n]+\n", printed.err)
    assert not (home / "accounts.sqlite").exists()
    return printed.err


def test_no_key_is_created_if_the_port_is_in_use(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port}: Address already in use" in fails(home, capsys, port)


def test_no_key_is_created_without_covered_companies(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    builds.publish_small(home / "published", "b2", {"companies": [builds.company("VOID", 6, first_period_end=None)]})
    assert "covers no company" in fails(home, capsys)
    (home / "published" / "CURRENT.json").write_text("nothing of the kind")
    assert "covers no company" in fails(home, capsys)  # of the build before, which is served instead
    for kept in (home / "published").glob("warehouse-*.json"):
        kept.unlink()
    assert "CURRENT.json" in fails(home, capsys)
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(home / "elsewhere"))
    assert "no data has been published yet; run `fundamentals sync`" in fails(home, capsys)


def test_a_company_without_annual_values_is_used_if_there_is_no_other(home: Path) -> None:
    rows = {"companies": [builds.company("ODDY", 4)]}
    builds.publish_small(home / "published", "b2", rows)
    assert demo._covered_symbol(home / "published") == "ODDY"
