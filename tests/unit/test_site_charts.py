"""Charts: scales, marks, tooltips and links."""

from datetime import date
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.site import charts, figures
from serve.site.charts import Point
from warehouse.schema import ITEM_NAMES, LINE_ITEMS

numbers = st.floats(-1e15, 1e15, allow_nan=False)


def points(*values: float | None) -> list[Point]:
    """One value per year."""
    return [Point(date(2000 + year, 12, 31), value) for year, value in enumerate(values)]


def drawn(line: list[Point], bars: list[Point]) -> ElementTree.Element:
    """The chart parsed as XML."""
    return ElementTree.fromstring(charts.chart(line, bars, str))


def marks(svg: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    """The elements of a class."""
    return [element for element in svg.iter() if element.get("class") == kind]


@given(low=numbers, high=numbers)
def test_ticks_enclose_all_values(low, high):
    """They are few and equally spaced, the first and last enclose the values, and zero is among them."""
    low, high = min(low, high, 0.0), max(low, high, 0.0)

    ticks = charts.ticks(low, high)

    assert 2 <= len(ticks) <= charts.TICKS + 3
    slack = max(charts.SMALLEST, 1e-6 * max(abs(low), abs(high)))
    assert ticks[0] <= low + slack
    assert ticks[-1] >= high - slack
    assert 0.0 in ticks


@given(st.lists(st.one_of(st.none(), numbers), min_size=1, max_size=12))
def test_every_mark_is_inside_the_drawing(values):
    """For any values: losses, zeros, gaps, a single value."""
    made = charts.chart(points(*values), points(*values), str)
    if all(value is None for value in values):
        assert made == ""
        return
    svg = ElementTree.fromstring(made)
    for dot in marks(svg, "dot"):
        assert charts.LEFT <= float(dot.get("cx")) <= charts.WIDTH
        assert charts.TOP - 1 <= float(dot.get("cy")) <= charts.HEIGHT - charts.BOTTOM + 1
    assert len(marks(svg, "dot")) == len(marks(svg, "bar")) == sum(value is not None for value in values)


def test_a_larger_value_is_drawn_higher():
    """And a loss is drawn below zero."""
    svg = drawn([], points(10.0, 20.0, -5.0))
    small, large, loss = marks(svg, "bar")
    [zero] = marks(svg, "zero")
    level = zero.get("d").split()[1]
    assert float(large.get("y")) < float(small.get("y"))
    assert float(large.get("height")) == pytest.approx(2 * float(small.get("height")), abs=0.2)
    assert loss.get("y") == level


def test_a_period_without_a_value_interrupts_the_line():
    """Periods without a value have no mark."""
    [line] = marks(drawn(points(1.0, 2.0, None, 4.0), []), "line")
    assert [part[0] for part in line.get("d").split() if part[0].isalpha()] == ["M", "L", "M"]


def test_a_restated_value_has_another_mark():
    """Of another shape, not only another colour; on bars it is added, because their length stays."""
    revised = Point(date(2001, 12, 31), 5.0, is_revised=True)
    svg = drawn([*points(4.0), revised], [revised])
    assert len(marks(svg, "restated")) == 2
    assert len(marks(svg, "dot")) == 1
    assert len(marks(svg, "bar")) == 1


def test_a_mark_shows_its_value_and_links_to_its_filing():
    """With the mouse only; keyboards use the table, so that no mark takes the focus."""
    point = Point(date(2001, 12, 31), 5.0, 'FY2001: 5 <"&>', 'https://example.org/?a=1&b="')
    svg = drawn([point], [])
    [link] = svg.iter("a")
    assert link.get("href") == point.address
    assert link.get("tabindex") == "-1"
    assert link[0].text == point.says
    assert svg.get("aria-hidden") == "true"


@pytest.mark.parametrize("kind", ["line", "bar", "restated"])
def test_a_legend_shows_the_marks_of_the_charts(kind):
    svg = ElementTree.fromstring(charts.sample(kind))
    assert marks(svg, kind)


@pytest.mark.parametrize(
    ("item", "value", "short"),
    [
        ("revenue", 5_120_000_000.0, "5.12 B"),
        ("revenue", 999_600.0, "1 M"),
        ("revenue", -50.5, "-50.5"),
        ("revenue", 0.0, "0"),
        ("shares_basic", 178_400_000.0, "178 M"),
        ("net_income", 2.5e12, "2.5 T"),
        ("eps_basic", 4.51, "4.51"),
        ("roic", 0.1834, "18.3 %"),
        ("roic", 12.0, "1,200 %"),
        ("debt_to_fcf", 7.5, "7.5"),
    ],
)
def test_a_short_number_has_three_digits(item, value, short):
    assert figures.short(item, value) == short


def test_a_whole_number_has_all_digits():
    """As in the interface: without a decimal point if there is no fraction."""
    assert figures.whole(5_120_000_000.0) == "5,120,000,000"
    assert figures.whole(1.2345) == "1.2345"


def test_every_item_has_a_title_and_a_unit_with_its_currency():
    assert tuple(figures.TITLES) == ITEM_NAMES
    for item in LINE_ITEMS:
        assert ("EUR" in figures.unit(item.name, "EUR")) == ("currency" in item.unit)
