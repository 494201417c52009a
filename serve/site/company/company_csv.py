"""The file `/companies/SYMBOL/financials.csv`: all values of a company, one row for each period.

Belongs here: columns, rows and headers of the file. Does not: the queries (warehouse.queries.page_queries), access
(mount), the files of several companies (lists_csv), the workbook (workbook).
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import groupby
from operator import attrgetter

from starlette.requests import Request
from starlette.responses import Response

from serve.site.frame import transfer
from serve.site.frame.building import CompanyNotFound, current_build
from serve.site.frame.pages import Access, PageRoute, Pages
from warehouse.contract.line_items import FURTHER_NAMES, SERVED_NAMES
from warehouse.contract.quarters import QUARTER
from warehouse.contract.served import Company, json_number
from warehouse.queries import page_queries
from warehouse.queries.page_queries import Stated
from warehouse.read.reader import OpenBuild

PATH = "/companies/{symbol}/financials.csv"
FILED = tuple(f"{item}_filed" for item in SERVED_NAMES)
FURTHER_FILED = tuple(f"{item}_filed" for item in FURTHER_NAMES)
COLUMNS = (
    "symbol",
    "period_kind",
    "period",
    "period_end",
    "currency",
    *SERVED_NAMES,
    *FILED,
    *FURTHER_NAMES,
    *FURTHER_FILED,
)
HEADERS = {
    # cached only in the reader's own browser
    "Cache-Control": "private, max-age=300",
    "Vary": "Cookie, X-Api-Key",
    "Content-Disposition": "attachment; filename={name}",
}
MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a text that a spreadsheet would calculate."""


def text(company: Company, stated: Sequence[Stated]) -> str:
    """The file: trailing twelve months, years, then quarters, newest first; all digits; a missing value is empty.

    After the values of the interface's items, the days on which they were filed; then the same of the further items.
    """
    return written(COLUMNS, _rows(company, stated))


def _rows(company: Company, stated: Sequence[Stated]) -> Iterator[Sequence[object]]:
    for kind, label, end, held in periods(stated):
        row: list[object] = [as_text(part) for part in (company.symbol, kind, label, end, company.currency)]
        for items in (SERVED_NAMES, FURTHER_NAMES):
            row += [json_number(held[item].value) if item in held else "" for item in items]
            row += [held[item].filed or "" if item in held else "" for item in items]
        yield row


def periods(stated: Sequence[Stated]) -> Iterator[tuple[str, str, str, Mapping[str, Stated]]]:
    """The periods in the order of the file: kind, label, last day, and values by item."""
    of_period = attrgetter("kind", "period_end", "period")
    newest_first = sorted(stated, key=of_period, reverse=True)
    in_order = sorted(newest_first, key=lambda each: each.kind == QUARTER)
    for (kind, end, label), values in groupby(in_order, key=of_period):
        yield kind, label, end, {value.item: value for value in values}


def written(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file with these columns and rows."""
    file = StringIO()
    csv.writer(file).writerows([columns, *rows])
    return file.getvalue()


def show(pages: Pages, request: Request) -> Response:
    """Respond with the file of the company in the path."""
    with current_build(pages) as build:
        company = build.memory.company(request.path_params["symbol"])
        if company is None:
            raise CompanyNotFound(build, request.path_params["symbol"])
        stated = all_stated(build, company)
    content = text(company, stated)
    return transfer.compressed(response(content, company.symbol), request)


def all_stated(build: OpenBuild, company: Company) -> list[Stated]:
    """The current values of all kinds of periods."""
    reports = page_queries.reports(build, company.cik)
    found = page_queries.stated(build, company, reports)
    if page_queries.has_quarters(build, company):
        found += page_queries.stated(build, company, reports, of_quarters=True)
    return found


def response(content: str | bytes, name: str, kind: str = "csv") -> Response:
    """The file as a download with this name; the extension is its kind (MEDIA)."""
    safe = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)
    headers = {key: value.format(name=f"{safe}.{kind}") for key, value in HEADERS.items()}
    return Response(content, media_type=MEDIA[kind], headers=headers)


def as_text(part: str | None) -> str:
    """A text that no spreadsheet takes for a formula; None becomes empty."""
    return f"'{part}" if part and part.startswith(FORMULA) else part or ""


ROUTES: tuple[PageRoute, ...] = ((PATH, show, Access.FILE),)
