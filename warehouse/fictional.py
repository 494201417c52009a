"""Fictional companies: their numbers, and where their filings are shown.

Belongs here: what distinguishes them from real ones. Does not: the sample, which makes them (pipelines.sample).

The SEC has no such companies, so its site has no page of their filings; the service shows these itself.
"""

FIRST, LAST = "9990000000", "9990009999"
"""The CIKs of fictional companies; the SEC gives numbers in order, and is far below."""
FILINGS = "/filings/"


def address(table: str) -> str:
    """SQL for the page of a filing, at the SEC or here: of the columns `accession`, `url`, and `cik` of a table."""
    is_here = f"url IS NOT NULL AND {table}.cik BETWEEN '{FIRST}' AND '{LAST}'"
    return f"CASE WHEN {is_here} THEN '{FILINGS}' || accession ELSE url END"


def is_fictional(cik: str) -> bool:
    """Whether a company is fictional, by its ten-digit number."""
    return FIRST <= cik <= LAST
