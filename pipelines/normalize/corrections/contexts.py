"""Contexts: figures that a filing states for another period than the one that they belong to.

Belongs here: what earlier filings and the same filing prove about the period of a figure. Does not: scale, signs.

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, starts
from pipelines.normalize.corrections.figures import Figures
from pipelines.normalize.keys import packed, pairs_of_equal
from pipelines.normalize.rule import Rule

FOUR_DIGITS = 1e3
"""An amount of four digits and more is not met in another year by chance; in a part of its own period none is."""
AMOUNTS, ROUND_DIGITS = 2, 2
"""Nor are so many amounts, those of so few digits not counted, that a filing states for one period and that are of one
other, or of one line for several periods and that are each of the year before."""
AMOUNTS_OF_LINE = 3
"""Nor, however round, so many of one line."""
EXACT_DIGITS = 9
"""Figures are equal where they agree to so many digits: what was multiplied before differs by binary fractions."""
RESTATED = 0.005
"""A figure that is this near to the first statement of its period, as a share of it, repeats it."""
A_YEAR = (350, 380)
"""Fewest and most days between the ends of the same stretch of two years: years of 52 and 53 weeks, shifted ends."""
LENGTH = 0.25
"""A quarter's figure in the place of a year to date is off by more than this share; a year's figure that is merely
restated is not, though an earlier filing may have put it into a quarter's place."""
ONE_END_DAYS = 8
"""Ends less than so many days apart are one end, and lengths up to so many days apart one length."""
PART = 0.05
"""A stretch that begins with the longer one, and made up more than this of it, leaves another figure for its rest."""

CONTEXTS_MEASURED = (
    "Measured on 101 companies: 55 of 175,000 figures stand in the context of another period, against earlier filings"
)
SAME_END_PERIOD = Rule(
    "correction.context.same-end",
    "A figure that differs from the first statement of its period, and equals what was first stated of a period with "
    "the same end and another length, belongs to that period and is left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR = Rule(
    "correction.context.year-apart",
    "An amount of four digits or more that differs from the first statement of its period, and equals what was first "
    "stated of the same stretch a year before or after, belongs to that year and is left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR_TOGETHER = Rule(
    "correction.context.year-apart-together",
    "Two amounts of a filing that are not round, for one period or of one line, that differ from the first statement "
    "and equal the figures of the year before or after belong to that year and are left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR_OF_LINE = Rule(
    "correction.context.year-apart-of-line",
    "Three amounts of one line in a filing, however round, that differ from the first statements of their periods and "
    "equal the figures of the year before or after belong to that year and are left out.",
    CONTEXTS_MEASURED,
    "correct",
)
BESIDE_PROVEN = Rule(
    "correction.context.beside",
    "The other figures that a filing states for a period of which one figure is proven to be another period's are left "
    "out where they, too, equal that period's.",
    CONTEXTS_MEASURED,
    "correct",
)
LINE_OF_PROVEN = Rule(
    "correction.context.same-line",
    "The figures of a line that a filing states for other periods than the one proven to be shifted by a year are left "
    "out where they, too, equal the figures of that year.",
    CONTEXTS_MEASURED,
    "correct",
)
LONGER_PERIOD = Rule(
    "correction.context.longer-period",
    "A filing that states one figure for a year and for its last quarter contradicts what was stated of the nine "
    "months between, and the quarter's figure is left out.",
    "ASC 270-10-45-1: interim periods are parts of an annual period, so that the quarters add up to the year",
    "correct",
)
RULES = (
    SAME_END_PERIOD,
    OTHER_YEAR,
    OTHER_YEAR_TOGETHER,
    OTHER_YEAR_OF_LINE,
    BESIDE_PROVEN,
    LINE_OF_PROVEN,
    LONGER_PERIOD,
)


PROVEN_BY_LINE, PROVEN, BESIDE, OF_LINE, LONGER = range(5)
"""Ways to find a figure's true period; the first one that finds any is taken."""


