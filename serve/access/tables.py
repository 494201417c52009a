"""The tables of the accounts database: accounts, subscriptions, keys, watchlists, sign-ins, counts and changes.

Belongs here: tables and columns, the same for each database system. Does not: connections and differences between the
systems (database), reading and writing rows (accounts, sign_ins, holders).

Times are text in ISO 8601 in UTC; times of expiry are Unix time. A table may be added, but the columns of an existing
table never change, because databases of earlier releases are opened as they are.
"""

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Identity,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn

NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # 8 bytes in both systems
SECONDS: Double[float] = Double().with_variant(REAL(), "sqlite")  # 8 bytes in both systems

metadata = MetaData()


def _table(name: str, *columns: Any) -> Table:
    return Table(name, metadata, *columns, sqlite_strict=True)


accounts = _table(
    "accounts",
    Column("id", NUMBER, primary_key=True),
    Column("email", Text, nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
)
subscriptions = _table(
    "subscriptions",
    Column("account_id", NUMBER, ForeignKey(accounts.c.id), primary_key=True, autoincrement=False),
    Column("status", Text, CheckConstraint("status IN ('active', 'inactive')"), nullable=False),
    Column("changed_at", Text, nullable=False),
)
keys = _table(
    "keys",
    Column("rowid", NUMBER, Identity()),  # the order of creation
    Column("id", Text, primary_key=True),
    Column("account_id", NUMBER, ForeignKey(accounts.c.id), nullable=False),
    Column("sha256", LargeBinary, nullable=False, unique=True),
    Column("prefix", Text, nullable=False),
    Column("last_four", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("last_used_at", Text),
    Column("revoked_at", Text),
)
daily_requests = _table(
    "daily_requests",
    Column("key_id", Text, primary_key=True),
    Column("day", NUMBER, primary_key=True, autoincrement=False),
    Column("requests", NUMBER, nullable=False),
)
changes = _table(
    "changes",
    Column("id", NUMBER, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("number", NUMBER, nullable=False),
)
sign_in_links = _table(
    "sign_in_links",
    Column("account_id", NUMBER, ForeignKey(accounts.c.id), primary_key=True, autoincrement=False),
    Column("sha256", LargeBinary, nullable=False, unique=True),
    Column("expires_at", SECONDS, nullable=False),
)
sessions = _table(
    "sessions",
    Column("sha256", LargeBinary, primary_key=True),
    Column("account_id", NUMBER, ForeignKey(accounts.c.id), nullable=False),
    Column("expires_at", SECONDS, nullable=False),
)
watched = _table(
    "watched",
    Column("account_id", NUMBER, ForeignKey(accounts.c.id), primary_key=True, autoincrement=False),
    Column("cik", Text, primary_key=True),
    Column("added_at", Text, nullable=False),
)
secrets = _table(
    "secrets",
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

WATCHED = {
    "key_revoked": "UPDATE OF revoked_at ON keys",
    "key_deleted": "DELETE ON keys",
    "subscription_changed": "UPDATE OF status ON subscriptions",
}
"""The changes after which services read their known keys again, by the name of the trigger."""
EARLIER = daily_requests.to_metadata(MetaData(), name="day_counts")
"""The table of earlier releases that `daily_requests` replaces; it has only one day of each key."""
MOVED = (f"INSERT INTO daily_requests SELECT key_id, day, requests FROM {EARLIER}", f"DROP TABLE {EARLIER}")
COUNT = "INSERT INTO changes VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET number = changes.number + 1"
"""The statement that the triggers execute."""


@compiles(CreateColumn, "sqlite")
def _column(column: CreateColumn, compiler: Any, **options: Any) -> str | None:
    """The definition of a column; None for `rowid`, which each table of SQLite has by itself."""
    if column.element is keys.c.rowid:
        return None
    return str(compiler.visit_create_column(column, **options))
