"""A line of a statement: its statement, its measure and its tag.

Belongs here: the types of the tables of statements. Does not: these tables (statements, industries).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Statement(Enum):
    """The statement of a line. It determines the columns of the line."""

    INCOME = "income"  # the quarter and the year to date
    CASH_FLOW = "cash flow"  # the year to date only
    BALANCE = "balance"  # the end of the period and of the last fiscal year


class Measure(Enum):
    """What a line measures."""

    MONEY = "money"
    SHARES = "shares"
    PER_SHARE = "per share"


@dataclass(frozen=True)
class Line:
    """One line of a statement: its name in the books, and its tag."""

    item: str
    tag: str
    statement: Statement = Statement.INCOME
    measure: Measure = Measure.MONEY


Shares = Mapping[str, float]
"""The components of an amount: names of other amounts, and the factor of each."""


@dataclass(frozen=True)
class Statements:
    """The statements of one kind of filer.

    lines: their lines.
    totals: the components of each true item; a component that the business does not have counts as zero.
    derived: amounts that are not in the books but computed from them; each may use the amounts before it.
    """

    lines: tuple[Line, ...]
    totals: Mapping[str, Mapping[str, int]]
    derived: Mapping[str, Shares] = field(default_factory=dict)


CASH_FLOW, BALANCE = Statement.CASH_FLOW, Statement.BALANCE
SHARES, PER_SHARE = Measure.SHARES, Measure.PER_SHARE

SAME_EVERYWHERE = {
    "revenue": {"revenue": 1},
    "net_income": {"net_income": 1},
    "free_cash_flow": {"operating_cash_flow": 1, "capex": -1},
    "total_debt": {"debt_noncurrent": 1, "debt_current": 1, "short_term_debt": 1},
    "cash_and_equivalents": {"cash": 1, "short_term_investments": 1},
}

PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"

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
