"""Figures that contradict others which equal them in the company's other years."""

import polars as pl
import pytest

from pipelines.normalize.corrections import agreement, dividends, scale, signs
from tests.factories import (
    CIK,
    DILUTED,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    corrected_by,
    fact,
    outcomes,
    raw,
    row_of,
    signed,
    standardized,
    value_of,
)
from tests.shapes.derived import leaves_noninterest_income_out
from tests.together import in_one_call

COMMON = "NetIncomeLossAvailableToCommonStockholdersBasic"
PROFIT = "ProfitLoss"
MINORITIES = "NetIncomeLossAttributableToNoncontrollingInterest"
PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
TAX = "IncomeTaxExpenseBenefit"
EPS_DILUTED = "EarningsPerShareDiluted"
PREFERRED = "PreferredStockDividendsIncomeStatementImpact"
PAID, PAID_ON_ALL = "PaymentsOfDividendsCommonStock", "PaymentsOfDividends"
DECLARED, PAID_EACH = "DividendsCommonStock", "CommonStockDividendsPerShareCashPaid"

USUAL = {NET_INCOME: 90e6, EPS: 2.25, SHARES: 40e6, EPS_DILUTED: 2.2, DILUTED: 41e6}

BANK = {
    "InterestAndDividendIncomeOperating": 80e6,
    "InterestIncomeExpenseNet": 60e6,
    "InterestIncomeExpenseAfterProvisionForLoanLoss": 55e6,
    "NoninterestExpense": 50e6,
    PRETAX: 35e6,
    NET_INCOME: 28e6,
}
"""Its revenue is 90 million: 30 million of it are noninterest income."""


def of_year(year):
    return f"{year}-01-01", f"{year}-12-31"


def in_year(figures, year=2023, filed=None):
    """Figures of a year in its annual report, or in another one."""
    filed = f"{(filed or year) + 1}-02-20"
    return [fact(tag, value, *of_year(year), filed=filed) for tag, value in figures.items()]


def third_year(usual, wrong, years=3):
    """The figures that count of the last of several annual reports, which has other figures."""
    rows = [in_year(usual, year) for year in range(2024 - years, 2023)]
    of_filing = scale.proposals_for_shares, signs.proposals_for_tax_and_outflows
    others = agreement.proposals_for_income, agreement.proposals_for_revenue, dividends.proposals
    found = corrected_by(signed(raw(*rows, in_year({**usual, **wrong}))), *of_filing, *others)
    last = found.filter(found["end"].dt.year() == 2023).rows(named=True)
    return {row["concept"]: pytest.approx(row["value"]) for row in last}


