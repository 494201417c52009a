"""Replicas that follow a store: from an empty home, under load, while the store is away, and with damaged objects."""

import contextlib
import itertools
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipelines.run.synchronization import Synchronization
from pipelines.shared.shared_home import WorkingCopy
from pipelines.storage.home import Home
from serve.app import PATHS as COUNTED
from serve.errors import CommandError
from serve.metrics.counts import Counts
from serve.shared.following import EVERY, Follower
from tests.numbered import PATHS, numbers_in, publish
from tests.scale import objects as storage
from tests.scale.objects import Objects
from tests.servers import Served, active_key, as_process, away, wait_until
from tests.unit.test_metrics import samples
from warehouse.build.opening import open_read_only
from warehouse.build.pointer import current
from warehouse.build.publish import rollback
from warehouse.build.verify import is_whole
from warehouse.files import locked
from warehouse.read.reader import FALLEN_BACK, Warehouse
from warehouse.shared.checkout import Folder
from warehouse.shared.store import ONCE, Store, opened

SECONDS = EVERY + 8
"""A replica serves a new build so soon on a busy machine; a third of it otherwise."""
BUILDS = 5
READERS = 3
PAUSE = 0.05


class Publisher:
    """A machine that publishes builds with numbers in a store."""

    def __init__(self, objects: Objects, home: Path, prefix: str) -> None:
        self.objects, self.home, self.prefix = objects, home, prefix
        self.environment = {**objects.access, "FUNDAMENTALS_STORE": objects.address(prefix)}
        with storage.used(objects.access):
            self.copy = WorkingCopy(home, opened(objects.address(prefix)))
        self.copy.checkout()
        (home / "tables").mkdir(parents=True)
        (home / "tables" / "listings.parquet").write_text("no replica needs this")

    def publish(self, number: int, *, overlaid: bool = False) -> None:
        """Publish a build."""
        publish(self.home / "published", number, overlaid=overlaid)
        self.copy.commit(f"run {number}")

    def roll_back(self) -> None:
        """Publish the build before."""
        rollback(self.home / "published")
        self.copy.commit("rollback")

    def key(self, path: str) -> str:
        """The key of the object with the content of a file."""
        assert self.copy.held
        digest = self.copy.held.head.files[path].digest
        return f"{self.prefix}/objects/{digest[:2]}/{digest}"


