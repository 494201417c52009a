"""One borrowing under two elements, as another balance sheet of the same filing shows.

Belongs here: recognizing such lines where the filing states a total for one of its days only. Does not: lines that the
total of the same day contradicts (debt), one amount under two elements of one line (facts.repetitions).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Ints
from pipelines.normalize.balance.element_sets import are_equal
from pipelines.normalize.balance.leases import cleared, equal
from pipelines.normalize.balance.sheets import LINE, BalanceSheets
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

ONE_BORROWING = Rule(
    "debt.noncurrent.repeats-maturities",
    "A non-current instrument of exactly the amount of the current maturities is the same borrowing, and not added to "
    "them, if another balance sheet of the filing states both with one amount, which is all long-term debt there, and "
    "nothing as non-current.",
    "us-gaap:LongTermDebt: including current maturities; Regulation S-X Rule 3-01: both balance sheets of a filing "
    "have the same lines",
    "select",
)
RULES: tuple[Rule, ...] = (ONE_BORROWING,)

_INSTRUMENTS = "debt_noncurrent_by_instrument"


def leave_out(sheets: BalanceSheets) -> list[tuple[Rule, Ints]]:
    """Take non-current instruments that repeat the current maturities from the lines of debt, in place.

    Returns:
        the rule with the CIK of the sheets that it changed.
    """
    maturities, instruments = sheets.value("debt_current_maturities"), sheets.value(_INSTRUMENTS)
    is_one = equal(instruments, maturities)
    shows = is_one & equal(sheets.value("debt_long_term"), maturities) & (sheets.value("debt_noncurrent") == 0)
    asked = is_one & equal(sheets.value("debt_noncurrent"), maturities) & ~sheets.has("debt_long_term")
    repeats = asked & _shown_beside(sheets, shows)
    if not repeats.any():
        return []
    for line in ("debt_noncurrent", _INSTRUMENTS, "debt_noncurrent_instrument"):
        cleared(sheets, line, repeats)
    return [(ONE_BORROWING, sheets.cik[repeats])]


def _shown_beside(sheets: BalanceSheets, shows: Flags) -> Flags:
    """Whether another sheet of the same filing shows something with the same instruments."""
    found = np.zeros(len(sheets), dtype=np.bool_)
    showing = np.flatnonzero(shows)
    if not len(showing):
        return found
    filing = packed(sheets.cik, sheets.seq)
    order = showing[np.argsort(filing[showing], kind="stable")]
    place = np.searchsorted(filing[order], filing, side="right") - 1
    beside = order[np.maximum(place, 0)]
    row = sheets.rows[LINE[_INSTRUMENTS]]
    elements = sheets.stated.elements
    found = (place >= 0) & (filing[beside] == filing) & (row >= 0)
    shown: Flags = found & are_equal(elements[:, row], elements[:, row[beside]])
    return shown
