"""Properties of the discounted cash flow model for any input."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipelines.valuation.history import (
    HIGHEST_GROWTH,
    LOWEST_GROWTH,
    OUTLIER,
    Year,
    base_of,
    comparable,
    growth_of,
)
from pipelines.valuation.model import PERPETUAL_GROWTH, REQUIRED_RETURN, fade, project
from tests.factories import month_ends

bases = st.floats(1e3, 1e12)
rates = st.floats(LOWEST_GROWTH, HIGHEST_GROWTH)
returns = st.floats(0.05, 0.2)
amounts = st.floats(-1e9, 1e9)
revenues = st.floats(1e6, 1e10)


@given(base=bases, more=st.floats(1.01, 10), rate=rates)
def test_the_value_rises_with_the_base(base, more, rate):
    assert project(base * more, fade(rate)).equity_value > project(base, fade(rate)).equity_value


@given(base=bases, one=rates, other=rates)
def test_the_value_rises_with_growth(base, one, other):
    low, high = sorted((one, other))
    values = [project(base, fade(rate)).equity_value for rate in (low, high)]

    assert values[0] <= values[1]
    assert high - low < 1e-6 or values[0] < values[1]


@given(base=bases, rate=rates, one=returns, other=returns)
def test_the_value_falls_with_the_required_return(base, rate, one, other):
    low, high = sorted((one, other))
    values = [project(base, fade(rate), required_return).equity_value for required_return in (low, high)]

    assert values[0] >= values[1]
    assert high - low < 1e-6 or values[0] > values[1]


@given(base=bases, rate=rates)
def test_the_value_is_in_proportion_to_the_base(base, rate):
    whole, of_one = project(base, fade(rate)).equity_value, project(1, fade(rate)).equity_value

    assert abs(whole / base / of_one - 1) < 1e-9


@given(base=st.integers(1000, 10**12), rate=rates)
def test_the_shown_amounts_add_up_to_the_value_exactly(base, rate):
    """Each amount can be computed from the amounts shown before it, and their sum is exactly the value."""
    found = project(base, fade(rate), decimals=0)

    before = base
    for year in found.years:
        assert year.free_cash_flow == round(before * (1 + year.growth))
        assert year.present_value == round(year.free_cash_flow * year.discount_factor)
        before = year.free_cash_flow
    assert sum(year.present_value for year in found.years) == found.present_value_of_projection
    assert found.terminal_value == round(before * (1 + PERPETUAL_GROWTH) / (REQUIRED_RETURN - PERPETUAL_GROWTH))
    assert found.present_value_of_projection + found.present_value_of_terminal_value == found.equity_value


@given(base=st.integers(10**6, 10**12), rate=rates)
def test_rounding_moves_the_value_by_no_more_than_its_steps(base, rate):
    """Half a unit per year, grown and discounted: far below a cent per share."""
    assert abs(project(base, fade(rate), decimals=0).equity_value - project(base, fade(rate)).equity_value) < 60


ENDS = month_ends(2012, 40)[3::4]
histories = st.lists(st.tuples(amounts, revenues), min_size=5, max_size=10).map(
    lambda rows: [
        Year(end, flow, revenue) for end, (flow, revenue) in zip(ENDS[len(ENDS) - len(rows) :], rows, strict=True)
    ]
)


@given(years=histories, flow=st.floats(1, 1e9), revenue=revenues)
def test_the_base_is_as_reported_or_marked_as_normalized(years, flow, revenue):
    base = base_of(Year(ENDS[-1], flow, revenue), years)

    assert base.free_cash_flow > 0
    if base.is_normalized:
        assert base.method.startswith("Normalized to ")
        assert abs(flow - base.free_cash_flow) > OUTLIER * base.free_cash_flow
    else:
        assert base.free_cash_flow == flow


@given(years=histories, flow=amounts, revenue=revenues)
def test_initial_growth_stays_within_its_bounds(years, flow, revenue):
    found = growth_of(Year(ENDS[-1], flow, revenue), years)

    assert found is None or LOWEST_GROWTH <= found.rate <= HIGHEST_GROWTH


@given(years=histories, restated=st.lists(st.sampled_from([0.5, 0.9, 1.0, 1.1]), min_size=10, max_size=10))
def test_comparable_years_are_the_last_ones(years, restated):
    """At least one year, and no year before a break."""
    told = [
        Year(year.end, year.free_cash_flow, year.revenue, "us-gaap", factor)
        for year, factor in zip(years, restated, strict=False)
    ]
    kept, has_break = comparable(told)

    assert told[len(told) - len(kept) :] == kept
    assert kept
    assert not any(year.breaks_with(before) for before, year in pairwise(kept))
    assert has_break == (len(kept) < len(told))
