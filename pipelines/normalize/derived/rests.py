"""Rests: the beginning of a period, which is that period less its last quarter.

Belongs here: basic averages of shares of a period that no filing states, from two periods of one filing that end
together. Does not: differences of two periods that begin together (ttm.quarters), diluted averages, which leave
potential shares out of some periods and not of others (share_averages).
"""

import polars as pl

from pipelines.normalize.derived.stated import FILING, PERIOD
from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.rule import Rule

SHORTEST, LAST_QUARTER = 60, (60, 130)
"""Fewest days of a rest; days of the last quarter of a period."""
ROUNDING = 0.005
"""An average lies between those of its parts, but for rounding."""

PERIOD_LESS_QUARTER = Rule(
    "shares.basic.period-less-its-last-quarter",
    "The basic average of the beginning of a period that no filing states is, day by day, that of the period less that "
    "of its last quarter, if one filing states both, and if it is no more or less than its parts that filings state.",
    "ASC 260-10-45-10 and 260-10-55-2: a weighted average over a period is the mean of its parts; Regulation S-X Rule "
    "10-01(c): interim statements have the quarter and the year to date that end together",
    "compose",
)
RULES = (PERIOD_LESS_QUARTER,)


def amounts(as_filed: pl.DataFrame) -> pl.DataFrame:
    """The basic averages that are the difference of two periods of one filing.

    Args:
        as_filed: the vintages that count and were not corrected, with their first `fact` and number of `facts`.

    Returns:
        PERIOD, `concept`, `value`, `grain`, `rule`, `fact` and `coefficient` (lists).
    """
    basic = as_filed.filter((pl.col("concept") == "shares_basic") & (pl.col("facts") == 1))
    both = pairs_of_periods(basic, [*FILING, "end"], "rank", "value", "grain", "fact")
    found = (
        both.filter(pl.col("days_less").is_between(*LAST_QUARTER) & (pl.col("rest") >= SHORTEST))
        .filter(pl.col("rank") == pl.col("rank_less"))
        .with_columns(end=pl.col("start_less").dt.offset_by("-1d"))
        .select(
            *PERIOD, *average_of_rest(), concept=pl.lit("shares_basic", AMOUNT), rule=pl.lit(PERIOD_LESS_QUARTER.id)
        )
        .filter(pl.col("value") > 0)
    )
    parts = basic.select("cik", part="value", of="seq", first="start", last="end")
    inside = found.select(PERIOD).join(parts, on="cik").filter(pl.col("of") <= pl.col("seq"))
    inside = inside.filter((pl.col("first") >= pl.col("start")) & (pl.col("last") <= pl.col("end")))
    of_parts = inside.group_by(PERIOD).agg(least=pl.col("part").min(), most=pl.col("part").max())
    is_like = pl.col("value").is_between(pl.col("least") * (1 - ROUNDING), pl.col("most") * (1 + ROUNDING))
    found = found.join(of_parts, on=PERIOD, how="left", maintain_order="left").filter(is_like.fill_null(value=True))
    return found.drop("least", "most")


def pairs_of_periods(periods: pl.DataFrame, same: list[str], *names: str) -> pl.DataFrame:
    """Each period with every other one of the same start or end: the names with `_less`, `days`, and days of the
    `rest`."""
    days = (pl.col("end") - pl.col("start")).dt.total_days() + 1
    each = periods.select(*PERIOD, *names, days=days)
    other = each.select(*same, pl.exclude(same).name.suffix("_less"))
    return each.join(other, on=same).with_columns(rest=pl.col("days") - pl.col("days_less"))


def average_of_rest() -> list[pl.Expr]:
    """The average of the rest of two periods: `value`, `grain`, `fact` and `coefficient` (lists)."""
    of_period, of_other = pl.col("days") / pl.col("rest"), pl.col("days_less") / pl.col("rest")
    return [
        (pl.col("value") * of_period - pl.col("value_less") * of_other).alias("value"),
        (pl.col("grain") * of_period + pl.col("grain_less") * of_other).alias("grain"),
        pl.concat_list("fact", "fact_less").alias("fact"),
        pl.concat_list(of_period, -of_other).alias("coefficient"),
    ]
