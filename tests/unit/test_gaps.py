"""Reasons of missing values: each is a documented code, and the most important one is given."""

import polars as pl
import pytest

from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    CIK,
    NET_INCOME,
    REVENUE,
    Row,
    day,
    fact,
    raw,
    row_of,
    standardized,
)
from tests.together import in_one_call
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.vocabulary import GAPS

YEAR = ("2023-01-01", "2023-12-31")
BANK = {"InterestIncomeExpenseNet": 60, "NoninterestIncome": 20}
BOTH = {CASH_FLOW: 30, CAPITAL_SPENDING: 40}
LENT = {"Deposits": 900, "LongTermDebt": 50}

REASONS: dict[str, tuple[dict[str, float], dict[str, float], str, str]] = {
    "never stated": ({}, {}, "free_cash_flow", "no_tag"),
    "one amount of two is never stated": ({CASH_FLOW: 30}, {}, "free_cash_flow", "no_tag"),
    "no debt is stated, and none is disproved": ({}, {"Liabilities": 50}, "total_debt", "no_tag"),
    "nothing to divide by": (BOTH, {"LongTermDebt": 50}, "debt_to_fcf", "negative_fcf"),
    "no free cash flow": ({}, {"LongTermDebt": 50}, "debt_to_fcf", "no_free_cash_flow"),
    "no debt": ({**BOTH, CASH_FLOW: 90}, {}, "debt_to_fcf", "no_total_debt"),
    "a bank's debt is its business": ({**BANK, **BOTH}, LENT, "debt_to_fcf", "financial_company"),
    "and so is its capital": (BANK, LENT, "roic", "financial_company"),
    "a shell has no business": ({}, {"AssetsHeldInTrustNoncurrent": 90}, "roic", "shell"),
}
LATER = {"form": "10-Q", "filed": "2024-05-10"}


def report(flows: dict[str, float], balances: dict[str, float]) -> list[Row]:
    """A year's report, in millions; a shell has no sales."""
    sales = {} if "AssetsHeldInTrustNoncurrent" in balances else {REVENUE: 80}
    return [
        *(fact(tag, amount * 1e6, *YEAR) for tag, amount in {**sales, NET_INCOME: 5, **flows}.items()),
        *(fact(tag, amount * 1e6, None, YEAR[1]) for tag, amount in {CASH: 10, **balances}.items()),
    ]


def without_interest(interest: float | None) -> list[Row]:
    """Deutsche Bank 2024: a bank's revenue that no interest income, or less, shows to be net of interest expense."""
    lines = {"Revenue": 31, "RevenueFromInterest": interest, "InterestRevenueExpense": 15, "ProfitLossBeforeTax": 7}
    lines |= {"FeeAndCommissionIncomeExpense": 1, "CashFlowsFromUsedInOperatingActivities": -30}
    return [
        *(fact(tag, value * 1e9, *YEAR, taxonomy="ifrs-full") for tag, value in lines.items() if value),
        fact("DepositsFromCustomers", 600e9, None, YEAR[1], taxonomy="ifrs-full"),
        fact("Equity", 70e9, None, YEAR[1], taxonomy="ifrs-full"),
    ]


CASES = {
    **{
        name: (report(flows, balances), f"annual {YEAR[1]}", item, reason)
        for name, (flows, balances, item, reason) in REASONS.items()
    },
    # the first quarter after a year gives no twelve months without the same quarter of the year before
    "a missing quarter": (
        [
            *report({}, {}),
            fact(REVENUE, 25e6, "2024-01-01", "2024-03-31", **LATER),
            fact(CASH, 11e6, None, "2024-03-31", **LATER),
        ],
        "ttm 2024-03-31",
        "revenue",
        "missing_quarter",
    ),
    **{
        f"an amount that a rule leaves out, {kind}, with {interest} of interest": (
            without_interest(interest),
            f"{kind} {YEAR[1]}",
            "revenue",
            "left_out",
        )
        for kind in ("annual", "ttm")
        for interest in (None, 30)
    },
}


@pytest.mark.parametrize(("rows", "period", "item", "reason"), CASES.values(), ids=CASES)
@in_one_call
def test_the_most_important_reason_is_given(rows, period, item, reason):
    found = yield rows
    gap = row_of(found.gaps, item, *period.split())

    assert gap["reason"] == reason
    assert item in GAPS[reason].items
    assert reason != "left_out" or gap["rule"].startswith("revenue.ifrs.bank-total-below-interest")


@in_one_call
def test_a_period_without_any_value_of_the_specification_has_the_reason_of_the_withheld_one():
    """The cash of the year before, which exceeds its current assets; total assets and spending are known as well."""
    balances = {CASH: 9, "AssetsCurrent": 8, "Assets": 40}
    before = [fact(tag, amount * 1e6, None, "2022-12-31") for tag, amount in balances.items()]
    spent = (CAPITAL_SPENDING, "NetCashProvidedByUsedInFinancingActivities")
    before += [fact(tag, 3e6, f"{year}-01-01", f"{year}-12-31") for tag in spent for year in (2021, 2022)]

    found = yield raw(report({}, {"Assets": 50}), before)

    of_day = found.gaps.filter(period_kind="annual", period_end=day("2022-12-31"))
    of_specification = pl.col("item").is_in(SERVED_NAMES)
    assert found.values.filter(of_specification, period_end=day("2022-12-31")).is_empty()
    assert ("cash_and_equivalents", "cash_not_footing") in of_day.select("item", "reason").rows()


def of_successor(rows: list[Row], notice: str) -> dict[tuple[str, str], str]:
    """The reason of each gap, by item and day, of a company with a notice of succession."""
    registrants = pl.DataFrame([{"cik": CIK, "sic": "3571", "succeeded": day(notice)}])
    gaps = standardized(raw(rows), registrants=registrants).gaps
    return {(row["item"], str(row["period_end"])): row["reason"] for row in gaps.iter_rows(named=True)}


NINE_MONTHS = [
    fact(REVENUE, amount * 1e6, start, f"{year}-09-30", form="10-Q", filed="2024-11-08")
    for year, amount in ((2024, 31), (2023, 28))
    for start, amount in ((f"{year}-01-01", 3 * amount), (f"{year}-07-01", amount))
] + [fact(CASH, 11e6, None, "2024-09-30", form="10-Q", filed="2024-11-08")]
FIRST_YEAR = [
    *report({}, {}),
    *(fact(tag, 4e6, "2022-01-01", "2022-12-31") for tag in (NET_INCOME, CASH_FLOW)),
]


@pytest.mark.parametrize(
    ("rows", "notice", "key", "reason"),
    [
        (NINE_MONTHS, "2024-07-01", ("revenue", "2024-09-30"), "filed_by_predecessor"),
        (NINE_MONTHS, "2022-07-01", ("revenue", "2024-09-30"), "missing_quarter"),
        (FIRST_YEAR, "2023-02-01", ("revenue", "2022-12-31"), "filed_by_predecessor"),
        (FIRST_YEAR, "2022-12-01", ("total_debt", "2022-12-31"), "no_tag"),
        (FIRST_YEAR, "2025-02-01", ("revenue", "2022-12-31"), "year_not_stated"),
    ],
    ids=["first quarter", "long before", "first year", "never stated", "after its own reports"],
)
def test_what_a_predecessor_filed_has_its_own_reason(rows, notice, key, reason):
    assert of_successor(rows, notice)[key] == reason
