"""SQLite files: whether one is whole, and a consistent copy of one that others write.

Belongs here: what holds for each SQLite file of a home. Does not: what is in them (serve.access,
pipelines.dagster_app.recorder).
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Errors for damaged files: a message of SQLite may quote bytes that are no text."""
OF_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
OF_FILE = (sqlite3.SQLITE_IOERR_SHORT_READ,)
"""Codes that say nothing about the file, but about the disk and permissions; and those of them that are of the file."""


def damage(path: Path, *, refers: bool = False) -> str:
    """What is wrong with a file, in one line; empty if nothing.

    Its pages, indexes, types and constraints hold; with `refers`, no row refers to a missing one. Dagster leaves such
    rows when a run is deleted.

    Raises:
        OSError: the file cannot be examined, because the disk is full, read-only or failing.
    """
    try:
        with closing(_opened(path, "rw")) as connection:  # SQLite reads no CHECK of a file that is opened to read only
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
    """What SQLite says, in one line: it may quote the definition of a table."""
    return " ".join(str(said).split())


def copy(path: Path, to: Path) -> None:
    """Copy a file as it is at one moment, also while others write it.

    Raises:
        sqlite3.Error: it cannot be read or written.
    """
    with closing(_opened(path)) as connection, closing(sqlite3.connect(to)) as copied:
        connection.backup(copied)


def value(path: Path, query: str) -> object:
    """The value that a query gives; None if there is none, or the file is missing or cannot be read."""
    try:
        with closing(_opened(path)) as connection:
            [found] = connection.execute(query).fetchone() or [None]
            return found
    except ERRORS:
        return None


def _opened(path: Path, mode: Literal["ro", "rw"] = "ro") -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
