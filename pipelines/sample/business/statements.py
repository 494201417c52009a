"""The lines of a simulated filer's statements, their tags, and their true totals.

Belongs here: tables for ordinary filers, banks and foreign filers, and the lines of one filing. Does not: amounts
(books), columns (filings), other industries (industries).

The totals define the true values with the simulator's own names. They repeat definitions of the normalization on
purpose, because otherwise the rules would be tested against themselves.
"""

from collections.abc import Mapping
from dataclasses import replace

from pipelines.sample.business.industries import INDUSTRIES
from pipelines.sample.business.line import (
    BALANCE,
    CASH_FLOW,
    PER_SHARE,
    SAME_EVERYWHERE,
    SHARES,
    US_GAAP_EVERYWHERE,
    Line,
    Shares,
    Statements,
)
from pipelines.sample.filer.traits import CONTRACT_REVENUE, Filer, Kind

COMMERCIAL = Statements(
    lines=(
        Line("revenue", CONTRACT_REVENUE),
        Line("cost", "CostOfRevenue"),
        Line("gross_profit", "GrossProfit"),
        Line("operating_income", "OperatingIncomeLoss"),
        *US_GAAP_EVERYWHERE,
        Line("cash", "CashAndCashEquivalentsAtCarryingValue", BALANCE),
        Line("short_term_investments", "ShortTermInvestments", BALANCE),
        Line("debt_noncurrent", "LongTermDebtNoncurrent", BALANCE),
        Line("debt_current", "LongTermDebtCurrent", BALANCE),
        Line("short_term_debt", "CommercialPaper", BALANCE),
    ),
    totals=SAME_EVERYWHERE,
)
BANK = Statements(
    lines=(
        Line("interest_income", "InterestAndDividendIncomeOperating"),
        Line("interest_expense", "InterestExpense"),
        Line("net_interest_income", "InterestIncomeExpenseNet"),
        Line("provision", "ProvisionForLoanAndLeaseLosses"),
        Line("noninterest_income", "NoninterestIncome"),
        Line("noninterest_expense", "NoninterestExpense"),
        *US_GAAP_EVERYWHERE,
        Line("due_from_banks", "CashAndDueFromBanks", BALANCE),
        Line("interest_bearing_deposits", "InterestBearingDepositsInBanks", BALANCE),
        Line("deposits", "Deposits", BALANCE),
        Line("other_liabilities", "OtherLiabilities", BALANCE),
        Line("long_term_debt", "LongTermDebt", BALANCE),
        Line("short_term_debt", "ShortTermBorrowings", BALANCE),
    ),
    totals=SAME_EVERYWHERE
    | {
        "revenue": {"net_interest_income": 1, "noninterest_income": 1},
        "total_debt": {"long_term_debt": 1, "short_term_debt": 1},
        "cash_and_equivalents": {"due_from_banks": 1, "interest_bearing_deposits": 1},
    },
)
FOREIGN = Statements(
    lines=(
        Line("revenue", "Revenue"),
        Line("cost", "CostOfSales"),
        Line("gross_profit", "GrossProfit"),
        Line("operating_income", "ProfitLossFromOperatingActivities"),
        Line("pretax", "ProfitLossBeforeTax"),
        Line("tax", "IncomeTaxExpenseContinuingOperations"),
        Line("net_income", "ProfitLossAttributableToOwnersOfParent"),
        Line("eps_basic", "BasicEarningsLossPerShare", measure=PER_SHARE),
        Line("eps_diluted", "DilutedEarningsLossPerShare", measure=PER_SHARE),
        Line("shares_basic", "WeightedAverageShares", measure=SHARES),
        Line("shares_diluted", "AdjustedWeightedAverageShares", measure=SHARES),
        Line("dividends_per_share", "DividendsRecognisedAsDistributionsToOwnersPerShare", measure=PER_SHARE),
        Line("operating_cash_flow", "CashFlowsFromUsedInOperatingActivities", CASH_FLOW),
        Line("capex", "PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities", CASH_FLOW),
        Line("dividends_paid", "DividendsPaidClassifiedAsFinancingActivities", CASH_FLOW),
        Line("assets", "Assets", BALANCE),
        Line("liabilities", "Liabilities", BALANCE),
        Line("equity", "Equity", BALANCE),
        Line("cash", "CashAndCashEquivalents", BALANCE),
        Line("short_term_investments", "CurrentInvestments", BALANCE),
        Line("debt", "Borrowings", BALANCE),
    ),
    totals=SAME_EVERYWHERE | {"total_debt": {"debt": 1}},
)
STATEMENTS: dict[Kind, Statements] = {
    Kind.COMMERCIAL: COMMERCIAL,
    Kind.BANK: BANK,
    Kind.FOREIGN: FOREIGN,
    Kind.FUND: Statements(lines=(), totals={}),
    **INDUSTRIES,
}
BALANCE_TOTALS = ("total_debt", "cash_and_equivalents")

DEBT_LINES = frozenset(
    {
        "debt",
        "debt_noncurrent",
        "debt_current",
        "all_current_debt",
        "long_term_debt",
        "short_term_debt",
        "secured_debt",
        "unsecured_debt",
        "credit_line",
    }
)
DIVIDEND_LINES = frozenset({"dividends_per_share", "dividends_paid"})


def owned(filer: Filer, kind: Kind) -> frozenset[str]:
    """The lines that apply to the business in statements of this kind, tagged or not."""
    absent: frozenset[str] = frozenset()
    absent |= DIVIDEND_LINES if filer.dividend is None else frozenset()
    absent |= DEBT_LINES if filer.economics.debt == 0 else frozenset()
    absent |= frozenset() if filer.investments_tag else {"short_term_investments"}
    return frozenset(line.item for line in STATEMENTS[kind].lines) - absent


def derived(filer: Filer) -> Mapping[str, Shares]:
    """The amounts that are computed from the books: first the amounts of the kind, then of the filer's extra lines."""
    return {**STATEMENTS[filer.kind].derived, **{extra.tag: dict(extra.of) for extra in filer.extras if extra.of}}


def lines(filer: Filer, fiscal_year: int) -> tuple[Line, ...]:
    """The lines that a filing for a fiscal year tags, with the tags used at that time."""
    kind = filer.kind_in(fiscal_year)
    ceased = {item for item, since in filer.ceased if since <= fiscal_year}
    shown = owned(filer, kind) - filer.untagged - ceased
    tags = {}
    if kind is Kind.COMMERCIAL:
        tags["revenue"] = [tag for since, tag in sorted(filer.revenue_tags) if since <= fiscal_year][-1]
        tags["short_term_investments"] = filer.investments_tag or ""
    ordinary = {line.item: line for line in STATEMENTS[kind].lines}
    extras = (
        replace(ordinary[extra.like], tag=extra.tag, item=extra.tag if extra.of else extra.like)
        for extra in filer.extras
        if extra.like in owned(filer, kind) and extra.since <= fiscal_year <= extra.until
    )
    own = (replace(line, tag=tags.get(line.item, line.tag)) for line in ordinary.values() if line.item in shown)
    return (*own, *extras)
