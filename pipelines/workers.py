"""Workers: processes that work on batches of companies on all cores of this machine.

Belongs here: the interface of workers, and the workers of this machine: starting the processes, mapping a function over
batches, ending them with the run. Does not: the workers of other machines (shared.cluster), the work on a batch
(stages, tables), collecting its rows (storage.lake).

The processes exist for the whole run, because each needs a second to import the rules. The process that started them
holds the lock of the home; they write only files that it names.
"""

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from pipelines.errors import PipelineError
from pipelines.loading import collect_seldom

Input = TypeVar("Input")
Output = TypeVar("Output")

SETTING = "FUNDAMENTALS_PROCESSES"
DEATHS = 3
"""The number of workers that may die while processing one batch."""
NAMED = 10
"""The number of companies of the batch that an error names."""


class WorkerError(PipelineError):
    """A worker process ended before its work was done, or the setting of their number is wrong."""


def died_of(batch: object) -> str:
    """The error message about a batch during which several workers died; it names companies of the batch."""
    ciks = [*getattr(batch[1] if isinstance(batch, tuple) else batch, "ciks", ())]
    more = f" and {len(ciks) - NAMED:,} more" if len(ciks) > NAMED else ""
    return (
        f"{DEATHS} worker processes were killed by one batch, perhaps because memory was short: CIK "
        f"{', '.join(ciks[:NAMED]) or 'of no company'}{more}; synchronize again, which continues with the companies "
        f"that are left; {SETTING}=1 or fewer companies in a batch (FUNDAMENTALS_BATCH) use less memory"
    )


class Workers:
    """Processes that work on batches in parallel; the processes start at the first `map` over several batches."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ProcessPoolExecutor | None = None

    def map(self, task: Callable[[Input], Output], inputs: Iterable[Input]) -> Iterator[Output]:
        """Yield the results of a function for all inputs, in their order. Functions, inputs and results must be
        picklable.

        If a process is killed, the pool ends all processes. The batches in progress are then repeated one by one, to
        find the batch that makes processes die; the other batches follow.

        Raises:
            WorkerError: several processes died while processing one batch, for example because memory was short.
            Exception: any error of the function.
        """
        given = list(inputs)
        futures = {number: self._submitted(task, each) for number, each in enumerate(given)}
        for number in range(len(given)):
            try:
                result = futures[number].result()
            except BrokenProcessPool:
                lost = [each for each in range(number, len(given)) if _is_lost(futures[each])]
                for each in lost[: self.number]:
                    futures[each] = self._alone(task, given[each])
                futures |= {each: self._submitted(task, given[each]) for each in lost[self.number :]}
                result = futures[number].result()
            yield result

    def _submitted(self, task: Callable[[Input], Output], each: Input) -> Future[Output]:
        if self._pool is None:
            spawned = multiprocessing.get_context("spawn")  # a fork would copy the locks of Polars' threads
            self._pool = ProcessPoolExecutor(self.number, mp_context=spawned, initializer=_prepare)
        try:
            return self._pool.submit(task, each)
        except BrokenProcessPool as killed:  # because of an earlier batch
            lost: Future[Output] = Future()
            lost.set_exception(killed)
            return lost

    def _alone(self, task: Callable[[Input], Output], each: Input) -> Future[Output]:
        """Repeat a batch that was in progress when a process was killed, without other batches at the same time."""
        for _ in range(DEATHS - 1):
            self.end()
            done = self._submitted(task, each)
            if not _is_lost(done):
                return done
        self.end()
        raise WorkerError(died_of(each))

    def end(self) -> None:
        """End the processes; batches that have not begun are cancelled."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


ALONE = Workers(1)
"""Works in this process only."""


def _is_lost(future: Future[Any]) -> bool:
    """Wait for a batch; true if its process was killed."""
    return isinstance(future.exception(), BrokenProcessPool)


@contextmanager
def started(setting: str) -> Generator[Workers, None, None]:
    """Workers for the `with` block.

    Args:
        setting: the number of workers; empty: one for each core that this process may use.

    Raises:
        WorkerError: the setting is not a number, or less than 1.
    """
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) > 0):
        raise WorkerError(f"{SETTING} is {setting!r}, expected the number of processes, 1 or more")
    workers = Workers(int(setting) if setting else len(os.sched_getaffinity(0)))
    try:
        yield workers
    finally:
        workers.end()


def _prepare() -> None:
    """Prepare a worker process: one thread, ignore Ctrl-C, and end when the process that started it ends.

    It ends without unloading its modules, because DuckDB would then print a list of its remaining objects.
    """
    atexit.register(os._exit, 0)
    collect_seldom()
    os.environ.update(POLARS_MAX_THREADS="1")  # read at the first use of Polars; the other cores have their own workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
