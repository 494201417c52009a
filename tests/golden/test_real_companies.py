"""Real documents, through the real decoder and all rules, against what the companies reported."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.documents import FactColumns, decode_facts, decode_tickers
from pipelines.normalize.concepts import wanted_elements
from pipelines.normalize.facts import RAW_SCHEMA
from tests.factories import Today, standardized, value_of
from tests.golden.values import GOLDEN, MONEY_AND_SHARES

MILLION = 1e6
SIX_DIGITS = 2e-6
"""Per-share amounts and ratios have six significant digits."""

CASES = [
    pytest.param(symbol, kind, end, item, value, id=f"{symbol}-{kind}-{end}-{item}")
    for symbol, kind, end, items in GOLDEN
    for item, value in items.items()
]


@pytest.fixture(scope="module")
def company_numbers(mirror: Path) -> dict[str, str]:
    """Symbol to CIK."""
    listings = decode_tickers((mirror / "www.sec.gov/files/company_tickers_exchange.json").read_bytes())
    return {listing.symbol: listing.cik for listing in listings}


@pytest.fixture(scope="module")
def companies(mirror: Path, company_numbers: dict[str, str]) -> Today:
    """Every company of the golden values, in one batch."""
    columns = FactColumns()
    for cik in sorted({company_numbers[symbol] for symbol, *_ in GOLDEN}):
        document = mirror / f"data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json"
        columns.extend(decode_facts(document.read_bytes(), cik, wanted_elements()).columns)
    return standardized(pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names()))


@pytest.fixture(scope="module")
def served(companies: Today, company_numbers: dict[str, str]) -> Callable[[str, str, str, str], float | None]:
    """The value of a symbol, item, kind and period end."""

    def find(symbol: str, item: str, kind: str, end: str) -> float | None:
        return value_of(companies, item, kind, end, company_numbers[symbol])

    return find


@pytest.mark.parametrize(("symbol", "kind", "end", "item", "expected"), CASES)
def test_what_the_company_reported(served, symbol, kind, end, item, expected):
    """The figure of the filing, to its last digit."""
    value = served(symbol, item, kind, end)

    assert value == pytest.approx(expected * (MILLION if item in MONEY_AND_SHARES else 1), rel=SIX_DIGITS)


def test_nobody_has_a_fiscal_year_too_many(companies):
    """Twelve months in 10-Qs, transition periods and shifted ends make no annual rows less than a year apart."""
    ends = companies.values.filter(period_kind="annual").select("cik", "period_end").unique().sort("cik", "period_end")

    days = ends.select(days=pl.col("period_end").diff().over("cik").dt.total_days())["days"].drop_nulls()

    assert ends["period_end"].min() < date(2010, 1, 1)
    assert days.min() >= 357


def test_at_each_fiscal_year_end_twelve_months_are_the_year(companies):
    values = companies.values
    ttm = values.filter(period_kind="ttm").select("cik", "period_end", "item", at_year_end="value")

    both = values.filter(period_kind="annual").join(ttm, on=["cik", "period_end", "item"], how="left")

    assert both.filter(pl.col("value").ne_missing(pl.col("at_year_end"))).is_empty()


@pytest.mark.parametrize("symbol", ["AAPL", "NVDA", "WMT", "GE"])
def test_share_counts_have_no_cliffs(companies, company_numbers, symbol):
    """Splits of 7, 4, 10, 3 and 1/8: on one basis, averages of consecutive quarters differ by less than any split."""
    shares = companies.values.filter(cik=company_numbers[symbol], item="shares_diluted", period_kind="ttm")
    since = shares.filter(pl.col("period_end") > date(2012, 1, 1)).sort("period_end")

    steps = since.select(step=(pl.col("value") / pl.col("value").shift()).log().abs())["step"].drop_nulls()

    assert len(steps) > 10
    assert steps.max() < 0.2
