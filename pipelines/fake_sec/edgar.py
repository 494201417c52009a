"""EDGAR at a given time: the documents of fictional filers, with each filing added after its acceptance.

Belongs here: the times at which documents contain a filing: the feed and the packages at once, companyfacts and
submissions after a lag, the index in the evening, bulk files in the night. Does not: formats (sample), the times of
filings (reports), faults of replies (faults).
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from functools import lru_cache
from hashlib import sha256
from random import Random
from threading import Lock
from urllib.parse import parse_qs, urlsplit

import httpx
import msgspec

from pipelines.fake_sec.faults import Faults
from pipelines.sample.business.errors import as_filed
from pipelines.sample.business.filings import Filing
from pipelines.sample.business.schedule import business_day
from pipelines.sample.edgar import bulk, documents, package
from pipelines.sample.edgar.archives import FILE
from pipelines.sample.edgar.bulk import NEW_YORK
from pipelines.sample.edgar.company import Company, simulate
from pipelines.sample.edgar.transport import (
    CIK,
    FACTS_URL,
    INDEX,
    LISTING,
    MADE_AT,
    SUBMISSIONS_URL,
    TICKERS_URL,
    SampleTransport,
)
from pipelines.sample.filer.traits import Filer, Served

INDEXED = time(22)
"""The time in New York when EDGAR writes the index of a day."""
CLOSES = time(17, 30)
"""Filings that are accepted later have the next business day as their filing date (Regulation S-T, Rule 13)."""
SOONEST = 1 / 18
"""The shortest lag of a document, as a share of the longest."""
KEPT = 8
"""The number of packages in the cache, because the files of a package are requested one after the other."""
DAY = timedelta(days=1)

Filed = tuple[Filer, Filing]
Delay = Callable[[str, Filing], timedelta | None]
"""A function: the time from the acceptance of a filing until a part of EDGAR has it (`filings`: its package,
`submissions`, `companyfacts`); None: never."""


def at_most(lag: timedelta) -> Delay:
    """A delay that is zero for packages; for other documents it differs between filings, up to `lag`."""

    def delay(kind: str, filing: Filing) -> timedelta:
        share = 0 if kind == "filings" else Random(f"{kind}/{filing.accession}").uniform(SOONEST, 1)
        return lag * share

    return delay


def accepted(filing: Filing, at: datetime) -> Filing:
    """The filing with its filing date, if EDGAR accepts it at this time, in UTC."""
    local = at.astimezone(NEW_YORK)
    return replace(filing, accepted_at=at, filed=business_day(local.date() + DAY * (local.time() > CLOSES)))


@dataclass
class _Made:
    """A generated document, and the filings that were added to it."""

    accessions: tuple[str, ...]
    body: bytes


class FakeEdgar(httpx.BaseTransport):
    """Answers requests for EDGAR's addresses; each answer has an entity tag.

    Args:
        filers: the filers.
        held_back: the accession numbers of filings that are left out of their history.
        now: the time, in UTC.
        faults: the faults that change documents instead of replies: `late` and `clock`.
        delay: the time until documents have a filing.
        ahead: the time by which EDGAR's clock, which the feed shows, is ahead.
    """

    def __init__(
        self,
        filers: Iterable[Filer],
        held_back: Collection[str] = (),
        *,
        now: Callable[[], datetime],
        faults: Faults | None = None,
        delay: Delay,
        ahead: timedelta = timedelta(0),
    ) -> None:
        self._filers = {filer.cik: filer for filer in filers}
        self._now, self._faults, self._delay, self._ahead = now, faults or Faults(now), delay, ahead
        companies = {cik: simulate(filer) for cik, filer in self._filers.items()}
        self._before = {
            cik: tuple(filing for filing in company.filings if filing.accession not in held_back)
            for cik, company in companies.items()
        }
        self._history = SampleTransport(
            self._filers.values(), simulated=lambda filer: Company(filer, self._before[filer.cik])
        )
        # the feed is sorted by their times, which are calculated once
        self._old = [
            (self._filers[cik], replace(filing, accepted_at=filing.accepted))
            for cik, before in self._before.items()
            for filing in before
        ]
        self._accepted: list[Filed] = []
        self._made: dict[str, _Made] = {}
        self._folder = lru_cache(KEPT)(package.folder)
        self._bulk = lru_cache(2)(self._archive)
        self._lock = Lock()

    def accept(self, filer: Filer, filing: Filing) -> None:
        """Add a filing; it is known from its time of acceptance on, which may be in the future.

        Co-registrants share an accession number: the folder of each has the package of the first one.
        """
        with self._lock:
            self._accepted.append((filer, filing))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        address, now = str(request.url), self._now()
        with self._lock:
            body = self._body(address, now)
        if body is None:
            return httpx.Response(404)
        headers = {"ETag": f'"{sha256(body).hexdigest()[:32]}"'}
        if address in (bulk.FACTS_ZIP, bulk.SUBMISSIONS_ZIP):
            headers["Last-Modified"] = format_datetime(_last_night(now), usegmt=True)
        return httpx.Response(200, headers=headers, content=body)

    def in_list(self, now: datetime) -> Iterable[Filer]:
        """The filers in the list of companies: filers with symbols."""
        return self._filers.values()

    def in_feed(self, now: datetime) -> list[Filed]:
        """The filings of the feed, one for each entry."""
        return [*self._old, *self._known(now)]

    def _known(self, now: datetime) -> list[Filed]:
        return [(filer, filing) for filer, filing in self._accepted if filing.accepted <= now]

    def _body(self, address: str, now: datetime) -> bytes | None:
        if address == TICKERS_URL:
            return msgspec.json.encode(documents.tickers(self.in_list(now)))
        if address.startswith(bulk.NEWEST):
            return self._feed(address, now)
        if found := LISTING.fullmatch(address):
            return bulk.listing(_indexed_days(int(found[1]), int(found[2]), now), f"{found[1]}/QTR{found[2]}")
        if found := INDEX.fullmatch(address):
            return self._index(found[2], now)
        if address in (bulk.FACTS_ZIP, bulk.SUBMISSIONS_ZIP):
            return self._bulk(FACTS_URL if address == bulk.FACTS_ZIP else SUBMISSIONS_URL, _last_night(now))
        if (found := CIK.search(address)) and (filer := self._filers.get(found[1])):
            return self._document(address, filer, now)
        if found := FILE.fullmatch(address):
            of = {by.cik: (by, one) for by, one in self._accepted if one.accession.replace("-", "") == found[2]}
            if found[1].zfill(10) in of:
                filer, filing = next(iter(of.values()))
                if self._is_in("filings", filing, now):
                    return self._folder(filer, *as_filed(filer, [filing])).get(found[3])
        answer = self._history.handle_request(httpx.Request("GET", address))
        return answer.content if answer.status_code == 200 else None

    def _feed(self, address: str, now: datetime) -> bytes:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        ahead = self._ahead + (DAY if self._faults.of("clock", "feed") else timedelta(0))
        first, number = int(asked.get("start", 0)), int(asked.get("count", bulk.NEWEST_SHOWN))
        return bulk.newest(self.in_feed(now), asked.get("type", ""), first, number, ahead)

    def _index(self, name: str, now: datetime) -> bytes | None:
        day = datetime.strptime(name, "%Y%m%d").date()  # noqa: DTZ007 - a day
        if day not in _indexed_days(day.year, (day.month + 2) // 3, now):
            return None
        return bulk.index(day, [row for row in self.in_feed(now) if row[1].filed == day])

    def _archive(self, folder: str, at: datetime) -> bytes:
        """The bulk file of the documents of a folder at a given time."""
        members: dict[str, bytes] = {}
        for filer in self._filers.values():
            filings, name = self._filings_in(folder, filer, at), f"CIK{filer.cik}.json"
            pages = documents.submissions_pages(filer, filings) if folder == SUBMISSIONS_URL else {}
            for each in (name, *pages):
                if body := self._encoded(folder + each, filer, filings):
                    members[each] = body
        return bulk.archive(members)

    def _document(self, address: str, filer: Filer, now: datetime) -> bytes | None:
        """Companyfacts, submissions or a page of submissions; made again only if the filings have changed."""
        filings = self._filings_in(address, filer, now)
        accessions = tuple(filing.accession for filing in filings[len(self._before[filer.cik]) :])
        made = self._made.get(address)
        if not made or made.accessions != accessions:
            body = self._encoded(address, filer, filings)
            if body is None:
                return None
            made = self._made[address] = _Made(accessions, body)
        return made.body

    def _filings_in(self, address: str, filer: Filer, now: datetime) -> list[Filing]:
        """The filings in a kind of document at a given time: each filing is added together with all earlier filings."""
        kind = "companyfacts" if address.startswith(FACTS_URL) else "submissions"
        own = sorted((one for by, one in self._accepted if by is filer), key=lambda one: one.accepted)
        known = [self._is_in(kind, one, now) for one in own]
        last = max((place for place, is_in in enumerate(known, 1) if is_in), default=0)
        return [*self._before[filer.cik], *(one for one in own[:last] if self._delay(kind, one) is not None)]

    def _is_in(self, kind: str, filing: Filing, now: datetime) -> bool:
        """Whether a kind of document has a filing at a given time."""
        delay, late = self._delay(kind, filing), self._faults.of("late", kind)
        is_late = late and late.begins and filing.accepted >= late.begins
        return delay is not None and now >= filing.accepted + delay and not is_late

    def _encoded(self, address: str, filer: Filer, filings: list[Filing]) -> bytes | None:
        """A document of a filer, or None if EDGAR does not have it."""
        name = address.rpartition("/")[2]
        if address.startswith(FACTS_URL):
            made = documents.companyfacts(filer, as_filed(filer, filings)) if Served.FACTS in filer.served else None
        elif Served.SUBMISSIONS not in filer.served:
            made = None
        elif name == f"CIK{filer.cik}.json":
            made = documents.submissions(filer, filings)
        else:
            made = documents.submissions_pages(filer, filings).get(name)
        return None if made is None else msgspec.json.encode(made)


def _last_night(now: datetime) -> datetime:
    """The time when EDGAR last made its bulk files, in UTC."""
    local = now.astimezone(NEW_YORK)
    made = datetime.combine(local.date(), MADE_AT, NEW_YORK)
    return (made if made <= local else made - DAY).astimezone(UTC)


def _indexed_days(year: int, quarter: int, now: datetime) -> list[date]:
    """The business days of a quarter for which the index is written."""
    local = now.astimezone(NEW_YORK)
    last = local.date() if local.time() >= INDEXED else local.date() - DAY
    first = date(year, 3 * quarter - 2, 1)
    days = (first + n * DAY for n in range(92))
    return [day for day in days if (day.month + 2) // 3 == quarter and day <= last and business_day(day) == day]
