"""Several machines that share the batches of a run: a cluster of Dask, which gives them out and repeats lost ones.

Belongs here: settings, scheduler, the workers of a machine, an executor for the leader. Does not: who leads (lease),
what a batch is (stages), processes of one machine (workers).

The leader commits its state before it gives out batches. A worker fetches into a folder of its own what a batch reads,
and stores the parts that it makes under their digests, which nobody sees before the leader has committed them. So it
does not matter where a batch is done, or if it is done twice.
"""

import asyncio
import logging
import os
import pickle
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipelines.errors import PipelineError
from pipelines.home import Home
from pipelines.lake import Lake, Part, Written
from pipelines.settings import whole_number
from pipelines.tables import code_digest, digest
from pipelines.waiting import AFTER, announced, on_terminal
from pipelines.workers import DEATHS, WorkerError, Workers, died_of
from pipelines.working_copy import WorkingCopy, of_home

SETTING, CERTIFICATES = "FUNDAMENTALS_CLUSTER", "FUNDAMENTALS_TLS"
FILES = ("ca.pem", "cert.pem", "key.pem")
"""The files in the folder of certificates: who may sign, and what this machine shows."""
FORMER = {
    "FUNDAMENTALS_BROKER": f"set {SETTING}=tls://HOST:8786, and start `fundamentals scheduler` on that host",
    "FUNDAMENTALS_LOST_AFTER": "set FUNDAMENTALS_WORKER_TTL for the scheduler",
    "FUNDAMENTALS_DAGSTER_URL": "unset it, because each machine has the record of its own runs in its home",
}
"""What became of the variables of earlier releases."""
PORTS, METRICS_PORT = "8788:8887", 8787
"""The ports of workers and of their nannies on each machine; the port of the scheduler's metrics."""
PACKAGES = ("polars", "msgspec", "numpy", "zstandard", "distributed", "cloudpickle")
"""Packages of which leader and workers need the same versions, as the lock files say."""
ANSWERED = 60
"""Seconds in which the scheduler has to answer."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ClusterError(PipelineError):
    """The settings of the cluster are incomplete or wrong, or it cannot be used."""


def address() -> str:
    """The address of the scheduler; empty: the processes of this machine do all batches.

    Raises:
        ClusterError: it is none, or another setting, a certificate or a package is missing.
    """
    for name in filter(os.environ.get, FORMER):
        raise ClusterError(f"{name} is no longer used: {FORMER[name]} (docs/scaling.md)")
    if not (found := os.environ.get("FUNDAMENTALS_CLUSTER", "")):
        return ""
    place = urlsplit(found)
    if place.scheme not in ("tls", "tcp") or not place.hostname or place.username:
        raise ClusterError(f"{SETTING} is not an address like tls://host:8786")
    if place.scheme == "tcp" and place.hostname not in LOOPBACK:
        raise ClusterError(f"{SETTING} is {found}: who reaches it could run code; beyond loopback it needs tls://")
    if not os.environ.get("FUNDAMENTALS_STORE"):
        raise ClusterError(f"{SETTING} needs FUNDAMENTALS_STORE, too: see docs/scaling.md")
    folder = Path(os.environ.get("FUNDAMENTALS_TLS") or "none")
    if place.scheme == "tls" and not all((folder / name).is_file() for name in FILES):
        raise ClusterError(f"{CERTIFICATES} has to be a folder with {', '.join(FILES)}: see docs/scaling.md")
    try:
        _configure(str(folder))
    except ImportError as error:
        raise ClusterError(f"{SETTING} needs the package {error.name}; install it with `make scale`") from error
    return found


def _configure(folder: str) -> None:
    """Set what the scheduler, the workers and the leader have in common."""
    import dask
    import distributed  # noqa: F401 - its settings are read first

    _, shown, key = (f"{folder}/{name}" for name in FILES)
    dask.config.set({
        **{f"distributed.comm.tls.{side}": {"cert": shown, "key": key} for side in ("client", "scheduler", "worker")},
        "distributed.comm.tls.ca-file": f"{folder}/{FILES[0]}",
        "distributed.comm.require-encryption": True,
        "distributed.comm.timeouts.connect": "10s",
        # no document takes so long that a worker gives no sign of life
        "distributed.scheduler.worker-ttl": f"{whole_number('FUNDAMENTALS_WORKER_TTL', 300, 5, 'seconds')}s",
        "distributed.scheduler.allowed-failures": DEATHS - 1,
        "distributed.scheduler.http.routes": ["distributed.http.scheduler.prometheus", "distributed.http.health"],
        "distributed.worker.http.routes": [],
        "distributed.worker.profile.enabled": False,
        "distributed.nanny.pre-spawn-environ.POLARS_MAX_THREADS": 1,
    })  # fmt: skip


def _security() -> Any:
    """The certificates, which each side demands of the other; on loopback there may be none."""
    from distributed.security import Security

    make: Any = Security
    return make() if os.environ["FUNDAMENTALS_CLUSTER"].startswith("tls:") else make(require_encryption=False)


@cache
def code() -> str:
    """A digest of code, rules, Python and packages: only a worker with the same makes the same rows."""
    return digest(code_digest(), sys.version_info[:2], *(f"{name} {version(name)}" for name in PACKAGES))[:12]


# --- The scheduler and the workers of a machine


def schedule(host: str) -> int:
    """Give out batches until a signal arrives; HTTP has metrics only, on loopback unless a setting says otherwise."""
    place = urlsplit(_needed())
    from distributed import Scheduler

    given: dict[str, Any] = {"host": host if place.scheme == "tls" else LOOPBACK[0], "port": place.port or 8786}
    shown = f"{os.environ.get('FUNDAMENTALS_METRICS_HOST') or LOOPBACK[0]}:{METRICS_PORT}"

    async def run(stop: asyncio.Event) -> None:
        given.update(protocol=f"{place.scheme}://", security=_security(), dashboard=False, dashboard_address=shown)
        async with Scheduler(**given):
            await stop.wait()

    return _until_signal(run)


def work(processes: int) -> int:
    """Work on batches until a signal arrives; a batch in hand is repeated elsewhere.

    Args:
        processes: the number of batches at a time; 0: one for each core that this process may use.
    """
    place, root = _needed(), Home.from_environment().root
    from distributed import Nanny

    shutil.rmtree(root / "work", ignore_errors=True)  # what killed processes left

    async def join() -> None:
        while True:  # a worker that lost its scheduler ends; the next one waits for it
            nanny = Nanny(
                place, nthreads=1, memory_limit=os.environ.get("FUNDAMENTALS_WORKER_MEMORY") or "auto", port=PORTS,
                worker_port=PORTS, preload=[__name__], resources={f"code-{code()}": 1}, security=_security(),
                dashboard=False, dashboard_address=f"{LOOPBACK[0]}:0", local_directory=f"{root}/cache/dask",
            )  # fmt: skip
            try:
                with announced(f"the scheduler at {place}"):
                    await nanny
                await nanny.finished()  # type: ignore[no-untyped-call,unused-ignore]
            except (TimeoutError, OSError, RuntimeError):  # there is no scheduler yet
                await asyncio.sleep(1)
            finally:
                await nanny.close(timeout=AFTER)

    async def run(stop: asyncio.Event) -> None:
        joined = [asyncio.ensure_future(join()) for _ in range(processes or len(os.sched_getaffinity(0)))]
        await asyncio.wait([ending := asyncio.ensure_future(stop.wait()), *joined], return_when="FIRST_COMPLETED")
        for each in (ending, *joined):
            each.cancel()
        for ended in await asyncio.gather(*joined, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended

    return _until_signal(run)


def _needed() -> str:
    if place := address():
        return place
    raise ClusterError(f"{SETTING} is not set; it is the address of the scheduler, like tls://host:8786")


def _until_signal(run: Callable[[asyncio.Event], Any]) -> int:
    async def running() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await run(stop)

    Home.from_environment().prepare()
    asyncio.run(running())
    return 0


# --- A batch on a worker


@cache
def _copy() -> WorkingCopy:
    """The working copy of this process."""
    root = Home.from_environment().root
    (folder := root / "work" / str(os.getpid())).mkdir(mode=0o700, parents=True)
    copy = of_home(Home(folder), root / "cache" / "objects")
    assert copy, "FUNDAMENTALS_STORE is set"
    return copy


def _worked(given: bytes, there: str, writer: str, needed: str) -> tuple[dict[str, Any], Any]:
    """Do a batch; return the parts that it made and stored, by table: content, path in a home, rows; and its notes."""
    if needed != code():
        raise ClusterError(f"this worker has code {code()}, and the batch needs {needed}")
    copy = _copy()
    if copy.held is None or copy.held.head.writer != writer:
        copy.checkout(lambda path: (copy.root / path).exists())
        copy.clear_cache()
    if copy.held is None or copy.held.head.writer != writer:
        raise ClusterError(f"{copy.store.address}: another run was committed since this batch was given out")

    def bring(paths: Iterable[Path]) -> None:
        copy.add({path.relative_to(copy.root).as_posix() for path in paths}.__contains__)

    task, each = _moved(pickle.loads(given), Path(there), copy.root, bring)
    bring(copy.root / "log" / name for name in getattr(each[1], "segments", ()))
    try:
        written, notes = task(each)
        return {
            name: (copy.store.put_object(part.path), str(part.path.relative_to(copy.root)), dict(part.rows))
            for name, part in written.items()
        }, notes
    finally:
        for made in ("raw", f"tables/{task.args[2].name}"):
            shutil.rmtree(copy.root / made, ignore_errors=True)


def _moved(value: Any, there: Path, here: Path, bring: Callable[[Iterable[Path]], None]) -> Any:
    """A task or an input with the folders of this machine in place of the leader's."""
    move = partial(_moved, there=there, here=here, bring=bring)
    match value:
        case partial():
            return partial(value.func, *map(move, value.args), **value.keywords)
        case tuple():
            return tuple(map(move, value))
        case Lake():
            return replace(value, folder=move(value.folder), bring=bring)
        case Part():
            return replace(value, lake=move(value.lake))
        case Path() if value.is_relative_to(there):
            return here / value.relative_to(there)
    return value


