"""The application: endpoints, pages, and the envelope of every failure, put together.

Belongs here: what makes an ASGI application of the parts. Does not: any rule of the interface.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from serve import caching, responses, routes
from serve.access.accounts import Accounts
from serve.access.limits import Limits, LocalLimits
from serve.access.sign_ins import SignIns
from serve.caching import Representations
from serve.clock import Clock
from serve.errors import ApiError, NotFound, ServerError
from serve.front import Front
from serve.settings import Settings
from serve.site import mount
from serve.site.pages import Pages
from serve.site.sessions import Sessions
from warehouse.reader import Warehouse


def create_app(settings: Settings, *, clock: Clock = time.time) -> Front:
    """An ASGI application over what is published below the home.

    Args:
        settings: where the data lies, how the service is reached.
        clock: Unix time, for the times in answers and the windows of the limits.

    Raises:
        CommandError: the database of accounts cannot be opened, or the address of Redis is none.
    """
    accounts = Accounts(settings.accounts)
    service = routes.Service(
        settings,
        Warehouse(settings.published),
        accounts,
        _limits(settings, accounts, clock),
        Representations(caching.LARGEST if settings.cache else 0),
        clock,
    )

    sessions = Sessions(settings, SignIns(accounts))
    pages = Pages(settings, service.warehouse, accounts, service.limits, sessions, clock)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.limits.running():
            yield
        service.warehouse.close()
        service.accounts.close()

    def tell(_: Request, error: Exception) -> Response:
        return responses.failure(error if isinstance(error, ApiError) else ServerError(), settings.pages)

    def tell_not_found(request: Request, _: Exception) -> Response:
        if mount.is_for_people(request.scope):
            return mount.not_found(pages, request)
        return responses.failure(NotFound(), settings.pages)

    app = Starlette(
        routes=[*routes.routes(service), *mount.routes(pages)],
        # Exception: what happens outside of any endpoint; it is answered, then raised again for the front to log
        exception_handlers={ApiError: tell, 404: tell_not_found, Exception: tell},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Front(app, settings.pages)


def _limits(settings: Settings, accounts: Accounts, clock: Clock) -> Limits:
    if settings.redis_url is None:
        return LocalLimits(accounts, clock)
    from serve.access.shared_limits import SharedLimits  # its client takes a moment to load

    return SharedLimits(settings.redis_url)
