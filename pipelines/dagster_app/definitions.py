"""The definitions that Dagster loads: assets, checks, the job, its schedule and its sensor.

Belongs here: one factory for the UI, the command line and the tests. Does not: any asset or rule.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from pydantic import Field

from pipelines.dagster_app import asset_specs
from pipelines.dagster_app.asset_specs import OF_FILINGS, UPSTREAM
from pipelines.dagster_app.assets import assets, counts_of
from pipelines.dagster_app.checks import blocking, quality_of_values
from pipelines.dagster_app.launcher import PROCESS, process_named
from pipelines.dagster_app.resources import COMMAND, LAUNCHED_BY, Configured, tags_of
from pipelines.dagster_app.run_history import held_back_by, is_refused, recording, remove
from pipelines.edgar.sources import open_source
from pipelines.errors import PipelineError, StepError
from pipelines.run.filing_queue import Queue
from pipelines.run.heartbeat import Heartbeat, figures
from pipelines.run.newest_filings import EVERY, Covered, exclusive_access, to_synchronize
from pipelines.run.plan import STEPS, Outcome, without_filings
from pipelines.run.steps import WAY
from pipelines.storage.home import Home
from warehouse.errors import WarehouseError
from warehouse.schedule import CRON, TIME_ZONE

JOB = "synchronize"


def build_definitions(environment: Mapping[str, str], *, is_quiet: bool = False) -> dg.Definitions:
    """Assets, checks, job, schedule and sensor.

    Args:
        environment: FUNDAMENTALS_SOURCE and FUNDAMENTALS_SYMBOLS are defaults of the launchpad, FUNDAMENTALS_SCHEDULE
            of the schedule; with FUNDAMENTALS_FILINGS=off there are no steps of filings.
        is_quiet: whether the log of a run of the job is in Dagster's record only, not on standard error.
    """
    synchronization = Configured(
        source=environment.get("FUNDAMENTALS_SOURCE", "sample"), symbols=environment.get("FUNDAMENTALS_SYMBOLS", "")
    )

    is_off = environment.get("FUNDAMENTALS_FILINGS") == "off"
    steps = without_filings(STEPS) if is_off else STEPS
    assets_of_steps, checks = assets(steps), (*blocking(steps), quality_of_values)
    documents = UPSTREAM if is_off else (*UPSTREAM, *OF_FILINGS)

    class Request(dg.Config):
        """What a run does."""

        source: str = Field(
            synchronization.source, description="live, sample, or the path of a mirror or of companyfacts.zip"
        )
        symbols: str = Field(
            synchronization.symbols, description="symbols of the companies to update, with commas; empty: all"
        )
        full: bool = Field(default=False, description="process everything again, even if nothing is new")
        newest: bool = Field(default=False, description="of the symbols, only the reports that the feed named")

    @dg.config_mapping
    def requested(request: Request) -> dict[str, Any]:
        level = "CRITICAL" if is_quiet else "DEBUG"
        console = {"loggers": {"console": {"config": {"log_level": level}}}}
        return {"resources": {"synchronization": {"config": dict(request)}}, **console}

    job = dg.define_asset_job(
        JOB,
        dg.AssetSelection.assets(*assets_of_steps) | dg.AssetSelection.checks(*checks),
        description="Makes a published build from EDGAR documents; launchpad: source, symbols, full.",
        config=requested,
    )
    return dg.Definitions(
        assets=[*asset_specs.upstream(documents), *assets_of_steps, asset_specs.interface()],
        asset_checks=checks,
        jobs=[job],
        sensors=[feed_of_newest_filings(job, environment)],
        schedules=[
            dg.ScheduleDefinition(
                job=job,
                cron_schedule=CRON,
                execution_timezone=TIME_ZONE,
                default_status=_status_of_schedule(environment),
            )
        ],
        resources={"synchronization": synchronization},
        # one process: it holds the lock of the home, and a process for each step costs a second
        executor=dg.in_process_executor,
    )


def _status_of_schedule(environment: Mapping[str, str]) -> dg.DefaultScheduleStatus:
    """Off until it is turned on in the UI, unless FUNDAMENTALS_SCHEDULE=on."""
    is_on = environment.get("FUNDAMENTALS_SCHEDULE") == "on"
    return dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED


def feed_of_newest_filings(job: UnresolvedAssetJobDefinition, environment: Mapping[str, str]) -> dg.SensorDefinition:
    """The sensor that synchronizes companies minutes after they filed; off unless FUNDAMENTALS_FOLLOW=yes."""
    is_on = environment.get("FUNDAMENTALS_FOLLOW") == "yes"

    @dg.sensor(
        name="newest_filings",
        job=job,
        minimum_interval_seconds=int(EVERY.total_seconds()),
        default_status=dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED,
        description="Synchronizes companies whose report is new in EDGAR's feed; needs EDGAR_USER_AGENT.",
    )
    def newest_filings(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        agent, base_url = os.environ.get("EDGAR_USER_AGENT"), os.environ.get("EDGAR_BASE_URL")
        home = Home.from_environment()
        try:
            (heart := Heartbeat(home)).give()
            covered = Covered.of(home)
            if not covered.synchronized:
                return dg.SkipReason("nothing is published yet: synchronize all companies once")
            with exclusive_access(home), open_source("live", user_agent=agent, base_url=base_url) as source:
                filings = to_synchronize(home, source.client, covered, datetime.now(UTC), context.log.warning)
            heart.give(figures(Queue.of(home.root), covered))
        except (PipelineError, WarehouseError) as error:
            return dg.SkipReason(str(error))
        if not filings:
            return dg.SkipReason("the SEC has no new report of a listed company")
        symbols = sorted({covered.symbols[filing.cik] for filing in filings})
        return dg.RunRequest(run_config={"source": "live", "symbols": ",".join(symbols), "newest": True})

    return newest_filings


def run_job(home: Home, source: str, symbols: str = "", *, full: bool = False, newest: bool = False) -> Outcome:
    """Run the job in this process with the Dagster instance of the home, which the UI uses too.

    Raises:
        PipelineError, WarehouseError: raised by an asset; Dagster's record of runs cannot be read or written.
        KeyboardInterrupt: the run was stopped with Ctrl-C.
    """
    job = build_definitions(os.environ, is_quiet=True).resolve_job_def(JOB)
    run_config = {"source": source, "symbols": symbols, "full": full, "newest": newest}
    tags = {LAUNCHED_BY: COMMAND, PROCESS: process_named(os.getpid()), **tags_of(str(source), symbols)}
    run_id = str(uuid4())
    with recording(home.dagster) as instance:
        held_back: BaseException | None = None
        try:
            job.execute_in_process(run_config=run_config, instance=instance, run_id=run_id, tags=tags)
        except (dg.DagsterError, StepError) as error:
            held_back = error
        except dg.DagsterExecutionInterruptedError as error:
            raise KeyboardInterrupt from error
        finally:
            if is_refused(instance, run_id):  # whoever typed the command reads why at once
                remove(instance, run_id)
        logged = [
            event.dagster_event
            for event in instance.all_logs(run_id, {dg.DagsterEventType.ASSET_MATERIALIZATION})
            if event.dagster_event
        ]
        stopped_by = held_back_by(instance, run_id)
    counts: dict[str, int] = {}
    way = ""
    for event in logged:
        metadata = event.step_materialization_data.materialization.metadata
        counts.update(counts_of(metadata))
        way = str(metadata[WAY].value) if WAY in metadata else way
    if held_back and not stopped_by:
        raise _cause_of(held_back)
    return Outcome(counts, stopped_by, way)


def _cause_of(error: BaseException) -> BaseException:
    """The original error of a resource; Dagster wraps errors of resources, but not those of assets."""
    cause = error.__cause__
    known = PipelineError | WarehouseError | OSError
    return cause if isinstance(error, dg.DagsterError) and isinstance(cause, known) else error


definitions = build_definitions(os.environ)
