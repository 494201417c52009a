"""The interface below /v1: the order in which a request is checked, and its response.

Belongs here: the checks before an endpoint's handler, counting, and turning its result into a response. Does not: the
endpoints (endpoints), the syntax of parameters (parameters), the shapes of responses (models, responses), the cache
(http.caching), the look-up of a key (admission).

The order: path, method, no key in the address; the key and its subscription; the limits; the parameters; the data; the
client's copy. A request whose key is known is answered as soon as its head is parsed, without a task
(`Interface.at_once`). All others go through the same checks in a task (`Interface.__call__`), where they may wait: for
the database of keys, or for a build to be opened.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from serve.access.attempts import STATUS, Attempts
from serve.access.database import DatabaseError
from serve.access.holders import Holder, Holders
from serve.access.limits import GIVE_BACK, TAKE, UNCHANGED, Limits, Used, lines, refusal
from serve.api import description as openapi
from serve.api import parameters, responses
from serve.api.admission import admitted, known_holder
from serve.api.condition import NOTHING_YET, problem_of, without_data
from serve.api.endpoints import ENDPOINTS, CheckedQuestion, Endpoint
from serve.clock import Clock
from serve.errors import ApiError, InvalidParameter, MethodNotAllowed, ServerError
from serve.http import caching, error_responses
from serve.http.caching import Answer, Representation, Representations, Sent, fields_by_name
from serve.http.edge import Exchange, Reply
from serve.settings import Settings
from warehouse.errors import NothingPublished, WarehouseError
from warehouse.read.reader import OpenBuild, Warehouse, retry_if_damaged

log = logging.getLogger(__name__)

T = TypeVar("T")

Found = Representation | Callable[[], Representation]

VERSION = "/v1"
DESCRIPTION = "/openapi.json"
SYMBOL = len(["", "v1", "companies", "{symbol}"]) - 1  # place of the symbol among the segments of a path

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


class Asked(NamedTuple):
    """What a request asks for: the endpoint (None: the description), the symbol, and the query, not parsed yet."""

    endpoint: Endpoint | None
    symbol: str
    query: bytes

    @property
    def path(self) -> str:
        """The path template."""
        return VERSION + (self.endpoint.path if self.endpoint else DESCRIPTION)


class Interface:
    """An ASGI middleware that answers the requests below /v1; other requests go to the application."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service
        self._endpoints: dict[str, Endpoint | None] = {VERSION + each.path: each for each in service.endpoints}
        self._endpoints[VERSION + DESCRIPTION] = None
        described = responses.encoded(openapi.description(service.endpoints, service.settings.base_url))
        self._description = Representation(described, hashlib.sha256(described).hexdigest()[:32])
        self._build: OpenBuild | None = None

    def at_once(self, target: bytes, sent: Sent, exchange: Exchange, reply: Reply) -> bool:
        """See InlineResponder. A cached response is found by the target.

        A request that fails a check before it is counted is left to `__call__`, which checks it again.
        """
        service, build = self._service, self._current()
        if build is None:
            return False
        now = service.clock()
        kept = service.representations.by_target(build.pointer, target)
        if kept and not kept.is_young(now):
            kept = None
        asked = None if kept else self._asked_by(target)
        if not (kept or asked):
            return False
        try:
            holder = service.holders.find_by_key(sent.get(b"x-api-key", b""))
        except DatabaseError:
            return False
        if holder is None or not holder.is_active:
            return False
        if kept:
            exchange.path = kept.path
            self._count(holder, exchange, sent, now, reply, kept, is_unchanged=kept.is_current_for(sent))
        elif asked:
            exchange.path = asked.path
            self._count(holder, exchange, sent, now, reply, partial(self._noted, asked, build, now, target))
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or pass it to the application."""
        asked = self._asked(scope["path"], scope["query_string"]) if scope["type"] == "http" else None
        if asked is None:
            await self._app(scope, receive, send)
            return
        exchange: Exchange = scope["exchange"]
        exchange.path = asked.path
        try:
            answer = await self._answer(asked, scope)
        except Exception as error:  # noqa: BLE001 - it is logged
            answer = self._failure(error, exchange)
        await answer(scope, receive, send)

    async def _answer(self, asked: Asked, scope: Scope) -> Answer:
        """The response to a request; raises an ApiError if it is refused."""
        service, sent, now = self._service, fields_by_name(scope["headers"]), self._service.clock()
        if scope["method"] != "GET":
            raise MethodNotAllowed()
        parameters.refuse_credentials(asked.query)
        if asked.endpoint is None:
            parameters.read(asked.query, ())
            return self._description.answer(sent, now, is_current=self._description.is_current_for(sent))
        if not asked.endpoint.needs_key:
            return await self._without_key(asked.endpoint, asked.query, scope)
        holder = await admitted(service.holders, service.attempts, scope)
        build = await self._current_build()
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def reply(answer: Answer) -> None:
            if not answered.done():  # the waiting task may have been cancelled
                answered.set_result(answer)

        found = partial(self._found, asked, build, now)
        self._count(holder, scope["exchange"], sent, now, reply, found, in_thread=asked.endpoint.asks_duckdb)
        return await answered

    async def _without_key(self, endpoint: Endpoint, query: bytes, scope: Scope) -> Answer:
        """Respond to a request that needs no key: never cached, and answered even without a published build."""
        service = self._service
        try:
            is_known = await known_holder(service.holders, scope) is not None
        except DatabaseError:
            is_known = False
        if not is_known:
            service.attempts.count(STATUS, scope)
        now, values = service.clock(), parameters.read(query, endpoint.parameters)
        build = await self._current_build()
        if isinstance(build, WarehouseError):
            question = CheckedQuestion(None, without_data(build), service.settings.base_url, "", values, now)
        else:
            question = self._question(build, "", values, now)
        return responses.success(*endpoint.answer(question), now)

    def _count(
        self,
        holder: Holder,
        exchange: Exchange,
        sent: Sent,
        now: float,
        reply: Reply,
        found: Found,
        *,
        is_unchanged: bool | None = None,
        in_thread: bool = False,
    ) -> None:
        """Count a request whose key is valid, and reply, now or later.

        Args:
            holder: the holder of the key.
            exchange: the fields for the log.
            sent: the header fields.
            now: Unix time.
            reply: called with the response.
            found: the representation; or a function with the checks after counting, which returns it.
            is_unchanged: whether the client's copy is current, if the representation is known.
            in_thread: whether `found` waits for DuckDB.
        """

        def respond(used: Used, refused: bool, found: Found = found) -> None:
            try:
                if refused:
                    raise refusal(used, now)
                representation = found if isinstance(found, Representation) else found()
                exchange.lookup = "hit" if representation.was_used else "miss"
                representation.was_used = True
            except Exception as error:  # noqa: BLE001 - it is logged
                reply(self._failure(error, exchange))
                return
            if is_unchanged is not None or not representation.is_current_for(sent):
                reply(representation.answer(sent, now, lines(used, now), is_current=bool(is_unchanged)))
                return

            def given_back(used: Used, _: bool) -> None:
                reply(representation.answer(sent, now, lines(used, now), is_current=True))

            limits.add(holder.key_id, now, GIVE_BACK, given_back)

        limits, exchange.key_id = self._service.limits, holder.key_id
        then = partial(_in_thread, found, respond) if callable(found) and in_thread else respond
        limits.add(holder.key_id, now, UNCHANGED if is_unchanged else TAKE, then)

    def _found(self, asked: Asked, build: OpenBuild | WarehouseError, now: float) -> Representation:
        """The representation for a request that has been counted.

        Raises:
            InvalidParameter: a parameter is malformed.
            NotFound: there is no such company, or no data of it.
            ServerError: no build is published.
        """
        assert asked.endpoint
        values = parameters.read(asked.query, asked.endpoint.parameters)
        if isinstance(build, WarehouseError):
            raise ServerError(NOTHING_YET) if isinstance(build, NothingPublished) else build
        represent = partial(self._represented, asked.endpoint, asked.symbol, values, now)
        return self._in_open_build(represent) if asked.endpoint.asks_duckdb else represent(build)

    def _noted(self, asked: Asked, build: OpenBuild, now: float, target: bytes) -> Representation:
        """As `_found`; the representation is found by the target from now on."""
        new = self._found(asked, build, now)
        self._service.representations.note(build.pointer, target, new)
        return new

    def _represented(
        self, endpoint: Endpoint, symbol: str, values: Mapping[str, Any], now: float, build: OpenBuild
    ) -> Representation:
        """The cached representation of a response, or a new one; all its rows are of one build."""
        service = self._service
        tag = caching.tag_of(build.pointer, service.settings.base_url + endpoint.path, symbol, values)
        if (kept := service.representations.get(tag)) and kept.is_young(now):
            return kept
        data, meta = endpoint.answer(self._question(build, symbol, values, now))
        body = responses.document(data, meta, now)
        new = Representation(body, tag, caching.modified_at(build.pointer), VERSION + endpoint.path, now)
        return service.representations.keep(tag, new, now)

    def _question(self, build: OpenBuild, symbol: str, values: Mapping[str, Any], now: float) -> CheckedQuestion:
        service = self._service
        problem = problem_of(service.warehouse, service.limits, service.holders)
        return CheckedQuestion(build, problem, service.settings.base_url, symbol, values, now)

    async def _current_build(self) -> OpenBuild | WarehouseError:
        """The current build, with its rows in memory; or why there is none."""
        if build := self._service.warehouse.in_memory():
            return build
        return await run_in_threadpool(self._opened)

    def _opened(self) -> OpenBuild | WarehouseError:
        """Open the current build, and wait for its rows."""
        try:
            return self._in_open_build(_with_rows)
        except WarehouseError as error:
            return error

    def _in_open_build(self, ask: Callable[[OpenBuild], T]) -> T:
        """Call a function with the current build, which stays open meanwhile, or with another one if it is damaged."""

        def once() -> T:
            with self._service.warehouse.build() as build:
                return ask(build)

        return retry_if_damaged(once)

    def _failure(self, error: Exception, exchange: Exchange) -> Answer:
        """The response to a request that was refused or failed; a failure is logged."""
        known = error if isinstance(error, ApiError) else ServerError()
        if known is not error:
            log.error("request %s failed", exchange.id, exc_info=error)
        exchange.limit = known.limit
        return error_responses.answer(known, self._service.settings.pages)

    def _asked_by(self, target: bytes) -> Asked | None:
        """What a target asks for; None if it does not ask for data in memory, contains a key, or cannot be parsed."""
        raw, _, query = target.partition(b"?")
        if not target.isascii() or b"#" in target:
            return None
        path = raw.decode()
        asked = self._asked(unquote(path) if "%" in path else path, query)
        if not (asked and asked.endpoint and asked.endpoint.needs_key) or asked.endpoint.asks_duckdb:
            return None
        try:
            parameters.refuse_credentials(query)
        except InvalidParameter:
            return None
        return asked

    def _asked(self, path: str, query: bytes) -> Asked | None:
        """What a request asks for; None if the path is not one of the interface."""
        segments, symbol = path.split("/"), ""
        if len(segments) > SYMBOL:
            symbol, segments[SYMBOL] = segments[SYMBOL], segments[SYMBOL] and "{symbol}"
        template = "/".join(segments)
        return Asked(self._endpoints[template], symbol, query) if template in self._endpoints else None

    def _current(self) -> OpenBuild | None:
        """The current build if it is in memory; requests in the same turn of the event loop share the look-up."""
        if self._build is None and (build := self._service.warehouse.in_memory()):
            self._build = build
            asyncio.get_running_loop().call_soon(self._forget)
        return self._build

    def _forget(self) -> None:
        self._build = None


def _with_rows(build: OpenBuild) -> OpenBuild:
    _ = build.memory
    return build


def _in_thread(
    found: Callable[[], Representation],
    respond: Callable[[Used, bool, Callable[[], Representation]], None],
    used: Used,
    refused: bool,
) -> None:
    """Call `found` in a thread, unless the request was refused; then respond."""
    if refused:
        respond(used, refused, found)
    else:
        working = asyncio.get_running_loop().run_in_executor(None, found)
        working.add_done_callback(lambda done: respond(used, refused, done.result))
