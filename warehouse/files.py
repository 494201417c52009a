"""Helpers for published files: paths in SQL, and durable writes.

Belongs here: functions that publish and copies share. Does not: which files there are (publish, copies).
"""

import os
from pathlib import Path


def quoted(path: Path) -> str:
    """A path as an SQL string literal."""
    return "'" + str(path).replace("'", "''") + "'"


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk, so that they survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
