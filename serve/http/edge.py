"""The outermost ASGI middleware: applies to every request and response.

Belongs here: request ids, the headers of every response, the size limit of a request's head, the access log, counting
requests, the response to an unhandled exception. Does not: endpoints (api), malformed HTTP (server).
"""

import logging
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from serve.access.keys import PREFIX
from serve.api import responses
from serve.http import log as access_log
from serve.http.caching import Answer, Field
from serve.http.errors import ApiError, InvalidParameter, ServerError
from serve.metrics.counts import LOOKUPS, REFUSALS, Counts

log = logging.getLogger(__name__)

LARGEST_HEAD = 16 * 1024  # largest size of request line and headers together, bytes
OF_EVERY_RESPONSE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers added to every response that does not set them itself."""
OF_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
"""Headers added if the public address is https: browsers then use only https for a year (RFC 6797)."""

WHOLE = "serve.send_whole"
"""Key in the scope of the function with which the server sends a complete response at once; other servers have none."""

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class Exchange:
    """The fields of a request and its response for the access log and the counts.

    `lookup` says whether the response was in the cache (`hit`) or made (`miss`), `limit` which limit refused the
    request.
    """

    id: str
    method: str
    path: str
    key_id: str | None = None
    status: int = 0
    size: int = 0
    lookup: str | None = None
    limit: str | None = None
    started: float = field(default_factory=time.perf_counter)


class AtOnce(Protocol):
    """An ASGI application that can respond to some requests without waiting."""

    def at_once(self, scope: Scope) -> Answer | None:
        """The response, or None if the request needs a task."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to any request."""


class Front:
    """An ASGI middleware for request ids, common headers, the access log, the counts and unhandled exceptions."""

    def __init__(self, app: "AtOnce", pages: str, counts: Counts) -> None:
        """Wrap an application.

        Args:
            app: the application.
            pages: the public address of the pages, for links to the page of errors.
            counts: where requests are counted.
        """
        self.app = app
        self.counts = counts
        self._pages = pages
        added = OF_EVERY_RESPONSE | (OF_HTTPS if pages.startswith("https:") else {})
        self._fields = [(name.lower().encode(), value.encode()) for name, value in added.items()]

    def at_once(self, scope: Scope) -> Answer | None:
        """The complete response to a question that was answered before; the request is logged then.

        None for all other requests, also for those that fail: the server passes them to the application, in a task.
        """
        try:
            return self._at_once(scope)
        except Exception:
            log.debug("a request is left to the application, which fails again", exc_info=True)
            return None

    def _at_once(self, scope: Scope) -> Answer | None:
        if scope["method"] != "GET" or _size_of_head(scope) > LARGEST_HEAD:
            return None
        sent = [value for name, value in scope["headers"] if name == b"x-request-id"]
        scope["exchange"] = exchange = Exchange(_request_id(sent), "GET", scope["path"])
        answer = self.app.at_once(scope)
        if answer:
            exchange.status, exchange.size = answer.status, len(answer.body)
            answer.fields = self._completed(answer.fields, exchange)
            self._done(exchange)
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request: add the common headers to its response, and log it. Only HTTP is handled here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == b"x-request-id"]
        exchange = Exchange(_request_id(sent), scope["method"], scope["path"])
        scope["exchange"] = exchange

        send_whole: Callable[[int, list[Field], bytes], bool] = scope.get(WHOLE, _never)
        start: Message | None = None

        async def send_with_headers(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                message["headers"] = self._completed(message["headers"], exchange)
                start = message
                return
            body = message.get("body", b"")
            if scope["method"] != "HEAD":
                exchange.size += len(body)
            if start:
                head, start = start, None
                if _is_whole(scope, head, message) and send_whole(head["status"], head["headers"], body):
                    return
                await send(head)
            await send(message)

        try:
            if _size_of_head(scope) > LARGEST_HEAD:
                await self._failure(too_large())(scope, receive, send_with_headers)
            else:
                await self.app(scope, receive, send_with_headers)
        except Exception:
            log.exception("request %s failed", exchange.id)
            if start or not exchange.status:
                await self._failure(ServerError())(scope, receive, send_with_headers)
        finally:
            self._done(exchange)

    def refusal(self, error: ApiError) -> Response:
        """The error response for a malformed HTTP request; it has all headers and is already logged."""
        exchange = Exchange(_request_id([]), "", "")
        response = self._failure(error)
        response.raw_headers = self._completed(response.raw_headers, exchange)
        exchange.status, exchange.size = response.status_code, len(response.body)
        self._done(exchange)
        return response

    def _done(self, exchange: Exchange) -> None:
        """Count a request, and write its line of the access log."""
        seconds = time.perf_counter() - exchange.started
        self.counts.request(exchange.path, exchange.status, seconds)
        if exchange.lookup:
            self.counts.add(LOOKUPS, exchange.lookup)
        if exchange.limit:
            self.counts.add(REFUSALS, exchange.limit)
        access_log.note(
            request_id=exchange.id,
            method=exchange.method,
            path=exchange.path,
            status=exchange.status,
            size=exchange.size,
            seconds=seconds,
            key_id=exchange.key_id,
            now=time.time(),
        )

    def _failure(self, error: ApiError) -> Response:
        return responses.failure(error, self._pages)

    def _completed(self, fields: list[Field], exchange: Exchange) -> list[Field]:
        """The header fields of a response, with those of every response that it does not have."""
        names = {name for name, _ in fields}
        added = [field for field in self._fields if field[0] not in names]
        return [*fields, (b"x-request-id", exchange.id.encode()), *added]


def _never(*_: object) -> bool:
    return False


def _is_whole(scope: Scope, head: Message, message: Message) -> bool:
    """Whether this message is all of a body, and the head says how long it is."""
    if scope["method"] == "HEAD" or message.get("more_body"):
        return False
    return head["status"] in (204, 304) or any(name == b"content-length" for name, _ in head["headers"])


def too_large() -> InvalidParameter:
    """The error for a request line and headers above LARGEST_HEAD."""
    return InvalidParameter({"request": f"The request line and headers are longer than {LARGEST_HEAD} bytes."})


def _request_id(sent: list[bytes]) -> str:
    """The client's X-Request-Id if it is short, plain and contains no key; else a new random id."""
    if len(sent) == 1 and REQUEST_ID.fullmatch(sent[0]) and PREFIX.encode() not in sent[0]:
        return sent[0].decode()
    return f"{random.getrandbits(128):032x}"


def _size_of_head(scope: Scope) -> int:
    """The approximate bytes of request line and headers; the server does not limit a head that arrives in one piece."""
    fields = sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
    return fields + len(scope.get("raw_path") or b"") + len(scope["query_string"])