@pytest.fixture
def publisher(objects: Objects, tmp_path: Path) -> Publisher:
    """A publisher of build 0 in a store of its own."""
    found = Publisher(objects, tmp_path / "publisher", tmp_path.name)
    found.publish(0)
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The empty home of a replica."""
    (home := tmp_path / "replica").mkdir()
    return home


@pytest.fixture
def following(publisher: Publisher, home: Path) -> Follower:
    """The follower of the replica."""
    return follower_of(publisher, home)


@contextlib.contextmanager
def serving(publisher: Publisher, home: Path, *arguments: str, **more: str) -> Iterator[Served]:
    """A replica."""
    with as_process(home, *arguments, **publisher.environment, **more) as served:
        yield served


def build_in(home: Path) -> str | None:
    """The build that a home has."""
    pointer = current(home / "published")
    return pointer and pointer.build


def build_of(served: Served) -> str:
    return str(httpx.get(f"{served.address}/v1/status").json()["data"]["build"])


def serves(served: Served, number: int) -> Callable[[], bool]:
    """Whether a replica serves a build now."""
    return lambda: build_of(served) == f"b{number}"


def soon(state: Callable[[], bool]) -> None:
    """Wait for a state that is reached within seconds."""
    until = time.monotonic() + SECONDS
    while not state():
        assert time.monotonic() < until
        time.sleep(0.1)


def said(served: Served) -> list[str]:
    """The log of a replica, without the lines of requests."""
    return [line for line in served.errors.read_text().splitlines() if not line.startswith("{")]


def test_a_replica_begins_with_an_empty_home_and_has_only_what_it_serves(publisher: Publisher, home: Path) -> None:
    publisher.publish(1)
    with serving(publisher, home) as served:
        assert build_of(served) == "b1"
        assert said(served)[0] == f"build b1 was taken over from {publisher.environment['FUNDAMENTALS_STORE']}"
        key = active_key(home)
        answer = httpx.get(f"{served.address}/v1/companies/LNTR", headers={"X-Api-Key": key})
        assert numbers_in("/companies/LNTR", answer.json()) == {1.0}
    held = {path.relative_to(home / "published").as_posix() for path in (home / "published").iterdir()}
    assert {"warehouse-b1.duckdb", "parquet-b1", "CURRENT.json", "warehouse-b1.json", "warehouse.duckdb"} <= held
    assert not any("b0" in name for name in held)
    assert (home / "published" / "warehouse.duckdb").readlink() == Path("warehouse-b1.duckdb")
    assert not (home / "tables").exists()
    assert [path.name for path in home.iterdir() if path.name.startswith(".")] == []


@pytest.mark.long
def test_new_builds_are_taken_over_under_load(publisher: Publisher, home: Path) -> None:
    """No answer is an error or mixes two builds, each build is served within seconds, and old builds go."""
    done = threading.Event()
    with serving(publisher, home) as served:
        keys = [active_key(home, f"reader-{number}@example.org") for number in range(20 * READERS)]

        def read(place: int) -> set[float]:
            seen: set[float] = set()
            owned = itertools.cycle(keys[place::READERS])  # enough keys that no limit is reached
            with httpx.Client(base_url=f"{served.address}/v1") as client:
                for path in itertools.cycle(PATHS):
                    if done.is_set():
                        return seen
                    response = client.get(path, headers={"X-Api-Key": next(owned)})
                    assert response.status_code == 200, response.text
                    numbers = numbers_in(path, response.json())
                    assert len(numbers) == 1, f"{path} mixes builds {numbers}"
                    seen |= numbers
                    done.wait(PAUSE)
            return seen

        with ThreadPoolExecutor(READERS) as pool:
            try:
                readers = [pool.submit(read, place) for place in range(READERS)]
                for number in range(1, BUILDS):
                    publisher.publish(number)
                    soon(serves(served, number))
            finally:
                done.set()
            assert set().union(*(reader.result() for reader in readers)) == {float(n) for n in range(BUILDS)}
    held = {path.name for path in (home / "published").iterdir()}
    last = (BUILDS - 2, BUILDS - 1)
    builds = {name for number in last for name in (f"warehouse-b{number}.duckdb", f"parquet-b{number}")}
    assert {name for name in held if name.startswith("parquet-") or name.endswith(".duckdb")} == {
        *builds,
        "warehouse.duckdb",
    }
    times = {name for name in held if name.startswith("synchronized-")}
    assert times <= {f"synchronized-s{number}.json" for number in last}


@pytest.mark.long
def test_a_rollback_reaches_replicas(publisher: Publisher, home: Path) -> None:
    publisher.publish(1)
    with serving(publisher, home) as served:
        publisher.roll_back()
        soon(serves(served, 0))
        publisher.publish(2)
        soon(serves(served, 2))


@pytest.mark.long
def test_answers_cost_no_request_to_the_store(publisher: Publisher, home: Path) -> None:
    """Only the looks at HEAD are requests: the same number with and without load."""
    with serving(publisher, home) as served:
        key = active_key(home)
        reads = [len(answered(publisher, 2 * EVERY, lambda: None)), 0]
        with httpx.Client(base_url=f"{served.address}/v1", headers={"X-Api-Key": key}) as client:
            requests = iter(range(40))
            reads[1] = len(answered(publisher, 2 * EVERY, lambda: next(requests, None) and client.get("/companies")))
        assert abs(reads[0] - reads[1]) <= 2
        assert max(reads) <= 4


def answered(publisher: Publisher, seconds: float, ask: Callable[[], object]) -> list[str]:
    """The lines that the log of the storage got in some seconds, while something is asked again and again."""
    log = publisher.objects.log
    before, until = publisher.objects.requests, time.monotonic() + seconds
    while time.monotonic() < until:
        ask()
        time.sleep(0.05)
    return [line for line in log.read_text().splitlines()[before:] if publisher.prefix in line]


def test_a_damaged_download_is_not_served(publisher: Publisher, home: Path) -> None:
    with serving(publisher, home) as served:
        publish(publisher.home / "published", 1)
        whole: dict[str, bytes] = {}
        put = publisher.copy.store.put_content

        def damaging(content: object, path: Path) -> None:
            put(content, path)  # type: ignore[arg-type]
            if path.name == "warehouse-b1.duckdb":
                key = f"{publisher.prefix}/objects/{content.digest[:2]}/{content.digest}"  # type: ignore[attr-defined]
                whole[key] = publisher.objects.read(key)
                publisher.objects.flip(key)

        publisher.copy.store.put_content = damaging  # type: ignore[method-assign]
        publisher.copy.commit("run 1")
        wait_until(lambda: any("is damaged: its content has another SHA-256" in line for line in said(served)))
        assert build_of(served) == "b0"
        [(key, content)] = whole.items()
        publisher.objects.write(key, content)
        soon(serves(served, 1))


@pytest.mark.long
def test_a_replica_that_was_killed_while_it_downloaded_goes_on(publisher: Publisher, home: Path) -> None:
    with serving(publisher, home) as served:
        assert build_of(served) == "b0"
    for number in range(1, 4):
        publisher.publish(number)
        with contextlib.suppress(AssertionError), serving(publisher, home) as served:
            time.sleep(0.05 * number)
            os.kill(served.process.pid, signal.SIGKILL)
        assert build_in(home) in {f"b{each}" for each in range(number + 1)}
    with serving(publisher, home) as served:
        soon(serves(served, 3))


@pytest.mark.long
def test_a_replica_that_begins_while_the_store_is_away_serves_as_soon_as_it_is_back(
    publisher: Publisher, home: Path
) -> None:
    """Until then it answers as a service without data does."""
    with away(publisher.objects.stop, publisher.objects.start), serving(publisher, home) as served:
        assert build_of(served) == "None"
        assert "the store does not answer" in said(served)[0]
        publisher.objects.start()
        soon(serves(served, 0))


def test_a_home_of_another_kind_is_not_overwritten(
    publisher: Publisher, home: Path, following: Follower, capfd: pytest.CaptureFixture[str]
) -> None:
    (publisher.home / "home.json").write_text('{"kind": "edgar"}')
    publisher.publish(1)
    publish(home / "published", 7)
    (home / "home.json").write_text('{"kind": "sample"}')
    following.look()
    assert "hold different kinds of data; set FUNDAMENTALS_HOME to another home" in capfd.readouterr().err
    assert build_in(home) == "b7"


def test_a_synchronization_in_the_same_home_comes_first(home: Path, following: Follower) -> None:
    """Whoever holds the lock of the home takes over the state; the follower waits, then finds it done."""
    with locked(home / "synchronization.lock") as is_mine:
        assert is_mine
        following.look()
        assert build_in(home) is None
    following.look()
    assert build_in(home) == "b0"


def test_a_run_that_fails_is_measured_on_replicas(publisher: Publisher, home: Path, following: Follower) -> None:
    """Only its result is committed: the build stays, and so do the uncommitted changes in the leader's home."""
    following.look()
    with (
        storage.used(publisher.environment),
        pytest.raises(CommandError),
        Synchronization(Home(publisher.home)).running(),
    ):
        failing(publisher.home / "tables" / "half")
    following.look()
    found = samples(home / "published", Counts(COUNTED), now=time.time())
    assert found["fundamentals_synchronizations_total{failed}"] == 1
    assert found["fundamentals_synchronization_age_seconds{failed}"] < 3600
    assert build_in(home) == "b0"
    held = publisher.copy.store.head()
    assert held
    assert "tables/half" not in held.head.files


