"""Time: the type of a clock, and the format of timestamps."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

Clock = Callable[[], float]  # Unix time, in seconds


def timestamp(seconds: float) -> str:
    """Unix time as ISO 8601 in UTC."""
    return _rendered(math.floor(seconds))


@lru_cache(maxsize=64)
def _rendered(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def seconds_since(moment: str, now: float) -> int:
    """Whole seconds from `moment` (ISO 8601 in UTC) to `now` (Unix time); 0 if the moment is in the future."""
    return max(0, int(now - datetime.fromisoformat(moment).timestamp()))
