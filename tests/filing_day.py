"""A day at the fake SEC, on a virtual clock that two processes share.

Belongs here: when what is filed, and the faults of the day; the process that follows it. Does not: the fake SEC
(pipelines.fake_sec), any judgement. Waiting is skipped, work counts as it takes.

    python -m tests.filing_day CLOCK        `fundamentals follow` on the clock in that file
"""

import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from random import Random
from types import SimpleNamespace

from pipelines.fake_sec.edgar import FakeEdgar, Filed, at_most
from pipelines.fake_sec.faults import Fault, Faults
from pipelines.sample.bulk import NEW_YORK
from pipelines.sample.company import simulate
from pipelines.sample.filings import Filing
from pipelines.sample.traits import NEWEST, Filer
from tests.torture.shifted import set_clock

DAY = NEWEST + timedelta(days=3)
"""The Monday after everything that the sample files."""

BURST = (16, 5)
"""Hour and minute in New York in which most companies file: after the exchanges close."""
SKEW = timedelta(minutes=3)
"""So far EDGAR's clock, which the feed shows, is ahead of the follower's."""
OUTAGE = (timedelta(hours=15, minutes=30), timedelta(hours=16))
"""Times of the day in New York between which the feed answers 503."""
LONGEST_LAG = timedelta(seconds=90)
"""Until companyfacts or submissions have a filing, at most."""
REFUSED = 0.01
"""Share of the requests for documents that are answered with 429."""


_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Clock:
    """The virtual time: that of the system and what was slept, which a file has; safe for two processes."""

    path: Path

    def set(self, now: datetime) -> None:
        """Set it."""
        self._write((now - datetime.now(UTC)).total_seconds())

    def shift(self) -> timedelta:
        """How far it is from the time of the system."""
        return timedelta(seconds=struct.unpack("d", self.path.read_bytes())[0])

    def now(self) -> datetime:
        """The virtual time, in UTC."""
        return datetime.now(UTC) + self.shift()

    def sleep(self, seconds: float) -> None:
        """Skip the waiting; several threads of a process may wait for the same time."""
        until = self.now() + timedelta(seconds=seconds)
        with _ONE_AT_A_TIME:
            if (left := (until - self.now()).total_seconds()) > 0:
                self._write(self.shift().total_seconds() + left)

    def _write(self, seconds: float) -> None:
        written = self.path.with_suffix(".new")
        written.write_bytes(struct.pack("d", seconds))
        written.replace(self.path)


@dataclass(frozen=True)
class Accepted:
    """A filing of the day, with its filer."""

    filer: Filer
    filing: Filing

    @property
    def at(self) -> datetime:
        """When EDGAR accepted it."""
        return self.filing.accepted


def at(hour: int, minute: int = 0, second: float = 0) -> datetime:
    """A time of the day in New York, in UTC."""
    midnight = datetime(DAY.year, DAY.month, DAY.day, tzinfo=NEW_YORK)
    return (midnight + timedelta(hours=hour, minutes=minute, seconds=second)).astimezone(UTC)


def filings_of_day(filers: Sequence[Filer], burst: int, hours: tuple[float, float], seed: int = 1) -> list[Accepted]:
    """The newest report of each filer, as if filed on the day; of every fifth filer the newest two.

    The first filer that is not in the burst files while the feed is out.

    Args:
        filers: the filers, each with a periodic report.
        burst: how many of them file within a minute.
        hours: of the day in New York, between which the others file.
        seed: of the times.
    """
    draws = Random(seed)
    found = []
    for number, filer in enumerate(filers):
        reports = [filing for filing in simulate(filer).filings if filing.is_periodic]
        for filing in reports[-2 if number % 5 == 0 else -1 :]:
            first, last = OUTAGE if number == burst else (timedelta(hours=hour) for hour in hours)
            other = at(0) + first + draws.random() * (last - first)
            when = at(*BURST, draws.uniform(0, 60)) if number < burst else other
            found.append((filer, filing, when))
    # of two filings of a company, the earlier one is accepted first
    times = {filer.cik: sorted(when for by, _, when in found if by is filer) for filer in filers}
    return [
        Accepted(filer, replace(filing, accepted_at=times[filer.cik].pop(0), filed=DAY)) for filer, filing, _ in found
    ]


class FilingDay(FakeEdgar):
    """The SEC on that day; each filing is in the feed twice, as for two filers of one report.

    Args:
        filers: all filers.
        filed: the filings of the day.
        now: the virtual time.
    """

    def __init__(self, filers: Sequence[Filer], filed: Sequence[Accepted], now: Callable[[], datetime]) -> None:
        held_back = {one.filing.accession for one in filed}
        super().__init__(filers, held_back, now=now, delay=at_most(LONGEST_LAG), ahead=SKEW)
        for one in filed:
            self.accept(one.filer, one.filing)

    def in_feed(self, now: datetime) -> list[Filed]:
        return [filed for filed in super().in_feed(now) for _ in range(2)]


def faults_of_day(now: Callable[[], datetime]) -> Faults:
    """The feed is out for half an hour, and some requests for documents are refused."""
    refused = [Fault("429", part, share=REFUSED) for part in ("companyfacts", "submissions")]
    return Faults(now, [Fault("503", "feed", *(at(0) + moment for moment in OUTAGE)), *refused])


def follow(clock: Clock) -> int:
    """`fundamentals follow` on a virtual clock; threads that space their requests do sleep, as they would at once."""
    from pipelines.dagster_app import follow as command
    from pipelines.edgar import client

    def sleep(seconds: float) -> None:
        is_alone = threading.current_thread() is threading.main_thread()
        (clock.sleep if is_alone or seconds >= client.FIRST_DELAY else time.sleep)(seconds)

    set_clock(clock.shift)
    ssl.create_default_context = cache(ssl.create_default_context)  # each would take as long as all else of a look
    virtual = partial(client.EdgarClient, sleep=sleep, clock=lambda: clock.now().timestamp())
    client.EdgarClient = virtual  # type: ignore[assignment, misc]
    command.time = SimpleNamespace(sleep=clock.sleep, monotonic=time.monotonic)  # type: ignore[attr-defined]
    return command.main(())


if __name__ == "__main__":
    sys.exit(follow(Clock(Path(sys.argv[1]))))
