"""Newest filings: the reports that the SEC's feed names, until their values are served.

Belongs here: the queue of these reports, and which companies are to be synchronized for them. Does not: the feed
(edgar.newest), synchronizing (the command `follow` and the sensor both do, from what this says).

A report waits in a file of the home from when the feed names it until a build is published that was synchronized after
the company's companyfacts and submissions named its accession number, which EDGAR adds a minute or more later.
So nothing is lost, whatever ends in between. What the feed never named, the daily index has the next morning.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import msgspec

from pipelines.edgar.answers import Client, Fetched, Validators, facts_url, submissions_url
from pipelines.edgar.errors import EdgarError, RefusedError
from pipelines.edgar.newest import NewFiling, newest_filings
from pipelines.edgar.raw_store import Kind, RawStore
from pipelines.normalize.facts.reports import AMENDMENT, PERIODIC_FORMS
from pipelines.storage import shared_home
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.storage.lease import leased
from warehouse.pointer import current, synchronized

FILE = "newest_filings.json"
"""The queue, in the folder of a home."""
LISTED, PUBLISHED = "tables/listings.parquet", "published/"
"""Where a home has the list of companies, and the published build."""

EVERY, AT_NIGHT = timedelta(minutes=1), timedelta(minutes=10)
"""Between two looks at the feed: while EDGAR accepts filings (weekdays, 6 to 22 o'clock in New York), and otherwise."""
OPENS, CLOSES, FRIDAY = 6, 22, 4
NEW_YORK = ZoneInfo("America/New_York")

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=30)
"""Until the documents are requested again for a report that they do not name yet; doubles each time."""
DOUBLINGS = 6
"""After so many the wait is the longest."""
PUBLISHED_WITHIN = timedelta(minutes=15)
"""A report whose synchronization has not led to a build so long after it was requested is tried again."""
GIVEN_UP = timedelta(days=1)
"""So long after its acceptance a report is left to the daily index: some have no facts, as amendments of Part III."""
REMEMBERED = 10_000
"""So many numbers of filings are known, by which the feed is read no further: those of a week, and more than one look
reads. Not those of some days: a single wrong date would decide what is forgotten."""
SHOWN_ENTRIES = 3
DOCUMENTS: Mapping[Kind, Callable[[str], str]] = {"companyfacts": facts_url, "submissions": submissions_url}
"""The documents that have to name a report, with their addresses; that of the facts has it last, and is asked first."""
NEVER = datetime.min.replace(tzinfo=UTC)
"""Before all synchronizations."""
CLOCKS = timedelta(minutes=10)
"""Largest difference of this machine's clock from that of EDGAR."""


class Waiting(msgspec.Struct, frozen=True):
    """A report that is not served yet.

    Attributes:
        filing: the report, as the feed names it.
        due_at: when the company's documents are requested next.
        asked: how often they were requested and did not both name the report.
        stated_at: when both named the report; from then on a synchronization serves it.
    """

    filing: NewFiling
    due_at: datetime
    asked: int = 0
    stated_at: datetime | None = None


