"""Copies of a build's tables and of its views, for tools that cannot read DuckDB files: Parquet, and CSV of the views.

Belongs here: their names, making them, verifying them against the build. Does not: linking to them (publish).
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import duckdb

from warehouse import footers, schema, views
from warehouse.errors import VerificationError
from warehouse.files import quoted, sync
from warehouse.reader import Row
from warehouse.rows import Rows
from warehouse.verify import MEMORY, sums

LINK = "parquet"
FOLDERS = "parquet-*"
FORMULA = r"^[=+@\t\r-]"
"""The first character of a text that a spreadsheet would calculate."""


def write(file: Path, folder: Path, tables: Mapping[str, Rows], *, in_order: bool) -> None:
    """Make one read-only Parquet file per table and view, `NAME.parquet`, with its rows in their order.

    Args:
        file: a complete build.
        folder: the folder to create.
        tables: the rows that the build was made from. If a table was made from one file, this is copied as it is.
        in_order: whether the tables of the build have their rows in order.

    Raises:
        VerificationError: a copy does not have the rows of its table; or a copied file does not have them in order.
        duckdb.Error: the build cannot be read, or a file cannot be written.
        OSError: the folder or a file cannot be written.
    """
    folder.mkdir()
    with duckdb.connect(file, read_only=True, config={"memory_limit": MEMORY}) as build:
        for table in schema.TABLES:
            path = folder / f"{table.name}.parquet"
            held, copied = f'"{table.name}"', f"read_parquet({quoted(path)})"
            rows = tables.get(table.name)
            if rows and rows.only_file:
                shutil.copyfile(rows.only_file, path)
            else:
                _copy(build, table, path)
            if rows and rows.only_file and in_order:
                is_equal = _checksum(build, copied, "file_row_number") == _checksum(build, held, "rowid")
            else:
                is_equal = sums(build, table, copied) == sums(build, table, held)
            if not is_equal:
                raise VerificationError(
                    f"{path.name} does not have the rows of its table in their order; the build was removed"
                )
            _finish(path)
        for view in views.VIEWS:
            path = folder / f"{view.name}.parquet"
            _copy(build, view, path)
            _finish(path)
            _write_csv(build, view, path.with_suffix(".csv"))
            _finish(path.with_suffix(".csv"))
    sync(folder)


def _copy(build: duckdb.DuckDBPyConnection, table: schema.Table, path: Path) -> None:
    """Write the rows of a table or view, with what its columns mean."""
    footer = ", ".join(f"'{key}': '{value}'" for key, value in footers.of_table(table.name).items())
    options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{footer}}}"
    build.execute(f'COPY (FROM "{table.name}") TO {quoted(path)} ({options})')


def _write_csv(build: duckdb.DuckDBPyConnection, view: schema.Table, path: Path) -> None:
    """Write the rows of a view as CSV with heads; text that a spreadsheet would calculate begins with an apostrophe.

    Raises:
        VerificationError: the file does not have as many rows as the view.
    """
    cells = ", ".join(_as_text(column) for column in view.columns)
    build.execute(f'COPY (SELECT {cells} FROM "{view.name}") TO {quoted(path)} (FORMAT csv, HEADER)')
    # what DuckDB finds out by itself, from the first 20,480 rows, need not hold for the others
    form = "header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"'"
    copied = f"read_csv({quoted(path)}, {form})"
    if _count(build, copied) != _count(build, f'"{view.name}"'):
        raise VerificationError(f"{path.name} does not have the rows of its view; the build was removed")


def _as_text(column: schema.Column) -> str:
    name = f'"{column.name}"'
    return f"regexp_replace({name}, '{FORMULA}', '''\\0') AS {name}" if column.type == "VARCHAR" else name


def _count(connection: duckdb.DuckDBPyConnection, source: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0])


def _finish(path: Path) -> None:
    path.chmod(0o400)
    sync(path)


def _checksum(connection: duckdb.DuckDBPyConnection, source: str, number: str) -> Row:
    """The number of rows and the XOR of the hashes of rows with their numbers: it depends on values and on order."""
    numbered = f"hash(xor(hash(held), {number}::UBIGINT))"
    return connection.execute(f"SELECT count(*), bit_xor({numbered}) FROM {source} AS held").fetchall()[0]
