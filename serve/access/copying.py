"""Copying all accounts from one database into another one, of the same or another database system.

Belongs here: which rows are copied, and in which order. Does not: connections and differences between the systems
(database), the command (cli.commands).

Keys, sign-in links and sessions are hashes, and the copy has the secret that signs cookies: keys, links and sign-ins
work with the copy as before. The target assigns new numbers to accounts, so that its own numbering continues. The
target keeps its own number of changes, which its services compare with the number that they have read.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Table, func, insert, inspect, select

from serve.access import tables
from serve.access.database import Database
from serve.errors import CommandError

COPIED = tuple(table for table in tables.metadata.sorted_tables if table is not tables.changes)
"""The tables that are copied; a table comes after the tables that it refers to."""
NUMBERED = {tables.accounts.c.id, tables.keys.c.rowid}
"""Columns that the target numbers itself, in the order of the source."""
AT_ONCE = 10_000  # rows in memory


def copy(source: Database, target: Database) -> dict[str, int]:
    """Copy all accounts in the state of one moment, in one transaction; on an error the target stays empty.

    Args:
        source: the database to read; it is not changed. Tables that are missing in a database of an earlier release
            count as empty.
        target: the database to write, with all tables.

    Returns:
        the number of rows that were copied, by table.

    Raises:
        CommandError: the source has no accounts, or the target is not empty.
        DatabaseError: the source cannot be read, or the target cannot be written.
    """
    with source.reading() as reading, target.writing() as writing:
        reading.exec_driver_sql(source.system.snapshot)
        existing = {*inspect(reading).get_table_names()}
        if tables.accounts.name not in existing:
            raise CommandError(f"{source.name} is not a database of accounts: it has no table {tables.accounts.name}")
        writing.exec_driver_sql(target.system.alone)  # of two copies, the second waits, then sees the first
        _require_empty(writing, target.name)
        numbers: dict[int, int] = {}
        copied = {}
        for table in COPIED:
            copied[table.name] = 0
            earlier = tables.EARLIER if table is tables.daily_requests else table
            held = next((each for each in (table, earlier) if each.name in existing), None)
            if held is not None:
                for rows in _rows(reading, held, numbers):
                    writing.execute(insert(table), rows)
                    copied[table.name] += len(rows)
            if table is tables.accounts:
                numbers = _numbers(reading, writing)
        return copied


def _require_empty(target: Connection, name: str) -> None:
    """Refuse a target that already has rows: two secrets, or an address twice, cannot be merged."""
    counts = {table.name: target.execute(select(func.count()).select_from(table)).scalar_one() for table in COPIED}
    if found := ", ".join(f"{table} {count:,}" for table, count in counts.items() if count):
        raise CommandError(
            f"{name} is not empty ({found}), and nothing was copied; stop the services that use it, and copy into an "
            "empty one"
        )


def _rows(source: Connection, table: Table, numbers: dict[int, int]) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table in the order in which they were created, with the numbers of accounts in the target."""
    columns = [column for column in table.columns if column not in NUMBERED]
    order = [column for column in table.columns if column in NUMBERED] or list(table.primary_key)
    found = source.execute(select(*columns).order_by(*order), execution_options={"yield_per": AT_ONCE})
    for part in found.mappings().partitions():
        rows = [dict(row) for row in part]
        for row in rows:
            if "account_id" in row:
                row["account_id"] = numbers[row["account_id"]]
        yield rows


def _numbers(source: Connection, target: Connection) -> dict[int, int]:
    """The number of each account in the target, by its number in the source."""
    own = tables.accounts.c
    new = dict(map(tuple, target.execute(select(own.email, own.id))))
    return {number: new[email] for number, email in source.execute(select(own.id, own.email))}
