"""Line items: their values from flows and balances, and the reasons for missing values."""

import math
from datetime import date

import polars as pl
import pytest

from pipelines.normalize.items.line_items import served
from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DILUTED,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Row,
    Today,
    fact,
    month_ends,
    raw,
    row_of,
    value_of,
)
from tests.shapes.items import CONTINUING, PAID, conversion, paid_half_yearly, reverse_split, reverse_split_of_cents
from tests.together import in_one_call
from warehouse.contract.line_items import ITEM_NAMES

COMMON = "NetIncomeLossAvailableToCommonStockholdersBasic"
PREFERRED = "PreferredStockDividendsIncomeStatementImpact"
OPERATING, PRETAX, TAX = (
    "OperatingIncomeLoss",
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
    "IncomeTaxExpenseBenefit",
)
DEBT, EQUITY, ASSETS = "LongTermDebtNoncurrent", "StockholdersEquity", "Assets"
ENDS = month_ends(2021, 12)
YEARS = {2021: ("2021-01-01", "2021-12-31"), 2022: ("2022-01-01", "2022-12-31"), 2023: ("2023-01-01", "2023-12-31")}


def company(
    sums: dict[str, list[float]], means: dict | None = None, balances: dict | None = None, *, of_revenue: bool = True
) -> Filer:
    """Three fiscal years, in millions; revenue is stated if nothing else is said."""
    millions = {tag: [value * 1e6 for value in values] for tag, values in sums.items()}
    held = {tag: [value * 1e6 for value in values] for tag, values in (balances or {}).items()}
    return Filer(ENDS, {**({REVENUE: [100e6] * 12} if of_revenue else {}), **millions}, means or {}, held)


def yearly(found: Today, item: str) -> list[float | None]:
    """The three annual values, in millions."""
    values = [value_of(found, item, "annual", end) for _, end in YEARS.values()]
    return [None if value is None else value / 1e6 for value in values]


def flags(found: Today, item: str, year: int = 2023) -> str:
    return row_of(found.values, item, "annual", YEARS[year][1])["flags"]


def reason(found: Today, item: str, end: str = "2023-12-31", kind: str = "annual") -> str | None:
    return row_of(found.gaps, item, kind, end).get("reason")


def years_only(tag: str, values: dict[int, float]) -> list[dict]:
    """An element that annual reports state for some years."""
    return [fact(tag, value * 1e6, *YEARS[year], filed=f"{year + 1}-02-28") for year, value in values.items()]


# --- Net income


@in_one_call
def test_income_to_common_is_used_if_every_year_states_it():
    """Net income after preferred dividends and participating securities: the numerator of basic earnings per share."""
    found = yield company({NET_INCOME: [10] * 12, COMMON: [9] * 12}).facts()

    assert yearly(found, "net_income") == [36, 36, 36]
    assert flags(found, "net_income") == ""


@in_one_call
def test_income_to_the_parent_where_there_are_no_preferred_shares():
    found = yield company({NET_INCOME: [10] * 12}).facts()

    assert yearly(found, "net_income") == [40, 40, 40]
    assert flags(found, "net_income") == ""


@in_one_call
def test_income_to_common_is_completed_by_preferred_dividends():
    """One year states income to common, all years preferred dividends: income of the parent less these dividends."""
    rows = company({NET_INCOME: [10] * 12, PREFERRED: [1] * 12}).rows()

    found = yield raw(rows, years_only(COMMON, {2023: 36}))

    assert yearly(found, "net_income") == [36, 36, 36]
    legs = found.lineage.filter(item="net_income", period_kind="annual").sort("period_end", "tag")
    assert legs["tag"].to_list()[:2] == [f"us-gaap:{NET_INCOME}", f"us-gaap:{PREFERRED}"]


@in_one_call
def test_one_basis_for_the_whole_series():
    """Participating securities make the two differ; mixing them would make the series jump."""
    rows = company({NET_INCOME: [10] * 12}).rows()

    found = yield raw(rows, years_only(COMMON, {2022: 39}))

    assert yearly(found, "net_income") == [40, 40, 40]
    assert flags(found, "net_income") == "attributable_to_parent"


@in_one_call
def test_two_bases_that_never_differ_count_as_one():
    found = yield raw(company({NET_INCOME: [10] * 12}).rows(), years_only(COMMON, {2022: 40}))

    assert flags(found, "net_income", 2022) == ""


