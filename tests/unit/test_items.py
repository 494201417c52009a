"""Line items: their values from flows and balances, and the reasons for missing values."""

import math
from datetime import date, timedelta

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
    day,
    fact,
    month_ends,
    outcomes,
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


def years_only(tag: str, values: dict[int, float]) -> list[dict]:
    """An element that annual reports state for some years."""
    return [fact(tag, value * 1e6, *YEARS[year], filed=f"{year + 1}-02-28") for year, value in values.items()]


# --- Net income


NET_INCOMES = {
    # net income after preferred dividends and participating securities: the numerator of basic earnings per share
    "income to common is used if every year states it": ({NET_INCOME: [10] * 12, COMMON: [9] * 12}, [], [36] * 3, ""),
    "income to the parent where there are no preferred shares": ({NET_INCOME: [10] * 12}, [], [40] * 3, ""),
    "income to the parent less preferred dividends, where one year states income to common": (
        {NET_INCOME: [10] * 12, PREFERRED: [1] * 12},
        years_only(COMMON, {2023: 36}),
        [36] * 3,
        "",
    ),
    # participating securities make the two differ; mixing them would make the series jump
    "one basis for the whole series": (
        {NET_INCOME: [10] * 12},
        years_only(COMMON, {2022: 39}),
        [40] * 3,
        "attributable_to_parent",
    ),
    "two bases that never differ count as one": ({NET_INCOME: [10] * 12}, years_only(COMMON, {2022: 40}), [40] * 3, ""),
    "consolidated income less minorities is the parent's": (
        {"ProfitLoss": [10] * 12, "NetIncomeLossAttributableToNoncontrollingInterest": [2] * 12},
        [],
        [32] * 3,
        "",
    ),
}
"""The quarters of three years, what years alone state, the net income of the years, and its flags in the last two."""


@pytest.mark.parametrize(("sums", "years", "income", "flagged"), NET_INCOMES.values(), ids=NET_INCOMES)
@in_one_call
def test_the_basis_of_net_income(sums, years, income, flagged):
    found = yield raw(company(sums).rows(), years)

    assert yearly(found, "net_income") == income
    assert [flags(found, "net_income", year) for year in (2022, 2023)] == [flagged] * 2


@in_one_call
def test_the_legs_of_net_income_are_that_of_the_parent_and_the_preferred_dividends():
    found = yield raw(company({NET_INCOME: [10] * 12, PREFERRED: [1] * 12}).rows(), years_only(COMMON, {2023: 36}))

    legs = found.lineage.filter(item="net_income", period_kind="annual").sort("period_end", "tag")
    assert legs["tag"].to_list()[:2] == [f"us-gaap:{NET_INCOME}", f"us-gaap:{PREFERRED}"]


# --- Revenue


@in_one_call
def test_revenue_is_costs_and_operating_income_where_nothing_else_is_stated():
    """Both sides of the identity are then the same figures: this proves nothing."""
    found = yield company({"CostsAndExpenses": [70] * 12, OPERATING: [30] * 12}, of_revenue=False).facts()

    assert yearly(found, "revenue") == [400, 400, 400]
    assert found.found.proofs.filter(rule="identity.revenue.costs-and-operating-income").is_empty()


# --- Dividends per share


# --- Earnings per share


EARNED = {NET_INCOME: [1e7] * 12, REVENUE: [1e8] * 12}


@in_one_call
def test_earnings_per_share_as_filed_come_first():
    found = yield Filer(ENDS, {**EARNED, EPS: [1.1] * 12}, {SHARES: [1e7] * 12}).facts()

    assert value_of(found, "eps_basic", "annual", ENDS[11]) == pytest.approx(4.4)
    assert flags(found, "eps_basic") == ""


@in_one_call
def test_without_shares_there_are_no_earnings_per_share():
    found = yield Filer(ENDS, EARNED, {SHARES: [0.0] * 12}).facts()

    assert found.values.filter(item="eps_basic").is_empty()


# --- Free cash flow and the debt ratio


OF_FLOWS, CHANGE, FINANCING = (
    {CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12},
    "CashAndCashEquivalentsPeriodIncreaseDecrease",
    "NetCashProvidedByUsedInFinancingActivities",
)


