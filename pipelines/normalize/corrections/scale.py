"""Scale: figures that a filing states a thousand or a million times larger or smaller than filings before it.

Belongs here: what earlier filings of a period, and the level of a line, prove about a figure. Does not: what the
figures of one filing prove about each other (identities), splits, which restate counts by small ratios (splits).

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import polars as pl

from pipelines.normalize.corrections.identities import thousands

SERIES = ["cik", "concept"]
FILING = [*SERIES, "seq"]

NEAR_STATED = 0.01
"""The same figure in another scale differs by its rounding only."""
NEARER = 1.0
"""A figure that is nearer to the level of its line by more than a power of ten is the one in units."""
FEWEST_FILINGS = 4
"""So many earlier filings make a level; fewer may all be wrong."""

BY_FILINGS = "earlier filings of the same period, and the level of the line"


def repaired(vintages: pl.DataFrame) -> pl.DataFrame:
    """Multiply `value`, `grain` and `repair` where a figure is in another scale than filings before it.

    Of two figures of one period that are a thousand or a million times apart, the one that is far from the level of
    the line is wrong. A filing that is proven wrong in one period of a line by it, is so in the other periods of that
    line that are as far off.

    Args:
        vintages: of identities.repaired.
    """
    days = ((pl.col("end") - pl.col("start")).dt.total_days() + 1).fill_null(1)
    height = (pl.col("value").abs() / days).log10()
    leveled = vintages.with_columns(
        height=pl.when(height.is_finite()).then(height), of_instant=pl.col("start").is_null()
    )
    first = pl.col("value").first().over([*SERIES, "start", "end"])
    power = thousands(pl.col("value") / first, NEAR_STATED)
    stated = (
        leveled.sort(*SERIES, "start", "end", "seq")
        .with_columns(power=pl.when(power != 0).then(power))
        .sort("seq")
        .join_asof(
            _levels(leveled), on="seq", by=[*SERIES, "of_instant"], allow_exact_matches=False, check_sortedness=False
        )
    )

    def nearer(power: str) -> pl.Expr:
        off = pl.col("height") - pl.col("level")
        return ((off - pl.col(power)).abs() + NEARER < off.abs()).fill_null(value=False)

    proven = stated.filter(nearer("power")).group_by(FILING).agg(proven=pl.col("power").mode().min())
    repairs = (
        stated.join(proven, on=FILING)
        .filter(nearer("proven"))
        .select("vintage", factor=pl.lit(10.0).pow(-pl.col("proven")))
    )
    factor = pl.col("factor").fill_null(1.0)
    return (
        vintages.join(repairs, on="vintage", how="left", maintain_order="left")
        .with_columns(
            pl.col("value", "grain", "repair") * factor,
            evidence=pl.when(factor != 1).then(pl.lit(BY_FILINGS)).otherwise("evidence"),
        )
        .drop("factor")
    )


def _levels(leveled: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `concept`, `of_instant`, `seq`, `level`: the mean height of a line after a filing, if it has one yet."""
    line = [*SERIES, "of_instant"]
    return (
        leveled.drop_nulls("height")
        .group_by([*line, "seq"])
        .agg(pl.col("height").mean())
        .sort("seq")
        .with_columns(number=pl.int_range(1, pl.len() + 1).over(line), total=pl.col("height").cum_sum().over(line))
        .filter(pl.col("number") >= FEWEST_FILINGS)
        .select(*line, "seq", level=pl.col("total") / pl.col("number"))
    )
