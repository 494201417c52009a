"""The pages that are documents, each as HTML for people and as Markdown for programs.

Belongs here: the list of documents with their paths, access levels and data. Does not: their text (their modules), the
HTML of Markdown (rendering).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from serve import provenance
from serve.api import description as openapi
from serve.api import responses
from serve.api.endpoints import ENDPOINTS
from serve.errors import CommandError, NotFound
from serve.site import home
from serve.site.account import watchlist
from serve.site.account.sign_in import SEE_OTHER
from serve.site.company import company_page, comparison, filings, statements_page, values
from serve.site.frame import transfer, view
from serve.site.frame.building import CompanyNotFound, cached, current_build
from serve.site.frame.directory import close_matches, directory
from serve.site.frame.pages import DISCLAIMER, MARKDOWN, Access, PageRoute, Pages
from serve.site.lists import changes_page, listing, rules_page
from serve.site.reference import changelog_page, dictionary_page, downloads, errors_page, reference
from serve.site.reference.live import live
from serve.site.text import rendering
from serve.site.text.markdown import Document
from serve.site.text.paths import COMPARISON, company_path
from warehouse.contract.fictional import is_fictional
from warehouse.errors import NothingPublished
from warehouse.queries import filing_queries, page_queries, rule_queries, statement_queries
from warehouse.queries.rule_queries import RuleCount
from warehouse.read.reader import OpenBuild

FRONT = "/index.md"
LONGEST_NUMBER = 10  # digits of the number of a page

Make = Callable[[Pages, Request], Document]
Send = Callable[[Response, Request], Response]


def show(pages: Pages, request: Request, *, make: Make, send: Send) -> Response:
    """Respond with a document as HTML, or redirect to its own address, without parameters that a form left empty."""
    asked, path = request.query_params.multi_items(), request.url.path
    if not all(value for _, value in asked):
        kept = urlencode([(name, value) for name, value in asked if value])
        return RedirectResponse(f"{pages.root}{path}{'?' if kept else ''}{kept}", SEE_OTHER)
    document = make(pages, request)
    if document.address:
        return RedirectResponse(pages.root + document.address, SEE_OTHER)
    template = "index.html" if path == "/" else "document.html"
    is_watched = bool(document.watch and document.watch[1] and document.watch[1] in watchlist.ciks(pages, request))
    alternate = FRONT if path == "/" else f"{path}.md{_query(document, request)}"
    shown = rendering.page(document, pages.root)
    page = pages.render(
        request,
        template,
        shown=shown,
        search=document.search,
        turns=document.turns,
        assets=document.assets,
        alternate=alternate,
        watch=document.watch,
        is_watched=is_watched,
        back=f"{path}{_query(document, request)}",
    )
    return send(page, request)


def write(pages: Pages, request: Request, *, make: Make, send: Send) -> Response:
    """Respond with a document as Markdown; links within the site become absolute, anchors point to the HTML page."""
    document = make(pages, request)
    path = "/" if request.url.path == FRONT else quote(request.url.path.removesuffix(".md"))
    site = pages.settings.pages
    page = f"{site}{path}{_query(document, request)}"
    text = document.text.replace("](/", f"]({site}/").replace("](#", f"]({page}#")
    return send(Response(f"{text.rstrip()}\n\n---\n\n{DISCLAIMER}\n", media_type=MARKDOWN), request)


def _query(document: Document, request: Request) -> str:
    """The query that the address of another form of the page needs; empty if the page does not depend on it."""
    is_used = document.search is not None or document.by_query
    asked = urlencode(request.query_params.multi_items()) if is_used else ""
    return f"?{asked}" if asked else ""


def _described(pages: Pages) -> dict[str, Any]:
    return openapi.description(ENDPOINTS, pages.settings.base_url)


def _home(pages: Pages, _: Request) -> Document:
    return home.document(pages)


def _reference(pages: Pages, _: Request) -> Document:
    """The reference with examples of the current build; with the description's examples if no build is published."""
    try:
        with pages.warehouse.build() as build:
            return reference.document(_described(pages), live(build, pages.settings.base_url))
    except NothingPublished:
        return reference.document(_described(pages))


def _errors(pages: Pages, _: Request) -> Document:
    return errors_page.document(pages.settings.pages)


