"""Discrete quarters: as filed or by difference, on one basis, and compared with their year."""

import csv
from collections.abc import Iterator, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from zipfile import ZipFile

import duckdb
import polars as pl
import pytest

from pipelines.normalize.history.log import ONE_QUARTER
from pipelines.normalize.items.line_items import recomputed
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.stages.batch.schemas import REPLAYED
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from serve.errors import CommandError
from serve.provenance import find
from serve.site.company import company_csv, company_page, workbook
from serve.site.frame import view
from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Row,
    month_ends,
    raw,
    with_total_assets,
)
from tests.shapes.flows import changed, company, sales
from tests.texts import lacking
from warehouse.build.opening import open_read_only
from warehouse.build.pointer import current
from warehouse.contract import schema
from warehouse.contract.line_items import SERVED_NAMES, items_of
from warehouse.contract.vocabulary import RATIOS
from warehouse.queries import page_queries
from warehouse.read.reader import OpenBuild

ENDS = month_ends(2022, 8)
OF_2022 = ENDS[:4]


def found(rows: Sequence[Row]) -> Standardized:
    return standardize(with_total_assets(raw(rows)), validate=True)


def quarters(of: Standardized, item: str) -> dict[str, float | None]:
    """The newest value of each quarter, by its last day."""
    newest = of.quarter_versions.filter(item=item).group_by("period_end", maintain_order=True).last()
    return {str(end): value for end, value in newest.select("period_end", "value").iter_rows()}


@pytest.fixture(scope="module")
def growing() -> Standardized:
    """Eight quarters of a company that states cash flows for the year to date, and has a growing number of shares."""
    sums = {
        REVENUE: [100e6, 110e6, 120e6, 130e6, 140e6, 150e6, 160e6, 170e6],
        NET_INCOME: [10e6, 11e6, 12e6, 13e6, 14e6, 15e6, 16e6, 17e6],
        EPS: [1.00, 1.09, 1.18, 1.26, 1.35, 1.43, 1.51, 1.59],
        CASH_FLOW: [20e6, 21e6, 22e6, 23e6, 24e6, 25e6, 26e6, 27e6],
        CAPITAL_SPENDING: [5e6] * 8,
    }
    shares = {SHARES: [10.0e6, 10.1e6, 10.2e6, 10.3e6, 10.4e6, 10.5e6, 10.6e6, 10.7e6]}
    return found(Filer(ENDS, sums, means=shares, balances={CASH: [1e6] * 8}).rows())


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("revenue", [100e6, 110e6, 120e6, 130e6, 140e6, 150e6, 160e6, 170e6]),
        ("net_income", [10e6, 11e6, 12e6, 13e6, 14e6, 15e6, 16e6, 17e6]),
        ("free_cash_flow", [15e6, 16e6, 17e6, 18e6, 19e6, 20e6, 21e6, 22e6]),
        ("eps_basic", [1.00, 1.09, 1.18, 1.26, 1.35, 1.43, 1.51, 1.59]),
        ("shares_basic", [10.0e6, 10.1e6, 10.2e6, 10.3e6, 10.4e6, 10.5e6, 10.6e6, 10.7e6]),
    ],
)
def test_each_quarter_is_that_of_the_company(growing, item, expected):
    """Also quarters that no report states: fourth quarters, and cash flows after the first quarter."""
    assert list(quarters(growing, item).values()) == pytest.approx(expected)
    assert growing.quarter_gaps.filter(item=item).is_empty()


def test_a_fourth_quarter_is_the_year_less_nine_months(growing):
    """Its legs say so, and give the value."""
    fourth = growing.quarter_versions.filter(item="revenue", period_end=OF_2022[3])
    legs = fourth.select("period_end", "legs").explode("legs").unnest("legs")

    assert fourth["method"].to_list() == ["quarter_by_difference"]
    assert legs.select("weight", pl.col("start", "end").cast(pl.String), "value", "form").rows() == [
        (1.0, "2022-01-01", "2022-12-31", 460e6, "10-K"),
        (-1.0, "2022-01-01", "2022-09-30", 330e6, "10-Q"),
    ]


