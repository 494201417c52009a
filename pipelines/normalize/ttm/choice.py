"""Choice: which way leads to the twelve months of a window.

Belongs here: the order of the ways, and what one way shows about another. Does not: the ways (ways, bases, quarters),
ways that contradict each other (judgements), the rows and rules that follow (windows).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.ttm import averages
from pipelines.normalize.ttm.bases import BEYOND, DISAGREEMENT, Years, on_basis_of_quarters
from pipelines.normalize.ttm.judgements import Judged, judged_ways
from pipelines.normalize.ttm.known import IS_ADDITIVE, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.payments import paid_later
from pipelines.normalize.ttm.quarters import Quarter
from pipelines.normalize.ttm.ways import BY_QUARTER_FIRST, Leg, Way

FAR_APART = 0.5
"""Quarterly earnings per share do not add up exactly, but hardly ever differ by more than this share of the sum."""
OWN_APART = 0.1
"""A filer's own twelve months differ from the sum of its legs by restatements only. Measured: at most 4 % where Amazon
states them, while a figure of another period in such a context is off by half and more."""


@dataclass(frozen=True)
class Ways:
    """The ways to the twelve months of each window, other than a single figure.

    by_years: the fiscal year and the years to date (`years`: their legs). by_quarters: the four `quarters`.
    of_recast: the quarters are those of a recast year. of_next: the way by years is the next window less a quarter.
    """

    by_years: Way
    years: Years
    by_quarters: Way
    quarters: tuple[Quarter, ...]
    of_recast: Flags
    of_next: Flags


@dataclass(frozen=True)
class Choice:
    """The way that leads to the twelve months of each window.

    year: the row of the fiscal year that ends with the window.
    ways: the fiscal year, the filer's own twelve months, four quarters, and the fiscal year with years to date.
    holds: for each of them, whether it counts; the first one that holds does.
    takes_quarters: whether four quarters come before the fiscal year with years to date. is_apart: they differ.
    judged: what counts where these two contradict each other.
    is_behind: the year to date is on an older basis than the quarters.
    is_paid_later: dividends that were paid in the window were declared in another.
    beyond: of averages.beyond, of the way that counts.
    """

    year: Ints
    ways: tuple[Way, Way, Way, Way]
    holds: tuple[Flags, Flags, Flags, Flags]
    takes_quarters: Flags
    is_apart: Flags
    judged: Judged
    is_behind: Flags
    is_paid_later: Flags
    beyond: Floats

    @property
    def has_way(self) -> Flags:
        """Whether any way counts."""
        found: Flags = np.any(self.holds, axis=0)
        return found

    def of(self, name: str) -> Floats:
        """A number of the way that counts, such as `amount`; NaN if none does."""
        return np.select(list(self.holds), [getattr(way, name) for way in self.ways], np.nan)

    def flag(self, name: str) -> Flags:
        """A flag of the way that counts; false if none does."""
        return np.select(list(self.holds), [getattr(way, name) for way in self.ways], default=False)


def chosen(windows: Windows, ways: Ways) -> Choice:
    """Choose the way of each window: a figure of its own, else quarters or years, as they contradict each other or not.

    A way by years that turns out to be on an older basis than the quarters mixes bases from then on.
    """
    by_years, by_quarters = ways.by_years, ways.by_quarters
    year = windows.find(np.where(windows.is_year_end, windows.q, np.nan), QUARTERS_A_YEAR)
    own = windows.find(np.where(windows.is_year_end, np.nan, windows.q), QUARTERS_A_YEAR)
    by_year, by_own = (_single(windows, row) for row in (year, own))
    # four quarters that are stated are finer than a year that other figures prove
    is_year = (year >= 0) & ~(windows.is_derived(year) & by_quarters.is_sound & ~by_quarters.has_derived)
    takes_own = by_own.is_whole & (np.abs(by_own.amount - by_years.amount) <= OWN_APART * np.abs(by_own.amount))
    is_single = is_year | takes_own
    is_apart, contradict = _apart(windows, by_years, by_quarters, is_single)
    judged = judged_ways(windows, by_years, ways.years, by_quarters, contradict)
    excess = averages.beyond(windows, by_years, ways.years, ways.quarters)
    takes_quarters = _quarters_first(windows, ways, judged, excess[0])
    may_take_years = by_years.is_sound & ~takes_quarters & ~is_single & ~ways.of_next
    is_behind, agrees = _behind_quarters(windows, by_years, ways.years, by_quarters, may_take_years)
    by_years.mixes_bases[is_behind] = True
    takes_quarters |= agrees | ways.of_recast
    is_paid_later = paid_later(windows, ways.quarters, takes_quarters & ~is_single)
    judged.neither[is_behind | ways.of_recast | ways.of_next | is_paid_later] = False
    has_no_way = judged.neither | is_paid_later
    return Choice(
        year=year,
        ways=(by_year, by_own, by_quarters, by_years),
        holds=(is_year, takes_own, takes_quarters & ~has_no_way, by_years.is_sound & ~has_no_way),
        takes_quarters=takes_quarters,
        is_apart=is_apart,
        judged=judged,
        is_behind=is_behind,
        is_paid_later=is_paid_later,
        beyond=np.where(takes_quarters, excess[1], excess[0]),
    )


def _single(windows: Windows, row: Ints) -> Way:
    """The way that is one known amount."""
    of = windows.of
    return Way.of(windows, (Leg(row),), of("amount", row), of("days", row), of("regime", row))


def _apart(windows: Windows, by_years: Way, by_quarters: Way, is_single: Flags) -> tuple[Flags, Flags]:
    """Whether the ways by years and by quarters differ, and whether by so much that they contradict each other."""
    both = by_years.is_sound & by_quarters.is_sound & ~is_single
    difference, size = np.abs(by_years.amount - by_quarters.amount), np.abs(by_years.amount)
    is_apart, is_far = (both & (difference > share * size) for share in (DISAGREEMENT, FAR_APART))
    return is_apart, (is_apart & IS_ADDITIVE[windows.concept]) | (is_far & BY_QUARTER_FIRST[windows.concept])


def _quarters_first(windows: Windows, ways: Ways, judged: Judged, excess: Floats) -> Flags:
    """Whether four quarters come before years, as far as both are on one basis.

    Args:
        excess: of the way by years (averages.beyond).
    """
    by_years, by_quarters = ways.by_years, ways.by_quarters
    found = (BY_QUARTER_FIRST[windows.concept] & ~judged.by_years) | judged.by_quarters | ~by_years.is_sound
    are_stated = ~np.any([quarter.by_difference for quarter in ways.quarters], axis=0)
    found |= are_stated & (np.abs(excess) > BEYOND)
    found |= by_years.has_derived & ~by_quarters.has_derived
    return by_quarters.is_sound & found & ~(ways.of_next & by_years.is_sound)


def _behind_quarters(
    windows: Windows, by_years: Way, years: Years, by_quarters: Way, may_take_years: Flags
) -> tuple[Flags, Flags]:
    """Whether a year to date is on an older basis than the quarters stated in the filing of the year, or a later one.

    Args:
        may_take_years: the windows for which the way by years would count, or neither way.

    Returns:
        for each window, whether it is so, and whether the way by quarters is then on their basis.
    """
    is_behind, agrees = (np.zeros(len(may_take_years), dtype=np.bool_) for _ in range(2))
    is_same = by_quarters.is_sound & (np.abs(by_years.amount - by_quarters.amount) <= by_years.grain)
    rows = np.flatnonzero(may_take_years & ~is_same & IS_ADDITIVE[windows.concept] & (windows.quarter > 1))
    amount, is_behind[rows] = on_basis_of_quarters(windows, years, rows)
    is_near = np.abs(by_quarters.amount[rows] - amount) <= DISAGREEMENT * np.abs(amount)
    agrees[rows] = is_behind[rows] & by_quarters.is_sound[rows] & is_near
    return is_behind, agrees
