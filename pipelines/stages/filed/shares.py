"""Shares: documents of filings that are decoded together, and the notes on their decoding.

Belongs here: the types, the wanted companies, the names of tables of a quarter. Does not: finding new documents
(statements), reading them (statements_of_share).
"""

from functools import cache

import msgspec

from pipelines.code_digest import digest_of
from pipelines.storage.lake import Lake

DECODED, UNREAD = "decoded_filings", "unread_filings"


class Filing(msgspec.Struct, frozen=True):
    """A filing to decode: the digests of its raw documents by file name, and one digest of them all and of the code."""

    accession: str
    files: dict[str, str]
    digest: str


class Share(msgspec.Struct, frozen=True):
    """Documents that are decoded together: the data set of one quarter, or filings of several companies.

    Attributes:
        filings: the new filings of each company.
        quarter, digest: the data set; empty for filings.
    """

    filings: dict[str, list[Filing]] = {}
    quarter: str = ""
    digest: str = ""


Unread = tuple[str | None, str | None, str | None, str, str]
"""A row of schemas.UNREAD_FILINGS: name, accession, cik, reason, digest."""
Notes = tuple[list[Unread], list[str]]
"""The notes on a share: the documents that cannot be read, and all companies of a quarter, wanted or not."""


def wanted_companies(lake: Lake) -> set[str]:
    """The companies whose filings in data sets are read: companies that are listed or have facts."""
    listed = lake.read("listings", ["cik"])["cik"] if lake.holds("listings") else ()
    return {*listed, *lake.inputs("facts")}


def of_quarter(table: str, quarter: str) -> str:
    """The name of a table of a quarter: `filed_facts_2010q1`."""
    return f"{table}_{quarter}"


@cache
def code_of_data_sets() -> str:
    """A digest of the code that makes the rows of data sets."""
    return digest_of("pipelines.edgar.decode.data_sets", "pipelines.stages.filed.filed_rows")
