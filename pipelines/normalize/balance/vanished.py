"""Detects a balance sheet that stopped reporting one of its debt or cash lines, and withholds the sum.

Belongs here: detecting that the remaining lines are not all of a balance. Does not: how its lines add up (debt, cash).

If a filer tags a line with an element that no rule knows, the sum would lack this line without notice. If the same
report still states the line for another day, such as the year before, the line is zero on this day.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, first_row, largest, starts
from pipelines.normalize.balance.before import Readings, room
from pipelines.normalize.balance.contradictions import OTHER_LIABILITIES, OTHER_THAN_CASH
from pipelines.normalize.balance.maturities import CURRENT_PARTS
from pipelines.normalize.balance.sheets import LINE, BalanceSheets, total_liabilities
from pipelines.normalize.balance.unexplained import has_large_maturities_without_line
from pipelines.normalize.rule import Rule

LEAST_SHARE = 0.02
"""The sum is withheld if the missing line was at least a fiftieth of it. Measured: between a fiftieth and a tenth were
80 values of eight companies, whose interim reports lack the line that the year ends before and after state."""

REPORTS = 4
"""After four reports without the line, a whole year, the line counts as zero, unless the totals show that it is not."""

STILL_THERE = 0.5
"""A line is still part of a total if what the other lines leave of it has grown by at least half of the line."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A sum that is watched for missing lines.

    stays: lines that are still stated. rest: lines that may be missing. wholes: lines that contain both.
    reason: why there is no value (table `gaps`).
    may_be_zero: a report that states `rest` but none of `stays` has zero of the latter.
    of_current: `rest` is a part of the current liabilities, and counts as missing only if these do not show that it is
        gone.
    """

    item: str
    reason: str
    stays: tuple[str, ...]
    rest: tuple[str, ...]
    wholes: tuple[str, ...]
    rule: Rule
    may_be_zero: bool = False
    of_current: bool = False


def _rule(name: str, line: str, source: str) -> Rule:
    return Rule(
        name,
        f"The sum is withheld if {line} no longer stated on any balance sheet of the report, and had been at least "
        "2 % of the sum within the last four reports, or before them if the totals show that the line is not zero.",
        source,
        "withhold",
    )


WATCHED: tuple[Watched, ...] = (
    Watched(
        "cash_and_equivalents",
        "securities_not_shown",
        stays=("cash",),
        rest=("short_term_investments",),
        wholes=("cash_total",),
        rule=_rule(
            "cash.withheld.securities-not-shown",
            "short-term investments are",
            "Regulation S-X Rule 5-02.2 (marketable securities are a line of the balance sheet)",
        ),
    ),
    Watched(
        "total_debt",
        "current_debt_not_shown",
        stays=("debt_noncurrent",),
        rest=("debt_current_maturities", "debt_short_term", "debt_current"),
        wholes=("debt_long_term", "debt_all"),
        rule=_rule(
            "debt.withheld.current-debt-not-shown",
            "current debt is",
            "Regulation S-X Rule 5-02.19 (borrowings among current liabilities); IAS 1.69",
        ),
    ),
    Watched(
        "total_debt",
        "short_term_debt_not_shown",
        stays=("debt_long_term", "debt_noncurrent"),
        rest=("debt_short_term",),
        wholes=("debt_all", "debt_current", "debt_current_maturities"),
        rule=_rule(
            "debt.withheld.short-term-debt-not-shown",
            "short-term borrowings are",
            "Regulation S-X Rule 5-02.19 (amounts payable to banks and for commercial paper are stated apart)",
        ),
        of_current=True,
    ),
    Watched(
        "total_debt",
        "noncurrent_debt_not_shown",
        stays=("debt_current_maturities", "debt_current"),
        rest=("debt_noncurrent",),
        wholes=("debt_long_term", "debt_all"),
        rule=_rule(
            "debt.withheld.noncurrent-debt-not-shown",
            "non-current debt is",
            "Regulation S-X Rule 5-02.22 (long-term debt is a line of the balance sheet); IAS 1.69",
        ),
        may_be_zero=True,
    ),
)

RULES: tuple[Rule, ...] = tuple(watched.rule for watched in WATCHED)

MISSED = pl.Schema(
    {"cik": pl.Int64(), "q": pl.Int32(), "item": pl.String(), "reason": pl.String(), "rule": pl.String()}
)
"""The items without a value because one of their lines is no longer stated: key `cik`, `q`, `item`, `reason`."""


@dataclass(frozen=True, slots=True)
class Disappeared:
    """A watched sum, and the newest balance sheets that lack one of its lines (places among the sheets)."""

    watched: Watched
    sheets: Ints


def disappeared(sheets: BalanceSheets) -> list[Disappeared]:
    """Find the balance sheets that lack a line.

    A filing's newest balance sheet lacks `rest` if none of the filing's balance sheets states it, and if it was at
    least LEAST_SHARE of the sum in the last report that stated it, at most REPORTS reports ago. It lacks it however
    long ago that was if the total that includes the sum still has room for it.

    Args:
        sheets: of sheets.as_filed, reclassified (roles).
    """
    by_filing = np.lexsort((sheets.q, sheets.seq, sheets.cik))
    begins = starts(sheets.cik[by_filing], sheets.seq[by_filing])
    return [Disappeared(watched, _without_rest(sheets, watched, by_filing, begins)) for watched in WATCHED]


def missed(sheets: BalanceSheets, found: list[Disappeared]) -> pl.DataFrame:
    """The items without a value: columns of MISSED."""
    frames = [
        pl.DataFrame({"cik": sheets.cik[each.sheets], "q": sheets.q[each.sheets]})
        .unique(maintain_order=True)
        .select(
            "cik",
            pl.col("q").cast(pl.Int32),
            item=pl.lit(each.watched.item),
            reason=pl.lit(each.watched.reason),
            rule=pl.lit(each.watched.rule.id),
        )
        for each in found
        if len(each.sheets)
    ]
    return pl.concat([MISSED.to_frame(), *frames])


def is_served(sheets: BalanceSheets, found: list[Disappeared], item: str) -> Flags:
    """Which sheets can have a value of an item: those of a quarter end that lacks a line only if they state it."""
    served = np.ones(len(sheets), dtype=np.bool_)
    for each in found:
        if each.watched.item == item and len(each.sheets):
            days = _days(sheets)
            served &= ~np.isin(days, days[each.sheets]) | states_rest(sheets, each.watched)
    return served


def _days(sheets: BalanceSheets) -> Ints:
    """The number of the company and quarter end of each sheet."""
    return np.cumsum(starts(sheets.cik, sheets.q))


def states_rest(sheets: BalanceSheets, watched: Watched) -> Flags:
    """Whether a sheet states the lines that may be missing, or a total that contains them."""
    states: Flags = np.logical_or.reduce([sheets.has(line) for line in (*watched.rest, *watched.wholes)])
    return states


def share_of_rest(sheets: BalanceSheets, watched: Watched, states: Flags) -> tuple[Floats, Floats]:
    """The lines `stays`, and the share of `rest` in the sum: zero if it is not stated or not positive."""
    stays = largest(*(sheets.value(line) for line in watched.stays))
    if watched.may_be_zero:
        stays = np.where(states, np.nan_to_num(stays), stays)
    rest = largest(
        *(sheets.value(line) for line in watched.rest), *(sheets.value(line) - stays for line in watched.wholes)
    )
    counts = states & (rest > 0)
    share = np.zeros(len(sheets))
    share[counts] = rest[counts] / (rest + stays)[counts]
    return stays, share


def _without_rest(sheets: BalanceSheets, watched: Watched, by_filing: Ints, begins: Flags) -> Ints:
    """The newest sheets of filings that lack `rest` of a sum.

    Args:
        by_filing: the sheets by filing, then by quarter end.
        begins: the first sheet of each filing in this order.
    """
    states = states_rest(sheets, watched)
    stays, share = share_of_rest(sheets, watched, states)
    firsts = np.flatnonzero(begins)
    if not len(firsts):
        return firsts
    anywhere = np.logical_or.reduceat(states[by_filing], firsts)
    newest = by_filing[np.append(firsts[1:], len(by_filing)) - 1]
    counts = ~np.isnan(stays[newest])
    newest, is_known = newest[counts], anywhere[counts]
    place = np.arange(len(newest))
    last_known = np.maximum.accumulate(np.where(is_known, place, -1))
    of_company = last_known >= first_row(starts(sheets.cik[newest]))
    mattered = of_company & (share[newest[last_known]] >= LEAST_SHARE)
    gone = ~is_known & mattered
    if watched.of_current:
        # a later statement of the same day restates it (restated)
        gone &= sheets.q[newest] != sheets.q[newest[last_known]]
    late = np.flatnonzero(gone & ((place - last_known > REPORTS) | watched.of_current))
    if len(late):
        older = newest[last_known[late]]
        again = _in_filing(sheets, by_filing, newest[late], older)
        gone[late] = _is_still_there(sheets, watched, newest[late], older, again, stays, share)
    lacking: Ints = newest[gone]
    return lacking


def _in_filing(sheets: BalanceSheets, by_filing: Ints, newer: Ints, older: Ints) -> Ints:
    """The sheets of the days of `older` in the filings of `newer`; `older` where these do not state the day."""
    key = (sheets.cik << 40) | (sheets.seq << 20) | sheets.q
    asked = (sheets.cik[newer] << 40) | (sheets.seq[newer] << 20) | sheets.q[older]
    place = np.minimum(np.searchsorted(key[by_filing], asked), len(key) - 1)
    found: Ints = np.where(key[by_filing[place]] == asked, by_filing[place], older)
    return found


def _is_still_there(
    sheets: BalanceSheets, watched: Watched, newer: Ints, older: Ints, again: Ints, stays: Floats, share: Floats
) -> Flags:
    """Whether a total less the lines that are still stated shows that the missing line is not zero.

    Args:
        newer, older: the sheets without the line, and the last ones with it.
        again: the totals of the days of `older` as the filings of `newer` state them, which may have recast them.
        stays, share: of share_of_rest.
    """
    is_debt = watched.item == "total_debt"
    total = total_liabilities(sheets) if is_debt else sheets.value("current_assets")
    readings: Readings = OTHER_LIABILITIES if is_debt else OTHER_THAN_CASH
    still = np.ones(len(newer), dtype=np.bool_)
    of_total = np.where(np.isnan(total[again]), older, again)
    with np.errstate(divide="ignore", invalid="ignore"):
        line = stays[older] * share[older] / (1 - share[older])
    change = stays[newer] - stays[older] - line
    for others in readings:
        still &= room(sheets, total, others, newer, of_total) - change >= STILL_THERE * line
    if not all(LINE[line] in CURRENT_PARTS for line in watched.rest):
        return still
    current = sheets.value("liabilities_current")
    left = current[newer] - current[np.where(np.isnan(current[again]), older, again)] + line
    unknown, has_room = np.isnan(total[newer] - total[of_total]), left >= STILL_THERE * line
    if watched.of_current:
        # without any total nothing shows that the line is gone
        found: Flags = np.where(np.isnan(left), still | unknown, has_room)
        return found
    matters = line >= LEAST_SHARE * (stays[newer] + line)
    return still | unknown & has_room & matters & ~has_large_maturities_without_line(sheets)[older]
