"""Gaps: why a window that has some value lacks an item.

Belongs here: the reasons, one row a missing item. Does not: the items that have a value (items, returns), what the
reasons mean (warehouse.vocabulary).
"""

import polars as pl

from pipelines.normalize.balance.vanished import WATCHED
from pipelines.normalize.elements import AMOUNT, ITEM_CONCEPTS
from pipelines.normalize.elements.cash import CASH_CONTROLS
from pipelines.normalize.elements.loans import DEBT_CONTROLS
from pipelines.normalize.industry.classification import WITHOUT_MEANING_TABLE
from pipelines.normalize.items import returns
from pipelines.normalize.items.returns import NO_OPERATING_INCOME
from warehouse.schema import ITEM_NAMES


def gaps(
    items: pl.DataFrame,
    stated: pl.DataFrame,
    of_industry: pl.DataFrame,
    no_returns: pl.DataFrame,
    missed: pl.DataFrame,
) -> pl.DataFrame:
    """Why a window that has some value lacks an item: `cik`, `q`, `item`, `reason`.

    Args:
        items: of line_items, at one point a company.
        stated: `cik`, `concept` of everything that a company ever states.
        of_industry: `cik`, `industry` of the newest filing (industries.newest).
        no_returns: of returns.no_return.
        missed: of vanished.missed.
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
        .join(WITHOUT_MEANING_TABLE.rename({"reason": "senseless"}), on=["industry", "item"], how="left")
        .join(_newest_returns(no_returns), on=["cik", "q", "item"], how="left")
        .join(missed.rename({"reason": "missed"}), on=["cik", "q", "item"], how="left")
    )
    no_return = pl.when(pl.col("item") == "roic").then(pl.col("no_return").fill_null(NO_OPERATING_INCOME))
    found = pl.lit(None, pl.String)
    for code, holds in reversed(REASONS.items()):
        found = pl.when(holds).then(pl.lit(code)).otherwise(found)
    reason = pl.coalesce("senseless", no_return, "missed", found)
    return described.select("cik", "q", "item", reason=reason).sort("cik", "q", "item")


ITEM = pl.col("item")
REASONS: dict[str, pl.Expr] = {
    "negative_fcf": (ITEM == "debt_to_fcf") & (pl.col("fcf") <= 0),
    "no_free_cash_flow": (ITEM == "debt_to_fcf") & pl.col("fcf").is_null(),
    "no_total_debt": (ITEM == "debt_to_fcf") & pl.col("debt").is_null(),
    "no_tag": pl.col("stated").is_null() | (pl.col("stated") < pl.col("groups")),
    "not_on_balance_sheet": ITEM.is_in(["total_debt", "cash_and_equivalents"]),
    "missing_quarter": pl.lit(value=True),
}
"""Why an item is missing that means something and whose lines did not vanish, in the order of asking."""

CODES = frozenset(
    (*REASONS, *returns.REASONS, *(each.reason for each in WATCHED), *WITHOUT_MEANING_TABLE["reason"].unique())
)
"""Every reason that there is (warehouse.vocabulary says what each means)."""


ALL_NEEDED = ("free_cash_flow",)
"""Items that need each of their concepts; the others need one of them."""


def _newest_returns(no_returns: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `q`, `item`, `no_return`: why there is no return on capital after the newest filing."""
    return no_returns.select("cik", "q", item=pl.lit("roic"), no_return="reason")


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
        if concept not in (*DEBT_CONTROLS, *CASH_CONTROLS)
    ]
    return pl.DataFrame(rows, schema_overrides={"concept": AMOUNT})
