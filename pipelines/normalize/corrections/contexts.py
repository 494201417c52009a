"""Contexts: figures that a filing states for a wrong period.

Belongs here: errors of context that the same filing and earlier ones prove. Does not: scale, signs.

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, starts
from pipelines.normalize.corrections.figures import Figures
from pipelines.normalize.keys import packed, pairs_of_equal
from pipelines.normalize.rule import Rule

FOUR_DIGITS = 1e3
"""An amount of at least four digits does not equal that of another year by chance; any amount that equals that of a
part of its own period is an error."""
AMOUNTS, ROUND_DIGITS = 2, 2
"""Two amounts with more than two digits, of one period or of one line, do not both equal those of another year by
chance."""
AMOUNTS_OF_LINE = 3
"""Three amounts of one line, however round, do not all equal those of another year by chance."""
EXACT_DIGITS = 9
"""Figures are equal if they agree to so many digits; figures corrected before differ by binary fractions."""
RESTATED = 0.005
"""A figure repeats the first statement of its period if it differs from it by less than this share."""
A_YEAR = (350, 380)
"""Fewest and most days between the ends of the same period in two years: 52 or 53 weeks, with shifted ends."""
LENGTH = 0.25
"""A quarter's figure in the context of a year to date differs from the right one by more than this share. A restated
figure of a year differs by less, even if an earlier filing has stated it in the context of a quarter."""
A_QUARTER = (75, 110)
"""Fewest and most days of a quarter."""
UNITS_OF_SUM = 2
"""A sum of four rounded quarters differs from the year by at most so many units."""
ONE_END_DAYS = 8
"""Ends count as the same if they are fewer days apart, and lengths if they differ by at most so many days."""
QUARTERS = 4
FEWER = 0.5
"""A year before those of the statements has fewer than this share of their lines, such as those of equity alone."""
PART = 0.05
"""If the first part of a period has more than this share of its amount, the rest must have another amount."""

CONTEXTS_MEASURED = (
    "Measured on 101 companies: 55 of 175,000 figures are in the context of another period, contrary to earlier filings"
)
SAME_END_PERIOD = Rule(
    "correction.context.same-end",
    "A figure that differs from the first statement of its period and equals the first statement of a period with the "
    "same end and another length belongs to that period, and is left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR = Rule(
    "correction.context.year-apart",
    "An amount of four digits or more that differs from the first statement of its period and equals the first "
    "statement of the same period a year before or after belongs to that year, and is left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR_TOGETHER = Rule(
    "correction.context.year-apart-together",
    "Two amounts of a filing that are not round, of one period or of one line, that differ from the first statements "
    "and equal those of the year before or after belong to that year, and are left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR_OF_LINE = Rule(
    "correction.context.year-apart-of-line",
    "Three amounts of one line in a filing, however round, that differ from the first statements of their periods and "
    "equal those of the year before or after belong to that year, and are left out.",
    CONTEXTS_MEASURED,
    "correct",
)
BESIDE_PROVEN = Rule(
    "correction.context.beside",
    "If one figure of a filing is proven to belong to another period, its other figures in the same context are left "
    "out as well if they equal those of that period.",
    CONTEXTS_MEASURED,
    "correct",
)
LINE_OF_PROVEN = Rule(
    "correction.context.same-line",
    "If one figure of a line in a filing is proven to be shifted by a year, the figures of the line for other periods "
    "are left out as well if they equal those of the year before or after.",
    CONTEXTS_MEASURED,
    "correct",
)
LONGER_PERIOD = Rule(
    "correction.context.longer-period",
    "If a filing states the same figure for a year and for its last quarter, contrary to the figure of the first nine "
    "months, the quarter's figure is left out.",
    "ASC 270-10-45-1: interim periods are parts of an annual period, so the quarters add up to the year",
    "correct",
)
QUARTERS_OF_OTHER_YEAR = Rule(
    "correction.context.quarters-of-other-year",
    "If the four quarters of a fiscal year in one filing add up to the year before, as it states it, and not to their "
    "own year, they belong to the year before, and all figures of the filing in their contexts are left out.",
    "ASC 270-10-45-1: interim periods are parts of an annual period, so the quarters add up to the year",
    "correct",
)
YEAR_REPEATED = Rule(
    "correction.context.next-year-repeated",
    "If the first filing that states a year has the same amount of four digits or more for the year after, and for the "
    "earlier one fewer than half as many lines, the amount of the earlier year is left out.",
    "Measured on 228 companies: one filing, Riot Platforms' annual report of 2023, whose statement of equity has the "
    "loss of 2021 for 2020, too; the other equal amounts of two years are of periods with the same number of lines",
    "correct",
)
MEAN_OF_PART = Rule(
    "correction.context.mean-of-part",
    "An average number of shares of a year in an interim report that, to the digit, is that of a part of the year in "
    "the same report belongs to that part, and is left out.",
    "Measured on 228 companies: MainStreet's reports of 2019 alone, of a year in which shares were issued",
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
    QUARTERS_OF_OTHER_YEAR,
    YEAR_REPEATED,
    MEAN_OF_PART,
)


PROVEN_BY_LINE, PROVEN, BESIDE, OF_LINE, LONGER, REPEATED, SHORTER = range(7)
"""Ways to find a figure's true period; the first one that finds a period is taken."""


