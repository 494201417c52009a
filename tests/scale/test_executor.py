"""Synchronizations whose batches workers share, with object storage, PostgreSQL and Redis."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.homes import PATIENCE, published, sync_as_process
from tests.scale.conftest import Finder
from tests.scale.fleet import Fleet, Worker, running

OP = "values.values_batch"


@pytest.fixture
def fleet(tmp_path: Path, installed: Finder, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    pytest.importorskip("dagster_celery", reason="dagster-celery is not installed: run `make scale`")
    with running(tmp_path, installed("redis-server"), request.param) as found:
        yield found


def frozen_in_a_batch(fleet: Fleet, worker: Worker, leading: "subprocess.Popen[str]") -> str:
    """Freeze a worker while it is at work on a batch, which it has begun and not ended; return the step."""
    known: list[str] = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and leading.poll() is None:
        begun = worker.begun(OP)
        if len(begun) == len(known):
            time.sleep(0.01)
            continue
        known = begun
        worker.signal(signal.SIGSTOP)
        if not fleet.has_ended(begun[-1]):
            return begun[-1]
        worker.signal(signal.SIGCONT)
    raise AssertionError(f"the worker began no batch: {leading.communicate()}\n{worker.log}")


@pytest.mark.parametrize(
    ("fleet", "source"),
    [
        pytest.param(4, "sample", id="sample"),
        pytest.param(50, "mirror", id="mirror", marks=pytest.mark.long),
    ],
    indirect=["fleet"],
)
def test_a_killed_worker_changes_nothing_of_the_build(fleet, source, tmp_path, request):
    """Its batch is done by the other worker, and the content of the build is that of one machine."""
    documents = request.getfixturevalue("mirror") if source == "mirror" else source
    lost, other = fleet.add(), fleet.add()
    leading = fleet.sync(documents)
    step = frozen_in_a_batch(fleet, lost, leading)
    lost.signal(signal.SIGKILL)
    printed, errors = leading.communicate(timeout=PATIENCE)

    assert leading.returncode == 0, errors + other.log
    assert fleet.runs() == ["SUCCESS"]
    workers = fleet.workers_of_steps()
    assert len(workers[step]) == 2
    assert len(set(workers[step])) == 2
    assert len([each for each in workers if each.startswith(OP)]) > 2
    expected = tmp_path / "alone"
    done = sync_as_process(expected, documents)
    assert done.returncode == 0, done.stderr
    shared, alone = published(fleet.home), published(expected)
    assert shared.is_whole
    assert shared.content_hash == alone.content_hash
    assert shared.rows == alone.rows

    def counts(text: str) -> list[str]:
        return [line for line in text.splitlines() if "│" in line and "seconds" not in line]

    assert counts(printed) == counts(done.stdout)
