"""Verification of a new build before it is published, and the hash of its content.

Belongs here: conditions that every build must meet. Does not: the plausibility of values (the pipeline's checks),
writing or removing files (publish).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from warehouse import schema
from warehouse.errors import VerificationError, first_line
from warehouse.reader import open_read_only


@dataclass(frozen=True, slots=True)
class Contents:
    """Statistics of a build: rows by table, content hash, newest filing date, number of covered companies."""

    rows: Mapping[str, int]
    content_hash: str
    newest_filing: str | None
    companies: int


def verify(path: Path, expected: Mapping[str, int]) -> Contents:
    """Read a new build completely, with the same settings as its readers, and check it.

    Args:
        path: the file of the build.
        expected: the expected number of rows by table.

    Raises:
        VerificationError: the file cannot be read, a number of rows differs, a key occurs twice, or a number is not
            finite.
    """
    try:
        with open_read_only(path) as connection:
            rows = {table.name: _count(connection, f'"{table.name}"') for table in schema.TABLES}
            wrong = [
                f"{name} has {rows[name]} rows, expected {expected[name]}"
                for name in rows
                if rows[name] != expected[name]
            ]
            for table in schema.TABLES:
                wrong += _repeated_keys(connection, table) + _not_finite(connection, table)
                _read_uncounted(connection, table)
            if wrong:
                raise VerificationError(f"{'; '.join(wrong)}; the build was removed")
            newest = connection.execute("SELECT CAST(max(filed) AS VARCHAR) FROM filings").fetchall()[0][0]
            companies = _count(connection, "companies WHERE is_primary AND is_listed AND first_period_end IS NOT NULL")
            return Contents(rows, content_hash(connection), newest, companies)
    except duckdb.Error as error:
        raise VerificationError(f"{first_line(error)}; the build was removed") from error


def _repeated_keys(connection: duckdb.DuckDBPyConnection, table: schema.Table) -> list[str]:
    key = ", ".join(f'"{name}"' for name in table.key)
    repeated = connection.execute(
        f'SELECT {key}, count(*) FROM "{table.name}" GROUP BY {key} HAVING count(*) > 1 ORDER BY ALL LIMIT 1'
    ).fetchall()
    return [f"{table.name} has {row[-1]} rows with the key {'/'.join(map(str, row[:-1]))}" for row in repeated]


def _not_finite(connection: duckdb.DuckDBPyConnection, table: schema.Table) -> list[str]:
    """Messages on columns with NaN or infinity, which JSON cannot represent."""
    columns = [column.name for column in table.columns if column.type == "DOUBLE"]
    if not columns:
        return []
    counted = ", ".join(f'count(*) FILTER (WHERE NOT isfinite("{name}"))' for name in columns)
    [counts] = connection.execute(f'SELECT {counted} FROM "{table.name}"').fetchall()
    counts_of = zip(columns, counts, strict=True)
    return [f"{table.name}.{name} has {count} values that are not finite" for name, count in counts_of if count]


def _read_uncounted(connection: duckdb.DuckDBPyConnection, table: schema.Table) -> None:
    """Read the columns that the content hash skips, so that DuckDB verifies the checksums of their blocks too."""
    if table.not_content:
        hashes = ", ".join(f'bit_xor(hash("{name}"))' for name in table.not_content)
        connection.execute(f'SELECT {hashes} FROM "{table.name}"').fetchall()


def _count(connection: duckdb.DuckDBPyConnection, what: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchall()[0][0])


def content_hash(connection: duckdb.DuckDBPyConnection) -> str:
    """A digest of a build's content: equal for equal rows, in any order and file, with one version of DuckDB.

    It is the SHA-256 of the tables' names, numbers of rows, and two sums of the rows' hashes, which do not depend on
    their order: the XOR and the total. DuckDB's hash of a row is hashed once more, because a XOR of its plain hashes
    would not change if two rows exchanged a value. Columns on this service's own runs (`not_content`) are left out.
    A new version of DuckDB may hash differently: then the first synchronization with it publishes the same rows again.
    """
    lines = []
    for table in schema.TABLES:
        if table.content_names:
            columns = ", ".join(f'"{name}"' for name in table.content_names)
            hashed = f'SELECT hash(hash({columns})) AS hashed FROM "{table.name}"'
            sums = connection.execute(f"SELECT count(*), bit_xor(hashed), sum(hashed) FROM ({hashed})").fetchall()[0]
            lines.append(f"{table.name} {' '.join(map(str, sums))}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