@pytest.mark.parametrize(("debt", "ratio"), [(200, 2.5), (0, 0)])
@in_one_call
def test_years_of_free_cash_flow_that_pay_the_debt(debt, ratio):
    """Zero debt takes zero years."""
    found = yield company(OF_FLOWS, balances={DEBT: [debt] * 12}).facts()

    assert yearly(found, "free_cash_flow") == [80, 80, 80]
    assert value_of(found, "debt_to_fcf", "annual", ENDS[11]) == ratio


@in_one_call
def test_a_ratio_is_withdrawn_when_a_later_filing_leaves_it_without_meaning():
    """A stale ratio next to a negative free cash flow would contradict it; a third filing can bring it back."""
    rows = company(OF_FLOWS, balances={DEBT: [200] * 12}).rows()
    negative, again = (
        fact(CASH_FLOW, amount, *YEARS[2023], form="10-K/A", filed=filed)
        for amount, filed in ((20e6, "2024-06-03"), (120e6, "2024-07-01"))
    )
    withdrawn, back = yield raw(rows, negative), raw(rows, negative, again)

    expected = {LAST_YEAR: {"free_cash_flow": -20e6, "debt_to_fcf": "negative_fcf"}}
    assert outcomes(withdrawn, expected) == expected
    assert history(withdrawn, "debt_to_fcf") == [(2.5, "initial"), (None, "withdrawn")]
    assert history(back, "debt_to_fcf") == [(2.5, "initial"), (None, "withdrawn"), (2.5, "reinstated")]


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


# --- Earnings per share compared with net income per share


def offered(counts: list[float], earnings: list[float], income: list[float]) -> pl.DataFrame:
    """Seven quarters of counts (millions), earnings per share, and net income (millions)."""
    ends = month_ends(2021, 7)
    sums = {REVENUE: [1e8] * 7, NET_INCOME: [value * 1e6 for value in income], EPS: earnings}
    return Filer(ends, sums, {SHARES: [count * 1e6 for count in counts]}).facts()


def apart(quarter: float) -> pl.DataFrame:
    """Earnings of two quarters that no count of the same period contradicts: only the year to date has a count."""
    sums = {REVENUE: [1e8] * 7, NET_INCOME: [10.5e6] * 7, EPS: [0.105] * 5 + [quarter] * 2}
    days = pl.col("end").str.to_date() - pl.col("start").str.to_date()
    is_late_quarter = (days < timedelta(days=100)) & (pl.col("start").str.slice(5, 2) != "01")
    is_to_date = days.is_between(timedelta(days=100), timedelta(days=300), closed="none")
    left_out = ((pl.col("tag") == SHARES) & is_late_quarter) | ((pl.col("tag") == EPS) & is_to_date)
    return Filer(month_ends(2021, 7), sums, {SHARES: [100e6] * 7}).facts().filter(~left_out)


@in_one_call
def test_an_offering_makes_quarters_on_different_counts():
    """A loss of 100 per quarter over 50, then over 280 million shares: the sum of quarters is not used.

    Twelve months to June are net income over the day-weighted mean of the counts; the year is as filed.
    """
    found = yield offered([50, 50, 50, 50, 250, 280, 280], [-2, -2, -2, -2, -0.4, -0.36, -0.36], [-100] * 7)

    row = row_of(found.values, "eps_basic", "ttm", "2022-06-30")
    average = (92 * 50 + 92 * 50 + 90 * 250 + 91 * 280) / 365
    assert (row["value"], row["method"]) == (pytest.approx(-400 / average, rel=1e-5), "net_income_over_shares")
    assert "issuance" in row["flags"].split(",")
    assert value_of(found, "eps_basic", "annual", "2021-12-31") == -8


