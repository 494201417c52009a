"""Files on disk: paths in SQL, and writes that last.

Belongs here: what every module that writes published files needs. Does not: which files there are (publish, copies).
"""

import os
from pathlib import Path


def quoted(path: Path) -> str:
    """A path as a literal of SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def sync(path: Path) -> None:
    """Make what was written to a file, or the names in a folder, last should the machine stop."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
