"""Precision: the power of ten to which a figure is rounded.

Belongs here: the rounding of one figure, and the common scale of all amounts of a filing. Does not: figures filed in a
wrong scale (corrections).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, Ints
from pipelines.normalize.rule import Rule

SCALE_OF_FILING = Rule(
    "precision.scale-of-filing",
    "If all amounts of money in a filing are multiples of a thousand, ten thousand, a hundred thousand or a million, "
    "each counts as rounded to it, so that a coarser repetition of a known value changes nothing.",
    "Regulation S-X Rule 4-01(b): amounts may be stated in thousands or millions",
    "select",
)
RULES = (SCALE_OF_FILING,)

LARGEST_POWER, SMALLEST_POWER = 9, -4
"""Powers of ten that are tried: from billions to the ten-thousandths in which amounts per share are filed."""
FEWEST_DIGITS = 3
"""A figure counts as rounded only if so many digits are left: 20,000,000 may be exact."""
SMALLEST_ROUNDING = 0.01
"""Cents count as the rounding whatever digits are left: 0.05 is rounded to a cent."""
NEAR_WHOLE = 1e-6
"""Tolerance for a whole multiple of a power, because of binary fractions."""
SCALES = (1e3, 1e4, 1e5, 1e6)
"""The scales in which statements are shown."""
FEWEST_AMOUNTS = 10
"""A common scale of fewer amounts may be chance; of so many, the statements are shown in it."""

_LEVELS = np.array([1.0, *SCALES])


def grains(values: Floats, fewest_digits: int = FEWEST_DIGITS) -> Floats:
    """The power of ten to which each figure is rounded: 100,000,000 for 96,700,000,000; 0.1 for 15.1."""
    size = np.abs(values)
    found = np.full(len(values), 10.0**SMALLEST_POWER)
    for exponent in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 10.0**exponent
        scaled = size / power
        fits = np.abs(scaled - np.rint(scaled)) < NEAR_WHOLE
        if power > SMALLEST_ROUNDING:
            fits &= size >= power * 10 ** (fewest_digits - 1)
        found[fits] = power
    return found


def granularity(value: pl.Expr) -> pl.Expr:
    """The power of ten to which a figure is rounded (grains), as an expression."""
    return value.map_batches(lambda column: pl.Series(grains(column.to_numpy())), return_dtype=pl.Float64)


def with_scale_of_filing(grain: Floats, amount: Floats, filing_begins: Ints) -> Floats:
    """The grain of each figure, or the scale of its filing if that is larger.

    All amounts of a statement are shown in one scale, so a small amount is rounded as much as a large one. The scale of
    a filing is the largest of SCALES of which all its amounts of money are multiples.

    Args:
        grain: grain of each figure; figures are sorted by filing.
        amount: amount of money of each figure; NaN for zero and for other measures.
        filing_begins: the first row of each filing.
    """
    if not len(filing_begins):
        return grain
    is_money = ~np.isnan(amount)
    # a multiple of one scale is a multiple of all smaller scales, so their number gives the largest
    level = np.zeros(len(amount), dtype=np.int64)
    rest = amount
    for scale in reversed(SCALES):
        # the remainder of a larger scale has the same remainder as the amount, and is faster to divide
        rest = np.fmod(rest, scale)
        level += (rest == 0) | ~is_money
    of_filing = np.minimum.reduceat(level, filing_begins)
    amounts = np.add.reduceat(is_money.astype(np.int64), filing_begins)
    of_statements = np.where(amounts >= FEWEST_AMOUNTS, _LEVELS[of_filing], 0.0)
    rows = np.diff(np.append(filing_begins, len(amount)))
    return np.where(is_money, np.maximum(grain, np.repeat(of_statements, rows)), grain)
