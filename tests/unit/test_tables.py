"""The published tables, assembled from the tables of the stages."""

import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

from pipelines.health.published import rows_of
from pipelines.normalize.facts.unread import LISTED_REPORTS
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization, published_before
from pipelines.stages.batch import batches
from pipelines.stages.batch.schemas import REPLAYED, UNREAD_REPORTS, VERSIONS
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import build_tables, stored
from pipelines.tables.filings import newest_day
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Filer, Mirror
from warehouse.build import overlay, publish
from warehouse.build.pointer import POINTER
from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES

TOTALS = ("first_filed", "last_filed")
CLASSES = (
    replace(ALFA, symbol="ALFA-B"),
    replace(ALFA, symbol="ALFA-PA"),
    replace(ALFA, symbol="ALFA-WT"),
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """The tables of a home with a company with several symbols, one with a broken document and one without facts."""
    folder = tmp_path_factory.mktemp("tables")
    mirror, home = Mirror(folder / "mirror", ALFA, BRAVO, CARGO, ABSENT), Home(folder / "home")
    mirror.list(ALFA, *CLASSES, replace(BRAVO, exchange=None), CARGO, ABSENT)
    mirror.facts(CARGO).write_text("{")
    mirror.submissions(BRAVO).unlink()
    with pytest.MonkeyPatch.context() as environment:
        synchronize(home, mirror.folder, environment)
    return Lake(home.tables)


@pytest.fixture(scope="module")
def made(lake: Lake) -> dict[str, pl.DataFrame]:
    return {table.name: lake.read(stored.assembled(table.name)) for table in schema.TABLES}


def test_each_table_has_the_columns_of_the_schema(made):
    for name, rows in made.items():
        columns = {column.name: build_tables.POLARS_TYPES[column.type] for column in schema.BY_NAME[name].columns}
        assert dict(rows.schema) == columns, name
        required = [column.name for column in schema.BY_NAME[name].columns if column.required]
        assert rows.select(required).null_count().sum_horizontal().sum() == 0, name
        assert rows.equals(rows.sort(*schema.BY_NAME[name].order)), name


def test_companies_are_common_equity(made):
    """The first symbol and its share classes share the data; preferred shares and warrants are securities."""
    companies = made["companies"].select("symbol", "is_primary", "name", "exchange", "sic", "sic_description").rows()
    group = "Industrial and Commercial Machinery and Computer Equipment"
    assert [row[:5] for row in companies] == [
        ("ALFA", True, "ALFA WORKS INC", "Nasdaq", "3571"),
        ("ALFA-B", False, "ALFA WORKS INC", "Nasdaq", "3571"),
        ("BRVO", True, "BRVO", None, None),  # without submissions, the name comes from the list
    ]
    descriptions = [row[5] for row in companies]
    assert descriptions[0] in (group, descriptions[1])
    assert descriptions[2] is None
    assert made["securities"].select("symbol", "kind").rows() == [("ALFA-PA", "preferred"), ("ALFA-WT", "warrant")]


def test_a_company_is_covered_by_its_periods(made):
    assert (
        made["companies"].row(0, named=True).items()
        >= {
            "first_period_end": date(2022, 12, 31),
            "last_period_end": date(2024, 12, 31),
            "currency": "USD",
            "fiscal_year_end_month": 12,
            "is_listed": True,
            "data_updated_at": made["syncs"]["started_at"].item(),
        }.items()
    )


@pytest.mark.parametrize("symbol", ["ALFA", "ALFA-B"])
def test_financials_have_one_row_per_period(made, symbol):
    rows = made["financials"].filter(symbol=symbol)
    revenue = {row["period"]: row["revenue"] for row in rows.drop_nulls("revenue").iter_rows(named=True)}
    quarters = [(2022, 4), *((year, quarter) for year in (2023, 2024) for quarter in (1, 2, 3, 4))]
    assert revenue == {f"{year}Q{quarter}": ALFA.trailing(year, quarter) for year, quarter in quarters} | {
        f"FY{year}": ALFA.trailing(year, 4) for year in (2022, 2023, 2024)
    }
    interim = rows.filter(period="2024Q2").row(0, named=True)
    assert interim["first_filed"] < interim["last_filed"] == date(2024, 8, 9)


def test_financials_have_the_filing_date_of_each_value(made):
    """The filing date of the current version."""
    key = ["cik", "period_kind", "period_end"]
    current = made["versions"].filter("is_current").drop_nulls("value").select(*key, "item", "filed")
    filed = made["financials"].filter("is_primary").select(*key, cs.ends_with("_filed") - cs.by_name(TOTALS))
    long = filed.unpivot(index=key, variable_name="item", value_name="filed").drop_nulls("filed")
    named = long.with_columns(pl.col("item").str.strip_suffix("_filed"))
    assert named.sort(*key, "item").equals(current.sort(*key, "item"))
    assert named.height > 0


def test_every_value_has_its_version_and_its_legs(made):
    key = ["cik", "period_kind", "period_end", "item", "version"]
    current = made["versions"].filter(pl.col("is_current")).drop_nulls("value")
    assert current.join(made["lineage"], on=key, how="anti").is_empty()
    amount = pl.when(pl.col("operation") == "subtract").then(-pl.col("value")).otherwise("value")
    summed = made["lineage"].filter(item="revenue").group_by(key).agg(told=amount.sum())
    both = current.filter(item="revenue").join(summed, on=key)
    assert both["told"].to_list() == both["value"].to_list() != []


def test_a_missing_value_has_a_reason(made):
    """Each item of a covered period is either a value or a gap."""
    missing = {
        (row["period_kind"], row["period_end"], item)
        for row in made["financials"].filter(symbol="ALFA").iter_rows(named=True)
        for item in ITEM_NAMES
        if row[item] is None
    }
    assert missing
    assert missing <= set(made["gaps"].filter(cik=ALFA.cik).select("period_kind", "period_end", "item").rows())


def test_filings_link_to_the_sec(made):
    row = made["filings"].filter(form="10-K", cik=ALFA.cik).row(0, named=True)
    folder = f"https://www.sec.gov/Archives/edgar/data/101/{row['accession'].replace('-', '')}"
    assert row["url"] == f"{folder}/{row['accession']}-index.htm"
    assert (str(row["accepted_at"]), row["share_basis"]) == (f"{row['filed']} 21:30:00", 1.0)


def test_quarantined_companies_are_listed(made):
    assert made["quarantine"]["cik"].to_list() == [CARGO.cik]


def test_line_items_have_their_sources():
    rows = build_tables.line_items()
    assert rows["name"].to_list() == list(ITEM_NAMES)
    assert "Revenues" in rows.filter(name="revenue")["sources"].item()


@pytest.mark.parametrize(
    ("table", "change", "is_same"),
    [
        ("companies", lambda rows: rows.with_columns(pl.col("data_updated_at").dt.offset_by("1d")), True),
        ("companies", lambda rows: rows.reverse(), True),
        ("companies", lambda rows: rows.with_columns(name=pl.lit("Another")), False),
        ("companies", lambda rows: rows.clear(), False),
        ("versions", lambda rows: pl.concat([rows, rows]), False),
    ],
    ids=["another time", "another order", "another name", "no rows", "each row twice"],
)
def test_the_content_digest_depends_on_content_and_not_on_time(made, table, change, is_same):
    rows, digest = made[table], build_tables.content_of
    assert (digest(table, change(rows)) == digest(table, rows)) is is_same
    assert digest("syncs", made["syncs"]) == ""


@pytest.mark.parametrize(("companies", "processes"), [(2, 1), (1, 2)])
def test_the_tables_do_not_depend_on_batches_and_processes(made, lake, companies, processes, tmp_path, monkeypatch):
    """All stages, from the same documents, with so many companies at a time, in so many processes."""
    monkeypatch.setattr(batches, "BATCH", companies)
    monkeypatch.setenv("FUNDAMENTALS_PROCESSES", str(processes))
    home = Home(tmp_path)
    synchronize(home, lake.folder.parents[1] / "mirror", monkeypatch)
    again = Lake(home.tables)
    for name in made.keys() - {"syncs"}:
        of_run = OF_RUN.get(name, [])
        assert again.read(stored.assembled(name)).drop(of_run).equals(made[name].drop(of_run)), name


def test_only_the_companies_that_filed_are_made_again(tmp_path, monkeypatch):
    """The result equals the result of a new home; the parts of the others stay as they were."""
    monkeypatch.setattr(overlay, "MIN_FILE_SIZE", 0)
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    one, other = Home(tmp_path / "one"), Home(tmp_path / "other")
    parts = []
    for filers in ((ALFA, BRAVO), (ALFA, BRAVO, CARGO)):
        mirror.hold(CARGO)
        mirror.list(*filers)
        synchronize(one, mirror.folder, monkeypatch)
        of_home = Lake(one.tables)
        names = ("facts", REPLAYED, VERSIONS, *map(stored.assembled, stored.OF_COMPANIES))
        parts.append({name: [path for path, _ in of_home.files(name, [ALFA.cik, BRAVO.cik])] for name in names})
    assert parts[0] == parts[1]
    synchronize(other, mirror.folder, monkeypatch)
    pointers = publish.current(one.published), publish.current(other.published)
    assert [pointer and pointer.base == pointer.build for pointer in pointers] == [False, True]
    for name in stored.files(Lake(one.tables)).keys() - {"syncs", "changes"}:
        rows, expected = (
            rows_of(home.published / "warehouse.duckdb", name).drop(OF_RUN.get(name, [])) for home in (one, other)
        )
        assert rows.sort(pl.all()).equals(expected.sort(pl.all())), name


def synchronize(home: Home, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Synchronize a home with a mirror directory, and return what holds the build back."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(home.root))
    home.prepare()
    return run_all(Synchronization(home, str(mirror))).held_back_by


OF_RUN = {"companies": ["data_updated_at"], "versions": ["recorded_at"], "quarter_versions": ["recorded_at"]}


"""Columns with the time of a synchronization."""


def test_inputs_depend_on_every_table_except_changes(lake, tmp_path):
    shutil.copytree(lake.folder, tmp_path, dirs_exist_ok=True)
    copied, contents = Lake(tmp_path), lake.read(stored.CONTENTS)
    before = stored.inputs(copied)
    assert before == stored.inputs(lake)
    for name in stored.files(lake):
        table = stored.assembled(name)
        if (of_name := contents["table"] == name).any():
            other = contents.with_columns(pl.col("total") + of_name.cast(pl.UInt64))
            copied.replace_companies(stored.CONTENTS, [other], lake.inputs(stored.CONTENTS))
            assert stored.inputs(copied) != before, name
            copied.replace_companies(stored.CONTENTS, [contents], lake.inputs(stored.CONTENTS))
        elif name not in stored.OF_COMPANIES:
            whole = copied.path(table).read_bytes()
            copied.write(table, copied.read(table), {stored.CONTENT: "other"})
            assert (stored.inputs(copied) == before) is (name == "changes"), name
            copied.path(table).write_bytes(whole)
    assert stored.inputs(copied) == before


def test_the_previous_build_is_read(tmp_path: Path, lake):
    published = lake.folder.parent / "published"
    assert published_before(published) == publish.current(published)
    pointer = tmp_path / POINTER
    assert published_before(tmp_path) is None
    for content in ((published / POINTER).read_bytes(), b"{"):  # its build is gone, and it is damaged
        pointer.write_bytes(content)
        assert published_before(tmp_path) is None


def test_a_delisted_company_stays_in_the_file(tmp_path, monkeypatch):
    """Also if its symbol now belongs to another company; this does not hold back publishing."""
    mirror, home = Mirror(tmp_path / "mirror", ALFA, BRAVO), Home(tmp_path / "home")
    synchronize(home, mirror.folder, monkeypatch)
    heir = Filer(777, "ALFA", 70)
    mirror.hold(heir)
    for listed, of_alfa in (([BRAVO], (ALFA.cik, False)), ([heir, BRAVO], (heir.cik, True))):
        mirror.list(*listed)
        assert synchronize(home, mirror.folder, monkeypatch) == []
        rows = Lake(home.tables).read(stored.assembled("companies")).select("symbol", "cik", "is_listed").rows()
        assert rows == [("ALFA", *of_alfa), ("BRVO", BRAVO.cik, True)]
        assert publish.current(home.published).companies == len(listed)


@pytest.mark.parametrize(
    ("filings", "newest"),
    [
        ([], date.min),
        ([(ALFA.cik, date(2031, 7, 7), date(2025, 7, 3))], date(2025, 7, 3)),
        ([(ALFA.cik, date(2025, 7, 7), date(2025, 7, 3))], date(2025, 7, 7)),  # accepted on the evening before holidays
        ([(ALFA.cik, date(2031, 7, 7), None)], date(2031, 7, 7)),
        ([(ALFA.cik, date(2031, 7, 7), None)] * 2 + [(BRAVO.cik, date(2025, 7, 3), None)], date(2025, 7, 3)),
        ([(ALFA.cik, date(2025, 7, 3), date(2025, 7, 3)), (BRAVO.cik, date(2019, 1, 2), None)], date(2025, 7, 3)),
        ([(cik, date(2025, 7, 3), None) for cik in (ALFA.cik, BRAVO.cik)], date(2025, 7, 3)),
    ],
)
def test_the_newest_day_of_filing_is_one_that_two_documents_state(filings, newest, tmp_path: Path) -> None:
    """Submissions or a second company; a company alone has its own."""
    lake, at_ten = Lake(tmp_path), pl.col("accepted_at").cast(pl.Datetime("us", "UTC")).dt.offset_by("22h")
    schema = {"cik": pl.String, "filed": pl.Date, "accepted_at": pl.Date}
    rows = pl.DataFrame(filings, schema, orient="row").with_row_index("accession").cast({"accession": pl.String})
    lake.write("filings", rows.with_columns(at_ten))
    lake.write(UNREAD_REPORTS, LISTED_REPORTS.to_frame())
    assert newest_day(lake) == newest
