"""The examples of the pages: requests for a company of the served build, and the answers that the service gives.

Belongs here: the choice of the company and of the parameters, and the answers. Does not: their layout (reference,
home), the description's own examples, which are the same in every service (serve.api.examples).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from serve import names
from serve.api import examples, parameters, responses
from serve.api.endpoints import ENDPOINTS, CheckedQuestion, Endpoint
from serve.errors import NotFound
from warehouse.contract.served import Company
from warehouse.read.reader import OpenBuild

KNOWN = ("AAPL", "MSFT", examples.SYMBOL)
"""Well-known symbols, and one that the documents of this project use; the first covered one is shown."""
FICTIONAL = "sample"  # the source name of fictional companies

ITEMS = {"items": parameters.ITEMS.example}
ASKED: Mapping[str, Mapping[str, Any]] = {
    "listCompanies": {"per_page": 1},
    "listFinancials": {"period": "annual", **ITEMS, "limit": 2},
    "listRevisions": {"limit": 1},
}
"""Parameters for short answers, by endpoint; `search` is added."""


@dataclass(frozen=True, slots=True)
class Live:
    """The company of the examples; for each endpoint, by name, the parameters and the answer.

    `answers` are JSON, generated with the time of the last synchronization, so that the page is the same until the
    next.
    """

    company: Company
    is_fictional: bool
    asked: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, object]

    @property
    def name(self) -> str:
        """The name for display on pages."""
        return names.shown(self.company.name or self.company.symbol)


def live(build: OpenBuild, base_url: str) -> Live | None:
    """The examples of a build; None if it has no company for them."""
    covered = build.memory.covered(KNOWN)
    rows, _ = build.memory.companies(limit=1)
    symbol = next(iter([*covered, *(row.symbol for row in rows)]), None)
    company = build.memory.company(symbol) if symbol else None
    if company is None:
        return None
    word = re.match(r"[A-Za-z0-9]+", company.name or "")
    search = {"search": word[0].lower() if word else company.symbol}
    asked = {endpoint.name: ASKED.get(endpoint.name, {}) for endpoint in ENDPOINTS}
    asked["listCompanies"] = {**search, **asked["listCompanies"]}
    now = datetime.fromisoformat(build.pointer.synchronization.finished_at).timestamp()
    try:
        answers = {
            endpoint.name: _answer(endpoint, build, base_url, company.symbol, asked[endpoint.name], now)
            for endpoint in ENDPOINTS
        }
    except NotFound:
        return None  # a build of an older program, without valuations
    return Live(company, build.pointer.synchronization.source == FICTIONAL, asked, answers)


def _answer(
    endpoint: Endpoint, build: OpenBuild, base_url: str, symbol: str, asked: Mapping[str, Any], now: float
) -> object:
    """The body of the response to a request."""
    values = parameters.read(urlencode(asked, safe=",").encode(), endpoint.parameters)
    data, meta = endpoint.answer(CheckedQuestion(build, None, base_url, symbol, values, now))
    decoded = msgspec.json.decode(data if isinstance(data, bytes) else responses.encoded(data))
    return msgspec.json.decode(responses.encoded(responses.body(decoded, meta, now)))
