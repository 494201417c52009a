"""Dagster's definitions, and the results and errors of the commands and the job."""

import os
import time
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
from msgspec.structs import replace

from pipelines import stages
from pipelines.dagster_app import definitions
from pipelines.dagster_app.asset_specs import BUILD, OF_FILINGS, OWNERS, UPSTREAM, WAREHOUSE, key_of
from pipelines.dagster_app.assets import assets
from pipelines.dagster_app.checks import blocking
from pipelines.dagster_app.definitions import JOB, build_definitions
from pipelines.dagster_app.recorder import run_recorded
from pipelines.dagster_app.resources import settings
from pipelines.edgar.errors import SourceError
from pipelines.errors import PipelineError
from pipelines.release import RELEASE
from pipelines.run.plan import STEPS
from pipelines.shared.code_in_force import CodeError
from pipelines.stages.documents import UnknownSymbolError
from pipelines.storage.home import Home
from tests.dagster_records import opened
from tests.mirrors import ABSENT, ALFA, BRAVO, Mirror
from warehouse.build import publish, runs, seal
from warehouse.contract import schema, views


@pytest.fixture
def home(tmp_path, monkeypatch) -> Home:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    made = Home(tmp_path / "home")
    made.prepare()
    return made


@pytest.fixture
def mirror(tmp_path) -> Mirror:
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, ABSENT)


def test_every_group_of_assets_has_owners():
    graph = build_definitions({}).resolve_asset_graph()
    assert {graph.get(key).group_name for key in graph.get_all_asset_keys()} == OWNERS.keys()
    assert all(graph.get(key).owners == OWNERS[str(graph.get(key).group_name)] for key in graph.get_all_asset_keys())


def test_a_quality_check_is_executed_alone(synchronized):
    """As the UI does it, without a synchronization: nothing else is materialized or checked."""
    wanted = dg.AssetCheckKey(key_of(schema.BY_NAME["financials"]), "cash_is_within_assets")
    before = (synchronized.published / "CURRENT.json").read_bytes()
    job = (
        build_definitions({})
        .resolve_implicit_global_asset_job_def()
        .get_subset(asset_check_selection={wanted}, asset_selection=set())
    )
    with opened(synchronized) as instance:
        done = job.execute_in_process(instance=instance)
    assert [each.asset_check_key for each in done.get_asset_check_evaluations()] == [wanted]
    assert done.get_asset_materialization_events() == []
    assert (synchronized.published / "CURRENT.json").read_bytes() == before


def test_a_home_that_a_newer_release_wrote_is_refused_with_what_to_do(synchronized, mirror):
    """Nothing of it is changed."""
    pointer = publish.current(synchronized.published)
    assert pointer.release == RELEASE
    newer = seal.encoded(replace(pointer, release="7.0.1"))
    (synchronized.published / "CURRENT.json").write_bytes(newer)
    with pytest.raises(CodeError, match=r"^release 7\.0\.1 wrote .* check out v7\.0\.1 again, or restore the backup"):
        run_recorded(synchronized, str(mirror.folder))
    assert (synchronized.published / "CURRENT.json").read_bytes() == newer


def test_everything_loads_and_is_one_job():
    loaded = definitions.definitions
    dg.Definitions.validate_loadable(loaded)
    job = loaded.resolve_job_def(JOB)
    checks = {f"{key.asset_key.to_user_string()}_{key.name}" for check in blocking(STEPS) for key in check.check_keys}
    steps = {asset.node_def.name for asset in assets(STEPS)}
    assert set(job.graph.node_dict) == steps | checks | {"quality_of_values"}
    assert loaded.resolve_schedule_def(f"{JOB}_schedule").cron_schedule == "0 6 * * *"


def test_without_filings_there_is_no_step_of_them():
    """Nor are there assets for the SEC's documents that only this step reads."""
    loaded = definitions.build_definitions({"FUNDAMENTALS_FILINGS": "off"})
    assert "quality_report" in loaded.resolve_job_def(JOB).graph.node_dict
    keys = {key.to_user_string() for key in loaded.resolve_asset_graph().get_all_asset_keys()}
    assert not keys & {"first_build", "filings", "statements", *(f"sec/{name}" for name, *_ in OF_FILINGS)}


