"""The record of synchronizations next to the builds: how often each result occurred, the last run, the filing delays.

Belongs here: the file, reading and writing it. Does not: deciding the result (pipelines), the pointer (pointer),
measuring delays (delays).

The pointer only knows synchronizations that ended well. This file also knows runs that failed or were held back.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import accumulate
from pathlib import Path

import msgspec

from warehouse.build import seal
from warehouse.build.delays import Delay

FILE = "runs.json"
PUBLISHED, UNCHANGED, HELD_BACK, FAILED = RESULTS = ("published", "unchanged", "held_back", "failed")
"""Results: a new build was published; nothing was new and the build stays; checks held it back; an error or a stop."""
DELAYS = (60.0, 120.0, 180.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0, 14400.0, 28800.0, 57600.0, 86400.0)
"""The upper bounds of the histogram of filing delays, in seconds: a minute to a day."""
NAMES = (*map(str, DELAYS), "+Inf")
"""The bounds as keys; the last one stands for longer delays."""


class Delays(msgspec.Struct, frozen=True):
    """A histogram of the delays of all filings that builds have added, and the sum of the delays in seconds."""

    by_bound: dict[str, int] = {}
    seconds: float = 0.0

    def up_to(self) -> list[int]:
        """The number of delays up to each of the DELAYS, and the number of all."""
        return list(accumulate(self.by_bound.get(bound, 0) for bound in NAMES))

    def added(self, delays: Iterable[float]) -> "Delays":
        """A histogram with these delays and further ones, in seconds."""
        more = list(delays)
        numbers = Counter(NAMES[bisect_left(DELAYS, delay)] for delay in more)
        return Delays(dict(numbers + Counter(self.by_bound)), round(self.seconds + sum(more), 3))


class Run(msgspec.Struct, frozen=True):
    """The synchronizations with one result: their number, and end (in UTC) and seconds of the last one."""

    number: int
    finished_at: datetime
    seconds: float


class Runs(msgspec.Struct, frozen=True):
    """The content of the file: runs by result, delays of filings, and the last run's quarantined and failed companies.

    These two numbers are None if the run did not get so far. `waits` is the SEC's part of the delays, and `works` the
    service's.
    """

    by_result: dict[str, Run] = {}
    quarantined: int | None = None
    failed: int | None = None
    delays: Delays = Delays()
    waits: Delays = Delays()
    works: Delays = Delays()


def read(published: Path) -> Runs:
    """Read the record in a folder of builds; an empty one if it is missing or damaged."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return seal.decoded((published / FILE).read_bytes(), Runs)
    return Runs()


def note(
    published: Path,
    result: str,
    finished: datetime,
    seconds: float,
    quarantined: int | None,
    failed: int | None,
    delays: Sequence[Delay] = (),
) -> None:
    """Add a synchronization to the record; the caller must have locked the home.

    Args:
        published: the folder of builds.
        result: one of RESULTS.
        finished: when it ended, in UTC.
        seconds: how long it took.
        quarantined: companies in quarantine; None if not known.
        failed: companies whose documents could not be fetched; None if not known.
        delays: delays of the filings that its build adds.

    Raises:
        OSError: the file cannot be written.
    """
    before = read(published)
    number = before.by_result[result].number + 1 if result in before.by_result else 1
    run = Run(number, finished.replace(microsecond=0), round(seconds, 3))
    now = Runs(
        {**before.by_result, result: run},
        quarantined,
        failed,
        before.delays.added(map(sum, delays)),
        before.waits.added(delay.at_edgar for delay in delays),
        before.works.added(delay.at_service for delay in delays),
    )
    written = published / f"{FILE}.tmp"
    written.write_bytes(seal.encoded(now))
    written.replace(published / FILE)
