"""Proofs: whether the legs of the twelve months that count today agree.

Belongs here: the identities of windows, and their outcome. Does not: the choice of a way (choice).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, numbers
from pipelines.normalize.frames import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME
from pipelines.normalize.ttm.choice import NO_CONTRADICTING_WAYS, Choice, Ways
from pipelines.normalize.ttm.known import IS_ADDITIVE
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.ways import NO_MIXED_BASES

WINDOW = ["cik", "q", "item"]


def proofs(windows: Windows, ways: Ways, choice: Choice, items: pl.Series) -> pl.DataFrame:
    """The judgements of the windows that count today: frames.PROOFS.

    One basis: the interim period of the year before as known with the year (`left_side`) and as subtracted
    (`right_side`). Two ways: twelve months by years and by quarters.

    Args:
        windows: the windows.
        ways: the ways to their twelve months.
        choice: the way of each.
        items: the line item of each window; null if there is none.
    """
    has_way, years = choice.has_way, ways.years
    is_newest = windows.newest(has_way) & items.is_not_null().to_numpy() & ~windows.is_year_end

    def of_identity(rule: str, asked: Flags, fails: Flags, chose: Flags, *sides: np.ndarray) -> pl.DataFrame:
        outcome = np.select([fails & ~has_way, chose], [2, 1], 0)
        left, right = map(numbers, sides)
        found = windows.points.with_columns(
            item=items, rule=pl.lit(rule), rank=outcome, left_side=left, right_side=right
        )
        return found.filter(is_newest & asked)

    one_basis = of_identity(
        NO_MIXED_BASES.id,
        ways.by_years.is_whole,
        ways.by_years.faults[NO_MIXED_BASES],
        years.is_recast | years.is_before,
        *(windows.of("amount", row) for row in (years.with_year, years.prior)),
    )
    two_ways = of_identity(
        NO_CONTRADICTING_WAYS.id,
        ways.both_sound & IS_ADDITIVE[windows.concept],
        choice.contradict,
        choice.is_confirmed,
        *(way.amount for way in (ways.by_years, ways.by_quarters)),
    )
    outcome = pl.col("rank").replace_strict({0: HOLDS, 1: CHOSE, 2: WITHHELD_OUTCOME}, return_dtype=PROOFS["outcome"])
    # of the concepts of an item, the one counts that the identity decided most about
    return (
        pl.concat([two_ways, one_basis])
        .sort("rank", descending=True, maintain_order=True)
        .unique([*WINDOW, "rule"], keep="first", maintain_order=True)
        .sort(*WINDOW, pl.col("rule") == NO_MIXED_BASES.id)
        .with_columns(outcome=outcome)
        .select(*PROOFS)
    )
