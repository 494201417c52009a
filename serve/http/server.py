"""The HTTP server: uvicorn with limits on connections and malformed requests.

Belongs here: connections, timeouts and malformed HTTP. Does not: well-formed requests (edge, api).

uvicorn alone has no deadline for the head of a request, and responds to malformed HTTP in plain text. Here head and
body have DEADLINE seconds each, and malformed HTTP gets the error envelope as 422 `invalid_parameter`, because section
7 has no other code for it. A request body is read and discarded, since no endpoint uses one.
"""

import asyncio
import socket
import sys
from typing import cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from serve.http.edge import LARGEST_HEAD, Front, too_large
from serve.http.errors import InvalidParameter

DEADLINE = 10.0  # seconds for the head of a request, and for its body
KEEP_ALIVE = 15  # seconds that a connection may be idle between requests
SHUTDOWN = 10  # seconds that a shutdown waits for requests in progress
CONNECTIONS = 800  # open connections; further ones are closed at once, as most systems allow a process 1,024 files
UNREAD = 30_000  # milliseconds after which a connection is closed if the client does not read its response


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with a deadline for receiving a request."""

    _awaited: object = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and start the deadline for the first request's head."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        if sys.platform == "linux":
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD)
        self._await()

    def data_received(self, data: bytes) -> None:
        """Receive bytes; a deadline covers a whole head or body and is not extended by each piece."""
        self._await()
        super().data_received(data)
        self._await()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline of a closed connection."""
        super().connection_lost(exc)
        self._forget()

    def send_400_response(self, msg: str) -> None:
        """Respond to malformed HTTP; uvicorn calls this while it handles the protocol error."""
        error = sys.exc_info()[1]
        too_long = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431
        malformed = InvalidParameter({"request": "This is not a valid HTTP/1.1 request."})
        self._refuse(too_large() if too_long else malformed)

    def _await(self) -> None:
        """Start a new deadline when the awaited part changes: to a head, to a body, or to nothing."""
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
        """Send an error and close the connection; only close it after a response that is in progress."""
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
    """A uvicorn server for the application, to be run on listening sockets."""
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
            access_log=False,  # it would log API keys that a client puts into the URL
            proxy_headers=False,
            server_header=False,
        )
    )
