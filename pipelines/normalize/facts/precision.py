"""Precision: the power of ten that a figure is stated to.

Belongs here: the digits of one figure, and the scale that all amounts of a filing share. Does not: figures filed in a
wrong scale (corrections).
"""

import polars as pl

LARGEST_POWER, SMALLEST_POWER = 9, -4
SIGNIFICANT_DIGITS = 3
SCALES = (1e3, 1e4, 1e5, 1e6)
AMOUNTS_THAT_TELL = 10


def granularity(value: pl.Expr) -> pl.Expr:
    """The power of ten that a figure is stated to: 96,700,000,000 to 100,000,000; 1.5 to 0.1.

    A power that leaves fewer than three digits is not taken for rounding: 20,000,000 may be exact.
    """
    powers = [10.0**k for k in range(LARGEST_POWER, SMALLEST_POWER - 1, -1)]
    largest_fitting = pl.lit(powers[-1])
    for power in reversed(powers):
        enough_digits = (value.abs() >= power * 10 ** (SIGNIFICANT_DIGITS - 1)) | pl.lit(power <= 0.01)
        scaled = value / power
        whole = (scaled - scaled.round()).abs() < 1e-6
        largest_fitting = pl.when(enough_digits & whole).then(power).otherwise(largest_fitting)
    return largest_fitting


def scale_of_filing() -> pl.Expr:
    """The power of ten that all amounts of money of a filing are multiples of, where there are enough to tell.

    Statements are shown in thousands or millions throughout: a small amount is rounded as much as a large one.
    """
    is_money = (pl.col("measure") == "money") & (pl.col("value") != 0)
    amount = pl.when(is_money).then(pl.col("value").abs())
    filing = ["cik", "seq"]
    scale = pl.lit(1.0)
    for power in SCALES:
        scale = pl.when((amount % power == 0).all().over(filing)).then(power).otherwise(scale)
    return pl.when(is_money & (is_money.sum().over(filing) >= AMOUNTS_THAT_TELL)).then(scale)
