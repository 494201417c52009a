"""Dagster's record in a home, as far as the service and the doctor need it, which do not import Dagster.

Belongs here: whether the daily schedule is turned on, and when the daemon gave a sign of life. Does not: the record of
runs (pipelines.dagster_app.recorder), what the schedule is (schedule).
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from warehouse import sqlite

RUNS, SCHEDULES = Path("dagster/history/runs.db"), Path("dagster/schedules/schedules.db")
LAST_HEARTBEAT = "SELECT max(timestamp) FROM daemon_heartbeats"
TURNED_ON = "SELECT count(*) FROM instigators WHERE instigator_type = 'SCHEDULE' AND status <> 'STOPPED'"
"""A state `DECLARED_IN_CODE` stays only while the code says that the schedule is on."""
SILENT = timedelta(minutes=5)
"""The daemon, of which each part gives a sign of life every half minute, has ended if it is silent for so long."""


def heartbeat(home: Path) -> datetime | None:
    """The last sign of life of Dagster's daemon, in UTC; None if it never ran in this home."""
    last = sqlite.value(home / RUNS, LAST_HEARTBEAT)
    return datetime.fromisoformat(last).replace(tzinfo=UTC) if isinstance(last, str) else None


def is_scheduled(home: Path) -> bool:
    """Whether the schedule is turned on, in the UI or by its setting; False if the record cannot be read."""
    return bool(sqlite.value(home / SCHEDULES, TURNED_ON))


def ticks(home: Path, now: datetime) -> bool:
    """Whether the schedule will begin the next synchronization: it is turned on, and the daemon lives."""
    last = heartbeat(home)
    return last is not None and now - last < SILENT and is_scheduled(home)
