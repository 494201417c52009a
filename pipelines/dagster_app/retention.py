"""Retention of Dagster's record: removes old runs and events, and the plans of steps that did not run.

Belongs here: removing runs, events and plans. Does not: writing any (recorder, and Dagster itself).

Dagster has no public function for the plans of a run and for events without a run; these are removed from the tables of
its storage by their names.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as sa

from pipelines.settings import whole_number

PLANS = [dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED, dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED]
ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
KEPT_DAYS = 90
"""The number of days for which runs, each of 1 to 1.5 MB, and events of the commands are kept."""
OLD_EVENTS = sa.text("DELETE FROM event_logs WHERE run_id = '' AND timestamp < :before")
OLD_CHECKS = sa.text("DELETE FROM asset_check_executions WHERE run_id = '' AND create_timestamp < :before")
PLANNED = sa.text(
    "SELECT id FROM event_logs WHERE run_id = :run AND dagster_event_type IN :types AND step_key NOT IN :steps"
).bindparams(*(sa.bindparam(name, expanding=True) for name in ("types", "steps")))
PLANNED_CHECKS = sa.text("DELETE FROM asset_check_executions WHERE evaluation_event_storage_id IN :ids").bindparams(
    sa.bindparam("ids", expanding=True)
)
PLANNED_EVENTS = sa.text("DELETE FROM event_logs WHERE id IN :ids").bindparams(sa.bindparam("ids", expanding=True))
WITHOUT_RUN = ""
"""The run id of events without a run."""


def forget(instance: dg.DagsterInstance) -> int:
    """Remove runs that ended long ago, with their events, and old events without a run; return the number of removed
    runs.

    Raises:
        SettingError: FUNDAMENTALS_KEEP_RUNS has an invalid value.
    """
    before = datetime.now(UTC) - timedelta(days=whole_number("FUNDAMENTALS_KEEP_RUNS", KEPT_DAYS, 1, "days"))
    old = instance.get_runs(dg.RunsFilter(statuses=ENDED, created_before=before))
    for run in old:
        remove(instance, run.run_id)
    given = {"before": before.replace(tzinfo=None)}
    storage: Any = instance.event_log_storage
    with storage.run_connection(WITHOUT_RUN) as connection:
        connection.execute(OLD_EVENTS, given)
    with storage.index_connection() as connection:
        connection.execute(OLD_EVENTS, given)
        connection.execute(OLD_CHECKS, given)
    return len(old)


def remove(instance: dg.DagsterInstance, run_id: str) -> None:
    """Remove a run that has ended, with its events."""
    instance.delete_run(run_id)
    for path in Path(instance.root_directory).glob(f"history/runs/{run_id}.db*"):
        path.unlink(missing_ok=True)


def refuse(instance: dg.DagsterInstance, run: dg.DagsterRun, reason: Exception) -> None:
    """End a run that is refused before its first step as canceled; its log has the reason.

    If the run failed instead, Dagster would show all its planned assets as failed, although the current build is valid.
    """
    instance.report_run_canceling(run, f"refused: {reason}")
    forget_plans(instance, run.run_id, ())


def begun(instance: dg.DagsterInstance, run_id: str) -> set[str]:
    """The steps of a run that have begun."""
    return {str(entry.step_key) for entry in instance.all_logs(run_id, {dg.DagsterEventType.STEP_START})}


def forget_plans(instance: dg.DagsterInstance, run_id: str, steps: Collection[str]) -> None:
    """Remove the plans of a run for other steps, so that their assets and checks keep the state of the run before.

    Args:
        instance: the instance with the record of the run.
        run_id: the run.
        steps: the steps whose plans are kept.
    """
    given = {"run": run_id, "types": [each.value for each in PLANS], "steps": list(steps)}
    storage: Any = instance.event_log_storage
    with storage.index_connection() as connection:
        if planned := connection.scalars(PLANNED, given).all():
            connection.execute(PLANNED_CHECKS, {"ids": planned})
            connection.execute(PLANNED_EVENTS, {"ids": planned})
