"""Fixtures and rules of all tests: real documents, needed programs, and the synchronized homes.

All tests that only read the synchronized sample or the synchronized mirror share them.

A test that needs a program or the mirror of real EDGAR documents is skipped if it is missing, and the skip is reported.
With `--strict-skips`, a missing program or an incomplete mirror is a failure.
"""

import gc
import os
import shutil
import ssl
from collections.abc import Callable, Generator, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from hypothesis import is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants, constants_from_module

from tests import ending
from tests.once import made_once
from tests.progress import Progress

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"
UNTRACED = frozenset({"e2e", "golden", "property"})
"""Folders whose tests are not traced, such as tests with drawn examples: tracing takes a third of the time, and the
other tests cover as much.
"""

# the same examples each time, and no deadline: a busy machine must not make a test fail
settings.register_profile("project", deadline=None, derandomize=True, database=None)
settings.load_profile("project")


@cache
def constants() -> Constants:
    """The numbers and texts of the simulator, which Hypothesis draws, too.

    Hypothesis would otherwise take them from all modules of the project that are imported by then. These depend on the
    tests that a process ran before, so the examples would depend on them, too.
    """
    from pipelines import sample  # here, because not every run needs it

    names = [module.name for module in walk_packages(sample.__path__, "pipelines.sample.")]
    found = Constants()
    for name in names:
        found |= constants_from_module(import_module(name))
    return found


providers._get_local_constants = constants


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--strict-skips", action="store_true", help="fail where a needed program is missing")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ending)
    if not hasattr(config, "workerinput"):  # not in worker processes, which have no terminal
        config.pluginmanager.register(Progress(config))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude imported and collected objects from garbage collections, which would take a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(50_000, 20, 20)  # collecting less often saves a tenth of the time of test_truth


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in UNTRACED or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests that are marked with tests.together.in_one_call."""
    if not hasattr(pyfuncitem.obj, "run_with_others"):
        return None
    pyfuncitem.obj.run_with_others(pyfuncitem)
    return True


def pytest_sessionfinish() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The mirror directory of real EDGAR documents next to the project."""
    folder = SHARED / "edgar"
    if not (folder / "www.sec.gov").is_dir():
        pytest.skip(f"the mirror of real EDGAR documents is missing: {folder.relative_to(PROJECT.parent)}")
    return folder


@pytest.fixture(scope="session")
def synchronized_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the sample, synchronized once per run; tests do not change it."""
    return made_once(tmp_path_factory, "synchronized-sample", lambda home: synchronize(home, "sample"))


@pytest.fixture(scope="session")
def synchronized_mirror(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the whole mirror, synchronized once per run; tests do not change it."""
    return made_once(tmp_path_factory, "synchronized-mirror", lambda home: synchronize(home, mirror))


def synchronize(home: Path, source: object) -> None:
    """Synchronize in a separate process, because coverage would slow it down, and with several threads of Polars, as
    for users; `make test` runs all else with one thread a process."""
    from tests.e2e.homes import sync_as_process  # here, because it imports Polars: not every run needs it

    done = sync_as_process(home, source, POLARS_MAX_THREADS="4")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Callable[[str, str], str]:
    """Finds a program: `program("chromium", "chromium")` by its name and its Debian package."""

    return lambda name, package: needed(shutil.which(name), name, package, request.config)


def needed(found: str | None, name: str, package: str, config: pytest.Config) -> str:
    """The path of a program; if it was not found, the test is skipped, or fails with `--strict-skips`."""
    if found:
        return found
    missing = f"{name} is missing: install the Debian package {package} (make system)"
    if config.getoption("--strict-skips"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Clients read the list of certificate authorities once per process: each would take a fiftieth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not see the settings in the environment of the run."""
    for name in [name for name in os.environ if name.startswith(("FUNDAMENTALS_", "EDGAR_", "DAGSTER_", "REDIS_"))]:
        monkeypatch.delenv(name)
