"""A cluster on this machine: a scheduler and workers with homes of their own, over TLS, and machines that lead runs.

Belongs here: starting, freezing and killing them, waiting until a batch is in hand. Does not: the object storage
(objects), any test.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.shared.cluster_members import METRIC
from pipelines.storage.home import PROJECT
from tests.e2e.homes import PATIENCE, command, environment
from tests.scale import objects
from tests.scale.objects import Objects
from tests.servers import accepts, free_port

TTL, LEASE = 20, 12
"""Seconds after which a silent worker, and a silent leader, is lost."""
SETTLED = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "COLUMNS": "400"}
NAMES = ("scheduler", "worker", "leader")
OF_DASK = {"dask_scheduler_workers", "dask_scheduler_tasks", METRIC}
"""Metrics of the scheduler that alarms and the dashboard use."""
IN_HAND = "cache/dask-scratch-space/*/batch-*"
"""Where a worker has the files of its batch."""
AGAIN = ("sh", "-c", 'while :; do "$@"; sleep 1; done', "sh")
"""Starts a command again when it ends, as the unit of a service does."""


@dataclass
class Machine:
    """A command with a home of its own, in a process group of its own."""

    home: Path
    process: "subprocess.Popen[str]"

    @property
    def log(self) -> str:
        """The text that it has written."""
        return self.home.with_suffix(".log").read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all its processes."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End all its processes at once, frozen ones too."""
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
            self.process.wait(PATIENCE)

    def ended(self) -> tuple[int, str]:
        """Its exit status, and its last line of errors, if it failed."""
        self.process.wait(PATIENCE)
        return self.process.returncode, self.log.strip().splitlines()[-1] if self.process.returncode else ""


@dataclass
class Fleet:
    """The machines, and the services that all of them share."""

    folder: Path
    variables: Mapping[str, str]
    objects: Objects
    port: int
    machines: list[Machine] = field(default_factory=list)

    def start(self, kind: str, *arguments: object, home: str = "", cwd: Path = PROJECT, **more: str) -> Machine:
        """Start a command."""
        place = self.folder / (home or f"{kind}-{len(self.machines) + 1}")
        given = {**SETTLED, **self.variables, "FUNDAMENTALS_TLS": str(self.folder / "tls" / kind), **more}
        with place.with_suffix(".log").open("wb") as log:
            process = subprocess.Popen(
                [*(AGAIN if kind == "worker" else ()), *command(*arguments)],
                cwd=cwd,
                env=environment(place, **given),
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self.machines.append(Machine(place, process))
        return self.machines[-1]

    def schedule(self) -> Machine:
        """Start the scheduler, and wait until it listens."""
        # another scheduler on this machine may have the port of the metrics: Dask warns, and takes another one
        settings = {"FUNDAMENTALS_STORE": "", "PYTHONWARNINGS": "ignore:Port"}
        scheduler = self.start("scheduler", "scheduler", "--host", "127.0.0.1", **settings)
        until(lambda: accepts(self.port), scheduler)
        return scheduler

    def add(self, **more: str) -> Machine:
        """Start a worker that does one batch at a time."""
        return self.start("worker", "worker", "--processes", "1", **more)

    def sync(self, source: object, *arguments: str, home: str = "lead", **more: str) -> Machine:
        """Start a synchronization, which a machine leads."""
        return self.start("leader", "sync", "--source", source, *arguments, home=home, **more)

    def frozen_in_a_batch(self, worker: Machine, leading: Machine) -> None:
        """Freeze a worker while it is at work on a batch: it has written something of it, and has not ended it."""

        def is_caught() -> bool:
            if not any(worker.home.glob(f"{IN_HAND}/tables/.parts-*")) and not any(
                worker.home.glob(f"{IN_HAND}/raw/*")
            ):
                return False
            worker.signal(signal.SIGSTOP)
            if any(worker.home.glob(f"{IN_HAND}/tables/.parts-*/*/*.parquet")) or any(
                worker.home.glob(f"{IN_HAND}/raw/??/*")
            ):
                return True
            worker.signal(signal.SIGCONT)
            return False

        until(is_caught, leading, every=0.005)


def until(state: Callable[[], object], running: Machine, every: float = 0.05) -> None:
    """Wait for a state that comes while a machine runs."""
    deadline = time.monotonic() + PATIENCE
    while not state():
        assert running.process.poll() is None, running.log
        assert time.monotonic() < deadline, running.log
        time.sleep(every)


@contextmanager
def running(folder: Path, batch: int, workers: int = 0) -> Iterator[Fleet]:
    """Object storage, a scheduler and some workers, until the block ends.

    Args:
        folder: an empty folder.
        batch: companies in a batch.
        workers: how many.
    """
    subprocess.run(["sh", PROJECT / "deploy" / "certificates.sh", folder / "tls", *NAMES], check=True, stdout=-3)
    with objects.running(folder) as storage:
        port = free_port()
        variables = {
            **storage.environment,
            "FUNDAMENTALS_CLUSTER": f"tls://127.0.0.1:{port}",
            "FUNDAMENTALS_BATCH": str(batch),
            "FUNDAMENTALS_WORKER_TTL": str(TTL),
            "FUNDAMENTALS_LEASE": str(LEASE),
            "FUNDAMENTALS_STORE_PATIENCE": "5",
        }
        fleet = Fleet(folder, variables, storage, port)
        try:
            fleet.schedule()
            for _ in range(workers):
                fleet.add()
            yield fleet
        finally:
            for machine in fleet.machines:
                machine.kill()
