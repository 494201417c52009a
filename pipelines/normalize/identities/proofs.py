"""Proofs: the judgements of values by identities that stand after the newest filing.

Belongs here: which of the judgements that the steps made is the last word on an item. Does not: any identity.
"""

import polars as pl

JUDGED = ["cik", "q", "item", "rule"]


def standing(judgements: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The last judgement of each item of a quarter end by each identity.

    Args:
        judgements: decisions.PROOFS, of all steps.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        `cik`, `period_end`, `item`, `rule`, `outcome`, `left_side`, `right_side`, sorted by the first four; identities
        that can no longer be compared have no row.
    """
    last = judgements.sort(*JUDGED, "seq").unique(JUDGED, keep="last", maintain_order=True)
    periods = grid.filter(pl.col("fiscal_quarter") > 0).select("cik", "q", "period_end")
    return (
        last.drop_nulls("outcome")
        .join(periods, on=["cik", "q"])
        .select("cik", "period_end", "item", "rule", "outcome", "left_side", "right_side")
        .sort("cik", "period_end", "item", "rule")
    )
