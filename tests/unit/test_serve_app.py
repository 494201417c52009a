"""The application: its imports, and responses to requests that reach no endpoint."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from serve.api.answers_from_memory import AnswersFromMemory
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


def test_an_unexpected_failure_is_answered_with_the_envelope(tmp_path: Path) -> None:
    app = create_app(Settings(tmp_path, "https://data.example.org/v1"))

    async def fail(_: Request) -> None:
        raise RuntimeError("secret")

    assert isinstance(app.app, AnswersFromMemory)
    inside = app.app.app
    assert isinstance(inside, Starlette)
    inside.router.routes.append(Route("/fail", fail))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with inside.router.lifespan_context(inside), httpx.AsyncClient(transport=transport) as client:
            return await client.get("https://data.example.org/fail")

    response = asyncio.run(ask())
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "server_error"
    assert "secret" not in response.text


def test_a_missing_home_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"accounts\.sqlite.*FUNDAMENTALS_HOME"):
        create_app(Settings(tmp_path / "nowhere"))
