"""The order of the end-to-end tests, and the served sample for several of them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.fake_sec.server import EdgarServer, running_server
from tests.sites import Site, installed

LONGEST = ("game_day", "dagster_ui", "follow", "killed", "pages", "serving_workers", "lying_sources", "sync")
"""Files that take the longest: they are the first, so that processes side by side end together."""
PLACE = {f"test_{name}.py": place for place, name in enumerate(LONGEST)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: PLACE.get(item.path.name, len(LONGEST)))


@pytest.fixture
def server() -> Iterator[EdgarServer]:
    """A server in place of the SEC's hosts, on a loopback port."""
    with running_server() as state:
        yield state


@pytest.fixture(scope="session")
def sample_site(synchronized_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The published sample, as `fundamentals serve` serves it from a home with separate accounts."""
    home = tmp_path_factory.mktemp("sample")
    shutil.copytree(synchronized_sample / "published", home / "published", symlinks=True)
    with installed(home) as running:
        yield running