PAID_OUT = {DIVIDENDS: 1.0, PAID: 40e6, SHARES: 40e6}
INCOME, EARNINGS, PER_SHARE = "net_income_parent", "eps_basic", "dividends_per_share"
OF_BOTH = {REVENUE: 100e6, "RevenueFromContractWithCustomerExcludingAssessedTax": 100e6}
WITH_MINORITIES = {
    NET_INCOME: 9_763e3,
    PROFIT: 9_763e3,
    EPS: 1.24,
    SHARES: 7_875_395,
    EPS_DILUTED: 1.23,
    DILUTED: 7_927_972,
    PRETAX: 14_003e3,
    TAX: 4_240e3,
}
UNADJUSTED = {NET_INCOME: 90e6, SHARES: 40e6, EPS: 2.25, DILUTED: 40.4e6, EPS_DILUTED: 2.23}
"""Income for diluted earnings was adjusted: their product with diluted shares is 8 % less than net income (AAR)."""
IN_UNITS = {EARNINGS: 2.25, "shares_basic": 40e6, "shares_diluted": 41e6}
THIRD_YEARS = {
    # consolidated net income and earnings per share agree with each other: net income takes the exact amount
    "a wrong digit in net income is corrected": ({**USUAL, PROFIT: 90e6}, {NET_INCOME: 96e6}, 3, {INCOME: 90e6}),
    # 10,571 with minorities of 1,051 under the element of the parent; earnings of 1.20 a share show 9,520
    "net income with minorities is replaced by that of the parent": (
        WITH_MINORITIES,
        {
            NET_INCOME: 10_571e3,
            PROFIT: 10_571e3,
            MINORITIES: 1_051e3,
            EPS: 1.20,
            SHARES: 7_964_423,
            EPS_DILUTED: 1.17,
            DILUTED: 8_112_139,
            PRETAX: 13_443e3,
            TAX: 2_872e3,
        },
        3,
        {INCOME: 9_520e3},
    ),
    # only consolidated net income contradicts it: either may be wrong
    "without a second witness net income is left out": (
        {NET_INCOME: 90e6, PROFIT: 90e6},
        {NET_INCOME: 96e6},
        3,
        {INCOME: None},
    ),
    # earnings of one class of shares times the shares of this class are not net income
    "an identity that never held proves nothing about earnings": (
        {**USUAL, SHARES: 20e6, DILUTED: 21e6},
        {EPS: 2.6},
        3,
        {EARNINGS: 2.6},
    ),
    "an identity that never held proves nothing about income": (
        {NET_INCOME: 90e6, PROFIT: 99e6},
        {NET_INCOME: 96e6},
        3,
        {INCOME: 96e6},
    ),
    # income to common shares is less than income of the parent, and earnings per share confirm it
    "preferred dividends of one year are no error": (
        {**USUAL, COMMON: 90e6},
        {COMMON: 70e6, EPS: 1.75, EPS_DILUTED: 1.71},
        3,
        {INCOME: 90e6, "net_income_common": 70e6, EARNINGS: 1.75},
    ),
    # diluted earnings and both counts show that net income is right
    "wrong earnings per share are computed again": (USUAL, {EPS: 2.75}, 3, {EARNINGS: 2.25}),
    # basic and diluted earnings agree with each other, but multiplied by shares they are a hundred times net income
    **{
        f"earnings times {times} after {years} years are restated in dollars": (
            USUAL,
            {EPS: 2.25 * times, EPS_DILUTED: 2.2 * times},
            years,
            IN_UNITS,
        )
        for times in (100, 0.01)
        for years in (1, 3)
    },
    # it is below the diluted count by more than dilution explains, and basic earnings are like diluted earnings
    "a wrong basic count is left out": (USUAL, {SHARES: 30e6}, 3, {"shares_basic": None, EARNINGS: 2.25}),
    "a wrong diluted count is left out": (USUAL, {DILUTED: 81e6}, 3, {"shares_diluted": None}),
    # 5 % of earnings per share and a fifth of a dividend are left out where seven years before agreed exactly
    "small differences of earnings contradict after many years": (USUAL, {EPS: 2.36}, 8, {EARNINGS: None}),
    "small differences of earnings after few years": (USUAL, {EPS: 2.34}, 3, {EARNINGS: 2.34}),
    "small differences of dividends contradict after many years": (PAID_OUT, {DIVIDENDS: 1.2}, 8, {PER_SHARE: None}),
    "small differences of dividends after few years": (PAID_OUT, {DIVIDENDS: 1.2}, 3, {PER_SHARE: 1.2}),
    # diluted shares of 31 million after 41 million; basic shares are 40 million as before
    "of diluted shares below basic ones that less like the last is left out": (
        {NET_INCOME: 90e6, SHARES: 40e6, DILUTED: 41e6},
        {DILUTED: 31e6},
        3,
        {"shares_diluted": None, "shares_basic": 40e6},
    ),
    "a usual dilution is no error": (UNADJUSTED, {EPS_DILUTED: 2.05}, 3, {"shares_diluted": 40.4e6}),
    "an unusual dilution is one": (UNADJUSTED, {DILUTED: 44e6}, 3, {"shares_diluted": None}),
    # revenue of another amount is left out, and replaced where cost and gross profit show the amount too
    "revenue agrees with another element of it": (OF_BOTH, {REVENUE: 150e6}, 3, {"revenue": None}),
    "revenue is cost and gross profit": (
        {**OF_BOTH, "CostOfRevenue": 60e6, "GrossProfit": 40e6},
        {REVENUE: 150e6},
        3,
        {"revenue": 100e6},
    ),
    "a dividend with a minus sign": (PAID_OUT, {DIVIDENDS: -1.0}, 3, {PER_SHARE: 1.0}),
    "a dividend in thousandths": (PAID_OUT, {DIVIDENDS: 1000.0}, 3, {PER_SHARE: 1.0}),
    "a dividend that no payment supports": (PAID_OUT, {DIVIDENDS: 3.0}, 3, {PER_SHARE: None}),
    "a dividend that is paid later is not an error": (PAID_OUT, {DIVIDENDS: 1.4}, 3, {PER_SHARE: 1.4}),
}
"""The figures of the years, other figures of the last one, the number of years, and what counts of the last one."""


