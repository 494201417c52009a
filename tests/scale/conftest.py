"""Replicas behind nginx, for all tests of a run; a test that takes a part away brings it back.

Tests that run side by side are divided into groups, each of which stays in one process: the tests of the replicas,
because starting these takes longer than most tests, each played day, and the tests of each other file. The longest
tests begin first.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.conftest import needed
from tests.scale import objects as storage
from tests.scale import postgres, redis
from tests.scale.__main__ import FOLDER, PROGRAMS
from tests.scale.__main__ import program as path_of
from tests.scale.cluster import SITE, Cluster, Replica, stopped_at_the_end
from tests.scale.front import nginx
from tests.scale.objects import Objects

REPLICAS = 2

APART = "test_filing_day"
"""The file in which each test is a group of its own: the tests share nothing, and take longest."""
GROUPS = (
    (APART,),
    ("test_replicas", "test_front", "test_faults"),
    ("test_cluster",),
    ("test_shared_homes",),
    ("test_lease",),
)
"""Files whose tests stay together; each other file is a group of its own."""

Finder = Callable[[str], str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of a group next to each other, and the tests of GROUPS first."""
    order = {FOLDER / f"{name}.py": place for place, names in enumerate(GROUPS) for name in names}
    items.sort(key=lambda item: order.get(item.path, len(GROUPS)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    """Give a whole group to one process. The markers of pytest-xdist 3.8 for that are without effect in pytest 9.2."""
    return Grouped(config, log)


class Grouped(LoadFileScheduling):
    """Gives whole groups of files to processes, in their order."""

    def _split_scope(self, nodeid: str) -> str:
        """The first file of the group of a test; of a test that is a group of its own, the test."""
        file = super()._split_scope(nodeid)
        if Path(file).stem == APART:
            return nodeid
        return next((names[0] for names in GROUPS if Path(file).stem in names), file)


@pytest.fixture(scope="session")
def installed(request: pytest.FixtureRequest) -> Finder:
    """Finds a program by its name, or skips the test."""
    return lambda name: needed(path_of(name), name, PROGRAMS[name], request.config)


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Objects]:
    """An object storage for the files that have a store of their own in it, under a prefix; one for each process."""
    with storage.running(tmp_path_factory.mktemp("objects")) as running:
        yield running


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, installed: Finder, objects: Objects) -> Iterator[Cluster]:
    """Two replicas with two workers each behind nginx, with homes that are empty at first, and a published build."""
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as parts:
        (home := folder / "home").mkdir()
        database = parts.enter_context(postgres.running(folder))
        counting = parts.enter_context(redis.running(installed("redis-server"), folder))
        variables = {
            **objects.environment,
            "REDIS_URL": counting.url,
            "FUNDAMENTALS_ACCOUNTS_URL": database.database(),
            "FUNDAMENTALS_BASE_URL": f"{SITE}/v1",
            "FUNDAMENTALS_TRUSTED_PROXY": "127.0.0.1",
        }
        replicas = []
        for number in range(REPLICAS):
            (replica := folder / f"replica-{number}").mkdir()
            replicas.append(Replica(replica, variables))
        parts.enter_context(stopped_at_the_end(tuple(replicas)))
        addresses = [f"127.0.0.1:{each.port}" for each in replicas]
        front = parts.enter_context(nginx(installed("nginx"), folder / "nginx", addresses))
        made = Cluster(front, tuple(replicas), home, variables, counting, objects, database)
        made.publish("b1")
        for replica in replicas:
            replica.start()
        made.all_workers_answer()
        yield made
