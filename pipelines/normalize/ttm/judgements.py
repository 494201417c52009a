"""Judgements: whether the legs of twelve months agree, and which of two ways counts that contradict each other.

Belongs here: the identities of windows, and their proofs. Does not: the legs (bases, quarters), the choice of a way
where both agree (windows).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import QUARTER_BITS, Flags, Ints, key_of, largest, numbers, starts
from pipelines.normalize.decisions import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import DISAGREEMENT, Years
from pipelines.normalize.ttm.known import COMPANY_BITS, CONCEPT_BITS, IS_ADDITIVE, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.ways import DIGITS_OF_SUMS, Way

NO_MIXED_BASES = Rule(
    "ttm.no-mixed-bases",
    "Figures before and after a restatement are not added up: twelve months are withheld if no filings show the fiscal "
    f"year on the basis of the interim periods, and the restatement moves them by more than {DISAGREEMENT:.1%}.",
    "ASC 250-10-45-5; Regulation S-X Rule 10-01(c): interim statements have both interim periods on one basis",
    "withhold",
)
CONFIRMED_LEGS = Rule(
    "ttm.confirmed-legs",
    "If the two ways to twelve months of an amount of money or of dividends contradict each other and no leg was "
    "restated, that way counts whose legs are all stated in two filings, the way by years first.",
    "The identity of both ways: a year is the sum of its quarters; a figure that two filings repeat is no slip",
    "select",
)
NO_CONTRADICTING_WAYS = Rule(
    "ttm.no-contradicting-ways",
    "Twelve months of an amount of money or of dividends are withheld if the two ways to them contradict each other by "
    f"more than {DISAGREEMENT:.1%} and by more than rounding, no leg was restated, and neither way is confirmed.",
    "The identity of both ways: a year is the sum of its quarters",
    "withhold",
)
NO_YEAR_IN_DISPUTE = Rule(
    "ttm.no-year-in-dispute",
    "A fiscal year that only one filing states so is not added to interim periods if the next filing that states it "
    "has one other digit and hardly restates anything else, unless a later filing restates an interim period of the "
    "year or of the next one: then the line was defined anew, and otherwise one of them is mistyped.",
    "Measured on 101 companies: 5 of 10,380 amounts of fiscal years; capital expenditure of AT&T for 2019 (19,435 and "
    "19,635 million) was restated along with interim periods of 2019 and 2020",
    "withhold",
)
RULES = (NO_MIXED_BASES, CONFIRMED_LEGS, NO_CONTRADICTING_WAYS, NO_YEAR_IN_DISPUTE)


@dataclass(frozen=True)
class Judged:
    """Which way counts in windows whose two ways contradict each other: at most one holds for each window."""

    by_years: Flags
    by_quarters: Flags
    neither: Flags


def judged_ways(windows: Windows, by_years: Way, chosen: Years, by_quarters: Way, apart: Flags) -> Judged:
    """Decide between two ways of an additive amount that differ.

    After a restatement the quarters are often on two bases, and the way by years counts; but if the quarters add up
    with the year as restated, and its interim period was restated, too, then the year is on another basis, and so it is
    if the newest amounts of all three legs are the sum of the quarters.

    Args:
        chosen: the legs of the way by years.
        apart: the windows whose ways differ.
    """
    years, quarters, neither = (np.zeros(len(apart), dtype=np.bool_) for _ in range(3))
    rows = np.flatnonzero(apart)
    if len(rows):
        some = windows.at(rows)
        off = np.abs(by_years.amount[rows] - by_quarters.amount[rows])
        digits = DIGITS_OF_SUMS * largest(by_years.grain[rows], by_quarters.grain[rows])
        legs = [[leg.row[rows] for leg in way.legs] for way in (by_years, by_quarters)]
        of_years, of_quarters = (_confirmed(some, of_way) for of_way in legs)
        is_restated = np.any([some.of("revised", row) >= 0 for of_way in legs for row in of_way], axis=0)
        is_restated &= IS_ADDITIVE[some.concept]
        restated_year = some.of("amount", some.find(some.year_before, QUARTERS_A_YEAR))
        as_restated = by_years.amount[rows] - some.of("amount", chosen.year[rows]) + restated_year
        adds_up = chosen.is_doubtful[rows] & (np.abs(as_restated - by_quarters.amount[rows]) <= digits)
        to_date, prior = (some.find(some.q - back, some.quarter) for back in (0, QUARTERS_A_YEAR))
        as_newest = restated_year + some.of("amount", to_date) - some.of("amount", prior)
        adds_up |= np.abs(as_newest - by_quarters.amount[rows]) <= digits
        contradict = off > digits
        years[rows] = contradict & ((is_restated & ~adds_up) | of_years)
        quarters[rows] = contradict & ~years[rows] & (of_quarters | adds_up)
        neither[rows] = contradict & ~years[rows] & ~quarters[rows]
    return Judged(years, quarters, neither)


def _confirmed(windows: Windows, legs: list[Ints]) -> Flags:
    """Whether each leg is stated with the same amount in two filings."""
    of = windows.of
    found = np.ones(len(windows.q), dtype=np.bool_)
    for row in legs:
        found &= (row < 0) | (of("seq", row) > of("since", row)) | (of("repeated", row) <= windows.seq)
    return found


def proofs(
    windows: Windows,
    by_years: Way,
    years: Years,
    by_quarters: Way,
    judged: Judged,
    items: pl.Series,
    has_way: Flags,
) -> pl.DataFrame:
    """The judgements of the windows that count today: decisions.PROOFS.

    One basis: the interim period of the year before as known with the year (`left_side`) and as subtracted
    (`right_side`), or the year in dispute as in the window and as in the newest filing. Two ways: twelve months by
    years and by quarters.

    Args:
        items: the line item of each concept; null if there is none.
    """
    window = windows.slot(windows.q, 0)
    rows = np.flatnonzero(has_way | ~np.isin(window, window[has_way]))
    is_last = np.append(window[rows][1:] != window[rows][:-1], [True])[: len(rows)]
    rows = rows[is_last & items.is_not_null().to_numpy()[windows.concept[rows]] & ~windows.is_year_end[rows]]
    concept, withheld = windows.concept[rows], ~has_way[rows]
    both = by_years.is_sound[rows] & by_quarters.is_sound[rows] & IS_ADDITIVE[concept]
    asked = np.concatenate([np.flatnonzero(by_years.is_whole[rows]), np.flatnonzero(both)])
    is_basis = np.arange(len(asked)) < np.count_nonzero(by_years.is_whole[rows])
    chose_basis, chose_way = years.is_recast | years.is_before, judged.by_years | judged.by_quarters
    no_basis = (by_years.mixes_bases | by_years.is_disputed)[rows]
    rank = np.where(
        withheld[asked] & np.where(is_basis, no_basis[asked], judged.neither[rows][asked]),
        2,
        np.where(is_basis, chose_basis[rows][asked], chose_way[rows][asked]).astype(np.int64),
    )
    # of the concepts of an item, the one counts that the identity decided most about
    of_item = items.rank("dense").fill_null(0).to_numpy().astype(np.int64)[concept[asked]]
    company, q = windows.company[rows][asked], windows.q[rows][asked]
    key = key_of((company, COMPANY_BITS), (q, QUARTER_BITS), (of_item, CONCEPT_BITS), (is_basis, 1))
    order = np.lexsort((-rank, key))
    first = order[starts(key[order])]
    at, of_basis = rows[asked[first]], is_basis[first]
    is_disputed = of_basis & by_years.is_disputed[at] & ~has_way[at]
    newest_year = windows.at(at).find(windows.year_before[at], QUARTERS_A_YEAR)
    one, other = (
        windows.of("amount", np.where(is_disputed, disputed, row))
        for disputed, row in ((years.year[at], years.with_year[at]), (newest_year, years.prior[at]))
    )
    return pl.DataFrame(
        {
            "cik": windows.known.companies[windows.company[at]],
            "q": windows.q[at].astype(np.int32),
            "item": items[windows.concept[at]],
            "seq": windows.seq[at].astype(np.int32),
            "rule": pl.Series([NO_CONTRADICTING_WAYS.id, NO_MIXED_BASES.id, NO_YEAR_IN_DISPUTE.id])[
                of_basis.astype(np.int64) + is_disputed
            ],
            "outcome": pl.Series([HOLDS, CHOSE, WITHHELD_OUTCOME])[rank[first]],
            "left_side": numbers(np.where(of_basis, one, by_years.amount[at])),
            "right_side": numbers(np.where(of_basis, other, by_quarters.amount[at])),
        },
        schema=PROOFS,
    )
