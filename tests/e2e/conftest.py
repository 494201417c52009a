"""What several end-to-end tests look at: the built-in sample, synchronized and served."""

from collections.abc import Iterator

import pytest

from tests.e2e.homes import sync
from tests.sites import Site, installed


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The sample, as `fundamentals sync` and `fundamentals serve` make it available."""
    home = tmp_path_factory.mktemp("sample")
    made = sync(home, "sample")
    assert made.returncode == 0, made.stderr
    with installed(home) as running:
        yield running
