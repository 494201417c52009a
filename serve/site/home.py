"""The front page: what this is, for whom, and how fresh the data is; as HTML and as Markdown, of the same words.

Belongs here: those words, and the status that they tell. Does not: the interface in detail (reference), the items in
detail (dictionary).
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from serve import examples, responses
from serve.endpoints import Question, show_status
from serve.shapes import Status
from serve.site.pages import MARKDOWN, Access, PageRoute, Pages
from warehouse.errors import WarehouseError
from warehouse.reader import OpenBuild
from warehouse.schema import LINE_ITEMS

FICTIONAL = "sample"  # the source of filers that do not exist


@dataclass(frozen=True, slots=True)
class Point:
    """A short text under a heading."""

    title: str
    text: str


WHAT = (
    "Standardized financials of listed US companies, straight from their filings at the SEC: eleven line items, "
    "trailing twelve months and annual, every restatement kept, every value traceable to the filings that it comes "
    "from."
)
FOR_WHOM = (
    Point(
        "If you build",
        "One JSON interface: the same names, units and signs for every company and every year. Errors with stable "
        "codes, limits in the headers, a description that code can be generated from.",
    ),
    Point(
        "If you research",
        "Nothing is overwritten. Each value has its versions, with the filing that led to it and the day that it was "
        "known, so that a backtest sees what could be seen.",
    ),
    Point(
        "If you invest",
        "Look at a company over the years at a glance, and follow any figure to the filing. A value that the filings "
        "do not support is left out, with the reason, and never guessed.",
    ),
)
HOW_TO_BEGIN = (
    Point("Sign in", "Whoever runs this service sends you a link that works once, and makes your subscription active."),
    Point("Create a key", "On your profile, as many as you have programs. A key is shown once, and can be revoked."),
    Point(
        "Ask", "Send the key in the header X-Api-Key. The reference has each request in curl, Python and JavaScript."
    ),
)
EXAMPLE = f"/companies/{examples.SYMBOL}/financials?period=annual&items=revenue,free_cash_flow&limit=1"


def show_home(pages: Pages, request: Request) -> Response:
    """The front page."""
    return pages.render(request, "index.html", twin="/index.md", **_told(pages))


def show_home_as_markdown(pages: Pages, request: Request) -> Response:
    """The same, for programs."""
    return pages.render(request, "index.md", media_type=MARKDOWN, **_told(pages))


def _told(pages: Pages) -> dict[str, Any]:
    try:
        with pages.warehouse.build() as build:
            state, source = _status(pages, build), build.pointer.synchronization.source
    except WarehouseError:
        state, source = _status(pages, None), None
    data = [responses.period(examples.YEAR, examples.ITEMS)]
    answer = msgspec.json.format(msgspec.json.encode({"data": data}), indent=2).decode()
    return {
        "what": WHAT,
        "for_whom": FOR_WHOM,
        "how_to_begin": HOW_TO_BEGIN,
        "state": state,
        "is_fictional": source == FICTIONAL,
        "line_items": LINE_ITEMS,
        "example": EXAMPLE,
        "answer": answer,
    }


def _status(pages: Pages, build: OpenBuild | None) -> Status:
    """What the interface tells of itself at /v1/status."""
    degraded = pages.warehouse.outdated or pages.limits.degraded
    status, _ = show_status(Question(build, degraded, pages.settings.base_url, "", {}, pages.clock()))
    return msgspec.convert(status, Status)


ROUTES: tuple[PageRoute, ...] = (
    ("/", show_home, Access.PUBLIC),
    ("/index.md", show_home_as_markdown, Access.PUBLIC),
)
