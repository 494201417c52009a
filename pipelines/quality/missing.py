"""Missing values: the share of periods with a value, and the companies with most gaps.

Belongs here: pure functions from the tables of a build to tables of its gaps. Does not: the gaps by reason (figures),
why an item has no value (normalize.items.gaps).
"""

import polars as pl

from warehouse.contract.line_items import ITEM_NAMES

SHOWN = 25
"""The number of companies in the list."""


def by_item(financials: pl.DataFrame, reasons: pl.DataFrame) -> pl.DataFrame:
    """The share of periods with a value: `item`, `periods`, `missing`, `share`, `most_frequent_reason`, worst first.

    Args:
        financials: twelve-month rows of primary symbols: the items.
        reasons: twelve-month rows of table `gaps`: `item`, `reason`.
    """
    counted = financials.select(pl.col(ITEM_NAMES).is_null().sum()).unpivot(variable_name="item", value_name="missing")
    frequent = (
        reasons.group_by("item", "reason")
        .len()
        .sort("item", "len", "reason", descending=[False, True, False])
        .group_by("item", maintain_order=True)
        .agg(most_frequent_reason=pl.col("reason").first())
    )
    periods = pl.lit(financials.height, pl.UInt32)
    return (
        counted.with_columns(periods=periods, share=1 - pl.col("missing") / periods)
        .join(frequent, on="item", how="left")
        .sort("share", "item")
        .select("item", "periods", "missing", "share", "most_frequent_reason")
    )


def by_company(financials: pl.DataFrame) -> pl.DataFrame:
    """The companies with most gaps: `symbol`, `periods`, `missing` (values), `share` (with a value), `without` (items
    without a value).

    Args:
        financials: twelve-month rows of primary symbols: `symbol`, the items.
    """
    without = pl.concat_str(
        [pl.when(pl.col(item).is_null().all()).then(pl.lit(item)) for item in ITEM_NAMES],
        separator=", ",
        ignore_nulls=True,
    )
    missing = pl.sum_horizontal(pl.col(item).is_null().sum() for item in ITEM_NAMES)
    return (
        financials.group_by("symbol")
        .agg(periods=pl.len(), missing=missing, without=without)
        .filter(pl.col("missing") > 0)
        .with_columns(share=1 - pl.col("missing") / (pl.col("periods") * len(ITEM_NAMES)))
        .sort("missing", "symbol", descending=[True, False])
        .head(SHOWN)
        .select("symbol", "periods", "missing", "share", "without")
    )
