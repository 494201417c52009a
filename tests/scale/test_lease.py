"""The lease on a real store: one holder at a time, and a holder that was silent cannot commit; and the versions of
code.
"""

import json
import os
import shutil
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.decode.newest import NewFiling
from pipelines.fake_sec.server import Reply, running_server
from pipelines.health import several_machines
from pipelines.release import RELEASE
from pipelines.run.filing_queue import FILE, Queue, Waiting
from pipelines.run.heartbeat import HeartbeatWriter
from pipelines.run.synchronization import Synchronization
from pipelines.settings import SettingError
from pipelines.shared import code_in_force, lease
from pipelines.shared.code_in_force import CodeError, in_force, version
from pipelines.shared.lease import LeaseError, leased
from pipelines.shared.shared_home import WorkingCopy, of_home
from pipelines.stages.batch.schemas import LISTINGS
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from serve.app import PATHS
from serve.metrics import families
from serve.metrics.counts import Counts
from serve.metrics.exposition import Collector
from tests.scale.objects import Objects
from tests.scale.test_store import answering_twice
from tests.servers import away
from warehouse.build import seal
from warehouse.build.pointer import Pointer
from warehouse.build.pointer import Synchronization as Synchronized
from warehouse.contract.findings import WARNING, WELL
from warehouse.record import follower
from warehouse.record.follower import Heartbeat
from warehouse.shared.store import ONCE, QUEUE, StoreConflict, opened

SECONDS = 3


