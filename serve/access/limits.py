"""Rate limits: requests per minute and per day, per key, in fixed windows aligned to the minute and the day in UTC.

Belongs here: counting in this process. Does not: which requests count (routes decide by when they call `take`).
Counters live in memory: several worker processes would each allow the whole limit, so only one is run.
"""

import math
import threading
from dataclasses import dataclass

from serve.errors import RateLimited


@dataclass(frozen=True, slots=True)
class Limit:
    """So many requests in a window of so many seconds; Unix time begins on a full minute and day."""

    requests: int
    window: str
    seconds: int


LIMITS = (Limit(60, "minute", 60), Limit(10_000, "day", 86_400))


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the headers of section 8 tell: the limit of a window, requests left in it, when it resets (Unix time)."""

    limit: int
    remaining: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        """The rate limit headers of a 200 response."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Limits:
    """Counters by key and window; a window that has passed is forgotten when its key asks again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, list[tuple[int, int]]] = {}

    def take(self, key_id: str, now: float) -> Allowance:
        """Count one request.

        Args:
            key_id: whose request it is.
            now: Unix time.

        Returns:
            The window with the fewest requests left, this one taken off.

        Raises:
            RateLimited: a window is used up; the request is counted in none, and the wait is for the longest.
        """
        with self._lock:
            seen = self._counts.get(key_id, [(0, 0)] * len(LIMITS))
            starts = [int(now // limit.seconds) * limit.seconds for limit in LIMITS]
            counts = [n if start == before else 0 for start, (before, n) in zip(starts, seen, strict=True)]
            windows = list(zip(LIMITS, starts, counts, strict=True))
            for limit, start, count in reversed(windows):
                if count >= limit.requests:
                    raise RateLimited(limit.requests, limit.window, math.ceil(start + limit.seconds - now))
            self._counts[key_id] = [(start, count + 1) for _, start, count in windows]
        left = [
            Allowance(limit.requests, limit.requests - count - 1, start + limit.seconds)
            for limit, start, count in windows
        ]
        return min(left, key=lambda allowance: allowance.remaining)
