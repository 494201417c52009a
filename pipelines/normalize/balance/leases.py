"""Operating leases filed under elements of borrowings.

Belongs here: recognizing such lines by the filer's own total of operating leases, and leaving them out. Does not:
finance leases, which some lines of debt include (elements.debt).
"""

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints
from pipelines.normalize.balance.sheets import LINE, BalanceSheets, same
from pipelines.normalize.rule import Rule

NO_BORROWINGS = Rule(
    "debt.leases.no-borrowings",
    "Amounts under elements of borrowings that add up to the operating lease liability, or to its current part, are "
    "leases and no debt; so are those under the same elements in later filings without that liability.",
    "ASC 842-20-45-1 (operating lease liabilities are not on the lines of finance leases and debt)",
    "select",
)
RULES: tuple[Rule, ...] = (NO_BORROWINGS,)

EXACT = 0.5
"""Amounts in whole units of the currency are the same if they differ by less than half a unit."""


def leave_out(sheets: BalanceSheets) -> list[tuple[Rule, Ints]]:
    """Take leases from the lines of debt, in place.

    Returns:
        the rule with the CIK of the sheets that it changed.
    """
    noncurrent, short = sheets.value("debt_noncurrent"), sheets.value("debt_short_term_by_instrument")
    every, later_part = -sheets.value("not_borrowed_leases"), -sheets.value("noncurrent_leases")
    is_both = equal(noncurrent + short, every)
    is_short = is_both | equal(short, every - later_part)
    if not is_short.any():
        return []
    filing = (sheets.cik << 32) | sheets.seq
    is_unknown = np.isnan(every)
    is_both |= is_unknown & (noncurrent > 0) & _since(sheets, filing, is_both)
    is_short |= is_unknown & (short > 0) & _since(sheets, filing, is_short)
    loans = sheets.value("debt_short_term_loans")
    whole = sheets.value("debt_short_term")
    cleared(sheets, "debt_short_term", is_short & same(whole, short))
    sheets.put("debt_short_term_loans", "debt_short_term", is_short & same(whole, short + loans), NOTHING)
    cleared(sheets, "debt_short_term_by_instrument", is_short)
    cleared(sheets, "debt_noncurrent", is_both)
    cleared(sheets, "debt_noncurrent_alone", is_both)
    return [(NO_BORROWINGS, sheets.cik[is_short | is_both])]


def equal(amount: Floats, other: Floats) -> Flags:
    """Whether two amounts are exactly the same and not zero."""
    found: Flags = (np.abs(amount - other) < EXACT) & (amount > EXACT)
    return found


def _since(sheets: BalanceSheets, filing: Ints, shown: Flags) -> Flags:
    """Whether a sheet is of a filing after the first one of its company that shows something."""
    ciks, first = np.unique(sheets.cik[shown], return_inverse=True)
    if not len(ciks):
        return shown
    begins = np.full(len(ciks), np.iinfo(np.int64).max)
    np.minimum.at(begins, first, filing[shown])
    place = np.minimum(np.searchsorted(ciks, sheets.cik), len(ciks) - 1)
    found: Flags = (ciks[place] == sheets.cik) & (filing >= begins[place])
    return found


def cleared(sheets: BalanceSheets, line: str, where: Flags) -> None:
    """Take a line from some sheets, in place."""
    sheets.rows[LINE[line], where] = NOTHING
    sheets.values[LINE[line], where] = np.nan
    sheets.known.clear()
