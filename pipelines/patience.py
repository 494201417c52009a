"""Patience with a server that is away for a while, such as Redis or PostgreSQL when it is restarted.

Belongs here: how long a process waits. Does not: which server, and what it says when the wait is over (leases, record).
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

WAIT = 0.5
"""Seconds between two attempts."""

Answer = TypeVar("Answer")


class Patience:
    """The time that a process waits for a server, all calls of all threads together."""

    def __init__(self, seconds: Callable[[], float], *, at_first: bool = False) -> None:
        """Nothing is asked yet.

        Args:
            seconds: how long the server may be away.
            at_first: whether to wait for a server that has never answered; else the first error is raised at once,
                because the address or the password may be wrong.
        """
        self._seconds = seconds
        self.at_first = at_first
        self._has_answered = False
        self._away_since = 0.0
        self._failed_at = float("-inf")
        self._lock = threading.Lock()

    def answer(self, ask: Callable[[], Answer], away: tuple[type[Exception], ...]) -> Answer:
        """What a server answers; asked again for as long as it is away.

        Args:
            ask: asks it; may be called several times.
            away: the errors that say that the server is away.

        Raises:
            Exception: one of `away`: it was away for too long, or has never answered.
        """
        while True:
            try:
                found = ask()
            except away:
                if self._is_over():
                    raise
                time.sleep(WAIT)
            else:
                self._has_answered, self._failed_at = True, float("-inf")
                return found

    def _is_over(self) -> bool:
        """Note that the server is away; tell whether that is too long. A failure of long ago does not count."""
        if not (self._has_answered or self.at_first):
            return True
        with self._lock:
            now, seconds = time.monotonic(), self._seconds()
            if now - self._failed_at > seconds:
                self._away_since = now
            self._failed_at = now
            return now - self._away_since >= seconds
