"""The search field of the pages for subscribers: its target, and its completions.

Belongs here: `/search`, the target of the form, and `/search/completions`, which the script complete.js requests. Does
not: finding companies (directory), the list of results (listing).
"""

from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from serve import names
from serve.site.account.sign_in import SEE_OTHER
from serve.site.frame.building import current_build
from serve.site.frame.directory import close_matches, directory
from serve.site.frame.pages import Access, PageRoute, Pages
from serve.site.lists import listing
from serve.site.text.paths import company_path

MOST = 8  # companies that complete a text


class Completion(msgspec.Struct):
    """A suggested company for a text, and the address of its page."""

    symbol: str
    name: str
    exchange: str
    address: str


def find(pages: Pages, request: Request) -> Response:
    """Redirect to the company if exactly one matches, otherwise to the list of matches."""
    text = listing.text_of(request)
    with current_build(pages) as build:
        of = directory(build)
        company = of.company(text)
        found = [company] if company else of.found(text)
    if len(found) == 1:
        return RedirectResponse(pages.root + company_path(found[0].symbol), SEE_OTHER)
    query = f"?{urlencode({'search': text})}" if text else ""
    return RedirectResponse(f"{pages.root}{listing.PATH}{query}", SEE_OTHER)


def complete(pages: Pages, request: Request) -> Response:
    """Respond with the companies that match a text, the best matches first; similar ones if none matches."""
    text = listing.text_of(request)
    with current_build(pages) as build:
        rows = directory(build).found(text)[:MOST] or (close_matches(build, text) if text else [])
    found = [
        Completion(row.symbol, names.shown(row.name or ""), row.exchange or "", pages.root + company_path(row.symbol))
        for row in rows
    ]
    return Response(msgspec.json.encode(found), media_type="application/json")


ROUTES: tuple[PageRoute, ...] = (
    ("/search", find, Access.SUBSCRIBER),
    ("/search/completions", complete, Access.SUBSCRIBER),
)
