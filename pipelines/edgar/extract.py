"""Extract: bring the raw zone up to what a source has now.

Belongs here: which documents are asked for, what a failure means for the others, and what the caller is told.
Does not: how one document is asked for (client) or kept (raw_store), or what is in it (documents).

Nothing here says whether a company has to be normalized again: a run that is killed after a checkpoint has seen
documents that no build knows. That is told by comparing digests with those that a build was made from.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pipelines.edgar.answers import TICKERS_URL, NotFound, NotModified, Validators, facts_url, submissions_url
from pipelines.edgar.errors import FetchError, SourceError
from pipelines.edgar.raw_store import Kind, RawStore, Seen, Status
from pipelines.edgar.sources import Source

FAILURES_IN_A_ROW = 5  # companies that fail one after the other before the source itself is taken to fail
CHECKPOINT_SECONDS = 30.0
"""How much work a killed run loses at most: about 280 requests of a live source."""

NONE = Validators()

Change = Literal["new", "changed", "unchanged", "no_facts", "gone", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Document:
    """What became of asking for one document.

    Attributes:
        change: against what was seen before: `new`, `changed` and `unchanged` are held; `no_facts` was 404 now and
            ever, `gone` is 404 now and was held before, `skipped` was 404 lately and not asked for, `failed` could
            not be had.
        digest: of the document held in the raw zone, also after `gone` and `failed`; None where none ever was.
        reason: of `failed`.
    """

    change: Change
    digest: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CompanyDocuments:
    """The documents of one company. Submissions are asked for only where there are facts."""

    cik: str
    facts: Document
    submissions: Document | None = None

    @property
    def failure(self) -> str:
        """Why the company could not be brought up to date; empty where it was."""
        return self.facts.reason or (self.submissions.reason if self.submissions else "")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a source had, company by company in the order asked for."""

    companies: list[CompanyDocuments]

    @property
    def counts(self) -> Counter[str]:
        """Companies by what became of their companyfacts."""
        return Counter(company.facts.change for company in self.companies)


Progress = Callable[[int, int, CompanyDocuments], object]


def fetch_tickers(source: Source, store: RawStore, now: datetime) -> Document:
    """Bring the tickers file up to date: the list of companies that everything starts from.

    Raises:
        SourceError: it could not be had.
        RawStoreError: the raw zone cannot be written.
    """
    asked = _Asked(source, store, now)
    document = asked.document("", "tickers", TICKERS_URL)
    if document.reason:
        raise SourceError(document.reason)
    if document.change in ("no_facts", "gone"):
        raise SourceError(f"{TICKERS_URL}: answers 404, but it lists the companies; check the source")
    store.checkpoint()
    return document


def fetch_documents(
    source: Source,
    store: RawStore,
    ciks: Sequence[str],
    now: datetime,
    progress: Progress = lambda done, total, company: None,
    absence_lasts: timedelta | None = None,
) -> Extracted:
    """Bring companyfacts and submissions of companies up to date.

    Args:
        ciks: ten digits each; the result is in this order.
        now: the time of this synchronization, in UTC.
        progress: told after each company: how many are done, of how many, and what became of this one.
        absence_lasts: how long a 404 of this source is taken as still true; None: what is usual for the source.

    Raises:
        SourceError: the source refuses, or fails for several companies in a row; what was had is kept.
        RawStoreError: the raw zone cannot be written.
    """
    store.sweep()
    asked = _Asked(source, store, now, source.absence_lasts if absence_lasts is None else absence_lasts)
    companies: list[CompanyDocuments] = []
    failed_in_a_row = 0
    checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS
    try:
        with closing(_in_order(asked.company, ciks, source.threads)) as answers:
            for company in answers:
                companies.append(company)
                progress(len(companies), len(ciks), company)
                if company.facts.change != "skipped":
                    failed_in_a_row = failed_in_a_row + 1 if company.failure else 0
                if failed_in_a_row == min(FAILURES_IN_A_ROW, len(ciks)):
                    raise SourceError(f"{company.failure}; {_in_a_row(failed_in_a_row)}")
                if time.monotonic() >= checkpoint_at:
                    store.checkpoint()
                    checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS
    finally:
        store.checkpoint()
    return Extracted(companies)


def _in_order(
    ask: Callable[[str], CompanyDocuments], ciks: Sequence[str], threads: int
) -> Generator[CompanyDocuments, None, None]:
    """Ask for several at once, answer in order; nothing more is begun once an answer raises or nobody listens."""
    if threads == 1:
        yield from map(ask, ciks)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="edgar")
    try:
        yield from pool.map(ask, ciks)
    finally:
        pool.shutdown(cancel_futures=True)


class _Asked:
    """Asking one source for documents at one time, and noting what was seen."""

    def __init__(self, source: Source, store: RawStore, now: datetime, absence_lasts: timedelta = timedelta(0)) -> None:
        self._source = source
        self._store = store
        self._now = now
        self._absence_lasts = absence_lasts

    def company(self, cik: str) -> CompanyDocuments:
        facts = self.document(cik, "companyfacts", facts_url(cik))
        if facts.change in ("no_facts", "gone", "skipped", "failed"):
            return CompanyDocuments(cik, facts)
        return CompanyDocuments(cik, facts, self.document(cik, "submissions", submissions_url(cik)))

    def document(self, cik: str, kind: Kind, url: str) -> Document:
        seen = self._store.seen(cik, kind)
        held = seen.digest if seen else None
        if seen and self._still_absent(seen):
            return Document("skipped", held)
        try:
            answer = self._source.client.get(url, self._validators(seen))
        except FetchError as error:
            return Document("failed", held, str(error))
        if isinstance(answer, NotFound):
            self._note(cik, kind, "no_facts", held)
            return Document("gone" if held else "no_facts", held)
        if isinstance(answer, NotModified):
            self._note(cik, kind, "ok", held, self._validators(seen))
            return Document("unchanged", held)
        digest = self._store.put(answer.content)
        self._note(cik, kind, "ok", digest, answer.validators if _looks_whole(answer.content) else NONE)
        return Document("unchanged" if digest == held else "changed" if held else "new", digest)

    def _still_absent(self, seen: Seen) -> bool:
        """Whether a 404 is young enough. Only this source's own: that a mirror lacks a document tells nothing."""
        lately = self._now - seen.fetched_at < self._absence_lasts
        return lately and seen.status == "no_facts" and seen.source == self._source.name

    def _validators(self, seen: Seen | None) -> Validators:
        """What to ask with, where this source gave it and the document is still held."""
        trusted = seen and seen.source == self._source.name and seen.digest and self._store.has(seen.digest)
        return seen.validators if seen and trusted else NONE

    def _note(self, cik: str, kind: Kind, status: Status, digest: str | None, validators: Validators = NONE) -> None:
        self._store.note(
            Seen(
                cik=cik,
                kind=kind,
                status=status,
                source=self._source.name,
                fetched_at=self._now,
                digest=digest,
                etag=validators.etag,
                last_modified=validators.last_modified,
            )
        )


def _in_a_row(failed: int) -> str:
    return (
        f"{failed} companies in a row failed, so the source is taken to fail" if failed > 1 else "nothing was fetched"
    )


def _looks_whole(content: bytes) -> bool:
    """Whether a document ends like one. What does not is kept as evidence, but asked for again without condition."""
    return content[-64:].rstrip().endswith(b"}")
