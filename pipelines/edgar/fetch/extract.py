"""Extract: brings the raw zone up to date with a source.

Belongs here: the choice of documents to request, how a failure affects the other companies, and the result. Does not:
requesting one document (client), storing it (raw_store), its contents (documents), choosing pages of older filings
(older_pages).

This module does not decide whether a company has to be normalized again: a run that was killed after a checkpoint has
stored documents that no build contains. The stages decide it by comparing digests.
"""

import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from pipelines.edgar.answers import TICKERS_URL, NotFound, NotModified, Validators, facts_url, submissions_url
from pipelines.edgar.errors import FetchError, SourceError
from pipelines.edgar.fetch import older_pages
from pipelines.edgar.fetch.raw_store import Kind, RawStore, Seen, Status
from pipelines.edgar.source.source import Source

LARGEST_ABSENCE = 0.05
"""If the source answers 404 for more than this share of the companies with stored documents, it counts as failed. A
single company does not count, unless it is the only one."""

LEAST_COMPANIES_WITH_DOCUMENTS = 20
"""If the SEC has no document for this number of listed companies, it counts as failed; fewer companies may all be
funds, for which EDGAR has none. Any other source counts as failed if it has no document at all."""

FAILURES_IN_A_ROW = 5  # after so many failures in a row, the source itself counts as failed
CHECKPOINT_SECONDS = 30.0
"""A killed run loses the work of at most so many seconds: about 280 requests of a live source."""

LAST_SECONDS = 2.0
"""Seconds that requests in progress may still take when a synchronization is stopped."""

NONE = Validators()

Change = Literal["new", "changed", "unchanged", "no_facts", "gone", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Document:
    """The result of requesting one document.

    Attributes:
        change: compared with the previous request: `new`, `changed` and `unchanged` documents are in the raw zone;
            `no_facts`: 404 now and always; `gone`: 404 now, but a document existed before; `skipped`: 404 recently, so
            not requested; `failed`: the request failed.
        digest: of the document in the raw zone, also after `gone` and `failed`; None if the raw zone never had one.
        reason: why the request `failed`.
        passes_in: as in EdgarError: seconds to wait if the error can pass by itself.
    """

    change: Change
    digest: str | None
    reason: str = ""
    passes_in: float | None = None


@dataclass(frozen=True, slots=True)
class CompanyDocuments:
    """The documents of one company. Submissions are requested only if the company has facts.

    Attributes:
        pages: the digests of the stored pages of older filings.
        unread: why other pages could not be read; the company is brought up to date without them.
    """

    cik: str
    facts: Document
    submissions: Document | None = None
    pages: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def failure(self) -> str:
        """Why the company could not be brought up to date; empty if it could."""
        return self._failed.reason

    @property
    def passes_in(self) -> float | None:
        """Seconds to wait if the failure can pass by itself (see EdgarError)."""
        return self._failed.passes_in

    @property
    def _failed(self) -> Document:
        return self.submissions if self.submissions and not self.facts.reason else self.facts


@dataclass(frozen=True, slots=True)
class Extracted:
    """The results of all companies, in the order in which they were requested."""

    companies: list[CompanyDocuments]

    @property
    def counts(self) -> Counter[str]:
        """The number of companies by the `change` of their companyfacts."""
        return Counter(company.facts.change for company in self.companies)


Progress = Callable[[int, int, CompanyDocuments], object]


def fetch_tickers(source: Source, store: RawStore, now: datetime) -> Document:
    """Bring the tickers file up to date: the list of all companies.

    Raises:
        SourceError: the file could not be fetched.
        RawStoreError: the raw zone cannot be written.
    """
    asked = _Asked(source, store, now)
    document = asked.document("", "tickers", TICKERS_URL)
    if document.reason:
        raise SourceError(document.reason, passes_in=document.passes_in)
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
    ask: Collection[str] | None = None,
) -> Extracted:
    """Bring companyfacts and submissions of companies up to date.

    Args:
        ciks: ten digits each; the result is in this order.
        now: the time of this synchronization, in UTC.
        progress: called after each company with the number of finished companies, the number of all companies, and the
            result.
        absence_lasts: how long a 404 of this source is not requested again; None: the default of the source.
        ask: the companies to request; the documents of the others are known to be unchanged. None: all.

    Raises:
        SourceError: the source refuses, fails for several companies in a row, or answers 404 for many stored documents;
            documents fetched so far are kept, and no 404 is remembered.
        RawStoreError: the raw zone cannot be written.
    """
    store.sweep()
    asked = _Asked(source, store, now, source.absence_lasts if absence_lasts is None else absence_lasts)
    companies: list[CompanyDocuments] = []
    every, ciks = ciks, [cik for cik in ciks if ask is None or cik in ask]
    held = sum(map(asked.has_served, ciks))
    failed_in_a_row = gone = served = 0
    checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS
    try:
        with closing(_in_order(asked, ciks, source)) as answers:
            for company in answers:
                companies.append(company)
                progress(len(companies), len(ciks), company)
                if company.facts.change != "skipped":
                    failed_in_a_row = failed_in_a_row + 1 if company.failure else 0
                if failed_in_a_row == min(FAILURES_IN_A_ROW, len(ciks)):
                    reason = f"{company.failure}; {_in_a_row(failed_in_a_row)}"
                    raise SourceError(reason, passes_in=company.passes_in)
                gone += asked.has_lost(company)
                served += company.facts.change in ("new", "changed", "unchanged")
                if served and not held:
                    asked.remember_absences()  # no document can be gone; a killed run shall not request them again
                if gone > LARGEST_ABSENCE * held and gone >= min(2, held):
                    raise SourceError(_many_are_gone(company, gone, held))
                if time.monotonic() >= checkpoint_at:
                    store.checkpoint()
                    checkpoint_at = time.monotonic() + CHECKPOINT_SECONDS
        if not held and not served and len(ciks) >= (LEAST_COMPANIES_WITH_DOCUMENTS if source.name == "live" else 1):
            advice = "check EDGAR_BASE_URL" if source.name == "live" else "check what is in it"
            raise SourceError(f"the source answers 404 for all of {len(ciks)} companies; {advice}")
        asked.remember_absences()
    finally:
        store.checkpoint()
    of = {company.cik: company for company in companies}
    return Extracted([of.get(cik) or asked.unasked(cik) for cik in every])


