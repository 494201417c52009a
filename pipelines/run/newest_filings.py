"""Newest filings: follows the reports that the SEC's feed names, until their values are served.

Belongs here: reading the feed, and choosing the companies to synchronize for its reports. Does not: the queue of these
reports (filing_queue), the format of the feed (edgar.decode.newest), synchronizing (the command `follow` and the sensor
do it).

A report is synchronized as soon as one of its sources has it: its package, at once, or both companyfacts and
submissions, which name it some minutes later. A report that was read from its package stays in the queue until
companyfacts has it, too, so that no report is lost if a process ends in between. The daily index of the next morning
has reports that the feed never named.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from functools import cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import msgspec
import polars as pl

from pipelines.edgar.answers import Client, Fetched, facts_url, submissions_url
from pipelines.edgar.decode.newest import NewFiling, key_of, newest_filings
from pipelines.edgar.errors import EdgarError, RefusedError
from pipelines.edgar.fetch.filing_documents import has_instance
from pipelines.edgar.fetch.raw_store import Kind, RawStore
from pipelines.normalize.forms import AMENDMENT, PERIODIC_FORMS
from pipelines.run.filing_queue import NEVER, Queue, Waiting, wait_after
from pipelines.settings import filings_wanted, store_patience
from pipelines.shared import shared_home
from pipelines.shared.lease import leased
from pipelines.stages.batch.schemas import FED, FEED_FILINGS, SERVED, SERVED_FILINGS
from pipelines.stages.filed.filing_requests import KEY
from pipelines.stages.filed.shares import DECODED
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from warehouse.build.pointer import current, synchronized

LISTED, PUBLISHED = "tables/listings.parquet", "published/"
"""The places of the list of companies and of the published build in a home."""
NEWEST = 20_000
"""The most filings in table `served_filings`, and reports in table `feed_filings`: some weeks."""

EVERY, AT_NIGHT = timedelta(minutes=1), timedelta(minutes=10)
"""The time between two readings of the feed: while EDGAR accepts filings, and otherwise."""
OPENS, CLOSES, FRIDAY = time(6), time(22, 30), 4
"""EDGAR accepts filings on weekdays from 6 to 22 o'clock in New York; the last filings are in the feed soon after."""
NEW_YORK = ZoneInfo("America/New_York")

MOST_SYNCHRONIZED = 50
"""The most reports that are synchronized together: when many arrive at once, the first are served while the others are
read."""
MOST_REQUESTED = 100
"""The most reports whose documents are requested after one reading of the feed: about ten seconds, so that the feed is
read each minute."""
MOST_FAILURES = 3
"""After this number of failed requests for documents in a row, no more are sent until the next reading."""
PUBLISHED_WITHIN = timedelta(minutes=15)
"""If the synchronization of a report has not led to a build within this time after its request, it is tried again."""
UNLISTED = timedelta(days=1)
"""The time that a report of an unlisted company stays in the queue; a company that is listed later is requested
anyway."""
REMEMBERED = 10_000
"""The number of known filings that are kept; the feed is read back to one of them. They cover a week, and are more than
one reading returns. The limit is a number and not an age, because a single wrong date would remove filings."""
SHOWN_ENTRIES = 3
DOCUMENTS: Mapping[Kind, Callable[[str], str]] = {"companyfacts": facts_url, "submissions": submissions_url}
"""The documents that have to name a report, with their addresses; companyfacts, which names it last, is requested
first."""
CLOCKS = timedelta(minutes=10)
"""The largest difference between the clocks of this machine and of EDGAR."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The followed companies and served filings, from the store or, without a store, from the home.

    Attributes:
        symbols: the first symbol of each listed company that is followed.
        synchronized: the time of the last synchronization of each company in the published build.
        served: the newest filings that were read for the published build (NewFiling.key), and whether companyfacts has
            them.
    """

    symbols: Mapping[str, str]
    synchronized: Mapping[str, datetime]
    served: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, home: Home, symbols: Collection[str] = ()) -> "Covered":
        """Read the state.

        Args:
            home: the home.
            symbols: the symbols to follow; empty: all.

        Raises:
            HomeError, StoreError, BuildUnreadable: the state cannot be read.
        """
        with TemporaryDirectory() as folder:
            copied = Home(Path(folder))
            if copy := shared_home.of_home(copied):
                home = copied
                copy.checkout(_is_of_covered)
            lake, pointer = Lake(home.tables), current(home.published)
            listed = lake.read("listings").filter("is_listed").rows(named=True) if lake.holds("listings") else []
            served = lake.read(SERVED).iter_rows() if lake.holds(SERVED) else ()
            times = synchronized(home.published, pointer) if pointer else {}
            kept = {key_of(cik, accession): is_in for cik, accession, is_in in served}
        followed = [(row["cik"], row["symbol"]) for row in listed if not symbols or row["symbol"] in symbols]
        return cls(
            dict(reversed(followed)),
            {cik: datetime.fromisoformat(at).astimezone(UTC) for cik, at in times.items()},
            kept,
        )

    def has(self, one: Waiting) -> bool:
        """Whether the published build contains a report as companyfacts states it."""
        is_stated = one.stated_at and self.synchronized.get(one.filing.cik, NEVER) >= one.stated_at
        return bool(is_stated or self.served.get(one.filing.key))


