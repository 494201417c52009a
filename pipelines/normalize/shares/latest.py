"""The newest quarter's average shares: what a value per share of today is divided by.

Belongs here: the discrete quarter behind the newest counts, and the income beside them, which tells a loss. Does not:
averages over twelve months, which are line items (items).

A value of today belongs to today's holders: an average over twelve months lags by half a year behind issues and
buybacks.
"""

import polars as pl

from pipelines.normalize.ttm.known import SLOT
from pipelines.normalize.ttm.windows import QUARTERS_A_YEAR

SHARES = ("shares_basic", "shares_diluted")
INCOME = ("net_income_common", "net_income_parent")
NEAR = 1.25
"""A fourth quarter by difference that is further from the average of its year than this factor is not taken: the
potential shares of a year are no average of its quarters once some of them have a loss (ASC 260-10-45-17)."""

QUARTER, DIFFERENCE, TO_DATE = "quarter", "difference", "year_to_date"
LATEST_SHARES = pl.Schema(
    {
        "cik": pl.Int64(),
        "period_end": pl.Date(),
        "shares_basic": pl.Float64(),
        "shares_diluted": pl.Float64(),
        "net_income": pl.Float64(),
        "method": pl.String(),
        "has_diluted": pl.Boolean(),
    }
)


def latest_shares(known: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """Weighted average shares of each company's newest quarter that states any: columns of LATEST_SHARES.

    The quarter as filed; else the year to date less the stretch before it, which is how a fourth quarter comes out of
    an annual report; else the shortest stretch that ends there. Net income is that of the same stretch.

    Args:
        known: durations (ttm.known.known_amounts), on the newest share basis.
        grid: of calendar.fiscal_grid.

    Returns:
        one row a company: `period_end`, the counts (null where not stated), `net_income` (reporting currency),
        `method` (quarter, difference, year_to_date) of the counts, and `has_diluted`: whether the company has stated
        diluted shares within a year of it.

    Source: ASC 260-10-45-10, the weighted average of a period; Regulation S-X Rule 10-01(c), year to date.
    """
    of_both = known.filter(pl.col("concept").is_in([*SHARES, *INCOME]))
    known = of_both.select(*SLOT, "amount", "days").unique(SLOT, keep="last", maintain_order=True)
    counts = known.filter(pl.col("concept").is_in(SHARES))
    newest = counts.group_by("cik").agg(
        newest=pl.col("q").max(),
        has_diluted=(
            pl.col("q").filter(pl.col("concept") == "shares_diluted").max() > pl.col("q").max() - QUARTERS_A_YEAR
        ).fill_null(value=False),
    )
    stated = known.join(newest, on="cik")
    candidates = _candidates(
        stated.filter(pl.col("q") == pl.col("newest")), stated.filter(pl.col("q") == pl.col("newest") - 1)
    )
    best = candidates.sort("cik", "concept", "place").unique(["cik", "concept"], keep="first", maintain_order=True)

    def of(concept: str, column: str = "value") -> pl.Expr:
        return pl.col(column).filter(pl.col("concept") == concept).first()

    wide = best.group_by("cik").agg(
        *(of(name).alias(name) for name in SHARES),
        net_income=pl.coalesce(of(name) for name in INCOME),
        method=pl.coalesce(of("shares_diluted", "method"), of("shares_basic", "method")),
    )
    ends = grid.select("cik", "period_end", newest="q")
    return wide.join(newest, on="cik").join(ends, on=["cik", "newest"]).select(LATEST_SHARES.names()).sort("cik")


def _candidates(ending: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `concept`, `value`, `method`, `place` (preference) of what the stretches that end in a quarter tell."""
    is_count = pl.col("concept").is_in(SHARES)
    mean = pl.col("amount") / pl.when(is_count).then(pl.col("days")).otherwise(1)
    as_stated = ending.select(
        "cik",
        "concept",
        value=mean,
        method=pl.when(pl.col("n") == 1).then(pl.lit(QUARTER)).otherwise(pl.lit(TO_DATE)),
        place=pl.when(pl.col("n") == 1).then(0).otherwise(pl.col("n")),
    )
    shorter = before.select("cik", "concept", n=pl.col("n") + 1, less="amount", less_days="days")
    days = pl.col("days") - pl.col("less_days")
    rest = pl.col("amount") - pl.col("less")
    away = pl.col("value") / pl.col("mean")
    by_difference = (
        ending.filter(pl.col("n") > 1)
        .join(shorter, on=["cik", "concept", "n"])
        .with_columns(value=rest / pl.when(is_count).then(days).otherwise(1), mean=mean)
        .filter(~is_count | away.is_between(1 / NEAR, NEAR))
        .select("cik", "concept", "value", method=pl.lit(DIFFERENCE), place=pl.lit(1, pl.Int32))
    )
    return pl.concat([as_stated.with_columns(pl.col("place").cast(pl.Int32)), by_difference])