# --- The leader


class Cluster(Workers):
    """The workers of a cluster, for the leader of a run."""

    def __init__(self, place: str, copy: WorkingCopy, share: Callable[[], object]) -> None:
        """Nothing is connected yet.

        Args:
            place: the address of the scheduler.
            copy: the working copy in the home.
            share: commits the state of the home, which batches read.
        """
        super().__init__(sys.maxsize)
        self._place, self._copy, self._share = place, copy, share
        self._client: Any = None

    def map(self, task: Callable[[Any], Any], inputs: Iterable[Any]) -> Iterator[Any]:
        """The results of a function for all inputs, in their order; each makes parts of tables, and notes.

        Raises:
            WorkerError: several workers died of one batch.
            ClusterError: the scheduler does not answer.
            Exception: whatever the function raises.
        """
        from distributed import KilledWorker

        self._share()
        assert self._copy.held, "the state was committed"
        told_all = str(self._copy.root), self._copy.held.head.writer, code()
        given = list(inputs)
        left = {number: pickle.dumps((task, each)) for number, each in enumerate(given)}
        futures: dict[int, Future[Any]] = {}
        for number, each in enumerate(given):
            while number in left:
                try:
                    if not futures:
                        submit = self._connected().submit
                        futures = {one: submit(_worked, text, *told_all) for one, text in left.items()}
                    stored, notes = self._result(futures[number])
                    del left[number]
                except CancelledError:  # the scheduler was lost, and with it what it knew
                    self.end()
                    futures = {}
                except KilledWorker as error:
                    raise WorkerError(died_of(each)) from error
            self._copy.fetch((content, self._copy.root / path) for content, path, _ in stored.values())
            yield {name: Written(self._copy.root / path, rows) for name, (_, path, rows) in stored.items()}, notes

    def end(self) -> None:
        """Leave the cluster; batches that have not begun are not done."""
        if self._client:
            self._client.close(timeout=AFTER)
            self._client = None

    def _result(self, future: Future[Any]) -> Any:
        while True:
            try:
                return future.result(AFTER)
            except NotYet:
                if future.done():  # the batch itself has raised this
                    raise
                self._require_worker()

    def _connected(self) -> Executor:
        """An executor on the workers with the same code."""
        from distributed import Client as Connection

        connect: Any = Connection
        for name in ("distributed", "distributed.client", "distributed.utils"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            with announced(f"the scheduler at {self._place}"):
                self._client = connect(self._place, security=_security(), timeout=ANSWERED, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise self._silent(error) from error
        self._require_worker()
        executor: Executor = self._client.get_executor(resources={f"code-{code()}": 1}, pure=False)
        return executor

    def _require_worker(self) -> None:
        """Say that no worker has joined, or none with this code; the batches wait until one has."""
        identity, limit = self._client.scheduler.identity, {"callback_timeout": ANSWERED}
        try:
            with announced(f"the scheduler at {self._place}"):
                workers = self._client.sync(identity, n_workers=-1, **limit)["workers"].values()
        except TimeoutError as error:  # it is there, and frozen
            raise self._silent(error) from error
        except (OSError, RuntimeError):  # it is lost, and with it the batches, as their results say
            return
        if not any(f"code-{code()}" in each["resources"] for each in workers):
            other = f"; {len(workers)} with other code, rules or packages get no batches" if workers else ""
            on_terminal(f"waiting for workers at {self._place}: no worker with code {code()} has joined{other}")

    def _silent(self, error: Exception) -> ClusterError:
        return ClusterError(
            f"the scheduler at {self._place} does not answer ({' '.join(str(error).split())[:200]}); check {SETTING} "
            "and the certificates, start `fundamentals scheduler` there, and synchronize again"
        )
