"""An item: the values of one line item at all points, and everything that is to be known of them.

Belongs here: the shape of an item, and the parts that legs play in a value. Does not: any item (line_items, returns).
"""

from dataclasses import dataclass, field

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.items.points import Leg
from pipelines.normalize.rule import Rule

SUM = "sum"
"""The part of a leg that is simply added, times its weight."""
MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN = "mean", "dividend", "divisor", "divisor_mean"


@dataclass(frozen=True)
class Item:
    """One line item at all points.

    value: in units of the reporting currency, shares or a ratio; NaN where there is none.
    rules, rule: the ids of the rules that can compose a value, and the number of the one that did.
    methods, method: likewise the names that table `versions` publishes as `method`.
    flags: name to whether the value has it, in the order in which they are published.
    legs: what the value is made of, in order.
    decided: other rules that had a part in values, or left them out, and where.
    withheld: reasons why there is no value, the rule of each, and where.
    """

    name: str
    value: Floats
    rules: tuple[str, ...]
    rule: Ints
    methods: tuple[str, ...]
    method: Ints
    flags: dict[str, Flags]
    legs: tuple[Leg, ...]
    decided: tuple[tuple[Rule, Flags], ...] = field(default=())
    withheld: tuple[tuple[str, Rule, Flags], ...] = field(default=())


def joined_flags(one: dict[str, Flags], other: dict[str, Flags]) -> dict[str, Flags]:
    """The flags that either amount has."""
    return {name: np.logical_or(one[name], other[name]) for name in one}


def ids(*rules: Rule) -> tuple[str, ...]:
    """The ids of some rules."""
    return tuple(rule.id for rule in rules)
