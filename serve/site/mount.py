"""The routes of the pages: access control, methods, forms and error pages.

Belongs here: the checks of a request for a page, in their order, and the error pages. Does not: any other page (each
module lists its own routes), the interface (serve.api.interface).
"""

import inspect
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from serve.access.database import DatabaseError
from serve.api import parameters
from serve.api.admission import KEY, admitted
from serve.errors import ApiError, NotFound, ServerError
from serve.http import error_responses
from serve.site import documents
from serve.site.account import profile, sign_in, watchlist
from serve.site.company import company_csv, statements_page, workbook
from serve.site.frame import files
from serve.site.frame.building import CompanyNotFound
from serve.site.frame.pages import HEADERS, Access, Handler, PageRoute, Pages
from serve.site.lists import lists_csv, search
from serve.site.reference import downloads, llms, quality_page
from serve.site.text.paths import company_path
from warehouse.queries.company_queries import Listed
from warehouse.read.reader import retry_if_damaged

log = logging.getLogger(__name__)

LARGEST_FORM = 8 * 1024  # bytes
FORM = "application/x-www-form-urlencoded"
INTERFACE = "/v1"

TABLES: tuple[tuple[PageRoute, ...], ...] = (
    sign_in.ROUTES,
    profile.ROUTES,
    search.ROUTES,
    quality_page.ROUTES,
    files.ROUTES,
    company_csv.ROUTES,
    workbook.ROUTES,
    statements_page.ROUTES,
    lists_csv.ROUTES,
    downloads.ROUTES,
    documents.ROUTES,
    llms.ROUTES,
)
"""The pages for GET; the first matching path is used."""
FORMS: tuple[tuple[PageRoute, ...], ...] = (sign_in.FORMS, profile.FORMS, watchlist.FORMS)
"""The forms for POST."""


PATHS = tuple({path: None for tables in (TABLES, FORMS) for table in tables for path, _, _ in table})
"""The path templates of all pages and forms."""
UNAVAILABLE = (
    "Accounts are not available",
    "The accounts cannot be read or changed at the moment. Try again in a minute. Known keys stay valid meanwhile.",
)


class Refused(Exception):
    """A refused request: the HTTP status, title and text of its error page."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(title)
        self.status, self.title, self.text = status, title, text


class Page:
    """An ASGI application for one page: the checks common to all pages, then the page."""

    def __init__(self, pages: Pages, path: str, access: Access, handlers: Mapping[str, Handler]) -> None:
        self._pages = pages
        self._path = path
        self._access = access
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request; every failure becomes an error page that reveals no internals."""
        request = Request(scope, receive)
        request.state.session = request.state.form_token = request.state.key_id = None
        try:
            response = await self._respond(request)
        except Refused as refused:
            response = message(self._pages, request, refused.status, refused.title, refused.text)
        except ApiError as error:
            scope["exchange"].limit = error.limit
            response = failure(self._pages, request, error)
        except DatabaseError as error:
            log.error("request %s failed: %s", scope["exchange"].id, error)
            response = message(self._pages, request, 503, *UNAVAILABLE)
        except ClientDisconnect:
            raise
        except Exception:
            log.exception("request %s failed", scope["exchange"].id)
            response = failure(self._pages, request, ServerError())
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        if request.scope["path"] != self._path.format_map(request.path_params):
            raise NotFound()  # a path that ends with a line feed also matches the router's pattern
        request.scope["exchange"].path = self._path
        if self._access is Access.FILE:
            parameters.refuse_credentials(request.scope["query_string"])
        method = "GET" if request.method == "HEAD" else request.method
        handler = self._handlers.get(method)
        if handler is None:
            response = message(
                self._pages, request, 405, "Method not allowed", "This page does not accept the method of the request."
            )
            response.headers["Allow"] = ", ".join(self._handlers)
            return response
        if self._access is Access.FILE and KEY in request.headers:
            return await self._for_program(handler, request)
        if self._access is Access.OPEN:
            with suppress(DatabaseError):  # if the accounts cannot be read, everybody is a visitor
                await self._recognize(request)
        elif self._access is not Access.PUBLIC:
            await self._recognize(request)
        if method == "POST":
            request.state.form = await _form(request)
            if not self._pages.sessions.is_own_form(request, request.state.form):
                raise Refused(
                    403,
                    "This form is out of date",
                    "It was not sent from a page of this service, or you have signed in or out since. Nothing was "
                    "changed. Open the page again, and send the form from there.",
                )
        self._admit(request)
        return _with_headers(await _called(handler, self._pages, request))

    async def _for_program(self, handler: Handler, request: Request) -> Response:
        """Respond to a request for a file with a key; it counts like a request of the interface."""
        pages = self._pages
        holder = await admitted(pages.holders, pages.attempts, request.scope)
        request.state.key_id = request.scope["exchange"].key_id = holder.key_id
        allowance = await pages.limits.take(holder.key_id, pages.clock())
        response = _with_headers(await _called(handler, pages, request))
        response.headers.update(allowance.headers)
        return response

    async def _recognize(self, request: Request) -> None:
        """Store the session and the form token of the request in its state."""
        pages = self._pages
        request.state.session = await run_in_threadpool(pages.sessions.current, request, pages.clock())
        if request.state.session:
            request.state.form_token = pages.sessions.form_token(cast(str, pages.sessions.id_of(request)))

    def _admit(self, request: Request) -> None:
        session = request.state.session
        if self._access in (Access.SIGNED_IN, Access.SUBSCRIBER, Access.FILE) and session is None:
            raise Refused(403, "Sign in to see this page", "This page needs an account, and you are not signed in.")
        if self._access in (Access.SUBSCRIBER, Access.FILE) and not session.is_active:
            raise Refused(
                403, "This page needs a subscription", "You are signed in, but your Premium subscription is not active."
            )


