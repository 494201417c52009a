"""Quarters: the discrete quarters of each window, and their sum.

Belongs here: how a quarter is computed, and which of its filed amounts counts. Does not: twelve months by years
(bases), the choice between the two methods (choice).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, any_of, largest, whole
from pipelines.normalize.ttm.bases import (
    LARGEST_EXCESS,
    YEAR_BEFORE_RECAST,
    Years,
    refined,
    restated,
    row_on_basis_of_filing,
)
from pipelines.normalize.ttm.known import HALF_A_UNIT, IS_ADDITIVE, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import AGO, IS_COUNT, IS_MONEY, IS_PER_SHARE, Windows
from pipelines.normalize.ttm.methods import (
    DIGITS_OF_SUMS,
    DISAGREEMENT,
    FOUR_QUARTERS,
    LARGEST_RAISE,
    NOT_TWELVE_MONTHS,
    QUARTER_BY_DIFFERENCE,
    TtmMethod,
)
from pipelines.normalize.ttm.recasts import quarters_of_recast

THREE = AGO[1:QUARTERS_A_YEAR]
"""The three quarters before a quarter."""
SIGNS = (1, 1, -1, -1, -1, -1)
"""The signs of the legs of one quarter: the quarter as filed, the longer period, the shorter period, three quarters."""


@dataclass(frozen=True)
class Quarters:
    """The last discrete quarters of each window: one line of the arrays for each quarter, the newest quarter first.

    amount, days: NaN if unknown.
    rows: the legs of each quarter, in the order of SIGNS.
    by_difference, by_three: whether it is a difference of years to date, or the year less three quarters.
    recast_by: the filing of a recast, if the year is taken as it was before the recast; otherwise NaN.
    is_negative: whether the difference is negative although the amount cannot be.
    mixes_bases: whether one of the first three quarters was restated after the nine months were last stated.
    """

    amount: Floats
    days: Floats
    rows: Ints
    by_difference: Flags
    by_three: Flags
    recast_by: Floats
    is_negative: Flags
    mixes_bases: Flags


def sum_of_four_quarters(windows: Windows, years: Years, is_only_method: Flags) -> tuple[TtmMethod, Quarters, Flags]:
    """Twelve months as the sum of the last four discrete quarters.

    The sum has the fault NO_MIXED_BASES if the quarters are on different accounting bases.

    Args:
        windows: the windows.
        years: the fiscal year and the years to date of each window, from which twelve months are computed otherwise.
        is_only_method: the windows whose twelve months cannot be computed from the fiscal year.

    Returns:
        the sums; the quarters; and the windows that may be added up and whose quarters are all taken from the filing
        that recast the year before.
    """
    filing, total = quarters_of_recast(windows, years)
    is_recast = ~np.isnan(filing)
    as_of, restates = _filing_of_quarters(windows)
    as_of, restates = np.where(is_recast, filing, as_of), restates & ~is_recast
    quarters = discrete_quarters(windows, as_of, restates, QUARTERS_A_YEAR)
    mixes = quarters.mixes_bases.any(axis=0)
    is_additive, is_this_year = IS_ADDITIVE[windows.concept], AGO[:QUARTERS_A_YEAR] < windows.quarter
    of_last_year, of_this_year = (np.where(holds, quarters.amount, 0.0) for holds in (~is_this_year, is_this_year))
    # of an amount that cannot be negative, quarters of last year cannot add up to more than that year
    year = windows.find_or_first(windows.year_before, QUARTERS_A_YEAR, as_of)
    mixes |= is_additive & ~windows.can_be_negative & (_surplus(windows, of_last_year, year) > 0)
    # one quarter is computed from the year before its recast, another one is first stated in the recast or later
    recast_by, legs = np.fmax.reduce(quarters.recast_by), np.concatenate(quarters.rows)
    mixes |= any_of(windows.of("since", legs) >= recast_by)
    # quarters of this year that do not add up to the year to date: some are on the basis before a recast
    asked = (restates & is_additive) | (is_only_method & ~is_recast & IS_MONEY[windows.concept])
    to_date = windows.find_or_first(windows.q, windows.quarter, as_of)
    mixes |= asked & (abs(_surplus(windows, of_this_year, to_date)) > 0)
    amount, days, last = quarters.amount.sum(axis=0), quarters.days.sum(axis=0), quarters.rows[0]
    regime = windows.of("regime", np.where(last[0] >= 0, last[0], last[1]))
    method = TtmMethod.of(windows, FOUR_QUARTERS, (amount, days, regime), legs, SIGNS * QUARTERS_A_YEAR, mixes)
    return method, quarters, is_recast & method.is_sound & (abs(amount - total) <= method.grain)


def _filing_of_quarters(windows: Windows) -> tuple[Floats, Flags]:
    """The filing whose accounting basis the four quarters of each window must follow.

    Returns:
        as_of: the newest filing (`seq`) that states the last quarter, or the year to date, with the same period of the
            year before; otherwise the first filing that states one of them. If a later filing states a quarter in
            another regime, the filing of the window.
        restates: whether that filing restates the period of the year before, within one regime. Quarters of last year
            are then on its basis only if that filing or a later one states them.
    """
    of, find, q = windows.of, windows.find, windows.q
    spans = np.array([np.ones(len(q)), windows.quarter])
    newest: Floats = np.fmax.reduce(windows.newest_with_year_before(q, spans))
    as_of = np.where(np.isnan(newest), np.fmin.reduce(of("seq", windows.first(q, spans))), newest)
    as_of = windows.replaced(as_of, windows.has_break, _or_filing_of_window, as_of)
    shown, before = (find(q - QUARTERS_A_YEAR, spans, seq) for seq in (as_of, as_of - 1))
    size = DISAGREEMENT * QUARTERS_A_YEAR / spans * abs(of("amount", find(q, spans, as_of)))
    is_of_same = of("regime", shown) == of("regime", before)
    return as_of, any_of(restated(windows, shown, before, size) & is_of_same)


def _or_filing_of_window(windows: Windows, as_of: Floats) -> Floats:
    """Take the filing of the window instead of an earlier one if a quarter was stated in another regime since then.

    Args:
        windows: the windows.
        as_of: the earlier filings.
    """
    q = windows.q - AGO[:QUARTERS_A_YEAR]
    spans = np.ones(q.shape), np.array([windows.fiscal_quarter(each) for each in q])
    then, now = ([windows.of("regime", windows.find(q, n, seq)) for n in spans] for seq in (as_of, windows.seq))
    return np.where(any_of(np.concatenate(abs(np.subtract(now, then)) > 0)), windows.seq, as_of)


def _surplus(windows: Windows, quarters: Floats, row: Ints) -> Floats:
    """The sum of quarters less a known amount; 0 if the difference is small or explained by rounding."""
    total = quarters.sum(axis=0)
    off = total - windows.of("amount", row)
    return np.where(abs(off) > largest(DISAGREEMENT * abs(total), DIGITS_OF_SUMS * windows.of("grain", row)), off, 0.0)


def discrete_quarters(
    windows: Windows, as_of: Floats, restates: Flags, count: int, is_passed_over: Flags | None = None
) -> Quarters:
    """The last discrete quarters of each window.

    A quarter is as filed; otherwise it is the difference of two years to date, or a fiscal year less its three other
    quarters.

    Args:
        windows: the windows.
        as_of: the filing after which amounts are taken.
        restates: the windows in which an amount of last year counts only if this filing or a later one states it.
        count: how many quarters, from the last one back.
        is_passed_over: the windows whose quarters as filed are not used; None: all are used.
    """
    shape = count, len(windows.q)
    back, window = np.indices(shape).reshape(2, -1)
    each, as_of = windows.subset(window), as_of[window]
    q, stated_anew = each.q - back, restates[window] & (back >= each.quarter)
    of, number = each.of, each.fiscal_quarter(q)
    is_fourth = number == QUARTERS_A_YEAR
    stated, longer, shorter, recast_by = _periods(each, q, number, as_of, stated_anew)
    rest, rest_days = (of(name, longer) - of(name, shorter) for name in ("amount", "days"))
    # the difference is more exact than a derived average share count, if the two agree
    rounding = HALF_A_UNIT * of("grain", stated) * of("weight", stated) + LARGEST_EXCESS * abs(rest)
    is_finer = IS_COUNT[each.concept] & (abs(of("amount", stated) - rest) <= rounding)
    is_left_out = each.is_derived(stated) & is_finer
    if is_passed_over is not None:
        is_left_out |= is_passed_over[window]
    stated = np.where(is_left_out, NOTHING, stated)
    is_unstated = QUARTER_BY_DIFFERENCE.where(stated < 0)
    is_negative = NOT_TWELVE_MONTHS.where(is_unstated & ~each.can_be_negative & (rest < 0))
    by_difference = is_unstated & ~is_negative & ~np.isnan(rest)
    lacks = is_fourth & (longer >= 0) & is_unstated & (shorter < 0) & ~stated_anew
    unknown = np.full((len(THREE) + 2, len(q)), np.nan)
    *three, left, left_days = each.replaced(unknown, lacks, _year_less_three, q, as_of, longer)
    by_three = ~np.isnan(left)
    quarter, nine_months = [stated >= 0, by_three, by_difference], by_difference & is_fourth
    columns = {
        "amount": np.select(quarter, [of("amount", stated), left, rest], np.nan),
        "days": np.select(quarter, [of("days", stated), left_days, rest_days], np.nan),
        "by_difference": by_difference,
        "by_three": by_three,
        "recast_by": np.where(by_difference, recast_by, np.nan),
        "is_negative": is_negative,
        "mixes_bases": each.decide_for(nine_months, _restated_since, q, shorter, as_of),
    }
    legs = (
        stated,
        np.where(by_difference | by_three, longer, NOTHING),
        np.where(by_difference, shorter, NOTHING),
        *whole(np.array(three)),
    )
    rows = np.array(legs).reshape(len(SIGNS), *shape).swapaxes(0, 1)
    return Quarters(rows=rows, **{name: column.reshape(shape) for name, column in columns.items()})


def _periods(
    windows: Windows, q: Ints, number: Floats, as_of: Floats, stated_anew: Flags
) -> tuple[Ints, Ints, Ints, Floats]:
    """Find the amounts from which a quarter can be taken: as filed, or as the difference of two years to date.

    Args:
        windows: the windows.
        q, number: the quarter, and its number in its fiscal year.
        as_of: the filing after which amounts are taken.
        stated_anew: the windows in which an amount counts only if this filing or a later one states it.

    Returns:
        the rows of the quarter, and of the years to date at its end and at its beginning; and the filing of a later
        recast of the year to date at its end (NaN if there is none).
    """
    of, one = windows.of, np.ones(len(q))
    is_per_share = IS_PER_SHARE[windows.concept]

    def on_basis(row: Ints, q: Floats | Ints, n: Floats) -> Ints:
        row = windows.replaced(row, stated_anew, Windows.since, q, n, as_of)
        # a figure per share may be stated with more digits after a reverse split
        return windows.replaced(row, is_per_share, _finest, row, q, n)

    q_before, is_fourth = np.where(number > 1, q - 1, np.nan), number == QUARTERS_A_YEAR
    longer, shorter = (
        on_basis(windows.find_or_first(end, n, as_of), end, n) for end, n in ((q, number), (q_before, number - 1))
    )
    is_dividend = is_per_share & IS_ADDITIVE[windows.concept]
    shorter = np.where(
        windows.decide_for(is_fourth & is_dividend, _is_quarterly_rate, q, as_of, shorter), NOTHING, shorter
    )
    # a year that was first stated as less than its nine months: its newest amount counts
    is_less = is_fourth & ~windows.can_be_negative & (of("amount", longer) < of("amount", shorter)) & ~stated_anew
    longer = windows.replaced(longer, is_less, Windows.find, q, number)
    longer, recast_by = _before_recast(windows, q, number, longer, shorter, stated_anew)
    return on_basis(row_on_basis_of_filing(windows, q, one, as_of), q, one), longer, shorter, recast_by


def _finest(windows: Windows, row: Ints, q: Floats | Ints, n: Floats) -> Ints:
    """The newest row of slot (q, n) if it has the same amount as `row`, perhaps with more digits; otherwise `row`."""
    return refined(windows, row, windows.find(q, n))


def _is_quarterly_rate(windows: Windows, q: Ints, as_of: Floats, nine_months: Ints) -> Flags:
    """Whether dividends of nine months are less than the sum of their quarters.

    The amount is then a quarterly rate that is tagged with the period of nine months.
    """
    return _surplus(windows, windows.of("amount", windows.find_or_first(q - THREE, 1, as_of)), nine_months) > 0


def _before_recast(
    windows: Windows, q: Ints, number: Floats, longer: Ints, shorter: Ints, stated_anew: Flags
) -> tuple[Ints, Floats]:
    """Take the longer year to date with its amount before a recast if the shorter one was not recast.

    A recast year less nine months on the former basis would put the whole recast into the fourth quarter.

    Returns:
        the rows of the longer year to date, and the filing of the recast; NaN where the amount is not replaced.
    """
    of, recast_by = windows.of, windows.of("revised", longer)
    is_older = (of("seq", shorter) < recast_by) & ~stated_anew
    former = windows.find_for(is_older, q, number, recast_by - 1)
    is_possible = windows.can_be_negative | (of("amount", former) >= of("amount", shorter))
    is_before = YEAR_BEFORE_RECAST.where(is_older & is_possible)
    is_before &= ~(of("since", shorter) > of("seq", former))
    return np.where(is_before, former, longer), np.where(is_before, recast_by, np.nan)


def _year_less_three(windows: Windows, q: Ints, as_of: Floats, year: Ints) -> Floats:
    """The fourth quarter as the year less the three other quarters.

    A difference much larger than each of the three does not count: the year may include a special dividend.

    Returns:
        one line each for the rows of the three quarters, the amount and the days; NaN where it does not count.
    """
    of = windows.of
    quarters = windows.find_or_first(q - THREE, 1, as_of)
    amounts, days = of("amount", quarters), of("days", quarters)
    left, left_days = of("amount", year) - amounts.sum(axis=0), of("days", year) - days.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        a_day, most = left / left_days, LARGEST_RAISE * np.fmax.reduce(amounts / days)
    counts = ~np.isnan(left) & (windows.can_be_negative | ((a_day >= 0) & (a_day <= most)))
    return np.where(counts, [*quarters, left, left_days], np.nan)


def _restated_since(windows: Windows, q: Ints, nine_months: Ints, as_of: Floats) -> Flags:
    """Whether one of the first three quarters was restated after the nine months were last stated."""
    return any_of(windows.of("revised", windows.find(q - THREE, 1, as_of)) > windows.of("seq", nine_months))
