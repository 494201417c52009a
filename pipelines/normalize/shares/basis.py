"""Share basis: the factor that puts the shares of a filing, and its amounts per share, on the newest basis.

Belongs here: on which basis a filing is, and what that makes of its figures. Does not: which splits there were
(splits).
"""

import polars as pl

from pipelines.normalize.shares.splits import SHARE_CONCEPTS, SNAP

REPEATED = pl.Schema({"cik": pl.Int64(), "seq": pl.Int32(), "of_seq": pl.Int32()})


def repeated(vintages: pl.DataFrame) -> pl.DataFrame:
    """Amendments on the share basis of what they repeat: `cik`, `seq`, and `of_seq`, the report that they repeat.

    A report that is amended after a split may show the counts of before, or anew.

    Args:
        vintages: sound ones, in units.
    """
    period = ["cik", "concept", "start", "end"]

    def reported(column: str) -> pl.Expr:
        return pl.when(~pl.col("amended")).then(column).forward_fill().over(period)

    return (
        vintages.filter(pl.col("concept").is_in(SHARE_CONCEPTS), pl.col("value") > 0)
        .sort(*period, "seq")
        .with_columns(of_seq=reported("seq"), of_value=reported("value"))
        .filter("amended", (pl.col("value") / pl.col("of_value") - 1).abs() <= SNAP)
        .group_by("cik", "seq")
        .agg(pl.col("of_seq").max())
    )


def share_factors(filings: pl.DataFrame, splits: pl.DataFrame, repetitions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Add `factor`: new shares for one share of the filing's basis, the product of the splits effective after it.

    Args:
        filings: with `cik` and `seq`.
        splits: of infer_splits.
        repetitions: of repeated, where any are known.
    """
    steps = (
        splits.sort("cik", "effective_seq")
        .select("cik", seq="effective_seq", so_far=pl.col("ratio").cum_prod().over("cik"))
        .sort("seq")
    )
    in_all = splits.group_by("cik").agg(in_all=pl.col("ratio").product())
    of_seq = pl.DataFrame(schema=REPEATED) if repetitions is None else repetitions
    return (
        filings.join(of_seq, on=["cik", "seq"], how="left", maintain_order="left")
        .with_columns(pl.coalesce("of_seq", "seq").alias("of_seq"))
        .sort("of_seq")
        .join_asof(steps, left_on="of_seq", right_on="seq", by="cik", check_sortedness=False)
        .join(in_all, on="cik", how="left", maintain_order="left")
        .with_columns(factor=(pl.col("in_all") / pl.col("so_far").fill_null(1.0)).fill_null(1.0))
        .drop("so_far", "in_all", "of_seq", "seq_right")
        .sort("seq")
    )


def on_newest_basis(
    vintages: pl.DataFrame, splits: pl.DataFrame, repetitions: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Put shares and per-share values on the share basis of the company's newest filing.

    Args:
        vintages: with `measure_sign`: 1 for shares, -1 for per-share values, 0 for money.
        splits: of infer_splits.
        repetitions: of repeated, where any are known.

    Returns:
        the vintages with `value` and `grain` multiplied; a filing is on the basis of the splits effective by then.
    """
    sign, factor = pl.col("measure_sign"), pl.col("factor")
    scale = pl.when(sign > 0).then(factor).when(sign < 0).then(1 / factor).otherwise(1.0)
    return share_factors(vintages, splits, repetitions).with_columns(pl.col("value", "grain") * scale).drop("factor")
