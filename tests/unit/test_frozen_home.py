"""A home made by an earlier version: one synchronization brings it up to date and loses no version.

`tests/frozen/home.tar.zst` is the home after `fundamentals sync --source sample --symbols XQNMB,XQANV` by commit
a14a6c6, the last before the rules had names, without Dagster's record of runs.
"""

import io
import tarfile
from pathlib import Path

import polars as pl
import pytest
import zstandard
from polars import selectors

from pipelines.health import tables as health
from pipelines.normalize.history.log import TWELVE_MONTHS
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch.schemas import APPENDED
from pipelines.storage import version_log
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import build_tables
from tests.conftest import PROJECT
from warehouse.build import publish
from warehouse.contract.findings import DAMAGE

ARCHIVE = PROJECT / "tests/frozen/home.tar.zst"
SYMBOLS = "XQNMB,XQANV"
EXPECTED_CHANGES: list[tuple[str, str, str]] = []
"""`symbol`, `item`, `cause` of the versions that the current rules add to the items of the frozen home: empty."""


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The home as the earlier version left it."""
    folder = tmp_path_factory.mktemp("frozen")
    with tarfile.open(
        fileobj=io.BytesIO(zstandard.decompress(ARCHIVE.read_bytes(), max_output_size=1 << 26))
    ) as archive:
        archive.extractall(folder, filter="data")
    return Home(folder)


@pytest.fixture(scope="module")
def before(frozen: Home) -> dict[str, pl.DataFrame]:
    """The log and the published tables of the earlier version."""
    pointer = publish.current(frozen.published)
    copies = frozen.published / "parquet"
    return {path.stem: pl.read_parquet(path) for path in copies.glob("*.parquet")} | {
        "log": pl.concat([pl.read_parquet(frozen.log / name) for name in pointer.log])
    }


@pytest.fixture(scope="module")
def upgraded(frozen: Home, before: dict[str, pl.DataFrame]) -> Home:
    """The same home after one synchronization by the current version."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FUNDAMENTALS_HOME", str(frozen.root))
        frozen.prepare()
        outcome = run_all(Synchronization(frozen, "sample", SYMBOLS))
    assert outcome.held_back_by == []
    return frozen


def of_items(before: dict[str, pl.DataFrame]) -> pl.Expr:
    """Whether a row is of an item that the earlier version had."""
    items = {item for table in ("versions", "gaps") for item in before[table]["item"]}
    return pl.col("item").is_in(items)


def published(home: Home, table: str) -> pl.DataFrame:
    return pl.read_parquet(home.published / f"parquet/{table}.parquet")


def test_a_home_that_lacks_the_tables_added_since_is_not_called_damaged(frozen):
    """Before its first synchronization by this version."""
    [finding] = health.check(frozen, quick=True)
    assert finding.state < DAMAGE, finding.text


def test_the_archive_is_small():
    assert ARCHIVE.stat().st_size < 300_000


def test_no_version_of_the_log_is_lost(upgraded, before):
    """All are there, in the order of recording and with the same values; new versions come after them."""
    old = before["log"]
    assert old.height > 500
    recorded = version_log.read(upgraded.log, publish.current(upgraded.published).log)
    columns = [name for name in old.columns if name != "legs"]
    assert recorded.head(old.height).select(columns).equals(old.select(columns))
    fields = [field.name for field in old.schema["legs"].inner.fields]
    legs = recorded.head(old.height).select("legs").explode("legs").unnest("legs")
    assert legs.select(fields).equals(old.select("legs").explode("legs").unnest("legs").select(fields))


def test_the_same_values_add_no_version(upgraded, before):
    added = Lake(upgraded.tables).read(APPENDED).filter(pl.col("n") == TWELVE_MONTHS, of_items(before))
    symbols = before["companies"].select("cik", "symbol")
    assert added.join(symbols, on="cik").select("symbol", "item", "cause").rows() == EXPECTED_CHANGES


@pytest.mark.parametrize("table", ["versions", "financials", "gaps", "lineage", "repairs", "splits", "companies"])
def test_served_values_stay_the_same(upgraded, before, table):
    """Compared row by row in the existing columns; only new columns are added. Evidence names the rule of today.

    Times have no zone any more, and `industry` comes from the SIC code; its former content is in `rule_industry`.
    """
    old, new = before[table], published(upgraded, table)
    old = old.with_columns(selectors.datetime(time_zone="*").dt.replace_time_zone(None))
    if "item" in new.columns:
        new = new.filter(of_items(before))
    if table == "companies":
        new = new.with_columns(industry="rule_industry")
    changing = {"data_updated_at", "recorded_at", "evidence"} & set(old.columns)
    assert set(old.columns) <= set(new.columns)
    assert new.select(old.columns).drop(changing).equals(old.drop(changing))


def test_new_columns_are_filled(upgraded):
    """Also for current versions that the earlier program recorded: their rules are derived from the filings."""
    versions = published(upgraded, "versions").filter("is_current")
    assert versions["rule"].null_count() == 0
    key = ["cik", "period_kind", "period_end", "item", "version"]
    lineage = published(upgraded, "lineage").join(versions, on=key, how="semi")
    assert lineage.height > 1000
    assert lineage.select("concept", "rule", "source").null_count().row(0) == (0, 0, 0)


def test_the_next_synchronization_finds_nothing_new(upgraded, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(upgraded.root))
    monkeypatch.setattr(build_tables, "assemble_companies", pytest.fail)
    assert run_all(Synchronization(upgraded, "sample", SYMBOLS)).counts["published"] == 0


def test_segments_are_only_added(upgraded, before, frozen: Home):
    names = publish.current(upgraded.published).log
    assert sorted(path.name for path in Path(frozen.log).glob("versions-*")) == sorted(names)
