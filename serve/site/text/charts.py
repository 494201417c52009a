"""Small SVG charts of one item: a line over the quarters, or a bar for each fiscal year.

Belongs here: scales, marks and labels. Does not: colours (static/company.css), the crosshair (static/charts.js), the
choice of values and their text (company_page).

A chart shows only values of the table. It is hidden from screen readers until the script makes it a slider that reads
each value; without the script, each mark has a tooltip, and links to the page of its value.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup, escape

from serve.site.text.figures import typeset

WIDTH, HEIGHT = 360, 180
LEFT, RIGHT, TOP, BOTTOM = 48, 8, 14, 22
WIDEST_BAR, PART_OF_SLOT = 26.0, 0.62
TICKS = 4
LABELS = 6  # largest number of labels below the chart
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
PARTS = ((1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
MARK = 3.5
FEW = 12  # longest line whose points are all marked
LEAST = 0.8  # height of the bar of a value near zero
SMALLEST = 1e-9  # values with a smaller difference are drawn as equal
OUTLIER = 4.0
"""A value more than this many times as large as all others is off the scale, so that the others differ visibly."""
FEWEST = 5  # fewest values from which one may be left out
LOG_RANGE = 1.01  # least ratio of the largest to the smallest value for a logarithmic scale

Shown = Callable[[float], str]
Place = tuple[float, float | None]
"""The position of a period: distance from the left edge, and its value's distance from the top edge, if it has one."""


