"""The store and working copies of it: a commit is complete, of two writers one wins, damage is found."""

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.edgar.fetch.raw_store import RawStore, Seen
from pipelines.shared.shared_home import WorkingCopy
from pipelines.storage.home import HomeError
from tests.scale import objects as storage
from tests.servers import away
from warehouse.shared import store as stores
from warehouse.shared.checkout import STAMPS, Folder
from warehouse.shared.store import ObjectDamaged, Store, StoreConflict, StoreError, StoreUnavailable

FIRST = {
    "home.json": '{"kind": "sample"}',
    "tables/listings.parquet": "listings",
    "tables/facts/000001.parquet": "facts of A",
    "tables/facts/manifest.json": "A: 1",
    "tables/digests.json": "digests",
    "log/versions-1.parquet": "versions",
    "published/warehouse-1.duckdb": "build 1",
    "published/parquet-1/financials.parquet": "financials",
    "published/CURRENT.json": "build 1 is current",
}
SECOND = {
    **{path: text for path, text in FIRST.items() if not path.startswith("published/")},
    "tables/facts/000002.parquet": "facts of B",
    "tables/facts/manifest.json": "A: 1, B: 2",
    "log/versions-2.parquet": "more versions",
    "published/warehouse-2.duckdb": "build 2",
    "published/parquet-2/financials.parquet": "financials",
    "published/CURRENT.json": "build 2 is current",
}
LOCAL = {"accounts.sqlite": "accounts", "dagster/runs.db": "runs", "raw/bulk/companyfacts.zip": "archive"}
NOT_SHARED = {"tables/.facts.tmp": "unfinished", "tables/.parts-facts/facts/000000.parquet": "part", "home.tmp": "{}"}


@pytest.fixture
def store() -> Store:
    """A store in the memory of this process."""
    storage.require()
    from obstore.store import MemoryStore

    return Store(MemoryStore(), "s3://bucket/prefix")


def fill(root: Path, files: dict[str, str]) -> Path:
    """A folder with these files and no other shared ones; the published build is linked."""
    for folder in ("tables", "log", "published"):
        shutil.rmtree(root / folder, ignore_errors=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for path in root.glob("published/warehouse-*"):
        (root / "published" / "warehouse.duckdb").symlink_to(path.name)
    return root


def texts(root: Path) -> dict[str, str]:
    """The content of all files in a folder, by path, except files that belong to the folder alone."""
    paths = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths if path.name != STAMPS}


def committed(store: Store, root: Path, files: dict[str, str], run: str = "first") -> WorkingCopy:
    """A working copy with the files of HEAD."""
    copy = WorkingCopy(root, store)
    copy.checkout()
    fill(root, files)
    copy.commit(run)
    return copy


def commit(copy: WorkingCopy, files: dict[str, str], run: str = "second") -> None:
    """Commit a working copy whose shared files are these."""
    fill(copy.root, files)
    copy.commit(run)


def checked_out(root: Path, store: Store, cache: Path | None = None) -> dict[str, str]:
    """The content of all files in a folder after a checkout, by path."""
    WorkingCopy(root, store, cache).checkout()
    return texts(root)


# --- Checkout and commit ---------------------------------------------------------------------------------


def test_a_checkout_has_the_files_and_links_that_were_committed_and_no_others(store: Store, tmp_path: Path) -> None:
    head = committed(store, fill(tmp_path / "a", LOCAL | NOT_SHARED), FIRST).held
    assert head
    assert set(head.head.files) == set(FIRST)
    taken = WorkingCopy(tmp_path / "b", store).checkout()
    assert texts(tmp_path / "b") == FIRST
    assert taken == head.head
    assert (tmp_path / "b/published/warehouse.duckdb").readlink() == Path("warehouse-1.duckdb")
    assert oct((tmp_path / "b/published/warehouse-1.duckdb").stat().st_mode)[-3:] == "400"
    assert oct((tmp_path / "b/tables/listings.parquet").stat().st_mode)[-3:] == "600"


