"""The rows of a build in memory: the same answers as DuckDB, and when they are read."""

import itertools
import random
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serve.api import responses
from tests import builds
from warehouse.build import overlay, publish
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.queries import queries
from warehouse.read import reader
from warehouse.read.memory import Lines, Memory
from warehouse.read.reader import OpenBuild, Warehouse

END = date(2024, 3, 31)
BOUNDS: tuple[dict[str, Any], ...] = (
    {"since": None, "until": None, "limit": 200},
    {"since": END, "until": None, "limit": 200},
    {"since": END + timedelta(1), "until": None, "limit": 2},
    {"since": None, "until": END, "limit": 200},
    {"since": None, "until": END - timedelta(1), "limit": 3},
    {"since": END, "until": END, "limit": 1},
    {"since": END + timedelta(1), "until": END - timedelta(1), "limit": 1},
    {"since": date(1971, 6, 28), "until": date(1975, 9, 28), "limit": 40},
)
ITEMS = (
    SERVED_NAMES,
    ("roic",),
    ("free_cash_flow", "revenue"),
    SERVED_NAMES[3:9],
    (*SERVED_NAMES[5:], *SERVED_NAMES[:4]),
    SERVED_NAMES[:1] + SERVED_NAMES[2:],
)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    builds.small(tmp_path / "published")
    return tmp_path / "published"


@pytest.fixture
def build(published: Path) -> Iterator[OpenBuild]:
    warehouse = Warehouse(published)
    with warehouse.build() as build:
        yield build
    warehouse.close()


def same(build: OpenBuild, memory: Memory, name: str, *arguments: Any, **named: Any) -> Any:
    """The answer of DuckDB, which the memory gives too."""
    build.memory = None
    told = getattr(queries, name)(build, *arguments, **named)
    build.memory = memory
    assert getattr(queries, name)(build, *arguments, **named) == told, (name, arguments, named)
    return told


def test_the_answers_are_those_of_duckdb(build: OpenBuild, published: Path) -> None:
    memory = Memory(published / build.pointer.file)
    for text in (None, "l", "LNTR", ".*", "FJÖRD", "harbor works, inc.", "zzz"):
        same(build, memory, "companies", search=text, exchange=None, limit=2, offset=1)
    for exchange in ("nasdaq", "none", "ÖTC"):
        same(build, memory, "companies", search="n", exchange=exchange, limit=50, offset=0)
    for symbol in ("lntr-b", "GONE", "VOID", "NOPE", "ſ", ""):
        same(build, memory, "company", symbol)
    listed = [same(build, memory, "company", symbol) for symbol in ("LNTR", "ABCX", "FJRD", "ODDY")]
    for company in listed:
        same(build, memory, "annual_form", company.cik)
        same(build, memory, "valuation", company)
        same(build, memory, "coverage", company.symbol)
    found = 0
    for company, items, bounds in random.Random(0).sample(list(itertools.product(listed, ITEMS, BOUNDS)), 40):
        found += len(same(build, memory, "revisions", company, items, **bounds))
        for kind in ("ttm", "annual"):
            rows = queries.financials(build, company.symbol, kind, items, **bounds)
            encoded = responses.encoded([responses.period(row, items) for row in rows])
            assert memory.financials(company.symbol, kind, items, **bounds) == (encoded, len(rows)), (items, bounds)
            found += len(rows)
    assert found > 100


@pytest.fixture
def reads(published: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Warehouse, list[Path]]]:
    """A warehouse with builds that have overlays, and the files from which it has read all rows into memory."""
    monkeypatch.setattr(overlay, "MIN_FILE_SIZE", 0)
    whole: list[Path] = []
    warehouse = Warehouse(published, lambda file: whole.append(file) or Memory(file))  # type: ignore[func-returns-value]
    yield warehouse, whole
    warehouse.close()


def revenues_of(warehouse: Warehouse, symbol: str) -> bytes:
    """The revenues in memory, as JSON."""
    with warehouse.build() as build:
        assert build.memory
        [text, _] = build.memory.financials(symbol, "ttm", ("revenue",), since=None, until=None, limit=200)
        return bytes(text)


def test_of_a_build_with_an_overlay_only_the_rows_that_differ_are_read(
    published: Path, reads: tuple[Warehouse, list[Path]]
) -> None:
    """The answers equal the answers of a service that reads all rows."""
    warehouse, whole = reads
    assert names(warehouse) == ("b1", True)
    for build_id, revenue in (("b2", 4321.0), ("b3", 5432.0)):
        made, rows = builds.renewed(published, build_id, revenue)
        builds.point(published, made)
        assert names(warehouse) == (build_id, True)
        symbol = rows["financials"][0]["symbol"]
        assert b"%d" % revenue in revenues_of(warehouse, symbol)
    assert len(whole) == 1
    with warehouse.build() as build:
        all_rows = Memory(published / build.pointer.file)
        assert build.memory
        listed, count = all_rows.companies(search=None, exchange=None, limit=50, offset=0)
        assert (listed, count) == build.memory.companies(search=None, exchange=None, limit=50, offset=0)
        for company, bounds in itertools.product(listed, BOUNDS):
            for told in (build.memory, all_rows):
                same(build, told, "coverage", company.symbol)
                same(build, told, "revisions", company, SERVED_NAMES, **bounds)
            pair = [each.financials(company.symbol, "ttm", SERVED_NAMES, **bounds) for each in (build.memory, all_rows)]
            assert pair[0] == pair[1]


