"""The base and the initial growth of a projection, from given years."""

from datetime import date

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

    assert (base.free_cash_flow, base.is_normalized) == (120, False)
    assert base.method == "Trailing twelve months, as reported."


@pytest.mark.parametrize(("flow", "off"), [(160, "60% above"), (40, "60% below")])
def test_an_outlier_is_replaced_by_the_usual_share_of_revenue_and_marked(flow, off):
    base = base_of(trailing(flow, revenue=1000), years(90, 100, 110, 100, 100))

    assert (base.free_cash_flow, base.is_normalized) == (100, True)
    assert base.method == (
        f"Normalized to 10.0% of revenue, the median of 3 fiscal years: the last twelve months are {off} that."
    )


def test_half_more_than_usual_is_not_an_outlier():
    assert not base_of(trailing(150), years(100, 100, 100, 100, 100)).is_normalized
    assert base_of(trailing(151), years(100, 100, 100, 100, 100)).is_normalized


def test_growth_alone_is_not_an_outlier():
    """Free cash flow of twice the earlier years, with twice the revenue, is the usual share."""
    assert not base_of(trailing(400, revenue=4000), years(100, 100, 100, 100, 100)).is_normalized


def test_a_steady_rise_is_compared_with_three_years_and_a_trough_with_five():
    rising, trough = years(20, 60, 120, 150, 180), years(200, 210, 70, 60, 150)

    assert not base_of(trailing(200), rising).is_normalized  # the median of five is 120
    assert not base_of(trailing(200), trough).is_normalized  # the median of three is 70


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


@pytest.mark.parametrize(("growth", "kept"), [(0.4, 0.15), (-0.3, -0.05), (0.12302, 0.123)])
def test_growth_stays_within_bounds_and_is_rounded(growth, kept):
    history = years(*[100 * (1 + growth) ** number for number in range(6)], growth=growth)

    found = growth_of(Year(date(2020, 12, 31), 1.0, 1000 * (1 + growth) ** 5), history)

    assert found is not None
    assert found.rate == kept


def test_no_growth_rate_is_fitted_through_a_loss():
    history = years(100, -5, 100, 110, 120, 130, growth=0.03)

    found = growth_of(Year(date(2020, 12, 31), 130, 1000 * 1.03**5), history)

    assert found is not None
    assert (found.rate, "trend" in found.method) == (0.03, False)


def test_of_two_rates_the_lower_is_used():
    """The recovery from a poor year is not growth that continues for ten years."""
    history = years(10, 30, 60, 100, 120, 130, growth=0.03)

    found = growth_of(Year(date(2020, 12, 31), 130, 1000 * 1.03**5), history)

    assert found is not None
    assert found.rate == 0.03


def test_a_history_without_revenue_and_with_losses_gives_no_growth():
    history = [Year(year.end, year.free_cash_flow, None) for year in years(100, -5, 100, 110, 120)]

    assert growth_of(trailing(120, revenue=None), history) is None
    assert growth_of(trailing(120), []) is None


def test_years_before_a_spin_off_do_not_count_if_only_later_ones_were_restated():
    """Revenue of the last three years fell by 30 % after it was first filed, revenue of earlier years did not."""
    told = [Year(year.end, 1, 1, restated=0.7 if year.end.year > 2016 else 1.0) for year in years(1, 1, 1, 1, 1)]

    kept, has_break = comparable(told)

    assert ([year.end.year for year in kept], has_break) == ([2017, 2018, 2019], True)


def test_years_restated_together_with_a_later_one_are_comparable():
    told = [Year(year.end, 1, 1, restated=0.7 if year.end.year < 2018 else 1.0) for year in years(1, 1, 1, 1, 1)]

    assert comparable(told) == (told, False)


def test_years_before_a_change_of_accounting_standards_do_not_count():
    told = [Year(year.end, 1, 1, "ifrs-full" if year.end.year < 2017 else "us-gaap") for year in years(1, 1, 1, 1, 1)]

    kept, has_break = comparable(told)

    assert (len(kept), has_break) == (3, True)


def test_years_before_a_missing_year_do_not_count_but_are_no_break():
    told = [year for year in years(1, 1, 1, 1, 1, 1) if year.end.year != 2017]

    kept, has_break = comparable(told)

    assert ([year.end.year for year in kept], has_break) == ([2018, 2019, 2020], False)
    assert comparable([]) == ([], False)


def test_a_year_without_free_cash_flow_cannot_be_the_base():
    with pytest.raises(ValueError, match="2019-12-31 has no free cash flow"):
        base_of(Year(date(2019, 12, 31), None, 1000), years(1, 1, 1))
