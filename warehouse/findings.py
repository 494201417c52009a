"""Findings: what an examination of a home found, and what to do about it.

Belongs here: the form of a finding, which the checks of the pipeline and of the service share; the check of an SQLite
file. Does not: any other check (pipelines.health, serve.cli.health), printing (pipelines.doctor).
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

WELL, WARNING, DAMAGE = 0, 1, 2
"""States of a part, in the order of severity; the exit status of an examination is the worst of them."""
NAMES = ("well", "warning", "damage")


class Finding(NamedTuple):
    """The state of one part of a home.

    part: what was examined.
    state: WELL, WARNING (it works, but not for long or not as meant) or DAMAGE (something does not work or is lost).
    text: what was found.
    advice: what to do; empty if nothing.
    repair: does what can be done safely, and returns what it did; None: nothing can be done safely.
    """

    part: str
    state: int
    text: str
    advice: str = ""
    repair: Callable[[], str] | None = None


def damage_of_sqlite(path: Path) -> str:
    """What is wrong with an SQLite file, in one line; empty if nothing: pages, indexes, types and constraints hold."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            [(said,)] = connection.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.Error as error:
        return str(error)
    return "" if said == "ok" else str(said).replace("\n", " ")
