"""The look-up of key holders, which the service makes for each request.

Belongs here: the look-up of a key in memory, the moment at which changes take effect, and storing when a key was last
used. Does not: creating and revoking keys (accounts), the format of keys (keys), rate limits (limits).

A look-up happens in the event loop and never waits. Known keys are a dictionary, which is read when the service
starts. Each change of a key or a subscription, in any process, increases a number in the database. The number is read
every READ_EVERY seconds, and after each transaction of this process.

Here the database is a file of SQLite: an unknown key is read at once, on a connection that only reads, because readers
of a file in WAL mode do not wait for writers; after a change, known keys are read again, each at its next request.
These statements are compiled once, and executed without SQLAlchemy, which would take five times as long.
"""

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import Select, bindparam, select
from sqlalchemy.dialects import sqlite

from serve.access.accounts import Accounts
from serve.access.database import DatabaseError
from serve.access.keys import digest, is_well_formed
from serve.access.tables import changes, keys, subscriptions
from serve.clock import Clock
from serve.errors import CommandError

log = logging.getLogger(__name__)

READ_EVERY = 1.0  # seconds between two checks for changes; a revocation must take effect within five
USED_EVERY = 60.0  # seconds between two updates of a key's `last_used_at`
STORED_EVERY = 0.5  # seconds between two writes of `last_used_at`
STORED_AT_ONCE = 500  # keys per write, the longest waiting first; a larger write would delay requests by milliseconds
MOST = 100_000  # keys read when the service starts, the last used first; other keys are read at their first request
HOLDERS = (
    select(keys.c.sha256, keys.c.id, subscriptions.c.status)
    .join(subscriptions, subscriptions.c.account_id == keys.c.account_id)
    .where(keys.c.revoked_at.is_(None))
)
LOOK_UP = HOLDERS.where(keys.c.sha256 == bindparam("sha256"))
ALL = HOLDERS.order_by(keys.c.last_used_at.desc().nulls_last()).limit(MOST)
NUMBER = select(changes.c.number)
"""The number of changes; no row before the first change."""


class Holder(msgspec.Struct, frozen=True, gc=False):
    """The holder of a valid key: the key's identifier, and whether its subscription is active."""

    key_id: str
    is_active: bool


