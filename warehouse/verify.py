"""Verification: reading a build back, whole, before anything points to it; and the hash of what it says.

Belongs here: what must hold of any build, whatever its data. Does not: whether values are plausible (the pipeline's
checks), making or removing files (publish).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from warehouse import schema
from warehouse.errors import VerificationError, first_line
from warehouse.reader import open_read_only

WHOLE = 1e15
"""Whole numbers below it are exact in a DOUBLE, and have no exponent when they are written to 17 digits."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a build holds: rows by table, the content hash, the newest filing date, how many companies."""

    rows: Mapping[str, int]
    content_hash: str
    newest_filing: str | None
    companies: int


def verify(path: Path, expected: Mapping[str, int]) -> Contents:
    """Read a new file back, whole, through the same door as its readers will.

    Args:
        path: the file.
        expected: how many rows each table must have.

    Raises:
        VerificationError: it cannot be read, or does not hold what it should.
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
    """JSON has neither NaN nor infinity, so a build must not."""
    columns = [column.name for column in table.columns if column.type == "DOUBLE"]
    if not columns:
        return []
    counted = ", ".join(f'count(*) FILTER (WHERE NOT isfinite("{name}"))' for name in columns)
    [counts] = connection.execute(f'SELECT {counted} FROM "{table.name}"').fetchall()
    counts_of = zip(columns, counts, strict=True)
    return [f"{table.name}.{name} has {count} values that are not finite" for name, count in counts_of if count]


def _read_uncounted(connection: duckdb.DuckDBPyConnection, table: schema.Table) -> None:
    """Read the columns that the content hash leaves out: every block of the file has a checksum."""
    if table.not_content:
        hashes = ", ".join(f'bit_xor(hash("{name}"))' for name in table.not_content)
        connection.execute(f'SELECT {hashes} FROM "{table.name}"').fetchall()


def _count(connection: duckdb.DuckDBPyConnection, what: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchall()[0][0])


def content_hash(connection: duckdb.DuckDBPyConnection) -> str:
    """What a build says, as SHA-256: the same for the same rows, whatever their order, file or library version.

    Each row is written as text, every value with its length before it (null: `-`), and taken to 64 bits of MD5; the
    sum over the rows does not depend on their order. Left out are the columns that tell of this service's own doing
    (`not_content`), and a table that has no others.
    """
    lines = []
    for table in schema.TABLES:
        if not table.content_names:
            continue
        columns = [column for column in table.columns if column.name in table.content_names]
        row = ", ".join(map(_with_length, columns))
        count, total = connection.execute(
            f'SELECT count(*), sum(md5_number_lower(concat({row}))) FROM "{table.name}"'
        ).fetchall()[0]
        lines.append(f"{table.name} {count} {total or 0}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _with_length(column: schema.Column) -> str:
    """SQL for a value as text with its length before it, or `-`: arguments of concat."""
    text = _text(column)
    if column.required:
        return f"strlen({text}), ':', {text}"
    return f"coalesce(strlen({text}) || ':' || {text}, '-')"


def _text(column: schema.Column) -> str:
    """SQL for a value as text that no setting and no version of DuckDB writes otherwise."""
    match column.type:
        case "DOUBLE":
            number = f'"{column.name}"'
            # a whole number is written the same, and faster, as an integer; zero has a sign that an integer has not
            is_whole = f"{number} <> 0 AND {number} = trunc({number}) AND abs({number}) < {WHOLE}"
            return f"CASE WHEN {is_whole} THEN CAST({number}::BIGINT AS VARCHAR) ELSE printf('%.17g', {number}) END"
        case "TIMESTAMPTZ":
            return f'CAST(epoch_us("{column.name}") AS VARCHAR)'
        case _:
            return f'CAST("{column.name}" AS VARCHAR)'
