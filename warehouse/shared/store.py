"""The store: the shared files of a home on S3-compatible object storage.

Belongs here: HEAD, objects and documents by their keys, the conditional replacement of HEAD, errors of the storage in
one line; everything that knows obstore; which files of a home are shared, so that HEAD can name no others. Does not:
files of a folder (checkout), taking over and committing them (pipelines.shared.shared_home).

    HEAD                    the content of each shared file, by path; replaced by each commit
    LEASE                   the process that may commit, because it leads a run; replaced every few seconds
    QUEUE                   the reports that wait to be served (pipelines.run.filing_queue); replaced under the lease
    FOLLOWER                the heartbeat of the follower of the SEC's newest filings (warehouse.record.follower)
    REFUSED                 the last run that was refused, because of older code (warehouse.shared.refusal)
    objects/3f/3fa2…        the content of a file, under its SHA-256
    raw/3f/3fa2….json.zst   a compressed document of the raw zone, under the SHA-256 of the uncompressed document

HEAD and LEASE are replaced only if they are unchanged since the writer read them, so of two writers one wins. Objects
are stored before HEAD names them, and removed a day after HEAD stops naming them: a reader that has just read HEAD
finds all of them.
"""

import hashlib
import os
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SHARED_FILES = ("home.json", "raw/seen.jsonl", "raw/index.json")
SHARED_FOLDERS = ("tables", "log", "published")
"""The files of a home that machines share: these files, and files in these folders whose name begins with no dot."""
HEAD, LEASE, QUEUE = "HEAD", "LEASE", "QUEUE"
OBJECTS = "objects"
DOCUMENTS = "raw"
SUFFIX = ".json.zst"
THREADS = 8
"""Number of parallel transfers: a request takes about 30 ms, however small its object is."""
KEPT = timedelta(days=1)
"""How long an object is kept that HEAD no longer names, or that no HEAD ever named."""
CHUNK = 4 << 20
RETRIES: dict[str, Any] = {
    "max_retries": 6,
    "retry_timeout": timedelta(minutes=1),
    "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=5), "base": 2},
}
"""Retries of a command: it gives up after some seconds if nobody answers."""
ONCE: Mapping[str, Any] = {"max_retries": 0, "retry_timeout": timedelta(seconds=5)}
"""A single attempt, for a service, which asks again soon by itself."""
BRIEFLY: Mapping[str, Any] = RETRIES | {"max_retries": 2}
"""Retries of a run before it reports that it waits."""
PAUSE = 1.0
"""Seconds between the attempts of a run, which waits longer for a store that does not answer."""
TIMEOUTS = {"connect_timeout": "5s", "read_timeout": "30s", "timeout": "1h"}
ADVICE = "check FUNDAMENTALS_STORE and the variables AWS_*"

Digest = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
"""A SHA-256. It becomes part of paths, so HEAD may not contain anything else."""
Size = Annotated[int, msgspec.Meta(ge=0)]
Item = TypeVar("Item")
Found = TypeVar("Found")
Report = Callable[[int, int], object]


class StoreError(WarehouseError):
    """The store cannot be used; the message is one line and says what to do."""


class StoreUnavailable(StoreError):
    """The store does not answer, or answers with an error of its own."""


class StoreConflict(StoreError):
    """Another run has replaced HEAD since this run read it; `winner` is the new HEAD."""

    def __init__(self, message: str, winner: "HeadWithTag | None" = None) -> None:
        super().__init__(message)
        self.winner = winner


class ObjectDamaged(StoreError):
    """An object that HEAD names is missing, or its content does not match its name."""


class Content(msgspec.Struct, frozen=True, array_like=True):
    """The content of a file: its SHA-256 and its size in bytes."""

    digest: Digest
    size: Size


class Head(msgspec.Struct, frozen=True):
    """The current state of the shared files.

    Attributes:
        run: the run that wrote it: the id of a synchronization, or the name of a command with the time.
        written_at: when, in UTC.
        files: the content of each shared file, by path below the home.
        links: the targets of the shared symbolic links, by path.
        retired: objects that HEAD no longer names, with the time since when.
        writer: different for each attempt to replace HEAD.
        lease: the number of the lease under which it was written.
        codes: the versions of code and rules that were in use, in their order; the last one is in force.
    """

    run: str
    written_at: datetime
    files: dict[str, Content]
    links: dict[str, str] = {}
    retired: dict[Digest, datetime] = {}
    writer: str = ""
    lease: int = 0
    codes: tuple[str, ...] = ()

    @property
    def digests(self) -> set[str]:
        """The digests of the objects that it names."""
        return {content.digest for content in self.files.values()}