def test_the_assets_are_in_the_order_of_the_flow():
    """From the SEC's documents to the published tables and the HTTP interface; each asset has a description."""
    graph = definitions.definitions.resolve_asset_graph()
    sources, of_filings = ([dg.AssetKey(["sec", name]) for name, *_ in each] for each in (UPSTREAM, OF_FILINGS))
    steps = ["documents", "facts", "first_build", "filings", "statements", "values", "versions", "tables"]
    before = [set(sources), *({dg.AssetKey(name)} for name in steps)]
    before[steps.index("filings")] |= set(of_filings)
    tables = [key_of(table) for table in views.PUBLISHED]
    for name, parents in zip(steps, before, strict=False):
        assert graph.get(dg.AssetKey(name)).parent_keys == parents
    assert graph.get(BUILD).parent_keys == {dg.AssetKey("tables")}
    for table in views.PUBLISHED:
        assert graph.get(key_of(table)).parent_keys <= {*map(dg.AssetKey, steps), *tables}
    assert graph.get(key_of(schema.BY_NAME["versions"])).parent_keys == {dg.AssetKey("versions")}
    screened = {"companies", "financials", "versions", "breaks", "valuations"}
    assert {key.path[-1] for key in graph.get(key_of(views.VIEWS[0])).parent_keys} == screened
    assert graph.get(dg.AssetKey("quality_report")).parent_keys == {BUILD}
    assert graph.get(dg.AssetKey("http_interface")).parent_keys == {BUILD, *tables}
    assert all(node.description and node.kinds for node in graph.asset_nodes)
    assert str(graph.get(dg.AssetKey("facts")).metadata["code"].value).startswith("pipelines/run/steps.py:")
    outside = {node.key.to_user_string() for node in graph.asset_nodes if node.is_external}
    assert outside == {key.to_user_string() for key in (*sources, *of_filings)} | {"http_interface"}


@pytest.mark.parametrize("table", views.PUBLISHED, ids=lambda table: table.name)
def test_a_published_table_is_an_asset_with_its_columns(table):
    node = definitions.definitions.resolve_asset_graph().get(key_of(table))
    shown = node.metadata["dagster/column_schema"].columns
    assert [(column.name, column.type, column.description) for column in shown] == [
        (column.name, column.type, column.comment) for column in table.columns
    ]
    assert [column.constraints.nullable for column in shown] == [not column.required for column in table.columns]
    kind = "view" if table in views.VIEWS else "table"
    assert (node.description, node.owners, node.kinds) == (table.description, OWNERS[WAREHOUSE], {"duckdb", kind})


def test_a_run_that_dagster_launches_waits_for_the_home_and_asks_a_failing_source_again(home, mirror, monkeypatch):
    """The command says at once which process holds the home, and that the source failed."""
    monkeypatch.setattr("pipelines.dagster_app.assets.FIRST_WAIT", 0)
    asked: list[str] = []
    update = stages.documents.update_listings

    def failing_once(*given: Any) -> Any:
        asked.append("again")
        if len(asked) == 1:
            raise SourceError("does not answer", passes_in=0)
        return update(*given)

    monkeypatch.setattr(stages.documents, "update_listings", failing_once)
    with pytest.raises(SourceError, match="does not answer"):
        run_recorded(home, str(mirror.folder))
    asked.clear()
    job = build_definitions({}).resolve_job_def(JOB)
    with ExitStack() as held, opened(home) as instance:
        held.enter_context(home.writing())
        ends_meanwhile = SimpleNamespace(sleep=lambda _: held.close(), monotonic=time.monotonic)
        monkeypatch.setattr("pipelines.storage.home.time", ends_meanwhile)
        done = job.execute_in_process(run_config={"source": str(mirror.folder)}, instance=instance)
        assert done.success
        assert asked == ["again", "again"]
        told = [event.user_message for event in instance.all_logs(done.run_id) if not event.is_dagster_event]
        assert instance.get_run_by_id(done.run_id).tags["fundamentals/source"] == "mirror"
    assert any(f"another synchronization is running (process {os.getpid()}, since " in line for line in told)


