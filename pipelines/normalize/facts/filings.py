"""Filings: the reports whose facts count, in the order of filing.

Belongs here: one row a filing. Does not: how the order is determined (order), the share basis of a filing
(shares.basis).
"""

import polars as pl


def in_order(facts: pl.DataFrame, accepted: pl.DataFrame | None) -> pl.DataFrame:
    """The filings of each company: `cik`, `accession`, `form`, `filed`, `seq`, `accepted_at` (UTC, null if unknown).

    Args:
        facts: in filing order.
        accepted: `accession`, `accepted_at`, as far as the submissions have it.
    """
    filings = facts.select("cik", "accession", "form", "filed", "seq").unique(["cik", "accession"], maintain_order=True)
    if accepted is None:
        return filings.with_columns(accepted_at=pl.lit(None, pl.Datetime("us", "UTC")))
    return filings.join(
        accepted.select("accession", "accepted_at").unique("accession"),
        on="accession",
        how="left",
        maintain_order="left",
    )