def _in_order(asked: "_Asked", ciks: Sequence[str], source: Source) -> Generator[CompanyDocuments, None, None]:
    """Request several companies in parallel, and yield the results in order. Companies with known documents need no
    thread.

    After an error, or when the caller stops reading, no further requests start, and requests in progress are ended.
    """
    if source.threads == 1:
        yield from map(asked.company, ciks)
        return
    pool = ThreadPoolExecutor(source.threads, thread_name_prefix="edgar")
    answers = {cik: pool.submit(asked.company, cik) for cik in ciks if not asked.is_known(cik)}
    try:
        for cik in ciks:
            yield answers[cik].result() if cik in answers else asked.unasked(cik)
    except BaseException:
        source.client.stop()
        pool.shutdown(wait=False, cancel_futures=True)
        wait([answer for answer in answers.values() if not answer.cancelled()], LAST_SECONDS)
        raise
    pool.shutdown()


class _Asked:
    """Requests documents of one source during one synchronization, and records the results."""

    def __init__(self, source: Source, store: RawStore, now: datetime, absence_lasts: timedelta = timedelta(0)) -> None:
        self._source = source
        self._store = store
        self._now = now
        self._absence_lasts = absence_lasts
        self._absences: list[Seen] | None = []

    def has_served(self, cik: str) -> bool:
        """Whether the companyfacts of a company are stored, and the source had them at the last request.

        A mirror may be incomplete, so documents from other sources do not count for it; EDGAR has all documents.
        """
        seen = self._store.seen(cik, "companyfacts")
        if not seen or not seen.digest or seen.status != "ok":
            return False
        return seen.source == self._source.name or self._source.name == "live"

    def has_lost(self, company: CompanyDocuments) -> bool:
        """Whether the source had a company's documents before, and answers 404 for one of them now."""
        changes = (company.facts.change, company.submissions.change if company.submissions else "")
        return "gone" in changes and self.has_served(company.cik)

    def remember_absences(self) -> None:
        """Record all answers 404, past and future. They are not recorded before this call, because a broken source
        answers 404 to every request."""
        absences, self._absences = self._absences or [], None
        for absence in absences:
            self._store.note(absence)

    def company(self, cik: str) -> CompanyDocuments:
        facts = self.document(cik, "companyfacts", facts_url(cik))
        if facts.change in ("no_facts", "gone", "skipped", "failed"):
            return CompanyDocuments(cik, facts)
        submissions = self.document(cik, "submissions", submissions_url(cik))
        unread: list[str] = []
        seen = self._store.seen(cik, "submissions")
        if seen and submissions.change in ("new", "changed", "unchanged"):
            unread = older_pages.update_pages(self._source.client, self._store, seen, str(facts.digest))
        return CompanyDocuments(cik, facts, submissions, self._pages(cik), tuple(unread))

    def _pages(self, cik: str) -> tuple[str, ...]:
        seen = self._store.seen(cik, "submissions")
        return tuple(page.digest for page in seen.pages if page.digest) if seen else ()

    def is_known(self, cik: str) -> bool:
        """Whether the source is known, without a request, to have the stored documents of a company unchanged."""
        facts, submissions = self._store.seen(cik, "companyfacts"), self._store.seen(cik, "submissions")
        if not facts or facts.status != "ok" or not self._is_known(facts, facts_url(cik)):
            return False
        if not submissions or not self._is_known(submissions, submissions_url(cik)):
            return False
        return not submissions.digest or older_pages.are_held(self._store, submissions, str(facts.digest))

    def _is_known(self, seen: Seen, url: str) -> bool:
        if seen.source != self._source.name or (seen.status == "ok") != bool(seen.digest):
            return False
        try:
            return self._source.client.is_known(url, self._validators(seen) if seen.digest else None)
        except FetchError:
            return False  # its own request reports the error

    def unasked(self, cik: str) -> CompanyDocuments:
        """The documents of a company that is known to have no new ones."""
        facts, submissions = self._store.seen(cik, "companyfacts"), self._store.seen(cik, "submissions")
        if not facts or not facts.digest:
            return CompanyDocuments(cik, Document("skipped", None))
        return CompanyDocuments(
            cik,
            Document("unchanged", facts.digest),
            Document("unchanged", submissions.digest) if submissions and submissions.digest else None,
            self._pages(cik),
        )

    def document(self, cik: str, kind: Kind, url: str) -> Document:
        seen = self._store.seen(cik, kind)
        held = seen.digest if seen else None
        if seen and self._still_absent(seen):
            return Document("skipped", held)
        try:
            answer = self._source.client.get(url, self._validators(seen))
        except FetchError as error:
            return Document("failed", held, str(error), error.passes_in)
        if isinstance(answer, NotFound):
            self._note(cik, kind, "no_facts", held)
            return Document("gone" if held else "no_facts", held)
        if isinstance(answer, NotModified):
            self._note(cik, kind, "ok", held, self._validators(seen))
            return Document("unchanged", held)
        digest = self._store.put(answer.content, at_checkpoint=True)
        validators = answer.validators if _looks_whole(answer.content) else NONE
        validators = replace(validators, size=len(answer.content), crc=zlib.crc32(answer.content))
        self._note(cik, kind, "ok", digest, validators)
        return Document("unchanged" if digest == held else "changed" if held else "new", digest)

    def _still_absent(self, seen: Seen) -> bool:
        """Whether this source answered 404 recently for a document that was never stored.

        Answers of other sources do not count, because a mirror may be incomplete, nor do answers with a time in the
        future, which a wrong clock recorded.
        """
        lately = timedelta(0) <= self._now - seen.fetched_at < self._absence_lasts and not seen.digest
        return lately and seen.status == "no_facts" and seen.source == self._source.name

    def _validators(self, seen: Seen | None) -> Validators:
        """Validators for a conditional request, if the document is still stored; ETag and Last-Modified only for the
        server that sent them."""
        if not seen or not seen.digest or not self._store.has(seen.digest):
            return NONE
        of_content = Validators(size=seen.size, crc=seen.crc)
        return seen.validators if seen.source == self._source.name else of_content

    def _note(self, cik: str, kind: Kind, status: Status, digest: str | None, validators: Validators = NONE) -> None:
        before = self._store.seen(cik, kind)
        seen = Seen(
            cik=cik,
            kind=kind,
            status=status,
            source=self._source.name,
            fetched_at=self._now,
            digest=digest,
            etag=validators.etag,
            last_modified=validators.last_modified,
            size=validators.size,
            crc=validators.crc,
            pages=before.pages if before else [],
            pages_for=before.pages_for if before and before.digest == digest else None,
        )
        if status == "no_facts" and self._absences is not None:
            self._absences.append(seen)
        else:
            self._store.note(seen)


def _many_are_gone(last: CompanyDocuments, gone: int, held: int) -> str:
    return (
        f"the source answers 404 for {gone} of {held} companies whose documents it had before, at last CIK {last.cik}; "
        "EDGAR removes no documents, so the source itself counts as failed, and nothing is remembered; "
        "synchronize again later"
    )


def _in_a_row(failed: int) -> str:
    return (
        f"{failed} companies in a row failed, so the source itself counts as failed"
        if failed > 1
        else "nothing was fetched"
    )


def _looks_whole(content: bytes) -> bool:
    """Whether a document ends with a brace. A document without it is stored as evidence, but the next request has no
    validators."""
    return content[-64:].rstrip().endswith(b"}")