@dataclass(frozen=True, slots=True)
class WrongPeriods:
    """Figures in the context of a wrong period.

    at: places in Figures, each once.
    rule: number of the rule in RULES.
    true_start, true_end: the true period of each, as days since 1970.
    """

    at: Ints
    rule: Ints
    true_start: Ints
    true_end: Ints


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of a figure and an equal figure of its possible true period: places of both in Figures.

    way: how the pair was found: PROVEN and so on.
    rule: number of the rule in RULES.
    """

    at: Ints
    of: Ints
    way: Ints
    rule: Ints


def of_other_periods(figures: Figures) -> WrongPeriods:
    """The figures that belong to another period.

    A figure is in the wrong context if the first filing of its period states another amount, and if it equals, to the
    digit, the first statement of a period with the same end and another length, or of the same period a year before or
    after. The amount must have enough digits, or several such amounts must agree, so that chance is excluded. Then
    other figures of the filing in the same context, and of the same line in other contexts, are in the wrong context
    too if they equal the figures of that period. If a filing states the same figure for a year and for its last
    quarter, contrary to the figure of the first nine months, the quarter's figure is in the wrong context.
    So is that of a year before those of the statements which repeats the year after, and a year's average number of
    shares in an interim report which is that of a part of the year.

    Args:
        figures: on one scale and with their signs corrected.
    """
    digits = _to_the_digit(figures.value)
    shifted, days = _quarters_of_the_year_before(figures)
    of_one_filing = _equal_in_one_filing(figures, digits)
    found = [
        *_equal_to_other_periods(figures, digits),
        _repeating_longer(figures, *of_one_filing),
        _repeating_next_year(figures, *of_one_filing),
        _means_of_parts(figures, *of_one_filing),
    ]
    at, of, way, rule = (
        np.concatenate([getattr(pairs, name) for pairs in found]) for name in ("at", "of", "way", "rule")
    )
    order = np.lexsort((figures.end[of], figures.start[of], way, at))
    chosen = order[starts(at[order])]
    chosen = chosen[~np.isin(at[chosen], shifted)]
    return WrongPeriods(
        np.concatenate([at[chosen], shifted]),
        np.concatenate([rule[chosen], np.full(len(shifted), RULES.index(QUARTERS_OF_OTHER_YEAR))]),
        np.concatenate([figures.start[of[chosen]], figures.start[shifted] - days]),
        np.concatenate([figures.end[of[chosen]], figures.end[shifted] - days]),
    )


def _quarters_of_the_year_before(figures: Figures) -> tuple[Ints, Ints]:
    """The figures in the contexts of four quarters that add up to the year before, and the days by which they err."""
    is_flow = ~figures.is_instant & (figures.measure_sign == 0)
    quarters = np.flatnonzero(is_flow & (figures.days >= A_QUARTER[0]) & (figures.days <= A_QUARTER[1]))
    years = np.flatnonzero(is_flow & (figures.days >= A_YEAR[0]) & (figures.days <= A_YEAR[1]))
    nothing = np.zeros(0, dtype=np.int64)
    of_quarter, of_year = (packed(figures.line, figures.seq)[at] for at in (quarters, years))
    order = np.argsort(of_year, kind="stable")
    asked, found = pairs_of_equal(of_quarter, of_year[order])
    quarter, year = quarters[asked], years[order][found]
    is_within = figures.start[quarter] > figures.start[year] - ONE_END_DAYS
    is_within &= figures.end[quarter] < figures.end[year] + ONE_END_DAYS
    quarter, year = quarter[is_within], year[is_within]
    by_year = np.argsort(year, kind="stable")
    quarter, year = quarter[by_year], year[by_year]
    begins = np.flatnonzero(starts(year))
    four = np.flatnonzero(np.diff(np.append(begins, len(year))) == QUARTERS)
    if not len(four):
        return nothing, nothing
    own = year[begins[four]]
    amounts = figures.value[quarter[begins[four][:, None] + np.arange(QUARTERS)]]
    total, unit = amounts.sum(axis=1), UNITS_OF_SUM * figures.grain[own]
    pair, other = pairs_of_equal(packed(figures.line, figures.seq)[own], of_year[order])
    before = years[order][other]
    holds = np.abs(figures.start[own[pair]] - figures.end[before] - 1) < ONE_END_DAYS
    holds &= (np.abs(total[pair] - figures.value[before]) <= unit[pair]) & (
        np.abs(total[pair]) > FOUR_DIGITS * unit[pair]
    )
    holds &= np.abs(total[pair] - figures.value[own[pair]]) > unit[pair]
    holds &= np.ptp(amounts, axis=1)[pair] > unit[pair]
    wrong = quarter[(begins[four[pair[holds]]][:, None] + np.arange(QUARTERS))].ravel()
    days = np.repeat(figures.start[own[pair[holds]]] - figures.start[before[holds]], QUARTERS)
    if not len(wrong):
        return nothing, nothing
    period = _period(figures)
    shown, first = np.unique(period[wrong], return_index=True)
    at = np.flatnonzero(np.isin(period, shown) & ~figures.is_instant)
    return at, days[first][np.searchsorted(shown, period[at])]


def _equal_to_other_periods(figures: Figures, digits: Ints) -> list[_Pairs]:
    """Restated figures that equal those of other periods, and figures of the same context or line that do so too."""
    is_money = (figures.measure_sign == 0) & ~figures.is_instant & (figures.value != 0)
    changed = _off(figures, RESTATED)
    anew = np.flatnonzero(changed & ~figures.is_first & is_money)
    if not len(anew):
        return []
    line_and_digits = packed(figures.line, digits)
    at, of = _equal_figures(figures, line_and_digits, anew)
    proven = _proven(figures, at, of)
    if not len(proven.at):
        return []
    period, line = _period(figures), packed(figures.line, figures.seq)
    near = np.isin(period, period[proven.at]) | np.isin(line, line[proven.at])
    at, of = _equal_figures(figures, line_and_digits, np.flatnonzero(near & (changed | figures.is_first)))
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
    """The pairs that cannot be equal by chance: enough digits, or enough pairs."""
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


def _equal_figures(figures: Figures, line_and_digits: Ints, at: Ints) -> tuple[Ints, Ints]:
    """Pairs of figures and equal first statements of related periods in the same or an earlier filing.

    Args:
        figures: all figures.
        line_and_digits: a key that is the same for equal figures of one line.
        at: places of the figures to pair.
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


