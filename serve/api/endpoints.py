"""The endpoints of section 4 as data: path, parameters, response shape and handler of each.

Belongs here: one row per endpoint, and its handler. Does not: HTTP and the order of checks (interface), the syntax of
parameters (parameters), the shapes of responses (models, responses), the rows of a build (warehouse.read.memory).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from serve.api import examples, models, parameters, responses
from serve.api.examples import Examples
from serve.api.parameters import Parameter
from serve.api.suggestions import suggestion
from serve.clock import seconds_since, timestamp
from serve.errors import NotFound, ServerError
from warehouse.contract import served
from warehouse.read.reader import OpenBuild
from warehouse.record.schedule import expected_synchronization


class CheckedQuestion(msgspec.Struct, frozen=True):
    """A request that passed all checks: the build to query, the symbol in its path, its parameters, the time.

    `held` is None if no build can be opened; `problem` describes a problem of the service, None if there is none.
    """

    held: OpenBuild | None
    problem: str | None
    base_url: str
    symbol: str
    values: Mapping[str, Any]
    now: float

    @property
    def build(self) -> OpenBuild:
        """The build to query.

        Raises:
            ServerError: no build is published.
        """
        if self.held is None:
            raise ServerError("No data has been published yet.")
        return self.held


DataAndMeta = tuple[object, msgspec.Struct]
"""`data` (bytes if already encoded), and the endpoint's own fields of `meta`."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint: path, documentation, handler, response shapes, examples, parameters, and whether it needs a key.

    `data` lists the possible shapes of the response's `data`; with `of_many`, `data` is a list of that shape.

    The handler is called in the event loop, where DuckDB refuses queries: it answers from `build.memory`. The handler
    of an endpoint that needs a key may use `build.rows` if the row declares `asks_duckdb`: it is called in a thread.
    """

    path: str
    name: str
    summary: str
    description: str
    answer: Callable[[CheckedQuestion], DataAndMeta]
    data: tuple[type[msgspec.Struct], ...]
    meta: type[msgspec.Struct]
    examples: Examples
    parameters: tuple[Parameter, ...] = ()
    of_many: bool = False
    needs_key: bool = True
    asks_duckdb: bool = False

    @property
    def needs_symbol(self) -> bool:
        """Whether the path contains a symbol; a response can then be 404."""
        return "{symbol}" in self.path


def list_companies(question: CheckedQuestion) -> DataAndMeta:
    """`GET /companies` (section 4.1)."""
    values = question.values
    page, per_page = values["page"], values["per_page"]
    rows, total = question.build.memory.companies(
        search=values["search"], exchange=values["exchange"], limit=per_page, offset=(page - 1) * per_page
    )
    data = [responses.company(row, question.build.updated_at(row.cik)) for row in rows]
    return data, models.PageMeta(page, per_page, total, last_page=max(1, -(-total // per_page)))


def show_company(question: CheckedQuestion) -> DataAndMeta:
    """`GET /companies/{symbol}` (section 4.2)."""
    build = question.build
    company = _covered(build, question.symbol)
    held = _held(build, company)
    form = build.memory.annual_form(company.cik)
    profile = responses.profile(company, build.updated_at(company.cik), held, form, question.base_url)
    return profile, models.SymbolMeta(company.symbol)


def list_financials(question: CheckedQuestion) -> DataAndMeta:
    """`GET /companies/{symbol}/financials` (section 4.3)."""
    build, values = question.build, question.values
    kind, items = values["period"], values["items"]
    company = _covered(build, question.symbol)
    data, count = build.memory.financials(
        company.symbol, kind, items, since=values["from"], until=values["to"], limit=values["limit"]
    )
    if not count:
        _held(build, company)
    filings_url = responses.filings_url(company.cik, build.memory.annual_form(company.cik))
    return data, models.FinancialsMeta(company.symbol, company.currency, kind, items, count, filings_url)


def list_revisions(question: CheckedQuestion) -> DataAndMeta:
    """`GET /companies/{symbol}/financials/revisions` (section 4.4)."""
    build, values = question.build, question.values
    items = values["items"]
    company = _covered(build, question.symbol)
    data = build.memory.revisions(
        company.symbol, items, since=values["from"], until=values["to"], limit=values["limit"]
    )
    if not data:
        _held(build, company)
    return data, models.RevisionsMeta(company.symbol, company.currency, items, len(data))


def show_valuation(question: CheckedQuestion) -> DataAndMeta:
    """`GET /companies/{symbol}/valuation` (section 4.5)."""
    company = _covered(question.build, question.symbol)
    _held(question.build, company)
    data = question.build.memory.valuation(company)
    if data is None:
        raise NotFound("There is no valuation of this company yet.")
    return data, models.SymbolMeta(company.symbol)


def show_status(question: CheckedQuestion) -> DataAndMeta:
    """`GET /status` (section 4.6): answers even if no build is published."""
    if question.held is None:
        return models.Status(
            "degraded", None, None, None, None, None, None, None, question.problem
        ), models.StatusMeta()
    pointer = question.held.pointer
    synchronized_at = pointer.synchronization.finished_at
    due = expected_synchronization(question.held.home, pointer, datetime.fromtimestamp(question.now, UTC))
    status = models.Status(
        status="degraded" if question.problem else "up",
        build=pointer.build,
        last_synchronized_at=synchronized_at,
        age_seconds=seconds_since(synchronized_at, question.now),
        newest_filing=pointer.newest_filing,
        companies=pointer.companies,
        quarantined=pointer.quarantined,
        next_synchronization_at=timestamp(due.timestamp()) if due else None,
        reason=question.problem,
    )
    return status, models.StatusMeta()


def _covered(build: OpenBuild, symbol: str) -> served.CompanyRow:
    """The company with a symbol.

    Raises:
        NotFound: no covered company has the symbol.
    """
    company = build.memory.company(symbol)
    if company is None:
        raise NotFound(f"No company with this symbol is covered. {suggestion(build, symbol)}")
    return company


def _held(build: OpenBuild, company: served.CompanyRow) -> served.Coverage:
    """The periods and line items that the build has for a company.

    Raises:
        NotFound: no period has a value.
    """
    held = build.memory.coverage(company.symbol)
    if held is None:
        raise NotFound("There is no filing data for this company yet.")
    return held


ENDPOINTS = (
    Endpoint(
        "/companies",
        "listCompanies",
        "List covered companies",
        "Listed companies with filing data, by symbol. Pages are stable for as long as the same build is served.",
        list_companies,
        (served.Company,),
        models.PageMeta,
        examples.COMPANIES,
        parameters.COMPANIES,
        of_many=True,
    ),
    Endpoint(
        "/companies/{symbol}",
        "getCompany",
        "Show a company",
        "The company, what is held of it, and where to find it.",
        show_company,
        (models.CompanyProfile,),
        models.SymbolMeta,
        examples.PROFILE,
    ),
    Endpoint(
        "/companies/{symbol}/financials",
        "listFinancials",
        "List a company's financials",
        "Line items by period, newest first. A period is left out when none of the requested items has a value for it; "
        "an item without a value is omitted from `values`.",
        list_financials,
        (served.FinancialPeriod,),
        models.FinancialsMeta,
        examples.FINANCIALS,
        parameters.FINANCIALS,
        of_many=True,
    ),
    Endpoint(
        "/companies/{symbol}/financials/revisions",
        "listRevisions",
        "List a company's restated values",
        "Each period and item whose value changed after it was first recorded, newest period first; an empty array "
        "when nothing was revised.",
        list_revisions,
        (served.Revision,),
        models.RevisionsMeta,
        examples.REVISIONS,
        parameters.REVISIONS,
        of_many=True,
    ),
    Endpoint(
        "/companies/{symbol}/valuation",
        "getValuation",
        "Show a company's fair value per share",
        "A fair value per share from a 10-year projection of free cash flow at an 8.5% required return and 2.5% "
        "perpetual growth, with the projection and the assumptions behind it; or the reasons why the model does not "
        "fit the company, and then no value. Free cash flow is after interest, so that the sum is the value of the "
        "equity: debt is not subtracted and cash not added. Amounts are in whole units of currency, each rounded "
        "before it is used: those shown add up to the value.",
        show_valuation,
        (served.FairValue, served.NoFairValue),
        models.SymbolMeta,
        examples.VALUATION,
    ),
    Endpoint(
        "/status",
        "getStatus",
        "Show the status",
        "Whether the interface is up, and how fresh the data is. Needs no key.",
        show_status,
        (models.Status,),
        models.StatusMeta,
        examples.STATUS,
        needs_key=False,
    ),
)
