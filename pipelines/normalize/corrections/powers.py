"""Powers of a thousand: the step between units, thousands and millions, in which filings state amounts by mistake.

Belongs here: how near a quotient is to such a power. Does not: what follows from it (identities, scale).
"""

import numpy as np

from pipelines.normalize.arrays import Floats

ERRORS_MEASURED = (
    "Measured: an error of a thousand or a million is 6 % of the changes between successive filings of a period"
)
"""The source of rules that rest on how often such errors are."""

POWER = 3
"""Thousands and millions are multiples of three powers of ten."""


def power_of_thousand(quotient: Floats, near: float) -> Floats:
    """The power of ten, a multiple of three, that each quotient is near to; NaN where it is near to none.

    Args:
        quotient: of two amounts; nothing is near to a negative one or to zero.
        near: how far it may be from the power, in powers of ten.
    """
    exponent = np.log10(quotient)
    power = np.round(exponent / POWER) * POWER
    return np.where(np.abs(exponent - power) <= near, power, np.nan)
