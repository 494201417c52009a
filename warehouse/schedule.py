"""When the data is synchronized: every morning, New York time.

Belongs here: the one schedule, for the side that keeps it and the side that tells of it.
Does not: running anything (pipelines.definitions).
"""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

TIME_ZONE = "America/New_York"
AT = time(6)
"""The SEC recompiles its bulk files at about three in the morning, New York time; no change of clocks skips six."""

CRON = f"{AT.minute} {AT.hour} * * *"


def next_synchronization(after: datetime) -> datetime:
    """The first time after a moment, both in UTC, that a synchronization is due."""
    local = after.astimezone(ZoneInfo(TIME_ZONE))
    days = 0 if local.time() < AT else 1
    due = datetime.combine(local.date() + timedelta(days=days), AT, ZoneInfo(TIME_ZONE))
    return due.astimezone(UTC)
