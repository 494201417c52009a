"""The raw zone: every document as received, for ever, and what was last seen of each company.

Belongs here: the files below `raw/` of a home. A document is stored once under the digest of its content and
never written again; `seen.jsonl` is the one file that changes, and it is replaced as a whole.
Does not: asking for documents (extract) or reading what is in them (documents).

    raw/3f/3fa2….json.zst   a document, compressed
    raw/incoming/           being written; what a killed run left here is swept by the next
    raw/seen.jsonl          one line for each document asked for
"""

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec
import zstandard

from pipelines.edgar.answers import MAX_BYTES, Validators
from pipelines.edgar.errors import CorruptError, RawStoreError

Kind = Literal["tickers", "companyfacts", "submissions"]
Status = Literal["ok", "no_facts"]

LEVEL = 3  # of zstd: companyfacts shrink to a fifteenth at 400 MB/s


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was last seen of one document.

    `no_facts` is EDGAR's 404: there is no such document. The digest is then that of the last one held, if any,
    for a document that EDGAR drops stays in the raw zone. `source` tells whose the status and the validators are:
    that a mirror lacks a document says nothing about the SEC.
    """

    cik: str  # ten digits; empty for the tickers file
    kind: Kind
    status: Status
    source: str
    fetched_at: datetime
    digest: str | None = None
    etag: str | None = None
    last_modified: str | None = None

    @property
    def validators(self) -> Validators:
        """What to ask with whether the document has changed."""
        return Validators(self.etag, self.last_modified)


class RawStore:
    """The raw zone of one home. Written by one synchronization at a time, read by any number."""

    def __init__(self, home: Path) -> None:
        self.root = home / "raw"
        self._seen_file = self.root / "seen.jsonl"
        self._incoming = self.root / "incoming"
        self._lock = threading.Lock()
        self._seen = {(row.cik, row.kind): row for row in self._read_seen()}

    def path(self, digest: str) -> Path:
        """Where the document of this digest is, or would be."""
        return self.root / digest[:2] / f"{digest}.json.zst"

    def has(self, digest: str) -> bool:
        """Whether the document of this digest is held."""
        return self.path(digest).is_file()

    def put(self, content: bytes) -> str:
        """Keep a document and return the SHA-256 of its content; one that is held already is left alone.

        Raises:
            RawStoreError: the disk refuses.
        """
        digest = hashlib.sha256(content).hexdigest()
        if not self.has(digest):
            self._write(self.path(digest), zstandard.ZstdCompressor(level=LEVEL).compress(content))
        return digest

    def get(self, digest: str) -> bytes:
        """The document of this digest, exactly as it was received.

        Raises:
            RawStoreError: it is not held, or the disk refuses.
            CorruptError: the file is not what its name says.
        """
        path = self.path(digest)
        with _told(path, "read"):
            packed = path.read_bytes()
        content = _unpacked(packed)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            raise CorruptError(f"{path} is corrupt; delete it and synchronize again, which fetches the document anew")
        return content

    def seen(self, cik: str, kind: Kind) -> Seen | None:
        """What was last seen of a document; None where it was never asked for."""
        return self._seen.get((cik, kind))

    def note(self, row: Seen) -> None:
        """Remember what was seen; on disk with the next checkpoint."""
        with self._lock:
            self._seen[row.cik, row.kind] = row

    def checkpoint(self) -> None:
        """Replace the file of what was seen by what is known now: whole or not at all.

        Raises:
            RawStoreError: the disk refuses.
        """
        with self._lock:
            rows = sorted(self._seen.values(), key=lambda row: (row.cik, row.kind))
        self._write(self._seen_file, msgspec.json.Encoder().encode_lines(rows))

    def sweep(self) -> None:
        """Remove what a killed run was writing. Only for whoever may write: it is not asked who else does."""
        with _told(self._incoming, "written"):
            for left_over in self._incoming.glob("*"):
                left_over.unlink(missing_ok=True)

    def _read_seen(self) -> list[Seen]:
        with _told(self._seen_file, "read"):
            lines = self._seen_file.read_bytes() if self._seen_file.exists() else b""
        try:
            return msgspec.json.Decoder(Seen).decode_lines(lines)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            advice = "delete it, and the next synchronization asks for every document again"
            raise RawStoreError(f"{self._seen_file} is not as it was written ({error}); {advice}") from error

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file so that it is there whole or not at all, whenever the process or the machine dies."""
        with _told(path, "written"):
            self._incoming.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(exist_ok=True)
            incoming = self._incoming / f"{path.name}.{os.getpid()}.{threading.get_ident()}"
            try:
                with incoming.open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                incoming.replace(path)
            except BaseException:
                incoming.unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unpacked(packed: bytes) -> bytes | None:
    """The content of a stored file; None where it cannot be one. The size it claims is looked at before it is made."""
    try:
        if not 0 <= zstandard.frame_content_size(packed) <= MAX_BYTES:
            return None
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError:
        return None


@contextmanager
def _told(path: Path, done: str) -> Iterator[None]:
    """Tell a refusal of the disk in one line, with the file."""
    try:
        yield
    except OSError as error:
        raise RawStoreError(f"{path} cannot be {done}: {error.strerror}; check the disk and the permissions") from error
