"""Gaps: why a window that has some value lacks an item.

Belongs here: the reasons, one row a missing item. Does not: the items that have a value (items, returns).
"""

import polars as pl

from pipelines.normalize.concepts import ITEM_CONCEPTS
from warehouse.schema import ITEM_NAMES


def gaps(items: pl.DataFrame, stated: pl.DataFrame, of_industry: pl.DataFrame) -> pl.DataFrame:
    """Why a window that has some value lacks an item: `cik`, `q`, `item`, `reason`.

    Args:
        items: of line_items, at one point a company.
        stated: `cik`, `concept` of everything that a company ever states.
        of_industry: `cik`, `industry`.
    """
    windows = items.select("cik", "q").unique()
    wanted = windows.join(pl.DataFrame({"item": ITEM_NAMES}), how="cross")
    missing = wanted.join(items.select("cik", "q", "item"), on=["cik", "q", "item"], how="anti")
    ever = (
        stated.select("cik", "concept")
        .unique()
        .join(_concepts_of_items(), on="concept")
        .group_by("cik", "item")
        .agg(stated=pl.col("group").n_unique(), groups=pl.col("groups").first())
    )
    values = items.filter(pl.col("item").is_in(["free_cash_flow", "total_debt"])).select(
        "cik", "q", pl.col("item").alias("input"), "value"
    )
    inputs = values.group_by("cik", "q").agg(
        fcf=pl.col("value").filter(pl.col("input") == "free_cash_flow").first(),
        debt=pl.col("value").filter(pl.col("input") == "total_debt").first(),
    )
    described = (
        missing.join(ever, on=["cik", "item"], how="left")
        .join(inputs, on=["cik", "q"], how="left")
        .join(of_industry, on="cik", how="left")
    )
    item = pl.col("item")
    balance = item.is_in(["total_debt", "cash_and_equivalents"])
    reason = (
        pl.when((item == "debt_to_fcf") & (pl.col("fcf") <= 0))
        .then(pl.lit("negative_fcf"))
        .when((item == "debt_to_fcf") & pl.col("fcf").is_null())
        .then(pl.lit("no_free_cash_flow"))
        .when((item == "debt_to_fcf") & pl.col("debt").is_null())
        .then(pl.lit("no_total_debt"))
        .when((item == "roic") & (pl.col("industry") == "bank"))
        .then(pl.lit("financial_company"))
        .when(pl.col("stated").is_null() | (pl.col("stated") < pl.col("groups")))
        .then(pl.lit("no_tag"))
        .when((item == "roic") & pl.col("debt").is_null())
        .then(pl.lit("no_total_debt"))
        .when(item == "roic")
        .then(pl.lit("capital_undefined"))
        .when(balance)
        .then(pl.lit("not_on_balance_sheet"))
        .otherwise(pl.lit("missing_quarter"))
    )
    return described.select("cik", "q", "item", reason=reason).sort("cik", "q", "item")


ALL_NEEDED = ("free_cash_flow", "roic")
"""Items that need each of their concepts; the others need one of them."""


def _concepts_of_items() -> pl.DataFrame:
    """`concept`, `item`, `group` (concepts that stand in for each other), `groups` (how many the item needs)."""
    rows = [
        {
            "concept": concept.name,
            "item": item,
            "group": concept.name if item in ALL_NEEDED else item,
            "groups": len(concepts) if item in ALL_NEEDED else 1,
        }
        for item, concepts in ITEM_CONCEPTS.items()
        for concept in concepts
    ]
    return pl.DataFrame(rows)
