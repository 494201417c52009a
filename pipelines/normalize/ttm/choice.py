"""Choice: selects the method to compute the twelve months of each window.

Belongs here: the order of preference of the methods, the checks of one method by another, the choice if they contradict
each other, and the comparison of the legs by their daily amounts. Does not: the methods themselves (methods, bases,
quarters, recasts), the rows and rules of the result (windows), which average share counts are withheld
(items.earnings).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, any_of
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import LARGEST_EXCESS, Years, on_basis_of_quarters
from pipelines.normalize.ttm.known import IS_ADDITIVE, NOISE_OF_SUMS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import AGO, CODES, IS_COUNT, IS_PER_SHARE, Windows
from pipelines.normalize.ttm.methods import (
    DIGITS_OF_SUMS,
    DISAGREEMENT,
    FISCAL_YEAR,
    NO_MIXED_BASES,
    NO_MIXED_ELEMENTS,
    OWN_TWELVE_MONTHS,
    RESTATED_BY,
    TtmMethod,
)
from pipelines.normalize.ttm.quarters import Quarters

FAR_APART = 0.5
"""Quarterly earnings per share do not add up exactly to a year, but hardly ever differ from it by more than this
share."""
PAID = [source.rule for source in BY_NAME["dividends_per_share"].sources].index("dividends-per-share.paid")
"""The rank of the source of dividends per share that has dividends paid in cash, not dividends declared."""
FEWEST_WITHOUT = 2
"""A filer counts as paying in some quarters only if at least this many quarters of two years have no dividend, and one
of these is between two quarters with dividends. A single quarter without dividends means a payment that came some days
later: Costco Wholesale's in the spring of 2012."""

NO_CONTRADICTING_METHODS = Rule(
    "ttm.no-contradicting-ways",
    f"If twelve months by fiscal years and as four quarters differ by more than {DISAGREEMENT:.1%} and rounding, and "
    "no figure was restated, the method counts whose figures are all stated in two filings, by years first; otherwise "
    "neither.",
    "The identity of both methods: a year is the sum of its quarters; a figure that two filings repeat is no slip",
    "withhold",
)


@dataclass(frozen=True)
class TwoMethods:
    """The two methods that compute the twelve months of each window from several figures.

    by_years: from the fiscal year and the years to date, whose rows are in `years`.
    by_quarters: the sum of the four `quarters`.
    of_recast: whether the quarters are taken from the filing that recast the year before.
    of_next: whether the method by years is computed from the next window and two quarters.
    """

    by_years: TtmMethod
    years: Years
    by_quarters: TtmMethod
    quarters: Quarters
    of_recast: Flags
    of_next: Flags

    @property
    def both_sound(self) -> Flags:
        """Whether both methods are sound and of one regime, and the method by years starts from a fiscal year."""
        are_sound = self.by_years.is_sound & self.by_quarters.is_sound
        return are_sound & ~self.differ_in_regime & ~self.years.is_across

    @property
    def differ_in_regime(self) -> Flags:
        """Whether the two methods are of different regimes: of two companies, or under two accounting standards."""
        return abs(self.by_years.regime - self.by_quarters.regime) > 0


@dataclass(frozen=True)
class Choice:
    """The method that counts for the twelve months of each window.

    year: the row of the fiscal year that ends with the window.
    methods: the fiscal year, the filer's own twelve months, four quarters, and the fiscal year with years to date.
    holds: for each of these methods, the windows in which it may count; the first method that may count does.
    takes_quarters: whether four quarters are preferred to the fiscal year with years to date.
    is_apart: whether these two methods differ.
    is_confirmed: whether these two methods contradict each other, and one counts because filings confirm it.
    contradict: whether these two methods contradict each other, so that both are left out.
    is_behind: whether the year to date is on an older basis than the quarters.
    is_paid_later: whether dividends that were paid in the window may have been declared in another one.
    excess: the result of excess_of_unreported_part for the method that counts.
    """

    year: Ints
    methods: tuple[TtmMethod, TtmMethod, TtmMethod, TtmMethod]
    holds: tuple[Flags, Flags, Flags, Flags]
    takes_quarters: Flags
    is_apart: Flags
    is_confirmed: Flags
    contradict: Flags
    is_behind: Flags
    is_paid_later: Flags
    excess: Floats

    @property
    def has_method(self) -> Flags:
        """Whether a method counts."""
        return any_of(self.holds)

    def of(self, name: str) -> Floats:
        """A number of the method that counts, such as `amount`; NaN if no method counts."""
        return np.select(list(self.holds), [getattr(method, name) for method in self.methods], np.nan)


