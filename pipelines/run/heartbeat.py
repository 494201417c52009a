"""What operators see of the SEC's newest filings: signs of life of the follower, and what its queue says.

Belongs here: when the feed was read, what waits, when EDGAR had it; giving signs, in the home and in the store. Does
not: their form (warehouse.follower), following (the command `follow` and Dagster's sensor do).
"""

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from msgspec.structs import replace

from pipelines.run.newest_filings import Queue
from pipelines.storage.home import Home
from warehouse import follower
from warehouse.follower import Sign
from warehouse.store import ONCE, StoreError, opened

EVERY = 30.0
"""Seconds between two signs: Dagster's daemon gives its own as often."""


def figures(queue: Queue, covered: Collection[str]) -> Sign:
    """What the queue says, as a sign of life of this moment.

    Args:
        queue: the queue.
        covered: the companies that are followed: a report of another one is not to be served.
    """
    accepted = [one.filing.accepted_at for one in queue.waiting if one.filing.cik in covered]
    return Sign(datetime.now(UTC), queue.looked_at, len(accepted), min(accepted, default=None))


def available(home: Home) -> dict[str, datetime]:
    """When EDGAR had the documents of the reports that wait, by accession number; of the others it is not known."""
    return {one.filing.accession: one.stated_at for one in Queue.of(home.root).waiting if one.stated_at}


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
