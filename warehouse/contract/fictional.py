"""Fictional companies: the range of their CIKs, and where their filings are shown.

Belongs here: what distinguishes them from real ones. Does not: the sample, which makes them (pipelines.sample).

The SEC has no pages for filings of fictional companies; the service shows these filings itself.
"""

FIRST, LAST = "9990000000", "9990009999"
"""The CIKs of fictional companies; the SEC assigns numbers in order, and its numbers are far below."""
FILINGS = "/filings/"


def address(table: str) -> str:
    """SQL for the address of a filing's page, at the SEC or here, from columns `accession`, `url` and `cik`."""
    is_here = f"url IS NOT NULL AND {table}.cik BETWEEN '{FIRST}' AND '{LAST}'"
    return f"CASE WHEN {is_here} THEN '{FILINGS}' || accession ELSE url END"


def is_fictional(cik: str) -> bool:
    """Whether a company is fictional, by its ten-digit number."""
    return FIRST <= cik <= LAST
