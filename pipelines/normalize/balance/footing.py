"""Footing: the totals of a balance sheet prove which amounts are its lines and which are disclosed in the notes only.

Belongs here: whether an amount and some other lines add up to a total. Does not: what follows for the amount (roles,
cash), balance sheets without current and non-current parts (instruments).
"""

from collections.abc import Sequence

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, largest
from pipelines.normalize.balance.sheets import LINE, BalanceSheets
from pipelines.normalize.balance.subset_sums import subset_sums
from pipelines.normalize.elements.cash import MORE_CURRENT_ASSETS, OTHER_CURRENT_ASSETS
from pipelines.normalize.elements.liabilities import (
    MORE_CURRENT_LIABILITIES,
    MORE_NONCURRENT_LIABILITIES,
    OTHER_CURRENT_LIABILITIES,
    OTHER_NONCURRENT_LIABILITIES,
)

ROUNDED_UNITS = 1
"""A total of rounded amounts may differ from their sum by one unit. With a larger tolerance, arbitrary lines would add
up to it."""
EXACT = 1e-6
"""Differences of amounts with decimals are exact to a millionth."""

CHANCE = 0.02
"""A sum is certain if no more than one total in fifty would meet some sum of the lines by chance."""

_CURRENT_ASSET_LINES = [LINE[concept.name] for concept in OTHER_CURRENT_ASSETS]
_ALL_CURRENT_ASSET_LINES = [*_CURRENT_ASSET_LINES, *(LINE[concept.name] for concept in MORE_CURRENT_ASSETS)]
_CURRENT_LIABILITY_LINES = [
    LINE[name]
    for name in (
        *(concept.name for concept in OTHER_CURRENT_LIABILITIES),
        "not_borrowed_taxes",
        "not_borrowed_current_contracts",
        "not_borrowed_people",
        "not_borrowed_trade",
    )
]
_ALL_CURRENT_LIABILITY_LINES = [
    *_CURRENT_LIABILITY_LINES,
    *(LINE[concept.name] for concept in MORE_CURRENT_LIABILITIES),
]
_NONCURRENT_LINES = [LINE[concept.name] for concept in OTHER_NONCURRENT_LIABILITIES]
_NOT_LENT = [line for line in _ALL_CURRENT_LIABILITY_LINES if line != LINE["current_affiliates"]]
"""Current liabilities that are certainly not borrowed; what is owed to related parties may be."""
_ALL_NONCURRENT_LINES = [*_NONCURRENT_LINES, *(LINE[concept.name] for concept in MORE_NONCURRENT_LIABILITIES)]


NEVER = 99
"""The number of lines that is reported where the lines do not add up."""


def within_current_assets(sheets: BalanceSheets, cash: Floats, where: Flags) -> Flags:
    """Whether cash and some of the other lines add up to the current assets; false if a line is missing.

    Args:
        cash: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    missing = sheets.value("current_assets") - cash
    fewest = _fewest(missing, sheets.grain("current_assets"), sheets, _CURRENT_ASSET_LINES, where)
    found: Flags = fewest < NEVER
    return found


def of_all_current_assets(sheets: BalanceSheets, readings: Sequence[Floats], where: Flags) -> list[Flags]:
    """For each reading of cash whether it and some of all other lines certainly add up to the current assets."""
    total, unit = sheets.value("current_assets"), sheets.grain("current_assets")
    tries = np.ones(len(sheets))
    return _certain(total, unit, sheets, _ALL_CURRENT_ASSET_LINES, readings, where, tries)


def of_all_current_liabilities(
    sheets: BalanceSheets, readings: Sequence[Floats], where: Flags, tries: Floats
) -> list[Flags]:
    """For each reading of current debt whether it and some of all other lines certainly are the current liabilities.

    Args:
        readings: amounts for each sheet.
        where: the sheets to test.
        tries: the number of readings that each sheet has.
    """
    total, unit = sheets.value("liabilities_current"), sheets.grain("liabilities_current")
    return _certain(total, unit, sheets, _ALL_CURRENT_LIABILITY_LINES, readings, where, tries)


def within_current_liabilities(sheets: BalanceSheets, debt: Floats, where: Flags) -> Flags:
    """Whether current debt and some of the other lines add up to the current liabilities; false if a line is missing.

    Args:
        debt: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    missing = sheets.value("liabilities_current") - debt
    unit = sheets.grain("liabilities_current")
    found: Flags = _fewest(missing, unit, sheets, _CURRENT_LIABILITY_LINES, where) < NEVER
    return found


def within_noncurrent_liabilities(sheets: BalanceSheets, debt: Floats, where: Flags) -> Flags:
    """Whether debt and some of the other lines add up to the non-current liabilities; false if a line is missing.

    Args:
        debt: an amount for each sheet.
        where: the sheets to test; the result is false for all others.
    """
    found: Flags = fewest_noncurrent_lines(sheets, debt, where) < NEVER
    return found