@pytest.mark.parametrize(("usual", "wrong", "years", "expected"), THIRD_YEARS.values(), ids=THIRD_YEARS)
def test_figures_of_a_year_beside_those_of_the_years_before(usual, wrong, years, expected):
    found = third_year(usual, wrong, years)

    assert {concept: found.get(concept) for concept in expected} == expected


@in_one_call
def test_income_from_continuing_operations_is_not_income_to_common():
    """Earnings of 4.49 times 2,952 million shares are net income less preferred dividends, in the first report."""
    report = {
        NET_INCOME: 13_436e6,
        PREFERRED: 192e6,
        EPS: 4.49,
        SHARES: 2_952.2e6,
        EPS_DILUTED: 4.26,
        DILUTED: 3_154.1e6,
        COMMON: 10_488e6,
    }
    found = third_year(report, {}, years=1)
    assert (found["net_income_common"], found[INCOME], found[EARNINGS]) == (13_244e6, 13_436e6, 4.49)

    today = yield in_year(report)
    served = row_of(today.values, "net_income", "annual", "2023-12-31")
    assert (served["value"], served["flags"]) == (13_244e6, "figure_repaired")


BANKS = pl.DataFrame([{"cik": CIK, "sic": "6022"}])
WITH_PROVISION = {
    "NoninterestIncome": 30e6,
    "NoninterestExpense": 50e6,
    "ProvisionForLoanAndLeaseLosses": 5e6,
    PRETAX: 35e6,
    "InterestIncomeExpenseNet": 60e6,
    "Deposits": 9e9,
    NET_INCOME: 28e6,
}


@pytest.mark.parametrize(
    ("usual", "wrong", "expected"),
    [
        # income before tax, noninterest expense and the provision add up to revenue; a part of it has another amount
        ({**BANK, "NoninterestIncome": 30e6}, {"NoninterestIncome": -30e6}, "contradicted_by_filing"),
        # two thousandths of revenue can be a provision on a line of its own; four hundredths are an error
        (WITH_PROVISION, {"ProvisionForLoanAndLeaseLosses": 4.8e6}, 90e6),
        (WITH_PROVISION, {"ProvisionForLoanAndLeaseLosses": 2e6}, "contradicted_by_filing"),
    ],
    ids=["the expenses leave another revenue", "another provision", "an error"],
)
def test_a_bank_has_the_revenue_that_its_expenses_leave(usual, wrong, expected):
    rows = [*in_year(usual, 2021), *in_year(usual, 2022), *in_year({**usual, **wrong})]
    found = standardized(raw(rows), registrants=BANKS)

    served = {"annual 2022-12-31": {"revenue": 90e6}, "annual 2023-12-31": {"revenue": expected}}
    assert outcomes(found, served) == served


def test_a_bank_without_a_total_of_noninterest_income_has_revenue():
    """Its lines of noninterest income may be any: the statement leads from revenue to income before taxes."""
    found = standardized(raw(in_year(BANK)), registrants=BANKS)

    assert value_of(found, "revenue", "annual", "2023-12-31") == 90e6


@pytest.mark.parametrize("other", [0, 0.5])
def test_an_annual_report_of_a_bank_may_leave_noninterest_income_out(other):
    """Its quarterly reports state it, whether or not statements of an earlier year have another line."""
    rows = leaves_noninterest_income_out(other)
    registrants = pl.DataFrame([{"cik": rows[0]["cik"], "sic": "6022"}])

    found = standardized(raw(rows), registrants=registrants)

    assert value_of(found, "revenue", "annual", "2023-12-31", rows[0]["cik"]) == 4 * 13e6