@pytest.fixture
def copy(objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkingCopy:
    """A working copy of a store of its own, which has something committed."""
    for name, value in objects.access.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FUNDAMENTALS_STORE", objects.address(tmp_path.name))
    monkeypatch.setenv("FUNDAMENTALS_LEASE", str(SECONDS))
    home = Home(tmp_path / "home")
    home.prepare()
    (home.tables / "first").write_text("1")
    made = of_home(home)
    assert made
    made.commit("first")
    return made


def test_a_second_one_is_told_who_holds_the_lease(copy):
    """It ends as soon as it has seen that the holder lives, or waits until the holder has ended."""
    with leased(copy.store):
        with pytest.raises(LeaseError, match=r"held by process \d+.* since 20.*is running"), leased(copy.store):
            pass
        ended = threading.Event()
        told: list[str] = []

        def wait() -> None:
            with leased(copy.store, told.append):
                ended.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(2 * SECONDS)
        assert not ended.is_set(), "a holder that lives keeps it for as long as it wants"
    waiting.join()
    assert ended.is_set()
    assert copy.store.lease()[0].number == 2


def test_a_holder_that_was_silent_cannot_commit_when_it_wakes_up(copy):
    """Neither before nor after the process that took over has committed."""
    silent = lease._taken(copy.store, None)
    copy.lease, before = silent, copy.held
    with leased(copy.store) as held:
        assert held.number == 2
        (copy.root / "tables" / "late").write_text("2")
        with pytest.raises(StoreConflict, match="the lease was taken by process"):
            copy.commit("late")
        copy.lease, copy.held = None, before  # as if it had asked before it was frozen
        with pytest.raises(StoreConflict, match="while this one was running"):
            copy.commit("late")
    head = copy.store.head()
    assert head
    assert (head.head.run, head.head.lease) == ("first", 2)
    assert "tables/late" not in head.head.files


def test_a_renewal_whose_answer_was_lost_loses_nothing(copy, monkeypatch):
    """The attempt after it finds the lease as this holder has written it."""
    held = lease._taken(copy.store, None)
    monkeypatch.setattr(copy.store, "_objects", answering_twice(copy.store))
    held.renew()
    monkeypatch.undo()
    held.renew()
    assert copy.store.lease()[0].renewed == 2


def test_a_holder_renews_its_lease_and_gives_it_up(copy):
    with leased(copy.store):
        time.sleep(SECONDS)
        assert copy.store.lease()[0].renewed >= 2
    assert copy.store.lease()[0].holder == ""


def test_who_waits_for_a_silent_holder_says_so_after_some_seconds(copy, monkeypatch, capsys):
    monkeypatch.setattr(lease, "AFTER", 1.0)
    lease._taken(copy.store, None)
    with leased(copy.store):
        pass
    assert "is held by process" in capsys.readouterr().err


@pytest.mark.parametrize("setting", ["2", "soon", "-5", "1.5"])
def test_a_wrong_duration_is_an_error(setting, monkeypatch):
    monkeypatch.setenv("FUNDAMENTALS_LEASE", setting)
    with pytest.raises(SettingError, match="expected seconds, 3 or more"):
        lease.seconds()


def test_code_that_was_in_force_before_is_refused_unless_it_is_named(monkeypatch):
    monkeypatch.setattr(code_in_force, "code_digest", lambda: "b" * 64)
    mine = f"{RELEASE}-{'b' * 12}"
    assert in_force(()) == (mine,)
    assert in_force(("a", mine)) == ("a", mine)
    assert in_force(("a",)) == ("a", mine)
    with pytest.raises(CodeError, match=rf"older than .* set FUNDAMENTALS_LEAD={mine}"):
        in_force((mine, "c"))
    monkeypatch.setenv("FUNDAMENTALS_LEAD", mine)
    assert in_force((mine, "c")) == ("c", mine)


@pytest.mark.parametrize("newest", ["0.1.10-aaa", "0.2.0-aaa", "1.0.0-aaa"])
def test_code_of_an_older_release_is_refused_although_it_has_never_written_the_store(newest, monkeypatch):
    """Releases are ordered by their numbers; versions recorded before releases existed are older than all."""
    with pytest.raises(CodeError, match=rf"are older than .* \({newest}\).*FUNDAMENTALS_LEAD={version()}"):
        in_force(("0.0.9-bbb", newest))
    assert in_force((newest, "0.0.9-bbb")) == (newest, "0.0.9-bbb", version())
    assert in_force(("3f2a9c",)) == ("3f2a9c", version())
    monkeypatch.setenv("FUNDAMENTALS_LEAD", version())
    assert in_force((newest,)) == (newest, version())


def test_unknown_code_of_the_release_that_wrote_the_store_does_not_lead_unless_it_is_named(copy, tmp_path, monkeypatch):
    """It ends with one line, before anything is written, and a metric of all replicas has its version."""

    def refused() -> dict[str, float]:
        found = [sample for metric in replica.collect() for sample in metric.samples]
        return {each.labels["code"]: each.value for each in found if each.name == families.REFUSED}

    monkeypatch.setenv("FUNDAMENTALS_HOME", str(copy.root))
    replica = Collector(
        tmp_path / "replica" / "published", [Counts(PATHS)], time.time, opened(copy.store.address, ONCE)
    )
    in_store = f"{RELEASE}-{'a' * 12}"
    copy.codes = (in_store,)
    copy.commit("newer")
    assert refused() == {}
    line = rf"^code and rules of this machine \({version()}\) may be older than .* \({in_store}\): update this machine"
    with pytest.raises(CodeError, match=line), Synchronization(Home(copy.root)).running():
        pass
    assert copy.is_current()
    [(code, age)] = refused().items()
    assert (code, age >= 0) == (version(), True)
    monkeypatch.setenv("FUNDAMENTALS_LEAD", version())
    with Synchronization(Home(copy.root)).running() as leading:
        assert leading.copy
        leading.copy.commit("named")
    monkeypatch.delenv("FUNDAMENTALS_LEAD")
    with Synchronization(Home(copy.root)).running() as again:
        assert again.copy
        assert again.copy.codes == (in_store, version())


def test_the_digests_of_code_stay_in_head(copy):
    copy.codes = ("a", "b")
    copy.commit("second")
    copy.codes = None
    copy.commit("third")
    head = copy.store.head()
    assert head
    assert head.head.codes == ("a", "b")


def test_the_sensor_asks_for_companies_of_the_list_in_the_store(copy, tmp_path, monkeypatch):
    """Its own home has no tables and no build; while a run is under way, it asks the SEC nothing."""
    # imported here, because the other tests of this folder do not need Dagster, which takes seconds
    import dagster as dg

    from pipelines.edgar.answers import facts_url, submissions_url
    from pipelines.edgar.decode.newest import newest_url
    from tests.unit import test_newest as newest

    rows = [dict.fromkeys(LISTINGS.names()) | {"cik": "0000000101", "symbol": "ALFA", "is_listed": True}]
    Lake(copy.root / "tables").write("listings", pl.DataFrame(rows, schema=LISTINGS))
    at = datetime.now(UTC).isoformat()
    synchronization = Synchronized("1", at, at, "live")
    pointer = Pointer("1", "warehouse-1.duckdb", "", {}, at, "", None, 1, synchronization, "synchronized-1.json")
    (copy.root / "published" / "CURRENT.json").write_bytes(seal.encoded(pointer))
    (copy.root / "published" / "synchronized-1.json").write_text(json.dumps({"0000000101": at}))
    copy.commit("published")
    with running_server() as server, dg.DagsterInstance.ephemeral() as instance:
        server.otherwise = Reply(body=newest.feed())
        named = newest.feed(newest.entry(101, updated=at), newest.entry(102, updated=at))
        server.on(newest_url("10-", 0), Reply(body=named))
        for url in (facts_url("0000000101"), submissions_url("0000000101")):
            server.on(url, Reply(body=b"0000000101-26-000001"))
        monkeypatch.setenv("EDGAR_USER_AGENT", "Example mail@example.org")
        monkeypatch.setenv("EDGAR_BASE_URL", server.url)
        monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "daemon"))
        with leased(copy.store):
            skipped = newest.evaluate(instance)
            assert "another synchronization is running" in skipped.skip_message
            assert not server.asked
        assert newest.evaluate(instance).run_config == {"source": "live", "symbols": "ALFA", "newest": True}
    sign = follower.decoded(copy.store.note(follower.OBJECT))
    assert sign
    assert (sign.waiting, sign.feed_read_at is None) == (1, False), "nobody serves the report of the other company"


