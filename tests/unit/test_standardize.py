"""Properties of the complete normalization, for every company."""

from datetime import UTC, datetime
from functools import cache

import polars as pl
import pytest

from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.items.line_items import recomputed
from pipelines.normalize.pipeline import standardize
from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    CIK,
    EPS,
    KEY,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Today,
    day,
    month_ends,
    standardized,
    value_of,
    week_ends,
    with_total_assets,
)

VERSION = ["cik", "period_end", "item", "number"]
TABLES = ("versions", "periods", "gaps", "splits", "profiles", "filings")


def growing(first: float, quarters: int) -> list[float]:
    return [first * (1 + number / 10) for number in range(quarters)]


def books(quarters: int, first: float = 100e6) -> dict[str, list[float]]:
    shares_of_revenue = {REVENUE: 1, NET_INCOME: 0.1, CASH_FLOW: 0.2, CAPITAL_SPENDING: 0.05, EPS: 1e-8}
    return {tag: growing(first * share, quarters) for tag, share in shares_of_revenue.items()}


@cache
def companies() -> pl.DataFrame:
    """Three different companies: a calendar year, years of weeks, and annual reports under IFRS in CHF."""
    monthly = Filer(month_ends(2021, 11), books(11), {SHARES: [10e6] * 11}, {CASH: growing(5e6, 11)}, cik="9990000001")
    weekly = Filer(
        week_ends(day("2020-08-30"), [12, 12, 12, 17, 12, 12, 12, 16, 12]),
        books(9),
        {SHARES: growing(10e6, 9)},
        {CASH: [5e6] * 9},
        before=day("2020-08-30"),
        cik="9990000002",
    )
    foreign = Filer(
        month_ends(2020, 16, last_month=6),
        {"Revenue": growing(50e6, 16), "ProfitLoss": growing(5e6, 16)},
        balances={"CashAndCashEquivalents": [7e6] * 16},
        annual_only=True,
        annual_form="20-F",
        taxonomy="ifrs-full",
        cik="9990000003",
    )
    in_francs = foreign.facts().with_columns(unit=pl.lit("CHF"))
    return with_total_assets(pl.concat([monthly.facts(), weekly.facts(), in_francs]))


@cache
def together() -> Today:
    return standardized(companies())


def test_a_period_and_item_has_one_value():
    assert together().values.select(KEY).is_unique().all()


def test_at_a_fiscal_year_end_the_ttm_value_is_the_annual_value():
    """The TTM row equals the annual row."""
    values = together().values
    annual = values.filter(period_kind="annual")
    ttm = values.filter(period_kind="ttm").select("cik", "period_end", "item", at_year_end="value")

    both = annual.join(ttm, on=["cik", "period_end", "item"], how="left")

    assert annual.height > 30
    assert both["value"].to_list() == both["at_year_end"].to_list()


def test_periods_are_named_by_fiscal_year_and_quarter():
    labels = (
        together().values.filter(cik="9990000001").select("period_kind", "period_end", "period").unique().sort(pl.all())
    )

    assert labels.rows()[0] == ("annual", day("2021-12-31"), "FY2021")
    assert labels.rows()[-1] == ("ttm", day("2023-09-30"), "2023Q3")


def test_every_version_follows_from_its_facts():
    """The legs of a value give the value by the documented arithmetic."""
    versions = together().found.versions.with_row_index("number")
    assert versions["legs"].list.len().min() > 0
    legs = versions.select(*VERSION, pl.col("legs")).explode("legs").unnest("legs", separator="_")
    named = legs.rename({name: name.removeprefix("legs_") for name in legs.columns if name.startswith("legs_")})

    again = versions.join(recomputed(named, VERSION), on=VERSION)

    assert again.height == versions.height
    assert again.filter((pl.col("recomputed") / pl.col("value") - 1).abs() > 1e-9).is_empty()


def test_profiles_have_currency_and_month():
    assert together().found.profiles.sort("cik").select(
        "cik", "currency", "fiscal_year_end_month", "industry"
    ).rows() == [
        ("9990000001", "USD", 12, "general"),
        ("9990000002", "USD", 8, "general"),
        ("9990000003", "CHF", 6, "general"),
    ]


def test_filings_have_their_acceptance_time():
    rows = companies().filter(cik="9990000003")
    first = rows["accession"].min()
    at = datetime(2020, 8, 29, 20, 1, tzinfo=UTC)
    accepted = pl.DataFrame(
        {"cik": ["9990000003"], "accession": [first], "accepted_at": [at]},
        schema_overrides={"accepted_at": pl.Datetime("us", "UTC")},
    )

    filings = standardize(rows, accepted).filings.sort("filed")

    assert filings["accession"].to_list() == rows["accession"].unique().sort().to_list()
    assert filings["accepted_at"].to_list() == [at, None, None, None]


def test_a_company_whose_facts_support_nothing_has_no_rows():
    """It has facts in proxies only, or no facts."""
    proxy = companies().filter(cik="9990000001").with_columns(form=pl.lit("DEF 14A"))

    for nothing in (proxy, pl.DataFrame(schema=RAW_SCHEMA)):
        found = standardize(nothing)
        assert {table: getattr(found, table).height for table in TABLES} == dict.fromkeys(TABLES, 0)
        assert all(getattr(found, table).schema == getattr(together().found, table).schema for table in TABLES)


def test_several_rules_apply_to_one_company():
    """Twelve months of the current year, after a year of 53 weeks, from cash flows stated as years to date only."""
    quarters = growing(20e6, 9)
    spending = growing(5e6, 9)

    value = value_of(together(), "free_cash_flow", "ttm", week_ends(day("2020-08-30"), [53 + 52 + 12])[0], "9990000002")

    assert value == pytest.approx(sum(quarters[-4:]) - sum(spending[-4:]))
    assert CIK not in together().values["cik"].to_list()
