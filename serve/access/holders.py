"""The holders of keys, as the service looks them up for each request.

Belongs here: the look-up of a key in memory, the moment at which changes take effect, and storing when a key was last
used. Does not: creating and revoking keys (accounts), the format of keys (keys), rate limits (limits).

A look-up happens in the event loop and never waits. Known keys are a dictionary, which is read when the service
starts. A key that is not in it is read from the database at once, on a connection that only reads: readers of a
database in WAL mode do not wait for writers. Each change of a key or a subscription, in any process, increases a number
in the database. The number is read every READ_EVERY seconds, and after each transaction of this process; when it has
changed, known keys are read again, each at its next request.
"""

import asyncio
import contextlib
import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from itertools import islice

import msgspec

from serve.access import keys
from serve.access.accounts import Accounts
from serve.clock import Clock, timestamp
from serve.http.errors import CommandError

log = logging.getLogger(__name__)

READ_EVERY = 1.0  # seconds between two checks for changes; a revocation must take effect within five
USED_EVERY = 60.0  # seconds between two updates of a key's `last_used_at`
STORED_EVERY = 0.5  # seconds between two writes of `last_used_at`
STORED_AT_ONCE = 500  # keys of a write, those that wait longest; a larger write would delay requests by milliseconds
MOST = 100_000  # keys, those used last, that are read when the service starts; others are read at their first request
LOOK_UP = """
SELECT keys.id, status = 'active' FROM keys JOIN subscriptions USING (account_id)
WHERE sha256 = ? AND revoked_at IS NULL
"""
ALL = f"""
SELECT sha256, keys.id, status = 'active' FROM keys JOIN subscriptions USING (account_id)
WHERE revoked_at IS NULL ORDER BY last_used_at DESC LIMIT {MOST}
"""
STORE = """
UPDATE keys SET last_used_at = json_extract(used.value, '$[1]') FROM json_each(?) AS used
WHERE keys.id = json_extract(used.value, '$[0]')
  AND (last_used_at IS NULL OR last_used_at < json_extract(used.value, '$[2]'))
"""


class Holder(msgspec.Struct, frozen=True, gc=False):
    """The holder of a valid key: the key's identifier, and whether its subscription is active."""

    key_id: str
    is_active: bool


class Holders:
    """The holders of the keys of a database; used by the event loop only."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        """Open a connection for reading.

        Raises:
            CommandError: the file cannot be read.
        """
        self._accounts = accounts
        self._clock = clock
        self._database = accounts.connect(wait=0)
        self._known: dict[bytes, Holder] = {}
        self._changes = self._transactions = -1
        self._read_at = 0.0
        self._used: dict[str, float] = {}
        self._unstored: dict[str, float] = {}
        self._is_unstored = asyncio.Event()
        self._storing = asyncio.Lock()
        self.outdated = False
        """True while changes cannot be read, and known keys are used as they were."""

    def who(self, key: bytes) -> Holder | None:
        """The holder of a key; None if the key is malformed, unknown or revoked. Costs about a microsecond.

        Args:
            key: value of the header X-Api-Key.

        Raises:
            sqlite3.Error: the key is not known, and the database cannot be read.
        """
        now = self._clock()
        if self._accounts.transactions != self._transactions or not 0 <= now - self._read_at < READ_EVERY:
            self._follow(now)
        digest = keys.digest(key)
        holder = self._known.get(digest)
        if holder is None:
            if not keys.is_well_formed(key) or (found := self._database.execute(LOOK_UP, (digest,)).fetchone()) is None:
                return None
            holder = self._known[digest] = Holder(found[0], bool(found[1]))
        if not 0 <= now - self._used.get(holder.key_id, -USED_EVERY) < USED_EVERY:
            self._used[holder.key_id] = self._unstored[holder.key_id] = now
            self._is_unstored.set()
        return holder

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the keys that there are, and store when keys were last used, until the block ends."""
        self._follow(self._clock())
        with contextlib.suppress(sqlite3.Error):  # they are read at their first request
            self._known |= {
                digest: Holder(key_id, bool(is_active)) for digest, key_id, is_active in self._database.execute(ALL)
            }
        storing = asyncio.create_task(self._store_on())
        try:
            yield
        finally:
            async with self._storing:  # see LocalLimits.running
                storing.cancel()
            await asyncio.wait({storing})
            await self._store(len(self._unstored))

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def _follow(self, now: float) -> None:
        """Forget the known keys if a key or a subscription has changed."""
        self._read_at, self._transactions = now, self._accounts.transactions
        try:
            [(changes,)] = self._database.execute("SELECT total(number) FROM changes")
        except sqlite3.Error as error:
            if not self.outdated:
                log.warning("changes of keys and subscriptions cannot be read, known keys stay valid: %s", error)
            self.outdated = True
            return
        self.outdated = False
        if changes != self._changes:
            self._known.clear()
            self._changes = changes

    async def _store_on(self) -> None:
        while True:
            await self._is_unstored.wait()
            await self._store(STORED_AT_ONCE)
            await asyncio.sleep(STORED_EVERY)

    async def _store(self, most: int) -> None:
        """Store the uses of at most so many keys, in a thread; after a failure they are stored with the next ones."""
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
        rows = [(key_id, timestamp(at), timestamp(at - USED_EVERY)) for key_id, at in used.items()]
        with self._accounts.transaction() as connection:
            # one statement: between two of them, this thread and the event loop would wait for each other
            connection.execute(STORE, (json.dumps(rows),))
