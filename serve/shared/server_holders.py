"""The look-up of keys in PostgreSQL, a server for which the event loop must not wait.

Belongs here: reading keys and their changes in threads, and continuing while the server is away. Does not: the look-up
in memory (holders).

All known keys are read again when one has changed. An unknown key is looked up in a thread. While changes cannot be
read, known keys stay valid, other keys are refused at once with an error, and only the next attempt to read changes
waits for the server.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from sqlalchemy import Connection

from serve.access.accounts import Accounts
from serve.access.database import DatabaseError
from serve.access.holders import ALL, LOOK_UP, NUMBER, READ_EVERY, Holder, Holders, held
from serve.access.keys import digest, is_well_formed
from serve.clock import Clock

T = TypeVar("T")

TIMEOUT = 2.0  # seconds to wait for an answer; with READ_EVERY less than five, within which a change must take effect
AT_ONCE = 4  # number of look-ups at the same time


class ServerHolders(Holders):
    """The holders of the keys in PostgreSQL."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        super().__init__(accounts, clock)
        self._is_due = asyncio.Event()
        self._looking = asyncio.Semaphore(AT_ONCE)
        self._reading = asyncio.Lock()
        self._lasting: Connection | None = None

    async def look_up(self, key: bytes) -> Holder | None:
        """See Holders."""
        if (holder := self.find_by_key(key)) or not is_well_formed(key):
            return holder
        hashed, changes = digest(key), self._changes
        try:
            async with asyncio.timeout(TIMEOUT), self._looking:
                found = await in_thread(lambda: self._found(hashed))
        except TimeoutError:
            raise self._silence() from None
        if changes == self._changes:  # otherwise the result may have been read before the change
            self._known |= found
        return self.find_by_key(key) or found.get(hashed)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """See Holders."""
        await self._read()
        reading = asyncio.create_task(self._read_on())
        try:
            async with super().running():
                yield
        finally:
            with contextlib.suppress(TimeoutError):  # its connection is closed with the others, if the server answers
                async with asyncio.timeout(TIMEOUT):
                    await self._reading.acquire()
            reading.cancel()
            await asyncio.wait({reading})

    def close(self) -> None:
        """Close the connection that reads changes; while it is open, no backup can be restored."""
        if self._lasting:
            self._lasting.invalidate()
            self._lasting.close()
            self._lasting = None

    def _follow(self) -> None:
        self._is_due.set()

    def _unknown(self, hashed: bytes) -> Holder | None:
        return None

    async def _read_on(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_EVERY):
                    await self._is_due.wait()
            self._is_due.clear()
            async with self._reading:
                await self._read()

    async def _read(self) -> None:
        """Read the number of changes, and if it differs all keys."""
        reading = in_thread(lambda: self._changed(self._changes))
        await asyncio.wait({reading}, timeout=TIMEOUT)
        if not reading.done():
            self._cannot_follow(self._silence())
        try:
            number, known = await reading
        except DatabaseError as error:
            self._cannot_follow(error)
            return
        self.outdated = self._database.is_away = False
        if known is not None:
            self._changes, self._known = number, known

    def _cannot_follow(self, error: DatabaseError) -> None:
        super()._cannot_follow(error)
        self._database.is_away = True

    def _changed(self, before: int) -> tuple[int, dict[bytes, Holder] | None]:
        """The number of changes, and all keys if it differs from the number `before`.

        The number is read first: the keys may be newer than it, but not older.
        """
        try:
            with self._database.errors():
                connection = self._lasting = self._lasting or self._database.in_use()
                number = connection.scalar(NUMBER) or 0
                return number, None if number == before else held(connection.execute(ALL))
        except DatabaseError:
            self.close()
            raise

    def _found(self, hashed: bytes) -> dict[bytes, Holder]:
        with self._database.reading() as connection:
            return held(connection.execute(LOOK_UP, {"sha256": hashed}))

    def _silence(self) -> DatabaseError:
        return DatabaseError(f"{self._database.name} does not answer within {TIMEOUT:.0f} seconds")


def in_thread(function: Callable[[], T]) -> asyncio.Future[T]:
    """Run a function in a daemon thread, for which the end of the process does not wait, and return its future result.

    The result is a DatabaseError if no thread can be started, so that periodic reads handle it like a silent server.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def finish(value: T | None, error: Exception | None) -> None:
        if result.done():  # nobody waits for it any more
            return
        if error:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, error = None, None
        try:
            value = function()
        except Exception as raised:  # noqa: BLE001, raised where the result is awaited
            error = raised
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(finish, value, error)

    try:
        threading.Thread(target=run, daemon=True).start()
    except RuntimeError as error:
        result.set_exception(DatabaseError(f"the accounts cannot be read: {error}"))
    return result
