"""The schedule of synchronizations: every morning, New York time.

Belongs here: the schedule, for the pipeline that runs on it and the service that announces it.
Does not: running anything (pipelines.dagster_app.definitions), reading Dagster's databases (dagster_record).
"""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from warehouse.build.pointer import Pointer
from warehouse.record import dagster_record

TIME_ZONE = "America/New_York"
AT = time(6)
"""The SEC rebuilds its bulk files at about 3 a.m. New York time; 6 a.m. exists on every day of a clock change."""

CRON = f"{AT.minute} {AT.hour} * * *"


OVERDUE = timedelta(hours=1)
"""If a synchronization is overdue by more than this, nothing runs the schedule, and none is expected any more."""


def expected_synchronization(home: Path, pointer: Pointer, now: datetime) -> datetime | None:
    """The time of the next synchronization of a home; None if none is expected.

    Dagster's databases in the home show at once that its schedule is turned on. On machines without them, and for a
    timer, the pointer counts: it has the state of the schedule at the last synchronization.

    Args:
        home: the home.
        pointer: its pointer.
        now: the present time, in UTC.
    """
    if dagster_record.ticks(home, now):
        return next_synchronization(now)
    last = datetime.fromisoformat(pointer.synchronization.finished_at)
    return promised_synchronization(last, now, is_scheduled=pointer.is_scheduled)


def promised_synchronization(last: datetime, now: datetime, *, is_scheduled: bool) -> datetime | None:
    """The time of the next synchronization, if one is expected; all times in UTC.

    Args:
        last: when the last one ended.
        now: the present time.
        is_scheduled: whether the schedule was on then.
    """
    is_overdue = now > next_synchronization(last) + OVERDUE
    return next_synchronization(now) if is_scheduled and not is_overdue else None


def next_synchronization(after: datetime) -> datetime:
    """The first scheduled time of a synchronization after a given time, both in UTC."""
    local = after.astimezone(ZoneInfo(TIME_ZONE))
    days = 0 if local.time() < AT else 1
    due = datetime.combine(local.date() + timedelta(days=days), AT, ZoneInfo(TIME_ZONE))
    return due.astimezone(UTC)
