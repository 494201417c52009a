"""The lease on a store: only one process at a time, on all machines, leads a run.

Belongs here: taking, renewing and releasing the lease. Does not: requests to the store (warehouse.shared.store),
commits (shared_home), the lock of a home (home).

The holder replaces an object next to HEAD every few seconds, on condition that nobody else has changed it. A waiting
process sees from these changes whether the holder is alive, without comparing the clocks of two machines. Each holder
has a number. A process that takes over from a silent holder first writes its number into HEAD, so that a late commit of
the earlier holder is refused.
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
"""The number of renewals within the time after which a silent holder loses the lease."""


class LeaseError(PipelineError):
    """Another process holds the lease."""


def seconds() -> int:
    """Seconds without a sign of life after which another process takes the lease."""
    return whole_number("FUNDAMENTALS_LEASE", 30, 3, "seconds")


class HeldLease:
    """The lease held by this process, with its number."""

    def __init__(self, store: Store, lease: Lease, tag: str) -> None:
        self._store, self._lease, self._tag = store, lease, tag
        self._lock, self.number = threading.Lock(), lease.number

    def renew(self, **changed: str) -> None:
        """Give a sign of life, if the lease is not lost.

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
def leased(store: Store, wait: Tell | None = None) -> Iterator[HeldLease]:
    """Hold the lease during the `with` block.

    Args:
        store: the store.
        wait: called with a message while another process holds the lease; None: do not wait for a live process.

    Raises:
        LeaseError: another live process holds the lease.
        StoreError: the store cannot be used.
    """
    held, over = _taken(store, wait), threading.Event()

    def renew() -> None:
        while not over.wait(seconds() / RENEWALS):
            with suppress(StoreError):  # the next commit reports the error
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


def _taken(store: Store, wait: Tell | None) -> HeldLease:
    """Take the lease if nobody holds it, or if its holder gives no sign of life."""
    began = seen_at = time.monotonic()
    seen, has_reported = "", False
    while True:
        asked_at = time.monotonic()
        lease, tag = store.patiently(store.lease)
        is_alive, now = seen not in ("", tag), time.monotonic()
        if seen != tag or now - asked_at > seconds() / RENEWALS:  # nobody could renew it without the store
            seen, seen_at = tag or "", now
        if not lease.holder or now - seen_at >= seconds():
            here, at = f"process {os.getpid()} of {socket.gethostname()}", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            mine = Lease(lease.number + 1, here, at, writer=uuid.uuid4().hex, silence=seconds())
            if taken := store.patiently(partial(store.replace_lease, mine, tag)):
                if lease.holder:
                    _fence_earlier_holders(store, mine.number)
                return HeldLease(store, mine, taken)
            continue
        message = f"the lease on {store.address} is held by {lease.holder} since {lease.since}"
        if is_alive and wait is None:
            raise LeaseError(f"{message}: another synchronization is running; wait for it to end, or stop it")
        if not has_reported and now - began >= AFTER:
            (wait or on_terminal)(f"{message}; this one waits until it ends, or was silent for {seconds()} seconds")
            has_reported = True
        time.sleep(min(1.0, seconds() / RENEWALS / 2))


def _fence_earlier_holders(store: Store, number: int) -> None:
    """Write the number of the lease into HEAD, so that earlier holders cannot commit any more."""
    while held := store.head():
        with suppress(StoreConflict):  # the earlier holder has just committed, and cannot commit again
            store.replace_head(held.head.run, held.head.files, held.head.links, held, lease=number)
            return