@dataclass(frozen=True, slots=True)
class Misplaced:
    """Figures of another period than their own.

    at: places in Figures, each once.
    rule: number of the rule in RULES.
    true_start, true_end: the period that each is of, as days since 1970.
    """

    at: Ints
    rule: Ints
    true_start: Ints
    true_end: Ints


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of a figure and an equal one of the period that it may be of: places of both in Figures.

    way: how the pair was found: PROVEN and so on.
    rule: number of the rule in RULES.
    """

    at: Ints
    of: Ints
    way: Ints
    rule: Ints


def misplaced(figures: Figures) -> Misplaced:
    """The figures that are another period's.

    An amount of enough digits, or amounts that are enough together, that the first filing of their period stated
    otherwise, and that are, to the digit, what was first stated of a period with the same end and another length, or of
    the same stretch a year before or after, stand in the wrong context. What the filing states for that period in other
    concepts, and of other periods in that concept, is misplaced in the same way where it, too, repeats the figure of
    the other period. And a filing that states one figure of a year and of its last quarter contradicts what was stated
    of the nine months between: the quarter's stands in the wrong context.

    Args:
        figures: on one scale and with their signs corrected.
    """
    digits = _to_the_digit(figures.value)
    found = [*_equal_to_other_periods(figures, digits), _repeating_longer(figures, digits)]
    at, of, way, rule = (
        np.concatenate([getattr(pairs, name) for pairs in found]) for name in ("at", "of", "way", "rule")
    )
    order = np.lexsort((figures.end[of], figures.start[of], way, at))
    chosen = order[starts(at[order])]
    return Misplaced(at[chosen], rule[chosen], figures.start[of[chosen]], figures.end[of[chosen]])


def _equal_to_other_periods(figures: Figures, digits: Ints) -> list[_Pairs]:
    """Figures stated anew that equal those of other periods, and what stands beside them and does so too."""
    is_money = (figures.measure_sign == 0) & ~figures.is_instant & (figures.value != 0)
    changed = _off(figures, RESTATED)
    anew = np.flatnonzero(changed & ~figures.is_first & is_money)
    if not len(anew):
        return []
    line_and_digits = packed(figures.line, digits)
    at, of = _twins(figures, line_and_digits, anew)
    proven = _proven(figures, at, of)
    if not len(proven.at):
        return []
    period, line = _period(figures), packed(figures.line, figures.seq)
    near = np.isin(period, period[proven.at]) | np.isin(line, line[proven.at])
    at, of = _twins(figures, line_and_digits, np.flatnonzero(near & (changed | figures.is_first)))
    both_at, both_of = np.concatenate([proven.at, at]), np.concatenate([proven.of, of])
    shift = _shift(figures, both_at, both_of)
    shown_as, shifted = _shown_as(figures, both_at, both_of), packed(line[both_at], shift)
    beside, same_line = (np.isin(key[len(proven.at) :], key[: len(proven.at)]) for key in (shown_as, shifted))
    same_line &= shift[len(proven.at) :] != 0
    return [
        proven,
        *(
            _Pairs(at[holds], of[holds], *(np.full(holds.sum(), number) for number in (way, RULES.index(rule))))
            for holds, way, rule in ((beside, BESIDE, BESIDE_PROVEN), (same_line, OF_LINE, LINE_OF_PROVEN))
        ),
    ]


def _proven(figures: Figures, at: Ints, of: Ints) -> _Pairs:
    """The pairs of amounts that are too many, or of too many digits, to be equal by chance."""
    size, shift = np.abs(figures.value[at]), _shift(figures, at, of)
    shown_as, shifted = _shown_as(figures, at, of), packed(figures.line[at], figures.seq[at], shift)
    same_end = shift == 0
    is_exact = same_end | (pl.Series(size).round_sig_figs(ROUND_DIGITS).to_numpy() != size)
    together = np.maximum(*(_distinct(key, size, is_exact) for key in (shown_as, shifted))) >= AMOUNTS
    of_line = _distinct(shifted, size, np.ones(len(size), dtype=np.bool_)) >= AMOUNTS_OF_LINE
    by_rule = (
        (SAME_END_PERIOD, same_end),
        (OTHER_YEAR, is_exact & (size >= FOUR_DIGITS * figures.grain[at])),
        (OTHER_YEAR_TOGETHER, is_exact & together),
        (OTHER_YEAR_OF_LINE, of_line),
    )
    rule = np.select([holds for _, holds in by_rule], [RULES.index(rule) for rule, _ in by_rule], default=-1)
    holds = rule >= 0
    return _Pairs(at[holds], of[holds], np.where(of_line, PROVEN_BY_LINE, PROVEN)[holds], rule[holds])


def _twins(figures: Figures, line_and_digits: Ints, at: Ints) -> tuple[Ints, Ints]:
    """Pairs of figures and the equal first ones of related periods that the same or an earlier filing states.

    Args:
        figures: all figures.
        line_and_digits: equal where two figures are of one line and equal.
        at: places of the figures asked about.
    """
    first = np.flatnonzero(figures.is_first & ~figures.is_instant)
    first = first[np.argsort(line_and_digits[first], kind="stable")]
    asked, found = pairs_of_equal(line_and_digits[at], line_and_digits[first])
    at, of = at[asked], first[found]
    apart = figures.end[at] - figures.end[of]
    longer = np.abs(figures.days[at] - figures.days[of])
    same_end = (np.abs(apart) < ONE_END_DAYS) & (longer > 2 * ONE_END_DAYS)
    a_year_apart = (np.abs(apart) >= A_YEAR[0]) & (np.abs(apart) <= A_YEAR[1]) & (longer <= ONE_END_DAYS)
    may_be_short = figures.is_first[at] | _off(figures, LENGTH)[at]
    holds = (figures.seq[of] <= figures.seq[at]) & ((same_end & may_be_short) | (~same_end & a_year_apart))
    return at[holds], of[holds]


def _repeating_longer(figures: Figures, digits: Ints) -> _Pairs:
    """What repeats the figure of a longer stretch with the same end, of which the stretch before it made up a part."""
    additive = np.flatnonzero(~figures.is_instant & (figures.measure_sign <= 0) & (figures.value != 0))
    key = packed(*(column[additive] for column in (figures.line, figures.seq, digits)))
    order = np.argsort(key, kind="stable")
    additive, key = additive[order], key[order]
    repeats = np.zeros(len(key), dtype=np.bool_)
    repeats[1:] |= key[1:] == key[:-1]
    repeats[:-1] |= key[1:] == key[:-1]
    at, of = (additive[repeats][places] for places in pairs_of_equal(key[repeats], key[repeats]))
    days = figures.days
    holds = np.abs(figures.end[at] - figures.end[of]) < ONE_END_DAYS
    holds &= days[of] - days[at] > 2 * ONE_END_DAYS
    at, of = at[holds], of[holds]
    line_and_start = packed(figures.line, figures.start)
    pair, before = pairs_of_equal(line_and_start[of], line_and_start)
    at, of = at[pair], of[pair]
    part, whole = figures.value[before], figures.value[of]
    of_part, of_whole, of_rest = part / days[before], whole / days[of], whole / days[at]
    holds = (figures.seq[before] <= figures.seq[at]) & (part / whole > PART) & (part / whole < 1)
    holds &= np.abs(figures.start[at] - figures.end[before] - 1) < ONE_END_DAYS
    holds &= np.abs(of_whole - of_part) < np.abs(of_rest - of_part)
    way, rule = (np.full(holds.sum(), number) for number in (LONGER, RULES.index(LONGER_PERIOD)))
    return _Pairs(at[holds], of[holds], way, rule)


def _shift(figures: Figures, at: Ints, of: Ints) -> Ints:
    """0 where a figure's period ends with its twin's; 1 where the twin's is a year earlier, -1 a year later."""
    apart = figures.end[at] - figures.end[of]
    return np.where(np.abs(apart) < ONE_END_DAYS, 0, np.sign(apart))


