"""How flows and balances make the line items, and why an item has no value."""

import pytest

from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Today,
    fact,
    month_ends,
    raw,
    row_of,
    standardized,
    value_of,
)

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


def company(sums: dict[str, list[float]], means: dict | None = None, balances: dict | None = None) -> Filer:
    """Three fiscal years, in millions; revenue is always there."""
    millions = {tag: [value * 1e6 for value in values] for tag, values in sums.items()}
    held = {tag: [value * 1e6 for value in values] for tag, values in (balances or {}).items()}
    return Filer(ENDS, {REVENUE: [100e6] * 12, **millions}, means or {}, held)


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


def test_income_to_common_where_it_is_stated_throughout():
    """After preferred dividends and participating securities: the numerator of basic earnings per share."""
    found = standardized(company({NET_INCOME: [10] * 12, COMMON: [9] * 12}).facts())

    assert yearly(found, "net_income") == [36, 36, 36]
    assert flags(found, "net_income") == ""


def test_income_to_the_parent_where_there_are_no_preferred_shares():
    found = standardized(company({NET_INCOME: [10] * 12}).facts())

    assert yearly(found, "net_income") == [40, 40, 40]
    assert flags(found, "net_income") == ""


def test_income_to_common_is_completed_by_preferred_dividends():
    """Where one year states it and all state preferred dividends: income of the parent less those."""
    rows = company({NET_INCOME: [10] * 12, PREFERRED: [1] * 12}).rows()

    found = standardized(raw(rows, years_only(COMMON, {2023: 36})))

    assert yearly(found, "net_income") == [36, 36, 36]
    legs = found.lineage.filter(item="net_income", period_kind="annual").sort("period_end", "tag")
    assert legs["tag"].to_list()[:2] == [f"us-gaap:{NET_INCOME}", f"us-gaap:{PREFERRED}"]


def test_one_basis_for_the_whole_series():
    """Participating securities make the two differ; stated now and then, income to common would make a sawtooth."""
    rows = company({NET_INCOME: [10] * 12}).rows()

    found = standardized(raw(rows, years_only(COMMON, {2022: 39})))

    assert yearly(found, "net_income") == [40, 40, 40]
    assert flags(found, "net_income") == "attributable_to_parent"


def test_two_bases_that_never_differ_are_one():
    found = standardized(raw(company({NET_INCOME: [10] * 12}).rows(), years_only(COMMON, {2022: 40})))

    assert flags(found, "net_income", 2022) == ""


def test_between_preferred_dividends_a_window_without_them_has_no_value():
    """Preferred shares exist, and what they got is not to be found: null over guess."""
    rows = company({NET_INCOME: [10] * 12}).rows()

    found = standardized(raw(rows, years_only(PREFERRED, {2021: 4, 2023: 4})))

    assert yearly(found, "net_income") == [36, None, 36]
    assert reason(found, "net_income", "2022-12-31") == "missing_quarter"


def test_consolidated_income_less_minorities_is_the_parents():
    tag = "NetIncomeLossAttributableToNoncontrollingInterest"
    found = standardized(company({"ProfitLoss": [10] * 12, tag: [2] * 12}).facts())

    assert yearly(found, "net_income") == [32, 32, 32]


# --- Earnings per share


def test_earnings_per_share_as_filed_come_first():
    filer = Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12, EPS: [1.1] * 12}, {SHARES: [1e7] * 12})

    found = standardized(filer.facts())

    assert value_of(found, "eps_basic", "annual", ENDS[11]) == pytest.approx(4.4)
    assert flags(found, "eps_basic") == ""


def test_earnings_per_share_may_follow_from_income_and_shares():
    """Filers with several classes state none for the company as a whole; it is marked as derived."""
    filer = Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12}, {SHARES: [3e7] * 12})

    found = standardized(filer.facts())

    row = row_of(found.values, "eps_basic", "ttm", ENDS[10])
    assert (row["value"], row["method"], row["flags"]) == (1.33333, "net_income_over_shares", "derived")


def test_no_shares_make_no_earnings_per_share():
    found = standardized(
        Filer(ENDS, {REVENUE: [1e8] * 12, NET_INCOME: [1e7] * 12}, {SHARES: [0.0] * 12}).facts(),
    )

    assert found.values.filter(item="eps_basic").is_empty()


# --- Free cash flow and what it can carry


def test_years_of_free_cash_flow_that_pay_the_debt():
    found = standardized(
        company({CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12}, balances={DEBT: [200] * 12}).facts()
    )

    assert yearly(found, "free_cash_flow") == [80, 80, 80]
    assert value_of(found, "debt_to_fcf", "annual", ENDS[11]) == 2.5


def test_no_debt_takes_no_years():
    found = standardized(
        company({CASH_FLOW: [30] * 12, CAPITAL_SPENDING: [10] * 12}, balances={DEBT: [0] * 12}).facts()
    )

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
def test_why_debt_has_no_ratio_to_free_cash_flow(sums, balances, why):
    """None or negative free cash flow never pays a debt back; without either amount there is no ratio."""
    found = standardized(company(sums, balances=balances).facts())

    assert value_of(found, "debt_to_fcf", "annual", ENDS[11]) is None
    assert reason(found, "debt_to_fcf") == why


