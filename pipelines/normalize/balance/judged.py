"""The judgement of debt and cash by the rest of the balance sheet: its types.

Belongs here: a rule that withholds, what it compares, and what it finds. Does not: the rules (contradictions).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints
from pipelines.normalize.rule import Rule


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A rule that withholds a sum, and the reason for the gap."""

    rule: Rule
    reason: str


def contradiction(reason: str, id: str, statement: str, source: str) -> Contradiction:
    """A rule that withholds for a reason."""
    return Contradiction(Rule(id, statement, source, "withhold"), reason)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a rule compares on each sheet.

    asked: whether it can be compared. found: whether it is contradicted.
    left, right: the two sides, in units of the currency.
    """

    rule: Rule
    asked: Flags
    found: Flags
    left: Floats
    right: Floats


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of the sums of an item.

    table: the rules, the first ones before the others.
    contradiction: for each sum the place in `table` of the first rule that contradicts it; NOTHING if none does.
    comparisons: what identities compare on each sheet, also where they hold.
    """

    table: tuple[Contradiction, ...]
    contradiction: Ints
    comparisons: tuple[Comparison, ...]

    @classmethod
    def of(cls, found: Mapping[Contradiction, Flags], comparisons: tuple[Comparison, ...]) -> Self:
        """The judgement of sums, from where each rule contradicts them."""
        first = np.select(list(found.values()), range(len(found)), NOTHING)
        return cls(tuple(found), first, comparisons)
