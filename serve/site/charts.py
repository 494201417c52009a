"""Small SVG charts: a line of trailing twelve months over bars of fiscal years.

Belongs here: scales, marks and labels. Does not: colours (static/style.css), the choice of values and the text about
them (companies).

A chart shows only values of the table below it. It is hidden from screen readers; with a mouse, each point links to its
filing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

WIDTH, HEIGHT = 360, 190
LEFT, RIGHT, TOP, BOTTOM = 50, 10, 12, 24
WIDEST_BAR = 16.0
PART_OF_YEAR = 0.5
TICKS = 4
YEARS = 5  # largest number of year labels below the chart
DAYS_A_YEAR = 365.25
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
MARK = 4.5
SMALLEST = 1e-9  # values that differ by less are drawn as equal

Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a period end (None if missing), with its tooltip `says` and the address of its filing."""

    end: date
    value: float | None
    says: str = ""
    address: str = ""
    is_revised: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of a chart: converts days and values to coordinates."""

    first: int
    last: int
    low: float
    high: float

    def x(self, day: date) -> float:
        """Distance of a day from the left edge."""
        span = max(1, self.last - self.first)
        return LEFT + (day.toordinal() - self.first) / span * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Distance of a value from the top edge."""
        return TOP + (self.high - value) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)

    @property
    def bar(self) -> float:
        """The width of a bar."""
        year = (WIDTH - LEFT - RIGHT) * DAYS_A_YEAR / max(1, self.last - self.first)
        return min(WIDEST_BAR, PART_OF_YEAR * year)


def chart(line: Sequence[Point], bars: Sequence[Point], shown: Shown) -> Markup:
    """A chart of one item; empty if no period has a value.

    Args:
        line: trailing twelve months by period end; a point without a value interrupts the line.
        bars: fiscal years.
        shown: formats a value as a label of the scale.
    """
    values = [point.value for point in (*line, *bars) if point.value is not None]
    if not values:
        return Markup("")
    steps = ticks(min(0.0, *values), max(0.0, *values))
    days = [point.end.toordinal() for point in (*line, *bars)]
    margin = round(DAYS_A_YEAR / 2)
    scale = Scale(min(days) - margin, max(days) + margin, steps[0], steps[-1])
    return Markup('<svg viewBox="0 0 {} {}" aria-hidden="true" focusable="false">{}</svg>').format(
        WIDTH,
        HEIGHT,
        Markup("").join(
            [
                *(_rule(scale, value, shown) for value in steps),
                *(_year(scale, year) for year in _years(scale)),
                *(_bar(scale, point) for point in bars if point.value is not None),
                _line(scale, line),
                *(_dot(scale, point) for point in line if point.value is not None),
            ]
        ),
    )


def ticks(low: float, high: float) -> list[float]:
    """Round, equally spaced values from at most `low` to at least `high`."""
    span = high - low if high - low > SMALLEST else 1.0
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = power * next(nice for nice in NICE if nice * power * TICKS >= span * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def sample(kind: str) -> Markup:
    """A single mark for the legend: `line`, `bar` or `restated`."""
    marks = {
        "line": Markup('<path class="line" d="M1 8 L19 8"/><circle class="dot" cx="10" cy="8" r="2.5"/>'),
        "bar": Markup('<rect class="bar" fill-opacity="0.3" x="6" y="2" width="8" height="12"/>'),
        "restated": _diamond(10, 8),
    }
    return Markup('<svg class="sample" viewBox="0 0 20 16" aria-hidden="true" focusable="false">{}</svg>').format(
        marks[kind]
    )


def _rule(scale: Scale, value: float, shown: Shown) -> Markup:
    y = scale.y(value)
    kind = "zero" if value == 0 else "axis"
    return Markup(
        '<path class="{}" d="M{} {:.1f} L{} {:.1f}"/><text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>'
    ).format(kind, LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y + 4, shown(value))


def _years(scale: Scale) -> list[int]:
    first, last = (date.fromordinal(day).year for day in (scale.first + 1, scale.last))
    step = math.ceil((last - first + 1) / YEARS)
    return [year for year in range(last, first - 1, -step) if date(year, 7, 1).toordinal() <= scale.last]


def _year(scale: Scale, year: int) -> Markup:
    """A year label at the end of the calendar year, which is the position of a calendar year's bar."""
    x = min(max(scale.x(date(year, 12, 31)), LEFT), WIDTH - RIGHT - 12)
    return Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(x, HEIGHT - 7, year)


def _line(scale: Scale, points: Sequence[Point]) -> Markup:
    """A path through the points, interrupted at periods without a value."""
    path, pen = [], "M"
    for point in points:
        if point.value is None:
            pen = "M"
        else:
            path.append(f"{pen}{scale.x(point.end):.1f} {scale.y(point.value):.1f}")
            pen = "L"
    return Markup('<path class="line" d="{}"/>').format(" ".join(path))


def _bar(scale: Scale, point: Point) -> Markup:
    x, y, zero = scale.x(point.end), scale.y(point.value or 0.0), scale.y(0.0)
    bar = Markup('<rect class="bar" fill-opacity="0.3" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        x - scale.bar / 2, min(y, zero), scale.bar, max(abs(zero - y), 0.5)
    )
    return _linked(point, bar + _diamond(x, y) if point.is_revised else bar)


def _dot(scale: Scale, point: Point) -> Markup:
    x, y = scale.x(point.end), scale.y(point.value or 0.0)
    if point.is_revised:
        return _linked(point, _diamond(x, y))
    return _linked(point, Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="1.8"/>').format(x, y))


def _diamond(x: float, y: float) -> Markup:
    return Markup('<path class="restated" d="M{:.1f} {:.1f} l{m} {m} l-{m} {m} l-{m} -{m} z"/>').format(
        x, y - MARK, m=MARK
    )


def _linked(point: Point, mark: Markup) -> Markup:
    """A mark with its value as a tooltip and a link to its filing."""
    tooltip = Markup("<title>{}</title>").format(point.says)
    if not point.address:
        return Markup("<g>{}{}</g>").format(tooltip, mark)
    return Markup('<a href="{}" tabindex="-1">{}{}</a>').format(point.address, tooltip, mark)
