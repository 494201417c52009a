"""The HTTP server: uvicorn with httptools and uvloop, with limits on connections and malformed requests.

Belongs here: connections and malformed HTTP. Does not: deadlines (deadlines), well-formed requests (edge, api).

uvicorn alone has no deadline for a request and no limit of its head, and responds to malformed HTTP in plain text. Here
head and body have a deadline each, and malformed HTTP gets the error envelope as 422 `invalid_parameter`, because
section 7 has no other code for it. A request body is read and discarded, since no endpoint uses one; a connection with
a body beyond LARGEST_BODY is closed after the response.

Requests that a client sends without waiting (pipelining) are read one by one: until the response to one has been sent,
the bytes after it are kept unread, and no more are received.
"""

import asyncio
import fcntl
import re
import select
import socket
import sys
import termios
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, cast

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from serve.addresses import Network
from serve.errors import ApiError, InvalidParameter, MethodNotAllowed
from serve.http import deadlines
from serve.http.caching import Answer, Field, Sent
from serve.http.connections import Connections
from serve.http.deadlines import Deadline, Receiving, RequestPart
from serve.http.edge import LARGEST_HEAD, Front, too_large
from serve.metrics.counts import CONNECTIONS as OPEN
from serve.metrics.counts import OF_CONNECTIONS, REFUSALS
from serve.settings import CONNECTION_SHARE

SHUTDOWN = 10  # seconds that a shutdown waits for requests in progress
CONNECTIONS = 800  # open connections; further ones are closed at once, as most systems allow a process 1,024 files
UNREAD = 30_000  # milliseconds after which a connection is closed if the client does not read its response
LARGEST_BODY = 8 * 1024  # bytes of a request body after which the connection is closed
LINGER = 2.0  # seconds that a closed connection is still read, so that the client can read the response
LINGERED = 8 * 1024 * 1024  # bytes that are read and discarded in that time
TURN = 16  # requests of a connection that are answered before other connections get their turn

HEAD_END = b"\n\r\n"  # also ends the parts of a chunked body, so that no piece has the ends of two heads
REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) [!-~]+ HTTP/1\.[01]\r?\n")
STATUS = {**STATUS_LINE, 422: b"HTTP/1.1 422 Unprocessable Content\r\n"}
NEEDS_TASK = frozenset({b"content-length", b"transfer-encoding", b"expect", b"upgrade"})
"""Header fields of requests that have a body, or need more than a response."""


