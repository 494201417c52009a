"""Footing: the totals of a balance sheet prove which amounts are its lines and which are disclosed in the notes only.

Belongs here: whether an amount and some other lines add up to a total. Does not: what follows for the amount (roles,
cash), balance sheets without current and non-current parts (instruments).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, largest
from pipelines.normalize.balance.sheets import LINE, BalanceSheets
from pipelines.normalize.balance.subset_sums import subset_sums
from pipelines.normalize.elements.cash import OTHER_CURRENT_ASSETS
from pipelines.normalize.elements.loans import OTHER_NONCURRENT_LIABILITIES

ROUNDED_UNITS = 1
"""A total of rounded amounts may differ from their sum by one unit. With a larger tolerance, arbitrary lines would add
up to it."""

_CURRENT_ASSET_LINES = [LINE[concept.name] for concept in OTHER_CURRENT_ASSETS]
_NONCURRENT_LINES = [LINE[concept.name] for concept in OTHER_NONCURRENT_LIABILITIES]


NEVER = 99
"""The number of lines that is reported where the lines do not add up."""


def within_current_assets(sheets: BalanceSheets, cash: Floats, where: Flags) -> Flags:
    """Whether cash and some of the other lines add up to the current assets; false if a line is missing.

    Args:
        cash: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    missing = sheets.value("current_assets") - cash
    fewest = _fewest(missing, sheets.grain("current_assets"), sheets.values[_CURRENT_ASSET_LINES], where)
    found: Flags = fewest < NEVER
    return found


def within_noncurrent_liabilities(sheets: BalanceSheets, debt: Floats, where: Flags) -> Flags:
    """Whether debt and some of the other lines add up to the non-current liabilities; false if a line is missing.

    Args:
        debt: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    found: Flags = fewest_noncurrent_lines(sheets, debt, where) < NEVER
    return found


def fewest_noncurrent_lines(sheets: BalanceSheets, debt: Floats, where: Flags) -> Ints:
    """The smallest number of other lines that add up to the non-current liabilities with debt; NEVER if none do.

    Of two readings that both add up, the one with fewer lines is right: the more lines, the more sums there are that
    meet the total by chance.

    Args:
        debt: an amount for each sheet.
        where: the sheets to test; the result is NEVER for all others.
    """
    missing = sheets.value("liabilities") - sheets.value("liabilities_current") - debt
    unit = largest(sheets.grain("liabilities"), sheets.grain("liabilities_current"))
    return _fewest(missing, unit, sheets.values[_NONCURRENT_LINES], where)


def _fewest(missing: Floats, unit: Floats, beside: Floats, where: Flags) -> Ints:
    """The smallest number of other lines that add up to the missing amount, within rounding; NEVER if none do."""
    found = np.full(len(missing), NEVER, dtype=np.int64)
    asked = np.flatnonzero(where & ~np.isnan(missing + unit))
    if len(asked):
        sums = subset_sums(beside[:, asked])
        fits = np.abs(missing[asked][sums.sheet] - sums.total) <= ROUNDED_UNITS * unit[asked][sums.sheet]
        lines = np.where(fits, _BITS_SET[sums.members], NEVER)
        found[asked] = np.minimum.reduceat(lines, sums.begins)
    return found


_BITS_SET = np.array(
    [number.bit_count() for number in range(1 << max(len(_CURRENT_ASSET_LINES), len(_NONCURRENT_LINES)))]
)
