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

WHOLE = 1e15
"""Whole numbers below it are exact in a DOUBLE, and have no exponent when they are written to 17 digits."""


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
    """The SHA-256 of a build's content: equal for equal rows, in any order, file and version of DuckDB.

    Each row is written as text, every value with its length before it (null: `-`), and hashed to 64 bits of its MD5;
    the sum of these hashes does not depend on the order of rows. Columns on this service's own runs (`not_content`) are
    left out.
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
    """SQL that converts a value to text, independent of DuckDB's settings and version."""
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
