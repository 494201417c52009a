"""A day at a fake SEC, on a played clock that two processes share: feed, daily index, packages, late companyfacts,
refusals, outages.

Belongs here: the times of filings and documents; the process that follows them, and the filings that it has served.
Does not: any judgement. Waiting is skipped, and only a synchronization takes time (RUN).

    python -m tests.filing_day CLOCK [COPY]        `fundamentals follow` on the clock in that file
"""

import os
import shutil
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import httpx
import orjson

from pipelines.edgar.decode.newest import key_of
from pipelines.fake_sec.edgar import FakeEdgar, Filed
from pipelines.fake_sec.faults import Fault, Faults
from pipelines.sample.business.filings import Filing
from pipelines.sample.edgar import data_sets
from pipelines.sample.edgar.archives import DATA_SET
from pipelines.sample.edgar.bulk import NEW_YORK
from pipelines.sample.edgar.company import simulate
from pipelines.sample.filer.traits import NEWEST, Filer
from pipelines.storage.home import Home
from tests.e2e.homes import query
from tests.torture.shifted import set_clock
from warehouse.build.pointer import current

DAY = NEWEST + timedelta(days=3)
"""The Monday after everything that the sample files."""

QUARTER = (2025, 3)
"""The quarter of the newest data set."""
BURST = (16, 5)
"""Hour and minute in New York in which most companies file: after the exchanges close."""
EARLY = (7, 0)
"""When many others do: before the exchanges open."""
SKEW = timedelta(minutes=3)
"""So far EDGAR's clock, which the feed shows, is ahead of the follower's."""
OUTAGE = (timedelta(hours=15, minutes=30), timedelta(hours=16))
"""Times of the day in New York between which the feed answers 503."""
SILENCE = (timedelta(hours=11), timedelta(hours=11, minutes=20))
"""Times of the day between which companyfacts and submissions answer 503."""
SHORT, LONG = (5, 90), (60, 1200)
"""Seconds until submissions, or companyfacts, have a filing; LONG: companyfacts of a day in which they are late."""
NEVER = 40
"""On such a day, one filing of so many is never in companyfacts; the package of another one is three minutes late."""
LATER = timedelta(minutes=1)
REFUSED, FORBIDDEN = 0.01, 0.003
"""Shares of the requests for documents of companies that are answered with 429, and with 403."""
LISTED_AT = timedelta(hours=15, minutes=50)
"""When the list of companies has the company that is listed on the day."""
RUN = 20.0
"""Seconds that a synchronization takes, as with all listed companies (docs/performance.md)."""


