"""Checks Dagster's record of runs and schedules, in SQLite files.

Belongs here: checking the files, and removing damaged ones. Does not: writing them (recorder).
"""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pipelines.storage.home import Home
from warehouse.contract.findings import DAMAGE, WELL, Finding
from warehouse.record import sqlite

SCHEDULES = "schedules"
SIDE_FILES = ("-wal", "-shm", "-journal")
FILES_OF_WHOLE_RECORD = ("runs.db", "index.db")
"""Files that belong to the whole record; each other file has the events of one run."""


def check(home: Home) -> Iterator[Finding]:
    """Check each file of the record; a damaged file can be removed, because it has only the history for the UI."""
    files = sorted(home.dagster.rglob("*.db"))
    for path in files:
        if said := sqlite.damage(path):
            deleted = _path_to_delete(home, path)
            advice = f"stop the Dagster UI, delete {deleted}; it has only the record of earlier runs"
            if path.parent.name == SCHEDULES:
                advice = f"stop the Dagster UI, delete {deleted}, and turn the schedule on again in the UI"
            yield Finding("run record", DAMAGE, f"{path}: {said}", advice, partial(_remove, deleted))
            return
    yield Finding("run record", WELL, f"{len(files)} files")


def _path_to_delete(home: Home, path: Path) -> Path:
    """The path to delete for a damaged file: its folder if it belongs to the whole record, otherwise the file."""
    is_of_all = path.name in FILES_OF_WHOLE_RECORD
    return home.dagster / path.relative_to(home.dagster).parts[0] if is_of_all else path


def _remove(path: Path) -> str:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        for each in (path, *(path.with_name(path.name + end) for end in SIDE_FILES)):
            each.unlink(missing_ok=True)
    return f"removed {path}"
