"""Reads the rows of a published build, from which health checks restore rows that no stage can make again.

Belongs here: reading. Does not: restoring (restoring, tables).
"""

from pathlib import Path

import polars as pl

from warehouse.build.opening import open_read_only


def rows_of(build: Path, table: str) -> pl.DataFrame:
    """All rows of a table in the file of a build.

    Raises:
        duckdb.Error: the file cannot be read.
    """
    with open_read_only(build) as connection:
        rows: pl.DataFrame = connection.sql(f'FROM "{table}"').pl()
    return rows
