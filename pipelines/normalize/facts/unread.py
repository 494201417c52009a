"""Unread reports: reports that the submissions of a company list, but no source of facts has.

Belongs here: which listed reports are unread. Does not: reading the list (edgar.decode.filing_list), the reason of the
gaps in their periods in words (warehouse.contract.vocabulary), fetching their packages (stages.filed.wanted_filings).
"""

import polars as pl

LISTED_REPORTS = pl.Schema(
    {
        "cik": pl.String(),
        "accession": pl.String(),
        "form": pl.String(),
        "filed": pl.Date(),
        "report_date": pl.Date(),
    }
)
"""The periodic reports that may have XBRL, as the submissions list them; `report_date` is the last day of the period.
Amendments are not among them: many have no facts."""


def unread_reports(listed: pl.DataFrame, facts: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """The listed reports without any fact in companyfacts or in a package or data set that has been read.

    Reports filed before the company's first one in companyfacts are left out, because they had no XBRL yet.

    Args:
        listed: columns of LISTED_REPORTS.
        facts: `cik`, `accession`, `filed` (text) of companyfacts.
        read: `cik`, `accession` of the filings with facts that count.

    Returns:
        rows of `listed`.

    Source: EDGAR's companyfacts have most reports within minutes of their acceptance, some after weeks, some never.
    """
    first = facts.group_by("cik").agg(first=pl.col("filed").min().str.to_date())
    known = pl.concat([frame.select("cik", "accession") for frame in (facts, read)]).unique()
    since = listed.join(first, on="cik", maintain_order="left").filter(pl.col("filed") > pl.col("first"))
    return since.join(known, on=["cik", "accession"], how="anti", maintain_order="left").select(LISTED_REPORTS.names())
