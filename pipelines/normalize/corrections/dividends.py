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
from pipelines.normalize.keys import any_of, pairs_of_equal
from pipelines.normalize.rule import Rule

PER_SHARE, PAID = "dividends_per_share", "dividends_paid"

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
LIKE_A_QUARTER = 0.5
"""A rate is like the dividend of a quarter in or next to the period, within this share."""
A_QUARTER = (75, 110)
"""Fewest and most days of a quarter."""
NEAR_POWER = 0.3
"""The largest distance of a quotient from a power of a thousand, in powers of ten."""
DAYS_A_QUARTER = 91.3

BY_PAYMENTS = "dividends paid over shares of the same filing"
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
RULES = (NOT_NEGATIVE, RATE, SCALE, NOT_AS_PAID)


def proposals(figures: Figures) -> list[Proposal]:
    """Dividends per share that are wrong in sign or scale, rates, and those that payments contradict."""
    at = figures.of_concepts((PER_SHARE,))
    at = at[figures.value[at] < 0]
    found = [Proposal(NOT_NEGATIVE, BY_DEFINITION, at, np.full(len(at), -1.0))]
    if not len(figures.of_concepts((PAID,))):
        return found
    beside, habits, times, is_paid = _compared(figures)
    known = np.isfinite(times) & (times > 0)
    quarters = np.round((beside.end - beside.start + 1) / DAYS_A_QUARTER)
    is_usual = habits.hold(known, is_paid)
    power = power_of_thousand(times, NEAR_POWER)
    off_scale = known & ~np.isnan(power) & (np.abs(power) >= POWER)
    is_rate = known & ~is_paid & (quarters >= 2) & (np.abs(times - quarters) <= NEAR_RATE * quarters)
    is_rate &= _like_a_quarter(figures, beside)
    is_common = is_of(figures, beside, PAID, (0,))
    off = known & is_usual & is_common & ~is_rate & ~off_scale & ((times > CLEARLY) | (times < 1 / CLEARLY))
    is_exact = habits.hold(known, np.abs(times - 1) <= NEARLY, MANY_OTHERS, NEARLY_ALL)
    off |= known & is_exact & ~is_rate & ~off_scale & (np.abs(times - 1) > APART)
    return [
        *found,
        beside.propose(SCALE, BY_PAYMENTS, PER_SHARE, off_scale, 10.0 ** np.where(off_scale, power, 0.0)),
        beside.propose(RATE, BY_PAYMENTS, PER_SHARE, is_rate, np.nan),
        beside.propose(NOT_AS_PAID, BY_PAYMENTS, PER_SHARE, off, np.nan),
    ]


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
    beside = SideBySide.of(figures, (PER_SHARE, PAID, *COUNTS))
    value = beside.value
    shares = either(*(value[count] for count in COUNTS))
    times = np.abs(value[PAID]) / (np.abs(value[PER_SHARE]) * shares)
    return beside, Habits(beside), times, np.abs(times - 1) <= AS_PAID
