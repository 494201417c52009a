"""The raw zone: documents are stored unchanged and once, and never partially."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.edgar.answers import Validators
from pipelines.edgar.decode.documents import OlderPage
from pipelines.edgar.errors import CorruptError, RawStoreError
from pipelines.edgar.fetch.raw_store import Page, RawStore, Seen, digests_in

NOW = datetime(2026, 8, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> RawStore:
    return RawStore(tmp_path)


def seen(cik: str = "0000001234", **changes: object) -> Seen:
    usual = {"cik": cik, "kind": "companyfacts", "status": "ok", "source": "live", "fetched_at": NOW}
    return Seen(**(usual | changes))


def files(store: RawStore) -> list[str]:
    return sorted(str(path.relative_to(store.root)) for path in store.root.rglob("*") if path.is_file())


def refuse(*_: object) -> None:
    """In place of a call of the system: the disk is full."""
    raise OSError(28, "No space left on device")


@given(content=st.binary(max_size=5000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_a_stored_document_is_read_back(store, content):
    digest = store.put(content)
    assert (digest, store.get(digest)) == (hashlib.sha256(content).hexdigest(), content)


def test_a_document_is_stored_once_compressed_under_its_digest(store):
    content = b'{"cik":1234}' * 1000
    digest = store.put(content)
    path = store.path(digest)
    first = path.stat()

    assert store.put(content) == digest

    assert files(store) == [f"{digest[:2]}/{digest}.json.zst"]
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    assert first.st_size < len(content) / 50
    assert zstandard.ZstdDecompressor().decompress(path.read_bytes()) == content


def test_documents_of_filings_lie_apart(store):
    """They are read like all other documents, and get their names together."""
    content = b"PK a data set"
    digest = store.put_filing(content)
    assert store.filing_files() == []
    store.name_documents()
    assert files(store) == [f"filings/{digest[:2]}/{digest}.zst"]
    assert store.filing_files() == [store.filing_path(digest)]
    assert (RawStore(store.home).get(digest), store.put_filing(content)) == (content, digest)
    assert list((store.root / "incoming").iterdir()) == []


def test_stored_documents_are_listed(store):
    assert not store.has("0" * 64)
    assert store.has(store.put(b"{}"))


@pytest.mark.parametrize(
    "harm",
    [
        lambda packed: packed[:-1],
        lambda packed: packed[:3],
        lambda packed: b"",
        lambda packed: b"no zstd at all",
        lambda packed: zstandard.ZstdCompressor().compress(b"another document"),
        lambda packed: packed[:4] + b"\xe0" + b"\xff" * 8 + packed[5:],  # declares a size beyond all memory
    ],
)
def test_a_damaged_document_is_reported_with_its_file(store, harm):
    digest = store.put(b'{"cik":1234,"entityName":"Example Tools"}')
    path = store.path(digest)
    path.write_bytes(harm(path.read_bytes()))

    with pytest.raises(CorruptError, match="is corrupt; delete it and synchronize again") as error:
        store.get(digest)

    assert str(path) in str(error.value)


def test_a_document_deleted_as_advised_can_be_stored_again(store):
    digest = store.put(b"{}")
    store.path(digest).unlink()
    with pytest.raises(CorruptError, match="is missing; `fundamentals sync --full` fetches"):
        store.get(digest)

    assert (store.put(b"{}"), store.get(digest)) == (digest, b"{}")


def test_observations_are_known_after_a_checkpoint(store, tmp_path):
    row = seen(digest="ab" * 32, etag='"one"', last_modified="Sat, 01 Aug 2026 00:00:00 GMT")
    absent = seen("0000000007", status="no_facts")
    store.note(row)
    store.note(absent)
    assert RawStore(tmp_path).seen("0000001234", "companyfacts") is None

    store.checkpoint()

    known = (("0000001234", "companyfacts"), ("0000000007", "companyfacts"), ("0000001234", "submissions"))
    for each in (RawStore(tmp_path), store):
        assert [each.seen(*of) for of in known] == [row, absent, None]
    assert row.validators == Validators('"one"', "Sat, 01 Aug 2026 00:00:00 GMT")


def test_the_newest_observation_counts_and_the_file_does_not_depend_on_order(store):
    for observation in (seen("2" * 10), seen("1" * 10, status="no_facts"), seen("1" * 10)):
        store.note(observation)
    store.checkpoint()
    file = store.root / "seen.jsonl"
    first = file.read_bytes()

    store.note(seen("2" * 10))
    store.checkpoint()

    assert file.read_bytes() == first
    assert [line.split(b'"')[3] for line in first.splitlines()] == [b"1" * 10, b"2" * 10]


def test_pages_of_older_filings_are_documents_in_use(store):
    listed = OlderPage("CIK0000001234-submissions-001.json", 3, "2009-01-01", "2010-01-01")
    pages = [Page(listed, "cd" * 32), Page(listed, None)]
    store.note(seen(kind="submissions", digest="ab" * 32, pages=pages, pages_for="ef" * 32))
    store.checkpoint()
    assert RawStore(store.home).seen("0000001234", "submissions").pages == pages
    assert digests_in(store.root / "seen.jsonl") == {"ab" * 32, "cd" * 32}


def test_a_document_is_read_before_it_has_its_name(store):
    digest = store.put(b"content", at_checkpoint=True)
    assert not store.path(digest).exists()
    assert store.get(digest) == b"content"
    store.checkpoint()
    assert store.get(digest) == b"content"


def test_threads_may_record_observations_during_a_checkpoint(store, tmp_path):
    def note(worker: int) -> None:
        for number in range(300):
            store.note(seen(f"{worker:05}{number:05}"))

    with ThreadPoolExecutor(4) as pool:
        noting = [pool.submit(note, worker) for worker in range(4)]
        while not all(each.done() for each in noting):
            store.checkpoint()
    store.checkpoint()

    again = RawStore(tmp_path)
    assert all(again.seen(f"{worker:05}{number:05}", "companyfacts") for worker in range(4) for number in range(300))


@pytest.mark.parametrize("content", [b'{"cik":"0000001234","kind":"comp', b'{"cik":1}\n', b"\xff\n", b"[]\n"])
def test_a_damaged_file_of_observations_is_an_error_that_says_what_to_do(tmp_path, content):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "seen.jsonl").write_bytes(content)
    with pytest.raises(RawStoreError, match=r"seen\.jsonl is damaged .*; delete it"):
        RawStore(tmp_path)


def test_a_failed_write_leaves_no_file(store, monkeypatch):
    monkeypatch.setattr("pipelines.edgar.fetch.raw_store.os.fsync", refuse)

    with pytest.raises(RawStoreError, match="cannot be written: No space left on device; check the disk"):
        store.put(b"{}")

    assert files(store) == []


def test_an_unwritable_home_is_reported(tmp_path):
    (tmp_path / "raw").write_text("a file where the folder should be")
    with pytest.raises(RawStoreError, match="cannot be"):
        RawStore(tmp_path).put(b"{}")


def test_files_of_a_killed_run_are_removed(store):
    digest = store.put(b"{}")
    (store.root / "incoming" / "half.json.zst.1.1").write_bytes(b"half")

    store.sweep()

    assert files(store) == [f"{digest[:2]}/{digest}.json.zst"]


def test_reading_does_not_create_a_raw_zone(tmp_path):
    store = RawStore(tmp_path)
    store.sweep()
    assert store.seen("0000001234", "companyfacts") is None
    assert list(tmp_path.iterdir()) == []


# --- documents that get their names at a checkpoint


def test_documents_are_named_at_the_checkpoint_before_they_are_recorded(store, monkeypatch):
    """The disk is waited for once; no record names a document that is not on it."""
    waited: list[list[str]] = []
    monkeypatch.setattr("pipelines.edgar.fetch.raw_store.os.sync", lambda: waited.append(files(store)))
    digests = [store.put(content, at_checkpoint=True) for content in (b"{}", b"[]", b"{}")]
    incoming = sorted(f"incoming/{digest}.json.zst" for digest in set(digests))
    assert files(store) == incoming
    assert all(map(store.has, digests))

    store.checkpoint()
    store.checkpoint()

    assert waited == [incoming]
    assert (store.get(digests[0]), store.put(b"[]")) == (b"{}", digests[1])
    named = sorted(f"{digest[:2]}/{digest}.json.zst" for digest in set(digests))
    assert files(store) == sorted([*named, "seen.jsonl"])


def test_a_run_that_is_killed_before_the_checkpoint_leaves_nothing(store):
    digest = store.put(b"{}", at_checkpoint=True)
    again = RawStore(store.home)
    assert not again.has(digest)
    again.sweep()
    assert files(again) == []
    assert again.get(again.put(b"{}")) == b"{}"


def test_documents_that_cannot_be_written_are_reported(store, monkeypatch):
    digest = store.put(b"{}", at_checkpoint=True)
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(RawStoreError, match="cannot be written: No space left"):
        store.checkpoint()
    with pytest.raises(RawStoreError, match="cannot be written: No space left"):
        store.put(b"[]", at_checkpoint=True)
    assert store.has(digest)


def test_threads_may_store_documents_during_checkpoints(store):
    contents = [str(number).encode() for number in range(200)]

    def put(content: bytes) -> str:
        digest = store.put(content, at_checkpoint=True)
        store.note(seen(digest))
        return digest

    with ThreadPoolExecutor(4) as pool:
        stored = pool.map(put, contents)
        for _ in range(5):
            store.checkpoint()
        digests = list(stored)
    store.checkpoint()
    assert [store.get(digest) for digest in digests] == contents
    assert not list((store.root / "incoming").iterdir())
