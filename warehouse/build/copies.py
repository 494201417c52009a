"""Copies of a build's tables and views for tools that cannot read DuckDB files: Parquet of all, CSV of the views.

Belongs here: their names, making them, verifying them against the build. Does not: linking to them (publish).
"""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from warehouse.build.opening import Row
from warehouse.build.verify import MEMORY, count
from warehouse.contract import schema, views
from warehouse.contract.table import Column, Table
from warehouse.errors import VerificationError
from warehouse.files import quoted, sync

LINK = "parquet"
FOLDERS = "parquet-*"
ROWS = 122_880
"""Rows of a group in a Parquet file, as in DuckDB's tables. A column of a group is one page: pages of the default size
make the files of a large build a third larger."""
FORMULA = r"^[=+@\t\r-]"
"""A text that begins with one of these characters would be calculated by a spreadsheet."""


def link(folder: Path, to: Path) -> None:
    """Make the folder of copies for a build with an overlay: hard links to the copies of its base."""
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).hardlink_to(path)
    sync(to)


def write(file: Path, folder: Path) -> None:
    """Make one read-only Parquet file per table and view, `NAME.parquet`, with its rows in their order.

    Args:
        file: a complete build.
        folder: the folder to create.

    Raises:
        VerificationError: a copy does not have the rows of its table in their order.
        duckdb.Error: the build cannot be read, or a file cannot be written.
        OSError: the folder or a file cannot be written.
    """
    folder.mkdir()
    with duckdb.connect(file, read_only=True, config={"memory_limit": MEMORY}) as build:
        for table in schema.TABLES:
            path = folder / f"{table.name}.parquet"
            rows = f'"{table.name}"'
            write_parquet(build, table, rows, path)
            if _checksum(build, f"read_parquet({quoted(path)})") != _checksum(build, rows):
                raise VerificationError(
                    f"{path.name} does not have the rows of its table in their order; the build was removed"
                )
            _finish(path)
        for view in views.VIEWS:
            path = folder / f"{view.name}.parquet"
            number = write_parquet(build, view, f'"{view.name}"', path)
            _finish(path)
            _write_csv(build, view, path, number)
            _finish(path.with_suffix(".csv"))
    sync(folder)


def write_parquet(
    build: duckdb.DuckDBPyConnection,
    table: Table,
    rows_of: str,
    path: Path,
    said: Mapping[str, str] | None = None,
) -> int:
    """Write rows of a table or view, and return their number.

    The metadata of each field are the column's description, unit and SQL type; the metadata of the file are the table's
    description and the entries of `said`.
    """
    import pyarrow as pa  # imported here because only a new build needs it, and it takes a tenth of a second
    from pyarrow.parquet import ParquetWriter

    rows = build.sql(f"FROM {rows_of}").to_arrow_reader(ROWS)
    fields = [
        field.with_metadata({"description": column.description, "unit": column.unit, "type": column.type})
        for field, column in zip(rows.schema, table.columns, strict=True)
    ]
    described = pa.schema(fields, {"description": table.description, **(said or {})})
    # amounts hardly repeat, so a dictionary would make their columns larger
    repeated = [column.name for column in table.columns if column.type != "DOUBLE"]
    options = {"compression": "zstd", "compression_level": 3, "use_dictionary": repeated, "max_rows_per_page": ROWS}
    written = 0
    with ParquetWriter(path, described, **options) as writer:
        for group in rows:
            writer.write_batch(pa.RecordBatch.from_arrays(group.columns, schema=described))
            written += group.num_rows
    return written


def _checksum(connection: duckdb.DuckDBPyConnection, source: str) -> Row:
    """The number of rows and the XOR of the hashes of numbered rows: it depends on all values and on the order."""
    numbered = f"SELECT held, row_number() OVER () AS number FROM {source} AS held"
    return connection.execute(
        f"SELECT count(*), bit_xor(hash(xor(hash(held), number::UBIGINT))) FROM ({numbered})"
    ).fetchall()[0]


def _write_csv(build: duckdb.DuckDBPyConnection, view: Table, copy: Path, number: int) -> None:
    """Write the Parquet copy of a view as CSV with a header; text that a spreadsheet would calculate gets an apostrophe
    as its first character.

    Raises:
        VerificationError: the file does not have `number` rows, as the view has.
    """
    cells, path = ", ".join(_as_text(column) for column in view.columns), copy.with_suffix(".csv")
    build.execute(f"COPY (SELECT {cells} FROM read_parquet({quoted(copy)})) TO {quoted(path)} (FORMAT csv, HEADER)")
    # DuckDB would detect the format from the first 20,480 rows, and later rows may differ
    form = "header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"'"
    if count(build, f"read_csv({quoted(path)}, {form})") != number:
        raise VerificationError(f"{path.name} does not have the rows of its view; the build was removed")


def _as_text(column: Column) -> str:
    name = f'"{column.name}"'
    return f"regexp_replace({name}, '{FORMULA}', '''\\0') AS {name}" if column.type == "VARCHAR" else name


def _finish(path: Path) -> None:
    path.chmod(0o400)
    sync(path)
