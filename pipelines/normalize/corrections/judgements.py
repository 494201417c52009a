"""Judgements: what corrections and identities mean for the items: proofs of values, and reasons of gaps.

Belongs here: the items and quarter ends that a judged figure concerns, and which judgement is the last word on an item.
Does not: any correction or identity (ledger, footing, parts).
"""

import polars as pl

from pipelines.normalize.corrections import agreement, dividends, footing, scale, signs
from pipelines.normalize.corrections.figures import DOUBT
from pipelines.normalize.frames import CORRECTED, PROOFS, WITHHELD, WITHHELD_OUTCOME
from pipelines.normalize.periods.calendar import on_grid
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import ITEM_OF_FLOW

PROVING = (
    *(rule.id for rule in (*agreement.RULES, *dividends.RULES)),
    *(rule.id for rule in (signs.SIGN_BY_VOTE, signs.NO_MAJORITY, signs.SIGN_OF_FILINGS, scale.SCALE_ALONE)),
    footing.CHANGE_IN_CASH.id,
    footing.INVESTING.id,
)
"""The rules whose corrections are proofs of an item."""
ITEMS = {**ITEM_OF_FLOW, **dict.fromkeys(footing.CASH_AT_THE_END, "cash_and_equivalents")}
"""The item that may have no value if a figure of a concept is left out."""
REASON = "contradicted_by_filing"
"""The reason of the gap of an item whose figure is left out."""
REASONS = {identity.rule.id: identity.reason for identity in footing.IDENTITIES}
"""The same where a total contradicts the figure, by identity."""
JUDGED = ["cik", "q", "item", "rule"]


def of_corrections(corrections: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What corrections mean for the items.

    Args:
        corrections: of ledger.corrected.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        withheld: frames.WITHHELD: the items that may have no value because a figure was left out.
        proofs: frames.PROOFS: `left_side` is the filed figure, `right_side` the corrected one.
    """
    is_doubt = pl.col("kind") == DOUBT
    placed = (
        corrections.filter(pl.col("rule").is_in(PROVING))
        .with_columns(item=pl.col("concept").cast(pl.String).replace_strict(ITEMS, default=None))
        .drop_nulls("item")
        .join(grid.select("cik", "q", end="period_end"), on=["cik", "end"])
        .with_columns(
            reason=pl.lit(REASON),
            outcome=pl.when(is_doubt).then(pl.lit(WITHHELD_OUTCOME)).otherwise(pl.lit(CORRECTED)),
            left_side="filed_value",
            right_side="value",
        )
    )
    proofs = placed.unique([*JUDGED, "seq"], keep="last", maintain_order=True)
    return withheld(placed.filter(is_doubt), pl.col("start").is_null()), proofs.select(PROOFS.names())


def of_statements(footings: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What the judgements of statements mean for the items.

    Args:
        footings: frames.Footings.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        proofs: for each item of a quarter end, the judgement of the longest period that ends there.
        contradicted: frames.WITHHELD: the items that may lack a value because a figure was left out.
    """
    on, _ = on_grid(footings, grid)
    proofs = on.sort(*JUDGED, "seq", "n").unique([*JUDGED, "seq"], keep="last", maintain_order=True)
    left_out = on.filter(pl.col("outcome") == WITHHELD_OUTCOME).with_columns(
        reason=pl.col("rule").replace_strict(REASONS, default=None, return_dtype=pl.String)
    )
    return proofs.select(PROOFS.names()), withheld(left_out, pl.lit(value=False))


def withheld(left_out: pl.DataFrame, is_balance: pl.Expr) -> pl.DataFrame:
    """The items of the quarter ends whose values need a figure: that of the figure, and for a flow those of the year.

    Args:
        left_out: `cik`, `q`, `item`, `reason`, `rule`: the figures that are left out.
        is_balance: whether a figure is of an instant.
    """
    later = pl.when(is_balance).then(pl.lit([0])).otherwise(pl.lit(list(range(QUARTERS_A_YEAR + 1))))
    windows = left_out.with_columns(later=later).explode("later").with_columns(q=pl.col("q") + pl.col("later"))
    return windows.select(WITHHELD.names()).cast(WITHHELD).unique(maintain_order=True)


def standing(judgements: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The last judgement of each item of a quarter end by each identity.

    Args:
        judgements: frames.PROOFS, of all steps.
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
