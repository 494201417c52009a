"""The files `/companies.csv` and `/compare.csv`: the filtered list of companies, and a comparison.

Belongs here: columns and rows of these files. Does not: which companies are chosen (directory, comparison), the file of
one company (company_csv), which also has the shared parts: headers, and protection of text from being a formula.
"""

from collections.abc import Iterator, Sequence

from starlette.requests import Request
from starlette.responses import Response

from serve import names
from serve.errors import NotFound
from serve.site.account import watchlist
from serve.site.company import comparison
from serve.site.company.company_csv import as_text, response, written
from serve.site.frame import transfer
from serve.site.frame.building import current_build
from serve.site.frame.directory import directory
from serve.site.frame.pages import Access, PageRoute, Pages
from serve.site.lists import listing
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import json_number
from warehouse.queries.company_queries import Listed
from warehouse.read.reader import OpenBuild

FIGURES = (
    *("revenue", "net_income", "net_margin", "free_cash_flow", "roic", "growth", "debt_to_fcf"),
    *("gross_margin", "operating_margin"),
)
LISTED = ("symbol", "name", "cik", "exchange", "industry", "currency", "period", "period_end", *FIGURES)
COMPARED = ("symbol", "name", "period_kind", "period", "period_end", "currency", *SERVED_NAMES)


def show_list(pages: Pages, request: Request) -> Response:
    """Respond with all companies that the list shows for the same query, on all its pages."""
    asked = listing.asked_for(request)
    with current_build(pages) as build:
        rows = listing.chosen(directory(build), asked, watchlist.ciks(pages, request))
    return transfer.compressed(response(written(LISTED, map(_listed, rows)), "companies"), request)


def _listed(row: Listed) -> Sequence[object]:
    texts = [
        row.symbol,
        names.shown(row.name or ""),
        row.cik,
        row.exchange,
        row.industry,
        row.currency,
        row.period,
        row.period_end,
    ]
    return [*map(as_text, texts), *(_number(getattr(row, name)) for name in FIGURES)]


def show_comparison(pages: Pages, request: Request) -> Response:
    """Respond with the newest twelve months and the fiscal years of the companies in a comparison."""
    asked = request.query_params.get("symbols", "")
    if len(asked) > comparison.LONGEST:
        raise NotFound(f"The list of symbols is longer than {comparison.LONGEST} characters.")
    with current_build(pages) as build:
        of = directory(build)
        found = (of.company(" ".join(part.split())) for part in asked.split(",") if part.strip())
        symbols = list(dict.fromkeys(row.symbol for row in found if row))[: comparison.MOST]
        rows = [row for symbol in symbols for row in _compared(build, symbol)]
    return transfer.compressed(response(written(COMPARED, rows), "-".join(symbols) or "comparison"), request)


def _compared(build: OpenBuild, symbol: str) -> Iterator[Sequence[object]]:
    company = build.memory.company(symbol)
    if company is None:
        return
    for kind, limit in (("ttm", 1), ("annual", comparison.YEARS)):
        for period in build.memory.periods(symbol, kind, SERVED_NAMES, limit):
            texts = (symbol, names.shown(company.name or ""), kind, period.period, period.period_end, company.currency)
            yield [*map(as_text, texts), *(_number(period.values.get(item)) for item in SERVED_NAMES)]


def _number(value: float | None) -> object:
    return "" if value is None else json_number(value)


ROUTES: tuple[PageRoute, ...] = (
    ("/companies.csv", show_list, Access.FILE),
    ("/compare.csv", show_comparison, Access.FILE),
)