def test_every_quarter_follows_from_its_legs(growing):
    """The sum, mean or quotient of the filed facts, as any reader can compute it."""
    versions = growing.quarter_versions.filter(pl.col("value").is_not_null()).with_row_index("row")
    legs = versions.select("row", "legs").explode("legs").unnest("legs")
    both = versions.join(recomputed(legs, ["row"]), on="row")

    assert both.height == versions.height > 0
    assert both.filter((pl.col("value") - pl.col("recomputed")).abs() > 1e-9 * pl.col("value").abs()).is_empty()


def test_a_restated_quarter_has_a_second_version():
    """The comparative of the next year counts from its filing on; the fourth quarter follows with the year."""
    sold = [100e6, 103e6, 108e6, 115e6, 124e6, 135e6, 148e6, 163e6]
    again = changed(
        company(8, **{REVENUE: sold}),
        lambda row: row["tag"] == REVENUE and row["filed"] > "2023-04",
        lambda value: value * 1.1,
    )
    of = found(again)
    versions = of.quarter_versions.filter(item="revenue", period_end=ENDS[0]).select("value", "cause").rows()

    assert versions == [(100e6, "initial"), (pytest.approx(110e6), "reclassification")]
    assert list(quarters(of, "revenue").values()) == pytest.approx([1.1 * amount for amount in sold])


def test_a_restated_year_alone_leaves_its_fourth_quarter():
    """No report shows the nine months on the new basis: the difference would have all of the change."""
    rows = changed(
        sales(8),
        lambda row: row["tag"] == REVENUE and row["filed"] > "2024" and row["end"] == "2022-12-31",
        lambda value: value * 0.91,
    )
    fourth = found(rows).quarter_versions.filter(item="revenue", period_end=OF_2022[3])

    assert fourth["value"].drop_nulls().to_list() == [100e6]


def test_a_company_with_annual_reports_alone_has_no_quarters():
    sums = {REVENUE: [1e6] * 8, NET_INCOME: [1e6] * 8}
    of = found(Filer(ENDS, sums, balances={CASH: [1e6] * 8}, annual_only=True).rows())

    assert of.quarter_versions.is_empty()
    assert of.quarter_gaps.is_empty()


# --- Published ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def build(synchronized_sample: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_read_only(synchronized_sample / "published" / "warehouse.duckdb") as connection:
        yield connection


@pytest.fixture(scope="module")
def held(synchronized_sample: Path) -> OpenBuild:
    """The same build, as the service opens it."""
    published = synchronized_sample / "published"
    return OpenBuild(published, current(published))


def test_the_quarters_of_a_year_add_up_or_say_why_not(build):
    """In the sample the reasons are known ones, and most years add up."""
    reasons = dict(build.sql("SELECT coalesce(reason, ''), count(*) FROM quarters_of_year GROUP BY 1").fetchall())

    assert reasons.pop("") > sum(reasons.values()) > 0
    assert "not_explained" not in reasons


def test_every_quarter_has_a_value_or_a_reason(build):
    """And no value has a reason, nor is one there that table `quarters` lacks."""
    items = ", ".join(items_of("flow"))
    wrong = build.sql(
        "SELECT symbol, told.period_end, told.item FROM "
        f"(FROM quarters UNPIVOT INCLUDE NULLS (amount FOR item IN ({items})) WHERE is_primary) AS told "
        "INNER JOIN companies USING (symbol) "
        "LEFT JOIN quarter_gaps AS gaps ON told.cik = gaps.cik AND told.period_end = gaps.period_end "
        "AND told.item = gaps.item AND is_of_series(told.item, gaps.class_member, series_member) "
        "WHERE (amount IS NULL) <> (reason IS NOT NULL)"
    ).fetchall()
    assert wrong == []


def test_balances_of_quarters_are_those_of_twelve_months(build):
    balances = ", ".join(items_of("balance"))
    both = "quarters INNER JOIN financials USING (symbol, period_end) WHERE period_kind = 'ttm'"
    apart = " OR ".join(f"quarters.{item} IS DISTINCT FROM financials.{item}" for item in items_of("balance"))

    assert build.sql(f"SELECT {balances.replace(', ', ' + ')} FROM quarters").fetchall() != []
    assert build.sql(f"SELECT count(*) FROM {both} AND ({apart})").fetchall() == [(0,)]
    assert {*items_of("ratio")}.isdisjoint(schema.BY_NAME["quarters"].names)


