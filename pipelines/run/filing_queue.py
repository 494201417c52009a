"""The queue of reports that the SEC's feed named and that are not served yet, with the time of the next request for
each.

Belongs here: the stored state of the feed and of each report, its place, and the waiting time before the next request.
Does not: requests and handling their answers (newest_filings).

The queue is a file of the home. With a store, an object in the store is used instead, so that the next leader has the
waiting reports even if the machine of the follower is lost. Only the process that may send requests to the SEC reads
and writes it: under the lease or, without a store, under the lock of the home.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from pipelines.edgar.answers import Validators
from pipelines.edgar.decode.newest import NewFiling
from warehouse.shared.store import QUEUE, opened

FILE = "newest_filings.json"
"""The queue, in the folder of a home."""

WAITS = (
    (timedelta(minutes=2), timedelta(hours=1)),
    (timedelta(minutes=15), timedelta(days=1)),
    (timedelta(hours=1), timedelta(days=14)),
)
"""The time between two requests for the documents of a report, each up to an age of the report. The age is derived from
the number of requests, so that a clock that is wrong for a minute costs one request, but no report is given up."""
NEVER = datetime.min.replace(tzinfo=UTC)
"""A time before all synchronizations."""


def wait_after(asked: int) -> timedelta | None:
    """The waiting time after a number of requests; None after the last one: then the weekly bulk files bring the
    report."""
    before = timedelta(0)
    for wait, until in WAITS:
        asked -= (until - before) // wait
        if asked < 0:
            return wait
        before = until
    return None


class Waiting(msgspec.Struct, frozen=True):
    """A report that is not served yet, or that is served from its package and not in companyfacts yet.

    Attributes:
        filing: the report, as the feed names it.
        due_at: the time of the next request.
        asked: the number of requests so far.
        stated_at: the time when both documents of its company named it; a synchronization after it serves the report.
        read_at: the time of the last request for a synchronization that reads its package.
    """

    filing: NewFiling
    due_at: datetime
    asked: int = 0
    stated_at: datetime | None = None
    read_at: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether a request is due; also if the clock was ahead when the time was set."""
        return not now < self.due_at <= now + WAITS[-1][0]


class Queue(msgspec.Struct, frozen=True):
    """The state of the feed: the time of its last reading, the keys of known filings (NewFiling.key), the waiting
    reports, the validators of its first pages, and the malformed entries that were reported."""

    looked_at: datetime | None = None
    read: list[str] = []
    waiting: list[Waiting] = []
    validators: dict[str, Validators] = {}
    skipped: list[str] = []

    @classmethod
    def of(cls, root: Path, patience: float = 0.0) -> "Queue":
        """Read the queue of a home; empty if it is missing or damaged: then the feed is read further back.

        Args:
            root: the folder of the home.
            patience: as for warehouse.shared.store.opened; a run passes its own.

        Raises:
            StoreError: the store cannot be read.
        """
        if address := os.environ.get("FUNDAMENTALS_STORE"):
            written = opened(address, patience=patience).note(QUEUE)
            with suppress(msgspec.MsgspecError, UnicodeDecodeError, TypeError):
                return msgspec.json.decode(written or b"", type=cls)
        with suppress(FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError, TypeError):
            return msgspec.json.decode((root / FILE).read_bytes(), type=cls)
        return cls()

    def save(self, root: Path, patience: float = 0.0) -> None:
        """Write the queue completely or not at all, even if the power fails.

        Args:
            root, patience: as for `of`.

        Raises:
            StoreError: the store cannot be written.
        """
        content = msgspec.json.encode(self)
        written = root / f"{FILE}.tmp"
        with written.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        written.replace(root / FILE)
        if address := os.environ.get("FUNDAMENTALS_STORE"):
            opened(address, patience=patience).put_note(QUEUE, content)