def _changelog(pages: Pages, _: Request) -> Document:
    return changelog_page.document(pages.settings.base_url)


def _dictionary(pages: Pages, _: Request) -> Document:
    """The data dictionary with the elements of the current build; without elements if no build is published."""
    try:
        with pages.warehouse.build() as build:
            return dictionary_page.document(page_queries.sources(build))
    except NothingPublished:
        return dictionary_page.document({})


def _rules(pages: Pages, request: Request) -> Document:
    """The rules with their decisions in the current build; empty if no build is published."""
    asked = {name: request.query_params.get(name, "").strip() for name in rules_page.ASKED}
    asked["search"] = listing.text_of(request, "search")
    rules, examples = _held_rules(pages)
    rows = rules_page.chosen(rules, asked)
    number = _page(request.query_params.get("page", "1"), rules_page.last_page(rows))
    replaced = 0 if asked["decided"] else len(rules_page.chosen(rules, {**asked, "decided": rules_page.REPLACED}))
    shown = rules_page.page(rows, examples, asked, number, replaced)
    return replace(shown, search=rules_page.search(rules, asked)) if rules else shown


def _rule(pages: Pages, request: Request) -> Document:
    return rules_page.document(*_held_rules(pages), request.path_params["rule"])


def _held_rules(pages: Pages) -> tuple[list[RuleCount], rules_page.Examples]:
    try:
        with pages.warehouse.build() as build:
            rules = rule_queries.rules(build)
            return rules, rules_page.examples(build, directory(build), rules)
    except NothingPublished:
        return [], {}


def _companies(pages: Pages, request: Request) -> Document:
    asked, watched = listing.asked_for(request), watchlist.ciks(pages, request)
    with current_build(pages) as build:
        of = directory(build)
        rows = listing.chosen(of, asked, watched)
        near = close_matches(build, asked["search"]) if not rows else []
    number = _page(request.query_params.get("page", "1"), listing.last_page(rows))
    return listing.document(of, rows, near, asked, number, watched if _is_for_people(request) else None)


def _is_for_people(request: Request) -> bool:
    """Whether a document is requested as HTML, which has forms."""
    return not request.url.path.endswith(".md")


def _changes(pages: Pages, request: Request) -> Document:
    watched = watchlist.ciks(pages, request) if watchlist.is_asked_for(request) else None
    with current_build(pages) as build:
        found = changes_page.changes(build, watched)
        published_at = build.pointer.published_at
    number = _page(request.query_params.get("page", "1"), changes_page.last_page(found.listed))
    return changes_page.document(found, published_at, number, is_watched=watched is not None)


def _company(pages: Pages, request: Request) -> Document:
    chosen = view.asked(request.query_params)
    with current_build(pages) as build:
        company = build.memory.company(request.path_params["symbol"])
        if company is None:
            raise CompanyNotFound(build, request.path_params["symbol"])
        updated_at = build.updated_at(company.cik) or company.data_updated_at

        def document() -> Document:
            return company_page.document(
                company_page.held(build, company, chosen.periods),
                chosen,
                filings_url=_filings_url(build, company.symbol, company.cik),
                published_at=build.pointer.published_at,
                updated_at=updated_at,
                newest_filing=build.pointer.newest_filing,
                root=pages.root,
            )

        return cached(build, (company.symbol, chosen, updated_at, pages.root), document)


def _value(pages: Pages, request: Request) -> Document:
    symbol, item, period = (request.path_params[name] for name in ("symbol", "item", "period"))
    with current_build(pages) as build:
        try:
            explained = provenance.find(build, symbol, item, period)
        except CommandError as error:
            raise NotFound(f"There is no such value: {error}.") from None
        company = build.memory.company(explained.symbol)
        currency = company.currency if company else ""
        return values.document(explained, _filings_url(build, explained.symbol, explained.cik), currency)


def _statements(pages: Pages, request: Request) -> Document:
    symbol, accession = request.path_params["symbol"], request.query_params.get(statements_page.FILING, "")
    with current_build(pages) as build:
        company = build.memory.company(symbol)
        if company is None:
            raise CompanyNotFound(build, symbol)

        def document() -> Document:
            held = statement_queries.filings(build, company.cik)
            filing = statements_page.asked(held, accession)
            shown, uses = statements_page.statements(build, company, filing) if filing else ([], [])
            url = _filings_url(build, company.symbol, company.cik)
            return statements_page.document(company, held, filing, shown, uses, url)

        return cached(build, ("statements", company.symbol, accession), document)


