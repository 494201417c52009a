"""Requests and answers of a source: addresses of documents, types of answers, and the interface of a client.

Belongs here: what all clients share.
Does not: any request (client over HTTP, mirror from the disk).
"""

import re
from dataclasses import dataclass
from typing import Protocol

TICKERS_URL = "https://www.sec.gov/files/company_tickers_exchange.json"

MAX_BYTES = 1 << 28  # the largest real document has some ten million bytes
WEB_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>\s+|<\?xml[^>]*>|<!--.*?-->)*+<(?:!doctype\s+html|html|head|body)\b",
    re.DOTALL | re.IGNORECASE,
)
BEGINNING = 1 << 12
"""Bytes within which a web page shows that it is one."""


def facts_url(cik: str) -> str:
    """The address of a company's companyfacts document."""
    return f"https://data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json"


def submissions_url(cik: str) -> str:
    """The address of a company's submissions document: its identity and its recent filings."""
    return f"https://data.sec.gov/submissions/CIK{cik}.json"


DATA_SETS_URL = "https://www.sec.gov/data-research/sec-markets-data/financial-statement-data-sets"
"""The list of data sets: the only document that is a page in HTML."""


def is_web_page(content: bytes) -> bool:
    """Whether this is a page in HTML, which no document of EDGAR is: the SEC refuses with one, also with status 200."""
    return WEB_PAGE.match(content[:BEGINNING]) is not None


def page_url(name: str) -> str:
    """The address of a page of older filings, whose name the submissions document has."""
    return f"https://data.sec.gov/submissions/{name}"


@dataclass(frozen=True, slots=True)
class Validators:
    """What tells whether a document has changed since: ETag and Last-Modified for a server, and for an archive the
    size and the CRC-32 of the content."""

    etag: str | None = None
    last_modified: str | None = None
    size: int | None = None
    crc: int | None = None

    def headers(self) -> dict[str, str]:
        """The headers of a conditional request; empty without validators."""
        pairs = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in pairs.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document as received, decompressed."""

    content: bytes
    validators: Validators


@dataclass(frozen=True, slots=True)
class NotModified:
    """The document has not changed since the validators were received."""


@dataclass(frozen=True, slots=True)
class NotFound:
    """There is no such document: a fund without facts, a registrant without filings."""


Answer = Fetched | NotModified | NotFound


class Client(Protocol):
    """Requests documents from a source: EdgarClient over HTTP, MirrorFolder and BulkFolder from the disk."""

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """Request the document at `url`; raises FetchError or RefusedError."""

    def is_known(self, url: str, validators: Validators | None) -> bool:
        """Whether the document at `url` is the one with these validators, or with None there is none; False if only a
        request can tell."""

    def stop(self) -> None:
        """Send no more requests, and end those in progress soon."""

    def close(self) -> None:
        """Close all connections."""
