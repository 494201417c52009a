"""The rows of a large build, read by another process: the same answers, and the behaviour if that process fails."""

import os
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from tests import builds
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.errors import BuildUnreadable
from warehouse.read import reader, reading
from warehouse.read.memory import Memory
from warehouse.read.reader import Warehouse

WAIT = 20.0
"""Seconds until a process must have ended."""


@pytest.fixture
def published(tmp_path: Path) -> Path:
    builds.small(tmp_path / "published")
    return tmp_path / "published"


def build_in(published: Path) -> Path:
    [file] = published.glob("warehouse-*.duckdb")
    return file


def test_the_rows_are_those_that_this_process_reads(published: Path) -> None:
    apart, here = reading.read_in_process(build_in(published), is_urgent=True), Memory(build_in(published))
    listed, count = here.companies(search=None, exchange=None, limit=200, offset=0)
    assert count > 2
    assert apart.companies(search=None, exchange=None, limit=200, offset=0) == (listed, count)
    for company in listed:
        assert apart.coverage(company.symbol) == here.coverage(company.symbol)
        assert apart.valuation(company.symbol) == here.valuation(company.symbol)
        bounds = {"since": date(1990, 1, 1), "until": None, "limit": 200}
        assert apart.revisions(company.symbol, SERVED_NAMES, **bounds) == here.revisions(
            company.symbol, SERVED_NAMES, **bounds
        )
        for items in (SERVED_NAMES, SERVED_NAMES[::-1], SERVED_NAMES[1:4]):
            told = [each.financials(company.symbol, "ttm", items, **bounds) for each in (apart, here)]
            assert told[0] == told[1]


def test_a_damaged_build_is_named_with_the_reason(published: Path) -> None:
    file = build_in(published)
    file.chmod(0o600)
    file.write_bytes(b"no database" * 1000)
    with pytest.raises(BuildUnreadable, match=rf"{file}: .*not a valid DuckDB database[^\n]*$"):
        reading.read_in_process(file, is_urgent=False)


def test_a_process_that_is_killed_is_an_error(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading.sys, "executable", "/bin/false")
    with pytest.raises(BuildUnreadable, match="its reader ended with status 1"):
        reading.read_in_process(build_in(published), is_urgent=False)


def test_the_process_ends_with_the_one_that_serves(published: Path) -> None:
    """It cannot finish, because nobody reads its result: it ends only because its parent ends."""
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-m', 'warehouse.read.reading', sys.argv[1], '0'],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "os.kill(child.pid, __import__('signal').SIGSTOP)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(build_in(published))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    os.kill(child, signal.SIGCONT)
    ends = time.monotonic() + WAIT
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2][:3]:
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_only_the_first_build_is_urgent(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its rows are read, DuckDB answers; later the rows of the build before do."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    said = []

    def read(file: Path, *, is_urgent: bool) -> Memory:
        said.append(is_urgent)
        return Memory(file)

    warehouse = Warehouse(published, Memory, read)
    for number in (2, 3):
        with warehouse.build():
            pass
        if warehouse._reading:
            warehouse._reading.join()
        builds.small(published, f"b{number}")
    warehouse.close()
    assert said == [True, False]


def test_a_reader_that_cannot_be_started_is_an_error(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, no memory, or no folder for temporary files."""
    monkeypatch.setattr(reading.sys, "executable", "/nowhere/python")
    with pytest.raises(BuildUnreadable, match=r"no process can read its rows: .*No such file"):
        reading.read_in_process(build_in(published), is_urgent=False)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [BuildUnreadable("too large"), MemoryError()])
def test_a_build_whose_rows_cannot_be_read_is_served_and_the_next_one_too(
    published: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """DuckDB answers instead; later builds are taken over as usual."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    failures = iter([error])

    def read(file: Path, *, is_urgent: bool) -> Memory:
        if failure := next(failures, None):
            raise failure
        return Memory(file)

    warehouse = Warehouse(published, Memory, read)
    served = []
    for number in (2, 3, 4):
        with warehouse.build():
            pass
        if warehouse._reading:
            warehouse._reading.join()
        with warehouse.build() as build:
            served.append((build.pointer.build, build.memory is not None))
        builds.small(published, f"b{number}")
    warehouse.close()
    assert [has_rows for _, has_rows in served] == [False, True, True]
    assert [build for build, _ in served][1:] == ["b2", "b3"]
