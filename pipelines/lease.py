"""The lease on a store: one process at a time leads a run, on whatever machine.

Belongs here: taking, renewing and giving up the lease. Does not: requests to the store (warehouse.store), commits
(working_copy), the lock of a home (home).

Its holder replaces an object beside HEAD every few seconds, on condition that it is as it left it. Who waits sees by
that whether the holder lives, and compares no clocks of two machines. Each holder has a number. Who takes over from a
silent one first writes its number into HEAD, so that a commit of the one before is refused, however late it wakes up.
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
from pipelines.processes import process_named
from pipelines.settings import whole_number
from pipelines.waiting import AFTER, Tell, on_terminal
from warehouse.store import Lease, Store, StoreConflict, StoreError

RENEWALS = 6
"""Renewals in the time after which a silent holder has lost the lease."""
TOLD_EVERY = 60.0
"""Seconds between two lines of a process that waits."""


class LeaseError(PipelineError):
    """Another process holds the lease."""


def seconds() -> int:
    """Seconds without a sign of life after which another process takes the lease."""
    return whole_number("FUNDAMENTALS_LEASE", 30, 3, "seconds")


class Held:
    """The lease that this process holds."""

    def __init__(self, store: Store, lease: Lease, tag: str) -> None:
        self._store, self._lease, self._tag = store, lease, tag
        self._lock = threading.Lock()

    @property
    def number(self) -> int:
        """Its number."""
        return self._lease.number

    def renew(self, **changed: str) -> None:
        """Give a sign of life, if it was not lost.

        Raises:
            StoreConflict: another process has taken the lease.
            StoreError: the store cannot be used.
        """
        with self._lock:
            wanted = msgspec.structs.replace(self._lease, renewed=self._lease.renewed + 1, **changed)
            tag = self._store.replace_lease(wanted, self._tag) if self._tag else None
            now, tag_now = (wanted, tag) if tag else self._store.lease()
            if now != wanted:  # else only the answer to the first attempt was lost
                self._tag = ""
                raise StoreConflict(
                    f"{self._store.address}: the lease was taken by {now.holder or 'another process'}, because this "
                    f"one gave no sign of life for {seconds()} seconds"
                )
            self._lease, self._tag = wanted, tag_now or ""


@contextmanager
def leading(store: Store, wait: Tell | None = None) -> Iterator[Held]:
    """Hold the lease during the `with` block.

    Args:
        store: whose lease.
        wait: called with a message while another process holds it; None: do not wait for one that lives.

    Raises:
        LeaseError: another process holds it and lives.
        StoreError: the store cannot be used.
    """
    held, over = _taken(store, wait), threading.Event()

    def renew() -> None:
        while not over.wait(seconds() / RENEWALS):
            with suppress(StoreError):  # the next commit says so
                held.renew()

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield held
    finally:
        over.set()
        thread.join()
        with suppress(StoreError):
            held.renew(holder="")


def _taken(store: Store, wait: Tell | None) -> Held:
    """Take the lease, if nobody holds it, or its holder gives no sign of life."""
    seen, seen_at, told_at = "", time.monotonic(), time.monotonic() - TOLD_EVERY + AFTER
    while True:
        lease, tag = store.lease()
        now, is_alive = time.monotonic(), seen not in ("", tag)
        if seen != tag:
            seen, seen_at = tag or "", now
        is_silent = lease.holder and (_is_gone(lease.holder) or now - seen_at >= seconds())
        if not lease.holder or is_silent:
            mine = Lease(lease.number + 1, _here(os.getpid()), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
            if taken := store.replace_lease(mine, tag):
                if is_silent:
                    _shut_out(store, mine.number)
                return Held(store, mine, taken)
            continue
        told = f"the lease on {store.address} is held by {lease.holder} since {lease.since}"
        if is_alive and wait is None:
            raise LeaseError(f"{told}: another synchronization is running; wait for it to end, or stop it")
        if now - told_at >= TOLD_EVERY:
            told_at = now
            (wait or on_terminal)(f"{told}; this one waits until it ends, or was silent for {seconds()} seconds")
        time.sleep(min(1.0, seconds() / RENEWALS / 2))


def _shut_out(store: Store, number: int) -> None:
    """Write the number of the lease into HEAD, so that who held it before cannot commit any more."""
    while held := store.head():
        with suppress(StoreConflict):  # that one has just committed; nothing of it can come later
            store.replace_head(held.head.run, held.head.files, held.head.links, held, lease=number)
            return


def _here(process: int) -> str:
    """A name for a process of this machine since its start, and of this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return (
            f"process {process_named(process)} of {socket.gethostname()} {boot} {Path('/proc/self/ns/pid').readlink()}"
        )
    except OSError:  # not Linux: no other process has this name
        return f"process {process} of {socket.gethostname()} {os.urandom(8).hex()}"


def _is_gone(holder: str) -> bool:
    """Whether the holder was a process of this machine that has ended."""
    process = holder.split()[1]
    here = _here(int(process.partition("-")[0]))
    return here != holder and here.partition(" of ")[2] == holder.partition(" of ")[2]
