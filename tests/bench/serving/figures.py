"""The figures of the service, with the limit and the aim of each.

Belongs here: the limits, and the printed table. Does not: measuring (__main__).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

WIDTH = 110  # of the table, also where the output is no terminal


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its meaning, its limit, and the aim; `is_cost` if smaller is better."""

    meaning: str
    must: float
    aim: float
    is_cost: bool = False
    form: str = ".2f"

    def keeps(self, values: Sequence[float], limit: float) -> bool:
        """Whether the median of the values keeps to a limit."""
        median = statistics.median(values)
        return median <= limit if self.is_cost else median >= limit

    def limit(self, value: float) -> str:
        """A limit as text."""
        return f"{'≤' if self.is_cost else '≥'} {value:,g}"


FIGURES: Mapping[str, Figure] = {
    "financials": Figure("financials, 20 periods, warm ÷ framework", 0.6, 0.9),
    "different": Figure("no question asked twice ÷ framework", 0.3, 0.6),
    "unchanged": Figure("304 ÷ framework", 0.9, 1.2),
    "revisions": Figure("revisions ÷ framework", 0.4, 0.7),
    "companies": Figure("company list and search ÷ framework", 0.4, 0.7),
    "valuations": Figure("valuation ÷ framework", 0.4, 0.7),
    "p99": Figure("p99 of financials ÷ framework", 3, 2, is_cost=True),
    "ordinary": Figure("financials ÷ FastAPI with SQLite", 6, 12, form=".1f"),
    "two workers": Figure("two workers with Redis ÷ framework with two", 0.4, 0.7),
    "four workers": Figure("four workers with Redis ÷ framework with four", 0.4, 0.7),
    "memory": Figure("memory of one worker, MB", 600, 450, is_cost=True, form=",.0f"),
    "new build": Figure("p99 while a build is published ÷ before", 4, 2, is_cost=True),
    "updates": Figure("p99 with an update each minute ÷ before", 2, 2, is_cost=True),
    "updates: memory": Figure("memory after these updates ÷ before", 1.2, 1.1, is_cost=True),
    "updates: disk": Figure("MB of builds on the disk that these updates add", 1500, 1000, is_cost=True, form=",.0f"),
    "errors": Figure("errors while a build is published", 0, 0, is_cost=True, form=",.0f"),
}


def table(measured: Mapping[str, Sequence[float]], names: Iterable[str] = FIGURES) -> Table:
    """Median and range of each figure, with its limits; a figure without values was not measured."""
    made = Table(title="the service ÷ the bare framework", title_justify="left")
    made.add_column("", no_wrap=True)
    for heading in ("median", "range", "must", "aim", ""):
        made.add_column(heading, justify="right", no_wrap=True)
    for name in names:
        made.add_row(FIGURES[name].meaning, *_row(FIGURES[name], measured.get(name, [])))
    return made


def _row(figure: Figure, values: Sequence[float]) -> tuple[str, ...]:
    limits = figure.limit(figure.must), figure.limit(figure.aim)
    if not values:
        return "", "", *limits, "not measured"
    said = "aim" if figure.keeps(values, figure.aim) else "held" if figure.keeps(values, figure.must) else "not held"
    spread = f"{min(values):{figure.form}} to {max(values):{figure.form}}" if len(values) > 1 else ""
    return f"{statistics.median(values):{figure.form}}", spread, *limits, said


def show(measured: Mapping[str, Sequence[float]], names: Iterable[str] = FIGURES) -> None:
    """Print the table of some figures."""
    Console(width=WIDTH).print(table(measured, names))
