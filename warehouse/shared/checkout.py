"""A folder with files of the store: which of its files differ, downloading them, and putting them in place.

Belongs here: digests of local files, downloads that are verified, the order in which files appear and vanish. Does not:
which files a side needs (pipelines.shared.shared_home, serve.shared.following), requests (store).

A file is downloaded under its digest and verified. Only when all files that differ have been downloaded, they are
renamed into place; files that name other files come last. So a failed download changes nothing, and a retry continues.

The digest of a file is kept with its time, size and inode in `store.json`: a file that was not replaced since then is
not read again.
"""

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from warehouse.build.pointer import overlay_of
from warehouse.files import sync
from warehouse.shared.store import Content, ObjectDamaged, Report, Store, together

STAMPS = "store.json"
READ_ONLY = ("published/warehouse-*.duckdb", "published/warehouse-*.duckdb.wal", "published/parquet-*/*")
LAST = ("digests.json", "seen.jsonl", "committed.json", "manifest.json", "home.json", "CURRENT.json")
"""Names of files that refer to other files; they are put in place last, in this order."""
IDLE = 24 * 3600.0
"""Seconds after which an object that HEAD does not name is removed from the cache."""

UNREPORTED: Report = lambda *_: None  # noqa: E731 - a default of arguments
Wanted = Callable[[str], bool]
"""Returns whether the file at a path is wanted."""


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """Digest of a local file, with the size, time and inode that the file had when the digest was computed."""

    digest: str
    size: int
    modified: int
    inode: int


