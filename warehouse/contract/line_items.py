"""The line items as data: the items of the service specification, and further items of the warehouse.

Belongs here: what each item is, its unit, its formula in words, and which items it is calculated from.
Does not: the tables that hold their values (schema), the elements behind them (pipelines.normalize.elements).
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LineItem:
    """A line item; the items of the specification (section 2.4) come first, in its order, then the others.

    kind: an amount over the period, a balance at its end, or a ratio of other items.
    formula: the calculation in words.
    is_served: whether the interface has it; the warehouse, the pages of companies and their files have all items.
    numerator, denominator: the items of a quotient, whose legs have the operations `dividend` and `divisor`; empty for
        an item that is never a quotient.
    inputs: the items from which it is calculated, if its legs are neither summed nor averaged.
    """

    name: str
    title: str
    kind: Literal["flow", "balance", "ratio"]
    unit: Literal["currency", "currency per share", "shares", "ratio", "years"]
    meaning: str
    formula: str
    numerator: str = ""
    denominator: str = ""
    inputs: tuple[str, ...] = ()
    is_served: bool = True


LINE_ITEMS: tuple[LineItem, ...] = (
    LineItem("revenue", "Revenue", "flow", "currency", "Revenue; for banks net of interest expense.", "as filed"),
    LineItem(
        "net_income",
        "Net income",
        "flow",
        "currency",
        "Net income attributable to common shareholders.",
        "as filed, or net income attributable to the parent - preferred dividends",
    ),
    LineItem(
        "eps_basic",
        "Earnings per share, basic",
        "flow",
        "currency per share",
        "Earnings per share, basic.",
        "as filed for a fiscal year; else the sum of four quarters; else net_income / shares_basic",
        numerator="net_income",
        denominator="shares_basic",
        inputs=("net_income", "shares_basic"),
    ),
    LineItem(
        "dividends_per_share",
        "Dividends per share",
        "flow",
        "currency per share",
        "Dividends declared per share.",
        "sum over the window",
    ),
    LineItem(
        "free_cash_flow",
        "Free cash flow",
        "flow",
        "currency",
        "Free cash flow.",
        "operating cash flow - capital expenditure",
    ),
    LineItem(
        "shares_basic",
        "Shares, basic",
        "flow",
        "shares",
        "Weighted average basic shares outstanding.",
        "as filed for a fiscal year; else the day-weighted mean of four quarters",
    ),
    LineItem(
        "shares_diluted",
        "Shares, diluted",
        "flow",
        "shares",
        "Weighted average diluted shares outstanding.",
        "as filed for a fiscal year; else the day-weighted mean of four quarters",
    ),
    LineItem(
        "total_debt",
        "Total debt",
        "balance",
        "currency",
        "Balance sheet value at the period end: long-term debt, current maturities and short-term borrowings.",
        "non-current debt + current maturities + short-term borrowings",
    ),
    LineItem(
        "cash_and_equivalents",
        "Cash and equivalents",
        "balance",
        "currency",
        "Balance sheet value at the period end: cash, cash equivalents and short-term investments.",
        "cash and cash equivalents + short-term investments",
    ),
    LineItem(
        "roic",
        "Return on invested capital",
        "ratio",
        "ratio",
        "Return on invested capital as a fraction (0.18 means 18%).",
        "operating income x (1 - tax rate) / mean of invested capital now and a year before",
        inputs=("total_debt", "cash_and_equivalents"),
    ),
    LineItem(
        "debt_to_fcf",
        "Debt to free cash flow",
        "ratio",
        "years",
        "Total debt divided by free cash flow, in years; none where free cash flow is not positive.",
        "total_debt / free_cash_flow",
        numerator="total_debt",
        denominator="free_cash_flow",
        inputs=("total_debt", "free_cash_flow"),
    ),
    LineItem(
        "gross_profit",
        "Gross profit",
        "flow",
        "currency",
        "Gross profit: revenue less the cost of revenue, as the filer defines it.",
        "as filed; else revenue - cost of revenue",
        is_served=False,
    ),
    LineItem(
        "operating_income",
        "Operating income",
        "flow",
        "currency",
        "Operating income, as the filer states it; no value where the statement has no such line.",
        "as filed",
        is_served=False,
    ),
    LineItem(
        "eps_diluted",
        "Earnings per share, diluted",
        "flow",
        "currency per share",
        "Earnings per share, diluted.",
        "as filed for a fiscal year; else the sum of four quarters; else net_income / shares_diluted",
        numerator="net_income",
        denominator="shares_diluted",
        inputs=("net_income", "shares_diluted"),
        is_served=False,
    ),
    LineItem(
        "operating_cash_flow",
        "Operating cash flow",
        "flow",
        "currency",
        "Cash from operating activities, of continuing and discontinued operations.",
        "as filed",
        is_served=False,
    ),
    LineItem(
        "capital_expenditure",
        "Capital expenditure",
        "flow",
        "currency",
        "Cash paid for property, plant, equipment and other productive assets; positive if cash is paid.",
        "as filed",
        is_served=False,
    ),
    LineItem(
        "total_assets",
        "Total assets",
        "balance",
        "currency",
        "Balance sheet value at the period end: all assets.",
        "as filed",
        is_served=False,
    ),
    LineItem(
        "stockholders_equity",
        "Stockholders' equity",
        "balance",
        "currency",
        "Balance sheet value at the period end: equity of the company's own shareholders, without noncontrolling "
        "interests.",
        "as filed",
        is_served=False,
    ),
)
ITEM_NAMES: tuple[str, ...] = tuple(item.name for item in LINE_ITEMS)
SERVED_ITEMS: tuple[LineItem, ...] = tuple(item for item in LINE_ITEMS if item.is_served)
SERVED_NAMES: tuple[str, ...] = tuple(item.name for item in SERVED_ITEMS)
FURTHER_NAMES: tuple[str, ...] = tuple(item.name for item in LINE_ITEMS if not item.is_served)
"""The items that are in the warehouse, on the pages and in their files, but not in the interface."""
ITEMS_BY_CLASS: tuple[str, ...] = tuple(item.name for item in LINE_ITEMS if "share" in item.unit)
"""The items that each class of stock has separately: amounts per share and counts of shares."""


def items_of(*kinds: str) -> tuple[str, ...]:
    """The names of the line items of the given kinds, in their order."""
    return tuple(item.name for item in LINE_ITEMS if item.kind in kinds)
