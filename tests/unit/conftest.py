"""Fixtures of several unit tests: a home that was synchronized once, copied for each test, and a served build."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

import fundamentals
from pipelines.dagster_app.recorder import run_recorded
from pipelines.fake_sec.server import EdgarServer, running_server
from pipelines.storage.home import Home
from tests import builds
from tests.e2e.homes import sync, sync_unrecorded
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Mirror
from tests.once import made_once
from tests.sites import Site, published
from warehouse.build import overlay


@pytest.fixture(scope="session")
def first_synchronization(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the first build of two companies and Dagster's record of it; tests do not change it."""
    folder = tmp_path_factory.mktemp("first")
    mirror, home = Mirror(folder / "mirror", ALFA, BRAVO, ABSENT), Home(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FUNDAMENTALS_HOME", str(home.root))
        home.prepare()
        assert run_recorded(home, str(mirror.folder)).held_back_by == []
    return home.root


@pytest.fixture
def synchronized(first_synchronization: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of that home for one test; `same_mirror` has the documents that it was synchronized with."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    return Home(shutil.copytree(first_synchronization, tmp_path / "home", symlinks=True))


@pytest.fixture
def same_mirror(tmp_path: Path) -> Mirror:
    """A copy of the documents of the first synchronization, which a test may change."""
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, ABSENT)


class TwoBuilds(NamedTuple):
    """A home after two synchronizations: two builds, two segments, a company that left the list, and an account."""

    home: Path
    source: Path


@pytest.fixture(scope="session")
def two_builds(tmp_path_factory: pytest.TempPathFactory) -> TwoBuilds:
    """That home, and its source; tests do not change it."""
    folder = made_once(tmp_path_factory, "two-builds", make_two_builds)
    return TwoBuilds(folder / "home", folder / "mirror")


def make_two_builds(folder: Path) -> None:
    mirror, home = Mirror(folder / "mirror", ALFA, BRAVO, CARGO), folder / "home"
    mirror.page(CARGO, 6, 6)
    assert sync(home, mirror.folder).returncode == 0
    mirror.hold(replace(ALFA, scale=150))
    mirror.list(ALFA, BRAVO)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlay, "MIN_FILE_SIZE", 0)  # the second build has an overlay
        assert sync_unrecorded(home, mirror.folder, FUNDAMENTALS_CONFIRM_SHRINK="yes").returncode == 0
    assert (home / "published" / "warehouse.duckdb.wal").exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUNDAMENTALS_HOME", str(home))
        fundamentals.main(["keys", "create", "reader@example.org"])


@pytest.fixture
def server() -> Iterator[EdgarServer]:
    """A server on a loopback port in place of the SEC; it answers 404 until a test gives it replies."""
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The small build, served; a module that needs another one has its own."""
    home = tmp_path_factory.mktemp("site")
    builds.small(home / "published")
    with published(home) as running:
        yield running


@pytest.fixture(scope="module")
def reader(site: Site) -> Iterator[httpx.Client]:
    """A subscriber who is signed in."""
    with site.signed_in() as client:
        yield client
