"""The turns of clients: how many requests of one client are processed at the same time.

Belongs here: which requests wait. Does not: how many requests a client may send (access), how many connections it has
(connections), requests that are answered without a task (server).

Without turns, a request would wait for all requests that arrived before it: with four hundred connections of one
client, for some seconds.
"""

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve.addresses import Network, client_of, origin

AT_ONCE = 8
"""Requests of one client that are processed at the same time; a browser has six connections."""


class Turns:
    """The turns of all clients; used in the event loop only."""

    def __init__(self, proxies: Sequence[Network]) -> None:
        """Begin without any client; `proxies` are the proxies whose header X-Forwarded-For names the client."""
        self._proxies = proxies
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # by client

    async def respond_in_turn(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let an application respond to a request, as soon as fewer than AT_ONCE requests of its client are processed.

        A request that waits for the rest of its body does not count meanwhile, so that another one can be processed.

        Raises:
            ClientDisconnect: the client disconnected before its turn.
        """
        client = origin(client_of(scope, self._proxies))
        turn = self._turns.setdefault(client, asyncio.Semaphore(AT_ONCE))

        async def receive_without_turn() -> Message:
            turn.release()
            try:
                return await receive()
            finally:
                await turn.acquire()

        async with turn:
            if scope["is_gone"]():
                raise ClientDisconnect()
            await app(scope, receive_without_turn, send)
