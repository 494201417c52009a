"""Choice: which way leads to the twelve months of a window.

Belongs here: the order of the ways, what one way shows about another, which counts if they contradict each other, and
how the legs compare day by day. Does not: the ways (ways, bases, quarters, recasts), the rows and rules that follow
(windows), what follows from the averages (items.earnings).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, any_of
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import BEYOND, Years, on_basis_of_quarters
from pipelines.normalize.ttm.known import IS_ADDITIVE, NOISE_OF_SUMS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import AGO, CODES, IS_COUNT, IS_PER_SHARE, Windows
from pipelines.normalize.ttm.quarters import Quarters
from pipelines.normalize.ttm.ways import (
    DIGITS_OF_SUMS,
    DISAGREEMENT,
    FISCAL_YEAR,
    NO_MIXED_BASES,
    NO_MIXED_ELEMENTS,
    OWN_TWELVE_MONTHS,
    RESTATED_BY,
    TtmMethod,
)

FAR_APART = 0.5
"""Quarterly earnings per share do not add up exactly, but hardly ever differ by more than this share of the sum."""
PAID = [source.rule for source in BY_NAME["dividends_per_share"].sources].index("dividends-per-share.paid")
"""The rank of dividends paid in cash."""
FEWEST_WITHOUT = 2
"""Quarters without dividends in two years, one of them between two with dividends, of a filer that pays in some only.
A single one is a payment that came some days later: Costco Wholesale's of the spring of 2012."""

NO_CONTRADICTING_WAYS = Rule(
    "ttm.no-contradicting-ways",
    f"If two ways to twelve months contradict each other by more than {DISAGREEMENT:.1%} and rounding, without a "
    "restated leg, the one counts whose legs are all stated in two filings, by years first; otherwise neither.",
    "The identity of both ways: a year is the sum of its quarters; a figure that two filings repeat is no slip",
    "withhold",
)


@dataclass(frozen=True)
class Ways:
    """The ways to the twelve months of each window, other than a single figure.

    by_years: the fiscal year and the years to date (`years`: their legs). by_quarters: the four `quarters`.
    of_recast: the quarters are those of a recast year. of_next: the way by years is the next window less a quarter.
    """

    by_years: TtmMethod
    years: Years
    by_quarters: TtmMethod
    quarters: Quarters
    of_recast: Flags
    of_next: Flags

    @property
    def both_sound(self) -> Flags:
        """Whether both ways lead to twelve months of one regime, by a fiscal year and by quarters."""
        are_sound = self.by_years.is_sound & self.by_quarters.is_sound
        return are_sound & ~self.of_two_regimes & ~self.years.is_across

    @property
    def of_two_regimes(self) -> Flags:
        """Whether the ways lead to twelve months of two companies, or under two standards."""
        return abs(self.by_years.regime - self.by_quarters.regime) > 0


@dataclass(frozen=True)
class Choice:
    """The way that leads to the twelve months of each window.

    year: the row of the fiscal year that ends with the window.
    ways: the fiscal year, the filer's own twelve months, four quarters, and the fiscal year with years to date.
    holds: for each of them, whether it counts; the first one that holds does.
    takes_quarters: whether four quarters come before the fiscal year with years to date. is_apart: they differ.
    is_confirmed: the one of these two counts that filings confirm. contradict: they contradict each other, and neither
    counts. is_behind: the year to date is on an older basis than the quarters.
    is_paid_later: dividends that were paid in the window were declared in another.
    beyond: of `beyond`, of the way that counts.
    """

    year: Ints
    ways: tuple[TtmMethod, TtmMethod, TtmMethod, TtmMethod]
    holds: tuple[Flags, Flags, Flags, Flags]
    takes_quarters: Flags
    is_apart: Flags
    is_confirmed: Flags
    contradict: Flags
    is_behind: Flags
    is_paid_later: Flags
    beyond: Floats

    @property
    def has_way(self) -> Flags:
        """Whether any way counts."""
        return any_of(self.holds)

    def of(self, name: str) -> Floats:
        """A number of the way that counts, such as `amount`; NaN if none does."""
        return np.select(list(self.holds), [getattr(way, name) for way in self.ways], np.nan)


