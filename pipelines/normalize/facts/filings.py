"""Filings: the reports whose facts count, in the order of filing.

Belongs here: one row a filing, and the order of filings of one day. Does not: which filings count (reports, recasts),
the share basis of a filing (shares.basis).
"""

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.decisions import counted
from pipelines.normalize.rule import Rule

SAME_DAY = Rule(
    "filing.order.same-day",
    "Filings of one company and day are ordered with amendments last, then by time of acceptance, then by accession "
    "number.",
    "EDGAR submissions: acceptanceDateTime; Exchange Act Rule 12b-15: an amendment follows the report it amends",
    "select",
)

ACCEPTED = pl.Schema({"accession": pl.String(), "accepted_at": pl.Datetime("us", "UTC")})


def in_filing_order(
    facts: pl.DataFrame, accepted: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Add `seq`: the filing's place among its company's filings, by date, then by SAME_DAY.

    The year in an accession number is not a filing date, so accession numbers are used only last.

    Args:
        facts: typed facts.
        accepted: `accession`, `accepted_at`, as far as the submissions have it.

    Returns:
        the facts; the filings: `cik`, `accession`, `form`, `filed`, `seq`, `accepted_at` (UTC, null if unknown); and
        the decisions (decisions.DECISIONS): filings that share their day with another.
    """
    times = (ACCEPTED.to_frame() if accepted is None else accepted.select(ACCEPTED.names())).unique("accession")
    of_day = pl.when(SAME_DAY.where(pl.lit(value=True))).then(pl.col("amended", "accepted_at", "accession"))
    filings = (
        facts.select("cik", "accession", "form", "filed", "amended")
        .unique(["cik", "accession"], maintain_order=True)
        .with_row_index()
        .join(times, on="accession", how="left")
        .sort("cik", "filed", of_day, nulls_last=True, maintain_order=True)
        .with_columns(seq=pl.int_range(pl.len(), dtype=pl.Int32).over("cik"))
        .sort("index")
    )
    ordered = facts.join(filings.select("cik", "accession", "seq"), on=["cik", "accession"], maintain_order="left")
    shares_day = filings.filter(pl.struct("cik", "filed").is_duplicated())
    return ordered, filings.drop("amended", "index"), counted([(SAME_DAY, ints(shares_day, "cik"))])