def _is_of_covered(path: str) -> bool:
    return path in (LISTED, f"tables/{SERVED}.parquet") or (path.startswith(PUBLISHED) and path.endswith(".json"))


def is_time_to_look(queue: Queue, now: datetime) -> bool:
    """Whether the feed has to be read again; also if the clock was ahead at the last reading."""
    local = now.astimezone(NEW_YORK)
    accepts = local.weekday() <= FRIDAY and OPENS <= local.time() < CLOSES
    return queue.looked_at is None or not timedelta(0) <= now - queue.looked_at < (EVERY if accepts else AT_NIGHT)


def read_feed(
    client: Client,
    queue: Queue,
    covered: Covered,
    now: datetime,
    tell: Callable[[str], object],
) -> Queue:
    """Read the feed, and return the queue with the reports that it names for the first time.

    A new queue starts with the filings of the published build as known. It takes all other filings that were accepted
    since all companies were synchronized, and earlier filings of covered companies back to a known filing. A time in
    the future counts as now.

    Args:
        client: sends requests to the SEC.
        queue: the queue.
        covered: the followed companies and served filings.
        now: the present time, in UTC.
        tell: called with the malformed entries of the feed, once for each.

    Raises:
        FetchError, DocumentError: the feed cannot be read; the queue stays as it was.
        RefusedError: EDGAR refuses all requests.
    """
    since = None if queue.read else min(covered.synchronized.values(), default=now) - CLOCKS
    known = queue.read or [key for key, is_in_companyfacts in covered.served.items() if is_in_companyfacts]
    feed = newest_filings(client, {*known}, queue.validators if queue.read else {}, since)
    if skipped := [entry for entry in feed.skipped if entry not in queue.skipped]:
        more = f", and {len(skipped) - SHOWN_ENTRIES} more" if len(skipped) > SHOWN_ENTRIES else ""
        tell(f"skipped {len(skipped)} malformed entries of the feed: {', '.join(skipped[:SHOWN_ENTRIES])}{more}")
    waits = {one.filing.key for one in queue.waiting}
    filings = [filing._replace(accepted_at=min(filing.accepted_at, now)) for filing in feed.filings]
    new = [
        Waiting(filing, due_at=now)
        for filing in filings
        if filing.form.removesuffix(AMENDMENT) in PERIODIC_FORMS
        and filing.key not in waits
        and (since is None or filing.accepted_at > since or filing.cik in covered.synchronized)
    ]
    return Queue(
        now,
        [*dict.fromkeys([*known, *(filing.key for filing in filings)])][-REMEMBERED:],
        [*queue.waiting, *new],
        feed.validators,
        [*queue.skipped, *skipped][-REMEMBERED:],
    )


