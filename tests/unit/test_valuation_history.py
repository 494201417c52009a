"""The base and the initial growth of a projection, from given years."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from pipelines.valuation.history import Year, base_of, comparable, growth_of


def years(*flows: float | None, revenue: float = 1000.0, growth: float = 0.0, first: int = 2015) -> list[Year]:
    """Fiscal years with these free cash flows; revenue grows."""
    return [
        Year(date(first + number, 12, 31), flow, revenue * (1 + growth) ** number) for number, flow in enumerate(flows)
    ]


def trailing(flow: float, revenue: float | None = 1000.0, end: date = date(2019, 12, 31)) -> Year:
    return Year(end, flow, revenue)


def test_the_base_is_the_last_twelve_months_as_reported():
    base = base_of(trailing(120), years(90, 100, 110, 100, 120))

    as_reported = (120, False, "Trailing twelve months, as reported.")
    assert (base.free_cash_flow, base.is_normalized, base.method) == as_reported


@pytest.mark.parametrize(("flow", "off"), [(160, "60% above"), (40, "60% below")])
def test_an_outlier_is_replaced_by_the_usual_share_of_revenue_and_marked(flow, off):
    base = base_of(trailing(flow, revenue=1000), years(90, 100, 110, 100, 100))

    method = f"Normalized to 10.0% of revenue, the median of 3 fiscal years: the last twelve months are {off} that."
    assert (base.free_cash_flow, base.is_normalized, base.method) == (100, True, method)


STEADY = years(100, 100, 100, 100, 100)


@pytest.mark.parametrize(
    ("last", "history", "is_normalized"),
    [
        (trailing(150), STEADY, False),
        (trailing(151), STEADY, True),
        # free cash flow of twice the earlier years, with twice the revenue, is the usual share
        (trailing(400, revenue=4000), STEADY, False),
        # a steady rise is compared with three years, and a trough with five
        (trailing(200), years(20, 60, 120, 150, 180), False),  # the median of five is 120
        (trailing(200), years(200, 210, 70, 60, 150), False),  # the median of three is 70
    ],
)
def test_more_than_half_above_the_usual_is_an_outlier(last, history, is_normalized):
    assert base_of(last, history).is_normalized is is_normalized


def test_without_revenue_the_usual_is_the_median_amount():
    base = base_of(trailing(300, revenue=None), years(90, 100, 110, 100, 100))

    assert base.free_cash_flow == 100
    assert base.method.startswith("Normalized to the median of 3 fiscal years: ")


def test_losses_do_not_count_as_usual():
    assert base_of(trailing(50), years(-90, -100, -110, 10, -100)).free_cash_flow == 50


def test_growth_is_the_median_of_the_historical_rates():
    """Revenue grew 8 % per year throughout, free cash flow twice as fast."""
    flows = [10 * 1.16**number for number in range(13)]
    history = years(*flows, growth=0.08, first=2008)
    growth = growth_of(Year(date(2020, 12, 31), flows[-1], 1000 * 1.08**12), history)

    assert growth is not None
    assert growth.rate == 0.08
    assert growth.method == (
        "Lower median of 16.00% (trend of free cash flow over 6 fiscal years), 8.00% (revenue over 5.0 years), "
        "8.00% (revenue over 10.0 years), 8.00% (revenue over 12.0 years), kept within -5% and 15%; "
        "fades in equal steps to the perpetual growth."
    )


@pytest.mark.parametrize(
    ("flows", "growth", "rate", "has_trend"),
    [
        # growth stays within bounds, and is rounded
        *(
            ([100 * (1 + growth) ** number for number in range(6)], growth, kept, True)
            for growth, kept in ((0.4, 0.15), (-0.3, -0.05), (0.12302, 0.123))
        ),
        ([100, -5, 100, 110, 120, 130], 0.03, 0.03, False),  # no rate is fitted through a loss
        # of two rates the lower: the recovery from a poor year is not growth that continues for ten years
        ([10, 30, 60, 100, 120, 130], 0.03, 0.03, True),
    ],
)
def test_growth_is_bounded_and_prudent(flows, growth, rate, has_trend):
    found = growth_of(Year(date(2020, 12, 31), flows[-1], 1000 * (1 + growth) ** 5), years(*flows, growth=growth))

    assert found is not None
    assert (found.rate, "trend" in found.method) == (rate, has_trend)


def test_a_history_without_revenue_and_with_losses_gives_no_growth():
    history = [Year(year.end, year.free_cash_flow, None) for year in years(100, -5, 100, 110, 120)]

    assert growth_of(trailing(120, revenue=None), history) is None
    assert growth_of(trailing(120), []) is None


def told(first: int, last: int, more: Callable[[int], dict[str, Any]]) -> list[Year]:
    """The fiscal years from one to another, and what else each of them has."""
    return [Year(date(year, 12, 31), 1, 1, **more(year)) for year in range(first, last + 1)]


COMPARABLE = {
    "years before a spin-off do not count: revenue of the last three years fell by 30 % after it was first filed": (
        told(2015, 2019, lambda year: {"restated": 0.7 if year > 2016 else 1.0}),
        2017,
        True,
    ),
    "years restated together with a later one are comparable": (
        told(2015, 2019, lambda year: {"restated": 0.7 if year < 2018 else 1.0}),
        2015,
        False,
    ),
    "years before a change of accounting standards do not count": (
        told(2015, 2019, lambda year: {"standard": "ifrs-full" if year < 2017 else "us-gaap"}),
        2017,
        True,
    ),
    "years before a missing year do not count, but are no break": (
        told(2015, 2016, lambda _: {}) + told(2018, 2020, lambda _: {}),
        2018,
        False,
    ),
}


@pytest.mark.parametrize(("history", "first", "has_break"), COMPARABLE.values(), ids=COMPARABLE)
def test_comparable_years(history, first, has_break):
    assert comparable(history) == ([year for year in history if year.end.year >= first], has_break)


def test_without_years_none_is_comparable():
    assert comparable([]) == ([], False)


def test_a_year_without_free_cash_flow_cannot_be_the_base():
    with pytest.raises(ValueError, match="2019-12-31 has no free cash flow"):
        base_of(Year(date(2019, 12, 31), None, 1000), years(1, 1, 1))
