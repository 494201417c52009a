"""Dagster's record of runs, with connections that stay open.

Belongs here: how this program opens the SQLite files of a Dagster instance. Does not: what is written there (Dagster),
or when (definitions).

Dagster opens a new connection, with a new SQLAlchemy engine, for every event and every query: about 300 in a
synchronization, which cost 1 CPU second. Here each file has one engine, which keeps its connections open. The files are
Dagster's own, so the Dagster UI reads them as usual.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import dagster as dg
import sqlalchemy as sa
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    SqlEventLogStorageMetadata,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage

from pipelines.errors import PipelineError
from pipelines.settings import whole_number

DAMAGED = "delete the folder: it has only the record of earlier runs, and the next synchronization makes a new one"
FULL = "free space on the disk, and synchronize again"
ADVICE = {
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_IOERR: FULL,
}
"""What to do after an error of SQLite, by its code."""

PLANS = [dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED, dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED]
ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
KEPT_DAYS = 90
"""Days for which runs are kept: each one has 1 to 1.5 MB of events."""
BUSY_SECONDS = 120
"""How long a connection waits while another process, such as the Dagster UI, writes."""


def instance_of(folder: Path) -> dg.DagsterInstance:
    """The Dagster instance of a folder; close it by using it as a context manager.

    Output of the run is not captured: capturing it takes two more processes for each step.
    """
    overrides = {
        "storage": {"custom": {"module": __name__, "class": OpenStorage.__name__, "config": {"base_dir": str(folder)}}},
        "compute_logs": {"module": NoOpComputeLogManager.__module__, "class": NoOpComputeLogManager.__name__},
    }
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=overrides))


def held_back_by(instance: dg.DagsterInstance, run_id: str) -> list[str]:
    """The checks of a run that held back publishing, each with its description."""
    logged = instance.all_logs(run_id, {dg.DagsterEventType.ASSET_CHECK_EVALUATION})
    checks = [each.dagster_event.asset_check_evaluation_data for each in logged if each.dagster_event]
    return [
        f"{check.check_name}: {check.description}"
        for check in checks
        if not check.passed and check.severity is not dg.AssetCheckSeverity.WARN
    ]


def forget(instance: dg.DagsterInstance) -> int:
    """Remove runs that ended long ago, with their events; return their number.

    Raises:
        SettingError: the setting of the days is wrong.
    """
    before = datetime.now(UTC) - timedelta(days=whole_number("FUNDAMENTALS_KEEP_RUNS", KEPT_DAYS, 1, "days"))
    old = instance.get_runs(dg.RunsFilter(statuses=ENDED, created_before=before))
    for run in old:
        remove(instance, run.run_id)
    return len(old)


def remove(instance: dg.DagsterInstance, run_id: str) -> None:
    """Remove a run that has ended, with its events."""
    instance.delete_run(run_id)
    for path in Path(instance.root_directory).glob(f"history/runs/{run_id}.db*"):
        path.unlink(missing_ok=True)


def refuse(instance: dg.DagsterInstance, run: dg.DagsterRun, reason: Exception) -> None:
    """Let a run end as canceled that is refused before it does anything; its log has the reason.

    Dagster shows the assets that a run planned as failed if it fails, although the build before is whole.
    """
    instance.report_run_canceling(run, f"refused: {reason}")
    forget_plans(instance, run.run_id, ())


def is_refused(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether a run of the command has ended because it was refused."""
    run = instance.get_run_by_id(run_id)
    return run is not None and run.status is dg.DagsterRunStatus.CANCELED


def begun(instance: dg.DagsterInstance, run_id: str) -> set[str]:
    """The steps of a run that have begun."""
    return {str(entry.step_key) for entry in instance.all_logs(run_id, {dg.DagsterEventType.STEP_START})}


def forget_plans(instance: dg.DagsterInstance, run_id: str, steps: Collection[str]) -> None:
    """Remove what a run planned for its other steps: their assets and checks keep the state of the run before.

    Args:
        instance: the instance with the record of the run.
        run_id: the run.
        steps: the steps whose plans stay.
    """
    events, checks = SqlEventLogStorageTable, AssetCheckExecutionsTable
    of_run = sa.and_(events.c.run_id == run_id, events.c.dagster_event_type.in_([each.value for each in PLANS]))
    with cast("SqlEventLogStorage", instance.event_log_storage).index_connection() as connection:
        planned = connection.scalars(sa.select(events.c.id).where(of_run, events.c.step_key.not_in(steps))).all()
        if planned:
            connection.execute(checks.delete().where(checks.c.evaluation_event_storage_id.in_(planned)))
            connection.execute(events.delete().where(events.c.id.in_(planned)))


