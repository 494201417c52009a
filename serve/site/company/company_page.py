"""The page `/companies/SYMBOL`: key figures, fair value, a table of all items over the years, and their charts.

Belongs here: putting the parts together. Does not: their text (templates/company.md), the order of periods (history),
the table (sheet), the first figures (key_figures), drawing (charts), the SQL (warehouse.queries.page_queries), access
(mount).
"""

from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from serve.provenance import not_read
from serve.site.company import comparison, key_figures
from serve.site.company.columns import columns_of_list
from serve.site.company.history import BREAKS, History, Slot
from serve.site.company.sheet import Sheet, remarks, restated
from serve.site.company.values import address as value_address
from serve.site.frame.directory import directory
from serve.site.frame.view import View
from serve.site.text import charts
from serve.site.text.charts import Point
from serve.site.text.figures import KINDS, READ, TITLES, Shown, same_decimals, short, unit
from serve.site.text.markdown import Document, write
from serve.site.text.paths import company_path, comparison_path
from warehouse.contract.fictional import is_fictional
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.quarters import QUARTER
from warehouse.contract.served import CompanyRow, FairValue, NoFairValue
from warehouse.contract.vocabulary import GAPS, RATIOS
from warehouse.queries import company_queries, page_queries
from warehouse.queries.company_queries import Listed
from warehouse.queries.page_queries import Break, Gap, Report, Stated
from warehouse.read.reader import OpenBuild
from warehouse.read.unread import UnreadReport, unread_reports

CAPTIONS = {
    "ttm": "Values of twelve months by quarter",
    "annual": "Values by fiscal year",
    QUARTER: "Values of each fiscal quarter",
}
DRAWN = {
    "ttm": "Twelve months to the end of each quarter, and balances on that day",
    "annual": "Fiscal years",
    QUARTER: "Fiscal quarters, and balances on their last day",
}
STYLES = (("newest", "figures"), ("figures", "choices"))
ASSETS = ("company.css", "charts.js", "ages.js")


@dataclass(frozen=True, slots=True)
class CompanyData:
    """The data of a company in the build: its current values, gaps, breaks, newest filing, valuation and industry."""

    company: CompanyRow
    stated: Sequence[Stated]
    gaps: Sequence[Gap]
    breaks: Sequence[Break]
    report: Report | None
    valuation: FairValue | NoFairValue | None
    unread: Sequence[UnreadReport] = ()
    industry: str | None = None
    with_peers: Sequence[Listed] = ()
    """The company itself and its peers; empty if it has no peers."""
    has_quarters: bool = False


def held(build: OpenBuild, company: CompanyRow, periods: str = "") -> CompanyData:
    """Read the data of a company from the build.

    Args:
        build: the build.
        company: the company.
        periods: the kind of periods that is shown; values of quarters are read for that kind only.
    """
    of = directory(build)
    own, peers = of.company(company.symbol), of.peers(company.symbol)
    valued, reports = build.memory.valuation(company), page_queries.reports(build, company.cik)
    has_quarters = page_queries.has_quarters(build, company)
    stated, gaps = page_queries.stated(build, company, reports), page_queries.gaps(build, company)
    if has_quarters and periods == QUARTER:
        stated += page_queries.stated(build, company, reports, of_quarters=True)
        gaps += page_queries.gaps(build, company, of_quarters=True)
    return CompanyData(
        company,
        stated,
        gaps,
        page_queries.breaks(build, company.cik),
        page_queries.newest(reports),
        valued,
        unread_reports(build, company.cik),
        company_queries.industry(build, company.symbol),
        [own, *peers] if own and peers else [],
        has_quarters,
    )


