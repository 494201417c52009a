"""Chooses how to bring the documents of all companies up to date with the SEC: bulk files, daily index, one by one.

Belongs here: choosing the way of a synchronization and its reason, and the memory for the next one. Does not:
requesting documents (extract), formats (archive, daily_index).

    bulk files      the first time, and once a week: everything in two downloads
    daily index     on other days: only companies that filed a form that feeds values
    one by one      named symbols, sources other than the SEC, and when the two others are not available

`raw/index.json` stores the memory for the next synchronization. It is written when all documents are stored.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo

import msgspec

from pipelines.edgar.answers import Fetched, NotFound
from pipelines.edgar.decode.daily_index import companies_in, days_listed, index_url, listing_url
from pipelines.edgar.errors import DocumentError, FetchError, RefusedError, SourceError
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.mirror import FACTS, SUBMISSIONS
from pipelines.edgar.source.source import Source, archive_threads

if TYPE_CHECKING:
    from pipelines.edgar.source.client import EdgarClient

BULK_URLS = {
    FACTS: "https://www.sec.gov/Archives/edgar/daily-index/xbrl/companyfacts.zip",
    SUBMISSIONS: "https://www.sec.gov/Archives/edgar/daily-index/bulkdata/submissions.zip",
}
BULK_LASTS = timedelta(days=7)
"""For this time, the daily index is enough; then the bulk files catch the changes that it missed."""

BEFORE = timedelta(days=1)
"""The index of the day before the bulk files is read again, because they are made in the night, and a filing may be
late."""

NEW_YORK = ZoneInfo("America/New_York")
SHOWN_DAYS = 3

Progress = Callable[[str, int, int], object]


class Memory(msgspec.Struct, frozen=True):
    """The memory for the next synchronization.

    Attributes:
        complete_at: the time when all companies were brought up to date, by bulk files or one by one.
        base: the first day whose index has to be read.
        days: the days from `base` on whose index was read.
        pending: companies with documents that could not be fetched; they are requested again.
    """

    complete_at: datetime
    base: date
    days: list[date] = []
    pending: list[str] = []


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    """How the documents are brought up to date.

    Attributes:
        source: answers the requests for documents.
        why: the chosen way and its reason, in words.
        filed: the companies with new filings; None: all companies are requested.
        memory: the memory to store at the end; None: nothing is stored.
    """

    source: Source
    why: str
    filed: frozenset[str] | None = None
    memory: Memory | None = None

    def asks(
        self, ciks: Sequence[str], store: RawStore, quarantined: Collection[str], now: datetime
    ) -> frozenset[str] | None:
        """The companies to request: companies with new filings, companies never requested, companies with lost
        documents or an unread page of older filings, and companies in quarantine that were not requested today."""
        if self.filed is None:
            return None
        seen = {cik: store.seen(cik, "companyfacts") for cik in ciks}
        listed = {cik: row for cik in ciks if (row := store.seen(cik, "submissions"))}
        return (
            self.filed
            | {cik for cik, row in seen.items() if not row or (row.digest and row.status != "ok")}
            | {cik for cik, row in listed.items() if any(not page.digest for page in row.pages)}
            | {cik for cik in quarantined if (row := seen.get(cik)) and _day(row.fetched_at) < _day(now)}
        )

    def remember(self, store: RawStore, failed: Collection[str]) -> None:
        """Write the memory, after all documents are stored; the documents of companies in `failed` could not be
        fetched."""
        if not self.memory:
            return
        path = _path(store)
        written = path.with_suffix(".tmp")
        written.write_bytes(msgspec.json.encode(msgspec.structs.replace(self.memory, pending=sorted(failed))))
        written.replace(path)
        for name in BULK_URLS:
            (store.root / "bulk" / name).unlink(missing_ok=True)


@contextmanager
def chosen(
    source: Source,
    store: RawStore,
    now: datetime,
    forms: Collection[str],
    *,
    named: bool,
    progress: Progress,
    full: bool = False,
) -> Iterator[DownloadPlan]:
    """Choose the way for a synchronization; its archives are closed at the end of the `with` block.

    Args:
        source: the opened source.
        store: the raw zone.
        now: the time of the synchronization, in UTC.
        forms: the forms that feed values.
        named: whether symbols were named.
        full: whether all companies are requested, even companies that the index does not list.
        progress: called with the name of a file during its download, the number of bytes so far, and of all bytes.

    Raises:
        RefusedError: EDGAR refuses all requests.
    """
    if source.name != "live" or named:
        yield DownloadPlan(source, "one by one: symbols were named" if named else "")
        return
    memory, why = _memory(store), "nothing was synchronized with the SEC before"
    if full:
        why = "with --full all documents are wanted"
    elif memory and memory.complete_at > now:  # otherwise no bulk files until a week after that
        why = f"the last complete synchronization is of {memory.complete_at:%Y-%m-%d}: the clock was ahead"
    elif memory and now - memory.complete_at < BULK_LASTS:
        daily = _daily(source, memory, now, forms)
        if isinstance(daily, DownloadPlan):
            yield daily
            return
        why = daily
    elif memory:
        why = f"the last complete synchronization is {(now - memory.complete_at).days} days old"
    today = _day(now)
    folder = store.root / "bulk"
    client = cast("EdgarClient", source.client)
    why_not = ""
    try:
        days = [_downloaded(client, name, folder, today, progress) for name in BULK_URLS]
        from pipelines.edgar.source.bulk_folder import BulkFolder

        bulk = BulkFolder(folder / FACTS)
    except RefusedError:
        raise
    except FetchError as error:  # the next synchronization continues the downloads
        why_not = str(error)
    except SourceError as error:
        why_not = str(error)
        for name in BULK_URLS:
            (folder / name).unlink(missing_ok=True)  # a damaged archive is downloaded again
    if why_not:
        why = f"one by one: {why}, and the bulk files cannot be used: {why_not}"
        yield DownloadPlan(source, why, None, Memory(now, today - BEFORE))
        return
    try:
        base = min(days) - BEFORE
        yield DownloadPlan(
            replace(source, client=bulk, threads=archive_threads()), f"bulk files: {why}", None, Memory(now, base)
        )
    finally:
        bulk.close()


def _daily(source: Source, memory: Memory, now: datetime, forms: Collection[str]) -> DownloadPlan | str:
    """The plan with the daily index; if the index cannot be used, the reason."""
    today = _day(now)
    listed: set[date] = set()
    reasons = []
    for url in dict.fromkeys(
        listing_url(memory.base + timedelta(days=n)) for n in range((today - memory.base).days + 1)
    ):
        try:
            answer = source.client.get(url)
            days, skipped = days_listed(answer.content) if isinstance(answer, Fetched) else ([], [])
            listed.update(days)
            reasons += [f"{url}: answers 404"] if isinstance(answer, NotFound) else _counted(skipped)
        except RefusedError:
            raise
        except (FetchError, DocumentError) as error:
            reasons.append(str(error))
    if not listed:
        return f"the daily index lists no day ({'; '.join(reasons) or 'its listings are empty'})"
    filed: set[str] = set()
    read, unread = [], []
    for day in sorted(day for day in listed if memory.base <= day <= today and day not in memory.days):
        try:
            answer = source.client.get(index_url(day))
            if not isinstance(answer, Fetched):
                raise FetchError(f"{index_url(day)}: answers 404, although it is listed")
            companies, skipped = companies_in(answer.content, day, forms)
            filed |= companies
            read.append(day)
            reasons += _counted(skipped)
        except RefusedError:
            raise
        except (FetchError, DocumentError) as error:
            unread.append(f"{day} cannot be read yet ({error})")
    since = f"{len(read)} new days" + (f" ({', '.join(map(str, read[-SHOWN_DAYS:]))})" if read else "")
    why = "; ".join([f"daily index: {since}, {len(filed):,} companies filed", *unread, *reasons])
    after = Memory(memory.complete_at, memory.base, [*memory.days, *read])
    return DownloadPlan(source, why, frozenset(filed | set(memory.pending)), after)


def _day(at: datetime) -> date:
    """The day of a time in New York."""
    return at.astimezone(NEW_YORK).date()


def _counted(skipped: Sequence[str]) -> list[str]:
    """A message with the number of skipped malformed parts of a file, and the first of them."""
    return [f"skipped {len(skipped)} malformed, such as {skipped[0]}"] if skipped else []


def _downloaded(client: "EdgarClient", name: str, folder: Path, today: date, progress: Progress) -> date:
    """Download a bulk file, and return the day on which it was made; today if the server does not state it.

    If an interrupted synchronization has already downloaded the file of this night, that file is used.
    """
    path = folder / name
    if path.exists() and (made := _made_on(path)) == today:
        return made
    answer = client.download(BULK_URLS[name], path, lambda done, total: progress(name, done, total))
    if isinstance(answer, NotFound):
        raise FetchError(f"{BULK_URLS[name]}: answers 404")
    try:
        made_at = parsedate_to_datetime(answer.last_modified or "").timestamp()
    except (ValueError, TypeError):
        return today
    os.utime(path, (made_at, made_at))
    return _made_on(path)


def _made_on(path: Path) -> date:
    """The day in New York on which a downloaded file was made."""
    return datetime.fromtimestamp(path.stat().st_mtime, NEW_YORK).date()


def _path(store: RawStore) -> Path:
    return store.root / "index.json"


def _memory(store: RawStore) -> Memory | None:
    """The memory of the last synchronization; None if it cannot be read, which costs one more download."""
    try:
        return msgspec.json.decode(_path(store).read_bytes(), type=Memory)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
