"""Annual reports of each industry through all rules: revenue, debt, cash, free cash flow, and what means nothing."""

import polars as pl
import pytest

from tests.factories import CIK, NET_INCOME, Today, fact, raw, row_of, standardized, value_of
from tests.golden.reports import ITEMS, REPORTS, YEAR, Report


def filed(report: Report) -> Today:
    """The report through all rules, with the code of its filer."""
    rows = [fact(tag, amount * 1e6, *YEAR, filed="2025-02-20") for tag, amount in report.flows.items()]
    rows += [fact(tag, amount * 1e6, None, YEAR[1], filed="2025-02-20") for tag, amount in report.balances.items()]
    rows.append(fact(NET_INCOME, 10e6, *YEAR, filed="2025-02-20"))
    return standardized(raw(rows), registrants=pl.DataFrame({"cik": [CIK], "sic": [report.sic]}))


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_what_the_report_says(report):
    """Net revenue, borrowings, cash that can be used, and what is left after capital expenditure."""
    found = filed(report)

    values = {item: value_of(found, item, "annual", YEAR[1]) for item in ITEMS}

    assert values == {
        item: None if value is None else value * 1e6 for item, value in zip(ITEMS, report.values, strict=True)
    }


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_what_has_no_value_says_why(report):
    found = filed(report)

    assert {item: row_of(found.gaps, item, "annual", YEAR[1])["reason"] for item in report.missing} == report.missing


def test_a_bank_may_tag_its_interest_expense_as_an_operating_one():
    """As the taxonomy of 2024 has it; net interest income on no line of its own."""
    lines = {"InterestAndDividendIncomeOperating": 100, "InterestExpenseOperating": 40, "NoninterestIncome": 15}

    found = filed(Report("6022", lines, {}, (75, None, None, None)))

    assert value_of(found, "revenue", "annual", YEAR[1]) == 75e6


def test_an_investment_company_distributes_instead_of_declaring():
    """Its dividends per share have an element of their own."""
    rows = [
        fact("InvestmentCompanyDistributionToShareholdersPerShare", 1.92, *YEAR, unit="USD/shares", filed="2025-02-20"),
        fact(NET_INCOME, 10e6, *YEAR, filed="2025-02-20"),
    ]

    assert value_of(standardized(raw(rows)), "dividends_per_share", "annual", YEAR[1]) == 1.92


def test_a_health_plan_that_reports_as_a_business_has_the_ratios_of_one():
    """Its debt is three years of what is left of its cash flow; a carrier's cash flow is its policyholders' money."""
    found = filed(REPORTS["health plan"])

    assert value_of(found, "debt_to_fcf", "annual", YEAR[1]) == 3


@pytest.mark.parametrize(("industry", "report"), [pair for pair in REPORTS.items() if " " not in pair[0]])
def test_the_industry_is_known(industry, report):
    assert filed(report).found.profiles["industry"].to_list() == [industry]


@pytest.mark.parametrize(("sic", "expected"), [("4922", 8), ("6798", 10)])
def test_what_limited_partners_get_is_what_a_partnership_earns_for_its_owners(sic, expected):
    """Net income less what preferred units and the general partner get; trusts with partners below them have shares."""
    units = {"PartnersCapital": 900, "LimitedPartnersCapitalAccount": 880}
    flows = {"Revenues": 700, "NetIncomeLossAllocatedToLimitedPartners": 8}
    rented = {"RealEstateInvestmentPropertyNet": 500} if sic == "6798" else {}

    found = filed(Report(sic, flows, {**units, **rented}, (None, None, None, None)))

    assert value_of(found, "net_income", "annual", YEAR[1]) == expected * 1e6


def test_what_an_insurer_owes_at_year_end_may_be_told_a_quarter_later():
    """The annual report tells the principal of its notes; the next report has the total of both lines."""
    year_end = {"DebtCurrent": 15, "Liabilities": 15750}
    annual = {**year_end, "LongTermDebtCurrent": 15, "LongTermDebt": 306}
    rows = [fact(tag, amount * 1e6, None, YEAR[1], filed="2025-02-20") for tag, amount in annual.items()]
    rows.append(fact(NET_INCOME, 10e6, *YEAR, filed="2025-02-20"))
    later = {**year_end, "DebtLongtermAndShorttermCombinedAmount": 318}
    rows += [fact(tag, amount * 1e6, None, YEAR[1], form="10-Q", filed="2025-05-07") for tag, amount in later.items()]

    found = standardized(raw(rows), registrants=pl.DataFrame({"cik": [CIK], "sic": ["6311"]}))

    assert value_of(found, "total_debt", "annual", YEAR[1]) == 318e6