def routes(pages: Pages) -> list[Route]:
    """The routes of all pages; each accepts every method, and refuses unsupported ones itself."""
    handlers: dict[str, dict[str, Handler]] = defaultdict(dict)
    access: dict[str, Access] = {}
    for method, tables in (("GET", TABLES), ("POST", FORMS)):
        for path, handler, needed in (row for table in tables for row in table):
            handlers[path][method] = handler
            access[path] = needed
    return [Route(path, Page(pages, path, access[path], by_method)) for path, by_method in handlers.items()]


def is_for_people(scope: Scope) -> bool:
    """Whether a 404 is shown as HTML: for browsers, outside of the interface, whose errors are JSON."""
    path, accepted = scope["path"], Request(scope).headers.get("accept", "")
    is_of_interface = path == INTERFACE or path.startswith(f"{INTERFACE}/") or not path.startswith("/")
    return "text/html" in accepted and not is_of_interface


def not_found(pages: Pages, request: Request) -> Response:
    """The error page for an unknown address."""
    return failure(pages, request, NotFound())


def failure(pages: Pages, request: Request, error: ApiError) -> Response:
    """The error page for an ApiError; a program that sends a key gets the envelope that an endpoint would return."""
    if KEY in request.headers:
        return error_responses.failure(error, pages.settings.pages)
    more: dict[str, Any] = {"asked": error.asked, "near": error.near} if isinstance(error, CompanyNotFound) else {}
    response = message(pages, request, error.status, HTTPStatus(error.status).phrase, str(error), **more)
    response.headers.update(error.headers or {})
    return response


def message(
    pages: Pages, request: Request, status: int, title: str, text: str, *, asked: str = "", near: Sequence[Listed] = ()
) -> Response:
    """A page with a title and one paragraph, and suggested companies for the requested symbol."""
    context = {"title": title, "text": text, "asked": asked, "near": near, "address": company_path}
    return _with_headers(pages.render(request, "message.html", status, **context))


async def _called(handler: Handler, pages: Pages, request: Request) -> Response:
    if inspect.iscoroutinefunction(handler):
        return cast(Response, await handler(pages, request))
    return cast(Response, await run_in_threadpool(retry_if_damaged, lambda: handler(pages, request)))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; the last one counts if a field is repeated."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Refused(415, "This is not a form", f"A form must be sent as {FORM}.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            raise Refused(413, "This form is too long", f"It has more than {LARGEST_FORM} bytes.")
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))


def _with_headers(response: Response) -> Response:
    headers: MutableHeaders = response.headers
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    return response
