"""Recasts: which figures of current reports (8-K, 6-K) count in addition to those of periodic reports.

Belongs here: what a current report restates. Does not: which forms are read (reports).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, ints
from pipelines.normalize.decisions import counted
from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.keys import packed, sortable_days
from pipelines.normalize.rule import Rule

COMPLETE_SET = Rule(
    "recast.complete-set",
    "A current report with a complete set of statements (profit, revenue and a balance sheet or cash flow statement) "
    "restates the periods that periodic reports stated before.",
    "Form 8-K Items 8.01 and 9.01: audited statements recast after a change of segments, a disposal or a new standard",
    "select",
)
PARTIAL = Rule(
    "recast.partial",
    "A current report without a complete set of statements, such as a press release, restates nothing: the figure of "
    "the earlier periodic report remains.",
    "Form 8-K Item 2.02 and General Instruction B.2: a press release is furnished, not filed",
    "withhold",
)
FIRST_STATEMENT = Rule(
    "recast.first-statement",
    "A figure of a current report counts if no periodic report stated it before, even without a complete set of "
    "statements.",
    "Form 8-K Item 2.02: results of a completed period are announced before the periodic report on it",
    "select",
)
RULES = (COMPLETE_SET, PARTIAL, FIRST_STATEMENT)

COMPLETE: tuple[tuple[str, ...], ...] = (
    ("net_income_common", "net_income_parent"),
    ("revenue",),
    ("operating_cash_flow", "assets", "equity", "cash"),
)
"""A complete set of statements has at least one concept of each row: profit, revenue, and a second statement."""

_SHOWS = np.array([np.isin(AMOUNT.categories.to_numpy(), names) for names in COMPLETE])


def without_partial_recasts(vintages: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Leave out figures that a current report states again, unless it has a complete set of statements.

    Figures that no periodic report has stated before are also taken from press releases.

    Args:
        vintages: of stated.stated_concepts.

    Returns:
        the vintages that count; and the decisions (decisions.DECISIONS).
    """
    is_current = ~vintages["periodic"].to_numpy()
    rows = np.flatnonzero(is_current)
    if not len(rows):
        return vintages, counted([])
    cik, seq, concept = (ints(vintages, name) for name in ("cik", "seq", "concept"))
    slot = packed(cik, concept, sortable_days(vintages["start"]), sortable_days(vintages["end"]))
    stated, of_row = np.unique(slot[rows], return_inverse=True)
    place = np.minimum(np.searchsorted(stated, slot), len(stated) - 1)
    is_asked = ~is_current & (stated[place] == slot)
    first_report = np.full(len(stated), np.iinfo(np.int64).max)
    np.minimum.at(first_report, place[is_asked], seq[is_asked])
    restates = seq[rows] > first_report[of_row]
    filing = packed(cik, seq)
    filings, of_filing = np.unique(filing[rows], return_inverse=True)
    complete: Flags = np.ones(len(filings), dtype=np.bool_)
    for shows in _SHOWS:
        has: Flags = np.zeros(len(filings), dtype=np.bool_)
        has[of_filing[shows[concept[rows]]]] = True
        complete &= has
    is_complete = complete[of_filing]
    counts = np.ones(len(slot), dtype=np.bool_)
    counts[rows[restates & ~is_complete]] = False
    decisions = [
        (COMPLETE_SET, cik[rows[restates & is_complete]]),
        (PARTIAL, cik[rows[restates & ~is_complete]]),
        (FIRST_STATEMENT, cik[rows[~restates]]),
    ]
    return vintages.filter(counts), counted(decisions)