# --- Return on invested capital

CAPITAL = {DEBT: [200] * 8 + [300] * 4, EQUITY: [500] * 8 + [600] * 4, CASH: [100] * 12, ASSETS: [1000] * 12}
RETURNS = {OPERATING: [50] * 12, PRETAX: [40] * 12, TAX: [8] * 12}


def roic(sums: dict[str, list[float]], balances: dict[str, list[float]]) -> float | None:
    return value_of(standardized(company(sums, balances=balances).facts()), "roic", "annual", ENDS[11])


def test_return_on_capital_is_operating_income_after_tax_over_mean_capital():
    """200 x (1 - 32/160) over the mean of 300 + 600 - 100 now and 200 + 500 - 100 a year before."""
    assert roic(RETURNS, CAPITAL) == pytest.approx(160 / 700, rel=1e-5)


@pytest.mark.parametrize(
    ("sums", "rate"),
    [
        ({PRETAX: [40] * 12, TAX: [30] * 12}, 0.35),  # a one-off charge says nothing about operating income
        ({PRETAX: [40] * 12, TAX: [-8] * 12}, 0.0),
        ({PRETAX: [-10] * 12, TAX: [-8] * 12}, 0.21),
        ({TAX: [8] * 12}, 0.21),
    ],
)
def test_the_tax_rate_stays_within_bounds(sums, rate):
    """As filed between 0 and 35 %; the statutory rate where a loss before tax says nothing."""
    assert roic({OPERATING: [50] * 12, **sums}, CAPITAL) == pytest.approx(200 * (1 - rate) / 700, rel=1e-5)


def test_an_operating_loss_is_not_reduced_by_tax():
    assert roic({OPERATING: [-50] * 12, PRETAX: [-60] * 12, TAX: [-8] * 12}, CAPITAL) == pytest.approx(
        -200 / 700, rel=1e-5
    )


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({EQUITY: [-400] * 12}, "capital_undefined"),  # buy-backs: less than nothing was invested
        ({EQUITY: [-80] * 8 + [-170] * 4}, "capital_undefined"),  # 2.5 % of assets: the ratio would explode
        ({DEBT: None}, "no_total_debt"),
        ({EQUITY: None}, "no_tag"),
    ],
)
def test_capital_must_be_defined(changed, why):
    balances = {tag: values for tag, values in {**CAPITAL, **changed}.items() if values is not None}

    found = standardized(company(RETURNS, balances=balances).facts())

    assert value_of(found, "roic", "annual", ENDS[11]) is None
    assert reason(found, "roic") == why


def test_the_first_year_has_no_capital_before_it():
    found = standardized(company(RETURNS, balances=CAPITAL).facts())

    assert [value is not None for value in yearly(found, "roic")] == [False, True, True]
    assert reason(found, "roic", "2021-12-31") == "capital_undefined"


def test_a_bank_has_no_invested_capital():
    bank = {"InterestIncomeExpenseNet": [60] * 12, "NoninterestIncome": [40] * 12, **RETURNS}

    found = standardized(company(bank, balances={**CAPITAL, "Deposits": [900] * 12}).facts())

    assert value_of(found, "roic", "annual", ENDS[11]) is None
    assert reason(found, "roic") == "financial_company"


# --- Gaps


def test_every_item_of_a_window_has_a_value_or_a_reason():
    found = standardized(company({NET_INCOME: [10] * 12}, balances={CASH: [5] * 12}).facts())
    keys = ["cik", "period_kind", "period_end", "item"]

    valued, missing = found.values.select(keys), found.gaps.select(keys)

    assert valued.join(missing, on=keys).is_empty()
    assert valued.height + missing.height == valued.select(keys[:3]).unique().height * 11


def test_an_item_that_is_never_stated_has_no_tag():
    assert reason(standardized(company({}).facts()), "dividends_per_share") == "no_tag"


def test_an_item_that_is_stated_elsewhere_lacks_a_quarter():
    filer = company({NET_INCOME: [10] * 12})
    dividends = [fact(DIVIDENDS, 0.5, *YEARS[2021], filed="2022-03-01")]

    found = standardized(raw(filer.rows(), dividends))

    assert reason(found, "dividends_per_share") == "missing_quarter"
    assert value_of(found, "dividends_per_share", "annual", "2021-12-31") == 0.5


def test_a_balance_that_is_stated_elsewhere_is_not_on_this_balance_sheet():
    debt = fact(DEBT, 5e6, None, "2021-12-31", filed="2022-03-01")

    found = standardized(raw(company({}).rows(), debt))

    assert reason(found, "total_debt") == "not_on_balance_sheet"
    assert reason(found, "total_debt", "2021-12-31") is None
