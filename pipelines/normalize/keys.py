"""Keys: several columns of whole numbers packed into one that sorts and compares in the same way.

Belongs here: days and amounts as numbers, and packing columns whose ranges are not known beforehand. Does not: keys of
parts that have a fixed number of bits (arrays.key_of).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipelines.normalize.arrays import NOTHING, SEQ_BITS, Flags, Ints, ints, key_of
from pipelines.normalize.elements import AMOUNT

KEY_BITS = 63
"""Bits of a whole number that is not negative."""

NUMBER_OF = {name: number for number, name in enumerate(AMOUNT.categories)}
"""The number of each amount in elements.AMOUNT."""

CIK_BITS = 40
"""A CIK has ten digits."""

DAY_BITS = 22
"""Days since 1970 are fewer than 2**21, before and after."""


def places_in(names: Sequence[str], concept: Ints) -> Ints:
    """The place of each concept in `names`, by its number in elements.AMOUNT; NOTHING for concepts not in `names`."""
    place = np.full(len(AMOUNT.categories), NOTHING)
    place[[NUMBER_OF[name] for name in names]] = np.arange(len(names))
    return place[concept]


def dates(days: Ints) -> pl.Series:
    """Days since 1970 as dates; null for the smallest number, which `largest_of` returns for groups without rows."""
    return pl.Series(days.astype("datetime64[D]"), dtype=pl.Date)


def day_numbers(days: pl.Series) -> Ints:
    """Days since 1970; 0 for a missing day."""
    numbers: Ints = days.to_numpy().astype("datetime64[D]").astype(np.int64)
    return np.where(numbers == np.iinfo(np.int64).min, 0, numbers) if days.null_count() else numbers


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


def largest_of(group: Ints, number: int, values: Ints) -> Ints:
    """The largest value of each group, numbered from 0; for a group without rows the smallest possible number."""
    found = np.full(number, np.iinfo(np.int64).min)
    np.maximum.at(found, group, values)
    return found


def any_of(group: Ints, number: int, holds: Flags) -> Flags:
    """For each group, whether the condition holds for any of its rows."""
    found = np.zeros(number, dtype=np.bool_)
    found[group[holds]] = True
    return found


def sortable_days(column: pl.Series) -> Ints:
    """Dates as days since 1970; null becomes the day before the first date."""
    days = column.to_numpy().astype("datetime64[D]").astype(np.int64)
    if column.null_count():
        is_null = days == np.iinfo(np.int64).min  # how NumPy represents a missing date
        days[is_null] = days[~is_null].min(initial=0) - 1
    return days


def filing_rows(cik: Ints, seq: Ints, filings: pl.DataFrame) -> Ints:
    """For each row, the row of its filing in `filings`.

    Args:
        cik, seq: of each row.
        filings: all filings: `cik`, `seq`, sorted by both.
    """
    of_row, of_filing = (
        key_of((company, CIK_BITS), (place, SEQ_BITS))
        for company, place in ((cik, seq), (ints(filings, "cik"), ints(filings, "seq")))
    )
    return np.searchsorted(of_filing, of_row)