def choose_methods(windows: Windows, methods: TwoMethods) -> Choice:
    """Choose the method of each window: one filed figure for all twelve months, otherwise by quarters or by years.

    If the two methods are of different regimes, the one with the newer filing counts. If the year to date turns out to
    be on an older basis than the quarters, the method by years gets the fault NO_MIXED_BASES.
    """
    by_years, by_quarters, is_year_end = methods.by_years, methods.by_quarters, windows.is_year_end
    year, own = (
        windows.find(np.where(ends, windows.q, np.nan), QUARTERS_A_YEAR) for ends in (is_year_end, ~is_year_end)
    )
    by_year, by_own = _of_one_figure(windows, FISCAL_YEAR, year), _of_one_figure(windows, OWN_TWELVE_MONTHS, own)
    # four quarters as filed are preferred to a fiscal year that is only derived
    is_year = FISCAL_YEAR.where(year >= 0) & ~(
        windows.is_derived(year) & by_quarters.is_sound & ~by_quarters.has_derived
    )
    takes_own = by_own.is_whole & (abs(by_own.amount - by_years.amount) <= RESTATED_BY * abs(by_own.amount))
    is_single = is_year | takes_own
    is_apart, differ = _apart(windows, methods, is_single)
    years_count, quarters_count, contradict = _contradictions(windows, methods, differ)
    excess = excess_of_unreported_part(windows, by_years, methods.years, methods.quarters)
    takes_quarters = (IS_PER_SHARE[windows.concept] & ~years_count) | quarters_count | ~by_years.is_sound
    takes_quarters |= ~methods.quarters.by_difference.any(axis=0) & (abs(excess[0]) > LARGEST_EXCESS)
    takes_quarters |= by_years.has_derived & ~by_quarters.has_derived
    of_years, of_quarters = (np.fmax.reduce(windows.of("seq", method.rows)) for method in (by_years, by_quarters))
    takes_quarters = np.where(methods.differ_in_regime & by_years.is_sound, of_quarters > of_years, takes_quarters)
    takes_quarters &= by_quarters.is_sound & ~(methods.of_next & by_years.is_sound)
    may_take_years = by_years.is_sound & ~takes_quarters & ~is_single & ~methods.of_next
    is_behind, agrees = _behind_quarters(windows, methods, NO_MIXED_BASES.where(may_take_years))
    by_years.faults[NO_MIXED_BASES][is_behind] = True
    takes_quarters |= agrees | methods.of_recast
    pays = takes_quarters & ~is_single & (windows.concept == CODES["dividends_per_share"])
    is_paid_later = windows.decide_for(
        NO_MIXED_ELEMENTS.where(pays), _paid_later, methods.quarters.amount, by_quarters.rows
    )
    contradict = contradict & ~(is_behind | methods.of_recast | methods.of_next | is_paid_later)
    counts = ~contradict & ~is_paid_later
    return Choice(
        year=year,
        methods=(by_year, by_own, by_quarters, by_years),
        holds=(is_year, takes_own, takes_quarters & counts, by_years.is_sound & counts),
        takes_quarters=takes_quarters,
        is_apart=is_apart,
        is_confirmed=years_count | quarters_count,
        contradict=contradict,
        is_behind=is_behind,
        is_paid_later=is_paid_later,
        excess=np.where(takes_quarters, excess[1], excess[0]),
    )


def _of_one_figure(windows: Windows, rule: Rule, row: Ints) -> TtmMethod:
    """The method whose twelve months are one filed figure: a fiscal year, or the filer's own twelve months."""
    return TtmMethod.of(
        windows, rule, [windows.of(name, row) for name in ("amount", "days", "regime")], row[None], (1,)
    )


def _apart(windows: Windows, methods: TwoMethods, is_single: Flags) -> tuple[Flags, Flags]:
    """Whether the methods by years and by quarters differ, and whether they contradict each other.

    Additive amounts contradict if they differ by more than DISAGREEMENT, amounts per share by more than FAR_APART.
    Where one filed figure covers the twelve months (`is_single`), the methods are not compared.
    """
    years = methods.by_years.amount
    difference, size = abs(years - methods.by_quarters.amount), abs(years)
    is_apart, is_far = (
        methods.both_sound & ~is_single & (difference > share * size) for share in (DISAGREEMENT, FAR_APART)
    )
    contradict = (is_apart & IS_ADDITIVE[windows.concept]) | (is_far & IS_PER_SHARE[windows.concept])
    return is_apart, NO_CONTRADICTING_METHODS.where(contradict)


