"""A working copy: a home, or a part of one, whose shared files are those of a store.

Belongs here: which files of a home are shared, taking over the state of the store, committing the state of the home.
Does not: downloads (warehouse.shared.checkout), requests (warehouse.shared.store), when a run does either
(synchronization).

What is shared are the tables, the version log, the builds, the kind of the home and the results of requests; documents
go to the store with a commit and come from it when one is read. Accounts, Dagster's folder and archives stay where they
are. A commit names the local files in place of those that were checked out; what was not checked out stays as it is.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pipelines import progress
from pipelines.edgar.raw_store import Documents, digests_in
from pipelines.shared import lease
from pipelines.storage.home import MARKER, WORDS, Home, HomeError
from warehouse.shared.checkout import STAMPS, Folder, Wanted
from warehouse.shared.store import (
    SHARED_FILES,
    SHARED_FOLDERS,
    Content,
    Head,
    Held,
    Report,
    Store,
    StoreConflict,
    StoreError,
    opened,
    together,
)

SEEN = "raw/seen.jsonl"
DOWNLOAD, UPLOAD, DOCUMENTS = "from the store", "to the store", "documents"
"""The names of what takes long, for who watches."""


def _everything(_: str) -> bool:
    return True


def of_home(home: Home, cache: Path | None = None, patience: float = 0.0) -> "WorkingCopy | None":
    """The working copy in a home; None if FUNDAMENTALS_STORE is not set.

    Args:
        home: the home.
        cache: as for WorkingCopy.
        patience: as for warehouse.shared.store.opened: that of a run.

    Raises:
        StoreError: FUNDAMENTALS_STORE is no address, or a package is missing.
    """
    address = os.environ.get("FUNDAMENTALS_STORE")
    return WorkingCopy(home.root, opened(address, patience=patience), cache) if address else None


class WorkingCopy:
    """The shared files in a folder. Whoever changes the folder holds the lock of the home, or has it for itself.

    Attributes:
        held: HEAD as it was when the files were checked out; None if nothing is committed yet, or before `checkout`.
        lease: the lease under which this process commits; None: it holds none.
        codes: the digests of code and rules that a commit writes into HEAD; None: those that it has.
    """

    def __init__(self, root: Path, store: Store, cache: Path | None = None) -> None:
        """Nothing is requested yet.

        Args:
            root: the folder: a home, or an empty folder for a part of one.
            store: the store.
            cache: a folder of objects under their digests, which several working copies on this machine share.
        """
        self.root, self.store = root, store
        self.held: Held | None = None
        self.lease: lease.Held | None = None
        self.codes: tuple[str, ...] | None = None
        self._folder = Folder(root, store, cache)
        self._taken: set[str] = set()
        self._stored: set[str] = set()

    def checkout(self, wanted: Wanted = _everything) -> Head | None:
        """Make the local files equal to those that HEAD names now.

        Args:
            wanted: tells of a path whether it is wanted; default: all shared files. Other local files stay.

        Returns:
            HEAD; None if nothing is committed yet: then the local files stay, and a commit stores them.

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
        """Bring more files of the same HEAD, of which some were checked out."""
        if self.held is None:
            return
        head = self.held.head
        files = {path: content for path, content in head.files.items() if wanted(path) and path not in self._taken}
        links = {path: target for path, target in head.links.items() if wanted(path)}
        if files or links:
            self._folder.bring(files, links, _reported(DOWNLOAD))
            self._taken |= {*files, *links}

    def is_current(self) -> bool:
        """Whether HEAD still is the one that was checked out or committed here last."""
        return self.store.head(self.held) is self.held

    def commit(self, run: str, wanted: Wanted = _everything) -> Head:
        """Store what is new of the local files and documents, then replace HEAD by the state of this folder.

        Args:
            run: the id of the synchronization, or the name of a command with the time.
            wanted: tells of a path whether its local file is committed; default: all shared files that are here. A
                folder that had files before a part was checked out gives the same as for the checkout.

        Returns:
            the new HEAD.

        Raises:
            StoreConflict: another run has replaced HEAD since the checkout, or taken the lease; nothing of this one is
                visible.
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
        """Fetch objects that HEAD does not name yet, each to its place; the next commit does not store them again."""
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
        """The paths at which the local files are not those that HEAD names now; empty if nothing is committed yet.

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
        """The paths of the shared files and links in this folder; not those that are being written."""
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
        """Store the documents that the store lacks: all if nothing is committed yet, else those not seen at HEAD.

        Those of filings are stored when they are fetched (RawStore.name_documents).
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
        """The digests of the documents that were requested before, as HEAD names them."""
        if SEEN not in head.files:
            return set()
        place = self.root / f".{SEEN.rpartition('/')[2]}.before"
        try:
            return digests_in(self.store.fetch_object(head.files[SEEN].digest, place))
        finally:
            place.unlink(missing_ok=True)

    def _store_objects(self, found: dict[str, Content], before: Head | None) -> None:
        """Store the contents that HEAD does not name and that nobody has stored for this run."""
        known = (before.digests if before else set()) | self._stored
        new = {content: self.root / path for path, content in found.items() if content.digest not in known}
        together(lambda each: self.store.put_content(*each), new.items(), _reported(UPLOAD))

    def _require_same_kind(self, head: Head) -> None:
        """Refuse a store of the other kind, before anything is taken over."""
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
        """Refuse to take over a state in a home that was never shared and whose version log the store lacks.

        Recorded versions cannot be made again. In a home that was shared before, the store decides.
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


def commit_alone(home: Home, held: lease.Held | None, run: str, path: str) -> None:
    """Commit one file of a home; all others of the state that is current stay. Nothing if nothing was ever committed.

    Args:
        home: the home.
        held: the lease that this process holds.
        run: as for `WorkingCopy.commit`.
        path: that of the file, below the home.

    Raises:
        StoreError, OSError: as `WorkingCopy.commit`; it does not wait for a store that is away.
    """
    copy = of_home(home)
    if copy and (before := copy.store.head()):
        copy.held, copy.lease = before, held
        copy.commit(run, path.__eq__)


@contextmanager
def changing(home: Home, command: str, wanted: Wanted, *, reads: bool = False) -> Iterator[None]:
    """Lock a home for a command that changes some of its files, until the block ends.

    With a store, the home takes over these files first, under the lease, and what the block has changed is committed;
    if another run was faster, its files are taken over. Nothing is committed to an empty store: HEAD would name these
    files only, and the next synchronization would remove all others of this home, which it does not name. That
    synchronization stores all of the home.

    Args:
        home: the home.
        command: its name, for HEAD.
        wanted: tells of a path whether the command needs it.
        reads: whether nothing is changed: then there is no lease and no commit, and without a store no lock.

    Raises:
        PipelineError: a synchronization is running, on this machine or another one.
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
    """Take over the state of the run that won; return the conflict with what the one that lost can do.

    If the store is away meanwhile, the next run takes it over.
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
    """The kind of data that a marker names, whatever it is."""
    try:
        return str(json.loads(marker.read_bytes())["kind"])
    except (ValueError, LookupError, TypeError):
        return "unknown"


def _reported(stage: str) -> Report:
    """Report progress of a transfer; called from the thread that waits for it."""
    return lambda done, total: progress.report(stage, done, total)
