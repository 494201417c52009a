"""Records the synchronizations of commands in Dagster: commands run the steps without Dagster, and report each result.

Belongs here: the events of a step, and opening the record. Does not: running steps (plan), showing results (assets,
checks), runs that Dagster launches (definitions).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import sqlalchemy as sa

from pipelines.dagster_app import assets, checks
from pipelines.dagster_app.retention import forget
from pipelines.errors import PipelineError
from pipelines.run.plan import Done, Outcome, Step, run_all, run_step
from pipelines.run.result import Markdown
from pipelines.run.synchronization import Synchronization
from pipelines.storage.home import Home

DAMAGED = "delete the folder: it has only the record of earlier runs, and the next synchronization makes a new one"
FULL = "free space on the disk, and synchronize again"
ADVICE = {
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_IOERR: FULL,
}
"""Advice after an error of SQLite, by its code."""


class RecordError(PipelineError):
    """Dagster's record cannot be read or written."""


class Lines:
    """A log that keeps its lines until they are taken."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def info(self, msg: object) -> None:
        """Keep a line with its time."""
        self._lines.append(f"{datetime.now(UTC):%H:%M:%SZ} {msg}")

    def warning(self, msg: object) -> None:
        """Keep a warning with its time."""
        self.info(f"WARNING {msg}")

    def taken(self) -> str:
        """All lines since the last call, as one text."""
        text, self._lines = "\n".join(self._lines), []
        return text


def run_recorded(home: Home, source: str, symbols: str = "", *, full: bool = False, newest: bool = False) -> Outcome:
    """Synchronize in this process, and record the assets and checks in the Dagster instance of the home.

    A failed step does not change its asset, but adds an observation with the error; a wrong source, setting or symbol
    adds none.

    Args:
        home: the home.
        source: as in Synchronization.
        symbols: as in Synchronization.
        full: as in Synchronization.
        newest: as in Synchronization.

    Raises:
        PipelineError, WarehouseError: a step failed, or Dagster's record cannot be read or written.
    """
    log = Lines()
    with recording(home.dagster) as instance:

        def run(step: Step, synchronization: Synchronization) -> Done:
            key = dg.AssetKey(step.name)
            try:
                done = run_step(step, synchronization, log)
            except assets.MISTYPED:
                raise
            except Exception as error:
                metadata = {"log": _text(log.taken())}
                instance.report_runless_asset_event(dg.AssetObservation(key, f"failed: {error}", metadata=metadata))
                raise
            for event in events_of(done, synchronization, log.taken()):
                instance.report_runless_asset_event(event)
            return done

        return run_all(Synchronization(home, source, symbols, full, newest), run)


def events_of(
    done: Done, synchronization: Synchronization, log: str
) -> Iterator[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
    """The events of a step: its assets, then its gates and, for a new build, the checks of its values."""
    for number, made in enumerate(assets.results_of(done.step, done.result)):
        of_log = {"log": _text(log)} if number == 0 and log else {}
        tags = {"dagster/data_version": made.data_version.value} if made.data_version else {}
        yield dg.AssetMaterialization(
            made.asset_key or dg.AssetKey(done.step.name), metadata={**(made.metadata or {}), **of_log}, tags=tags
        )
    for check in checks.results_of(done, synchronization):
        yield dg.AssetCheckEvaluation(
            asset_key=check.asset_key or dg.AssetKey(done.step.name),
            check_name=str(check.check_name),
            passed=check.passed,
            metadata=check.metadata,
            severity=check.severity,
            description=check.description,
        )


def _text(log: str) -> dg.MarkdownMetadataValue:
    """The lines of a log as Markdown, unchanged."""
    return dg.MetadataValue.md(Markdown(f"```text\n{log}\n```"))


@contextmanager
def recording(folder: Path) -> Iterator[dg.DagsterInstance]:
    """Open the Dagster instance of a folder until the block ends; runs that ended long ago are removed from it.

    Raises:
        RecordError: one of its files is damaged, or the disk is full.
        SettingError: FUNDAMENTALS_KEEP_RUNS has an invalid value.
    """
    try:
        with dg.DagsterInstance.from_config(str(folder)) as instance:
            forget(instance)
            yield instance
    except (sqlite3.Error, sa.exc.DBAPIError) as error:
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its extension
        advice = ADVICE.get(code, "check that the folder is writable, and synchronize again")
        raise RecordError(f"{folder / 'history'}: {cause}; {advice}") from error
