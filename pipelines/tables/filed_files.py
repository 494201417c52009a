"""The files for analysts of what filings state: `published/statements/*.parquet`.

Belongs here: which rows are in a file, and replacing it. Does not: columns and their meaning (warehouse.filed), the
tables of the lake (stages.statements).

A file is written from the tables of the lake as a stream and replaced at once; it is written only if a table has
changed. No reader of the service opens it.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl

from pipelines.errors import PipelineError
from pipelines.stages import statements
from pipelines.stages.batches import joined
from pipelines.stages.filed_rows import FACTS, LINES
from pipelines.storage.lake import Lake
from warehouse import copies, filed
from warehouse.files import of_companies, quoted, sync
from warehouse.schema import Table
from warehouse.verify import MEMORY

INPUTS = "inputs"
"""The name of the digest of the tables that a file was written from, in its metadata."""


class FiledFilesError(PipelineError):
    """A file cannot be written; the message names it."""


def write(lake: Lake, published: Path) -> int:
    """Write the files that are not of the present tables.

    Returns:
        how many were written.

    Raises:
        FiledFilesError: a file cannot be written; the one before stays.
    """
    folder, made_from = published / filed.FOLDER, inputs(lake)
    try:
        folder.mkdir(exist_ok=True)
        old = [table for table in filed.FILES if _made_from(_path(published, table)) != made_from]
        for table in old:
            written = folder / f".{table.name}.tmp"
            with duckdb.connect(config={"memory_limit": MEMORY}) as connection:
                _note_read(connection, lake)
                copies.write_parquet(connection, table, _rows(lake, table), written, {INPUTS: made_from})
            sync(written)
            written.replace(_path(published, table))
        sync(folder)
    except (OSError, duckdb.Error) as error:
        reason = str(error).partition("\n")[0]
        raise FiledFilesError(f"{folder} cannot be written ({reason}); check the disk and the permissions") from error
    return len(old)


def rows_of(published: Path) -> dict[str, int]:
    """The number of rows of each file."""
    paths = {table.name: _path(published, table) for table in filed.FILES}
    return {name: int(pl.scan_parquet(path).select(pl.len()).collect().item()) for name, path in paths.items()}


def inputs(lake: Lake) -> str:
    """A digest of the tables that the files are written from."""
    tables = [name for table in filed.FILES for name in _tables(lake, table.name)]
    made_from = [f"{name} {cik} {digest}" for name in tables for cik, digest in lake.inputs(name).items()]
    return joined(*made_from)


def _path(published: Path, table: Table) -> Path:
    return published / filed.FOLDER / f"{table.name}.parquet"


def _made_from(path: Path) -> str:
    """The digest of the tables that a file was written from; empty if there is no such file, or it is damaged."""
    try:
        return pl.read_parquet_metadata(path).get(INPUTS, "")
    except (OSError, pl.exceptions.PolarsError):
        return ""


def _tables(lake: Lake, table: str) -> list[str]:
    """The tables of the lake that have the rows of a file: quarters, then packages."""
    return [*(statements.of_quarter(table, quarter) for quarter in statements.quarters_of(lake)), table]


def _note_read(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    """Note the filings whose own documents are read: the data sets have their facts in a shorter form."""
    connection.execute("CREATE TEMP TABLE read (accession VARCHAR)")
    for name in (FACTS, LINES):
        for rows in _parts(lake, name):
            connection.execute(f"INSERT INTO read SELECT DISTINCT accession FROM ({rows})")


def _rows(lake: Lake, table: Table) -> str:
    """The rows of a file as a query; without any rows the columns."""
    columns = ", ".join(f'CAST("{column.name}" AS {column.type}) AS "{column.name}"' for column in table.columns)
    none = ", ".join(f'CAST(NULL AS {column.type}) AS "{column.name}"' for column in table.columns)
    *quarters, packages = _tables(lake, table.name)
    is_other = "accession NOT IN (SELECT accession FROM read)"
    of_quarters = [
        f"SELECT {columns} FROM ({rows}) WHERE {is_other}" for name in quarters for rows in _parts(lake, name)
    ]
    of_packages = [f"SELECT {columns} FROM ({rows})" for rows in _parts(lake, packages)]
    return f"({' UNION ALL '.join([f'SELECT {none} WHERE false', *of_quarters, *of_packages])})"


def _parts(lake: Lake, name: str) -> Iterator[str]:
    """The rows of a table of the lake, as queries of its files."""
    for path, some in lake.files(name):
        yield f"SELECT * FROM read_parquet({quoted(path)})" + (f" WHERE {of_companies(some)}" if some else "")
