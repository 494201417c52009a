"""The pages `/companies`: the list of companies, and the charts and tables of one company's eleven items.

Belongs here: which values are shown, and the text about them. Does not: drawing charts (charts), the SQL
(warehouse.page_queries), access control (mount).
"""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from itertools import groupby
from urllib.parse import quote, urlencode

from serve.site import charts
from serve.site.charts import Point
from serve.site.content import (
    Block,
    Cards,
    Document,
    Drawing,
    Folded,
    Grid,
    Heading,
    Legend,
    Paragraph,
    Search,
    link,
    plain,
)
from serve.site.figures import KINDS, TITLES, short, unit, whole
from warehouse.page_queries import Gap, Stated
from warehouse.queries import Company
from warehouse.schema import ITEM_NAMES, PERIOD_KINDS
from warehouse.vocabulary import CAUSES, GAPS

COUNTED = {"ttm": "quarter end", "annual": "fiscal year"}
LISTED = 50  # companies on a page of the list
LEGEND = Legend(
    (
        (charts.sample("line"), "Trailing twelve months, or the balance, at each quarter end."),
        (charts.sample("bar"), "Fiscal years."),
        (
            charts.sample("restated"),
            "Restated: the value has changed since it was first filed. The table below the chart shows the earlier "
            "value, and [the data dictionary](/dictionary#revisions) explains why values change.",
        ),
    )
)
LOOK = (
    "Every value in a table, and every mark in a chart, links to the filing at the SEC that its newest version comes "
    "from."
)


def listing(rows: Sequence[Company], total: int, search: str, page: int) -> Document:
    """A page of the list of covered companies.

    Args:
        rows: the companies of this page.
        total: number of companies on all pages.
        search: the search text; empty for all companies.
        page: number of this page, from 1.
    """
    found = f"{total:,} {'symbol' if total == 1 else 'symbols'}"
    summary = f"{found} found for “{plain(search)}”." if search else f"{found} covered."
    grid = Grid(
        "Companies",
        ("Symbol", "Name", "Newest period", "Exchange", "Industry"),
        tuple(
            (
                link(plain(row.symbol), address(row.symbol)),
                *(plain(text or "") for text in (row.name, row.last_period_end, row.exchange, row.sic_description)),
            )
            for row in rows
        ),
    )
    blocks: list[Block] = [Search("Symbol or name", "search", search), Paragraph(summary), *([grid] if rows else [])]
    turns = [("Previous page", page - 1)] * (page > 1) + [("Next page", page + 1)] * (page * LISTED < total)
    if turns:
        queries_of = (
            (text, urlencode({"search": search, "page": to} if search else {"page": to})) for text, to in turns
        )
        blocks.append(Paragraph(" · ".join(link(text, f"/companies?{query}") for text, query in queries_of)))
    return Document("Companies", "Listed companies with filing data.", tuple(blocks))


def address(symbol: str) -> str:
    """The path of a company's page."""
    return f"/companies/{quote(symbol, safe='')}"


def document(
    company: Company, stated: Sequence[Stated], gaps: Sequence[Gap], filings_url: str, updated_at: str | None
) -> Document:
    """A company's page.

    Args:
        company: the company.
        stated: its current values, in the order of page_queries.stated.
        gaps: the reasons for its missing values, in the order of page_queries.gaps.
        filings_url: address of the SEC's list of its filings.
        updated_at: time of its last synchronization, ISO 8601 in UTC; None if unknown.
    """
    ends = {kind: sorted({value.period_end for value in stated if value.kind == kind}) for kind in PERIOD_KINDS}
    by_item = {item: list(values) for item, values in groupby(stated, key=lambda value: value.item)}
    missing = {item: list(found) for item, found in groupby(gaps, key=lambda gap: gap.item)}
    cards = tuple(
        tuple(_card(item, by_item.get(item, []), missing.get(item, []), ends, company, filings_url))
        for item in ITEM_NAMES
    )
    facts = (company.exchange, company.sic_description, f"reports in {company.currency}")
    about = " · ".join(plain(fact) for fact in facts if fact)
    updated = f"{updated_at[:10]} {updated_at[11:16]} UTC" if updated_at else "at an unknown time"
    blocks = (
        Paragraph(
            f"Periods from {company.first_period_end} to {company.last_period_end}, last synchronized {updated}. "
            f"[All values as Markdown]({address(company.symbol)}.md) · {link('Filings at the SEC', filings_url)}"
        ),
        LEGEND,
        Paragraph(LOOK),
        Cards(cards),
    )
    return Document(f"{plain(company.name or company.symbol)} ({plain(company.symbol)})", about, blocks)