def _equal_in_one_filing(figures: Figures, digits: Ints) -> tuple[Ints, Ints]:
    """Pairs of equal figures of one line in one filing, of which neither is zero."""
    flows = np.flatnonzero(~figures.is_instant & (figures.value != 0))
    key = packed(*(column[flows] for column in (figures.line, figures.seq, digits)))
    order = np.argsort(key, kind="stable")
    flows, key = flows[order], key[order]
    repeats = np.zeros(len(key), dtype=np.bool_)
    repeats[1:] |= key[1:] == key[:-1]
    repeats[:-1] |= key[1:] == key[:-1]
    at, of = (flows[repeats][places] for places in pairs_of_equal(key[repeats], key[repeats]))
    return at, of


def _repeating_next_year(figures: Figures, at: Ints, of: Ints) -> _Pairs:
    """Figures of a year of which the filing states few lines, equal to those of the year after."""
    days, apart = figures.days, figures.end[of] - figures.end[at]
    holds = (apart >= A_YEAR[0]) & (apart <= A_YEAR[1]) & (np.abs(days[at] - days[of]) <= ONE_END_DAYS)
    holds &= (days[at] >= A_YEAR[0]) & figures.is_first[at] & (figures.measure_sign[at] == 0)
    holds &= np.abs(figures.value[at]) >= FOUR_DIGITS * figures.grain[at]
    at, of = at[holds], of[holds]
    if len(at):
        shown, lines = np.unique(_period(figures), return_inverse=True, return_counts=True)[1:]
        is_alone = lines[shown[at]] < FEWER * lines[shown[of]]
        at, of = at[is_alone], of[is_alone]
    way, rule = (np.full(len(at), number) for number in (REPEATED, RULES.index(YEAR_REPEATED)))
    return _Pairs(at, of, way, rule)


