"""Dagster's record in a home, as its UI and its daemon write it.

Belongs here: opening it, a run of the job, turning the schedule on and off, a sign of life of the daemon. Does not: any
test.
"""

from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteInstigatorOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.scheduler.instigation import InstigatorState, InstigatorStatus, ScheduleInstigatorData
from dagster._daemon.types import DaemonHeartbeat

from pipelines.dagster_app.definitions import JOB, build_definitions
from pipelines.storage.home import Home
from warehouse.record.schedule import CRON


def opened(home: Home) -> dg.DagsterInstance:
    """The instance of a home; close it by using it as a context manager."""
    return dg.DagsterInstance.from_config(str(home.dagster))


def run_by_dagster(home: Home, **config: Any) -> dg.ExecuteInProcessResult:
    """Run the job as Dagster's daemon does, whether it succeeds or not."""
    job = build_definitions({}).resolve_job_def(JOB)
    with opened(home) as instance:
        return job.execute_in_process(run_config=config, instance=instance, raise_on_error=False)


def write(home: Path, *, is_on: bool, lived_at: float) -> None:
    """Turn the schedule on or off, and let the daemon give a sign of life.

    Args:
        home: the home.
        is_on: whether the schedule is on.
        lived_at: the Unix time of the sign of life.
    """
    (home / "dagster").mkdir(exist_ok=True)
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("pipelines"), "__repository__")
    state = InstigatorState(
        RemoteInstigatorOrigin(repository, f"{JOB}_schedule"),
        InstigatorType.SCHEDULE,
        InstigatorStatus.RUNNING if is_on else InstigatorStatus.STOPPED,
        ScheduleInstigatorData(CRON, 0.0),
    )
    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        instance.add_daemon_heartbeat(DaemonHeartbeat(float(lived_at), "SCHEDULER", None))
        if instance.get_instigator_state(state.instigator_origin_id, state.selector_id):
            instance.update_instigator_state(state)
        else:
            instance.add_instigator_state(state)
