"""The raw zone: every document as received, never deleted, and the result of the last request for each document.

Belongs here: the files below `raw/` of a home. A document is stored once under the digest of its content and never
changed; `seen.jsonl` is the only file that changes, and it is replaced as a whole.
Does not: requesting documents (extract), reading their contents (documents).

    raw/3f/3fa2….json.zst   a document, compressed
    raw/filings/3f/3fa2….zst  a data set, or a file of a filing's package, compressed; backups leave these out
    raw/incoming/           documents until the next checkpoint; the next run deletes the remainders of a killed run
    raw/seen.jsonl          one line for each requested document; documents of filings are in tables instead

With FUNDAMENTALS_STORE, documents that are not in this folder are fetched from the store when they are read. Documents
of filings that are not in the store either are requested from the source again.
"""

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec
import zstandard

from pipelines.edgar.answers import MAX_BYTES, Validators
from pipelines.edgar.decode.documents import OlderPage
from pipelines.edgar.errors import CorruptError, RawStoreError
from pipelines.settings import store_patience
from warehouse.shared.checkout import STAMPS
from warehouse.shared.store import Store, opened, together

Kind = Literal["tickers", "companyfacts", "submissions"]
Status = Literal["ok", "no_facts"]

SUFFIX = ".json.zst"
FILINGS, FILING_SUFFIX = "filings", ".zst"
LEVEL = 3  # of zstd: companyfacts shrink to a fifteenth at 400 MB/s


