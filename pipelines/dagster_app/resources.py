"""The resource that all assets share: the running synchronization with its home and its source.

Belongs here: the run configuration, and the tags of a run. Does not: the synchronization itself (synchronization).
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import dagster as dg

from pipelines.dagster_app.launcher import PROCESS, process_named
from pipelines.dagster_app.retention import begun, forget, forget_plans, refuse
from pipelines.run.synchronization import Synchronization
from pipelines.storage.home import Home

LONGEST_TAG = 63
UNFIT = re.compile(r"[^A-Za-z0-9_.-]")


def tags_of(source: str, symbols: str) -> dict[str, str]:
    """The tags of a run, by which the UI filters runs: its source, and its symbols if it has any."""
    given = {"fundamentals/source": Path(source).name, "fundamentals/symbols": symbols.replace(",", ".").upper()}
    return {name: UNFIT.sub("_", value)[:LONGEST_TAG].strip("._-") for name, value in given.items() if value}


def settings(environment: Mapping[str, str]) -> dict[str, dg.Field]:
    """What a run does, as the launchpad asks for it.

    Args:
        environment: FUNDAMENTALS_SOURCE and FUNDAMENTALS_SYMBOLS are the defaults of source and symbols.
    """
    source, symbols = environment.get("FUNDAMENTALS_SOURCE", "sample"), environment.get("FUNDAMENTALS_SYMBOLS", "")
    return {
        "source": dg.Field(
            str, default_value=source, description="live, sample, or the path of a mirror or of companyfacts.zip"
        ),
        "symbols": dg.Field(
            str, default_value=symbols, description="symbols of the companies to update, with commas; empty: all"
        ),
        "full": dg.Field(bool, default_value=False, description="process everything again, even if nothing is new"),
        "newest": dg.Field(bool, default_value=False, description="of the symbols, only the reports of the feed"),
    }


def running_synchronization(environment: Mapping[str, str]) -> dg.ResourceDefinition:
    """The resource: a synchronization that runs, and locks the home, from the first asset to the last.

    Args:
        environment: as of settings.
    """

    @dg.resource(config_schema=settings(environment))
    def synchronization(context: dg.InitResourceContext) -> Iterator[Synchronization]:
        """Starts the synchronization; while another process holds the lock of the home, waits.

        If it cannot start, the run is refused. If it ends early, the assets of steps that have not begun keep their
        state.
        """
        given, run, instance, wait = context.resource_config, context.run, context.instance, None
        if run and instance and context.log:
            process = {PROCESS: process_named(os.getpid())}
            instance.add_run_tags(run.run_id, process | tags_of(given["source"], given["symbols"]))
            wait = context.log.info

        with ExitStack() as held:
            try:
                running = held.enter_context(Synchronization(Home.from_environment(), **given).running(wait))
                if instance:
                    forget(instance)
            except Exception as error:
                if run and instance:
                    refuse(instance, run, error)
                raise
            try:
                yield running
            finally:
                if run and instance:
                    forget_plans(instance, run.run_id, begun(instance, run.run_id))

    return synchronization
