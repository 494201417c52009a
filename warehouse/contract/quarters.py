"""The tables of quarters, which repeat tables of twelve months.

Belongs here: their names, and what differs from the tables of twelve months. Does not: the tables of twelve months
(schema), their rows (pipelines.tables.quarters).
"""

from collections.abc import Iterable
from dataclasses import replace

from warehouse.contract.line_items import items_of
from warehouse.contract.table import Column, Table, filed_of

QUARTERS, QUARTER = "quarters", "quarter"
"""The table of quarters, and the period kind of its rows and of the rows in the tables of OF_QUARTERS."""
OF_QUARTERS: dict[str, str] = {
    "versions": "Table versions for quarters: every version of every value of one quarter; balances are in table "
    "versions.",
    "lineage": "Table lineage for quarters: the legs of each value of one quarter, such as a year less nine months.",
    "gaps": "Table gaps for quarters: reasons why a flow of a quarter has no value.",
}
"""The tables that exist a second time for quarters, with the description of the second one."""
DESCRIPTIONS = {
    "period_kind": f"Always {QUARTER}.",
    "period": "Label in the company's own fiscal calendar: FY2025Q4.",
}
"""The columns that differ in the tables of quarters, with their descriptions there."""


def of_quarters(name: str) -> str:
    """The name of the quarterly table that corresponds to a table of OF_QUARTERS."""
    return f"{QUARTER}_{name}"


def quarterly_tables(tables: Iterable[Table]) -> tuple[Table, ...]:
    """The table of quarters, and the quarterly tables of OF_QUARTERS.

    Args:
        tables: all other tables; the columns come from those of twelve months.
    """
    by_name = {table.name: table for table in tables}
    financials = by_name["financials"]
    left_out = {"period_kind", *(name for item in items_of("ratio") for name in (item, filed_of(item)))}

    def columns(table: Table) -> tuple[Column, ...]:
        return tuple(
            replace(column, description=DESCRIPTIONS.get(column.name, column.description)) for column in table.columns
        )

    wide = replace(
        financials,
        name=QUARTERS,
        description="The line items by fiscal quarter, one row per symbol and quarter: flows, amounts per share and "
        "average shares of the quarter itself, balances at its end; no ratios, which are of twelve months.",
        key=("symbol", "period_end"),
        columns=tuple(column for column in columns(financials) if column.name not in left_out),
    )
    others = (
        replace(by_name[name], name=of_quarters(name), description=description, columns=columns(by_name[name]))
        for name, description in OF_QUARTERS.items()
    )
    return (wide, *others)