class Holders(ABC):
    """The holders of the keys of a database; used in the event loop only."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        self._accounts, self._database = accounts, accounts.database
        self._clock = clock
        self._known: dict[bytes, Holder] = {}
        self._changes = self._transactions = -1
        self._read_at = 0.0
        self._used: dict[str, float] = {}
        self._unstored: dict[str, float] = {}
        self._is_unstored = asyncio.Event()
        self._storing = asyncio.Lock()
        self.outdated = False
        """True while changes cannot be read; known keys are then used in their last known state."""

    def find_by_key(self, key: bytes) -> Holder | None:
        """The holder of a key, as far as it can be found without waiting. Costs about a microsecond.

        Args:
            key: value of the header X-Api-Key.

        Returns:
            The holder; None if the key is malformed, unknown or revoked, or if finding it requires waiting (see
            look_up).

        Raises:
            DatabaseError: the key is not known, and the database cannot be read.
        """
        now = self._clock()
        if self._database.transactions != self._transactions or not 0 <= now - self._read_at < READ_EVERY:
            self._read_at, self._transactions = now, self._database.transactions
            self._follow()
        hashed = digest(key)
        holder = self._known.get(hashed)
        if holder is None and (not is_well_formed(key) or (holder := self._unknown(hashed)) is None):
            return None
        if not 0 <= now - self._used.get(holder.key_id, -USED_EVERY) < USED_EVERY:
            self._used[holder.key_id] = self._unstored[holder.key_id] = now
            self._is_unstored.set()
        return holder

    @abstractmethod
    async def look_up(self, key: bytes) -> Holder | None:
        """The holder of a key; None if the key is malformed, unknown or revoked.

        Raises:
            DatabaseError: the key is not known, and the database cannot be read.
        """

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the existing keys, and store when keys were last used, until the block ends."""
        storing = asyncio.create_task(self._store_on())
        try:
            yield
        finally:
            async with self._storing:  # see LocalLimits.running
                storing.cancel()
            await asyncio.wait({storing})
            await self._store(len(self._unstored))

    @abstractmethod
    def close(self) -> None:
        """Close connections of the look-up."""

    @abstractmethod
    def _follow(self) -> None:
        """Check soon whether a key or a subscription has changed."""

    @abstractmethod
    def _unknown(self, hashed: bytes) -> Holder | None:
        """The holder of a key that is not in memory; None if there is none, or if finding it requires waiting."""

    def _all(self) -> dict[bytes, Holder]:
        """The holders of the keys that were last used."""
        with self._database.reading() as connection:
            return held(connection.execute(ALL))

    def _cannot_follow(self, error: DatabaseError) -> None:
        """Note that changes cannot be read."""
        if not self.outdated:
            log.warning("changes of keys and subscriptions cannot be read, known keys stay valid: %s", error)
        self.outdated = True

    async def _store_on(self) -> None:
        while True:
            await self._is_unstored.wait()
            if not self.outdated:
                await self._store(STORED_AT_ONCE)
            await asyncio.sleep(STORED_EVERY)

    async def _store(self, most: int) -> None:
        """Store the last uses of at most `most` keys, in a thread; after a failure they are stored later."""
        async with self._storing:
            used = {key_id: self._unstored.pop(key_id) for key_id in list(islice(self._unstored, most))}
            if not self._unstored:
                self._is_unstored.clear()
            if not used:
                return
            try:
                await asyncio.to_thread(self._write, used)
            except CommandError as error:
                log.warning("last_used_at of %d keys was not stored: %s", len(used), error)
                self._unstored = used | self._unstored

    def _write(self, used: dict[str, float]) -> None:
        self._accounts.note_uses(used, USED_EVERY)


class FileHolders(Holders):
    """The holders of the keys in a file of SQLite."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        """Open a connection for reading.

        Raises:
            DatabaseError: the file cannot be read.
        """
        super().__init__(accounts, clock)
        accounts.database.is_replaced()
        self._is_replaced = False  # whether the connection is to the replaced file
        with accounts.database.errors():
            self._connection = accounts.database.file()
        self._number, self._look_up = _compiled(NUMBER), _compiled(LOOK_UP)

    async def look_up(self, key: bytes) -> Holder | None:
        """See Holders."""
        return self.find_by_key(key)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """See Holders."""
        self._follow()
        with contextlib.suppress(DatabaseError):  # then they are read at their first request
            self._known |= self._all()
        async with super().running():
            yield

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _follow(self) -> None:
        """Drop the known keys if a key or a subscription has changed, or the file was replaced."""
        try:
            self._is_replaced |= self._database.is_replaced()
            with self._database.errors():
                if self._is_replaced:
                    self._connection.close()
                    self._connection = self._database.file()
                    self._changes, self._is_replaced = -1, False
                number = (self._connection.execute(self._number).fetchone() or (0,))[0]
        except DatabaseError as error:
            self._cannot_follow(error)
            return
        self.outdated = False
        if number != self._changes:
            self._known.clear()
            self._changes = number

    def _unknown(self, hashed: bytes) -> Holder | None:
        with self._database.errors():
            found = held(self._connection.execute(self._look_up, (hashed,)))
        self._known |= found
        return found.get(hashed)


def held(rows: Iterable[Sequence[Any]]) -> dict[bytes, Holder]:
    """The holders in the rows of HOLDERS, by the digest of the key."""
    return {hashed: Holder(key_id, status == "active") for hashed, key_id, status in rows}


def _compiled(statement: Select[*tuple[object, ...]]) -> str:
    return str(statement.compile(dialect=sqlite.dialect()))