class RunHistoryError(PipelineError):
    """Dagster's record of runs cannot be read or written."""


@contextmanager
def recording(folder: Path) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance of a folder, until the block ends.

    Raises:
        RunHistoryError: one of its files is damaged, or the disk is full.
    """
    try:
        with instance_of(folder) as instance:
            yield instance
    except (sqlite3.Error, sa.exc.DBAPIError) as error:
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its detail
        advice = ADVICE.get(code, "check that the folder is writable, and synchronize again")
        raise RunHistoryError(f"{folder / 'history'}: {cause}; {advice}") from error


def _is_made(file: Path) -> bool:
    """Whether a file has its tables; a killed run may have left it without them."""
    if not file.exists():
        return False
    with closing(sqlite3.connect(file, timeout=BUSY_SECONDS)) as connection:
        try:
            return bool(connection.execute("SELECT 1 FROM alembic_version").fetchone())
        except sqlite3.OperationalError:  # no such table
            return False


class _Engines:
    """One engine for each SQLite file."""

    def __init__(self) -> None:
        self._engines: dict[str, sa.Engine] = {}

    def of(self, address: str) -> sa.Engine:
        if address not in self._engines:
            engine = sa.create_engine(address, connect_args={"timeout": BUSY_SECONDS})
            sa.event.listen(engine, "connect", _without_waiting_for_the_disk)
            self._engines[address] = engine
        return self._engines[address]

    def dispose(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()


def _without_waiting_for_the_disk(connection: Any, _: object) -> None:
    """Do not wait for the disk: a power failure may lose the last events of a run, but cannot damage the file."""
    connection.execute("PRAGMA synchronous = NORMAL")


class OpenEventLog(SqliteEventLogStorage):
    """The events of runs: one file for each run, and one for the assets."""

    def __init__(self, base_dir: str) -> None:
        self._engines = _Engines()
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[sa.Connection]:
        with self._db_lock:
            engine = self._engines.of(self.conn_string_for_shard(shard))
            if shard not in self._initialized_dbs:
                if not _is_made(Path(self.path_for_shard(shard))):
                    self._make_tables(engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection

    def _make_tables(self, engine: sa.Engine) -> None:
        """Create the file of a run with the schema version of the assets' file; Dagster's own way takes 0.2 seconds."""
        index = self._engines.of(self.conn_string_for_shard(INDEX_SHARD_NAME))
        with index.connect() as connection:
            version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
        with engine.connect() as connection:
            connection.execute(sa.text("PRAGMA journal_mode = WAL"))
        with engine.begin() as connection:
            SqlEventLogStorageMetadata.create_all(connection)
            connection.execute(
                sa.text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
            )
            connection.execute(sa.text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Store an event, or a line of the log: one that a full disk does not take is lost without a word.

        Dagster would print it. The next event of a step fails as well, and the command says so in one line.
        """
        if event.is_dagster_event:
            super().store_event(event)
            return
        with suppress(sa.exc.OperationalError):
            super().store_event(event)

    def dispose(self) -> None:
        """Close the connections."""
        super().dispose()
        self._engines.dispose()


class OpenRuns(SqliteRunStorage):
    """The runs and their states."""

    def __init__(self, conn_string: str, inst_data: Any = None) -> None:
        self._engines = _Engines()
        super().__init__(conn_string, inst_data)

    @contextmanager
    def connect(self) -> Iterator[sa.Connection]:
        """A connection in a transaction."""
        with self._engines.of(self._conn_string).begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the connections."""
        super().dispose()
        self._engines.dispose()


class OpenStorage(DagsterSqliteStorage):
    """Runs, events and schedules of an instance, in Dagster's own files."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]
        history = Path(base_dir) / "history"
        self.base_dir = base_dir
        self._inst_data = inst_data
        runs = history / "runs.db"
        # Dagster's own way creates a file or checks whether it exists, which takes 0.1 seconds
        self._run_storage = OpenRuns(f"sqlite:///{runs}") if _is_made(runs) else OpenRuns.from_local(f"{history}/")
        self._event_log_storage = OpenEventLog(f"{history}/runs/")
        # a run asks for no schedule: their file is made by the Dagster UI
        self._schedule_storage = SqliteScheduleStorage(f"sqlite:///{base_dir}/schedules/schedules.db")

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> "OpenStorage":
        """The storage of the folder that the settings name."""
        return cls(**config_value, inst_data=inst_data)