def _contradictions(windows: Windows, methods: TwoMethods, differ: Flags) -> tuple[Flags, Flags, Flags]:
    """Decide between the two methods where they contradict each other.

    A method counts if two filings confirm each of its legs, the method by years first. After a restatement the quarters
    are often on two bases, so the method by years counts too. The method by quarters counts instead if the quarters
    agree with twelve months by years with other legs: with the newest amount of the year, if its interim period was
    restated too, or with the newest amounts of all three legs. The year is then on another basis.

    Returns:
        three arrays: whether the method by years counts, whether the method by quarters counts, whether neither counts.
    """
    found = np.zeros((3, len(differ)), dtype=np.bool_)
    rows = np.flatnonzero(differ)
    some, years, quarters, of = windows.subset(rows), methods.by_years, methods.by_quarters, windows.of
    by_years, by_quarters = years.amount[rows], quarters.amount[rows]
    digits = DIGITS_OF_SUMS * np.fmax(years.grain, quarters.grain)[rows]
    legs = years.rows[:, rows], quarters.rows[:, rows]
    of_years, of_quarters = (_confirmed(some, of_method) for of_method in legs)
    is_restated = IS_ADDITIVE[some.concept] & any_of(of("revised", np.concatenate(legs)) >= 0)
    newest_year = of("amount", some.find(some.year_before, QUARTERS_A_YEAR))
    as_restated = by_years - of("amount", methods.years.year[rows]) + newest_year
    adds_up = methods.years.is_doubtful[rows] & (abs(as_restated - by_quarters) <= digits)
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


def _behind_quarters(windows: Windows, methods: TwoMethods, may_take_years: Flags) -> tuple[Flags, Flags]:
    """Find years to date on an older basis than the quarters that the filing of the year, or a later one, states.

    Args:
        windows: the windows.
        methods: the methods.
        may_take_years: the windows for which the method by years would count, or no method.

    Returns:
        for each window, whether a year to date is on an older basis, and whether the method by quarters then is on the
        basis of these quarters.
    """
    is_behind, agrees = np.zeros((2, len(may_take_years)), dtype=np.bool_)
    by_years, by_quarters = methods.by_years, methods.by_quarters
    is_same = by_quarters.is_sound & (abs(by_years.amount - by_quarters.amount) <= by_years.grain)
    rows = np.flatnonzero(may_take_years & ~is_same & IS_ADDITIVE[windows.concept] & (windows.quarter > 1))
    amount, is_behind[rows] = on_basis_of_quarters(windows.subset(rows), by_years.rows[:3, rows])
    is_near = abs(by_quarters.amount[rows] - amount) <= DISAGREEMENT * abs(amount)
    agrees[rows] = is_behind[rows] & by_quarters.is_sound[rows] & is_near
    return is_behind, agrees


def _paid_later(windows: Windows, quarters: Floats, legs: Ints) -> Flags:
    """Find dividends that were paid in the window, but may have been declared in another one.

    This applies if the filer pays dividends in some quarters only, and the sum of four quarters changes one quarter
    later.

    Args:
        windows: the windows.
        quarters: the dividends of the four quarters of each window.
        legs: the legs of these quarters.
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
    """The largest daily amount of a leg divided by the smallest one, by years and by quarters.

    The daily amount of shares is their average count.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        legs = windows.of("amount", by_years.rows) / windows.of("days", by_years.rows)
        of_years, of_quarters = (
            np.fmax.reduce(daily) / np.fmin.reduce(daily) for daily in (legs, quarters.amount / quarters.days)
        )
    return np.where(np.isfinite(of_years), of_years, np.nan), np.where(np.isfinite(of_quarters), of_quarters, np.nan)


def excess_of_unreported_part(
    windows: Windows, by_years: TtmMethod, years: Years, quarters: Quarters
) -> tuple[Floats, Floats]:
    """How far the part of an average share count that no filing states is above or below the averages around it.

    By years this part is the fiscal year less the interim period that is subtracted. It is compared with both years to
    date and with the quarters that filings state, from the quarter before this part to the one after it. By quarters
    this part is each quarter by difference. It is compared with the stated quarters of the window.

    Returns:
        the excess (shares times days) as a share of the sum of the window, by years and by quarters; NaN if nothing
        can be compared.
    """
    of_years, of_quarters = np.full((2, len(windows.q)), np.nan)
    rows = np.flatnonzero(IS_COUNT[windows.concept] & ~windows.is_year_end)
    some, of, legs = windows.subset(rows), windows.of, by_years.rows[:3, rows]
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
    """The excess of an amount over its days times the largest average; negative if below the smallest average.

    An amount between the two, or within `rounding` of them, has the excess 0; without days it is NaN.
    """
    over = amount - days * np.fmax.reduce(averages) - rounding
    under = days * np.fmin.reduce(averages) - rounding - amount
    return np.where(days > 0, np.maximum(over, 0.0) - np.maximum(under, 0.0), np.nan)
