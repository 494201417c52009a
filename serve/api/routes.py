"""The routes below /v1, and the order in which a request is checked.

Belongs here: the checks before an endpoint's handler, and turning its result into a response. Does not: the endpoints
(endpoints), the syntax of parameters (parameters), the shapes of responses (models, responses), the cache
(http.caching).
"""

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from serve.access.attempts import FAILED_KEYS, STATUS, Attempts
from serve.access.database import DatabaseError
from serve.access.holders import Holder, Holders
from serve.access.limits import Allowance, Limits
from serve.api import description as openapi
from serve.api import parameters, responses
from serve.api.condition import KEYS_UNREADABLE, NOTHING_YET, problem_of, without_data
from serve.api.endpoints import ENDPOINTS, CheckedQuestion, Endpoint
from serve.clock import Clock
from serve.http import caching
from serve.http.caching import Answer, Representation, Representations, combined
from serve.http.errors import (
    ApiError,
    MethodNotAllowed,
    NotFound,
    ServerError,
    SubscriptionInactive,
    Unauthenticated,
)
from serve.settings import Settings
from warehouse.errors import NothingPublished, WarehouseError
from warehouse.read.reader import OpenBuild, Warehouse, retry_if_damaged

log = logging.getLogger(__name__)

VERSION = "/v1"
DESCRIPTION = "/openapi.json"
KEY = "x-api-key"
OTHER_HEADER = "The API key is missing: send it in the header X-Api-Key. The header Authorization is not read."

PATHS = tuple(VERSION + path for path in (*(endpoint.path for endpoint in ENDPOINTS), DESCRIPTION))
"""The path templates of all endpoints and of the description."""


@dataclass(frozen=True, slots=True)
class Service:
    """The endpoints, and the objects that they share."""

    settings: Settings
    warehouse: Warehouse
    holders: Holders
    attempts: Attempts
    limits: Limits
    representations: Representations
    clock: Clock
    endpoints: Sequence[Endpoint] = ENDPOINTS


class Checked:
    """An ASGI application for one path: the checks common to all paths, then the response."""

    def __init__(self, path: str, respond: Callable[[Scope], Awaitable[ASGIApp]]) -> None:
        self._path = VERSION + path
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request; the application's error handler handles an ApiError."""
        if scope["path"] != self._path.format_map(scope["path_params"]):
            raise NotFound()  # a path that ends with a line feed also matches the router's pattern
        scope["exchange"].path = self._path
        if scope["method"] != "GET":
            raise MethodNotAllowed()
        parameters.refuse_credentials(scope["query_string"])
        try:
            response = await self._respond(scope)
        except ApiError:
            raise
        except Exception as error:
            log.exception("request %s failed", scope["exchange"].id)
            raise ServerError() from error
        await response(scope, receive, send)


def routes(service: Service) -> list[Route]:
    """The routes of the endpoints and of the description; each accepts every method, and itself refuses all but GET."""
    body = bytes(responses.plain(openapi.description(service.endpoints, service.settings.base_url), {}).body)
    description = Representation(body, hashlib.sha256(body).hexdigest()[:32])

    async def describe(scope: Scope) -> Answer:
        """Respond with the description; no key is needed, because clients read it before they have one."""
        parameters.read(scope["query_string"], ())
        sent = combined(scope["headers"])
        return description.answer(sent, service.clock(), is_held=description.is_current_for(sent))

    def answer(endpoint: Endpoint) -> Checked:
        respond = _respond_cached if endpoint.needs_key else _respond_uncached
        return Checked(endpoint.path, lambda scope: respond(endpoint, service, scope))

    checked = [(endpoint.path, answer(endpoint)) for endpoint in service.endpoints]
    return [Route(VERSION + path, app) for path, app in [*checked, (DESCRIPTION, Checked(DESCRIPTION, describe))]]


async def _respond_cached(endpoint: Endpoint, service: Service, scope: Scope) -> Answer:
    """Respond to a request that needs a key: check it, count it, and use the cache."""
    now, holder = service.clock(), await admitted(service.holders, service.attempts, scope)
    scope["exchange"].key_id = holder.key_id
    allowance = await service.limits.take(holder.key_id, now)
    values = parameters.read(scope["query_string"], endpoint.parameters)
    symbol = scope["path_params"].get("symbol", "")

    def ask() -> Representation:
        try:
            with service.warehouse.build() as build:
                return represent(endpoint, service, build, symbol, values, now)
        except NothingPublished:
            raise ServerError(NOTHING_YET) from None

    def query() -> Representation:
        """Query and compress in a worker thread, so that the event loop is not blocked."""
        representation = retry_if_damaged(ask)
        representation.coded(representation.coding_for(combined(scope["headers"])))
        return representation

    return await _answer(service, await run_in_threadpool(query), scope, allowance, now)