def test_the_doctor_knows_who_leads_a_run_and_whether_it_lives(copy):
    def found() -> list[tuple[int, str]]:
        return [(each.state, each.text) for each in several_machines.check_lease(Home(copy.root))]

    assert found() == [(WELL, "nobody leads a run")]
    with leased(copy.store):
        [(state, text)] = found()
        assert (state, text.startswith(f"process {os.getpid()} of ")) == (WELL, True)
    lease._taken(copy.store, None)  # as by a process that is killed
    [(state, text)] = found()
    assert (state, text.endswith(", and gives no sign of life")) == (WARNING, True)


def test_a_replica_measures_how_far_it_is_behind_and_who_leads(copy, objects, tmp_path):
    def measured() -> dict[str, float]:
        return {sample.name: sample.value for metric in collector.collect() for sample in metric.samples}

    published = tmp_path / "replica" / "published"
    collector = Collector(published, [Counts(PATHS)], time.time, opened(copy.store.address, ONCE))
    published.mkdir(parents=True)
    (copy.root / "published" / "CURRENT.json").write_text("{}")
    copy.commit("second")
    behind = measured()
    assert behind["fundamentals_replica_lag_seconds"] > 0
    assert (behind["fundamentals_lease_seconds"], behind["fundamentals_store_answers"]) == (0, 1)
    shutil.copy(copy.root / "published" / "CURRENT.json", published)
    with leased(copy.store):
        time.sleep(1.1)
        followed = measured()
    assert (followed["fundamentals_replica_lag_seconds"], followed["fundamentals_lease_seconds"] > 0) == (0, True)
    assert "fundamentals_waiting_reports" not in followed
    lease._taken(copy.store, None)  # as by a process that is killed
    assert measured()["fundamentals_lease_seconds"] > 0
    time.sleep(SECONDS)
    assert measured()["fundamentals_lease_seconds"] == 0
    (tmp_path / "other").mkdir()
    HeartbeatWriter(Home(tmp_path / "other")).give(Heartbeat(datetime.now(UTC), waiting=3))
    assert measured()["fundamentals_waiting_reports"] == 3
    with away(objects.stop, objects.start):
        alone = measured()
    assert alone["fundamentals_store_answers"] == 0
    assert "fundamentals_replica_lag_seconds" not in alone


def test_whoever_leads_next_has_the_reports_that_wait(copy, tmp_path):
    """The queue is in the store: no report is lost with a machine, and an old file of the queue does not count."""
    here, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    at = datetime(2026, 8, 4, 16, tzinfo=UTC)
    filing = NewFiling("0000000101", "10-Q", "0000000101-26-000001", at, "2026-08-04")
    before, queue = Queue(at), Queue(at, [filing.key], [Waiting(filing, due_at=at)])
    before.save(here)
    (elsewhere / FILE).write_bytes((here / FILE).read_bytes())
    queue.save(here)
    shutil.rmtree(here)
    assert Queue.of(elsewhere) == queue
    queue.save(elsewhere)
    assert copy.store.note(QUEUE) == (elsewhere / FILE).read_bytes()
