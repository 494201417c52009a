"""The rows of a build in memory: their answers, and when they are read."""

import itertools
import random
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from serve.api import responses
from tests import builds
from tests.servers import PATIENCE
from warehouse.build import overlay, publish
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import FinancialPeriod, Values, json_number
from warehouse.read import reader
from warehouse.read.memory import Lines, Memory
from warehouse.read.reader import OpenBuild, Warehouse
from warehouse.read.reading import read_in_process

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


def told(
    build: OpenBuild, symbol: str, kind: str, items: Sequence[str], since: date | None, until: date | None, limit: int
) -> list[FinancialPeriod]:
    """Periods, as DuckDB finds them."""
    columns = ", ".join(items)
    rows = build.rows(
        f"SELECT period, CAST(period_end AS VARCHAR), fiscal_year, fiscal_quarter, {columns} FROM financials "
        f"WHERE symbol = $symbol AND period_kind = $kind AND coalesce({columns}) IS NOT NULL "
        "AND period_end BETWEEN coalesce($since, DATE '1900-01-01') AND coalesce($until, DATE '2900-01-01') "
        "ORDER BY period_end DESC LIMIT $limit",
        {"symbol": symbol, "kind": kind, "since": since, "until": until, "limit": limit},
    )
    named = [(head, zip(items, values, strict=True)) for *head, values in ((*row[:4], row[4:]) for row in rows)]
    return [
        FinancialPeriod(*head, Values({item: json_number(value) for item, value in values if value is not None}))
        for head, values in named
    ]


def test_periods_are_cut_out_of_the_text_of_all_items(build: OpenBuild) -> None:
    """Whatever the items, their order and the bounds; pages get the same periods."""
    found = 0
    for symbol, items, bounds in itertools.product(("LNTR", "ABCX", "FJRD", "ODDY"), ITEMS, BOUNDS):
        for kind in ("ttm", "annual"):
            rows = told(build, symbol, kind, items, **bounds)
            text, count = build.memory.financials(symbol, kind, items, **bounds)
            assert (bytes(text), count) == (responses.encoded(rows), len(rows)), (symbol, items, bounds)
            found += count
        assert build.memory.periods(symbol, "ttm", items, 200) == told(build, symbol, "ttm", items, None, None, 200)
    assert found > 100


