"""Judgements: the items that lack a value because a figure was left out, and the proofs of corrections.

Belongs here: the place of corrected figures among the items and quarters. Does not: the corrections (ledger).
"""

import polars as pl

from pipelines.normalize.corrections import agreement, dividends, footing, scale, signs, votes
from pipelines.normalize.corrections.figures import DOUBT
from pipelines.normalize.decisions import CORRECTED, PROOFS, WITHHELD, WITHHELD_OUTCOME
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import ITEM_OF_FLOW

PROVING = (
    *(rule.id for module in (votes, agreement, dividends) for rule in module.RULES),
    footing.CHANGE_IN_CASH.id,
    footing.INVESTING.id,
    signs.SIGN_OF_FILINGS.id,
    scale.SCALE_ALONE.id,
)
"""The rules whose corrections are proofs of an item."""
ITEMS = {**ITEM_OF_FLOW, **dict.fromkeys(footing.CASH_AT_THE_END, "cash_and_equivalents")}
"""The item that may have no value if a figure of a concept is left out."""
REASON = "contradicted_by_filing"
"""The reason of the gap of an item whose figure is left out."""


def of_corrections(corrections: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What corrections mean for the items.

    Args:
        corrections: of ledger.corrected.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        withheld: decisions.WITHHELD: the items that may have no value because a figure was left out.
        proofs: decisions.PROOFS: `left_side` is the filed figure, `right_side` the corrected one.
    """
    if not corrections.height:
        return pl.DataFrame(schema=WITHHELD), pl.DataFrame(schema=PROOFS)
    items = pl.col("concept").cast(pl.String).replace_strict(ITEMS, default=None)
    placed = (
        corrections.filter(pl.col("rule").is_in(PROVING))
        .with_columns(item=items)
        .drop_nulls("item")
        .join(grid.select("cik", "q", end="period_end"), on=["cik", "end"])
    )
    withheld = (
        placed.filter(pl.col("kind") == DOUBT)
        .with_columns(later=pl.lit(list(range(QUARTERS_A_YEAR + 1))))
        .explode("later")
        .filter((pl.col("later") == 0) | pl.col("start").is_not_null())
        .select("cik", pl.col("q") + pl.col("later").cast(pl.Int32), "item", "rule", reason=pl.lit(REASON))
        .unique(maintain_order=True)
    )
    is_doubt = pl.col("kind") == DOUBT
    proofs = placed.with_columns(
        outcome=pl.when(is_doubt).then(pl.lit(WITHHELD_OUTCOME)).otherwise(pl.lit(CORRECTED)),
        left_side="filed_value",
        right_side="value",
    ).unique(["cik", "q", "item", "seq", "rule"], keep="last", maintain_order=True)
    return withheld.select(WITHHELD.names()), proofs.select(PROOFS.names())
