"""The page `/changes`: the values that are new, restated or withdrawn in the newest build, with their filings.

Belongs here: the columns and cells of the page. Does not: the queries (warehouse.queries.change_queries), the versions
of one value (values), access control (mount).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from serve import names
from serve.site.account import watchlist
from serve.site.company.values import address as value_address
from serve.site.frame.building import cached
from serve.site.text.figures import TITLES, standalone
from serve.site.text.markdown import Document, Markdown, link, write
from serve.site.text.paths import company_path
from warehouse.contract.vocabulary import CAUSES
from warehouse.queries import change_queries
from warehouse.queries.change_queries import Change, Counts
from warehouse.read.reader import OpenBuild

PATH = "/changes"
PAGE = 100  # changes on a page of the list
MOST = 2_000
"""Number of listed changes: as many as some hundred reports have. A changed rule may change millions of values."""
MOST_ADDED = 20
"""Number of new companies that are named."""
DIGITS = 4
"""Significant digits of amounts: many restatements change less than a per cent."""
ASSETS = ("ages.js",)


@dataclass(frozen=True, slots=True)
class Changes:
    """The newest changes of a build, the number of all, and its new companies: symbols and names."""

    listed: Sequence[Change]
    counts: Counts
    added: Sequence[tuple[str, str | None]]


def changes(build: OpenBuild, watched: frozenset[str] | None = None) -> Changes:
    """The changes of a build, or of watched companies (then without new companies); cached for each build."""

    def read() -> Changes:
        added = change_queries.added(build) if watched is None else ()
        return Changes(change_queries.newest(build, MOST, watched), change_queries.counts(build, watched), added)

    return cached(build, (changes, watched), read)


def last_page(listed: Sequence[Change]) -> int:
    """The number of the last page of the list."""
    return max(1, -(-len(listed) // PAGE))


def document(found: Changes, published_at: str, page: int, *, is_watched: bool = False) -> Document:
    """A page of the list.

    Args:
        found: the changes of the build, on all pages.
        published_at: when the build was published, ISO 8601 in UTC.
        page: number of this page, from 1.
        is_watched: whether these are the changes of the reader's watchlist.
    """
    of_watchlist = f"{watchlist.WATCHED}={watchlist.YES}"
    start = f"{PATH}?{of_watchlist}&" if is_watched else f"{PATH}?"
    listed = found.listed
    last, shown = last_page(listed), listed[(page - 1) * PAGE : page * PAGE]
    turns = tuple(
        (text, f"{start}page={to}")
        for text, to in (("Previous page", page - 1), ("Next page", page + 1))
        if 1 <= to <= last
    )
    text = write(
        "changes.md",
        counts=found.counts,
        added=[
            link(f"{symbol} {names.shown(name or '')}".strip(), company_path(symbol)) for symbol, name in found.added
        ],
        most=MOST_ADDED,
        listed=len(listed),
        published_at=published_at,
        page=page,
        last=last,
        rows=[_row(change) for change in shown],
        causes={code: CAUSES[code] for code in dict.fromkeys(change.cause for change in shown) if code in CAUSES},
        turns=turns,
        is_watched=is_watched,
        of_watchlist=f"{PATH}?{of_watchlist}",
    )
    return Document(text, by_query=True, turns=turns, assets=ASSETS)


def _row(change: Change) -> Sequence[object]:
    """The table cells of a change."""
    filing = f"{change.form or 'Filing'} of {change.filed or 'an unknown day'}"
    return (
        link(change.symbol, company_path(change.symbol)),
        change.period,
        TITLES[change.item],
        _shown(change, change.before),
        link(_shown(change, change.after), value_address(change.symbol, change.item, change.period)),
        (change.cause or "unexplained").replace("_", " "),
        link(filing, change.url) if change.url else Markdown(filing),
    )


def _shown(change: Change, value: float | None) -> str:
    """A value as text; a dash if there was none."""
    return "–" if value is None else standalone(change.item, value, DIGITS)
