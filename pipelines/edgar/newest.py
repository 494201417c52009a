"""EDGAR's feed of the newest filings, which has a report seconds after its acceptance.

Belongs here: the feed's addresses and format, and how far it is read. Does not: what follows from a filing
(run.newest_filings).

The feed is Atom. An entry's title is `10-Q - NAME (CIK) (Filer)`, its category the form, its `updated` the time of
acceptance, and its `id` ends with the accession number. A page has at most a hundred entries, newest first.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple
from xml.etree import ElementTree

from pipelines.edgar.answers import Client, Fetched, NotModified, Validators
from pipelines.edgar.errors import DocumentError, FetchError

FORMS = ("10-", "20-F", "40-F")
"""The beginnings of the forms that are asked for: one request each. Current reports rarely feed values; the daily index
has them."""

PAGE, PAGES = 100, 20
"""Entries on a page, and how many pages are read at most: two thousand reports since the feed was last read."""

ATOM = "{http://www.w3.org/2005/Atom}"
TITLE_CIK = re.compile(r"\((\d{10})\)", re.ASCII)
ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}", re.ASCII)


class NewFiling(NamedTuple):
    """One filing of the feed."""

    cik: str
    form: str
    accession: str
    accepted_at: datetime


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


def newest_filings(
    client: Client, known: Collection[str], validators: Mapping[str, Validators]
) -> tuple[list[NewFiling], dict[str, Validators]]:
    """The filings of the feed that are not known.

    Pages are read until one has a known filing, so that none is missed in a burst; without known filings, one page.

    Args:
        client: of the SEC.
        known: the accession numbers that were read before.
        validators: of the first pages when they were read before, by address: a page that has not changed since is not
            sent.

    Returns:
        the filings in the order of their acceptance, and the validators of the first pages now.

    Raises:
        FetchError, DocumentError: the feed cannot be read.
        RefusedError: EDGAR refuses all requests.
    """
    found, now = set[NewFiling](), dict[str, Validators]()
    for form in FORMS:
        for page in range(PAGES if known else 1):
            url = newest_url(form, page * PAGE)
            answer = client.get(url, validators.get(url))
            if isinstance(answer, NotModified):
                now[url] = validators[url]
                break
            if not isinstance(answer, Fetched):
                raise FetchError(f"{url}: answers 404")
            if page == 0:
                now[url] = answer.validators
            unknown = [filing for filing in filings_in(answer.content) if filing.accession not in known]
            found.update(unknown)
            if len(unknown) < PAGE:
                break
    return sorted(found, key=lambda filing: (filing.accepted_at, filing.accession, filing.cik)), now


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
