"""The lease on a store: one process at a time leads a run, on whatever machine.

Belongs here: taking the lease, renewing it, giving it up. Does not: requests to the store (warehouse.store), what a run
commits (working_copy), the lock of a home (home).

The lease is an object beside HEAD, which its holder replaces every few seconds, on condition that it is as it left it.
Who waits for it sees by that whether the holder lives; it compares no times of two machines, only its own clock with
itself. Each holder has a number, which HEAD keeps: who takes over from a holder that was silent first writes the number
into HEAD, so that a commit of the one before is refused, however late it wakes up.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from pipelines.errors import PipelineError
from pipelines.launcher import process_named
from pipelines.waiting import AFTER, Tell, on_terminal
from warehouse.store import Store, StoreConflict, StoreError

SETTING = "FUNDAMENTALS_LEASE"
SECONDS = 30
"""Seconds without a sign of life after which another process takes the lease."""
RENEWALS = 6
"""Renewals in that time."""
TOLD_EVERY = 60.0
"""Seconds between two lines of a process that waits."""


class LeaseError(PipelineError):
    """Another process holds the lease, or the setting of its duration is wrong."""


class State(msgspec.Struct, frozen=True):
    """What the object says.

    Attributes:
        number: of the holder; each one has the next number.
        holder: the process that holds the lease; empty: nobody.
        place: the machine since its start, and the container, in which the number of the process has a meaning.
        since: when it took the lease, by its clock; shown, and compared with nothing.
        renewed: how often it was renewed.
    """

    number: int = 0
    holder: str = ""
    place: str = ""
    since: str = ""
    renewed: int = 0


def seconds() -> int:
    """Seconds without a sign of life after which another process takes the lease.

    Raises:
        LeaseError: the setting is not a number from 3 on.
    """
    setting = os.environ.get(SETTING, "")
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) >= 3):
        raise LeaseError(f"{SETTING} is {setting!r}, expected seconds, 3 or more")
    return int(setting) if setting else SECONDS


class Lease:
    """The lease that this process holds."""

    def __init__(self, store: Store, state: State, tag: str) -> None:
        self.number = state.number
        self._store, self._state, self._tag = store, state, tag
        self._lock = threading.Lock()
        self._is_lost = False

    def renew(self) -> None:
        """Give a sign of life.

        Raises:
            StoreConflict: another process has taken the lease.
            StoreError: the store cannot be used.
        """
        with self._lock:
            if not self._is_lost:
                self._replace(msgspec.structs.replace(self._state, renewed=self._state.renewed + 1))
            if self._is_lost:
                now = state_in(self._store)
                raise StoreConflict(
                    f"{self._store.address}: the lease was taken by {now.holder or 'another process'} while this one gave"
                    f" no sign of life for {seconds()} seconds"
                )

    def give_up(self) -> None:
        """Let another process take the lease at once; if the store is away, after a while."""
        with self._lock, suppress(StoreError):
            if not self._is_lost:
                self._replace(State(self.number))

    def _replace(self, state: State) -> None:
        tag = self._store.replace_lease(msgspec.json.encode(state), self._tag)
        found = self._store.lease() if tag is None else None
        if found and msgspec.json.decode(found[0], type=State) == state:  # only the answer was lost
            tag = found[1]
        self._is_lost = tag is None
        self._state, self._tag = state, tag or ""


@contextmanager
def leading(store: Store, wait: Tell | None = None) -> Iterator[Lease]:
    """Hold the lease during the `with` block.

    Args:
        store: whose lease.
        wait: called with a message while another process holds it; None: do not wait for one that lives.

    Raises:
        LeaseError: another process holds it and lives.
        StoreError: the store cannot be used.
    """
    lease, over = _taken(store, wait), threading.Event()

    def renew() -> None:
        while not over.wait(seconds() / RENEWALS):
            with suppress(StoreConflict, StoreError):  # the next commit says so
                lease.renew()

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield lease
    finally:
        over.set()
        thread.join()
        lease.give_up()


def state_in(store: Store) -> State:
    """What the object says now.

    Raises:
        StoreError: the store cannot be read, or the object is damaged.
    """
    return _decoded(store, store.lease())[0]


def _decoded(store: Store, found: tuple[bytes, str] | None) -> tuple[State, str | None]:
    try:
        return (msgspec.json.decode(found[0], type=State), found[1]) if found else (State(), None)
    except msgspec.MsgspecError as error:
        raise StoreError(f"{store.address}/LEASE is damaged ({error}); delete it if no run is under way") from error


def _taken(store: Store, wait: Tell | None) -> Lease:
    """Take the lease, if nobody holds it, or its holder gives no sign of life."""
    began = seen_at = time.monotonic()
    seen, told, since = "", began - TOLD_EVERY + AFTER, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    holder = f"process {os.getpid()} of {socket.gethostname()}"
    while True:
        state, tag = _decoded(store, store.lease())
        now = time.monotonic()
        is_alive = seen not in ("", tag)
        if seen != tag:
            seen, seen_at = tag or "", now
        is_silent = bool(state.holder) and (_is_gone(state) or now - seen_at >= seconds())
        if not state.holder or is_silent:
            mine = State(state.number + 1, holder, _process(), since)
            if taken := store.replace_lease(msgspec.json.encode(mine), tag):
                if is_silent:
                    _shut_out(store, mine.number)
                return Lease(store, mine, taken)
            continue
        held = f"the lease on {store.address} is held by {state.holder} since {state.since}"
        if is_alive and wait is None:
            raise LeaseError(
                f"{held}: another synchronization is running; wait for it to end, or stop it, and try again"
            )
        if now - told >= TOLD_EVERY:
            told = now
            (wait or on_terminal)(f"{held}; this one waits until it ends, or was silent for {seconds()} seconds")
        time.sleep(min(1.0, seconds() / RENEWALS / 2))


def _shut_out(store: Store, number: int) -> None:
    """Write the number of the lease into HEAD, so that who held it before cannot commit any more."""
    while held := store.head():
        with suppress(StoreConflict):  # it has just committed; nothing of it can come later
            store.replace_head(held.head.run, held.head.files, held.head.links, held, lease=number)
            return


def _process() -> str:
    """A name for this process and its machine, since the start of both."""
    return f"{_place()} {process_named(os.getpid())}"


def _place() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux: no other process knows this name
        return f"{socket.gethostname()}/{os.urandom(8).hex()}"


def _is_gone(state: State) -> bool:
    """Whether the holder was a process of this machine that has ended."""
    place, _, process = state.place.partition(" ")
    return place == _place() and process_named(int(process.partition("-")[0])) != process
