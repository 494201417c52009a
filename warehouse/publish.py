"""Publishing: build a new file, verify it, point to it.

Belongs here: everything that writes below the folder of builds, in an order that leaves the old or the new build
pointed to whenever the process is killed, and needs no hand afterwards.
Does not: what the tables hold (pipelines), how a build is opened and asked (reader, queries).

A build gets a new file name each time and is never written again: DuckDB allows no writer beside readers, and a file
that is replaced under its readers gives torn reads. It is made under a temporary name, read back whole, and renamed
only then, so that whatever is called `warehouse-*.duckdb` is complete, and has its `parquet-*` beside it.
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

from warehouse import copies, schema
from warehouse.errors import BuildUnreadable, PublishError, VerificationError, first_line
from warehouse.files import quoted, sync
from warehouse.pointer import POINTER, Pointer, Synchronization, current
from warehouse.verify import content_hash, verify

__all__ = [
    "Build",
    "Pointer",
    "PublishError",
    "VerificationError",
    "build",
    "content_hash",
    "current",
    "point",
    "record",
]

STORAGE_VERSION = "v1.5.0"  # so that analysts with DuckDB 1.5 open the file too
MACROS = Path(__file__).with_name("macros.sql")
LINK = "warehouse.duckdb"
TEMPORARY = ".building-"
# what may be removed once nothing points to it
OURS = (f"{TEMPORARY}*", "warehouse-*.duckdb", copies.FOLDERS, "synchronized-*.json")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # build and synchronization ids are parts of file names


@dataclass(frozen=True, slots=True)
class Build:
    """A complete, verified build that is not pointed to yet."""

    build_id: str
    file: str
    rows: Mapping[str, int]
    content_hash: str
    newest_filing: str | None
    companies: int


def build(published: Path, tables: Mapping[str, Path], build_id: str) -> Build:
    """Make the file of a build from Parquet files, and the copies of its tables, and verify both.

    Args:
        published: the folder of builds; made where it is missing.
        tables: a Parquet file for each table that has rows; columns are found by name, rows are stored sorted.
        build_id: part of the file's name; a new one each time.

    Returns:
        The build, in the folder, complete and read-only, for `point`.

    Raises:
        VerificationError: the file does not hold what the Parquet files do, a key occurs twice, a number is not finite.
        PublishError: a table is unknown, a Parquet file does not fit its table, the file cannot be written.
        In either case nothing is left behind.
    """
    file = f"warehouse-{_file_name_part(build_id)}.duckdb"
    unknown = sorted(tables.keys() - schema.BY_NAME.keys())
    if unknown:
        raise PublishError(f"build {build_id}: no such table: {', '.join(unknown)}; schema.py lists the tables")
    with _os_errors_told(published):
        published.mkdir(parents=True, exist_ok=True)
        if _is_pointed_to(published, file):
            raise PublishError(f"build {build_id} is published already; a build needs a new id")
        temporary = published / f"{TEMPORARY}{build_id}.duckdb"
        try:
            _clear(published, f"{TEMPORARY}{build_id}.*", copies.folder_of(file))
            expected = _load(temporary, tables)
            held = verify(temporary, expected)
            temporary.chmod(0o444)
            copied = temporary.with_suffix(".parquet")
            copies.write(temporary, copied)
            copied.replace(published / copies.folder_of(file))
            temporary.replace(published / file)
            sync(published)
        except duckdb.Error as error:
            raise PublishError(f"build {build_id}: {first_line(error)}; what was published before stays") from error
        finally:
            _clear(published, f"{TEMPORARY}{build_id}.*")
    return Build(build_id, file, held.rows, held.content_hash, held.newest_filing, held.companies)


def point(
    published: Path,
    build: Build,
    *,
    inputs: str,
    synchronization: Mapping[str, str],
    updated: Mapping[str, str],
    log: tuple[str, ...] = (),
) -> None:
    """Make a build the current one, and remove what nothing points to any more.

    Args:
        published: the folder of builds.
        build: what `build` returned.
        inputs: identifies what the build was made from.
        synchronization: `sync_id`, `started_at`, `finished_at` (ISO 8601 with an offset), `source`.
        updated: the time of each company's last synchronization (likewise) by CIK, all companies.

    Raises:
        PublishError: a time is none, or the pointer cannot be written; the previous build stays pointed to.
    """
    now = _synchronization(synchronization)
    before = _readable(published)
    _commit(
        published,
        Pointer(
            build=build.build_id,
            file=build.file,
            content_hash=build.content_hash,
            rows=dict(build.rows),
            published_at=_utc(datetime.now(UTC).isoformat()),
            inputs=inputs,
            newest_filing=build.newest_filing,
            companies=build.companies,
            synchronization=now,
            synchronized_file=_synchronized_file(now),
            previous=before.file if before else None,
            log=log,
        ),
        updated,
    )


def record(
    published: Path,
    *,
    synchronization: Mapping[str, str],
    updated: Mapping[str, str],
    inputs: str | None = None,
) -> None:
    """Say that a synchronization found nothing new: the build stays, the times are those of the synchronization.

    Arguments as for `point`; `inputs` where other inputs led to the same rows, and are to be known the next time.

    Raises:
        PublishError: there is no readable pointer, or its build is gone, or the pointer cannot be written.
    """
    pointer = _readable(published)
    if pointer is None or not (published / pointer.file).exists():
        raise PublishError(f"{published}: no build to record a synchronization for; publish one first")
    now = _synchronization(synchronization)
    pointer = msgspec.structs.replace(
        pointer,
        inputs=pointer.inputs if inputs is None else inputs,
        synchronization=now,
        synchronized_file=_synchronized_file(now),
    )
    _commit(published, pointer, updated)


def _load(path: Path, tables: Mapping[str, Path]) -> dict[str, int]:
    """Write every table of the schema into a new file, and the macros; return the rows that each table must have."""
    expected = {}
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SET temp_directory = {quoted(path.with_suffix('.spill'))}")
        connection.execute(f"ATTACH {quoted(path)} AS build (STORAGE_VERSION '{STORAGE_VERSION}')")
        connection.execute("BEGIN")  # one write to the disk for all definitions
        for table in schema.TABLES:
            connection.execute(schema.create_table(table, "build.main"))
            for comment in schema.comments(table, "build.main"):
                connection.execute(comment)
        connection.execute("COMMIT")
        for table in schema.TABLES:
            source = tables.get(table.name)
            expected[table.name] = _insert(connection, table, source) if source else 0
        connection.execute("USE build")  # the macros name their tables without a database
        connection.execute(MACROS.read_text())
        connection.execute("USE memory")
        connection.execute("DETACH build")
    return expected


def _insert(connection: duckdb.DuckDBPyConnection, table: schema.Table, source: Path) -> int:
    """Copy a Parquet file into its table, sorted; return how many rows the Parquet file says that it has."""
    parquet = f"read_parquet({quoted(source)}, hive_partitioning = false)"
    try:
        found = {row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {parquet}").fetchall()}
        if found != set(table.names):
            missing, unknown = sorted(set(table.names) - found), sorted(found - set(table.names))
            raise PublishError(f"table {table.name}: {source}: columns missing {missing}, unknown {unknown}")
        names = ", ".join(f'"{name}"' for name in table.names)
        order = ", ".join(f'"{name}"' for name in table.order)
        connection.execute(
            f'INSERT INTO build.main."{table.name}" ({names}) SELECT {names} FROM {parquet} ORDER BY {order}'
        )
        return int(connection.execute(f"SELECT count(*) FROM {parquet}").fetchall()[0][0])
    except duckdb.Error as error:
        raise PublishError(f"table {table.name}: {source}: {first_line(error)}") from error


def _commit(published: Path, pointer: Pointer, updated: Mapping[str, str]) -> None:
    """Write the times, then the pointer: the one step that counts. Link and removal are made good by the next run."""
    times = {cik: _utc(time) for cik, time in updated.items()}
    with _os_errors_told(published):
        _write(published / pointer.synchronized_file, msgspec.json.encode(times, order="sorted"))
        _write(published / POINTER, msgspec.json.format(msgspec.json.encode(pointer), indent=2) + b"\n")
        builds = [file for file in (pointer.file, pointer.previous) if file]
        folders = [copies.folder_of(file) for file in builds]
        _link(published, LINK, pointer.file)
        _link(published, copies.LINK, folders[0])
        _clear(published, *OURS, kept={*builds, *folders, pointer.synchronized_file})


def _link(published: Path, name: str, target: str) -> None:
    """Let a name lead to the current build, in one step."""
    link = published / f"{TEMPORARY}link"
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(published / name)


def _write(path: Path, content: bytes) -> None:
    """Replace a file so that it is the old or the new one whenever the machine stops."""
    temporary = path.with_name(f"{TEMPORARY}{path.name}")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    sync(path.parent)


def _clear(published: Path, *patterns: str, kept: Set[str] = frozenset()) -> None:
    """Remove the files of these names, with the folders where DuckDB put what did not fit into memory."""
    for path in (path for pattern in patterns for path in published.glob(pattern) if path.name not in kept):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextmanager
def _os_errors_told(published: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PublishError(f"{published}: cannot publish: {error}; what was published before stays") from error


def _readable(published: Path) -> Pointer | None:
    """The pointer; a damaged one counts as none, so that publishing again mends it."""
    try:
        return current(published)
    except BuildUnreadable:
        return None


def _is_pointed_to(published: Path, file: str) -> bool:
    pointer = _readable(published)
    return pointer is not None and file in (pointer.file, pointer.previous)


def _synchronization(values: Mapping[str, str]) -> Synchronization:
    try:
        given = msgspec.convert(dict(values), Synchronization)
    except msgspec.ValidationError as error:
        raise PublishError(f"synchronization {dict(values)}: {error}") from error
    started_at, finished_at = _utc(given.started_at), _utc(given.finished_at)
    return msgspec.structs.replace(given, started_at=started_at, finished_at=finished_at)


def _utc(time: str) -> str:
    """A moment as it is served: ISO 8601 in UTC, to the second."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise PublishError(f"{time!r} is no time, expected ISO 8601 with an offset, like 2026-03-02T06:00:00Z")
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _synchronized_file(synchronization: Synchronization) -> str:
    return f"synchronized-{_file_name_part(synchronization.sync_id)}.json"


def _file_name_part(text: str) -> str:
    if not NAME.fullmatch(text):
        raise PublishError(f"{text!r} cannot be part of a file name; ids are letters, digits, '.', '_' and '-'")
    return text
