"""Accounts, their subscriptions and API keys, in one SQLite file in the home.

Belongs here: creating and changing them (commands, profile page), and the connections to the file. Keys are stored as
hashes only. Does not: the format of keys (keys), the look-up of a key (holders), rate limits (limits), sessions
(sign_ins).

The file is in WAL mode: a process that writes delays other writers, but no reader.
"""

import contextlib
import json
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
from warehouse import sqlite

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
CREATE TABLE IF NOT EXISTS changes (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL
) STRICT;
"""
CHANGES = {
    "key_revoked": "UPDATE OF revoked_at ON keys",
    "key_deleted": "DELETE ON keys",
    "subscription_changed": "UPDATE OF status ON subscriptions",
}
"""What makes services read their known keys again, by the name of its trigger."""
TRIGGERS = "".join(
    f"CREATE TRIGGER IF NOT EXISTS {name} AFTER {change} BEGIN "
    "INSERT INTO changes VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET number = number + 1; END;\n"
    for name, change in CHANGES.items()
)
MOST_KEYS = 10  # active keys of an account
WAIT = 5.0  # seconds to wait for another process to finish writing
DAMAGED = "stop the service, and run `fundamentals restore PATH --accounts` with the path of a backup"
"""What to do about a damaged file."""
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


class TooManyKeys(CommandError):
    """The account has as many active keys as it may have."""


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
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self.transactions = 0
        """Number of transactions of this object."""
        with self._as_command_errors():
            path.touch(mode=0o600)
        with contextlib.ExitStack() as opened:
            self._connection = opened.enter_context(contextlib.closing(self.connect()))
            with self._as_command_errors():
                self._connection.executescript(f"PRAGMA journal_mode = WAL; {SCHEMA} {TRIGGERS}")
            self._reader = opened.enter_context(contextlib.closing(self.connect()))
            self._opened = opened.pop_all()

    def connect(self, wait: float = WAIT) -> sqlite3.Connection:
        """A new connection, which waits at most `wait` seconds for other processes.

        Raises:
            CommandError: the file cannot be opened.
        """
        with self._as_command_errors():
            connection = sqlite3.connect(self._path, timeout=wait, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA foreign_keys = ON")
            return connection

    def close(self) -> None:
        """Close the database."""
        with self._writing, self._reading:
            self._opened.close()

    def check(self) -> None:
        """Read the whole database.

        Raises:
            CommandError: it is damaged.
        """
        if said := sqlite.damage(self._path, refers=True):
            raise CommandError(f"{self._path}: {said}; the file is damaged: {DAMAGED}")

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
            TooManyKeys: the account has MOST_KEYS active keys.
            CommandError: `email` is not an e-mail address, or the file cannot be written.
        """
        key, key_id = keys.new_key(), key_id or new_key_id()
        with self.transaction() as connection:
            account = self.made(email, now)
            made = connection.execute(
                "INSERT INTO keys (id, account_id, sha256, prefix, last_four, created_at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO NOTHING",
                (key_id, account, keys.digest(key.encode()), keys.PREFIX, key[-4:], timestamp(now)),
            )
            if not made.rowcount:
                raise KeyExists(f"key {key_id!r} exists already")
            [(active,)] = connection.execute(
                "SELECT count(*) FROM keys WHERE account_id = ? AND revoked_at IS NULL", (account,)
            )
            if active > MOST_KEYS:
                raise TooManyKeys(
                    f"account {email!r} has {MOST_KEYS} active keys and can have no more; revoke one first: "
                    f"`fundamentals keys list {email}` shows their ids, `fundamentals keys revoke KEY_ID` revokes one"
                )
        return key

    def keys_of(self, email: str) -> list[Key]:
        """The keys of an account, oldest first.

        Raises:
            CommandError: the account does not exist.
        """
        with self.reading() as connection:
            rows = connection.execute(
                "SELECT id, prefix, last_four, created_at, last_used_at, revoked_at FROM keys WHERE account_id = ? "
                "ORDER BY rowid",
                (_account(connection, email),),
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
                (status, timestamp(now), _account(connection, email)),
            )

    def day_counts(self, day: int) -> dict[str, int]:
        """The stored number of requests of each key on a day.

        Args:
            day: Unix time of the day's first second.

        Raises:
            CommandError: the file cannot be read.
        """
        with self.reading() as connection:
            return dict(connection.execute("SELECT key_id, requests FROM day_counts WHERE day = ?", (day,)))

    def keep_day_counts(self, day: int, counts: Mapping[str, int]) -> None:
        """Store the number of requests of keys on a day, in place of what is stored for these keys.

        Raises:
            CommandError: the file cannot be written.
        """
        with self.transaction() as connection:
            # one statement: between two of them, this thread and the event loop would wait for each other
            connection.execute(
                "INSERT OR REPLACE INTO day_counts (key_id, day, requests) SELECT key, ?, value FROM json_each(?)",
                (day, json.dumps(counts)),
            )

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
        account = _account(self._connection, email)
        self._connection.execute(
            "INSERT INTO subscriptions VALUES (?, 'inactive', ?) ON CONFLICT DO NOTHING", (account, at)
        )
        return account

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading statements, which do not wait for processes that write."""
        with self._reading, self._as_command_errors():
            yield self._reader

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection in an exclusive transaction, which is rolled back on an exception.

        Raises:
            CommandError: the file cannot be read or written.
        """
        with self._writing, self._as_command_errors(), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
        self.transactions += 1

    @contextmanager
    def _as_command_errors(self) -> Iterator[Any]:
        try:
            yield
        except (*sqlite.ERRORS, OSError) as error:
            advice = "check that FUNDAMENTALS_HOME is right and the file writable"
            code = getattr(error, "sqlite_errorcode", None)
            if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) or isinstance(error, UnicodeDecodeError):
                advice = f"the file is damaged: {DAMAGED}"
            raise CommandError(f"{self._path}: {sqlite.in_one_line(error)}; {advice}") from error


def _account(connection: sqlite3.Connection, email: str) -> int:
    found = connection.execute("SELECT id FROM accounts WHERE email = ?", (email.lower(),)).fetchone()
    if found is None:
        raise CommandError(f"there is no account {email!r}; `fundamentals keys create {email}` creates one")
    return int(found[0])