class Page(msgspec.Struct, frozen=True):
    """A page of older filings that was requested, as the submissions document listed it then.

    The digest is None if the page could not be read; then it is requested again.
    """

    listed: OlderPage
    digest: str | None


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of the last request for one document.

    `no_facts` is EDGAR's 404: the document does not exist. Its digest then names the last stored version, if any,
    because a document that EDGAR removes stays in the raw zone. `source` is the source of the status and the
    validators: a document that is missing in a mirror may exist at the SEC. `pages` are the older pages of a
    submissions document, and `pages_for` is the digest of the companyfacts for whose filings they were requested; None:
    they have to be requested.
    """

    cik: str  # ten digits; empty for the tickers file
    kind: Kind
    status: Status
    source: str
    fetched_at: datetime
    digest: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    size: int | None = None
    crc: int | None = None  # CRC-32 of the content, as archives have it
    pages: list[Page] = []
    pages_for: str | None = None

    @property
    def digests(self) -> list[str]:
        """The digests of the document and of its pages, as far as they are stored."""
        return [digest for digest in (self.digest, *(page.digest for page in self.pages)) if digest]

    @property
    def validators(self) -> Validators:
        """The validators for a conditional request."""
        return Validators(self.etag, self.last_modified, self.size, self.crc)


class Documents:
    """Reads the documents of a raw zone; any number of processes may read at the same time."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "raw"

    @cached_property
    def remote(self) -> Store | None:
        """The store that has the documents of all machines; None if FUNDAMENTALS_STORE is not set.

        Raises:
            StoreError: FUNDAMENTALS_STORE is not an address, or a package is missing.
        """
        address = os.environ.get("FUNDAMENTALS_STORE")
        return opened(address, patience=store_patience()) if address else None

    def path(self, digest: str) -> Path:
        """The file of the document with this digest, whether it exists or not."""
        return self.root / digest[:2] / f"{digest}{SUFFIX}"

    def filing_path(self, digest: str) -> Path:
        """The file of the document of a filing with this digest, whether it exists or not."""
        return self.root / FILINGS / digest[:2] / f"{digest}{FILING_SUFFIX}"

    def filing_files(self) -> list[Path]:
        """The files of all documents of filings."""
        return sorted((self.root / FILINGS).glob(f"??/*{FILING_SUFFIX}"))

    def has(self, digest: str) -> bool:
        """Whether the document with this digest is stored."""
        return os.path.isfile(f"{self.root}/{digest[:2]}/{digest}{SUFFIX}")  # noqa: PTH113 - three times as fast

    def get(self, digest: str) -> bytes:
        """The document with this digest, exactly as it was received.

        Raises:
            RawStoreError: the file cannot be read.
            CorruptError: the document is not stored, or its content does not match the digest.
            StoreError: the document is not in this folder, and the store does not answer.
        """
        content = _unpacked(self._packed(digest))
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            advice = "delete it and synchronize again, which fetches the document again"
            raise CorruptError(f"{self.path(digest)} is corrupt; {advice}")
        return content

    def _packed(self, digest: str) -> bytes:
        path = self.path(digest)
        if not path.exists() and (of_filing := self.filing_path(digest)).exists():
            path = of_filing
        elif not path.exists() and self.remote:
            self._fetch(path)
        if not path.exists():
            raise CorruptError(f"{path} is missing; `fundamentals sync --full` fetches the document again")
        with _named_errors(path, "read"):
            return path.read_bytes()

    def bring(self, digests: Iterable[str]) -> None:
        """Fetch documents that are missing in this folder from the store, several at a time; without a store, do
        nothing.

        Raises:
            RawStoreError: a document cannot be written.
            StoreError: the store does not answer.
        """
        if self.remote:
            together(self._fetch, [self.path(digest) for digest in digests if not self.path(digest).exists()])

    def bring_filings(self, digests: Iterable[str]) -> None:
        """Fetch missing documents of filings, one after the other, because a data set has a hundred megabytes."""
        for place in map(self.filing_path, digests) if self.remote else ():
            if not place.exists():
                self._fetch(place)

    def _fetch(self, place: Path) -> None:
        """Fetch a document from the store; if it is missing or damaged there, nothing is written."""
        digest = place.name.partition(".")[0]
        packed = self.remote.document(digest) if self.remote else None
        if packed is not None and _digest(packed) == digest:
            self._write(place, packed)

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file completely or not at all, even if the process or the machine stops."""
        incoming = self.root / "incoming"
        with _named_errors(path, "written"):
            incoming.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            written = incoming / f"{path.name}.{os.getpid()}.{threading.get_ident()}"
            try:
                with written.open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                written.replace(path)
            except BaseException:
                written.unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)


class RawStore(Documents):
    """The raw zone of one home. One synchronization writes at a time."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._seen_file = self.root / "seen.jsonl"
        self._incoming = self.root / "incoming"
        self._lock = threading.Lock()
        self._unnamed: dict[str, Path] = {}
        self._seen = {(row.cik, row.kind): row for row in _rows(self._seen_file)}
        is_shared = self.remote is not None and (home / STAMPS).exists()
        rows = self._seen.values() if is_shared else ()
        self._elsewhere = {digest for row in rows for digest in row.digests}

    def has(self, digest: str) -> bool:
        """Whether the document is stored in this folder or in the store, or gets its name at the next checkpoint."""
        return digest in self._unnamed or super().has(digest) or digest in self._elsewhere

    def put(self, content: bytes, *, at_checkpoint: bool = False) -> str:
        """Store a document, unless it is stored already, and return the SHA-256 of its content.

        Args:
            content: the document.
            at_checkpoint: the file gets its name at the next checkpoint, which waits for the disk once for all
                documents; waiting for each document takes several milliseconds.

        Raises:
            RawStoreError: the file cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        if not self.has(digest):
            self._put(digest, self.path(digest), content, at_checkpoint=at_checkpoint)
        return digest

    def put_filing(self, content: bytes) -> str:
        """Store a document of a filing, unless it is stored already, and return the SHA-256 of its content.

        `name_documents` gives the file its name.

        Raises:
            RawStoreError: the file cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        place = self.filing_path(digest)
        if digest not in self._unnamed and not place.exists():
            self._put(digest, place, content, at_checkpoint=True)
        return digest

    def _put(self, digest: str, place: Path, content: bytes, *, at_checkpoint: bool) -> None:
        """Write a document; it moves to its place now or at the next checkpoint."""
        packed = zstandard.ZstdCompressor(level=LEVEL).compress(content)
        if not at_checkpoint:
            self._write(place, packed)
            return
        path = self._incoming / place.name
        with _named_errors(path, "written"):
            self._incoming.mkdir(parents=True, exist_ok=True)
            written = self._incoming / f"{path.name}.{os.getpid()}.{threading.get_ident()}"
            written.write_bytes(packed)
            written.replace(path)
        with self._lock:
            self._unnamed[digest] = place

    def _packed(self, digest: str) -> bytes:
        path = self._incoming / self._unnamed.get(digest, self.path(digest)).name
        with _named_errors(path, "read"), suppress(FileNotFoundError):  # a checkpoint may rename it meanwhile
            if digest in self._unnamed:
                return path.read_bytes()
        return super()._packed(digest)

    def seen(self, cik: str, kind: Kind) -> Seen | None:
        """The result of the last request for a document; None if it was never requested."""
        return self._seen.get((cik, kind))

    def all_seen(self) -> list[Seen]:
        """The results of the last requests for all documents."""
        return list(self._seen.values())

    def note(self, row: Seen) -> None:
        """Record the result of a request; the next checkpoint writes it to the disk."""
        with self._lock:
            self._seen[row.cik, row.kind] = row

    def checkpoint(self) -> None:
        """Give all documents their names, then write all recorded results, completely or not at all.

        Raises:
            RawStoreError: a file cannot be written.
        """
        with self._lock:
            rows = sorted(self._seen.values(), key=lambda row: (row.cik, row.kind))
        self.name_documents()
        self._write(self._seen_file, msgspec.json.Encoder().encode_lines(rows))

    def name_documents(self) -> None:
        """Wait until the documents are on the disk, and give them their names.

        Documents of filings are put into the store first; other documents go there with a commit.

        Raises:
            RawStoreError: a file cannot be named.
            StoreError: the store cannot be written.
        """
        with self._lock:
            places = sorted(self._unnamed.items())
        if not places:
            return
        os.sync()
        if store := self.remote:
            of_filings = [(digest, place) for digest, place in places if place == self.filing_path(digest)]
            together(lambda each: store.put_document(each[0], self._incoming / each[1].name), of_filings)
        folders = {place.parent for _, place in places}
        with _named_errors(self._incoming, "written"):
            for folder in folders:
                folder.mkdir(parents=True, exist_ok=True)
            for _, place in places:
                (self._incoming / place.name).replace(place)
            for folder in folders:
                _sync_folder(folder)
        with self._lock:
            for digest, _ in places:
                del self._unnamed[digest]

    def sweep(self) -> None:
        """Delete unfinished files of killed runs. Called only by the process that may write."""
        with _named_errors(self._incoming, "written"):
            for left_over in self._incoming.glob("*"):
                left_over.unlink(missing_ok=True)


