"""Dividends per share: rates, signs and scales that dividends paid and shares of the same filing contradict.

Belongs here: dividends per share times shares against dividends paid. Does not: a quarter's figure in the context of a
year that other quarters prove (contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.corrections.agreement import Habits
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import POWER, power_of_thousand
from pipelines.normalize.corrections.side_by_side import COUNTS, SideBySide, either
from pipelines.normalize.corrections.votes import is_of
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.keys import any_of, pairs_of_equal
from pipelines.normalize.rule import Rule

PER_SHARE, PAID, DECLARED, PAID_PER_SHARE = (
    "dividends_per_share",
    "dividends_paid",
    "dividends_declared",
    "dividends_paid_per_share",
)

AS_PAID = 0.25
"""Dividends per share times shares are the dividends paid if they differ by less than this share: those declared are
paid some weeks later, on other counts, and some are paid on preferred stock or on shares that are not yet vested."""
NEAR_RATE = 0.2
"""Dividends paid are several times the rate if the quotient is so near to the number of quarters, as a share of it."""
CLEARLY = 1.9
"""Payments some weeks after the declarations, and special ones, move the quotient by less than this factor where both
agree in the company's other periods (measured: Acme United paid a quarter early in 2012, General Motors resumed them in
2022)."""
NEARLY, APART = 0.06, 0.12
"""Where dividends paid were within the first share in nearly all other periods, a difference of more than the second
contradicts."""
MANY_OTHERS, NEARLY_ALL = 6, 0.95
"""... in so many other periods, and this share of them."""
SAME = 0.05
"""Dividends declared and dividends paid are one amount, and dividends paid per share times shares are those paid, if
they differ by less than this share. Measured on 228 companies: dividends per share times average shares are within it
of the dividends declared in 94 % of 1,161 periods, and within AS_PAID in 97 %; nearly all others are rates."""
MORE_THAN_PAID = 1.5
"""Dividends per share times average shares exceed all dividends paid, or those declared, by less than this factor, also
in a year in which many shares were issued. Measured: at most 1.36 times where the figures are right."""
A_YEAR = 340
"""Fewest days of a fiscal year."""
LIKE_A_QUARTER = 0.5
"""A rate is like the dividend of a quarter in or next to the period, within this share."""
A_QUARTER = (75, 110)
"""Fewest and most days of a quarter."""
NEAR_POWER = 0.3
"""The largest distance of a quotient from a power of a thousand, in powers of ten."""
DAYS_A_QUARTER = 91.3

PAID_RANKS = tuple(
    rank
    for rank, source in enumerate(BY_NAME[PER_SHARE].sources)
    if set(source.elements) & {element for other in BY_NAME[PAID_PER_SHARE].sources for element in other.elements}
)
"""Ranks of the sources of dividends per share that are those paid."""
COMMON_RANKS = (0, 1)
"""Ranks of the sources of dividends declared that are those on common stock alone."""
ORDINARY_RANKS = (2,)
"""Ranks of the sources of dividends paid that are ordinary ones: General Electric's include those on preferred stock in
some years, and in 2017 a dividend that was halved later."""

BY_PAYMENTS = "dividends paid over shares of the same filing"
BY_DECLARED = "dividends declared, which are those paid, over shares of the same filing"
BY_DEFINITION = "dividends are not negative"

NOT_NEGATIVE = Rule(
    "correction.sign.dividends",
    "The sign of negative dividends per share is reversed.",
    "Taxonomy definition: the amount of dividends declared per share; the minus sign is that of the printed statement",
    "correct",
)
RATE = Rule(
    "correction.dividends.rate",
    "Dividends per share of a longer period are left out if dividends paid over shares are two, three or four times as "
    "much, as many as the period has quarters, and a quarter in or next to it has about that dividend: a rate.",
    "Taxonomy definition: dividends declared per share during the period",
    "withhold",
)
SCALE = Rule(
    "correction.scale.dividends-by-payments",
    "Dividends per share that differ by a power of a thousand from dividends paid over shares are multiplied by it.",
    "Taxonomy definitions: dividends per share times the shares are the dividends",
    "correct",
)
NOT_AS_PAID = Rule(
    "correction.dividends.not-as-paid",
    "Dividends per share that differ from dividends paid on common stock over shares, although both are equal in other "
    "periods of the company, are left out.",
    SCALE.source,
    "withhold",
)
AS_PAID_PER_SHARE = Rule(
    "correction.dividends.as-paid-per-share",
    "Dividends declared or recognised per share are replaced by those paid per share of the same filing and period if "
    "dividends paid over shares differ from the former and are the latter: a proposal for the year is paid later.",
    "IAS 1.107: dividends recognised as distributions to owners during the period; IAS 10.12: a dividend declared "
    "after the period is not recognised in it",
    "correct",
)
NOT_AS_DECLARED = Rule(
    "correction.dividends.not-as-declared",
    "Dividends per share that differ from dividends declared over shares are left out if dividends paid are the same "
    f"as those declared, and if shares would have to be more than {MORE_THAN_PAID:g} times as many, or as few.",
    SCALE.source,
    "withhold",
)
MORE_THAN_ALL = Rule(
    "correction.dividends.more-than-paid",
    f"Dividends paid per share of a year that are, times shares, more than {MORE_THAN_PAID:g} times all dividends paid "
    "are left out.",
    "Taxonomy definitions: dividends on common stock are a part of all dividends paid",
    "withhold",
)
RULES = (NOT_NEGATIVE, RATE, SCALE, NOT_AS_PAID, AS_PAID_PER_SHARE, NOT_AS_DECLARED, MORE_THAN_ALL)


def proposals(figures: Figures) -> list[Proposal]:
    """Dividends per share that are wrong in sign or scale, rates, and those that payments contradict."""
    at = figures.of_concepts((PER_SHARE,))
    at = at[figures.value[at] < 0]
    found = [Proposal(NOT_NEGATIVE, BY_DEFINITION, at, np.full(len(at), -1.0))]
    if not len(figures.of_concepts((PAID,))):
        return found
    beside, habits, times, is_paid = _compared(figures)
    value = beside.value
    known = np.isfinite(times) & (times > 0)
    quarters = np.round((beside.end - beside.start + 1) / DAYS_A_QUARTER)
    is_usual = habits.hold(known, is_paid)
    power = power_of_thousand(times, NEAR_POWER)
    others = times * value[PER_SHARE] / value[PAID_PER_SHARE]
    takes_other = known & (np.abs(times - 1) > APART) & (np.abs(others - 1) <= SAME)
    off_scale = known & ~takes_other & ~np.isnan(power) & (np.abs(power) >= POWER)
    is_rate = known & ~is_paid & (quarters >= 2) & (np.abs(times - quarters) <= NEAR_RATE * quarters)
    is_rate &= _like_a_quarter(figures, beside) & ~takes_other
    may_be_off = known & ~is_rate & ~off_scale & ~takes_other
    is_common = is_of(figures, beside, PAID, (0,))
    off = may_be_off & is_usual & is_common & ((times > CLEARLY) | (times < 1 / CLEARLY))
    is_exact = habits.hold(known, np.abs(times - 1) <= NEARLY, MANY_OTHERS, NEARLY_ALL)
    off |= may_be_off & is_exact & (np.abs(times - 1) > APART) & ~is_of(figures, beside, PAID, ORDINARY_RANKS)
    declared = np.abs(value[DECLARED]) / (np.abs(value[PER_SHARE]) * either(*(value[count] for count in COUNTS)))
    is_known = np.isfinite(declared) & (declared > 0) & ~is_rate & ~off_scale & ~takes_other & ~off
    is_same = np.abs(np.abs(value[PAID] / value[DECLARED]) - 1) <= SAME
    of_common = is_of(figures, beside, DECLARED, COMMON_RANKS)
    is_off = (declared < 1 / MORE_THAN_PAID) | (of_common & (declared > MORE_THAN_PAID))
    not_declared = is_known & is_same & is_off
    is_year = beside.end - beside.start >= A_YEAR
    is_more = may_be_off & ~off & ~not_declared & is_year & is_of(figures, beside, PER_SHARE, PAID_RANKS)
    is_more &= times < 1 / MORE_THAN_PAID
    found += [
        beside.propose(SCALE, BY_PAYMENTS, PER_SHARE, off_scale, 10.0 ** np.where(off_scale, power, 0.0)),
        beside.propose(RATE, BY_PAYMENTS, PER_SHARE, is_rate, np.nan),
        beside.propose(NOT_AS_PAID, BY_PAYMENTS, PER_SHARE, off, np.nan),
        beside.propose(
            AS_PAID_PER_SHARE, BY_PAYMENTS, PER_SHARE, takes_other, value[PAID_PER_SHARE] / value[PER_SHARE]
        ),
        beside.propose(NOT_AS_DECLARED, BY_DECLARED, PER_SHARE, not_declared, np.nan),
        beside.propose(MORE_THAN_ALL, BY_PAYMENTS, PER_SHARE, is_more, np.nan),
    ]
    confirmed = beside.place[PER_SHARE][np.abs(times - 1) <= SAME]
    return [_with_repetitions(figures, proposal, confirmed) for proposal in found]


def _with_repetitions(figures: Figures, proposal: Proposal, as_paid: Ints) -> Proposal:
    """A proposal, also for the same figures of the same period in later filings, unless dividends paid confirm them."""
    if not len(proposal.at) or proposal.rule == NOT_NEGATIVE:
        return proposal
    order = np.argsort(proposal.at)
    at, factor = proposal.at[order], proposal.factor[order]
    first = figures.first[at]
    later = np.setdiff1d(figures.of_concepts((PER_SHARE,)), np.union1d(at, as_paid))
    last = np.searchsorted(at, later) - 1
    repeats = (last >= 0) & (first[last] == figures.first[later]) & (figures.value[at[last]] == figures.value[later])
    return Proposal(
        proposal.rule,
        proposal.evidence,
        np.concatenate([at, later[repeats]]),
        np.concatenate([factor, factor[last[repeats]]]),
    )


def holding(figures: Figures) -> tuple[Ints, Floats, Floats]:
    """The places of dividends per share that are as paid; each times shares, and the dividends paid."""
    if not len(figures.of_concepts((PAID,))):
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    beside, _, times, is_paid = _compared(figures)
    rows = np.flatnonzero(is_paid)
    paid = np.abs(beside.value[PAID][rows])
    return beside.place[PER_SHARE][rows], paid / times[rows], paid


def _like_a_quarter(figures: Figures, beside: SideBySide) -> Flags:
    """Whether a quarter in or next to each period has about the dividend of the period, as known after its filing."""
    at = figures.of_concepts((PER_SHARE,))
    days = figures.days[at]
    at = at[(days >= A_QUARTER[0]) & (days <= A_QUARTER[1])]
    asked = np.flatnonzero(beside.place[PER_SHARE] >= 0)
    order = at[np.argsort(figures.company[at], kind="stable")]
    pair, found = pairs_of_equal(beside.company[asked], figures.company[order])
    row, quarter = asked[pair], order[found]
    value = beside.value[PER_SHARE][row]
    near = (figures.start[quarter] >= beside.start[row] - A_QUARTER[1]) & (figures.seq[quarter] <= beside.seq[row])
    near &= figures.end[quarter] <= beside.end[row] + A_QUARTER[1]
    near &= np.abs(figures.value[quarter] / value - 1) <= LIKE_A_QUARTER
    return any_of(row, len(beside.seq), near)


def _compared(figures: Figures) -> tuple[SideBySide, Habits, Floats, Flags]:
    """The figures of each filing and period, the dividends paid as a multiple, and whether they agree."""
    beside = SideBySide.of(figures, (PER_SHARE, PAID, DECLARED, PAID_PER_SHARE, *COUNTS))
    value = beside.value
    shares = either(*(value[count] for count in COUNTS))
    times = np.abs(value[PAID]) / (np.abs(value[PER_SHARE]) * shares)
    return beside, Habits(beside), times, np.abs(times - 1) <= AS_PAID
