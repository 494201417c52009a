"""Quarters: the discrete quarters of each window, and their sum.

Belongs here: how a quarter is found, and which statement of it counts. Does not: twelve months by years (bases), the
choice between the two ways (windows).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, largest
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import BEYOND, DISAGREEMENT, IS_COUNT, Years, filing_of_quarters, refined, settled
from pipelines.normalize.ttm.beside_recasts import quarters_of_recast
from pipelines.normalize.ttm.known import HALF_A_UNIT, IS_ADDITIVE, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import IS_MONEY, Windows
from pipelines.normalize.ttm.ways import BY_QUARTER_FIRST, DIGITS_OF_SUMS, Leg, Way

LARGEST_RAISE = 1.5
"""A dividend is hardly ever raised by more than half within a year, so a larger difference is not that of one
quarter."""

QUARTER_BY_DIFFERENCE = Rule(
    "ttm.quarter-by-difference",
    "A quarter that no filing states is the year to date at its end less the year to date at its beginning, unless "
    "these are dividends of nine months that are less than those of the three quarters.",
    "Regulation S-X Rule 10-01(c)",
    "compose",
)
FOURTH_QUARTER_BY_THREE = Rule(
    "ttm.fourth-quarter-less-three-quarters",
    "If nine months are not stated, the fourth quarter is the fiscal year less its three quarters; of an amount that "
    f"cannot be negative, only if it is not negative and, per day, at most {LARGEST_RAISE:g} times the largest of "
    "them.",
    "Dividends are often stated for the quarter only; a year may have a special dividend that the quarters leave out",
    "compose",
)
QUARTER_BEFORE_RECAST = Rule(
    "ttm.quarter-before-recast",
    "If a fiscal year was recast and its nine months were not, the fourth quarter is computed from the year before the "
    "recast, unless it was then less than the nine months and the amount cannot be negative.",
    "ASC 250-10-45-5; otherwise the whole recast would fall into the fourth quarter",
    "select",
)
RULES = (QUARTER_BY_DIFFERENCE, FOURTH_QUARTER_BY_THREE, QUARTER_BEFORE_RECAST)


@dataclass(frozen=True)
class Quarter:
    """One discrete quarter of each window: amount and days (NaN if unknown), legs, and how it was found."""

    amount: Floats
    days: Floats
    legs: tuple[Leg, ...]
    by_difference: Flags
    by_three_quarters: Flags
    year_before: Flags
    is_negative: Flags
    mixes_bases: Flags
    recast_by: Floats


def quarters_added_up(windows: Windows, years: Years, is_alone: Flags) -> tuple[Way, tuple[Quarter, ...], Flags]:
    """The sum of the last four discrete quarters of the window.

    Args:
        windows: the windows.
        years: the legs of the way by years.
        is_alone: the windows to which no other way leads.

    Returns:
        the sums, the quarters, and the windows whose quarters are those of the filing that recast the year before.
    """
    as_of, is_recast = filing_of_quarters(windows)
    rows, total, filing = quarters_of_recast(windows, years)
    as_of[rows], is_recast[rows], is_alone[rows] = filing, False, False
    quarters = tuple(
        _quarter(windows, windows.q - back, as_of, is_recast & (back >= windows.quarter))
        for back in range(QUARTERS_A_YEAR)
    )
    amount, days = (np.sum([getattr(quarter, name) for quarter in quarters], axis=0) for name in ("amount", "days"))
    stated, longer, *_ = quarters[0].legs
    regime = windows.of("regime", np.where(stated.row >= 0, stated.row, longer.row))
    legs = tuple(leg for quarter in quarters for leg in quarter.legs)
    mixes = np.any([quarter.mixes_bases for quarter in quarters], axis=0)
    mixes |= _exceed_their_year(windows, quarters, as_of)
    mixes |= _stated_after_recast(windows, quarters)
    recast = np.flatnonzero((is_recast & IS_ADDITIVE[windows.concept]) | (is_alone & IS_MONEY[windows.concept]))
    if len(recast):
        mixes[recast] |= _leave_their_year_to_date(windows, quarters, recast, as_of)
    way = Way.of(windows, legs, amount, days, regime, mixes)
    of_recast = np.zeros(len(mixes), dtype=np.bool_)
    of_recast[rows] = way.is_sound[rows] & (np.abs(amount[rows] - total) <= way.grain[rows])
    return way, quarters, of_recast


def _exceed_their_year(windows: Windows, quarters: tuple[Quarter, ...], as_of: Floats) -> Flags:
    """Whether the quarters of last year add up to more than that year, of an amount that cannot be negative."""
    found = np.zeros(len(as_of), dtype=np.bool_)
    rows = np.flatnonzero(~windows.can_be_negative & IS_ADDITIVE[windows.concept])
    some = windows.at(rows)
    year = some.around(some.year_before, QUARTERS_A_YEAR, as_of[rows])
    of_last_year = np.sum(
        [np.where(back >= some.quarter, quarter.amount[rows], 0.0) for back, quarter in enumerate(quarters)], axis=0
    )
    rounding = DIGITS_OF_SUMS * some.of("grain", year)
    found[rows] = of_last_year > some.of("amount", year) * (1 + DISAGREEMENT) + rounding
    return found


def _stated_after_recast(windows: Windows, quarters: tuple[Quarter, ...]) -> Flags:
    """Whether a quarter is from the year before its recast, and another one is known from later filings alone."""
    found = np.zeros(len(windows.q), dtype=np.bool_)
    recast_by = largest(*(quarter.recast_by for quarter in quarters))
    rows = np.flatnonzero(recast_by >= 0)
    for quarter in quarters:
        legs = [leg.row[rows] for leg in quarter.legs]
        since = largest(*(windows.of("since", row) for row in legs))
        found[rows] |= since >= recast_by[rows]
    return found


def _leave_their_year_to_date(windows: Windows, quarters: tuple[Quarter, ...], rows: Ints, as_of: Floats) -> Flags:
    """Whether the quarters of this year do not add up to the year to date: some are as before a recast."""
    some = windows.at(rows)
    to_date = some.around(some.q, some.quarter, as_of[rows])
    of_this_year = np.sum(
        [np.where(back < some.quarter, quarter.amount[rows], 0.0) for back, quarter in enumerate(quarters)], axis=0
    )
    off = np.abs(of_this_year - some.of("amount", to_date))
    rounding = DIGITS_OF_SUMS * some.of("grain", to_date)
    is_apart: Flags = off > np.fmax(DISAGREEMENT * np.abs(of_this_year), rounding)
    return is_apart


def _quarter(windows: Windows, q: Ints, as_of: Floats, stated_anew: Flags) -> Quarter:
    """A quarter as stated; otherwise the difference of two years to date; otherwise the year less three quarters.

    A difference much larger than each of the three quarters is not that of a quarter: the year may include a special
    dividend that the quarters do not.

    Args:
        q: the quarter.
        as_of: the filing after which amounts are taken.
        stated_anew: whether only amounts count that this or a later filing states.
    """
    of, can_be_negative = windows.of, windows.can_be_negative
    anew = np.flatnonzero(stated_anew)
    some, since = windows.at(anew), as_of[anew]

    def on_basis(row: Ints, q: Floats | Ints, n: Floats | int) -> Ints:
        if len(anew):
            row[anew] = some.since(q[anew], n if isinstance(n, int) else n[anew], since)
        return row

    def find(q: Floats | Ints, n: Floats | int) -> Ints:
        return on_basis(windows.around(q, n, as_of), q, n)

    # a figure per share may be stated with more digits after a reverse split
    per_share = np.flatnonzero(BY_QUARTER_FIRST[windows.concept])
    of_shares = windows.at(per_share)

    def finest(row: Ints, q: Floats | Ints, n: Floats) -> Ints:
        row[per_share] = refined(of_shares, row[per_share], of_shares.find(q[per_share], n[per_share]))
        return row

    number, one = windows.fiscal_quarter(q), np.ones(len(q))
    stated = finest(on_basis(settled(windows, q, one, as_of)[0], q, 1), q, one)
    longer = finest(find(q, number), q, number)
    newest = longer.copy()
    fourth = np.flatnonzero(number == QUARTERS_A_YEAR)
    newest[fourth] = windows.at(fourth).find(q[fourth], number[fourth])
    q_before = np.where(number > 1, q - 1, np.nan)
    shorter = finest(find(q_before, number - 1), q_before, number - 1)
    asked = per_share[(number[per_share] == QUARTERS_A_YEAR) & IS_ADDITIVE[windows.concept[per_share]]]
    shorter[asked[_is_rate(windows, asked, q, as_of, shorter)]] = NOTHING
    # a year that was first stated as less than its nine months
    is_wrong = ~can_be_negative & (of("amount", longer) < of("amount", shorter)) & ~stated_anew
    longer = np.where(is_wrong, newest, longer)
    longer, year_before, recast_by = _before_recast(windows, q, number, longer, shorter, stated_anew)
    rest, rest_days = (of(name, longer) - of(name, shorter) for name in ("amount", "days"))
    # the difference is finer than an average that other figures prove, unless these contradict it
    rounding = HALF_A_UNIT * of("grain", stated) * of("weight", stated) + BEYOND * np.abs(rest)
    is_near = IS_COUNT[windows.concept] & (np.abs(of("amount", stated) - rest) <= rounding)
    is_stated = (stated >= 0) & ~(windows.is_derived(stated) & is_near)
    stated = np.where(is_stated, stated, NOTHING)
    by_difference = ~is_stated & (can_be_negative | (rest >= 0)) & ~np.isnan(rest)

    lacks = (number == QUARTERS_A_YEAR) & (longer >= 0) & ~is_stated & (shorter < 0) & ~stated_anew
    left, left_days, others, by_three = _by_three_quarters(windows, q, as_of, longer, lacks)

    def where(holds: Flags, row: Ints) -> Ints:
        return np.where(holds, row, NOTHING)

    return Quarter(
        amount=np.select([is_stated, by_three, by_difference], [of("amount", stated), left, rest], np.nan),
        days=np.select([is_stated, by_three, by_difference], [of("days", stated), left_days, rest_days], np.nan),
        legs=(
            Leg(stated),
            Leg(where(by_difference | by_three, longer)),
            Leg(where(by_difference, shorter), -1),
            *(Leg(where(by_three, row), -1) for row in others),
        ),
        by_difference=by_difference,
        by_three_quarters=by_three,
        year_before=(year_before | (of("since", newest) > of("since", longer))) & by_difference,
        is_negative=~is_stated & ~can_be_negative & (rest < 0),
        mixes_bases=_quarters_restated_since(windows, q, shorter, by_difference & (number == QUARTERS_A_YEAR), as_of),
        recast_by=np.where(by_difference, recast_by, np.nan),
    )


def _is_rate(windows: Windows, asked: Ints, q: Ints, as_of: Floats, nine_months: Ints) -> Flags:
    """Whether nine months are less than their quarters: a rate of one quarter in the context of nine months."""
    of, some = windows.of, windows.at(asked)
    three = [some.around(q[asked] - ago, 1, as_of[asked]) for ago in range(1, QUARTERS_A_YEAR)]
    quarters = np.sum([of("amount", row) for row in three], axis=0)
    rounding = DIGITS_OF_SUMS * of("grain", nine_months[asked])
    found: Flags = quarters > of("amount", nine_months[asked]) + rounding
    return found


def _before_recast(
    windows: Windows, q: Ints, number: Floats, longer: Ints, shorter: Ints, stated_anew: Flags
) -> tuple[Ints, Flags, Floats]:
    """The longer years to date as they were before a recast that the shorter ones do not have.

    A recast year less nine months before the recast would put the whole recast into the fourth quarter.

    Returns:
        the rows of the longer years to date, whether they are of before a recast, and the filing of the recast.
    """
    of, found = windows.of, longer.copy()
    is_before, recast_by = np.zeros(len(q), dtype=np.bool_), np.full(len(q), np.nan)
    restated = np.flatnonzero((of("seq", shorter) < of("revised", longer)) & ~stated_anew)
    former = windows.at(restated).find(q[restated], number[restated], of("revised", longer[restated]) - 1)
    is_possible = windows.can_be_negative[restated] | (of("amount", former) >= of("amount", shorter[restated]))
    recast_along = of("since", shorter[restated]) > of("seq", former)
    is_before[restated] = is_possible & ~recast_along
    recast_by[is_before] = of("revised", longer[is_before])
    found[restated] = np.where(is_before[restated], former, longer[restated])
    return found, is_before, recast_by


def _by_three_quarters(
    windows: Windows, q: Ints, as_of: Floats, year: Ints, asked: Flags
) -> tuple[Floats, Floats, list[Ints], Flags]:
    """The fourth quarter as the year less the three others: amount, days, rows of these, and where it counts."""
    of, rows = windows.of, np.flatnonzero(asked)
    others = [np.full(len(q), NOTHING) for _ in range(1, QUARTERS_A_YEAR)]
    left, days = np.full(len(q), np.nan), np.full(len(q), np.nan)
    counts = np.zeros(len(q), dtype=np.bool_)
    if not len(rows):
        return left, days, others, counts
    some = windows.at(rows)
    three = [some.around(q[rows] - ago, 1, as_of[rows]) for ago in range(1, QUARTERS_A_YEAR)]
    for row, of_quarter in zip(others, three, strict=True):
        row[rows] = of_quarter
    left[rows], days[rows] = (
        of(name, year[rows]) - np.sum([of(name, row) for row in three], axis=0) for name in ("amount", "days")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        most = LARGEST_RAISE * largest(*(of("amount", row) / of("days", row) for row in three))
        a_day = left[rows] / days[rows]
    is_like_the_others = (a_day >= 0) & (a_day <= most)
    counts[rows] = ~np.isnan(left[rows]) & (windows.can_be_negative[rows] | is_like_the_others)
    return left, days, others, counts


def _quarters_restated_since(windows: Windows, q: Ints, nine_months: Ints, asked: Flags, as_of: Floats) -> Flags:
    """Whether a quarter of the nine months was restated after these were last stated."""
    found = np.zeros(len(q), dtype=np.bool_)
    rows = np.flatnonzero(asked)
    if len(rows):
        some, stated_on = windows.at(rows), windows.of("seq", nine_months[rows])
        for ago in range(1, QUARTERS_A_YEAR):
            quarter = some.find(q[rows] - ago, 1, as_of[rows])
            found[rows] |= windows.of("revised", quarter) > stated_on
    return found
