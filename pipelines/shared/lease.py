"""The lease on a store: one process at a time leads a run, on whatever machine.

Belongs here: taking, renewing and giving up the lease. Does not: requests to the store (warehouse.shared.store),
commits (shared_home), the lock of a home (home).

Its holder replaces an object beside HEAD every few seconds, on condition that it is as it left it. Who waits sees by
that whether the holder lives, and compares no clocks of two machines. Each holder has a number. Who takes over from a
silent one first writes its number into HEAD, so that a commit of the one before is refused, however late it wakes up.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial

from msgspec.structs import replace

from pipelines.errors import PipelineError
from pipelines.settings import whole_number
from pipelines.waiting import AFTER, Tell, on_terminal
from warehouse.shared.store import Lease, Store, StoreConflict, StoreError

RENEWALS = 6
"""Renewals in the time after which a silent holder has lost the lease."""


class LeaseError(PipelineError):
    """Another process holds the lease."""


def seconds() -> int:
    """Seconds without a sign of life after which another process takes the lease."""
    return whole_number("FUNDAMENTALS_LEASE", 30, 3, "seconds")


class Held:
    """The lease that this process holds, and its number."""

    def __init__(self, store: Store, lease: Lease, tag: str) -> None:
        self._store, self._lease, self._tag = store, lease, tag
        self._lock, self.number = threading.Lock(), lease.number

    def renew(self, **changed: str) -> None:
        """Give a sign of life, if it was not lost.

        Raises:
            StoreConflict: another process has taken the lease.
            StoreError: the store cannot be used.
        """
        with self._lock:
            wanted = replace(self._lease, renewed=self._lease.renewed + 1, **changed)
            tag = self._store.replace_lease(wanted, self._tag)
            if not tag:
                holder = self._store.lease()[0].holder or "another process"
                raise StoreConflict(
                    f"{self._store.address}: the lease was taken by {holder}, because this one gave no sign of life "
                    f"for {seconds()} seconds"
                )
            self._lease, self._tag = wanted, tag


@contextmanager
def leased(store: Store, wait: Tell | None = None) -> Iterator[Held]:
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
    began = seen_at = time.monotonic()
    seen, has_reported = "", False
    while True:
        asked_at = time.monotonic()
        lease, tag = store.patiently(store.lease)
        is_alive, now = seen not in ("", tag), time.monotonic()
        if seen != tag or now - asked_at > seconds() / RENEWALS:  # while the store was away, nobody could renew it
            seen, seen_at = tag or "", now
        if not lease.holder or now - seen_at >= seconds():
            here, at = f"process {os.getpid()} of {socket.gethostname()}", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            mine = Lease(lease.number + 1, here, at, writer=uuid.uuid4().hex, silence=seconds())
            if taken := store.patiently(partial(store.replace_lease, mine, tag)):
                if lease.holder:
                    _shut_out(store, mine.number)
                return Held(store, mine, taken)
            continue
        message = f"the lease on {store.address} is held by {lease.holder} since {lease.since}"
        if is_alive and wait is None:
            raise LeaseError(f"{message}: another synchronization is running; wait for it to end, or stop it")
        if not has_reported and now - began >= AFTER:
            (wait or on_terminal)(f"{message}; this one waits until it ends, or was silent for {seconds()} seconds")
            has_reported = True
        time.sleep(min(1.0, seconds() / RENEWALS / 2))


def _shut_out(store: Store, number: int) -> None:
    """Write the number of the lease into HEAD, so that who held it before cannot commit any more."""
    while held := store.head():
        with suppress(StoreConflict):  # that one has just committed; nothing of it can come later
            store.replace_head(held.head.run, held.head.files, held.head.links, held, lease=number)
            return
