"""The overlay of a build: the rows in which it differs from an earlier one, its base, as a write-ahead log of DuckDB.

Belongs here: when a build gets one, writing it, checking its rows. Does not: a build with all rows, and the folder of
builds (publish).

A large build takes a gigabyte and minutes, although a filing changes one company. DuckDB reads a write-ahead log
automatically when it opens the file next to it. So the build's file is a hard link to the base's file, and its log
replaces the rows of all companies that have changed since; readers of the file need not know. The log is written with a
working copy of the base: DuckDB locks a file that it may write, and the readers of the base have it locked already.
"""

import shutil
from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from warehouse.build.pointer import Pointer, overlay_of
from warehouse.build.rows import Rows
from warehouse.build.verify import MEMORY, Contents, Replaced, Sums, count, source, sums, verify
from warehouse.contract import schema
from warehouse.errors import VerificationError
from warehouse.files import of_companies, quoted, sync

MIN_FILE_SIZE = 8 << 20
"""Size of a file in bytes from which a build gets an overlay: that of about fifty companies. A smaller file is written
anew as fast."""
MAX_OVERLAY_SIZE = 16 << 20
"""Size of an overlay in bytes from which the next build has all rows: DuckDB reads the whole overlay when it opens the
file, and keeps it in memory, where it takes more than twice as much.
"""
MAX_COMPANIES = 100
"""Most companies whose rows may be replaced at once; the rows of one company take half a megabyte of a log."""
MAX_BASE_AGE = timedelta(hours=20)
"""Age of a base from which all rows are written: so a synchronization each night renews the file and its copies."""
ROWS = 60_000
"""Rows of a transaction. With more than 122,880, DuckDB writes some of them into the file itself, which is the base."""
NO_CHECKPOINT = "1TB"
"""The size of a log from which DuckDB would write it into the file; never reached."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """How a build is made from the previous one: the rows of the given companies are replaced.

    before: the pointer to the previous build.
    companies: the CIKs of the companies whose rows differ.
    rows: the new rows of these companies, for each table that is made company by company. In other tables the rows that
        differ are replaced.
    """

    before: Pointer
    companies: Set[str]
    rows: Mapping[str, Rows]

    def is_worth_it(self, published: Path) -> bool:
        """Whether an overlay pays off: a large build, few new rows, a recent base whose digests are known."""
        before = self.before
        if not (before.sums and before.digests and before.base_at) or before.renewed is None:
            return False
        age = datetime.now(UTC) - datetime.fromisoformat(before.base_at)
        is_of_today = timedelta(0) <= age < MAX_BASE_AGE  # below zero: the clock was ahead when the base was published
        file, overlay = (_size(published / name) for name in (before.file, overlay_of(before.file)))
        return (
            is_of_today
            and file >= MIN_FILE_SIZE
            and overlay < MAX_OVERLAY_SIZE
            and len(self.companies) <= MAX_COMPANIES
        )

    @property
    def since_base(self) -> frozenset[str]:
        """All companies whose rows differ from the base."""
        return frozenset(self.companies).union(self.before.renewed or ())


def copy_of_base(base: str) -> str:
    """The file name of the working copy with which overlays of a base are written."""
    return f".base-{base}.duckdb"


def write(published: Path, path: Path, tables: Mapping[str, Rows], renewal: Renewal) -> Contents:
    """Write the file of a build and its overlay, and check the rows that differ from the previous build.

    Args:
        published: the folder of builds.
        path: the file to write; the overlay is written next to it.
        tables: the rows of each table, as for `publish.build`.
        renewal: the previous build, and the rows to replace.

    Raises:
        VerificationError: the rows differ from the tables, or the previous build is not as it was published.
        duckdb.Error, OSError: a file cannot be read or written, or the file system has no hard links.
    """
    before = published / renewal.before.file
    base = _copied(before, published / copy_of_base(renewal.before.base))
    log, overlay_before = base.with_name(overlay_of(base.name)), before.with_name(overlay_of(before.name))
    log.unlink(missing_ok=True)
    if overlay_before.exists():
        shutil.copyfile(overlay_before, log)
    unchanged = _stamp(base)
    settings: dict[str, Any] = {"memory_limit": MEMORY, "checkpoint_threshold": NO_CHECKPOINT, "threads": "1"}
    with duckdb.connect(":memory:", config=settings) as connection:
        connection.execute(f"SET temp_directory = {quoted(path.with_suffix('.spill'))}")
        connection.execute(f"ATTACH {quoted(base)} AS build; PRAGMA disable_checkpoint_on_shutdown")
        expected, replaced = _replace(connection, tables, renewal)
        connection.execute("DETACH build")
    if _stamp(base) != unchanged or not log.exists():
        base.unlink()
        raise VerificationError(f"{base}: DuckDB wrote rows into the file instead of its log")
    log.replace(path.with_name(overlay_of(path.name)))
    path.hardlink_to(before)
    return verify(path, expected, replaced)


def _replace(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Rows], renewal: Renewal
) -> tuple[dict[str, Sums], dict[str, Replaced]]:
    """Replace the rows that differ; return the sums of all rows by table, and the replaced rows of some tables."""
    expected, replaced = {}, {}
    for table in schema.TABLES:
        held, known = f'build.main."{table.name}"', Sums.of_text(renewal.before.sums[table.name])
        names = ", ".join(f'"{name}"' for name in table.names)
        rows = source(connection, table, {**tables, **renewal.rows}.get(table.name))
        new = sums(connection, table, rows)
        if table.name in renewal.rows:
            gone, added = of_companies(renewal.companies), "true"
            expected[table.name] = known.less(sums(connection, table, f"(FROM {held} WHERE {gone})")).plus(new)
            replaced[table.name] = Replaced(gone, new)
        else:
            is_new = f"hash({names}) NOT IN (SELECT hash({names}) FROM {{}})"
            gone, added = is_new.format(rows) if rows else "true", is_new.format(held)
            expected[table.name] = new
        if rows:
            connection.execute(f"CREATE OR REPLACE TEMP TABLE added AS SELECT {names} FROM {rows} WHERE {added}")
        connection.execute(f"DELETE FROM {held} WHERE {gone}")
        for first in range(0, count(connection, "added") if rows else 0, ROWS):
            some = f"SELECT {names} FROM added WHERE rowid BETWEEN {first} AND {first + ROWS - 1}"
            connection.execute(f"INSERT INTO {held} ({names}) {some}")
    return expected, replaced


def _copied(file: Path, copy: Path) -> Path:
    """The working copy of a base; made if it does not exist."""
    if not copy.exists():
        written = copy.with_name(f"{copy.name}.tmp")
        shutil.copyfile(file, written)
        sync(written)
        written.replace(copy)
    return copy


def _stamp(path: Path) -> tuple[int, int]:
    return path.stat().st_size, path.stat().st_mtime_ns


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
