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
from functools import cached_property, partial
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


class ReadsLarge(Protocol):
    """A function that reads the rows of a large build; `is_urgent` if no build in memory can answer meanwhile."""

    def __call__(self, file: Path, *, is_urgent: bool) -> "Memory":
        """Read the rows of a build's file."""


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

    memory: "Memory | None" = None
    """The rows of the build in memory, which answer the queries of the interface; None: DuckDB answers them."""

    memory_source: Pointer | None = None
    """The build from which the rows in memory were read completely; rows of single companies may be renewed since."""

    def __init__(self, published: Path, pointer: Pointer) -> None:
        """Open the build that the pointer names.

        Raises:
            BuildUnreadable: the build or its synchronization times cannot be read, or its overlay is damaged.
        """
        self.pointer = pointer
        self.users = 0
        self._published = published
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
        if _runs_event_loop():
            raise RuntimeError(f"DuckDB was asked in the event loop, which must not wait; ask it in a thread: {sql}")
        try:
            with self._turns, self._connection.cursor() as cursor:
                return cursor.execute(sql, parameters).fetchall()
        except duckdb.Error as error:
            if isinstance(error, OF_THE_QUERY) or has_digest(self._published, self.pointer):
                raise
            path = self._published / self.pointer.file
            raise BuildDamaged(f"{path} is damaged: {first_line(error)}; run `fundamentals sync`") from error

    def takes_over(self, before: "OpenBuild") -> bool:
        """Reuse the rows of another build in memory, and read only the rows that differ.

        Returns:
            Whether that is possible: both have the same base, and it is known which rows differ.

        Raises:
            duckdb.Error: the build cannot be read.
        """
        pointer, source = self.pointer, before.memory_source
        if not (before.memory and source and source.base == pointer.base != ""):
            return False
        if pointer.renewed is None or source.renewed is None or not {*source.renewed} <= {*pointer.renewed}:
            return False
        with self._connection.cursor() as cursor:
            self.memory = before.memory.with_renewed(cursor, frozenset(pointer.renewed))
            self.memory_source = source
        return True

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

    def __init__(
        self,
        published: Path,
        read: "Callable[[Path], Memory] | None" = None,
        read_large: "ReadsLarge | None" = None,
    ) -> None:
        """Create a reader for a folder of builds; the folder and a build need not exist before the first query.

        Args:
            published: the folder of builds.
            read: reads the rows of a build's file into memory; None: DuckDB answers all queries.
            read_large: the same for a large build, called in a thread. Until it returns, the previous build stays the
                current one; without a previous one DuckDB answers, which is slower, and the call is urgent. None:
                `read`.
        """
        self._published = published
        self._pointer = str(published / POINTER)
        self._read = read
        self._read_large = read_large
        self._lock = threading.Lock()
        self._current: OpenBuild | None = None
        self._seen: tuple[int, int, int] | None = None
        self._reading: threading.Thread | None = None
        self._tried: tuple[int, int, int] | None = None
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
                self._leave(held, error)
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
        if held is None or held.memory is None:
            return None
        is_current = self._reading or self._pointer_now() in (self._seen, None)
        return held if is_current and held is self._current else None  # another thread may have switched

    def close(self) -> None:
        """Close the current build as soon as no request uses it."""
        if reading := self._reading:
            reading.join()
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
        """The build that the pointer names now, or the previous one while the rows of a new one are read."""
        seen = self._pointer_now()
        if self._current and (self._reading or seen in (self._seen, None)):
            return self._current
        if seen != self._tried:
            self._damaged.clear()
            self._tried = seen
        if self._current and self._current.memory and self._opens_slowly():
            self._reading = threading.Thread(target=self._open_and_read, name="rows", daemon=True)
            self._reading.start()
            self._seen = seen
            return self._current
        try:
            opened, self.reason = self._open(), None
        except BuildUnreadable as error:
            opened, self.reason = self._current or self._earlier(error), FALLEN_BACK
            log.error("%s; build %s is served", error, opened.pointer.build)
            if opened is self._current:
                self._seen = seen
                return opened
        if self._current and self._current.pointer.file == opened.pointer.file:
            opened.memory, opened.memory_source = self._current.memory, self._current.memory_source
        elif self._read and sum(opened.pointer.rows.get(table, 0) for table in LARGE) > AT_ONCE:
            is_urgent = self._current is None or self._current.memory is None
            self._reading = threading.Thread(target=self._read_on, args=(opened, is_urgent), name="rows", daemon=True)
            self._reading.start()
            self._seen = seen
            return self._current or self._switch(opened)
        else:
            self._read_rows(opened, self._read)
        self._switch(opened)
        self._seen = seen  # last: until then, in_memory returns no build
        return opened

    def _opens_slowly(self) -> bool:
        """Whether the build that the pointer names has a large overlay, which takes long to read."""
        with suppress(BuildUnreadable, OSError):
            pointer = current(self._published)
            overlay = self._published / overlay_of(pointer.file) if pointer else None
            return overlay is not None and overlay.stat().st_size > OPENED_AT_ONCE
        return False

    def _open_and_read(self) -> None:
        """Open the current build and read its rows in a thread, while the previous build is served."""
        opened = None
        try:
            opened = self._open()
        except (BuildUnreadable, NothingPublished) as error:
            log.error("%s; build %s is served", error, self._current.pointer.build if self._current else None)
        finally:
            with self._lock:
                self.reason = None if opened else FALLEN_BACK
                self._reading = self._reading if opened else None
        before = self._current
        if opened is None:
            return
        if before and before.pointer.file == opened.pointer.file:
            opened.memory, opened.memory_source = before.memory, before.memory_source
            with self._lock:
                self._reading = None
                self._switch(opened)
        else:
            self._read_on(opened, is_urgent=False)

    def _read_on(self, opened: OpenBuild, is_urgent: bool) -> None:
        """Read the rows of a build in a thread, then make it the current one, even if its rows could not be read."""
        try:
            self._read_rows(opened, partial(self._read_large, is_urgent=is_urgent) if self._read_large else self._read)
        finally:
            with self._lock:
                self._reading = None
                if opened is not self._current and opened.pointer.file not in self._damaged:
                    self._switch(opened)

    def _read_rows(self, opened: OpenBuild, read: "Callable[[Path], Memory] | None") -> None:
        before = self._current  # another thread may set it to None meanwhile
        try:
            if read and not (before and opened.takes_over(before)):
                memory = read(self._published / opened.pointer.file)
                refuse_other_overlay(self._published, opened.pointer)  # its files were opened again
                opened.memory, opened.memory_source = memory, opened.pointer
        except (duckdb.Error, BuildUnreadable) as error:
            log.error("%s: %s; its queries take longer", opened.pointer.file, first_line(error))

    def _switch(self, opened: OpenBuild) -> OpenBuild:
        if self._current:
            _retire(self._current)
        self._current = opened
        return opened

    def _open(self) -> OpenBuild:
        """Open the current build; retry if a publication replaced it while it was being opened."""
        pointer = current(self._published)
        while pointer:
            try:
                if pointer.file in self._damaged:
                    raise BuildUnreadable(f"{self._published / pointer.file} is damaged; run `fundamentals sync`")
                return OpenBuild(self._published, pointer)
            except BuildUnreadable:
                before, pointer = pointer, current(self._published)
                if pointer == before:
                    raise
        raise NothingPublished("no data has been published yet; run `fundamentals sync`")

    def _earlier(self, error: BuildUnreadable) -> OpenBuild:
        """Open the newest kept build that can be opened.

        Raises:
            BuildUnreadable: no build can be opened; the error is the one of the current build.
        """
        for pointer in kept(self._published):
            if pointer.file not in self._damaged:
                with suppress(BuildUnreadable):
                    return OpenBuild(self._published, pointer)
        self.reason = UNREADABLE
        raise error

    def _leave(self, held: OpenBuild, error: BuildDamaged) -> None:
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
