"""The record of runs, written with open connections: its files are the same as Dagster's own."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import dagster as dg
import pytest
import sqlalchemy as sa

from pipelines.dagster_app.run_history import forget, instance_of
from pipelines.settings import SettingError


@dg.asset
def an_asset() -> int:
    return 1


def structure(file: Path) -> tuple[set[str], list[tuple[str]]]:
    """The names of the tables and indexes, and the schema version that Dagster reads."""
    with closing(sqlite3.connect(file)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        return names, connection.execute("SELECT version_num FROM alembic_version").fetchall()


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders after one run each: of Dagster's instance and of ours."""
    plain, ours = tmp_path / "plain", tmp_path / "open"
    for folder in (plain, ours):
        folder.mkdir()
        (folder / "dagster.yaml").write_text("telemetry: {enabled: false}")
    for instance in (dg.DagsterInstance.from_config(str(plain)), instance_of(ours)):
        with instance:
            assert dg.materialize([an_asset], instance=instance).success
    return plain, ours


def files_in(folder: Path) -> dict[str, Path]:
    """The files of a folder by name; the run's file, whose name is random, as `run`."""
    of_run = "????????-????-????-????-????????????.db"
    return {"run" if file.match(of_run) else file.name: file for file in folder.glob("*/**/*.db")}


def test_the_files_are_those_of_dagster(both):
    plain, ours = (files_in(folder) for folder in both)
    assert ours.keys() == {"run", "index.db", "runs.db"}
    for name, file in ours.items():
        assert structure(file) == structure(plain[name]), name


def test_a_line_of_the_log_that_a_full_disk_does_not_take_is_not_printed(tmp_path, capsys):
    """But an event is an error, of which the command makes one line."""
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}")
    with instance_of(tmp_path) as instance:
        run = dg.materialize([an_asset], instance=instance).dagster_run
        [database] = tmp_path.glob("history/runs/????????-*.db")

        def is_full(connection: sqlite3.Connection, _: object) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own word for a disk without space

        engine = instance.event_log_storage._engines.of(f"sqlite:///{database}")
        engine.dispose()
        sa.event.listen(engine, "connect", is_full)
        log = dg.DagsterLogManager.create(loggers=[], handlers=[instance.get_handlers()[0]], dagster_run=run)
        capsys.readouterr()
        log.info("a line " * 100_000)
        assert capsys.readouterr().err == ""
        with pytest.raises(sa.exc.OperationalError, match="full"):
            instance.report_engine_event("an event " * 100_000, run)


def test_dagster_reads_what_was_written(both):
    _, ours = both
    with dg.DagsterInstance.from_config(str(ours)) as instance:
        (run,) = instance.get_runs()
        assert run.status is dg.DagsterRunStatus.SUCCESS
        assert instance.get_latest_materialization_event(an_asset.key)
        with instance_of(ours) as again:
            assert len(again.all_logs(run.run_id)) == len(instance.all_logs(run.run_id))


def test_a_second_run_continues_the_files(both):
    for folder in both:
        with instance_of(folder) as instance:
            assert dg.materialize([an_asset], instance=instance).success
            assert instance.get_runs_count() == 2


def test_tables_missing_after_a_killed_run_are_created(both):
    _, ours = both
    files_in(ours)["runs.db"].unlink()
    sqlite3.connect(files_in(ours)["index.db"].parent.parent / "runs.db").close()
    with instance_of(ours) as instance:
        assert dg.materialize([an_asset], instance=instance).success
        assert instance.get_runs_count() == 1


def test_dagster_creates_the_file_of_schedules(both):
    _, ours = both
    with dg.DagsterInstance.from_config(str(ours)) as instance:
        assert instance.schedule_storage.all_instigator_state() == []
    assert "schedules.db" in files_in(ours)


def test_runs_that_ended_long_ago_are_forgotten(tmp_path, monkeypatch):
    """With their events and their file; runs under way and younger ones stay."""
    with instance_of(tmp_path) as instance:
        old, young, under_way = (
            dg.DagsterRun(job_name="synchronize", run_id=str(uuid4()), status=status)
            for status in (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.STARTED)
        )
        long_ago = datetime.now(UTC) - timedelta(days=91)
        for run, at in ((old, long_ago), (young, datetime.now(UTC)), (under_way, long_ago)):
            instance.add_run(run)
            instance.report_engine_event("done", run)
            with instance.run_storage.connect() as connection:
                statement = sa.text("UPDATE runs SET create_timestamp = :at WHERE run_id = :run")
                connection.execute(statement, {"at": at.replace(tzinfo=None).isoformat(" "), "run": run.run_id})
        assert forget(instance) == 1
        assert {run.run_id for run in instance.get_runs()} == {young.run_id, under_way.run_id}
        files = {path.name for path in (tmp_path / "history" / "runs").glob("*.db*")}
        assert not [name for name in files if name.startswith(old.run_id)]
        monkeypatch.setenv("FUNDAMENTALS_KEEP_RUNS", "never")
        with pytest.raises(SettingError, match="expected days, 1 or more"):
            forget(instance)
