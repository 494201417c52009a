"""Requests to a source and its answers: addresses of documents, types of answers, and the interface of a client.

Belongs here: the types and addresses that all clients share. Does not: making requests (client over HTTP, mirror from
the disk).
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
"""The number of bytes at the beginning of a document that are searched for the first tags of a web page."""


def facts_url(cik: str) -> str:
    """The address of a company's companyfacts document."""
    return f"https://data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json"


def submissions_url(cik: str) -> str:
    """The address of a company's submissions document: its identity and its recent filings."""
    return f"https://data.sec.gov/submissions/CIK{cik}.json"


DATA_SETS_URL = "https://www.sec.gov/data-research/sec-markets-data/financial-statement-data-sets"
"""The list of data sets: the only requested document that is an HTML page."""


def is_web_page(content: bytes) -> bool:
    """Whether this is an HTML page. No EDGAR document is one; the SEC refuses requests with such pages, also with
    status 200."""
    return WEB_PAGE.match(content[:BEGINNING]) is not None


def page_url(name: str) -> str:
    """The address of a page of older filings; the submissions document has its name."""
    return f"https://data.sec.gov/submissions/{name}"


@dataclass(frozen=True, slots=True)
class Validators:
    """Values that show whether a document has changed: ETag and Last-Modified of a server, or the size and the CRC-32
    of the content in an archive."""

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
    """The source has no such document: a fund without facts, a registrant without filings."""


Answer = Fetched | NotModified | NotFound


class Client(Protocol):
    """Requests documents from a source: EdgarClient over HTTP, MirrorFolder and BulkFolder from the disk."""

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """Request the document at `url`; raises FetchError or RefusedError."""

    def is_known(self, url: str, validators: Validators | None) -> bool:
        """Whether the document at `url` is known to be unchanged without a request: it matches the validators, or,
        where they are None, it does not exist. False if only a request can show it."""

    def stop(self) -> None:
        """Send no more requests, and end the requests in progress soon."""

    def close(self) -> None:
        """Close all connections."""
