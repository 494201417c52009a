"""The sums of all subsets of the lines of a balance sheet.

Belongs here: the arithmetic. Does not: which sum a total proves (footing, instruments).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class SubsetSums:
    """Every subset of the nonzero lines of each sheet, the empty one first, sheet after sheet.

    sheet: the sheet (column of the amounts).
    members: the lines as bits, the lowest bit for the first row of the amounts; ascending within a sheet.
    total: the sum, added in the order of the lines.
    begins: the first row of each sheet.
    """

    sheet: Ints
    members: Ints
    total: Floats
    begins: Ints


def subset_sums(amounts: Floats) -> SubsetSums:
    """The subsets of each column.

    Args:
        amounts: one row a line, one column a sheet; NaN and zero are missing lines.
    """
    is_there = (amounts != 0) & ~np.isnan(amounts)
    size = is_there.sum(axis=0)
    count = np.left_shift(1, size)
    begins = np.cumsum(count) - count
    length = int(count.sum())
    members, total = np.zeros(length, dtype=np.int64), np.zeros(length)
    for lines in np.unique(size):
        if lines:
            sheets = np.flatnonzero(size == lines)
            present = np.argsort(~is_there[:, sheets], axis=0, kind="stable")[:lines]
            bits = np.left_shift(1, present)
            values = np.take_along_axis(amounts[:, sheets], present, axis=0)
            sums, parts = np.zeros((len(sheets), 1)), np.zeros((len(sheets), 1), dtype=np.int64)
            for value, bit in zip(values, bits, strict=True):
                sums = np.concatenate([sums, sums + value[:, None]], axis=1)
                parts = np.concatenate([parts, parts | bit[:, None]], axis=1)
            places = begins[sheets][:, None] + np.arange(1 << int(lines))
            members[places], total[places] = parts, sums
    sheet = np.repeat(np.arange(amounts.shape[1]), count)
    return SubsetSums(sheet, members, total, begins)