@pytest.mark.parametrize(
    ("filed", "kind", "end", "row"),
    [
        # filers with several share classes state no value for the whole company
        (
            Filer(ENDS, EARNED, {SHARES: [3e7] * 12}).facts(),
            "ttm",
            "2023-09-30",
            (1.33333, "net_income_over_shares", "derived"),
        ),
        # rounding changes the sum of four quarters by less than two cents
        (
            offered([100] * 7, [0.101, 0.099, 0.1, 0.1, 0.104, 0.1, 0.1], [10] * 7),
            "ttm",
            "2022-06-30",
            (0.404, "four_quarters", ""),
        ),
        # a loss in the quarter with fewest shares: four quotients add up to more than the quotient of the sums
        (
            offered([100] * 5 + [92] * 2, [1.0] * 5 + [-3.26, 1.09], [100] * 5 + [-300, 100]),
            "ttm",
            "2022-06-30",
            (pytest.approx(-0.26), "four_quarters", ""),
        ),
        # at a fiscal year end the company's own figure is used, whatever the control gives
        (
            offered([50, 100, 200, 400, 400, 400, 400], [0.5] * 7, [10] * 7),
            "annual",
            "2021-12-31",
            (2.0, "fiscal_year", ""),
        ),
    ],
    ids=["of income and shares", "a sum that matches", "a changing count explains a difference", "a year as filed"],
)
@in_one_call
def test_earnings_per_share_by_their_method(filed, kind, end, row):
    found = yield filed
    found = row_of(found.values, "eps_basic", kind, end)

    assert (found["value"], found["method"], found["flags"]) == row


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
def test_two_classes_of_shares_leave_no_quotient():
    """Two annual reports state half of net income over shares; a year without filed earnings has no value.

    Known only after the second report, the year before keeps its first value until then.
    """
    earned = {NET_INCOME: 20e6, SHARES: 10e6, REVENUE: 1e8}
    found = yield [
        fact(tag, value, f"{year}-01-01", f"{year}-12-31", form="20-F", filed=f"{year + 1}-04-01")
        for year in (2019, 2020, 2021)
        for tag, value in (earned | {EPS: 1.0} if year == 2021 else earned).items()
    ]

    expected = {
        "annual 2019-12-31": {"eps_basic": "eps_of_other_shares"},
        "annual 2020-12-31": {"eps_basic": "eps_of_other_shares"},
        "annual 2021-12-31": {"eps_basic": 1.0},
    }
    assert outcomes(found, expected) == expected
    log = found.found.versions.filter(item="eps_basic", period_end=date(2019, 12, 31))
    assert log["value"].to_list() == [2.0, None]


@in_one_call
def test_the_average_of_a_year_counts_as_corrected():
    """First Seacoast 2022: the next annual report states the year after the conversion, too."""
    found = yield conversion("2024-01-01")
    log = found.found.versions.filter(pl.col("period_end").dt.year() == 2023, item="shares_basic")

    assert log["value"].to_list() == [10e6] * 4
    expected = {f"ttm 2023-{end}": {"shares_basic": 10e6} for end in ("03-31", "06-30", "09-30")}
    assert outcomes(found, expected) == expected


# --- Known values


ANNUAL = [f"annual {end}" for _, end in YEARS.values()]
LAST_YEAR = ANNUAL[-1]
REVENUE_INCLUDING, REVENUE_EXCLUDING = (
    f"RevenueFromContractWithCustomer{kind}AssessedTax" for kind in ("Including", "Excluding")
)


def with_minorities(minorities: float) -> list[Row]:
    """Quarterly reports state consolidated net income only; annual reports also state net income of the parent."""
    sums = {REVENUE: [1e8] * 12, "ProfitLoss": [10e6] * 12, NET_INCOME: [10e6 - minorities] * 12}
    return [row for row in Filer(ENDS, sums).rows() if row["tag"] != NET_INCOME or row["form"] == "10-K"]


def small_quarters(quarter: float, each: float) -> list[Row]:
    sums = {REVENUE: [1e8] * 12, NET_INCOME: [quarter] * 12, EPS: [each] * 12}
    return Filer(ENDS, sums, {SHARES: [1e7] * 12}).rows()


def with_participating_securities() -> list[Row]:
    """Bancorp 34 to September 2019: net income is for the parent, earnings per share are for common shares."""
    parent, common = [1.07e6] * 8 + [-1.0e6, -1.03e6], [1.05e6] * 8 + [-1.02e6, -1.05e6]
    sums = {REVENUE: [1e8] * 10, NET_INCOME: parent, COMMON: common, EPS: [0.1] * 8 + [-0.1, -0.11]}
    rows = Filer(month_ends(2020, 10), sums, {SHARES: [1e7] * 10}).rows()
    return [row for row in rows if row["tag"] != COMMON or row["filed"] > "2021-10-01"]


