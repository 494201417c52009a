"""The heartbeat of the follower of the SEC's newest filings: a file of the home and an object of the store.

Belongs here: its form, and the file of a home. Does not: when it is written (pipelines.run.heartbeat), the metrics
(serve.metrics), the queue of reports (pipelines.run.newest_filings).
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

FILE, OBJECT = "follower.json", "FOLLOWER"
"""Its file name in a home, and its name in a store, where all machines find it."""


class Heartbeat(msgspec.Struct, frozen=True):
    """A heartbeat; times are in UTC.

    Attributes:
        at: when it was written.
        feed_read_at: when the feed of newest filings was last read successfully; None: never.
        waiting: the number of reports of followed companies that are not served yet.
        oldest_at: when the SEC accepted the oldest of these reports; None: no report is waiting.
    """

    at: datetime
    feed_read_at: datetime | None = None
    waiting: int = 0
    oldest_at: datetime | None = None


def encoded(heartbeat: Heartbeat) -> bytes:
    """Encode a heartbeat as JSON."""
    return msgspec.json.encode(heartbeat)


def decoded(content: bytes | None) -> Heartbeat | None:
    """Decode a heartbeat; None if there is none, or if it is damaged."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(content or b"", type=Heartbeat)
    return None


def read(home: Path) -> Heartbeat | None:
    """The last heartbeat in a home; None if there is none, or if it is damaged."""
    with suppress(OSError):
        return decoded((home / FILE).read_bytes())
    return None


def write(home: Path, heartbeat: Heartbeat) -> None:
    """Write a heartbeat into a home.

    Raises:
        OSError: it cannot be written.
    """
    written = home / f"{FILE}.tmp"
    written.write_bytes(encoded(heartbeat))
    written.replace(home / FILE)
