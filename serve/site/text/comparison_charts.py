"""Small SVG charts of several companies: a line for each, over fiscal years.

Belongs here: scales, lines and marks. Does not: colours (static/style.css), the choice of values (comparison).

A chart shows only values of the table below it. It is hidden from screen readers. Companies differ by colour, by the
shape of their marks and by the dashes of their line.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from markupsafe import Markup

from serve.site.text.charts import scale_range, ticks
from serve.site.text.figures import typeset

WIDTH, HEIGHT = 360, 190
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 14, 24
MARGIN = 120  # days before the first and after the last period
BEFORE = 182  # days before the first value after a break, where the break is drawn
BREAK = Markup('<path class="break" d="M{} {}V{}"/>')
CUT = Markup('<path class="cut" d="M{} {}m-6 8l12 -5m0 4l-12 5"/>')
"""Two strokes across the line to a value that is off the scale."""
RESTATED = "M{x} {y}m0 -5.4l5.4 5.4l-5.4 5.4l-5.4 -5.4z"
"""The diamond around the mark of a restated value."""
YEARS = 5  # largest number of year labels
SHAPES = (
    "M{x} {y}m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z",  # circle
    "M{x} {y}m-2.6 -2.6h5.2v5.2h-5.2z",  # square
    "M{x} {y}m0 -3.6l3.4 6h-6.8z",  # triangle
    "M{x} {y}m0 -3.7l3.7 3.7l-3.7 3.7l-3.7 -3.7z",  # diamond
    "M{x} {y}m-3.4 -2.4h6.8l-3.4 6z",  # triangle that points down
)
"""The mark of each company."""


class Point(NamedTuple):
    """A value at a period end, ISO 8601, with its tooltip; None for a year without a value.

    `broken` is the change before it, in words; empty if there was none.
    """

    end: str
    value: float | None
    says: str
    is_restated: bool = False
    broken: str = ""


def chart(
    lines: Mapping[int, Sequence[Point]], span: tuple[str, str], shown: Callable[[float], str], label: str = ""
) -> Markup:
    """A chart; empty if no company has a value, or if all values are zero.

    Args:
        lines: the points of each company, oldest first, by its place in the comparison; a point without a value
            interrupts the line.
        span: the first and the last period end of all charts of the page, so that they have the same years.
        shown: formats a value as a label of the scale.
        label: the subject of the chart, if there are several charts.
    """
    values = [point.value for points in lines.values() for point in points if point.value is not None]
    if not any(values):
        return Markup("")
    steps = ticks(*scale_range(values))
    first, last = _day(span[0]) - MARGIN, _day(span[1]) + MARGIN

    def x(day: int) -> str:
        return f"{LEFT + (day - first) / (last - first) * (WIDTH - LEFT - RIGHT):.1f}"

    def y(value: float) -> str:
        value = min(max(value, steps[0]), steps[-1])
        return f"{TOP + (steps[-1] - value) / (steps[-1] - steps[0]) * (HEIGHT - TOP - BOTTOM):.1f}"

    drawn = [
        *(_rule(y(value), shown(value), is_zero=value == 0) for value in steps),
        *(_year(x(date(year, 12, 31).toordinal()), year) for year in _years(first, last)),
        *(_line(place, points, x, y) for place, points in lines.items()),
        *(
            CUT.format(x(_day(point.end)), y(point.value))
            for points in lines.values()
            for point in points
            if point.value is not None and not steps[0] <= point.value <= steps[-1]
        ),
    ]
    if label:
        drawn.append(Markup('<text class="value" x="{}" y="9">{}</text>').format(LEFT, label))
    return Markup('<svg viewBox="0 0 {} {}" aria-hidden="true" focusable="false">{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(drawn)
    )


def sample(place: int) -> Markup:
    """The line and mark of a company, for the legend."""
    return Markup(
        '<svg viewBox="0 0 20 16" aria-hidden="true" focusable="false"><g class="series s{}">'
        '<path class="line" d="M0 8 L20 8"/><path class="mark" d="{}"/></g></svg>'
    ).format(place + 1, SHAPES[place].format(x=10, y=8))


def _line(place: int, points: Sequence[Point], x: Callable[[int], str], y: Callable[[float], str]) -> Markup:
    path, marks, pen = [], [], "M"
    for point in points:
        if point.value is None:
            pen = "M"
            continue
        if point.broken:
            pen = "M"
            marks.append(BREAK.format(x(_day(point.end) - BEFORE), TOP, HEIGHT - BOTTOM))
        where = {"x": x(_day(point.end)), "y": y(point.value)}
        path.append("{pen}{x} {y}".format(pen=pen, **where))
        marks.append(
            Markup('<path class="mark" d="{}"><title>{}</title></path>').format(
                SHAPES[place].format(**where), typeset(point.says)
            )
        )
        if point.is_restated:
            marks.append(Markup('<path class="restated" d="{}"/>').format(RESTATED.format(**where)))
        pen = "L"
    return Markup('<g class="series s{}"><path class="line" d="{}"/>{}</g>').format(
        place + 1, " ".join(path), Markup("").join(marks)
    )


def _rule(y: str, label: str, *, is_zero: bool) -> Markup:
    return Markup(
        '<path class="{}" d="M{} {} L{} {}"/><text class="tick" x="{}" y="{}" dy="4" text-anchor="end">{}</text>'
    ).format("zero" if is_zero else "axis", LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y, typeset(label))


def _year(x: str, year: int) -> Markup:
    return Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(x, HEIGHT - 7, year)


def _years(first: int, last: int) -> list[int]:
    """The calendar years that end within the chart, reduced to at most YEARS labels."""
    years = range(date.fromordinal(first).year, date.fromordinal(last).year + 1)
    within = [year for year in years if first <= date(year, 12, 31).toordinal() <= last]
    return within[:: -(-len(within) // YEARS) or 1]


def _day(end: str) -> int:
    return date.fromisoformat(end).toordinal()
