"""The newest quarter's average shares, by which a present value is divided.

Belongs here: the quarter of the newest counts, and its net income, which may be a loss. Does not: averages over twelve
months, which are line items (items).

A present value belongs to today's holders. An average over twelve months lags half a year behind issues and buybacks.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import NOTHING, Floats, Ints, floats, ints, numbers, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.frames import counted
from pipelines.normalize.keys import company_key, largest_of, places_in
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR, STATED_RANKS

SHARES = ("shares_basic", "shares_diluted")
INCOME = ("net_income_common", "net_income_parent")
BASIC, DILUTED, COMMON, PARENT = range(4)
"""Places in the concatenation of SHARES and INCOME."""
NEAR = 1.25
"""Largest factor between a fourth quarter by difference and the average of its year. If some quarters have a loss, the
potential shares of the year are not the average of those of its quarters (ASC 260-10-45-17)."""

QUARTER, DIFFERENCE, TO_DATE = "quarter", "difference", "year_to_date"
METHODS = (QUARTER, DIFFERENCE, TO_DATE)
"""Methods in order of preference."""

WEIGHTED_AVERAGE = (
    "ASC 260-10-45-10: basic earnings per share are income over the weighted average shares of the period"
)
BY_QUARTER = Rule(
    "shares.latest.quarter",
    "The newest average share count is that of the newest quarter as filed.",
    WEIGHTED_AVERAGE,
    "select",
)
BY_DIFFERENCE = Rule(
    "shares.latest.difference",
    "If no filing states the newest quarter alone, its average share count is the year to date less the period before "
    "the quarter, weighted by days, unless it differs by more than 25 % from the average to date.",
    "Regulation S-X Rule 10-01(c): interim statements are for the fiscal quarter and the fiscal year to date",
    "compose",
)
BY_YEAR_TO_DATE = Rule(
    "shares.latest.year-to-date",
    "If the newest quarter is neither filed nor found by difference, the newest average share count is that of the "
    "shortest filed period that ends with it.",
    WEIGHTED_AVERAGE,
    "select",
)
RULES = (BY_QUARTER, BY_DIFFERENCE, BY_YEAR_TO_DATE)
"""One for each of METHODS."""

LATEST_SHARES = pl.Schema(
    {
        "cik": pl.Int64(),
        "period_end": pl.Date(),
        "shares_basic": pl.Float64(),
        "shares_diluted": pl.Float64(),
        "net_income": pl.Float64(),
        "method": pl.String(),
        "has_diluted": pl.Boolean(),
    }
)


@dataclass(frozen=True, slots=True)
class _Known(Columns):
    """The newest amounts of shares and income, by concept and period.

    company: place of the CIK among all.
    concept: place in the concatenation of SHARES and INCOME.
    q, n: the quarter in which the period ends, and the quarters that it spans.
    amount: additive: shares are multiplied by their days.
    days: the days of the average for shares, 1 for income.
    """

    company: Ints
    concept: Ints
    q: Ints
    n: Ints
    amount: Floats
    days: Floats

    def key(self, quarters_less: int = 0) -> Ints:
        """A number for each concept and period, or for the period with the same start that is quarters shorter."""
        of_line = self.company * (len(SHARES) + len(INCOME)) + self.concept
        return company_key(of_line, (self.q - quarters_less) * 2 * QUARTERS_A_YEAR + self.n - quarters_less)


def latest_shares(known: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Weighted average shares of each company's newest quarter with share counts.

    The quarter as filed; otherwise the year to date less the period before the quarter, which gives the fourth quarter
    of an annual report; otherwise the shortest period that ends with the quarter. Net income is of the same period.

    Args:
        known: durations (ttm.known.known_amounts), on the newest share basis.
        grid: of calendar.fiscal_grid.

    Returns:
        latest: columns of LATEST_SHARES, one row a company: `period_end`, the counts (null if not stated),
            `net_income` (reporting currency), `method` (quarter, difference, year_to_date) of the counts, and
            `has_diluted`: whether the company has stated diluted shares within the last year.
        decisions: `cik`, `rule`, `figures` (companies).

    Source: ASC 260-10-45-10, the weighted average of a period; Regulation S-X Rule 10-01(c), year to date.
    """
    ciks = np.unique(ints(known, "cik"))
    slots = _newest_known(known, ciks)
    is_count = slots.concept <= DILUTED
    newest = largest_of(slots.company[is_count], len(ciks), slots.q[is_count])
    is_diluted = slots.concept == DILUTED
    newest_diluted = largest_of(slots.company[is_diluted], len(ciks), slots.q[is_diluted])
    value, method = _best(slots, newest)
    income = np.where(np.isnan(value[COMMON]), value[PARENT], value[COMMON])
    of_counts = np.where(method[DILUTED] < 0, method[BASIC], method[DILUTED])
    found = pl.DataFrame(
        {
            "cik": ciks,
            "newest": newest,
            "shares_basic": numbers(value[BASIC]),
            "shares_diluted": numbers(value[DILUTED]),
            "net_income": numbers(income),
            "method": pl.Series(METHODS)[np.maximum(of_counts, 0)],
            "has_diluted": newest_diluted > newest - QUARTERS_A_YEAR,
        }
    ).filter(of_counts >= 0)
    ends = grid.select("cik", "period_end", newest=pl.col("q").cast(pl.Int64))
    latest = found.join(ends, on=["cik", "newest"], maintain_order="left").select(LATEST_SHARES.names())
    decided = [(rule, ciks[of_counts == number]) for number, rule in enumerate(RULES)]
    return latest, counted(decided)


