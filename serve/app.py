"""The ASGI application: endpoints, pages and error handlers combined.

Belongs here: assembling the parts. Does not: any rule of the interface.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from serve.access.accounts import Accounts
from serve.access.attempts import Attempts
from serve.access.database import DatabaseError
from serve.access.holders import FileHolders, Holders
from serve.access.limits import Limits, LocalLimits
from serve.access.sign_ins import SignIns
from serve.api import interface
from serve.api.condition import problem_of
from serve.api.endpoints import ENDPOINTS, Endpoint
from serve.api.interface import Interface, Service
from serve.clock import Clock
from serve.errors import NotFound, ServerError
from serve.http import caching, error_responses
from serve.http.caching import Representations
from serve.http.edge import Front
from serve.metrics.counts import DEGRADED, NOTED_AT, UNREADABLE, Counts
from serve.settings import Settings
from serve.site import mount
from serve.site.frame.pages import Pages
from serve.site.frame.sessions import Sessions
from warehouse.errors import WarehouseError
from warehouse.read.reader import Warehouse
from warehouse.read.reading import read_in_process

PATHS = (*interface.PATHS, *mount.PATHS)
"""The path templates of all paths, by which requests are counted."""

NOTED_EVERY = 1.0  # seconds between two notes of the condition of the service for the metrics


def create_app(
    settings: Settings,
    *,
    clock: Clock = time.time,
    counts: Counts | None = None,
    endpoints: Sequence[Endpoint] = ENDPOINTS,
) -> Front:
    """Create the ASGI application that serves the published build of a home.

    Args:
        settings: the home, the public address and the cache settings.
        clock: returns Unix time, for the times in responses and the windows of the rate limits.
        counts: where requests are counted; default: in memory that nothing else reads.
        endpoints: the endpoints below `/v1`.

    Raises:
        CommandError: the accounts database cannot be opened, or REDIS_URL is not the address of a Redis server.
    """
    accounts = Accounts(settings.accounts)
    service = Service(
        settings,
        Warehouse(settings.published, read_in_process),
        _holders(accounts, clock),
        Attempts(settings.proxies, clock),
        _limits(settings, accounts, clock),
        Representations(caching.LARGEST if settings.cache else 0),
        clock,
        endpoints,
    )

    counts = counts or Counts(PATHS)
    sessions = Sessions(settings, SignIns(accounts))
    pages = Pages(
        settings, service.warehouse, accounts, service.holders, service.attempts, service.limits, sessions, clock
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.holders.running(), service.limits.running():
            await run_in_threadpool(_open, service.warehouse)
            noting = asyncio.create_task(_note_condition(service, counts))
            try:
                yield
            finally:
                noting.cancel()
                await asyncio.wait({noting})
        service.warehouse.close()
        service.holders.close()
        accounts.close()

    def respond_to_error(_: Request, error: Exception) -> Response:
        return error_responses.failure(ServerError(), settings.pages)

    def respond_not_found(request: Request, _: Exception) -> Response:
        if mount.is_for_people(request.scope):
            return mount.not_found(pages, request)
        return error_responses.failure(NotFound(), settings.pages)

    app = Starlette(
        routes=mount.routes(pages),
        # Exception: a failure outside of any endpoint; Starlette responds, then raises it again, and the front logs it
        exception_handlers={404: respond_not_found, Exception: respond_to_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Front(Interface(app, service), settings.pages, counts, settings.proxies)


def _open(warehouse: Warehouse) -> None:
    """Open the published build before the first request, so that the request does not wait for it."""
    with contextlib.suppress(WarehouseError), warehouse.build():
        pass


async def _note_condition(service: Service, counts: Counts) -> None:
    """Record for the metrics every NOTED_EVERY seconds: whether the status is degraded, whether the newest build is
    unreadable, and the time, which shows that the event loop works.
    """
    while True:
        with contextlib.suppress(DatabaseError):
            service.holders.find_by_key(b"")  # changes of accounts are noticed even without requests
        problem = problem_of(service.warehouse, service.limits, service.holders)
        counts.set(DEGRADED, int(problem is not None))
        counts.set(UNREADABLE, int(service.warehouse.reason is not None))
        counts.set(NOTED_AT, time.time())
        await asyncio.sleep(NOTED_EVERY)


def _holders(accounts: Accounts, clock: Clock) -> Holders:
    if accounts.database.path:
        return FileHolders(accounts, clock)
    from serve.shared.server_holders import ServerHolders

    return ServerHolders(accounts, clock)


def _limits(settings: Settings, accounts: Accounts, clock: Clock) -> Limits:
    if settings.redis_url is None:
        return LocalLimits(accounts, clock)
    from serve.shared.shared_limits import SharedLimits

    return SharedLimits(settings.redis_url)
