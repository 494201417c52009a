"""The queue of reports: those that the SEC's feed named and that are not served yet, and when to ask for them.

Belongs here: what is remembered of the feed and of each report, where it is kept, how long to wait before the next
request. Does not: requests, and what follows from their answers (newest_filings).

It is a file of the home and, with a store, an object of it that counts: whoever leads next has the reports that wait,
also if the machine of the follower is lost. It is read and written by who may ask the SEC: under the lease or, without
a store, the lock of the home.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from pipelines.edgar.answers import Validators
from pipelines.edgar.newest import NewFiling
from warehouse.shared.store import QUEUE, opened

FILE = "newest_filings.json"
"""The queue, in the folder of a home."""

WAITS = (
    (timedelta(minutes=2), timedelta(hours=1)),
    (timedelta(minutes=15), timedelta(days=1)),
    (timedelta(hours=1), timedelta(days=14)),
)
"""Until the documents of a report are requested again, and until which age of the report. The requests are counted,
so a clock that is wrong for a minute neither gives up a report nor stops it: it costs one request."""
NEVER = datetime.min.replace(tzinfo=UTC)
"""Before all synchronizations."""


def wait_after(asked: int) -> timedelta | None:
    """How long to wait after a number of requests; None: they are enough, and the weekly bulk files are left."""
    before = timedelta(0)
    for wait, until in WAITS:
        asked -= (until - before) // wait
        if asked < 0:
            return wait
        before = until
    return None


class Waiting(msgspec.Struct, frozen=True):
    """A report that is not served yet, or is served from its package and not in companyfacts yet.

    Attributes:
        filing: the report, as the feed names it.
        due_at: when it is asked for next.
        asked: how often it was asked for.
        stated_at: when both documents of its company named it; from then on a synchronization serves it.
        read_at: when a synchronization was last requested that reads its package.
    """

    filing: NewFiling
    due_at: datetime
    asked: int = 0
    stated_at: datetime | None = None
    read_at: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether it is to be asked for; also if the clock was ahead when the time was set."""
        return not now < self.due_at <= now + WAITS[-1][0]


class Queue(msgspec.Struct, frozen=True):
    """What was read of the feed: when last, the filings that are known (NewFiling.key), the reports that wait, the
    validators of its first pages, and the malformed entries that were told."""

    looked_at: datetime | None = None
    read: list[str] = []
    waiting: list[Waiting] = []
    validators: dict[str, Validators] = {}
    skipped: list[str] = []

    @classmethod
    def of(cls, root: Path, patience: float = 0.0) -> "Queue":
        """The queue of a home; an empty one if there is none, or if it is damaged: then the feed is read further back.

        Args:
            root: the folder of the home.
            patience: as for warehouse.shared.store.opened: that of a run.

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
        """Write the queue, so that after a failure of power there is the old one or this one.

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