@in_one_call
def test_a_window_without_preferred_dividends_between_others_has_no_value():
    """There are preferred shares, but their dividends are not stated: the value is missing, not guessed."""
    rows = company({NET_INCOME: [10] * 12}).rows()

    found = yield raw(rows, years_only(PREFERRED, {2021: 4, 2023: 4}))

    assert yearly(found, "net_income") == [36, None, 36]
    assert reason(found, "net_income", "2022-12-31") == "no_preferred_dividends"


@in_one_call
def test_consolidated_income_less_minorities_is_the_parents():
    tag = "NetIncomeLossAttributableToNoncontrollingInterest"
    found = yield company({"ProfitLoss": [10] * 12, tag: [2] * 12}).facts()

    assert yearly(found, "net_income") == [32, 32, 32]


@pytest.mark.parametrize(("minorities", "expected"), [(0, 40e6), (2e6, None)])
@in_one_call
def test_quarters_with_minorities_count_where_the_years_prove_that_there_are_none(minorities, expected):
    """Quarterly reports state consolidated net income only; annual reports also state net income of the parent."""
    sums = {REVENUE: [1e8] * 12, "ProfitLoss": [10e6] * 12, NET_INCOME: [10e6 - minorities] * 12}
    rows = [row for row in Filer(ENDS, sums).rows() if row["tag"] != NET_INCOME or row["form"] == "10-K"]
    found = yield raw(rows)

    assert value_of(found, "net_income", "ttm", "2023-06-30") == expected
    assert expected or reason(found, "net_income", "2023-06-30", "ttm") == "elements_differ"


# --- Revenue


@pytest.mark.parametrize("stray", [9.8e6, 30.1e6])
@in_one_call
def test_figures_of_one_element_are_no_mix_beside_a_stray_fact_of_a_better_one(stray):
    """AAR: one report states a part of a quarter under another element, which comes first."""
    tag, other = (f"RevenueFromContractWithCustomer{kind}AssessedTax" for kind in ("Including", "Excluding"))
    rows = Filer(ENDS, {tag: [1e8] * 12, NET_INCOME: [10e6] * 12}).rows()
    found = yield raw(rows, fact(other, stray, "2022-04-01", "2022-06-30", form="10-Q", filed="2022-08-09"))

    assert value_of(found, "revenue", "ttm", "2023-09-30") == 400e6


@in_one_call
def test_revenue_is_costs_and_operating_income_where_nothing_else_is_stated():
    """Both sides of the identity are then the same figures: this proves nothing."""
    found = yield company({"CostsAndExpenses": [70] * 12, OPERATING: [30] * 12}, of_revenue=False).facts()

    assert yearly(found, "revenue") == [400, 400, 400]
    assert found.found.proofs.filter(rule="identity.revenue.costs-and-operating-income").is_empty()


# --- Dividends per share


@pytest.mark.parametrize(
    ("amounts", "served"),
    [
        ({(DIVIDENDS, "EUR"): 0.4}, 0.4),  # without "/shares", as ASML in its first filings
        ({(DIVIDENDS, "EUR"): 4.1, (DIVIDENDS, "EUR/shares"): 0.4}, 0.4),
        ({(DIVIDENDS, "EUR"): 173e6}, None),  # a total
        ({("PaymentsOfDividendsCommonStock", "EUR"): 0}, 0),
        ({("PaymentsOfDividends", "EUR"): 0}, 0),
        ({("PaymentsOfDividendsCommonStock", "EUR"): 9e6}, None),
        ({("PaymentsOfDividends", "EUR"): 0, (DIVIDENDS, "EUR/shares"): 0.4}, 0.4),  # declared, not yet paid
    ],
)
@in_one_call
def test_dividends_without_the_unit_of_shares_and_dividends_of_nothing(amounts, served):
    rows = [fact(REVENUE, 4e9, *YEARS[2023], unit="EUR")]
    rows += [fact(tag, value, *YEARS[2023], unit=unit) for (tag, unit), value in amounts.items()]

    found = yield raw(rows)

    assert value_of(found, "dividends_per_share", "annual", "2023-12-31") == served


# --- Earnings per share


@in_one_call
def test_earnings_per_share_as_filed_come_first():
    filer = Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12, EPS: [1.1] * 12}, {SHARES: [1e7] * 12})

    found = yield filer.facts()

    assert value_of(found, "eps_basic", "annual", ENDS[11]) == pytest.approx(4.4)
    assert flags(found, "eps_basic") == ""


@in_one_call
def test_earnings_per_share_may_follow_from_income_and_shares():
    """Filers with several share classes state no value for the whole company; the value is flagged as derived."""
    filer = Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12}, {SHARES: [3e7] * 12})

    found = yield filer.facts()

    row = row_of(found.values, "eps_basic", "ttm", ENDS[10])
    assert (row["value"], row["method"], row["flags"]) == (1.33333, "net_income_over_shares", "derived")


