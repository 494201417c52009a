"""Tables as text: numbers, dates and shares as shown on the terminal and in Markdown.

Belongs here: the format of a cell. Does not: the contents of a table (checks, coverage), the page (report).
"""

from datetime import date

import polars as pl
from rich.console import Console
from rich.table import Table

WIDE = 1000
"""The width of the terminal output; each row stays on one line, so that it can be searched and compared."""

INITIALS = ("eps", "fcf", "roic")
SHARES = ("failing", "threshold", "share")
"""Columns that are shares, shown in percent."""


def cell(value: object, column: str = "") -> str:
    """A value as text: 1,234,567; 0.1235; 4.5 %; yes; 2024-12-31; empty for null."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float() if column in SHARES:
            return f"{value:.1%}".replace("%", " %")
        case float() if abs(value) < 1000 and not value.is_integer():
            return f"{value:,.4g}"
        case int() | float():
            return f"{value:,.0f}"
        case date():
            return value.isoformat()
        case _:
            return str(value)


def heading(name: str) -> str:
    """A column name as words: `eps_basic` becomes `EPS basic`."""
    return " ".join(word.upper() if word in INITIALS else word for word in name.split("_"))


def markdown(rows: pl.DataFrame) -> str:
    """A table in Markdown; bars in cells are escaped."""
    numeric = [kind.is_numeric() for kind in rows.dtypes]
    head = f"| {' | '.join(map(heading, rows.columns))} |\n|{''.join('---:|' if n else '---|' for n in numeric)}\n"
    cells = (
        [cell(value, name).replace("|", "\\|") for name, value in row.items()] for row in rows.iter_rows(named=True)
    )
    return head + "\n".join(f"| {' | '.join(row)} |" for row in cells)


def show(rows: pl.DataFrame, title: str) -> None:
    """Print a table on standard output, one line for each row, whatever its width."""
    table = Table(box=None, header_style="bold")
    for name, kind in rows.schema.items():
        table.add_column(heading(name), justify="right" if kind.is_numeric() else "left", no_wrap=True)
    for row in rows.iter_rows(named=True):
        table.add_row(*(cell(value, name) for name, value in row.items()))
    console = Console(width=WIDE, markup=False, highlight=False, emoji=False)
    console.print(f"\n{title}", style="bold")
    console.print(table if rows.height else "none")