def document(
    held: CompanyData,
    view: View,
    *,
    filings_url: str,
    published_at: str,
    updated_at: str | None,
    newest_filing: str | None,
    root: str = "",
) -> Document:
    """A company's page.

    Args:
        held: the rows of the build.
        view: the reader's choices.
        filings_url: address of the list of the company's filings, at the SEC or here.
        published_at: time at which the build was published, ISO 8601 in UTC.
        updated_at: time of its last synchronization, ISO 8601 in UTC; None if unknown.
        newest_filing: day of the newest filing of any company; None if unknown.
        root: prefix of the links in drawings.
    """
    company, history = held.company, History(held.stated, held.gaps, held.breaks)
    kind = view.periods if view.periods in history.kinds else next(iter(history.kinds), view.periods)
    shown = history.slots(kind, view.reach)
    drawn = history.without_holes(shown)
    newest = history.newest
    columns = [*([newest] if newest and newest not in shown and newest.end > shown[-1].end else []), *reversed(shown)]
    items = [item for item in SERVED_NAMES if kind != QUARTER or item not in RATIOS]
    sheet = Sheet(history, columns, company.symbol, company.currency, items)
    cards = [_card(history, item, drawn, company) for item in items]
    cards.sort(key=lambda card: not card["is_drawn"])
    parting = [each for item in items for _, each in history.broken(item, drawn)]
    value, reach, rests_on = key_figures.fair_value(held.valuation)
    text = write(
        "company.md",
        company=company,
        facts=list(_facts(company, held.industry)),
        address=company_path(company.symbol),
        comparison=comparison_path([company.symbol]),
        filings_url=filings_url,
        report=held.report,
        unread=[(not_read(report), report.accession, report.url or filings_url) for report in held.unread],
        updated=updated_at or "at an unknown time",
        published_at=published_at,
        has_new=any(each.is_new for each in held.stated),
        newest=newest,
        newest_kind=KINDS[newest.kind].capitalize() if newest else "",
        old=history.is_old(newest_filing),
        newest_filing=newest_filing,
        tiles=list(key_figures.tiles(history, company.symbol, company.currency)),
        fair_value=value,
        fair_range=reach,
        rests_on=rests_on,
        choices=list(view.links(company.symbol, [*history.kinds, *([QUARTER] if held.has_quarters else [])])),
        sheet=sheet,
        with_peers=held.with_peers,
        beside=[column for column in columns_of_list() if column.name not in ("exchange", "industry")],
        compared=comparison_path([row.symbol for row in held.with_peers[: comparison.MOST]]),
        broken=[(each, BREAKS[each.kind]) for each in held.breaks if each.kind in BREAKS and each in parting],
        has_recast=any(each.kind == "recast" for each in parting),
        cards=cards,
        what=CAPTIONS[kind],
        kind=DRAWN[kind],
        is_log=view.scale == "log",
    )
    draw = partial(_drawing, history, drawn, company, view, root)
    return Document(
        text,
        drawings=tuple((item, draw(item)) for item in items),
        styles=STYLES,
        cards="h3",
        by_query=True,
        assets=ASSETS,
        watch=(company.symbol, company.cik),
    )


def _facts(company: CompanyRow, industry: str | None) -> Iterator[str]:
    if is_fictional(company.cik):
        yield "fictional company"
    if company.exchange:
        yield company.exchange
    if industry:
        yield industry
    yield f"reports in {company.currency}"
    yield f"fiscal year to {month_name[company.fiscal_year_end_month]}"


def _card(history: History, item: str, slots: Sequence[Slot], company: CompanyRow) -> dict[str, object]:
    """The text above the chart of an item: its newest value in the chart."""
    held = [(slot, value) for slot in slots if (value := history.value(item, slot))]
    if not held:
        reasons = dict.fromkeys(history.reason(item, slot) for slot in reversed(slots))
        why = next((key_figures.in_short(reason) for reason in reasons if reason), "")
        return {"name": item, "title": TITLES[item], "newest": None, "why": why, "is_drawn": False}
    slot, value = held[-1]
    shown, since = _shown(history, item, slots), ", no later value" if slot != slots[-1] else ""
    return {
        "name": item,
        "title": TITLES[item],
        "newest": shown(value.value),
        "note": f"{_note(item, value, company, shown)}{since}",
        "to": value_address(company.symbol, item, slot.label),
        "values": len(held),
        "is_drawn": any(value.value for _, value in held),
        "revised": sum(bool(restated(value, shown)) for _, value in held),
    }


def _shown(history: History, item: str, slots: Sequence[Slot]) -> Shown:
    """The format of the values of a chart."""
    return same_decimals(item, [number for slot in slots if (number := history.number(item, slot)) is not None], READ)


def _note(item: str, value: Stated, company: CompanyRow, shown: Shown) -> str:
    """The note after a value: its unit, its period, whether it is new, and the previous value."""
    return ", ".join(filter(None, (unit(item, company.currency), value.period, remarks(value, shown))))


def _drawing(history: History, slots: Sequence[Slot], company: CompanyRow, view: View, root: str, item: str) -> Markup:
    broken = {slot: each.kind for slot, each in history.broken(item, slots)}
    shown = _shown(history, item, slots)
    points = [_point(history, item, slot, company, root, broken.get(slot, ""), shown) for slot in slots]
    are_discrete = bool(slots) and not slots[0].is_ttm
    return charts.chart(points, partial(short, item), as_bars=are_discrete, as_log=view.scale == "log")


def _point(history: History, item: str, slot: Slot, company: CompanyRow, root: str, broken: str, shown: Shown) -> Point:
    if not slot.label:
        year = "" if slot.is_ttm else str(slot.end.year)
        return Point(None, year, "No report", f"of the period to about {slot.end}")
    to = f"{root}{value_address(company.symbol, item, slot.label)}"
    value, is_end = history.value(item, slot), slot.kind == "annual" or slot.label.endswith("Q4")
    label = slot.label.removeprefix("FY")[:4] if is_end else ""
    if value is None:
        reason = history.reason(item, slot)
        meaning = GAPS[reason].meaning if reason in GAPS else reason
        return Point(None, label, "No value", f"{slot.label}. {meaning}", to)
    return Point(
        value.value,
        label,
        shown(value.value),
        _note(item, value, company, shown),
        to,
        is_revised=bool(restated(value, shown)),
        broken=BREAKS.get(broken, ""),
    )