@pytest.mark.parametrize(
    ("lines", "eps"),
    [
        ({}, -0.305157),
        ({"IncomeLossFromDiscontinuedOperationsNetOfTax": -967e3}, -0.333333),
        ({EPS: -0.31}, -0.31),
        ({CONTINUING: None}, -0.333333),
    ],
    ids=["continuing", "with discontinued operations", "as filed", "not stated"],
)
@in_one_call
def test_earnings_per_share_follow_from_the_income_that_they_are_computed_from(lines, eps):
    """NioCorp in fiscal 2024: 11.44 million is tagged as income to common, but -0.31 a share follows from 10.473."""
    figures = {REVENUE: 1e6, COMMON: -11_440e3, CONTINUING: -10_473e3, SHARES: 34_320_024, **lines}
    found = yield raw([fact(tag, value, *YEARS[2023]) for tag, value in figures.items() if value is not None])

    assert value_of(found, "eps_basic", "annual", YEARS[2023][1]) == eps
    assert value_of(found, "net_income", "annual", YEARS[2023][1]) == -11_440e3


@in_one_call
def test_without_shares_there_are_no_earnings_per_share():
    found = yield Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12}, {SHARES: [0.0] * 12}).facts()

    assert found.values.filter(item="eps_basic").is_empty()


# --- Free cash flow and the debt ratio


CHANGE, FINANCING = "CashAndCashEquivalentsPeriodIncreaseDecrease", "NetCashProvidedByUsedInFinancingActivities"


@pytest.mark.parametrize(
    ("financing", "expected"),
    [([20] * 12, [120, 120, 120]), ([19] * 12, [None] * 3)],
    ids=["nothing was invested", "a million is unexplained"],
)
@in_one_call
def test_without_investing_there_was_no_capital_expenditure(financing, expected):
    """The change in cash is operating plus financing cash flow to the unit."""
    found = yield company({CASH_FLOW: [30] * 12, FINANCING: financing, CHANGE: [50] * 12}).facts()

    assert yearly(found, "free_cash_flow") == expected


@in_one_call
def test_years_of_free_cash_flow_that_pay_the_debt():
    found = yield company({CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12}, balances={DEBT: [200] * 12}).facts()

    assert yearly(found, "free_cash_flow") == [80, 80, 80]
    assert value_of(found, "debt_to_fcf", "annual", ENDS[11]) == 2.5


@in_one_call
def test_zero_debt_takes_zero_years():
    found = yield company({CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12}, balances={DEBT: [0] * 12}).facts()

    assert value_of(found, "debt_to_fcf", "annual", ENDS[11]) == 0


@pytest.mark.parametrize(
    ("sums", "balances", "why"),
    [
        ({CASH_FLOW: [10] * 12, CAPITAL_SPENDING: [30] * 12}, {DEBT: [200] * 12}, "negative_fcf"),
        ({CASH_FLOW: [10] * 12, CAPITAL_SPENDING: [10] * 12}, {DEBT: [200] * 12}, "negative_fcf"),
        ({CASH_FLOW: [30] * 12}, {DEBT: [200] * 12}, "no_free_cash_flow"),
        ({CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12}, {}, "no_total_debt"),
    ],
)
@in_one_call
def test_why_debt_has_no_ratio_to_free_cash_flow(sums, balances, why):
    """If free cash flow is not positive, or an amount is missing, there is no ratio."""
    found = yield company(sums, balances=balances).facts()

    assert value_of(found, "debt_to_fcf", "annual", ENDS[11]) is None
    assert reason(found, "debt_to_fcf") == why


def restated(tag: str, amount: float) -> Row:
    """An amendment of the last annual report that restates one figure."""
    start = None if tag == DEBT else "2023-01-01"
    return fact(tag, amount * 1e6, start, "2023-12-31", form="10-K/A", filed="2024-06-03")


@in_one_call
def test_a_ratio_is_withdrawn_when_a_later_filing_leaves_it_without_meaning():
    """A stale ratio next to a negative free cash flow would contradict it; a third filing can bring it back."""
    rows = company({CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12}, balances={DEBT: [200] * 12}).rows()
    again = fact(CASH_FLOW, 120e6, "2023-01-01", "2023-12-31", form="10-K/A", filed="2024-07-01")
    negative = restated(CASH_FLOW, 20)
    withdrawn, back = yield raw(rows, negative), raw(rows, negative, again)

    assert value_of(withdrawn, "free_cash_flow", "annual", ENDS[11]) == -20e6
    assert value_of(withdrawn, "debt_to_fcf", "annual", ENDS[11]) is None
    assert reason(withdrawn, "debt_to_fcf") == "negative_fcf"
    versions = [history(each, "debt_to_fcf") for each in (withdrawn, back)]
    assert versions[0] == [(2.5, "initial"), (None, "withdrawn")]
    assert versions[1] == [*versions[0], (2.5, "reinstated")]


