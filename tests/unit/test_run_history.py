"""The record of runs, written with open connections: its files are the same as Dagster's own."""

import sqlite3
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from pipelines.run_history import instance_of


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
