"""What a step of a synchronization made, and what people see of it.

Belongs here: numbers, tables and texts by name, without any library that shows them. Does not: making them (steps),
how Dagster shows them (assets).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from pipelines.storage.lake import Lake

SAMPLE_ROWS = 12


class Markdown(str):
    """Text that people see as Markdown."""

    __slots__ = ()

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Markdown":
        """All rows as a table."""
        head = f"| {' | '.join(rows.columns)} |\n|{'---|' * rows.width}\n"
        return cls(head + "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows.iter_rows()))


class Link(str):
    """An address of the web that people open."""

    __slots__ = ()


Shown = int | float | str | Path | pl.DataFrame
"""What people see of a step: a number, a text, Markdown, a link, a file, or some rows."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step made.

    Attributes:
        shown: what people see, by name; whole numbers are counts.
        version: a digest that tells whether the rows may differ from those of another run; empty: it is not known.
        tables: for a new build the rows of each published table, and a digest of them.
    """

    shown: Mapping[str, Shown]
    version: str = ""
    tables: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The whole numbers among what people see."""
        return {name: value for name, value in self.shown.items() if isinstance(value, int)}


def shown_rows(rows: pl.DataFrame, **more: Shown) -> dict[str, Shown]:
    """What people see of rows: their number, the number of companies, further entries, and last a few of the rows."""
    companies = {"companies": rows["cik"].n_unique()} if "cik" in rows.columns else {}
    return {"row_count": rows.height, **companies, **more, "sample": rows.head(SAMPLE_ROWS)}


def shown_table(lake: Lake, name: str, *, hidden: Sequence[str] = (), **more: Shown) -> dict[str, Shown]:
    """The same for a table of the lake; only a few rows are read. `hidden` columns are not shown."""
    head = lake.head(name, SAMPLE_ROWS, hidden)
    companies = {"companies": lake.companies(name)} if "cik" in head.columns else {}
    return shown_rows(head, **more) | {"row_count": lake.height(name), **companies}
