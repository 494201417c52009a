"""EDGAR's feed of the newest filings, which has a report minutes after its acceptance.

Belongs here: the feed's addresses and format, and which of its filings are new. Does not: running anything
(definitions).

The feed is Atom. An entry's title is `10-Q - NAME (CIK) (Filer)`, its category the form, its `updated` the time of
acceptance, and its `id` ends with the accession number. A page has at most a hundred entries, newest first.
"""

import re
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple
from xml.etree import ElementTree

import msgspec

from pipelines.edgar.answers import Client, Fetched
from pipelines.edgar.errors import DocumentError, FetchError

FORMS = ("10-", "20-F", "40-F")
"""The beginnings of the forms that are asked for: one request each. Current reports rarely feed values; the daily index
has them."""

PAGE, PAGES = 100, 5
"""Entries on a page, and how many pages are read at most: five hundred reports in one interval."""

SETTLED = timedelta(minutes=5)
"""So long after its acceptance a filing counts as new: then its facts are in the company's document."""

ATOM = "{http://www.w3.org/2005/Atom}"
TITLE_CIK = re.compile(r"\((\d{10})\)", re.ASCII)
ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}", re.ASCII)


class NewFiling(NamedTuple):
    """One filing of the feed."""

    cik: str
    form: str
    accession: str
    accepted_at: datetime


class Cursor(msgspec.Struct, frozen=True):
    """Up to where the feed was read: the last time of acceptance, and the filings accepted then."""

    at: datetime
    accessions: list[str] = []

    def is_past(self, filing: NewFiling) -> bool:
        """Whether a filing was read already."""
        return filing.accepted_at < self.at or filing.accession in self.accessions


def newest_url(form: str, start: int) -> str:
    """The address of a page of the feed; `form` is the beginning of a form type."""
    return (
        f"https://www.sec.gov/cgi-bin/browse-edgar?action=getcurrent&type={form}&company=&dateb=&owner=include"
        f"&start={start}&count={PAGE}&output=atom"
    )


def filings_in(raw: bytes) -> list[NewFiling]:
    """The filings of a page of the feed.

    Raises:
        DocumentError: it is no feed, or an entry lacks its company, form, number or time.
    """
    try:
        entries = list(ElementTree.fromstring(raw).iter(f"{ATOM}entry"))
    except ElementTree.ParseError as error:
        raise DocumentError(f"is not a feed: {error}", "feed of the newest filings") from error
    return [_filing(entry) for entry in entries]


def new_filings(client: Client, cursor: Cursor | None, now: datetime) -> tuple[list[NewFiling], Cursor]:
    """The filings that are new since the cursor, and the next cursor. Without a cursor none is new.

    A cursor from when the clock was ahead counts as none: what was filed until then would never be new.

    Raises:
        FetchError, DocumentError: the feed cannot be read; the cursor stays.
        RefusedError: EDGAR refuses all requests.
    """
    if cursor is None or cursor.at > now:
        return [], Cursor(now - SETTLED)
    found = {filing for form in FORMS for filing in _since(client, form, cursor)}
    new = sorted((filing for filing in found if filing.accepted_at <= now - SETTLED), key=lambda one: one.accepted_at)
    if not new:
        return [], cursor
    last = new[-1].accepted_at
    before = cursor.accessions if cursor.at == last else []
    return new, Cursor(last, sorted({*before, *(filing.accession for filing in new if filing.accepted_at == last)}))


def symbols_of(filings: Collection[NewFiling], listed: Collection[tuple[str, str]]) -> list[str]:
    """The first symbol of each listed company among the filers; `listed` are pairs of company and symbol."""
    filers = {filing.cik for filing in filings}
    first: dict[str, str] = {}
    for cik, symbol in listed:
        if cik in filers:
            first.setdefault(cik, symbol)
    return sorted(first.values())


def _since(client: Client, form: str, cursor: Cursor) -> Iterator[NewFiling]:
    for page in range(PAGES):
        url = newest_url(form, page * PAGE)
        answer = client.get(url)
        if not isinstance(answer, Fetched):
            raise FetchError(f"{url}: answers 404")
        filings = filings_in(answer.content)
        new = [filing for filing in filings if not cursor.is_past(filing)]
        yield from new
        if len(new) < PAGE:
            return


def _filing(entry: ElementTree.Element) -> NewFiling:
    title, category = entry.findtext(f"{ATOM}title", ""), entry.find(f"{ATOM}category")
    cik = TITLE_CIK.search(title)
    accession = ACCESSION.search(entry.findtext(f"{ATOM}id", ""))
    form = category.get("term", "") if category is not None else ""
    try:
        accepted_at = datetime.fromisoformat(entry.findtext(f"{ATOM}updated", ""))
    except ValueError:
        accepted_at = None
    if not (cik and accession and form and accepted_at and accepted_at.tzinfo):
        raise DocumentError(
            f"has an entry {title[:80]!r} without company, form, number or time", "feed of the newest filings"
        )
    return NewFiling(cik[1], form, accession[0], accepted_at)
