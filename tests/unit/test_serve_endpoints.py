"""The table of endpoints: without a published build, and which endpoints are answered in the event loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from serve.api import models
from serve.api.endpoints import ENDPOINTS, Answer, Question
from serve.app import create_app
from serve.http.errors import ServerError
from serve.settings import Settings
from tests import builds
from tests.servers import active_key, in_thread


def test_without_a_build_endpoints_raise_a_server_error() -> None:
    question = Question(None, True, "https://data.example.org/v1", "", {}, 0.0)
    with pytest.raises(ServerError, match="No data has been published yet"):
        _ = question.build


def is_in_event_loop() -> bool:
    return asyncio._get_running_loop() is not None


def ask_duckdb(question: Question) -> Answer:
    """The handler of an endpoint that asks DuckDB, although the rows of the build are in memory."""
    assert question.build.memory
    [(companies,)] = question.build.rows("SELECT count(*) FROM companies")
    return [companies, is_in_event_loop()], models.SymbolMeta("")


ASKS_DUCKDB = replace(ENDPOINTS[0], path="/counts", answer=ask_duckdb, parameters=(), answers_from_memory=False)


@contextmanager
def asked(home: Path, **changed: bool) -> Iterator[httpx.Response]:
    """The response of an endpoint that asks DuckDB, in a copy of the table."""
    builds.small(home / "published")
    app = create_app(Settings(home), endpoints=(*ENDPOINTS, replace(ASKS_DUCKDB, **changed)))
    with in_thread(app) as address:
        yield httpx.get(f"{address}/v1/counts", headers={"X-Api-Key": active_key(home)})


@pytest.mark.parametrize("needs_key", [True, False])
def test_an_endpoint_without_the_declaration_is_answered_in_a_thread(tmp_path: Path, needs_key: bool) -> None:
    with asked(tmp_path, needs_key=needs_key) as response:
        assert (response.status_code, response.json()["data"]) == (200, [7, False])


@pytest.mark.parametrize("needs_key", [True, False])
def test_an_endpoint_with_a_wrong_declaration_fails(
    tmp_path: Path, needs_key: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not block the event loop; the log says why."""
    with asked(tmp_path, needs_key=needs_key, answers_from_memory=True) as response:
        assert (response.status_code, response.json()["error"]["code"]) == (500, "server_error")
    assert "DuckDB was asked in the event loop" in caplog.text
