"""The command `fundamentals backup`: copies a home to a folder, consistently, even while the service runs.

Belongs here: the files of a backup, and the order of copying. Does not: restoring a backup (restore).

A synchronization and the service may run at the same time. The order of copying keeps the files consistent:

- tables: tables that are made last are copied first, each with the digests of its inputs, so no table in the backup is
  older than a table that was made from it. The next synchronization makes outdated rows again.
- version log and build: the list of segments, then the pointer, then the files that they name, which never change. If a
  file is gone because a new build was published, both are copied again.
- raw zone: the state of the daily index, the results of the requests, then the documents, which are never removed.
  Documents of filings are left out, because they are large, and the next synchronization fetches them again.
- accounts and the record of runs: SQLite makes consistent copies of its files.

The list of all files with their digests is written last; a folder without this list is not a backup.
"""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from pipelines.errors import PipelineError
from pipelines.health.tables import STAGES
from pipelines.health.tables import names as tables_of
from pipelines.quality.report import page_of
from pipelines.storage import checksums, version_log
from pipelines.storage.home import MARKER, Home
from pipelines.storage.lake import MANIFEST, Lake, Manifest
from pipelines.tables.stored import LAST, assembled
from warehouse.build import runs, seal
from warehouse.build.digest import has_digest
from warehouse.build.pointer import POINTER, Pointer, copies_of, current, description_of, overlay_of
from warehouse.build.publish import readable
from warehouse.errors import WarehouseError
from warehouse.files import OTHERS, sync
from warehouse.record import sqlite

LIST = "backup.json"
FORM = 1
"""The version of the form of a backup; this program cannot read other versions."""
ATTEMPTS = 5
"""The number of attempts to copy files that a synchronization replaces at the same time."""
ACCOUNTS = "accounts.sqlite"
IN_POSTGRESQL = "\nThe accounts are in PostgreSQL (FUNDAMENTALS_ACCOUNTS_URL), not here: copy them with pg_dump."
FIRST_OF_RAW = ("index.json", "seen.jsonl")


class BackupError(PipelineError):
    """A backup cannot be made or restored; the message says what to do."""


class Contents(msgspec.Struct, frozen=True):
    """The list of a backup: its time, its build, the digests of its files by path, and its links by path."""

    form: int
    made_at: str
    build: str
    files: dict[str, str]
    links: dict[str, str]


def main(target: Path) -> str:
    """Copy the home that FUNDAMENTALS_HOME names into a new folder.

    Returns:
        the message to print.

    Raises:
        BackupError: nothing is published, the folder is not empty, or a file cannot be copied.
    """
    home = Home.from_environment()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BackupError(f"{target} exists and is not an empty folder; name a new one")
    if target.absolute().is_relative_to(home.root):
        raise BackupError(f"{target} is in the home; name a folder elsewhere, best on another disk")
    if readable(home.published) is None:
        raise BackupError(f"{home.root}: nothing is published; run `fundamentals sync`")
    try:
        return _copied(home, target) + (IN_POSTGRESQL if os.environ.get("FUNDAMENTALS_ACCOUNTS_URL") else "")
    except (OSError, sqlite3.Error, WarehouseError, version_log.LogError) as error:
        raise BackupError(f"no backup was made: {error}; run `fundamentals doctor`, which says what to do") from error