MERGED = Filer(
    month_ends(2015, 5),
    {REVENUE: [1e9] * 5, NET_INCOME: [96e6, -344e6, -303e6, 285e6, 896e6], EPS: [0.26, -0.91, -0.27, 0.58, 0.74]},
).rows()
"""Kraft Heinz: filings state shares of fiscal years only, 786 million on average in the year of the merger."""


def with_dilution_in_the_first_year(income: float) -> list[Row]:
    """A year with a loss has no dilution, and its first quarters had: the mean would be below the basic shares."""
    diluted = Filer(ENDS, {}, {DILUTED: [12e6] * 4 + [10e6] * 8}).rows()
    return [
        *Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [income * 1e6] * 12}, {SHARES: [10e6] * 12}).rows(),
        *(row | {"value": 10e6} if (row["start"], row["end"]) == YEARS[2021] else row for row in diluted),
    ]


def paid_until_march(each: float) -> list[Row]:
    """Disney to December 2019: the report of the quarter states no dividends paid."""
    return [
        *(row for row in paid_half_yearly(each) if row["tag"] not in (PAID, DIVIDENDS) or row["end"] <= "2022-12-31"),
        fact(DIVIDENDS, each, "2023-01-01", "2023-03-31", form="10-Q", filed="2023-05-05"),
    ]


def conversion_with_a_large_last_quarter() -> list[Row]:
    """Cullman 2021: the restated year leaves more for its last quarter than any neighbouring quarter has."""
    return [
        {**row, "value": 7e6} if row["tag"] == SHARES and row["start"] in ("2022-04-01", "2022-07-01") else row
        for row in conversion("2024-01-01")
        if (row["start"], row["end"]) not in (("2022-10-01", "2022-12-31"), ("2022-01-01", "2022-09-30"))
    ]


def stated(
    start: str, end: str, filed: str, amounts: dict[str, float], revenue: float = 3e6, form: str = "10-Q"
) -> list[Row]:
    return [
        fact(tag, value, start, end, form=form, filed=filed) for tag, value in {REVENUE: revenue, **amounts}.items()
    ]


SPLIT = {SHARES: 10e6, EPS: 1.0, NET_INCOME: 10e6}


def of_2023(amounts: dict[tuple[str, str], float]) -> list[Row]:
    """A year in euros: revenue, and amounts by element and unit."""
    stated = {(REVENUE, "EUR"): 4e9, **amounts}
    return [fact(tag, value, *YEARS[2023], unit=unit) for (tag, unit), value in stated.items()]


ONE_LOSS = {REVENUE: 1e6, COMMON: -11_440e3, CONTINUING: -10_473e3, SHARES: 34_320_024}
"""NioCorp in fiscal 2024: 11.44 million is tagged as income to common, but -0.31 a share follows from 10.473."""


def merged_until(last: float) -> list[Row]:
    """Kraft Heinz to October 2016: the report of the year states its quarters and their count; the count of the report
    before is two thirds of it.
    """
    income = [96e6, -344e6, -303e6, 285e6, 896e6, 770e6, 842e6]
    sums = {REVENUE: [1e9] * 7, NET_INCOME: income, EPS: [0.26, -0.91, -0.27, 0.58, 0.74, 0.63, last]}
    return [
        *(
            row | {"form": "10-K", "filed": "2017-03-01", "accession": f"{row['cik']}-10-K-2017-03-01", "fy": None}
            if row["end"] > "2016"
            else row
            for row in Filer(month_ends(2015, 7), sums).rows()
        ),
        fact(SHARES, 786e6, "2015-01-01", "2015-12-31", filed="2016-03-01"),
        fact(SHARES, 1.217e9, "2016-01-01", "2016-12-31", filed="2017-03-01"),
        fact(NET_INCOME, 3_452e6, "2016-01-01", "2016-12-31", filed="2017-03-01"),
    ]


