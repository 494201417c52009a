"""The deadlines of a connection: for the head of a request, for its body, between two requests, for a response.

Belongs here: what a connection waits for, how long it may take, and the timers. Does not: the reaction (server).
"""

import asyncio
import enum
from collections.abc import Callable

FOR_PART = 10.0  # seconds for the head of a request, and for its body
KEEP_ALIVE = 15  # seconds that a connection may be idle between requests
FOR_RESPONSE = 30.0  # seconds in which a client must receive a response, or at least SLOWEST bytes a second of it
SLOWEST = 4096  # bytes a second that a client must receive; the mobile networks of 2000 (GPRS) had more
SHORTEST = 0.001  # seconds in which the event loop reads the data that has arrived


class RequestPart(enum.Enum):
    """The part of a request for which a connection waits."""

    HEAD = enum.auto()
    BODY = enum.auto()
    NEXT = enum.auto()


class Timer:
    """Calls a function at a time.

    If the event loop notices the time too late, the call is postponed once, by as long as the delay: a busy loop or
    machine has not yet read the data that the client sent meanwhile, and reads it first.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, passed: Callable[[], None]) -> None:
        """Create a timer without a time; `passed` is called when the time has passed."""
        self._loop = loop
        self._passed = passed
        self._due: float | None = None
        self._is_put_off = False
        self._timer: asyncio.TimerHandle | None = None  # ends at the time or earlier

    def forget(self) -> None:
        """Drop the function, whose object owns the timer: otherwise both wait for the garbage collector."""
        self._passed = _nothing

    def _set(self, due: float | None) -> None:
        """Set a new time; None: no call. A timer that ends too early is kept, because most times are set again."""
        self._due, self._is_put_off = due, False
        if due is not None:
            if self._timer and self._timer.when() > due:
                self._stop()
            self._timer = self._timer or self._timer_of(due)

    def _timer_of(self, due: float) -> asyncio.TimerHandle:
        return self._loop.call_later(max(due - self._loop.time(), SHORTEST), self._check)

    def _stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        """Check whether the time has passed."""
        self._timer = None
        if self._due is None:
            return
        late = self._loop.time() - self._due
        if late >= 0 and self._is_put_off:
            self._passed()
            return
        if late >= 0:
            self._due += 2 * late
            self._is_put_off = True
        self._timer = self._timer_of(self._due)


class Deadline(Timer):
    """The time until which a connection waits for a part of a request."""

    awaited: RequestPart | None = None

    def wait(self, awaited: RequestPart | None, *, again: bool = False) -> None:
        """Set a new deadline if the awaited part has changed, or with `again` in any case; None: no deadline."""
        if awaited is self.awaited and not again:
            return
        self.awaited = awaited
        seconds = KEEP_ALIVE if awaited is RequestPart.NEXT else FOR_PART
        self._set(self._loop.time() + seconds if awaited else None)

    def end(self, then: Callable[[], None] | None = None, seconds: float = 0.0) -> None:
        """Stop waiting; call `then` after some seconds, unless this is called again before."""
        self._stop()
        self.awaited = self._due = None
        self._timer = self._loop.call_later(seconds, then) if then else None


class Receiving(Timer):
    """The time until which a client has to receive a response that could not be sent at once.

    It is extended as long as the client receives enough in each period, however large the response is.
    """

    _unsent = 0

    def wait(self, unsent: int) -> None:
        """Start to wait until the client has received the unsent bytes, or enough of them."""
        self._unsent = unsent
        self._set(self._loop.time() + FOR_RESPONSE)

    def is_too_slow(self, unsent: int) -> bool:
        """Whether the client has received too little since the last `wait`; `unsent` bytes are left."""
        return self._unsent - unsent < SLOWEST * FOR_RESPONSE

    def end(self) -> None:
        """Stop waiting."""
        self._stop()
        self._due = None


def _nothing() -> None:
    """Do nothing."""
