"""Dividends per share: corrects or leaves out amounts that dividends paid and shares of the same filing contradict.

Belongs here: dividends per share times shares against dividends paid. Does not: a quarter's figure in the context of a
year that other quarters prove (contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

from dataclasses import replace

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, any_of, pairs_of_equal
from pipelines.normalize.corrections.figures import (
    A_QUARTER,
    A_YEAR,
    COUNTS,
    EARNINGS,
    MANY_OTHERS,
    NEARLY_ALL,
    PARENT,
    Figures,
    PeriodRows,
    Proposal,
    first_known,
)
from pipelines.normalize.corrections.footing import Comparison
from pipelines.normalize.corrections.scale import NEAR_COUNTS
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.periods.calendar import DAYS_OF_QUARTER
from pipelines.normalize.powers import POWER, power_of_thousand
from pipelines.normalize.rule import Rule

PER_SHARE, PAID, DECLARED, PAID_PER_SHARE = (
    "dividends_per_share",
    "dividends_paid",
    "dividends_declared",
    "dividends_paid_per_share",
)

AS_PAID = 0.25
"""Dividends per share times shares agree with the dividends paid if they differ by less than this share: declared
dividends are paid some weeks later, on other counts, and some are paid on preferred stock or on shares that are not yet
vested."""
CLEARLY = 1.9
"""If dividends paid agree with dividends per share times shares in the company's other periods, payments some weeks
after the declarations and special dividends change their quotient by less than this factor (measured: Acme United paid
a quarter early in 2012, General Motors resumed dividends in 2022)."""
NEARLY, APART = 0.06, 0.12
"""If dividends paid were within the first share of dividends per share times shares in nearly all other periods, a
difference of more than the second share is a contradiction. Dividends declared and paid count as one amount within the
first share, too. Measured on 228 companies: dividends per share times average shares are within it of the dividends
declared in 94 % of 1,161 periods."""
MORE_THAN_PAID = 1.5
"""Dividends per share times average shares are less than this multiple of all dividends paid, or declared, also in a
year in which many shares were issued. Measured: at most 1.36 times where the figures are right."""
RATES_A_YEAR = (4, 12)
"""How many quarterly rates, and how many monthly rates, make the dividend of a year."""
LIKE_A_QUARTER = 0.5
"""A quarter in or next to the period confirms a rate if its dividend differs from it by at most this share."""

PAID_RANKS = tuple(
    rank
    for rank, source in enumerate(BY_NAME[PER_SHARE].sources)
    if set(source.elements) & {element for other in BY_NAME[PAID_PER_SHARE].sources for element in other.elements}
)
"""Ranks of the sources of dividends per share that use elements of dividends paid."""
COMMON_RANKS = (0, 1)
"""Ranks of the sources of dividends declared on common stock alone."""
PAID_ON_COMMON, ORDINARY_RANKS = (0,), (2,)
"""Ranks of the sources of dividends paid on common stock alone, and of ordinary dividends paid: General Electric's
include dividends on preferred stock in some years, and in 2017 a dividend that was halved later."""

BY_PAYMENTS = "dividends paid over shares of the same filing"

RATE = Rule(
    "correction.dividends.rate",
    "Dividends per share are left out as a quarterly or monthly rate if dividends over shares are 4 or 12 times as "
    "much in a year, or as many times as the period has quarters, one with about that amount.",
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
    "Dividends per share are left out if they differ from dividends paid over shares although both agree in the "
    "company's other periods, or if no share count within a factor of 1.5 of the average explains the difference.",
    SCALE.source,
    "withhold",
)
AS_PAID_PER_SHARE = Rule(
    "correction.dividends.as-paid-per-share",
    "Dividends declared or recognised per share are replaced by dividends paid per share of the same filing and "
    "period if dividends paid over shares equal the second and not the first: a dividend proposed for the year is "
    "paid later.",
    "IAS 1.107: dividends recognised as distributions to owners during the period; IAS 10.12: a dividend declared "
    "after the period is not recognised in it",
    "correct",
)


def proposals(figures: Figures) -> list[Proposal]:
    """Corrections of dividends per share: wrong scale, a rate instead of an amount, or a contradiction by payments."""
    rows, times, of_any = _compared(figures)
    known = np.isfinite(times) & (times > 0)
    power = power_of_thousand(times, NEAR_COUNTS)
    of_paid = rows[PAID_PER_SHARE] / rows[PER_SHARE]
    takes_other = (np.abs(times - 1) > APART) & (np.abs(times / of_paid - 1) <= NEARLY)
    is_year = rows.end - rows.start >= A_YEAR[0]
    quarters = np.round((rows.end - rows.start + 1) / DAYS_OF_QUARTER)
    is_rate = (quarters >= 2) & (np.abs(times - quarters) <= AS_PAID * quarters) & _like_a_quarter(rows)
    is_rate |= is_year & any_of([np.abs(of_any / times_a_year - 1) <= NEARLY for times_a_year in RATES_A_YEAR])
    is_off = (np.abs(times - 1) > APART) & ~rows.is_of(PAID, ORDINARY_RANKS)
    is_far = (np.abs(np.log(times)) > np.log(CLEARLY)) & rows.is_of(PAID, PAID_ON_COMMON)
    off = is_off & rows.usually_holds(known, np.abs(times - 1) <= NEARLY, MANY_OTHERS, NEARLY_ALL)
    off |= is_far & rows.usually_holds(known, np.abs(times - 1) <= AS_PAID)
    declared = times * np.abs(rows[DECLARED] / rows[PAID])
    off &= ~(np.abs(declared - 1) <= NEARLY)  # declared dividends can be paid in another period
    is_same = np.abs(np.abs(rows[PAID] / rows[DECLARED]) - 1) <= NEARLY
    not_declared = is_same & (declared < 1 / MORE_THAN_PAID)
    not_declared |= is_same & rows.is_of(DECLARED, COMMON_RANKS) & (declared > MORE_THAN_PAID)
    is_more = is_year & rows.is_of(PER_SHARE, PAID_RANKS)
    cases: tuple[tuple[Rule, str, Flags, Floats | float], ...] = (
        (AS_PAID_PER_SHARE, BY_PAYMENTS, takes_other, of_paid),
        (SCALE, BY_PAYMENTS, np.abs(power) >= POWER, 10.0**power),
        (RATE, BY_PAYMENTS, is_rate, np.nan),
        (NOT_AS_PAID, BY_PAYMENTS, off, np.nan),
        (NOT_AS_PAID, "dividends declared, which are those paid, over shares of the same filing", not_declared, np.nan),
        (NOT_AS_PAID, BY_PAYMENTS, is_more & (times < 1 / MORE_THAN_PAID), np.nan),
    )
    case = np.select(
        [rule.where((known | (rule is RATE)) & holds) for rule, _, holds, _ in cases], range(len(cases)), NOTHING
    )
    confirmed = rows.index[PER_SHARE][np.abs(times - 1) <= NEARLY]
    return [
        _with_repetitions(figures, rows.propose(rule, evidence, PER_SHARE, case == number, factor), confirmed)
        for number, (rule, evidence, _, factor) in enumerate(cases)
    ]


def _with_repetitions(figures: Figures, proposal: Proposal, as_paid: Ints) -> Proposal:
    """Extend a proposal to later filings that repeat the figure of the period, unless dividends paid confirm it."""
    order = np.argsort(proposal.at)
    at, factor = proposal.at[order], np.broadcast_to(proposal.factor, order.shape)[order]
    later = np.setdiff1d(figures.of_concepts((PER_SHARE,)), np.union1d(at, as_paid))
    later = later[later > at.min(initial=len(figures.value))]
    last = np.searchsorted(at, later) - 1
    repeats = (figures.first[at[last]] == figures.first[later]) & (figures.value[at[last]] == figures.value[later])
    return replace(proposal, at=np.append(at, later[repeats]), factor=np.append(factor, factor[last[repeats]]))


def as_paid(figures: Figures) -> Comparison:
    """Compare dividends per share times shares with the dividends paid."""
    rows, times, _ = _compared(figures)
    paid = np.abs(rows[PAID])
    return Comparison(
        rule=NOT_AS_PAID,
        item=PER_SHARE,
        at=rows.index[PER_SHARE],
        left=paid / times,
        right=paid,
        holds=NOT_AS_PAID.where(np.abs(times - 1) <= AS_PAID),
        factor=np.full(len(paid), np.nan),
        contradicted=np.zeros(len(paid), dtype=np.bool_),
    )


def _like_a_quarter(rows: PeriodRows) -> Flags:
    """Whether a quarter in or next to each period has about the same dividend, as known after its filing."""
    figures = rows.figures
    at = figures.of_concepts((PER_SHARE,))
    at = at[(figures.days[at] >= A_QUARTER[0]) & (figures.days[at] <= A_QUARTER[1])]
    asked = np.flatnonzero(rows.index[PER_SHARE] >= 0)
    pair, found = pairs_of_equal(rows.company[asked], figures.company[at])
    row, quarter = asked[pair], at[found]
    near = (figures.start[quarter] >= rows.start[row] - A_QUARTER[1]) & (figures.seq[quarter] <= rows.seq[row])
    near &= figures.end[quarter] <= rows.end[row] + A_QUARTER[1]
    near &= np.abs(figures.value[quarter] / rows[PER_SHARE][row] - 1) <= LIKE_A_QUARTER
    return np.bincount(row[near], minlength=len(rows.seq)) > 0


def _compared(figures: Figures) -> tuple[PeriodRows, Floats, Floats]:
    """The figures of each filing and period, and dividends as a multiple of dividends per share times shares.

    Returns:
        the figures; the multiple for dividends paid and average shares; and the multiple with substitutes: dividends
        declared if dividends paid are not stated, net income over earnings per share if average shares are not stated.
    """
    rows = PeriodRows.of(figures, (PER_SHARE, PAID, DECLARED, PAID_PER_SHARE, PARENT, EARNINGS, *COUNTS))
    shares = first_known(*(rows[count] for count in COUNTS))
    paid, per_share = np.abs(rows[PAID]), np.abs(rows[PER_SHARE])
    of_income = np.abs(rows[PARENT] / rows[EARNINGS])
    return (
        rows,
        paid / (per_share * shares),
        first_known(paid, np.abs(rows[DECLARED])) / (per_share * first_known(shares, of_income)),
    )