class Point(NamedTuple):
    """A period of an item; each text is one line.

    value: None if it is missing.
    label: the label below the chart; empty if it has no label.
    says: the value in words, which the crosshair shows; `note` adds unit, period, restatement and reason.
    address: the page of the value.
    broken: the break before this period, in a few words; empty if there is none.
    """

    value: float | None
    label: str = ""
    says: str = ""
    note: str = ""
    address: str = ""
    is_revised: bool = False
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of a chart: converts places and values to coordinates."""

    places: int
    low: float
    high: float
    is_log: bool = False

    @property
    def slot(self) -> float:
        """The width of a period."""
        return (WIDTH - LEFT - RIGHT) / self.places

    def x(self, place: float) -> float:
        """Distance of the middle of a period from the left edge."""
        return LEFT + (place + 0.5) * self.slot

    def y(self, value: float) -> float:
        """Distance of a value from the top edge."""
        low, high = self.low, self.high
        at = min(max(value, low), high)  # a value off the scale is drawn at the end of the scale
        if self.is_log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        return TOP + (high - at) / (high - low) * (HEIGHT - TOP - BOTTOM)

    @property
    def base(self) -> float:
        """Distance of zero, or of the lowest value of a logarithmic scale, from the top edge."""
        return self.y(self.low if self.is_log else 0.0)


def chart(points: Sequence[Point], shown: Shown, *, as_bars: bool, as_log: bool = False) -> Markup:
    """A chart of one item; empty if no period has a value, or if all values are zero.

    Args:
        points: all periods of the chart, oldest first; one without a value is a gap.
        shown: formats a value as a label of the scale.
        as_bars: bars instead of a line; a logarithmic scale always has a line, because it has no zero for bars.
        as_log: a logarithmic scale, if the values allow it (see fits_log).
    """
    values = [point.value for point in points if point.value is not None]
    if not any(values):
        return Markup("")
    with_log = as_log and fits_log(values)
    steps = powers(min(values), max(values)) if with_log else ticks(*scale_range(values))
    scale = Scale(len(points), steps[0], steps[-1], with_log)
    at = [(scale.x(place), None if each.value is None else scale.y(each.value)) for place, each in enumerate(points)]
    lines, marks = (_bars if as_bars and not with_log else _curve)(scale, points, at)
    parts = [
        *(_rule(scale, value, shown) for value in steps),
        *_labels(scale, points),
        *_breaks(scale, points),
        *lines,
        *_linked(points, at, marks),
        *_cuts(scale, points, shown),
    ]
    box = f"0 0 {WIDTH} {HEIGHT}"
    return Markup(f'<svg class="plot" viewBox="{box}" aria-hidden="true" focusable="false">{"".join(parts)}</svg>')


def fits_log(values: Sequence[float]) -> bool:
    """Whether the values can be on a logarithmic scale: all are positive, and they differ."""
    return min(values) > 0 and max(values) / min(values) >= LOG_RANGE


def scale_range(values: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest value of a scale with zero, without a few outliers that would flatten the others."""
    sizes = sorted(map(abs, values))
    for left_out in range(1, len(sizes) // FEWEST + 1):
        largest, next_one = sizes[-left_out], sizes[-left_out - 1]
        if next_one > 0 and largest > OUTLIER * next_one:
            values = [value for value in values if abs(value) < largest]
            break
    return min(0.0, *values), max(0.0, *values)


def ticks(low: float, high: float) -> list[float]:
    """Round, equally spaced values from at most `low` to at least `high`."""
    span = high - low if high - low > SMALLEST else 1.0
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = power * next(nice for nice in NICE if nice * power * TICKS >= span * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def powers(low: float, high: float) -> list[float]:
    """Round values of a logarithmic scale from at most `low` to at least `high`, as many as fit."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    for parts in PARTS:
        held = [part * 10.0**power for power in range(first, last + 1) for part in parts]
        below = max(place for place, value in enumerate(held) if value <= low * (1 + 1e-9))
        above = min(place for place, value in enumerate(held) if value >= high * (1 - 1e-9))
        if 0 < above - below <= TICKS + 1:
            return held[below : above + 1]
    step = math.ceil((last - first) / TICKS)
    return [10.0**power for power in range(first, last + step, step)]


# Texts are escaped where they are written: Markup.format would take half of the time of a page.


def _rule(scale: Scale, value: float, shown: Shown) -> str:
    y = scale.y(value)
    line = f'<path class="{"zero" if value == 0 else "axis"}" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
    return f"{line}{_text(LEFT - 6, y + 4, shown(value), 'end')}"


def _labels(scale: Scale, points: Sequence[Point]) -> Iterator[str]:
    """The labels below the chart: the last one, and as many before it as fit."""
    places = [place for place, point in enumerate(points) if point.label]
    for place in places[:: -max(1, math.ceil(len(places) / LABELS))]:
        yield _text(min(scale.x(place), WIDTH - RIGHT - 12), HEIGHT - 6, points[place].label, "middle")


def _breaks(scale: Scale, points: Sequence[Point]) -> Iterator[str]:
    """A line before each period that follows a break; a repeated reason is written only once."""
    labelled = set[str]()
    for place, point in enumerate(points):
        if point.broken:
            x, is_right = scale.x(place - 0.5), place > len(points) / 2
            yield f'<path class="break" d="M{x:.1f} 2V{HEIGHT - BOTTOM}"/>'
            if point.broken not in labelled:
                yield _text(x - 4 if is_right else x + 4, 9, point.broken, "end" if is_right else "start")
            labelled.add(point.broken)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(typeset(text))}</text>'


def _bars(scale: Scale, points: Sequence[Point], at: Sequence[Place]) -> tuple[list[str], list[str]]:
    """No line, and a bar for each value."""
    wide, base, marks = min(WIDEST_BAR, PART_OF_SLOT * scale.slot), scale.base, []
    for point, (x, y) in zip(points, at, strict=True):
        mark = _gap(x, base)
        if y is not None:
            top = y if abs(base - y) >= LEAST else base - LEAST
            mark = f'<path class="bar" d="M{x - wide / 2:.1f} {base:.1f}h{wide:.1f}V{top:.1f}h-{wide:.1f}z"/>'
            mark += _diamond(x, y) if point.is_revised else ""
        marks.append(mark)
    return [], marks


def _curve(scale: Scale, points: Sequence[Point], at: Sequence[Place]) -> tuple[list[str], list[str]]:
    """A line through the points, with a tint down to zero, interrupted at periods without a value and at breaks.

    Also the mark of each point; most points of a long line have no mark.
    """
    base, lines, marks, runs = scale.base, [], [], [list[tuple[float, float]]()]
    for point, (x, y) in zip(points, at, strict=True):
        if y is None or point.broken:
            runs.append([])
        if y is not None:
            runs[-1].append((x, y))
    for run in filter(None, runs):
        path = " ".join(f"{x:.1f} {y:.1f}" for x, y in run)
        if not scale.is_log:
            lines.append(f'<path class="area" d="M{run[0][0]:.1f} {base:.1f}L{path}V{base:.1f}z"/>')
        lines.append(f'<path class="line" d="M{path}"/>')
    are_marked = sum(map(len, runs)) <= FEW
    alone = {run[0] for run in runs if len(run) == 1}
    for point, (x, y) in zip(points, at, strict=True):
        mark = ""
        if y is None:
            mark = _gap(x, base)
        elif point.is_revised:
            mark = _diamond(x, y)
        elif are_marked or (x, y) in alone:
            mark = f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>'
        marks.append(mark)
    return lines, marks


def _cuts(scale: Scale, points: Sequence[Point], shown: Shown) -> Iterator[str]:
    """Two strokes across each mark whose value is off the scale, and the value."""
    for place, point in enumerate(points):
        if point.value is not None and not scale.low <= point.value <= scale.high:
            x, is_above, is_right = scale.x(place), point.value > scale.high, place > len(points) / 2
            y = scale.y(point.value) + (8 if is_above else -8)
            stroke = f"M{x - 9:.1f} {y:.1f}l18 -6m0 5l-18 6"
            yield f'<path class="cut" d="{stroke}"/>'
            yield _text(x - 12 if is_right else x + 12, y + 4, shown(point.value), "end" if is_right else "start")


def _gap(x: float, base: float) -> str:
    """A mark on the zero line for a period without a value; its tooltip has the reason."""
    return f'<circle class="gap" cx="{x:.1f}" cy="{base:.1f}" r="2.4"/>'


def _diamond(x: float, y: float) -> str:
    return f'<path class="restated" d="M{x:.1f} {y - MARK:.1f}l{MARK} {MARK}l-{MARK} {MARK}l-{MARK} -{MARK}z"/>'


def _linked(points: Sequence[Point], at: Sequence[Place], marks: Sequence[str]) -> Iterator[str]:
    """Each mark with its value as a tooltip, linked to the page of the value; the script reads its coordinates."""
    # all texts at once: escaping them one by one takes half of the time of a chart
    says, notes, addresses = (
        str(escape(texts)).split("\n")
        for texts in (
            typeset("\n".join(point.says for point in points)),
            typeset("\n".join(point.note for point in points)),
            "\n".join(point.address for point in points),
        )
    )
    for (x, y), mark, value, note, address in zip(at, marks, says, notes, addresses, strict=True):
        tooltip = f"<title>{value} {note}</title>" if mark else ""
        target = f' href="{address}" tabindex="-1"' if address else ""
        where = f'data-x="{x:.1f}" data-y="{"" if y is None else f"{y:.1f}"}"'
        yield f'<a class="point"{target} {where} data-says="{value}" data-note="{note}">{tooltip}{mark}</a>'
