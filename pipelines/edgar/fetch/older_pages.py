"""The pages of older filings that a submissions document names: which of them are requested, and when.

Belongs here: the pages of one company. Does not: its other documents (extract), the format of a page (documents).

EDGAR lists the newest filings of a company in its submissions document, a thousand or the filings of a year, and older
ones on pages of about two thousand. Each new filing moves an older one to the next page, so the numbers and days of all
pages change, although they hardly ever list a filing that was not listed before. So a page is requested only if it may
list a filing with facts that no stored document lists, and only once for each number and days with which the
submissions document describes it. Pages from before the first filing with facts are never requested.
"""

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

import msgspec

from pipelines.edgar.answers import Client, Fetched, page_url
from pipelines.edgar.decode.documents import OlderPage, Submissions, decode_page, decode_submissions, filings_with_facts
from pipelines.edgar.errors import CorruptError, DocumentError, FetchError
from pipelines.edgar.fetch.raw_store import Page, RawStore, Seen

ONE_AT_A_TIME = threading.Lock()
LAST_DAY = "9999-12-31"
"""Lock: stored documents are read one after the other, so that the documents of all threads are not in memory at
once."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A page, and the accession numbers of the filings that it lists."""

    page: Page
    accessions: frozenset[str]


def are_held(store: RawStore, submissions: Seen, facts: str) -> bool:
    """Whether all needed pages are stored, so that no page has to be requested.

    Args:
        store: the raw zone.
        submissions: the result of the last request for the submissions document.
        facts: the digest of the companyfacts document.
    """
    return submissions.pages_for == facts and all(page.digest and store.has(page.digest) for page in submissions.pages)


def update_pages(client: Client, store: RawStore, submissions: Seen, facts: str) -> list[str]:
    """Bring the pages of a company up to date, and record them with its submissions document.

    A page that cannot be read is requested again the next time; the others are used without it.

    Args:
        client: requests documents from the source.
        store: the raw zone.
        submissions: the result of the request for the submissions document.
        facts: the digest of the companyfacts document.

    Returns:
        the reasons why pages could not be read.

    Raises:
        RefusedError: EDGAR refuses all requests.
    """
    if are_held(store, submissions, facts):
        return []
    cik, request = submissions.cik, cache(partial(_requested, client, store, submissions.cik))
    if submissions.pages_for == facts and all(map(store.has, submissions.digests)):
        answers = [request(page.listed) for page in submissions.pages if not page.digest]
        failures = [answer for answer in answers if isinstance(answer, str)]
        if len(failures) == len(answers):
            return failures
    try:
        with ONE_AT_A_TIME:
            listed = decode_submissions(store.get(str(submissions.digest)), cik)
            filed = filings_with_facts(store.get(facts), cik) if listed.older_pages else {}
    except (DocumentError, CorruptError):
        return []  # the stage of facts reports the flaw
    own = {page.name: page for page in listed.older_pages if page.name.startswith(f"CIK{cik}-")}
    listed = replace(listed, older_pages=[*own.values()])
    read = [each for page in submissions.pages if (each := _held(store, cik, page))]
    failed: dict[OlderPage, str] = {}
    while wanted := _wanted(listed, filed, read, failed):
        answer = request(wanted)
        if isinstance(answer, _Read):
            read.insert(0, answer)
        else:
            failed[wanted] = answer
    pages = [*_pages_to_keep(listed, filed, read), *(Page(page, None) for page in failed)]
    in_order = sorted(pages, key=lambda page: (page.listed.name, page.digest or ""))
    store.note(msgspec.structs.replace(submissions, pages=in_order, pages_for=facts))
    return [*failed.values()]


def _wanted(
    listed: Submissions, filed: Mapping[str, str], read: Collection[_Read], failed: Collection[OlderPage]
) -> OlderPage | None:
    """The next page to request: one that may list a filing with facts that no stored document lists; or None."""
    known = {filing.accession for filing in listed.filings}.union(*(each.accessions for each in read))
    days = {day for accession, day in filed.items() if accession not in known}
    requested = {each.page.listed for each in read} | {*failed}
    return next(
        (
            page
            for page in listed.older_pages
            if page not in requested
            and any((page.filing_from or "") <= day <= (page.filing_to or LAST_DAY) for day in days)
        ),
        None,
    )


def _pages_to_keep(listed: Submissions, filed: Mapping[str, str], read: Collection[_Read]) -> list[Page]:
    """The pages that are still listed unchanged, then earlier versions that alone list a filing with facts."""
    known, used = {filing.accession for filing in listed.filings}, []
    for each in sorted(read, key=lambda each: each.page.listed not in listed.older_pages):
        if each.page.listed in listed.older_pages or (filed.keys() & each.accessions) - known:
            used.append(each.page)
            known |= each.accessions
    return used


def _requested(client: Client, store: RawStore, cik: str, page: OlderPage) -> _Read | str:
    """Request a page from the source and store it; if it is malformed or cannot be fetched, return the reason."""
    url = page_url(page.name)
    try:
        answer = client.get(url)
        if not isinstance(answer, Fetched):
            return f"{url}: answers 404, although it is listed"
        accessions = _accessions(answer.content, cik)
    except FetchError as error:
        return str(error)
    except DocumentError as error:
        return f"{url}: {error.reason}"
    return _Read(Page(page, store.put(answer.content, at_checkpoint=True)), accessions)


def _held(store: RawStore, cik: str, page: Page) -> _Read | None:
    """Read a page from the raw zone; None if it is missing or damaged."""
    try:
        return _Read(page, _accessions(store.get(page.digest), cik)) if page.digest else None
    except (DocumentError, CorruptError):
        return None


def _accessions(content: bytes, cik: str) -> frozenset[str]:
    return frozenset(filing.accession for filing in decode_page(content, cik))
