"""The newest quarter's average shares, by which a present value is divided.

Belongs here: the quarter of the newest share counts, and its net income, which may be a loss. Does not: averages over
twelve months, which are line items (items).

A present value belongs to today's holders. An average over twelve months is half a year behind issues and buybacks.
"""

import polars as pl

from pipelines.normalize.arrays import floats, ints
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares.moves import INCOME, SHARE_CONCEPTS
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR, STATED_RANKS

LARGEST_CHANGE = 1.25
"""Largest factor between a last quarter by difference and the average to date. If a quarter has a loss, the potential
shares of the year are not the average of its quarters' potential shares (ASC 260-10-45-17)."""

QUARTER, DIFFERENCE, TO_DATE = "quarter", "difference", "year_to_date"
METHODS = (QUARTER, DIFFERENCE, TO_DATE)
"""The methods in order of preference."""

BY_QUARTER = Rule(
    "shares.latest.quarter",
    "The newest average share count is that of the newest quarter as filed.",
    "ASC 260-10-45-10: basic earnings per share are income over the weighted average shares of the period",
    "select",
)
BY_DIFFERENCE = Rule(
    "shares.latest.difference",
    "If no filing states the newest quarter alone, its average share count is the year to date less the period before "
    "the quarter, weighted by days, unless it differs by more than 25 % from the average to date.",
    "Regulation S-X Rule 10-01(c): interim statements are for the fiscal quarter and the fiscal year to date",
    "compose",
)
BY_YEAR_TO_DATE = Rule(
    "shares.latest.year-to-date",
    "If the newest quarter is neither filed nor found by difference, the newest average share count is that of the "
    "shortest filed period that ends with it.",
    BY_QUARTER.source,
    "select",
)
RULES = (BY_QUARTER, BY_DIFFERENCE, BY_YEAR_TO_DATE)
"""One rule for each of METHODS."""


def latest_shares(known: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Weighted average shares of each company's newest quarter with share counts.

    They are taken from the quarter as filed; otherwise from the year to date less the period before the quarter, as for
    the fourth quarter of an annual report; otherwise from the shortest period that ends with the quarter. Net income is
    found in the same way.

    Args:
        known: durations (ttm.known.known_amounts), on the newest share basis.
        grid: of calendar.fiscal_grid.

    Returns:
        latest: one row a company (frames.LatestShares): `period_end`, the counts (null if not stated),
            `net_income` (reporting currency), `method` (quarter, difference, year_to_date) of the counts, and
            `has_diluted`: whether the company has stated diluted shares within the last year.
        decisions: `cik`, `rule`, `figures` (companies).

    Source: ASC 260-10-45-10, the weighted average of a period; Regulation S-X Rule 10-01(c), year to date.
    """
    amounts = _amounts_of_newest_quarter(known)
    has_diluted = pl.col("q_diluted") > pl.col("q") - QUARTERS_A_YEAR
    latest = (
        _means(amounts)
        .sort("method", "n")
        .group_by("cik", "q", "concept")
        .first()
        .pivot(on="concept", on_columns=[*SHARE_CONCEPTS, *INCOME], index=["cik", "q"], values=["mean", "method"])
        .sort("cik")
        .join(amounts.select("cik", "q_diluted").unique(), on="cik", maintain_order="left")
        .join(grid.select("cik", "q", "period_end"), on=["cik", "q"], how="left", maintain_order="left")
        .select(
            "cik",
            "period_end",
            shares_basic="mean_shares_basic",
            shares_diluted="mean_shares_diluted",
            net_income=pl.coalesce("mean_net_income_common", "mean_net_income_parent"),
            method=pl.coalesce("method_shares_diluted", "method_shares_basic").cast(pl.String),
            has_diluted=has_diluted.fill_null(value=False),
        )
    )
    decided = [(rule, ints(latest.filter(method=method), "cik")) for method, rule in zip(METHODS, RULES, strict=True)]
    return latest, counted(decided)


def _amounts_of_newest_quarter(known: pl.DataFrame) -> pl.DataFrame:
    """The filed amounts of the periods that end with each company's newest quarter with share counts.

    Derived amounts are left out: in a valuation, potential shares count even if the period has a loss.

    Returns:
        `cik`, `concept`, `q`, `n`, `amount`, `days` (0 for income), `q_diluted` (of the newest diluted count); and
        `rest`, `rest_days`: amount and days less the period that ends a quarter earlier, null if it is not stated.
    """
    is_count = pl.col("concept").is_in(SHARE_CONCEPTS)
    is_stated = pl.Series(floats(known, "rank") < STATED_RANKS[ints(known, "concept")])
    newest = (
        known.filter(is_stated, is_count | pl.col("concept").is_in(INCOME))
        .unique(["cik", "concept", "q", "n"], keep="last")
        .select("cik", "concept", "q", "n", "amount", days=pl.when(is_count).then("days").otherwise(0))
    )
    shorter = newest.select("cik", "concept", pl.col("q", "n") + 1, less="amount", less_days="days")
    q_diluted = pl.col("q").filter(pl.col("concept") == "shares_diluted").max().over("cik")
    return (
        newest.with_columns(q_diluted=q_diluted)
        .filter(pl.col("q") == pl.col("q").filter(is_count).max().over("cik"))
        .join(shorter, on=["cik", "concept", "q", "n"], how="left")
        .with_columns(rest=pl.col("amount") - pl.col("less"), rest_days=pl.col("days") - pl.col("less_days"))
    )


def _means(amounts: pl.DataFrame) -> pl.DataFrame:
    """The average of each period, or of its last quarter by difference, with its method: the first that applies."""
    is_count = pl.col("concept").is_in(SHARE_CONCEPTS)
    found = amounts.with_columns(
        mean=pl.when(is_count).then(pl.col("amount") / pl.col("days")).otherwise("amount"),
        rest=pl.when(is_count).then(pl.col("rest") / pl.col("rest_days")).otherwise("rest"),
    )
    is_near = ~is_count | (pl.col("rest") / pl.col("mean")).is_between(1 / LARGEST_CHANGE, LARGEST_CHANGE)
    shown = (pl.col("n") == 1, pl.col("rest").is_not_null() & is_near, pl.lit(value=True))
    ways = [
        pl.when(rule.where(holds)).then(pl.lit(method))
        for rule, method, holds in zip(RULES, METHODS, shown, strict=True)
    ]
    chosen = found.with_columns(method=pl.coalesce(ways).cast(pl.Enum(METHODS))).drop_nulls("method")
    return chosen.with_columns(mean=pl.when(pl.col("method") == DIFFERENCE).then("rest").otherwise("mean"))
