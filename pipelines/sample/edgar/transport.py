"""The sample source: an httpx transport that answers requests with the documents of simulated filers.

Belongs here: addresses and answers. Does not: pacing, retries, storing; the client does these for all sources.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from functools import cache, cached_property
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import httpx

from pipelines.code_digest import digest_of
from pipelines.sample.business.filings import Filing
from pipelines.sample.edgar import bulk, documents
from pipelines.sample.edgar.archives import Archives
from pipelines.sample.edgar.company import Company, simulate
from pipelines.sample.edgar.documents import Document
from pipelines.sample.filer.filers import sample_filers
from pipelines.sample.filer.traits import Filer, Served

TICKERS_URL = "https://www.sec.gov/files/company_tickers_exchange.json"
FACTS_URL = "https://data.sec.gov/api/xbrl/companyfacts/"
SUBMISSIONS_URL = "https://data.sec.gov/submissions/"
CIK = re.compile(r"/CIK(\d{10})[^/]*\.json$")
LISTING = re.compile(re.escape(bulk.ARCHIVES) + r"(\d{4})/QTR([1-4])/index\.json")
INDEX = re.compile(re.escape(bulk.ARCHIVES) + r"(\d{4})/QTR[1-4]/master\.(\d{8})\.idx")
TAG = 32
"""The number of characters of an entity tag."""
MADE_AT = time(3, 0)
"""The time in New York when EDGAR makes its bulk files."""


class SampleTransport(httpx.BaseTransport):
    """Answers GET with 200 and always the same bytes, or with 404 if EDGAR would not have the document.

    A company is simulated at the first request for one of its documents; bulk files, data sets and the daily index need
    all companies. The documents of a company and the files of its filings have an entity tag that depends on its traits
    and on the simulator's code; the tag of data sets depends on the traits of all filers. A request with this tag is
    answered with 304 (RFC 9110, 15.4.5), without simulating anything.

    Args:
        filers: the filers; by default the built-in sample.
        filed_by: filings after this day are not served; None: the whole history is served.
        simulated: simulates the company of a filer; a caller may pass a function that leaves out filings.
    """

    def __init__(
        self,
        filers: Iterable[Filer] | None = None,
        *,
        filed_by: date | None = None,
        simulated: Callable[[Filer], Company] = simulate,
    ) -> None:
        self._filers = {filer.cik: filer for filer in (sample_filers() if filers is None else filers)}
        self._filed_by, self._simulated = filed_by, simulated
        self._bodies = {TICKERS_URL: _encode(documents.tickers(self._filers.values()))}
        self._made: set[str] = set()
        self._archives = Archives(self._filers, filed_by, simulated)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        tag = self._tag(str(request.url))
        if tag and request.method == "GET" and request.headers.get("If-None-Match") == tag:
            return httpx.Response(304, headers={"etag": tag}, request=request)
        body = self._body(str(request.url)) if request.method == "GET" else None
        if body is None:
            return httpx.Response(404, text="No such document in the sample.", request=request)
        headers = {"content-type": "application/json", **self._made_at(str(request.url))}
        if tag:
            headers["etag"] = tag
        return httpx.Response(200, headers=headers, content=body, request=request)

    def _tag(self, address: str) -> str:
        """The entity tag of a document of simulated companies; empty for other addresses."""
        found = CIK.search(address)
        if found and found[1] in self._filers:
            filers = [self._filers[found[1]]]
        elif not (filers := self._archives.filers_of(address)):
            return ""
        made_from = f"{_code_digest()} {' '.join(map(repr, filers))} {self._filed_by}"
        return f'"{sha256(made_from.encode()).hexdigest()[:TAG]}"'

    def _made_at(self, address: str) -> dict[str, str]:
        """The headers of a bulk file, with its time: the night after the last day."""
        if address not in (bulk.FACTS_ZIP, bulk.SUBMISSIONS_ZIP) or not self._filings:
            return {}
        last = self._filed_by or max(filing.filed for _, filing in self._filings)
        written = datetime.combine(last + timedelta(days=1), MADE_AT, bulk.NEW_YORK)
        return {"last-modified": format_datetime(written.astimezone(UTC), usegmt=True)}

    def _body(self, address: str) -> bytes | None:
        found = CIK.search(address)
        if found and found[1] in self._filers and found[1] not in self._made:
            self._bodies |= self._documents(self._filers[found[1]])
            self._made.add(found[1])
        return self._bodies.get(address) or self._archives.body(address) or self._bulk(address)

    def _bulk(self, address: str) -> bytes | None:
        """The bulk file, listing, daily index, or page of newest filings at an address."""
        if folder := {bulk.FACTS_ZIP: FACTS_URL, bulk.SUBMISSIONS_ZIP: SUBMISSIONS_URL}.get(address):
            for cik in self._filers:
                self._body(f"{folder}CIK{cik}.json")  # makes all documents of the filer
            names = [name for name in self._bodies if name.startswith(folder)]
            return bulk.archive({name.removeprefix(folder): self._bodies[name] for name in names})
        if found := LISTING.fullmatch(address):
            days = {filing.filed for _, filing in self._filings}
            quarter = (int(found[1]), int(found[2]))
            return bulk.listing(
                (day for day in days if (day.year, (day.month + 2) // 3) == quarter), f"{found[1]}/QTR{found[2]}"
            )
        if found := INDEX.fullmatch(address):
            rows = [row for row in self._filings if f"{row[1].filed:%Y%m%d}" == found[2]]
            return bulk.index(rows[0][1].filed, rows) if rows else None
        if address.startswith(bulk.NEWEST):
            return bulk.newest(self._filings, parse_qs(urlsplit(address).query).get("type", [""])[0])
        return None

    @cached_property
    def _filings(self) -> list[tuple[Filer, Filing]]:
        """All served filings, with their filers."""
        return [
            (filer, filing)
            for filer in self._filers.values()
            for filing in self._simulated(filer).filings
            if self._filed_by is None or filing.filed <= self._filed_by
        ]

    def _documents(self, filer: Filer) -> dict[str, bytes]:
        """All documents of a filer, by address."""
        company, name = self._simulated(filer), f"CIK{filer.cik}.json"
        documents: dict[str, Document] = {}
        if Served.FACTS in filer.served:
            documents[FACTS_URL + name] = company.companyfacts(self._filed_by)
        if Served.SUBMISSIONS in filer.served:
            documents[SUBMISSIONS_URL + name] = company.submissions(self._filed_by)
            documents |= {
                SUBMISSIONS_URL + page: rows for page, rows in company.submissions_pages(self._filed_by).items()
            }
        return {address: _encode(document) for address, document in documents.items()}


@cache
def _code_digest() -> str:
    """A digest of the simulator's code."""
    return digest_of("pipelines.sample")


def _encode(document: Document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
