"""The HTTP server: uvicorn with httptools and uvloop, with limits on connections and malformed requests.

Belongs here: connections, timeouts and malformed HTTP. Does not: well-formed requests (edge, api).

uvicorn alone has no deadline for a request and no limit of its head, and responds to malformed HTTP in plain text. Here
head and body have DEADLINE seconds each, and malformed HTTP gets the error envelope as 422 `invalid_parameter`, because
section 7 has no other code for it. A request body is read and discarded, since no endpoint uses one; a connection with
a body beyond LARGEST_BODY is closed after the response.
"""

import asyncio
import enum
import functools
import re
import socket
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from serve.http.addresses import Network
from serve.http.caching import Field
from serve.http.connections import Connections
from serve.http.edge import LARGEST_HEAD, WHOLE, Front, too_large
from serve.http.errors import ApiError, InvalidParameter, MethodNotAllowed
from serve.metrics.counts import CONNECTIONS as OPEN
from serve.metrics.counts import OF_CONNECTIONS, REFUSALS
from serve.settings import CONNECTION_SHARE

DEADLINE = 10.0  # seconds for the head of a request, and for its body
KEEP_ALIVE = 15  # seconds that a connection may be idle between requests
SHUTDOWN = 10  # seconds that a shutdown waits for requests in progress
CONNECTIONS = 800  # open connections; further ones are closed at once, as most systems allow a process 1,024 files
UNREAD = 30_000  # milliseconds after which a connection is closed if the client does not read its response
LARGEST_BODY = 8 * 1024  # bytes of a request body after which the connection is closed
LINGER = 2.0  # seconds that a closed connection is still read, so that the client can read the response
LINGERED = 8 * 1024 * 1024  # bytes that are read and discarded in that time

REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) [!-~]+ HTTP/1\.[01]\r?\n")
REASONS = {405: b"Method Not Allowed", 422: b"Unprocessable Content"}


