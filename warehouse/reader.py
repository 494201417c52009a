"""Reading published builds: open the current build, switch to a new one, close the old one.

Belongs here: connections to published builds and their lifetime.
Does not: the queries (queries), writing a build (publish).
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from warehouse.errors import BuildUnreadable, NothingPublished, first_line
from warehouse.pointer import POINTER, Pointer, current, synchronized

log = logging.getLogger(__name__)

# read_only alone is not a sandbox: SQL could still read and write other files, or change the settings
SANDBOX: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "lock_configuration": "true",
}

Row = tuple[Any, ...]


def open_read_only(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a build's file for reading, without access to anything else.

    Raises:
        duckdb.Error: the file is missing or is not a DuckDB database.
    """
    return duckdb.connect(path, read_only=True, config=SANDBOX)


class OpenBuild:
    """An open build with its pointer; its rows never change."""

    def __init__(self, published: Path, pointer: Pointer) -> None:
        """Open the build that the pointer names.

        Raises:
            BuildUnreadable: the build or its synchronization times cannot be read.
        """
        self.pointer = pointer
        self.users = 0
        self._updated = synchronized(published, pointer)
        try:
            self._connection = open_read_only(published / pointer.file)
        except duckdb.Error as error:
            path = published / pointer.file
            raise BuildUnreadable(f"{path}: {first_line(error)}; run `fundamentals sync`") from error

    def rows(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """All rows of a query; safe for threads.

        Each call has its own cursor: threads that shared one got errors, and once an empty result.
        """
        with self._connection.cursor() as cursor:
            return cursor.execute(sql, parameters).fetchall()

    @cached_property
    def columns(self) -> Mapping[str, frozenset[str]]:
        """The columns of each table; a build published by an earlier version of this service lacks newer columns."""
        found: dict[str, set[str]] = defaultdict(set)
        for table, column in self.rows("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"):
            found[table].add(column)
        return {table: frozenset(columns) for table, columns in found.items()}

    def updated_at(self, cik: str) -> str | None:
        """The time of a company's last synchronization, ISO 8601 in UTC; None if unknown."""
        return self._updated.get(cik)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class Warehouse:
    """The published data: gives callers the current build, and closes an old build after its last use."""

    def __init__(self, published: Path) -> None:
        """Create a reader of a folder of builds; the folder and a build are needed from the first query on only."""
        self._published = published
        self._lock = threading.Lock()
        self._current: OpenBuild | None = None
        self._seen: tuple[int, int, int] | None = None
        self.outdated = False
        """True while the pointer names a build that cannot be opened and the previous build is used instead."""

    @contextmanager
    def build(self) -> Iterator[OpenBuild]:
        """The current build for one request; it stays open and the same until the block ends.

        Raises:
            NothingPublished: no build is published.
            BuildUnreadable: the build cannot be opened, and no previous build is open.
        """
        with self._lock:
            held = self._refreshed()
            held.users += 1
        try:
            yield held
        finally:
            with self._lock:
                held.users -= 1
                if held is not self._current:
                    _retire(held)

    def close(self) -> None:
        """Close the current build as soon as no request uses it."""
        with self._lock:
            held, self._current, self._seen = self._current, None, None
            if held:
                _retire(held)

    def _refreshed(self) -> OpenBuild:
        """The build that the pointer names now; a changed inode, time or size of the pointer means a new build."""
        try:
            status = (self._published / POINTER).stat()
        except OSError:
            if self._current:
                return self._current
            raise NothingPublished("no data has been published yet; run `fundamentals sync`") from None
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._current and seen == self._seen:
            return self._current
        try:
            opened = self._open()
        except BuildUnreadable as error:
            if self._current is None:
                raise
            log.error("%s; the previous build is still served", error)
            self._seen, self.outdated = seen, True
            return self._current
        if self._current:
            _retire(self._current)
        self._current, self._seen, self.outdated = opened, seen, False
        return opened

    def _open(self) -> OpenBuild:
        """Open the current build; try again if a publication replaced it while it was being opened."""
        pointer = current(self._published)
        while pointer:
            try:
                return OpenBuild(self._published, pointer)
            except BuildUnreadable:
                before, pointer = pointer, current(self._published)
                if pointer == before:
                    raise
        raise NothingPublished("no data has been published yet; run `fundamentals sync`")


def _retire(build: OpenBuild) -> None:
    """Close a build that is no longer current, unless a request still uses it."""
    if not build.users:
        build.close()
