"""A working copy of a store: a home, or a part of it, with the shared files of the store.

Belongs here: the list of shared files, checking out the state of the store, committing the state of the home. Does not:
downloads (warehouse.shared.checkout), requests (warehouse.shared.store), the times of checkout and commit in a run
(synchronization).

The tables, the version log, the builds, the kind of the home and the results of requests are shared. Documents are
stored with a commit, and fetched when they are read. Accounts, Dagster's folder and archives are local. A commit
replaces the files that were checked out by the local files; the store's other files stay as they are.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pipelines import progress
from pipelines.edgar.fetch.raw_store import Documents, digests_in
from pipelines.shared import lease
from pipelines.storage.home import MARKER, WORDS, Home, HomeError
from warehouse.shared.checkout import STAMPS, Folder, Wanted
from warehouse.shared.store import (
    SHARED_FILES,
    SHARED_FOLDERS,
    Content,
    Head,
    HeadWithTag,
    Report,
    Store,
    StoreConflict,
    StoreError,
    opened,
    together,
)

SEEN = "raw/seen.jsonl"
DOWNLOAD, UPLOAD, DOCUMENTS = "from the store", "to the store", "documents"
"""The names of long operations in progress messages."""


def _everything(_: str) -> bool:
    return True


def of_home(home: Home, cache: Path | None = None, patience: float = 0.0) -> "WorkingCopy | None":
    """The working copy in a home; None if FUNDAMENTALS_STORE is not set.

    Args:
        home: the home.
        cache: as for WorkingCopy.
        patience: as for warehouse.shared.store.opened; a run passes its own.

    Raises:
        StoreError: FUNDAMENTALS_STORE is not an address, or a package is missing.
    """
    address = os.environ.get("FUNDAMENTALS_STORE")
    return WorkingCopy(home.root, opened(address, patience=patience), cache) if address else None


class WorkingCopy:
    """The shared files in a folder. A process that changes the folder holds the lock of the home, or uses the folder
    alone.

    Attributes:
        held: HEAD at the last checkout; None if nothing is committed yet, or before `checkout`.
        lease: the lease under which this process commits; None without a lease.
        codes: the versions of code and rules that a commit writes into HEAD; None: the versions in HEAD stay.
    """

    def __init__(self, root: Path, store: Store, cache: Path | None = None) -> None:
        """Store the arguments; nothing is requested yet.

        Args:
            root: the folder: a home, or an empty folder for a part of a home.
            store: the store.
            cache: a folder of objects under their digests, which several working copies on this machine share.
        """
        self.root, self.store = root, store
        self.held: HeadWithTag | None = None
        self.lease: lease.HeldLease | None = None
        self.codes: tuple[str, ...] | None = None
        self._folder = Folder(root, store, cache)
        self._taken: set[str] = set()
        self._stored: set[str] = set()

    def checkout(self, wanted: Wanted = _everything) -> Head | None:
        """Make the local files equal to the files that HEAD names now.

        Args:
            wanted: whether a path is wanted; default: all shared files. Other local files stay.

        Returns:
            HEAD; None if nothing is committed yet: then the local files stay, and the next commit stores them.

        Raises:
            HomeError: the home and the store hold different kinds of data, or different version logs.
            StoreError: the store cannot be read, or an object is damaged; nothing was changed.
            OSError: a file cannot be written.
        """
        self.held, self._taken = self.store.head(self.held), set()
        if self.held is None:
            return None
        head = self.held.head
        self._require_same_kind(head)
        self._require_no_other_log(head)
        self.add(wanted)
        named = head.files.keys() | head.links.keys()
        self._folder.remove([path for path in self._local() if path not in named and wanted(path)])
        self._folder.remember()
        return head

    def add(self, wanted: Wanted) -> None:
        """Check out more files of the same HEAD."""
        if self.held is None:
            return
        head = self.held.head
        files = {path: content for path, content in head.files.items() if wanted(path) and path not in self._taken}
        links = {path: target for path, target in head.links.items() if wanted(path)}
        if files or links:
            self._folder.update(files, links, _reported(DOWNLOAD))
            self._taken |= {*files, *links}

    def is_current(self) -> bool:
        """Whether HEAD has not changed since the last checkout or commit of this working copy."""
        return self.store.head(self.held) is self.held

    def commit(self, run: str, wanted: Wanted = _everything) -> Head:
        """Store new local files and documents, then replace HEAD by the state of this folder.

        Args:
            run: the id of the synchronization, or the name of a command with the time.
            wanted: whether the local file of a path is committed; default: all shared files in the folder. If the
                folder had files before a part was checked out, pass the same function as for the checkout.

        Returns:
            the new HEAD.

        Raises:
            StoreConflict: another run has replaced HEAD since the checkout, or taken the lease; no change of this run
                is visible.
            StoreError: the store cannot be written.
            OSError: a file cannot be read.
        """
        if self.lease:
            self.store.patiently(self.lease.renew)
        before = self.held.head if self.held else None
        paths = [path for path in self._local() if wanted(path)]
        links = {path: str((self.root / path).readlink()) for path in paths if (self.root / path).is_symlink()}
        found = self._folder.contents(path for path in paths if path not in links)
        if before is None or (SEEN in found and found[SEEN] != before.files.get(SEEN)):
            self._store_documents(before)
        self._store_objects(found, before)
        kept = {path: each for path, each in before.files.items() if path not in self._taken} if before else {}
        kept_links = {path: each for path, each in before.links.items() if path not in self._taken} if before else {}
        marks = {"lease": self.lease and self.lease.number, "codes": self.codes}
        given = {name: mark for name, mark in marks.items() if mark is not None}
        self.held = self.store.replace_head(run, {**kept, **found}, {**kept_links, **links}, self.held, **given)
        self._taken = {*found, *links}
        self._folder.remember()
        self._folder.adopt(found)
        self._folder.clear_cache(self.held.head.digests)
        return self.held.head

    def fetch(self, contents: Iterable[tuple[Content, Path]]) -> None:
        """Fetch objects that HEAD does not name yet to their places; the next commit does not store them again."""
        wanted = {place: content.digest for content, place in contents}
        together(lambda each: self.store.fetch_object(each[1], each[0]), wanted.items())
        self._stored |= {*wanted.values()}

    def clear_cache(self) -> None:
        """Remove old objects from the cache that HEAD does not name."""
        self._folder.clear_cache(self.held.head.digests if self.held else ())

    def remove_unnamed(self) -> int:
        """Remove the objects from the store that HEAD has not named for a day; return their number."""
        return self.store.remove_unnamed(self.held) if self.held else 0

    def differing(self) -> list[str]:
        """The paths of local files that differ from the files in HEAD now; empty if nothing is committed yet.

        Raises:
            StoreError: the store cannot be read.
            OSError: a file cannot be read.
        """
        held = self.store.head()
        if held is None:
            return []
        local = self._folder.contents(path for path in self._local() if not (self.root / path).is_symlink())
        files = held.head.files
        return sorted(path for path in local.keys() | files.keys() if local.get(path) != files.get(path))

    def _local(self) -> Iterator[str]:
        """The paths of the shared files and links in this folder, without files that are being written."""
        for name in SHARED_FILES:
            if (self.root / name).is_file():
                yield name
        for name in SHARED_FOLDERS:
            for parent, folders, files in os.walk(self.root / name):
                links = [each for each in folders if Path(parent, each).is_symlink()]
                folders[:] = [each for each in folders if not each.startswith(".") and each not in links]
                place = Path(parent).relative_to(self.root).as_posix()
                yield from (
                    f"{place}/{each}" for each in (*files, *links) if not each.startswith(".") and each[-4:] != ".tmp"
                )

    def _store_documents(self, before: Head | None) -> None:
        """Store documents that the store lacks: all documents if nothing is committed yet, otherwise documents that
        HEAD does not name.

        Documents of filings are stored when they are fetched (RawStore.name_documents).
        """
        documents = Documents(self.root)
        if before is None:
            held = [*documents.root.glob("??/*.json.zst"), *documents.filing_files()]
            paths = {path.name.partition(".")[0]: path for path in held}
        else:
            new = digests_in(self.root / SEEN) - self._seen_at(before)
            paths = {digest: path for digest in new if (path := documents.path(digest)).exists()}
        together(lambda each: self.store.put_document(*each), paths.items(), _reported(f"{DOCUMENTS} {UPLOAD}"))

    def _seen_at(self, head: Head) -> set[str]:
        """The digests of the documents that were requested before, according to HEAD."""
        if SEEN not in head.files:
            return set()
        place = self.root / f".{SEEN.rpartition('/')[2]}.before"
        try:
            return digests_in(self.store.fetch_object(head.files[SEEN].digest, place))
        finally:
            place.unlink(missing_ok=True)

    def _store_objects(self, found: dict[str, Content], before: Head | None) -> None:
        """Store contents that HEAD does not name, and that are not stored for this run yet."""
        known = (before.digests if before else set()) | self._stored
        new = {content: self.root / path for path, content in found.items() if content.digest not in known}
        together(lambda each: self.store.put_content(*each), new.items(), _reported(UPLOAD))

    def _require_same_kind(self, head: Head) -> None:
        """Refuse a store with the other kind of data, before any file is changed."""
        marker = self.root / MARKER
        if MARKER not in head.files or self._folder.contents([MARKER]).get(MARKER) in (None, head.files[MARKER]):
            return
        place = self.root / f".{MARKER}.there"
        try:
            there = _kind_in(self.store.fetch_object(head.files[MARKER].digest, place))
        finally:
            place.unlink(missing_ok=True)
        if (here := _kind_in(marker)) != there:
            raise HomeError(
                f"{self.root} holds {WORDS.get(here, here)} data, and {self.store.address} {WORDS.get(there, there)}: "
                "the two are never mixed; set FUNDAMENTALS_HOME to another home, or FUNDAMENTALS_STORE to another store"
            )

    def _require_no_other_log(self, head: Head) -> None:
        """Refuse a checkout into a home that was never shared if the store lacks its version log.

        Recorded versions cannot be made again. In a home that was shared before, the store's log replaces the local
        log.
        """
        if (self.root / STAMPS).exists():
            return
        segments = [path for path in self._local() if path.startswith("log/versions-")]
        if lost := [path for path in segments if path not in head.files]:
            raise HomeError(
                f"{self.root} has a version log of its own, which {self.store.address} lacks ({lost[0]} and "
                f"{len(lost) - 1} more), and which would be lost; set FUNDAMENTALS_HOME to another folder, or "
                "FUNDAMENTALS_STORE to an empty store, which gets it"
            )


def commit_alone(home: Home, held: lease.HeldLease | None, run: str, path: str) -> None:
    """Commit one file of a home; all other files in the store stay. If nothing was ever committed, do nothing.

    Args:
        home: the home.
        held: the lease that this process holds.
        run: as for `WorkingCopy.commit`.
        path: the path of the file, relative to the home.

    Raises:
        StoreError, OSError: as `WorkingCopy.commit`; an unreachable store is not waited for.
    """
    copy = of_home(home)
    if copy and (before := copy.store.head()):
        copy.held, copy.lease = before, held
        copy.commit(run, path.__eq__)


@contextmanager
def changing(home: Home, command: str, wanted: Wanted, *, reads: bool = False) -> Iterator[None]:
    """Lock a home for a command that changes files of it, until the block ends.

    With a store, the files are first checked out under the lease, and the changes of the block are committed; if
    another run was faster, its files are checked out. Nothing is committed to an empty store: HEAD would name these
    files only, and the next synchronization would remove all other files of this home. The next synchronization stores
    the whole home.

    Args:
        home: the home.
        command: the name of the command, for HEAD.
        wanted: whether the command needs a path.
        reads: whether the command changes no file: then no lease is taken and nothing is committed, and without a store
            the home is not locked.

    Raises:
        PipelineError: a synchronization is running, on this or another machine.
        WarehouseError: the store cannot be used, or another run was faster.
    """
    copy = of_home(home)
    with ExitStack() as held:
        if copy:
            home.prepare()
        if copy or not reads:
            held.enter_context(home.writing())
        if copy:
            copy.lease = None if reads else held.enter_context(lease.leased(copy.store))
            copy.checkout(wanted)
        yield
        if copy and copy.held and not reads:
            try:
                copy.commit(f"{command}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", wanted)
            except StoreConflict as conflict:
                raise taken_over(copy, conflict, wanted) from conflict


def taken_over(copy: WorkingCopy, conflict: StoreConflict, wanted: Wanted = _everything) -> StoreConflict:
    """Check out the state of the faster run; return the conflict with advice for the slower run.

    If the store is unreachable, the next run checks the state out.
    """
    has = "has"
    try:
        copy.checkout(wanted)
    except (StoreError, OSError):
        has = "will have"
    message = (
        f"{conflict}; nothing of this one is visible, this home {has} the state of that run, and the documents that "
        "this one fetched are in the store; do it again, which goes on from there"
    )
    return StoreConflict(message, conflict.winner)


def _kind_in(marker: Path) -> str:
    """The kind of data in a marker file, also if it is unknown."""
    try:
        return str(json.loads(marker.read_bytes())["kind"])
    except (ValueError, LookupError, TypeError):
        return "unknown"


def _reported(stage: str) -> Report:
    """A function that reports the progress of a transfer; called from the thread that waits for it."""
    return lambda done, total: progress.report(stage, done, total)