def digests_in(seen: Path) -> set[str]:
    """The digests of the documents that a file `seen.jsonl` names; empty if the file is missing.

    Raises:
        RawStoreError: the file cannot be read.
    """
    return {digest for row in _rows(seen) for digest in row.digests}


def _rows(seen: Path) -> list[Seen]:
    """The lines of a file `seen.jsonl`."""
    with _named_errors(seen, "read"):
        lines = seen.read_bytes() if seen.exists() else b""
    try:
        return msgspec.json.Decoder(Seen).decode_lines(lines)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        advice = "delete it, and the next synchronization requests every document again"
        raise RawStoreError(f"{seen} is damaged ({error}); {advice}") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digest(packed: bytes) -> str | None:
    """The digest of the content of a stored file; None if the file is not valid."""
    content = _unpacked(packed)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _unpacked(packed: bytes) -> bytes | None:
    """The content of a stored file; None if the file is not valid. The stated size is checked before decompression."""
    try:
        if not 0 <= zstandard.frame_content_size(packed) <= MAX_BYTES:
            return None
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError:
        return None


@contextmanager
def _named_errors(path: Path, done: str) -> Iterator[None]:
    """Convert errors of the disk to RawStoreError, with the file and a message of one line."""
    try:
        yield
    except OSError as error:
        raise RawStoreError(f"{path} cannot be {done}: {error.strerror}; check the disk and the permissions") from error
