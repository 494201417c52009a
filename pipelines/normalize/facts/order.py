"""The order of filing: the place of each filing among its company's filings.

Belongs here: the order of filings of one day. Does not: which filings count (reports, recasts).
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
RULES = (SAME_DAY,)


def in_filing_order(facts: pl.DataFrame, accepted: pl.DataFrame | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Add `seq`: the filing's place among its company's filings, by date, then by SAME_DAY.

    The year in an accession number is not a filing date, so accession numbers are used only last.

    Args:
        facts: typed facts.
        accepted: `accession`, `accepted_at`, as far as the submissions have it.

    Returns:
        the facts; and the decisions (decisions.DECISIONS): filings that share their day with another.
    """
    filings = facts.select("cik", "accession", "filed", "amended").unique(["cik", "accession"], maintain_order=True)
    if accepted is not None:
        filings = filings.join(accepted.unique("accession"), on="accession", how="left", maintain_order="left")
    else:
        filings = filings.with_columns(accepted_at=pl.lit(None, pl.Datetime("us", "UTC")))
    ordered = filings.sort("cik", "filed", "amended", "accepted_at", "accession", nulls_last=True)
    numbered = ordered.select("cik", "accession", seq=pl.int_range(pl.len(), dtype=pl.Int32).over("cik"))
    shares_day = ordered.filter(pl.struct("cik", "filed").is_duplicated())
    return (
        facts.join(numbered, on=["cik", "accession"], maintain_order="left"),
        counted([(SAME_DAY, ints(shares_day, "cik"))]),
    )