def ask_for_documents(
    client: Client, store: RawStore, queue: Queue, covered: Covered, now: datetime
) -> tuple[Queue, list[NewFiling]]:
    """Request the due reports, and return those that a source has and the published build lacks.

    Reports with a package come first; the others wait until no report with a package is left. At the first request, the
    package is assumed to exist, and the synchronization requests it. Companyfacts alone is not enough, because the
    submissions have the time of acceptance.

    Args:
        client: sends requests to the SEC.
        store: the raw zone; its unchanged documents are not transferred again.
        queue: the queue.
        covered: the followed companies and served filings; a report of an unlisted company stays for a day in case the
            company is listed.
        now: the present time, in UTC.

    Returns:
        the queue, without reports that are served or were requested for two weeks; and the reports whose companies have
            to be synchronized.

    Raises:
        RefusedError: EDGAR refuses all requests.
        SettingError: FUNDAMENTALS_FILINGS has an invalid value.
    """
    waiting = {one.filing.key: one for one in queue.waiting if not covered.has(one) and wait_after(one.asked)}
    due = [one for one in waiting.values() if one.is_due(now)]
    listed = [one for one in due if one.filing.cik in covered.symbols]
    for one in due:
        if one.filing.cik not in covered.symbols:
            waiting[one.filing.key] = _later(one, now)
            if now - one.filing.accepted_at >= UNLISTED:
                del waiting[one.filing.key]
    found = _with_packages(client, listed, covered, now) if filings_wanted() != "off" else []
    found = found or _with_documents(client, store, listed, now)
    waiting |= {one.filing.key: one for one in found}
    asked_for = [one.filing for one in found if now in (one.read_at, one.stated_at)]
    return msgspec.structs.replace(queue, waiting=[*waiting.values()]), asked_for


def _with_packages(client: Client, due: Sequence[Waiting], covered: Covered, now: datetime) -> list[Waiting]:
    """The reports whose packages have to be read now."""
    unread = (one for one in due if one.filing.key not in covered.served)
    there = (one for one in unread if not one.asked or has_instance(client, one.filing.cik, one.filing.accession))
    return [msgspec.structs.replace(_later(one, now), read_at=now) for one in islice(there, MOST_SYNCHRONIZED)]


def _with_documents(client: Client, store: RawStore, due: Sequence[Waiting], now: datetime) -> list[Waiting]:
    """Request the documents of due reports. Returns the requested reports, marked if both documents name them.

    After MOST_FAILURES in a row, the other reports wait, because each failure takes half a minute, in which the feed is
    not read.
    """
    ask = cache(partial(_document, client, store))
    found, failures = [], 0
    for one in due[:MOST_REQUESTED]:
        facts = ask(one.filing.cik, "companyfacts")
        failures = failures + 1 if facts is None else 0
        named = one.filing.accession.encode()
        is_stated = named in (facts or b"") and named in (ask(one.filing.cik, "submissions") or b"")
        stated = msgspec.structs.replace(one, stated_at=now, due_at=now + PUBLISHED_WITHIN)
        found.append(stated if is_stated else _later(one, now))
        if failures == MOST_FAILURES:
            break
    return found


def _later(one: Waiting, now: datetime) -> Waiting:
    """The report after one more request."""
    return msgspec.structs.replace(one, asked=one.asked + 1, due_at=now + (wait_after(one.asked) or timedelta(0)))


def _document(client: Client, store: RawStore, cik: str, kind: Kind) -> bytes | None:
    """The current document of a company; empty if EDGAR has no such document, None if EDGAR does not answer."""
    seen = store.seen(cik, kind)
    is_held = seen is not None and seen.digest is not None and store.has(seen.digest)
    try:
        answer = client.get(DOCUMENTS[kind](cik), seen.validators if seen and is_held else None)
        if isinstance(answer, Fetched):
            return answer.content
        return store.get(str(seen.digest)) if seen and is_held else b""
    except RefusedError:
        raise
    except EdgarError:  # it is requested again
        return None


