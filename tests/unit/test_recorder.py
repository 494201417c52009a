"""Dagster's record of the commands: each asset and check, the errors of steps, and how long records are kept."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import dagster as dg
import pytest
import sqlalchemy as sa

from pipelines import stages
from pipelines.dagster_app.asset_specs import BUILD, key_of
from pipelines.dagster_app.recorder import run_recorded
from pipelines.dagster_app.retention import forget
from pipelines.edgar.errors import SourceError
from pipelines.errors import PipelineError
from pipelines.run.plan import STEPS
from pipelines.settings import SettingError
from pipelines.storage.home import Home, HomeError
from tests.dagster_records import opened
from tests.mirrors import ALFA, BRAVO
from warehouse.build import publish
from warehouse.contract import views

TABLES = [key_of(table) for table in views.PUBLISHED]
FEW, NONE_IS_LOST = (
    dg.AssetCheckKey(dg.AssetKey("tables"), name) for name in ("few_are_quarantined", "no_company_is_lost")
)
ASSETS = [*(dg.AssetKey(step.name) for step in STEPS), *TABLES]


def materialized(home: Home) -> dict[dg.AssetKey, tuple[int, dg.AssetMaterialization]]:
    """The last materialization of each asset, with its number in the record."""
    with opened(home) as instance:
        records = instance.get_asset_records(ASSETS)
    entries = [(record.asset_entry.asset_key, record.asset_entry.last_materialization_record) for record in records]
    return {
        key: (made.storage_id, made.event_log_entry.asset_materialization)
        for key, made in entries
        if made and made.event_log_entry.asset_materialization
    }


def observations(home: Home, step: str) -> list[dg.AssetObservation | None]:
    with opened(home) as instance:
        found = instance.fetch_observations(dg.AssetKey(step), limit=9).records
    return [each.event_log_entry.asset_observation for each in found]


def test_published_tables_are_recorded_with_a_new_build_only(synchronized, same_mirror):
    """Each with its rows and a version of its data; the steps in any case."""
    first = materialized(synchronized)
    assert set(first) == set(ASSETS)
    pointer = publish.current(synchronized.published)
    for name, rows in pointer.rows.items():
        assert first[dg.AssetKey(["warehouse", name])][1].metadata["dagster/row_count"].value == rows
    for name in ("facts", "values", "versions", "tables", "warehouse"):
        assert first[dg.AssetKey(name)][1].tags["dagster/data_version"]
        assert first[dg.AssetKey(name)][1].metadata["seconds"].value >= 0

    run_recorded(synchronized, str(same_mirror.folder))
    second = materialized(synchronized)
    assert {key for key in ASSETS if second[key] == first[key]} == set(TABLES)
    assert all(second[key][1].tags == first[key][1].tags for key in (BUILD, dg.AssetKey("values")))


def test_the_log_of_a_step_is_beside_its_asset(synchronized, same_mirror):
    same_mirror.facts(BRAVO).write_text("{")
    run_recorded(synchronized, str(same_mirror.folder))
    logs = [made.metadata.get("log") for _, made in materialized(synchronized).values()]
    told = "\n".join(str(log.value) for log in logs if log)
    assert f"WARNING 1 companies are in quarantine and keep their values:\nCIK {BRAVO.cik}: " in told
    assert "changed 1, failed 0" in told


def test_an_error_of_a_step_is_an_observation_of_its_asset(synchronized, same_mirror, monkeypatch):
    """No asset is shown as failed: the build is whole."""

    def failing(*_: object) -> None:
        raise SourceError("does not answer")

    before = materialized(synchronized)
    monkeypatch.setattr(stages.facts, "update", failing)
    with pytest.raises(SourceError):
        run_recorded(synchronized, str(same_mirror.folder))
    assert [each.description for each in observations(synchronized, "facts")] == ["failed: does not answer"]
    after = materialized(synchronized)
    assert {key.to_user_string() for key in ASSETS if after[key] != before[key]} == {"documents"}
    with opened(synchronized) as instance:
        assert instance.get_runs() == []


@pytest.mark.parametrize("mistyped", [{"source": "/nope"}, {"symbols": "NOPE,ALSO"}], ids=["source", "symbols"])
def test_a_mistyped_command_leaves_the_record_as_it_is(synchronized, same_mirror, mistyped):
    """The command did nothing, and the user has read the reason."""
    before = materialized(synchronized)
    with pytest.raises(PipelineError):
        run_recorded(synchronized, **({"source": str(same_mirror.folder)} | mistyped))
    with synchronized.writing(), pytest.raises(HomeError, match="another synchronization is running"):
        run_recorded(synchronized, str(same_mirror.folder))
    assert materialized(synchronized) == before
    assert observations(synchronized, "documents") == []


def test_a_condition_that_holds_back_publishing_is_a_failed_check(synchronized, same_mirror):
    for filer in (ALFA, BRAVO):
        same_mirror.facts(filer).write_text("{")
    before = materialized(synchronized)
    assert run_recorded(synchronized, str(same_mirror.folder)).held_back_by
    with opened(synchronized) as instance:
        summaries = instance.event_log_storage.get_asset_check_summary_records([FEW, NONE_IS_LOST])
    passed = {key: summary.last_check_execution_record.evaluation.passed for key, summary in summaries.items()}
    assert passed == {FEW: False, NONE_IS_LOST: True}
    assert materialized(synchronized)[BUILD] == before[BUILD]


def set_back(instance: dg.DagsterInstance, run: dg.DagsterRun, days: int) -> None:
    """Let a run have been created so many days ago."""
    with instance.run_storage.connect() as connection:
        statement = sa.text("UPDATE runs SET create_timestamp = :at WHERE run_id = :run")
        connection.execute(statement, {"at": ago(days), "run": run.run_id})


def ago(days: int) -> str:
    """A time as the record has it."""
    return (datetime.now(UTC) - timedelta(days=days)).replace(tzinfo=None).isoformat(" ")


def test_runs_and_events_that_are_old_are_forgotten(synchronized, monkeypatch):
    """Runs with their events and their file; current and recent runs stay, and so do the last shown events."""
    shown = materialized(synchronized)
    with opened(synchronized) as instance:
        old, young, under_way = (
            dg.DagsterRun(job_name="synchronize", run_id=str(uuid4()), status=status)
            for status in (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.STARTED)
        )
        for run, days in ((old, 91), (young, 0), (under_way, 91)):
            instance.add_run(run)
            instance.report_engine_event("done", run)
            set_back(instance, run, days)
        with instance.event_log_storage.index_connection() as connection:
            last = connection.scalar(sa.text("SELECT max(id) FROM event_logs WHERE run_id = ''"))
            early = sa.text("UPDATE event_logs SET timestamp = :at WHERE run_id = '' AND id < :last")
            connection.execute(early, {"at": ago(91), "last": last})

        assert forget(instance) == 1
        assert {run.run_id for run in instance.get_runs()} == {young.run_id, under_way.run_id}
        with instance.event_log_storage.index_connection() as connection:
            left = connection.execute(sa.text("SELECT id FROM event_logs WHERE run_id = ''"))
            assert left.scalars().all() == [last]
        files = {path.name for path in (synchronized.dagster / "history" / "runs").glob("*.db*")}
        assert not [name for name in files if name.startswith(old.run_id)]
        monkeypatch.setenv("FUNDAMENTALS_KEEP_RUNS", "never")
        with pytest.raises(SettingError, match="expected days, 1 or more"):
            forget(instance)
    assert materialized(synchronized) == shown
