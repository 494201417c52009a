"""Parquet copies of a build's tables, for tools that cannot read DuckDB files.

Belongs here: their names, making them, verifying them against the build. Does not: linking to them (publish).
"""

import shutil
from collections.abc import Mapping
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


def write(file: Path, folder: Path, tables: Mapping[str, Path]) -> None:
    """Make one read-only Parquet file per table, `NAME.parquet`, with the rows in the order of the table.

    Args:
        file: a complete build.
        folder: the folder to create.
        tables: the Parquet files that the build was made from, which are copied as they are; other tables are written.

    Raises:
        VerificationError: a copy does not have the rows of its table in their order.
        duckdb.Error: the build cannot be read, or a file cannot be written.
        OSError: the folder or a file cannot be written.
    """
    folder.mkdir()
    with duckdb.connect(file, read_only=True) as build:
        for table in schema.TABLES:
            path = folder / f"{table.name}.parquet"
            if table.name in tables:
                shutil.copyfile(tables[table.name], path)
            else:
                build.execute(f'COPY "{table.name}" TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)')
            copied = _checksum(build, f"read_parquet({quoted(path)})", "file_row_number")
            if copied != _checksum(build, f'"{table.name}"', "rowid"):
                raise VerificationError(
                    f"{path.name} does not have the rows of its table in their order; the build was removed"
                )
            path.chmod(0o444)
            sync(path)
    sync(folder)


def _checksum(connection: duckdb.DuckDBPyConnection, source: str, number: str) -> Row:
    """The number of rows and the XOR of the hashes of rows with their numbers: it depends on values and on order."""
    numbered = f"hash(xor(hash(held), {number}::UBIGINT))"
    return connection.execute(f"SELECT count(*), bit_xor({numbered}) FROM {source} AS held").fetchall()[0]