def history(found: Today, item: str) -> list[tuple[float | None, str]]:
    """The values of an item at the end of the last fiscal year, with their causes."""
    rows = found.found.versions.filter(pl.col("item") == item, pl.col("period_end") == ENDS[11])
    return list(rows.select("value", "cause").iter_rows())


# --- Gaps


@in_one_call
def test_every_item_of_a_window_has_a_value_or_a_reason():
    found = yield company({NET_INCOME: [10] * 12}, balances={CASH: [5] * 12}).facts()
    keys = ["cik", "period_kind", "period_end", "item"]

    valued, missing = found.values.select(keys), found.gaps.select(keys)

    assert valued.join(missing, on=keys).is_empty()
    assert valued.height + missing.height == valued.select(keys[:3]).unique().height * len(ITEM_NAMES)


@in_one_call
def test_an_item_that_is_never_stated_has_no_tag():
    found = yield company({}).facts()

    assert reason(found, "dividends_per_share") == "no_tag"


@in_one_call
def test_an_item_that_is_stated_elsewhere_lacks_a_year_or_a_quarter():
    filer = company({NET_INCOME: [10] * 12})
    dividends = [fact(DIVIDENDS, 0.5, *YEARS[2021], filed="2022-03-01")]

    found = yield raw(filer.rows(), dividends)

    for kind in ("annual", "ttm"):
        assert reason(found, "dividends_per_share", kind=kind) == "year_not_stated"
    assert reason(found, "dividends_per_share", "2023-09-30", "ttm") == "missing_quarter"
    assert value_of(found, "dividends_per_share", "annual", "2021-12-31") == 0.5


@in_one_call
def test_a_balance_that_is_stated_elsewhere_is_not_on_this_balance_sheet():
    debt = fact(DEBT, 5e6, None, "2021-12-31", filed="2022-03-01")

    found = yield raw(company({}).rows(), debt)

    assert reason(found, "total_debt") == "not_on_balance_sheet"
    assert reason(found, "total_debt", "2021-12-31") is None


# --- Earnings per share compared with net income per share


def offered(counts: list[float], earnings: list[float], income: list[float]) -> pl.DataFrame:
    """Seven quarters of counts (millions), earnings per share, and net income (millions)."""
    ends = month_ends(2021, 7)
    sums = {REVENUE: [1e8] * 7, NET_INCOME: [value * 1e6 for value in income], EPS: earnings}
    return Filer(ends, sums, {SHARES: [count * 1e6 for count in counts]}).facts()


def apart(quarter: float) -> pl.DataFrame:
    """Earnings of two quarters that no count of the same period contradicts: only the year to date has a count."""
    ends = month_ends(2021, 7)
    sums = {REVENUE: [1e8] * 7, NET_INCOME: [10.5e6] * 7, EPS: [0.105] * 5 + [quarter] * 2}
    rows = Filer(ends, sums, {SHARES: [100e6] * 7}).rows()
    return raw([row for row in rows if row["start"] is None or not _is_left_out(row)])


def _is_left_out(row: Row) -> bool:
    days = (date.fromisoformat(row["end"]) - date.fromisoformat(row["start"])).days
    is_late_quarter = days < 100 and row["start"][5:7] != "01"
    return (row["tag"] == SHARES and is_late_quarter) or (row["tag"] == EPS and 100 < days < 300)


@in_one_call
def test_an_offering_makes_quarters_on_different_counts():
    """A loss of 100 per quarter over 50, then over 280 million shares: the sum of quarters is not used.

    Twelve months to June are net income over the day-weighted mean of the counts; the year is as filed.
    """
    counts = [50, 50, 50, 50, 250, 280, 280]
    found = yield offered(counts, [-2, -2, -2, -2, -0.4, -0.36, -0.36], [-100] * 7)

    row = row_of(found.values, "eps_basic", "ttm", "2022-06-30")
    average = (92 * 50 + 92 * 50 + 90 * 250 + 91 * 280) / 365
    assert (row["value"], row["method"]) == (pytest.approx(-400 / average, rel=1e-5), "net_income_over_shares")
    assert "issuance" in row["flags"].split(",")
    assert value_of(found, "eps_basic", "annual", "2021-12-31") == -8


