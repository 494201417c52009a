"""Real documents, through the real decoder and all steps, compared with the figures that the companies reported."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from pipelines.normalize.corrections.ledger import corrected
from pipelines.normalize.facts.stated import without_partial_recasts
from pipelines.normalize.frames import with_ten_digits
from pipelines.normalize.pipeline import Standardized
from tests.factories import Today, day, row_of, signed, standardized, value_of
from tests.golden.conftest import facts_of
from tests.golden.values import GOLDEN, MONEY_AND_SHARES, PERIODS, REPAIRED, SPLITS, WITHOUT_VALUE

MILLION = 1e6
SIX_DIGITS = 2e-6
"""Per-share amounts and ratios have six significant digits."""

COMPANIES = sorted({row[0] for table in (GOLDEN, WITHOUT_VALUE, PERIODS, SPLITS, REPAIRED) for row in table})

CASES = [
    pytest.param(symbol, kind, end, item, value, id=f"{symbol}-{kind}-{end}-{item}")
    for symbol, kind, end, items in GOLDEN
    for item, value in items.items()
]


@pytest.fixture(scope="module")
def companies(mirror: Path, company_numbers: dict[str, str]) -> Today:
    """Every company of the golden values, in one batch."""
    return standardized(facts_of(mirror, sorted(company_numbers[symbol] for symbol in COMPANIES)))


@pytest.fixture(scope="module")
def served(companies: Today, company_numbers: dict[str, str]) -> Callable[[str, str, str, str], float | None]:
    """The value of a symbol, item, kind and period end."""

    def find(symbol: str, item: str, kind: str, end: str) -> float | None:
        return value_of(companies, item, kind, end, company_numbers[symbol])

    return find


@pytest.mark.parametrize(("symbol", "kind", "end", "item", "expected"), CASES)
def test_values_are_the_figures_that_the_company_reported(served, symbol, kind, end, item, expected):
    """The figure of the filing, to its last digit."""
    value = served(symbol, item, kind, end)

    assert value == pytest.approx(expected * (MILLION if item in MONEY_AND_SHARES else 1), rel=SIX_DIGITS)


def test_no_company_has_too_many_fiscal_years(companies):
    """Twelve months in 10-Qs, transition periods and changed year ends make no annual rows less than a year apart."""
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
def test_share_counts_have_no_jumps(companies, company_numbers, symbol):
    """Splits of 7, 4, 10, 3 and 1/8: on one basis, averages of consecutive quarters differ by less than any split."""
    shares = companies.values.filter(cik=company_numbers[symbol], item="shares_diluted", period_kind="ttm")
    since = shares.filter(pl.col("period_end") > date(2012, 1, 1)).sort("period_end")

    steps = since.select(step=(pl.col("value") / pl.col("value").shift()).log().abs())["step"].drop_nulls()

    assert len(steps) > 10
    assert steps.max() < 0.2


@pytest.mark.parametrize(("symbol", "kind", "end", "item", "reason"), WITHOUT_VALUE)
def test_values_without_facts_have_a_reason(companies, company_numbers, symbol, kind, end, item, reason):
    """A null value with the reason, and no estimate."""
    cik = company_numbers[symbol]

    assert value_of(companies, item, kind, end, cik) is None
    assert row_of(companies.gaps, item, kind, end, cik)["reason"] == reason


@pytest.mark.parametrize(("symbol", "end", "fiscal_year", "fiscal_quarter"), PERIODS)
def test_periods_have_the_companys_own_labels(companies, company_numbers, symbol, end, fiscal_year, fiscal_quarter):
    """By the dates of its fiscal years, whatever the label of a filing."""
    periods = companies.found.periods.filter(cik=company_numbers[symbol], period_end=day(end))

    assert periods.select("fiscal_year", "fiscal_quarter").rows() == [(fiscal_year, fiscal_quarter)]


def test_splits_are_inferred_from_filings(companies, company_numbers):
    """Each of the companies' splits is between two filings that differ by it, and no others are found."""
    symbols = {company_numbers[symbol]: symbol for symbol, *_ in SPLITS}
    found = companies.found.splits.filter(pl.col("cik").is_in(list(symbols))).sort("effective_by")

    told = [(symbols[row["cik"]], row["ratio"]) for row in found.rows(named=True)]
    assert sorted(told) == sorted((symbol, ratio) for symbol, ratio, _ in SPLITS)
    for symbol, ratio, since in SPLITS:
        row = (
            found.filter(cik=company_numbers[symbol]).filter((pl.col("ratio") - ratio).abs() < 1e-6).row(0, named=True)
        )
        assert row["effective_after"] < day(since) <= row["effective_by"]


