"""Reading published builds: open the current build, switch to a new one, close the old one.

Belongs here: connections to published builds and their lifetime.
Does not: the queries (queries), writing a build (publish).
"""

import logging
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import duckdb

from warehouse.build.digest import has_digest, refuse_other_overlay
from warehouse.build.opening import Row, open_read_only
from warehouse.build.pointer import POINTER, Pointer, current, kept, overlay_of, synchronized
from warehouse.errors import BuildDamaged, BuildUnreadable, NothingPublished, first_line

if TYPE_CHECKING:
    from warehouse.read.memory import Memory

log = logging.getLogger(__name__)


class ReadsRows(Protocol):
    """A function that reads the rows of a large build; `is_urgent` if requests wait for them."""

    def __call__(self, file: Path, *, is_urgent: bool) -> "Memory":
        """Read the rows of a build's file; raises BuildUnreadable."""


T = TypeVar("T")

OF_THE_QUERY = (duckdb.ProgrammingError, duckdb.DataError, duckdb.OutOfMemoryException, duckdb.InterruptException)
"""Errors of a query that do not mean that the file is damaged."""

FALLEN_BACK = "The newest build cannot be read; the last readable one is served."
UNREADABLE = "No build can be read."

LARGE = ("financials", "versions")
QUERIES = 2
"""Number of DuckDB queries that run at the same time; further queries wait.

Each needs 4 to 5 MB of its own, which DuckDB keeps, and uses all cores anyway: with eight at the same time a process
had 36 MB more, and answered no more queries.
"""
OPENED_AT_ONCE = 4 << 20  # bytes of an overlay that DuckDB may read while a request waits, in a twentieth of a second
AT_ONCE = 100_000  # rows of these tables that may be read while a request waits, in less than a tenth of a second


