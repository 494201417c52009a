"""Which lines a simulated filer's statements have, how they are tagged, and what they add up to.

Belongs here: tables. Does not: amounts (books), columns (filings).

The tables of what adds up state the truth in the simulator's own terms; they are written down here a second time on
purpose, so that the rules under test are not tested against themselves.
"""

from dataclasses import dataclass, replace
from enum import Enum

from pipelines.edgar.sample.traits import CONTRACT_REVENUE, Filer, Kind


class Statement(Enum):
    """Where a line stands, which decides the columns it has."""

    INCOME = "income"  # the quarter and the year to date
    CASH_FLOW = "cash flow"  # the year to date only
    BALANCE = "balance"  # the end of the period and of the last fiscal year


class Measure(Enum):
    """What a line counts."""

    MONEY = "money"
    SHARES = "shares"
    PER_SHARE = "per share"


@dataclass(frozen=True)
class Line:
    """One line of a statement: the name the books have for it, and its tag."""

    item: str
    tag: str
    statement: Statement = Statement.INCOME
    measure: Measure = Measure.MONEY


PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
CASH_FLOW, BALANCE = Statement.CASH_FLOW, Statement.BALANCE
SHARES, PER_SHARE = Measure.SHARES, Measure.PER_SHARE

US_GAAP_EVERYWHERE = (
    Line("pretax", PRETAX),
    Line("tax", "IncomeTaxExpenseBenefit"),
    Line("net_income", "NetIncomeLoss"),
    Line("eps_basic", "EarningsPerShareBasic", measure=PER_SHARE),
    Line("eps_diluted", "EarningsPerShareDiluted", measure=PER_SHARE),
    Line("shares_basic", "WeightedAverageNumberOfSharesOutstandingBasic", measure=SHARES),
    Line("shares_diluted", "WeightedAverageNumberOfDilutedSharesOutstanding", measure=SHARES),
    Line("dividends_per_share", "CommonStockDividendsPerShareDeclared", measure=PER_SHARE),
    Line("operating_cash_flow", "NetCashProvidedByUsedInOperatingActivities", CASH_FLOW),
    Line("capex", "PaymentsToAcquirePropertyPlantAndEquipment", CASH_FLOW),
    Line("dividends_paid", "PaymentsOfDividendsCommonStock", CASH_FLOW),
    Line("assets", "Assets", BALANCE),
    Line("liabilities", "Liabilities", BALANCE),
    Line("equity", "StockholdersEquity", BALANCE),
)

LINES: dict[Kind, tuple[Line, ...]] = {
    Kind.COMMERCIAL: (
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
    Kind.BANK: (
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
        Line("long_term_debt", "LongTermDebt", BALANCE),
        Line("short_term_debt", "ShortTermBorrowings", BALANCE),
    ),
    Kind.FOREIGN: (
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
    Kind.FUND: (),
}

# what each item of the truth adds up from, sign first; components that the business does not have count nothing
SAME_EVERYWHERE = {
    "revenue": {"revenue": 1},
    "net_income": {"net_income": 1},
    "free_cash_flow": {"operating_cash_flow": 1, "capex": -1},
    "total_debt": {"debt_noncurrent": 1, "debt_current": 1, "short_term_debt": 1},
    "cash_and_equivalents": {"cash": 1, "short_term_investments": 1},
}
TOTALS: dict[Kind, dict[str, dict[str, int]]] = {
    Kind.COMMERCIAL: SAME_EVERYWHERE,
    Kind.BANK: SAME_EVERYWHERE
    | {
        "revenue": {"net_interest_income": 1, "noninterest_income": 1},
        "total_debt": {"long_term_debt": 1, "short_term_debt": 1},
        "cash_and_equivalents": {"due_from_banks": 1, "interest_bearing_deposits": 1},
    },
    Kind.FOREIGN: SAME_EVERYWHERE | {"total_debt": {"debt": 1}},
    Kind.FUND: {},
}
BALANCE_TOTALS = ("total_debt", "cash_and_equivalents")

DEBT_LINES = frozenset({"debt", "debt_noncurrent", "debt_current", "long_term_debt", "short_term_debt"})
DIVIDEND_LINES = frozenset({"dividends_per_share", "dividends_paid"})


def owned(filer: Filer) -> frozenset[str]:
    """The lines that the business has at all, tagged or not."""
    absent: frozenset[str] = frozenset()
    absent |= DIVIDEND_LINES if filer.dividend is None else frozenset()
    absent |= DEBT_LINES if filer.economics.debt == 0 else frozenset()
    absent |= frozenset() if filer.investments_tag else {"short_term_investments"}
    return frozenset(line.item for line in LINES[filer.kind]) - absent


def lines(filer: Filer, fiscal_year: int) -> tuple[Line, ...]:
    """The lines that a filing for that fiscal year tags, with the tags of that time."""
    shown = owned(filer) - filer.untagged
    tags = {}
    if filer.kind is Kind.COMMERCIAL:
        tags["revenue"] = [tag for since, tag in sorted(filer.revenue_tags) if since <= fiscal_year][-1]
        tags["short_term_investments"] = filer.investments_tag or ""
    return tuple(replace(line, tag=tags.get(line.item, line.tag)) for line in LINES[filer.kind] if line.item in shown)
