"""Accounts, their subscriptions and API keys, in one SQLite file in the home.

Belongs here: creating and changing them (commands, profile page), and looking up the holder of a key (service). Keys
are stored as hashes only. Does not: the format of keys (keys), rate limits (limits), sessions (sign_ins).
"""

import logging
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from serve.access import keys
from serve.clock import timestamp
from serve.http.errors import CommandError

log = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS accounts (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS subscriptions (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
  status TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  changed_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS keys (
  id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  sha256 BLOB NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT,
  revoked_at TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS day_counts (
  key_id TEXT PRIMARY KEY,
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL
) STRICT;
"""
KNOWN_FOR = 2.0  # seconds that a look-up is cached; a revocation must take effect within five
USED_EVERY = 60.0  # seconds between two updates of a key's `last_used_at`
WAIT = 5.0  # seconds to wait for another process to finish writing
EMAIL = re.compile(r"[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+")

Status = Literal["active", "inactive"]


@dataclass(frozen=True, slots=True)
class Key:
    """What is stored about a key, without the key itself; times are ISO 8601 in UTC."""

    id: str
    prefix: str
    last_four: str
    created_at: str
    last_used_at: str | None
    revoked_at: str | None

    def as_dict(self) -> dict[str, str | None]:
        """The fields by name, for JSON."""
        return asdict(self)


class KeyExists(CommandError):
    """A key with this identifier exists already."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a valid key: the key's identifier, and whether its subscription is active."""

    key_id: str
    is_active: bool


def new_key_id() -> str:
    """A new random key identifier, which is independent of the key."""
    return f"key_{secrets.token_hex(8)}"


class Accounts:
    """The accounts database, safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        """Open the database, and create it if it does not exist.

        Raises:
            CommandError: the file cannot be created or written, or is not such a database.
        """
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[float, Holder]] = {}
        with self._as_command_errors():
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            try:
                self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; {SCHEMA}")
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()

    def create_key(self, email: str, now: float, key_id: str | None = None) -> str:
        """Create a key for an account; create the account, with an inactive subscription, if it does not exist.

        Args:
            email: e-mail address of the account.
            now: Unix time.
            key_id: identifier of the key, which makes a repeated call fail instead of creating a second key (an
                idempotency key); default: a new one.

        Returns:
            The key. It is not stored and cannot be returned again.

        Raises:
            KeyExists: a key with this identifier exists.
            CommandError: `email` is not an e-mail address, or the file cannot be written.
        """
        key, key_id = keys.new_key(), key_id or new_key_id()
        with self.transaction() as connection:
            made = connection.execute(
                "INSERT INTO keys (id, account_id, sha256, prefix, last_four, created_at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO NOTHING",
                (key_id, self.made(email, now), keys.digest(key), keys.PREFIX, key[-4:], timestamp(now)),
            )
            if not made.rowcount:
                raise KeyExists(f"key {key_id!r} exists already")
        return key

    def keys_of(self, email: str) -> list[Key]:
        """The keys of an account, oldest first.

        Raises:
            CommandError: the account does not exist.
        """
        with self.transaction() as connection:
            rows = connection.execute(
                "SELECT id, prefix, last_four, created_at, last_used_at, revoked_at FROM keys WHERE account_id = ? "
                "ORDER BY rowid",
                (self._account(email),),
            ).fetchall()
        return [Key(*row) for row in rows]

    def revoke_key(self, key_id: str, now: float) -> None:
        """Revoke a key; if it is revoked already, its time of revocation stays.

        Raises:
            CommandError: the key does not exist.
        """
        with self.transaction() as connection:
            changed = connection.execute(
                "UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", (timestamp(now), key_id)
            )
            self._known.clear()
            if not changed.rowcount:
                raise CommandError(f"no key has the id {key_id!r}; `fundamentals keys list EMAIL` shows the ids")

    def set_subscription(self, email: str, status: Status, now: float) -> None:
        """Make the subscription of an account active or inactive.

        Raises:
            CommandError: the account does not exist.
        """
        with self.transaction() as connection:
            connection.execute(
                "UPDATE subscriptions SET status = ?, changed_at = ? WHERE account_id = ?",
                (status, timestamp(now), self._account(email)),
            )

    def holder(self, key: str, now: float) -> Holder | None:
        """The holder of a key; None if the key is malformed, unknown or revoked.

        Look-ups are cached for KNOWN_FOR seconds, so that most requests do not read the database.
        """
        if not keys.is_well_formed(key):
            return None
        if holder := self.known_holder(key, now):
            return holder
        digest = keys.digest(key)
        with self._lock:
            row = self._connection.execute(
                "SELECT keys.id, status = 'active' FROM keys JOIN subscriptions USING (account_id) "
                "WHERE sha256 = ? AND revoked_at IS NULL",
                (digest,),
            ).fetchone()
            if row is None:
                self._known.pop(digest, None)
                return None
            holder = Holder(row[0], bool(row[1]))
            self._known[digest] = (now, holder)
            self._note_use(holder.key_id, now)
        return holder

    def known_holder(self, key: str, now: float) -> Holder | None:
        """The holder of a key from the cache, or None; it never blocks."""
        looked_up, holder = self._known.get(keys.digest(key), (0.0, None))
        return holder if holder and 0 <= now - looked_up < KNOWN_FOR else None

    def day_counts(self, day: int) -> dict[str, int]:
        """The stored number of requests of each key on a day.

        Args:
            day: Unix time of the day's first second.

        Raises:
            CommandError: the file cannot be read.
        """
        with self.transaction() as connection:
            return dict(connection.execute("SELECT key_id, requests FROM day_counts WHERE day = ?", (day,)))

    def keep_day_counts(self, day: int, counts: Mapping[str, int]) -> None:
        """Store the number of requests of keys on a day, in place of what is stored for these keys.

        Raises:
            CommandError: the file cannot be written.
        """
        with self.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO day_counts (key_id, day, requests) VALUES (?, ?, ?)",
                [(key_id, day, count) for key_id, count in counts.items()],
            )

    def _note_use(self, key_id: str, now: float) -> None:
        """Store when a key was last used, to about a minute; a failure to write is logged and fails no request."""
        try:
            self._connection.execute(
                "UPDATE keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
                (timestamp(now), key_id, timestamp(now - USED_EVERY)),
            )
        except sqlite3.OperationalError as error:
            log.warning("last_used_at of key %s was not stored: %s", key_id, error)

    def made(self, email: str, now: float) -> int:
        """The database id of an account; the account is created, with an inactive subscription, if it does not exist.

        Call it within a transaction.

        Raises:
            CommandError: `email` is not an e-mail address.
        """
        if not EMAIL.fullmatch(email):
            raise CommandError(f"{email!r} is not an e-mail address, expected something like name@example.org")
        at = timestamp(now)
        self._connection.execute(
            "INSERT INTO accounts (email, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING", (email.lower(), at)
        )
        account = self._account(email)
        self._connection.execute(
            "INSERT INTO subscriptions VALUES (?, 'inactive', ?) ON CONFLICT DO NOTHING", (account, at)
        )
        return account

    def _account(self, email: str) -> int:
        found = self._connection.execute("SELECT id FROM accounts WHERE email = ?", (email.lower(),)).fetchone()
        if found is None:
            raise CommandError(f"there is no account {email!r}; `fundamentals keys create {email}` creates one")
        return int(found[0])

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one reading statement; it does not wait for processes that write."""
        with self._lock, self._as_command_errors():
            yield self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection in an exclusive transaction, which is rolled back on an exception.

        Raises:
            CommandError: the file cannot be read or written.
        """
        with self._lock, self._as_command_errors(), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def _as_command_errors(self) -> Iterator[Any]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise CommandError(
                f"{self._path}: {error}; check that FUNDAMENTALS_HOME is right and the file writable"
            ) from error