def is_one_digit(amount: Floats, unit: Floats, *, exactly: bool = False) -> Flags:
    """Whether an amount is one digit followed by zeros, exactly or within rounding, and at least ten units."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.power(10.0, np.floor(np.log10(np.abs(amount) + unit)))
    digit = np.rint(np.abs(amount) / power)
    tolerance = EXACT * power if exactly else ROUNDED_UNITS * unit
    found: Flags = (power >= 10 * unit) & (np.abs(np.abs(amount) - digit * power) <= tolerance)
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
    return _fewest(missing, unit, sheets, _NONCURRENT_LINES, where)


def without_debt(sheets: BalanceSheets, current_debt: Floats, where: Flags) -> tuple[Flags, Flags]:
    """Whether lines that are not borrowed, and an amount of current debt, certainly are all liabilities.

    The lines add up to both totals, of current and of non-current liabilities.

    Args:
        current_debt: an amount for each sheet.
        where: the sheets to test.

    Returns:
        for each sheet whether they do, and for each of sheets.LINES (first axis) whether it is one of these lines.
    """
    current = sheets.value("liabilities_current")
    noncurrent = sheets.value("liabilities") - current
    lines = np.zeros(sheets.values.shape, dtype=np.bool_)
    holds = where & ~np.isnan(noncurrent)
    for total, unit, beside in (
        (current - current_debt, sheets.grain("liabilities_current"), _NOT_LENT),
        (noncurrent, largest(sheets.grain("liabilities"), sheets.grain("liabilities_current")), _ALL_NONCURRENT_LINES),
    ):
        asked = np.flatnonzero(holds)
        amounts = _amounts(sheets, beside, asked)
        sums_near_total = np.left_shift(1, np.count_nonzero(amounts, axis=0)) * (2 * ROUNDED_UNITS + 1)
        is_certain = (total[asked] == 0) | (sums_near_total * unit[asked] <= CHANCE * np.abs(total[asked]))
        holds[asked[~is_certain]] = False
        asked, amounts = asked[is_certain], amounts[:, is_certain]
        if not len(asked):
            return holds, lines
        sums = subset_sums(amounts)
        fits = np.abs(total[asked][sums.sheet] - sums.total) <= ROUNDED_UNITS * unit[asked][sums.sheet]
        members = np.minimum.reduceat(np.where(fits, sums.members, _NONE), sums.begins)
        holds[asked] = members != _NONE
        taken = np.where(members == _NONE, 0, members)
        for number, line in enumerate(beside):
            lines[line, asked] |= (taken >> number & 1) != 0
    return holds, lines


_NONE = np.iinfo(np.int64).max


def of_all_noncurrent_liabilities(
    sheets: BalanceSheets, readings: Sequence[Floats], where: Flags, tries: Floats
) -> list[Flags]:
    """The same of non-current debt and the non-current liabilities."""
    total = sheets.value("liabilities") - sheets.value("liabilities_current")
    unit = largest(sheets.grain("liabilities"), sheets.grain("liabilities_current"))
    return _certain(total, unit, sheets, _ALL_NONCURRENT_LINES, readings, where, tries)


def _certain(
    total: Floats,
    unit: Floats,
    sheets: BalanceSheets,
    lines: list[int],
    readings: Sequence[Floats],
    where: Flags,
    tries: Floats,
) -> list[Flags]:
    """For each reading whether it and some other lines add up to the total, and hardly by chance (CHANCE)."""
    found = [np.zeros(len(total), dtype=np.bool_) for _ in readings]
    asked = np.flatnonzero(where & ~np.isnan(total + unit))
    if len(asked):
        beside = _amounts(sheets, lines, asked)
        sums_near_total = np.left_shift(1, np.count_nonzero(beside, axis=0)) * (2 * ROUNDED_UNITS + 1)
        is_certain = tries[asked] * sums_near_total * unit[asked] <= CHANCE * np.abs(total[asked])
        asked, beside = asked[is_certain], beside[:, is_certain]
    if len(asked):
        sums = subset_sums(beside)
        tolerance = (ROUNDED_UNITS * unit[asked])[sums.sheet]
        for holds, reading in zip(found, readings, strict=True):
            missing = (total - reading)[asked]
            holds[asked] = np.logical_or.reduceat(np.abs(missing[sums.sheet] - sums.total) <= tolerance, sums.begins)
    return found


def _amounts(sheets: BalanceSheets, lines: list[int], asked: Ints) -> Floats:
    """The amounts of some lines on some sheets; zero if missing.

    Liabilities that are not borrowed are stated with a minus sign, to be taken off the liabilities.
    """
    amounts: Floats = np.abs(np.nan_to_num(sheets.values[np.array(lines)[:, None], asked]))
    return amounts


def _fewest(missing: Floats, unit: Floats, sheets: BalanceSheets, lines: list[int], where: Flags) -> Ints:
    """The smallest number of other lines that add up to the missing amount, within rounding; NEVER if none do."""
    found = np.full(len(missing), NEVER, dtype=np.int64)
    asked = np.flatnonzero(where & ~np.isnan(missing + unit))
    if len(asked):
        sums = subset_sums(_amounts(sheets, lines, asked))
        fits = np.abs(missing[asked][sums.sheet] - sums.total) <= ROUNDED_UNITS * unit[asked][sums.sheet]
        found[asked] = np.minimum.reduceat(np.where(fits, _BITS_SET[sums.members], NEVER), sums.begins)
    return found


_BITS_SET = np.array(
    [
        number.bit_count()
        for number in range(1 << max(map(len, (_CURRENT_ASSET_LINES, _CURRENT_LIABILITY_LINES, _NONCURRENT_LINES))))
    ]
)
