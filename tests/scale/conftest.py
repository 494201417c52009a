"""Replicas behind nginx, for all tests of a run; a test that takes a part away brings it back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.conftest import needed
from tests.scale import objects, postgres, redis
from tests.scale.__main__ import PROGRAMS
from tests.scale.__main__ import program as path_of
from tests.scale.cluster import SITE, Cluster, Replica, stopped_at_the_end
from tests.scale.front import nginx

REPLICAS = 2

Finder = Callable[[str], str]


@pytest.fixture(scope="session")
def installed(request: pytest.FixtureRequest) -> Finder:
    """Finds a program by its name, or skips the test."""
    return lambda name: needed(path_of(name), name, PROGRAMS[name], request.config)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, installed: Finder) -> Iterator[Cluster]:
    """Two replicas with two workers each behind nginx, with homes that are empty at first, and a published build."""
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as parts:
        (home := folder / "home").mkdir()
        storage = parts.enter_context(objects.running(folder))
        database = parts.enter_context(postgres.running(folder))
        counting = parts.enter_context(redis.running(installed("redis-server"), folder))
        variables = {
            **storage.environment,
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
        made = Cluster(front, tuple(replicas), home, variables, counting, storage, database)
        made.publish("b1")
        for replica in replicas:
            replica.start()
        made.all_workers_answer()
        yield made
