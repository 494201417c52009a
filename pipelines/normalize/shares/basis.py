"""Share basis: converts the shares of a filing, and its amounts per share, to the newest share basis.

Belongs here: the basis of each filing, and converting its figures. Does not: which splits there were (splits).
"""

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares.moves import AMENDMENT, SHARE_CONCEPTS, SNAP

NEWEST_BASIS = Rule(
    "share-basis.newest",
    "The share counts of a filing are multiplied, and its amounts per share divided, by the ratios of all splits that "
    "took effect after it.",
    "ASC 260-10-55-12: a split or a dividend in shares is applied to the earnings per share of all periods shown",
    "compose",
)

SAME_BASIS = 1e-9
"""Factors that differ by less are the same basis: ratios such as 4/3 are not exact in binary."""


def share_factors(
    filings: pl.DataFrame, vintages: pl.DataFrame, splits: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The factor between the share basis of each filing and the newest one.

    Args:
        filings: with `cik` and `seq`.
        vintages: corrected amounts of filings, in units.
        splits: of infer_splits.

    Returns:
        filings: the same with `factor`: new shares for one share of the filing's basis, the product of the splits that
            took effect after it.
        decisions: `cik`, `rule`, `figures` (filings).
    """
    still_to_come = (
        splits.filter(NEWEST_BASIS.where(pl.col("ratio") > 0))
        .sort("effective_seq")
        .select("cik", "effective_seq", factor=pl.col("ratio").cum_prod(reverse=True).over("cik"))
    )
    repetitions = _repeated(vintages)
    factors = (
        filings.join(repetitions, on=["cik", "seq"], how="left")
        .with_columns(basis=pl.coalesce("of_seq", "seq"))
        .sort("basis")
        .join_asof(
            still_to_come,
            left_on="basis",
            right_on="effective_seq",
            by="cik",
            strategy="forward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .select("cik", "seq", pl.col("factor").fill_null(1.0))
    )
    found = filings.join(factors, on=["cik", "seq"], how="left", maintain_order="left")
    older = found.filter((pl.col("factor") - 1).abs() > SAME_BASIS)
    return found, counted([(NEWEST_BASIS, ints(older, "cik")), (AMENDMENT, ints(repetitions, "cik"))])


def _repeated(vintages: pl.DataFrame) -> pl.DataFrame:
    """Amendments on the share basis of the report that they repeat: `cik`, `seq`, and `of_seq`, the report.

    A report that is amended after a split may show the share counts before the split, or restate them.
    """
    counts = vintages.filter(pl.col("concept").is_in(SHARE_CONCEPTS), pl.col("value") > 0).sort("cik", "seq")
    # an amendment is compared with the last report before it that states the period
    reported = pl.when(~pl.col("amended")).then(pl.col("seq", "value")).forward_fill()
    return (
        counts.with_columns(reported.over("cik", "concept", "start", "end").name.prefix("of_"))
        .filter(AMENDMENT.where(pl.col("amended")), (pl.col("value") / pl.col("of_value") - 1).abs() <= SNAP)
        .group_by("cik", "seq", maintain_order=True)
        .agg(pl.col("of_seq").max())
    )


def on_newest_basis(vintages: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """Put shares and per-share values on the share basis of the company's newest filing.

    Args:
        vintages: with `measure_sign`: 1 for shares, -1 for per-share values, 0 for money.
        filings: of share_factors.

    Returns:
        the vintages with converted `value` and `grain`; a filing is on the basis after all splits effective by then.
    """
    of_filing = filings.select("cik", "seq", times="factor")
    found = vintages.join(of_filing, on=["cik", "seq"], how="left", maintain_order="left")
    return found.with_columns(pl.col("value", "grain") * pl.col("times").pow("measure_sign")).drop("times")
