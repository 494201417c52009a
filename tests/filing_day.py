"""A day at a fake SEC, on a virtual clock that two processes share: feed, daily index, companyfacts with a lag, 429.

Belongs here: when what is filed, and which document is there when; the process that follows it. Does not: any
judgement. Waiting is skipped, work counts as it takes.

    python -m tests.filing_day CLOCK        `fundamentals follow` on the clock in that file
"""

import ssl
import struct
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import httpx
import orjson

from pipelines.sample import bulk, documents
from pipelines.sample.bulk import FEED_HEAD
from pipelines.sample.company import simulate
from pipelines.sample.errors import as_filed
from pipelines.sample.filings import Filing
from pipelines.sample.traits import NEWEST, Filer
from pipelines.sample.transport import CIK, FACTS_URL, INDEX, LISTING, TICKERS_URL
from tests.torture.shifted import set_clock

NEW_YORK = ZoneInfo("America/New_York")
DAY = NEWEST + timedelta(days=3)
"""The Monday after everything that the sample files."""

BURST = (16, 5)
"""Hour and minute in New York in which most companies file: after the exchanges close."""
SKEW = timedelta(minutes=3)
"""So far EDGAR's clock, which the feed shows, is ahead of the follower's."""
OUTAGE = (timedelta(hours=15, minutes=30), timedelta(hours=16))
"""Times of the day in New York between which the feed answers 503."""
LONGEST_LAG = 90
"""Seconds until companyfacts or submissions have a filing, at most."""
REFUSED = 0.01
"""Share of the requests for documents that are answered with 429."""
INDEXED = timedelta(hours=22)
"""When EDGAR writes the daily index."""
ENTRY = """<entry>
<title>{form} - {name} ({cik}) (Filer)</title>
<updated>{updated}</updated>
<category scheme="https://www.sec.gov/" label="form type" term="{form}"/>
<id>urn:tag:sec.gov,2008:accession-number={accession}</id>
</entry>
"""
EARLIER = ENTRY.format(
    **{"form": "10-D", "name": "EXAMPLE TRUST", "cik": "9990008000", "accession": "0009990000-25-800001"},
    updated=f"{NEWEST}T12:00:00-05:00",
)
"""A filing of the Friday before, because the feed is never empty."""


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
    """A filing of the day, with its filer and when EDGAR accepted it."""

    filer: Filer
    filing: Filing
    at: datetime

    def is_in(self, document: str, now: datetime) -> bool:
        """Whether a kind of document has it at a time."""
        lag = Random(f"{document}/{self.filing.accession}").uniform(5, LONGEST_LAG)
        return now >= self.at + timedelta(seconds=lag)


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
            found.append(Accepted(filer, filing, when))
    # of two filings of a company, the earlier one is accepted first
    times = {filer.cik: sorted(one.at for one in found if one.filer is filer) for filer in filers}
    found = [replace(one, at=times[one.filer.cik].pop(0)) for one in found]
    return [replace(one, filing=replace(one.filing, filed=DAY)) for one in found]


