"""The table of endpoints: without a published build, and which endpoints are answered in the event loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from serve.api import models
from serve.api.endpoints import ENDPOINTS, CheckedQuestion, DataAndMeta
from serve.app import create_app
from serve.errors import ServerError
from serve.settings import Settings
from tests import builds
from tests.servers import Clock, active_key, in_process, in_thread


def test_without_a_build_endpoints_raise_a_server_error() -> None:
    question = CheckedQuestion(None, True, "https://data.example.org/v1", "", {}, 0.0)
    with pytest.raises(ServerError, match="No data has been published yet"):
        _ = question.build


def is_in_event_loop() -> bool:
    return asyncio._get_running_loop() is not None


def ask_duckdb(question: CheckedQuestion) -> DataAndMeta:
    """The handler of an endpoint that asks DuckDB."""
    [(companies,)] = question.build.rows("SELECT count(*) FROM companies")
    return [companies, is_in_event_loop()], models.SymbolMeta("")


ASKS_DUCKDB = replace(ENDPOINTS[0], path="/counts", answer=ask_duckdb, parameters=(), asks_duckdb=True)


@contextmanager
def asked(home: Path, **changed: bool) -> Iterator[httpx.Response]:
    """The response of an endpoint that asks DuckDB, in a copy of the table."""
    builds.small(home / "published")
    app = create_app(Settings(home), endpoints=(*ENDPOINTS, replace(ASKS_DUCKDB, **changed)))
    with in_thread(app) as address:
        yield httpx.get(f"{address}/v1/counts", headers={"X-Api-Key": active_key(home)})


def test_an_endpoint_that_asks_duckdb_is_answered_in_a_thread(tmp_path: Path) -> None:
    with asked(tmp_path) as response:
        assert (response.status_code, response.json()["data"]) == (200, [7, False])
        again = httpx.get(response.url, headers={**response.request.headers, "If-None-Match": response.headers["ETag"]})
        assert (again.status_code, again.headers["X-RateLimit-Remaining"]) == (304, "58")


@pytest.mark.parametrize("needs_key", [True, False])
def test_an_endpoint_without_the_declaration_fails(
    tmp_path: Path, needs_key: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not block the event loop; the log says why."""
    with asked(tmp_path, needs_key=needs_key, asks_duckdb=False) as response:
        assert (response.status_code, response.json()["error"]["code"]) == (500, "server_error")
    assert "DuckDB was asked in the event loop" in caplog.text


@pytest.mark.parametrize(("query", "status"), [("?x=1", 422), ("", 500)])
def test_parameters_are_checked_before_the_data(tmp_path: Path, query: str, status: int) -> None:
    """Both requests count."""
    with in_process(Settings(tmp_path), Clock()) as address:
        headers = {"X-Api-Key": active_key(tmp_path)}
        assert httpx.get(f"{address}/v1/companies/LNTR{query}", headers=headers).status_code == status
        assert httpx.get(f"{address}/v1/companies/LNTR/valuation", headers=headers).status_code == 500
        builds.small(tmp_path / "published")
        response = httpx.get(f"{address}/v1/companies/LNTR", headers=headers)
        assert (response.status_code, response.headers["X-RateLimit-Remaining"]) == (200, "57")


def test_questions_about_data_start_no_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first time nor later, even without an answer; endpoints without a key and wrong addresses do."""
    started: list[str] = []
    run = RequestResponseCycle.run_asgi

    async def noted(cycle: RequestResponseCycle, app: Any) -> None:
        started.append(cycle.scope["path"])
        await run(cycle, app)

    monkeypatch.setattr(RequestResponseCycle, "run_asgi", noted)
    expected = {
        "/v1/companies?search=a%20b": 200,
        "/v1/companies?search=%C3%B6": 200,
        "/v1/companies/lntr": 200,
        "/v1/companies/LNTR/financials?items=roic,revenue&limit=2": 200,
        "/v1/companies/%4CNTR/financials/revisions": 200,
        "/v1/companies/LNTR/valuation": 200,
        "/v1/companies/NOPE/valuation": 404,
        "/v1/companies/LNTR?limit=1": 422,
    }
    builds.small(tmp_path / "published")
    headers = {"X-Api-Key": active_key(tmp_path)}
    with in_process(Settings(tmp_path), Clock()) as address, httpx.Client(base_url=address, headers=headers) as client:
        for path, status in [*expected.items()] * 2:
            assert client.get(path).status_code == status, path
        tag = client.get("/v1/companies").headers["ETag"]
        again = client.get("/v1/companies?page=1", headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert started == []
        for path in ("/v1/status", "/v1/companies?apikey=1", "/v1/companies/"):
            client.get(path)
            assert started.pop() == path.partition("?")[0]
        client.get("/v1/companies", headers={"X-Api-Key": "other"})
        assert started == ["/v1/companies"]
