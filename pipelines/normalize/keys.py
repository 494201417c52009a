"""Keys: several columns of whole numbers as one that sorts and compares like them.

Belongs here: days as numbers, and packing columns whose ranges are not known beforehand. Does not: keys of parts that
have a fixed number of bits (arrays.key_of).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Ints

KEY_BITS = 63
"""Bits of a whole number that is not negative."""

DAY_BITS = 22
"""Days since 1970 are fewer than 2**21, before and after."""


def day_numbers(days: pl.Series) -> Ints:
    """Days since 1970; 0 where a day is missing."""
    numbers: Ints = days.to_numpy().astype("datetime64[D]").astype(np.int64)
    return np.where(numbers == np.iinfo(np.int64).min, 0, numbers) if days.null_count() else numbers


def packed(*columns: Ints) -> Ints:
    """One whole number a row, in the order of the rows by these columns; equal where all columns are.

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


def company_day(company: Ints, day: Ints) -> Ints:
    """A key that sorts by company and day; the keys of one company are as far apart as the days.

    Args:
        company: number of the company.
        day: as days since 1970, of the years 1 to 7700.
    """
    return (company << DAY_BITS) + day + (1 << (DAY_BITS - 1))


def pairs_of_equal(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Places of all pairs of a left and a right key that are equal; the right keys are sorted.

    Returns:
        places in the left keys, in order, and places in the right ones.
    """
    lowest = np.searchsorted(right, left, side="left")
    number = np.searchsorted(right, left, side="right") - lowest
    nth = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    return np.repeat(np.arange(len(left)), number), np.repeat(lowest, number) + nth


def largest_of(group: Ints, number: int, values: Ints) -> Ints:
    """The largest value of each group; groups are numbered from 0 and have at least one row each."""
    found = np.full(number, np.iinfo(np.int64).min)
    np.maximum.at(found, group, values)
    return found


def any_of(group: Ints, number: int, holds: Flags) -> Flags:
    """Whether something holds for a row of each group."""
    found = np.zeros(number, dtype=np.bool_)
    found[group[holds]] = True
    return found
