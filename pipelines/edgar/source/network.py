"""Connections to a server: the pace of requests, the time limit of answers, and ending requests early.

Belongs here: sending and receiving at the socket. Does not: requests, statuses and bodies (client).

httpx limits each single wait, but not a whole answer: a server that sends one byte every few seconds keeps a request
busy without end. And a thread that is delayed after its turn sends its request at the same time as other threads. So
this module keeps both the pace and the limit where the bytes leave and arrive.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

DEADLINE = 60.0
"""Seconds from sending a request to the end of its answer; the largest real document takes a few."""

SLICE = 0.5
"""Seconds after which a waiting thread checks whether the synchronization is being stopped."""

REQUEST = b"GET "


class TooSlowError(Exception):
    """The answer is not complete within the deadline."""


class StoppedError(Exception):
    """The synchronization is being stopped."""


class Pace:
    """Spaces the requests of all threads evenly; `None` requests a second: no limit.

    The distance to the next request is counted from the end of sending this one. So a thread that is delayed between
    its turn and its request delays the next request, too.

    Args:
        sleep: waits for a number of seconds; returns true if the wait was ended early, because no more requests are
            wanted.
        clock: in seconds.
    """

    def __init__(
        self,
        per_second: float | None,
        *,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.interval = 1 / per_second if per_second else 0.0
        self._sleep = sleep
        self._clock = clock
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._next = clock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until the caller may send the next request, which it sends in the `with` block."""
        with self._one_at_a_time:
            self._wait(0.0)
            try:
                yield
            finally:
                self.hold(self.interval)

    def wait_out(self) -> None:
        """Wait until a `hold` is over, before a connection is opened or chosen, so that it is not idle for long."""
        self._wait(2 * self.interval)

    def _wait(self, at_most: float) -> None:
        while (seconds := self._next - self._clock()) > at_most:
            if self._sleep(seconds):
                raise StoppedError

    def hold(self, seconds: float) -> None:
        """Let no thread send a request for this time."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


class Exchange:
    """The state that all connections of a client share: its pace, its deadline, and whether it is being stopped.

    Args:
        pace: the pace of all requests.
        stopped: set when no more requests are wanted.
        deadline: seconds from sending a request to the end of its answer.
        may_send: called when a request has its turn; raises an error if it must not be sent any more.
    """

    def __init__(
        self,
        pace: Pace,
        stopped: threading.Event,
        may_send: Callable[[], object],
        deadline: float = DEADLINE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stopped = stopped
        self._pace = pace
        self._deadline = deadline
        self._may_send = may_send
        self._clock = clock
        self._own = threading.local()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Send a request in the `with` block; the time for its answer begins at its end."""
        with self._pace.turn():
            if self._stopped.is_set():
                raise StoppedError
            self._may_send()
            yield
            self.prolong()

    def prolong(self) -> None:
        """Restart the time limit of the answer: for a large file, after each part of it."""
        self._own.until = self._clock() + self._deadline

    def seconds_left(self) -> float:
        """The seconds that are left for the answer that this thread waits for.

        Raises:
            TooSlowError: no time is left.
            StoppedError: the synchronization is being stopped.
        """
        if self._stopped.is_set():
            raise StoppedError
        left: float = getattr(self._own, "until", self._clock() + self._deadline) - self._clock()
        if left <= 0:
            raise TooSlowError(f"the answer is not complete after {self._deadline:.0f} seconds")
        return left

    def transport(self) -> httpx.HTTPTransport:
        """A transport over the network that keeps the pace and the deadline."""
        certificates = httpx.create_ssl_context()
        transport = httpx.HTTPTransport(verify=certificates)
        # httpx takes no network backend; its own pool has the same settings otherwise
        transport._pool = httpcore.ConnectionPool(
            ssl_context=certificates,
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=_Backend(self),
        )
        return transport


class _Backend(httpcore.NetworkBackend):
    """Opens connections whose requests and answers an Exchange controls."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._real = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._real.connect_tcp(host, port, timeout, local_address, socket_options)
        return _Stream(stream, self._exchange)


class _Stream(httpcore.NetworkStream):
    """One connection."""

    def __init__(self, real: httpcore.NetworkStream, exchange: Exchange) -> None:
        self._real = real
        self._exchange = exchange

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        remaining = timeout or DEADLINE
        while True:
            wait = min(SLICE, remaining, self._exchange.seconds_left())
            try:
                return self._real.read(max_bytes, wait)
            except httpcore.ReadTimeout:
                remaining -= wait
                if remaining <= 0:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer.startswith(REQUEST):
            self._real.write(buffer, timeout)
            return
        with self._exchange.sending():
            self._real.write(buffer, timeout)

    def close(self) -> None:
        self._real.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._real.start_tls(ssl_context, server_hostname, timeout), self._exchange)

    def get_extra_info(self, info: str) -> Any:
        return self._real.get_extra_info(info)
