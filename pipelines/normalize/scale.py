"""Scale: share counts and earnings per share that are stated a thousand or a million times too large or too small.

Belongs here: what net income, earnings per share and the share count of one filing and period prove about each other.
Does not: splits, which restate counts by small ratios (splits).

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import polars as pl

COUNTS = ("shares_basic", "shares_diluted")
EARNINGS_PER_SHARE = "eps_basic"
INCOME = ("net_income_common", "net_income_parent")
PERIOD = ["cik", "seq", "start", "end"]
SERIES = ["cik", "concept"]

SMALLEST_EARNINGS = 0.015
"""Earnings per share of a cent are rounded by half of themselves and prove nothing."""

DIGITS = 3
NEAR_EARNINGS, NEAR_COUNTS = 0.2, 0.35
"""How far from a power of a thousand (in powers of ten) a quotient may be: earnings are rounded, counts grow."""


def repaired(vintages: pl.DataFrame) -> pl.DataFrame:
    """Add `repair`, the power of ten that puts a value into units, and multiply `value` and `grain` by it.

    Net income over earnings per share is the share count. Where the count of the same filing and period is a thousand
    or a million times off, it is repaired, for counts are the usual victims; unless it fits the counts of filings
    before, then the earnings per share are. A count without earnings beside it is held against the count before.

    Args:
        vintages: of facts.stated_concepts.

    Source: ASC 260-10-45-10, basic earnings per share are income available to common over the weighted average.
    """
    counts = _beside_earnings(vintages)
    sound = counts.filter(pl.col("power") == 0).select(*SERIES, "seq", level="value").sort("seq")
    counts = counts.sort("seq").join_asof(sound, on="seq", by=SERIES, check_sortedness=False)
    off = (pl.col("value") / pl.col("level")).log10().abs()
    off_repaired = (pl.col("value") * 10.0 ** pl.col("power") / pl.col("level")).log10().abs()
    earnings_err = ((pl.col("power") != 0) & (off < off_repaired)).fill_null(value=False)
    counts = counts.with_columns(earnings_err=earnings_err).drop("level")
    judged = counts.drop_nulls("power").with_columns(
        repair=pl.when("earnings_err").then(1.0).otherwise(10.0 ** pl.col("power"))
    )
    repairs = pl.concat(
        [
            judged.select("vintage", "repair"),
            _beside_counts(counts.filter(pl.col("power").is_null()), judged),
            _of_earnings(vintages, counts.filter("earnings_err")),
        ]
    ).unique("vintage", keep="first", maintain_order=True)
    factor = pl.col("repair").fill_null(1.0)
    return vintages.join(repairs, on="vintage", how="left", maintain_order="left").with_columns(
        pl.col("value", "grain") * factor, repair=factor
    )


def _beside_earnings(vintages: pl.DataFrame) -> pl.DataFrame:
    """Counts with `power`: how many powers of ten income over earnings per share says they are off; null: untold."""

    def stated(concept: str) -> pl.Expr:
        return pl.col("value").filter(pl.col("concept") == concept).first()

    implied = (
        vintages.filter(pl.col("concept").is_in([*INCOME, EARNINGS_PER_SHARE]))
        .group_by(PERIOD)
        .agg(earnings=stated(EARNINGS_PER_SHARE), income=pl.coalesce(stated(name) for name in INCOME))
        .filter(pl.col("earnings").abs() >= SMALLEST_EARNINGS, pl.col("income") / pl.col("earnings") > 0)
        .select(*PERIOD, implied=pl.col("income") / pl.col("earnings"))
    )
    counts = vintages.filter(pl.col("concept").is_in(COUNTS)).join(implied, on=PERIOD, how="left")
    return counts.with_columns(power=_thousands(pl.col("implied") / pl.col("value"), NEAR_EARNINGS)).select(
        "vintage", *SERIES, *PERIOD[1:], "value", "power"
    )


def _beside_counts(untold: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """`vintage`, `repair` of counts without earnings beside them, held against the last judged count."""
    level = judged.select(*SERIES, "seq", level=pl.col("value") * pl.col("repair")).sort("seq")
    beside = untold.sort("seq").join_asof(level, on="seq", by=SERIES, check_sortedness=False)
    power = _thousands(pl.col("level") / pl.col("value"), NEAR_COUNTS).fill_null(0.0)
    return beside.select("vintage", repair=10.0**power)


def _of_earnings(vintages: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """`vintage`, `repair` of the earnings per share that stand beside sound counts and are off themselves."""
    periods = counts.unique(PERIOD, keep="first", maintain_order=True).select(*PERIOD, repair=10.0 ** pl.col("power"))
    return vintages.filter(pl.col("concept") == EARNINGS_PER_SHARE).join(periods, on=PERIOD).select("vintage", "repair")


def _thousands(quotient: pl.Expr, near: float) -> pl.Expr:
    """The power of ten, a multiple of three, that a quotient is near to; null where it is near to none."""
    power = (quotient.log10() / DIGITS).round() * DIGITS
    return pl.when((quotient.log10() - power).abs() <= near).then(power)
