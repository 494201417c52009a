"""Footing: the totals of a balance sheet prove which amounts are its lines and which are disclosed in the notes only.

Belongs here: whether an amount and some other lines add up to a total. Does not: what follows for the amount (roles,
cash), balance sheets without current and non-current parts (instruments).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, largest
from pipelines.normalize.balance.sheets import LINE, BalanceSheets
from pipelines.normalize.balance.subset_sums import subset_sums
from pipelines.normalize.elements.cash import OTHER_CURRENT_ASSETS
from pipelines.normalize.elements.loans import OTHER_NONCURRENT_LIABILITIES

ROUNDED_UNITS = 1
"""A total of rounded amounts may differ from their sum by one unit. With a larger tolerance, arbitrary lines would add
up to it."""

_CURRENT_ASSET_LINES = [LINE[concept.name] for concept in OTHER_CURRENT_ASSETS]
_NONCURRENT_LINES = [LINE[concept.name] for concept in OTHER_NONCURRENT_LIABILITIES]


def within_current_assets(sheets: BalanceSheets, cash: Floats, where: Flags) -> Flags:
    """Whether cash and some of the other lines add up to the current assets; false if a line is missing.

    Args:
        cash: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    missing = sheets.value("current_assets") - cash
    return _add_up(missing, sheets.grain("current_assets"), sheets.values[_CURRENT_ASSET_LINES], where)


def within_noncurrent_liabilities(sheets: BalanceSheets, debt: Floats, where: Flags) -> Flags:
    """Whether debt and some of the other lines add up to the non-current liabilities; false if a line is missing.

    Args:
        debt: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    missing = sheets.value("liabilities") - sheets.value("liabilities_current") - debt
    unit = largest(sheets.grain("liabilities"), sheets.grain("liabilities_current"))
    return _add_up(missing, unit, sheets.values[_NONCURRENT_LINES], where)


def _add_up(missing: Floats, unit: Floats, beside: Floats, where: Flags) -> Flags:
    """Whether some of the other lines add up to the missing amount, within rounding."""
    found = np.zeros(len(missing), dtype=np.bool_)
    asked = np.flatnonzero(where & ~np.isnan(missing + unit))
    if len(asked):
        sums = subset_sums(beside[:, asked])
        missed = np.minimum.reduceat(np.abs(missing[asked][sums.sheet] - sums.total), sums.begins)
        found[asked] = missed <= ROUNDED_UNITS * unit[asked]
    return found
