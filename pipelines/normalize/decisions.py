"""Decisions and judgements: the rows that steps add about what their rules did.

Belongs here: the columns of these rows, and counting decisions. Does not: the frames that pass between the steps
(frames), the rules (next to the code that decides).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.frames import FRAMES
from pipelines.normalize.rule import Rule

DECISIONS = FRAMES["decisions"].types
"""The number of decisions of each rule of a step for a company."""

WITHHELD = FRAMES["contradicted"].types
"""Items of a quarter end that a rule withholds."""

PROOFS = FRAMES["proofs"].types
"""Judgements of an item of a quarter end by an identity; each holds from filing `seq` until the rule's next one."""

HOLDS, CHOSE, CORRECTED, WITHHELD_OUTCOME = OUTCOMES = ("holds", "chose", "corrected", "withheld")
"""holds: the value satisfies the identity; chose: it was chosen because it does; corrected: the identity proved a filed
figure wrong, and it was corrected; withheld: the identity contradicts the value, which is therefore not served."""


def counted(decided: Iterable[tuple[Rule, npt.NDArray[Any]]]) -> pl.DataFrame:
    """Decisions of a step: columns of DECISIONS.

    Args:
        decided: each rule with the CIK of every figure, window or filing that it decided; a rule may come up again.
    """
    found = [(rule.id, ciks) for rule, ciks in decided if len(ciks)]
    if not found:
        return DECISIONS.to_frame()
    rules, each = zip(*found, strict=True)
    named = np.repeat(np.array(rules, dtype=object), list(map(len, each)))
    rows = pl.DataFrame({"cik": np.concatenate(each), "rule": pl.Series(named, dtype=pl.String)})
    return rows.group_by("cik", "rule").agg(figures=pl.len()).cast(DECISIONS)
