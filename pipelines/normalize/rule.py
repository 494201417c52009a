"""The type of a rule: one decision that can change a served value, with its own id.

Belongs here: the fields of a rule, tables of rules, and switching rules off to measure their effect. Does not: any rule
(each is declared next to its code), the list of all rules (rules).

The model is XBRL US's data quality rules (DQC): an identifier that never changes its meaning, one plain statement, and
the source that justifies it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

Action = Literal["select", "compose", "correct", "withhold", "flag"]
Condition = TypeVar("Condition", bool, npt.NDArray[np.bool_], pl.Expr, pl.Series)
Taken = TypeVar("Taken")

SWITCHED_OFF: set[str] = set()
"""The ids of the rules that are switched off; empty except in the ablation."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A decision that can change a served value.

    id: dotted, in the field's terms, most general part first (`ttm.year-to-date`); it never changes its meaning.
    statement: one plain sentence: what the rule decides, and when.
    source: the paragraph or definition that justifies it (ASC, Regulation S-X, IAS, a taxonomy element), or the
        measurement.
    action: select (chooses among filed facts), compose (computes a value from several), correct (repairs an error in a
        filing), withhold (leaves a value out), flag (marks a value that is served).
    applies: the filers to which it applies.
    """

    id: str
    statement: str
    source: str
    action: Action
    applies: str = "all filers"

    def where(self, condition: Condition) -> Condition:
        """Where the rule applies: the condition as it is, or false everywhere if the rule is switched off.

        Args:
            condition: a Boolean, an array or an expression of them.
        """
        return condition if self.id not in SWITCHED_OFF else condition & False


def decided(rows: Iterable[tuple[bool, Rule, Taken]]) -> tuple[Rule, Taken] | None:
    """Decide by a table of rules: the first row that applies, leaving out rules that are switched off.

    Args:
        rows: for each row whether it applies, its rule, and what the rule takes, such as lines.

    Returns:
        the rule that decides and what it takes; None if no row applies.
    """
    return next(((rule, taken) for applies, rule, taken in rows if applies and rule.where(applies)), None)


@contextmanager
def switched_off(ids: Iterable[str]) -> Iterator[None]:
    """Switch off the rules with these ids until the block ends."""
    SWITCHED_OFF.update(ids)
    try:
        yield
    finally:
        SWITCHED_OFF.clear()
