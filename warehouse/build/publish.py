"""Publishing: write a new build, verify it, and point to it.

Belongs here: all writes to the folder of builds. Their order ensures that, whenever the process is killed, the pointer
names a complete build, old or new, and that the next run needs no manual repair.
Does not: the content of the tables (pipelines), opening and querying a build (reader, queries).

Each build is a new file that is never modified, or a link to an earlier one with an overlay: DuckDB does not allow a
writer while others read, and replacing a file under its readers would give them inconsistent data. A build is written
under a temporary name, verified, and then renamed, so that every `warehouse-*.duckdb` is complete and has its
`parquet-*` folder.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import msgspec

from warehouse.build import copies, overlay, seal
from warehouse.build.digest import digest_of, digests_of, file_digest
from warehouse.build.overlay import Renewal
from warehouse.build.pointer import (
    POINTER,
    Pointer,
    Synchronization,
    copies_of,
    current,
    description_of,
    overlay_of,
    synchronized,
)
from warehouse.build.pointer import kept as kept_builds
from warehouse.build.rows import Rows
from warehouse.build.verify import MEMORY, Contents, Sums, content_hash, is_whole, source, sums, verify
from warehouse.contract import definitions, schema
from warehouse.contract.table import Table
from warehouse.errors import BuildUnreadable, PublishError, VerificationError, first_line
from warehouse.files import quoted, sync

__all__ = [
    "Build",
    "Pointer",
    "PublishError",
    "Renewal",
    "VerificationError",
    "build",
    "content_hash",
    "current",
    "point",
    "prune",
    "readable",
    "record",
    "rollback",
]

LINK = "warehouse.duckdb"
TEMPORARY = ".building-"
# files and folders that are removed once nothing points to them
FILES = "warehouse-*.duckdb"
OURS = (
    *(f"{TEMPORARY}*", FILES, overlay_of(FILES), "warehouse-*.json", copies.FOLDERS, "synchronized-*.json"),
    f"{overlay.copy_of_base('*')}*",
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # build and synchronization ids are parts of file names


SMALL = 4 << 20
"""Bytes of Parquet files below which one thread loads them: more threads need a fifth more CPU and as much time."""


@dataclass(frozen=True, slots=True)
class Build:
    """A complete, verified build that is not published yet.

    base: the build that its file and copies come from: this one, or an earlier one if this build has an overlay.
    base_at: when that earlier one was published. renewed: the companies whose rows differ from the base.
    """

    build_id: str
    file: str
    sums: Mapping[str, Sums]
    content_hash: str
    digests: Mapping[str, str]
    newest_filing: str | None
    companies: int
    base: str
    base_at: str = ""
    renewed: frozenset[str] = frozenset()

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table."""
        return {name: sums.rows for name, sums in self.sums.items()}

    @property
    def digest(self) -> str:
        """The digest of all files of the build."""
        return digest_of(self.digests)


