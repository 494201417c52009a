"""The pages as routes: who may see them, which methods they take, what becomes of what goes wrong.

Belongs here: the order in which a request for a page is checked, and the pages that tell of failures. Does not: any
page (each module has a table of its own), the interface (serve.routes).
"""

import inspect
import logging
from collections import defaultdict
from collections.abc import Mapping
from http import HTTPStatus
from typing import cast
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from serve.errors import ApiError, NotFound, ServerError
from serve.site import files, home, llms, profile, sign_in, twins
from serve.site.pages import HEADERS, Access, Handler, PageRoute, Pages

log = logging.getLogger(__name__)

LARGEST_FORM = 8 * 1024  # bytes
FORM = "application/x-www-form-urlencoded"
INTERFACE = "/v1"

TABLES: tuple[tuple[PageRoute, ...], ...] = (
    home.ROUTES,
    sign_in.ROUTES,
    profile.ROUTES,
    files.ROUTES,
    twins.ROUTES,
    llms.ROUTES,
)
"""What is answered to GET; the first path that fits is taken."""
FORMS: tuple[tuple[PageRoute, ...], ...] = (sign_in.FORMS, profile.FORMS)
"""What is answered to POST."""


class Refused(Exception):
    """A request for a page that is answered with another: a status, and what its page tells."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(title)
        self.status, self.title, self.text = status, title, text


class Page:
    """A path as ASGI: what is checked of every page, then the page."""

    def __init__(self, pages: Pages, path: str, access: Access, handlers: Mapping[str, Handler]) -> None:
        self._pages = pages
        self._path = path
        self._access = access
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; whatever goes wrong is told on a page, without a word of the inside."""
        request = Request(scope, receive)
        request.state.session = request.state.form_token = None
        try:
            response = await self._respond(request)
        except Refused as refused:
            response = message(self._pages, request, refused.status, refused.title, refused.text)
        except ApiError as error:
            response = failure(self._pages, request, error)
        except Exception:
            log.exception("request %s failed", scope["exchange"].id)
            response = failure(self._pages, request, ServerError())
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        if request.scope["path"] != self._path.format_map(request.path_params):
            raise NotFound()  # a line feed at the end, which the router's pattern lets through
        request.scope["exchange"].path = self._path
        method = "GET" if request.method == "HEAD" else request.method
        handler = self._handlers.get(method)
        if handler is None:
            response = message(self._pages, request, 405, "Not this way", "This address does not take that method.")
            response.headers["Allow"] = ", ".join(self._handlers)
            return response
        if self._access is not Access.PUBLIC:
            await self._recognize(request)
        if method == "POST":
            request.state.form = await _form(request)
            if not self._pages.sessions.is_own_form(request, request.state.form):
                raise Refused(
                    403,
                    "This form is out of date",
                    "It was not sent from a page of this service, or you have signed in or out since. Nothing was "
                    "done. Open the page again, and send the form from there.",
                )
        self._admit(request)
        return _dressed(await _called(handler, self._pages, request))

    async def _recognize(self, request: Request) -> None:
        """Note who is signed in."""
        pages = self._pages
        request.state.session = await run_in_threadpool(pages.sessions.current, request, pages.clock())
        if request.state.session:
            request.state.form_token = pages.sessions.form_token(cast(str, pages.sessions.id_of(request)))

    def _admit(self, request: Request) -> None:
        session = request.state.session
        if self._access is not Access.PUBLIC and session is None:
            raise Refused(
                403, "Sign in to see this page", "It is for people who have an account, and you are not signed in."
            )
        if self._access is Access.SUBSCRIBER and not session.is_active:
            raise Refused(
                403, "This page needs a subscription", "You are signed in, but your Premium subscription is not active."
            )


def routes(pages: Pages) -> list[Route]:
    """All pages; each takes every method, to refuse it itself."""
    handlers: dict[str, dict[str, Handler]] = defaultdict(dict)
    access: dict[str, Access] = {}
    for method, tables in (("GET", TABLES), ("POST", FORMS)):
        for path, handler, needed in (row for table in tables for row in table):
            handlers[path][method] = handler
            access[path] = needed
    return [Route(path, Page(pages, path, access[path], by_method)) for path, by_method in handlers.items()]


def is_for_people(scope: Scope) -> bool:
    """Whether what is not there is told on a page: to a browser, outside of the interface, where all is JSON."""
    path, accepted = scope["path"], Request(scope).headers.get("accept", "")
    is_of_interface = path == INTERFACE or path.startswith(f"{INTERFACE}/") or not path.startswith("/")
    return "text/html" in accepted and not is_of_interface


def not_found(pages: Pages, request: Request) -> Response:
    """The page for an address that has none."""
    return failure(pages, request, NotFound())


def failure(pages: Pages, request: Request, error: ApiError) -> Response:
    """The page for what an endpoint would tell in its envelope."""
    return message(pages, request, error.status, HTTPStatus(error.status).phrase, str(error))


def message(pages: Pages, request: Request, status: int, title: str, text: str) -> Response:
    """A page that says one thing."""
    return _dressed(pages.render(request, "message.html", status, title=title, text=text))


async def _called(handler: Handler, pages: Pages, request: Request) -> Response:
    if inspect.iscoroutinefunction(handler):
        return cast(Response, await handler(pages, request))
    return cast(Response, await run_in_threadpool(handler, pages, request))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, the last of each name."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Refused(415, "This is no form", f"A form is sent as {FORM}.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            raise Refused(413, "This form is too long", f"It has more than {LARGEST_FORM} bytes.")
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))


def _dressed(response: Response) -> Response:
    headers: MutableHeaders = response.headers
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    return response