@in_one_call
def test_dividends_as_paid_are_proved():
    found = yield in_year({**PAID_OUT, REVENUE: 9e9, DIVIDENDS: 0.96})

    proofs = found.found.proofs.filter(item="dividends_per_share")
    assert proofs.select("rule", "outcome", "left_side", "right_side").rows() == [
        (rule, "holds", pytest.approx(38.4e6), 40e6)
        for rule in ("correction.dividends.not-as-paid", "identity.dividends.times-shares")
    ]


@pytest.mark.parametrize(
    ("figures", "served"),
    [
        # TSMC 2015: 6.0 a share for the year, paid in the next; 4.5 paid in the year
        ({DIVIDENDS: 6.0, PAID_EACH: 4.5, PAID_ON_ALL: 180e6}, 4.5),
        # ASML 2010 states a proposal
        ({DIVIDENDS: 0.4, DECLARED: 8e6, PAID_ON_ALL: 8e6}, None),
        ({DIVIDENDS: 0.21, DECLARED: 8e6, PAID_ON_ALL: 8e6}, 0.21),
        # dividends on common stock are a part of the dividends paid
        ({DIVIDENDS: 0.4, DECLARED: 8e6, PAID_ON_ALL: 16e6}, 0.4),
        # Shinhan 2009: 900 a share of the year before, while all that was paid went to preferred stock
        ({PAID_EACH: 1.8, PAID_ON_ALL: 40e6}, None),
        ({PAID_EACH: 1.3, PAID_ON_ALL: 40e6}, 1.3),
        ({DIVIDENDS: 1.8, PAID_ON_ALL: 40e6}, 1.8),
        # a rate in the context of a year: no quarter is stated; dividends paid or declared, divided by shares, show how
        # many times the rate is paid in the year
        ({DIVIDENDS: 0.41, PAID_ON_ALL: 65.6e6}, None),
        ({DIVIDENDS: 0.015, PAID_ON_ALL: 7.2e6}, None),
        ({DIVIDENDS: 8.75, DECLARED: 1400e6, NET_INCOME: 2400e6, EPS: 60.0, SHARES: None}, None),
        ({DIVIDENDS: 0.41, PAID_ON_ALL: 52e6}, 0.41),
        ({DIVIDENDS: 1.64, PAID_ON_ALL: 65.6e6}, 1.64),
    ],
    ids=[
        "paid in the year",
        "a proposal",
        "nearly what was declared",
        "on common stock",
        "on preferred stock",
        "nearly what was paid",
        "declared",
        "the rate of a quarter",
        "the rate of a month",
        "a rate without shares",
        "another share of what is paid",
        "of the year",
    ],
)
@in_one_call
def test_the_dividend_of_a_year_on_40_million_shares(figures, served):
    stated = {REVENUE: 9e9, SHARES: 40e6, **figures}
    found = yield in_year({tag: value for tag, value in stated.items() if value is not None})

    assert value_of(found, "dividends_per_share", "annual", "2023-12-31") == served


def test_a_quarterly_rate_is_not_the_dividend_of_a_year():
    """0.03 a share in the context of a year in which 0.12 were paid, as 0.03 each quarter."""
    quarter = fact(DIVIDENDS, 0.03, "2023-07-01", "2023-09-30", form="10-Q", filed="2023-11-05")
    year = in_year({DIVIDENDS: 0.03, PAID: 368e3, SHARES: 3_062_517})

    found = corrected_by(signed(raw(quarter, *year)), dividends.proposals)

    assert [f"{end}" for end in found.filter(concept="dividends_per_share")["end"]] == ["2023-09-30"]


CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"


@pytest.mark.parametrize(
    ("figures", "registrants", "revenue"),
    [
        (
            dict.fromkeys((CONTRACTS, "RealEstateRevenueNet", NET_INCOME, "InterestIncomeExpenseNet"), 1e6),
            BANKS,
            None,
        ),
        ({"RegulatedOperatingRevenue": 4.2e9, CONTRACTS: 4e9, NET_INCOME: 4e8}, None, 4.2e9),
    ],
    ids=["a bank", "a utility"],
)
def test_the_revenue_of_a_bank_is_neither_rent_nor_contracts_alone(figures, registrants, revenue):
    """The interest of the bank is missing; the regulated revenue of a utility is its revenue."""
    found = standardized(raw(in_year(figures, 2022)), registrants=registrants)

    assert value_of(found, "revenue", "annual", "2022-12-31") == revenue


