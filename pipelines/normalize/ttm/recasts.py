"""Twelve months without a usable fiscal year: after a recast of the year alone, or a change of the fiscal year end.

Belongs here: twelve months from the quarters in the filing of the recast, from the next window, if its filing is on the
basis of the recast, or from the periods around a changed fiscal year end. Does not: a fiscal year and interim periods
that are on one basis (bases), which method counts (choice).
"""

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, any_of
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import Years, years_on_one_basis
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import AGO, CODES, IS_MONEY, Windows
from pipelines.normalize.ttm.methods import DIGITS_OF_SUMS, DISAGREEMENT, YEAR_TO_DATE, TtmMethod

NEAR = 0.01
"""Share by which quarters of income before tax may differ from their year: a filing may state the quarters without
minorities in discontinued operations, and the year with them."""

QUARTERS_OF_RECAST = Rule(
    "ttm.quarters-of-recast",
    "If the year before was recast without its interim periods, twelve months are the sum of four quarters as stated "
    "in the filing with the recast, if that filing's quarters of the recast year add up to it.",
    "ASC 250-10-45-5 and Regulation S-K Item 302(a): a change is applied to all periods presented, also to quarterly "
    "data",
    "select",
)
NEXT_LESS_QUARTER = Rule(
    "ttm.next-less-quarter",
    "If the year before was recast but this year to date was not, twelve months are the twelve months to the next "
    "quarter end, less that quarter, plus the same quarter a year before, all on the recast basis.",
    "Regulation S-X Rule 10-01(c): interim statements have the quarter and the year to date, and those of the year "
    "before, on one basis",
    "compose",
)

ACROSS_YEAR_ENDS = Rule(
    "ttm.across-year-ends",
    "If the fiscal year end changed, twelve months are the year to date, plus the period that ends before it, less "
    "the part of that period before the twelve months, if filings state all three.",
    "Exchange Act Rule 13a-10: a transition period is reported on its own; periods that follow each other add up",
    "compose",
)
SPANS = np.array(
    [(n, longer, n + longer - QUARTERS_A_YEAR) for n in (1, 2, 3) for longer in range(QUARTERS_A_YEAR - n, 5)]
).T[:, :, None]
"""Possible lengths in quarters of a year to date, of the period before it, and of the part of that period that is more
than twelve months ago."""


def quarters_of_recast(windows: Windows, years: Years) -> tuple[Floats, Floats]:
    """Find the windows whose four quarters are stated in the filing that recast the year before.

    Returns:
        for each window the `seq` of that filing (NaN if there is none), and the sum of the quarters in it.
    """
    filing, total = np.full((2, len(windows.q)), np.nan)
    asked = np.flatnonzero(years.is_before & IS_MONEY[windows.concept] & ~windows.is_year_end)
    if len(asked):
        some = windows.subset(asked)
        of_filing, of_quarters, off, rounding = _quarters_as_recast(some)
        of_tax, _, off_tax, rounding_of_tax = _quarters_as_recast(some.of_concept(CODES["income_tax"]))
        is_near = (some.concept == CODES["pretax_income"]) & (off <= NEAR * abs(of_quarters))
        is_near &= (of_tax == of_filing) & (off_tax <= rounding_of_tax)
        holds = QUARTERS_OF_RECAST.where(~np.isnan(of_quarters) & ((off <= rounding) | is_near))
        filing[asked], total[asked] = np.where(holds, (of_filing, of_quarters), np.nan)
    return filing, total


def _quarters_as_recast(windows: Windows) -> tuple[Floats, Floats, Floats, Floats]:
    """The four quarters of each window in the first filing that states the year before with its known amount.

    Returns:
        the `seq` of that filing, the sum of the four quarters, the difference between the year before and its own four
        quarters in that filing, and the largest difference by rounding.
    """
    of, newest_year = windows.of, windows.find(windows.year_before, QUARTERS_A_YEAR)
    filing = of("since", newest_year)
    # the quarters of the window and of the year before, from the last one back
    back = AGO[: 2 * QUARTERS_A_YEAR - 1]
    rows = windows.find(windows.q - back, 1, filing)
    amounts = np.where(of("seq", rows) == filing, of("amount", rows), np.nan)
    of_year = (back >= windows.quarter) & (back < windows.quarter + QUARTERS_A_YEAR)
    off = abs(np.where(of_year, amounts, 0.0).sum(axis=0) - of("amount", newest_year))
    return filing, amounts[:QUARTERS_A_YEAR].sum(axis=0), off, DIGITS_OF_SUMS * of("grain", newest_year)