@pytest.fixture(scope="module")
def repairs(mirror: Path, company_numbers: dict[str, str]) -> pl.DataFrame:
    """The repairs in the filings of the golden companies, with their filing dates."""
    facts = facts_of(mirror, sorted(company_numbers[symbol] for symbol in COMPANIES))
    vintages = signed(facts)
    filed = vintages.select("cik", "seq", "filed").unique()
    found = corrected(without_partial_recasts(vintages)[0])[1].join(filed, on=["cik", "seq"])
    return with_ten_digits(found)


@pytest.mark.parametrize(("symbol", "filed", "concept", "start", "end", "kind", "filed_value", "value"), REPAIRED)
def test_errors_in_filings_are_corrected(
    repairs, company_numbers, symbol, filed, concept, start, end, kind, filed_value, value
):
    """The filed value and the corrected one; null if it belongs to another period."""
    found = repairs.filter(
        cik=company_numbers[symbol], filed=day(filed), concept=concept, start=day(start), end=day(end)
    ).row(0, named=True)

    assert (found["kind"], found["filed_value"], found["value"]) == (
        kind,
        pytest.approx(filed_value),
        pytest.approx(value) if value else None,
    )


@pytest.mark.parametrize("symbol", ["AAPL", "MSFT", "COST", "PYPL", "SNOW", "MRVL", "JPM", "GE"])
def test_filings_without_errors_are_not_corrected(repairs, company_numbers, symbol):
    """Splits, restatements, losses, offerings and disposals are not errors."""
    assert repairs.filter(cik=company_numbers[symbol]).is_empty()


def test_twelve_months_are_those_that_the_company_states(mirror, companies, company_numbers):
    """Amazon's 10-Qs state twelve months themselves: net income agrees within the rounding of four quarters.

    So does free cash flow, except for two years of quarters that no filing restated to the standards adopted in 2018.
    """
    cik = company_numbers["AMZN"]
    days = (pl.col("end").str.to_date() - pl.col("start").str.to_date()).dt.total_days()
    printed = facts_of(mirror, [cik]).filter(
        days.is_between(363, 366), pl.col("form") == "10-Q", pl.col("end").is_between(pl.lit("2012"), pl.lit("2027"))
    )

    def newest(*tags: str) -> dict[date, float]:
        rows = printed.filter(pl.col("tag").is_in(tags)).sort("filed").select(pl.col("end").str.to_date(), "value")
        return dict(rows.filter(pl.col("end").dt.month() != 12).iter_rows())

    cash = newest("NetCashProvidedByUsedInOperatingActivities")
    spent = newest("PaymentsToAcquirePropertyPlantAndEquipment", "PaymentsToAcquireProductiveAssets")
    on_one_basis = [end for end in cash if end in spent and not date(2016, 1, 1) < end < date(2018, 6, 30)]
    told = {
        "net_income": newest("NetIncomeLoss"),
        "free_cash_flow": {end: cash[end] - spent[end] for end in on_one_basis},
    }

    off = {
        (item, str(end)): (value_of(companies, item, "ttm", end, cik) or 0.0) - amount
        for item, amounts in told.items()
        for end, amount in amounts.items()
    }
    assert len(off) > 60
    assert {key: apart for key, apart in off.items() if abs(apart) > 2 * MILLION} == {}


def test_earnings_over_an_offering_are_income_over_shares(companies, company_numbers):
    """Snowflake went public in the window: quarters on 57 and on 298 million shares do not add up."""
    row = row_of(companies.values, "eps_basic", "ttm", "2021-07-31", company_numbers["SNOW"])

    assert row["value"] == pytest.approx(-2.92, abs=0.01)
    assert row["method"] == "net_income_over_shares"
    assert "issuance" in row["flags"].split(",")


def test_no_twelve_months_mix_companies_or_standards(companies, company_numbers):
    """Each flow uses facts of one side of a break only, except for amounts that both sides state alike.

    Celestica's spending on property is the same amount under both standards.
    """
    found = companies.found
    alike = {("CLS", "free_cash_flow")}
    seen = 0
    for symbol in ("VRT", "TMUS", "MRK", "CLS"):
        cik = company_numbers[symbol]
        filings = found.filings.filter(cik=cik).sort("seq")
        regimes = regimes_of(found, cik)
        assert len(set(regimes.values())) == 2, symbol
        items = [item for item in ("revenue", "net_income", "free_cash_flow") if (symbol, item) not in alike]
        flows = found.versions.filter(pl.col("item").is_in(items), cik=cik).drop_nulls("value")
        for legs in flows["legs"]:
            assert len({regimes[leg["accession"]] for leg in legs}) == 1
            seen += 1
        assert set(regimes) == set(filings["accession"])
    assert seen > 300


def regimes_of(found: Standardized, cik: str) -> dict[str, int]:
    """The number of breaks before each filing, by accession number."""
    breaks = found.breaks.filter(cik=cik)["accession"].to_list()
    regimes, passed = {}, 0
    for accession in found.filings.filter(cik=cik).sort("seq")["accession"]:
        passed += accession in breaks
        regimes[accession] = passed
    return regimes
