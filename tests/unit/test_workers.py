"""Worker processes: results in order, errors, and no process that outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from pipelines import workers
from pipelines.workers import WorkerError, Workers

PATIENCE = 60
LEFT_BEHIND = """
import os, signal
from pipelines.workers import Workers

if __name__ == "__main__":
    print(*Workers(2).map(eval, ["__import__('os').getpid()"]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with workers.started("2") as held:
        yield held


def squared(number: int) -> tuple[int, int]:
    time.sleep(0.05 / number)  # the first ones take longest
    return number * number, os.getpid()


def state(_: int) -> tuple[bool, int]:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN, pl.thread_pool_size()


def inverse(number: int) -> float:
    return 1 / number


def ended(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_are_in_the_order_of_the_inputs(two):
    results, processes = zip(*two.map(squared, range(1, 9)), strict=True)
    assert results == tuple(number * number for number in range(1, 9))
    assert os.getpid() not in processes


def test_a_worker_has_one_thread_and_ignores_interruptions(two):
    """The process that started it gets the interruption too, and ends it."""
    assert list(two.map(state, [1])) == [(True, 1)]


def test_an_error_in_a_worker_is_raised(two):
    with pytest.raises(ZeroDivisionError):
        list(two.map(inverse, [1, 0, 2]))
    assert list(two.map(inverse, [1, 2])) == [1.0, 0.5]


def killed_once(path: Path) -> str:
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


def test_the_batches_of_a_worker_that_is_killed_are_repeated(tmp_path):
    """Also where several are, one after the other; the results are in order."""
    (tmp_path / "first").touch()
    names = ["first", "second", "third", "fourth", "fifth"]
    with workers.started("2") as held:
        assert list(held.map(killed_once, [tmp_path / name for name in names])) == names


def test_batches_may_be_submitted_after_a_worker_was_killed():
    """No batch was in work; or the batches before killed it while the others were submitted."""
    with workers.started("2") as held:
        _, process = next(held.map(squared, [1]))
        os.kill(process, signal.SIGKILL)
        time.sleep(0.5)  # until the pool has noticed
        assert [result for result, _ in held.map(squared, [1, 2, 3, 4])] == [1, 4, 9, 16]


@dataclass(frozen=True)
class Deadly:
    ciks: tuple[str, ...] = ("0000000101", "0000000102")


def test_a_batch_of_which_three_workers_die_is_named():
    with (
        workers.started("2") as held,
        pytest.raises(WorkerError, match=r"by one batch.*CIK 0000000101, 0000000102; sync"),
    ):
        list(held.map(ended, [Deadly()]))


def test_workers_end_with_the_process_that_started_them(tmp_path):
    """Also if that process is killed and cannot notify them."""
    script = tmp_path / "left_behind.py"
    script.write_text(LEFT_BEHIND)
    project = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(project)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{int(done.stdout)}").exists():
        assert time.monotonic() < until, "the worker outlived the process that started it"
        time.sleep(0.05)


@pytest.mark.parametrize("setting", ["0", "-1", "two", "1.5", "²"])
def test_the_number_of_processes_must_be_a_number(setting):
    with pytest.raises(WorkerError, match="FUNDAMENTALS_PROCESSES is"), workers.started(setting):
        pass


def test_there_is_a_worker_for_each_core_unless_a_number_is_set():
    with workers.started("") as of_machine, workers.started("3") as three:
        assert (of_machine.number, three.number) == (len(os.sched_getaffinity(0)), 3)


def test_a_prepared_process_follows_the_one_that_started_it(monkeypatch):
    """The same in this process, which no other process of this kind started."""
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("POLARS_MAX_THREADS", "")
    try:
        workers._prepare()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert os.environ["POLARS_MAX_THREADS"] == "1"
    finally:
        signal.signal(signal.SIGINT, before)