class Folder:
    """A folder whose files come from a store. One process at a time changes it."""

    def __init__(self, root: Path, store: Store, cache: Path | None = None, stamps: str = STAMPS) -> None:
        """Read the digests that are already known; nothing else is read or written yet.

        Args:
            root: the folder.
            store: where files come from.
            cache: a folder of objects under their digests, which several folders on the same file system share: files
                are hard links to them, so nobody may change one in place. None: objects are kept until they are in
                place.
            stamps: the name of the file with the digests; processes with different names may download at the same time.
        """
        self.root, self.store = root, store
        self._shared = cache
        self._objects = cache or root / f".{stamps}.incoming"
        self._known = root / stamps
        self._stamps = _stamps_in(self._known)

    def contents(self, paths: Iterable[str]) -> dict[str, Content]:
        """Digest and size of each file that exists, by path; files that are not known yet are read.

        Raises:
            OSError: a file cannot be read.
        """
        statuses = {path: status for path in paths if (status := self._status(path))}
        unknown = [path for path, status in statuses.items() if not _is_of(self._stamps.get(path), status)]
        together(lambda path: self._note(path, _digest_of(self.root / path)), unknown)
        return {path: Content(self._stamps[path].digest, status.st_size) for path, status in statuses.items()}

    def fetch(self, files: Mapping[str, Content], report: Report = UNREPORTED) -> dict[str, Path]:
        """Download the contents that differ from the folder's files, and put nothing in place.

        Args:
            files: the content of each file, by path.
            report: called with the number of downloaded objects and of all.

        Returns:
            for each file that differs, by path: where its new content is.

        Raises:
            StoreError: an object cannot be downloaded, or is damaged.
            OSError: a file cannot be read or written.
        """
        same_size = [path for path, content in files.items() if self._size(path) == content.size]
        held = self.contents(same_size)
        differing = {path: content for path, content in files.items() if held.get(path) != content}
        wanted = {content.digest: content for content in differing.values()}
        self._reuse(wanted)
        together(self._download, [each for each in wanted.values() if not self._has(each)], report)
        return {path: self._object(content) for path, content in differing.items()}

    def update(self, files: Mapping[str, Content], links: Mapping[str, str], report: Report = UNREPORTED) -> None:
        """Make files and links equal to the store's: `fetch`, then put in place.

        Args:
            files: the content of each file, by path.
            links: the target of each symbolic link, by path; a file's link to its overlay is removed unless it is
                given.
            report: called with the number of downloaded objects and of all.

        Raises:
            StoreError: an object cannot be downloaded, or is damaged; nothing was replaced.
            OSError: a file cannot be read or written.
        """
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        placed = sorted(self.fetch(files, report), key=lambda path: (_rank(path), path))
        for path in placed:
            self._place(path, files[path])
        for folder in {(self.root / path).parent for path in placed}:
            sync(folder)
        for path in {overlay_of(path) for path in links} - links.keys():
            (self.root / path).unlink(missing_ok=True)  # an overlay must not stay next to another base
        for path, target in links.items():
            self._link(path, target)
        if self._shared is None:
            shutil.rmtree(self._objects, ignore_errors=True)
        self.remember()

    def remove(self, paths: Collection[str]) -> None:
        """Remove files and links, first the files that name others, and then the folders that became empty."""
        for path in sorted(paths, key=lambda path: (-_rank(path), path)):
            (self.root / path).unlink(missing_ok=True)
            self._stamps.pop(path, None)
            parent = (self.root / path).parent
            while parent != self.root and parent.parent != self.root:
                with suppress(OSError):
                    parent.rmdir()
                parent = parent.parent

    def adopt(self, paths: Iterable[str]) -> None:
        """Link files that this folder made into the cache, so that another folder need not download them."""
        if self._shared is None:
            return
        for path, content in self.contents(paths).items():
            if not self._has(content):
                to = self._object(content)
                to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with suppress(FileExistsError):
                    to.hardlink_to(self.root / path)

    def clear_cache(self, named: Collection[str]) -> None:
        """Remove old objects from the cache that HEAD does not name and that no folder links to."""
        for path in self._shared.glob("??/*") if self._shared else ():
            with suppress(FileNotFoundError):
                status = path.stat()
                if path.name not in named and status.st_nlink == 1 and time.time() - status.st_ctime > IDLE:
                    path.unlink()

    def remember(self) -> None:
        """Write the digests of the files that exist, for the next time."""
        self._stamps = {path: stamp for path, stamp in self._stamps.items() if self._status(path)}
        written = self._known.with_name(f".{self._known.name}.tmp")
        written.write_bytes(msgspec.json.encode(self._stamps, order="sorted"))
        written.replace(self._known)

    def _reuse(self, wanted: Mapping[str, Content]) -> None:
        """Link wanted contents that the folder already has under other paths, such as in the previous build."""
        for path, stamp in self._stamps.items():
            content, status = wanted.get(stamp.digest), self._status(path)
            if not content or not status or not _is_of(stamp, status) or self._has(content):
                continue
            if _digest_of(self.root / path) == content.digest:
                self._object(content).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._object(content).hardlink_to(self.root / path)

    def _download(self, content: Content) -> None:
        to = self._object(content)
        self.store.fetch_object(content.digest, to)
        if to.stat().st_size != content.size:
            raise ObjectDamaged(f"{self.store.address}/HEAD names another size of object {content.digest}")

    def _object(self, content: Content) -> Path:
        return self._objects / content.digest[:2] / content.digest

    def _has(self, content: Content) -> bool:
        """Whether an object is in the cache; every object there has been verified."""
        try:
            return self._object(content).stat().st_size == content.size
        except FileNotFoundError:
            return False

    def _place(self, path: str, content: Content) -> None:
        """Put a downloaded file in its place."""
        to = self.root / path
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = to.with_name(f".{to.name}.tmp")
        written.unlink(missing_ok=True)
        written.hardlink_to(self._object(content))
        if any(fnmatch(path, pattern) for pattern in READ_ONLY):
            written.chmod(0o400)
        written.replace(to)
        written.unlink(missing_ok=True)  # if both were links to the same file, nothing was renamed
        self._note(path, content.digest)

    def _link(self, path: str, target: str) -> None:
        """Point a symbolic link to a file, atomically."""
        link = self.root / path
        if not (link.is_symlink() and str(link.readlink()) == target):
            link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            written = link.with_name(f".{link.name}.tmp")
            written.unlink(missing_ok=True)
            written.symlink_to(target)
            written.replace(link)

    def _note(self, path: str, digest: str) -> None:
        if status := self._status(path):
            self._stamps[path] = Stamp(digest, status.st_size, status.st_mtime_ns, status.st_ino)

    def _size(self, path: str) -> int | None:
        status = self._status(path)
        return status.st_size if status else None

    def _status(self, path: str) -> os.stat_result | None:
        """The status of a regular file; None if the path does not exist or is not a regular file."""
        try:
            status = (self.root / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status if stat.S_ISREG(status.st_mode) else None


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_of(stamp: Stamp | None, status: os.stat_result) -> bool:
    """Whether a file still has the size, time and inode of a stamp."""
    return stamp is not None and (stamp.size, stamp.modified, stamp.inode) == (
        status.st_size,
        status.st_mtime_ns,
        status.st_ino,
    )


def _rank(path: str) -> int:
    name = path.rpartition("/")[2]
    return LAST.index(name) + 1 if name in LAST else 0


def _stamps_in(path: Path) -> dict[str, Stamp]:
    """Read the digests of a file `store.json`; empty if it is missing or damaged, then all files are read again."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Stamp])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