def _period(figures: Figures) -> Ints:
    """One number for each company, filing and period."""
    return packed(figures.company, figures.seq, figures.start, figures.end)


def _shown_as(figures: Figures, at: Ints, of: Ints) -> Ints:
    """One number for each company, filing, period, and period of the twin."""
    columns = (figures.company, figures.seq, figures.start, figures.end)
    return packed(packed(*(column[at] for column in columns)), figures.start[of], figures.end[of])


def _distinct(key: Ints, size: Floats, counts: Flags) -> Ints:
    """How many distinct sizes are among the rows of the same key that count."""
    groups, group = np.unique(key, return_inverse=True)
    sizes, number = np.unique(size, return_inverse=True)
    pairs = np.unique(group[counts] * len(sizes) + number[counts])
    return np.bincount(pairs // max(len(sizes), 1), minlength=len(groups))[group]


def _off(figures: Figures, share: float) -> Flags:
    """Whether a figure is off the first one of its line and period by more than a share; so is a repeated zero."""
    return ~(np.abs(figures.value / figures.value[figures.first] - 1) <= share)


def _to_the_digit(value: Floats) -> Ints:
    """A whole number for each figure, the same for figures that agree in sign and in EXACT_DIGITS digits."""
    size = np.abs(value)
    exponent = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    digits = np.floor(size * 10.0 ** (EXACT_DIGITS - 1 - exponent) + 0.5)
    carries = digits >= 10**EXACT_DIGITS
    digits, exponent = np.where(carries, digits / 10, digits), exponent + carries
    number: Ints = (exponent.astype(np.int64) * 10**EXACT_DIGITS + digits.astype(np.int64)) * 2 + (value < 0)
    return number
