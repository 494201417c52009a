"""Time: a clock that callers hand in, and the one way that a moment is written."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]  # Unix time, in seconds


def timestamp(seconds: float) -> str:
    """Unix time as ISO 8601 in UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def seconds_since(moment: str, now: float) -> int:
    """Whole seconds from a moment, ISO 8601 in UTC, to `now`; none where the clocks say that it is still to come."""
    return max(0, int(now - datetime.fromisoformat(moment).timestamp()))
