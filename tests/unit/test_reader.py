"""Reading builds: one build while it is in use, the new one afterwards, and no file stays open."""

import asyncio
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from tests import builds
from tests.servers import PATIENCE, wait_until
from warehouse.build import publish
from warehouse.errors import BuildUnreadable, NothingPublished
from warehouse.read import reader
from warehouse.read.reader import FALLEN_BACK, QUERIES, OpenBuild, Warehouse
from warehouse.read.reading import read_in_process


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return tmp_path / "published"


def build_of(warehouse: Warehouse) -> str:
    with warehouse.build() as build:
        return build.pointer.build


def open_files(published: Path) -> list[str]:
    """The builds that this process has open, including removed ones."""
    targets = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor that lists them
            targets.append(descriptor.readlink())
    return sorted(target.name for target in targets if target.is_relative_to(published))


def test_without_a_build_reading_is_an_error_until_one_is_published(published: Path) -> None:
    warehouse = Warehouse(published)
    with pytest.raises(NothingPublished, match="fundamentals sync"), warehouse.build():
        pass
    builds.small(published)
    assert build_of(warehouse) == "b1"
    warehouse.close()


def test_a_build_stays_the_same_while_in_use_and_is_closed_afterwards(published: Path) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    with warehouse.build() as held:
        builds.publish_small(published, "b2", {})
        builds.publish_small(published, "b3", {})
        assert build_of(warehouse) == "b3"
        assert held.pointer.build == "b1"
        assert held.rows("SELECT count(*) FROM companies") == [(7,)]
        assert len(open_files(published)) == 2
    assert open_files(published) == ["warehouse-b3.duckdb"]
    warehouse.close()
    assert open_files(published) == []


def test_closing_waits_for_the_last_user(published: Path) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    warehouse.close()
    with warehouse.build() as held:
        warehouse.close()
        assert held.rows("SELECT count(*) FROM companies") == [(7,)]
    assert open_files(published) == []


def test_times_of_a_synchronization_without_a_new_build_are_served(published: Path) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    with warehouse.build() as build:
        assert build.updated_at("9990000001") == "2026-03-02T06:04:00Z"
        assert build.updated_at("9990000002") is None
    later = builds.SYNCHRONIZATION | {"sync_id": "s2"}
    publish.record(published, synchronization=later, updated={"9990000002": "2026-03-03T06:00:00Z"})
    with warehouse.build() as build:
        assert build.updated_at("9990000002") == "2026-03-03T06:00:00Z"
    warehouse.close()


@pytest.mark.parametrize("broken", ["CURRENT.json", "warehouse-b2.duckdb", "synchronized-s2.json"])
def test_if_a_build_cannot_be_opened_the_previous_one_is_served(
    published: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    assert build_of(warehouse) == "b1"
    builds.small(published, "b2", sync_id="s2")
    (published / broken).chmod(0o644)
    (published / broken).write_text("nothing of the kind")
    with caplog.at_level(logging.ERROR):
        assert [build_of(warehouse) for _ in range(3)] == ["b1"] * 3
    assert warehouse.reason == FALLEN_BACK
    assert len(caplog.records) == 1, "told once, not at each request"
    builds.small(published, "b3", sync_id="s3")
    assert build_of(warehouse) == "b3"
    assert warehouse.reason is None
    warehouse.close()


HEADERS = 3 * 4096


@pytest.mark.parametrize("at", [10, 4106, 8202, HEADERS, -1])
def test_a_build_with_a_damaged_header_or_without_its_last_byte_is_not_served(published: Path, at: int) -> None:
    """DuckDB checks the three headers when it opens a file; the end of the file is missed when the rows are read."""
    builds.small(published)
    builds.small(published, "b2", sync_id="s2")
    path = published / "warehouse-b2.duckdb"
    content = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(content[:at] + (bytes([content[at] ^ 1]) + content[at + 1 :] if 0 < at < HEADERS else b""))
    warehouse = Warehouse(published, read_in_process)
    assert (build_of(warehouse), warehouse.reason) == ("b1", FALLEN_BACK)
    warehouse.close()


def test_a_build_with_a_large_overlay_is_opened_while_the_one_before_is_served(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the rows of the overlay, and no file stays open; a build that only has other times is opened in the
    same way.
    """
    monkeypatch.setattr(reader, "OPENED_AT_ONCE", 0)
    opens, open_build = threading.Event(), reader.open_read_only
    builds.small(published)
    warehouse = Warehouse(published, read_in_process)
    assert build_of(warehouse) == "b1"
    monkeypatch.setattr(reader, "open_read_only", lambda *given: opens.wait(PATIENCE) and open_build(*given))
    builds.publish_overlaid(published, sync_id="s2")
    assert [build_of(warehouse) for _ in range(3)] == ["b1"] * 3
    assert warehouse.in_memory() is not None
    opens.set()
    wait_until(lambda: build_of(warehouse) == "b2")
    with warehouse.build() as build:
        [(count,)] = build.rows("SELECT count(*) FROM filings WHERE form = $form", {"form": builds.OVERLAID_FORM})
        assert count == 1
        assert build.has_rows
    assert open_files(published) == ["warehouse-b2.duckdb"]
    publish.record(published, synchronization=builds.SYNCHRONIZATION | {"sync_id": "s3"}, updated={})
    wait_until(lambda: build_of(warehouse) == "b2" and updated_at(warehouse) is None)
    warehouse.close()
    assert open_files(published) == []


def updated_at(warehouse: Warehouse) -> str | None:
    with warehouse.build() as build:
        return build.updated_at("9990000001")


def test_a_damaged_build_with_a_large_overlay_leaves_the_one_before(
    published: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is reported once; the next build is served."""
    monkeypatch.setattr(reader, "OPENED_AT_ONCE", 0)
    builds.small(published)
    warehouse = Warehouse(published, read_in_process)
    assert build_of(warehouse) == "b1"
    builds.publish_overlaid(published, sync_id="s2")
    (published / "synchronized-s2.json").write_text("nothing of the kind")
    assert build_of(warehouse) == "b1"
    wait_until(lambda: warehouse.reason == FALLEN_BACK)
    assert [build_of(warehouse) for _ in range(3)] == ["b1"] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    builds.small(published, "b3", sync_id="s3")
    assert build_of(warehouse) == "b3"
    assert warehouse.reason is None
    warehouse.close()


def test_another_error_while_a_slow_build_is_opened_does_not_keep_later_builds_from_being_served(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "OPENED_AT_ONCE", 0)
    raised: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    builds.small(published)
    warehouse = Warehouse(published, read_in_process)
    assert build_of(warehouse) == "b1"
    with monkeypatch.context() as patch:
        patch.setattr(reader, "open_read_only", lambda *_: (_ for _ in ()).throw(MemoryError))
        builds.publish_overlaid(published, sync_id="s2")
        assert build_of(warehouse) == "b1"
        wait_until(lambda: warehouse.reason == FALLEN_BACK)
        assert build_of(warehouse) == "b1"
    assert [given.exc_type for given in raised] == [MemoryError]
    builds.small(published, "b3", sync_id="s3")
    assert build_of(warehouse) == "b3"
    warehouse.close()


def test_if_a_build_cannot_be_opened_and_there_is_no_previous_one_it_is_an_error(published: Path) -> None:
    made = builds.small(published)
    (published / made.file).unlink()
    warehouse = Warehouse(published)
    with pytest.raises(BuildUnreadable, match=r"warehouse-b1\.duckdb") as raised, warehouse.build():
        pass
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"{", b'{"\xb0": ""}'])
def test_if_the_times_of_synchronizations_are_damaged_the_build_before_is_served(
    published: Path, content: bytes
) -> None:
    builds.small(published)
    builds.small(published, "b2", sync_id="s2")
    (published / "synchronized-s2.json").write_bytes(content)
    warehouse = Warehouse(published)
    assert build_of(warehouse) == "b1"
    warehouse.close()