@in_one_call
def test_a_sum_that_matches_net_income_per_share_is_used():
    """Rounding changes the sum of four quarters by less than two cents."""
    found = yield offered([100] * 7, [0.101, 0.099, 0.1, 0.1, 0.104, 0.1, 0.1], [10] * 7)

    row = row_of(found.values, "eps_basic", "ttm", "2022-06-30")
    assert (row["value"], row["method"], row["flags"]) == (0.404, "four_quarters", "")


@pytest.mark.parametrize("quarter", [0.05, 0.13, 0.2])
@in_one_call
def test_filed_earnings_count_where_those_of_years_are_not_net_income_over_shares(quarter):
    """Net income belongs to another class of shares, too: the sum of quarters is flagged, and nothing is divided."""
    found = yield offered([100] * 7, [quarter] * 7, [10] * 7)

    row = row_of(found.values, "eps_basic", "ttm", "2022-06-30")
    assert (row["value"], row["method"]) == (pytest.approx(4 * quarter), "four_quarters")
    assert "apart_from_net_income" in row["flags"].split(",")


@pytest.mark.parametrize("quarter", [0.131, 0.315])
@in_one_call
def test_net_income_over_shares_replaces_a_sum_that_it_contradicts(quarter):
    """The filed earnings of the fiscal year agree with net income over shares; the earnings of this year do not."""
    found = yield apart(quarter)

    row = row_of(found.values, "eps_basic", "ttm", "2022-09-30")
    assert (row["value"], row["method"]) == (0.42, "net_income_over_shares")
    assert "apart_from_net_income" in row["flags"].split(",")
    proof = found.found.proofs.filter(rule="identity.earnings-per-share.times-shares", period_end=date(2022, 9, 30))
    assert proof["outcome"].to_list() == ["chose"]
    assert proof["left_side"].to_list() == pytest.approx([1e8 * (0.21 + 2 * quarter)])
    assert proof["right_side"].to_list() == pytest.approx([42e6])


@in_one_call
def test_a_sum_a_hundred_times_net_income_over_shares_is_withheld():
    """Either may be wrong: the earnings or the count."""
    found = yield apart(33.0)

    assert value_of(found, "eps_basic", "ttm", "2022-09-30") is None
    assert reason(found, "eps_basic", "2022-09-30", "ttm") == "contradicted_by_filing"


@pytest.mark.parametrize(
    ("quarter", "each", "expected"), [(135e3, 0.01, 0.054), (105e3, 0.01, 0.04), (1_365e3, 0.14, 0.56)]
)
@in_one_call
def test_roundings_of_small_quarters_do_not_add_up(quarter, each, expected):
    """Quarters of 1.35 cents a share, stated as 1: twelve months are 5.4 cents, not 4; of 13.65 cents, 56 will do."""
    sums = {REVENUE: [1e8] * 12, NET_INCOME: [quarter] * 12, EPS: [each] * 12}
    found = yield raw(Filer(ENDS, sums, {SHARES: [1e7] * 12}).rows())

    assert value_of(found, "eps_basic", "ttm", "2022-09-30") == pytest.approx(expected)


@in_one_call
def test_cents_before_a_reverse_split_are_too_coarse():
    """BK Technologies 2018: a cent became five by a reverse split of 1:5, and the loss is 7.5 cents a share.

    The cent was right when it was filed; the first report after the split leads to a new version.
    """
    found = yield raw(reverse_split_of_cents())

    of_years = [row_of(found.values, "eps_basic", "annual", f"{year}-12-31") for year in (2021, 2022)]
    assert [row["value"] for row in of_years] == pytest.approx([-0.5, -0.075])
    assert [row["method"] for row in of_years] == ["fiscal_year", "net_income_over_shares"]
    log = found.found.versions.filter(item="eps_basic", period_end=date(2022, 12, 31))
    assert log.select("value", "filed").rows() == [
        (pytest.approx(-0.05), date(2023, 2, 28)),
        (pytest.approx(-0.075), date(2024, 2, 28)),
    ]


@in_one_call
def test_earnings_are_compared_with_the_income_that_participating_securities_leave():
    """Bancorp 34 to September 2019: net income is for the parent, earnings per share are for common shares."""
    parent, common = [1.07e6] * 8 + [-1.0e6, -1.03e6], [1.05e6] * 8 + [-1.02e6, -1.05e6]
    sums = {REVENUE: [1e8] * 10, NET_INCOME: parent, COMMON: common, EPS: [0.1] * 8 + [-0.1, -0.11]}
    rows = Filer(month_ends(2020, 10), sums, {SHARES: [1e7] * 10}).rows()
    found = yield raw([row for row in rows if row["tag"] != COMMON or row["filed"] > "2021-10-01"])

    assert value_of(found, "net_income", "ttm", "2022-03-31") == 2.21e6
    assert value_of(found, "eps_basic", "ttm", "2022-03-31") == 0.213


