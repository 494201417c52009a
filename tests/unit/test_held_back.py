"""A company that cannot be processed, or has rows that contradict each other, keeps its rows; the others go on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import duckdb
import polars as pl
import pytest

from pipelines.admin import acceptance
from pipelines.edgar.decode.documents import Submissions, decode_submissions
from pipelines.errors import PipelineError
from pipelines.run.plan import Outcome, run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages import facts, values_of_batch, versions_of_batch
from pipelines.stages.batch import batches, isolation
from pipelines.stages.batch.batches import Batch
from pipelines.storage import version_log
from pipelines.storage.home import Home
from pipelines.storage.lake import LakeError
from pipelines.tables import fair_values, row_gates, stored
from tests.mirrors import ALFA, BRAVO, CARGO, Mirror, companyfacts, write
from warehouse.build import publish, runs

GROWN_ALFA, GROWN_BRAVO = replace(ALFA, scale=150), replace(BRAVO, scale=250)


def synchronize(home: Home, mirror: Mirror) -> Outcome:
    return run_all(Synchronization(home, str(mirror.folder)))


def published(home: Home, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(home.published / "warehouse.duckdb"), read_only=True) as build:
        return build.execute(query).fetchall()


def rows_of_alfa(home: Home) -> dict[str, list[tuple[Any, ...]]]:
    """All published rows of the company, by table."""
    named = {name: f"SELECT * FROM {name} WHERE cik = '{ALFA.cik}' ORDER BY ALL" for name in stored.OF_COMPANIES}
    return {name: published(home, query) for name, query in named.items()}


def revenue(home: Home) -> dict[str, float]:
    """Revenue of fiscal 2024, by symbol."""
    return dict(published(home, "SELECT symbol, revenue FROM financials WHERE period = 'FY2024'"))


def contradicted(rows: row_gates.Rows) -> pl.DataFrame:
    """Rows that agree."""
    return rows["financials"].filter(pl.col("cik").is_in([ALFA.cik, CARGO.cik])).select("cik", "period")


def raising(function: Callable[..., Any], of: Callable[..., pl.DataFrame]) -> Callable[..., Any]:
    """A function that fails if the rows that it gets have one of the two companies."""

    def raise_for_two(*given: Any, **more: Any) -> Any:
        if of(*given)["cik"].is_in([ALFA.cik, CARGO.cik]).any():
            raise ZeroDivisionError("amounts of\nthis company")
        return function(*given, **more)

    return raise_for_two


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "gate contradicted": lambda patch: patch.setattr(row_gates, "GATES", (contradicted,)),
    "stage values": lambda patch: patch.setattr(
        values_of_batch, "standardize", raising(values_of_batch.standardize, lambda facts, *_: facts)
    ),
    "stage versions": lambda patch: patch.setattr(
        versions_of_batch, "to_append", raising(versions_of_batch.to_append, lambda _, replayed, *__: replayed)
    ),
    "stage tables": lambda patch: patch.setattr(
        fair_values, "of_series", raising(fair_values.of_series, lambda _, versions, *__: versions)
    ),
}


@pytest.mark.parametrize("place", FAULTS)
def test_a_company_at_fault_keeps_its_rows_and_is_named_while_all_others_are_published(
    place, synchronized, same_mirror, monkeypatch
):
    """A company that is new is left out. The log has nothing of either, until their rows can be published."""
    before = rows_of_alfa(synchronized)
    same_mirror.hold(GROWN_ALFA, GROWN_BRAVO, CARGO)
    same_mirror.list(ALFA, BRAVO, CARGO)
    with monkeypatch.context() as patch:
        FAULTS[place](patch)

        outcome = synchronize(synchronized, same_mirror)

        assert (outcome.held_back_by, outcome.counts["published"], outcome.counts["quarantined"]) == ([], 1, 2)
        assert revenue(synchronized) == {"ALFA": ALFA.trailing(2024, 4), "BRVO": GROWN_BRAVO.trailing(2024, 4)}
        assert rows_of_alfa(synchronized) == before
        named = published(synchronized, "SELECT cik, place FROM quarantine ORDER BY cik")
        assert named == [(ALFA.cik, place), (CARGO.cik, place)]
        counted = runs.read(synchronized.published).quarantined, publish.readable(synchronized.published).quarantined
        assert counted == (2, 2)
        log = publish.readable(synchronized.published).log
        assert version_log.read(synchronized.log, log[1:])["cik"].unique().to_list() == [BRAVO.cik]

        assert synchronize(synchronized, same_mirror).counts["published"] == 0  # each run finds the same
        with pytest.raises(PipelineError, match=f"CIK {ALFA.cik} is held back by an error of the service"):
            acceptance.accept(ALFA.cik)

    outcome = synchronize(synchronized, same_mirror)

    assert (outcome.counts["published"], outcome.counts["quarantined"]) == (1, 0)
    grown = {"ALFA": GROWN_ALFA.trailing(2024, 4), "BRVO": GROWN_BRAVO.trailing(2024, 4)}
    assert revenue(synchronized) == {**grown, "CRGO": CARGO.trailing(2024, 4)}
    of_alfa = f"SELECT count(*) FROM versions WHERE cik = '{ALFA.cik}' AND version = 2"
    assert published(synchronized, of_alfa) > [(10,)]


@pytest.mark.parametrize("place", ["gate contradicted", "stage versions", "stage tables"])
def test_a_company_held_back_has_its_symbol_of_today(place, synchronized, same_mirror, monkeypatch):
    """Another company has its former symbol now: no two companies have the same symbol."""
    heir = replace(CARGO, number=777, symbol=ALFA.symbol)
    same_mirror.hold(GROWN_ALFA, heir)
    same_mirror.list(heir, BRAVO, replace(ALFA, symbol="ALFX"))
    of_symbols = "SELECT symbol, cik FROM {} WHERE is_primary GROUP BY ALL ORDER BY ALL"
    with monkeypatch.context() as patch:
        FAULTS[place](patch)
        outcome = synchronize(synchronized, same_mirror)
        assert (outcome.held_back_by, outcome.counts["quarantined"]) == ([], 1)
        for table in ("companies", "financials"):
            found = published(synchronized, of_symbols.format(table))
            assert found == [("ALFA", heir.cik), ("ALFX", ALFA.cik), ("BRVO", BRAVO.cik)]
        kept = {"ALFA": heir.trailing(2024, 4), "ALFX": ALFA.trailing(2024, 4), "BRVO": BRAVO.trailing(2024, 4)}
        assert revenue(synchronized) == kept

    assert synchronize(synchronized, same_mirror).counts["quarantined"] == 0
    assert revenue(synchronized) == kept | {"ALFX": GROWN_ALFA.trailing(2024, 4)}


def test_a_company_held_back_keeps_its_rows_when_tables_get_another_column(synchronized, same_mirror, monkeypatch):
    """An older release wrote the tables: the rows of all others are made again, and its rows have no value there."""
    lake = Synchronization(synchronized).lake
    for name in ("gaps", stored.assembled("financials")):
        rows = lake.read(name)
        lake.replace_companies(name, [rows.drop(rows.columns[-1])], lake.inputs(name))
    monkeypatch.setattr(batches, "rules_digest", lambda: "other rules")
    monkeypatch.setattr(stored, "code_digest", lambda: "other code")
    FAULTS["stage values"](monkeypatch)
    monkeypatch.setattr(row_gates, "GATES", (contradicted,))

    assert synchronize(synchronized, same_mirror).counts["quarantined"] == 1

    assert revenue(synchronized)["ALFA"] == ALFA.trailing(2024, 4)
    assert lake.companies("gaps") == lake.companies(stored.assembled("financials")) == 2


def test_an_error_in_submissions_is_that_of_their_company(synchronized, same_mirror, monkeypatch):
    """Its facts are read, its name stays, and each run reads its submissions again."""
    same_mirror.hold(*(replace(filer, name=f"{filer.symbol} NEW") for filer in (GROWN_ALFA, GROWN_BRAVO)))

    def decoded(raw: bytes, cik: str) -> Submissions:
        found = decode_submissions(raw, cik)
        return replace(found, name=object()) if cik == ALFA.cik else found  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(facts, "decode_submissions", decoded)
        for _ in range(2):
            assert synchronize(synchronized, same_mirror).counts["quarantined"] == 1
            assert published(synchronized, "SELECT cik, place FROM quarantine") == [(ALFA.cik, "stage facts")]

    of_companies = "SELECT name FROM companies ORDER BY symbol"
    assert published(synchronized, of_companies) == [("ALFA WORKS INC",), ("BRVO NEW WORKS INC",)]
    assert revenue(synchronized) == {"ALFA": GROWN_ALFA.trailing(2024, 4), "BRVO": GROWN_BRAVO.trailing(2024, 4)}
    assert synchronize(synchronized, same_mirror).counts["quarantined"] == 0
    assert published(synchronized, of_companies)[0] == ("ALFA NEW WORKS INC",)


def test_a_wrong_day_of_filing_of_one_company_changes_nothing_of_others(synchronized, same_mirror):
    """Nobody's submissions list the new filing."""
    before, newest = rows_of_alfa(synchronized), publish.readable(synchronized.published).newest_filing
    filed = companyfacts(BRAVO)
    for fact in filed["facts"]["us-gaap"]["Assets"]["units"]["USD"][-1:]:
        fact |= {"accn": "0000000102-25-000009", "filed": "2031-02-09", "val": 6_000_000_000}
    write(same_mirror.facts(BRAVO), filed)

    assert synchronize(synchronized, same_mirror).counts["published"] == 1

    assert published(synchronized, "SELECT cik FROM filings WHERE filed > '2030-01-01'") == [(BRAVO.cik,)]
    assert rows_of_alfa(synchronized) == before
    assert publish.readable(synchronized.published).newest_filing == newest


def test_an_error_names_the_line_of_the_rules_that_raised_it():
    def fail(batch: Batch) -> tuple[dict[str, pl.DataFrame], None]:
        if batch.ciks:
            version_log.sync_id_of(None)  # type: ignore[arg-type]
        return {}, None

    _, (_, faults) = isolation.isolated("stage values", fail, Batch((ALFA.cik,)))
    (fault,) = faults
    assert fault.reason.startswith("AttributeError in pipelines/storage/version_log.py, line ")
    assert "\n" not in fault.reason


@pytest.mark.parametrize(
    "error",
    [LakeError("damaged"), OSError("full"), MemoryError(), ZeroDivisionError()],
    ids=["a table", "the disk", "memory", "no company causes it"],
)
def test_an_error_of_the_machine_or_of_no_company_ends_the_run(error):
    def fail(_: Batch) -> tuple[dict[str, pl.DataFrame], None]:
        raise error

    with pytest.raises(type(error)):
        isolation.isolated("stage values", fail, Batch((ALFA.cik, BRAVO.cik)))
