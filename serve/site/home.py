"""The front page: what the service is, for whom, and how fresh its data is; the same text as HTML and as Markdown.

Belongs here: the text, and the status shown. Does not: the interface in detail (reference), the items in detail
(dictionary).
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from serve.api import examples, responses
from serve.api.endpoints import Question, show_status
from serve.api.models import Status
from serve.site import markdown
from serve.site.pages import DISCLAIMER, MARKDOWN, Access, PageRoute, Pages
from warehouse.errors import WarehouseError
from warehouse.reader import OpenBuild
from warehouse.schema import LINE_ITEMS

FICTIONAL = "sample"  # the source with fictional filers


@dataclass(frozen=True, slots=True)
class Point:
    """A short text under a heading."""

    title: str
    text: str


WHAT = (
    "Standardized financials of listed US companies, straight from their filings at the SEC: eleven line items, "
    "trailing twelve months and annual, with every restatement, and every value traceable to the filings that it comes "
    "from."
)
FOR_WHOM = (
    Point(
        "If you build software",
        "A JSON interface with the same names, units and signs for every company and every year. Errors have stable "
        "codes, headers state the rate limits, and clients can be generated from the OpenAPI description.",
    ),
    Point(
        "If you research",
        "Nothing is overwritten. Each value has versions, with the filing that each comes from and the day on which it "
        "became known, so that a backtest uses only what was known at the time.",
    ),
    Point(
        "If you invest",
        "See a company's history in charts, and follow any figure to its filing. A value that the filings do not "
        "support is left out, with the reason, and never guessed.",
    ),
)
HOW_TO_BEGIN = (
    Point("Sign in", "The operator of this service sends you a one-time link and activates your subscription."),
    Point("Create a key", "Create keys on your profile, one per program. A key is shown once, and can be revoked."),
    Point(
        "Send requests",
        "Send the key in the header X-Api-Key. The reference shows each request in curl, Python and JavaScript.",
    ),
)
EXAMPLE = f"/companies/{examples.SYMBOL}/financials?period=annual&items=revenue,free_cash_flow&limit=1"


def show_home(pages: Pages, request: Request) -> Response:
    """The front page as HTML."""
    return pages.render(request, "index.html", twin="/index.md", **_context(pages))


def show_home_as_markdown(pages: Pages, _: Request) -> Response:
    """The front page as Markdown."""
    text = markdown.write("index.md", root=pages.root, base_url=pages.settings.base_url, **_context(pages))
    return Response(text, media_type=MARKDOWN)


def _context(pages: Pages) -> dict[str, Any]:
    """The variables of both templates."""
    try:
        with pages.warehouse.build() as build:
            state, source = _status(pages, build), build.pointer.synchronization.source
    except WarehouseError:
        state, source = _status(pages, None), None
    data = [responses.period(examples.YEAR, examples.ITEMS)]
    answer = msgspec.json.format(msgspec.json.encode({"data": data}), indent=2).decode()
    return {
        "what": WHAT,
        "disclaimer": DISCLAIMER,
        "for_whom": FOR_WHOM,
        "how_to_begin": HOW_TO_BEGIN,
        "state": state,
        "is_fictional": source == FICTIONAL,
        "line_items": LINE_ITEMS,
        "example": EXAMPLE,
        "answer": answer,
    }


def _status(pages: Pages, build: OpenBuild | None) -> Status:
    """The status as /v1/status returns it."""
    degraded = pages.warehouse.outdated or pages.limits.degraded
    status, _ = show_status(Question(build, degraded, pages.settings.base_url, "", {}, pages.clock()))
    return msgspec.convert(status, Status)


ROUTES: tuple[PageRoute, ...] = (
    ("/", show_home, Access.PUBLIC),
    ("/index.md", show_home_as_markdown, Access.PUBLIC),
)
