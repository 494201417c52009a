"""Synchronizations whose batches workers share, with object storage, PostgreSQL and Redis."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import leases
from tests.e2e.homes import PATIENCE, published, sync, sync_as_process
from tests.mirrors import ALFA, BRAVO, Mirror
from tests.scale.conftest import Finder
from tests.scale.fleet import Fleet, Worker, running
from warehouse.runs import FAILED, HELD_BACK, read

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
        if not fleet.had_ended(begun[-1], time.time()):  # another worker may end it before this is known
            return begun[-1]
        worker.signal(signal.SIGCONT)
    raise AssertionError(f"the worker began no batch: {leading.communicate()}\n{worker.log}")


@pytest.mark.parametrize(
    ("fleet", "source"),
    [
        pytest.param(8, "sample", id="sample"),
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
    expected = tmp_path / "alone"
    with ThreadPoolExecutor(1) as meanwhile:  # nobody does anything until the worker counts as lost
        one_machine = meanwhile.submit(sync_as_process, expected, documents)
        printed, errors = leading.communicate(timeout=PATIENCE)
        done = one_machine.result()

    assert leading.returncode == 0, errors + other.log
    assert fleet.runs() == ["SUCCESS"]
    workers = fleet.workers_of_steps()
    assert len(workers[step]) == 2
    assert len(set(workers[step])) == 2
    assert len([each for each in workers if each.startswith(OP)]) > 2
    assert done.returncode == 0, done.stderr
    shared, alone = published(fleet.home), published(expected)
    assert shared.is_whole
    assert shared.content_hash == alone.content_hash
    assert shared.rows == alone.rows

    def counts(text: str) -> list[str]:
        return [line for line in text.splitlines() if "│" in line and "seconds" not in line]

    assert counts(printed) == counts(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("fleet", [2], indirect=True)
def test_runs_of_several_days(fleet, tmp_path):
    """Held back by a list, by documents, then published; then nothing is new; at last a worker is stopped."""
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    workers = fleet.add(), fleet.add()
    assert finished(fleet.sync(mirror.folder)) == (0, "")
    first = published(fleet.home).pointer
    assert {"facts.facts_plan", "publish"} <= fleet.steps_of_newest_run()

    mirror.list(ALFA, replace(BRAVO, symbol=ALFA.symbol))
    status, errors = finished(fleet.sync(mirror.folder))
    assert status == 1
    assert "nothing was published: the_list_is_whole" in errors
    assert "facts.facts_plan" not in fleet.steps_of_newest_run()

    mirror.list(ALFA, BRAVO)
    for filer in (ALFA, BRAVO):
        mirror.facts(filer).write_text("{")
    status, errors = finished(fleet.sync(mirror.folder))
    assert status == 1
    assert "nothing was published: few_are_quarantined" in errors
    assert "publish" not in fleet.steps_of_newest_run()
    assert published(fleet.home).pointer == first
    assert read(fleet.home / "published").by_result[HELD_BACK].number == 2

    mirror.hold(ALFA, replace(BRAVO, scale=250))
    assert finished(fleet.sync(mirror.folder)) == (0, "")
    second = published(fleet.home)
    assert second.is_whole
    assert second.pointer.previous == first.file
    assert finished(fleet.sync(mirror.folder)) == (0, "")
    assert published(fleet.home).pointer.build == second.pointer.build

    status, errors = finished(fleet.sync(tmp_path / "nowhere"))
    assert status == 1
    assert errors.startswith(f"fundamentals sync: {tmp_path / 'nowhere'} is not a directory")
    assert read(fleet.home / "published").by_result[FAILED].number == 1, "it failed before its first commit"
    assert published(fleet.home).pointer.build == second.pointer.build
    workers[0].signal(signal.SIGINT)
    assert workers[0].process.wait(PATIENCE) == 0


@pytest.mark.long
@pytest.mark.parametrize("fleet", [2], indirect=True)
def test_a_home_that_has_data_leads_a_first_run_without_losing_them(fleet, tmp_path):
    """The store is empty: it gets the version log of the home, which the run continues."""
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    assert sync(fleet.home, mirror.folder).returncode == 0
    before = published(fleet.home).pointer
    fleet.add()
    mirror.hold(ALFA, replace(BRAVO, scale=250))
    assert finished(fleet.sync(mirror.folder)) == (0, "")
    after = published(fleet.home).pointer
    assert after.previous == before.file
    assert after.log[: len(before.log)] == before.log
    assert len(after.log) == len(before.log) + 1


@pytest.mark.long
@pytest.mark.parametrize("fleet", [50], indirect=True)
def test_a_batch_that_loses_three_workers_ends_the_run(fleet):
    """It would be given to one worker after the other; the last line says why, though no step could."""
    leading = fleet.sync("sample")
    for _ in range(leases.ATTEMPTS):
        worker = fleet.add()
        frozen_in_a_batch(fleet, worker, leading)
        worker.signal(signal.SIGKILL)
    fleet.add()
    status, errors = finished(leading)

    assert status == 1
    assert "fundamentals sync: 3 workers were lost while they did the same step" in errors


@pytest.mark.long
@pytest.mark.parametrize("fleet", [8], indirect=True)
def test_an_interrupted_worker_ends_its_step_first(fleet):
    """Also if all of its processes get the signal, as Ctrl-C and systemd send it; another worker does the rest."""
    interrupted = fleet.add()
    leading = fleet.sync("sample")
    step = frozen_in_a_batch(fleet, interrupted, leading)
    interrupted.signal(signal.SIGINT)
    interrupted.signal(signal.SIGCONT)
    assert interrupted.process.wait(PATIENCE) == 0
    assert fleet.had_ended(step, time.time())
    fleet.add()

    assert finished(leading) == (0, "")
    assert len(fleet.workers_of_steps()[step]) == 1


@pytest.mark.long
@pytest.mark.parametrize("fleet", [2], indirect=True)
def test_of_two_runs_at_once_one_publishes(fleet, tmp_path):
    """The other one names it, and nothing of the other one is visible."""
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    fleet.add()
    fleet.add()
    leading = [fleet.sync(mirror.folder), fleet.sync(mirror.folder, FUNDAMENTALS_HOME=str(tmp_path / "lead-2"))]
    ended = sorted(finished(each) for each in leading)

    assert [status for status, _ in ended] == [0, 1]
    assert re.search(r"run \w+ was committed to .*, while this one was running; synchronize again", ended[1][1])
    assert sorted(fleet.runs()) == ["FAILURE", "SUCCESS"]
    [build] = {published(home).pointer.build for home in (fleet.home, tmp_path / "lead-2") if builds_in(home)}
    assert build in ended[1][1]


def builds_in(home: Path) -> list[Path]:
    """The pointer of a home, if it has one."""
    return [*(home / "published").glob("CURRENT.json")]


def finished(leading: "subprocess.Popen[str]") -> tuple[int, str]:
    """The exit status of a synchronization and its last line of errors, if it failed."""
    _, errors = leading.communicate(timeout=PATIENCE)
    return leading.returncode, errors.strip().splitlines()[-1] if leading.returncode else ""
