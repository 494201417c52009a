"""Share basis: splits inferred from the filings alone, and the factor that puts a filing on the newest basis.

Belongs here: what a ratio between two filings of one period proves, and when it took effect.
Does not: how many shares there are (flows).

The first periodic report after a split restates every period it shows (ASC 260-10-55-12); older periods are never
restated, so one series holds several bases.
"""

import polars as pl

RATIOS: tuple[float, ...] = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 40, 50)
"""Split ratios that are looked for, and their inverses; a thousand or a million is an error of scale."""

SNAP = 0.01
"""A ratio within one per cent of a usual one is that one: weighted averages move a little with rounding."""

WITNESSES = 2
"""So many restated periods make a split; one alone may be an error."""

SHARE_CONCEPTS = ("shares_basic", "shares_diluted")


def infer_splits(vintages: pl.DataFrame) -> pl.DataFrame:
    """Splits between consecutive filings of one period's weighted shares.

    Args:
        vintages: of facts.stated_concepts.

    Returns:
        `cik`, `ratio` (new shares per old), `effective_seq` (the first filing on the new basis), `effective_by` and
        `effective_after` (filing dates around the event), `evidence`.
    """
    usual = pl.DataFrame({"ratio": sorted({*RATIOS, *(1 / ratio for ratio in RATIOS)})})
    period = ["cik", "concept", "start", "end"]
    pairs = (
        vintages.filter(pl.col("concept").is_in(SHARE_CONCEPTS), pl.col("value") > 0)
        .sort(*period, "seq")
        .with_columns(
            observed=pl.col("value") / pl.col("value").shift().over(period),
            after_seq=pl.col("seq").shift().over(period),
            after=pl.col("filed").shift().over(period),
        )
        .filter((pl.col("observed") - 1).abs() > SNAP)
        .sort("observed")
        .join_asof(usual.with_columns(observed="ratio"), on="observed", strategy="nearest", check_sortedness=False)
        .filter((pl.col("observed") / pl.col("ratio") - 1).abs() <= SNAP)
        .sort("cik", "ratio", "seq", "after_seq")
    )
    another = (pl.col("after_seq") >= pl.col("seq").shift()).fill_null(value=True).over("cik", "ratio")
    return (
        pairs.with_columns(event=another.cum_sum().over("cik", "ratio"))
        .group_by("cik", "ratio", "event")
        .agg(
            witnesses=pl.len(),
            effective_seq=pl.col("seq").min(),
            effective_by=pl.col("filed").min(),
            effective_after=pl.col("after").max(),
            seen=pl.concat_str("concept", pl.lit(" "), "start", pl.lit(".."), "end").sort().unique(maintain_order=True),
        )
        .filter(pl.col("witnesses") >= WITNESSES)
        .with_columns(
            evidence=pl.concat_str(
                pl.col("witnesses"), pl.lit(" restated averages, among them "), pl.col("seen").list.last()
            )
        )
        .select("cik", "ratio", "effective_seq", "effective_by", "effective_after", "evidence")
        .sort("cik", "effective_seq", "ratio")
        .unique(["cik", "effective_seq"], keep="first", maintain_order=True)
    )


def share_factors(filings: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Add `factor`: new shares for one share of the filing's basis, the product of the splits effective after it.

    Args:
        filings: with `cik` and `seq`.
        splits: of infer_splits.
    """
    steps = (
        splits.sort("cik", "effective_seq")
        .select("cik", seq="effective_seq", so_far=pl.col("ratio").cum_prod().over("cik"))
        .sort("seq")
    )
    in_all = splits.group_by("cik").agg(in_all=pl.col("ratio").product())
    return (
        filings.sort("seq")
        .join_asof(steps, on="seq", by="cik", check_sortedness=False)
        .join(in_all, on="cik", how="left", maintain_order="left")
        .with_columns(factor=(pl.col("in_all") / pl.col("so_far").fill_null(1.0)).fill_null(1.0))
        .drop("so_far", "in_all")
    )


def on_newest_basis(vintages: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Put shares and per-share values on the share basis of the company's newest filing.

    Args:
        vintages: with `measure_sign`: 1 for shares, -1 for per-share values, 0 for money.
        splits: of infer_splits.

    Returns:
        the vintages with `value` and `grain` multiplied; a filing is on the basis of the splits effective by then.
    """
    sign, factor = pl.col("measure_sign"), pl.col("factor")
    scale = pl.when(sign > 0).then(factor).when(sign < 0).then(1 / factor).otherwise(1.0)
    return share_factors(vintages, splits).with_columns(pl.col("value", "grain") * scale).drop("factor")