def chosen(windows: Windows, ways: Ways) -> Choice:
    """Choose the way of each window: a figure of its own, else quarters or years, as they contradict each other or not.

    Of two ways of different regimes, the one counts that has the newer filing. A way by years that turns out to be on
    an older basis than the quarters mixes bases from then on.
    """
    by_years, by_quarters, is_year_end = ways.by_years, ways.by_quarters, windows.is_year_end
    year, own = (
        windows.find(np.where(ends, windows.q, np.nan), QUARTERS_A_YEAR) for ends in (is_year_end, ~is_year_end)
    )
    by_year, by_own = _single(windows, FISCAL_YEAR, year), _single(windows, OWN_TWELVE_MONTHS, own)
    # four quarters that are stated are finer than a year that other figures prove
    is_year = FISCAL_YEAR.where(year >= 0) & ~(
        windows.is_derived(year) & by_quarters.is_sound & ~by_quarters.has_derived
    )
    takes_own = by_own.is_whole & (abs(by_own.amount - by_years.amount) <= RESTATED_BY * abs(by_own.amount))
    is_single = is_year | takes_own
    is_apart, differ = _apart(windows, ways, is_single)
    years_count, quarters_count, contradict = _contradictions(windows, ways, differ)
    excess = beyond(windows, by_years, ways.years, ways.quarters)
    takes_quarters = (IS_PER_SHARE[windows.concept] & ~years_count) | quarters_count | ~by_years.is_sound
    takes_quarters |= ~ways.quarters.by_difference.any(axis=0) & (abs(excess[0]) > BEYOND)
    takes_quarters |= by_years.has_derived & ~by_quarters.has_derived
    of_years, of_quarters = (np.fmax.reduce(windows.of("seq", way.rows)) for way in (by_years, by_quarters))
    takes_quarters = np.where(ways.of_two_regimes & by_years.is_sound, of_quarters > of_years, takes_quarters)
    takes_quarters &= by_quarters.is_sound & ~(ways.of_next & by_years.is_sound)
    may_take_years = by_years.is_sound & ~takes_quarters & ~is_single & ~ways.of_next
    is_behind, agrees = _behind_quarters(windows, ways, NO_MIXED_BASES.where(may_take_years))
    by_years.faults[NO_MIXED_BASES][is_behind] = True
    takes_quarters |= agrees | ways.of_recast
    pays = takes_quarters & ~is_single & (windows.concept == CODES["dividends_per_share"])
    is_paid_later = windows.where(NO_MIXED_ELEMENTS.where(pays), _paid_later, ways.quarters.amount, by_quarters.rows)
    contradict = contradict & ~(is_behind | ways.of_recast | ways.of_next | is_paid_later)
    counts = ~contradict & ~is_paid_later
    return Choice(
        year=year,
        ways=(by_year, by_own, by_quarters, by_years),
        holds=(is_year, takes_own, takes_quarters & counts, by_years.is_sound & counts),
        takes_quarters=takes_quarters,
        is_apart=is_apart,
        is_confirmed=years_count | quarters_count,
        contradict=contradict,
        is_behind=is_behind,
        is_paid_later=is_paid_later,
        beyond=np.where(takes_quarters, excess[1], excess[0]),
    )


def _single(windows: Windows, rule: Rule, row: Ints) -> TtmMethod:
    """The way that is one known amount."""
    return TtmMethod.of(
        windows, rule, [windows.of(name, row) for name in ("amount", "days", "regime")], row[None], (1,)
    )


def _apart(windows: Windows, ways: Ways, is_single: Flags) -> tuple[Flags, Flags]:
    """Whether the ways by years and by quarters differ, and whether by so much that they contradict each other."""
    years = ways.by_years.amount
    difference, size = abs(years - ways.by_quarters.amount), abs(years)
    is_apart, is_far = (
        ways.both_sound & ~is_single & (difference > share * size) for share in (DISAGREEMENT, FAR_APART)
    )
    contradict = (is_apart & IS_ADDITIVE[windows.concept]) | (is_far & IS_PER_SHARE[windows.concept])
    return is_apart, NO_CONTRADICTING_WAYS.where(contradict)


def _contradictions(windows: Windows, ways: Ways, differ: Flags) -> tuple[Flags, Flags, Flags]:
    """Decide between two ways of an additive amount that differ.

    After a restatement the quarters are often on two bases, and the way by years counts; but if the quarters add up
    with the year as restated, and its interim period was restated, too, then the year is on another basis, and so it is
    if the newest amounts of all three legs are the sum of the quarters.

    Returns:
        whether the way by years counts, that by quarters, or neither.
    """
    found = np.zeros((3, len(differ)), dtype=np.bool_)
    rows = np.flatnonzero(differ)
    some, years, quarters, of = windows.at(rows), ways.by_years, ways.by_quarters, windows.of
    by_years, by_quarters = years.amount[rows], quarters.amount[rows]
    digits = DIGITS_OF_SUMS * np.fmax(years.grain, quarters.grain)[rows]
    legs = years.rows[:, rows], quarters.rows[:, rows]
    of_years, of_quarters = (_confirmed(some, of_way) for of_way in legs)
    is_restated = IS_ADDITIVE[some.concept] & any_of(of("revised", np.concatenate(legs)) >= 0)
    newest_year = of("amount", some.find(some.year_before, QUARTERS_A_YEAR))
    as_restated = by_years - of("amount", ways.years.year[rows]) + newest_year
    adds_up = ways.years.is_doubtful[rows] & (abs(as_restated - by_quarters) <= digits)
    to_date, prior = of("amount", some.find(some.q - AGO[[0, QUARTERS_A_YEAR]], some.quarter))
    adds_up |= abs(newest_year + to_date - prior - by_quarters) <= digits
    years_count = (is_restated & ~adds_up) | of_years
    quarters_count = ~years_count & (of_quarters | adds_up)
    found[:, rows] = years_count, quarters_count, ~years_count & ~quarters_count
    found[:, rows] &= abs(by_years - by_quarters) > digits
    return found[0], found[1], found[2]


