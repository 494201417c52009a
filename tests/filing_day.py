"""A day at a fake SEC, on a played clock that two processes share: feed, daily index, packages, late companyfacts,
refusals, outages.

Belongs here: when what is filed, and which document is there when; the process that follows it, and what it has served.
Does not: any judgement. Waiting is skipped, and work takes no time, but for that of a synchronization (RUN).

    python -m tests.filing_day CLOCK        `fundamentals follow` on the clock in that file
"""

import os
import ssl
import struct
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import httpx
import orjson

from pipelines.sample import bulk, data_sets, documents, package
from pipelines.sample.archives import DATA_SET, FILE
from pipelines.sample.bulk import FEED_HEAD
from pipelines.sample.company import simulate
from pipelines.sample.errors import as_filed
from pipelines.sample.filings import Filing
from pipelines.sample.traits import NEWEST, Filer
from pipelines.sample.transport import CIK, FACTS_URL, INDEX, LISTING, TICKERS_URL
from pipelines.storage.home import Home
from tests.e2e.homes import query
from tests.torture.shifted import set_clock
from warehouse.pointer import current

NEW_YORK = ZoneInfo("America/New_York")
DAY = NEWEST + timedelta(days=3)
"""The Monday after everything that the sample files."""

QUARTER = (2025, 3)
"""That of the newest data set."""
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
INDEXED = timedelta(hours=22)
"""When EDGAR writes the daily index."""
ENTRY = """<entry>
<title>{form} - {name} ({cik}) (Filer)</title>
<summary type="html">&lt;b&gt;Filed:&lt;/b&gt; {filed} &lt;b&gt;AccNo:&lt;/b&gt; {accession}</summary>
<updated>{updated}</updated>
<category scheme="https://www.sec.gov/" label="form type" term="{form}"/>
<id>urn:tag:sec.gov,2008:accession-number={accession}</id>
</entry>
"""
EARLIER = ENTRY.format(
    **{"form": "10-D", "name": "EXAMPLE TRUST", "cik": "9990008000", "accession": "0009990000-25-800001"},
    filed=NEWEST,
    updated=f"{NEWEST}T12:00:00-05:00",
)
"""A filing of the Friday before, because the feed is never empty."""


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
    """A filing of the day, with its filer, when EDGAR accepted it, and its number among those of the day."""

    filer: Filer
    filing: Filing
    at: datetime
    number: int = 0

    def is_in(self, document: str, now: datetime, lag: tuple[float, float] = SHORT) -> bool:
        """Whether a kind of document has it at a time."""
        if document == "package":
            return now >= self.at + (LATER if self.is_odd(1) else timedelta(0))
        if document == "companyfacts" and lag == LONG and self.is_odd(0):
            return False
        after = Random(f"{document}/{self.filing.accession}").uniform(*(SHORT if document == "submissions" else lag))
        return now >= self.at + timedelta(seconds=after)

    def is_odd(self, place: int) -> bool:
        """Whether it is one of the filings that companyfacts never have (0), or whose package is late (1)."""
        return self.number % NEVER == place


def at(hour: int, minute: int = 0, second: float = 0) -> datetime:
    """A time of the day in New York, in UTC."""
    midnight = datetime(DAY.year, DAY.month, DAY.day, tzinfo=NEW_YORK)
    return (midnight + timedelta(hours=hour, minutes=minute, seconds=second)).astimezone(UTC)