class Lease(msgspec.Struct, frozen=True):
    """The lease: the right to commit, which one process at a time holds.

    Attributes:
        number: the number of the holder; each new holder has the next number.
        holder: the process that leads a run; empty: none.
        since: when it took the lease, by its own clock; for display only, never compared.
        renewed: how often it was renewed.
        writer: different for each holder.
        silence: seconds without a renewal after which the holder has lost the lease.
    """

    number: int = 0
    holder: str = ""
    since: str = ""
    renewed: int = 0
    writer: str = ""
    silence: int = 30


@dataclass(frozen=True, slots=True)
class HeadWithTag:
    """HEAD as it was read, with the entity tag by which a replacement is detected."""

    head: Head
    tag: str


def opened(address: str, attempts: Mapping[str, Any] = RETRIES, patience: float = 0.0) -> "Store":
    """Open the store at an address like `s3://bucket/prefix`; no request is sent yet.

    Region, endpoint and credentials come from the usual variables AWS_*; http is allowed if the endpoint has it.

    Args:
        address: the address.
        attempts: RETRIES or ONCE.
        patience: seconds for which a run waits for a store that does not answer. If given, each request has only a few
            attempts, whatever `attempts` says.

    Raises:
        StoreError: the address is malformed, or the package obstore is missing.
    """
    scheme, _, place = address.partition("://")
    if "@" in place:
        raise StoreError(
            "FUNDAMENTALS_STORE holds credentials; give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: "
            "the address is written in messages"
        )
    if scheme != "s3" or not place.strip("/") or place.startswith("/"):
        raise StoreError(f"FUNDAMENTALS_STORE is {address!r}, expected an address like s3://bucket/prefix")
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError as error:
        raise StoreError("FUNDAMENTALS_STORE needs the package obstore; install it with `make scale`") from error
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    retries: Any = dict(BRIEFLY if patience else attempts)
    options: Any = {**TIMEOUTS, "allow_http": endpoint.startswith("http://")}
    try:
        objects = S3Store.from_url(address.rstrip("/"), client_options=options, retry_config=retries)  # type: ignore[arg-type,unused-ignore]
    except (BaseError, ValueError) as error:
        raise StoreError(f"FUNDAMENTALS_STORE is {address!r}: {_first_line(error)}; {ADVICE}") from error
    return Store(objects, address.rstrip("/"), patience)


