"""The contents of the folder of published builds, for tests that publish.

Belongs here: names of files, rows read back, the open build. Does not: the builds (tests.builds), any test.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb

from warehouse.contract import views
from warehouse.read.reader import OpenBuild, Warehouse


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def builds_and_links(*builds: str) -> set[str]:
    """The content of the folder of builds without the files of synchronization times."""
    of_builds = {name for build in builds for name in (f"warehouse-{build}.duckdb", f"parquet-{build}")}
    return {"CURRENT.json", "warehouse.duckdb", "parquet", *(f"warehouse-{build}.json" for build in builds)} | of_builds


def same_rows(file: Path, folder: Path) -> dict[str, bool]:
    """By table, whether its copy has the same columns, types and rows, in the same order."""
    with duckdb.connect(file, read_only=True) as connection:

        def said(source: str) -> list[Any]:
            columns = connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE FROM {source})").fetchall()
            return [columns, connection.execute(f"FROM {source}").fetchall()]

        return {
            table.name: said(f'"{table.name}"') == said(f"read_parquet('{folder}/{table.name}.parquet')")
            for table in views.PUBLISHED
        }


@contextmanager
def opened(folder: Path) -> Iterator[OpenBuild]:
    """The build of a folder, which is open until the block ends."""
    with closing(Warehouse(folder)) as warehouse, warehouse.build() as build:
        yield build
