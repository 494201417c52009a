"""Powers of a thousand: the factor between units, thousands and millions in errors of scale.

Belongs here: testing whether a quotient is near such a power. Does not: the corrections that follow (identities,
scale).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats

ERRORS_MEASURED = (
    "Measured: an error of a thousand or a million is 6 % of the changes between successive filings of a period"
)
"""The source of rules that rest on the frequency of such errors."""

POWER = 3
"""A thousand is three powers of ten."""
NEAR_COUNTS = 0.35
"""The largest distance of a quotient from such a power, in powers of ten, where share counts of several periods are
compared: counts change over time."""
EXACTLY = 1e-9
"""Largest distance of a factor from a power of ten, in powers of ten, that comes from computing it."""


def is_power_of_ten(factor: Floats) -> Flags:
    """Whether a correction multiplies by a power of ten or turns the sign; otherwise another figure takes the place."""
    power: Floats = np.log10(np.abs(factor))
    return abs(power - np.round(power)) < EXACTLY


def power_of_thousand(quotient: Floats, near: float) -> Floats:
    """The power of ten, a multiple of three, that is near to each quotient; NaN if there is none.

    Args:
        quotient: quotient of two amounts; for zero and negative quotients the result is NaN.
        near: the largest distance from the power, in powers of ten.
    """
    exponent = np.log10(quotient)
    power = np.round(exponent / POWER) * POWER
    return np.where(np.abs(exponent - power) <= near, power, np.nan)