def in_quarter(figures, year, quarter, filed):
    start, end = (("01-01", "03-31"), ("04-01", "06-30"), ("07-01", "09-30"), ("10-01", "12-31"))[quarter - 1]
    return [
        fact(tag, value, f"{year}-{start}", f"{year}-{end}", form="10-Q", filed=filed) for tag, value in figures.items()
    ]


def of_counts(count):
    return {SHARES: count, NET_INCOME: 16.6e9}


PAID_LATER = {2021: 40e6, 2022: 40e6, 2023: 20e6}
CASES = {
    # a year is first stated in the wrong scale; twelve months to the next quarter take it as corrected later
    "a corrected error counts in the windows before its correction": (
        [
            *in_year({REVENUE: 100e6}, 2021),
            *in_year({REVENUE: 100e9}, 2022),
            *in_quarter({REVENUE: 30e6}, 2023, 1, "2023-05-05"),
            *in_quarter({REVENUE: 20e6}, 2022, 1, "2023-05-05"),
            *in_year({REVENUE: 100e6}, 2022, 2023),
            *in_year({REVENUE: 100e6}, 2023),
        ],
        {"ttm 2023-03-31": {"revenue": 110e6}},
    ),
    # TSMC 2017: a later report repeats the proposal, and no longer states the dividend paid per share
    "a replaced figure is replaced where a later filing repeats it": (
        [
            *in_year({REVENUE: 9e9, SHARES: 40e6, DIVIDENDS: 8.0, PAID_EACH: 7.0, PAID_ON_ALL: 280e6}),
            *in_year({DIVIDENDS: 8.0}, 2023, 2024),
        ],
        {"annual 2023-12-31": {PER_SHARE: 7.0}},
    ),
    # Coca-Cola pays the dividend of the second quarter in the third: half a year has the payments of one quarter
    "a rate that was declared and is paid later counts": (
        [
            *(
                fact(tag, value, f"{year}-01-01", f"{year}-06-30", form="10-Q", filed=f"{year}-08-05")
                for year, paid in PAID_LATER.items()
                for tag, value in {REVENUE: 4e9, SHARES: 40e6, DIVIDENDS: 1.0, DECLARED: 40e6, PAID: paid}.items()
            ),
            *(
                row
                for year in PAID_LATER
                for row in in_year({REVENUE: 9e9, SHARES: 40e6, DIVIDENDS: 2.0, DECLARED: 80e6, PAID: 80e6}, year)
            ),
        ],
        {"ttm 2023-06-30": {PER_SHARE: 2.0}},
    ),
    # a bank states 4,025,988,000 shares, then 4,428,587 (thousand), and 4,871,446 (thousand) in the next reports
    "counts in thousands are like those of the filing before": (
        [
            *in_year(of_counts(4_025_988_000), 2018),
            *in_year(of_counts(4_428_587), 2018, 2019),
            *in_year(of_counts(4_428_587), 2019),
            *in_year(of_counts(4_871_446), 2019, 2020),
            *in_year(of_counts(4_860_678), 2020),
        ],
        {
            "annual 2018-12-31": {"shares_basic": 4_428_587_000, EARNINGS: pytest.approx(3.74837, rel=1e-5)},
            "annual 2019-12-31": {"shares_basic": 4_871_446_000},
            "annual 2020-12-31": {"shares_basic": 4_860_678_000},
        },
    ),
    "four quarters that add up to nothing earn nothing": (
        [
            *in_quarter({EPS: -0.33}, 2023, 1, "2023-05-05"),
            *in_quarter({EPS: 0.05}, 2023, 2, "2023-08-05"),
            *in_quarter({EPS: 0.15}, 2023, 3, "2023-11-05"),
            *in_quarter({EPS: 0.13}, 2022, 4, "2023-02-20"),
            *in_year({REVENUE: 50e6, NET_INCOME: 50e6}, 2022),
        ],
        {"ttm 2023-09-30": {EARNINGS: 0}},
    ),
}
"""What a company files, and the values that follow."""


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
@in_one_call
def test_values_that_filings_lead_to(rows, expected):
    found = yield rows

    assert outcomes(found, expected) == expected
