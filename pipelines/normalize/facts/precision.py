"""Precision: the power of ten that a figure is stated to.

Belongs here: the digits of one figure, and the scale that all amounts of a filing share. Does not: figures filed in a
wrong scale (corrections).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, Ints
from pipelines.normalize.rule import Rule

SCALE_OF_FILING = Rule(
    "precision.scale-of-filing",
    "If all amounts of money of a filing are multiples of a thousand, ten thousand, a hundred thousand or a million, "
    "each is taken as rounded to it: a coarser repetition of a known value changes nothing.",
    "Regulation S-X Rule 4-01(b): amounts may be stated in thousands or millions",
    "select",
)
RULES = (SCALE_OF_FILING,)

LARGEST_POWER, SMALLEST_POWER = 9, -4
"""Figures are looked at from billions down to the ten-thousandths in which amounts per share are filed."""
SIGNIFICANT_DIGITS = 3
"""A power that leaves fewer digits is not taken for rounding: 20,000,000 may be exact."""
SMALLEST_ROUNDING = 0.01
"""Cents are taken as stated whatever digits they leave: 0.05 is stated to a cent."""
NEAR_WHOLE = 1e-6
"""How far a figure may be from a whole number of a power: what binary fractions lose."""
SCALES = (1e3, 1e4, 1e5, 1e6)
"""The scales that statements are shown in."""
FEWEST_AMOUNTS = 10
"""So many amounts of a filing that share a scale do so because the statements are shown in it."""

_LEVELS = np.array([1.0, *SCALES])


def grains(values: Floats) -> Floats:
    """The power of ten that each figure is stated to: 100,000,000 for 96,700,000,000; 0.1 for 15.1."""
    size = np.abs(values)
    found = np.full(len(values), 10.0**SMALLEST_POWER)
    for exponent in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 10.0**exponent
        scaled = size / power
        fits = np.abs(scaled - np.rint(scaled)) < NEAR_WHOLE
        if power > SMALLEST_ROUNDING:
            fits &= size >= power * 10 ** (SIGNIFICANT_DIGITS - 1)
        found[fits] = power
    return found


def granularity(value: pl.Expr) -> pl.Expr:
    """The power of ten that a figure is stated to (grains), as an expression."""
    return value.map_batches(lambda column: pl.Series(grains(column.to_numpy())), return_dtype=pl.Float64)


def with_scale_of_filing(grain: Floats, amount: Floats, filing_begins: Ints) -> Floats:
    """The grain of each figure, or the scale of its filing where that is larger.

    Statements are shown in thousands or millions throughout: a small amount is rounded as much as a large one. The
    scale of a filing is the largest of SCALES that all its amounts of money are multiples of.

    Args:
        grain: of each figure; figures are sorted by filing.
        amount: of money; NaN for zero and for other measures.
        filing_begins: the row at which each filing begins.
    """
    if not len(filing_begins):
        return grain
    is_money = ~np.isnan(amount)
    # a multiple of one scale is a multiple of each smaller one, so that counting them gives the largest
    level = np.zeros(len(amount), dtype=np.int64)
    rest = amount
    for scale in reversed(SCALES):
        # what is left over of a larger scale is quicker to divide than the amount, and leaves the same over
        rest = np.fmod(rest, scale)
        level += (rest == 0) | ~is_money
    of_filing = np.minimum.reduceat(level, filing_begins)
    amounts = np.add.reduceat(is_money.astype(np.int64), filing_begins)
    of_statements = np.where(amounts >= FEWEST_AMOUNTS, _LEVELS[of_filing], 0.0)
    rows = np.diff(np.append(filing_begins, len(amount)))
    return np.where(is_money, np.maximum(grain, np.repeat(of_statements, rows)), grain)
