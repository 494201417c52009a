"""Opening a file of DuckDB for reading only.

Belongs here: the settings that keep SQL from anything but the file. Does not: which file is the current build (reader).
"""

from pathlib import Path
from typing import Any

import duckdb

# read_only alone is not a sandbox: SQL could still read and write other files, or change the settings
SANDBOX: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "lock_configuration": "true",
}

Row = tuple[Any, ...]


def open_read_only(path: Path, memory: str = "") -> duckdb.DuckDBPyConnection:
    """Open a build's file for reading, without access to anything else.

    Args:
        path: the file.
        memory: DuckDB's memory limit, such as `1GB`; larger data go through files next to the build. Empty: DuckDB's
            default.

    Raises:
        duckdb.Error: the file is missing or is not a DuckDB database.
    """
    return duckdb.connect(path, read_only=True, config={**SANDBOX, "memory_limit": memory} if memory else SANDBOX)
