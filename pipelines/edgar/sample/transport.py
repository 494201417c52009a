"""The sample source: an httpx transport that answers requests with the documents of simulated filers.

Belongs here: addresses and answers. Does not: pacing, retries, storing; the client does these for all sources.
"""

import json
import re
from collections.abc import Iterable
from datetime import date

import httpx

from pipelines.edgar.sample import documents
from pipelines.edgar.sample.company import Company, simulate
from pipelines.edgar.sample.documents import Document
from pipelines.edgar.sample.filers import sample_filers
from pipelines.edgar.sample.traits import Filer, Served

TICKERS_URL = "https://www.sec.gov/files/company_tickers_exchange.json"
FACTS_URL = "https://data.sec.gov/api/xbrl/companyfacts/"
SUBMISSIONS_URL = "https://data.sec.gov/submissions/"
CIK = re.compile(r"/CIK(\d{10})[^/]*\.json$")


class SampleTransport(httpx.BaseTransport):
    """Answers GET with 200 and always the same bytes, or with 404 for a document that EDGAR would not have.

    A company is simulated when one of its documents is first requested.

    Args:
        filers: the filers; by default the built-in sample.
        filed_by: filings after this day are not served; by default the whole history is.
    """

    def __init__(self, filers: Iterable[Filer] | None = None, *, filed_by: date | None = None) -> None:
        self._filers = {filer.cik: filer for filer in (sample_filers() if filers is None else filers)}
        self._filed_by = filed_by
        self._bodies = {TICKERS_URL: _encode(documents.tickers(self._filers.values()))}
        self._made: set[str] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        body = self._body(str(request.url)) if request.method == "GET" else None
        if body is None:
            return httpx.Response(404, text="No such document in the sample.", request=request)
        return httpx.Response(200, headers={"content-type": "application/json"}, content=body, request=request)

    def _body(self, address: str) -> bytes | None:
        found = CIK.search(address)
        if found and found[1] in self._filers and found[1] not in self._made:
            self._bodies |= self._documents(self._filers[found[1]])
            self._made.add(found[1])
        return self._bodies.get(address)

    def _documents(self, filer: Filer) -> dict[str, bytes]:
        """Every document of a filer by its address."""
        company, name = self._company(filer), f"CIK{filer.cik}.json"
        made: dict[str, Document] = {}
        if Served.FACTS in filer.served:
            made[FACTS_URL + name] = company.companyfacts(self._filed_by)
        if Served.SUBMISSIONS in filer.served:
            made[SUBMISSIONS_URL + name] = company.submissions(self._filed_by)
            made |= {SUBMISSIONS_URL + page: rows for page, rows in company.submissions_pages(self._filed_by).items()}
        return {address: _encode(document) for address, document in made.items()}

    def _company(self, filer: Filer) -> Company:
        """The simulated company of a filer."""
        return simulate(filer)


def _encode(document: Document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
