"""Precision: the power of ten to which a figure is rounded.

Belongs here: the rounding of one figure, and the common scale of all amounts of a filing. Does not: figures filed in a
wrong scale (corrections).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats
from pipelines.normalize.rule import Rule

SCALE_OF_FILING = Rule(
    "precision.scale-of-filing",
    "If all amounts of money in a filing are multiples of a thousand, ten thousand, a hundred thousand or a million, "
    "each counts as rounded to this unit, so that repeating a known value less precisely changes nothing.",
    "Regulation S-X Rule 4-01(b): amounts may be stated in thousands or millions",
    "select",
)

LARGEST_POWER, SMALLEST_POWER = 9, -4
"""Powers of ten that are tried: from billions to the ten-thousandths in which amounts per share are filed."""
FEWEST_DIGITS = 3
"""A figure counts as rounded only if at least so many digits are left: 20,000,000 may be exact."""
SMALLEST_ROUNDING = 0.01
"""Amounts count as rounded to cents even if fewer digits are left: 0.05 is rounded to a cent."""
NEAR_WHOLE = 1e-6
"""Tolerance for a whole multiple of a power, because of binary fractions."""
SCALES = (1e3, 1e4, 1e5, 1e6)
"""The scales in which statements are shown."""
FEWEST_AMOUNTS = 10
"""Fewest amounts that show the common scale of a filing; with fewer amounts it may be chance."""


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


def scale_of_filing(amount: pl.Expr) -> pl.Expr:
    """The largest of SCALES that divides all amounts of money of a filing; null if there are too few amounts.

    All amounts of a statement are shown in one scale, so a small amount is rounded as much as a large one.

    Args:
        amount: amount of money of each figure; null for zero and for other measures.
    """
    multiples = [pl.when(((amount / scale).round() * scale == amount).all()).then(scale) for scale in SCALES]
    is_enough = SCALE_OF_FILING.where(amount.count() >= FEWEST_AMOUNTS)
    of_filing = pl.when(is_enough).then(pl.max_horizontal(multiples)).over("cik", "seq")
    return pl.when(amount.is_not_null()).then(of_filing)
