"""Reads Dagster's databases in a home, for the service and the doctor, which do not import Dagster.

Belongs here: whether the daily schedule is turned on, and the daemon's last heartbeat. Does not: the record of runs
(pipelines.dagster_app.recorder), the times of the schedule (schedule).
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from warehouse.record import sqlite

RUNS, SCHEDULES = Path("dagster/history/runs.db"), Path("dagster/schedules/schedules.db")
LAST_HEARTBEAT = "SELECT max(timestamp) FROM daemon_heartbeats"
TURNED_ON = "SELECT count(*) FROM instigators WHERE instigator_type = 'SCHEDULE' AND status <> 'STOPPED'"
"""State `DECLARED_IN_CODE` exists only while the code says that the schedule is on."""
SILENT = timedelta(minutes=5)
"""The daemon sends a heartbeat every half minute; after this time without one it has ended."""


def heartbeat(home: Path) -> datetime | None:
    """The last heartbeat of Dagster's daemon, in UTC; None if it never ran in this home."""
    last = sqlite.value(home / RUNS, LAST_HEARTBEAT)
    return datetime.fromisoformat(last).replace(tzinfo=UTC) if isinstance(last, str) else None


def is_scheduled(home: Path) -> bool:
    """Whether the schedule is turned on, in the UI or by its setting; False if the record cannot be read."""
    return bool(sqlite.value(home / SCHEDULES, TURNED_ON))


def ticks(home: Path, now: datetime) -> bool:
    """Whether the schedule will start the next synchronization: it is turned on, and the daemon is alive."""
    last = heartbeat(home)
    return last is not None and now - last < SILENT and is_scheduled(home)
