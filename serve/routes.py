"""The endpoints of section 4, and the order in which a request is checked.

Belongs here: which paths there are, what each accepts, and which questions it asks of the build.
Does not: the form of parameters (parameters), of answers (responses), the SQL (warehouse.queries).
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from serve import parameters, responses
from serve.access.accounts import Accounts
from serve.access.limits import Limits
from serve.clock import Clock, seconds_since
from serve.errors import ApiError, MethodNotAllowed, NotFound, ServerError, SubscriptionInactive, Unauthenticated
from serve.parameters import Parameter
from serve.settings import Settings
from warehouse import queries
from warehouse.errors import NothingPublished, WarehouseError
from warehouse.reader import OpenBuild, Warehouse

log = logging.getLogger(__name__)

VERSION = "/v1"


@dataclass(frozen=True, slots=True)
class Service:
    """What every endpoint works with."""

    settings: Settings
    warehouse: Warehouse
    accounts: Accounts
    limits: Limits
    clock: Clock


@dataclass(frozen=True, slots=True)
class Question:
    """A request that passed all checks: the symbol of its path, its parameters, the time."""

    service: Service
    symbol: str
    values: Mapping[str, Any]
    now: float


Answer = tuple[object, Mapping[str, object]]  # data and the endpoint's own meta


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path, the parameters that it accepts, whether it needs a key, and how it is answered."""

    path: str
    answer: Callable[[Question], Answer]
    parameters: tuple[Parameter, ...] = ()
    needs_key: bool = True


class Checked:
    """An endpoint as ASGI: every check in its order, then the answer; in a thread, for files and DuckDB block."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self._endpoint = endpoint
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; an ApiError is left to the application's handler."""
        try:
            response = await run_in_threadpool(self._respond, scope)
        except ApiError:
            raise
        except Exception as error:
            log.exception("%s %r failed", scope["method"], scope["path"])
            raise ServerError() from error
        await response(scope, receive, send)

    def _respond(self, scope: Scope) -> Response:
        endpoint, service, now = self._endpoint, self._service, self._service.clock()
        if scope["path"] != VERSION + endpoint.path.format_map(scope["path_params"]):
            raise NotFound()  # a line feed at the end, which the router's pattern lets through
        if scope["method"] != "GET":
            raise MethodNotAllowed()
        parameters.refuse_credentials(scope["query_string"])
        headers = self._admit(scope, now) if endpoint.needs_key else {}
        values = parameters.read(scope["query_string"], endpoint.parameters)
        symbol = scope["path_params"].get("symbol", "")
        try:
            data, meta = endpoint.answer(Question(service, symbol, values, now))
        except NothingPublished:
            raise ServerError("No data has been published yet.") from None
        return responses.success(data, meta, now, headers)

    def _admit(self, scope: Scope, now: float) -> dict[str, str]:
        """Let a key with an active subscription and requests left pass, count the request, give the limit's headers."""
        sent = [value for name, value in scope["headers"] if name == b"x-api-key"]
        holder = self._service.accounts.holder(sent[0].decode("latin-1"), now) if len(sent) == 1 else None
        if holder is None:
            raise Unauthenticated()
        if not holder.is_active:
            raise SubscriptionInactive()
        return self._service.limits.take(holder.key_id, now).headers


def list_companies(question: Question) -> Answer:
    """`GET /companies` (section 4.1)."""
    values = question.values
    page, per_page = values["page"], values["per_page"]
    with question.service.warehouse.build() as build:
        rows, total = queries.companies(
            build,
            search=values["search"],
            exchange=values["exchange"],
            limit=per_page,
            offset=(page - 1) * per_page,
        )
        data = [responses.company(row, build.updated_at(row.cik)) for row in rows]
    last_page = max(1, -(-total // per_page))
    return data, {"page": page, "per_page": per_page, "total": total, "last_page": last_page}


def show_company(question: Question) -> Answer:
    """`GET /companies/{symbol}` (section 4.2)."""
    with question.service.warehouse.build() as build:
        company = _covered(build, question.symbol)
        held = _held(build, company)
        form = queries.annual_form(build, company.cik)
        updated_at = build.updated_at(company.cik)
    base_url = question.service.settings.base_url
    return responses.profile(company, updated_at, held, form, base_url), {"symbol": company.symbol}


def list_financials(question: Question) -> Answer:
    """`GET /companies/{symbol}/financials` (section 4.3)."""
    values = question.values
    items = values["items"]
    with question.service.warehouse.build() as build:
        company = _covered(build, question.symbol)
        rows = queries.financials(
            build,
            company.symbol,
            values["period"],
            items,
            since=values["from"],
            until=values["to"],
            limit=values["limit"],
        )
        if not rows:
            _held(build, company)
        form = queries.annual_form(build, company.cik)
    meta = {
        "symbol": company.symbol,
        "currency": company.currency,
        "period": values["period"],
        "items": items,
        "count": len(rows),
        "filings_url": responses.filings_url(company.cik, form),
    }
    return [responses.period(row, items) for row in rows], meta


def list_revisions(question: Question) -> Answer:
    """`GET /companies/{symbol}/financials/revisions` (section 4.4)."""
    values = question.values
    items = values["items"]
    with question.service.warehouse.build() as build:
        company = _covered(build, question.symbol)
        rows = queries.revisions(
            build, company.cik, items, since=values["from"], until=values["to"], limit=values["limit"]
        )
        if not rows:
            _held(build, company)
    meta = {"symbol": company.symbol, "currency": company.currency, "items": items, "count": len(rows)}
    return [responses.revision(row) for row in rows], meta


def show_status(question: Question) -> Answer:
    """`GET /status` (section 4.6): answered whatever the state of the data is."""
    warehouse = question.service.warehouse
    try:
        with warehouse.build() as build:
            pointer = build.pointer
            outdated = warehouse.outdated
    except WarehouseError:
        unknown = ("build", "last_synchronized_at", "age_seconds", "newest_filing", "companies")
        return {"status": "degraded", **dict.fromkeys(unknown)}, {}
    synchronized_at = pointer.synchronization.finished_at
    return {
        "status": "degraded" if outdated else "up",
        "build": pointer.build,
        "last_synchronized_at": synchronized_at,
        "age_seconds": seconds_since(synchronized_at, question.now),
        "newest_filing": pointer.newest_filing,
        "companies": pointer.companies,
    }, {}


def _covered(build: OpenBuild, symbol: str) -> queries.Company:
    """The company of a symbol.

    Raises:
        NotFound: it is not covered.
    """
    company = queries.company(build, symbol)
    if company is None:
        raise NotFound("No company with this symbol is covered.")
    return company


def _held(build: OpenBuild, company: queries.Company) -> queries.Coverage:
    """What is held of a company.

    Raises:
        NotFound: no period has a value.
    """
    held = queries.coverage(build, company.symbol)
    if held is None:
        raise NotFound("There is no filing data for this company yet.")
    return held


ENDPOINTS = (
    Endpoint("/companies", list_companies, parameters.COMPANIES),
    Endpoint("/companies/{symbol}", show_company),
    Endpoint("/companies/{symbol}/financials", list_financials, parameters.FINANCIALS),
    Endpoint("/companies/{symbol}/financials/revisions", list_revisions, parameters.REVISIONS),
    Endpoint("/status", show_status, needs_key=False),
)


def routes(service: Service) -> list[Route]:
    """The endpoints below the version segment; each takes every method, to refuse it itself."""
    return [Route(VERSION + endpoint.path, Checked(endpoint, service)) for endpoint in ENDPOINTS]
