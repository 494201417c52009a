"""The definitions that Dagster loads: assets, checks, the job, its schedule and its sensor.

Belongs here: one factory for the UI and the tests. Does not: any asset or rule, the commands (recorder).
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from pipelines.dagster_app import asset_specs
from pipelines.dagster_app.asset_specs import OF_FILINGS, UPSTREAM
from pipelines.dagster_app.assets import assets
from pipelines.dagster_app.checks import blocking, quality_of_values
from pipelines.dagster_app.resources import running_synchronization, settings
from pipelines.errors import PipelineError
from pipelines.run.filing_queue import Queue
from pipelines.run.heartbeat import HeartbeatWriter, figures
from pipelines.run.newest_filings import EVERY, Covered, exclusive_access, to_synchronize
from pipelines.run.plan import STEPS, without_filings
from pipelines.sources import open_source
from pipelines.storage.home import Home
from warehouse.errors import WarehouseError
from warehouse.record.schedule import CRON, TIME_ZONE

JOB = "synchronize"


def build_definitions(environment: Mapping[str, str]) -> dg.Definitions:
    """Assets, checks, job, schedule and sensor.

    Args:
        environment: FUNDAMENTALS_SOURCE and FUNDAMENTALS_SYMBOLS are the defaults of the launchpad,
            FUNDAMENTALS_SCHEDULE is the default of the schedule; FUNDAMENTALS_FILINGS=off leaves out the steps of
            filings.
    """
    is_off = environment.get("FUNDAMENTALS_FILINGS") == "off"
    steps = without_filings(STEPS) if is_off else STEPS
    assets_of_steps, checks = assets(steps), (*blocking(steps), quality_of_values)
    documents = UPSTREAM if is_off else (*UPSTREAM, *OF_FILINGS)

    @dg.config_mapping(config_schema=settings(environment))
    def requested(request: dict[str, Any]) -> dict[str, Any]:
        return {"resources": {"synchronization": {"config": request}}}

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
        sensors=[feed_of_newest_filings(environment)],
        schedules=[
            dg.ScheduleDefinition(
                job=job,
                cron_schedule=CRON,
                execution_timezone=TIME_ZONE,
                default_status=_status_of_schedule(environment),
            )
        ],
        resources={"synchronization": running_synchronization(environment)},
        # one process, because it holds the lock of the home, and a process for each step costs a second
        executor=dg.in_process_executor,
    )


def _status_of_schedule(environment: Mapping[str, str]) -> dg.DefaultScheduleStatus:
    """The default status of the schedule: off until it is turned on in the UI, unless FUNDAMENTALS_SCHEDULE=on."""
    is_on = environment.get("FUNDAMENTALS_SCHEDULE") == "on"
    return dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED


def feed_of_newest_filings(environment: Mapping[str, str]) -> dg.SensorDefinition:
    """The sensor that synchronizes companies minutes after they filed; off unless FUNDAMENTALS_FOLLOW=yes."""
    is_on = environment.get("FUNDAMENTALS_FOLLOW") == "yes"

    @dg.sensor(
        name="newest_filings",
        job_name=JOB,
        minimum_interval_seconds=int(EVERY.total_seconds()),
        default_status=dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED,
        description="Synchronizes companies whose report is new in EDGAR's feed; needs EDGAR_USER_AGENT.",
    )
    def newest_filings(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        agent, base_url = os.environ.get("EDGAR_USER_AGENT"), os.environ.get("EDGAR_BASE_URL")
        home = Home.from_environment()
        try:
            (heart := HeartbeatWriter(home)).give()
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


definitions = build_definitions(os.environ)
