"""The services for comparison: the bare framework, and an ordinary service of FastAPI and SQLite.

Belongs here: starting and ending them, and the SQLite file. Does not: their applications (bare, ordinary), the service
itself (tests.servers).
"""

import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.servers import PROJECT
from warehouse.build.opening import open_read_only
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.schema import BY_NAME

PATIENCE = 30
TABLES = {
    "companies": ("symbol", "currency"),
    "financials": ("symbol", "period_kind", "period_end", "period", "fiscal_year", "fiscal_quarter", *SERVED_NAMES),
}
"""Tables and columns of the SQLite file."""


@contextmanager
def uvicorn(application: str, workers: int = 1, packages: Path | None = None, **environment: str) -> Iterator[str]:
    """Serve a module of this package with uvicorn, httptools and uvloop until the block ends; yields the address.

    Args:
        application: name of the module, whose application is `app`.
        workers: number of processes.
        packages: a folder of packages that are preferred to the packages of this project.
        environment: variables of the process.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--http", "httptools", "--loop", "uvloop", "--no-access-log", "--log-level", "error"]
    command = [sys.executable, "-m", "uvicorn", f"{__package__}.{application}:app", *options]
    path = os.pathsep.join(str(each) for each in (packages, PROJECT) if each)
    with subprocess.Popen(
        [*command, "--port", str(port), "--workers", str(workers)],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": path} | environment,
    ) as process:
        try:
            _wait(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def write_sqlite(build: Path, path: Path) -> Path:
    """Write the companies and financials of a build into a SQLite file, with the key of financials as its index."""
    path.unlink(missing_ok=True)
    with open_read_only(build) as source, closing(sqlite3.connect(path)) as target:
        for table, columns in TABLES.items():
            names, marks = ", ".join(columns), ", ".join("?" * len(columns))
            target.execute(
                f"CREATE TABLE {table} ({names}, PRIMARY KEY ({', '.join(BY_NAME[table].key)})) WITHOUT ROWID"
            )
            rows = source.execute(f"SELECT {names.replace('period_end', 'CAST(period_end AS VARCHAR)')} FROM {table}")
            target.executemany(f"INSERT INTO {table} VALUES ({marks})", rows.fetchall())
        target.commit()
    return path


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"{process.args} has ended")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"{process.args} does not accept connections")