def by_years_or_next(windows: Windows) -> tuple[TtmMethod, Years, Flags]:
    """Twelve months by years: the last fiscal year, plus this year to date, less the same period of the year before.

    If these are not on one basis, the twelve months of the next window, less its last quarter, plus the same quarter of
    the year before. If no fiscal year is known, periods across a changed fiscal year end.

    Returns:
        the method, its legs, and for each window whether it is computed from the next one.
    """
    years, of = years_on_one_basis(windows), windows.of
    years.replace(*_across_year_ends(windows, years))
    rows, following, quarter, prior = _from_next_window(windows, years)
    is_next = np.zeros(len(windows.q), dtype=np.bool_)
    is_next[rows] = True
    years.replace(rows, following)
    legs = np.full((5, len(windows.q)), NOTHING)
    legs[:3] = years.year, years.to_date, years.prior
    legs[3:, rows] = quarter, prior
    sums = [years.total(windows, name) for name in ("amount", "days")]
    for total, name in zip(sums, ("amount", "days"), strict=True):
        total[rows] += of(name, prior) - of(name, quarter)
    method = TtmMethod.of(
        windows, YEAR_TO_DATE, (*sums, of("regime", years.to_date)), legs, (1, 1, -1, -1, 1), ~years.holds
    )
    return method, years, is_next


def _across_year_ends(windows: Windows, years: Years) -> tuple[Ints, Years]:
    """Find the windows that are computed across a changed fiscal year end (rule ACROSS_YEAR_ENDS).

    Returns:
        the windows, and their legs; the period before the year to date takes the place of the fiscal year.
    """
    asked = np.flatnonzero(np.isnan(years.total(windows, "amount")) & ~windows.is_year_end)
    some, q = windows.subset(asked), windows.q[asked]
    ends = np.array([q + 0 * SPANS[0], q - SPANS[0], q - QUARTERS_A_YEAR + 0 * SPANS[0]])
    periods = some.find(ends, np.broadcast_to(SPANS, ends.shape))
    is_needed = np.broadcast_to(SPANS > 0, ends.shape)
    before = ends[1] - SPANS[1]
    begins_a_year = np.array([some.fiscal_quarter(each) for each in before]) == QUARTERS_A_YEAR
    # only amounts that were never restated, so that all are on one basis
    holds = begins_a_year & np.all(~is_needed | ((periods >= 0) & np.isnan(some.of("revised", periods))), axis=0)
    found = ACROSS_YEAR_ENDS.where(any_of(holds))
    to_date, year, prior = np.take_along_axis(periods, holds.argmax(axis=0)[None, None], axis=1)[:, 0][:, found]
    rows = asked[found]
    every = np.ones(len(rows), dtype=np.bool_)
    legs = years.at(rows)._replace(
        year=year, to_date=to_date, prior=prior, with_year=prior, holds=every, is_across=every
    )
    return rows, legs


def _from_next_window(windows: Windows, years: Years) -> tuple[Ints, Years, Ints, Ints]:
    """Find the windows whose fiscal year was recast, and whose next year to date is on the basis of the recast.

    Returns:
        the windows, the legs of the next window of each, the last quarter of the next window, and the same quarter of
        the year before.
    """
    of = windows.of
    asked = np.flatnonzero((years.is_before | ~years.holds) & IS_MONEY[windows.concept])
    asked = asked[windows.quarter[asked] < QUARTERS_A_YEAR - 1]
    own, some = years.at(asked), windows.subset(asked)
    some.q, some.quarter = some.q + 1, some.quarter + 1
    filing = some.newest_with_year_before(some.q, some.quarter)
    quarters = some.find(some.q - AGO[[0, QUARTERS_A_YEAR]], 1, filing)
    following = years_on_one_basis(some)
    parts, rests = of("amount", quarters), of("amount", np.array([following.to_date, following.prior]))
    former, amount = own.total(some, "amount"), following.total(some, "amount") + parts[1] - parts[0]
    holds = np.all(of("seq", quarters) == filing, axis=0) & ~np.isnan(former) & following.holds & ~following.is_before
    holds &= (of("since", following.to_date) <= filing) & (of("since", following.prior) <= filing)
    holds &= some.can_be_negative | (np.fmin.reduce([*parts, *(rests - parts)]) >= 0)
    holds &= ~own.holds | (abs(amount - former) > DISAGREEMENT * abs(amount))
    rows = np.flatnonzero(NEXT_LESS_QUARTER.where(holds))
    return asked[rows], following.at(rows), *quarters[:, rows]