def _confirmed(windows: Windows, legs: Ints) -> Flags:
    """Whether each leg is stated with the same amount in two filings."""
    of = windows.of
    is_stated_twice = (of("seq", legs) > of("since", legs)) | (of("repeated", legs) <= windows.seq)
    return ~any_of((legs >= 0) & ~is_stated_twice)


def _behind_quarters(windows: Windows, ways: Ways, may_take_years: Flags) -> tuple[Flags, Flags]:
    """Whether a year to date is on an older basis than the quarters stated in the filing of the year, or a later one.

    Args:
        windows: the windows.
        ways: the ways.
        may_take_years: the windows for which the way by years would count, or neither way.

    Returns:
        for each window, whether it is so, and whether the way by quarters is then on their basis.
    """
    is_behind, agrees = np.zeros((2, len(may_take_years)), dtype=np.bool_)
    by_years, by_quarters = ways.by_years, ways.by_quarters
    is_same = by_quarters.is_sound & (abs(by_years.amount - by_quarters.amount) <= by_years.grain)
    rows = np.flatnonzero(may_take_years & ~is_same & IS_ADDITIVE[windows.concept] & (windows.quarter > 1))
    amount, is_behind[rows] = on_basis_of_quarters(windows.at(rows), by_years.rows[:3, rows])
    is_near = abs(by_quarters.amount[rows] - amount) <= DISAGREEMENT * abs(amount)
    agrees[rows] = is_behind[rows] & by_quarters.is_sound[rows] & is_near
    return is_behind, agrees


def _paid_later(windows: Windows, quarters: Floats, legs: Ints) -> Flags:
    """Whether dividends of a filer that pays in some quarters only are another sum one quarter later.

    Args:
        windows: the windows.
        quarters: the dividends of their four quarters.
        legs: the legs of these.
    """
    of = windows.of
    before = of("amount", windows.find(windows.q - AGO[QUARTERS_A_YEAR:], 1))
    amounts: Floats = np.concatenate([quarters, before])
    skips = any_of((amounts[:-2] > 0) & (amounts[1:-1] == 0) & (amounts[2:] > 0))
    skips &= (amounts == 0).sum(axis=0) >= FEWEST_WITHOUT
    is_other = (of("rank", legs) == PAID) | (of("other_source", legs) > 0)
    is_paid = any_of(is_other & (of("amount", legs) > 0))
    following = of("amount", windows.find(windows.q + 1, 1))
    found: Flags = is_paid & skips & ~(abs(following - quarters[-1]) <= NOISE_OF_SUMS)
    return found


def spreads(windows: Windows, by_years: TtmMethod, quarters: Quarters) -> tuple[Floats, Floats]:
    """The largest daily amount of a leg divided by the smallest, by years and by quarters; for shares, the change of
    their count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        legs = windows.of("amount", by_years.rows) / windows.of("days", by_years.rows)
        of_years, of_quarters = (
            np.fmax.reduce(daily) / np.fmin.reduce(daily) for daily in (legs, quarters.amount / quarters.days)
        )
    return np.where(np.isfinite(of_years), of_years, np.nan), np.where(np.isfinite(of_quarters), of_quarters, np.nan)


def beyond(windows: Windows, by_years: TtmMethod, years: Years, quarters: Quarters) -> tuple[Floats, Floats]:
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
        rounding = sum(of("grain", row) * of("days", row) for row in (year, prior)) / 2
        of_rest = excess_over(rest, days, np.concatenate([averages, stated_averages]), rounding)
        of_years[rows] = of_rest / by_years.amount[rows]
        amount, days = quarters.amount[:, rows], quarters.days[:, rows]
        is_rest = (quarters.by_difference | quarters.by_three)[:, rows]
        excess = np.where(is_rest, excess_over(amount, days, np.where(is_rest, np.nan, amount / days), 0.0), 0.0)
        of_quarters[rows] = excess.sum(axis=0) / amount.sum(axis=0)
    return of_years, of_quarters


def excess_over(amount: Floats, days: Floats, averages: Floats, rounding: Floats | float) -> Floats:
    """By how much an amount is more than its days times the largest average, or less than times the smallest."""
    over = amount - days * np.fmax.reduce(averages) - rounding
    under = days * np.fmin.reduce(averages) - rounding - amount
    return np.where(days > 0, np.maximum(over, 0.0) - np.maximum(under, 0.0), np.nan)