def build(published: Path, tables: Mapping[str, Rows], build_id: str, renewal: Renewal | None = None) -> Build:
    """Write the file of a build and the copies of its tables, and verify both.

    Args:
        published: the folder of builds; created if it does not exist.
        tables: the rows of each table that has any, with its columns and their types.
        build_id: part of the file name; must be new.
        renewal: how to make the build from the previous one, with an overlay. If an overlay is not worth it
            (overlay.Renewal), or the previous build cannot be read, all rows are written instead.

    Returns:
        The build, complete and read-only in the folder, for `point`.

    Raises:
        VerificationError: the file or a copy does not have the rows of the tables, a key occurs twice, or a number is
            not finite. All files of the build are removed.
        PublishError: a table is unknown, a Parquet file does not match its table, or the file cannot be written. All
            files of the build are removed.
    """
    file = f"warehouse-{_file_name_part(build_id)}.duckdb"
    unknown = sorted(tables.keys() - schema.BY_NAME.keys())
    if unknown:
        raise PublishError(f"build {build_id}: no such table: {', '.join(unknown)}; schema.py lists the tables")
    with _as_publish_errors(published):
        published.mkdir(parents=True, exist_ok=True)
        if _is_pointed_to(published, file):
            raise PublishError(f"build {build_id} is published already; a build needs a new id")
        temporary = published / f"{TEMPORARY}{build_id}.duckdb"
        try:
            _clear(published, f"{TEMPORARY}{build_id}.*", copies_of(file), overlay_of(file))
            base, held = _made(published, temporary, tables, renewal)
            copied, overlay_file = temporary.with_suffix(".parquet"), temporary.with_name(overlay_of(temporary.name))
            if base:
                copies.link(published / copies_of(base.file), copied)
                overlay_file.chmod(0o400)
                sync(overlay_file)
                overlay_file.replace(published / overlay_of(file))
            else:
                temporary.chmod(0o400)
                copies.write(temporary, copied)
            copied.replace(published / copies_of(file))
            temporary.replace(published / file)
            sync(published)
            digests = _digests(published, file, base) if base else digests_of(published, file)
        except duckdb.Error as error:
            raise PublishError(f"build {build_id}: {first_line(error)}; the previous build stays published") from error
        finally:
            _clear(published, f"{TEMPORARY}{build_id}.*")
    of_base = (base.base, base.base_at, renewal.since_base) if base and renewal else (build_id,)
    return Build(build_id, file, held.sums, held.content_hash, digests, held.newest_filing, held.companies, *of_base)


def point(
    published: Path,
    build: Build,
    *,
    inputs: str,
    synchronization: Mapping[str, str],
    updated: Mapping[str, str],
    log: tuple[str, ...] = (),
    is_mended: bool = False,
    is_scheduled: bool = False,
    quarantined: int = 0,
    release: str = "",
) -> None:
    """Make a build the current one, and remove files that nothing points to any more.

    Args:
        published: the folder of builds.
        build: the result of `build`.
        inputs: a digest of the build's inputs.
        synchronization: `sync_id`, `started_at`, `finished_at` (ISO 8601 with an offset), `source`.
        updated: the time of each company's last synchronization (ISO 8601 with an offset) by CIK, for all companies.
        log: the segments of the version log from which the build was made.
        is_mended: whether the build replaces a damaged one: then the build before the damaged one stays the previous
            one.
        is_scheduled: whether the schedule of synchronizations is on.
        quarantined: the number of companies in quarantine.
        release: the release of the program.

    Raises:
        PublishError: a time is malformed, or the pointer cannot be written; the previous build stays published.
    """
    now, at = _synchronization(synchronization), _utc(datetime.now(UTC).isoformat())
    before = readable(published)
    previous = (before.previous if is_mended else before.file) if before else None
    _commit(
        published,
        Pointer(
            build=build.build_id,
            file=build.file,
            content_hash=build.content_hash,
            rows=build.rows,
            published_at=at,
            inputs=inputs,
            newest_filing=build.newest_filing,
            companies=build.companies,
            base=build.base,
            base_at=build.base_at or at,
            renewed=tuple(sorted(build.renewed)),
            sums={name: str(held) for name, held in build.sums.items()},
            synchronization=now,
            synchronized_file=_synchronized_file(now),
            previous=previous,
            log=log,
            digest=build.digest,
            digests=dict(build.digests),
            is_scheduled=is_scheduled,
            quarantined=quarantined,
            release=release,
        ),
        updated,
    )


def record(
    published: Path,
    *,
    synchronization: Mapping[str, str],
    updated: Mapping[str, str],
    inputs: str | None = None,
    is_scheduled: bool = False,
    quarantined: int = 0,
    release: str = "",
) -> None:
    """Record a synchronization that found nothing new: the build stays, and its synchronization times are updated.

    Arguments as for `point`; `inputs` is given if different inputs led to the same rows, so that the next
    synchronization recognizes them.

    Raises:
        PublishError: the pointer cannot be read or written, or its build is missing.
    """
    pointer = readable(published)
    if pointer is None or not (published / pointer.file).exists():
        raise PublishError(f"{published}: no build to record a synchronization for; publish one first")
    now = _synchronization(synchronization)
    with _as_publish_errors(published):
        digests = pointer.digests or digests_of(published, pointer.file)
    pointer = msgspec.structs.replace(
        pointer,
        digest=pointer.digest or digest_of(digests),
        digests=digests,
        inputs=pointer.inputs if inputs is None else inputs,
        synchronization=now,
        synchronized_file=_synchronized_file(now),
        is_scheduled=is_scheduled,
        quarantined=quarantined,
        release=release,
    )
    _commit(published, pointer, updated)


