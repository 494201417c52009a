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
from warehouse.build.opening import open_read_only
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


def rows_of(file: Path, *, is_urgent: bool) -> Memory:
    """The rows of a build, read in this process."""
    with open_read_only(file) as connection:
        return Memory(connection)


def test_the_rows_are_those_that_this_process_reads(published: Path) -> None:
    apart, here = (read(build_in(published), is_urgent=True) for read in (reading.read_in_process, rows_of))
    listed, count = here.companies(limit=200)
    assert count > 2
    assert apart.companies(limit=200) == (listed, count)
    for company in listed:
        assert apart.coverage(company.symbol) == here.coverage(company.symbol)
        assert apart.valuation(company) == here.valuation(company)
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
    """Requests wait for its rows; later the rows of the build before answer."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    said = []

    def read(file: Path, *, is_urgent: bool) -> Memory:
        said.append(is_urgent)
        return rows_of(file, is_urgent=is_urgent)

    warehouse = Warehouse(published, read)
    for number in (2, 3):
        with warehouse.build():
            pass
        if warehouse._opening:
            warehouse._opening.join()
        builds.small(published, f"b{number}")
    warehouse.close()
    assert said == [True, False]


def test_a_reader_that_cannot_be_started_is_an_error(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, no memory, or no folder for temporary files."""
    monkeypatch.setattr(reading.sys, "executable", "/nowhere/python")
    with pytest.raises(BuildUnreadable, match=r"no process can read its rows: .*No such file"):
        reading.read_in_process(build_in(published), is_urgent=False)


def test_a_build_that_no_other_process_can_read_is_served_and_the_next_one_too(
    published: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """This process reads its rows."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    failures = iter([BuildUnreadable("no space"), None, BuildUnreadable("no space")])

    def read(file: Path, *, is_urgent: bool) -> Memory:
        if failure := next(failures):
            raise failure
        return rows_of(file, is_urgent=is_urgent)

    warehouse = Warehouse(published, read)
    served = []
    for number in (2, 3, 4):
        with warehouse.build():
            pass
        if warehouse._opening:
            warehouse._opening.join()
        with warehouse.build() as build:
            served.append((build.pointer.build, build.has_rows, warehouse.reason))
        builds.small(published, f"b{number}")
    warehouse.close()
    assert served == [("b1", True, None), ("b2", True, None), ("b3", True, None)]
    assert caplog.text.count("no space; this process reads its rows") == 2


def test_a_damaged_build_is_never_the_current_one(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows cannot be read in any process."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    warehouse = Warehouse(published, reading.read_in_process)
    with warehouse.build():
        builds.small(published, "b2", sync_id="s2")
    file = published / "warehouse-b2.duckdb"
    file.chmod(0o600)
    content = bytearray(file.read_bytes())
    for place in range(3 * 4096, len(content), 4096):  # after the headers
        content[place] ^= 1
    file.write_bytes(content)
    for warehouse_of in (warehouse, Warehouse(published, reading.read_in_process)):
        with warehouse_of.build():
            pass
        if warehouse_of._opening:
            warehouse_of._opening.join()
        with warehouse_of.build() as build:
            assert (build.pointer.build, build.has_rows, warehouse_of.reason) == ("b1", True, reader.FALLEN_BACK)
        warehouse_of.close()
