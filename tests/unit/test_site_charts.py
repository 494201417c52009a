"""Charts: scales, marks, breaks, tooltips and links."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.site.text import charts, figures
from serve.site.text.charts import Point
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS

numbers = st.floats(-1e15, 1e15, allow_nan=False)
positive = st.floats(1e-3, 1e15)


def points(*values: float | None) -> list[Point]:
    """One value per period."""
    return [Point(value, str(2000 + place)) for place, value in enumerate(values)]


def drawn(some: list[Point], *, as_bars: bool = False, as_log: bool = False) -> ElementTree.Element:
    """The chart parsed as XML."""
    return ElementTree.fromstring(charts.chart(some, str, as_bars=as_bars, as_log=as_log))


def marks(svg: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    """The elements of a class."""
    return [element for element in svg.iter() if element.get("class") == kind]


def heights(svg: ElementTree.Element) -> list[float]:
    """The distance of each value from the top."""
    return [float(point.get("data-y")) for point in marks(svg, "point") if point.get("data-y")]


@given(low=numbers, high=numbers)
def test_ticks_enclose_all_values(low, high):
    """They are few and equally spaced, the first and last enclose the values, and zero is among them."""
    low, high = min(low, high, 0.0), max(low, high, 0.0)

    ticks = charts.ticks(low, high)

    assert 2 <= len(ticks) <= charts.TICKS + 3
    slack = max(charts.SMALLEST, 1e-6 * max(abs(low), abs(high)))
    assert ticks[0] - slack <= low <= high <= ticks[-1] + slack
    assert 0.0 in ticks


@given(low=positive, ratio=st.floats(charts.LOG_RANGE, 1e12))
def test_powers_enclose_all_values(low, ratio):
    """They are few, rise, and the first and last enclose the values."""
    powers = charts.powers(low, low * ratio)

    assert 2 <= len(powers) <= charts.TICKS + 2
    assert all(below < above for below, above in pairwise(powers))
    assert powers[0] * (1 - 1e-6) <= low <= low * ratio <= powers[-1] * (1 + 1e-6)


@given(st.lists(st.one_of(st.none(), numbers), min_size=1, max_size=16), st.booleans(), st.booleans())
def test_every_value_is_inside_the_drawing(values, as_bars, as_log):
    """For any values: losses, zeros, gaps, a single value; each period has a point, also one without a value."""
    made = charts.chart(points(*values), str, as_bars=as_bars, as_log=as_log)
    if not any(values):
        assert made == ""
        return
    svg = ElementTree.fromstring(made)
    assert len(marks(svg, "point")) == len(values)
    assert [bool(point.get("data-y")) for point in marks(svg, "point")] == [value is not None for value in values]
    for point in marks(svg, "point"):
        assert charts.LEFT <= float(point.get("data-x")) <= charts.WIDTH - charts.RIGHT
    assert all(charts.TOP - 1 <= height <= charts.HEIGHT - charts.BOTTOM + 1 for height in heights(svg))


def test_nothing_is_drawn_of_zeros():
    assert charts.chart(points(0.0, None, 0.0), str, as_bars=True) == ""


@pytest.mark.parametrize("as_bars", [True, False])
def test_an_outlier_does_not_flatten_the_others(as_bars):
    """It is cut, with a mark and its value; the largest of the others has nearly the whole height."""
    svg = drawn(points(10.0, 12.0, 900.0, 11.0, 9.0, -3.0), as_bars=as_bars)
    assert len(marks(svg, "cut")) == 1
    assert "900.0" in [label.text for label in marks(svg, "tick")]
    assert heights(svg)[2] == charts.TOP
    assert heights(svg)[1] < charts.HEIGHT / 3
    for others in ((1.0, 2.0, 4.0, 8.0, 16.0, 32.0), (1.0, 2.0, 90.0)):
        assert not marks(drawn(points(*others), as_bars=as_bars), "cut")


@pytest.mark.parametrize("as_bars", [True, False])
def test_a_period_without_a_value_has_its_reason(as_bars):
    some = [Point(5.0, "2020"), Point(None, "2021", "No value", "FY2021. Not stated."), Point(6.0, "2022")]
    svg = drawn(some, as_bars=as_bars)
    assert len(marks(svg, "gap")) == 1
    [titled] = [point for point in marks(svg, "point") if any(part.get("class") == "gap" for part in point)]
    assert titled[0].text == "No value FY2021. Not stated."


def test_a_larger_value_is_drawn_higher():
    """A loss is drawn below zero."""
    svg = drawn(points(10.0, 20.0, -5.0), as_bars=True)
    small, large, loss = heights(svg)
    [zero] = marks(svg, "zero")
    level = float(zero.get("d").split()[1].partition("H")[0])
    assert large < small < level < loss
    assert level - large == pytest.approx(2 * (level - small), abs=0.2)
    assert [len(marks(svg, kind)) for kind in ("bar", "line")] == [3, 0]


def test_on_a_logarithmic_scale_equal_ratios_are_equal_distances():
    """A line, because a bar would have no foot; with a loss among the values the scale stays linear."""
    svg = drawn(points(10.0, 100.0, 1000.0), as_bars=True, as_log=True)
    first, second, third = heights(svg)
    assert first - second == pytest.approx(second - third, abs=0.2)
    assert not marks(svg, "bar")
    assert marks(drawn(points(10.0, -100.0), as_bars=True, as_log=True), "bar")


def test_a_period_without_a_value_interrupts_the_line():
    """Periods without a value have no mark; a value between two of them has a dot."""
    svg = drawn([*points(1.0, 2.0, None, 4.0, None), *points(*range(12))])
    assert [len(line.get("d").split()) // 2 for line in marks(svg, "line")] == [2, 1, 12]
    assert len(marks(svg, "dot")) == 1


def test_a_break_is_a_line_with_its_reason():
    """Between the two periods; the line of the values is interrupted."""
    svg = drawn([*points(1.0, 2.0), Point(3.0, broken="another company"), *points(4.0)])
    [line] = marks(svg, "break")
    before, after = (float(point.get("data-x")) for point in marks(svg, "point")[1:3])
    assert before < float(line.get("d")[1:].split()[0]) < after
    assert "another company" in [text.text for text in marks(svg, "tick")]
    assert len(marks(svg, "line")) == 2


@pytest.mark.parametrize("as_bars", [True, False])
def test_a_restated_value_has_another_mark(as_bars):
    """Of another shape, not only another colour; on bars it is added, because their length stays."""
    svg = drawn([*points(4.0), Point(5.0, is_revised=True)], as_bars=as_bars)
    assert [len(marks(svg, kind)) for kind in ("restated", "bar")] == [1, 2 * as_bars]


def test_a_mark_says_its_value_and_links_to_its_page():
    """With the mouse only; keyboards use the table or the script, so that no mark takes the focus."""
    point = Point(5.0, says='5 <"&>', note="FY2001", address='/companies/A/revenue/FY2001?a=1&b="')
    svg = drawn([point], as_bars=True)
    [link] = marks(svg, "point")
    assert (link.get("href"), link.get("tabindex"), link[0].text) == (point.address, "-1", f"{point.says} {point.note}")
    assert (link.get("data-says"), link.get("data-note")) == (point.says, point.note)
    assert svg.get("aria-hidden") == "true"


def test_the_last_period_has_a_label():
    """At most a few periods before it have labels, evenly spaced."""
    labels = [text.text for text in marks(drawn(points(*range(20))), "tick") if text.get("text-anchor") == "middle"]
    assert labels == ["2019", "2015", "2011", "2007", "2003"]


@pytest.mark.parametrize(
    ("item", "value", "short"),
    [
        ("revenue", 5_120_000_000.0, "5.12B"),
        ("revenue", 999_600.0, "1M"),
        ("revenue", -50.5, "-50.5"),
        ("revenue", 0.0, "0"),
        ("shares_basic", 178_400_000.0, "178M"),
        ("net_income", 2.5e12, "2.5T"),
        ("eps_basic", 4.51, "4.51"),
        ("roic", 0.1834, "18.3%"),
        ("roic", 12.0, "1,200%"),
        ("debt_to_fcf", 7.5, "7.5"),
    ],
)
def test_a_short_number_has_three_digits(item, value, short):
    assert figures.short(item, value) == short


@pytest.mark.parametrize(
    ("item", "value", "shown"),
    [
        ("revenue", 5_120_400_000.0, "5,120"),
        ("revenue", 400_000.0, "0.4"),
        ("revenue", 0.0, "0"),
        ("eps_basic", 4.5, "4.50"),
        ("eps_basic", -0.0123, "-0.0123"),
        ("eps_basic", 31_504.2, "31,504"),
        ("roic", 0.1834, "18.3%"),
        ("roic", 12.0, "1,200%"),
        ("debt_to_fcf", 2.84, "2.8"),
    ],
)
def test_a_number_in_a_table_has_the_decimals_of_its_unit(item, value, shown):
    assert figures.in_units(item, value, 1e6 if item == "revenue" else 1.0) == shown


def test_every_item_has_a_title_and_a_unit_with_its_currency():
    assert tuple(figures.TITLES) == ITEM_NAMES
    for item in LINE_ITEMS:
        assert ("EUR" in figures.unit(item.name, "EUR")) == ("currency" in item.unit)
