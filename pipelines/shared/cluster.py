"""Several machines that share the batches of a run: a Dask cluster, which distributes batches and repeats lost ones.

Belongs here: settings, scheduler, the workers of a machine, an executor for the leader. Does not: electing the leader
(lease), the contents of a batch (stages), processes of one machine (workers).

The leader commits its state before it distributes batches. A worker fetches the files that a batch reads, and stores
the parts that it makes under their digests; nobody sees them before the leader has committed them. So any worker may
process a batch, even twice.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from pipelines.errors import PipelineError
from pipelines.settings import store_patience, whole_number
from pipelines.shared import cluster_members
from pipelines.shared.code_in_force import code_digest
from pipelines.shared.shared_home import WorkingCopy, of_home
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake, LimitedLake, Written
from pipelines.tables.stored import digest
from pipelines.waiting import AFTER, announced, on_terminal
from pipelines.workers import DEATHS, WorkerError, Workers, died_of

SETTING, CERTIFICATES = "FUNDAMENTALS_CLUSTER", "FUNDAMENTALS_TLS"
FILES = ("ca.pem", "cert.pem", "key.pem")
"""The files in the folder of certificates: the authority, and the certificate and key of this machine."""
FORMER = {
    "FUNDAMENTALS_BROKER": f"set {SETTING}=tls://HOST:8786, and start `fundamentals scheduler` on that host",
    "FUNDAMENTALS_LOST_AFTER": "set FUNDAMENTALS_WORKER_TTL for the scheduler",
    "FUNDAMENTALS_DAGSTER_URL": "unset it, because each machine has the record of its own runs in its home",
}
"""Variables of earlier releases, with the setting that replaces each."""
PORTS, NANNIES, METRICS_PORT = "8788:8837", "8838:8887", 8787
"""The ports of workers and of their nannies on each machine; the port of the scheduler's metrics."""
PACKAGES = ("polars", "msgspec", "numpy", "zstandard", "distributed", "cloudpickle")
"""Packages that must have the same versions on leader and workers; the lock files pin them."""
ANSWERED = 60
"""Seconds within which the scheduler has to answer."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ClusterError(PipelineError):
    """The settings of the cluster are incomplete or wrong, or the cluster cannot be used."""


def address(*, needs_store: bool = True) -> str:
    """Configure Dask, and return the address of the scheduler; empty if this machine processes all batches itself.

    Args:
        needs_store: whether FUNDAMENTALS_STORE has to be set; the scheduler does not need it, because it reads no
            files.

    Raises:
        ClusterError: the address is invalid, or another setting, a certificate or a package is missing.
    """
    for name in filter(os.environ.get, FORMER):
        raise ClusterError(f"{name} is no longer used: {FORMER[name]} (docs/scaling.md)")
    if not (found := os.environ.get("FUNDAMENTALS_CLUSTER", "")):
        return ""
    place, tls = urlsplit(found), [Path(os.environ.get("FUNDAMENTALS_TLS") or "none", name) for name in FILES]
    if place.scheme not in ("tls", "tcp") or not place.hostname or place.username:
        raise ClusterError(f"{SETTING} is not an address like tls://host:8786")
    if place.scheme == "tcp" and place.hostname not in LOOPBACK:
        raise ClusterError(f"{SETTING} is {found}: who reaches it could run code; beyond loopback it needs tls://")
    if needs_store and not os.environ.get("FUNDAMENTALS_STORE"):
        raise ClusterError(f"{SETTING} needs FUNDAMENTALS_STORE, too: see docs/scaling.md")
    if place.scheme == "tls" and not all(path.is_file() for path in tls):
        raise ClusterError(f"{CERTIFICATES} has to be a folder with {', '.join(FILES)}: see docs/scaling.md")
    try:
        import dask
        import distributed  # noqa: F401 - its settings are read first
    except ImportError as error:
        raise ClusterError(f"{SETTING} needs the package {error.name}; install it with `make scale`") from error
    authority, shown, key = map(str, tls)
    dask.config.set({
        "temporary-directory": str(Home.from_environment().root / "cache"),
        **{f"distributed.comm.tls.{side}": {"cert": shown, "key": key} for side in ("client", "scheduler", "worker")},
        "distributed.comm.tls.ca-file": authority,
        "distributed.comm.require-encryption": place.scheme == "tls",
        "distributed.comm.timeouts.connect": f"{AFTER}s",
        # no document keeps a worker silent for this time
        "distributed.scheduler.worker-ttl": f"{whole_number('FUNDAMENTALS_WORKER_TTL', 300, 5, 'seconds')}s",
        "distributed.scheduler.allowed-failures": DEATHS - 1,
        "distributed.scheduler.http.routes": ["distributed.http.scheduler.prometheus", "distributed.http.health"],
        "distributed.worker.http.routes": [],
        "distributed.worker.profile.enabled": False,
        "distributed.nanny.pre-spawn-environ.POLARS_MAX_THREADS": 1,
        # the process that watches the worker prints the messages instead
        "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
    })  # fmt: skip
    cluster_members.speak_in_one_line()
    return found


@cache
def code() -> str:
    """A digest of code, rules, Python and packages: only a worker with the same digest makes the same rows."""
    return digest(code_digest(), sys.version_info[:2], *(f"{name} {version(name)}" for name in PACKAGES))[:12]


def resource() -> str:
    """The name of the Dask resource that a worker offers and a batch requires."""
    return f"{cluster_members.RESOURCE}{code()}"


def schedule(host: str) -> int:
    """Run the scheduler until a signal arrives. Its HTTP server has metrics only, on loopback unless a setting changes
    it."""
    found = _needed(needs_store=False)
    from distributed.cli.dask_scheduler import main

    place, shown = urlsplit(found), os.environ.get("FUNDAMENTALS_METRICS_HOST") or LOOPBACK[0]
    listen = f"--protocol {place.scheme} --host {host if place.scheme == 'tls' else LOOPBACK[0]}"
    listen += f" --preload {cluster_members.__name__}"
    return _run(main, f"{listen} --port {place.port or 8786} --no-dashboard --dashboard-address {shown}:{METRICS_PORT}")


def work(processes: int | None) -> int:
    """Run workers until a signal arrives or the scheduler is lost; another worker repeats an interrupted batch.

    Args:
        processes: the number of batches at a time; None: one for each core that this process may use.
    """
    found, number = _needed(), processes or len(os.sched_getaffinity(0))
    from distributed.cli.dask_worker import main

    memory = os.environ.get("FUNDAMENTALS_WORKER_MEMORY") or "auto"
    limits = f"--nworkers {number} --nthreads 1 --memory-limit {memory} --resources {resource()}=1"
    ports = f"--worker-port {PORTS} --nanny-port {NANNIES} --no-dashboard --dashboard-address {LOOPBACK[0]}:0"
    cluster_members.tell_if_idle()
    with _answered():
        status = _run(main, f"{found} {limits} {ports}")
    on_terminal(f"this worker ends: it was told to, or the scheduler at {found} is lost; its unit starts it again")
    return status


def _needed(*, needs_store: bool = True) -> str:
    if place := address(needs_store=needs_store):
        return place
    raise ClusterError(f"{SETTING} is not set; it is the address of the scheduler, like tls://host:8786")


def _run(command: Callable[..., object], options: str) -> int:
    """Run a command of Dask."""
    Home.from_environment().prepare()
    try:
        command(options.split(), standalone_mode=False)
    except RuntimeError as error:  # from Dask, without the cause
        raise error.__cause__ or error from None
    return 0


def workers() -> tuple[int, int]:
    """The number of joined workers with this code, and of joined workers with other code.

    Raises:
        ClusterError: the scheduler does not answer, or a setting is wrong.
    """
    from distributed import Client

    connect: Any = Client
    with _answered(), connect(_needed(), timeout=AFTER, set_as_default=False) as client:
        found = client.scheduler_info(n_workers=-1)["workers"].values()
    same = sum(resource() in each["resources"] for each in found)
    return same, len(found) - same


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ClusterError(
            f"the scheduler at {os.environ[SETTING]} does not answer ({reason}); check {SETTING} and the certificates, "
            "and start `fundamentals scheduler` there"
        ) from error


def _worked(given: bytes, there: str, needed: str) -> tuple[dict[str, Any], Any]:
    """Process a batch, and store the parts that it makes. Returns the parts by table (content, path in a home, rows),
    and the notes on the batch."""
    if needed != code():
        raise ClusterError(f"this worker has code {code()}, and the batch needs {needed}")
    from distributed import get_worker

    with TemporaryDirectory(prefix="batch-", dir=get_worker().local_directory) as folder:  # Dask deletes it
        copy = of_home(Home(Path(folder)), Home.from_environment().root / "cache" / "objects", store_patience())
        assert copy, "FUNDAMENTALS_STORE is set"
        copy.checkout(lambda _: False)
        copy.clear_cache()

        def bring(paths: Iterable[Path]) -> None:
            copy.add({path.relative_to(copy.root).as_posix() for path in paths}.__contains__)

        task, each = _moved(pickle.loads(given), Path(there), copy.root, bring)
        bring(copy.root / "log" / name for name in getattr(each[1], "segments", ()))
        written, notes = task(each)
        return {
            name: (copy.store.put_object(part.path), str(part.path.relative_to(copy.root)), dict(part.rows))
            for name, part in written.items()
        }, notes


def _moved(value: Any, there: Path, here: Path, bring: Callable[[Iterable[Path]], None]) -> Any:
    """Replace the leader's folders in a task or an input by the folders of this machine."""
    move = partial(_moved, there=there, here=here, bring=bring)
    match value:
        case partial():
            return partial(value.func, *map(move, value.args), **value.keywords)
        case tuple():
            return tuple(map(move, value))
        case Lake():
            return replace(value, folder=move(value.folder), bring=bring)
        case LimitedLake():
            return replace(value, lake=move(value.lake))
        case Path() if value.is_relative_to(there):
            return here / value.relative_to(there)
    return value


