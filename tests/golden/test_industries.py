"""Annual reports of each industry through all steps: revenue, debt, cash, free cash flow, and items without meaning."""

import polars as pl
import pytest

from tests.factories import CIK, NET_INCOME, Row, Today, fact, of_companies, raw, row_of, standardized, value_of
from tests.golden.reports import ITEMS, REPORTS, YEAR, Report

PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"


def facts_of(report: Report) -> list[Row]:
    """The facts of the report."""
    rows = [fact(tag, amount * 1e6, *YEAR, filed="2025-02-20") for tag, amount in report.flows.items()]
    rows += [fact(tag, amount * 1e6, None, YEAR[1], filed="2025-02-20") for tag, amount in report.balances.items()]
    return [*rows, fact(NET_INCOME, 10e6, *YEAR, filed="2025-02-20")]


def filed(report: Report) -> Today:
    """The report through all steps, with the SIC code of its filer."""
    return standardized(raw(facts_of(report)), registrants=pl.DataFrame({"cik": [CIK], "sic": [report.sic]}))


FACTS, CIKS = of_companies({name: facts_of(report) for name, report in REPORTS.items()})


@pytest.fixture(scope="module")
def of_all() -> Today:
    """All reports through all steps together, each of its own filer."""
    sic = [report.sic for report in REPORTS.values()]
    return standardized(FACTS, registrants=pl.DataFrame({"cik": list(CIKS.values()), "sic": sic}))


@pytest.mark.parametrize(("name", "report"), REPORTS.items(), ids=REPORTS)
def test_the_items_of_the_report(of_all, name, report):
    """Net revenue, borrowings, unrestricted cash, and cash flow after capital expenditure."""
    values = {item: value_of(of_all, item, "annual", YEAR[1], CIKS[name]) for item in ITEMS}

    assert values == {
        item: None if value is None else value * 1e6 for item, value in zip(ITEMS, report.values, strict=True)
    }


@pytest.mark.parametrize(("name", "report"), REPORTS.items(), ids=REPORTS)
def test_missing_values_have_a_reason(of_all, name, report):
    reasons = {item: row_of(of_all.gaps, item, "annual", YEAR[1], CIKS[name])["reason"] for item in report.missing}

    assert reasons == report.missing


def test_a_bank_may_tag_its_interest_expense_as_operating():
    """In the taxonomy of 2024; net interest income is not a separate line."""
    lines = {"InterestAndDividendIncomeOperating": 100, "InterestExpenseOperating": 40, "NoninterestIncome": 15}

    found = filed(Report("6022", lines, {}, (75, None, None, None)))

    assert value_of(found, "revenue", "annual", YEAR[1]) == 75e6


def test_an_investment_company_distributes_instead_of_declaring():
    """Its dividends per share have a separate element."""
    rows = [
        fact("InvestmentCompanyDistributionToShareholdersPerShare", 1.92, *YEAR, unit="USD/shares", filed="2025-02-20"),
        fact(NET_INCOME, 10e6, *YEAR, filed="2025-02-20"),
    ]

    assert value_of(standardized(raw(rows)), "dividends_per_share", "annual", YEAR[1]) == 1.92


def test_a_health_plan_that_reports_as_a_business_has_the_ratios_of_one():
    """Its debt is three years of its free cash flow; a carrier's cash flow belongs to its policyholders."""
    found = filed(REPORTS["health plan"])

    assert value_of(found, "debt_to_fcf", "annual", YEAR[1]) == 3


@pytest.mark.parametrize("industry", [name for name in REPORTS if " " not in name])
def test_the_industry_is_known(of_all, industry):
    profiles = of_all.found.profiles.filter(cik=CIKS[industry])

    assert profiles["industry"].to_list() == [industry]


@pytest.mark.parametrize(("sic", "expected"), [("4922", 8), ("6798", 10)])
def test_net_income_of_a_partnership_is_the_part_of_limited_partners(sic, expected):
    """Net income less the parts of preferred units and general partner; trusts that own partnerships have shares."""
    units = {"PartnersCapital": 900, "LimitedPartnersCapitalAccount": 880}
    flows = {"Revenues": 700, "NetIncomeLossAllocatedToLimitedPartners": 8}
    rented = {"RealEstateInvestmentPropertyNet": 500} if sic == "6798" else {}

    found = filed(Report(sic, flows, {**units, **rented}, (None, None, None, None)))

    assert value_of(found, "net_income", "annual", YEAR[1]) == expected * 1e6