class FilingDay(httpx.BaseTransport):
    """The SEC on that day: the documents of simulated filers, with the filings of the day as they become known.

    There are no bulk files; so a first synchronization requests all companies one by one.

    Args:
        filers: all filers.
        filed: the filings of the day.
        clock: the virtual clock.
    """

    def __init__(self, filers: Sequence[Filer], filed: Sequence[Accepted], clock: Clock) -> None:
        self._filed, self._clock, self._filers = filed, clock, {filer.cik: filer for filer in filers}
        accessions = {one.filing.accession for one in filed}
        self._before = {
            filer.cik: [filing for filing in simulate(filer).filings if filing.accession not in accessions]
            for filer in filers
        }
        self._draws, self._lock = Random(0), threading.Lock()
        self._made: dict[tuple[str, tuple[str, ...]], bytes] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        address, now = str(request.url), self._clock.now()
        with self._lock:
            if address.startswith(bulk.NEWEST):
                is_out = at(0) + OUTAGE[0] <= now < at(0) + OUTAGE[1]
                return httpx.Response(503) if is_out else httpx.Response(200, content=self._feed(address, now))
            if CIK.search(address) and self._draws.random() < REFUSED:
                return httpx.Response(429, headers={"Retry-After": "1"})
            body = self._body(address, now)
            return httpx.Response(404) if body is None else httpx.Response(200, content=body)

    def _body(self, address: str, now: datetime) -> bytes | None:
        days = [DAY - timedelta(days=3), *([DAY] if now >= at(0) + INDEXED else [])]
        if address == TICKERS_URL:
            return orjson.dumps(documents.tickers(self._filers.values()))
        if found := LISTING.fullmatch(address):
            return bulk.listing(days, f"{found[1]}/QTR{found[2]}")
        if (found := INDEX.fullmatch(address)) and found[2] in {f"{day:%Y%m%d}" for day in days}:
            rows = [(one.filer, one.filing) for one in self._filed] if found[2] == f"{DAY:%Y%m%d}" else []
            return bulk.index(datetime.strptime(found[2], "%Y%m%d").date(), rows)  # noqa: DTZ007 - a day
        filer = self._filers.get(found[1]) if (found := CIK.search(address)) else None
        return self._document(address, filer, now) if filer else None

    def _document(self, address: str, filer: Filer, now: datetime) -> bytes:
        """Companyfacts, submissions or a page of these; made once for the filings of the day that it has."""
        kind = "companyfacts" if address.startswith(FACTS_URL) else "submissions"
        own = sorted((one for one in self._filed if one.filer is filer), key=lambda one: one.at)
        # a document is made anew for a filing, with all before it
        last = max((place for place, one in enumerate(own, 1) if one.is_in(kind, now)), default=0)
        known = [one.filing for one in own[:last]]
        made_for = address, tuple(filing.accession for filing in known)
        if made_for not in self._made:
            filings = [*self._before[filer.cik], *known]
            pages = documents.submissions_pages(filer, filings) if kind == "submissions" else {}
            name = address.rpartition("/")[2]
            if kind == "companyfacts":
                made = documents.companyfacts(filer, as_filed(filer, filings))
            elif name in pages:
                made = pages[name]
            else:
                made = documents.submissions(filer, filings)
            self._accept(made.get("filings", {}).get("recent", made))
            self._made[made_for] = orjson.dumps(made)
        return self._made[made_for]

    def _accept(self, listed: dict[str, list[object]]) -> None:
        """Write when EDGAR accepted the filings of the day into a list of submissions."""
        times = {one.filing.accession: one.at for one in self._filed}
        for place, accession in enumerate(listed.get("accessionNumber", [])):
            if accession in times:
                listed["acceptanceDateTime"][place] = f"{times[accession]:%Y-%m-%dT%H:%M:%S}.000Z"

    def _feed(self, address: str, now: datetime) -> bytes:
        """A page of the feed, newest first; each filing is there twice, as for two filers of one report."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        newest = sorted((one for one in self._filed if one.at <= now), key=lambda one: one.at, reverse=True)
        wanted = [one for one in newest if one.filing.form.startswith(asked["type"]) for _ in range(2)]
        first, number = int(asked["start"]), int(asked["count"])
        entries = [*map(entry, wanted), EARLIER]
        return (FEED_HEAD + "".join(entries[first : first + number]) + "</feed>").encode()


def entry(one: Accepted) -> str:
    """A filing in the feed."""
    updated = (one.at + SKEW).astimezone(NEW_YORK).isoformat(timespec="seconds")
    name, cik = one.filer.name.replace("&", "&amp;"), one.filer.cik
    return ENTRY.format(form=one.filing.form, name=name, cik=cik, updated=updated, accession=one.filing.accession)


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