class Part(enum.Enum):
    """A part of a request."""

    HEAD = enum.auto()
    BODY = enum.auto()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with deadlines and largest sizes for what a client sends."""

    def __init__(self, *, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        # with Content-Length and Transfer-Encoding: on_headers_complete closes the connection (RFC 9112, 6.1)
        self.parser.set_dangerous_leniencies(lenient_chunked_length=True)
        self._open = connections
        self._part: Part | None = None  # the part that has begun and is not complete
        self._size = 0  # bytes of that part so far
        self._continues = False  # whether the received bytes continue a body
        self._awaited: Part | None = None  # the part that the timer is for
        self._timer: asyncio.TimerHandle | None = None
        self._is_starting = False  # whether a response is being made
        self._left: int | None = None  # bytes still to discard; None as long as requests are read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and start the deadline for the first request's head."""
        super().connection_made(transport)
        counts = cast("Front", self.app).counts
        counts.add(OPEN)
        if not self._open.opened(self._address, CONNECTIONS):
            counts.add(REFUSALS, OF_CONNECTIONS)
            transport.abort()
            return
        if sys.platform == "linux":
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)
        self._await(Part.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline of a closed connection."""
        super().connection_lost(exc)
        self._open.closed(self._address)
        cast("Front", self.app).counts.add(OPEN, number=-1)
        self._await(None)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; a deadline covers a whole head or body and is not extended by each piece."""
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                self.transport.abort()
            return
        self._continues = self._part is Part.BODY
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._end()  # the parser has stopped; the request is answered without an upgrade
        except httptools.HttpParserError as error:
            self._refuse(_malformed(error, data))
        if self._continues:
            self._count_body(len(data))
        elif self._part is Part.HEAD:
            self._size += len(data.rpartition(b"\r\n\r\n")[2])  # a chunk may contain other requests before this head
            if self._size > LARGEST_HEAD:
                self._refuse(too_large())
        if self._left is None:
            is_answered = self._is_answering or self.timeout_keep_alive_task  # in a moment, or just now
            self._await(self._part or (None if is_answered else Part.HEAD))

    def on_message_begin(self) -> None:
        """Expect a head."""
        super().on_message_begin()
        self._part, self._size = Part.HEAD, 0

    def on_headers_complete(self) -> None:
        """Start the response, and expect the body."""
        names = [name for name, _ in self.headers]
        if names.count(b"host") != 1 and (b"host" in names or self.parser.get_http_version() != "1.0"):
            raise ValueError("a request has one field Host (RFC 9112, 3.2), except in HTTP/1.0")
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            raise ValueError("the body has another transfer coding than chunked")
        super().on_headers_complete()
        cast("dict[str, Any]", self.scope)[WHOLE] = functools.partial(self._send_whole, self.cycle)
        self._part, self._size = Part.BODY, 0
        if b"content-length" in names:
            length = next(value for name, value in self.headers if name == b"content-length")
            if codings:
                self._end()
            elif int(length) > LARGEST_BODY:
                self._close_after_response()
        self.headers = []  # a trailer is not part of the head

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Respond to a request: at once if that is possible, else in a task.

        A request with a body needs a task, because it is answered before its body is complete. So does one that waited
        for the response to an earlier one: its response would begin inside that of the other.
        """
        scope = cast("dict[str, Any]", cycle.scope)
        answer = None
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
        if cycle is self.cycle and not has_body and not self.flow.write_paused and not self._is_starting:
            self._is_starting = True
            try:
                answer = cast("Front", self.app).at_once(scope)
                if answer and self._send_whole(cycle, answer.status, answer.fields, answer.body):
                    return
            finally:
                self._is_starting = False
            app = answer or app
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        """Receive a piece of a body."""
        super().on_body(body)
        if not self._continues:
            self._count_body(len(body))

    def on_message_complete(self) -> None:
        """Expect nothing until the response is complete."""
        super().on_message_complete()
        self._part = None

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _send_whole(self, cycle: RequestResponseCycle, status: int, fields: list[Field], body: bytes) -> bool:
        """Send a response that is complete with one write; uvicorn looks at each of its fields several times.

        Returns:
            Whether it was sent; if not, uvicorn has to send it.
        """
        head = b"".join([b"%s: %s\r\n" % field for field in fields])
        is_plain = head.count(b"\r") == head.count(b"\n") == len(fields)  # no field contains another one
        if not is_plain or cycle.disconnected or cycle.response_started or self.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        default = b"".join([b"%s: %s\r\n" % field for field in self.server_state.default_headers])
        close = b"" if cycle.keep_alive else b"connection: close\r\n"
        cycle.transport.write(b"".join([STATUS_LINE[status], default, head, close, b"\r\n", body]))
        cycle.message_event.set()
        if not cycle.keep_alive:
            cycle.transport.close()
        cycle.on_response()
        return True

    def _count_body(self, size: int) -> None:
        self._size += size
        if self._part is Part.BODY and self._size > LARGEST_BODY:
            self._end()

    def _await(self, part: Part | None) -> None:
        """Start a new deadline when the awaited part changes."""
        if part is not self._awaited:
            if self._timer:
                self._timer.cancel()
            self._awaited = part
            self._timer = self.loop.call_later(DEADLINE, self._late) if part else None

    def _late(self) -> None:
        if self._part is Part.HEAD:
            self._refuse(InvalidParameter({"request": f"The request was not complete within {DEADLINE:g} seconds."}))
        else:
            self.transport.close()

    def _refuse(self, error: ApiError) -> None:
        """Send an error and close the connection; only close it after a response to the same or an earlier request."""
        if self._part is Part.HEAD and not self._is_answering:
            response = cast("Front", self.app).refusal(error)
            fields = [*self.server_state.default_headers, *response.raw_headers, (b"connection", b"close")]
            lines = [b"HTTP/1.1 %d %s" % (response.status_code, REASONS[response.status_code])]
            lines += [b"%s: %s" % field for field in fields]
            self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self._end()

    def _end(self) -> None:
        """Read no more requests; close the connection after the response in progress."""
        if self._left is not None:
            return
        self._left = LINGERED
        self._await(None)
        if self._is_answering:
            self._close_after_response()
            self.cycle.more_body = False
            self.cycle.message_event.set()
        else:
            self._linger()

    def _close_after_response(self) -> None:
        self.cycle.keep_alive = False
        transport = SimpleNamespace(
            write=self.transport.write, is_closing=self.transport.is_closing, close=self._linger
        )
        self.cycle.transport = cast("asyncio.Transport", transport)

    def _linger(self) -> None:
        """Close for sending, and discard what still arrives; to close at once could destroy the response on its way.

        RFC 9112, 9.6.
        """
        self._left = LINGERED if self._left is None else self._left
        self._await(None)
        if not self.transport.is_closing():
            self.transport.write_eof()
            self._timer = self.loop.call_later(LINGER, self.transport.abort)


def server(app: Front, share: float = CONNECTION_SHARE, proxies: Sequence[Network] = ()) -> uvicorn.Server:
    """A uvicorn server for the application, to be run on listening sockets.

    Args:
        app: the application.
        share: part of all connections that one address may have, from 0 to 1.
        proxies: addresses that may have all connections.
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=cast("Any", functools.partial(BoundedProtocol, connections=Connections(share, proxies))),
            loop="uvloop",
            ws="none",
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN,
            log_config=None,
            log_level="error",
            access_log=False,  # it would log API keys that a client puts into the URL
            proxy_headers=False,
            server_header=False,
        )
    )


def _malformed(error: httptools.HttpParserError, data: bytes) -> ApiError:
    """The error for bytes that the parser refuses: methods that it does not know are still methods."""
    line = REQUEST_LINE.match(data)
    if line and line[1] != b"GET" and not isinstance(error.__context__, ValueError):
        return MethodNotAllowed()
    return InvalidParameter({"request": "This is not a valid HTTP/1.1 request."})
