"""Ways: one way to twelve months for each window, with its legs and the reasons why it may not count.

Belongs here: what a way is, and when it is sound. Does not: which legs a way has (bases, quarters), which way counts
(windows).
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, largest, smallest
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.ttm.lookups import IS_MONEY, Windows

SHORTEST_WINDOW, LONGEST_WINDOW = 350, 378
"""Fewest and most days of twelve months: 52 or 53 weeks, and the days by which filers shift a period end."""
DIGITS_OF_SUMS = 4
"""Sums of up to eight rounded legs may differ by so many units."""

BY_QUARTER_FIRST = np.array([concept.measure == "per_share" for concept in BY_NAME.values()])
"""For each code of a concept: whether the sum of quarters is the first choice (ASC 260-10-45: EPS of a period)."""
SMALLEST_UNIT = 1e3
"""A filer that states thousands or millions has no amounts of less."""
LARGE_AMOUNT = 1e5
"""An amount of at least so much is stated in thousands if it is a multiple of them."""
A_THOUSANDTH = (200, 5000)
"""An amount a day that is so many times smaller than that of the other legs is in thousands, stated as units."""


@dataclass(frozen=True)
class Leg:
    """One known amount of each window, added (`sign` 1) or subtracted (-1); `row` is NOTHING if there is none."""

    row: Ints
    sign: int = 1


@dataclass(frozen=True)
class Way:
    """One way to twelve months, for each window.

    `regime` is that of the sum. `mixes_units`: a leg is in thousands, but stated in units, beside one in
    thousands. `is_disputed`:
    the next filing states a leg with one other digit. `is_whole`: all required legs are known, they span twelve months,
    and the sum is not below zero if it cannot be. `has_other_length` and `is_negative` say why a known sum is not
    whole. `has_derived`: no filing states a leg, but other figures prove it.
    """

    amount: Floats
    days: Floats
    regime: Floats
    legs: tuple[Leg, ...]
    is_whole: Flags
    has_other_length: Flags
    is_negative: Flags
    grain: Floats
    mixes_regimes: Flags
    mixes_elements: Flags
    mixes_bases: Flags
    mixes_units: Flags
    is_disputed: Flags
    has_other_element: Flags
    has_derived: Flags

    @classmethod
    def of(
        cls,
        windows: Windows,
        legs: tuple[Leg, ...],
        amount: Floats,
        days: Floats,
        regime: Floats,
        mixes_bases: Flags | None = None,
    ) -> "Way":
        """Make a way from a sum and its legs."""
        regimes, grains, others = (
            [windows.of(name, leg.row) for leg in legs] for name in ("regime", "grain", "other_source")
        )
        amounts = [np.abs(windows.of("amount", leg.row)) for leg in legs]
        with_digits = smallest(*(np.where(each == 0, np.nan, each) for each in amounts))
        mixes_units = IS_MONEY[windows.concept] & (with_digits < SMALLEST_UNIT) & (largest(*grains) >= SMALLEST_UNIT)
        mixes_units &= largest(*amounts) >= LARGE_AMOUNT
        mixes_units |= _in_other_units(windows, legs, amounts, grains)
        is_disputed = np.zeros(len(amount), dtype=np.bool_)
        for leg in legs:
            is_settled = windows.of("settled", leg.row) <= windows.seq
            is_disputed |= (windows.of("disputed", leg.row) <= windows.seq) & ~is_settled
        has_length = (days >= SHORTEST_WINDOW) & (days <= LONGEST_WINDOW)
        is_negative = ~windows.can_be_negative & (amount < 0)
        has_other = largest(*others) > 0
        return cls(
            amount=amount,
            days=days,
            regime=regime,
            legs=legs,
            is_whole=~np.isnan(amount) & has_length & ~is_negative,
            has_other_length=~np.isnan(amount) & ~has_length,
            is_negative=is_negative,
            grain=largest(*grains),
            mixes_regimes=smallest(*regimes) != largest(*regimes),
            mixes_elements=has_other & (smallest(*others) == 0),
            mixes_bases=np.zeros(len(amount), dtype=np.bool_) if mixes_bases is None else mixes_bases,
            mixes_units=mixes_units,
            is_disputed=is_disputed,
            has_other_element=has_other,
            has_derived=np.any([windows.is_derived(leg.row) for leg in legs], axis=0),
        )

    def with_rows(self, rows: Ints, other: "Way", legs: tuple[Leg, ...]) -> "Way":
        """This way, with those of some windows in its place, and the legs of all."""
        for field in fields(self):
            if field.name != "legs":
                getattr(self, field.name)[rows] = getattr(other, field.name)
        return replace(self, legs=legs)

    @property
    def is_sound(self) -> Flags:
        """Whether it leads to twelve months without a leg in dispute, or mixed regimes, elements, bases or units."""
        is_mixed = self.mixes_regimes | self.mixes_elements | self.mixes_bases | self.mixes_units
        return self.is_whole & ~is_mixed & ~self.is_disputed


def _in_other_units(windows: Windows, legs: tuple[Leg, ...], amounts: list[Floats], grains: list[Floats]) -> Flags:
    """Whether a leg in single units is about a thousandth of one in thousands, of amounts that are never negative."""
    found = np.zeros(len(windows.q), dtype=np.bool_)
    is_steady = IS_MONEY[windows.concept] & ~windows.can_be_negative
    rows = np.flatnonzero(is_steady & (smallest(*grains) < SMALLEST_UNIT) & (largest(*grains) >= SMALLEST_UNIT))
    if len(rows):
        is_fine = [grain[rows] < SMALLEST_UNIT for grain in grains]
        daily = [amount[rows] / windows.of("days", leg.row[rows]) for amount, leg in zip(amounts, legs, strict=True)]
        most = largest(*(np.where(fine, np.nan, each) for fine, each in zip(is_fine, daily, strict=True)))
        with np.errstate(divide="ignore", invalid="ignore"):
            for fine, each in zip(is_fine, daily, strict=True):
                found[rows] |= fine & (most / each >= A_THOUSANDTH[0]) & (most / each <= A_THOUSANDTH[1])
    return found