def test_if_the_folder_is_removed_the_open_build_is_served(published: Path) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    build_of(warehouse)
    (published / "CURRENT.json").unlink()
    assert build_of(warehouse) == "b1"
    warehouse.close()


def test_a_pointer_that_changes_during_opening_is_read_again(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two publications removed the file between reading the pointer and opening it."""
    builds.small(published)
    stale = publish.current(published)
    builds.small(published, "b2", sync_id="s2")
    builds.small(published, "b3", sync_id="s3")
    answers = iter([stale])
    monkeypatch.setattr(reader, "current", lambda folder: next(answers, None) or publish.current(folder))
    warehouse = Warehouse(published)
    assert build_of(warehouse) == "b3"
    warehouse.close()


def test_a_pointer_that_is_removed_during_opening_means_no_build(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds.small(published)
    monkeypatch.setattr(reader, "current", lambda _: None)
    with pytest.raises(NothingPublished), Warehouse(published).build():
        pass


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM companies",
        "CREATE TABLE t (x INTEGER)",
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY companies TO '/tmp/companies.csv'",
        "SET enable_external_access = true",
    ],
)
def test_an_open_build_reads_nothing_else_and_writes_nothing(published: Path, sql: str) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    with warehouse.build() as build, pytest.raises(duckdb.Error):
        build.rows(sql)
    warehouse.close()


def test_duckdb_refuses_to_be_asked_in_the_event_loop(published: Path) -> None:
    """Also with the rows in memory; a thread of the loop may ask."""
    builds.small(published)
    warehouse = Warehouse(published, read_in_process)

    async def ask(build: OpenBuild) -> None:
        with pytest.raises(RuntimeError, match=r"in the event loop.*ask it in a thread: SELECT 1"):
            build.rows("SELECT 1")
        assert build.memory.company("LNTR")
        assert await asyncio.to_thread(build.rows, "SELECT 1") == [(1,)]

    with warehouse.build() as build:
        asyncio.run(ask(build))
    warehouse.close()


def test_threads_may_ask_one_build_at_once(published: Path) -> None:
    builds.small(published)
    warehouse = Warehouse(published)
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(50):
            with warehouse.build() as build:
                found = build.rows("SELECT symbol FROM companies WHERE symbol = ?", ["ABCX"])
                company = build.memory.company("abcx")
                if found != [("ABCX",)] or company is None or company.symbol != "ABCX":
                    wrong.append((found, company))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    warehouse.close()


def test_two_queries_run_at_the_same_time(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB keeps some megabytes for each of the most that ever ran at the same time."""
    builds.small(published)
    warehouse = Warehouse(published)
    running, most = 0, 0
    lock = threading.Lock()

    class Cursor:
        def __enter__(self) -> "Cursor":
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            return self

        def __exit__(self, *_: object) -> None:
            nonlocal running
            with lock:
                running -= 1

        def execute(self, *_: object) -> "Cursor":
            time.sleep(0.002)
            return self

        def fetchall(self) -> list[object]:
            return []

    with warehouse.build() as build:
        with monkeypatch.context() as patched:
            patched.setattr(build, "_connection", SimpleNamespace(cursor=Cursor))
            with ThreadPoolExecutor(8) as pool:
                assert list(pool.map(build.rows, ["SELECT 1"] * 40)) == [[]] * 40
        assert most == QUERIES
    warehouse.close()
