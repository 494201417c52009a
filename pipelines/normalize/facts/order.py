"""The order of filing: the place of each filing among its company's filings.

Belongs here: how filings of one day follow each other. Does not: which filings count (reports, recasts).
"""

import polars as pl


def in_filing_order(facts: pl.DataFrame, accepted: pl.DataFrame | None = None) -> pl.DataFrame:
    """Add `seq`: the filing's place among the company's filings, by date, acceptance, amendments last.

    The year inside an accession number is no date, so accession numbers only break ties.

    Args:
        facts: typed facts.
        accepted: `accession`, `accepted_at` where the submissions tell.
    """
    filings = facts.select("cik", "accession", "filed", "amended").unique(["cik", "accession"], maintain_order=True)
    if accepted is not None:
        filings = filings.join(accepted.unique("accession"), on="accession", how="left", maintain_order="left")
    else:
        filings = filings.with_columns(accepted_at=pl.lit(None, pl.Datetime("us", "UTC")))
    numbered = filings.sort("cik", "filed", "amended", "accepted_at", "accession", nulls_last=True).select(
        "cik", "accession", seq=pl.int_range(pl.len(), dtype=pl.Int32).over("cik")
    )
    return facts.join(numbered, on=["cik", "accession"])