@pytest.mark.parametrize("passes_in", [None, 3600])
def test_a_run_that_dagster_launches_ends_at_once_where_waiting_would_not_help(home, mirror, monkeypatch, passes_in):
    """A source that does not exist, or a source that asks to wait an hour: the queue would wait for it."""
    if passes_in is not None:

        def failing(*_: Any) -> Any:
            raise SourceError("asks to wait", passes_in=passes_in)

        monkeypatch.setattr(stages.documents, "update_listings", failing)
    source = mirror.folder if passes_in else "/nope"
    job = build_definitions({}).resolve_job_def(JOB)
    with opened(home) as instance:
        done = job.execute_in_process(run_config={"source": str(source)}, instance=instance, raise_on_error=False)
        assert not done.success
        kinds = [event.event_type for event in done.all_events]
    assert dg.DagsterEventType.STEP_UP_FOR_RETRY not in kinds


def test_the_environment_gives_the_launchpad_its_defaults():
    def defaults(environment: dict[str, str]) -> tuple[object, ...]:
        return tuple(field.default_value for field in settings(environment).values())[:3]

    assert defaults({}) == ("sample", "", False)
    assert defaults({"FUNDAMENTALS_SOURCE": "live", "FUNDAMENTALS_SYMBOLS": "A,B"}) == ("live", "A,B", False)


def test_a_run_returns_the_counts_of_its_assets(home, mirror):
    outcome = run_recorded(home, str(mirror.folder))
    assert outcome.held_back_by == []
    wanted = {"seen": 3, "with_documents": 2, "changed": 2, "quarantined": 0, "covered": 2, "published": 1}
    assert {name: outcome.counts[name] for name in wanted} == wanted
    again = run_recorded(home, str(mirror.folder), "alfa", full=True)
    wanted = {"seen": 1, "changed": 0, "decoded": 1, "standardized": 1, "covered": 2, "published": 0}
    assert {name: again.counts[name] for name in wanted} == wanted
    assert results(home) == {runs.PUBLISHED: 1, runs.UNCHANGED: 1}


def results(home: Home) -> dict[str, int]:
    """The number of synchronizations by result, as recorded in the folder of the builds."""
    return {result: run.number for result, run in runs.read(home.published).by_result.items()}


def test_a_check_that_fails_holds_back_publishing(synchronized, same_mirror):
    before = publish.current(synchronized.published)
    for filer in (ALFA, BRAVO):
        same_mirror.facts(filer).write_text("{")
    outcome = run_recorded(synchronized, str(same_mirror.folder))
    assert outcome.held_back_by == [
        "few_are_quarantined: 2 of 2 companies with documents are quarantined",
    ]
    assert "published" not in outcome.counts
    recorded = runs.read(synchronized.published)
    assert results(synchronized) == {runs.PUBLISHED: 1, runs.HELD_BACK: 1}
    assert (recorded.quarantined, recorded.failed) == (2, 0)
    assert publish.current(synchronized.published) == before


def test_failures_are_raised_unchanged(home, mirror, monkeypatch):
    with pytest.raises(UnknownSymbolError, match="ZZZZ"):  # in a step
        run_recorded(home, str(mirror.folder), "ZZZZ")
    with home.writing(), pytest.raises(PipelineError, match="another synchronization"):  # before the first step
        run_recorded(home, str(mirror.folder))

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(stages.facts, "update", broken)
    with pytest.raises(ZeroDivisionError):  # a programming error is not converted
        run_recorded(home, str(mirror.folder))
    assert results(home) == {runs.FAILED: 2}, "not the one that was told that another has the home"


@pytest.mark.parametrize(("setting", "is_on"), [("", False), ("on", True)])
def test_the_schedule_is_on_from_the_start_if_a_setting_says_so(setting, is_on):
    loaded = build_definitions({"FUNDAMENTALS_SCHEDULE": setting})
    status = loaded.resolve_schedule_def(f"{JOB}_schedule").default_status
    assert (status is dg.DefaultScheduleStatus.RUNNING) == is_on
