"""The files for analysts with facts and lines of filings: `published/statements/*.parquet`.

Belongs here: choosing the rows of a file, marking rows that companyfacts has, too, and replacing the file. Does not:
columns and their meaning (warehouse.contract.filed), the tables of the lake (stages.filed.statements).

A file is written from the tables of the lake as a stream, only if its rows have changed, and replaced at once. The
service itself does not read it.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import duckdb
import polars as pl

from pipelines.errors import PipelineError
from pipelines.stages.batch.batches import joined
from pipelines.stages.filed import statements
from pipelines.stages.filed.filed_digests import FACTS, LINES
from pipelines.stages.filed.shares import of_quarter
from pipelines.storage.lake import Lake
from warehouse.build import copies
from warehouse.build.verify import MEMORY
from warehouse.contract import filed
from warehouse.contract.table import Table
from warehouse.files import of_companies, quoted, sync

INPUTS = "inputs"
"""The name, in the metadata of a file, of the digest of the tables from which it was written."""
PLACES = 4
"""Decimal places of the numbers in a data set. All values are rounded to them before they are compared."""
KNOWN = "in_companyfacts"
LARGE, KEPT = 32 << 20, timedelta(hours=20)
"""After a run for single companies, a file of at least LARGE bytes is written again only if it is older than KEPT. For
all of EDGAR since 2009 the two files have 2.7 GB, and `follow` has hundreds of new filings on a busy day."""


class FiledFilesError(PipelineError):
    """A file cannot be written; the message names it."""


def write(lake: Lake, published: Path, *, of_some: bool = False) -> int:
    """Write the files whose tables have changed.

    Args:
        lake: the tables.
        published: the folder of builds.
        of_some: whether only given companies were synchronized: then a large file is written by a later run.

    Returns:
        the number of files written.

    Raises:
        FiledFilesError: a file cannot be written; the earlier file stays.
    """
    folder = published / filed.FOLDER
    try:
        folder.mkdir(exist_ok=True)
        new = {table: _inputs(lake, table) for table in filed.FILES}
        old = [
            table
            for table in filed.FILES
            if (held := _made_from(path := _path(published, table))) != new[table]
            and not (of_some and held and _can_wait(path))
        ]
        for table in old:
            written = folder / f".{table.name}.tmp"
            spill = {"temp_directory": str(folder / ".spill")}
            with duckdb.connect(config={"memory_limit": MEMORY, **spill}) as connection:
                _note_read(connection, lake)
                copies.write_parquet(connection, table, _rows(lake, table), written, {INPUTS: new[table]})
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
    """A digest of the tables from which the files are written."""
    return joined(*(_inputs(lake, table) for table in filed.FILES))


def _inputs(lake: Lake, table: Table) -> str:
    """A digest of the tables from which a file is written, and of the facts of companyfacts with which it is
    compared."""
    digests = {name: lake.inputs(name) for name in _tables(lake, table.name)}
    if table is filed.FILED_FACTS:
        ciks = {cik for of_table in digests.values() for cik in of_table}
        digests["facts"] = {cik: digest for cik, digest in lake.inputs("facts").items() if cik in ciks}
    made_from = (f"{name} {cik} {digest}" for name, held in digests.items() for cik, digest in sorted(held.items()))
    return joined(*table.names, *made_from)


def _path(published: Path, table: Table) -> Path:
    return published / filed.FOLDER / f"{table.name}.parquet"


def _made_from(path: Path) -> str:
    """The digest of the tables from which a file was written; empty if the file is missing or damaged."""
    try:
        return pl.read_parquet_metadata(path).get(INPUTS, "")
    except (OSError, pl.exceptions.PolarsError):
        return ""


def _can_wait(path: Path) -> bool:
    """Whether a file is too large to be written again after a run for single companies, and new enough. A file with a
    time in the future is written again, because the clock was wrong."""
    status = path.stat()
    return status.st_size >= LARGE and 0 <= time.time() - status.st_mtime < KEPT.total_seconds()


def _tables(lake: Lake, table: str) -> list[str]:
    """The tables of the lake with the rows of a file: quarters, then packages."""
    return [*(of_quarter(table, quarter) for quarter in statements.quarters_of(lake)), table]


def _note_read(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    """Make a table of the filings whose own documents are read; the data sets have their facts in a shorter form."""
    connection.execute("CREATE TEMP TABLE read (accession VARCHAR)")
    for name in (FACTS, LINES):
        for rows in _parts(lake, name):
            connection.execute(f"INSERT INTO read SELECT DISTINCT accession FROM ({rows})")


def _rows(lake: Lake, table: Table) -> str:
    """A query for the rows of a file; without rows, it returns the columns."""
    types = {column.name: column.type for column in table.columns}
    none = ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in types.items())
    expressions = {name: f'"{name}"' for name in types} | ({KNOWN: _is_known(lake)} if KNOWN in types else {})
    columns = ", ".join(f'CAST({expressions[name]} AS {kind}) AS "{name}"' for name, kind in types.items())
    *quarters, packages = _tables(lake, table.name)
    is_other = "accession NOT IN (SELECT accession FROM read)"
    of_quarters = [f"SELECT * FROM ({rows}) WHERE {is_other}" for name in quarters for rows in _parts(lake, name)]
    rows = " UNION ALL ".join([*of_quarters, *(f"({rows})" for rows in _parts(lake, packages))])
    return f"(SELECT {columns} FROM ({rows}) AS filed)" if rows else f"(SELECT {none} WHERE false)"


def _is_known(lake: Lake) -> str:
    """An SQL expression: whether companyfacts has a fact, by accession, element and value; companyfacts has neither
    members nor elements that filers define themselves."""
    if not (parts := [*_parts(lake, "facts")] if lake.holds("facts") else []):
        return "false"
    theirs = " UNION ALL ".join(f"SELECT accession, tag, value FROM ({rows})" for rows in parts)
    same = f"(accession, element, round(value, {PLACES})) IN (SELECT accession, tag, round(value, {PLACES}) FROM facts)"
    return f"member IS NULL AND NOT own AND {same}".replace("FROM facts", f"FROM ({theirs})")


def _parts(lake: Lake, name: str) -> Iterator[str]:
    """The rows of a table of the lake, as queries of its files."""
    for path, some in lake.files(name):
        yield f"SELECT * FROM read_parquet({quoted(path)})" + (f" WHERE {of_companies(some)}" if some else "")