def _card(
    item: str,
    values: Sequence[Stated],
    gaps: Sequence[Gap],
    ends: dict[str, list[str]],
    company: Company,
    filings_url: str,
) -> Iterator[Block]:
    """The chart, the gaps and the values of one item."""
    measure = unit(item, company.currency)
    yield Heading(TITLES[item], item)
    points = {kind: _points(item, kind, values, ends[kind], measure, filings_url) for kind in PERIOD_KINDS}
    drawn = charts.chart(points["ttm"], points["annual"], partial(short, item))
    if values:
        newest = values[0]
        yield Paragraph(f"{f'**{short(item, newest.value)}** {measure}'.strip()}, {newest.period}")
        yield Drawing(drawn, f"{TITLES[item]}: {len(values)} values, {sum(v.versions > 1 for v in values)} restated.")
    else:
        yield Paragraph("No period has a value.")
    for reason, found in groupby(sorted(gaps, key=lambda gap: gap.reason), key=lambda gap: gap.reason):
        yield Paragraph(_gap(reason, list(found)))
    if values:
        grids = (_grid(item, kind, values, filings_url) for kind in PERIOD_KINDS)
        yield Folded(f"Values of {TITLES[item].lower()}", tuple(grid for grid in grids if grid.rows))


def _points(
    item: str, kind: str, values: Sequence[Stated], ends: Sequence[str], measure: str, filings_url: str
) -> list[Point]:
    """All period ends of a kind, oldest first, with their values."""
    held = {value.period_end: value for value in values if value.kind == kind}
    points = []
    for end in ends:
        value = held.get(end)
        if value is None:
            points.append(Point(date.fromisoformat(end), None))
            continue
        says = f"{value.period}: {f'{whole(value.value)} {measure}'.strip()}{_was(value)}"
        points.append(
            Point(date.fromisoformat(end), value.value, says, value.url or filings_url, is_revised=value.versions > 1)
        )
    return points


def _grid(item: str, kind: str, values: Sequence[Stated], filings_url: str) -> Grid:
    rows = tuple(
        (
            value.period,
            link(whole(value.value), value.url or filings_url),
            value.period_end,
            plain(f"{value.form or ''} {value.filed or ''}"),
            _restated(value),
        )
        for value in values
        if value.kind == kind
    )
    head = ("Period", "Value", "Ends", "Filing", "Restated")
    return Grid(f"{TITLES[item]}, {KINDS[kind]}", head, rows, numbers=frozenset({1}))


def _restated(value: Stated) -> str:
    if value.versions == 1:
        return ""
    cause = CAUSES.get(value.cause or "", plain((value.cause or "").replace("_", " ")))
    before = "withdrawn before" if value.earlier is None else f"was {whole(value.earlier)}"
    return f"◆ {before}, {value.versions} versions. {cause}"


def _was(value: Stated) -> str:
    return f", restated, was {whole(value.earlier)}" if value.versions > 1 and value.earlier is not None else ""


def _gap(reason: str, gaps: Sequence[Gap]) -> str:
    """The sentence on periods without a value: which, and the reason."""
    where = " and ".join(_counted(gap) for gap in gaps)
    known = GAPS.get(reason)
    why = f"{known.meaning} [{reason}](/dictionary#gap-{reason})" if known else plain(reason)
    return f"**No value** for {where}. {why}"


def _counted(gap: Gap) -> str:
    """The number of period ends of a kind, and the range of their dates."""
    if gap.periods == 1:
        return f"1 {COUNTED[gap.kind]} ({gap.first_end})"
    return f"{gap.periods:,} {COUNTED[gap.kind]}s ({gap.first_end} to {gap.last_end})"
