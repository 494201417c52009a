"""The geometry of the plots: positions of bars, ticks and labels in the units of the drawing.

Belongs here: computing positions from numbers. Does not: the plotted numbers (figures), colours and markup (page.html).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

WIDTH, HEIGHT = 760.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 4.0, 10.0, 26.0
FILLED = 0.72
"""The width of a column as a share of its slot."""

STEPS = (1, 2, 5)
TICKS = 5


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle of a series, with its text."""

    x: float
    y: float
    width: float
    height: float
    series: int
    says: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick or a label: its position on the axis, and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Columns:
    """A plot of stacked columns; `series` are the names in the order of their numbers."""

    bars: tuple[Bar, ...]
    ticks: tuple[Mark, ...]
    labels: tuple[Mark, ...]
    series: tuple[str, ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    base: float = HEIGHT - BOTTOM


def stacked_columns(rows: pl.DataFrame, series: Sequence[str]) -> Columns:
    """Stacked columns, one for each year, years without data included.

    Args:
        rows: `year`, `cause` (one of the series), `versions` (a count).
        series: from the bottom up.
    """
    counts = {(year, cause): count for year, cause, count in rows.select("year", "cause", "versions").iter_rows()}
    years = range(min((year for year, _ in counts), default=0), max((year for year, _ in counts), default=-1) + 1)
    totals = [sum(counts.get((year, name), 0) for name in series) for year in years]
    step = _step(max(totals, default=0))
    most = max(step, -(-max(totals, default=0) // step) * step)
    scale = (HEIGHT - TOP - BOTTOM) / most
    slot = (WIDTH - LEFT - RIGHT) / max(1, len(years))
    bars = []
    for place, year in enumerate(years):
        top = HEIGHT - BOTTOM
        for number, name in enumerate(series):
            count = counts.get((year, name), 0)
            top -= count * scale
            if count:
                x = LEFT + slot * (place + (1 - FILLED) / 2)
                bars.append(Bar(x, top, slot * FILLED, count * scale, number, f"{year}, {name}: {count:,}"))
    return Columns(
        bars=tuple(bars),
        ticks=tuple(Mark(HEIGHT - BOTTOM - n * scale, f"{n:,}") for n in range(0, most + 1, step)),
        labels=tuple(Mark(LEFT + slot * (place + 0.5), str(year)) for place, year in enumerate(years)),
        series=tuple(series),
    )


def _step(most: int) -> int:
    """The distance between ticks: a round number, so that at most TICKS of them are above zero."""
    power = 1
    while True:
        for step in STEPS:
            if step * power * TICKS >= most:
                return step * power
        power *= 10


def against(failing: float, threshold: float) -> float:
    """The position of a failing share on a scale from 0 to 1 with the threshold in the middle."""
    if failing <= 0:
        return 0.0
    return 1.0 if threshold <= 0 else min(1.0, failing / threshold / 2)
