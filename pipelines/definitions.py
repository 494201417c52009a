"""The definitions that Dagster loads: assets, checks, the job and its schedule.

Belongs here: one factory for the UI, the command line and the tests. Does not: any asset or rule.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

import dagster as dg

from pipelines.assets import ASSETS, WAY, counts_of
from pipelines.checks import CHECKS
from pipelines.errors import PipelineError
from pipelines.home import Home
from pipelines.resources import Synchronization
from pipelines.run_history import instance_of
from warehouse.schedule import CRON, TIME_ZONE

JOB = "synchronize"


def build_definitions(environment: Mapping[str, str]) -> dg.Definitions:
    """Assets, checks, job and schedule; FUNDAMENTALS_SOURCE and FUNDAMENTALS_SYMBOLS are defaults of the launchpad."""
    synchronization = Synchronization(
        source=environment.get("FUNDAMENTALS_SOURCE", "sample"), symbols=environment.get("FUNDAMENTALS_SYMBOLS", "")
    )
    job = dg.define_asset_job(
        JOB,
        dg.AssetSelection.all(),
        description="Makes a published build from EDGAR documents; launchpad: source, symbols, full.",
    )
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=[job],
        schedules=[dg.ScheduleDefinition(job=job, cron_schedule=CRON, execution_timezone=TIME_ZONE)],
        resources={"synchronization": synchronization},
        # one process for the run: it holds the lock of the home, and a process for each step costs a second each
        executor=dg.in_process_executor,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run.

    Attributes:
        counts: what its assets report.
        held_back_by: the checks that held back publishing.
        way: how the documents were brought up to date, and why so; empty if there is only one way.
    """

    counts: dict[str, int]
    held_back_by: list[str]
    way: str = ""


def run_job(home: Home, source: str, symbols: str = "", *, full: bool = False) -> Outcome:
    """Run the job in this process with the Dagster instance of the home, which the UI uses too.

    Raises:
        PipelineError, WarehouseError: raised by an asset.
        KeyboardInterrupt: the run was stopped with Ctrl-C.
    """
    job = build_definitions(os.environ).resolve_job_def(JOB)
    run_config = {
        "resources": {"synchronization": {"config": {"source": source, "symbols": symbols, "full": full}}},
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }
    run_id = str(uuid4())
    with instance_of(home.dagster) as instance:
        held_back: dg.DagsterError | None = None
        try:
            job.execute_in_process(run_config=run_config, instance=instance, run_id=run_id)
        except dg.DagsterError as error:
            held_back = error
        except dg.DagsterExecutionInterruptedError as error:
            raise KeyboardInterrupt from error
        logged = [
            event.dagster_event
            for event in instance.all_logs(
                run_id, {dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_CHECK_EVALUATION}
            )
            if event.dagster_event
        ]
    counts: dict[str, int] = {}
    held_back_by: list[str] = []
    way = ""
    for event in logged:
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data
            only_warns = check.severity is dg.AssetCheckSeverity.WARN
            held_back_by += [] if check.passed or only_warns else [f"{check.check_name}: {check.description}"]
        else:
            metadata = event.step_materialization_data.materialization.metadata
            counts.update(counts_of(metadata))
            way = str(metadata[WAY].value) if WAY in metadata else way
    if held_back and not held_back_by:
        raise _cause_of(held_back)
    return Outcome(counts, held_back_by, way)


def _cause_of(error: dg.DagsterError) -> BaseException:
    """The original error of a resource; Dagster wraps errors of resources, but not those of assets."""
    cause = error.__cause__
    return cause if isinstance(cause, PipelineError) else error


definitions = build_definitions(os.environ)
