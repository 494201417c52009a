"""The page `/companies/SYMBOL`: the charts and tables of one company's eleven items.

Belongs here: which values are shown. Does not: the text about them (templates/company.md), drawing charts (charts), the
SQL (warehouse.page_queries), access control (mount).
"""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from itertools import groupby

from markupsafe import Markup

from serve.site import charts
from serve.site.charts import Point
from serve.site.figures import KINDS, TITLES, short, unit, whole
from serve.site.markdown import Document, write
from serve.site.paths import company_path
from serve.site.values import address as value_address
from warehouse.page_queries import Gap, Stated
from warehouse.queries import Company
from warehouse.schema import ITEM_NAMES, PERIOD_KINDS
from warehouse.vocabulary import CAUSES, GAPS

COUNTED = {"ttm": "quarter end", "annual": "fiscal year"}
MARKS = tuple(map(charts.sample, ("line", "bar", "restated")))
"""The marks of the legend, which is the first list of a company's page."""


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
    by_item = {item: list(values) for item, values in groupby(stated, key=lambda value: value.item)}
    missing = {item: list(found) for item, found in groupby(gaps, key=lambda gap: gap.item)}
    facts = (company.exchange, company.sic_description, f"reports in {company.currency}")
    text = write(
        "company.md",
        company=company,
        facts=[fact for fact in facts if fact],
        address=company_path(company.symbol),
        filings_url=filings_url,
        updated=f"{updated_at[:10]} {updated_at[11:16]} UTC" if updated_at else "at an unknown time",
        items=[_item(name, by_item.get(name, []), missing.get(name, []), company) for name in ITEM_NAMES],
        whole=whole,
        restated=_restated,
        provenance=lambda value: value_address(company.symbol, value.item, value.period),
    )
    ends = {kind: sorted({value.period_end for value in stated if value.kind == kind}) for kind in PERIOD_KINDS}
    drawings = tuple((item, _drawing(item, values, ends, company, filings_url)) for item, values in by_item.items())
    return Document(text, drawings=drawings, marks=MARKS, in_cards=True)


def _item(name: str, values: Sequence[Stated], gaps: Sequence[Gap], company: Company) -> dict[str, object]:
    """One item: its newest value, the gaps, and the values of each kind of period."""
    kinds = [(KINDS[kind], [value for value in values if value.kind == kind]) for kind in PERIOD_KINDS]
    by_reason = groupby(sorted(gaps, key=lambda gap: gap.reason), key=lambda gap: gap.reason)
    return {
        "name": name,
        "title": TITLES[name],
        "unit": unit(name, company.currency),
        "newest": short(name, values[0].value) if values else None,
        "restated": sum(value.versions > 1 for value in values),
        "history": values,
        "kinds": [(kind, of_kind) for kind, of_kind in kinds if of_kind],
        "gaps": [_gap(reason, list(found)) for reason, found in by_reason],
    }


def _drawing(
    item: str, values: Sequence[Stated], ends: Mapping[str, Sequence[str]], company: Company, filings_url: str
) -> Markup:
    measure = unit(item, company.currency)
    points = {kind: _points(kind, values, ends[kind], measure, filings_url) for kind in PERIOD_KINDS}
    return charts.chart(points["ttm"], points["annual"], partial(short, item))


def _points(kind: str, values: Sequence[Stated], ends: Sequence[str], measure: str, filings_url: str) -> list[Point]:
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


def _restated(value: Stated) -> str:
    if value.versions == 1:
        return ""
    cause = CAUSES.get(value.cause or "", (value.cause or "").replace("_", " "))
    before = "withdrawn before" if value.earlier is None else f"was {whole(value.earlier)}"
    return f"◆ {before}, {value.versions} versions. {cause}"


def _was(value: Stated) -> str:
    return f", restated, was {whole(value.earlier)}" if value.versions > 1 and value.earlier is not None else ""


def _gap(reason: str, gaps: Sequence[Gap]) -> dict[str, str]:
    """The periods without a value, and the reason."""
    known = GAPS.get(reason)
    where = " and ".join(_counted(gap) for gap in gaps)
    return {"where": where, "reason": reason, "meaning": known.meaning if known else ""}


def _counted(gap: Gap) -> str:
    """The number of period ends of a kind, and the range of their dates."""
    if gap.periods == 1:
        return f"1 {COUNTED[gap.kind]} ({gap.first_end})"
    return f"{gap.periods:,} {COUNTED[gap.kind]}s ({gap.first_end} to {gap.last_end})"
