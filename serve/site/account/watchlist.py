"""The stars of the pages: the watchlist of the signed-in account.

Belongs here: the form that adds and removes a company, its stars, and whose watchlist is used. Does not: the stored
watchlists (access.watchlists), the pages that the watchlist filters (listing, changes_page).

A page with stars has one form (templates/document.html). The button of a row refers to the form by its id, so that it
works without a script, and the row needs no form token.
"""

import re
from collections.abc import Collection
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from serve.access.sign_ins import Session
from serve.access.watchlists import MOST, WatchlistFull, Watchlists
from serve.errors import InvalidParameter, NotFound
from serve.site.account.sign_in import SEE_OTHER
from serve.site.frame.building import CompanyNotFound, current_build
from serve.site.frame.pages import Access, PageRoute, Pages, values_of
from serve.site.text.markdown import Markdown

PATH = "/watchlist"
FORM = "watch"
"""The id of the form in a page."""
WATCHED = "watched"
"""The parameter of lists that shows only companies of the watchlist, with the value YES."""
YES = "yes"
BACK = re.compile(r"/(companies|changes)([/?][!-\[\]-~]*)?")
"""The pages of this site to which the form may lead back."""
STAR = Markup('<button class="star" form="{}" name="{}" value="{}" aria-label="{}" title="{}">{}</button>')
ADD, REMOVE = "add", "remove"


def ciks(pages: Pages, request: Request) -> frozenset[str]:
    """The companies on the watchlist of the request's account, found by session or by key; empty without an account.

    Raises:
        DatabaseError: the accounts cannot be read.
    """
    session: Session | None = request.state.session
    if session is None and request.state.key_id is None:
        return frozenset()
    email = session.email if session else pages.accounts.email_of(request.state.key_id)
    return Watchlists(pages.accounts).of(email)


def is_asked_for(request: Request) -> bool:
    """Whether a request is for companies of the watchlist only.

    Raises:
        NotFound: the parameter has another value.
    """
    asked = request.query_params.get(WATCHED, "")
    if asked not in ("", YES):
        raise NotFound(f"A list shows the companies of your watchlist with {WATCHED}={YES}.")
    return asked == YES


def star(symbol: str, *, is_watched: bool) -> Markup:
    """The button in a row of a list, which refers to the form of the page."""
    name, words, sign = (REMOVE, "Stop watching", "★") if is_watched else (ADD, "Watch", "☆")
    label = f"{words} {symbol}"
    return STAR.format(FORM, name, symbol, label, label, sign)


def stars(rows: Collection[tuple[str, str]], watched: Collection[str]) -> tuple[tuple[str, Markup], ...]:
    """The stars of symbols, given with their CIKs, as drawings of a page."""
    return tuple((_name(symbol), star(symbol, is_watched=cik in watched)) for symbol, cik in rows)


def place(symbol: str) -> Markdown:
    """The place of a star at the end of a cell."""
    return Markdown(f"![Watch](#{_name(symbol)})")


def _name(symbol: str) -> str:
    return f"{FORM}-{quote(symbol, safe='')}"


def change(pages: Pages, request: Request) -> Response:
    """Add the company of the form to the watchlist, or remove it, and redirect to the page."""
    values, session = values_of(request), request.state.session
    name = next((name for name in (ADD, REMOVE) if name in values), None)
    if name is None:
        raise InvalidParameter({ADD: "The form must add or remove a company."})
    with current_build(pages) as build:
        company = build.memory.company(values[name])
        if company is None:
            raise CompanyNotFound(build, values[name])
    watchlists = Watchlists(pages.accounts)
    try:
        if name == ADD:
            watchlists.add(session.email, company.cik, pages.clock())
        else:
            watchlists.remove(session.email, company.cik)
    except WatchlistFull as error:
        raise InvalidParameter(
            {ADD: f"Your watchlist has {MOST} companies and can have no more. Remove one first."}
        ) from error
    to = values.get("to", "")
    return RedirectResponse(pages.root + (to if BACK.fullmatch(to) else "/companies"), SEE_OTHER)


FORMS: tuple[PageRoute, ...] = ((PATH, change, Access.SUBSCRIBER),)