class OpenBuild:
    """An open build with its pointer; its rows never change."""

    _turns = threading.BoundedSemaphore(QUERIES)  # shared by all open builds

    _memory: "Memory | None" = None

    _source: Pointer | None = None
    """The build from which the rows in memory were read completely; rows of single companies may be renewed since."""

    def __init__(self, published: Path, pointer: Pointer) -> None:
        """Open the build that the pointer names.

        Raises:
            BuildUnreadable: the build or its synchronization times cannot be read, or its overlay is damaged.
        """
        self.pointer = pointer
        self.users = 0
        self._published = published
        self._reading = threading.Lock()
        self._updated = synchronized(published, pointer)
        refuse_other_overlay(published, pointer)
        try:
            self._connection = open_read_only(published / pointer.file)
        except duckdb.Error as error:
            path = published / pointer.file
            raise BuildUnreadable(f"{path}: {first_line(error)}; run `fundamentals sync`") from error

    @property
    def home(self) -> Path:
        """The home that contains the build."""
        return self._published.parent

    def rows(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """All rows of a query; may be called by several threads.

        Each call has its own cursor: threads that shared one got errors, and once an empty result.

        Raises:
            BuildDamaged: the query failed, and the files of the build are not as they were published.
            RuntimeError: this thread runs an event loop, which would stop for 5 to 12 ms.
        """
        with self._cursor(sql) as cursor:
            return cursor.execute(sql, parameters).fetchall()

    @property
    def has_rows(self) -> bool:
        """Whether the rows are in memory, so that `memory` returns at once."""
        return self._memory is not None

    @property
    def memory(self) -> "Memory":
        """The rows of the build in memory, from which requests are answered; read at the first use.

        Raises:
            BuildDamaged, RuntimeError: as `rows`.
            BuildUnreadable: its overlay is damaged.
        """
        if self._memory is None:
            from warehouse.read.memory import read  # NumPy: most commands need none of its rows

            with self._reading, self._cursor("rows"):
                self.hold(self._memory or read(self._published / self.pointer.file))
        assert self._memory
        return self._memory

    def hold(self, memory: "Memory") -> None:
        """Keep rows in memory that another connection read from the build's file and overlay.

        The overlay is checked again, because it may have changed since this build was opened.

        Raises:
            BuildUnreadable: the overlay is damaged.
        """
        refuse_other_overlay(self._published, self.pointer)
        self._memory, self._source = memory, self._source or self.pointer

    def takes_over(self, before: "OpenBuild") -> bool:
        """Reuse the rows of another build in memory, and read only the rows that differ.

        Returns:
            Whether that is possible: both have the same file, or the same base, and it is known which rows differ.

        Raises:
            BuildDamaged: as `rows`.
        """
        pointer, source = self.pointer, before._source
        if before._memory is None or source is None:
            return False
        if before.pointer.file == pointer.file:
            self._memory, self._source = before._memory, source
            return True
        if source.base != pointer.base or pointer.base == "" or pointer.renewed is None or source.renewed is None:
            return False
        if not {*source.renewed} <= {*pointer.renewed}:
            return False
        with self._cursor("rows") as cursor:
            self._memory, self._source = before._memory.with_renewed(cursor, frozenset(pointer.renewed)), source
        return True

    @contextmanager
    def _cursor(self, asked: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for the thread that calls; see `rows`."""
        if _runs_event_loop():
            raise RuntimeError(
                f"DuckDB was asked in the event loop, which must not wait; ask it in a thread: {asked} (an endpoint "
                "declares asks_duckdb=True in its row)"
            )
        try:
            with self._turns, self._connection.cursor() as cursor:
                yield cursor
        except duckdb.Error as error:
            if isinstance(error, OF_THE_QUERY) or has_digest(self._published, self.pointer):
                raise
            path = self._published / self.pointer.file
            raise BuildDamaged(f"{path} is damaged: {first_line(error)}; run `fundamentals sync`") from error

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


def retry_if_damaged(ask: Callable[[], T]) -> T:
    """Call a function that uses `Warehouse.build`; retry it up to twice if the build turns out to be damaged.

    Each retry gets another build, because a damaged build is not used again; a folder keeps two.
    """
    for _ in range(2):
        with suppress(BuildDamaged):
            return ask()
    return ask()


class Warehouse:
    """The published data: gives callers the current build, and closes an old build after its last use.

    If the current build cannot be read, callers get the previous one until the pointer names another build.
    """

    def __init__(self, published: Path, read: ReadsRows | None = None) -> None:
        """Create a reader for a folder of builds; the folder and a build need not exist before the first query.

        Args:
            published: the folder of builds.
            read: a function that reads the rows of a large build in another process. If it is given, the rows of each
                build are read before it becomes the current one; until then, the previous build stays the current one.
                If it is None, the rows of a build are read when they are first requested.
        """
        self._published = published
        self._pointer = str(published / POINTER)
        self._read = read
        self._lock = threading.Lock()
        self._current: OpenBuild | None = None
        self._seen: tuple[int, int, int] | None = None
        """The state of the pointer (_pointer_now) whose build is the current one or is being opened."""
        self._opening: threading.Thread | None = None
        """The thread that opens a large build while the previous one is served."""
        self._tried: tuple[int, int, int] | None = None
        """The state of the pointer for which a build was last opened, with or without success."""
        self._damaged: set[str] = set()
        """The files of builds that turned out to be damaged since the pointer last changed."""
        self.reason: str | None = None
        """Why older data than the newest build are served, as a sentence for clients; None if the newest is served."""

    @contextmanager
    def build(self) -> Iterator[OpenBuild]:
        """The current build for one request; it stays open and the same until the block ends.

        Raises:
            NothingPublished: no build is published.
            BuildUnreadable: neither the current build nor an earlier one can be opened.
        """
        with self._lock:
            held = self._refreshed()
            held.users += 1
        try:
            yield held
        except BuildDamaged as error:
            with self._lock:
                self._stop_using(held, error)
            raise
        finally:
            with self._lock:
                held.users -= 1
                if held is not self._current:
                    _retire(held)

    def in_memory(self) -> OpenBuild | None:
        """The current build if its rows are in memory; None otherwise, or if a new build has to be opened.

        It never waits, and the rows stay in memory when the build is closed.
        """
        held = self._current
        if held is None or not held.has_rows:
            return None
        is_current = self._opening or self._pointer_now() in (self._seen, None)
        return held if is_current and held is self._current else None  # another thread may have switched

    def close(self) -> None:
        """Close the current build as soon as no request uses it."""
        if opening := self._opening:
            opening.join()
        with self._lock:
            held, self._current, self._seen = self._current, None, None
            if held:
                _retire(held)

    def _pointer_now(self) -> tuple[int, int, int] | None:
        """Inode, time and size of the pointer, which change with each publication; None if there is no pointer."""
        try:
            status = os.stat(self._pointer)  # noqa: PTH116 - for each request, and three times as fast as Path.stat
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _refreshed(self) -> OpenBuild:
        """The build that the pointer names now, or the previous one while a large one is opened."""
        seen = self._pointer_now()
        if self._current and (self._opening or seen in (self._seen, None)):
            return self._current
        if seen != self._tried:
            self._damaged.clear()
            self._tried = seen
        if self._current and self._current.has_rows and self._opens_slowly(self._current.pointer.file):
            self._opening = threading.Thread(target=self._open_in_thread, name="rows", daemon=True)
            self._opening.start()
            self._seen = seen
            return self._current
        try:
            opened, self.reason = self._open(), None
        except BuildUnreadable as error:
            opened, self.reason = self._current or self._open_earlier(error), FALLEN_BACK
            log.error("%s; build %s is served", error, opened.pointer.build)
        if opened is not self._current:
            self._switch(opened)
        self._seen = seen  # last: until then, in_memory returns no build
        return opened

    def _opens_slowly(self, present: str) -> bool:
        """Whether the build that the pointer names has a large overlay, or a large file other than the present one."""
        with suppress(BuildUnreadable, OSError):
            if pointer := current(self._published):
                overlay = self._published / overlay_of(pointer.file)
                size = overlay.stat().st_size if overlay.exists() else 0
                return size > OPENED_AT_ONCE or (pointer.file != present and self._is_large(pointer))
        return False

    def _is_large(self, pointer: Pointer) -> bool:
        return self._read is not None and sum(pointer.rows.get(table, 0) for table in LARGE) > AT_ONCE

    def _open_in_thread(self) -> None:
        """Open the current build while the previous one is served."""
        opened = None
        try:
            opened = self._open(is_urgent=False)
        except (BuildUnreadable, NothingPublished) as error:
            log.error("%s; build %s is served", error, self._current.pointer.build if self._current else None)
        finally:
            with self._lock:
                self._opening = None
                if opened and opened.pointer.file not in self._damaged:
                    self.reason = None
                    self._switch(opened)
                else:
                    self.reason = FALLEN_BACK

    def _switch(self, opened: OpenBuild) -> None:
        """Make an open build the current one."""
        if self._current:
            _retire(self._current)
        self._current = opened

    def _open(self, *, is_urgent: bool = True) -> OpenBuild:
        """Open the build that the pointer names; retry if a publication replaced it while it was being opened."""
        pointer = current(self._published)
        while pointer:
            try:
                if pointer.file in self._damaged:
                    raise BuildUnreadable(f"{self._published / pointer.file} is damaged; run `fundamentals sync`")
                return self._open_build(pointer, is_urgent=is_urgent)
            except BuildUnreadable:
                before, pointer = pointer, current(self._published)
                if pointer == before:
                    raise
        raise NothingPublished("no data has been published yet; run `fundamentals sync`")

    def _open_build(self, pointer: Pointer, *, is_urgent: bool) -> OpenBuild:
        """Open a build; if this warehouse has a function `read`, also read its rows into memory.

        Rows that are the same in the current build are taken over from it.

        Args:
            pointer: names the build.
            is_urgent: whether requests wait for the rows; if not, requests have priority over the process that reads.

        Raises:
            BuildUnreadable: the build cannot be opened, or is damaged.
        """
        opened, before = OpenBuild(self._published, pointer), self._current  # another thread may set it to None
        try:
            if self._read and not (before and opened.takes_over(before)):
                if self._is_large(pointer):
                    self._read_large(opened, self._read, is_urgent=is_urgent)
                _ = opened.memory
        except (duckdb.Error, BuildUnreadable) as error:
            opened.close()
            raise BuildUnreadable(f"{self._published / pointer.file}: {first_line(error)}") from error
        return opened

    def _read_large(self, opened: OpenBuild, read: ReadsRows, *, is_urgent: bool) -> None:
        """Read the rows of a build in another process; if that fails, log it: this process then reads them."""
        try:
            opened.hold(read(self._published / opened.pointer.file, is_urgent=is_urgent))
        except BuildUnreadable as error:
            log.error("%s: %s; this process reads its rows, which slows requests down", opened.pointer.file, error)

    def _open_earlier(self, error: BuildUnreadable) -> OpenBuild:
        """Open the newest kept build that can be opened, after the current one could not be opened.

        Args:
            error: why the current build could not be opened.

        Raises:
            BuildUnreadable: no build can be opened; it is `error`.
        """
        for pointer in kept(self._published):
            if pointer.file not in self._damaged:
                with suppress(BuildUnreadable):
                    return self._open_build(pointer, is_urgent=True)
        self.reason = UNREADABLE
        raise error

    def _stop_using(self, held: OpenBuild, error: BuildDamaged) -> None:
        """Stop using a build that turned out to be damaged while it was read."""
        self._damaged.add(held.pointer.file)
        if held is self._current:
            log.error("%s", error)
            self._current = None


def _runs_event_loop() -> bool:
    """Whether this thread runs an event loop; avoids importing asyncio, which would cost commands 30 ms."""
    running_loop = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    return bool(running_loop and running_loop())


def _retire(build: OpenBuild) -> None:
    """Close a build that is no longer current, unless a request still uses it."""
    if not build.users:
        build.close()
