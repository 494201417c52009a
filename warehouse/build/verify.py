"""Verification of a new build before it is published, and the hash of its content.

Belongs here: conditions that every build must meet. Does not: the plausibility of values (the pipeline's checks),
writing or removing files (publish).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from warehouse.build.digest import has_digest
from warehouse.build.newest_filing import NEWEST_FILING
from warehouse.build.opening import open_read_only
from warehouse.build.pointer import Pointer
from warehouse.build.rows import Rows
from warehouse.contract import schema
from warehouse.contract.table import Table
from warehouse.errors import PublishError, VerificationError, first_line

MEMORY = "1GB"
"""DuckDB's memory limit while a build is written or verified; larger data go through files next to the build."""


class Sums(NamedTuple):
    """Checksums of rows: their number, and the XOR and the total of their hashes, which do not depend on the order."""

    rows: int = 0
    xor: int = 0
    total: int = 0

    def plus(self, other: "Sums") -> "Sums":
        """The sums of these rows and further ones."""
        return Sums(self.rows + other.rows, self.xor ^ other.xor, self.total + other.total)

    def less(self, other: "Sums") -> "Sums":
        """The sums of these rows without a part of them."""
        return Sums(self.rows - other.rows, self.xor ^ other.xor, self.total - other.total)

    def __str__(self) -> str:
        return f"{self.rows} {self.xor} {self.total}" if self.rows else "0 None None"

    @classmethod
    def of_text(cls, text: str) -> "Sums":
        """Parse sums from their text (`__str__`)."""
        return cls(*(int(each) for each in text.replace("None", "0").split()))


class Replaced(NamedTuple):
    """The rows of a table that an overlay replaced: an SQL condition that selects them, and their sums."""

    condition: str
    sums: Sums


@dataclass(frozen=True, slots=True)
class Contents:
    """Statistics of a build: sums of rows by table, content hash, newest filing date, number of covered companies."""

    sums: Mapping[str, Sums]
    content_hash: str
    newest_filing: str | None
    companies: int


def verify(path: Path, expected: Mapping[str, Sums], replaced: Mapping[str, Replaced] | None = None) -> Contents:
    """Check a new build: open it as its readers do, and read all rows except unchanged rows of its base.

    Args:
        path: the file of the build.
        expected: the sums of the expected rows by table.
        replaced: the new rows of tables that were changed in part; their other rows were checked in an earlier build.

    Raises:
        VerificationError: the file cannot be read, it has other rows, a key occurs twice, or a number is not finite.
    """
    try:
        with open_read_only(path, MEMORY) as connection:
            held: dict[str, Sums] = {}
            wrong: list[str] = []
            for table in schema.TABLES:
                held[table.name], found_wrong = _examined(
                    connection, table, expected[table.name], (replaced or {}).get(table.name)
                )
                wrong += found_wrong
            if wrong:
                raise VerificationError(f"{'; '.join(wrong)}; the build was removed")
            newest = connection.execute(NEWEST_FILING).fetchall()[0][0]
            companies = count(connection, "companies WHERE is_primary AND is_listed AND first_period_end IS NOT NULL")
            return Contents(held, _digest(held), newest and newest.isoformat(), companies)
    except duckdb.Error as error:
        raise VerificationError(f"{first_line(error)}; the build was removed") from error


def _examined(
    connection: duckdb.DuckDBPyConnection, table: Table, expected: Sums, replaced: Replaced | None
) -> tuple[Sums, list[str]]:
    """The sums of the rows of a table, and messages on what is wrong with it; each column is read once.

    Of a table with replaced rows, only these and the number of all rows are examined; if they are as expected, the sums
    are the expected ones. Columns that the content hash skips are read too, so that DuckDB verifies their blocks.
    """
    rows = f'(FROM "{table.name}" WHERE {replaced.condition})' if replaced else f'"{table.name}"'
    key = ", ".join(f'"{name}"' for name in table.key)
    doubles = [column.name for column in table.columns if column.type == "DOUBLE"]
    counts = [
        f"count(DISTINCT hash({key}))",
        *(f'count(*) FILTER (WHERE NOT isfinite("{name}"))' for name in doubles),
        *(f'bit_xor(hash("{name}"))' for name in table.not_content),
    ]
    found, (keys, *others) = _summed(connection, table, rows, counts)
    held = found
    if replaced:
        number = count(connection, f'"{table.name}"')
        held = expected if (found, number) == (replaced.sums, expected.rows) else found._replace(rows=number)
    wrong = [] if held == expected else [f"{table.name} has {_difference(held, expected)}"]
    # equal keys have equal hashes, which are compared in half the time
    wrong += [] if keys == found.rows else _repeated_keys(connection, table, rows)
    infinite = [(name, number) for name, number in zip(doubles, others, strict=False) if number]
    wrong += [f"{table.name}.{name} has {number} values that are not finite" for name, number in infinite]
    return held, wrong


