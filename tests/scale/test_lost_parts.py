"""What is behind a shared synchronization is killed in the middle: Redis, PostgreSQL, the process that leads.

The run goes on to the same build, or ends with one line that says what to do; the next one heals everything.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis as Client

from pipelines.broker import QUEUES
from pipelines.home import PROJECT
from pipelines.leases import LOST
from tests.e2e.homes import environment, published, sync
from tests.mirrors import ALFA, BRAVO, Mirror
from tests.scale import fleet as machines
from tests.scale.conftest import Finder
from tests.scale.fleet import Fleet, until
from warehouse.runs import FAILED, PUBLISHED, Run, read

pytestmark = pytest.mark.long

BATCH = 1
OP = "values.values_batch"
AWAY = 4.0
"""Seconds that a part is away, less than a worker may be silent."""
BOUND = 180
"""Seconds in which a synchronization ends, whatever was lost: many times what it needs on a busy machine."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source of two companies, so of two batches."""
    return Mirror(tmp_path_factory.mktemp("source") / "mirror", ALFA, BRAVO).folder


@pytest.fixture(scope="module")
def alone(source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The content hash of the build that one machine makes."""
    home = tmp_path_factory.mktemp("alone") / "home"
    assert sync(home, source).returncode == 0
    return published(home).content_hash


@contextmanager
def machines_of(workers: int, folder: Path, installed: Finder, *, keeps: bool = True) -> Iterator[Fleet]:
    pytest.importorskip("dagster_celery", reason="dagster-celery is not installed: run `make scale`")
    with machines.running(folder, installed("redis-server"), BATCH, keeps=keeps) as fleet:
        for _ in range(workers):
            fleet.add()
        yield fleet


def in_the_middle(fleet: Fleet, leading: "subprocess.Popen[str]") -> None:
    """Wait until a worker has begun a batch of values."""
    until(leading, lambda: any(worker.begun(OP) for worker in fleet.workers))


def head_is_complete(fleet: Fleet) -> None:
    """Everything that HEAD names is stored."""
    stored = fleet.objects.keys("home/objects/")
    files = json.loads(fleet.objects.read("home/HEAD"))["files"]
    for digest, size in files.values():
        assert stored[f"home/objects/{digest[:2]}/{digest}"] == size


def ended(leading: "subprocess.Popen[str]") -> tuple[int, str]:
    """The exit status of a synchronization and its last line of errors, if it failed; in bounded time."""
    _, errors = leading.communicate(timeout=BOUND)
    return leading.returncode, errors.strip().splitlines()[-1] if leading.returncode else ""


def healed(fleet: Fleet, source: Path, alone: str) -> Mapping[str, Run]:
    """Synchronize again without trouble; return how often each result was.

    There is one build then, which one machine would have made, and no run counts as running.
    """
    head_is_complete(fleet)
    assert ended(fleet.sync(source)) == (0, "")
    head_is_complete(fleet)
    made = published(fleet.home)
    assert made.is_whole
    assert made.content_hash == alone
    results = read(fleet.home / "published").by_result
    assert results[PUBLISHED].number == 1
    assert fleet.runs()[0] == "SUCCESS"
    assert {"STARTED", "STARTING", "NOT_STARTED"}.isdisjoint(fleet.runs())
    return results


def part_of(fleet: Fleet, part: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """What kills a part, and what starts it again."""
    if part == "redis":
        return fleet.redis.stop, fleet.redis.start
    return fleet.postgres.kill_all, fleet.postgres.start


@pytest.mark.parametrize("part", ["redis", "postgres"])
def test_a_part_that_comes_back_soon_does_not_end_the_run(part, tmp_path, installed, source, alone):
    with machines_of(2, tmp_path, installed) as fleet:
        kill, start = part_of(fleet, part)
        leading = fleet.sync(source)
        in_the_middle(fleet, leading)
        kill()
        time.sleep(AWAY)
        head_is_complete(fleet)
        start()
        assert ended(leading) == (0, "")
        assert FAILED not in healed(fleet, source, alone)


@pytest.mark.parametrize(
    ("part", "said", "failures"),
    [
        ("redis", r"the broker, Redis, does not answer \(.*\); check FUNDAMENTALS_BROKER and the server", 2),
        ("postgres", "PostgreSQL with Dagster's record of runs: .*; check FUNDAMENTALS_DAGSTER_URL and the server", 1),
    ],
)
def test_a_part_that_stays_away_ends_the_run(part, said, failures, tmp_path, installed, source, alone):
    """Nobody waits for ever. Another run, which begins then, says the same; the next one records what failed."""
    with machines_of(2, tmp_path, installed) as fleet:
        kill, start = part_of(fleet, part)
        leading = fleet.sync(source)
        in_the_middle(fleet, leading)
        kill()
        of_first = ended(leading)
        for status, line in (of_first, ended(fleet.sync(source))):
            assert status == 1
            assert re.fullmatch(f"fundamentals sync: {said}, and synchronize again", line)
        head_is_complete(fleet)
        start()
        assert healed(fleet, source, alone)[FAILED].number == failures


def test_steps_that_redis_has_lost_are_given_out_again(tmp_path, installed, source, alone):
    """Nobody has begun them yet, and they need nothing that another step handed on."""
    with machines_of(0, tmp_path, installed, keeps=False) as fleet:
        leading = fleet.sync(source)
        with Client.from_url(fleet.redis.url) as client:
            until(leading, lambda: any(client.llen(name) for name in QUEUES))
        fleet.redis.stop()
        fleet.redis.start()
        fleet.add()
        assert ended(leading) == (0, "")
        assert FAILED not in healed(fleet, source, alone)


def test_a_redis_that_has_lost_what_a_step_handed_on_ends_the_run(tmp_path, installed, source, alone):
    """The second batch waits while the first one is done, and needs the plan."""
    with machines_of(1, tmp_path, installed, keeps=False) as fleet:
        leading = fleet.sync(source)
        in_the_middle(fleet, leading)
        fleet.redis.stop()
        time.sleep(AWAY)
        fleet.redis.start()
        status, line = ended(leading)
        assert status == 1
        assert re.match(r"fundamentals sync: Redis has lost fundamentals/.*; synchronize again", line)
        assert healed(fleet, source, alone)[FAILED].number == 1


def test_a_run_whose_leader_is_killed_is_ended_by_the_daemon(tmp_path, installed, source):
    """The daemon has its queue wait for runs that are under way; nobody has to end this one by hand."""
    with machines_of(2, tmp_path, installed) as fleet:
        leading = fleet.sync(source)
        in_the_middle(fleet, leading)
        with daemon(fleet):
            leading.kill()
            leading.communicate()
            deadline = time.monotonic() + BOUND
            while fleet.runs() != ["FAILURE"]:
                assert time.monotonic() < deadline, fleet.folder.joinpath("daemon.log").read_text()
                time.sleep(1)
    assert LOST in fleet.folder.joinpath("daemon.log").read_text()


@contextmanager
def daemon(fleet: Fleet) -> Iterator[None]:
    """Dagster's daemon with the settings that the command has put into the home of the machine that leads."""
    with (
        fleet.folder.joinpath("daemon.log").open("wb") as log,
        subprocess.Popen(
            [Path(sys.executable).with_name("dagster-daemon"), "run", "--workspace", "workspace.yaml"],
            cwd=PROJECT,
            env=environment(fleet.home, **fleet.variables, DAGSTER_HOME=str(fleet.home / "dagster")),
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_run_whose_leader_is_killed_is_ended_by_the_next_one(tmp_path, installed, source, alone):
    with machines_of(2, tmp_path, installed) as fleet:
        leading = fleet.sync(source)
        in_the_middle(fleet, leading)
        leading.kill()
        leading.communicate()
        assert fleet.runs() == ["STARTED"]
        healed(fleet, source, alone)
        assert fleet.runs() == ["SUCCESS", "FAILURE"]
