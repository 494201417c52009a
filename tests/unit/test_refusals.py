"""Runs that Dagster starts and that are refused or fail: the state of their assets in the UI, and the place of the
reason.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster_graphql.cli import execute_query
from msgspec.structs import replace

from pipelines import stages
from pipelines.dagster_app import definitions
from pipelines.edgar.errors import SourceError
from pipelines.storage.home import Home
from tests.dagster_records import opened, run_by_dagster
from warehouse.build import publish, seal

CHECKS = """{ assetNodes { assetKey { path } assetChecksOrError { ... on AssetChecks { checks {
    name executionForLatestMaterialization { status runId } } } } } }"""
LATEST = """query ($keys: [AssetKeyInput!]!) { assetsLatestInfo(assetKeys: $keys) {
    assetKey { path } latestRun { runId status } latestMaterialization { runId } inProgressRunIds } }"""
LOG = """query ($run: ID!) { runOrError(runId: $run) { ... on Run { status } }
    logsForRun(runId: $run) { ... on EventConnection { events { ... on MessageEvent { message } } } } }"""
pytestmark = pytest.mark.filterwarnings("ignore:Property .ScheduleDefinition.environment_vars:DeprecationWarning")
"""Dagster reads a property of its own that is deprecated."""
State = dict[str, dict[str, Any]]


@contextmanager
def ui(home: Home) -> Iterator[Callable[..., Any]]:
    """Sends the queries of the pages of the Dagster UI."""
    code = LoadableTargetOrigin(module_name=definitions.__name__)
    target = InProcessWorkspaceLoadTarget(InProcessCodeLocationOrigin(code, location_name="code"))
    with opened(home) as instance, WorkspaceProcessContext(instance, target) as context:
        yield lambda query, **variables: execute_query(context, query, variables)["data"]


def shown(home: Home) -> State:
    """The latest run and materialization of each asset, and the last evaluation of each of its checks."""
    with ui(home) as ask:
        nodes = ask(CHECKS)["assetNodes"]
        latest = ask(LATEST, keys=[node["assetKey"] for node in nodes])["assetsLatestInfo"]
    checks = {"/".join(node["assetKey"]["path"]): node["assetChecksOrError"]["checks"] for node in nodes}
    names = ["/".join(each["assetKey"]["path"]) for each in latest]
    return {name: {**each, "checks": checks[name]} for name, each in zip(names, latest, strict=True)}


def ended(home: Home, **config: Any) -> tuple[str, list[str]]:
    """Run the job as Dagster's daemon does; the status of the run, and its log."""
    run_id = run_by_dagster(home, **config).run_id
    with ui(home) as ask:
        told = ask(LOG, run=run_id)
    return told["runOrError"]["status"], [event["message"] for event in told["logsForRun"]["events"]]


def write_by_a_newer_release(home: Home) -> None:
    newer = seal.encoded(replace(publish.current(home.published), release="7.0.1"))
    (home.published / "CURRENT.json").write_bytes(newer)


@pytest.mark.parametrize(
    ("config", "settings", "reason"),
    [
        ({"source": "live"}, {}, "source live needs EDGAR_USER_AGENT; set it to your name"),
        ({"source": "/nope"}, {}, "/nope is not a directory"),
        ({"symbols": "ZZZZ"}, {}, "no such symbol in the SEC's list of 3: ZZZZ"),
        ({}, {"FUNDAMENTALS_FILINGS": "nonsense"}, "FUNDAMENTALS_FILINGS is 'nonsense'"),
        ({}, {"FUNDAMENTALS_KEEP_RUNS": "none"}, "FUNDAMENTALS_KEEP_RUNS is 'none'"),
        ({}, {"write": write_by_a_newer_release}, "release 7.0.1 wrote"),
    ],
    ids=["user agent", "source", "symbol", "filings", "history", "release"],
)
def test_a_refused_run_leaves_assets_and_checks_as_they_are(
    synchronized, same_mirror, monkeypatch, config, settings, reason
):
    """Its log says in one line why it was refused, and the run list that it was canceled."""
    monkeypatch.delenv("EDGAR_USER_AGENT", raising=False)
    before = shown(synchronized)
    assert "SUCCEEDED" in str(before["documents"]["checks"])
    for name, value in settings.items():
        if callable(value):
            value(synchronized)
        else:
            monkeypatch.setenv(name, value)
    status, log = ended(synchronized, **{"source": str(same_mirror.folder)} | config)
    assert status == "CANCELED"
    assert [line for line in log if line.startswith(f"refused: {reason}")]
    monkeypatch.delenv("FUNDAMENTALS_FILINGS", raising=False)
    assert shown(synchronized) == before


def test_a_failed_run_leaves_what_it_had_not_begun_as_it_was(synchronized, same_mirror, monkeypatch):
    """Only the asset of the step that failed is shown as failed."""

    def failing(*_: Any) -> Any:
        raise SourceError("does not answer")

    before = shown(synchronized)
    monkeypatch.setattr(stages.facts, "update", failing)
    assert ended(synchronized, source=str(same_mirror.folder))[0] == "FAILURE"
    after = shown(synchronized)
    assert after["facts"]["latestRun"]["status"] == "FAILURE"
    assert after["facts"]["latestMaterialization"] == before["facts"]["latestMaterialization"]
    assert after["documents"]["latestMaterialization"] != before["documents"]["latestMaterialization"]
    assert {name for name in after if after[name] != before[name]} == {"documents", "facts"}
