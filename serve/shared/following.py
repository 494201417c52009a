"""Following the store: its newest build is downloaded into the home, and served from there.

Belongs here: when HEAD is read, which files a replica needs, when the pointer moves, messages in the log. Does not:
downloads (warehouse.shared.checkout), requests to the store (warehouse.shared.store), opening a build
(warehouse.read.reader).

One thread does this for all workers, which notice the new pointer as they do without a store. No request waits for the
store: while it does not answer, the last build is served.
"""

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from warehouse.build import seal
from warehouse.build.pointer import POINTER, Pointer, copies_of, description_of, kept, overlay_of
from warehouse.build.publish import readable
from warehouse.build.runs import FILE as RUNS
from warehouse.errors import BuildUnreadable, WarehouseError
from warehouse.files import locked
from warehouse.shared.checkout import Folder
from warehouse.shared.store import ONCE, Content, Head, HeadWithTag, Store, StoreError, opened

EVERY = 2.0
"""Seconds between two reads of HEAD."""
ENDING = 5.0
"""Seconds that a shutdown of the service waits for a download."""
LOCK = "synchronization.lock"
"""The lock of a home. A synchronization or command that holds it downloads the state of the store itself."""
FOLDER = "published"
POINTED = f"{FOLDER}/{POINTER}"
MARKER = "home.json"
STAMPS = "following.json"
REPORTED_EVERY = 2.0
"""Seconds between two lines about a download."""


class Follower:
    """Keeps the builds of a home equal to the newest build of a store."""

    def __init__(self, home: Path, store: Store, downloads: Store) -> None:
        """Create a follower; no request is sent yet.

        Args:
            home: the home.
            store: the store, for requests of HEAD.
            downloads: the same store with more retries.
        """
        self._home, self._store, self._downloads = home, store, downloads
        self._folder = Folder(home, downloads, stamps=STAMPS)
        self._held: HeadWithTag | None = None
        self._trouble = ""

    def look(self) -> None:
        """Read HEAD; if it was replaced, download its build, and move the pointer last.

        If the store does not answer, or an object is damaged, the present build stays, and the log reports it once.
        """
        try:
            seen = self._store.head(self._held)
            if seen is not None and seen is not self._held and self._take_over(seen.head):
                self._held = seen
        except (WarehouseError, OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
            if not self._trouble and not self._downloads.stopped.is_set():
                print(f"{error}; the last build is served meanwhile", file=sys.stderr, flush=True)
            self._trouble = str(error)
            return
        if self._trouble:
            print("the store is back: builds are taken over again", file=sys.stderr, flush=True)
        self._trouble = ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Read HEAD every EVERY seconds, in a thread, until the block ends."""
        stop = threading.Event()

        def follow() -> None:
            self.look()
            while not stop.wait(EVERY):
                self.look()

        thread = threading.Thread(target=follow, name="following", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            self._downloads.stopped.set()
            thread.join(ENDING)

    def _take_over(self, head: Head) -> bool:
        """Make the builds of the home equal to HEAD's; False if another process holds the lock."""
        pointer = self._pointer_in(head)
        if pointer is None:
            return True  # nothing is published yet
        if MARKER in head.files and self._folder.contents([MARKER]).get(MARKER) not in (None, head.files[MARKER]):
            raise StoreError(
                f"{self._home} and {self._store.address} hold different kinds of data; set FUNDAMENTALS_HOME to "
                "another home, or FUNDAMENTALS_STORE to another store"
            )
        files, before = needed(head, pointer), readable(self._home / FOLDER)
        links = {path: target for path, target in head.links.items() if f"{FOLDER}/{target}" in _with_folders(files)}
        replaced = self._folder.fetch(files, Progress())
        with locked(self._home / LOCK) as is_mine:
            if not is_mine:
                return False
            self._folder.update(files, links)
            if replaced and POINTED not in replaced:
                (self._home / POINTED).touch()  # so that the service opens a build again after its files were repaired
            self._remove_others(files, pointer, before)
        if before is None or before.build != pointer.build:
            print(f"build {pointer.build} was taken over from {self._store.address}", file=sys.stderr, flush=True)
        return True

    def _pointer_in(self, head: Head) -> Pointer | None:
        """The pointer to the build in HEAD; None if HEAD has no build.

        Raises:
            BuildUnreadable: it is not a pointer.
            StoreError: it cannot be downloaded.
        """
        if POINTED not in head.files:
            return None
        [file] = self._folder.fetch({POINTED: head.files[POINTED]}).values() or [self._home / POINTED]
        try:
            return seal.decoded(file.read_bytes(), Pointer)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BuildUnreadable(f"{self._store.address}: {POINTED}: {error}; run `fundamentals sync`") from error

    def _remove_others(self, files: Mapping[str, Content], now: Pointer, before: Pointer | None) -> None:
        """Remove all builds except HEAD's and the last one, which may still be read."""
        published = self._home / FOLDER
        builds = {now.file, now.previous, before.file if before else None}
        stay = {*files}
        for pointer in (each for each in (before, *kept(published)) if each and each.file in builds):
            stay |= {f"{FOLDER}/{name}" for name in names_of(pointer)}
        local = [path for path in self._paths() if path not in stay]
        folders = {f"{FOLDER}/{copies_of(file)}/" for file in builds if file}
        self._folder.remove([path for path in local if not path.startswith((*folders,))])
        self._folder.remember()

    def _paths(self) -> Iterator[str]:
        """The files in the folder of builds, without links and files that are being written."""
        for path in (self._home / FOLDER).rglob("*"):
            parts = path.relative_to(self._home).parts
            if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in parts):
                yield "/".join(parts)


def names_of(pointer: Pointer) -> set[str]:
    """The names of the files of a build in the folder of builds, without its Parquet copies."""
    page = f"quality-{pointer.build}.html"
    of_build = {pointer.file, overlay_of(pointer.file), description_of(pointer.file)}
    return {*of_build, pointer.synchronized_file, page, POINTER, RUNS}


def needed(head: Head, pointer: Pointer) -> dict[str, Content]:
    """The files of the current build, which a replica needs, with their content."""
    names, copies = names_of(pointer), f"{FOLDER}/{copies_of(pointer.file)}/"
    return {
        path: content
        for path, content in head.files.items()
        if path.startswith(copies) or (path.partition("/")[0] == FOLDER and path.partition("/")[2] in names)
    }


def _with_folders(files: Mapping[str, Content]) -> set[str]:
    """The paths, and the folders that contain them."""
    return {*files, *(path.rpartition("/")[0] for path in files)}


class Progress:
    """Reports the progress of a download on standard error, every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Print a line if the last one is old enough."""
        if time.monotonic() - self._last >= REPORTED_EVERY:
            self._last = time.monotonic()
            print(f"downloading the build: {done:,} of {total:,} files", file=sys.stderr, flush=True)


def follower(home: Path, address: str) -> Follower:
    """Create the follower of a store.

    Raises:
        StoreError: the address is malformed, or a package is missing.
    """
    return Follower(home, opened(address, ONCE), opened(address))