def failing(unfinished: Path) -> None:
    """A step that fails after it has written something."""
    unfinished.write_text("half")
    raise CommandError("it failed")


def test_a_synchronization_may_begin_while_a_build_is_downloaded(
    publisher: Publisher,
    home: Path,
    following: Follower,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Each downloads to a place of its own."""
    with storage.used(publisher.objects.access):
        copy = WorkingCopy(home, opened(publisher.environment["FUNDAMENTALS_STORE"]))
    fetch = Folder.fetch

    def interrupted(self: Folder, *given: Any) -> dict[str, Path]:
        found = fetch(self, *given)
        monkeypatch.setattr(Folder, "fetch", fetch)
        copy.checkout()
        return found

    monkeypatch.setattr(Folder, "fetch", interrupted)
    following.look()
    assert build_in(home) == "b0"
    assert "served meanwhile" not in capfd.readouterr().err
    assert (home / "tables" / "listings.parquet").exists()


def test_of_a_build_with_an_overlay_a_replica_fetches_only_what_is_new(
    publisher: Publisher, home: Path, following: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the file and the copies already; and with the next build that has all rows, the overlay goes."""
    published, fetched, fetch = home / "published", set[str](), Store.fetch_object
    following.look()
    monkeypatch.setattr(Store, "fetch_object", lambda *given: fetched.add(given[1]) or fetch(*given))
    publisher.publish(1, overlaid=True)
    following.look()
    pointer = current(published)
    assert pointer
    assert fetched.isdisjoint({pointer.digests[pointer.file], pointer.digests["financials.parquet"]})
    assert pointer.digests["warehouse-b1.duckdb.wal"] in fetched
    assert is_whole(published, pointer)
    with open_read_only(published / "warehouse.duckdb") as connection:
        assert connection.execute("SELECT DISTINCT revenue FROM financials").fetchall() == [(1.0,)]
    publisher.publish(2)
    following.look()
    assert not (published / "warehouse.duckdb.wal").is_symlink()
    with open_read_only(published / "warehouse.duckdb") as connection:
        assert connection.execute("SELECT DISTINCT revenue FROM financials").fetchall() == [(2.0,)]


def test_a_damaged_overlay_of_a_replica_is_downloaded_again_and_served(publisher: Publisher, home: Path) -> None:
    """Until then it serves the build before, if it has that."""
    follower_of(publisher, home).look()
    publisher.publish(1, overlaid=True)
    follower_of(publisher, home).look()
    (home / "published" / "warehouse-b1.duckdb.wal").unlink()
    with contextlib.closing(Warehouse(home / "published")) as replica:
        with replica.build() as build:
            assert (build.pointer.build, replica.reason) == ("b0", FALLEN_BACK)
        follower_of(publisher, home).look()
        with replica.build() as build:
            assert (build.pointer.build, replica.reason) == ("b1", None)


@pytest.mark.long
def test_files_of_a_working_copy_stay(publisher: Publisher, tmp_path: Path) -> None:
    """A home that is also synchronized keeps the files that the store has, such as the build before."""
    home = tmp_path / "home"
    publisher.publish(1)
    with storage.used(publisher.objects.access):
        copy = WorkingCopy(home, opened(publisher.environment["FUNDAMENTALS_STORE"]))
        copy.checkout()
        publisher.publish(2)
        (home / "published" / "warehouse-old.duckdb").write_text("a build that nothing names")
        follower_of(publisher, home).look()
    names = sorted(path.name for path in (home / "published").glob("warehouse-*.duckdb"))
    assert names == ["warehouse-b1.duckdb", "warehouse-b2.duckdb"]
    assert (home / "tables" / "listings.parquet").exists()
    shutil.rmtree(home)


def follower_of(publisher: Publisher, home: Path) -> Follower:
    with storage.used(publisher.objects.access):
        address = publisher.environment["FUNDAMENTALS_STORE"]
        return Follower(home, opened(address, ONCE), opened(address))
