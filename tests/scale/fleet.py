"""Several machines that share the work of a synchronization, all on this one: workers with homes of their own.

Belongs here: starting, freezing and killing workers, leading a run, what its events say. Does not: the parts that they
share (objects, postgres, redis), any test.
"""

import os
import re
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.home import PROJECT
from tests.e2e.homes import PATIENCE, command, environment
from tests.scale import objects, postgres, redis
from tests.scale.objects import Objects
from tests.scale.postgres import Postgres
from tests.scale.redis import Redis

LOST_AFTER = 6
"""Seconds after which a step whose worker is silent is given to another one."""
SETTLED = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "COLUMNS": "200"}
EXECUTING = "in celery worker"


@dataclass
class Worker:
    """`fundamentals worker` with a home of its own, in a process group of its own."""

    home: Path
    process: "subprocess.Popen[bytes]"

    @property
    def log(self) -> str:
        """What it has written."""
        return self.home.with_suffix(".log").read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all its processes."""
        os.killpg(self.process.pid, number)

    def begun(self, op: str) -> list[str]:
        """The steps of an op that it has begun, in their order."""
        return re.findall(rf"({re.escape(op)}\[\d+\]) - a batch of ", self.log)


@dataclass
class Fleet:
    """What all machines share, and the workers."""

    folder: Path
    variables: Mapping[str, str]
    objects: Objects
    redis: Redis
    postgres: Postgres
    workers: list[Worker] = field(default_factory=list)

    def add(self, **more: str) -> Worker:
        """Start a worker that does one step at a time."""
        home = self.folder / f"worker-{len(self.workers) + 1}"
        with home.with_suffix(".log").open("wb") as log:
            process = subprocess.Popen(
                command("worker", "--processes", "1"),
                cwd=PROJECT,
                env=environment(home, **SETTLED, **self.variables, **more),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.workers.append(Worker(home, process))
        return self.workers[-1]

    def sync(self, source: object, **more: str) -> "subprocess.Popen[str]":
        """Start a synchronization, which this home leads."""
        return subprocess.Popen(
            command("sync", "--source", source),
            cwd=PROJECT,
            env=environment(self.home, **SETTLED, **self.variables, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def home(self) -> Path:
        """The home of the machine that leads runs."""
        return self.folder / "lead"

    def workers_of_steps(self) -> dict[str, list[str]]:
        """The workers that began each step of all runs, by step."""
        return {step: [worker for _, worker in begun] for step, begun in self._begun().items()}

    def steps_of_newest_run(self) -> set[str]:
        """The steps that workers began in the newest run."""
        with self._instance() as instance:
            [run] = instance.get_runs(limit=1)
        return {step for step, begun in self._begun().items() if run.run_id in {of for of, _ in begun}}

    def runs(self) -> list[str]:
        """The states of all runs, the newest first."""
        with self._instance() as instance:
            return [run.status.value for run in instance.get_runs()]

    def had_ended(self, step: str, moment: float) -> bool:
        """Whether a step of the newest run had succeeded at a moment (Unix time)."""
        import dagster as dg

        with self._instance() as instance:
            [run] = instance.get_runs(limit=1)
            ended = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_SUCCESS)
            return step in {event.step_key for event in ended if event.timestamp <= moment}

    def _begun(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        with self._instance() as instance:
            for run in instance.get_runs():
                for entry in instance.all_logs(run.run_id):
                    event = entry.dagster_event
                    if event and event.step_key and EXECUTING in (event.message or ""):
                        data: Any = event.engine_event_data
                        found[event.step_key].append((run.run_id, str(data.metadata["Celery worker"].value)))
        return found

    @contextmanager
    def _instance(self) -> Iterator[Any]:
        from unittest.mock import patch

        from pipelines.leading import recording

        with patch.dict(os.environ, self.variables), recording(self.home / "dagster") as instance:
            yield instance


@contextmanager
def running(folder: Path, redis_server: str, batch: int, *, keeps: bool = False) -> Iterator[Fleet]:
    """Object storage, PostgreSQL and Redis for some workers, until the block ends.

    Args:
        folder: an empty folder.
        redis_server: the program.
        batch: companies in a batch.
        keeps: whether Redis has its data on disk.
    """
    with ExitStack() as parts:
        for name in ("objects", "redis", "postgres"):
            (folder / name).mkdir()
        storage = parts.enter_context(objects.running(folder / "objects"))
        counting = parts.enter_context(redis.running(redis_server, folder / "redis", keeps=keeps))
        server = parts.enter_context(postgres.running(folder / "postgres"))
        variables = {
            **storage.environment,
            "FUNDAMENTALS_BROKER": counting.url,
            "FUNDAMENTALS_DAGSTER_URL": server.url.replace("+psycopg:", "+psycopg2:"),
            "FUNDAMENTALS_BATCH": str(batch),
            "FUNDAMENTALS_LOST_AFTER": str(LOST_AFTER),
        }
        fleet = Fleet(folder, variables, storage, counting, server)
        try:
            yield fleet
        finally:
            for worker in fleet.workers:
                if worker.process.poll() is None:
                    worker.signal(signal.SIGKILL)
                    worker.process.wait(PATIENCE)


def until(leading: "subprocess.Popen[str]", state: Callable[[], object]) -> None:
    """Wait for a state that comes while a synchronization runs."""
    deadline = time.monotonic() + PATIENCE
    while not state():
        assert leading.poll() is None, leading.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
