"""The executor of a run whose steps workers do: giving steps out, noticing what is lost, recording that a run failed.

Belongs here: what differs from the executor of dagster-celery. Does not: the work of a step (distributed), the workers
(broker), leases (leases).

The loop of dagster-celery asks each step that it gave out whether it has ended, once a second, for ever. Here Redis may
be away for a while, and a step that Redis has lost is given out again.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import celery
import dagster as dg
import redis
from dagster._core.execution.retries import RetryMode
from dagster._core.executor.base import Executor
from dagster._grpc.types import ExecuteStepArgs
from dagster._serdes import pack_value
from dagster_celery.core_execution_loop import core_celery_execution_loop
from dagster_celery.executor import CELERY_CONFIG, CeleryExecutor
from dagster_celery.tasks import create_task
from sqlalchemy.exc import SQLAlchemyError

from pipelines import broker, leases
from pipelines.distributed import Distributed
from pipelines.errors import PipelineError, StepError
from pipelines.home import Home
from pipelines.run_history import held_back_by
from warehouse import runs

IN_HAND = "unacked"
"""The hash in which Celery keeps what workers have taken."""


class Given:
    """A step that was given to the workers; the loop asks it what it else asks a result of Celery."""

    def __init__(self, send: Callable[[str], celery.result.AsyncResult], ledger: "Ledger") -> None:
        self.step = str(uuid4())
        self._send, self._ledger = send, ledger
        self._result = leases.patient(lambda: send(self.step))
        ledger.out.add(self.step)

    def ready(self) -> bool:
        """Whether it has ended; if Redis has lost it, it is given out again."""
        if leases.patient(self._result.ready):
            self._ledger.out.discard(self.step)
            return True
        if self._ledger.has_lost(self.step):
            leases.patient(lambda: self._send(self.step))
        return False

    def get(self) -> Any:
        """The events of the step, or its error; known since it was `ready`."""
        return self._result.get()

    def revoke(self) -> None:
        """Do not begin it any more."""
        self._ledger.out.discard(self.step)
        self._result.revoke()


class Ledger:
    """The steps that were given out, and a look now and then whether Redis still has them.

    A Redis that was killed comes back without what it had not written to its disk.
    """

    def __init__(self, is_ended: Callable[[], bool]) -> None:
        """No step is given out yet.

        Args:
            is_ended: tells whether another process has ended the run.
        """
        self.out: set[str] = set()
        self._is_ended = is_ended
        self._looked_at = time.monotonic()
        self._absent: set[str] = set()
        self._lost: set[str] = set()

    def has_lost(self, step: str) -> bool:
        """Whether a step is lost; told once, so that it can be given out again.

        It is lost if two looks find it neither waiting nor taken, and no worker with a lease on it.

        Raises:
            StepError: another process has ended the run.
            BrokerError: Redis does not answer.
        """
        if time.monotonic() - self._looked_at >= broker.lost_after() / 2:
            self._looked_at = time.monotonic()
            if self._is_ended():
                raise StepError(
                    "this run was ended in Dagster's record, by hand, or because this process gave no sign of life for "
                    "too long; synchronize again"
                )
            absent = leases.answer(self._found_absent)
            self._lost |= absent & self._absent
            self._absent = absent
        is_lost = step in self._lost
        self._lost.discard(step)
        return is_lost

    def _found_absent(self, connection: redis.Redis) -> set[str]:
        texts = [text for name in broker.QUEUES for text in _list(connection, name)]
        texts += connection.hvals(IN_HAND)  # type: ignore[arg-type]
        waiting = b"\n".join(texts)
        return {step for step in self.out if step.encode() not in waiting and not leases.is_leased(connection, step)}


def _list(connection: redis.Redis, name: str) -> list[bytes]:
    found: Any = connection.lrange(name, 0, -1)
    return list(found)


class Leading(CeleryExecutor):  # type: ignore[misc,unused-ignore]
    """Dagster's executor for Celery, in the process that leads a run and holds the lease on it."""

    def execute(self, plan_context: Any, execution_plan: Any) -> Iterator[dg.DagsterEvent]:
        """Give out the steps, until all have ended, or one has failed; record a failure beside the builds."""
        instance, run_id = plan_context.instance, plan_context.run_id
        record = instance.get_run_record_by_id(run_id)
        began = datetime.fromtimestamp(record.start_time, UTC) if record and record.start_time else datetime.now(UTC)
        ledger = Ledger(lambda: (run := instance.get_run_by_id(run_id)) is None or run.is_finished)

        def give(app: Any, context: Any, step: Any, queue: str, priority: int, known: Any) -> Given:
            # the leader asks for results, once a second; Celery would also subscribe to each of them
            app.backend.on_task_call = lambda *_: None
            return Given(_sender(app, context, step, queue, priority, known), ledger)

        has_failed = True
        try:
            with leases.led(run_id):
                has_failed = False
                for event in core_celery_execution_loop(plan_context, execution_plan, step_execution_fn=give):
                    has_failed |= event.is_step_failure
                    yield event
        except BaseException:
            has_failed = True
            raise
        finally:
            if has_failed:
                with suppress(Exception):  # it must not hide why the run failed
                    _record_failure(instance, run_id, began)


def _sender(
    app: Any, context: Any, step: Any, queue: str, priority: int, known: Any
) -> Callable[[str], celery.result.AsyncResult]:
    """What gives a step to the workers, under an id, as dagster-celery does."""
    given = ExecuteStepArgs(
        job_origin=context.reconstructable_job.get_python_origin(),
        run_id=context.dagster_run.run_id,
        step_keys_to_execute=[step.key],
        instance_ref=context.instance.get_ref(),
        retry_mode=context.executor.retries.for_inner_plan(),
        known_state=known,
        print_serialized_events=True,
    )
    task = create_task(app).si(
        execute_step_args_packed=pack_value(given), executable_dict=context.reconstructable_job.to_dict()
    )
    route = f"{queue}.execute_plan"
    return lambda name: task.apply_async(task_id=name, priority=priority, queue=queue, routing_key=route)


def _record_failure(instance: dg.DagsterInstance, run_id: str, began: datetime) -> None:
    """Note beside the builds that a run failed, unless a condition held it back, which has noted that."""
    with suppress(PipelineError, SQLAlchemyError):  # PostgreSQL may be what was lost
        if held_back_by(instance, run_id):
            return
    Distributed(Home.from_environment(), started_at=began).ended(runs.FAILED)


@dg.executor(name="celery", config_schema=CELERY_CONFIG, requirements=dg.multiple_process_executor_requirements())
def on_workers(context: dg.InitExecutorContext) -> Executor:
    """Workers do the steps of a run; its configuration is that of `celery_executor`."""
    settings: dict[str, Any] = dict(context.executor_config)
    return Leading(
        broker=settings.get("broker"),
        backend=settings.get("backend"),
        config_source=settings.get("config_source"),
        retries=RetryMode.from_config(settings["retries"]),
    )
