"""Several machines that share the batches of a run: a cluster of Dask, which gives them out and repeats lost ones.

Belongs here: settings, TLS, the scheduler, the workers of a machine, and an executor of concurrent.futures for the
leader. Does not: who leads (lease), what a batch is (stages), processes of one machine (workers).

Before batches are given out, the leader commits its state. A batch names files as the leader has them; a worker has a
folder of its own, into which it fetches those that are read, and stores the parts that it makes under their digests.
Nobody sees them before the leader has put them into its tables and committed. So it does not matter where a batch is
done, or if it is done twice.
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

import msgspec

from pipelines.errors import PipelineError
from pipelines.home import Home
from pipelines.lake import Lake, Part, Written
from pipelines.tables import code_digest, digest
from pipelines.waiting import AFTER, on_terminal, told
from pipelines.workers import DEATHS, WorkerError, Workers, died_of
from pipelines.working_copy import WorkingCopy, of_home
from warehouse.store import Content

SETTING, CERTIFICATES, TTL, MEMORY = (
    "FUNDAMENTALS_CLUSTER",
    "FUNDAMENTALS_TLS",
    "FUNDAMENTALS_WORKER_TTL",
    "FUNDAMENTALS_WORKER_MEMORY",
)
FILES = ("ca.pem", "cert.pem", "key.pem")
"""The files in the folder of certificates: those who may sign, and what this machine shows."""
FORMER = {
    "FUNDAMENTALS_BROKER": f"set {SETTING}=tls://HOST:8786 and start `fundamentals scheduler` there",
    "FUNDAMENTALS_LOST_AFTER": f"set {TTL} for the scheduler",
    "FUNDAMENTALS_DAGSTER_URL": "unset it: each machine has the record of its own runs in its home",
}
"""What became of the variables of earlier releases."""
SILENT = 60
"""Seconds without a heartbeat after which a worker is lost; no parse of a document holds a worker up for so long."""
CONNECTED = 60.0
"""Seconds in which the scheduler has to answer."""
PORTS, METRICS_PORT = "8788:8887", 8787
"""The ports of workers and of their nannies on each machine; the port of the scheduler's metrics."""
PACKAGES = ("polars", "msgspec", "numpy", "zstandard", "distributed", "cloudpickle")
"""Packages that the leader and the workers have to have in the same version, as the lock files say."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ClusterError(PipelineError):
    """The settings of the cluster are incomplete or wrong, or it cannot be used."""


class Leader(msgspec.Struct, frozen=True):
    """What a worker has to know of the leader: its home, the state that it has committed, its code."""

    root: str
    writer: str
    code: str


def address() -> str:
    """The address of the scheduler; empty: the processes of this machine do all batches.

    Raises:
        ClusterError: it is none, or another setting or a package is missing.
    """
    for name, instead in FORMER.items():
        if os.environ.get(name):
            raise ClusterError(f"{name} is no longer used; {instead} (docs/scaling.md)")
    found = os.environ.get(SETTING, "")
    if not found:
        return ""
    place = urlsplit(found)
    if place.scheme not in ("tls", "tcp") or not place.hostname or place.username:
        raise ClusterError(f"{SETTING} is not an address like tls://host:8786")
    if place.scheme == "tcp" and place.hostname not in LOOPBACK:
        raise ClusterError(
            f"{SETTING} is {found!r}: whoever reaches it could run code; beyond loopback it needs tls://"
        )
    if not os.environ.get("FUNDAMENTALS_STORE"):
        raise ClusterError(f"{SETTING} needs FUNDAMENTALS_STORE, too: see docs/scaling.md")
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ClusterError(f"{SETTING} needs the package {error.name}; install it with `make scale`") from error
    _security(found)
    return found


def _security(place: str) -> Any:
    """The certificates, which each side demands of the other.

    Raises:
        ClusterError: they are missing.
    """
    from distributed.security import Security

    if place.startswith("tcp://"):
        return Security(require_encryption=False)
    folder = Path(os.environ.get(CERTIFICATES, ""))
    if missing := [name for name in FILES if not (os.environ.get(CERTIFICATES) and (folder / name).is_file())]:
        raise ClusterError(f"{CERTIFICATES} has to be a folder with {', '.join(FILES)}; {', '.join(missing)} missing")
    authority, shown, key = (str(folder / name) for name in FILES)
    own = {f"tls_{side}_{kind}": path for side in ("client", "scheduler", "worker") for kind, path in
           (("cert", shown), ("key", key))}  # fmt: skip
    return Security(require_encryption=True, tls_ca_file=authority, **own)


@cache
def code() -> str:
    """A digest of code, rules, Python and packages: only a worker with the same makes the same rows."""
    return digest(code_digest(), sys.version_info[:2], *(f"{name} {version(name)}" for name in PACKAGES))[:12]


def configure() -> None:
    """Set what the scheduler, the workers and the leader have in common."""
    import dask

    setting = os.environ.get(TTL, "")
    if setting and not (setting.isascii() and setting.isdigit() and int(setting) >= 5):
        raise ClusterError(f"{TTL} is {setting!r}, expected seconds, 5 or more")
    dask.config.set({
        "distributed.scheduler.worker-ttl": f"{int(setting or SILENT)}s",
        "distributed.scheduler.allowed-failures": DEATHS - 1,
        "distributed.scheduler.http.routes": ["distributed.http.scheduler.prometheus", "distributed.http.health"],
        "distributed.worker.http.routes": ["distributed.http.health"],
        "distributed.worker.multiprocessing-method": "spawn",
        "distributed.worker.profile.enabled": False,
        "distributed.nanny.pre-spawn-environ.POLARS_MAX_THREADS": 1,
        "distributed.comm.timeouts.connect": "10s",
        "distributed.admin.system-monitor.interval": "5s",
    })  # fmt: skip


# --- The scheduler and the workers of a machine


def schedule(host: str) -> int:
    """Give out batches until a signal arrives; only metrics are shown over HTTP, on loopback unless a setting says so."""
    from distributed import Scheduler

    place = _needed()
    shown = f"{os.environ.get('FUNDAMENTALS_METRICS_HOST') or LOOPBACK[0]}:{METRICS_PORT}"

    async def run(stop: asyncio.Event) -> None:
        scheme, port = urlsplit(place).scheme, urlsplit(place).port or 8786
        given = {"protocol": f"{scheme}://", "host": host if scheme == "tls" else LOOPBACK[0], "port": port}
        async with Scheduler(**given, security=_security(place), dashboard=False, dashboard_address=shown):
            await stop.wait()

    return _until_signal(run)


def work(processes: int) -> int:
    """Work on batches until a signal arrives; a batch in hand is repeated elsewhere.

    Args:
        processes: the number of batches at a time; 0: one for each core that this process may use.
    """
    from distributed import Nanny

    place = _needed()

    def nanny() -> Any:
        return Nanny(
            place, nthreads=1, memory_limit=os.environ.get(MEMORY) or "auto", security=_security(place),
            resources={f"code-{code()}": 1}, port=PORTS, worker_port=PORTS, dashboard=False,
            dashboard_address=f"{LOOPBACK[0]}:0", local_directory=str(Home.from_environment().root / "cache" / "dask"),
        )  # fmt: skip

    shutil.rmtree(Home.from_environment().root / "work", ignore_errors=True)  # what killed processes left

    async def join(stop: asyncio.Event) -> None:
        while not stop.is_set():  # a worker that lost its scheduler ends; another one waits for it
            with told(f"the scheduler at {place}"):
                joining = asyncio.ensure_future(_started(nanny()))
                await asyncio.wait(
                    {joining, ending := asyncio.ensure_future(stop.wait())}, return_when="FIRST_COMPLETED"
                )
            if not joining.done():
                joining.cancel()
                return
            async with joining.result() as joined:
                left = asyncio.ensure_future(joined.finished())
                await asyncio.wait({left, ending}, return_when="FIRST_COMPLETED")

    async def run(stop: asyncio.Event) -> None:
        await asyncio.gather(*(join(stop) for _ in range(processes or len(os.sched_getaffinity(0)))))

    return _until_signal(run)


async def _started(nanny: Any) -> Any:
    return await nanny


def _needed() -> str:
    if not (place := address()):
        raise ClusterError(f"{SETTING} is not set; it is the address of the scheduler, like tls://host:8786")
    configure()
    return place


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

_copies: dict[str, WorkingCopy] = {}
"""The folder of this process, under the name of the home."""


def _worked(given: bytes, leader: Leader) -> tuple[dict[str, tuple[Content, str, dict[str, int]]], Any]:
    """Do a batch; return the parts that it made and stored, by table: content, path below the home, rows; and notes."""
    if leader.code != code():
        raise ClusterError(f"this worker has code {code()}, and the batch needs {leader.code}")
    root = Home.from_environment().root
    if not _copies:
        folder = root / "work" / str(os.getpid())
        folder.mkdir(mode=0o700, parents=True)
        found = of_home(Home(folder), cache=root / "cache" / "objects")
        assert found, "FUNDAMENTALS_STORE is set"
        _copies[""] = found
    copy = _copies[""]
    if copy.held is None or copy.held.head.writer != leader.writer:
        copy.checkout(lambda path: (copy.root / path).exists())
        copy.clear_cache()
    if copy.held is None or copy.held.head.writer != leader.writer:
        raise ClusterError(f"{copy.store.address}: another run was committed since this batch was given out")

    def bring(paths: Iterable[Path]) -> None:
        copy.add({path.relative_to(copy.root).as_posix() for path in paths}.__contains__)

    task, each = _at(pickle.loads(given), Path(leader.root), copy.root, bring)
    bring(copy.root / "log" / name for name in getattr(each[1], "segments", ()))
    try:
        written, notes = task(each)
        stored = {}
        for name, part in written.items():
            stored[name] = (
                copy.store.put_object(part.path),
                part.path.relative_to(copy.root).as_posix(),
                dict(part.rows),
            )
            part.path.unlink()
    finally:
        shutil.rmtree(copy.root / "raw", ignore_errors=True)
    return stored, notes


def _at(value: Any, there: Path, here: Path, bring: Callable[[Iterable[Path]], None]) -> Any:
    """A task or an input with the folders of this machine in place of the leader's."""
    moved = partial(_at, there=there, here=here, bring=bring)
    match value:
        case partial():
            return partial(value.func, *map(moved, value.args), **value.keywords)
        case tuple():
            return tuple(map(moved, value))
        case Lake():
            return replace(value, folder=moved(value.folder), bring=bring)
        case Part():
            return replace(value, lake=moved(value.lake))
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
        held = self._copy.held
        assert held, "the state was committed"
        leader, given = Leader(str(self._copy.root), held.head.writer, code()), list(inputs)
        left = {number: pickle.dumps((task, each)) for number, each in enumerate(given)}
        futures: dict[int, Future[Any]] = {}
        for number, each in enumerate(given):
            while number in left:
                try:
                    if not futures:
                        executor = self._connected()
                        futures = {one: executor.submit(_worked, text, leader) for one, text in left.items()}
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
        """An executor on workers with the same code, of which there is one at least."""
        from distributed import Client

        if self._client is None:
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            configure()
            try:
                with told(f"the scheduler at {self._place}"):
                    self._client = Client(
                        self._place, security=_security(self._place), timeout=CONNECTED, set_as_default=False
                    )
            except (OSError, ValueError, RuntimeError) as error:
                raise ClusterError(
                    f"the scheduler at {self._place} does not answer ({' '.join(str(error).split())[:200]}); check "
                    f"{SETTING} and the certificates, start `fundamentals scheduler` there, and synchronize again"
                ) from error
        self._require_worker()
        executor: Executor = self._client.get_executor(resources={f"code-{code()}": 1}, pure=False)
        return executor

    def _require_worker(self) -> None:
        """Say that no worker has joined, or none with this code; the batches wait until one has."""
        with told(f"the scheduler at {self._place}"):
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not any(f"code-{code()}" in each["resources"] for each in workers):
            other = f", {len(workers)} with other code, rules or packages get no batches" if workers else ""
            on_terminal(f"waiting for workers at {self._place}: no worker with code {code()} has joined{other}")
