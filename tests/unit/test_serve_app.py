"""The application: its imports, and responses to requests that reach no endpoint."""

import subprocess
import sys
from pathlib import Path

import pytest

from serve.app import create_app
from serve.http.errors import CommandError
from serve.settings import Settings

ROOT = Path(__file__).parents[2]


def imported(statement: str, *unwanted: str) -> str:
    code = f"import sys\n{statement}\nprint(*sorted({set(unwanted)} & {{name.split('.')[0] for name in sys.modules}}))"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_serving_does_not_import_the_pipeline() -> None:
    serving = "import serve.app, serve.http.server, serve.cli.commands"
    assert imported(serving, "dagster", "polars", "pyarrow", "pipelines") == ""


def test_only_publication_imports_pyarrow() -> None:
    assert imported("import pipelines.dagster_app.synchronize, pipelines.run.steps", "pyarrow") == ""


def test_the_command_imports_neither_pipelines_nor_the_server() -> None:
    assert imported("import fundamentals", "dagster", "polars", "pipelines", "starlette", "uvicorn", "duckdb") == ""


def test_commands_for_keys_do_not_import_the_server() -> None:
    assert imported("import serve.cli.commands", "starlette", "uvicorn", "duckdb", "dagster", "polars") == ""


def test_a_missing_home_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"accounts\.sqlite.*FUNDAMENTALS_HOME"):
        create_app(Settings(tmp_path / "nowhere"))
