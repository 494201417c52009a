"""Footings: the judgements of statements as proofs of items, and as reasons of gaps.

Belongs here: which quarter ends a judged statement concerns. Does not: the identities (corrections.footing).
"""

import polars as pl

from pipelines.normalize.corrections.footing import IDENTITIES
from pipelines.normalize.decisions import PROOFS, WITHHELD, WITHHELD_OUTCOME
from pipelines.normalize.periods.calendar import on_grid
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR

REASONS = {identity.rule.id: identity.reason for identity in IDENTITIES}
"""The reason of gaps for each identity."""


def placed(footings: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The judgements on the fiscal grid.

    Args:
        footings: frames.Footings.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        proofs: for each item of a quarter end, the judgement of the longest period that ends there.
        contradicted: the items that may lack a value because a figure was left out: those of the quarter end, and of
            the windows that need the period as a fiscal year, or as the same period of the year before.
    """
    on, _ = on_grid(footings, grid)
    key = ["cik", "q", "item", "seq", "rule"]
    proofs = on.sort(*key, "n").unique(key, keep="last", maintain_order=True).select(PROOFS.names())
    left_out = on.filter(pl.col("outcome") == WITHHELD_OUTCOME)
    is_year = pl.col("n") == QUARTERS_A_YEAR
    later = pl.when(is_year).then(pl.lit(list(range(QUARTERS_A_YEAR)))).otherwise(pl.lit([0, QUARTERS_A_YEAR]))
    contradicted = (
        left_out.with_columns(later=later)
        .explode("later")
        .select(
            "cik",
            (pl.col("q") + pl.col("later")).cast(pl.Int32).alias("q"),
            "item",
            pl.col("rule").replace_strict(REASONS, return_dtype=pl.String).alias("reason"),
            "rule",
        )
        .unique(maintain_order=True)
    )
    return proofs, contradicted.select(WITHHELD.names())
