"""A run of the job on several machines, which the command `fundamentals sync` leads: workers do its steps.

Belongs here: Dagster's record in PostgreSQL, leading the run, its progress, and the error of a step that failed. Does
not: the steps (graphs), the job (definitions), output on the terminal (synchronize).
"""

import contextvars
import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as sa
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.execution.api import execute_run
from dagster_postgres.utils import DagsterPostgresException

from pipelines import broker, leases, record
from pipelines.errors import PipelineError, StepError
from pipelines.graphs import BATCH_OP
from pipelines.home import PROJECT
from pipelines.progress import report
from pipelines.record import RecordError

LOOK_EVERY = 2.0
"""Seconds between two looks at the progress of a run."""
UNDER_WAY = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
"""The states of a run that somebody leads; one that is queued waits for Dagster's daemon."""
OF_WORKER = re.compile(r"^\[\S+\]: (.+)$", re.MULTILINE)
"""An error of a worker in the message of the executor, after the step."""
OF_POSTGRESQL = re.compile(r"\(psycopg2\.\w+\) (.+)")
"""What PostgreSQL, or the connection to it, says in an error of SQLAlchemy."""
OF_CLASS = re.compile(r"^(?:[\w.]+\.)*\w+: ")


@contextmanager
def recording(folder: Path) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance that the settings in a folder name, until the block ends.

    Raises:
        RecordError: PostgreSQL does not answer, or refuses.
    """
    record.wait_for_postgresql()
    try:
        with dg.DagsterInstance.from_config(str(folder)) as instance:
            yield instance
    except (sa.exc.DBAPIError, DagsterPostgresException) as error:
        cause = error if isinstance(error, sa.exc.DBAPIError) else error.__cause__
        raise RecordError(getattr(cause, "orig", cause)) from error


def led(
    instance: dg.DagsterInstance,
    job: dg.JobDefinition,
    run_id: str,
    run_config: Mapping[str, Any],
    tags: Mapping[str, str],
) -> None:
    """Run the job to its end: its steps are given to workers, this process waits for them and reports progress.

    Raises:
        StepError: a step failed.
        KeyboardInterrupt: the run was stopped with Ctrl-C; steps that have not begun are not done.
    """
    repository = ReconstructableRepository.for_module("pipelines.definitions", "definitions", str(PROJECT))
    named = repository.get_reconstructable_job(job.name)
    run = instance.create_run_for_job(
        job, run_id=run_id, run_config=run_config, tags=tags, job_code_origin=named.get_python_origin()
    )
    with _looked_after(instance, run_id), broker.leading(), warnings.catch_warnings():
        # Dagster makes the same task again for each step
        warnings.filterwarnings("ignore", "(?s)Task name 'execute_plan' is already registered")
        try:
            result = execute_run(named, run, instance)
        except dg.DagsterExecutionInterruptedError as error:
            raise KeyboardInterrupt from error
    if not result.success:
        raise StepError(_why(result.all_events))


def _why(events: Sequence[dg.DagsterEvent]) -> str:
    """Why a run failed: the first error of a step, or else of the run itself, such as of a worker outside of a step."""
    of_steps = [event.step_failure_data.error for event in events if event.is_step_failure]
    of_run = [event.job_failure_data.error for event in events if event.event_type is dg.DagsterEventType.RUN_FAILURE]
    found: Any = next((error for error in (*of_steps, *of_run) if error), None)
    while found and found.cause and str(found.cls_name).startswith("Dagster"):  # it wraps errors of steps
        found = found.cause
    return _in_a_line(found.message if found else "no step says why; see the run in Dagster's record")


def _in_a_line(message: str) -> str:
    """The message of an error, without its class, and without the step and the statement in which it was raised."""
    if raised := OF_POSTGRESQL.search(message):
        return str(RecordError(raised[1]))
    named = OF_WORKER.search(message)
    return OF_CLASS.sub("", " ".join((named[1] if named else message).split()))


@contextmanager
def _looked_after(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Report the batches that are done, while the `with` block leads the run, and end runs that nobody leads."""
    over = threading.Event()
    leaders = leases.Leaders()

    def look() -> None:
        is_over = False
        while not is_over:
            is_over = over.wait(LOOK_EVERY)
            with suppress(sa.exc.SQLAlchemyError, DagsterPostgresException, PipelineError):  # not worth an error
                for stage, (done, planned) in _batches(instance, run_id).items():
                    report(f"{stage}: batches", done, planned)
                end_lost(instance, leaders, run_id)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(look,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def end_lost(instance: dg.DagsterInstance, leaders: leases.Leaders, run_id: str) -> None:
    """Record that other runs have failed whose leader is gone, so that nobody waits for them.

    Args:
        instance: has the record.
        leaders: knows since when a run is without a leader.
        run_id: the run that this process leads.

    Raises:
        PipelineError: Redis or PostgreSQL does not answer.
    """
    for run in instance.get_runs(dg.RunsFilter(statuses=UNDER_WAY)):
        if run.run_id != run_id and leaders.is_lost(run.run_id):
            leases.end(run.run_id)
            instance.report_run_failed(run, leases.LOST)


def _batches(instance: dg.DagsterInstance, run_id: str) -> dict[str, tuple[int, int]]:
    """How many batches are done, and how many are planned, by step."""
    planned, done = Counter[str](), Counter[str]()
    for entry in instance.all_logs(run_id, of_type={dg.DagsterEventType.STEP_OUTPUT, dg.DagsterEventType.STEP_SUCCESS}):
        event = entry.dagster_event
        step, _, op = str(event.step_key if event else "").partition(".")
        if event and event.event_type is dg.DagsterEventType.STEP_OUTPUT:
            planned[step] += op == f"{step}_plan"
        else:
            done[step] += op.startswith(f"{step}_{BATCH_OP}[")
    return {step: (done[step], number) for step, number in planned.items() if number}
