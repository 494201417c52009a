"""The file `/companies/SYMBOL/financials.xlsx`: a company's twelve months, years and quarters, and their facts.

Belongs here: sheets, columns and formats. Does not: the queries (warehouse.queries.page_queries), the order of periods
and the headers of the response (company_csv), access (mount).

Text is written as text, never as a formula; days are days, and numbers have every digit.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from io import BytesIO

from starlette.requests import Request
from starlette.responses import Response
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from serve.site.company import company_csv
from serve.site.frame.building import CompanyNotFound, current_build
from serve.site.frame.pages import Access, PageRoute, Pages
from serve.site.text.figures import UNITS
from warehouse.contract.line_items import FURTHER_NAMES, SERVED_NAMES
from warehouse.contract.quarters import QUARTER
from warehouse.contract.served import Company
from warehouse.queries import page_queries
from warehouse.queries.page_queries import Source, Stated

PATH = "/companies/{symbol}/financials.xlsx"
ADDRESS = "filing"
SOURCES = (
    *("item", "period_kind", "period", "period_end", "value", "leg", "operation", "weight", "split_factor"),
    *("filed_value", "unit", "tag", "start", "end", "form", "filed", "accession", ADDRESS),
)
DAYS = frozenset({"period_end", "start", "end", "filed", *company_csv.FILED, *company_csv.FURTHER_FILED})
"""The columns that contain days."""
OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
WIDTH = 18  # column width in characters: amounts of trillions fit
SHEETS = {"ttm": "TTM", "annual": "Annual", QUARTER: "Quarters"}
"""The name of the sheet of each kind of periods."""
DAY = "yyyy-mm-dd"
NUMBERS = {
    "currency": "#,##0",
    "shares": "#,##0",
    "currency per share": "#,##0.00##",
    "ratio": "0.0%",
    "years": "0.0",
}
"""The number format of each unit; a cell keeps every digit."""

Cell = str | float | None


def content(company: Company, stated: Sequence[Stated], sources: Sequence[Source], root: str = "") -> bytes:
    """The workbook: a sheet for each kind of periods with the columns of the CSV (SHEETS), and sheet Sources.

    Sheet Sources has one row for each fact. The facts of a quarter's balances are listed there under twelve months.

    Args:
        company: the company.
        stated: its current values.
        sources: the facts behind them.
        root: address of the pages, for links to filings that are shown here.
    """
    file = BytesIO()
    with Workbook(file, OPTIONS) as book:
        formats = {name: book.add_format({"num_format": name}) for name in (DAY, *NUMBERS.values())}
        bold = book.add_format({"bold": True})
        for kind, name in SHEETS.items():
            values = [each for each in stated if each.kind == kind]
            if kind == QUARTER and not values:
                continue
            _fill(book.add_worksheet(name), company_csv.COLUMNS, _values(company, values), bold, formats)
        _fill(book.add_worksheet("Sources"), SOURCES, _sources(stated, sources, root), bold, formats)
    return file.getvalue()


def _values(company: Company, stated: Sequence[Stated]) -> Iterator[Sequence[Cell]]:
    for kind, label, end, held in company_csv.periods(stated):
        row: list[Cell] = [company.symbol, kind, label, end, company.currency]
        for items in (SERVED_NAMES, FURTHER_NAMES):
            row += [held[item].value if item in held else None for item in items]
            row += [held[item].filed if item in held else None for item in items]
        yield row


def _sources(stated: Sequence[Stated], sources: Sequence[Source], root: str) -> Iterator[Sequence[Cell]]:
    numbers = {(each.item, each.kind, each.period_end): each.value for each in stated}
    for of in sources:
        value = numbers.get((of.item, of.kind, of.period_end))
        address = f"{root}{of.url}" if of.url and of.url.startswith("/") else of.url
        yield [
            *(of.item, of.kind, of.period, of.period_end, value, of.leg, of.operation, of.weight, of.split_factor),
            *(of.value, of.unit, of.tag, of.start, of.end, of.form, of.filed, of.accession, address),
        ]


def _fill(
    sheet: Worksheet,
    columns: Sequence[str],
    rows: Iterator[Sequence[Cell]],
    bold: Format,
    formats: Mapping[str, Format],
) -> None:
    """Write the heads, which stay visible and can be filtered, and the rows."""
    sheet.write_row(0, 0, columns, bold)
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(columns) - 1, WIDTH)
    place = 0
    for place, row in enumerate(rows, 1):
        for column, cell in enumerate(row):
            if isinstance(cell, str) and columns[column] in DAYS:
                sheet.write_datetime(place, column, date.fromisoformat(cell), formats[DAY])
            elif isinstance(cell, str) and columns[column] == ADDRESS:
                sheet.write_url(place, column, cell)
            elif isinstance(cell, str):
                sheet.write_string(place, column, cell)
            elif cell is not None:
                sheet.write_number(place, column, cell, formats.get(NUMBERS.get(_unit(columns, row, column), "")))
    sheet.autofilter(0, 0, place, len(columns) - 1)


def _unit(columns: Sequence[str], row: Sequence[Cell], place: int) -> str:
    """The unit of a number, from the item of its column or, in sheet Sources, of its row; empty if it has none."""
    if columns[place] == "filed_value":
        return "currency per share" if "/" in str(row[columns.index("unit")]) else "currency"
    return UNITS.get(str(row[0]) if columns[place] == "value" else columns[place], "")


def show(pages: Pages, request: Request) -> Response:
    """Respond with the workbook of the company in the path."""
    with current_build(pages) as build:
        company = build.memory.company(request.path_params["symbol"])
        if company is None:
            raise CompanyNotFound(build, request.path_params["symbol"])
        stated, sources = company_csv.all_stated(build, company), page_queries.facts_behind(build, company)
        if page_queries.has_quarters(build, company):
            sources += page_queries.facts_behind(build, company, of_quarters=True)
    return company_csv.response(content(company, stated, sources, pages.settings.pages), company.symbol, "xlsx")


ROUTES: tuple[PageRoute, ...] = ((PATH, show, Access.FILE),)
