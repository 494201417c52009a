"""The page `/companies/SYMBOL/statements` and its CSV: the statements of a company's filings, in the filer's words.

Belongs here: the content of the page and the file, and the links between its lines and values. Does not: the queries
(warehouse.queries.statement_queries), finding facts among lines (warehouse.explanation.statements), the page of one
value (values).
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from starlette.requests import Request
from starlette.responses import Response

from serve.errors import NotFound
from serve.provenance import UNITS, amounts_in, columns, is_amount, number, of_members
from serve.site.company.company_csv import as_text, response, written
from serve.site.company.values import address as value_address
from serve.site.frame import transfer
from serve.site.frame.building import CompanyNotFound, current_build
from serve.site.frame.pages import Access, PageRoute, Pages
from serve.site.text.figures import TITLES
from serve.site.text.markdown import Document, Markdown, link, plain, write
from serve.site.text.paths import company_path, statements_path
from warehouse.contract.fictional import is_fictional
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.served import Company, json_number
from warehouse.explanation.statements import Statement, StatementLine, of_filing
from warehouse.queries import statement_queries
from warehouse.queries.statement_queries import StatedFiling, Use
from warehouse.read.reader import OpenBuild

FILE = "/companies/{symbol}/statements.csv"
FILING = "filing"
"""The parameter with the accession number of a filing."""
INTERIM_FORMS = ("10-Q", "6-K")
GROUPS = ("Annual reports", "Quarterly reports")
ASSETS = ("company.css", "statements.css")
STYLES = (("filings", "choices"),)
INDENT = "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}"
CSV = (
    *("symbol", "accession", "form", "filed", "statement", "line", "depth", "label", "tag", "member", "is_total"),
    *("unit", "months", "end", "value", "values_made_from_it"),
)


def asked(filings: Sequence[StatedFiling], accession: str) -> StatedFiling | None:
    """The requested filing, or by default the newest one; None if the company has no statements.

    Raises:
        NotFound: the filing is not among them.
    """
    found = next((filing for filing in filings if accession in ("", filing.accession)), None)
    if found is None and accession:
        raise NotFound("The statements of a filing with this accession number are not in the data of the company.")
    return found


def statements(build: OpenBuild, company: Company, filing: StatedFiling) -> tuple[list[Statement], list[Use]]:
    """The statements of a filing, and the facts in them from which values are made, by their numbers."""
    uses = statement_queries.uses(build, company, filing.accession, ITEM_NAMES)
    return of_filing(statement_queries.rows(build, company.cik, filing), uses), uses


def document(
    company: Company,
    filings: Sequence[StatedFiling],
    filing: StatedFiling | None,
    shown: Sequence[Statement],
    uses: Sequence[Use],
    filings_url: str,
) -> Document:
    """The page.

    Args:
        company: the company.
        filings: the filings with statements in the build, newest first.
        filing: the shown filing; None if there is none.
        shown: its statements, from `statements`.
        uses: the facts in them from which values are made.
        filings_url: address of the list of the company's filings, at the SEC or here.
    """
    text = write(
        "statements.md",
        company=company,
        to=company_path(company.symbol),
        filing=filing,
        file=f"{company_path(company.symbol)}/statements.csv{f'?{FILING}={filing.accession}' if filing else ''}",
        filings_url=filings_url,
        is_fictional=is_fictional(company.cik),
        groups=list(_groups(company.symbol, filings, filing)),
        sheets=[_sheet(statement, company, uses) for statement in shown],
    )
    return Document(text, styles=STYLES, by_query=True, assets=ASSETS)


def _groups(
    symbol: str, filings: Sequence[StatedFiling], chosen: StatedFiling | None
) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """The annual and the quarterly reports: form, period and address of each; the address of the shown one is empty."""
    for name in GROUPS:
        some = [filing for filing in filings if (name == GROUPS[1]) == _is_interim(filing)]
        if some:
            yield (
                name,
                [
                    (
                        f"{filing.form or 'Filing'} to {filing.end}",
                        "" if filing is chosen else statements_path(symbol, filing.accession),
                    )
                    for filing in some
                ],
            )


def _is_interim(filing: StatedFiling) -> bool:
    return (filing.form or "").startswith(INTERIM_FORMS)


def _sheet(statement: Statement, company: Company, uses: Sequence[Use]) -> dict[str, object]:
    unit = amounts_in(statement)
    money = next((line.unit for line in statement.lines if is_amount(line)), company.currency)
    anchors: set[str] = set()
    return {
        "title": statement.name,
        "anchor": statement.code,
        "unit": f"in {UNITS[unit]}{money}",
        "columns": columns(statement),
        "rows": [_row(statement, line, unit, company.symbol, uses, anchors) for line in statement.lines],
    }


def _row(
    statement: Statement, line: StatementLine, unit: float, symbol: str, uses: Sequence[Use], anchors: set[str]
) -> Sequence[Markdown]:
    """The cells of a line: its words, its figures, and the values that are made from them.

    A figure that is a fact of a value links to the page of the value. Lines of members have the same line number as the
    first one, which alone has the anchor.
    """
    words = plain(of_members(line.label, line.member))
    mark = f"*{words}*" if line.is_heading else f"**{words}**" if line.is_total else words
    anchor = f"{statement.code}-{line.place}"
    target = "" if anchor in anchors else f" {{#{anchor}}}"
    anchors.add(anchor)
    figures = []
    for place, value in enumerate(line.values):
        shown = "" if value is None else number(value / unit if is_amount(line) else value)
        made = _made(statement, line, place, uses)
        figures.append(link(shown, value_address(symbol, made[0].item, made[0].period)) if made else plain(shown))
    made = _of_line(statement, line, uses)
    values = ", ".join(link(_named(use), value_address(symbol, use.item, use.period)) for use in made)
    return [Markdown(f"{INDENT * line.depth}{mark}{target}"), *figures, Markdown(values)]


def _named(use: Use) -> str:
    """The title and the period of a value; with a note if it is an earlier version of a restated value."""
    return f"{TITLES[use.item]} {use.period}{'' if use.is_current else ', earlier version'}"


def _of_line(statement: Statement, line: StatementLine, uses: Sequence[Use]) -> list[Use]:
    """The values that are made from a line, one for each item: from the first column that has one."""
    found: dict[str, Use] = {}
    for use in chain.from_iterable(_made(statement, line, place, uses) for place in range(len(line.values))):
        found.setdefault(use.item, use)
    return list(found.values())


def _made(statement: Statement, line: StatementLine, place: int, uses: Sequence[Use]) -> list[Use]:
    """The values that are made from a figure, one for each item.

    Current values are preferred to earlier versions, then values that end on the figure's own day, then fiscal years to
    the same twelve months.
    """
    column = statement.columns[place]
    found: dict[str, Use] = {}
    numbered = [uses[leg] for leg in line.legs[place]]
    for use in sorted(numbered, key=lambda use: (not use.is_current, use.period_end != column.end, use.kind)):
        found.setdefault(use.item, use)
    order = {item: at for at, item in enumerate(ITEM_NAMES)}
    return sorted(found.values(), key=lambda use: order[use.item])


def show_file(pages: Pages, request: Request) -> Response:
    """Respond with the statements of a filing, or of all filings: one row for each line and column, all digits."""
    accession = request.query_params.get(FILING, "")
    with current_build(pages) as build:
        company = build.memory.company(request.path_params["symbol"])
        if company is None:
            raise CompanyNotFound(build, request.path_params["symbol"])
        held = statement_queries.filings(build, company.cik)
        chosen = [filing] if accession and (filing := asked(held, accession)) else held
        rows = [row for filing in chosen for row in _rows(company, filing, *statements(build, company, filing))]
    name = "-".join(filter(None, (company.symbol, "statements", accession)))
    return transfer.compressed(response(written(CSV, rows), name), request)


def _rows(
    company: Company, filing: StatedFiling, shown: Sequence[Statement], uses: Sequence[Use]
) -> Iterator[Sequence[object]]:
    """The rows of the file; a heading has one row without a figure."""
    who = [as_text(part) for part in (company.symbol, filing.accession, filing.form, filing.filed)]
    for statement in shown:
        for line in statement.lines:
            of_line = [as_text(part) for part in (line.label, line.tag, line.member)]
            is_total = "" if line.is_total is None else str(line.is_total).lower()
            start = [*who, statement.code, line.place, line.depth, *of_line, is_total, as_text(line.unit)]
            if line.is_heading:
                yield [*start, "", "", "", ""]
            for place, (column, value) in enumerate(zip(statement.columns, line.values, strict=True)):
                if value is not None:
                    made = "; ".join(f"{use.item} {use.period}" for use in _made(statement, line, place, uses))
                    yield [*start, column.months, column.end, json_number(value), made]


ROUTES: tuple[PageRoute, ...] = ((FILE, show_file, Access.FILE),)
