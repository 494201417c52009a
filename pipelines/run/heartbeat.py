"""What operators see of the SEC's newest filings: signs of life of the follower, and what its queue says.

Belongs here: when the feed was read, what waits, when EDGAR had it; giving signs, in the home and in the store. Does
not: their form (warehouse.record.follower), following (the command `follow` and Dagster's sensor do).
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
from warehouse.record.follower import Sign
from warehouse.shared.store import ONCE, StoreError, opened

EVERY = 30.0
"""Seconds between two signs: Dagster's daemon gives its own as often."""


def figures(queue: Queue, covered: Covered) -> Sign:
    """What the queue says, as a sign of life of this moment.

    Args:
        queue: the queue, which also has reports that are served from their packages and that companyfacts lack.
        covered: what is followed, and served: a report of another company is not to be served.
    """
    unserved = (one.filing for one in queue.waiting if one.filing.key not in covered.served)
    accepted = [filing.accepted_at for filing in unserved if filing.cik in covered.symbols]
    return Sign(datetime.now(UTC), queue.looked_at, len(accepted), min(accepted, default=None))


def available(home: Home) -> dict[str, datetime]:
    """When EDGAR had the documents of the reports that wait, by accession number; of the others it is not known."""
    with suppress(StoreError):
        waiting = Queue.of(home.root).waiting
        times = {one.filing.accession: [at for at in (one.read_at, one.stated_at) if at] for one in waiting}
        return {accession: min(at) for accession, at in times.items() if at}
    return {}


class Heartbeat:
    """Signs of life of this process. They never end it: without a disk or a store, the age of the last one tells."""

    def __init__(self, home: Home) -> None:
        """Give none yet; what the last process said of the feed and of reports stays.

        Raises:
            StoreError: FUNDAMENTALS_STORE is no address, or a package is missing.
        """
        address = os.environ.get("FUNDAMENTALS_STORE")
        self._home, self._store = home, opened(address, ONCE) if address else None
        self._lock = threading.Lock()
        self._last = follower.read(home.root) or Sign(datetime.now(UTC))

    def give(self, sign: Sign | None = None) -> None:
        """Give a sign with new figures, or with the last ones."""
        with self._lock, suppress(OSError, StoreError):
            self._last = sign or replace(self._last, at=datetime.now(UTC))
            follower.write(self._home.root, self._last)
            if self._store:
                self._store.put_note(follower.OBJECT, follower.encoded(self._last))

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Give a sign every half minute, in a thread, until the block ends."""
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
