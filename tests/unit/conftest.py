"""Fixtures of several unit tests: a home that was synchronized once, copied for each test."""

import shutil
from pathlib import Path

import pytest

from pipelines.definitions import run_job
from pipelines.home import Home
from tests.mirrors import ABSENT, ALFA, BRAVO, Mirror


@pytest.fixture(scope="session")
def first_synchronization(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the first build of two companies and Dagster's record of it; tests do not change it."""
    folder = tmp_path_factory.mktemp("first")
    mirror, home = Mirror(folder / "mirror", ALFA, BRAVO, ABSENT), Home(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FUNDAMENTALS_HOME", str(home.root))
        home.prepare()
        assert run_job(home, str(mirror.folder)).held_back_by == []
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