def _newest_known(known: pl.DataFrame, ciks: Ints) -> _Known:
    """The amounts known after the last filing that filings state: potential shares of a loss count in a valuation."""
    concept = places_in((*SHARES, *INCOME), ints(known, "concept"))
    at = np.flatnonzero((concept >= 0) & (floats(known, "rank") < STATED_RANKS[ints(known, "concept")]))
    cik, q, n = (ints(known, name)[at] for name in ("cik", "q", "n"))
    concept = concept[at]
    days = np.where(concept <= DILUTED, floats(known, "days")[at], 1.0)
    rows = _Known(np.searchsorted(ciks, cik), concept, q, n, floats(known, "amount")[at], days)
    return rows.at(np.append(starts(cik, concept, q, n)[1:], [True])[: len(at)])


def _best(slots: _Known, newest: Ints) -> tuple[Floats, Ints]:
    """The mean over the newest quarter, and the method, for each of SHARES and INCOME and each company.

    Returns:
        means (NaN if there is none) and numbers of METHODS (NOTHING if there is none); one row for each concept.
    """
    ending = slots.at(slots.q == newest[slots.company])
    order = np.argsort(slots.key())
    keys = slots.key()[order]
    asked = ending.key(quarters_less=1)
    place = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
    longer = np.flatnonzero((keys[place] == asked) & (ending.n > 1)) if len(keys) else place
    shorter = slots.at(order[place[longer]])
    mean, by_difference = ending.amount / ending.days, ending.at(longer)
    is_count = by_difference.concept <= DILUTED
    rest = by_difference.amount - shorter.amount
    rest /= np.where(is_count, by_difference.days - shorter.days, 1.0)
    away = rest / mean[longer]
    is_near = ~is_count | ((away >= 1 / NEAR) & (away <= NEAR))
    candidates = ending.followed_by(by_difference.at(is_near))
    values = np.concatenate([mean, rest[is_near]])
    methods = np.concatenate(
        [np.where(ending.n == 1, METHODS.index(QUARTER), METHODS.index(TO_DATE)), np.full(is_near.sum(), 1)]
    )
    best_first = np.lexsort((candidates.n, methods, candidates.concept, candidates.company))
    best = best_first[starts(candidates.company[best_first], candidates.concept[best_first])]
    at = candidates.concept[best], candidates.company[best]
    value, method = np.full((4, len(newest)), np.nan), np.full((4, len(newest)), NOTHING)
    value[at], method[at] = values[best], methods[best]
    return value, method
