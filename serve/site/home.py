"""The front page: the service, its users, and how fresh its data is.

Belongs here: the status, the company, the traced value and the example that are shown. Does not: the text
(templates/index.md), the choice of the company (live).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from serve import provenance
from serve.api import examples
from serve.api.condition import problem_of, without_data
from serve.api.endpoints import CheckedQuestion, show_status
from serve.api.models import Status
from serve.provenance import number
from serve.site.company.values import address as value_address
from serve.site.frame.building import cached
from serve.site.frame.pages import Pages
from serve.site.reference.live import ASKED, Live, live
from serve.site.text.figures import TITLES, same_decimals
from serve.site.text.markdown import Document, link, write
from warehouse.contract.line_items import SERVED_ITEMS
from warehouse.errors import WarehouseError
from warehouse.explanation.explain import Explanation
from warehouse.read.reader import OpenBuild

AGREEING, COMPARED = 1_050, 1_086
"""Values of a vendor to which filed facts are known to lead: the number that agrees, and of all (`make accuracy`)."""
YEARS = 5
SHOWN = ("revenue", "net_income", "free_cash_flow", "eps_basic", "roic")
TRACED = "free_cash_flow"
ENDPOINT = "listFinancials"
"""The endpoint of the example."""
STYLES = (("fresh", "figures"), ("whom", "cards"), ("items", "terms"), ("begin", "steps"))
"""The look of the list under each heading in a browser."""
ASSETS = ("ages.js",)


@dataclass(frozen=True, slots=True)
class FrontPageData:
    """The data of a build for the page: the company, its newest fiscal years, and the provenance of a value."""

    shown: Live | None = None
    years: Sequence[tuple[str, list[str]]] = ()
    traced: Explanation | None = None


NOTHING = FrontPageData()


def document(pages: Pages) -> Document:
    """The page, with the present status."""
    try:
        with pages.warehouse.build() as build:
            problem = problem_of(pages.warehouse, pages.limits)
            state, held = _status(pages, build, problem), _held(build, pages.settings.base_url)
    except WarehouseError as error:
        state, held = _status(pages, None, without_data(error)), NOTHING
    shown, years, traced = held.shown, held.years, held.traced
    answer: Any = shown.answers[ENDPOINT] if shown else examples.body(*examples.FINANCIALS["year"])
    query = urlencode(shown.asked[ENDPOINT] if shown else ASKED[ENDPOINT], safe=",")
    symbol = quote(shown.company.symbol, safe="") if shown else examples.SYMBOL
    text = write(
        "index.md",
        state=state,
        is_fictional=bool(shown and shown.is_fictional),
        name=shown.name if shown else None,
        company=shown.company if shown else None,
        years=years,
        items=[TITLES[item] for item in SHOWN],
        traced=traced,
        traced_path=value_address(traced.symbol, TRACED, traced.period) if traced else "",
        title=TITLES[TRACED],
        number=number,
        share=f"{100 * AGREEING / COMPARED:.1f} %",
        agreeing=AGREEING,
        compared=COMPARED,
        line_items=SERVED_ITEMS,
        base_url=pages.settings.base_url,
        example=f"/companies/{symbol}/financials?{query}",
        answer=msgspec.json.format(msgspec.json.encode({"data": answer["data"]}), indent=2).decode(),
    )
    return Document(text, styles=STYLES, assets=ASSETS)


def _held(build: OpenBuild, base_url: str) -> FrontPageData:
    """Read the data of a build for the page; cached, because it takes some ten queries."""

    def read() -> FrontPageData:
        shown = live(build, base_url)
        return FrontPageData(shown, _years(build, shown), _traced(build, shown))

    return cached(build, (document, base_url), read)


def _years(build: OpenBuild, shown: Live | None) -> list[tuple[str, list[str]]]:
    """The newest fiscal years of the company, each with values that link to their provenance."""
    if shown is None:
        return []
    symbol = shown.company.symbol
    found = build.memory.periods(symbol, "annual", SHOWN, YEARS)
    written = [
        same_decimals(item, [period.values[item] for period in found if item in period.values]) for item in SHOWN
    ]
    return [
        (
            period.period,
            [
                link(show(period.values[item]), value_address(symbol, item, period.period))
                if item in period.values
                else "–"
                for item, show in zip(SHOWN, written, strict=True)
            ],
        )
        for period in found
    ]


def _traced(build: OpenBuild, shown: Live | None) -> Explanation | None:
    """The provenance of the newest annual value of TRACED; None if there is none."""
    for period, _ in _years(build, shown):
        explained = provenance.find(build, shown.company.symbol, TRACED, period) if shown else None
        if explained and explained.value is not None:
            return explained
    return None


def _status(pages: Pages, build: OpenBuild | None, problem: str | None) -> Status:
    """The status as /v1/status returns it."""
    status, _ = show_status(CheckedQuestion(build, problem, pages.settings.base_url, "", {}, pages.clock()))
    return msgspec.convert(status, Status)
