"""The deadline of a connection: for the head of a request, for its body, and between two requests.

Belongs here: what a connection waits for, how long it may take, and the timer. Does not: what happens then (server).
"""

import asyncio
import enum
from collections.abc import Callable

FOR_PART = 10.0  # seconds for the head of a request, and for its body
KEEP_ALIVE = 15  # seconds that a connection may be idle between requests


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
