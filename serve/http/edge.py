"""The outermost ASGI middleware: applies to every request and response.

Belongs here: request ids, the headers of every response, the size limit of a request's head, the access log, counting
requests, the response to an unhandled exception. Does not: endpoints (api), malformed HTTP (server).
"""

import asyncio
import logging
import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from serve.access.keys import PREFIX
from serve.addresses import Network
from serve.errors import ApiError, InvalidParameter, ServerError
from serve.http import error_responses
from serve.http import log as access_log
from serve.http.caching import Answer, Field, Sent
from serve.http.turns import Turns
from serve.metrics.counts import DISCONNECTED, LOOKUPS, REFUSALS, Counts

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

ERRORS = 400  # the status of errors, and above
REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Exchange:
    """The fields of a request and its response for the access log and the counts.

    `lookup` is `hit` if the response was in the cache and `miss` if it was made, `limit` is the limit that refused the
    request.
    """

    __slots__ = ("id", "key_id", "limit", "lookup", "method", "path", "size", "started", "status")

    def __init__(self, sent_id: bytes | None, method: str, path: str) -> None:
        self.id = _request_id(sent_id)
        self.method, self.path = method, path
        self.key_id: str | None = None
        self.lookup: str | None = None
        self.limit: str | None = None
        self.status = self.size = 0
        self.started = time.perf_counter()


Reply = Callable[[Answer], None]


class InlineResponder(Protocol):
    """An ASGI application that can respond to some requests without a task."""

    def at_once(self, target: bytes, sent: Sent, exchange: Exchange, reply: Reply) -> bool:
        """Respond to a GET request with `reply`, now or later; False: it did nothing, and the request needs a task."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to any request."""


class Front:
    """An ASGI middleware for request ids, common headers, the access log, the counts and unhandled exceptions."""

    def __init__(self, app: "InlineResponder", pages: str, counts: Counts, proxies: Sequence[Network] = ()) -> None:
        """Wrap an application.

        Args:
            app: the application.
            pages: the public address of the pages, for links to the page of errors.
            counts: where requests are counted.
            proxies: the proxies whose header X-Forwarded-For names the client.
        """
        self.app = app
        self._turns = Turns(proxies)
        self.counts = counts
        self._pages = pages
        added = OF_EVERY_RESPONSE | (OF_HTTPS if pages.startswith("https:") else {})
        self._fields = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        self._lines = _lines(self._fields)
        self._but_caching = _lines([field for field in self._fields if field[0] != b"cache-control"])

    def at_once(self, target: bytes, sent: Sent, reply: Reply) -> bool:
        """Respond to a GET request that has no body, without a task.

        Args:
            target: the target in the request line.
            sent: the header fields; their size is within LARGEST_HEAD.
            reply: called with the complete response, now or later, when the request has been logged.

        Returns:
            Whether there is or will be a response. If not, nothing was done, and the request needs a task.
        """
        exchange = Exchange(sent.get(b"x-request-id"), "GET", "")

        def log_and_reply(answer: Answer) -> None:
            self._complete(answer, exchange)
            self._done(exchange)
            reply(answer)

        return self.app.at_once(target, sent, exchange, log_and_reply)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request: add the common headers to its response, and log it. Only HTTP is handled here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == b"x-request-id"]
        exchange = Exchange(b",".join(sent), scope["method"], scope["path"])
        scope["exchange"] = exchange

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                names = {name for name, _ in message["headers"]}
                added = [field for field in self._fields if field[0] not in names]
                message["headers"] = [*message["headers"], (b"x-request-id", exchange.id.encode()), *added]
            elif scope["method"] != "HEAD":
                exchange.size += len(message.get("body", b""))
            await send(message)

        try:
            if _size_of_head(scope) > LARGEST_HEAD:
                await self._failure(too_large())(scope, receive, send_with_headers)
            else:
                await self._turns.respond_in_turn(self.app, scope, receive, send_with_headers)
        except ClientDisconnect:
            exchange.status = DISCONNECTED
        except asyncio.CancelledError:  # the service ends, and has waited long enough for it
            exchange.status = DISCONNECTED
            scope["hang_up"]()
        except Exception:
            log.exception("request %s failed", exchange.id)
            if not exchange.status:
                await self._failure(ServerError())(scope, receive, send_with_headers)
        finally:
            self._done(exchange)

    def refusal(self, error: ApiError) -> Answer:
        """The error response for a malformed HTTP request; it has all headers and is already logged."""
        exchange, answer = Exchange(None, "", ""), error_responses.answer(error, self._pages)
        self._complete(answer, exchange)
        self._done(exchange)
        return answer

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

    def _failure(self, error: ApiError) -> Answer:
        return error_responses.answer(error, self._pages)

    def _complete(self, answer: Answer, exchange: Exchange) -> None:
        """Add the headers of every response to an answer; only errors get the common Cache-Control."""
        exchange.status, exchange.size = answer.status, len(answer.body)
        common = self._lines if answer.status >= ERRORS else self._but_caching
        answer.head += (b"x-request-id: ", exchange.id.encode(), b"\r\n", common)


def _lines(fields: list[Field]) -> bytes:
    return b"".join([b"%s: %s\r\n" % field for field in fields])


def too_large() -> InvalidParameter:
    """The error for a request line and headers above LARGEST_HEAD."""
    return InvalidParameter({"request": f"The request line and headers are longer than {LARGEST_HEAD} bytes."})


def _request_id(sent: bytes | None) -> str:
    """The client's X-Request-Id if it is short, plain and contains no key; otherwise a new random id."""
    if sent and REQUEST_ID.fullmatch(sent) and PREFIX.encode() not in sent:
        return sent.decode()
    return f"{random.getrandbits(128):032x}"


def _size_of_head(scope: Scope) -> int:
    """The approximate bytes of request line and headers; the server does not limit a head that arrives at once."""
    fields = sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
    return fields + len(scope.get("raw_path") or b"") + len(scope["query_string"])
