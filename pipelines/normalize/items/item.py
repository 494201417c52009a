"""An item: the values of one line item at all points, with their rules, methods, flags and legs.

Belongs here: the type of an item, choosing its value among candidates, the roles of legs in a value. Does not: any item
(line_items, returns).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, any_of, numbers
from pipelines.normalize.frames import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME
from pipelines.normalize.items.points import Leg, Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.methods import METHOD_NAMES

SUM = "sum"
"""The role of a leg that is added, multiplied by its weight."""
MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN = "mean", "dividend", "divisor", "divisor_mean"


class Candidate(NamedTuple):
    """A possible value of an item, with its rule and legs; at each point the first candidate that holds counts."""

    rule: Rule
    holds: Flags
    value: Floats
    legs: tuple[Leg, ...]


class Proof(NamedTuple):
    """An identity by which the value of an item was judged.

    where: the points at which both sides are known and show something.
    outcome: 0 if the identity holds, 1 if it chose the value, 2 if it withheld the value.
    """

    rule: Rule
    where: Flags
    outcome: Ints
    left: Floats
    right: Floats


@dataclass(frozen=True)
class Item:
    """One line item at all points.

    value: in units of the reporting currency, in shares, or a ratio; NaN if there is no value.
    rules, rule: the ids of the rules that can compose a value, and for each point the number of the rule that did.
    methods, method: the same for the names that table `versions` publishes as `method`.
    flags: for each flag whether the values have it, in the order in which flags are published.
    legs: the legs of the values, in order.
    decided: other rules that changed values, with the points at which they did.
    withheld: reasons why a rule withholds the value, with the rule and the points of each.
    gaps: reasons why no value can be computed (an amount is missing, or a divisor has no meaning), with the points of
        each; the first one that holds counts, and its rule is in gaps.GAPS.
    proofs: the identities by which the values were judged.
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
    proofs: tuple[Proof, ...] = ()

    def choosing(self, *candidates: Candidate) -> "Item":
        """The same item with the first candidate that holds at each point, and NaN where no candidate holds."""
        holds = [each.rule.where(each.holds) for each in candidates]
        first = np.select(holds, range(len(holds)), NOTHING)
        return replace(
            self,
            value=np.select(holds, [each.value for each in candidates], np.nan),
            rules=tuple(each.rule.id for each in candidates),
            rule=first,
            legs=tuple(leg.where(first == number) for number, each in enumerate(candidates) for leg in each.legs),
        )

    def withholding(self, *reasons: tuple[str, Rule, Flags]) -> "Item":
        """The same item without the values that the given rules withhold: reason, rule and points of each."""
        withheld = tuple((reason, rule, rule.where(holds)) for reason, rule, holds in reasons)
        is_withheld = any_of([holds for *_, holds in withheld])
        return replace(self, value=np.where(is_withheld, np.nan, self.value), withheld=(*self.withheld, *withheld))


def flow(points: Points, name: str) -> Item:
    """An item that is the twelve months, the quarter, or the balance of the concept with its name."""
    method = points.method(name)
    return Item(
        name,
        points.of(name),
        rules=points.rules,
        rule=method,
        methods=tuple(METHOD_NAMES.values()),
        method=method,
        flags=points.flags(name),
        legs=(points.leg(name, SUM),),
    )


def proofs(points: Points, items: Iterable[Item]) -> pl.DataFrame:
    """The judgements of items at the newest points: frames.PROOFS."""
    found = [
        points.frame.with_columns(
            item=pl.lit(item.name, pl.String),
            rule=pl.lit(proof.rule.id, pl.String),
            outcome=pl.Series([HOLDS, CHOSE, WITHHELD_OUTCOME]).gather(proof.outcome),
            left_side=numbers(proof.left),
            right_side=numbers(proof.right),
        ).filter(proof.where & points.is_newest)
        for item in items
        for proof in item.proofs
    ]
    return pl.concat(found).select(PROOFS.names())