def to_synchronize(
    home: Home, client: Client, covered: Covered, now: datetime, tell: Callable[[str], object]
) -> list[NewFiling]:
    """Update the queue of the home, and return the reports whose companies have to be synchronized now.

    Args:
        home: the home.
        client: sends requests to the SEC; no other process may do so at the same time.
        covered: the followed companies and served filings.
        now: the present time, in UTC.
        tell: called with the malformed entries of the feed, and with the error if it cannot be read; the waiting
            reports are requested anyway.

    Raises:
        RefusedError: EDGAR refuses all requests; no report is lost.
        StoreError: the store cannot be read or written.
        SettingError: FUNDAMENTALS_FILINGS has an invalid value.
    """
    now = now.replace(microsecond=0)  # the times of synchronizations are published in whole seconds
    queue = Queue.of(home.root)
    if is_time_to_look(queue, now):
        try:
            queue = read_feed(client, queue, covered, now, tell)
        except RefusedError:
            raise
        except EdgarError as error:
            tell(str(error))
        queue.save(home.root)
    asked, found = ask_for_documents(client, RawStore(home.root), queue, covered, now)
    if asked != queue:
        asked.save(home.root)
    return found


def ask_again(home: Home) -> None:
    """Make all waiting reports due at the next reading; a synchronization of all companies calls this at its beginning.

    A synchronization of all companies may request only companies of the daily index, but records its time for all of
    them. So this time does not prove that a report is served whose own synchronization was killed.
    """
    queue = Queue.of(home.root, store_patience())
    if queue.waiting:
        waiting = [msgspec.structs.replace(one, stated_at=None, due_at=NEVER) for one in queue.waiting]
        msgspec.structs.replace(queue, waiting=waiting).save(home.root, store_patience())


def note_feed(home: Home, lake: Lake) -> None:
    """Write table `feed_filings`: the waiting reports, and earlier ones, whose packages may be in the home.

    As soon as the submissions of a company list a filing, they are used instead of this table.
    """
    held = lake.read(FED) if lake.holds(FED) else FEED_FILINGS.to_frame()
    waiting = [one.filing for one in Queue.of(home.root, store_patience()).waiting]
    rows = [(one.cik, one.accession, one.form, one.filed, one.accepted_at) for one in waiting]
    new = pl.DataFrame(rows, schema=FEED_FILINGS.to_python() | {"filed": str}, orient="row")
    day = pl.col("filed").str.to_date(strict=False).fill_null(pl.col("accepted_at").dt.date())
    new = new.with_columns(pl.col("accepted_at").cast(FEED_FILINGS["accepted_at"]), filed=day)
    kept = pl.concat([held, new.select(FEED_FILINGS.names())]).unique(["cik", "accession"], keep="last")
    kept = kept.sort("accepted_at", "cik", "accession").tail(NEWEST)
    if not kept.equals(held) or not lake.holds(FED):
        lake.write(FED, kept)


def from_packages(home: Home, ciks: Collection[str]) -> set[str]:
    """The companies among `ciks` with a report that is read from its package, because no document names it yet."""
    waiting = Queue.of(home.root, store_patience()).waiting
    stated = {one.filing.cik for one in waiting if one.stated_at}
    return {one.filing.cik for one in waiting if one.read_at}.intersection(ciks) - stated


def note_served(lake: Lake) -> None:
    """Write table `served_filings`: the newest filings of the published build.

    The table also has reports of the feed with a package that has no facts, such as amendments of Part III, or that
    cannot be decoded, such as a co-registrant's package: they are not read again, but companyfacts is requested for
    them.
    """
    newest = lake.read("filings", ["cik", "accession", "filed", "in_companyfacts"]).sort("filed", "accession", "cik")
    rows = newest.tail(NEWEST).select(SERVED_FILINGS.names())
    if lake.holds(FED) and lake.holds(DECODED):
        tried = lake.read(FED).join(lake.read(DECODED), on=KEY, how="semi")
        others = tried.join(rows, on=KEY, how="anti", maintain_order="left")
        rows = pl.concat([rows, others.select(*KEY, in_companyfacts=pl.lit(value=False))])
    if not lake.holds(SERVED) or not rows.equals(lake.read(SERVED)):
        lake.write(SERVED, rows)


@contextmanager
def exclusive_access(home: Home) -> Iterator[None]:
    """Allow requests to the SEC in the `with` block, while no synchronization sends any.

    Raises:
        LeaseError, HomeError: another process holds the lease on the store or, without a store, the lock of the home.
    """
    home.prepare()
    copy = shared_home.of_home(home)
    with leased(copy.store) if copy else home.writing():
        yield
