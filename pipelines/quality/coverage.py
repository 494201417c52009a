"""Coverage: which items have a value in the newest periods, by industry, and the reasons of the gaps.

Belongs here: counting values and gaps. Does not: whether a value is right (identities, windows).
"""

import polars as pl

from pipelines.quality.evidence import FAILS, FLAGGED, FOUND, HOLDS, Evidence
from warehouse.contract.line_items import ITEM_NAMES

RECENT = "760d"
"""Periods up to this time before the newest period are recent: two years, with a margin for different ends of
quarters."""

UNDEFINED = ("negative_fcf", "financial_company", "finance_arm", "non_positive_capital")
"""Reasons why an item has no meaning in a period, independent of the filed facts."""


def newest_period(evidence: Evidence) -> pl.DataFrame:
    """Comparisons (FOUND) of each item in each company's newest period; `subject` is item and industry. The gap of an
    item without meaning is flagged, with its reason."""
    last = evidence.periods.sort("period_end").group_by("cik", maintain_order=True).last()
    value, reason = pl.col("ours"), pl.col("flags")
    return (
        last.unpivot(ITEM_NAMES, index=["cik", "period_end"], variable_name="item", value_name="ours")
        .join(evidence.profiles, on="cik")
        .join(evidence.gaps.rename({"reason": "flags"}), on=["cik", "period_end", "item"], how="left")
        .with_columns(
            subject=pl.concat_str("item", pl.lit(" "), "industry"),
            other=pl.lit(None, pl.Float64),
            outcome=pl.when(value.is_not_null())
            .then(pl.lit(HOLDS))
            .when(reason.is_in(UNDEFINED))
            .then(pl.lit(FLAGGED))
            .otherwise(pl.lit(FAILS)),
        )
        .select(FOUND.names())
    )


def kept_items(evidence: Evidence) -> pl.DataFrame:
    """Comparisons (FOUND), in each company's newest period, of each item with a value in a recent period; `subject` is
    the item, `other` its last value before. The gap of an item without meaning is flagged, with its reason."""
    newest = pl.col("period_end") == pl.col("period_end").max().over("cik")
    is_recent = pl.col("period_end") >= pl.col("period_end").max().over("cik").dt.offset_by(f"-{RECENT}")
    before = (
        evidence.periods.filter(is_recent & ~newest)
        .unpivot(ITEM_NAMES, index=["cik", "period_end"], variable_name="item", value_name="other")
        .drop_nulls("other")
        .sort("period_end")
        .group_by("cik", "item")
        .agg(pl.col("other").last())
    )
    now = newest_period(evidence).with_columns(item=pl.col("subject").str.split(" ").list.first())
    return now.drop("other").join(before, on=["cik", "item"]).with_columns(subject="item").select(FOUND.names())


def by_industry(rows: pl.DataFrame) -> pl.DataFrame:
    """The share of companies whose newest period has an item: `item`, `industry` (also `all`), `companies`, `share`.

    Args:
        rows: comparisons of `newest_period`.
    """
    words = pl.col("subject").str.split(" ").list
    named = rows.with_columns(item=words.first(), industry=words.last())
    both = pl.concat([named.with_columns(industry=pl.lit("all")), named])
    counted = both.group_by("item", "industry").agg(companies=pl.len(), share=(pl.col("outcome") == HOLDS).mean())
    order = pl.col("item").replace_strict(list(ITEM_NAMES), range(len(ITEM_NAMES)))
    return counted.sort(order, pl.col("industry") != "all", "industry")


def across(counted: pl.DataFrame) -> pl.DataFrame:
    """Pivot the rows of `by_industry`: one row for each item, one column for each industry."""
    heading = pl.format("{} ({})", "industry", "companies")
    shown = counted.with_columns(
        industry=heading, share=pl.format("{} %", (pl.col("share") * 100).round().cast(pl.Int8))
    )
    return shown.pivot("industry", index="item", values="share", aggregate_function="first")
