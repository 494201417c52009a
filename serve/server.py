"""The server under the application: uvicorn, and the bounds that it sets to connections.

Belongs here: what is done with bytes before they are a request, and with connections that bring none.
Does not: anything about a request (front, routes).

uvicorn alone has no deadline for the head of a request, and answers what is no HTTP in plain text. Here head and body
have DEADLINE seconds each, and what is no request gets the one envelope of errors, as 422 `invalid_parameter`: the
interface has no status and no code of its own for it. A body is read and thrown away, for no request has a meaning for
one.
"""

import asyncio
import socket
import sys
from typing import cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from serve.errors import InvalidParameter
from serve.front import LARGEST_HEAD, Front, too_large

DEADLINE = 10.0  # seconds for a head, and for a body
KEEP_ALIVE = 15  # seconds that a connection may be idle between requests
SHUTDOWN = 10  # seconds for requests that are being answered
CONNECTIONS = 800  # at a time, more are closed at once: most systems give a process 1,024 files
UNREAD = 30_000  # milliseconds after which a client that takes nothing of its response is let go


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for what a client has begun to send."""

    _awaited: object = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, and wait for a head."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        if sys.platform == "linux":
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)
        self._await()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the deadline is for the whole of what they belong to."""
        self._await()
        super().data_received(data)
        self._await()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        self._forget()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; uvicorn calls this while it handles the error."""
        error = sys.exc_info()[1]
        too_long = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431
        self._refuse(too_large() if too_long else InvalidParameter({"request": "This is no valid HTTP/1.1 request."}))

    def _await(self) -> None:
        """Set the deadline where something else is awaited than before: a head, a body, or nothing."""
        state = self.conn.their_state
        awaited = state if state in (h11.IDLE, h11.SEND_BODY) else None
        if awaited is not self._awaited:
            self._forget()
            self._awaited = awaited
            if awaited is not None:
                self._timer = self.loop.call_later(DEADLINE, self._late)

    def _forget(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _late(self) -> None:
        begun, _ = self.conn.trailing_data
        if self._awaited is h11.IDLE and begun:
            self._refuse(InvalidParameter({"request": f"The request was not complete within {DEADLINE:g} seconds."}))
        else:
            self.transport.close()

    def _refuse(self, error: InvalidParameter) -> None:
        """Tell, where no request of this connection is being answered, and close."""
        if self.cycle and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            return
        if self.conn.our_state is h11.IDLE:
            response = cast("Front", self.app).refusal(error)
            headers = [*self.server_state.default_headers, *response.raw_headers, (b"connection", b"close")]
            for event in (
                h11.Response(status_code=response.status_code, headers=headers, reason=b"Unprocessable Content"),
                h11.Data(data=bytes(response.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def server(app: Front) -> uvicorn.Server:
    """A server for the application, to be run on sockets that listen already."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            h11_max_incomplete_event_size=LARGEST_HEAD,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN,
            log_config=None,
            log_level="error",
            access_log=False,  # it would write down keys that somebody puts into an address
            proxy_headers=False,
            server_header=False,
        )
    )
