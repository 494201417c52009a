"""Balance sheets and lines in other units than those before, or than the rest of their filing.

Belongs here: whether units differ. Does not: what follows for debt and cash (contradictions, withdrawn), repairs of
scale (corrections.scale).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.before import FELL_WITH_IT, Before, all_of_those_asked
from pipelines.normalize.balance.sheets import BalanceSheets, total_liabilities
from pipelines.normalize.balance.sums import Sums

OTHER_UNITS = (1 / 3000, 1 / 330)
"""Total assets at about a thousandth of those before; the same for a millionth."""

SAME_FACTOR = 5
"""A balance fell by the same factor as the total assets if the two factors differ by at most five times."""

FINER_BY = 100
"""A line is finer than its filing if its last digit is a hundred times smaller than that of all other amounts."""

SAME_SIZE = 3
"""Total assets are of the same size if they differ by at most three times."""


def in_other_units(sheets: BalanceSheets, before: Before, balance: Floats) -> Flags:
    """Whether total assets and the balance fell to a thousandth or a millionth of another sheet.

    This is the same day's sheet in the filing before, else the newest sheet of the filing before, else the other sheet
    of the filing, whose units may be wrong too.
    """
    place = np.where(before.in_filing_before >= 0, before.in_filing_before, before.in_filing)
    place = np.where(before.of_day >= 0, before.of_day, place)
    assets = sheets.value("assets")
    with np.errstate(divide="ignore", invalid="ignore"):
        of_assets, of_balance = assets / assets[place], balance / balance[place]
        same_factor = np.abs(np.log(of_balance / of_assets)) <= np.log(SAME_FACTOR)
    liabilities = total_liabilities(sheets)
    of_liabilities = are_other_units(liabilities, liabilities[place]) | np.isnan(liabilities + liabilities[place])
    in_units = are_other_units(assets, assets[place]) & of_liabilities
    found: Flags = (place >= 0) & in_units & (same_factor | np.isnan(of_balance))
    return found


def are_other_units(assets: Floats, of_others: Floats) -> Flags:
    """Whether total assets are about a thousandth or a millionth of others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = assets / of_others
    found = np.zeros(len(share), dtype=np.bool_)
    for factor in (1.0, 1e-3):
        found |= (share > OTHER_UNITS[0] * factor) & (share < OTHER_UNITS[1] * factor)
    return found


def is_finer(sheets: BalanceSheets, sums: Sums, candidates: Ints) -> Flags:
    """Whether a line of each sum is in finer units than all amounts of its filing's balance sheets but the candidates.

    A candidate may state the same amount as the line.
    """
    _, filing = np.unique((sheets.cik << 32) | sheets.seq, return_inverse=True)
    stated = (sheets.rows >= 0) & (sheets.values != 0)
    stated[candidates] = False
    part_sheet = sums.sheet[sums.part_sum]
    line, sheet = np.nonzero(stated)
    finest = np.full(len(sheets), np.inf)
    np.minimum.at(finest, filing[sheet], sheets.stated.grain[sheets.rows[line, sheet]])
    limit = finest[filing[part_sheet]] / FINER_BY
    is_finer = (sheets.stated.value[sums.part_row] != 0) & (sheets.stated.grain[sums.part_row] <= limit)
    found: Flags = np.bincount(sums.part_sum, is_finer & np.isfinite(limit), len(sums.sheet)) > 0
    return found


def fell_to_a_thousandth(sheets: BalanceSheets, before: Before, balance: Floats, candidates: Ints) -> Flags:
    """Whether a line of some fell to a thousandth of the sheets before, and the balance with it, but not the assets."""
    assets, lines = sheets.value("assets"), sheets.values[candidates]
    asked, fell = [], []
    for place in (before.in_filing, before.in_filing_before):
        newer = np.flatnonzero(place >= 0)
        older = place[newer]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_line = lines[:, newer] / lines[:, older]
            of_assets = assets[newer] / assets[older]
        is_same = (of_assets < SAME_SIZE) & (of_assets > 1 / SAME_SIZE)
        with_it = balance[older] - balance[newer] >= FELL_WITH_IT * (lines[:, older] - lines[:, newer])
        is_asked, found = (np.zeros(lines.shape, dtype=np.bool_) for _ in range(2))
        is_asked[:, newer] = ~np.isnan(of_line)
        found[:, newer] = is_same & with_it & (of_line > OTHER_UNITS[0]) & (of_line < OTHER_UNITS[1])
        asked.append(is_asked)
        fell.append(found)
    fell_alone: Flags = np.logical_or.reduce(all_of_those_asked(asked, fell), axis=0)
    return fell_alone
