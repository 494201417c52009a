"""Shares: documents of filings that are decoded together, and what the work on them reports.

Belongs here: what a share is, which companies are wanted, the names of tables of a quarter. Does not: which documents
are new (statements), reading them (statements_of_share).
"""

from functools import cache

import msgspec

from pipelines.code_digest import digest_of
from pipelines.storage.lake import Lake

DECODED, UNREAD = "decoded_filings", "unread_filings"


class Filing(msgspec.Struct, frozen=True):
    """A filing that is decoded: the digests of its raw documents by the names of its files, and that of all of it."""

    accession: str
    files: dict[str, str]
    digest: str


class Share(msgspec.Struct, frozen=True):
    """Documents that are decoded together: one quarter, or filings of some companies.

    Attributes:
        filings: the new filings of each company.
        quarter, digest: the data set; empty: filings.
    """

    filings: dict[str, list[Filing]] = {}
    quarter: str = ""
    digest: str = ""


Unread = tuple[str | None, str | None, str | None, str, str]
"""A row of schemas.UNREAD_FILINGS: name, accession, cik, reason, digest."""
Notes = tuple[list[Unread], list[str]]
"""What the work on a share reports: what cannot be read, and the companies of a quarter, wanted or not."""


def wanted_companies(lake: Lake) -> set[str]:
    """The companies whose filings of data sets are read: those that are listed or have facts."""
    listed = lake.read("listings", ["cik"])["cik"] if lake.holds("listings") else ()
    return {*listed, *lake.inputs("facts")}


def of_quarter(table: str, quarter: str) -> str:
    """The name of a table of a quarter: `filed_facts_2010q1`."""
    return f"{table}_{quarter}"


@cache
def code_of_data_sets() -> str:
    """A digest of what decides the rows of data sets."""
    return digest_of("pipelines.edgar.data_sets", "pipelines.stages.filed_rows")