class Queue(msgspec.Struct, frozen=True):
    """What was read of the feed: when last, the numbers of filings with their acceptance, the reports that wait, the
    validators of its first pages, and the malformed entries that were told."""

    looked_at: datetime | None = None
    known: dict[str, datetime] = {}
    waiting: list[Waiting] = []
    validators: dict[str, Validators] = {}
    skipped: list[str] = []

    @classmethod
    def of(cls, root: Path) -> "Queue":
        """The queue of a home; an empty one if there is none, or if its file is damaged: the daily index has all."""
        with suppress(FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
            return msgspec.json.decode((root / FILE).read_bytes(), type=cls)
        return cls()

    def save(self, root: Path) -> None:
        """Write the queue, so that after a failure of power there is the old one or this one."""
        written = root / f"{FILE}.tmp"
        with written.open("wb") as stream:
            stream.write(msgspec.json.encode(self))
            stream.flush()
            os.fsync(stream.fileno())
        written.replace(root / FILE)


def is_time_to_look(queue: Queue, now: datetime) -> bool:
    """Whether the feed is to be read again; also if the clock was ahead when it was read."""
    local = now.astimezone(NEW_YORK)
    accepts = local.weekday() <= FRIDAY and OPENS <= local.hour < CLOSES
    return queue.looked_at is None or not timedelta(0) <= now - queue.looked_at < (EVERY if accepts else AT_NIGHT)


def read_feed(
    client: Client,
    queue: Queue,
    synchronized: Mapping[str, datetime],
    now: datetime,
    tell: Callable[[str], object],
) -> Queue:
    """The queue with the reports that the feed names for the first time.

    At the first look, these are the reports since the last synchronization of their companies. A time ahead counts as
    now.

    Args:
        client: of the SEC.
        queue: the queue.
        synchronized: when each company of the published build was synchronized last.
        now: the present time, in UTC.
        tell: called with the malformed entries of the feed, once for each.

    Raises:
        FetchError, DocumentError: the feed cannot be read; the queue stays as it was.
        RefusedError: EDGAR refuses all requests.
    """
    feed = newest_filings(client, queue.known.keys(), queue.validators)
    if skipped := [entry for entry in feed.skipped if entry not in queue.skipped]:
        more = f", and {len(skipped) - SHOWN_ENTRIES} more" if len(skipped) > SHOWN_ENTRIES else ""
        tell(f"skipped {len(skipped)} malformed entries of the feed: {', '.join(skipped[:SHOWN_ENTRIES])}{more}")
    filings = [filing._replace(accepted_at=min(filing.accepted_at, now)) for filing in feed.filings]
    new = [
        Waiting(filing, due_at=now)
        for filing in filings
        if filing.form.removesuffix(AMENDMENT) in PERIODIC_FORMS
        and (queue.known or filing.accepted_at > synchronized.get(filing.cik, now) - CLOCKS)
    ]
    known = queue.known | {filing.accession: filing.accepted_at for filing in filings}
    return Queue(
        now,
        dict([*known.items()][-REMEMBERED:]),
        [*queue.waiting, *new],
        feed.validators,
        [*queue.skipped, *skipped][-REMEMBERED:],
    )


def without_served(queue: Queue, synchronized: Mapping[str, datetime], now: datetime) -> Queue:
    """The queue without the reports that are served, and without those that nothing has stated for a day."""
    return msgspec.structs.replace(
        queue,
        waiting=[
            one
            for one in queue.waiting
            if (one.stated_at is None or synchronized.get(one.filing.cik, NEVER) < one.stated_at)
            and now - one.filing.accepted_at < GIVEN_UP
        ],
    )


def ask_for_documents(
    client: Client, store: RawStore, queue: Queue, covered: Collection[str], now: datetime
) -> tuple[Queue, list[NewFiling]]:
    """Request the documents of the companies whose reports are due, and tell which reports both of them name now.

    Companyfacts alone is not enough: submissions have the time of acceptance.

    Args:
        client: of the SEC.
        store: the raw zone, whose documents are not transferred again.
        queue: the queue.
        covered: the companies that are synchronized; a report of another one waits whether it becomes one.
        now: the present time, in UTC.

    Returns:
        the queue, and the reports whose companies are to be synchronized.

    Raises:
        RefusedError: EDGAR refuses all requests.
    """
    waiting, stated = [], []
    ask = cache(partial(_document, client, store))
    for one in queue.waiting:
        cik = one.filing.cik
        if one.due_at > now:
            waiting.append(one)
            continue
        accession = one.filing.accession.encode()
        if cik in covered and all(accession in ask(cik, kind) for kind in DOCUMENTS):
            stated.append(one.filing)
            stated_at = now.replace(microsecond=0)  # the times of synchronizations are published in whole seconds
            waiting.append(msgspec.structs.replace(one, stated_at=stated_at, due_at=now + PUBLISHED_WITHIN))
        else:
            wait = min(FIRST_WAIT * 2 ** min(one.asked, DOUBLINGS), LONGEST_WAIT)
            waiting.append(msgspec.structs.replace(one, asked=one.asked + 1, due_at=now + wait))
    return msgspec.structs.replace(queue, waiting=waiting), stated


def _document(client: Client, store: RawStore, cik: str, kind: Kind) -> bytes:
    """The current document of a company; empty if EDGAR has none, or does not answer."""
    seen = store.seen(cik, kind)
    is_held = seen is not None and seen.digest is not None and store.has(seen.digest)
    try:
        answer = client.get(DOCUMENTS[kind](cik), seen.validators if seen and is_held else None)
        if isinstance(answer, Fetched):
            return answer.content
        return store.get(str(seen.digest)) if seen and is_held else b""
    except RefusedError:
        raise
    except EdgarError:  # of this company alone; it is requested again
        return b""


@dataclass(frozen=True, slots=True)
class Covered:
    """What is covered, in the home or, if there is one, in the store.

    Attributes:
        symbols: the first symbol of each listed company that is followed.
        synchronized: when each company of the published build was synchronized last.
    """

    symbols: Mapping[str, str]
    synchronized: Mapping[str, datetime]

    @classmethod
    def of(cls, home: Home, symbols: Collection[str] = ()) -> "Covered":
        """Read it.

        Args:
            home: the home.
            symbols: the symbols to follow; empty: all.

        Raises:
            HomeError, StoreError, BuildUnreadable: it cannot be read.
        """
        with TemporaryDirectory() as folder:
            copied = Home(Path(folder))
            if copy := shared_home.of_home(copied):
                home = copied
                copy.checkout(lambda path: path == LISTED or (path.startswith(PUBLISHED) and path.endswith(".json")))
            lake, pointer = Lake(home.tables), current(home.published)
            listed = lake.read("listings").filter("is_listed").rows(named=True) if lake.holds("listings") else []
            times = synchronized(home.published, pointer) if pointer else {}
        followed = [(row["cik"], row["symbol"]) for row in listed if not symbols or row["symbol"] in symbols]
        return cls(
            dict(reversed(followed)),
            {cik: datetime.fromisoformat(at).astimezone(UTC) for cik, at in times.items()},
        )


def to_synchronize(
    home: Home, client: Client, covered: Covered, now: datetime, tell: Callable[[str], object]
) -> list[NewFiling]:
    """The reports whose companies are to be synchronized now; the queue of the home is brought up to date.

    Args:
        home: the home.
        client: of the SEC; nothing else may ask it meanwhile.
        covered: what is covered.
        now: the present time, in UTC.
        tell: called with the malformed entries of the feed, and with the error if it cannot be read; the reports that
            wait are asked for anyway.

    Raises:
        RefusedError: EDGAR refuses all requests; no report is lost.
    """
    queue = Queue.of(home.root)
    if is_time_to_look(queue, now):
        try:
            queue = read_feed(client, queue, covered.synchronized, now, tell)
        except RefusedError:
            raise
        except EdgarError as error:
            tell(str(error))
        queue.save(home.root)
    queue = without_served(queue, covered.synchronized, now)
    queue, stated = ask_for_documents(client, RawStore(home.root), queue, covered.symbols, now)
    queue.save(home.root)
    return stated


def ask_again(home: Home) -> None:
    """Ask for all reports that wait at the next look: a synchronization of all companies does so as it begins.

    It requests the companies of the daily index only. So its time, which all companies have after it, does not tell
    that a report is served whose own synchronization was killed.
    """
    queue = Queue.of(home.root)
    if queue.waiting:
        waiting = [msgspec.structs.replace(one, stated_at=None, due_at=NEVER) for one in queue.waiting]
        msgspec.structs.replace(queue, waiting=waiting).save(home.root)


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Ask the SEC in the `with` block, while no synchronization does.

    Raises:
        LeaseError, HomeError: another process holds the lease on the store, or without a store the home.
    """
    home.prepare()
    copy = shared_home.of_home(home)
    with leased(copy.store) if copy else home.writing():
        yield
