"""Keys: several columns of whole numbers packed into one that sorts and compares in the same way.

Belongs here: packing columns whose ranges are not known beforehand, pairing equal keys, the row before with the same
key. Does not: keys of parts that have a fixed number of bits (arrays.key_of).
"""

from collections.abc import Iterable

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Ints
from pipelines.normalize.elements import AMOUNT

KEY_BITS = 63
"""Bits of a whole number that is not negative."""

NUMBER_OF = {name: number for number, name in enumerate(AMOUNT.categories)}
"""The number of each amount in elements.AMOUNT."""

DAY_BITS = 22
"""Days since 1970 are fewer than 2**21, before and after."""


def packed(*columns: Ints) -> Ints:
    """One whole number for each row; the numbers sort like the columns, and are equal if all columns are.

    Args:
        columns: whole numbers, the most significant column first.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    if not len(key):
        return key
    lowest = [int(column.min()) for column in columns]
    bits = [(int(column.max()) - low).bit_length() for column, low in zip(columns, lowest, strict=True)]
    if sum(bits) > KEY_BITS:
        columns = tuple(np.unique(column, return_inverse=True)[1] for column in columns)
        lowest = [0] * len(columns)
        bits = [int(column.max()).bit_length() for column in columns]
    for column, low, width in zip(columns, lowest, bits, strict=True):
        key = (key << width) | (column - low)
    return key


def company_key(company: Ints, number: Ints) -> Ints:
    """A key that sorts by company and number; within a company, differences of keys are differences of numbers.

    Args:
        company: number of the company.
        number: a day since 1970 (years 1 to 7700), or the place of a filing or of a quarter.
    """
    return (company << DAY_BITS) + number + (1 << (DAY_BITS - 1))


def pairs_of_equal(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of a left and a right key that are equal, by their places; the right keys are sorted.

    Returns:
        places of the left keys, in order, and places of the right keys.
    """
    lowest = np.searchsorted(right, left, side="left")
    number = np.searchsorted(right, left, side="right") - lowest
    nth = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    return np.repeat(np.arange(len(left)), number), np.repeat(lowest, number) + nth


def previous(column: pl.Expr, of: Iterable[str], back: int = 1) -> pl.Expr:
    """The value of a column some rows before, in the same group; null if the group begins later.

    Neighbouring rows are compared, which is faster than a window function.

    Args:
        column: of a frame that is sorted by the columns of the group.
        of: the columns of the group.
        back: how many rows before.
    """
    is_same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(back)) for name in of)
    return pl.when(is_same).then(column.shift(back))
