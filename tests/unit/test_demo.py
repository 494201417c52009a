"""The demonstration: its example requests work, and it creates no key if it cannot serve."""

import os
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

import fundamentals
from serve.access.accounts import Accounts
from serve.access.holders import FileHolders
from serve.cli import demo, place
from serve.settings import Settings
from tests import builds
from warehouse.record import service_place

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


def test_the_requests_are_answered_and_the_file_opens(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pages that are named exist, and an invitation leads to the port that is served until the service stops."""
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
        assert profile["symbol"] == "LNTR"  # more items than others in its newest year
        assert [period["period"] for period in financials] == ["FY2024", "FY2023", "FY2022"]
        address = re.findall(r"^  (http://\S+)/sign-in\?token=[\w-]+", printed, re.MULTILINE)[0]
        pages = re.findall(rf"^  {address}(/\S*)  +\S", printed, re.MULTILINE)
        assert pages == ["/", "/companies", "/companies/LNTR", "/compare", "/reference", "/profile"]
        assert [httpx.get(address + page).status_code for page in pages] == [200, 403, 403, 403, 200, 403]
        assert fundamentals.main(["accounts", "invite", "a@example.org"]) == 0
        assert capsys.readouterr().out.startswith(f"{address}/sign-in?token=")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert not (home / service_place.NAME).exists()
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
    holders = FileHolders(accounts, lambda: 1.0)
    holder = holders.find_by_key(re.findall(r"^  (fds_live_\w{40})$", printed, re.MULTILINE)[0].encode())
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


@pytest.mark.skipif(not shutil.which("make"), reason="make is missing")
def test_make_run_checks_the_port_before_anything_else() -> None:
    """The message names the variable that chooses another port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = ["make", "run", f"PORT={taken.getsockname()[1]}"]
        # not as a part of the make that may run these tests: it would say which folder it enters
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "give another: make run PORT=" in ran.stderr


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
    covered = demo._covered(home / "published")
    assert (covered.symbol, covered.symbols) == ("ODDY", 1)


def test_an_invitation_after_a_killed_service_leads_to_the_default_port(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the file of the service is damaged; a service that stops leaves the file of a later one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for text in (f"127.0.0.1 {port}\n", "nothing of the kind", "127.0.0.1 99999999"):
        (home / service_place.NAME).write_text(text)
        assert fundamentals.main(["accounts", "invite", "a@example.org"]) == 0
        assert capsys.readouterr().out.startswith("http://127.0.0.1:8000/sign-in?token=")
    with place.announced(home, "127.0.0.1", 1), place.announced(home, "127.0.0.1", 2):
        (home / service_place.NAME).write_text("127.0.0.1 3\n")
    assert (home / service_place.NAME).read_text() == "127.0.0.1 3\n"
