"""Parquet copies of a build's tables, for tools that read no DuckDB files.

Belongs here: their names, writing them from the build's file, reading them back. Does not: when they are pointed to
(publish).
"""

from pathlib import Path

import duckdb

from warehouse import schema
from warehouse.errors import VerificationError
from warehouse.files import quoted, sync
from warehouse.reader import Row

LINK = "parquet"
FOLDERS = "parquet-*"


def folder_of(file: str) -> str:
    """The name of the folder of copies of a build, by the name of the build's file."""
    return file.replace("warehouse-", "parquet-", 1).removesuffix(".duckdb")


def write(file: Path, folder: Path) -> None:
    """Write one Parquet file a table, `NAME.parquet`, read-only, rows in the order of the table.

    Args:
        file: a complete build.
        folder: a new folder.

    Raises:
        VerificationError: what was written, read back, is not what the build holds.
        duckdb.Error: the build cannot be read, or a file not be written.
        OSError: likewise.
    """
    folder.mkdir()
    with duckdb.connect(file, read_only=True) as build:
        for table in schema.TABLES:
            path = folder / f"{table.name}.parquet"
            build.execute(f'COPY "{table.name}" TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)')
            if _said(build, f"read_parquet({quoted(path)})") != _said(build, f'"{table.name}"'):
                raise VerificationError(f"{path.name} does not hold the rows of its table; the build was removed")
            path.chmod(0o444)
            sync(path)
    sync(folder)


def _said(connection: duckdb.DuckDBPyConnection, source: str) -> Row:
    """How many rows there are, and a hash of all their columns; rows are unique, so that none cancels another."""
    return connection.execute(f"SELECT count(*), bit_xor(hash(held)) FROM {source} AS held").fetchall()[0]
