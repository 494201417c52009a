"""The resource that all assets share: the running synchronization with its home and its source.

Belongs here: the run configuration, and the tags of a run. Does not: the synchronization itself (synchronization).
"""

import os
import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import dagster as dg
from dagster._config.pythonic_config import ConfigurableResourceFactory

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


class Configured(ConfigurableResourceFactory[Synchronization]):
    """The configuration of a run. It makes the synchronization, which locks the home from the first asset to the
    last."""

    source: str = "sample"
    symbols: str = ""
    full: bool = False
    newest: bool = False

    def create_resource(self, context: dg.InitResourceContext) -> Synchronization:
        """Make the synchronization; it is not running yet."""
        return Synchronization(Home.from_environment(), self.source, self.symbols, self.full, self.newest)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[Synchronization, None, None]:
        """Start the synchronization; while another process holds the lock of the home, wait.

        If it cannot start, the run is refused. If it ends early, the assets of steps that have not begun keep their
        state.
        """
        run, instance, wait = context.run, context.instance, None
        if run and instance and context.log:
            process = {PROCESS: process_named(os.getpid())}
            instance.add_run_tags(run.run_id, process | tags_of(self.source, self.symbols))
            wait = context.log.info

        with ExitStack() as held:
            try:
                synchronization = held.enter_context(self.create_resource(context).running(wait))
                if instance:
                    forget(instance)
            except Exception as error:
                if run and instance:
                    refuse(instance, run, error)
                raise
            try:
                yield synchronization
            finally:
                if run and instance:
                    forget_plans(instance, run.run_id, begun(instance, run.run_id))