def filings_of_day(
    filers: Sequence[Filer], burst: int, hours: tuple[float, float], seed: int = 1, *, is_long: bool = False
) -> list[Accepted]:
    """The newest report of each filer, as if filed on the day; of every fifth filer the newest two.

    The first filer that is not in the burst files while the feed is out. On a long day, all file five reports, every
    third amends the last one, as many as in the burst file together before the exchanges open, and two on the Friday
    before, after half past five: their day of filing is the Monday, too.

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
        if is_long and number % 3 == 0:
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
            found.append(Accepted(filer, filing, when))
    # of two filings of a company, the earlier one is accepted first
    times = {filer.cik: sorted(one.at for one in found if one.filer is filer) for filer in filers}
    found = [replace(one, at=times[one.filer.cik].pop(0)) for one in found]
    return [replace(one, filing=replace(one.filing, filed=DAY), number=number) for number, one in enumerate(found)]


class FilingDay(httpx.BaseTransport):
    """The SEC on that day: the documents of simulated filers, with the filings of the day as they become known.

    There are no bulk files; so a first synchronization requests all companies one by one. The newest data set is of the
    quarter before, and empty.

    Args:
        filers: all filers.
        filed: the filings of the day.
        clock: the played clock.
        lag: until companyfacts have a filing, in seconds.
        listed_late: the company that is listed on the day.
    """

    def __init__(
        self,
        filers: Sequence[Filer],
        filed: Sequence[Accepted],
        clock: Clock,
        lag: tuple[float, float] = SHORT,
        listed_late: Filer | None = None,
    ) -> None:
        self._filed, self._clock, self._filers = filed, clock, {filer.cik: filer for filer in filers}
        self._lag, self._listed_late = lag, listed_late
        self.asked_at: list[datetime] = []
        accessions = {one.filing.accession for one in filed}
        self._before = {
            filer.cik: [filing for filing in simulate(filer).filings if filing.accession not in accessions]
            for filer in filers
        }
        self._draws, self._lock = Random(0), threading.Lock()
        self._made: dict[tuple[str, tuple[str, ...]], bytes] = {}
        self._folders: dict[str, dict[str, bytes]] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        address = str(request.url)
        with self._lock:
            now = self._clock.seen()
            self.asked_at.append(now)
            if address.startswith(bulk.NEWEST):
                is_out = at(0) + OUTAGE[0] <= now < at(0) + OUTAGE[1]
                return httpx.Response(503) if is_out else httpx.Response(200, content=self._feed(address, now))
            if CIK.search(address):
                if at(0) + SILENCE[0] <= now < at(0) + SILENCE[1]:
                    return httpx.Response(503)
                drawn = self._draws.random()
                if drawn < REFUSED + FORBIDDEN:
                    return httpx.Response(429 if drawn < REFUSED else 403, headers={"Retry-After": "1"})
            body = self._body(address, now)
            return httpx.Response(404) if body is None else httpx.Response(200, content=body)

    def _body(self, address: str, now: datetime) -> bytes | None:
        days = [DAY - timedelta(days=3), *([DAY] if now >= at(0) + INDEXED else [])]
        if address == TICKERS_URL:
            late = self._listed_late if now < at(0) + LISTED_AT else None
            return orjson.dumps(documents.tickers(filer for filer in self._filers.values() if filer != late))
        if address == data_sets.PAGE:
            return data_sets.page([QUARTER])
        if DATA_SET.fullmatch(address):
            return data_sets.data_set([], frozenset())
        if found := FILE.fullmatch(address):
            return self._package(found[1].zfill(10), found[2], now).get(found[3])
        if found := LISTING.fullmatch(address):
            return bulk.listing(days, f"{found[1]}/QTR{found[2]}")
        if (found := INDEX.fullmatch(address)) and found[2] in {f"{day:%Y%m%d}" for day in days}:
            rows = [(one.filer, one.filing) for one in self._filed] if found[2] == f"{DAY:%Y%m%d}" else []
            return bulk.index(datetime.strptime(found[2], "%Y%m%d").date(), rows)  # noqa: DTZ007 - a day
        filer = self._filers.get(found[1]) if (found := CIK.search(address)) else None
        return self._document(address, filer, now) if filer else None

    def _package(self, cik: str, accession: str, now: datetime) -> dict[str, bytes]:
        """The files in the folder of a filing; none if it is not there yet."""
        own = [one for one in self._filed if one.filer.cik == cik]
        filings = [*self._before.get(cik, ()), *(one.filing for one in own if one.is_in("package", now))]
        named = [filing for filing in filings if filing.accession.replace("-", "") == accession]
        if named and accession not in self._folders:
            [filing] = as_filed(self._filers[cik], named)
            self._folders[accession] = package.folder(self._filers[cik], filing)
        return self._folders[accession] if named else {}

    def _document(self, address: str, filer: Filer, now: datetime) -> bytes:
        """Companyfacts, submissions or a page of these; made once for the filings of the day that it has."""
        kind = "companyfacts" if address.startswith(FACTS_URL) else "submissions"
        own = sorted((one for one in self._filed if one.filer is filer), key=lambda one: one.at)
        # a document is made anew for a filing, with all before it
        last = max((place for place, one in enumerate(own, 1) if one.is_in(kind, now, self._lag)), default=0)
        is_never = kind == "companyfacts" and self._lag == LONG
        known = [one.filing for one in own[:last] if not (is_never and one.is_odd(0))]
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
    of_filing = {"form": one.filing.form, "filed": one.filing.filed, "accession": one.filing.accession}
    return ENTRY.format(name=name, cik=cik, updated=updated, **of_filing)


@dataclass(frozen=True)
class Publications:
    """What each build has of the day, beside the clock: a line when it was published."""

    clock: Clock

    @property
    def path(self) -> Path:
        """The file of the lines."""
        return self.clock.path.with_suffix(".served")

    def note(self, home: Path) -> None:
        """Note what the published build of a home has: filings that are read, and those with values."""
        pointer = current(home / "published")
        assert pointer
        read, valued = (
            [accession for (accession,) in query(home, f"SELECT DISTINCT accession FROM {rows} AND filed >= '{DAY}'")]
            for rows in ("filings WHERE share_basis IS NOT NULL", "versions WHERE TRUE")
        )
        with self.path.open("ab") as file:
            file.write(orjson.dumps((pointer.published_at, read, valued)) + b"\n")

    def times(self) -> dict[str, datetime]:
        """When the values of each filing were served; of one without new values, when it was read."""
        first: tuple[dict[str, datetime], dict[str, datetime]] = {}, {}
        for line in self.path.read_bytes().splitlines():
            published_at, *of_build = orjson.loads(line)
            for times, accessions in zip(first, of_build, strict=True):
                for accession in accessions:
                    times.setdefault(accession, datetime.fromisoformat(published_at))
        return first[0] | first[1]


def follow(clock: Clock) -> int:
    """`fundamentals follow` on a played clock."""
    from pipelines.dagster_app import follow as command
    from pipelines.edgar import client

    def run(*given: Any, **named: Any) -> str:
        clock.sleep(RUN)
        told = synchronized(*given, **named)
        Publications(clock).note(Home.from_environment().root)
        return told

    os.fsync = lambda _: None  # the process is killed, but the power stays
    os.nice = lambda _: 0  # beside other tests it would hardly run
    synchronized = command._synchronized
    set_clock(clock.shift)
    ssl.create_default_context = cache(ssl.create_default_context)  # each would take as long as all else of a look
    played = partial(client.EdgarClient, sleep=clock.sleep, clock=lambda: clock.now().timestamp())
    client.EdgarClient = played  # type: ignore[assignment, misc]
    command.time = SimpleNamespace(sleep=clock.sleep, monotonic=lambda: clock.now().timestamp())  # type: ignore[attr-defined]
    command._synchronized = run
    return command.main(())


if __name__ == "__main__":
    sys.exit(follow(Clock(Path(sys.argv[1]))))
