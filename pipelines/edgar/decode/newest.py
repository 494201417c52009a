"""EDGAR's feed of the newest filings, which has a report seconds after its acceptance.

Belongs here: the feed's addresses and format, and how far it is read. Does not: acting on a new filing
(run.newest_filings).

The feed is Atom. An entry's title is `10-Q - NAME (CIK) (Filer)`, its category the form, its `updated` the time of
acceptance, and its `id` ends with the accession number. A page has at most a hundred entries, newest first.
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

from pipelines.edgar.answers import Client, Fetched, NotModified, Validators
from pipelines.edgar.errors import DocumentError, FetchError

FORMS = ("10-", "20-F", "40-F")
"""The beginnings of the requested forms, with one request each. Current reports rarely feed values; the daily index has
them."""

PAGE, PAGES = 100, 20
"""The entries on a page, and the most pages that are read: two thousand reports since the feed was last read."""

PLACE = "feed of the newest filings"
ATOM = "{http://www.w3.org/2005/Atom}"
TITLE_CIK = re.compile(r"\((\d{10})\)", re.ASCII)
ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}", re.ASCII)
FILED = re.compile(r"Filed:\W+(?:b\W+)?(\d{4}-\d{2}-\d{2})", re.ASCII)
NEW_YORK = ZoneInfo("America/New_York")


class NewFiling(NamedTuple):
    """One filing of the feed, for one of its companies; `filed` is the day of filing, as text."""

    cik: str
    form: str
    accession: str
    accepted_at: datetime
    filed: str = ""

    @property
    def key(self) -> str:
        """The key of this filing and company; another company of the same filing has another key."""
        return key_of(self.cik, self.accession)


def key_of(cik: str, accession: str) -> str:
    """The key of a filing and a company."""
    return f"{cik} {accession}"


def newest_url(form: str, start: int) -> str:
    """The address of a page of the feed; `form` is the beginning of a form type."""
    return (
        f"https://www.sec.gov/cgi-bin/browse-edgar?action=getcurrent&type={form}&company=&dateb=&owner=include"
        f"&start={start}&count={PAGE}&output=atom"
    )


class Feed(NamedTuple):
    """The result of reading the feed.

    Attributes:
        filings: the filings, in the order of their acceptance.
        skipped: the flaw of each malformed entry.
        validators: the validators of the first pages, by address.
    """

    filings: list[NewFiling]
    skipped: list[str]
    validators: dict[str, Validators]


def filings_in(raw: bytes) -> tuple[list[NewFiling], list[str]]:
    """The filings of a page of the feed, and the flaws of entries that lack company, form, number or time.

    Raises:
        DocumentError: the page is not a feed.
    """
    try:
        feed = ElementTree.fromstring(raw)
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last two: an encoding that expat lacks
        raise DocumentError(f"is not a feed: {error}", PLACE) from error
    if feed.tag != f"{ATOM}feed":
        raise DocumentError(f"is not a feed: it begins with {feed.tag[:80]!r}", PLACE)
    read = [_filing(entry) for entry in feed.iter(f"{ATOM}entry")]
    return [one for one in read if isinstance(one, NewFiling)], [one for one in read if isinstance(one, str)]


def newest_filings(
    client: Client, known: Collection[str], validators: Mapping[str, Validators], since: datetime | None = None
) -> Feed:
    """Read the new filings of the feed, and its malformed entries.

    Pages are read until one has a known filing, so that none is missed when many filings arrive at once; then one page
    more, because EDGAR may list a new filing among older ones.

    Args:
        client: requests pages from the SEC.
        known: the keys of filings that were read before (NewFiling.key).
        validators: the validators of the first pages from the reading before, by address: the SEC does not send an
            unchanged page.
        since: pages are read until one also has a filing that was accepted before this time; None: a known filing is
            enough.

    Raises:
        FetchError, DocumentError: the feed cannot be read.
        RefusedError: EDGAR refuses all requests.
    """
    found, skipped, now = set[NewFiling](), list[str](), dict[str, Validators]()
    for form in FORMS:
        last, is_known_seen = PAGES - 1, False
        for page in range(PAGES):
            url = newest_url(form, page * PAGE)
            answer = client.get(url, validators.get(url))
            if isinstance(answer, NotModified):
                now[url] = validators[url]
                break
            if not isinstance(answer, Fetched):
                raise FetchError(f"{url}: answers 404")
            if page == 0:
                now[url] = answer.validators
            filings, malformed = filings_in(answer.content)
            unknown = [filing for filing in filings if filing.key not in known]
            found.update(unknown)
            skipped += malformed
            is_known_seen |= len(unknown) < len(filings)
            if is_known_seen and (since is None or any(filing.accepted_at < since for filing in filings)):
                last = min(last, page + 1)
            if page == last or len(filings) + len(malformed) < PAGE:
                break
    return Feed(sorted(found, key=lambda filing: (filing.accepted_at, filing.accession, filing.cik)), skipped, now)


def _filing(entry: ElementTree.Element) -> NewFiling | str:
    """The filing of an entry; the flaw of a malformed entry."""
    title, category = entry.findtext(f"{ATOM}title", ""), entry.find(f"{ATOM}category")
    cik = TITLE_CIK.search(title)
    accession = ACCESSION.search(entry.findtext(f"{ATOM}id", ""))
    form = category.get("term", "") if category is not None else ""
    day = FILED.search(entry.findtext(f"{ATOM}summary", ""))
    accepted_at, filed = None, ""
    try:
        updated = datetime.fromisoformat(entry.findtext(f"{ATOM}updated", ""))
        if updated.tzinfo:
            filed = day[1] if day else f"{updated.astimezone(NEW_YORK):%Y-%m-%d}"
            accepted_at = updated.astimezone(UTC)
    except (ValueError, OverflowError):  # the latter: the first and the last day of the calendar
        accepted_at = None
    if cik and accession and form and accepted_at:
        return NewFiling(cik[1], form, accession[0], accepted_at, filed)
    parts = {"company": cik, "form": form, "number": accession, "time": accepted_at}
    return f"{title[:80]!r} lacks its {' and '.join(name for name, part in parts.items() if not part)}"
