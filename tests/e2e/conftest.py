"""The served sample, for several end-to-end tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sites import Site, installed


@pytest.fixture(scope="session")
def sample_site(synchronized_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The published sample, as `fundamentals serve` serves it from a home with separate accounts."""
    home = tmp_path_factory.mktemp("sample")
    shutil.copytree(synchronized_sample / "published", home / "published", symlinks=True)
    with installed(home) as running:
        yield running