CASES = {
    **{
        f"dividends {name}": (of_2023(amounts), {LAST_YEAR: {"dividends_per_share": served}})
        for name, amounts, served in (
            # as ASML in its first filings
            ("without the unit of shares", {(DIVIDENDS, "EUR"): 0.4}, 0.4),
            ("in two units", {(DIVIDENDS, "EUR"): 4.1, (DIVIDENDS, "EUR/shares"): 0.4}, 0.4),
            ("that are a total", {(DIVIDENDS, "EUR"): 173e6}, "no_tag"),
            ("of nothing on common stock", {("PaymentsOfDividendsCommonStock", "EUR"): 0}, 0),
            ("of nothing", {("PaymentsOfDividends", "EUR"): 0}, 0),
            ("that are paid", {("PaymentsOfDividendsCommonStock", "EUR"): 9e6}, "no_tag"),
            ("declared, not yet paid", {("PaymentsOfDividends", "EUR"): 0, (DIVIDENDS, "EUR/shares"): 0.4}, 0.4),
        )
    },
    **{
        f"earnings per share of {name}": (
            [fact(tag, value, *YEARS[2023]) for tag, value in {**ONE_LOSS, **lines}.items() if value is not None],
            {LAST_YEAR: {"eps_basic": eps, "net_income": -11_440e3}},
        )
        for name, lines, eps in (
            ("continuing operations", {}, -0.305157),
            ("discontinued operations, too", {"IncomeLossFromDiscontinuedOperationsNetOfTax": -967e3}, -0.333333),
            ("the filer", {EPS: -0.31}, -0.31),
            ("all income, where continuing income is not stated", {CONTINUING: None}, -0.333333),
        )
    },
    # the change in cash is operating plus financing cash flow to the unit
    "without investing there was no capital expenditure": (
        company({CASH_FLOW: [30] * 12, FINANCING: [20] * 12, CHANGE: [50] * 12}).rows(),
        {period: {"free_cash_flow": 120e6} for period in ANNUAL},
    ),
    "a million of the change in cash is unexplained": (
        company({CASH_FLOW: [30] * 12, FINANCING: [19] * 12, CHANGE: [50] * 12}).rows(),
        {period: {"free_cash_flow": "no_tag"} for period in ANNUAL},
    ),
    "quarters after a merger add up where their year has the count": (
        merged_until(0.69),
        {"ttm 2016-09-30": {"eps_basic": 2.64}},
    ),
    "quarters after a merger of another amount do not": (
        merged_until(4.0),
        {"ttm 2016-09-30": {"eps_basic": "contradicted_by_filing"}},
    ),
    # there are preferred shares, but their dividends are not stated: the value is missing, not guessed
    "a window without preferred dividends between others has no value": (
        [*company({NET_INCOME: [10] * 12}).rows(), *years_only(PREFERRED, {2021: 4, 2023: 4})],
        {
            "annual 2021-12-31": {"net_income": 36e6},
            "annual 2022-12-31": {"net_income": "no_preferred_dividends"},
            LAST_YEAR: {"net_income": 36e6},
        },
    ),
    "quarters count where the years prove that there are no minorities": (
        with_minorities(0),
        {"ttm 2023-06-30": {"net_income": 40e6}},
    ),
    "quarters do not count where there are minorities": (
        with_minorities(2e6),
        {"ttm 2023-06-30": {"net_income": "elements_differ"}},
    ),
    # AAR: one report states a part of a quarter under another element, which comes first
    **{
        f"figures of one element are no mix beside a stray fact of a better one, {stray}": (
            [
                *Filer(ENDS, {REVENUE_INCLUDING: [1e8] * 12, NET_INCOME: [10e6] * 12}).rows(),
                fact(REVENUE_EXCLUDING, stray, "2022-04-01", "2022-06-30", form="10-Q", filed="2022-08-09"),
            ],
            {"ttm 2023-09-30": {"revenue": 400e6}},
        )
        for stray in (9.8e6, 30.1e6)
    },
    "no ratio of debt to a negative free cash flow": (
        company({CASH_FLOW: [10] * 12, CAPITAL_SPENDING: [30] * 12}, balances={DEBT: [200] * 12}).rows(),
        {LAST_YEAR: {"debt_to_fcf": "negative_fcf"}},
    ),
    "no ratio of debt to a free cash flow of zero": (
        company({CASH_FLOW: [10] * 12, CAPITAL_SPENDING: [10] * 12}, balances={DEBT: [200] * 12}).rows(),
        {LAST_YEAR: {"debt_to_fcf": "negative_fcf"}},
    ),
    "no ratio without free cash flow": (
        company({CASH_FLOW: [30] * 12}, balances={DEBT: [200] * 12}).rows(),
        {LAST_YEAR: {"debt_to_fcf": "no_free_cash_flow"}},
    ),
    "no ratio without total debt": (company(OF_FLOWS).rows(), {LAST_YEAR: {"debt_to_fcf": "no_total_debt"}}),
    "an item that is never stated has no tag": (company({}).rows(), {LAST_YEAR: {"dividends_per_share": "no_tag"}}),
    "an item that is stated elsewhere lacks a year or a quarter": (
        [*company({NET_INCOME: [10] * 12}).rows(), fact(DIVIDENDS, 0.5, *YEARS[2021], filed="2022-03-01")],
        {
            LAST_YEAR: {"dividends_per_share": "year_not_stated"},
            "ttm 2023-12-31": {"dividends_per_share": "year_not_stated"},
            "ttm 2023-09-30": {"dividends_per_share": "missing_quarter"},
            "annual 2021-12-31": {"dividends_per_share": 0.5},
        },
    ),
    "a balance that is stated elsewhere is not on this balance sheet": (
        [*company({}).rows(), fact(DEBT, 5e6, None, "2021-12-31", filed="2022-03-01")],
        {LAST_YEAR: {"total_debt": "not_on_balance_sheet"}, "annual 2021-12-31": {"total_debt": 5e6}},
    ),
    # either may be wrong: the earnings or the count
    "a sum a hundred times net income over shares is withheld": (
        apart(33.0),
        {"ttm 2022-09-30": {"eps_basic": "contradicted_by_filing"}},
    ),
    # quarters of 1.35 cents a share, stated as 1: twelve months are 5.4 cents, not 4; of 13.65 cents, 56 will do
    **{
        f"roundings of small quarters of {quarter} do not add up": (
            small_quarters(quarter, each),
            {"ttm 2022-09-30": {"eps_basic": pytest.approx(expected)}},
        )
        for quarter, each, expected in ((135e3, 0.01, 0.054), (105e3, 0.01, 0.04), (1_365e3, 0.14, 0.56))
    },
    # AAR to February 2021: the sum of quarters is two units off, and a little more, which the count may explain
    "roundings and a changing count together do not add up": (
        offered([100] * 5 + [101] * 2, [0.1] * 5 + [0.49, -0.5], [10] * 5 + [50.6, -49.4]),
        {"ttm 2022-09-30": {"eps_basic": pytest.approx(0.2111, rel=1e-3)}},
    ),
    "earnings are compared with the income that participating securities leave": (
        with_participating_securities(),
        {"ttm 2022-03-31": {"net_income": 2.21e6, "eps_basic": 0.213}},
    ),
    "quarters before and after a merger do not add up": (
        [*MERGED, fact(SHARES, 786e6, "2015-01-01", "2015-12-31", filed="2016-03-01")],
        {"ttm 2016-03-31": {"eps_basic": "contradicted_by_filing"}},
    ),
    "they do not add up either where earnings per share of the year show so many": (
        MERGED,
        {"ttm 2016-03-31": {"eps_basic": "contradicted_by_filing"}},
    ),
    "diluted shares of a loss are not below basic shares": (
        with_dilution_in_the_first_year(-10),
        {"ttm 2022-09-30": {"shares_diluted": 10e6}},
    ),
    "diluted shares of a profit are not below basic shares": (
        with_dilution_in_the_first_year(10),
        {"ttm 2022-09-30": {"shares_diluted": "mixed_basis"}},
    ),
    # Acme United 2012: diluted shares of all periods are 0.4 % below basic ones, which are exact
    "diluted shares are below basic shares by rounding only": (
        [
            *Filer(ENDS, EARNED, {SHARES: [10_000_100] * 12}).rows(),
            *Filer(ENDS, {}, {DILUTED: [9_960_100] * 12}).rows(),
        ],
        {"ttm 2022-09-30": {"shares_diluted": "contradicted_by_filing"}},
    ),
    # Disney 2019: a half-yearly dividend of 0.88, in the quarter in which it was declared and in the next one
    "four even dividends that are twice those paid": (
        paid_half_yearly(0.88),
        {"annual 2022-12-31": {"dividends_per_share": "contradicted_by_filing"}},
    ),
    "four even dividends are those paid": (
        paid_half_yearly(0.44),
        {"annual 2022-12-31": {"dividends_per_share": 1.76}},
    ),
    "the sum after dividends that were repeated has three of them": (
        paid_until_march(0.88),
        {"ttm 2023-03-31": {"dividends_per_share": "contradicted_by_filing"}},
    ),
    "the sum after dividends that were not repeated": (
        paid_until_march(0.44),
        {"ttm 2023-03-31": {"dividends_per_share": 1.76}},
    ),
    # First Seacoast 2022: the year is as before the conversion to a stock company, its quarters were restated
    "a mean of shares is like its quarters": (
        conversion(),
        {
            **{
                f"ttm 2023-{end}": {"shares_basic": "mixed_basis", "eps_basic": 4.0}
                for end in ("03-31", "06-30", "09-30")
            },
            "annual 2022-12-31": {"shares_basic": 12e6},
            LAST_YEAR: {"shares_basic": 10e6},
        },
    ),
    "the average of a year is not corrected against its quarters": (
        conversion_with_a_large_last_quarter(),
        {"ttm 2023-03-31": {"shares_basic": "mixed_basis"}},
    ),
    # Walmart: the year before is on the basis after a split that the interim periods of both years do not have
    "earnings of another count than the quarters are left out": (
        [
            *stated("2022-01-01", "2022-12-31", "2024-02-20", {SHARES: 30e6, EPS: 1.33, NET_INCOME: 40e6}, 1e8, "10-K"),
            *stated("2022-01-01", "2022-03-31", "2023-05-10", SPLIT, 25e6),
            *stated("2023-01-01", "2023-03-31", "2023-05-10", SPLIT, 25e6),
        ],
        {"ttm 2023-03-31": {"shares_basic": "mixed_basis", "eps_basic": "mixed_basis", "net_income": 40e6}},
    ),
    # FB Bancorp 2025: its quarters before the offering state no earnings per share and no shares
    "earnings without shares are like those of the last count": (
        [
            *stated("2022-01-01", "2022-03-31", "2022-05-10", {NET_INCOME: -1.2e6, EPS: 0.0}),
            *stated("2022-01-01", "2022-12-31", "2023-03-20", {NET_INCOME: -4e6, EPS: -1.74, SHARES: 2.3e6}),
            *stated("2023-01-01", "2023-03-31", "2023-05-10", {NET_INCOME: 0.0, EPS: 0.04}),
        ],
        {"ttm 2022-12-31": {"eps_basic": -1.74}, "ttm 2023-03-31": {"eps_basic": "contradicted_by_filing"}},
    ),
    # Airbnb 2020: the offering was in the last quarter; its average lies between the averages of its neighbours
    "a quarter between two counts is like them": (
        company({}, {SHARES: [10e6] * 7 + [14e6] + [25e6] * 4}).rows(),
        {"ttm 2023-09-30": {"shares_basic": pytest.approx(22.2e6, rel=0.01)}},
    ),
    # no filing states a period on both bases, so that nothing shows the ratio of 1:5000
    "legs before and after a reverse split have no mean": (
        reverse_split(),
        {
            "ttm 2023-03-31": {"shares_basic": "mixed_basis", "eps_basic": "mixed_basis"},
            "annual 2022-12-31": {"shares_basic": 8e9},
        },
    ),
}
"""What a company files, and the values that follow, or the reasons why they are missing."""


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
@in_one_call
def test_values_that_filings_lead_to(rows, expected):
    found = yield rows

    assert outcomes(found, expected) == expected


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
    then, now = yield raw(rows), raw(rows, later)
    known, still = (
        each.found.versions.filter(pl.col("filed") < day(min(row["filed"] for row in later)), item="net_income")
        .select("period_end", "value", "flags", "filed")
        .rows()
        for each in (then, now)
    )

    assert still == known
    assert len(known) >= 4


@pytest.mark.parametrize(("item", "value"), [("revenue", -0.0), ("revenue", -0.3), ("eps_basic", -0.0)])
def test_zero_is_served_without_a_sign(item, value):
    found = pl.DataFrame({"item": [item], "value": [value]}).select(served("value")).item()

    assert (found, math.copysign(1, found)) == (0, 1)
