"""An item: the values of one line item at all points, with their rules, methods, flags and legs.

Belongs here: the type of an item, and the roles of legs in a value. Does not: any item (line_items, returns).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.items.points import Leg
from pipelines.normalize.rule import Rule

SUM = "sum"
"""The role of a leg that is added, multiplied by its weight."""
MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN = "mean", "dividend", "divisor", "divisor_mean"


@dataclass(frozen=True)
class Item:
    """One line item at all points.

    value: in units of the reporting currency, in shares, or a ratio; NaN if there is none.
    rules, rule: the ids of the rules that can compose a value, and for each point the number of the one that did.
    methods, method: the same for the names that table `versions` publishes as `method`.
    flags: for each flag whether the values have it, in the order in which flags are published.
    legs: the legs of the values, in order.
    decided: other rules that changed or withheld values, with the points at which they did.
    withheld: reasons why a rule withholds the value, with the rule and the points of each.
    gaps: reasons why there is none to withhold (an amount is missing, or a divisor has no meaning), with the points of
        each; the first one that holds counts, and its rule is in gaps.GAPS.
    """

    name: str
    value: Floats
    rules: tuple[str, ...]
    rule: Ints
    methods: tuple[str, ...]
    method: Ints
    flags: dict[str, Flags]
    legs: tuple[Leg, ...]
    decided: tuple[tuple[Rule, Flags], ...] = ()
    withheld: tuple[tuple[str, Rule, Flags], ...] = ()
    gaps: tuple[tuple[str, Flags], ...] = ()


def joined_flags(one: dict[str, Flags], other: dict[str, Flags]) -> dict[str, Flags]:
    """The flags of two amounts together: a flag holds if it holds for either."""
    return {name: np.logical_or(one[name], other[name]) for name in one}


def ids(*rules: Rule) -> tuple[str, ...]:
    """The ids of some rules."""
    return tuple(rule.id for rule in rules)
