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

BANKS = pl.DataFrame([{"cik": CIK, "sic": "6022"}])
BANK = {
    "InterestAndDividendIncomeOperating": 80e6,
    "InterestIncomeExpenseNet": 60e6,
    "InterestIncomeExpenseAfterProvisionForLoanLoss": 55e6,
    "NoninterestExpense": 50e6,
    PRETAX: 35e6,
    NET_INCOME: 28e6,
}
"""Its revenue is 90 million: 30 million of it are noninterest income."""


def third_year(usual, wrong, years=3):
    """The figures that count of the last of several annual reports, which has other figures."""
    rows = [
        fact(tag, value, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20")
        for year in range(2024 - years, 2024)
        for tag, value in {**usual, **(wrong if year == 2023 else {})}.items()
    ]
    of_filing = scale.of_shares, signs.of_tax_and_outflows
    others = agreement.of_income, agreement.of_revenue, dividends.proposals
    found = corrected_by(signed(raw(*rows)), *of_filing, *others)
    last = found.filter(found["end"].dt.year() == 2023).rows(named=True)
    return {row["concept"]: pytest.approx(row["value"]) for row in last}


def test_a_wrong_digit_in_net_income_is_corrected():
    """Consolidated net income and earnings per share agree with each other: net income takes the exact amount."""
    assert third_year({**USUAL, PROFIT: 90e6}, {NET_INCOME: 96e6})["net_income_parent"] == 90e6


def test_net_income_with_minorities_is_replaced_by_that_of_the_parent():
    """10,571 with minorities of 1,051 under the element of the parent; earnings of 1.20 a share show 9,520."""
    usual = {NET_INCOME: 9_763e3, PROFIT: 9_763e3, EPS: 1.24, SHARES: 7_875_395, EPS_DILUTED: 1.23, DILUTED: 7_927_972}
    found = third_year(
        {**usual, PRETAX: 14_003e3, TAX: 4_240e3},
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
    )

    assert found["net_income_parent"] == 9_520e3


def test_without_a_second_witness_net_income_is_left_out():
    """Only consolidated net income contradicts it: either may be wrong."""
    assert "net_income_parent" not in third_year({NET_INCOME: 90e6, PROFIT: 90e6}, {NET_INCOME: 96e6})


def test_an_identity_that_never_held_proves_nothing():
    """Earnings of one class of shares times the shares of this class are not net income."""
    assert third_year({**USUAL, SHARES: 20e6, DILUTED: 21e6}, {EPS: 2.6})["eps_basic"] == 2.6
    assert third_year({NET_INCOME: 90e6, PROFIT: 99e6}, {NET_INCOME: 96e6})["net_income_parent"] == 96e6


def test_preferred_dividends_of_one_year_are_no_error():
    """Income to common shares is less than income of the parent, and earnings per share confirm it."""
    found = third_year({**USUAL, COMMON: 90e6}, {COMMON: 70e6, EPS: 1.75, EPS_DILUTED: 1.71})

    assert (found["net_income_parent"], found["net_income_common"], found["eps_basic"]) == (90e6, 70e6, 1.75)


@in_one_call
def test_income_from_continuing_operations_is_not_income_to_common():
    """Earnings of 4.49 times 2,952 million shares are net income less preferred dividends, in the first report."""
    figures = {
        NET_INCOME: 13_436e6,
        PREFERRED: 192e6,
        EPS: 4.49,
        SHARES: 2_952.2e6,
        EPS_DILUTED: 4.26,
        DILUTED: 3_154.1e6,
    }
    report = {**figures, COMMON: 10_488e6}

    found = third_year(report, {}, years=1)

    assert (found["net_income_common"], found["net_income_parent"], found["eps_basic"]) == (13_244e6, 13_436e6, 4.49)
    rows = [fact(tag, value, "2023-01-01", "2023-12-31") for tag, value in report.items()]
    found = yield raw(*rows)
    served = row_of(found.values, "net_income", "annual", "2023-12-31")
    assert (served["value"], served["flags"]) == (13_244e6, "figure_repaired")


def test_wrong_earnings_per_share_are_computed_again():
    """Diluted earnings and both counts show that net income is right."""
    assert third_year(USUAL, {EPS: 2.75})["eps_basic"] == 2.25


@pytest.mark.parametrize("times", [100, 0.01])
def test_earnings_in_cents_are_restated_in_dollars(times):
    """Basic and diluted earnings agree with each other, but multiplied by shares they are a hundred times net
    income.
    """
    for years in (1, 3):
        found = third_year(USUAL, {EPS: 2.25 * times, EPS_DILUTED: 2.2 * times}, years=years)

        assert (found["eps_basic"], found["shares_basic"], found["shares_diluted"]) == (2.25, 40e6, 41e6)


def test_a_wrong_count_is_left_out():
    """The basic count is below the diluted count by more than dilution explains, and basic earnings are like diluted
    earnings.
    """
    found = third_year(USUAL, {SHARES: 30e6})

    assert "shares_basic" not in found
    assert found["eps_basic"] == 2.25
    assert "shares_diluted" not in third_year(USUAL, {DILUTED: 81e6})


def test_small_differences_contradict_after_many_years_without_any():
    """5 % of earnings per share and a fifth of a dividend are left out where seven years before agreed exactly."""
    assert "eps_basic" not in third_year(USUAL, {EPS: 2.36}, years=8)
    assert third_year(USUAL, {EPS: 2.34})["eps_basic"] == 2.34
    assert "dividends_per_share" not in third_year(PAID_OUT, {DIVIDENDS: 1.2}, years=8)
    assert third_year(PAID_OUT, {DIVIDENDS: 1.2})["dividends_per_share"] == 1.2


def test_of_diluted_shares_below_basic_ones_that_less_like_the_last_is_left_out():
    """Diluted shares of 31 million after 41 million; basic shares are 40 million as before."""
    usual = {NET_INCOME: 90e6, SHARES: 40e6, DILUTED: 41e6}

    assert "shares_diluted" not in third_year(usual, {DILUTED: 31e6})
    assert third_year(usual, {DILUTED: 31e6})["shares_basic"] == 40e6


def test_a_usual_dilution_is_no_error():
    """Income for diluted earnings was adjusted: their product with diluted shares is 8 % less than net income (AAR)."""
    usual = {NET_INCOME: 90e6, SHARES: 40e6, EPS: 2.25, DILUTED: 40.4e6, EPS_DILUTED: 2.23}

    assert third_year(usual, {EPS_DILUTED: 2.05})["shares_diluted"] == 40.4e6
    assert "shares_diluted" not in third_year(usual, {DILUTED: 44e6})


def test_revenue_agrees_with_another_element_of_it():
    """Revenue of another amount is left out, and replaced where cost and gross profit show the amount too."""
    usual = {REVENUE: 100e6, "RevenueFromContractWithCustomerExcludingAssessedTax": 100e6}
    margin = {"CostOfRevenue": 60e6, "GrossProfit": 40e6}

    assert "revenue" not in third_year(usual, {REVENUE: 150e6})
    assert third_year({**usual, **margin}, {REVENUE: 150e6})["revenue"] == 100e6


def test_a_bank_has_the_revenue_that_its_expenses_leave():
    """Income before tax, noninterest expense and the provision add up to revenue; a part of it has another amount."""
    rows = [
        fact(tag, -value if year == 2023 and tag == "NoninterestIncome" else value, *of_year(year), filed=filed(year))
        for year in (2021, 2022, 2023)
        for tag, value in {**BANK, "NoninterestIncome": 30e6}.items()
    ]

    found = standardized(raw(rows), registrants=BANKS)

    assert value_of(found, "revenue", "annual", "2022-12-31") == 90e6
    assert value_of(found, "revenue", "annual", "2023-12-31") is None
    assert row_of(found.gaps, "revenue", "annual", "2023-12-31")["reason"] == "contradicted_by_filing"


def test_a_bank_without_a_total_of_noninterest_income_has_revenue():
    """Its lines of noninterest income may be any: the statement leads from revenue to income before taxes."""
    rows = [fact(tag, value, *of_year(2023), filed=filed(2023)) for tag, value in BANK.items()]

    found = standardized(raw(rows), registrants=BANKS)

    assert value_of(found, "revenue", "annual", "2023-12-31") == 90e6


@pytest.mark.parametrize("other", [0, 0.5])
def test_an_annual_report_of_a_bank_may_leave_noninterest_income_out(other):
    """Its quarterly reports state it, whether or not statements of an earlier year have another line."""
    rows = leaves_noninterest_income_out(other)
    registrants = pl.DataFrame([{"cik": rows[0]["cik"], "sic": "6022"}])

    found = standardized(raw(rows), registrants=registrants)

    assert value_of(found, "revenue", "annual", "2023-12-31", rows[0]["cik"]) == 4 * 13e6


@pytest.mark.parametrize(("provision", "revenue"), [(4.8e6, 90e6), (2e6, None)])
def test_a_bank_may_state_other_provisions_on_a_line_of_their_own(provision, revenue):
    """A difference of two thousandths of revenue can be such a line; four hundredths are an error."""
    bank = {"NoninterestIncome": 30e6, "NoninterestExpense": 50e6, "ProvisionForLoanAndLeaseLosses": 5e6, PRETAX: 35e6}
    bank |= {"InterestIncomeExpenseNet": 60e6, "Deposits": 9e9, NET_INCOME: 28e6}
    last = {**bank, "ProvisionForLoanAndLeaseLosses": provision}
    rows = [
        fact(tag, value, *of_year(year), filed=filed(year))
        for year in (2021, 2022, 2023)
        for tag, value in (last if year == 2023 else bank).items()
    ]

    found = standardized(raw(rows), registrants=BANKS)

    assert value_of(found, "revenue", "annual", "2023-12-31") == revenue


def of_year(year):
    return f"{year}-01-01", f"{year}-12-31"


def filed(year):
    return f"{year + 1}-02-20"


@in_one_call
def test_a_corrected_error_counts_in_the_windows_before_its_correction():
    """A year is first stated in the wrong scale; twelve months to the next quarter take it as corrected later."""
    quarter = ("2023-01-01", "2023-03-31"), ("2022-01-01", "2022-03-31")
    rows = [
        *(fact(REVENUE, 100e6, *of_year(year), filed=filed(year)) for year in (2021, 2023)),
        fact(REVENUE, 100e9, *of_year(2022), filed=filed(2022)),
        fact(REVENUE, 30e6, *quarter[0], form="10-Q", filed="2023-05-05"),
        fact(REVENUE, 20e6, *quarter[1], form="10-Q", filed="2023-05-05"),
        fact(REVENUE, 100e6, *of_year(2022), filed=filed(2023)),
    ]

    found = yield raw(rows)

    assert value_of(found, "revenue", "ttm", "2023-03-31") == 110e6


PAID_OUT = {DIVIDENDS: 1.0, PAID: 40e6, SHARES: 40e6}


@in_one_call
def test_dividends_as_paid_are_proved():
    rows = [fact(tag, value, *of_year(2023)) for tag, value in {**PAID_OUT, REVENUE: 9e9, DIVIDENDS: 0.96}.items()]

    found = yield raw(rows)
    proofs = found.found.proofs.filter(item="dividends_per_share")

    assert proofs.select("rule", "outcome", "left_side", "right_side").rows() == [
        (rule, "holds", pytest.approx(38.4e6), 40e6)
        for rule in ("correction.dividends.not-as-paid", "identity.dividends.times-shares")
    ]


def test_dividends_are_as_paid():
    """A minus sign, thousands, and an amount that no payment supports; a dividend that is paid later is not an
    error.
    """
    assert third_year(PAID_OUT, {DIVIDENDS: -1.0})["dividends_per_share"] == 1.0
    assert third_year(PAID_OUT, {DIVIDENDS: 1000.0})["dividends_per_share"] == 1.0
    assert "dividends_per_share" not in third_year(PAID_OUT, {DIVIDENDS: 3.0})
    assert third_year(PAID_OUT, {DIVIDENDS: 1.4})["dividends_per_share"] == 1.4


@pytest.mark.parametrize(
    ("figures", "served"),
    [
        ({DIVIDENDS: 6.0, PAID_EACH: 4.5, PAID_ON_ALL: 180e6}, 4.5),
        ({DIVIDENDS: 0.4, DECLARED: 8e6, PAID_ON_ALL: 8e6}, None),
        ({DIVIDENDS: 0.21, DECLARED: 8e6, PAID_ON_ALL: 8e6}, 0.21),
        ({DIVIDENDS: 0.4, DECLARED: 8e6, PAID_ON_ALL: 16e6}, 0.4),
        ({PAID_EACH: 1.8, PAID_ON_ALL: 40e6}, None),
        ({PAID_EACH: 1.3, PAID_ON_ALL: 40e6}, 1.3),
        ({DIVIDENDS: 1.8, PAID_ON_ALL: 40e6}, 1.8),
    ],
)
@in_one_call
def test_the_dividend_of_a_year_on_40_million_shares(figures, served):
    """TSMC 2015: 6.0 a share for the year, paid in the next; 4.5 paid in the year. ASML 2010 states a proposal.

    Dividends on common stock are a part of the dividends paid. Shinhan 2009: 900 a share of the year before, while all
    that was paid went to preferred stock.
    """
    rows = [fact(tag, value, *of_year(2023)) for tag, value in {REVENUE: 9e9, SHARES: 40e6, **figures}.items()]
    found = yield raw(rows)

    assert value_of(found, "dividends_per_share", "annual", "2023-12-31") == served


@in_one_call
def test_a_replaced_figure_is_replaced_where_a_later_filing_repeats_it():
    """TSMC 2017: a later report repeats the proposal, and no longer states the dividend paid per share."""
    figures = {REVENUE: 9e9, SHARES: 40e6, DIVIDENDS: 8.0, PAID_EACH: 7.0, PAID_ON_ALL: 280e6}
    rows = [fact(tag, value, *of_year(2023), filed=filed(2023)) for tag, value in figures.items()]
    again = fact(DIVIDENDS, 8.0, *of_year(2023), filed=filed(2024))

    found = yield raw(rows, again)

    assert value_of(found, "dividends_per_share", "annual", "2023-12-31") == 7.0


@pytest.mark.parametrize(
    ("figures", "served"),
    [
        ({DIVIDENDS: 0.41, PAID_ON_ALL: 65.6e6, SHARES: 40e6}, None),
        ({DIVIDENDS: 0.015, PAID_ON_ALL: 7.2e6, SHARES: 40e6}, None),
        ({DIVIDENDS: 8.75, DECLARED: 1400e6, NET_INCOME: 2400e6, EPS: 60.0}, None),
        ({DIVIDENDS: 0.41, PAID_ON_ALL: 52e6, SHARES: 40e6}, 0.41),
        ({DIVIDENDS: 1.64, PAID_ON_ALL: 65.6e6, SHARES: 40e6}, 1.64),
    ],
    ids=["of a quarter", "of a month", "without shares", "another share of what is paid", "of the year"],
)
@in_one_call
def test_a_rate_in_the_context_of_a_year_is_no_value(figures, served):
    """No quarter is stated; dividends paid or declared, divided by shares, show how many times the rate is paid in
    the year.
    """
    rows = [fact(tag, value, *of_year(2023)) for tag, value in {REVENUE: 9e9, **figures}.items()]
    found = yield raw(rows)

    assert value_of(found, "dividends_per_share", "annual", "2023-12-31") == served


@in_one_call
def test_a_rate_that_was_declared_and_is_paid_later_counts():
    """Coca-Cola pays the dividend of the second quarter in the third: half a year has the payments of one quarter."""
    half_years = {2021: 40e6, 2022: 40e6, 2023: 20e6}
    of_half_years = [
        fact(tag, value, f"{year}-01-01", f"{year}-06-30", form="10-Q", filed=f"{year}-08-05")
        for year, paid in half_years.items()
        for tag, value in {REVENUE: 4e9, SHARES: 40e6, DIVIDENDS: 1.0, DECLARED: 40e6, PAID: paid}.items()
    ]
    of_years = [
        fact(tag, value, *of_year(year), filed=filed(year))
        for year in half_years
        for tag, value in {REVENUE: 9e9, SHARES: 40e6, DIVIDENDS: 2.0, DECLARED: 80e6, PAID: 80e6}.items()
    ]
    found = yield raw(of_half_years, of_years)

    assert value_of(found, "dividends_per_share", "ttm", "2023-06-30") == 2.0


def test_a_quarterly_rate_is_not_the_dividend_of_a_year():
    """0.03 a share in the context of a year in which 0.12 were paid, as 0.03 each quarter."""
    quarter = fact(DIVIDENDS, 0.03, "2023-07-01", "2023-09-30", form="10-Q", filed="2023-11-05")
    year = [
        fact(tag, value, "2023-01-01", "2023-12-31", filed="2024-02-20")
        for tag, value in {DIVIDENDS: 0.03, PAID: 368e3, SHARES: 3_062_517}.items()
    ]

    found = corrected_by(signed(raw(quarter, *year)), dividends.proposals)

    assert [f"{end}" for end in found.filter(concept="dividends_per_share")["end"]] == ["2023-09-30"]


@in_one_call
def test_counts_in_thousands_are_like_those_of_the_filing_before():
    """A bank states 4,025,988,000 shares, then 4,428,587 (thousand), and 4,871,446 (thousand) in the next reports."""
    rows = [
        fact(tag, value, *of_year(year), filed=filed(of_filing))
        for of_filing, counts in (
            (2018, {2018: 4_025_988_000}),
            (2019, {2018: 4_428_587, 2019: 4_428_587}),
            (2020, {2019: 4_871_446, 2020: 4_860_678}),
        )
        for year, count in counts.items()
        for tag, value in ((SHARES, count), (NET_INCOME, 16.6e9))
    ]
    found = yield raw(rows)

    assert [value_of(found, "shares_basic", "annual", f"{year}-12-31") for year in (2018, 2019, 2020)] == [
        4_428_587_000,
        4_871_446_000,
        4_860_678_000,
    ]
    assert value_of(found, "eps_basic", "annual", "2018-12-31") == pytest.approx(3.74837, rel=1e-5)


@in_one_call
def test_four_quarters_that_add_up_to_nothing_earn_nothing():
    """-0.33, 0.05, 0.15 and 0.13 a share."""
    ends = [("01-01", "03-31"), ("04-01", "06-30"), ("07-01", "09-30")]
    quarters = [
        fact(EPS, value, f"2023-{start}", f"2023-{end}", form="10-Q", filed=f"2023-{int(end[:2]) + 2:02d}-05")
        for (start, end), value in zip(ends, (-0.33, 0.05, 0.15), strict=True)
    ]
    before = [
        fact(EPS, 0.13, "2022-10-01", "2022-12-31", form="10-Q", filed="2023-02-20"),
        *(fact(tag, 50e6, *of_year(2022), filed=filed(2022)) for tag in (REVENUE, NET_INCOME)),
    ]

    found = yield raw(quarters, before)

    assert value_of(found, "eps_basic", "ttm", "2023-09-30") == 0


def test_the_revenue_of_a_bank_is_neither_rent_nor_contracts_alone():
    """Its interest is missing; a utility's regulated revenue is its revenue."""
    contracts = "RevenueFromContractWithCustomerExcludingAssessedTax"
    bank = [
        fact(tag, 1e6, *of_year(2022), filed=filed(2022))
        for tag in (contracts, "RealEstateRevenueNet", NET_INCOME, "InterestIncomeExpenseNet")
    ]
    found = standardized(raw(bank), registrants=pl.DataFrame([{"cik": CIK, "sic": "6022"}]))
    utility = [
        fact(tag, value, *of_year(2022), filed=filed(2022))
        for tag, value in {"RegulatedOperatingRevenue": 4.2e9, contracts: 4e9, NET_INCOME: 4e8}.items()
    ]

    assert value_of(found, "revenue", "annual", "2022-12-31") is None
    assert value_of(standardized(raw(utility)), "revenue", "annual", "2022-12-31") == 4.2e9
