"""Powers of ten: whether two amounts differ by their scale only.

Belongs here: powers of a thousand and of ten between amounts. Does not: which amount has the wrong scale
(corrections.scale).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats

POWER = 3
"""A thousand, in powers of ten."""
NEAR_STATED = 0.01
"""The largest distance of a quotient from a power of a thousand, in powers of ten (about 2 %): the same figure in
another scale differs by rounding only."""
EXACTLY = 1e-9
"""Figures and factors that differ by less than this share are equal: binary fractions cause the difference."""


def is_power_of_ten(factor: Floats) -> Flags:
    """Whether a correction changes the scale or the sign only; otherwise it replaces the figure by another one."""
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