@in_one_call
def test_quarters_before_and_after_a_merger_do_not_add_up():
    """Kraft Heinz: filings state shares of fiscal years only, 786 million on average in the year of the merger.

    Without them, earnings per share of the year show so many.
    """
    sums = {REVENUE: [1e9] * 5, NET_INCOME: [96e6, -344e6, -303e6, 285e6, 896e6], EPS: [0.26, -0.91, -0.27, 0.58, 0.74]}
    rows = Filer(month_ends(2015, 5), sums).rows()
    shares = fact(SHARES, 786e6, "2015-01-01", "2015-12-31", filed="2016-03-01")

    for found in (yield raw(rows, shares), raw(rows)):
        assert value_of(found, "eps_basic", "ttm", "2016-03-31") is None
        assert reason(found, "eps_basic", "2016-03-31", "ttm") == "contradicted_by_filing"


@pytest.mark.parametrize(("last", "expected"), [(0.69, 2.64), (4.0, None)])
@in_one_call
def test_quarters_after_a_merger_add_up_where_their_year_has_the_count(last, expected):
    """Kraft Heinz to October 2016: the report of the year states its quarters and their count; the count of the
    report before is two thirds of it.
    """
    income = [96e6, -344e6, -303e6, 285e6, 896e6, 770e6, 842e6]
    sums = {REVENUE: [1e9] * 7, NET_INCOME: income, EPS: [0.26, -0.91, -0.27, 0.58, 0.74, 0.63, last]}
    rows = [
        fact(row["tag"], row["value"], row["start"], row["end"], filed="2017-03-01") if row["end"] > "2016" else row
        for row in Filer(month_ends(2015, 7), sums).rows()
    ]
    shares = {2015: 786e6, 2016: 1.217e9}
    years = [fact(SHARES, each, f"{of}-01-01", f"{of}-12-31", filed=f"{of + 1}-03-01") for of, each in shares.items()]
    earned = fact(NET_INCOME, 3_452e6, "2016-01-01", "2016-12-31", filed="2017-03-01")
    found = yield raw(rows, *years, earned)

    assert value_of(found, "eps_basic", "ttm", "2016-09-30") == expected


@in_one_call
def test_a_changing_count_explains_a_difference():
    """A loss in the quarter with fewest shares: four quotients add up to more than the quotient of the sums."""
    earnings = [1.0, 1.0, 1.0, 1.0, 1.0, -3.26, 1.09]
    found = yield offered([100, 100, 100, 100, 100, 92, 92], earnings, [100] * 5 + [-300, 100])

    row = row_of(found.values, "eps_basic", "ttm", "2022-06-30")
    assert (row["value"], row["method"], row["flags"]) == (pytest.approx(-0.26), "four_quarters", "")


@in_one_call
def test_roundings_and_a_changing_count_together_do_not_add_up():
    """AAR to February 2021: the sum of quarters is two units off, and a little more, which the count may explain."""
    found = yield offered([100] * 5 + [101] * 2, [0.1] * 5 + [0.49, -0.5], [10] * 5 + [50.6, -49.4])

    assert value_of(found, "eps_basic", "ttm", "2022-09-30") == pytest.approx(0.2111, rel=1e-3)


@in_one_call
def test_two_classes_of_shares_leave_no_quotient():
    """Two annual reports state half of net income over shares; a year without filed earnings has no value.

    Known only after the second report, the year before keeps its first value until then.
    """
    ends = [f"{year}-12-31" for year in (2019, 2020, 2021)]
    rows = []
    for number, end in enumerate(ends):
        earned = {NET_INCOME: 20e6, SHARES: 10e6, REVENUE: 1e8} | ({EPS: 1.0} if number == 2 else {})
        for tag, value in earned.items():
            rows.append(fact(tag, value, end[:5] + "01-01", end, form="20-F", filed=f"{2020 + number}-04-01"))

    found = yield raw(rows)

    assert [value_of(found, "eps_basic", "annual", end) for end in ends] == [None, None, 1.0]
    assert reason(found, "eps_basic", ends[0]) == "eps_of_other_shares"
    log = found.found.versions.filter(item="eps_basic", period_end=date(2019, 12, 31))
    assert log["value"].to_list() == [2.0, None]