_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Clock:
    """The played time, which a file has; one process moves it, and others may read it."""

    path: Path

    def set(self, now: datetime) -> None:
        """Set it."""
        self._write(now.timestamp())

    def seen(self) -> datetime:
        """The played time, in UTC."""
        return datetime.fromtimestamp(struct.unpack("d", self.path.read_bytes())[0], UTC)

    def now(self) -> datetime:
        """The same after a millisecond, so that no two moments of the process are the same."""
        self.sleep(0.001)
        return self.seen()

    def shift(self) -> timedelta:
        """How far it is from the time of the system."""
        return self.now() - datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Skip the waiting; several threads may wait for the same time."""
        until = self.seen().timestamp() + seconds
        with _ONE_AT_A_TIME:
            if until > self.seen().timestamp():
                self._write(until)

    def _write(self, seconds: float) -> None:
        written = self.path.with_suffix(".new")
        written.write_bytes(struct.pack("d", seconds))
        written.replace(self.path)


@dataclass(frozen=True)
class Accepted:
    """A filing of the day, with its filer, and its number among the filings of the day."""

    filer: Filer
    filing: Filing
    number: int = 0

    @property
    def at(self) -> datetime:
        """When EDGAR accepted it."""
        return self.filing.accepted

    @property
    def key(self) -> str:
        """The name of the filing of this filer."""
        return key_of(self.filer.cik, self.filing.accession)

    def is_odd(self, place: int) -> bool:
        """Whether it is a filing that companyfacts never have (0), or a filing with a late package (1)."""
        return self.number % NEVER == place


def at(hour: int, minute: int = 0, second: float = 0) -> datetime:
    """A time of the day in New York, in UTC."""
    midnight = datetime(DAY.year, DAY.month, DAY.day, tzinfo=NEW_YORK)
    return (midnight + timedelta(hours=hour, minutes=minute, seconds=second)).astimezone(UTC)


def filings_of_day(
    filers: Sequence[Filer], burst: int, hours: tuple[float, float], seed: int = 1, *, is_long: bool = False
) -> list[Accepted]:
    """The newest report of each filer, as if filed on the day; of every fifth filer the newest two.

    Every fourth filer amends its last report. The first one that is not in the burst files while the feed is out. On a
    long day, all file five reports, as many as in the burst file together before the exchanges open, and two on the
    Friday before, after half past five: their day of filing is the Monday, too.

    Args:
        filers: the filers, each with a periodic report.
        burst: how many of them file within a minute.
        hours: of the day in New York, between which the others file.
        seed: of the times.
        is_long: whether it is a long day.
    """
    draws = Random(seed)
    found = []
    for number, filer in enumerate(filers):
        reports = [filing for filing in simulate(filer).filings if filing.is_periodic]
        reports = reports[-5 if is_long else -2 if number % 5 == 0 else -1 :]
        if number % 4 == 0:
            amended = replace(reports[-1], form=f"{reports[-1].form.removesuffix('/A')}/A")
            reports.append(replace(amended, accession=f"{amended.accession[:-2]}99"))
        for filing in reports:
            first, last = OUTAGE if number == burst else (timedelta(hours=hour) for hour in hours)
            when = at(0) + first + draws.random() * (last - first)
            if number < burst:
                when = at(*BURST, draws.uniform(0, 60))
            elif is_long and burst < number <= 2 * burst:
                when = at(*EARLY, draws.uniform(0, 60))
            elif is_long and number in (2 * burst + 1, 2 * burst + 2):
                when = at(-51, draws.uniform(0, 59))
            found.append((filer, filing, when))
    # of two filings of a company, the earlier one is accepted first
    times = {filer.cik: sorted(when for by, _, when in found if by is filer) for filer in filers}
    return [
        Accepted(filer, replace(filing, accepted_at=times[filer.cik].pop(0), filed=DAY), number)
        for number, (filer, filing, _) in enumerate(found)
    ]


def joined(filed: Iterable[Accepted], first: Filer, second: Filer) -> list[Accepted]:
    """The filings of a day; each filing of the first filer is followed by the filing of its co-registrant, with the
    same number.

    Args:
        filed: the filings.
        first, second: two filers whose fiscal calendars are the same.
    """
    own = {filing.report_date: filing for filing in simulate(second).filings if filing.is_periodic}
    found = []
    for one in filed:
        found.append(one)
        if one.filer is first:
            form, accession, day, at = attrgetter("form", "accession", "filed", "accepted_at")(one.filing)
            shared = replace(own[one.filing.report_date], form=form, accession=accession, filed=day, accepted_at=at)
            found.append(replace(one, filer=second, filing=shared))
    return found


class FilingDay(FakeEdgar):
    """The SEC on that day; each filing is in the feed twice.

    The newest data set is of the quarter before, and empty.

    Args:
        filers: all filers.
        filed: the filings of the day.
        now: the played time.
        lag: until companyfacts have a filing, in seconds.
        listed_late: the company that is listed on the day.
    """

    def __init__(
        self,
        filers: Sequence[Filer],
        filed: Sequence[Accepted],
        now: Callable[[], datetime],
        lag: tuple[float, float] = SHORT,
        listed_late: Filer | None = None,
    ) -> None:
        by_accession = {one.filing.accession: one for one in filed}  # co-registrants have the same number
        reported = {(one.filer.cik, one.filing.form, one.filing.report_date) for one in filed}
        held_back = {
            one.accession
            for filer in filers
            for one in simulate(filer).filings
            if (filer.cik, one.form, one.report_date) in reported
        }

        def delay(kind: str, filing: Filing) -> timedelta | None:
            one = by_accession[filing.accession]
            if kind == "filings":
                return LATER if one.is_odd(1) else timedelta(0)
            if kind == "companyfacts" and lag == LONG and one.is_odd(0):
                return None
            least, most = SHORT if kind == "submissions" else lag
            return timedelta(seconds=Random(f"{kind}/{filing.accession}").uniform(least, most))

        super().__init__(filers, held_back, now=now, delay=delay, ahead=SKEW)
        self._listed_late = listed_late
        self.asked_at: list[datetime] = []
        for one in filed:
            self.accept(one.filer, one.filing)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked_at.append(self._now())
        return super().handle_request(request)

    def in_list(self, now: datetime) -> list[Filer]:
        late = self._listed_late if now < at(0) + LISTED_AT else None
        return [filer for filer in super().in_list(now) if filer != late]

    def in_feed(self, now: datetime) -> list[Filed]:
        return [filed for filed in super().in_feed(now) for _ in range(2)]

    def _body(self, address: str, now: datetime) -> bytes | None:
        if address == data_sets.PAGE:
            return data_sets.page([QUARTER])
        if DATA_SET.fullmatch(address):
            return data_sets.data_set([], frozenset())
        return super()._body(address, now)


def faults_of_day(now: Callable[[], datetime]) -> Faults:
    """The feed is out for half an hour, companyfacts and submissions for twenty minutes; some requests are refused."""
    documents = ("companyfacts", "submissions")
    out = [Fault("503", part, *(at(0) + moment for moment in SILENCE)) for part in documents]
    refused = [
        Fault(kind, part, share=share) for part in documents for kind, share in (("429", REFUSED), ("403", FORBIDDEN))
    ]
    return Faults(now, [Fault("503", "feed", *(at(0) + moment for moment in OUTAGE)), *out, *refused])


@dataclass(frozen=True)
class Publications:
    """The filings of the day in each build, in a file next to the clock: a line for each publication."""

    clock: Clock

    @property
    def path(self) -> Path:
        """The file of the lines."""
        return self.clock.path.with_suffix(".served")

    def note(self, home: Path) -> None:
        """Record the filings in the published build of a home: filings that are read, and filings with values."""
        pointer = current(home / "published")
        assert pointer
        read, valued = (
            [key_of(*row) for row in query(home, f"SELECT DISTINCT cik, accession FROM {rows} AND filed >= '{DAY}'")]
            for rows in ("filings WHERE share_basis IS NOT NULL", "versions WHERE TRUE")
        )
        with self.path.open("ab") as file:
            file.write(orjson.dumps((pointer.published_at, read, valued)) + b"\n")

    def times(self) -> dict[str, datetime]:
        """When the values of each filing (key_of) were served; of one without new values, when it was read."""
        first: tuple[dict[str, datetime], dict[str, datetime]] = {}, {}
        for line in self.path.read_bytes().splitlines():
            published_at, *of_build = orjson.loads(line)
            for times, keys in zip(first, of_build, strict=True):
                for key in keys:
                    times.setdefault(key, datetime.fromisoformat(published_at))
        return first[0] | first[1]


def follow(clock: Clock, copied: Path | None = None) -> int:
    """`fundamentals follow` on a played clock.

    Args:
        clock: the clock.
        copied: where the home is copied to when all companies are synchronized, unless it is there.
    """
    from pipelines.dagster_app import follow as command
    from pipelines.edgar.source import client

    def run(home: Home, *given: Any, **named: Any) -> str:
        clock.sleep(RUN)
        told = synchronized(home, *given, **named)
        Publications(clock).note(home.root)
        if copied and not copied.exists():
            shutil.copytree(home.root, copied, symlinks=True)
        return told

    os.fsync = lambda _: None  # the process is killed, but the power stays
    os.nice = lambda _: 0  # while other tests run it would hardly get processor time
    synchronized = command._synchronized
    set_clock(clock.shift)
    ssl.create_default_context = cache(ssl.create_default_context)  # each would take as long as all else of a look
    played = partial(client.EdgarClient, sleep=clock.sleep, clock=lambda: clock.now().timestamp())
    client.EdgarClient = played  # type: ignore[assignment, misc]
    command.time = SimpleNamespace(sleep=clock.sleep, monotonic=lambda: clock.now().timestamp())  # type: ignore[attr-defined]
    command._synchronized = run
    return command.main(())


if __name__ == "__main__":
    sys.exit(follow(Clock(Path(sys.argv[1])), *map(Path, sys.argv[2:])))
