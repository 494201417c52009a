"""A clock that only sleeping advances.

Belongs here: replacements of time functions for tests of waiting. Does not: any test.
"""

import threading


class FakeTime:
    """A clock that only sleeping advances; safe for threads."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.now += seconds
