"""Shared parts of the assets: the run configuration, and a home that is locked during the run."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest

from pipelines.dagster_app.resources import running_synchronization
from pipelines.edgar.errors import SourceError
from pipelines.run.synchronization import Synchronization
from pipelines.stages.documents import Selection
from pipelines.storage.home import Home, HomeError


@pytest.fixture
def home(tmp_path, monkeypatch) -> Home:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home")


@contextmanager
def running(**config: Any) -> Iterator[Synchronization]:
    made = {"synchronization": running_synchronization({})}
    with dg.build_resources(made, resource_config={"synchronization": {"config": config}}) as resources:
        yield resources.synchronization


def test_the_home_is_locked_during_a_run(home):
    before = datetime.now(UTC)
    with running() as synchronization:
        assert before <= synchronization.started_at <= datetime.now(UTC)
        assert synchronization.sync_id == f"{synchronization.started_at:%Y%m%dT%H%M%S%fZ}"
        assert (synchronization.lake.folder, synchronization.store.root) == (home.tables, home.root / "raw")
        with pytest.raises(dg.DagsterError) as refused, running():
            pass
    assert isinstance(refused.value.__cause__, HomeError)
    assert "another synchronization is running" in str(refused.value.__cause__)
    with running() as later:
        assert later.sync_id > synchronization.sync_id


@pytest.mark.parametrize(
    ("symbols", "asked"),
    [("", ()), (" , ", ()), ("AAA", ("AAA",)), (" aaa, Brk-b ,,", ("AAA", "BRK-B"))],
)
def test_symbols_are_normalized(symbols, asked):
    assert Synchronization(Home.from_environment(), symbols=symbols, full=True).asked == Selection(asked, full=True)


def test_live_takes_its_settings_from_the_environment(home, monkeypatch):
    with running(source="live") as synchronization:
        with pytest.raises(SourceError, match="EDGAR_USER_AGENT"):
            synchronization.open()
        monkeypatch.setenv("EDGAR_USER_AGENT", "Name mail@example.org")
        monkeypatch.setenv("EDGAR_BASE_URL", "nonsense")
        with pytest.raises(SourceError, match="EDGAR_BASE_URL is 'nonsense'"):
            synchronization.open()
