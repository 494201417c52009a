"""The series of a symbol: the rows of a company's values that belong to the symbol's class of stock.

Belongs here: the SQL conditions, for builds with and without classes. Does not: which class a symbol has (pipelines),
the queries (queries, explain_queries, page_queries).
"""

from typing import Protocol

from warehouse.contract.line_items import ITEMS_BY_CLASS
from warehouse.read.reader import OpenBuild

MEMBER_OF_SYMBOL = "(SELECT series_member FROM companies WHERE symbol = $symbol)"
ANY_SYMBOL = "$symbol IS NOT NULL"
"""A condition that always holds, for builds of earlier releases, which have one series for all symbols."""


class OfSymbol(Protocol):
    """A symbol of common equity with the CIK of its company."""

    @property
    def symbol(self) -> str:
        """The symbol as in table `companies`."""

    @property
    def cik(self) -> str:
        """The CIK, ten digits."""


def of_series(build: OpenBuild, table: str) -> str:
    """SQL: whether a row of a table of items belongs to the series of the symbol `$symbol` (as macro is_of_series)."""
    if "class_member" not in build.columns.get(table, ()):
        return ANY_SYMBOL
    member = f"CASE WHEN {table}.item IN {ITEMS_BY_CLASS} THEN {MEMBER_OF_SYMBOL} END"
    return f"{table}.class_member IS NOT DISTINCT FROM {member}"


def with_class(build: OpenBuild, table: str) -> str:
    """SQL: a table with column `of_class`: its class of stock as text, empty for the company's own series."""
    member = "coalesce(class_member, '')" if "class_member" in build.columns.get(table, ()) else "''"
    return f"(SELECT *, {member} AS of_class FROM {table})"
