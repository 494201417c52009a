"""The file of a build before it has rows: tables with comments, macros and views.

Belongs here: making that file. Does not: the definitions (schema, macros.sql, views), rows (publish).
"""

import re
from pathlib import Path

import duckdb

from warehouse.contract import schema, views
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.table import comments, create_table
from warehouse.files import quoted

STORAGE_VERSION = "v1.5.0"  # so that analysts with DuckDB 1.5 can open the file too
MACROS = Path(__file__).with_name("macros.sql")
EACH_ITEM = re.compile("^ *-- each item: (?P<text>.*)$", re.MULTILINE)

_made: list[bytes] = []
"""The content of the file, once this process has made it: that takes a tenth of a second, a copy a thousandth."""


def write(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the file; it is the same for all builds.

    Args:
        connection: to a database in memory.
        path: the file, which does not exist yet.

    Raises:
        duckdb.Error, OSError: the file cannot be written.
    """
    if not _made:
        _define(connection, path)
        _made.append(path.read_bytes())
    else:
        path.write_bytes(_made[0])


def macros() -> str:
    """The SQL of the macros; each line `-- each item:` is replaced by one line for each line item."""
    return EACH_ITEM.sub(
        lambda line: "\n".join(line["text"].replace("{item}", name) for name in ITEM_NAMES), MACROS.read_text()
    )


def _define(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    connection.execute(f"ATTACH {quoted(path)} AS build (STORAGE_VERSION '{STORAGE_VERSION}')")
    connection.execute("USE build")  # macros and views name their tables without a database name
    connection.execute("BEGIN")  # one write to the disk for all definitions
    for table in schema.TABLES:
        connection.execute(create_table(table))
        connection.execute(";".join(comments(table)))
    connection.execute(macros())
    for view in views.VIEWS:
        connection.execute(";".join(views.create(view)))
    connection.execute("COMMIT")
    connection.execute("USE memory")
    connection.execute("DETACH build")
