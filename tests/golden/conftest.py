"""Documents of real filings that several golden tests read."""

import pickle
from pathlib import Path

import pytest

from pipelines.edgar.package import Package
from tests.golden.test_packages_of_real_filings import read_all
from tests.once import made_once


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Package]:
    """All filings that have an instance, by the names of their folders; read once per run."""
    return pickle.loads(made_once(tmp_path_factory, "packages", write_packages).read_bytes())


def write_packages(file: Path) -> None:
    file.write_bytes(pickle.dumps(dict(read_all())))
