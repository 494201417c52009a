"""SQLite files: whether one is whole, and a consistent copy of one that others write.

Belongs here: what holds for each SQLite file of a home. Does not: what is in them (serve.access,
pipelines.run_history).
"""

import sqlite3
from contextlib import closing
from pathlib import Path


def damage(path: Path) -> str:
    """What is wrong with a file, in one line; empty if nothing: its pages, indexes, types and constraints hold."""
    try:
        with closing(_opened(path)) as connection:
            [(said,)] = connection.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.Error as error:
        return str(error)
    return "" if said == "ok" else str(said).replace("\n", " ")


def copy(path: Path, to: Path) -> None:
    """Copy a file as it is at one moment, also while others write it.

    Raises:
        sqlite3.Error: it cannot be read or written.
    """
    with closing(_opened(path)) as connection, closing(sqlite3.connect(to)) as copied:
        connection.backup(copied)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