def _copied(home: Home, target: Path) -> str:
    """Copy all files; after an error, remove the copies."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    copied = Copied(home.root, target)
    try:
        _copy_tables(home, copied)
        pointer = _copy_build(home, copied)
        _copy_raw(home, copied)
        _copy_databases(home, copied)
        copied.file(home.root / MARKER)
        return copied.finish(pointer)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


class Copied:
    """The files that are already copied to a backup."""

    def __init__(self, root: Path, target: Path) -> None:
        self.root, self.target = root, target
        self._digests: dict[str, str] = {}

    def file(self, path: Path) -> Path:
        """Copy a file, and record its digest; return the path of the copy.

        Raises:
            OSError: the file cannot be read, for example because it was removed, or the copy cannot be written.
        """
        to = self.place(path)
        shutil.copyfile(path, to)
        to.chmod(path.stat().st_mode & ~OTHERS & 0o777)
        self.note(to)
        return to

    def place(self, path: Path) -> Path:
        """The path for the copy of a file; its folder is created, and an earlier copy is removed."""
        to = self.target / path.relative_to(self.root)
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        to.unlink(missing_ok=True)
        return to

    def note(self, to: Path) -> None:
        """Record the digest of a copy, which is read again from the disk."""
        self._digests[to.relative_to(self.target).as_posix()] = checksums.digest_of(to)

    def forget(self, folder: Path) -> None:
        """Remove the copy of a folder."""
        to = self.target / folder.relative_to(self.root)
        shutil.rmtree(to, ignore_errors=True)
        inside = f"{to.relative_to(self.target).as_posix()}/"
        self._digests = {path: digest for path, digest in self._digests.items() if not path.startswith(inside)}

    def finish(self, pointer: Pointer) -> str:
        """Write the list of the files; return the message to print."""
        published = self.root / "published"
        targets = {pointer.file, overlay_of(pointer.file), copies_of(pointer.file), page_of(published, pointer).name}
        links = {path.name: path.readlink().name for path in published.iterdir() if path.is_symlink()}
        made_at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        kept = {f"published/{name}": target for name, target in links.items() if target in targets}
        contents = Contents(FORM, made_at, pointer.build, dict(sorted(self._digests.items())), kept)
        (self.target / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(contents), indent=1))
        sync(self.target / LIST)
        size = sum((self.target / path).stat().st_size for path in self._digests)
        return f"build {pointer.build}: {len(self._digests):,} files, {size / 2**20:,.0f} MiB in {self.target}"


def _copy_tables(home: Home, copied: Copied) -> None:
    """Copy the tables; tables that are made last come first."""
    lake = Lake(home.tables)
    by_stage = [name for marker, tables in reversed(STAGES.items()) for name in (marker, *tables)]
    order = {name: number for number, name in enumerate(dict.fromkeys([assembled(LAST), *by_stage]))}
    for name in sorted(tables_of(lake), key=lambda name: order.get(name, len(order))):
        for attempt in range(ATTEMPTS):
            try:
                paths = [copied.file(path) for path in _files_of(lake, name, copied)]
            except FileNotFoundError:
                if attempt == ATTEMPTS - 1:
                    raise
                copied.forget(lake.folder / name)
                continue
            if _are_as_noted(lake.folder, paths, copied):
                break
        else:
            raise BackupError(f"table {name} is damaged; run `fundamentals doctor`, and make the backup then")
    folder = copied.target / lake.folder.name
    folder.mkdir(exist_ok=True)
    checksums.note(folder, {path: path for path in folder.rglob("*") if path.is_file()})
    copied.note(folder / checksums.NOTES)


def _files_of(lake: Lake, name: str, copied: Copied) -> Iterator[Path]:
    """The files of a table; the manifest is copied first, and its copy names the parts."""
    if lake.path(name).exists():
        yield lake.path(name)
        return
    manifest = lake.folder / name / MANIFEST
    yield manifest
    held = msgspec.json.decode((copied.target / "tables" / name / MANIFEST).read_bytes(), type=Manifest)
    yield from (manifest.with_name(part) for part in held.parts)


def _are_as_noted(folder: Path, copies: list[Path], copied: Copied) -> bool:
    """Whether copies match the stored digests of their originals, of the present or the earlier file."""
    noted = checksums.held(folder)
    names = {path.relative_to(copied.target / folder.name).as_posix(): path for path in copies}
    return all(checksums.digest_of(path) in noted[name] for name, path in names.items() if name in noted)


def _copy_build(home: Home, copied: Copied) -> Pointer:
    """Copy the version log and the current build, with several attempts."""
    left = ATTEMPTS
    while True:
        left -= 1
        for folder in (home.log, home.published):
            copied.forget(folder)
        try:
            return _tried(home, copied)
        except FileNotFoundError:
            if not left:
                raise


def _tried(home: Home, copied: Copied) -> Pointer:
    """Copy the version log and the current build.

    Raises:
        FileNotFoundError: another build was published at the same time.
        BackupError: nothing is published, or a file is damaged.
    """
    listed = version_log.listed(home.log, ())
    pointer = current(home.published)
    if pointer is None:
        raise BackupError(f"{home.root}: nothing is published any more")
    segments = tuple(dict.fromkeys([*listed, *pointer.log]))
    paths = [copied.file(home.log / name) for name in segments]
    if not _are_as_noted(home.log, paths, copied):
        raise BackupError("the version log is damaged; run `fundamentals doctor`, and make the backup then")
    folder = copied.target / home.log.name
    version_log.remember(folder, segments)
    checksums.note(folder, {path: path for path in paths})
    for name in (version_log.COMMITTED, checksums.NOTES):
        copied.note(folder / name)
    _copy_files_of(home.published, pointer, copied)
    return pointer


def _copy_files_of(published: Path, pointer: Pointer, copied: Copied) -> None:
    """Copy the files of a build, and the pointer without the build before."""
    copied.file(published / pointer.file)
    for path in sorted((published / copies_of(pointer.file)).iterdir()):
        copied.file(path)
    copied.file(published / pointer.synchronized_file)
    for path in (published / overlay_of(pointer.file), page_of(published, pointer), published / runs.FILE):
        if path.exists():
            copied.file(path)
    folder = copied.target / published.name
    if pointer.digest and not has_digest(folder, pointer):
        raise BackupError(f"build {pointer.build} is damaged; run `fundamentals sync`, and make the backup then")
    alone = seal.encoded(msgspec.structs.replace(pointer, previous=None))
    for name in (POINTER, description_of(pointer.file)):
        (folder / name).write_bytes(alone)
        copied.note(folder / name)


def _copy_raw(home: Home, copied: Copied) -> None:
    """Copy the raw zone: the files that name the documents in use, then the documents."""
    raw = home.root / "raw"
    for name in FIRST_OF_RAW:
        if (raw / name).exists():
            copied.file(raw / name)
    for path in sorted(raw.glob("??/*.json.zst")):
        copied.file(path)


def _copy_databases(home: Home, copied: Copied) -> None:
    """Copy the accounts and the record of runs."""
    accounts = home.root / ACCOUNTS
    for path in (*([accounts] if accounts.exists() else []), *sorted(home.dagster.rglob("*.db"))):
        if said := sqlite.damage(path):
            raise BackupError(f"{path}: {said}; run `fundamentals doctor`, and make the backup then")
        to = copied.place(path)
        sqlite.copy(path, to)
        to.chmod(0o600)
        copied.note(to)


def digest_while_copying(path: Path, to: Path) -> str:
    """Copy a file, and return the SHA-256 of the copied bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as source, to.open("wb") as copied:
        while piece := source.read(1 << 20):
            digest.update(piece)
            copied.write(piece)
    return digest.hexdigest()
