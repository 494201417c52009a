"""A service of the small build for each module of hostile requests, and the requests that it has carried out."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from serve.settings import Settings
from tests import builds
from tests.servers import Clock, active_key, in_process, wait_until


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    builds.small(home / "published")
    return home


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with in_process(Settings(home, "https://data.example.org/v1"), Clock()) as address:
        yield address


@pytest.fixture
def paths(address: str, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """The paths of the requests of a test that were carried out, as the access log has them."""

    def until_now() -> list[str]:
        httpx.get(f"{address}/v1/last")
        wait_until(lambda: "/v1/last" in caplog.text)
        return [path for message in caplog.messages if (path := json.loads(message)["path"]) != "/v1/last"]

    with caplog.at_level(logging.INFO, "serve.access"):
        yield until_now


@pytest.fixture(scope="module")
def own_key(home: Path) -> str:
    """An active key of that service."""
    return active_key(home)