@pytest.mark.parametrize(("income", "value", "because"), [(-10, 10e6, None), (10, None, "mixed_basis")])
@in_one_call
def test_diluted_shares_are_not_below_basic_shares(income, value, because):
    """A year with a loss has no dilution, and its first quarters had: the mean would be below the basic shares."""
    rows = Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [income * 1e6] * 12}, {SHARES: [10e6] * 12}).rows()
    diluted = Filer(ENDS, {}, {DILUTED: [12e6] * 4 + [10e6] * 8}).rows()
    for row in diluted:
        row["value"] = 10e6 if (row["start"], row["end"]) == YEARS[2021] else row["value"]
    found = yield raw(rows, diluted)

    assert value_of(found, "shares_diluted", "ttm", "2022-09-30") == value
    assert reason(found, "shares_diluted", "2022-09-30", "ttm") == because


@in_one_call
def test_diluted_shares_are_below_basic_shares_by_rounding_only():
    """Acme United 2012: diluted shares of all periods are 0.4 % below basic ones, which are exact."""
    basic = Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12}, {SHARES: [10_000_100] * 12}).rows()
    found = yield raw(basic, Filer(ENDS, {}, {DILUTED: [9_960_100] * 12}).rows())

    assert value_of(found, "shares_diluted", "ttm", "2022-09-30") is None
    assert reason(found, "shares_diluted", "2022-09-30", "ttm") == "contradicted_by_filing"


@in_one_call
def test_four_even_dividends_are_those_paid():
    """Disney 2019: a half-yearly dividend of 0.88, in the quarter in which it was declared and in the next one."""
    twice, once = yield raw(paid_half_yearly(0.88)), raw(paid_half_yearly(0.44))

    assert value_of(twice, "dividends_per_share", "annual", "2022-12-31") is None
    assert reason(twice, "dividends_per_share", "2022-12-31", "annual") == "contradicted_by_filing"
    assert value_of(once, "dividends_per_share", "annual", "2022-12-31") == 1.76


@pytest.mark.parametrize("each", [0.88, 0.44])
@in_one_call
def test_the_sum_after_dividends_that_were_repeated_has_three_of_them(each):
    """Disney to December 2019: the report of the quarter states no dividends paid."""
    known = [row for row in paid_half_yearly(each) if row["tag"] not in (PAID, DIVIDENDS) or row["end"] <= "2022-12-31"]
    rows = [*known, fact(DIVIDENDS, each, "2023-01-01", "2023-03-31", form="10-Q", filed="2023-05-05")]

    found = yield raw(rows)
    value = value_of(found, "dividends_per_share", "ttm", "2023-03-31")

    assert value == (None if each == 0.88 else 1.76)


@in_one_call
def test_a_mean_of_shares_is_like_its_quarters():
    """First Seacoast 2022: the year is as before the conversion to a stock company, its quarters were restated."""
    found = yield raw(conversion())

    for end in ("2023-03-31", "2023-06-30", "2023-09-30"):
        assert value_of(found, "shares_basic", "ttm", end) is None
        assert reason(found, "shares_basic", end, "ttm") == "mixed_basis"
        assert value_of(found, "eps_basic", "ttm", end) == 4.0
    assert value_of(found, "shares_basic", "annual", "2022-12-31") == 12e6
    assert value_of(found, "shares_basic", "annual", "2023-12-31") == 10e6


@in_one_call
def test_the_average_of_a_year_counts_as_corrected():
    """First Seacoast 2022 again: the next annual report states the year after the conversion, too."""
    found = yield raw(conversion("2024-01-01"))

    for end in ("2023-03-31", "2023-06-30", "2023-09-30"):
        assert value_of(found, "shares_basic", "ttm", end) == 10e6
        log = found.found.versions.filter(item="shares_basic", period_end=date.fromisoformat(end))
        assert log["value"].to_list() == [10e6]


@in_one_call
def test_the_average_of_a_year_is_not_corrected_against_its_quarters():
    """Cullman 2021: the restated year leaves more for its last quarter than any neighbouring quarter has."""
    rows = [
        {**row, "value": 7e6} if row["tag"] == SHARES and row["start"] in ("2022-04-01", "2022-07-01") else row
        for row in conversion("2024-01-01")
        if (row["start"], row["end"]) not in (("2022-10-01", "2022-12-31"), ("2022-01-01", "2022-09-30"))
    ]
    found = yield raw(rows)

    assert value_of(found, "shares_basic", "ttm", "2023-03-31") is None


