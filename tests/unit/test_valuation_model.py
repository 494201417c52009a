"""The arithmetic of the discounted cash flow model, compared with values computed by hand."""

import pytest

from pipelines.valuation.model import PERPETUAL_GROWTH, PROJECTION_YEARS, REQUIRED_RETURN, fade, project


@pytest.mark.parametrize(
    ("growth", "value"),
    [
        ([0.0] * 10, 1411.7057),
        ([0.025] * 10, 1708.3333),  # a growing perpetuity from the first year on: 102.5 / 0.06
        ([0.05] * 10, 2069.4364),
        ([0.15] * 10, 4453.144),
        (fade(0.12), 2532.559),
    ],
)
def test_the_value_of_a_free_cash_flow_of_a_hundred(growth, value):
    assert project(100, growth).equity_value == pytest.approx(value, abs=5e-5 if value < 2100 else 5e-4)


def test_the_parts_of_a_value():
    """No growth: an annuity of ten years, and 17.0833 times the last year at a factor of 0.442285."""
    flat = project(100, [0.0] * 10)

    assert flat.present_value_of_projection == pytest.approx(656.1348, abs=5e-5)
    assert flat.terminal_value == pytest.approx(1708.3333, abs=5e-5)
    assert flat.present_value_of_terminal_value == pytest.approx(755.5709, abs=5e-5)
    assert flat.terminal_share == pytest.approx(755.5709 / 1411.7057, abs=1e-6)


def test_growth_fades_in_equal_steps():
    assert [round(100 * rate, 2) for rate in fade(0.12)] == [
        12,
        10.94,
        9.89,
        8.83,
        7.78,
        6.72,
        5.67,
        4.61,
        3.56,
        2.5,
    ]
    falling = fade(-0.05)
    assert (falling[0], falling[-1], len(falling)) == (-0.05, PERPETUAL_GROWTH, PROJECTION_YEARS)


def test_a_year_is_discounted_from_its_end():
    first, last = project(100, [0.1] * 10).years[0], project(100, [0.1] * 10).years[-1]

    assert (first.free_cash_flow, first.discount_factor) == (pytest.approx(110), pytest.approx(1 / 1.085))
    assert last.discount_factor == pytest.approx(0.442285, abs=5e-7)


def test_growth_that_is_not_below_the_required_return_has_no_value():
    with pytest.raises(ValueError, match=r"required return of 0\.085 is no more than growth of 0\.09"):
        project(100, [0.0] * 10, REQUIRED_RETURN, 0.09)