def test_an_overlay_that_renews_no_company_leaves_all_rows_as_they_are(
    published: Path, reads: tuple[Warehouse, list[Path]]
) -> None:
    warehouse, whole = reads
    assert names(warehouse) == ("b1", True)
    before = revenues_of(warehouse, "LNTR")
    builds.publish_overlaid(published)
    assert names(warehouse) == ("b2", True)
    assert (revenues_of(warehouse, "LNTR"), len(whole)) == (before, 1)


@pytest.mark.parametrize("unknown", [True, False], ids=["an earlier release", "back to a build before"])
def test_all_rows_are_read_if_it_is_unknown_which_differ(
    published: Path, reads: tuple[Warehouse, list[Path]], unknown: bool
) -> None:
    """A build of an earlier release does not name the companies; rows read after such a build may be newer than the
    rows before.
    """
    warehouse, whole = reads
    if unknown:
        assert names(warehouse) == ("b1", True)
    made, rows = builds.renewed(published)
    symbol = rows["financials"][0]["symbol"]
    builds.point(published, made)
    assert b"4321" in revenues_of(warehouse, symbol)
    if unknown:
        assert len(whole) == 1
        made, _ = builds.renewed(published, "b3", 5432.0)
        builds.point(published, made)
        pointer = published / "CURRENT.json"
        before = msgspec.json.decode(pointer.read_bytes())
        pointer.write_bytes(msgspec.json.encode({k: v for k, v in before.items() if k not in ("renewed", "seal")}))
        assert b"5432" in revenues_of(warehouse, symbol)
    else:
        publish.rollback(published)
        assert b"4321" not in revenues_of(warehouse, symbol)
    assert len(whole) == 2


def test_lines_are_found_by_their_text_alone() -> None:
    lines = Lines(["ab", "", "b.a", "ba\nab"])
    assert lines.lines_with("a") == {0, 2, 3}
    assert lines.lines_with("\nb") == {2, 3}
    assert lines.lines_with(".") == {2}
    assert lines.lines_with("\nab") == {0}, "a line feed in a line starts none"


def names(warehouse: Warehouse) -> tuple[str, bool]:
    """The current build, and whether its rows are in memory."""
    with warehouse.build() as build:
        return build.pointer.build, build.memory is not None


def test_a_small_build_is_in_memory_at_once(published: Path) -> None:
    warehouse = Warehouse(published, Memory)
    assert warehouse.in_memory() is None
    assert names(warehouse) == ("b1", True)
    assert warehouse.in_memory()
    builds.small(published, "b2")
    assert warehouse.in_memory() is None, "another one has to be opened"
    assert names(warehouse) == ("b2", True)
    (published / "CURRENT.json").unlink()
    assert warehouse.in_memory()
    warehouse.close()


def test_the_previous_build_is_served_while_the_rows_of_a_large_one_are_read(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first build is served by DuckDB meanwhile."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    may_read = threading.Event()

    def read(file: Path) -> Memory:
        may_read.wait()
        return Memory(file)

    def finish() -> None:
        reading = warehouse._reading
        may_read.set()
        assert reading
        reading.join()
        may_read.clear()

    warehouse = Warehouse(published, read)
    assert [names(warehouse) for _ in range(2)] == [("b1", False)] * 2
    finish()
    assert names(warehouse) == ("b1", True)
    builds.small(published, "b2")
    assert [names(warehouse) for _ in range(2)] == [("b1", True)] * 2
    assert warehouse.in_memory(), "no request waits"
    builds.small(published, "b3")
    assert names(warehouse) == ("b1", True)
    finish()
    assert names(warehouse) == ("b2", True)
    finish()
    assert names(warehouse) == ("b3", True)
    warehouse.close()


def test_a_synchronization_without_a_new_build_reads_no_rows(published: Path) -> None:
    read = []
    warehouse = Warehouse(published, lambda file: read.append(file) or Memory(file))  # type: ignore[func-returns-value]
    assert names(warehouse) == ("b1", True)
    pointer = (published / "CURRENT.json").read_text()
    (published / "CURRENT.json").write_text(pointer.replace("}", "} ", 1))
    assert names(warehouse) == ("b1", True)
    assert len(read) == 1
    warehouse.close()


def test_rows_that_cannot_be_read_are_left_to_duckdb(published: Path, caplog: pytest.LogCaptureFixture) -> None:
    warehouse = Warehouse(published, lambda file: Memory(file.with_name("nothing")))
    assert names(warehouse) == ("b1", False)
    assert "its queries take longer" in caplog.text
    warehouse.close()


def test_no_build_counts_as_in_memory_while_a_request_waits_for_a_new_one(published: Path) -> None:
    """Otherwise a request after a publication could get the build before."""
    seen = []

    def read(file: Path) -> Memory:
        seen.append(warehouse.in_memory())
        return Memory(file)

    warehouse = Warehouse(published, read)
    assert names(warehouse) == ("b1", True)
    builds.small(published, "b2")
    assert names(warehouse) == ("b2", True)
    assert seen == [None, None]
    warehouse.close()
