"""The reasons why the model does not fit a company: each alone, for a company that otherwise fits."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from pipelines.normalize.industry.table import INDUSTRIES
from pipelines.valuation.history import Growth, Year
from pipelines.valuation.reasons import FINANCIAL, STALE_DAYS, STALE_DAYS_QUARTERLY, TESTS, CompanyData, Shares, reasons
from warehouse.contract.reasons import NO_FAIR_VALUE

END = date(2025, 12, 31)
SOUND = CompanyData(
    industry="general",
    annual_form="10-K",
    currency="USD",
    newest_currency="USD",
    newest_filing=date(2026, 3, 1),
    trailing=Year(END, 100.0, 1000.0),
    no_capital_expenditure=False,
    customer_funds_end=None,
    years=[Year(date(year, 12, 31), 100.0, 1000.0) for year in range(2021, 2026)],
    has_break=False,
    growth=Growth(0.03, "Median of nothing."),
    shares=Shares(10.0, END, "Diluted."),
    shares_of_year=10.0,
)


def with_flows(*flows: float | None) -> list[Year]:
    return [Year(year.end, flow, year.revenue) for year, flow in zip(SOUND.years[-len(flows) :], flows, strict=True)]


def test_a_sound_company_has_no_reason():
    assert reasons(SOUND) == ()


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("financial_company", {"industry": "bank"}),
        ("financial_company", {"industry": "broker"}),
        ("financial_company", {"industry": "insurer"}),
        ("financial_company", {"industry": "financial"}),
        ("financial_company", {"industry": "investment_company"}),
        ("reit", {"industry": "reit"}),
        ("shell", {"industry": "shell"}),
        ("captive_finance", {"industry": "captive_finance"}),
        ("customer_funds", {"customer_funds_end": END - timedelta(days=300)}),
        ("depositary_receipt", {"annual_form": "20-F"}),
        ("stale_data", {"newest_filing": END + timedelta(days=STALE_DAYS_QUARTERLY + 1)}),
        ("mixed_currency", {"newest_currency": "EUR"}),
        ("missing_capital_expenditure", {"trailing": Year(END, None, 1000.0), "no_capital_expenditure": True}),
        ("no_free_cash_flow", {"trailing": Year(END, None, 1000.0)}),
        ("negative_free_cash_flow", {"trailing": Year(END, 0.0, 1000.0)}),
        ("basis_break", {"years": with_flows(100, 100, 100), "has_break": True}),
        ("too_little_history", {"years": with_flows(100, 100, 100, 100)}),
        ("too_little_history", {"years": with_flows(100, 100, None, 100, 100)}),
        ("too_little_history", {"growth": None}),
        ("too_volatile", {"years": with_flows(-1, -1, 100, 100, -1)}),
        ("too_volatile", {"years": with_flows(0, 0, 100, 100, 0)}),
        ("too_volatile", {"years": with_flows(-100, -100, -100, -100, 100)}),
        ("too_volatile", {"years": with_flows(1, 1, 1, 1, 900)}),
        ("too_volatile", {"years": with_flows(-500, 100, 100, 100, 100)}),
        ("missing_shares", {"shares": None}),
        ("missing_shares", {"shares": Shares(10.0, END - timedelta(days=180), "")}),
        ("unresolved_share_basis", {"shares": Shares(40.0, END, "")}),
        ("unresolved_share_basis", {"shares": Shares(4.0, END, "")}),
    ],
)
def test_each_reason_alone(code: str, changed: dict[str, Any]):
    assert reasons(replace(SOUND, **changed)) == (code,)


@pytest.mark.parametrize(
    "changed",
    [
        {"industry": "asset_manager"},
        {"industry": "exchange"},
        {"industry": "utility"},
        {"industry": "oil_and_gas"},
        {"industry": "partnership"},
        {"annual_form": "40-F"},  # Canadian companies list their shares
        {"customer_funds_end": END - timedelta(days=400)},
        {"newest_filing": END + timedelta(days=STALE_DAYS_QUARTERLY)},
        {"annual_form": "40-F", "newest_filing": END + timedelta(days=STALE_DAYS["40-F"])},
        {"years": with_flows(100, 100, 100, 100, 100), "has_break": True},  # enough years since the break
        {"years": with_flows(-10, -10, 200, 200, 200)},
        {"no_capital_expenditure": True},  # but free cash flow is known
        {"shares": Shares(14.9, END, "")},
        {"shares": Shares(10.0, END - timedelta(days=91), "")},
        {"shares_of_year": None},
    ],
)
def test_cases_that_are_no_reason(changed: dict[str, Any]):
    assert reasons(replace(SOUND, **changed)) == ()


def test_all_reasons_are_given_most_important_first():
    """First the kind of company, then data that its reports lack, then figures that do not suit the model."""
    bank = replace(
        SOUND,
        industry="bank",
        annual_form="20-F",
        newest_filing=date(2028, 1, 1),
        trailing=Year(END, -1.0, None),
        years=[],
        shares=None,
    )

    assert reasons(bank) == (
        "financial_company",
        "depositary_receipt",
        "stale_data",
        "negative_free_cash_flow",
        "too_little_history",
        "missing_shares",
    )


def test_every_documented_code_has_a_test_and_every_industry_a_name():
    assert set(TESTS) == set(NO_FAIR_VALUE)
    assert set(INDUSTRIES) >= FINANCIAL


def test_without_revenue_amounts_are_compared():
    wild = [Year(year.end, flow, None) for year, flow in zip(SOUND.years, (1, 1, 1, 1, 900), strict=True)]

    assert reasons(replace(SOUND, years=wild)) == ("too_volatile",)
