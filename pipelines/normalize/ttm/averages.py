"""Averages: how the legs of twelve months compare with each other, day by day.

Belongs here: the spread of the legs, their sum without signs, and the part of a mean of shares that no filing states.
Does not: the legs (bases, quarters), what follows from it (items.earnings).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats
from pipelines.normalize.ttm.bases import Years
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import AGO, IS_COUNT, Windows
from pipelines.normalize.ttm.quarters import Quarters
from pipelines.normalize.ttm.ways import Way

HALF_A_UNIT = 0.5


def spreads(windows: Windows, by_years: Way, quarters: Quarters) -> tuple[Floats, Floats]:
    """The largest daily amount of a leg divided by the smallest, by years and by quarters; for shares, the change of
    their count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        legs = windows.of("amount", by_years.rows) / windows.of("days", by_years.rows)
        of_years, of_quarters = (
            np.fmax.reduce(daily) / np.fmin.reduce(daily) for daily in (legs, quarters.amount / quarters.days)
        )
    return np.where(np.isfinite(of_years), of_years, np.nan), np.where(np.isfinite(of_quarters), of_quarters, np.nan)


def gross(windows: Windows, by_years: Way, quarters: Quarters, takes_quarters: Flags) -> Floats:
    """The sum of the legs without their signs, of the quarters or of the way by years."""
    of_years = abs(windows.of("amount", by_years.rows[:3])).sum(axis=0)
    found: Floats = np.where(takes_quarters, abs(quarters.amount).sum(axis=0), of_years)
    return found


def beyond(windows: Windows, by_years: Way, years: Years, quarters: Quarters) -> tuple[Floats, Floats]:
    """How far the part of a mean of shares that no filing states lies above or below the averages beside it.

    By years this part is the fiscal year less the interim period that is subtracted; by quarters, each quarter that is
    the difference of two periods. Beside it are the quarters that filings state, from the one before it to the one
    after it, and both years to date.

    Returns:
        the excess (shares times days) as a share of the sum of the window, by years and by quarters; NaN if nothing
        can be compared.
    """
    of_years, of_quarters = np.full((2, len(windows.q)), np.nan)
    rows = np.flatnonzero(IS_COUNT[windows.concept] & ~windows.is_year_end)
    some, of, legs = windows.at(rows), windows.of, by_years.rows[:3, rows]
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = some.q - AGO[: QUARTERS_A_YEAR + 1]
        stated = some.find(ends, 1)
        counts = (ends <= some.year_before + 1) & ~some.is_derived(stated)
        averages = of("amount", legs[1:]) / of("days", legs[1:])
        stated_averages = np.where(counts, of("amount", stated) / of("days", stated), np.nan)
        year, prior = legs[0], legs[2]
        days, rest = (of(name, year) - of(name, prior) for name in ("days", "amount"))
        rounding = HALF_A_UNIT * sum(of("grain", row) * of("days", row) for row in (year, prior))
        of_rest = _excess(rest, days, np.concatenate([averages, stated_averages]), rounding)
        of_years[rows] = of_rest / by_years.amount[rows]
        amount, days = quarters.amount[:, rows], quarters.days[:, rows]
        is_rest = (quarters.by_difference | quarters.by_three)[:, rows]
        excess = np.where(is_rest, _excess(amount, days, np.where(is_rest, np.nan, amount / days), 0.0), 0.0)
        of_quarters[rows] = excess.sum(axis=0) / amount.sum(axis=0)
    return of_years, of_quarters


def _excess(amount: Floats, days: Floats, averages: Floats, rounding: Floats | float) -> Floats:
    """By how much an amount is more than its days times the largest average, or less than times the smallest."""
    over = amount - days * np.fmax.reduce(averages) - rounding
    under = days * np.fmin.reduce(averages) - rounding - amount
    return np.where(days > 0, np.maximum(over, 0.0) - np.maximum(under, 0.0), np.nan)
