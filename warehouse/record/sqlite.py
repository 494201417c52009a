"""SQLite files: an integrity check, and a consistent copy of a file that other processes write.

Belongs here: functions for any SQLite file of a home. Does not: their content (serve.access,
pipelines.dagster_app.recorder).
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Errors for damaged files; UnicodeDecodeError, because a message of SQLite may quote bytes that are not text."""
OF_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
OF_FILE = (sqlite3.SQLITE_IOERR_SHORT_READ,)
"""OF_DISK: codes that mean a problem of the disk or permissions, not of the file; OF_FILE: exceptions from these."""


def damage(path: Path, *, refers: bool = False) -> str:
    """A description of the damage of a file, in one line; empty if it is intact.

    Checks pages, indexes, types and constraints; with `refers`, also that no row refers to a missing one. Dagster
    leaves rows with missing references when a run is deleted.

    Raises:
        OSError: the file cannot be examined, because the disk is full, read-only or failing.
    """
    try:
        with closing(_opened(path, "rw")) as connection:  # opened read-only, SQLite skips CHECK constraints
            [(said,)] = connection.execute("PRAGMA integrity_check(1)").fetchall()
            astray = connection.execute("PRAGMA foreign_key_check").fetchone() if refers else None
    except ERRORS as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        if code & 0xFF in OF_DISK and code not in OF_FILE:
            raise OSError(f"{path} cannot be examined: {in_one_line(error)}") from error
        return in_one_line(error)
    if said != "ok":
        return in_one_line(said)
    return f"a row of table {astray[0]} refers to a missing row of table {astray[2]}" if astray else ""


def in_one_line(said: object) -> str:
    """A message of SQLite in one line: it may quote the definition of a table."""
    return " ".join(str(said).split())


def copy(path: Path, to: Path) -> None:
    """Copy a file in the state of one moment, even while other processes write it.

    Raises:
        sqlite3.Error: it cannot be read or written.
    """
    with closing(_opened(path)) as connection, closing(sqlite3.connect(to)) as copied:
        connection.backup(copied)


def value(path: Path, query: str) -> object:
    """The value that a query returns; None without a row, or if the file is missing or cannot be read."""
    try:
        with closing(_opened(path)) as connection:
            [found] = connection.execute(query).fetchone() or [None]
            return found
    except ERRORS:
        return None


def _opened(path: Path, mode: Literal["ro", "rw"] = "ro") -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
