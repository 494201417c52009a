"""Accounts, their subscriptions and API keys, in the database of the accounts.

Belongs here: creating and changing them (commands, profile page). Keys are stored as hashes only. Does not: connections
and transactions (database), the format of keys (keys), the look-up of a key (holders), rate limits (limits), sessions
(sign_ins).
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, delete, func, select, true, update

from serve.access import keys, tables
from serve.access.database import Database, elements, opened
from serve.clock import timestamp
from serve.errors import CommandError

MOST_KEYS = 10  # active keys of an account
OTHER_DAYS = 2  # days, besides the present one, whose numbers of requests are stored
EMAIL = re.compile(r"[^@\s\x00-\x1f\ud800-\udfff]+@[^@\s\x00-\x1f\ud800-\udfff]+")

Status = Literal["active", "inactive"]


@dataclass(frozen=True, slots=True)
class Key:
    """The stored data of a key, without the key itself; times are ISO 8601 in UTC."""

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
    """The account has the largest allowed number of active keys."""


def new_key_id() -> str:
    """A new random key identifier, which is independent of the key."""
    return f"key_{secrets.token_hex(8)}"


class Accounts:
    """The accounts database, safe for threads and processes."""

    def __init__(self, place: Path | str) -> None:
        """Open the database, and create missing tables.

        Args:
            place: a file of SQLite, or the address of a PostgreSQL database.

        Raises:
            DatabaseError: it cannot be created or written, or is not a database of accounts.
            CommandError: the address is not one of PostgreSQL, or its driver is not installed.
        """
        self.database: Database = opened(place)
        self._insert = self.database.system.insert

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def check(self) -> None:
        """Check the whole database if it is a file; a database server checks its own files.

        Raises:
            CommandError: it is damaged.
        """
        self.database.check()

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
            DatabaseError: the database cannot be written.
            CommandError: `email` is not an e-mail address.
        """
        key, key_id, own = keys.new_key(), key_id or new_key_id(), tables.keys
        with self.database.writing() as connection:
            account = self.found_or_created(connection, email, now)
            created = connection.scalar(
                self._insert(own)
                .values(
                    id=key_id,
                    account_id=account,
                    sha256=keys.digest(key.encode()),
                    prefix=keys.PREFIX,
                    last_four=key[-4:],
                    created_at=timestamp(now),
                )
                .on_conflict_do_nothing(index_elements=[own.c.id])
                .returning(own.c.id)
            )
            if created is None:
                raise KeyExists(f"key {key_id!r} exists already")
            active = connection.execute(
                select(func.count()).where(own.c.account_id == account, own.c.revoked_at.is_(None))
            ).scalar_one()
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
        own = tables.keys.c
        with self.database.reading() as connection:
            rows = connection.execute(
                select(own.id, own.prefix, own.last_four, own.created_at, own.last_used_at, own.revoked_at)
                .where(own.account_id == _account(connection, email))
                .order_by(own.rowid)
            ).all()
        return [Key(*row) for row in rows]

    def email_of(self, key_id: str) -> str:
        """The e-mail address of the account to which a key belongs.

        Raises:
            DatabaseError: the database cannot be read.
            CommandError: the key does not exist.
        """
        of, own = tables.accounts.c, tables.keys.c
        with self.database.reading() as connection:
            found = connection.scalar(
                select(of.email).join(tables.keys, own.account_id == of.id).where(own.id == key_id)
            )
        if found is None:
            raise CommandError(f"no key has the id {key_id!r}")
        return str(found)

    def revoke_key(self, key_id: str, now: float) -> None:
        """Revoke a key; if it is already revoked, its time of revocation stays.

        Raises:
            CommandError: the key does not exist.
        """
        own = tables.keys
        with self.database.writing() as connection:
            changed = connection.execute(
                update(own).where(own.c.id == key_id).values(revoked_at=func.coalesce(own.c.revoked_at, timestamp(now)))
            )
            if not changed.rowcount:
                raise CommandError(f"no key has the id {key_id!r}; `fundamentals keys list EMAIL` shows the ids")

    def set_subscription(self, email: str, status: Status, now: float) -> None:
        """Make the subscription of an account active or inactive.

        Raises:
            CommandError: the account does not exist.
        """
        own = tables.subscriptions
        with self.database.writing() as connection:
            connection.execute(
                update(own)
                .where(own.c.account_id == _account(connection, email))
                .values(status=status, changed_at=timestamp(now))
            )

    def day_counts(self, day: int) -> dict[str, int]:
        """The stored number of requests of each key on a day.

        Args:
            day: Unix time of the day's first second.

        Raises:
            DatabaseError: the database cannot be read.
        """
        own = tables.daily_requests.c
        with self.database.reading() as connection:
            rows = connection.execute(select(own.key_id, own.requests).where(own.day == day)).all()
        return dict(map(tuple, rows))

    def add_day_counts(self, day: int, counts: Mapping[str, int]) -> None:
        """Add to the stored numbers of requests of keys on a day.

        They are added, not replaced, because several processes may count the requests of a key.

        Args:
            day: Unix time of the day's first second.
            counts: the number of requests to add, by key identifier.

        Raises:
            DatabaseError: the database cannot be written.
        """
        own, given = tables.daily_requests, elements(self.database.system, "counts").c.value
        # one statement: between two of them, this thread and the event loop would wait for each other
        rows = select(given[0].as_string(), given[1].as_integer(), given[2].as_integer()).where(true())
        added = self._insert(own).from_select([own.c.key_id, own.c.day, own.c.requests], rows)
        statement = added.on_conflict_do_update(
            index_elements=[own.c.key_id, own.c.day],
            set_={"requests": own.c.requests + added.excluded.requests},
        )
        with self.database.writing() as connection:
            connection.execute(statement, {"counts": [[key, day, count] for key, count in sorted(counts.items())]})

    def forget_days(self, day: int) -> None:
        """Remove the stored numbers of requests of all days except the given day and the newest OTHER_DAYS others.

        The others may be later days, written while the clock was ahead, or the right days, if the clock is ahead now.

        Args:
            day: Unix time of the first second of the day that stays.

        Raises:
            DatabaseError: the database cannot be written.
        """
        own = tables.daily_requests
        newest = select(own.c.day).where(own.c.day != day).distinct().order_by(own.c.day.desc()).limit(OTHER_DAYS)
        with self.database.writing() as connection:
            connection.execute(delete(own).where(own.c.day != day, own.c.day.not_in(newest)))

    def note_uses(self, uses: Mapping[str, float], apart: float) -> None:
        """Store when keys were last used, but not if the stored use is less than `apart` seconds older.

        Args:
            uses: Unix time of the last use, by key identifier.
            apart: seconds.

        Raises:
            DatabaseError: the database cannot be written.
        """
        own, given = tables.keys, elements(self.database.system, "uses").c.value
        # one statement, see add_day_counts
        statement = (
            update(own)
            .where(
                own.c.id == given[0].as_string(),
                func.coalesce(own.c.last_used_at, "") < given[2].as_string(),
            )
            .values(last_used_at=given[1].as_string())
        )
        rows = [[key_id, timestamp(at), timestamp(at - apart)] for key_id, at in sorted(uses.items())]
        with self.database.writing() as connection:
            connection.execute(statement, {"uses": rows})

    def found_or_created(self, connection: Connection, email: str, now: float) -> int:
        """The database id of an account; the account is created, with an inactive subscription, if it does not exist.

        The account is locked until the transaction ends.

        Args:
            connection: a connection in a transaction.
            email: e-mail address of the account.
            now: Unix time.

        Raises:
            CommandError: `email` is not an e-mail address.
        """
        if not EMAIL.fullmatch(email):
            raise CommandError(f"{email!r} is not an e-mail address, expected something like name@example.org")
        at = timestamp(now)
        connection.execute(
            self._insert(tables.accounts).values(email=email.lower(), created_at=at).on_conflict_do_nothing()
        )
        account = _account(connection, email, is_locked=True)
        connection.execute(
            self._insert(tables.subscriptions)
            .values(account_id=account, status="inactive", changed_at=at)
            .on_conflict_do_nothing()
        )
        return account


def _account(connection: Connection, email: str, *, is_locked: bool = False) -> int:
    own = tables.accounts.c
    wanted = select(own.id).where(own.email == email.lower())
    found: int | None = connection.scalar(wanted.with_for_update() if is_locked else wanted)
    if found is None:
        raise CommandError(f"there is no account {email!r}; `fundamentals keys create {email}` creates one")
    return found
