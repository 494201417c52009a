"""The solver: finds the amounts of a statement that add up to its total, in all of its columns at once.

Belongs here: arithmetic on amounts and totals, and the bound for chance. Does not: the meaning of the amounts, which
reading is the likeliest (reading), how a value is computed (cash, debt).

A filing shows the same lines for its own day and for a day of comparison. A set of lines must add up to both totals, so
a wrong set is hardly found by chance. If the likeliest set does not add up, the solver searches the smallest change of
it that does: it adds or removes at most four amounts.
"""

import math
from collections.abc import Collection, Iterable, Iterator
from functools import cache

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints

CHANCE = 0.01
"""A set is a proof only if the expected number of tried alternatives that add up by chance is less than this."""

DIGITS = 1_000
"""A difference of one unit is rounding if the total is at least a thousand units; else it may be an error. Amounts of a
thousand units or more are hardly ever equal by chance."""

OTHER_DIGITS = 3
"""A remainder of one digit and zeros, with this many digits in all, is unlikely by chance (one in a hundred)."""

SCALES = (1e3, 1e6, 1e-3, 1e-6)
SAME = 0.001
"""Two amounts that differ by at most a tenth of a per cent may be the same one, rounded differently."""

AMOUNTS, FINER = 5, 1_000
"""Filings round to thousands or millions. If a filing has more than AMOUNTS amounts and only one of them is FINER times
more finely rounded than all others, this one is in other units."""
MOST_AMOUNTS, MOST_OF_FOUR = 60, 45
"""With more amounts there are too many pairs, or pairs of pairs, for a proof."""

Changes = list[tuple[int, ...]]


def solutions(amounts: Floats, likeliest: Flags, totals: Floats, unit: float) -> list[list[bool]]:
    """Find the smallest changes of the likeliest set after which the amounts add up to all totals.

    Args:
        amounts: one row a column of the statement, one column an amount; zero if it is not stated there.
        likeliest: for each amount whether it is in the likeliest set.
        totals: the total of each column of the statement.
        unit: the power of ten to which the amounts are rounded.

    Returns:
        for each set with the smallest number of changes, whether each amount is in the set. Empty if one of these sets
        may add up by chance (CHANCE), and for a single column, which can prove only the likeliest set.
    """
    missing = totals - amounts[:, likeliest].sum(axis=1)
    rounding = np.array([rounded_by(total, unit) for total in totals.tolist()])
    if len(totals) < 2 or len(likeliest) > MOST_AMOUNTS or (totals <= 0).any():
        return []
    effect = np.where(likeliest, -amounts, amounts)
    most, least = effect.clip(min=0).sum(axis=1), effect.clip(max=0).sum(axis=1)
    if (missing > most + rounding).any() or (missing < least - rounding).any():
        return []
    tried = 0
    for found, alternatives in _searches(effect, missing, rounding):
        tried += alternatives
        if found:
            share_by_chance = (2 * rounding + unit) / totals  # the share of all sums that count as the total
            evidence = [(amounts[:, changed] != 0).any(axis=1) for changed in found]
            if any(tried * share_by_chance[shown].prod() >= CHANCE for shown in evidence):
                return []
            return [[bool(one) != (at in changed) for at, one in enumerate(likeliest)] for changed in found]
    return []


def is_mistyped_or_in_other_units(amount: float, difference: float, unit: float, fewest_digits: int) -> bool:
    """Whether an amount is wrong in one digit, or a thousand or a million times too large or too small.

    Args:
        amount: the stated amount.
        difference: the right amount less the stated one.
        unit: the power of ten to which both are rounded.
        fewest_digits: a difference of one digit and zeros counts only if it has at least this many digits, in units.

    Returns:
        false for an amount of zero.
    """
    digits = f"{abs(round(difference / unit)):d}"
    is_one_digit = len(digits) >= fewest_digits and not digits[1:].strip("0")
    scaled = [amount * scale for scale in SCALES]
    is_scaled = any(abs(amount + difference - other) <= SAME * abs(other) for other in scaled)
    return bool(amount) and (is_one_digit or is_scaled)


def unit_of(amounts: Iterable[float]) -> float:
    """The unit to which amounts are rounded: the largest power of ten that divides all of them; at least one."""
    common = str(math.gcd(*map(int, amounts)))
    zeros = len(common) - len(common.rstrip("0") or common)
    return float(10**zeros)


def finer_than_others(amounts: Collection[float], unit: float) -> float | None:
    """The one amount that is rounded a thousand times more finely than all others; None if there is none.

    Args:
        amounts: the different amounts of a filing.
        unit: the power of ten to which they are rounded.
    """
    fine = [amount for amount in amounts if amount % (FINER * unit)]
    return fine[0] if len(fine) == 1 and len(amounts) > AMOUNTS else None


def rounded_by(total: float, unit: float) -> float:
    """The rounding difference allowed between a sum and a total: one unit, or zero if the total is small (DIGITS)."""
    return unit if total >= DIGITS * unit else 0.0


def _searches(effect: Floats, missing: Floats, rounding: Floats) -> Iterator[tuple[Changes, int]]:
    """The changes of one, two, three and four amounts that add the missing amount, with the number of alternatives.

    Args:
        effect: by how much the change of each amount (second axis) changes the sum of each column (first axis).
    """
    number = effect.shape[1]
    yield [(int(one),) for one in np.flatnonzero(_fits(effect, missing, rounding))], number
    first, second, pairs = _pairs(number)
    of_pairs = effect[:, first] + effect[:, second]
    yield [pairs[p] for p in np.flatnonzero(_fits(of_pairs, missing, rounding))], len(pairs)
    if number > MOST_OF_FOUR:
        return
    order = np.argsort(of_pairs[0], kind="stable")
    ones: Changes = [(one,) for one in range(number)]
    yield _completed_by_pairs(effect, ones, of_pairs, pairs, order, missing, rounding), number * len(pairs) // 3
    yield _completed_by_pairs(of_pairs, pairs, of_pairs, pairs, order, missing, rounding), len(pairs) ** 2 // 6


@cache
def _pairs(number: int) -> tuple[Ints, Ints, Changes]:
    """All pairs of so many amounts: the places of the first and of the second amount, and both together."""
    first, second = np.triu_indices(number, 1)
    return first, second, list(zip(first.tolist(), second.tolist(), strict=True))


def _fits(effect: Floats, missing: Floats, rounding: Floats) -> Flags:
    found: Flags = np.all(np.abs(missing[:, None] - effect) <= rounding[:, None], axis=0)
    return found


def _completed_by_pairs(
    effect: Floats, changes: Changes, of_pairs: Floats, pairs: Changes, order: Ints, missing: Floats, rounding: Floats
) -> Changes:
    """The changes that together with a pair add the missing amount, by binary search in the pairs sorted by `order`."""
    ascending = of_pairs[0][order]
    wanted = missing[0] - effect[0]
    low = np.searchsorted(ascending, wanted - rounding[0], "left")
    width = np.searchsorted(ascending, wanted + rounding[0], "right") - low
    left = np.repeat(np.arange(len(changes)), width)
    within = np.arange(len(left)) - np.repeat(np.cumsum(width) - width, width)
    right = order[low[left] + within]
    fits = np.abs(missing[1] - effect[1][left] - of_pairs[1][right]) <= rounding[1]
    found = {
        tuple(sorted({*changes[one], *pairs[other]}))
        for one, other in zip(left[fits].tolist(), right[fits].tolist(), strict=True)
        if not set(changes[one]) & set(pairs[other])
    }
    return sorted(found)
