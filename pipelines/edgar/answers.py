"""What a source is asked for, and what it can answer.

Belongs here: the addresses of the documents, the answers, and what every client can do.
Does not: any asking (client over HTTP, mirror from the disk).
"""

from dataclasses import dataclass
from typing import Protocol

TICKERS_URL = "https://www.sec.gov/files/company_tickers_exchange.json"

MAX_BYTES = 1 << 30  # the largest real document has some ten million bytes


def facts_url(cik: str) -> str:
    """The address of a company's companyfacts document."""
    return f"https://data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json"


def submissions_url(cik: str) -> str:
    """The address of a company's submissions document: who it is and what it filed lately."""
    return f"https://data.sec.gov/submissions/CIK{cik}.json"


def submissions_page_url(name: str) -> str:
    """The address of a page of older filings, by the file name that the submissions document gives."""
    return f"https://data.sec.gov/submissions/{name}"


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave to ask later whether a document has changed."""

    etag: str | None = None
    last_modified: str | None = None

    def headers(self) -> dict[str, str]:
        """The conditional request headers; empty where nothing is known."""
        pairs = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in pairs.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document as received, decompressed."""

    content: bytes
    validators: Validators


@dataclass(frozen=True, slots=True)
class NotModified:
    """The document is still the one that the validators were given for."""


@dataclass(frozen=True, slots=True)
class NotFound:
    """There is no such document: a fund without facts, a registrant without filings."""


Answer = Fetched | NotModified | NotFound


class Client(Protocol):
    """What asks a source for documents: EdgarClient over HTTP, MirrorFolder on the disk."""

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """Ask for the document at `url`; raises FetchError or RefusedError."""

    def close(self) -> None:
        """End all connections."""
