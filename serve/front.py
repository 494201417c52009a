"""The front of the application: what holds for every request and every response, whatever the path.

Belongs here: the id of a request, the headers that every response has, the bound of a request's head, the line of the
log, the answer where everything else failed. Does not: any endpoint (routes), bytes that are no HTTP (server).
"""

import logging
import re
import time
import uuid
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve import access_log, responses
from serve.access.keys import PREFIX
from serve.errors import ApiError, InvalidParameter, ServerError

log = logging.getLogger(__name__)

LARGEST_HEAD = 16 * 1024  # bytes of request line and headers
OF_EVERY_RESPONSE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""A response that has its own keeps it."""

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class Exchange:
    """What is noted of a request and its response, for the log."""

    id: str
    method: str
    path: str
    key_id: str | None = None
    status: int = 0
    size: int = 0
    started: float = field(default_factory=time.perf_counter)

    def done(self) -> None:
        """Write it down."""
        access_log.note(
            request_id=self.id,
            method=self.method,
            path=self.path,
            status=self.status,
            size=self.size,
            seconds=time.perf_counter() - self.started,
            key_id=self.key_id,
            now=time.time(),
        )


class Front:
    """An ASGI application before another one."""

    def __init__(self, app: ASGIApp, pages: str) -> None:
        """Stand before an application whose page of errors lies below `pages`."""
        self.app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, note it, and dress its response; anything but HTTP is passed on as it is."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        exchange = Exchange(_request_id(headers.getlist("x-request-id")), scope["method"], scope["path"])
        scope["exchange"] = exchange

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                _dress(MutableHeaders(scope=message), exchange)
            elif scope["method"] != "HEAD":
                exchange.size += len(message.get("body", b""))
            await send(message)

        try:
            if _size_of_head(scope) > LARGEST_HEAD:
                await self._failure(too_large())(scope, receive, dressed)
            else:
                await self.app(scope, receive, dressed)
        except Exception:
            log.exception("request %s failed", exchange.id)
            if not exchange.status:
                await self._failure(ServerError())(scope, receive, dressed)
        finally:
            exchange.done()

    def refusal(self, error: ApiError) -> Response:
        """The response to what is no request, ready to be sent, and noted already."""
        exchange = Exchange(_request_id([]), "", "")
        response = self._failure(error)
        _dress(response.headers, exchange)
        exchange.status, exchange.size = response.status_code, len(response.body)
        exchange.done()
        return response

    def _failure(self, error: ApiError) -> Response:
        return responses.failure(error, self._pages)


def too_large() -> InvalidParameter:
    """What is told where request line and headers are longer than they may be."""
    return InvalidParameter({"request": f"The request line and headers are longer than {LARGEST_HEAD} bytes."})


def _request_id(sent: list[str]) -> str:
    """The one that was sent, if it is fit for a log; what holds a key is not."""
    if len(sent) == 1 and REQUEST_ID.fullmatch(sent[0]) and PREFIX not in sent[0]:
        return sent[0]
    return uuid.uuid4().hex


def _dress(headers: MutableHeaders, exchange: Exchange) -> None:
    headers["X-Request-Id"] = exchange.id
    for name, value in OF_EVERY_RESPONSE.items():
        headers.setdefault(name, value)


def _size_of_head(scope: Scope) -> int:
    """Bytes of the request line and the headers, about: what came in one piece is not bounded by the server."""
    fields = sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
    return fields + len(scope.get("raw_path") or b"") + len(scope["query_string"])
