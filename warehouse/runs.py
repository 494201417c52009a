"""The record of synchronizations beside the builds: how often each result was, and when last.

Belongs here: the file, reading and writing it. Does not: deciding the result (pipelines), the pointer (pointer).

The pointer only knows synchronizations that ended well. This file also knows those that failed or were held back.
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from warehouse import seal

FILE = "runs.json"
PUBLISHED, UNCHANGED, HELD_BACK, FAILED = RESULTS = ("published", "unchanged", "held_back", "failed")
"""A new build was published; the build stays, because nothing is new; checks held it back; an error or a stop."""


class Run(msgspec.Struct, frozen=True):
    """The synchronizations with one result: their number, and end (in UTC) and seconds of the last one."""

    number: int
    finished_at: datetime
    seconds: float


class Runs(msgspec.Struct, frozen=True):
    """The content of the file: runs by result, and companies of the last run that got so far."""

    by_result: dict[str, Run] = {}
    quarantined: int | None = None
    failed: int | None = None


def read(published: Path) -> Runs:
    """The record of a folder of builds; an empty one if it is missing or damaged."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return seal.decoded((published / FILE).read_bytes(), Runs)
    return Runs()


def note(
    published: Path, result: str, finished: datetime, seconds: float, quarantined: int | None, failed: int | None
) -> None:
    """Add a synchronization to the record; its caller has locked the home.

    Args:
        published: the folder of builds.
        result: one of RESULTS.
        finished: when it ended, in UTC.
        seconds: how long it took.
        quarantined: companies in quarantine; None if not known.
        failed: companies whose documents could not be fetched; None if not known.

    Raises:
        OSError: the file cannot be written.
    """
    before = read(published)
    number = before.by_result[result].number + 1 if result in before.by_result else 1
    run = Run(number, finished.replace(microsecond=0), round(seconds, 3))
    now = Runs({**before.by_result, result: run}, quarantined, failed)
    written = published / f"{FILE}.tmp"
    written.write_bytes(seal.encoded(now))
    written.replace(published / FILE)
