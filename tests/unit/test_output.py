"""A command that cannot write its output: its work is done all the same, and its exit status says so."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from pipelines.health import builds as doctors_builds
from pipelines.health import run_record
from pipelines.storage.home import Home
from tests import builds
from tests.servers import PATIENCE, PROJECT, active_key, wait_until
from warehouse.record import sqlite
from warehouse.record.service_place import of_service

EMAIL = "reader@example.org"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builds.small(tmp_path / "published")
    active_key(tmp_path, EMAIL)
    return tmp_path


def run(home: Path, shell: str) -> tuple[int, str]:
    """Exit status of a command of the shell, in which `fds` is the program, and its standard error."""
    script = f'fds() {{ "{sys.executable}" -m fundamentals "$@"; }}\nset -o pipefail\n{shell}'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=PROJECT,
        env={"FUNDAMENTALS_HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("shell", ["| true", "| (exec 0<&-; sleep 1)", "2>&- | cat", ">&- 2>&-", "2>/dev/full"])
def test_a_command_that_nobody_reads_has_the_status_of_its_work(home: Path, shell: str) -> None:
    assert run(home, f"fds keys list {EMAIL} {shell}") == (0, "")
    assert run(home, f"fds keys list other@example.org {shell}")[0] == 1


def test_a_full_disk_under_standard_output_is_one_line(home: Path) -> None:
    said = "fundamentals: standard output could not be written: No space left on device; the work is done\n"
    assert run(home, f"fds keys list {EMAIL} > /dev/full") == (0, said)


def test_a_service_serves_although_its_log_cannot_be_written(home: Path) -> None:
    command = [sys.executable, "-m", "fundamentals", "serve", "--port", "0"]
    environment = {"FUNDAMENTALS_HOME": str(home), "PATH": "/usr/bin:/bin"}
    with (
        Path("/dev/full").open("w") as full,
        subprocess.Popen(command, cwd=PROJECT, env=environment, stderr=full) as service,
    ):
        try:
            wait_until(lambda: service.poll() is not None or of_service(home))
            host, port = of_service(home) or ("", 0)
            assert httpx.get(f"http://{host}:{port}/v1/status").status_code == 200
        finally:
            service.terminate()
        assert service.wait(PATIENCE) == 0


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY])
def test_a_full_disk_is_no_damage_of_the_record_of_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The doctor would advise to delete a file that is whole."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = code
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster" / "runs.db").touch()
    monkeypatch.setattr(sqlite, "_opened", Mock(side_effect=error))
    with pytest.raises(OSError, match="cannot be examined: database or disk is full"):
        list(run_record.check(Home(tmp_path)))


def test_a_folder_in_the_place_of_the_pointer_has_to_be_moved(tmp_path: Path) -> None:
    (tmp_path / "published" / "CURRENT.json").mkdir(parents=True)
    [found] = doctors_builds.check(Home(tmp_path))
    assert found.advice.startswith("move the folder CURRENT.json away, and run `fundamentals sync`")
