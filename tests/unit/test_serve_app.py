"""The application: its imports, and responses to requests that reach no endpoint."""

import subprocess
import sys
from pathlib import Path

import pytest

from serve.app import create_app
from serve.errors import CommandError
from serve.settings import Settings

ROOT = Path(__file__).parents[2]


def test_a_missing_home_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"accounts\.sqlite.*FUNDAMENTALS_HOME"):
        create_app(Settings(tmp_path / "nowhere"))


IMPORTED = {
    "fundamentals": "dagster polars pipelines starlette uvicorn duckdb",
    "serve.cli.commands": "starlette uvicorn duckdb dagster polars",
    "serve.app, serve.http.server": "dagster polars pyarrow pipelines",
    "pipelines.run.steps": "dagster pyarrow",
    "pipelines.dagster_app.synchronize": "pyarrow",
}
"""Modules, imported one after another, and modules that must not be imported by then."""


def test_what_is_imported_only_by_what_needs_it() -> None:
    """A command for keys needs no server, the server no pipeline, and only the publication of a build pyarrow."""
    code = "import sys\n" + "".join(
        f"import {name}\nprint(*({{*{unwanted.split()}}} & {{name.partition('.')[0] for name in sys.modules}}))\n"
        for name, unwanted in IMPORTED.items()
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert dict(zip(IMPORTED, done.stdout.splitlines(), strict=True)) == dict.fromkeys(IMPORTED, "")
