"""The signs of life of the follower of the SEC's newest filings, with figures of its queue, for operators.

Belongs here: the figures (last reading of the feed, waiting reports, times at which EDGAR had documents), and writing
signs in the home and in the store. Does not: the form of a sign (warehouse.record.follower), following (the command
`follow` and Dagster's sensor).
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from msgspec.structs import replace

from pipelines.run.filing_queue import Queue
from pipelines.run.newest_filings import Covered
from pipelines.storage.home import Home
from warehouse.record import follower
from warehouse.record.follower import Heartbeat
from warehouse.shared.store import ONCE, StoreError, opened

EVERY = 30.0
"""Seconds between two signs, as for Dagster's daemon."""


def figures(queue: Queue, covered: Covered) -> Heartbeat:
    """A sign of life with the present figures of the queue.

    Args:
        queue: the queue; it also has reports that are already served from their packages, but that companyfacts lacks.
        covered: the followed companies and served filings; reports of other companies are not counted.
    """
    unserved = (one.filing for one in queue.waiting if one.filing.key not in covered.served)
    accepted = [filing.accepted_at for filing in unserved if filing.cik in covered.symbols]
    return Heartbeat(datetime.now(UTC), queue.looked_at, len(accepted), min(accepted, default=None))


def available(home: Home) -> dict[str, datetime]:
    """The time when EDGAR had the documents of each waiting report, by accession number, where it is known."""
    with suppress(StoreError):
        waiting = Queue.of(home.root).waiting
        times = {one.filing.accession: [at for at in (one.read_at, one.stated_at) if at] for one in waiting}
        return {accession: min(at) for accession, at in times.items() if at}
    return {}


class HeartbeatWriter:
    """Writes signs of life of this process. A failure to write is ignored: the age of the last sign then shows the
    problem."""

    def __init__(self, home: Home) -> None:
        """Keep the figures of the last process; no sign is written yet.

        Raises:
            StoreError: FUNDAMENTALS_STORE is no address, or a package is missing.
        """
        address = os.environ.get("FUNDAMENTALS_STORE")
        self._home, self._store = home, opened(address, ONCE) if address else None
        self._lock = threading.Lock()
        self._last = follower.read(home.root) or Heartbeat(datetime.now(UTC))

    def give(self, heartbeat: Heartbeat | None = None) -> None:
        """Write a sign with new figures, or with the last figures."""
        with self._lock, suppress(OSError, StoreError):
            self._last = heartbeat or replace(self._last, at=datetime.now(UTC))
            follower.write(self._home.root, self._last)
            if self._store:
                self._store.put_note(follower.OBJECT, follower.encoded(self._last))

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Write a sign every half minute, in a thread, until the block ends."""
        over = threading.Event()

        def beat() -> None:
            self.give()
            while not over.wait(EVERY):
                self.give()

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(EVERY)
