"""What all tests share: where real documents lie, and which programs a test needs.

A test that needs a program or the mirror of real EDGAR documents is skipped where it is missing, and says so; with
`--strict-skips` a missing program fails it, and so does a mirror that is there but incomplete.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--strict-skips", action="store_true", help="fail where a needed program is missing")


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The mirror directory of real EDGAR documents beside the project."""
    folder = SHARED / "edgar"
    if not (folder / "www.sec.gov").is_dir():
        pytest.skip(f"the mirror of real EDGAR documents is missing: {folder.relative_to(PROJECT.parent)}")
    return folder


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Callable[[str, str], str]:
    """Finds a program: `program("chromium", "chromium")` by its name and its Debian package."""

    def find(name: str, package: str) -> str:
        if found := shutil.which(name):
            return found
        missing = f"{name} is missing: install the Debian package {package} (make system)"
        if request.config.getoption("--strict-skips"):
            pytest.fail(missing)
        pytest.skip(missing)

    return find


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the settings of whoever runs it."""
    for name in [name for name in os.environ if name.startswith(("FUNDAMENTALS_", "EDGAR_", "DAGSTER_", "REDIS_"))]:
        monkeypatch.delenv(name)