def test_letters_have_the_lower_case_that_duckdb_gives_them(build: OpenBuild) -> None:
    """All of Unicode, one by one and next to each other: a final sigma is no other letter."""
    lower = build.memory._lower
    letters = [chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    random.Random(0).shuffle(letters)
    texts = ["".join(letters[start : start + 1000]) for start in range(0, len(letters), 1000)]
    texts += ["ΑΣ", "İstanbul", "ẞ", "ﬁ"]
    [(folded,)] = build.rows("SELECT list_transform($texts, lambda text: lower(text))", {"texts": texts})
    assert folded == [text.translate(lower) for text in texts]


@pytest.mark.parametrize(
    ("search", "exchange", "found"),
    [
        ("ln", None, ["LNTR", "LNTR-B"]),
        (".*", None, []),
        ("FJÖRD", None, ["FJRD"]),
        (None, "nasdaq", ["LNTR", "LNTR-B"]),
        ("n", "none", []),
        (None, "ÖTC", []),
    ],
)
def test_companies_are_found_by_text(
    build: OpenBuild, search: str | None, exchange: str | None, found: list[str]
) -> None:
    rows, total = build.memory.companies(search=search, exchange=exchange, limit=50)
    assert ([row.symbol for row in rows], total) == (found, len(found))
    if found:
        rest, total = build.memory.companies(search=search, exchange=exchange, limit=1, offset=1)
        assert ([row.symbol for row in rest], total) == (found[1:2], len(found))


@pytest.mark.parametrize(
    ("symbol", "found"), [("lntr-b", "LNTR-B"), ("GONE", None), ("VOID", None), ("NOPE", None), ("ſ", None), ("", None)]
)
def test_a_company_is_found_by_its_symbol(build: OpenBuild, symbol: str, found: str | None) -> None:
    company = build.memory.company(symbol)
    assert (company and company.symbol) == found


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[Memory]:
    """The rows that were read of whole builds."""
    made: list[Memory] = []
    read = Memory.__init__

    def noted(memory: Memory, connection: duckdb.DuckDBPyConnection) -> None:
        made.append(memory)
        read(memory, connection)

    monkeypatch.setattr(Memory, "__init__", noted)
    return made


@pytest.fixture
def warehouse(published: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    """A warehouse with builds that have overlays, as the service opens it."""
    monkeypatch.setattr(overlay, "MIN_FILE_SIZE", 0)
    warehouse = Warehouse(published, read_in_process)
    yield warehouse
    warehouse.close()


def revenues_of(warehouse: Warehouse, symbol: str) -> bytes:
    """The revenues in memory, as JSON."""
    with warehouse.build() as build:
        assert build.has_rows
        [text, _] = build.memory.financials(symbol, "ttm", ("revenue",), limit=200)
        return bytes(text)


def test_of_a_build_with_an_overlay_only_the_rows_that_differ_are_read(
    published: Path, warehouse: Warehouse, whole: list[Memory]
) -> None:
    """The answers equal the answers of a service that reads all rows."""
    assert names(warehouse) == ("b1", True)
    for build_id, revenue in (("b2", 4321.0), ("b3", 5432.0)):
        made, rows = builds.renewed(published, build_id, revenue)
        builds.point(published, made)
        assert names(warehouse) == (build_id, True)
        symbol = rows["financials"][0]["symbol"]
        assert b"%d" % revenue in revenues_of(warehouse, symbol)
    assert len(whole) == 1
    other = Warehouse(published)
    with warehouse.build() as build, other.build() as same:
        assert not same.has_rows
        listed, count = same.memory.companies(limit=50)
        assert (listed, count) == build.memory.companies(limit=50)
        for company, bounds in itertools.product(listed, BOUNDS):
            answers = [
                (
                    each.coverage(company.symbol),
                    each.revisions(company.symbol, SERVED_NAMES, **bounds),
                    each.financials(company.symbol, "ttm", SERVED_NAMES, **bounds),
                )
                for each in (build.memory, same.memory)
            ]
            assert answers[0] == answers[1]
    other.close()


def test_an_overlay_that_renews_no_company_leaves_all_rows_as_they_are(
    published: Path, warehouse: Warehouse, whole: list[Memory]
) -> None:
    assert names(warehouse) == ("b1", True)
    before = revenues_of(warehouse, "LNTR")
    builds.publish_overlaid(published)
    assert names(warehouse) == ("b2", True)
    assert (revenues_of(warehouse, "LNTR"), len(whole)) == (before, 1)


@pytest.mark.parametrize("unknown", [True, False], ids=["an earlier release", "back to a build before"])
def test_all_rows_are_read_if_it_is_unknown_which_differ(
    published: Path, warehouse: Warehouse, whole: list[Memory], unknown: bool
) -> None:
    """A build of an earlier release does not name the companies; rows read after such a build may be newer than the
    rows before.
    """
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
        return build.pointer.build, build.has_rows


def test_a_small_build_is_in_memory_at_once(published: Path) -> None:
    warehouse = Warehouse(published, read_in_process)
    assert warehouse.in_memory() is None
    assert names(warehouse) == ("b1", True)
    assert warehouse.in_memory()
    builds.small(published, "b2")
    assert warehouse.in_memory() is None, "another one has to be opened"
    assert names(warehouse) == ("b2", True)
    (published / "CURRENT.json").unlink()
    assert warehouse.in_memory()
    warehouse.close()


def test_a_command_reads_rows_at_its_first_question(published: Path, whole: list[Memory]) -> None:
    warehouse = Warehouse(published)
    assert names(warehouse) == ("b1", False)
    assert warehouse.in_memory() is None
    with warehouse.build() as build:
        assert build.memory is build.memory
    assert (names(warehouse), len(whole)) == (("b1", True), 1)
    warehouse.close()


def test_the_previous_build_is_served_while_the_rows_of_a_large_one_are_read(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request waits for the first build only."""
    monkeypatch.setattr(reader, "AT_ONCE", 1)
    may_read = threading.Event()

    def read(file: Path, *, is_urgent: bool) -> Memory:
        assert is_urgent or may_read.wait(PATIENCE)
        return read_in_process(file, is_urgent=is_urgent)

    def finish() -> None:
        opening = warehouse._opening
        may_read.set()
        assert opening
        opening.join()
        may_read.clear()

    warehouse = Warehouse(published, read)
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


def test_a_synchronization_without_a_new_build_reads_no_rows(published: Path, whole: list[Memory]) -> None:
    warehouse = Warehouse(published, read_in_process)
    assert names(warehouse) == ("b1", True)
    pointer = (published / "CURRENT.json").read_text()
    (published / "CURRENT.json").write_text(pointer.replace("}", "} ", 1))
    assert names(warehouse) == ("b1", True)
    assert len(whole) == 1
    warehouse.close()


def test_no_build_counts_as_in_memory_while_a_request_waits_for_a_new_one(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a request after a publication could get the build before."""
    seen = []
    read = Memory.__init__

    def noted(memory: Memory, connection: duckdb.DuckDBPyConnection) -> None:
        seen.append(warehouse.in_memory())
        read(memory, connection)

    monkeypatch.setattr(Memory, "__init__", noted)
    warehouse = Warehouse(published, read_in_process)
    assert names(warehouse) == ("b1", True)
    builds.small(published, "b2")
    assert names(warehouse) == ("b2", True)
    assert seen == [None, None]
    warehouse.close()