class Store:
    """A store; all methods may be called by several threads."""

    def __init__(self, objects: "ObjectStore", address: str, patience: float = 0.0) -> None:
        self._objects: Any = objects
        self.address = address
        self._patience, self._is_away, self._lock = patience, False, threading.Lock()
        self.stopped = threading.Event()
        """Set it to stop downloads and waiting."""

    def patiently(self, ask: Callable[[], Found]) -> Found:
        """Send a request; if the store does not answer, repeat it for as long as the store's `patience` allows.

        Raises:
            StoreUnavailable: the store has not answered for as long as a run waits.
            Exception: any other error of the request.
        """
        until = time.monotonic() + self._patience
        while True:
            try:
                found = ask()
            except StoreUnavailable as error:
                if time.monotonic() >= until or self.stopped.is_set():
                    raise
                self._tell(str(error).partition(";")[0])
                self.stopped.wait(PAUSE)
            else:
                self._is_away = False
                return found

    def _tell(self, reason: str) -> None:
        """Print once that the run waits for the store, however many threads wait."""
        with self._lock:
            is_known, self._is_away = self._is_away, True
        if not is_known:
            print(f"{reason}; this run waits for it, {self._patience:.0f} seconds at most", file=sys.stderr, flush=True)

    # --- HEAD

    def head(self, known: HeadWithTag | None = None) -> HeadWithTag | None:
        """Read HEAD; returns `known` itself if it was not replaced since. None if nothing was committed yet.

        Raises:
            StoreError: it cannot be read.
        """
        return self.patiently(lambda: self._head(known))

    def _head(self, known: HeadWithTag | None) -> HeadWithTag | None:
        from obstore.exceptions import NotModifiedError

        with self._named_errors(HEAD):
            try:
                answer = self._objects.get(HEAD, options={"if_none_match": known.tag} if known else None)
                content, tag = bytes(answer.bytes()), answer.meta["e_tag"]
            except NotModifiedError:
                return known
            except FileNotFoundError as error:
                self._require_bucket(error)
                return None
        return HeadWithTag(decoded_head(content, f"{self.address}/{HEAD}"), str(tag))

    def replace_head(
        self, run: str, files: Mapping[str, Content], links: Mapping[str, str], before: HeadWithTag | None, **marks: Any
    ) -> HeadWithTag:
        """Commit a state as HEAD, if HEAD is still `before`; all its objects must be stored already.

        Args:
            run: the id of the run.
            files, links: the content of HEAD, by path.
            before: HEAD as it was read; None: nothing is committed yet.
            marks: `lease` and `codes`, if they differ from before.

        Raises:
            StoreConflict: another run has replaced HEAD.
            StoreError: the store cannot be written.
        """
        now = datetime.now(UTC)
        head = Head(run, now, dict(sorted(files.items())), dict(links), {}, uuid.uuid4().hex)
        if before:
            gone = dict.fromkeys(before.head.digests, now) | before.head.retired
            named = head.digests
            retired = {key: at for key, at in sorted(gone.items()) if key not in named and now - at < KEPT}
            head = msgspec.structs.replace(head, retired=retired)
            head = msgspec.structs.replace(head, lease=before.head.lease, codes=before.head.codes)
        replaced = msgspec.structs.replace(head, **marks)
        return self.patiently(lambda: self._replaced(replaced, before))

    def _replaced(self, head: Head, before: HeadWithTag | None) -> HeadWithTag:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._named_errors(HEAD):
            try:
                tag = self._put_head(msgspec.json.encode(head), before)
            except (AlreadyExistsError, PreconditionError, FileNotFoundError) as error:
                self._require_bucket(error)
                winner = self._head(None)
                if winner is None:
                    raise StoreError(f"{self.address}/{HEAD} was removed meanwhile; restore it") from error
                if winner.head.writer != head.writer:  # else only its answer was lost
                    raise StoreConflict(
                        f"run {winner.head.run} was committed to {self.address} at "
                        f"{winner.head.written_at:%Y-%m-%dT%H:%M:%SZ}, while this one was running",
                        winner,
                    ) from error
                return winner
        return HeadWithTag(head, tag)

    def _put_head(self, content: bytes, before: HeadWithTag | None) -> str:
        """Replace HEAD conditionally; the first time also make sure that the store supports conditions."""
        from obstore.exceptions import AlreadyExistsError

        result = self._objects.put(HEAD, content, mode={"e_tag": before.tag} if before else "create")
        if before is None:
            try:
                self._objects.put(HEAD, content, mode="create")
            except AlreadyExistsError:
                pass
            else:
                raise StoreError(
                    f"{self.address} ignores the conditions of writes (If-None-Match, If-Match), so two publishers "
                    "would overwrite each other; use a store that knows them"
                )
        return str(result["e_tag"])

    # --- The lease

    def lease(self) -> "tuple[Lease, str | None]":
        """Read the lease and its entity tag, by which a replacement is detected; no tag if nobody ever held it.

        Raises:
            StoreError: it cannot be read, or is damaged.
        """
        with self._named_errors(LEASE):
            try:
                answer = self._objects.get(LEASE)
                return msgspec.json.decode(bytes(answer.bytes()), type=Lease), str(answer.meta["e_tag"])
            except FileNotFoundError as error:
                self._require_bucket(error)
                return Lease(), None
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                advice = "delete it while no run is under way"
                raise ObjectDamaged(f"{self.address}/{LEASE} is damaged ({error}); {advice}") from error

    def replace_lease(self, lease: "Lease", tag: str | None) -> str | None:
        """Replace the lease if it still has the given tag (None: if there is no lease yet); return its new tag.

        Returns:
            None: another process has replaced it.

        Raises:
            StoreError: it cannot be written.
        """
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._named_errors(LEASE):
            try:
                mode = {"e_tag": tag} if tag else "create"
                return str(self._objects.put(LEASE, msgspec.json.encode(lease), mode=mode)["e_tag"])
            except (AlreadyExistsError, PreconditionError, FileNotFoundError) as error:
                self._require_bucket(error)
                there, tag = self.lease()
                return tag if there == lease else None  # equal: only the answer was lost

    # --- Notes

    def note(self, key: str) -> bytes | None:
        """Read a small object that does not belong to the state in HEAD; None if it does not exist.

        Raises:
            StoreError: it cannot be read.
        """
        return self.patiently(lambda: self._note(key))

    def _note(self, key: str) -> bytes | None:
        with self._named_errors(key):
            try:
                return bytes(self._objects.get(key).bytes())
            except FileNotFoundError as error:
                self._require_bucket(error)
                return None

    def put_note(self, key: str, content: bytes) -> None:
        """Replace a small object that does not belong to the state in HEAD; the last writer wins.

        Raises:
            StoreError: it cannot be written.
        """
        self.patiently(lambda: self._put_note(key, content))

    def _put_note(self, key: str, content: bytes) -> None:
        with self._named_errors(key):
            try:
                self._objects.put(key, content)
            except FileNotFoundError as error:
                self._require_bucket(error)
                raise

    # --- Objects

    def put_object(self, path: Path) -> Content:
        """Store the content of a file.

        Raises:
            StoreError: the store cannot be written.
            OSError: the file cannot be read.
        """
        with path.open("rb") as file:
            content = Content(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)
        self.put_content(content, path)
        return content

    def put_content(self, content: Content, path: Path) -> None:
        """Store the content of a file with a known digest; an object that is already stored is written again."""
        self.patiently(lambda: self._put(_object_key(content.digest), path))

    def fetch_object(self, digest: str, to: Path) -> Path:
        """Download an object, verify it, and put it in place under the path `to`, atomically.

        Raises:
            ObjectDamaged: it is missing or damaged; then no file is written.
            StoreError: it cannot be read.
            OSError: the file cannot be written.
        """
        return self.patiently(lambda: self._fetched(digest, to))

    def _fetched(self, digest: str, to: Path) -> Path:
        key = _object_key(digest)
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = to.with_name(f".{to.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        found = hashlib.sha256()
        try:
            with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                for chunk in self._chunks(key):
                    found.update(chunk)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            if found.hexdigest() != digest:
                raise ObjectDamaged(f"{self.address}/{key} is damaged: its content has another SHA-256; {MEND}")
            written.replace(to)
        finally:
            written.unlink(missing_ok=True)
        return to

    # --- Documents

    def put_document(self, digest: str, path: Path) -> None:
        """Store a document from a file, in which it is compressed."""
        self.patiently(lambda: self._put(_document_key(digest), path))

    def document(self, digest: str) -> bytes | None:
        """A document as it was stored, compressed and not verified; None if it is not stored.

        Raises:
            StoreError: it cannot be read.
        """
        return self.patiently(lambda: self.note(_document_key(digest)))

    # --- Examination and removal

    def stored_objects(self) -> dict[str, int]:
        """The size of each stored object by its digest; a request lists 1,000."""
        return {name: size for name, size, _ in self._listed(OBJECTS)}

    def stored_documents(self) -> set[str]:
        """The digests of all stored documents; a request lists 1,000."""
        return {name.removesuffix(SUFFIX) for name, *_ in self._listed(DOCUMENTS)}

    def remove_unnamed(self, held: HeadWithTag) -> int:
        """Remove the objects that HEAD has not named for a day; return their number.

        Nothing is removed if HEAD has been replaced since `held`: then the run that replaced it removes them.

        Raises:
            StoreError: the store cannot be read or written.
        """
        named = held.head.digests | held.head.retired.keys()
        before = datetime.now(UTC) - KEPT
        idle = [_object_key(name) for name, _, at in self._listed(OBJECTS) if name not in named and at < before]
        if not idle or self.head(held) is not held:
            return 0
        with self._named_errors(OBJECTS):
            self._objects.delete(idle)
        return len(idle)

    def _listed(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        """Name, size and time of all objects in a folder."""
        with self._named_errors(folder):
            for some in self._objects.list(f"{folder}/", chunk_size=1000):
                yield from ((each["path"].rpartition("/")[2], each["size"], each["last_modified"]) for each in some)

    def _put(self, key: str, path: Path) -> None:
        with path.open("rb") as file, self._named_errors(key):
            try:
                self._objects.put(key, file)
            except FileNotFoundError as error:
                self._require_bucket(error)
                raise

    def _chunks(self, key: str) -> Iterator[bytes]:
        """The content of an object, piece by piece."""
        with self._named_errors(key):
            try:
                for chunk in self._objects.get(key).stream(min_chunk_size=CHUNK):
                    if self.stopped.is_set():
                        raise StoreUnavailable(f"{self.address}/{key}: the download was stopped")
                    yield chunk
            except FileNotFoundError as error:
                self._require_bucket(error)
                raise ObjectDamaged(f"{self.address}/{key} is missing; {MEND}") from error

    def _require_bucket(self, error: Exception) -> None:
        """Raise a clear error if the bucket is missing, and not only the object."""
        if "NoSuchBucket" in str(error):
            raise StoreError(f"{self.address}: there is no such bucket; {ADVICE}") from error

    @contextmanager
    def _named_errors(self, key: str) -> Iterator[None]:
        """Raise errors of the storage as StoreError, with the address and a message of one line."""
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except (PermissionDeniedError, UnauthenticatedError) as error:
            advice = "check the credentials and what they allow: AWS_ACCESS_KEY_ID and others"
            raise StoreError(f"{self.address}/{key}: access was refused ({_reason(error)}); {advice}") from error
        except (BaseError, ConnectionError, TimeoutError) as error:
            raise StoreUnavailable(
                f"{self.address}/{key}: the store does not answer ({_reason(error)}); {ADVICE}, and try again later"
            ) from error


MEND = "`fundamentals doctor --repair` in a home that has the file stores it again; delete a damaged object before"


def together(work: Callable[[Item], object], items: Iterable[Item], report: Report = lambda *_: None) -> None:
    """Call a function for all items in several threads; after an error no further calls start, and it is raised."""
    with ThreadPoolExecutor(THREADS) as threads:
        calls = [threads.submit(work, item) for item in items]
        try:
            for number, call in enumerate(as_completed(calls), 1):
                call.result()
                report(number, len(calls))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def decoded_head(content: bytes, place: str) -> Head:
    """Decode HEAD; `place` is its name in messages.

    Raises:
        ObjectDamaged: it is not HEAD, or it names files of a home that machines do not share.
    """
    try:
        head = msgspec.json.decode(content, type=Head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ObjectDamaged(f"{place} is damaged ({error}); restore an earlier version of it") from error
    if outside := [path for path in (*head.files, *head.links, *_targets(head)) if not _is_shared(path)]:
        raise ObjectDamaged(f"{place} names {outside[0]!r}, which is no file that machines share")
    return head


def _object_key(digest: str) -> str:
    return f"{OBJECTS}/{digest[:2]}/{digest}"


def _document_key(digest: str) -> str:
    return f"{DOCUMENTS}/{digest[:2]}/{digest}{SUFFIX}"


def _targets(head: Head) -> Iterator[str]:
    """The targets of the links, as paths below the home."""
    return (f"{path.rpartition('/')[0]}/{target}" for path, target in head.links.items())


def _is_shared(path: str) -> bool:
    folder, *names = path.split("/")
    in_folder = folder in SHARED_FOLDERS and names and all(name and name[0] != "." for name in names)
    return path in SHARED_FILES or (bool(in_folder) and "\0" not in path)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


SAID = (
    re.compile(r"<Code>(.*?)</Code>"),
    re.compile(r'kind: \w+, message: "(.*?)"'),
    re.compile(r"(status code: .*)"),
    re.compile(r"kind: (Timeout|Connect|Decode|Body)"),
)
"""Patterns for the reason in the text of an error of obstore, the clearest first."""


def _reason(error: Exception) -> str:
    """The reason why a request failed, in a few words from an error of several lines."""
    found = next((match[1] for pattern in SAID if (match := pattern.search(str(error)))), None)
    return (found or _first_line(error))[:200]
