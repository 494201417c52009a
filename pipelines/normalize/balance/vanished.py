"""Detects a balance sheet that stopped reporting one of its debt or cash lines, and withholds the sum.

Belongs here: when the remaining lines of a balance are not all of it. Does not: how its lines add up (debt, cash).

A filer that gives a line another element, one that no rule knows, must not lose the money silently. Where it still
states the line for another day, as a balance sheet does for the year before, the line is zero on this one.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, first_row, largest, starts
from pipelines.normalize.balance.sheets import BalanceSheets
from pipelines.normalize.rule import Rule

LEAST_SHARE = 0.1
"""A missing line withholds the sum if it was at least a tenth of it; less could not mislead a reader."""

REPORTS = 4
"""After four reports without the line, all of a year, the line is taken to be zero."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A sum: its lines that are still there, and those that state the rest, alone or together with the first.

    reason: why there is no value (table `gaps`).
    may_be_zero: a report that states none of the lines that stay, but the rest, has nothing of them.
    """

    item: str
    reason: str
    stays: tuple[str, ...]
    rest: tuple[str, ...]
    wholes: tuple[str, ...]
    rule: Rule
    may_be_zero: bool = False


def _rule(name: str, line: str, source: str) -> Rule:
    return Rule(
        name,
        f"If {line} no longer on the balance sheet, nor on any other in the same report, and had been a tenth of the "
        "sum or more within the last four reports, the sum is withheld.",
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
        wholes=("debt_long_term",),
        rule=_rule(
            "debt.withheld.current-debt-not-shown",
            "current debt is",
            "Regulation S-X Rule 5-02.19 (borrowings among current liabilities); IAS 1.69",
        ),
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
"""The items without a value because a line of theirs disappeared: key `cik`, `q`, `item`, `reason`."""


@dataclass(frozen=True, slots=True)
class Disappeared:
    """A watched sum, and the newest balance sheets of filings that lack a line of it (places among the sheets)."""

    watched: Watched
    sheets: Ints


def disappeared(sheets: BalanceSheets) -> list[Disappeared]:
    """Find the balance sheets that lack a line.

    In a filer's own newest balance sheet, where none of its filing's balance sheets states the rest, and the last
    report that stated it, no more than a year of reports ago, had a rest that matters.

    Args:
        sheets: of sheets.as_filed, reclassified (roles).
    """
    by_filing = np.lexsort((sheets.q, sheets.seq, sheets.cik))
    begins = starts(sheets.cik[by_filing], sheets.seq[by_filing])
    return [Disappeared(watched, _without_rest(sheets, watched, by_filing, begins)) for watched in WATCHED]


def missed(sheets: BalanceSheets, found: list[Disappeared]) -> pl.DataFrame:
    """What has no value: columns of MISSED."""
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
    """Which sheets may get a value of an item: not those of a quarter end that lacks a line, unless they state it."""
    served = np.ones(len(sheets), dtype=np.bool_)
    for each in found:
        if each.watched.item == item and len(each.sheets):
            days = _days(sheets)
            served &= ~np.isin(days, days[each.sheets]) | _states_rest(sheets, each.watched)
    return served


def _days(sheets: BalanceSheets) -> Ints:
    """The number of the company and quarter end of each sheet."""
    return np.cumsum(starts(sheets.cik, sheets.q))


def _states_rest(sheets: BalanceSheets, watched: Watched) -> Flags:
    states: Flags = np.logical_or.reduce([sheets.has(line) for line in (*watched.rest, *watched.wholes)])
    return states


def _share_of_rest(sheets: BalanceSheets, watched: Watched, states: Flags) -> tuple[Floats, Floats]:
    """The lines that stay, and the share of the rest in the sum: zero where the rest is not stated or not positive."""
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
    """The newest sheets of filings that lack the rest of a sum.

    Args:
        by_filing: the sheets by filing, then by quarter end.
        begins: where another filing begins among these.
    """
    states = _states_rest(sheets, watched)
    stays, share = _share_of_rest(sheets, watched, states)
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
    lacking: Ints = newest[~is_known & mattered & (place - last_known <= REPORTS)]
    return lacking