def rollback(published: Path) -> Pointer:
    """Swap the current build and the previous one.

    The version log stays as it is: the pointer still names all its segments.

    Raises:
        PublishError: there is no previous build, it is damaged, or the pointer cannot be written.
        BuildUnreadable: the pointer, or the times of the previous build, cannot be read.
    """
    now = current(published)
    earlier = next((each for each in kept_builds(published) if now and each.file == now.previous), None)
    if now is None or earlier is None:
        raise PublishError(f"{published}: there is no previous build to go back to")
    if not is_whole(published, earlier):
        raise PublishError(f"{published / earlier.file} is damaged; build {now.build} stays published")
    pointer = msgspec.structs.replace(earlier, previous=now.file, log=now.log, release=now.release)
    _commit(published, pointer, synchronized(published, earlier))
    return pointer


def prune(published: Path) -> Pointer:
    """Remove all builds but the current one.

    Raises:
        PublishError: nothing is published, or the pointer cannot be written.
        BuildUnreadable: the pointer, or the times of the build, cannot be read.
    """
    now = current(published)
    if now is None:
        raise PublishError(f"{published}: nothing is published")
    pointer = msgspec.structs.replace(now, previous=None)
    _commit(published, pointer, synchronized(published, now))
    return pointer


def _made(
    published: Path, path: Path, tables: Mapping[str, Rows], renewal: Renewal | None
) -> tuple[Pointer | None, Contents]:
    """Write and verify the file of a build; return its contents, and the previous build if its file was linked."""
    if renewal and renewal.is_worth_it(published):
        try:
            return renewal.before, overlay.write(published, path, tables, renewal)
        except (duckdb.Error, OSError, VerificationError):
            _clear(path.parent, f"{path.name}*")  # the previous build is damaged: all rows are written
    with duckdb.connect(":memory:", config={"memory_limit": MEMORY}) as connection:
        connection.execute(f"SET temp_directory = {quoted(path.with_suffix('.spill'))}")
        if sum(rows.size for rows in tables.values()) < SMALL:
            connection.execute("SET threads = 1")
        return None, verify(path, _load(connection, path, tables))


def _digests(published: Path, file: str, base: Pointer) -> dict[str, str]:
    """The digests of a build with an overlay: from the previous build for the linked files, and of the overlay."""
    of_others = {
        name: digest for name, digest in base.digests.items() if name not in (base.file, overlay_of(base.file))
    }
    own = overlay_of(file)
    return {file: base.digests[base.file], own: file_digest(published / own), **of_others}


def _load(connection: duckdb.DuckDBPyConnection, path: Path, tables: Mapping[str, Rows]) -> dict[str, Sums]:
    """Write all tables of the schema, the macros and the views into a new file; return the sums of rows by table."""
    expected = {
        table.name: sums(connection, table, source(connection, table, tables.get(table.name)))
        for table in schema.TABLES
    }
    definitions.write(connection, path)
    connection.execute(f"ATTACH {quoted(path)} AS build")
    for table in schema.TABLES:
        if rows := tables.get(table.name):
            _insert(connection, table, rows)
    connection.execute("DETACH build")
    return expected