def _filings_url(build: OpenBuild, symbol: str, cik: str) -> str:
    """The list of a company's filings: at the SEC, or in this service if the company is fictional."""
    here = f"{company_path(symbol)}/filings"
    return here if is_fictional(cik) else responses.filings_url(cik, build.memory.annual_form(cik))


def _filings(pages: Pages, request: Request) -> Document:
    with current_build(pages) as build:
        company = build.memory.company(request.path_params["symbol"])
        if company is None:
            raise CompanyNotFound(build, request.path_params["symbol"])
        stated = {filing.accession for filing in statement_queries.filings(build, company.cik)}
        return filings.listed(company, filing_queries.filings(build, company.cik), stated)


def _filing(pages: Pages, request: Request) -> Document:
    with current_build(pages) as build:
        filing = filing_queries.filing(build, request.path_params["accession"])
        symbol = filing_queries.symbol(build, filing.cik) if filing else None
        company = build.memory.company(symbol) if symbol else None
        if filing is None or company is None:
            raise NotFound("No covered company has a filing with this accession number.")
        return filings.document(filing, company, filing_queries.facts(build, filing))


def _comparison(pages: Pages, request: Request) -> Document:
    asked = request.query_params.get("symbols", "")
    if len(asked) > comparison.LONGEST:
        raise NotFound(f"The list of symbols is longer than {comparison.LONGEST} characters.")
    charts = request.query_params.get("charts", "")
    if charts not in ("", comparison.INDEXED):
        raise NotFound(f"The charts of a comparison show amounts, or with charts={comparison.INDEXED} an index.")
    with current_build(pages) as build:
        return cached(
            build, ("comparison", asked, charts), lambda: comparison.document(build, directory(build), asked, charts)
        )


def _page(text: str, last: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER and int(text) >= 1):
        raise NotFound("The pages of the list are numbered from 1.")
    return min(int(text), last)


DOCUMENTS: tuple[tuple[str, Make, Access], ...] = (
    ("/", _home, Access.OPEN),
    ("/reference", _reference, Access.PUBLIC),
    ("/errors", _errors, Access.PUBLIC),
    ("/changelog", _changelog, Access.PUBLIC),
    ("/dictionary", _dictionary, Access.PUBLIC),
    (rules_page.PATH, _rules, Access.PUBLIC),
    ("/rules/{rule}", _rule, Access.PUBLIC),
    downloads.DOCUMENT,
    ("/companies", _companies, Access.SUBSCRIBER),
    (COMPARISON, _comparison, Access.SUBSCRIBER),
    (changes_page.PATH, _changes, Access.SUBSCRIBER),
    ("/companies/{symbol}", _company, Access.SUBSCRIBER),
    ("/companies/{symbol}/filings", _filings, Access.SUBSCRIBER),
    ("/companies/{symbol}/statements", _statements, Access.SUBSCRIBER),
    ("/filings/{accession}", _filing, Access.SUBSCRIBER),
    ("/companies/{symbol}/{item}/{period}", _value, Access.SUBSCRIBER),
)
SENDS: dict[Access, Send] = {
    Access.PUBLIC: transfer.shared,
    Access.OPEN: transfer.shared_by_visitors,
    Access.SUBSCRIBER: transfer.compressed,
    Access.FILE: transfer.compressed,
}
OF_ALTERNATES = {each: each for each in Access} | {Access.OPEN: Access.PUBLIC, Access.SUBSCRIBER: Access.FILE}
"""The access to a page's Markdown: either the same for everybody, or a file that accepts a program's key."""
ROUTES: tuple[PageRoute, ...] = tuple(
    row
    for path, make, access in DOCUMENTS
    for of_alternate in [OF_ALTERNATES[access]]
    # the Markdown route comes first, because /companies/{symbol} would match its path too
    for row in (
        (FRONT if path == "/" else f"{path}.md", partial(write, make=make, send=SENDS[of_alternate]), of_alternate),
        (path, partial(show, make=make, send=SENDS[access]), access),
    )
)