def test_the_interface_knows_no_quarters(build):
    """Tables of twelve months and years have no rows of quarters."""
    for table in ("financials", "versions", "lineage", "gaps", "changes"):
        kinds = {kind for (kind,) in build.sql(f"SELECT DISTINCT period_kind FROM {table}").fetchall()}
        assert kinds <= {*schema.PERIOD_KINDS}


def test_the_log_has_the_versions_of_quarters(synchronized_sample):
    """In addition to the versions of twelve months; `n` distinguishes them."""
    rows = Lake(Home(synchronized_sample).tables).read(REPLAYED)
    assert rows.filter(pl.col("n") == ONE_QUARTER).height > 0
    assert rows.unique(["cik", "class_member", "period_end", "n", "item", "accession"]).height == rows.height


def test_quarterly_is_the_table_newest_first(build):
    rows = build.sql("SELECT period FROM quarterly('xqorc')").fetchall()
    held = build.sql("SELECT period FROM quarters WHERE symbol = 'XQORC' ORDER BY period_end DESC").fetchall()
    assert rows == held != []


def test_the_page_of_a_company_shows_quarters(held):
    """By choice, without ratios; the file of its values and the workbook have quarters next to years and twelve
    months.
    """
    company = held.memory.company("XQORC")
    chosen = view.asked({"periods": "quarter"})
    of_years, of_quarters = (company_page.held(held, company, periods) for periods in ("annual", "quarter"))
    shown = company_page.document(
        of_quarters, chosen, filings_url="/", published_at="", updated_at=None, newest_filing=None
    )
    newest = held.rows("SELECT period, revenue FROM quarterly('XQORC') WHERE revenue IS NOT NULL LIMIT 1")[0]
    rows = list(csv.DictReader(StringIO(company_csv.text(company, company_csv.all_stated(held, company)))))
    of_kind = [row for row in rows if row["period_kind"] == "quarter"]
    facts = page_queries.facts_behind(held, company, of_quarters=True)
    sheets = workbook.content(company, of_quarters.stated, facts, "https://localhost")

    assert {each.kind for each in of_years.stated} == {"ttm", "annual"}
    parts = (f"/companies/XQORC/revenue/{newest[0]}", "*Quarters*", "Return on invested capital |")
    assert lacking(shown.text, *parts) == ["Return on invested capital |"]
    assert [name for name, _ in shown.drawings] == [name for name in SERVED_NAMES if name not in RATIOS]
    assert (of_kind[0]["period"], float(of_kind[0]["revenue"])) == newest
    assert {row[name] for row in of_kind for name in RATIOS} == {""}
    assert b'name="Quarters"' in ZipFile(BytesIO(sheets)).read("xl/workbook.xml")


def test_explain_names_the_quarter_or_says_that_a_ratio_has_none(build, held):
    """By command and macro: a flow has its own legs, a balance the legs of its day."""
    period, value = build.sql(
        "SELECT period, revenue FROM quarters WHERE symbol = 'XQORC' AND fiscal_quarter = 4 AND revenue IS NOT NULL "
        "ORDER BY period_end DESC LIMIT 1"
    ).fetchall()[0]
    told, balance = (find(held, "XQORC", item, period.lower()) for item in ("revenue", "total_debt"))

    assert (told.kind, told.period, told.value) == ("quarter", period, value)
    assert told.steps[-1].value == pytest.approx(value)
    assert (balance.kind, balance.period) == ("ttm", period.removeprefix("FY"))
    with pytest.raises(CommandError, match=r"roic is a figure of twelve months, not of a quarter; ask for 20\d\dQ4"):
        find(held, "XQORC", "roic", period)
    rows = f"explain('XQORC', 'revenue', '{period}')"
    of_macro = build.sql(f"SELECT period_kind, value, sum(amount) FROM {rows} GROUP BY ALL").fetchall()
    assert of_macro == [("quarter", value, pytest.approx(value))]