def test_an_insurers_debt_at_year_end_may_be_stated_a_quarter_later():
    """The annual report states the principal of its notes; the next report has the total of both lines."""
    year_end = {"DebtCurrent": 15, "Liabilities": 15750}
    annual = {**year_end, "LongTermDebtCurrent": 15, "LongTermDebt": 306}
    rows = [fact(tag, amount * 1e6, None, YEAR[1], filed="2025-02-20") for tag, amount in annual.items()]
    rows.append(fact(NET_INCOME, 10e6, *YEAR, filed="2025-02-20"))
    later = {**year_end, "DebtLongtermAndShorttermCombinedAmount": 318}
    rows += [fact(tag, amount * 1e6, None, YEAR[1], form="10-Q", filed="2025-05-07") for tag, amount in later.items()]

    found = standardized(raw(rows), registrants=pl.DataFrame({"cik": [CIK], "sic": ["6311"]}))

    assert value_of(found, "total_debt", "annual", YEAR[1]) == 318e6


TOTALS = {
    "net of interest expense": ({"Revenue": 31_155}, 31_155),
    "before interest expense": ({"Revenue": 58_815}, None),
    "of a part of the business": ({"Revenue": 9_000}, None),
    "where no net fees are stated": ({"Revenue": 31_155, "FeeAndCommissionIncomeExpense": 0}, 31_155),
}


@pytest.mark.parametrize("shape", TOTALS)
def test_the_total_of_a_bank_under_ifrs_is_its_revenue_if_it_is_less_than_interest_and_fees(shape):
    """As Deutsche Bank's: a total before interest expense includes both."""
    total, expected = TOTALS[shape]
    flows = {
        "RevenueFromInterest": 43_546,
        "InterestRevenueExpense": 16_122,
        "FeeAndCommissionIncomeExpense": 9_206,
        "ProfitLossBeforeTax": 7_955,
        **total,
    }

    assert revenue_under_ifrs("6029", flows) == expected


@pytest.mark.parametrize(("loss", "revenue"), [(90, 0), (85, None)])
def test_a_filer_whose_loss_is_its_operating_expenses_has_no_revenue(loss, revenue):
    """A biotechnology company without a product; the rest may be revenue or gross profit under an own element."""
    lines = {"OperatingExpenses": 90, "OperatingIncomeLoss": -loss}

    found = filed(Report("2836", lines, {}, (revenue, None, None, None)))

    assert value_of(found, "revenue", "annual", YEAR[1]) == revenue


def test_an_insurer_without_a_total_of_revenue_has_it_by_its_expenses():
    """Benefits, losses and expenses and income before taxes: premiums and investment income alone lack the gains."""
    lines = {"PremiumsEarnedNet": 80, "NetInvestmentIncome": 15, "RealizedInvestmentGainsLosses": 5}
    lines |= {"BenefitsLossesAndExpenses": 90, PRETAX: 10}

    found = filed(Report("6331", lines, {}, (100, None, None, None)))

    assert value_of(found, "revenue", "annual", YEAR[1]) == 100e6


@pytest.mark.parametrize(("cost", "revenue"), [(60, 100), (-30, None)])
def test_revenue_under_ifrs_is_cost_of_sales_plus_gross_profit(cost, revenue):
    """Where no total is stated; a negative cost shows that amounts have the signs of presentation."""
    assert revenue_under_ifrs("1040", {"CostOfSales": cost, "GrossProfit": 40}) == revenue


def revenue_under_ifrs(sic, flows):
    """Revenue in millions of the annual report of a filer with some flows, in millions."""
    of_report = {"taxonomy": "ifrs-full", "form": "20-F", "filed": "2025-03-13"}
    rows = [fact(tag, amount * 1e6, *YEAR, **of_report) for tag, amount in flows.items() if amount]
    rows += [
        fact(tag, amount * 1e9, None, YEAR[1], **of_report) for tag, amount in {"Assets": 1312, "Equity": 75}.items()
    ]
    found = standardized(raw(rows), registrants=pl.DataFrame({"cik": [CIK], "sic": [sic]}))
    value = value_of(found, "revenue", "annual", YEAR[1])
    return value and value / 1e6
