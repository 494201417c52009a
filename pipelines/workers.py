"""Worker processes: batches of companies are processed on all cores.

Belongs here: starting the processes, mapping a function over batches, ending them with the run. Does not: the work of a
batch (stages, tables), collecting its rows (lake).

The processes live for the whole run, because each one needs a second to import the rules. The process that started them
holds the lock of the home; they write only files that it names.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from pipelines.errors import PipelineError

Input = TypeVar("Input")
Output = TypeVar("Output")

SETTING = "FUNDAMENTALS_PROCESSES"


class WorkerError(PipelineError):
    """A worker process ended before its work was done, or the setting of their number is wrong."""


class Workers:
    """Processes that work on batches at the same time; the processes start with the first map over several batches."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ProcessPoolExecutor | None = None

    def map(self, task: Callable[[Input], Output], inputs: Iterable[Input]) -> Iterator[Output]:
        """The results of a function for all inputs, in their order. Functions, inputs and results must be picklable.

        Raises:
            WorkerError: a process was killed, for example because memory was short.
            Exception: whatever the function raises.
        """
        if self._pool is None:
            spawned = multiprocessing.get_context("spawn")  # a fork would copy the locks of Polars' threads
            self._pool = ProcessPoolExecutor(self.number, mp_context=spawned, initializer=_prepare)
        try:
            yield from self._pool.map(task, inputs)
        except BrokenProcessPool as error:
            raise WorkerError(
                "a worker process was killed, perhaps because memory was short; synchronize again, which continues "
                f"with the companies that are left; {SETTING}=1 uses less memory"
            ) from error

    def end(self) -> None:
        """End the processes; work that has not begun is not done."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


ALONE = Workers(1)
"""This process alone."""


@contextmanager
def started(setting: str) -> Generator[Workers, None, None]:
    """Workers for the `with` block.

    Args:
        setting: their number; empty: one for each core that this process may use.

    Raises:
        WorkerError: the setting is not a number from 1 on.
    """
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) > 0):
        raise WorkerError(f"{SETTING} is {setting!r}, expected the number of processes, 1 or more")
    workers = Workers(int(setting) if setting else len(os.sched_getaffinity(0)))
    try:
        yield workers
    finally:
        workers.end()


def _prepare() -> None:
    """Prepare a worker process: one thread, no answer to Ctrl-C, and no life after the process that started it."""
    os.environ.update(POLARS_MAX_THREADS="1")  # read when Polars is first used; the other cores have their own worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
