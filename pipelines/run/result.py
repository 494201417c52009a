"""The result of a step of a synchronization, with the numbers and tables that are shown to people.

Belongs here: numbers, tables and texts by name, independent of the library that shows them. Does not: making them
(steps), showing them in Dagster (assets).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from pipelines.storage.lake import Lake

SAMPLE_ROWS = 12


class Markdown(str):
    """Text that is shown as Markdown."""

    __slots__ = ()

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Markdown":
        """All rows as a table."""
        head = f"| {' | '.join(rows.columns)} |\n|{'---|' * rows.width}\n"
        return cls(head + "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows.iter_rows()))


class Link(str):
    """A web address that is shown as a link."""

    __slots__ = ()


Shown = int | float | str | Path | pl.DataFrame
"""An entry that is shown for a step: a number, a text, Markdown, a link, a file, or rows."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step.

    Attributes:
        shown: the entries to show, by name; whole numbers are counts.
        version: a digest that differs if the rows may differ from another run; empty if it is not known.
        tables: for a new build, the number of rows of each published table, and a digest of them.
    """

    shown: Mapping[str, Shown]
    version: str = ""
    tables: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The whole numbers among the shown entries."""
        return {name: value for name, value in self.shown.items() if isinstance(value, int)}


def shown_rows(rows: pl.DataFrame, **more: Shown) -> dict[str, Shown]:
    """The entries to show for rows: their number, the number of companies, further entries, and a few of the rows."""
    companies = {"companies": rows["cik"].n_unique()} if "cik" in rows.columns else {}
    return {"row_count": rows.height, **companies, **more, "sample": rows.head(SAMPLE_ROWS)}


def shown_table(lake: Lake, name: str, *, hidden: Sequence[str] = (), **more: Shown) -> dict[str, Shown]:
    """The entries to show for a table of the lake; only a few rows are read. `hidden` columns are not shown."""
    head = lake.head(name, SAMPLE_ROWS, hidden)
    companies = {"companies": lake.companies(name)} if "cik" in head.columns else {}
    return shown_rows(head, **more) | {"row_count": lake.height(name), **companies}