class Cluster(Workers):
    """The workers of a cluster, as the leader of a run uses them."""

    def __init__(self, place: str, copy: WorkingCopy, share: Callable[[], object]) -> None:
        """Store the settings; the connection is made at the first batch.

        Args:
            place: the address of the scheduler.
            copy: the working copy in the home.
            share: commits the state of the home, so that batches can read it.
        """
        super().__init__(sys.maxsize)
        self._place, self._copy, self._share = place, copy, share
        self._client: Any = None
        self._notice = ""

    def map(self, task: Callable[[Any], Any], inputs: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of a task for all inputs, in their order: the parts of tables that it made, and its notes.

        Raises:
            WorkerError: several workers died while processing the same batch.
            ClusterError: the scheduler does not answer.
            Exception: any error of the task.
        """
        from distributed import KilledWorker

        self._share()
        left, there = list(inputs), self._copy.root
        while left:
            try:
                submit = self._connected().submit
                for future in [submit(_worked, pickle.dumps((task, each)), str(there), code()) for each in left]:
                    while not wait([future], AFTER).done:
                        self._require_worker()
                    stored, notes = future.result()
                    self._copy.fetch((content, there / path) for content, path, _ in stored.values())
                    del left[0]
                    yield {name: Written(there / path, rows) for name, (_, path, rows) in stored.items()}, notes
            except KilledWorker as error:
                raise WorkerError(died_of(left[0])) from error
            except CancelledError:  # the scheduler was lost: submit the remaining inputs again
                self.end()

    def end(self) -> None:
        """Leave the cluster; batches that have not begun are cancelled."""
        if self._client:
            self._client.close(timeout=AFTER)
            self._client = None

    def _connected(self) -> Executor:
        """An executor on the workers with the same code."""
        from distributed import Client

        connect: Any = Client
        with announced(f"the scheduler at {self._place}"), _answered():
            self._client = self._client or connect(self._place, timeout=ANSWERED, set_as_default=False)
        self._require_worker()
        executor: Executor = self._client.get_executor(resources={resource(): 1}, pure=False)
        return executor

    def _require_worker(self) -> None:
        """Print a notice if batches wait because no worker with this code has joined, or if workers with other code are
        idle.

        Raises:
            CancelledError: the scheduler is lost or does not answer.
        """
        try:
            with announced(f"the scheduler at {self._place}"):
                found = self._client.sync(self._client.scheduler.identity, callback_timeout=ANSWERED)["workers"]
        except (OSError, RuntimeError) as error:
            raise CancelledError from error
        idle = [place for place, each in found.items() if resource() not in each["resources"]]
        notice = ""
        if len(idle) == len(found):
            notice = f"waiting for workers at {self._place}: no worker with code {code()} has joined"
        if idle:
            also = f"{notice}; " if notice else f"workers at {self._place}: "
            notice = f"{also}{len(idle)} with other code, rules or packages get no batches, such as {min(idle)}"
        if notice and notice != self._notice:
            on_terminal(notice)
        self._notice = notice
