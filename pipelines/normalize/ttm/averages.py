"""Averages: how the legs of twelve months compare with each other, day by day.

Belongs here: the spread of the legs, their sum without signs, and the part of a mean of shares that no filing states.
Does not: the legs (bases, quarters), what follows from it (items.earnings).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, largest, smallest
from pipelines.normalize.ttm.bases import IS_COUNT, Years
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.quarters import Quarter
from pipelines.normalize.ttm.ways import Way

HALF_A_UNIT = 0.5


def spreads(windows: Windows, by_years: Way, quarters: tuple[Quarter, ...]) -> tuple[Floats, Floats]:
    """The largest daily amount of a leg divided by the smallest, by years and by quarters; for shares, the change of
    their count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        years = [windows.of("amount", leg.row) / windows.of("days", leg.row) for leg in by_years.legs]
        discrete = [quarter.amount / quarter.days for quarter in quarters]
        of_years, of_quarters = (largest(*each) / smallest(*each) for each in (years, discrete))
        return np.where(np.isfinite(of_years), of_years, np.nan), np.where(
            np.isfinite(of_quarters), of_quarters, np.nan
        )


def gross(windows: Windows, by_years: Way, quarters: tuple[Quarter, ...], takes_quarters: Flags) -> Floats:
    """The sum of the legs without their signs, of the quarters or of the way by years."""
    of_years = np.sum([np.abs(windows.of("amount", leg.row)) for leg in by_years.legs[:3]], axis=0)
    of_quarters = np.sum([np.abs(quarter.amount) for quarter in quarters], axis=0)
    found: Floats = np.where(takes_quarters, of_quarters, of_years)
    return found


def beyond(windows: Windows, by_years: Way, years: Years, quarters: tuple[Quarter, ...]) -> tuple[Floats, Floats]:
    """How far the part of a mean of shares that no filing states lies above or below the averages beside it.

    By years this part is the fiscal year less the interim period that is subtracted; by quarters, each quarter that is
    the difference of two periods. Beside it are the quarters that filings state, from the one before it to the one
    after it, and both years to date.

    Returns:
        the excess (shares times days) as a share of the sum of the window, by years and by quarters; NaN if nothing
        can be compared.
    """
    found = np.full(len(windows.q), np.nan), np.full(len(windows.q), np.nan)
    rows = np.flatnonzero(IS_COUNT[windows.concept] & ~windows.is_year_end)
    if not len(rows):
        return found
    some, of = windows.at(rows), windows.of
    year, to_date, prior = (row[rows] for row in (years.year, years.to_date, years.prior))
    with np.errstate(invalid="ignore", divide="ignore"):

        def average(row: Ints) -> Floats:
            found: Floats = of("amount", row) / of("days", row)
            return found

        beside = [average(to_date), average(prior)]
        for back in range(QUARTERS_A_YEAR + 1):
            quarter = some.find(some.q - back, 1)
            counts = (some.q - back <= some.year_before + 1) & ~some.is_derived(quarter)
            beside.append(np.where(counts, average(quarter), np.nan))
        days = of("days", year) - of("days", prior)
        rest = of("amount", year) - of("amount", prior)
        rounding = HALF_A_UNIT * np.sum([of("grain", row) * of("days", row) for row in (year, prior)], axis=0)
        of_years = _excess(rest, days, beside, rounding) / by_years.amount[rows]
        is_rest = [(each.by_difference | each.by_three_quarters)[rows] for each in quarters]
        each_day = [(each.amount / each.days)[rows] for each in quarters]
        stated = [np.where(rest, np.nan, each) for rest, each in zip(is_rest, each_day, strict=True)]
        excess = [
            np.where(rest, _excess(each.amount[rows], each.days[rows], stated, 0.0), 0.0)
            for rest, each in zip(is_rest, quarters, strict=True)
        ]
        of_quarters = np.sum(excess, axis=0) / np.sum([each.amount[rows] for each in quarters], axis=0)
    found[0][rows], found[1][rows] = of_years, of_quarters
    return found


def _excess(amount: Floats, days: Floats, beside: list[Floats], rounding: Floats | float) -> Floats:
    """By how much an amount is more than its days times the largest average, or less than times the smallest."""
    over, under = amount - days * largest(*beside) - rounding, days * smallest(*beside) - rounding - amount
    found: Floats = np.where(days > 0, np.maximum(over, 0.0) - np.maximum(under, 0.0), np.nan)
    return found
