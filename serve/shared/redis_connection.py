"""A connection to Redis that sends commands at once and passes each reply to a function, without tasks.

Belongs here: opening a connection, and passing each reply to the right function. Does not: Redis's protocol (package
hiredis), the commands, deadlines, and the loss of a connection (shared_limits).

The client library only converts the address, TLS and credentials of a URL into settings; its commands need several
tasks and a quarter of a millisecond each, which is longer than all the rest of a request.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

import hiredis
from redis.asyncio import Connection as Settings
from redis.asyncio import SSLConnection, UnixDomainSocketConnection

Then = Callable[[bytes], None]
Word = str | bytes | int | float


class Refused(Exception):
    """Redis replied with an error; the message is its first word only, since the others may contain a password."""


class Connection(asyncio.Protocol):
    """An open connection."""

    def __init__(self, lost: Callable[[str], None]) -> None:
        """Create the connection that `connect` opens; `lost` is called with the reason if the connection fails."""
        self._lost: Callable[[str], None] | None = lost
        self._replies = hiredis.Reader()
        self._waiting: deque[Then] = deque()
        self._transport: asyncio.Transport | None = None
        self._asked: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Report that the connection ended."""
        self._end(type(error).__name__ if error else "closed")

    def data_received(self, data: bytes) -> None:
        """Pass on the complete replies."""
        self._replies.feed(data)
        try:
            while self._waiting and (reply := self._replies.gets()) is not False:
                if isinstance(reply, hiredis.ReplyError):
                    raise Refused(str(reply).split(" ")[0])
                self._waiting.popleft()(reply)
        except (ValueError, AttributeError, hiredis.ProtocolError, Refused) as error:
            self._end(str(error) if isinstance(error, Refused) else "a reply that cannot be read")

    def send(self, words: Sequence[Word], then: Then) -> None:
        """Send a command; `then` is called with the reply, but not if the connection ends before."""
        if self._transport:
            self._waiting.append(then)
            self._transport.write(hiredis.pack_command(tuple(words)))  # type: ignore[arg-type]

    async def ask(self, *words: Word) -> bytes:
        """The reply to a command.

        Raises:
            ConnectionError: the connection ended before, or Redis refused the command.
        """
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._asked = reply
        self.send(words, lambda text: None if reply.done() else reply.set_result(text))
        return await reply

    def close(self) -> None:
        """End the connection without a report."""
        self._lost = None
        if self._transport:
            self._transport.abort()

    def _end(self, why: str) -> None:
        lost = self._lost
        self.close()
        if lost:
            lost(why)
        if self._asked and not self._asked.done():
            self._asked.set_exception(ConnectionError(why))


async def connect(settings: Settings, lost: Callable[[str], None]) -> Connection:
    """Open a connection.

    Args:
        settings: address, TLS, credentials and database, as the client library reads them from a URL.
        lost: called with the reason if the connection ends; also while it is being opened.

    Raises:
        OSError: the connection cannot be opened.
    """
    connection, loop = Connection(lost), asyncio.get_running_loop()
    try:
        if isinstance(settings, UnixDomainSocketConnection):
            await loop.create_unix_connection(lambda: connection, settings.path)
        else:
            tls = settings.ssl_context.get() if isinstance(settings, SSLConnection) else None
            await loop.create_connection(lambda: connection, settings.host, settings.port, ssl=tls)
        if settings.password:
            await connection.ask("AUTH", *filter(None, [settings.username]), settings.password)
        if settings.db:
            await connection.ask("SELECT", settings.db)
    except BaseException:
        connection.close()
        raise
    return connection
