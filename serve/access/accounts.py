"""Accounts, their subscriptions and keys, in one SQLite file below the home.

Belongs here: who may ask, made and changed by commands and on the profile page, looked up by the service. A key itself
is never kept. Does not: the form of a key (keys), how often it may ask (limits), who is signed in (sign_ins).
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
from serve.errors import CommandError

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
KNOWN_FOR = 2.0  # seconds that a look-up is believed; a revocation must be felt within five
USED_EVERY = 60.0  # seconds between two notes that a key was used
WAIT = 5.0  # seconds for another process to finish writing
EMAIL = re.compile(r"[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+")

Status = Literal["active", "inactive"]


@dataclass(frozen=True, slots=True)
class Key:
    """What may be known of a key once it was handed out; times are ISO 8601 in UTC."""

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
    """What was to be made is there already."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who asks: a key that is valid, and whether its subscription is active."""

    key_id: str
    is_active: bool


def new_key_id() -> str:
    """An identifier that no key has; it tells nothing of the key."""
    return f"key_{secrets.token_hex(8)}"


class Accounts:
    """The accounts in a file, which is made where it is missing; threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            CommandError: it cannot be made or written, or is something else.
        """
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[bytes, tuple[float, Holder]] = {}
        with self._errors_told():
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            try:
                self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; {SCHEMA}")
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def create_key(self, email: str, now: float, key_id: str | None = None) -> str:
        """Make a key for an account, and the account, with an inactive subscription, where there is none.

        Args:
            email: of the account.
            now: Unix time.
            key_id: the key's identifier, for who may ask twice and wants one key; a new one where it is not given.

        Returns:
            The key: the only time that it is seen.

        Raises:
            KeyExists: there is one of this identifier.
            CommandError: `email` is none, or the file cannot be written.
        """
        key, key_id = keys.new_key(), key_id or new_key_id()
        with self.transaction() as connection:
            made = connection.execute(
                "INSERT INTO keys (id, account_id, sha256, prefix, last_four, created_at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO NOTHING",
                (key_id, self.made(email, now), keys.digest(key), keys.PREFIX, key[-4:], timestamp(now)),
            )
            if not made.rowcount:
                raise KeyExists(f"there is a key {key_id!r} already, and it was shown")
        return key

    def keys_of(self, email: str) -> list[Key]:
        """The keys of an account, oldest first.

        Raises:
            CommandError: there is no such account.
        """
        with self.transaction() as connection:
            rows = connection.execute(
                "SELECT id, prefix, last_four, created_at, last_used_at, revoked_at FROM keys WHERE account_id = ? "
                "ORDER BY rowid",
                (self._account(email),),
            ).fetchall()
        return [Key(*row) for row in rows]

    def revoke_key(self, key_id: str, now: float) -> None:
        """End a key; one that is revoked already stays so, with its time.

        Raises:
            CommandError: there is no such key.
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
            CommandError: there is no such account.
        """
        with self.transaction() as connection:
            connection.execute(
                "UPDATE subscriptions SET status = ?, changed_at = ? WHERE account_id = ?",
                (status, timestamp(now), self._account(email)),
            )

    def holder(self, key: str, now: float) -> Holder | None:
        """Who holds a key; None for one that is malformed, unknown or revoked.

        What was looked up is believed for KNOWN_FOR seconds, which spares most requests the file.
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
        """Who holds a key, where that was looked up a moment ago; it never blocks."""
        looked_up, holder = self._known.get(keys.digest(key), (0.0, None))
        return holder if holder and 0 <= now - looked_up < KNOWN_FOR else None

    def day_counts(self, day: int) -> dict[str, int]:
        """How many requests each key made on a day, as far as that was kept.

        Args:
            day: Unix time of its first second.

        Raises:
            CommandError: the file cannot be read.
        """
        with self.transaction() as connection:
            return dict(connection.execute("SELECT key_id, requests FROM day_counts WHERE day = ?", (day,)))

    def keep_day_counts(self, day: int, counts: Mapping[str, int]) -> None:
        """Keep how many requests some keys made on a day; what they made on others is forgotten.

        Raises:
            CommandError: the file cannot be written.
        """
        with self.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO day_counts (key_id, day, requests) VALUES (?, ?, ?)",
                [(key_id, day, count) for key_id, count in counts.items()],
            )

    def _note_use(self, key_id: str, now: float) -> None:
        """Keep when a key was last used, about; a request is not refused because that cannot be written."""
        try:
            self._connection.execute(
                "UPDATE keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
                (timestamp(now), key_id, timestamp(now - USED_EVERY)),
            )
        except sqlite3.OperationalError as error:
            log.warning("the use of key %s was not noted: %s", key_id, error)

    def made(self, email: str, now: float) -> int:
        """The number of an account, which is made, with an inactive subscription, where there is none.

        To be called within a transaction.

        Raises:
            CommandError: `email` is none.
        """
        if not EMAIL.fullmatch(email):
            raise CommandError(f"{email!r} is no e-mail address, expected something like name@example.org")
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
            raise CommandError(f"there is no account {email!r}; `fundamentals keys create {email}` makes one")
        return int(found[0])

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One statement that changes nothing; it waits for no process that writes."""
        with self._lock, self._errors_told():
            yield self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; one at a time.

        Raises:
            CommandError: the file cannot be read or written.
        """
        with self._lock, self._errors_told(), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def _errors_told(self) -> Iterator[Any]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise CommandError(f"{self._path}: {error}; is FUNDAMENTALS_HOME right, and may it be written?") from error