def _repeating_longer(figures: Figures, at: Ints, of: Ints) -> _Pairs:
    """Figures that repeat that of a longer period with the same end, although its first part has an amount too."""
    days = figures.days
    holds = (np.abs(figures.end[at] - figures.end[of]) < ONE_END_DAYS) & (figures.measure_sign[at] <= 0)
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


def _means_of_parts(figures: Figures, at: Ints, of: Ints) -> _Pairs:
    """Averages of a year, in a report of a later period that is no year, that are those of a part of the year."""
    days = figures.days
    holds = (figures.measure_sign[at] > 0) & (days[at] >= A_YEAR[0]) & (days[of] < A_YEAR[0] - A_QUARTER[0])
    holds &= (figures.start[of] > figures.start[at] - ONE_END_DAYS) & (figures.end[of] < figures.end[at] + ONE_END_DAYS)
    at, of = at[holds], of[holds]
    if len(at):
        line = packed(figures.line, figures.seq)
        shown, place = np.unique(line[at], return_inverse=True)
        beside = np.flatnonzero(np.isin(line, shown))
        last = np.zeros((2, len(shown)), dtype=np.int64)
        is_year = (days[beside] >= A_YEAR[0]).astype(np.int64)
        np.maximum.at(last, (is_year, np.searchsorted(shown, line[beside])), figures.end[beside])
        is_interim = last[0, place] > last[1, place]
        at, of = at[is_interim], of[is_interim]
    way, rule = (np.full(len(at), number) for number in (SHORTER, RULES.index(MEAN_OF_PART)))
    return _Pairs(at, of, way, rule)


def _shift(figures: Figures, at: Ints, of: Ints) -> Ints:
    """0 if both periods of a pair have the same end; 1 if the other one ends a year earlier, -1 if a year later."""
    apart = figures.end[at] - figures.end[of]
    return np.where(np.abs(apart) < ONE_END_DAYS, 0, np.sign(apart))


def _period(figures: Figures) -> Ints:
    """One number for each company, filing and period."""
    return packed(figures.company, figures.seq, figures.start, figures.end)


def _shown_as(figures: Figures, at: Ints, of: Ints) -> Ints:
    """One number for each company, filing, period, and other period of the pair."""
    columns = (figures.company, figures.seq, figures.start, figures.end)
    return packed(packed(*(column[at] for column in columns)), figures.start[of], figures.end[of])


def _distinct(key: Ints, size: Floats, counts: Flags) -> Ints:
    """The number of distinct sizes among the rows with the same key that count."""
    groups, group = np.unique(key, return_inverse=True)
    sizes, number = np.unique(size, return_inverse=True)
    pairs = np.unique(group[counts] * len(sizes) + number[counts])
    return np.bincount(pairs // max(len(sizes), 1), minlength=len(groups))[group]


def _off(figures: Figures, share: float) -> Flags:
    """Whether a figure differs from the first one of its line and period by more than a share; true for zero too."""
    return ~(np.abs(figures.value / figures.value[figures.first] - 1) <= share)


def _to_the_digit(value: Floats) -> Ints:
    """A whole number for each figure, equal for figures that agree in sign and in EXACT_DIGITS digits."""
    size = np.abs(value)
    exponent = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    digits = np.floor(size * 10.0 ** (EXACT_DIGITS - 1 - exponent) + 0.5)
    carries = digits >= 10**EXACT_DIGITS
    digits, exponent = np.where(carries, digits / 10, digits), exponent + carries
    number: Ints = (exponent.astype(np.int64) * 10**EXACT_DIGITS + digits.astype(np.int64)) * 2 + (value < 0)
    return number
