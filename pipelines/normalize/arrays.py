"""Functions on arrays with one element for each row: missing rows, keys of rows, rows as known after a filing.

Belongs here: functions on rows that the steps share. Does not: any rule.

A missing number is NaN, a missing row is NOTHING (-1). Every comparison with NaN is false, so a condition on a missing
number never holds, but its negation does. Therefore conditions are written without negation.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NOTHING = -1
"""The row number of a row that does not exist."""

KEY_BITS = 63
"""Usable bits of a whole number of 64 bits that is not negative."""

QUARTER_BITS, SEQ_BITS = 12, 17
"""A company has fewer than 4,096 quarters on its grid, and fewer than 131,072 filings."""


def floats(frame: pl.DataFrame, name: str) -> Floats:
    """A column of numbers or booleans as floats; null is NaN."""
    return frame[name].cast(pl.Float64).to_numpy()


def ints(frame: pl.DataFrame, name: str) -> Ints:
    """A column of whole numbers without nulls, of days since 1970, or of the codes of an Enum."""
    column = frame[name]
    return (column.to_physical() if isinstance(column.dtype, pl.Enum) else column).to_numpy().astype(np.int64)


def flags(frame: pl.DataFrame, name: str) -> Flags:
    """A column of booleans; null is false."""
    column = frame[name]
    return (column.fill_null(value=False) if column.null_count() else column).to_numpy().astype(np.bool_)


def picked(values: npt.NDArray[Any], rows: Ints) -> Floats:
    """The values at the given row numbers, as floats; NaN for rows that are NOTHING."""
    if not len(values):
        return np.full(rows.shape, np.nan)
    found = values[rows].astype(np.float64)
    found[rows < 0] = np.nan
    return found


def numbers(array: Floats) -> pl.Series:
    """A column of numbers; NaN is null."""
    return pl.Series(array, dtype=pl.Float64, nan_to_null=True)


def starts(*sorted_keys: npt.NDArray[Any]) -> Flags:
    """Whether a row is the first of a group of equal keys; rows are sorted by the keys."""
    begins = np.zeros(len(sorted_keys[0]), dtype=np.bool_)
    begins[:1] = True
    for key in sorted_keys:
        begins[1:] |= key[1:] != key[:-1]
    return begins


def before(values: Floats, begins: Flags) -> Floats:
    """The value of the row before in the same group; NaN for the first row of a group."""
    earlier = np.full(len(values), np.nan)
    earlier[1:] = values[:-1]
    earlier[begins] = np.nan
    return earlier


def first_row(begins: Flags) -> Ints:
    """For each row, the number of the first row of its group."""
    return np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))


def largest(*columns: Floats) -> Floats:
    """The largest number of each row; NaN only if all numbers of the row are."""
    found: Floats = np.fmax.reduce(columns)
    return found


def any_of(conditions: npt.NDArray[Any] | Sequence[Flags]) -> Flags:
    """For each row, whether at least one of the conditions holds."""
    found: Flags = np.any(conditions, axis=0)
    return found


class Timeline:
    """Rows that later filings replace; one binary search finds the row that is known after a filing."""

    def __init__(self, key: Ints, seq: Ints) -> None:
        """Sort the rows by key and filing.

        Args:
            key: key of each row, not negative and below 2**(63 - SEQ_BITS); rows with the same key replace each other.
            seq: place of the filing of the row; no two rows with the same key have the same.
        """
        packed = (key << SEQ_BITS) | seq
        rows = np.argsort(packed, kind="stable")
        # the last entry is a row that does not exist, with a key that no row has
        self.rows: Ints = np.append(rows, NOTHING)
        self.packed: Ints = np.append(packed[rows], np.iinfo(np.int64).max)

    def of_rows(self, holds: Flags) -> "Timeline":
        """A timeline with only the rows for which a condition holds; row numbers stay the same."""
        kept = object.__new__(Timeline)
        is_kept = np.append(holds, True)[self.rows]
        kept.rows, kept.packed = self.rows[is_kept], self.packed[is_kept]
        return kept

    def after(self, key: Ints, seq: npt.NDArray[Any]) -> Ints:
        """The newest row with each key in filing `seq` or an earlier one; NOTHING if there is none.

        Args:
            key: the keys to look up; negative keys find nothing.
            seq: place of the filing; NaN and negative places find nothing.
        """
        # a negative key or place gives a negative number, before all rows: place -1 is the row that does not exist
        place = np.searchsorted(self.packed, (key << SEQ_BITS) | whole(seq), side="right") - 1
        return np.where(self.packed[place] >> SEQ_BITS == key, self.rows[place], NOTHING)

    def since(self, key: Ints, seq: npt.NDArray[Any]) -> Ints:
        """The oldest row with each key in filing `seq` or a later one; NOTHING if there is none.

        Args:
            key: the keys to look up; negative keys find nothing.
            seq: place of the filing; NaN and negative places find nothing.
        """
        asked = (key << SEQ_BITS) | whole(seq)
        place = np.searchsorted(self.packed, asked)
        return np.where((asked >= 0) & (self.packed[place] >> SEQ_BITS == key), self.rows[place], NOTHING)


def whole(numbers: npt.NDArray[Any]) -> Ints:
    """Numbers (of quarters, of filings) as integers; negative for NaN."""
    return numbers if numbers.dtype.kind == "i" else np.where(numbers >= 0, numbers, NOTHING).astype(np.int64)


def key_of(*parts: tuple[npt.NDArray[Any], int]) -> Ints:
    """Pack several whole numbers into one, each with a number of bits; negative if one of them is missing.

    Args:
        parts: whole numbers (as any type) and their bits, most significant first; NaN and negative numbers are missing.
    """
    key = np.zeros(len(parts[0][0]), dtype=np.int64)
    missing = np.zeros(len(key), dtype=np.bool_)
    for values, bits in parts:
        is_missing = ~((values >= 0) & (values < (1 << bits)))
        missing |= is_missing
        key = (key << bits) | np.where(is_missing, 0, values).astype(np.int64)
    key[missing] = NOTHING
    return key


def packed(*columns: Ints) -> Ints:
    """One whole number for each row; the numbers sort like the columns, and are equal if all columns are.

    Args:
        columns: whole numbers, the most significant column first.
    """
    lowest = [int(column.min(initial=0)) for column in columns]
    bits = [(int(column.max(initial=0)) - low).bit_length() for column, low in zip(columns, lowest, strict=True)]
    if sum(bits) > KEY_BITS:
        return packed(*(np.unique(column, return_inverse=True)[1] for column in columns))
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, low, width in zip(columns, lowest, bits, strict=True):
        key = (key << width) | (column - low)
    return key


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
    """The value of a column `back` rows before, in the same group; null if the group begins later.

    Neighbouring rows are compared, which is faster than a window function.

    Args:
        column: of a frame that is sorted by the columns of the group.
        of: the columns of the group.
        back: how many rows before.
    """
    is_same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(back)) for name in of)
    return pl.when(is_same).then(column.shift(back))
