"""The deadlines of a connection: for the head of a request, for its body, between two requests, for a response.

Belongs here: what a connection waits for, how long it may take, and the timers. Does not: what happens then (server).
"""

import asyncio
import enum
from collections.abc import Callable

FOR_PART = 10.0  # seconds for the head of a request, and for its body
KEEP_ALIVE = 15  # seconds that a connection may be idle between requests
FOR_RESPONSE = 30.0  # seconds in which a client receives a response, and those that its size takes at SLOWEST
SLOWEST = 4096  # bytes a second that a client receives at least; the mobile networks of 2000 (GPRS) had more


class Part(enum.Enum):
    """What a connection waits for."""

    HEAD = enum.auto()
    BODY = enum.auto()
    NEXT = enum.auto()


class Deadline:
    """The time until which a connection waits for a part of a request.

    A timer that ends too early is left, and set again when it ends: most deadlines are replaced before.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, passed: Callable[[], None]) -> None:
        """Wait for nothing; `passed` is called when a deadline has passed."""
        self.awaited: Part | None = None
        self._loop = loop
        self._passed = passed
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None  # ends at the deadline or before

    def wait(self, awaited: Part | None, *, again: bool = False) -> None:
        """Set the deadline anew if something else is awaited now, or `again` the same; None: no deadline."""
        if awaited is self.awaited and not again:
            return
        self.awaited = awaited
        if awaited:
            self._due = self._loop.time() + (KEEP_ALIVE if awaited is Part.NEXT else FOR_PART)
            if self._timer and self._timer.when() > self._due:
                self._timer.cancel()
                self._timer = None
            self._timer = self._timer or self._loop.call_at(self._due, self._check)

    def end(self, then: Callable[[], None] | None = None, seconds: float = 0.0) -> None:
        """Wait for nothing more; call `then` after some seconds, unless this is called again before."""
        self.awaited = None
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, then) if then else None

    def _check(self) -> None:
        """Notice whether the deadline has passed."""
        self._timer = None
        if self.awaited and self._loop.time() < self._due:
            self._timer = self._loop.call_at(self._due, self._check)
        elif self.awaited:
            self._passed()


class Receiving:
    """The time until which a client has to receive a response, from the moment on at which it is not sent at once.

    What the client receives meanwhile does not extend it; more of the same response does.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, passed: Callable[[], None]) -> None:
        """Wait for nothing; `passed` is called when the deadline has passed."""
        self._loop = loop
        self._passed = passed
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def wait(self, unsent: int) -> None:
        """Expect the client to receive so many bytes more."""
        if self._timer is None:
            self._due = self._loop.time() + FOR_RESPONSE
        else:
            self._timer.cancel()
        self._due += unsent / SLOWEST
        self._timer = self._loop.call_at(self._due, self._passed)

    def end(self) -> None:
        """Wait for nothing more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