class InlineCycle:
    """A request that is answered without a task, in the place of uvicorn's RequestResponseCycle."""

    __slots__ = ("disconnected", "keep_alive", "more_body", "response_complete", "transport")

    def __init__(self) -> None:
        self.disconnected = False
        self.response_complete = True

    def begin(self, transport: asyncio.Transport) -> None:
        """Begin a request; one object serves all requests of a connection, one after the other."""
        self.transport = transport
        self.keep_alive = True
        self.response_complete = False

    @property
    def message_event(self) -> "InlineCycle":
        """In place of the event by which uvicorn notifies a task of a body or of a closed connection; no task waits."""
        return self

    def set(self) -> None:
        """Do nothing, because no task waits."""


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with deadlines and size limits for requests."""

    def __init__(self, *, connections: Connections, **settings: Any) -> None:
        super().__init__(**settings)
        # a request with Content-Length and Transfer-Encoding: on_headers_complete closes the connection (RFC 9112, 6.1)
        self.parser.set_dangerous_leniencies(lenient_chunked_length=True)
        self._open = connections
        self._part: RequestPart | None = None  # the part of a request that has begun and is not complete
        self._size = 0  # bytes of that part so far
        self._received = 0  # bytes of the piece that is being parsed
        self._body = 0  # bytes of a body without the frames of its chunks
        self._is_last = False  # whether the present request is the last one that is read
        self._deadline = Deadline(self.loop, self._deadline_passed)
        self._receiving = Receiving(self.loop, self._receive_time_passed)
        self._inline = InlineCycle()
        self._to_discard: int | None = None  # bytes still to discard; None while requests are read
        self._unparsed = b""  # received bytes after a request that is being answered
        self._is_reading = False

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
            options = transport.get_extra_info("socket")
            options.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)
        transport.set_write_buffer_limits(high=0)  # calls pause_writing unless the system takes a whole response
        self._deadline.wait(RequestPart.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadlines of a closed connection, and drop all references to it.

        Otherwise each connection would be kept until the garbage collector runs, and clients that hang up again and
        again would have thousands meanwhile.
        """
        self._receiving.end()
        super().connection_lost(exc)
        self._open.closed(self._address)
        cast("Front", self.app).counts.add(OPEN, number=-1)
        self._deadline.end()
        for timer in (self._receiving, self._deadline):
            timer.forget()
        self.cycle = self.scope = cast("Any", None)
        self._unparsed = b""

    def pause_writing(self) -> None:
        """Start or extend the deadline for the client to receive the unsent bytes of this process and of the system."""
        super().pause_writing()
        self._receiving.wait(self._unsent())

    def _unsent(self) -> int:
        """The bytes that the client has not received yet."""
        unsent = self.transport.get_write_buffer_size()
        if sys.platform == "linux":
            queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
            unsent += int.from_bytes(queued, sys.byteorder)
        return unsent

    def resume_writing(self) -> None:
        """Stop the deadline for receiving when the response is complete."""
        super().resume_writing()
        if not self._is_answering:
            self._receiving.end()
            if self._unparsed and not self._is_reading:
                self.loop.call_soon(self._parse_received)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; a deadline covers a whole head or body and is not extended by each piece."""
        self._unparsed += data
        self._parse_received()

    def _parse_received(self) -> None:
        """Parse the received bytes until a complete request has to be answered, and keep the rest.

        After TURN pieces it stops, too, and goes on when the event loop has served other connections. At the end it
        sets the deadline for what the connection waits for.
        """
        held, at, pieces = self._unparsed, 0, 0
        self._is_reading = True
        while at < len(held) and self._to_discard is None and self._may_read and pieces < TURN:
            end = held.find(HEAD_END, at) + len(HEAD_END)
            piece = held[at:end] if end >= len(HEAD_END) else held[at:]
            at, pieces = at + len(piece), pieces + 1
            self._parse(piece)
        self._is_reading = False
        self._unparsed = held[at:] if at else held
        if self._to_discard is not None or self.transport.is_closing():
            self._discard()
        elif self._unparsed:
            self._deadline.wait(None)
            if self._may_read:
                self.loop.call_soon(self._parse_received)
        elif self._part or self._is_answering:
            self._deadline.wait(self._part)
        elif self._deadline.awaited is not RequestPart.HEAD:
            self._deadline.wait(RequestPart.NEXT)
        self._receive()

    def _receive(self) -> None:
        """Receive more bytes if all received ones have been parsed; otherwise pause."""
        if self._unparsed:
            self.flow.pause_reading()
        else:
            self.flow.resume_reading()

    @property
    def _may_read(self) -> bool:
        """Whether the next bytes may be parsed: of a body, or of a head after the previous response has been sent."""
        is_sent = not (self._is_answering or self.flow.write_paused)
        return (self._part is RequestPart.BODY or is_sent) and not self.transport.is_closing()

    def _parse(self, data: bytes) -> None:
        """Parse bytes that contain the end of at most one head."""
        continues, self._received = self._part is RequestPart.BODY, len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._stop_reading()  # the parser has stopped; the request is answered without an upgrade
        except httptools.HttpParserError as error:
            self._refuse(_malformed(error, data))
        if self._part is RequestPart.HEAD:
            self._size += len(data)
            if self._size > LARGEST_HEAD:
                self._refuse(too_large())
        elif continues and self._part is RequestPart.BODY:
            self._size += len(data)
            if self._size > LARGEST_BODY:
                self._stop_reading()

    def _discard(self) -> None:
        """Discard the bytes received after the last request; abort the connection if they are too many."""
        if self._to_discard is not None:
            self._to_discard -= len(self._unparsed)
            if self._to_discard < 0:
                self.transport.abort()
        self._unparsed = b""

    def on_message_begin(self) -> None:
        """Expect a head, unless the previous request was the last of the connection."""
        if self._is_last:
            self._stop_reading()
        self.url, self.headers = b"", []
        if self._to_discard is None:
            self._part, self._size = RequestPart.HEAD, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a field of the head."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Respond to the request at once if possible; otherwise pass its head on to uvicorn, and expect the body."""
        if self._to_discard is not None:
            return
        sent = dict(self.headers)
        if self._needs_no_task(sent):
            self._inline.begin(self.transport)
            self.cycle = cast("Any", self._inline)
            if cast("Front", self.app).at_once(self.url, sent, self._reply):
                return
            self._inline.response_complete = True
        self._pass_on()

    def _needs_no_task(self, sent: Sent) -> bool:
        """Whether a request is a GET without a body, names each field once, and comes after all earlier responses."""
        return (
            len(sent) == len(self.headers)
            and b"host" in sent
            and NEEDS_TASK.isdisjoint(sent)
            and self._size + self._received <= LARGEST_HEAD
            and self.parser.get_method() == b"GET"
            and self.parser.should_keep_alive()
            and (b"connection" not in sent or self.parser.get_http_version() == "1.1")
            and not self._is_answering
            and not self.flow.write_paused
        )

    def _pass_on(self) -> None:
        """Let uvicorn start the response in a task."""
        target, fields = self.url, self.headers
        names = [name for name, _ in fields]
        if names.count(b"host") != 1 and (b"host" in names or self.parser.get_http_version() != "1.0"):
            raise ValueError("a request has one field Host (RFC 9112, 3.2), except in HTTP/1.0")
        codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            raise ValueError("the body has another transfer coding than chunked")
        super().on_message_begin()
        super().on_url(target)
        for name, value in fields:
            super().on_header(name, value)
        super().on_headers_complete()
        # a weak reference: a strong one would keep each request until the garbage collector runs
        of = weakref.ref(self.cycle)
        scope = cast("dict[str, Any]", self.scope)
        scope["is_gone"], scope["hang_up"] = partial(self._is_gone, of), partial(self._hang_up, of)
        self._part, self._size, self._body = RequestPart.BODY, 0, 0
        if b"content-length" in names:
            length = next(value for name, value in fields if name == b"content-length")
            if codings:
                self._stop_reading()
            elif int(length) > LARGEST_BODY:
                self._close_after_response()
        self.headers = []  # a trailer is not part of the head

    def on_body(self, body: bytes) -> None:
        """Receive a piece of a body."""
        if self._to_discard is not None:
            return
        super().on_body(body)
        self._body += len(body)
        if self._body > LARGEST_BODY:
            self._stop_reading()

    def on_message_complete(self) -> None:
        """End the request; no part of it is awaited until its response is complete."""
        if self._to_discard is None and self.cycle is not cast("Any", self._inline):
            super().on_message_complete()
        self._part = None

    def on_response_complete(self) -> None:
        """Start the response to a waiting request, or expect the next request."""
        if self.pipeline:
            super().on_response_complete()
            self._receive()
            return
        self.server_state.total_requests += 1
        if self._part is not RequestPart.BODY and self._to_discard is None and not self.transport.is_closing():
            self._deadline.wait(RequestPart.NEXT, again=True)
        if self._unparsed and not self._is_reading:
            self.loop.call_soon(self._parse_received)

    def _is_gone(self, request: Callable[[], Any]) -> bool:
        """Whether the client has disconnected; then uvicorn does not send its own response.

        Args:
            request: returns uvicorn's object of the request.
        """
        cycle = request()
        if not self.transport.is_closing() and self._has_hung_up():
            self.transport.close()
        cycle.disconnected = cycle.disconnected or self.transport.is_closing()
        return bool(cycle.disconnected)

    def _hang_up(self, request: Callable[[], Any]) -> None:
        """Close the connection without a response; uvicorn does not send its own response then."""
        request().disconnected = True
        self.transport.close()

    def _has_hung_up(self) -> bool:
        """Whether the client has closed the connection; the event loop does not notice it while reading is paused."""
        if not self._unparsed or sys.platform != "linux":
            return False
        asked = select.poll()
        asked.register(self.transport.get_extra_info("socket").fileno(), select.POLLRDHUP)
        return bool(asked.poll(0))

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _reply(self, answer: Answer) -> None:
        """Send the response to a request that is answered without a task, with one write."""
        quick = self._inline
        quick.response_complete = True
        if not quick.disconnected:
            self._write(quick.transport, answer, close=not quick.keep_alive)
            if not quick.keep_alive:
                quick.transport.close()
            self.on_response_complete()

    def _write(self, transport: asyncio.Transport, answer: Answer, *, close: bool) -> None:
        end = b"connection: close\r\n\r\n" if close else b"\r\n"
        date = _lines(*self.server_state.default_headers)
        transport.write(b"".join((STATUS[answer.status], date, *answer.head, end, answer.body)))

    def _deadline_passed(self) -> None:
        """Close the connection at its deadline; if the head of a request is incomplete, send an error first."""
        if self._part is RequestPart.HEAD:
            message = f"The request was not complete within {deadlines.FOR_PART:g} seconds."
            self._refuse(InvalidParameter({"request": message}))
        else:
            self.transport.close()

    def _receive_time_passed(self) -> None:
        """Close the connection if the client has received too little of a response since the last check."""
        if not self.flow.write_paused:
            self._receiving.end()
        elif self._receiving.is_too_slow(unsent := self._unsent()):
            self._receiving.end()
            self.transport.abort()
        else:
            self._receiving.wait(unsent)

    def _refuse(self, error: ApiError) -> None:
        """Send an error and close the connection; if a response has begun or is due, only close it afterwards."""
        if self._to_discard is None and self._part is RequestPart.HEAD and not self._is_answering:
            self._write(self.transport, cast("Front", self.app).refusal(error), close=True)
        self._stop_reading()

    def _stop_reading(self) -> None:
        """Read no more requests; close the connection after the response in progress."""
        if self._to_discard is not None:
            return
        self._to_discard = LINGERED
        self._deadline.wait(None)
        if self._is_answering:
            self._close_after_response()
            self.cycle.more_body = False
            self.cycle.message_event.set()
        else:
            self._linger()

    def _close_after_response(self) -> None:
        self._is_last = True
        self.cycle.keep_alive = False
        transport = SimpleNamespace(
            write=self.transport.write, is_closing=self.transport.is_closing, close=self._linger
        )
        self.cycle.transport = cast("asyncio.Transport", transport)

    def _linger(self) -> None:
        """Close for sending, and discard data that still arrives.

        Closing at once could destroy the response on its way (RFC 9112, 9.6).
        """
        self._to_discard = LINGERED if self._to_discard is None else self._to_discard
        self._deadline.wait(None)
        if not self.transport.is_closing():
            self.transport.write_eof()
            self._deadline.end(self.transport.abort, LINGER)


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
            http=cast("Any", partial(BoundedProtocol, connections=Connections(share, proxies))),
            loop="uvloop",
            ws="none",
            timeout_keep_alive=deadlines.KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN,
            log_config=None,
            log_level="error",
            access_log=False,  # it would log API keys that a client puts into the URL
            proxy_headers=False,
            server_header=False,
        )
    )


@lru_cache(maxsize=2)
def _lines(*fields: Field) -> bytes:
    """The lines of uvicorn's own fields; the date among them changes once a second."""
    return b"".join([b"%s: %s\r\n" % field for field in fields])


def _malformed(error: httptools.HttpParserError, data: bytes) -> ApiError:
    """The error for bytes that the parser refuses; unknown methods get MethodNotAllowed."""
    line = REQUEST_LINE.match(data)
    if line and line[1] != b"GET" and not isinstance(error.__context__, ValueError):
        return MethodNotAllowed()
    return InvalidParameter({"request": "This is not a valid HTTP/1.1 request."})