def _difference(held: Sums, expected: Sums) -> str:
    if held.rows != expected.rows:
        return f"{held.rows} rows, expected {expected.rows}"
    return "other rows than it was made from"


def is_whole(published: Path, pointer: Pointer) -> bool:
    """Whether a build is as it was published; False if it cannot be read.

    A build of an earlier release has no digest: only its rows are compared.
    """
    if pointer.digest:
        return has_digest(published, pointer)
    try:
        with open_read_only(published / pointer.file) as connection:
            return content_hash(connection) == pointer.content_hash
    except duckdb.Error:
        return False


def _repeated_keys(connection: duckdb.DuckDBPyConnection, table: Table, rows: str) -> list[str]:
    key = ", ".join(f'"{name}"' for name in table.key)
    repeated = connection.execute(
        f"SELECT {key}, count(*) FROM {rows} GROUP BY {key} HAVING count(*) > 1 ORDER BY ALL LIMIT 1"
    ).fetchall()
    return [f"{table.name} has {row[-1]} rows with the key {'/'.join(map(str, row[:-1]))}" for row in repeated]


def count(connection: duckdb.DuckDBPyConnection, what: str) -> int:
    """The number of rows of a table, or of anything that SQL allows after FROM."""
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchall()[0][0])


def content_hash(connection: duckdb.DuckDBPyConnection) -> str:
    """A digest of a build's content: equal for equal rows, in any order and file, with one version of DuckDB.

    It is the SHA-256 of the tables' names, numbers of rows, and two sums of the rows' hashes, which do not depend on
    their order: the XOR and the total. DuckDB's hash of a row is hashed once more, because a XOR of its plain hashes
    would not change if two rows exchanged a value. Columns about this service's own runs (`not_content`) are left out.
    A new version of DuckDB may hash differently: then the first synchronization with it publishes the same rows again.
    """
    return _digest({table.name: sums(connection, table, f'"{table.name}"') for table in schema.TABLES})


def sums(connection: duckdb.DuckDBPyConnection, table: Table, source: str | None) -> Sums:
    """The sums of rows from SQL that have the columns of a table."""
    return Sums() if source is None else _summed(connection, table, source, [])[0]


def _summed(
    connection: duckdb.DuckDBPyConnection, table: Table, source: str, aggregates: Sequence[str]
) -> tuple[Sums, list[Any]]:
    """The sums of rows from SQL, and further aggregates of the same rows."""
    columns = ", ".join(f'"{name}"' for name in table.content_names)
    hashed = f"hash(hash({columns}))" if columns else "0"
    wanted = ", ".join(["count(*)", "bit_xor(h)", "sum(h)", *aggregates])
    found = connection.execute(f"SELECT {wanted} FROM (SELECT *, {hashed} AS h FROM {source})").fetchall()
    rows, xor, total, *others = found[0]
    return Sums(rows, xor or 0, int(total or 0)), others


def source(connection: duckdb.DuckDBPyConnection, table: Table, rows: Rows | None) -> str | None:
    """SQL for the rows of a table, after checking their columns; None if it has no rows.

    Raises:
        PublishError: a file cannot be read, or has other columns.
    """
    if rows is None or not rows.files:
        return None
    try:
        found = [f"{row[0]} {row[1]}" for row in connection.execute(f"DESCRIBE FROM {rows.sql}").fetchall()]
    except duckdb.Error as error:
        raise PublishError(f"table {table.name}: {rows.files[0][0]}: {first_line(error)}") from error
    wanted = [f"{column.name} {column.type}" for column in table.columns]
    if found != wanted:
        missing, unknown = ([each for each in a if each not in b] for a, b in ((wanted, found), (found, wanted)))
        raise PublishError(
            f"table {table.name}: {rows.files[0][0]}: columns missing {missing}, unknown {unknown}; expected {wanted}"
        )
    return rows.sql


def _digest(held: Mapping[str, Sums]) -> str:
    with_content = [table.name for table in schema.TABLES if table.content_names]
    lines = [f"{name} {held[name]}" for name in with_content]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