@in_one_call
def test_earnings_of_another_count_than_the_quarters_are_left_out():
    """Walmart: the year before is on the basis after a split that the interim periods of both years do not have."""
    interim = [("2022-01-01", "2022-03-31", 1.0, 10e6), ("2023-01-01", "2023-03-31", 1.0, 10e6)]
    rows = [
        fact(tag, value, "2022-01-01", "2022-12-31", filed="2024-02-20")
        for tag, value in ((SHARES, 30e6), (EPS, 1.33), (NET_INCOME, 40e6), (REVENUE, 1e8))
    ]
    for start, end, earnings, count in interim:
        for tag, value in ((SHARES, count), (EPS, earnings), (NET_INCOME, 10e6), (REVENUE, 25e6)):
            rows.append(fact(tag, value, start, end, form="10-Q", filed="2023-05-10"))
    found = yield raw(rows)

    for item in ("shares_basic", "eps_basic"):
        assert value_of(found, item, "ttm", "2023-03-31") is None
        assert reason(found, item, "2023-03-31", "ttm") == "mixed_basis"
    assert value_of(found, "net_income", "ttm", "2023-03-31") == 40e6


@in_one_call
def test_earnings_without_shares_are_like_those_of_the_last_count():
    """FB Bancorp 2025: its quarters before the offering state no earnings per share and no shares."""

    def stated(start, end, filed, **amounts):
        amounts = {REVENUE: 3e6, **{named[name]: value for name, value in amounts.items()}}
        return [fact(tag, value, start, end, form="10-Q", filed=filed) for tag, value in amounts.items()]

    named = {"income": NET_INCOME, "each": EPS, "shares": SHARES}
    rows = [
        *stated("2022-01-01", "2022-03-31", "2022-05-10", income=-1.2e6, each=0.0),
        *stated("2022-01-01", "2022-12-31", "2023-03-20", income=-4e6, each=-1.74, shares=2.3e6),
        *stated("2023-01-01", "2023-03-31", "2023-05-10", income=0.0, each=0.04),
    ]
    found = yield raw(rows)

    assert value_of(found, "eps_basic", "ttm", "2022-12-31") == -1.74
    assert value_of(found, "eps_basic", "ttm", "2023-03-31") is None


@in_one_call
def test_a_quarter_between_two_counts_is_like_them():
    """Airbnb 2020: the offering was in the last quarter; its average lies between the averages of its neighbours."""
    counts = [10e6] * 4 + [10e6, 10e6, 10e6, 14e6] + [25e6] * 4
    found = yield raw(company({}, {SHARES: counts}).rows())

    assert value_of(found, "shares_basic", "ttm", "2023-09-30") == pytest.approx(22.2e6, rel=0.01)


@in_one_call
def test_legs_before_and_after_a_reverse_split_have_no_mean():
    """No filing states a period on both bases, so that nothing shows the ratio of 1:5000."""
    found = yield raw(reverse_split())

    for item in ("shares_basic", "eps_basic"):
        assert value_of(found, item, "ttm", "2023-03-31") is None
        assert reason(found, item, "2023-03-31", "ttm") == "mixed_basis"
    assert value_of(found, "shares_basic", "annual", "2022-12-31") == 8e9


@in_one_call
def test_a_year_as_filed_is_never_replaced():
    """At a fiscal year end the company's own figure is used, whatever the control gives."""
    found = yield offered([50, 100, 200, 400, 400, 400, 400], [0.5] * 7, [10] * 7)

    row = row_of(found.values, "eps_basic", "annual", "2021-12-31")
    assert (row["value"], row["method"], row["flags"]) == (2.0, "fiscal_year", "")


# --- Known values


@pytest.mark.parametrize(
    "later",
    [
        years_only(COMMON, {2023: 36}),
        years_only(PREFERRED, {2023: 4}),
        years_only(COMMON, {2022: 39, 2023: 38}),
    ],
)
@in_one_call
def test_the_basis_of_net_income_depends_on_earlier_filings_only(later):
    """Later reports with preferred dividends or income to common change no value of earlier years."""
    rows = company({NET_INCOME: [10] * 12}).rows()
    first_later = min(row["filed"] for row in later)

    def told(found):
        versions = found.found.versions.filter(item="net_income")
        known = versions.filter(pl.col("filed") < pl.lit(first_later).str.to_date())
        return known.select("period_end", "value", "flags", "filed").rows()

    then, now = yield raw(rows), raw(rows, later)

    assert told(now) == told(then)
    assert len(told(then)) >= 4


@pytest.mark.parametrize(("item", "value"), [("revenue", -0.0), ("revenue", -0.3), ("eps_basic", -0.0)])
def test_zero_is_served_without_a_sign(item, value):
    found = pl.DataFrame({"item": [item], "value": [value]}).select(served("value")).item()

    assert (found, math.copysign(1, found)) == (0, 1)
