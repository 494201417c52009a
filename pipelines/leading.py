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

from pipelines import broker
from pipelines.errors import StepError
from pipelines.graphs import BATCH_OP
from pipelines.home import PROJECT
from pipelines.progress import report
from pipelines.run_history import RunHistoryError

LOOK_EVERY = 2.0
"""Seconds between two looks at the progress of a run."""
OF_WORKER = re.compile(r"^\[\S+\]: (.+)$", re.MULTILINE)
"""An error of a worker in the message of the executor, after the step."""
OF_CLASS = re.compile(r"^(?:[\w.]+\.)*\w+: ")


@contextmanager
def recording(folder: Path) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance that the settings in a folder name, until the block ends.

    Raises:
        RunHistoryError: PostgreSQL does not answer, or refuses.
    """
    try:
        with dg.DagsterInstance.from_config(str(folder)) as instance:
            yield instance
    except (sa.exc.DBAPIError, DagsterPostgresException) as error:
        cause = error if isinstance(error, sa.exc.DBAPIError) else error.__cause__
        reason = str(getattr(cause, "orig", cause)).strip().partition("\n")[0]
        raise RunHistoryError(
            f"PostgreSQL with Dagster's record of runs: {reason}; check FUNDAMENTALS_DAGSTER_URL and the server"
        ) from error


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
    with _progress_of(instance, run_id), broker.leading(), warnings.catch_warnings():
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
    message = found.message if found else "no step says why; see the run in Dagster's record"
    named = OF_WORKER.search(message)
    return _in_a_line(named[1] if named else message)


def _in_a_line(message: str) -> str:
    """The message of an error, without its class."""
    return OF_CLASS.sub("", " ".join(message.split()))


@contextmanager
def _progress_of(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Report the batches that are done, while the `with` block leads the run."""
    over = threading.Event()

    def look() -> None:
        is_over = False
        while not is_over:
            is_over = over.wait(LOOK_EVERY)
            with suppress(sa.exc.SQLAlchemyError, DagsterPostgresException):  # progress is not worth an error
                for stage, (done, planned) in _batches(instance, run_id).items():
                    report(f"{stage}: batches", done, planned)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(look,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _batches(instance: dg.DagsterInstance, run_id: str) -> dict[str, tuple[int, int]]:
    """How many batches are done, and how many are planned, by step."""
    planned, done = Counter[str](), Counter[str]()
    for record in instance.all_logs(
        run_id, of_type={dg.DagsterEventType.STEP_OUTPUT, dg.DagsterEventType.STEP_SUCCESS}
    ):
        event = record.dagster_event
        step, _, op = str(event.step_key if event else "").partition(".")
        if event and event.event_type is dg.DagsterEventType.STEP_OUTPUT:
            planned[step] += op == f"{step}_plan"
        else:
            done[step] += op.startswith(f"{step}_{BATCH_OP}[")
    return {step: (done[step], number) for step, number in planned.items() if number}
