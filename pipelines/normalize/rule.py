"""The type of a rule: one decision that can change a served value, with its own id.

Belongs here: the fields of a rule. Does not: any rule (each is declared next to its code), the list of all rules
(rules).

The model is XBRL US's data quality rules (DQC): an identifier that never changes its meaning, one plain statement, and
the source that justifies it.
"""

from dataclasses import dataclass
from typing import Literal

Action = Literal["select", "compose", "correct", "withhold", "flag"]


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
