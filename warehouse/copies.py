"""Parquet copies of a build's tables, for tools that cannot read DuckDB files.

Belongs here: their names, writing them from the build's file, verifying them. Does not: linking to them (publish).
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
    """The folder name of a build's Parquet copies, from the name of the build's file."""
    return file.replace("warehouse-", "parquet-", 1).removesuffix(".duckdb")


def write(file: Path, folder: Path) -> None:
    """Write one read-only Parquet file per table, `NAME.parquet`, with the rows in the order of the table.

    Args:
        file: a complete build.
        folder: the folder to create.

    Raises:
        VerificationError: a written file does not have the rows of its table.
        duckdb.Error: the build cannot be read, or a file cannot be written.
        OSError: the folder or a file cannot be written.
    """
    folder.mkdir()
    with duckdb.connect(file, read_only=True) as build:
        for table in schema.TABLES:
            path = folder / f"{table.name}.parquet"
            build.execute(f'COPY "{table.name}" TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)')
            if _checksum(build, f"read_parquet({quoted(path)})") != _checksum(build, f'"{table.name}"'):
                raise VerificationError(f"{path.name} does not have the rows of its table; the build was removed")
            path.chmod(0o444)
            sync(path)
    sync(folder)


def _checksum(connection: duckdb.DuckDBPyConnection, source: str) -> Row:
    """The number of rows and the XOR of their hashes; rows are unique, so equal hashes cannot cancel each other."""
    return connection.execute(f"SELECT count(*), bit_xor(hash(held)) FROM {source} AS held").fetchall()[0]