def test_a_later_checkout_replaces_adds_and_removes_and_leaves_what_is_not_shared(store: Store, tmp_path: Path) -> None:
    first = committed(store, tmp_path / "a", FIRST)
    other = fill(tmp_path / "b", {**FIRST, **LOCAL})
    WorkingCopy(other, store).checkout()
    commit(first, SECOND)
    assert checked_out(other, store) == SECOND | LOCAL
    assert not (other / "published/parquet-1").exists()
    assert (other / "published/warehouse.duckdb").readlink() == Path("warehouse-2.duckdb")


def test_what_names_others_is_put_in_place_last_and_removed_first(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = committed(store, tmp_path / "a", FIRST)
    other = WorkingCopy(tmp_path / "b", store)
    other.checkout()
    commit(first, SECOND)
    placed: list[str] = []
    gone: list[str] = []
    place, unlink = Folder._place, Path.unlink
    monkeypatch.setattr(Folder, "_place", lambda self, path, what: (placed.append(path), place(self, path, what)))
    monkeypatch.setattr(
        Path, "unlink", lambda self, **more: (gone.append(self.name) if self.exists() else None, unlink(self, **more))
    )
    WorkingCopy(tmp_path / "b", store).checkout()
    assert placed[-2:] == ["tables/facts/manifest.json", "published/CURRENT.json"]
    assert len(placed) == 6
    assert "warehouse-1.duckdb" in gone
    shutil.rmtree(tmp_path / "a")
    commit(first, {"home.json": FIRST["home.json"]}, "third")
    gone.clear()
    WorkingCopy(tmp_path / "b", store).checkout()
    in_order = ["CURRENT.json", "manifest.json", "warehouse-2.duckdb"]
    assert [name for name in gone if name in in_order] == in_order


def test_only_what_differs_is_transferred(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = committed(store, tmp_path / "a", FIRST)
    other = WorkingCopy(tmp_path / "b", store)
    other.checkout()
    moved: list[str] = []
    for name in ("fetch_object", "put_content"):
        observe(monkeypatch, name, lambda what, _: moved.append(getattr(what, "digest", what)))
    new = sorted({digest(text) for text in set(SECOND.values()) - set(FIRST.values())})
    for work, expected in ((lambda: commit(first, SECOND), new), (other.checkout, new), (other.checkout, [])):
        work()
        assert sorted(moved) == expected
        moved.clear()


def test_a_file_that_was_not_replaced_is_not_read_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(store, tmp_path / "a", FIRST)
    read: list[str] = []
    original = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda file, name: read.append(file.name) or original(file, name))
    WorkingCopy(tmp_path / "a", store).checkout()
    assert read == []
    (tmp_path / "a/tables/listings.parquet").write_text("LISTINGS")
    assert checked_out(tmp_path / "a", store) == FIRST
    assert read == [str(tmp_path / "a/tables/listings.parquet")]


def test_a_part_can_be_checked_out_and_committed(store: Store, tmp_path: Path) -> None:
    """Files that were not checked out stay; files that were, and are gone, are removed; new files are added."""
    committed(store, tmp_path / "a", FIRST)
    part = WorkingCopy(tmp_path / "b", store)
    part.checkout(lambda path: path == "tables/facts/manifest.json")
    assert set(texts(tmp_path / "b")) == {"tables/facts/manifest.json"}
    part.add(lambda path: path.startswith("tables/facts/"))
    (tmp_path / "b/tables/facts/000001.parquet").unlink()
    more = {"tables/facts/000002.parquet": "both", "tables/facts/manifest.json": "A, B: 2"}
    fill_more(tmp_path / "b", more)
    part.commit("second")
    without = {path: text for path, text in FIRST.items() if path != "tables/facts/000001.parquet"}
    assert checked_out(tmp_path / "c", store) == without | more
    assert (tmp_path / "c/published/warehouse.duckdb").exists()


def test_a_part_can_be_committed_from_a_home_whose_other_files_are_older(store: Store, tmp_path: Path) -> None:
    """Such as the builds, by a command, from a home whose last synchronization failed."""
    committed(store, tmp_path / "a", FIRST)
    home = fill(tmp_path / "b", {**FIRST, "tables/listings.parquet": "stale", "tables/half.parquet": "of a failed run"})
    copy = WorkingCopy(home, store)
    copy.checkout(lambda path: path.startswith("published/"))
    fill_more(home, {"published/CURRENT.json": "rolled back"})
    copy.commit("rollback", lambda path: path.startswith("published/"))
    assert checked_out(tmp_path / "c", store) == FIRST | {"published/CURRENT.json": "rolled back"}


def test_a_cache_saves_downloads_and_its_objects_are_linked(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(store, tmp_path / "a", FIRST)
    cache = tmp_path / "cache"
    worker, new = WorkingCopy(tmp_path / "b", store, cache), {"tables/new.parquet": "made here"}
    worker.checkout()
    fill_more(tmp_path / "b", new)
    worker.commit("second")
    observe(monkeypatch, "fetch_object", lambda *_: pytest.fail("nothing is downloaded twice"))
    assert checked_out(tmp_path / "c", store, cache) == FIRST | new
    for path in (*new, "published/warehouse-1.duckdb"):
        assert (tmp_path / "c" / path).stat().st_nlink == 3


def test_the_cache_forgets_what_head_does_not_name(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    first = committed(store, tmp_path / "a", FIRST)
    WorkingCopy(tmp_path / "b", store, cache).checkout()
    shutil.rmtree(tmp_path / "b")
    commit(first, SECOND)
    monkeypatch.setattr("warehouse.shared.checkout.IDLE", -1.0)
    worker = WorkingCopy(tmp_path / "c", store, cache)
    worker.checkout(lambda path: path.startswith("log/"))
    worker.commit("third")
    kept = {path.name for path in cache.rglob("*") if path.is_file()}
    assert kept == {digest(text) for text in [*(set(FIRST.values()) & set(SECOND.values())), "more versions"]}


def test_a_home_of_the_other_kind_is_refused(store: Store, tmp_path: Path) -> None:
    committed(store, tmp_path / "a", FIRST)
    files = {**SECOND, "home.json": '{"kind": "edgar"}'}
    real = fill(tmp_path / "b", files)
    with pytest.raises(HomeError, match="holds real data, and s3://bucket/prefix fictional: the two are never mixed"):
        WorkingCopy(real, store).checkout()
    assert texts(real) == files


# --- Two writers, and writers that end ---------------


def test_of_two_writers_one_wins_and_nothing_of_the_other_is_visible(store: Store, tmp_path: Path) -> None:
    winner, loser = WorkingCopy(tmp_path / "a", store), WorkingCopy(tmp_path / "b", store)
    for first in (True, False):
        for copy in (winner, loser):
            copy.checkout()
        fill(tmp_path / "a", FIRST if first else SECOND)
        fill(tmp_path / "b", {**FIRST, "tables/listings.parquet": f"other {first}"})
        head = winner.commit("the winner")
        with pytest.raises(StoreConflict, match=r"run the winner was committed to s3://bucket/prefix at 20.*Z, while"):
            loser.commit("the loser")
        assert (winner.is_current(), loser.is_current()) == (True, False)
        now = store.head()
        assert now
        assert now.head == head
    loser.checkout()
    assert texts(tmp_path / "b") == SECOND
    loser.commit("again")
    assert not winner.is_current()


def test_a_commit_whose_answer_was_lost_counts(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """obstore repeats a request if its answer was lost; the condition of the second request fails then."""
    copy = committed(store, tmp_path / "a", FIRST)
    monkeypatch.setattr(store, "_objects", answering_twice(store))
    fill(tmp_path / "a", SECOND)
    assert copy.commit("second").run == "second"
    assert copy.is_current()


def answering_twice(store: Store) -> Any:
    """The objects of a store, which gets each request that writes twice."""
    put = store._objects.put

    def twice(*arguments: Any, **more: Any) -> Any:
        put(*arguments, **more)
        return put(*arguments, **more)

    return Replaced(store._objects, put=twice)


class Replaced:
    """An object in which some methods are replaced."""

    def __init__(self, of: Any, **methods: Callable[..., Any]) -> None:
        self._of, self._methods = of, methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._of, name)


class Killed(BaseException):
    """Stands for the end of a process."""


def test_a_writer_killed_at_any_request_leaves_head_complete(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each request that writes, or right after it, the writer ends; the next one goes on."""
    committed(store, tmp_path / "a", FIRST)
    monkeypatch.setattr(stores, "THREADS", 1)
    objects = store._objects
    states = []
    for number in range(100):
        count = iter(range(2 * number + 2))

        def put(key: str, content: Any, count: Iterator[int] = count, **more: Any) -> Any:
            left_before = next(count, None)
            if left_before is None:
                raise Killed
            answer = objects.put(key, content, **more)
            if next(count, None) is None:
                raise Killed
            return answer

        dying = Store(Replaced(objects, put=put), store.address)
        writer = WorkingCopy(fill(tmp_path / f"writer-{number}", LOCAL), dying)
        writer.checkout()
        own = {**SECOND, "tables/listings.parquet": f"of {number}"}
        has_ended = False
        with contextlib.suppress(Killed):
            commit(writer, own, f"run {number}")
            has_ended = True
        state = checked_out(tmp_path / f"reader-{number}", store)
        states.append(state == own)
        assert state in (own, FIRST, own | {"tables/listings.parquet": state["tables/listings.parquet"]})
        if has_ended:
            break
    assert (states[0], states[-1]) == (False, True)
    assert len(states) > len(set(SECOND.values()) - set(FIRST.values()))


def test_a_checkout_that_fails_changes_nothing_and_the_next_one_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = committed(store, tmp_path / "a", FIRST)
    other = tmp_path / "b"
    WorkingCopy(other, store).checkout()
    commit(first, SECOND)
    fetched: list[str] = []

    def fail_at_third(wanted: str, _: object) -> None:
        fetched.append(wanted)
        if is_away and len(fetched) == 3:
            raise StoreUnavailable("away")

    is_away = True

    observe(monkeypatch, "fetch_object", fail_at_third)
    monkeypatch.setattr(stores, "THREADS", 1)
    with pytest.raises(StoreUnavailable):
        WorkingCopy(other, store).checkout()
    assert {path: text for path, text in texts(other).items() if not path.startswith(".")} == FIRST
    is_away = False
    assert checked_out(other, store) == SECOND
    assert not set(fetched[:2]) & set(fetched[3:])
    assert len(fetched[3:]) > 2


# --- Removal ---------------------------------------------------------------------------------


def test_objects_stay_for_a_day_after_head_ceased_to_name_them(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = committed(store, tmp_path / "a", FIRST)
    fill_more(tmp_path, {"orphan": "of a killed run"})
    orphan = store.put_object(tmp_path / "orphan").digest
    commit(copy, SECOND)
    gone = {digest(text) for text in set(FIRST.values()) - set(SECOND.values())}
    assert copy.held
    assert set(copy.held.head.retired) == gone
    assert copy.remove_unnamed() == 0
    # a day later: the objects are old enough, but HEAD has named some of them until now
    day = timedelta(days=1, seconds=1)
    monkeypatch.setattr(stores, "datetime", Later(day))
    assert copy.remove_unnamed() == 1
    assert orphan not in store.stored_objects()
    assert gone <= store.stored_objects().keys()
    copy.commit("third")
    assert copy.held.head.retired == {}
    assert copy.remove_unnamed() == len(gone)
    assert store.stored_objects().keys() == copy.held.head.digests
    assert checked_out(tmp_path / "b", store) == SECOND


class Later:
    """The clock some time later."""

    def __init__(self, by: timedelta) -> None:
        self._by = by

    def now(self, zone: Any) -> datetime:
        return datetime.now(zone) + self._by


def test_nothing_is_removed_once_another_run_has_committed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = committed(store, tmp_path / "a", FIRST)
    store.put_object(fill_more(tmp_path, {"orphan": "of a killed run"}) / "orphan")
    committed(store, tmp_path / "b", SECOND, "other")
    monkeypatch.setattr(stores, "KEPT", -timedelta(days=1))
    assert copy.remove_unnamed() == 0


# --- Documents ---------------------------------------------------------------------------------


def test_new_documents_are_stored_and_come_back_when_they_are_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNDAMENTALS_STORE", store.address)
    monkeypatch.setattr("pipelines.edgar.fetch.raw_store.opened", lambda _, patience: store)
    copy = WorkingCopy(fill(tmp_path / "a", FIRST), store)
    copy.checkout()
    old = note(tmp_path / "a", "0000000001", b'{"superseded": 1}')
    first = note(tmp_path / "a", "0000000001", b'{"document": 1}')
    copy.commit("first")
    assert store.stored_documents() == {old, first}
    sent: list[str] = []
    observe(monkeypatch, "put_document", lambda what, _: sent.append(what))
    second = note(tmp_path / "a", "0000000002", b'{"document": 2}')
    for run in ("second", "third"):
        copy.commit(run)
        assert sent == [second]
    WorkingCopy(tmp_path / "b", store).checkout()
    elsewhere = RawStore(tmp_path / "b")
    assert [elsewhere.has(each) for each in (first, second, "0" * 64)] == [True, True, False]
    assert elsewhere.get(second) == b'{"document": 2}'
    assert elsewhere.path(second).exists()
    elsewhere.bring([first, second, "0" * 64])
    assert elsewhere.path(first).exists()


def note(home: Path, cik: str, content: bytes) -> str:
    """Store a document in a home, as a run does."""
    raw = RawStore(home)
    stored = raw.put(content)
    row = Seen(cik=cik, kind="companyfacts", status="ok", source="sample", fetched_at=datetime.now(UTC), digest=stored)
    raw.note(row)
    raw.checkpoint()
    return stored


# --- Errors ---------------------------------------------------------------------------------


def test_a_damaged_object_is_not_taken_over(store: Store, tmp_path: Path) -> None:
    committed(store, tmp_path / "a", FIRST)
    WorkingCopy(tmp_path / "b", store).checkout()
    key = f"objects/{digest('build 1')[:2]}/{digest('build 1')}"
    store._objects.put(key, b"build X")
    (tmp_path / "b/published/warehouse-1.duckdb").unlink()
    before = texts(tmp_path / "b")
    for said in ("is damaged: its content has another SHA-256; .*doctor --repair", "is missing"):
        with pytest.raises(ObjectDamaged, match=f"{key} {said}"):
            WorkingCopy(tmp_path / "b", store).checkout()
        assert texts(tmp_path / "b") == before
        store._objects.delete(key)


@pytest.mark.parametrize(
    "head",
    [
        b"{",
        b'{"run": "r"}',
        b"\xff",
        json.dumps({"run": "r", "written_at": "2026-01-01T00:00:00Z", "files": {"../x": ["0" * 64, 1]}}).encode(),
        json.dumps({"run": "r", "written_at": "2026-01-01T00:00:00Z", "files": {"/x": ["0" * 64, 1]}}).encode(),
        json.dumps({"run": "r", "written_at": "2026-01-01T00:00:00Z", "files": {"log/x": ["/etc/name", 1]}}).encode(),
        json.dumps({"run": "r", "written_at": "2026-01-01T00:00:00Z", "files": {"log/x": ["0" * 64, -1]}}).encode(),
        *(
            json.dumps({"run": "r", "written_at": "2026-01-01T00:00:00Z", "files": {path: ["0" * 64, 1]}}).encode()
            for path in ("accounts.sqlite", "dagster/dagster.yaml", "raw/aa/x", "tables", "log/.x", "log/\0", "log//x")
        ),
        *(
            json.dumps({"run": "r", "written_at": "2026-01-01T00:00:00Z", "files": {}, "links": links}).encode()
            for links in ({"published/x": "../../x"}, {"published/x": "../accounts.sqlite"}, {"serving": "log/x"})
        ),
    ],
)
def test_a_damaged_head_is_refused(store: Store, tmp_path: Path, head: bytes) -> None:
    store._objects.put("HEAD", head)
    with pytest.raises(ObjectDamaged, match=r"^s3://bucket/prefix/HEAD (is damaged|names)"):
        WorkingCopy(tmp_path / "a", store).checkout()


def test_a_store_that_ignores_conditions_is_refused(store: Store, tmp_path: Path) -> None:
    objects = store._objects
    ignoring = Store(Replaced(objects, put=lambda key, content, **_: objects.put(key, content)), store.address)
    copy = WorkingCopy(fill(tmp_path / "a", FIRST), ignoring)
    copy.checkout()
    with pytest.raises(StoreError, match="ignores the conditions of writes"):
        copy.commit("first")


# --- With a real server ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[storage.Objects]:
    with storage.running(tmp_path_factory.mktemp("objects")) as objects:
        yield objects


def test_checkout_and_commit_over_http(server: storage.Objects, tmp_path: Path) -> None:
    with storage.used(server.access):
        store = stores.opened(server.address("http"))
        large = os.urandom(12 << 20)
        copy = WorkingCopy(tmp_path / "a", store)
        assert copy.checkout() is None
        fill(tmp_path / "a", FIRST)
        (tmp_path / "a/tables/large.parquet").write_bytes(large)
        copy.commit("first")
        assert copy.is_current()
        other = WorkingCopy(tmp_path / "b", stores.opened(server.address("http")))
        other.checkout()
        assert (tmp_path / "b/tables/large.parquet").read_bytes() == large
        (tmp_path / "b/tables/large.parquet").write_text("small")
        other.commit("second")
        assert not copy.is_current()
        with pytest.raises(StoreConflict, match="run second was committed"):
            copy.commit("third")
        assert store.stored_objects()[hashlib.sha256(large).hexdigest()] == 12 << 20


def test_errors_are_one_line_and_say_what_to_do(server: storage.Objects) -> None:
    with storage.used(server.access):
        with pytest.raises(StoreError, match=r"^s3://no-bucket/x: there is no such bucket; check FUNDAMENTALS_STORE"):
            stores.opened("s3://no-bucket/x").head()
        answer = pytest.raises(StoreUnavailable, match=r"/HEAD: the store does not answer \(.+\); check .*AWS")
        with away(server.stop, server.start), answer as told:
            stores.opened(server.address("x"), stores.ONCE).head()
        assert "\n" not in str(told.value)
        assert stores.opened(server.address("x")).head() is None


def observe(monkeypatch: pytest.MonkeyPatch, name: str, before: Callable[[Any, Any], object]) -> None:
    """Call a function with the arguments of a method of the store before each call."""
    original = getattr(Store, name)

    def observed(self: Store, first: Any, second: Any) -> Any:
        before(first, second)
        return original(self, first, second)

    monkeypatch.setattr(Store, name, observed)


def fill_more(root: Path, files: dict[str, str]) -> Path:
    """Write some files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).unlink(missing_ok=True)
        (root / path).write_text(text)
    return root


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
