"""Answers of the endpoints that declare `answers_from_memory`, without route, thread and task.

Belongs here: the checks of such a request, in the same order as for all others. Does not: requests that need a thread
or no key (routes), the list of these endpoints and the content of answers (endpoints).
"""

import asyncio
import logging
from typing import NamedTuple
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from serve.access.database import DatabaseError
from serve.access.holders import Holder
from serve.access.limits import GIVE_BACK, TAKE, UNCHANGED, Allowance, Used, allowance
from serve.api import parameters, responses
from serve.api.endpoints import Endpoint
from serve.api.routes import VERSION, Service, represent
from serve.http.caching import Representation, Sent
from serve.http.edge import Exchange, Reply
from serve.http.errors import ApiError, InvalidParameter, ServerError
from warehouse.read.reader import OpenBuild

log = logging.getLogger(__name__)

SYMBOL = len(["", "v1", "companies", "{symbol}"]) - 1  # place of the symbol among the segments of a path


class UnparsedQuestion(NamedTuple):
    """The endpoint, symbol and query that a request asks for; the query is not parsed yet."""

    endpoint: Endpoint
    symbol: str
    query: bytes


class AnswersFromMemory:
    """An ASGI middleware that answers questions about data in memory; all other requests go to the application.

    Requests that fail a check before they are counted also go to the application, which checks them again.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self._service = service
        self._endpoints = {
            VERSION + endpoint.path: endpoint
            for endpoint in service.endpoints
            if endpoint.needs_key and endpoint.answers_from_memory
        }
        self._build: OpenBuild | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application."""
        await self.app(scope, receive, send)

    def at_once(self, target: bytes, sent: Sent, exchange: Exchange, reply: Reply) -> bool:
        """See InlineResponder. A cached response is found by the target."""
        service, build = self._service, self._current()
        if build is None:
            return False
        kept = service.representations.by_target(build.pointer, target)
        question = None if kept else self._question(target)
        holder = self._holder(sent) if kept or question else None
        if holder is None or not holder.is_active:
            return False
        key_id, now = holder.key_id, service.clock()
        exchange.key_id = key_id
        if kept and not kept.is_young(now):
            kept, question = None, self._question(target)
        if kept:
            exchange.path = kept.path
        elif question:
            exchange.path = VERSION + question.endpoint.path
        is_unchanged = kept is not None and kept.is_current_for(sent)

        def respond(used: Used, refused: bool) -> None:
            """Respond after the request has been counted."""
            try:
                taken = allowance(used, now, refused=refused)
                found = kept or self._found(build, target, question, now)
                exchange.lookup = "hit" if found.was_used else "miss"
                found.was_used = True
            except Exception as error:
                known = error if isinstance(error, ApiError) else ServerError()
                if known is not error:
                    log.exception("request %s failed", exchange.id)
                exchange.limit = known.limit
                reply(responses.answer(known, service.settings.pages))
                return
            if kept or not found.is_current_for(sent):
                reply(found.answer(sent, now, taken.lines, is_held=is_unchanged))
                return

            def given_back(used: Used, _: bool) -> None:
                reply(found.answer(sent, now, Allowance(used, now).lines, is_held=True))

            service.limits.add(key_id, now, GIVE_BACK, given_back)

        service.limits.add(key_id, now, UNCHANGED if is_unchanged else TAKE, respond)
        return True

    def _question(self, target: bytes) -> UnparsedQuestion | None:
        """Parse a target; None if it is not for data in memory, contains a key, or cannot be parsed."""
        raw, _, query = target.partition(b"?")
        if not target.isascii() or b"#" in target:
            return None
        path = raw.decode()
        segments = (unquote(path) if "%" in path else path).split("/")
        symbol = ""
        if len(segments) > SYMBOL:
            symbol, segments[SYMBOL] = segments[SYMBOL], "{symbol}"
        endpoint = self._endpoints.get("/".join(segments))
        if endpoint is None or endpoint.needs_symbol != bool(symbol):
            return None
        try:
            parameters.refuse_credentials(query)
        except InvalidParameter:
            return None
        # a search for letters beyond ASCII is answered by DuckDB
        return UnparsedQuestion(endpoint, symbol, query) if parameters.is_ascii(query) else None

    def _found(self, build: OpenBuild, target: bytes, question: UnparsedQuestion | None, now: float) -> Representation:
        """The response to a question that has no cached response for the same target."""
        assert question
        values = parameters.read(question.query, question.endpoint.parameters)
        found = represent(question.endpoint, self._service, build, question.symbol, values, now)
        self._service.representations.note(build.pointer, target, found)
        return found

    def _holder(self, sent: Sent) -> Holder | None:
        """The holder of the request's key; also None if keys cannot be read, an error that the application reports."""
        try:
            return self._service.holders.find_by_key(sent.get(b"x-api-key", b""))
        except DatabaseError:
            return None

    def _current(self) -> OpenBuild | None:
        """The current build if it is in memory; requests in the same turn of the event loop share the look-up."""
        if self._build is None and (build := self._service.warehouse.in_memory()):
            self._build = build
            asyncio.get_running_loop().call_soon(self._forget)
        return self._build

    def _forget(self) -> None:
        self._build = None
