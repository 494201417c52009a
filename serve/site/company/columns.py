"""The columns of a list of companies, as `/companies` and the companies of the same industry have them.

Belongs here: what a column shows of a company, and how it is sorted. Does not: which companies are listed (directory).
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from serve import names
from serve.site.company.values import address as value_address
from serve.site.frame.directory import BY_AMOUNT
from serve.site.text.figures import per_cent, standalone
from serve.site.text.markdown import Markdown, link, plain
from serve.site.text.paths import company_path
from warehouse.queries.company_queries import Listed


class Column(NamedTuple):
    """A column of the list: the name to sort by, its heading, and its text for a company."""

    name: str
    heading: str
    shows: Callable[[Listed], str]

    @property
    def is_amount(self) -> bool:
        """Whether the column has numbers, for which the largest come first."""
        return self.name in BY_AMOUNT

    def sorted_by(self, sort: str) -> str:
        """The value of `sort` behind the heading's link: the reverse order if the list is sorted by this column."""
        first, second = (f"-{self.name}", self.name) if self.is_amount else (self.name, f"-{self.name}")
        return second if sort == first else first


def _ratio(name: str) -> Callable[[Listed], str]:
    """Returns a function that shows a ratio calculated from two values."""
    value = BY_AMOUNT[name]

    def shows(row: Listed) -> str:
        ratio = value(row)
        return "–" if ratio is None else per_cent(ratio)

    return shows


def _item(name: str) -> Callable[[Listed], str]:
    """Returns a function that shows a value of the newest twelve months, linked to its provenance."""
    value = BY_AMOUNT[name]

    def shows(row: Listed) -> str:
        amount = value(row)
        if amount is None:
            return "–"
        return link(standalone(name, amount), value_address(row.symbol, name, row.period or ""))

    return shows


COLUMNS = (
    Column("symbol", "Symbol", lambda row: link(row.symbol, company_path(row.symbol))),
    Column("name", "Name", lambda row: names.shown(row.name or "")),
    Column("revenue", "Revenue", _item("revenue")),
    Column("net_income", "Net income", _item("net_income")),
    Column("gross_margin", "Gross margin", _ratio("gross_margin")),
    Column("operating_margin", "Operating margin", _ratio("operating_margin")),
    Column("net_margin", "Net margin", _ratio("net_margin")),
    Column("free_cash_flow", "Free cash flow", _item("free_cash_flow")),
    Column("roic", "ROIC", _item("roic")),
    Column("growth", "Growth", _ratio("growth")),
    Column("debt_to_fcf", "Debt to FCF", _item("debt_to_fcf")),
    Column("", "Currency", lambda row: row.currency),
    Column("period_end", "Newest period", lambda row: row.period_end or ""),
    Column("exchange", "Exchange", lambda row: row.exchange or ""),
    Column("industry", "Industry", lambda row: Markdown(f"*{plain(row.industry)}*") if row.industry else ""),
)
IF_USED = frozenset({"gross_margin", "operating_margin"})
"""Columns that a list has only if it is filtered or sorted by them: with all, it would be wider than a screen."""


def columns_of_list(used: Collection[str] = ()) -> list[Column]:
    """The columns of a list that is filtered or sorted by some figures."""
    return [column for column in COLUMNS if column.name not in IF_USED or column.name in used]