def _insert(connection: duckdb.DuckDBPyConnection, table: Table, rows: Rows) -> None:
    """Add rows to a table, in its order."""
    if rows.files:
        names, keys = (", ".join(f'"{name}"' for name in each) for each in (table.names, table.order))
        order = "" if rows.are_sorted else f"ORDER BY {keys}"
        try:
            connection.execute(
                f'INSERT INTO build.main."{table.name}" ({names}) SELECT {names} FROM {rows.sql} {order}'
            )
        except duckdb.Error as error:
            raise PublishError(f"table {table.name}: {rows.files[0][0]}: {first_line(error)}") from error


def _commit(published: Path, pointer: Pointer, updated: Mapping[str, str]) -> None:
    """Publish: write the synchronization times, then the pointer; afterwards update links and remove old files.

    If the process is killed after the pointer is written, the next run updates the links and removes the old files.
    """
    in_utc = {time: _utc(time) for time in {*updated.values()}}  # most companies have the same one
    times = {cik: in_utc[time] for cik, time in updated.items()}
    encoded = seal.encoded(pointer)
    with _as_publish_errors(published):
        _write(published / pointer.synchronized_file, msgspec.json.encode(times, order="sorted"))
        _write(published / POINTER, encoded)
        _write(published / description_of(pointer.file), encoded)  # only now, because it names a published build
        builds = [file for file in (pointer.file, pointer.previous) if file]
        folders, overlays = [copies_of(file) for file in builds], [overlay_of(file) for file in builds]
        # an overlay may never be next to another base: the old one is removed first, and the new one is added last
        (published / overlay_of(LINK)).unlink(missing_ok=True)
        _link(published, LINK, pointer.file)
        if (published / overlays[0]).exists():
            _link(published, overlay_of(LINK), overlays[0])
        _link(published, copies.LINK, folders[0])
        times_of = {each.synchronized_file for each in kept_builds(published) if each.file in builds}
        kept = {*builds, *folders, *overlays, *map(description_of, builds), *times_of}
        _clear(published, *OURS, kept={*kept, overlay.copy_of_base(pointer.base)})


def _link(published: Path, name: str, target: str) -> None:
    """Point a symbolic link to the current build, atomically."""
    link = published / f"{TEMPORARY}link"
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(published / name)


def _write(path: Path, content: bytes) -> None:
    """Replace a file atomically and durably: after a power failure the path has either the old or the new content."""
    temporary = path.with_name(f"{TEMPORARY}{path.name}")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    sync(path.parent)


def _clear(published: Path, *patterns: str, kept: Set[str] = frozenset()) -> None:
    """Remove the files and folders that match the patterns, including DuckDB's spill folders, except the kept names."""
    for path in (path for pattern in patterns for path in published.glob(pattern) if path.name not in kept):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextmanager
def _as_publish_errors(published: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PublishError(f"{published}: cannot publish: {error}; the previous build stays published") from error


def readable(published: Path) -> Pointer | None:
    """The pointer; None if it is missing or damaged, so that the next publication replaces it."""
    try:
        return current(published)
    except BuildUnreadable:
        return None


def _is_pointed_to(published: Path, file: str) -> bool:
    pointer = readable(published)
    return pointer is not None and file in (pointer.file, pointer.previous)


def _synchronization(values: Mapping[str, str]) -> Synchronization:
    try:
        given = msgspec.convert(dict(values), Synchronization)
    except msgspec.ValidationError as error:
        raise PublishError(f"synchronization {dict(values)}: {error}") from error
    started_at, finished_at = _utc(given.started_at), _utc(given.finished_at)
    return msgspec.structs.replace(given, started_at=started_at, finished_at=finished_at)


def _utc(time: str) -> str:
    """A time as ISO 8601 in UTC, to the second."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise PublishError(f"{time!r} is not a time, expected ISO 8601 with an offset, like 2026-03-02T06:00:00Z")
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _synchronized_file(synchronization: Synchronization) -> str:
    return f"synchronized-{_file_name_part(synchronization.sync_id)}.json"


def _file_name_part(text: str) -> str:
    if not NAME.fullmatch(text):
        raise PublishError(f"{text!r} cannot be part of a file name; ids may have letters, digits, '.', '_' and '-'")
    return text
