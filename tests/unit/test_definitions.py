"""Dagster's definitions, and the job run in this process."""

import dagster as dg
import pytest

from pipelines import definitions, stages
from pipelines.definitions import JOB, build_definitions, run_job
from pipelines.errors import PipelineError
from pipelines.home import Home
from pipelines.stages import UnknownSymbolError
from tests.mirrors import ABSENT, ALFA, BRAVO, Mirror
from warehouse import publish


@pytest.fixture
def home(tmp_path, monkeypatch) -> Home:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    made = Home(tmp_path / "home")
    made.prepare()
    return made


@pytest.fixture
def mirror(tmp_path) -> Mirror:
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, ABSENT)


def test_everything_loads_and_is_one_job():
    loaded = definitions.definitions
    dg.Definitions.validate_loadable(loaded)
    job = loaded.resolve_job_def(JOB)
    order = [
        name
        for name in job.graph.node_dict
        if not name.startswith(("financials_", "documents_")) and name != "quality_of_values"
    ]
    assert set(order) == {asset.key.to_user_string() for asset in definitions.ASSETS}
    assert loaded.resolve_schedule_def(f"{JOB}_schedule").cron_schedule == "0 6 * * *"


def test_the_assets_are_in_the_order_of_the_flow():
    keys = [asset.key for asset in definitions.ASSETS]
    for number, asset in enumerate(definitions.ASSETS):
        assert asset.dependency_keys == set(keys[max(number - 1, 0) : number])
        assert asset.descriptions_by_key[asset.key]


def test_the_environment_gives_the_launchpad_its_defaults():
    def defaults(environment: dict[str, str]) -> tuple[str, str, bool]:
        resource = build_definitions(environment).resources["synchronization"]
        return resource.source, resource.symbols, resource.full

    assert defaults({}) == ("sample", "", False)
    assert defaults({"FUNDAMENTALS_SOURCE": "live", "FUNDAMENTALS_SYMBOLS": "A,B"}) == ("live", "A,B", False)


def test_a_run_returns_the_counts_of_its_assets(home, mirror):
    outcome = run_job(home, str(mirror.folder))
    assert outcome.held_back_by == []
    wanted = {"seen": 3, "with_documents": 2, "changed": 2, "quarantined": 0, "covered": 2, "published": 1}
    assert {name: outcome.counts[name] for name in wanted} == wanted
    again = run_job(home, str(mirror.folder), "alfa", full=True)
    wanted = {"seen": 1, "changed": 0, "decoded": 1, "standardized": 1, "covered": 2, "published": 0}
    assert {name: again.counts[name] for name in wanted} == wanted


def test_a_check_that_fails_holds_back_publishing(synchronized, same_mirror):
    before = publish.current(synchronized.published)
    for filer in (ALFA, BRAVO):
        same_mirror.facts(filer).write_text("{")
    outcome = run_job(synchronized, str(same_mirror.folder))
    assert outcome.held_back_by == [
        "few_are_quarantined: 2 of 2 companies with documents are quarantined",
    ]
    assert "published" not in outcome.counts
    assert publish.current(synchronized.published) == before


def test_failures_are_raised_unchanged(home, mirror, monkeypatch):
    with pytest.raises(UnknownSymbolError, match="ZZZZ"):  # in an asset
        run_job(home, str(mirror.folder), "ZZZZ")
    with home.writing(), pytest.raises(PipelineError, match="another synchronization"):  # in the resource
        run_job(home, str(mirror.folder))

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(stages, "update_facts", broken)
    with pytest.raises(ZeroDivisionError):  # a programming error is not converted
        run_job(home, str(mirror.folder))


def test_failures_of_dagster_are_raised_too(home):
    """A run that cannot start, because its configuration is invalid."""
    with pytest.raises(dg.DagsterInvalidConfigError):
        run_job(home, 1)  # type: ignore[arg-type]
