"""Facts of filings and data sets that companyfacts lack, decoded for the companies of the mirrors: 125 real filings and
three quarters.

Belongs here: tables that a synchronization makes of them. Does not: single documents (test_packages_of_real_filings,
test_data_sets_of_real_quarters).
"""

import subprocess
import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.filed.shares import UNREAD
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from tests import filed
from tests.conftest import SHARED, synchronize
from warehouse.build import publish

LAYOUT = SHARED / "tools" / "filings_mirror.py"
MIRRORS = [SHARED / name for name in ("edgar", "edgar-single")]
BERKSHIRE = "0001067983"

pytestmark = pytest.mark.skipif(not LAYOUT.is_file(), reason="real filings are missing: ../shared/tools")


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The companies of the mirrors that have filings, with these and the data sets."""
    folder = tmp_path_factory.mktemp("filings")
    narrowed = [of_those_with_filings(source, folder / source.name) for source in MIRRORS]
    command = [sys.executable, LAYOUT, folder / "mirror", SHARED / "filings", SHARED / "data-sets", *narrowed]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "mirror"


def of_those_with_filings(mirror: Path, folder: Path) -> Path:
    """The documents of a mirror, but of companies without a filing, in a folder."""
    names = tuple(path.name for path in (SHARED / "filings").glob("CIK*"))
    for path in mirror.rglob("*.json"):
        if not path.name.startswith("CIK") or path.name.startswith(names):
            link = folder / path.relative_to(mirror)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    return folder


@pytest.fixture(scope="module")
def builds(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, publish.Pointer, set[str]]:
    """A home that was synchronized without filings, then with them; the build before; the accessions of all filings."""
    home = Home(tmp_path_factory.mktemp("filings") / "home")
    synchronize(home.root, mirror)
    before = publish.current(home.published)
    assert before
    stored = filed.fetched_from(mirror, home)
    run_all(Synchronization(home, str(mirror)))
    return home, before, {accession for _, accession in stored}


@pytest.fixture(scope="module")
def home(builds: tuple[Home, publish.Pointer, set[str]]) -> Home:
    return builds[0]


def written(home: Home, name: str) -> pl.DataFrame:
    return pl.read_parquet(home.published / "statements" / f"{name}.parquet")


def test_no_table_of_the_build_changes(builds: tuple[Home, publish.Pointer, set[str]]) -> None:
    home, before, _ = builds
    after = publish.current(home.published)
    assert after
    assert (after.build, after.content_hash, after.sums) == (before.build, before.content_hash, before.sums)


def test_every_filing_with_an_instance_is_read(builds: tuple[Home, publish.Pointer, set[str]]) -> None:
    """And the lines of all three statements of each."""
    home, _, stored = builds
    assert Lake(home.tables).height(UNREAD) == 0
    lines = Lake(home.tables).scan("statement_lines").drop_nulls("value").select("accession", "statement").unique()
    assert {*lines.collect().cast(pl.String).rows()} == {(each, name) for each in stored for name in ("BS", "IS", "CF")}
    assert len(stored) == 125


def test_undimensioned_standard_facts_are_those_of_companyfacts(home: Home) -> None:
    """Of elements that the rules read: every fact of the same period has the same value, and is marked."""
    lake, same = Lake(home.tables), ["accession", "taxonomy", "element", "unit", "start", "end"]
    theirs = lake.read("facts").rename({"tag": "element", "value": "theirs"}).select(*same, "theirs")
    ours = written(home, "filed_facts").filter(pl.col("member").is_null(), ~pl.col("own"), source="filing")
    days = pl.col("start", "end").cast(pl.String)
    both = ours.with_columns(days).join(theirs, on=same, nulls_equal=True)
    assert both.filter((pl.col("value") != pl.col("theirs")) | ~pl.col("in_companyfacts")).is_empty()
    assert both.height > 15_000


def test_a_company_has_its_earnings_by_class_and_its_debt_by_block(home: Home) -> None:
    """Berkshire's 10-K of 2009, in facts and on the lines of its statements."""
    blocks = {"InsuranceAndOther": 3719, "UtilitiesAndEnergy": 19579, "FinanceAndFinancialProducts": 14611}
    earnings = {"CommonClassA": 5193.0, "CommonClassB": 3.46}
    for name in ("filed_facts", "statement_lines"):
        rows = written(home, name).filter(pl.col("cik") == BERKSHIRE, pl.col("end") == date(2009, 12, 31))
        year = rows.filter(pl.col("element") == "EarningsPerShareBasic", pl.col("quarters") == 4)
        assert dict(year.select("member", "value").iter_rows()) == {
            f"ClassOfStock={each};": value for each, value in earnings.items()
        }
        annual = rows.filter(pl.col("element") == "NotesPayable", pl.col("accession") == year["accession"][0])
        assert dict(annual.select("member", pl.col("value") / 1e6).iter_rows()) == {
            f"BusinessSegments={each};": debt for each, debt in blocks.items()
        }