async def _respond_uncached(endpoint: Endpoint, service: Service, scope: Scope) -> Response:
    """Respond to a request that needs no key: never cached, and answered even without a published build."""
    try:
        is_known = await _holder(service.holders, scope) is not None
    except DatabaseError:
        is_known = False
    if not is_known:
        service.attempts.count(STATUS, scope)
    now = service.clock()
    values = parameters.read(scope["query_string"], endpoint.parameters)

    def answer(question: CheckedQuestion) -> Response:
        data, meta = endpoint.answer(question)
        return responses.success(data, meta, now, {})

    def open_and_answer() -> Response:
        try:
            with service.warehouse.build() as build:
                return answer(_question(service, build, "", values, now))
        except WarehouseError as error:
            return answer(CheckedQuestion(None, without_data(error), service.settings.base_url, "", values, now))

    if endpoint.answers_from_memory and (build := service.warehouse.in_memory()):
        return answer(_question(service, build, "", values, now))
    return await run_in_threadpool(open_and_answer)


async def admitted(holders: Holders, attempts: Attempts, scope: Scope) -> Holder:
    """The holder of the request's key.

    Raises:
        Unauthenticated: the key is missing, given twice, malformed, unknown or revoked.
        SubscriptionInactive: its subscription is not active.
        ServerError: the key is not known, and the database of keys cannot be read.
        RateLimited: the client's address sent too many requests without a valid key.
    """
    try:
        holder = await _holder(holders, scope)
    except DatabaseError as error:
        if not holders.outdated:  # otherwise it was logged when the problem began
            log.error("request %s: the key cannot be looked up: %s", scope["exchange"].id, error)
        raise ServerError(KEYS_UNREADABLE) from error
    if holder is None:
        attempts.count(FAILED_KEYS, scope)
        raise Unauthenticated(_hint(scope))
    if not holder.is_active:
        raise SubscriptionInactive()
    return holder


def _hint(scope: Scope) -> str:
    """A hint for a client that sends its key in the header Authorization, as many interfaces want it; else empty."""
    names = {name for name, _ in scope["headers"]}
    return OTHER_HEADER if b"authorization" in names and KEY.encode() not in names else ""


async def _holder(holders: Holders, scope: Scope) -> Holder | None:
    """The holder of the request's key; None if it is missing, given twice, malformed, unknown or revoked."""
    sent = [value for name, value in scope["headers"] if name == KEY.encode()]
    return await holders.look_up(sent[0]) if len(sent) == 1 else None


def represent(
    endpoint: Endpoint, service: Service, build: OpenBuild, symbol: str, values: Mapping[str, Any], now: float
) -> Representation:
    """The cached representation of a response, or a new one; all queries of a response use the same build."""
    tag = caching.tag_of(build.pointer, service.settings.base_url + endpoint.path, symbol, values)
    if (kept := service.representations.get(tag)) and kept.is_young(now):
        return kept
    data, meta = endpoint.answer(_question(service, build, symbol, values, now))
    body = responses.document(data, meta, now)
    new = Representation(body, tag, caching.modified_at(build.pointer), VERSION + endpoint.path, now)
    return service.representations.keep(tag, new, now)


async def _answer(
    service: Service, representation: Representation, scope: Scope, allowance: Allowance, now: float
) -> Answer:
    """The response with a representation; a 304 does not count in the day's requests."""
    sent = combined(scope["headers"])
    scope["exchange"].lookup = "hit" if representation.was_used else "miss"
    representation.was_used = True
    is_held = representation.is_current_for(sent)
    if is_held:
        allowance = await service.limits.give_back(scope["exchange"].key_id, now)
    return representation.answer(sent, now, allowance.lines, is_held=is_held)


def _question(
    service: Service, build: OpenBuild, symbol: str, values: Mapping[str, Any], now: float
) -> CheckedQuestion:
    problem = problem_of(service.warehouse, service.limits, service.holders)
    return CheckedQuestion(build, problem, service.settings.base_url, symbol, values, now)
