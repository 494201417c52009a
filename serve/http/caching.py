"""The response cache: encoded bodies, their validators and their freshness.

Belongs here: ETag, Last-Modified and Cache-Control (RFC 9110 and 9111), content codings, the bounded cache. Does not:
the content of responses (api.endpoints), the checks before a response (api.interface).
"""

import gzip
import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from functools import lru_cache
from typing import Any

import msgspec
import zstandard
from starlette.types import Receive, Scope, Send

from warehouse.build.pointer import Pointer
from warehouse.record.schedule import next_synchronization

Field = tuple[bytes, bytes]  # a header field: name in lower case, value
Sent = Mapping[bytes, bytes]  # the header fields of a request, by name

OLDEST = 4 * 3600  # largest max-age of a response, seconds: "a few hours"
PUBLIC = 3600  # max-age of responses that are the same for all clients, seconds
WORTH_CODING = 512  # bytes; compressing a smaller body saves nothing
LARGEST = 160 * 1024 * 1024  # bytes of all cached representations in all codings: the usual ones of 6,000 companies
OVERHEAD = 1024  # bytes of memory that a cache entry needs in addition to its bodies
SPELLINGS = 2  # targets (paths with queries) by which a representation is found quickly
HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"  # the obsolete date forms of HTTP are treated as invalid
CODERS = {
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
"""Compressors by content coding, in order of preference for a client that accepts all of them equally."""


class Answer:
    """An ASGI response that is ready to be sent: status, parts of the head (lines, without the first), body."""

    __slots__ = ("body", "head", "status")

    def __init__(self, status: int, head: list[bytes], body: bytes = b"") -> None:
        self.status, self.head, self.body = status, head, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        fields = [line.split(b": ", 1) for line in b"".join(self.head).splitlines()]
        headers = [(name.lower(), value) for name, value in fields]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class Coded(msgspec.Struct, frozen=True, gc=False):
    """A body in a content coding, and the lines of the head that describe it."""

    body: bytes
    lines: bytes


class Representation:
    """The body of a 200 response, with its validators and compressed forms; valid for one build and synchronization."""

    __slots__ = (
        "_coded", "_generated_at", "_lines", "_modified_at", "_tag",
        "is_public", "is_recent", "path", "size", "tag", "targets", "was_used",
    )  # fmt: skip

    def __init__(
        self, body: bytes, tag: str, modified_at: float | None = None, path: str = "", generated_at: float = 0.0
    ) -> None:
        """Create a representation.

        Args:
            body: the response body, JSON.
            tag: the entity tag, without its marks; it identifies the build, the synchronization and the request.
            modified_at: Unix time of the last change of the data; None for a public response, which is the same for all
                clients and changes only with a release.
            path: path template of the endpoint, for the access log.
            generated_at: Unix time at which the body was made, as the body states it; a public response needs none.
        """
        self.tag = tag
        self.path = path
        self.is_public = modified_at is None
        self.targets: tuple[bytes, ...] = ()  # of requests that it has answered, at most SPELLINGS
        self.was_used = False
        self.size = len(body) * 3 // 2 + OVERHEAD  # the compressed forms of JSON together are half of the body or less
        self.is_recent = False  # whether it was requested since it was cached, or since a full cache last kept it
        self._modified_at = None if modified_at is None else int(modified_at)
        self._generated_at = int(generated_at)
        self._coded = {"": Coded(body, body_lines(body))}
        self._tag = f'W/"{tag}"'.encode()
        if modified_at is None:
            self._lines = b"etag: %s\r\ncache-control: public, max-age=%d\r\nvary: Accept-Encoding\r\n" % (
                self._tag,
                PUBLIC,
            )
        else:
            modified = _http_date(int(modified_at))
            self._lines = b"etag: %s\r\nlast-modified: %s\r\nvary: X-Api-Key, Accept-Encoding\r\n" % (
                self._tag,
                modified,
            )

    def coded(self, coding: str) -> Coded:
        """The body in a content coding, compressed once and kept; `""` stands for no coding."""
        found = self._coded.get(coding)
        if found is None:
            body = CODERS[coding](self._coded[""].body)
            found = self._coded[coding] = Coded(body, body_lines(body, coding))
        return found

    def coding_for(self, sent: Sent) -> str:
        """The content coding that the client prefers; `""` if the body is too small to compress."""
        accepted = sent.get(b"accept-encoding")
        return preferred_coding(accepted) if accepted and len(self._coded[""].body) >= WORTH_CODING else ""

    def answer(self, sent: Sent, now: float, more: bytes = b"", *, is_current: bool) -> Answer:
        """A 304 if the client's copy is current, otherwise a 200 in the client's preferred coding.

        Unless it is public, it is fresh until the next synchronization, and has a header Age.

        Args:
            sent: the header fields of the request.
            now: Unix time.
            more: further lines of the head.
            is_current: whether the client's copy is current.
        """
        fresh = b"" if self.is_public else _freshness(now, int(now) - self._generated_at)
        if is_current:
            return Answer(304, [self._lines, fresh, more])
        coded = self.coded(self.coding_for(sent))
        return Answer(200, [self._lines, fresh, more, coded.lines], coded.body)

    def is_young(self, now: float) -> bool:
        """Whether the body was made less than OLDEST seconds ago; an older one is made again, with the present time."""
        return abs(now - self._generated_at) < OLDEST

    def is_current_for(self, sent: Sent) -> bool:
        """Whether the client's cached copy is current (RFC 9110, 13.2.2): by If-None-Match, else If-Modified-Since."""
        tags = sent.get(b"if-none-match")
        if tags is not None:
            return tags == self._tag or any(_weakly(tag) in (b"*", self._tag[2:]) for tag in tags.split(b","))
        since = sent.get(b"if-modified-since")
        if self._modified_at is None or since is None:
            return False
        try:
            moment = datetime.strptime(since.decode("latin-1"), HTTP_DATE).replace(tzinfo=UTC)
        except ValueError:
            return False
        return self._modified_at <= moment.timestamp()


class Representations:
    """A cache of recently requested representations, bounded in size and safe for threads.

    A representation is found by its tag, or quickly by the target of a request that it has answered. When the cache is
    full, the oldest is dropped; one that was requested in the meantime is kept once more.
    """

    def __init__(self, largest: int = LARGEST) -> None:
        """Create a cache of at most `largest` bytes; 0 turns caching off."""
        self._largest = largest
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Representation] = OrderedDict()
        self._size = 0
        self._by_target: dict[bytes, Representation] = {}  # by target; all of them are also in `_kept`
        self._pointer: Pointer | None = None

    def get(self, tag: str) -> Representation | None:
        """The cached representation of a tag, or None."""
        found = self._kept.get(tag)
        if found:
            found.is_recent = True
        return found

    def keep(self, tag: str, new: Representation, now: float) -> Representation:
        """Cache a representation; if another thread has already cached a young one under the tag, return that one."""
        with self._lock:
            if held := self._kept.get(tag):
                if held.is_young(now):
                    return held
                self._drop(self._kept.pop(tag))
            while self._kept and self._size + new.size > self._largest:
                oldest, found = self._kept.popitem(last=False)
                if found.is_recent:
                    found.is_recent = False
                    self._kept[oldest] = found
                else:
                    self._drop(found)
            if new.size <= self._largest:
                self._kept[tag] = new
                self._size += new.size
        return new

    def _drop(self, found: Representation) -> None:
        """Subtract the size of a dropped representation, and drop its targets."""
        self._size -= found.size
        for target in found.targets:
            del self._by_target[target]

    def by_target(self, pointer: Pointer, target: bytes) -> Representation | None:
        """The cached representation that already answered the target from this build; None before the first answer.

        Args:
            pointer: of the current build.
            target: path and query as in the request line.
        """
        if pointer is not self._pointer:
            return None
        found = self._by_target.get(target)
        if found:
            found.is_recent = True
        return found

    def note(self, pointer: Pointer, target: bytes, new: Representation) -> None:
        """Note that a representation answers a target; the first call for a new build drops all others."""
        with self._lock:
            is_kept = self._kept.get(new.tag) is new
            if pointer is not self._pointer:
                self._kept, self._by_target, self._size = OrderedDict(), {}, 0
                self._pointer, new.targets = pointer, ()
                if is_kept:
                    self._kept[new.tag], self._size = new, new.size
            if is_kept and target not in new.targets and len(new.targets) < SPELLINGS:
                new.targets += (target,)
                self._by_target[target] = new


def body_lines(body: bytes, coding: str = "") -> bytes:
    """The header lines of a body of JSON: content coding (empty: none), length and type."""
    encoding = b"content-encoding: %s\r\n" % coding.encode() if coding else b""
    return b"%scontent-length: %d\r\ncontent-type: application/json\r\n" % (encoding, len(body))


def fields_by_name(fields: Iterable[Field]) -> Sent:
    """The header fields of a request by name; values of fields with the same name are joined (RFC 9110, 5.3)."""
    sent: dict[bytes, bytes] = {}
    for name, value in fields:
        sent[name] = b"%s, %s" % (sent[name], value) if name in sent else value
    return sent


def _freshness(now: float, age: int) -> bytes:
    """The lines of Cache-Control and Age (RFC 9111, 4.2 and 5.1) of a response that was made `age` seconds ago.

    max-age counts from the time when it was made: max-age less Age is the time until the next synchronization.
    """
    left = int(_next_synchronization(int(now // 60)) - math.ceil(now))
    if age <= 0:  # made for this request, or in this second
        return b"cache-control: private, max-age=%d\r\n" % min(OLDEST, left)
    return b"cache-control: private, max-age=%d\r\nage: %d\r\n" % (min(OLDEST, left + age), age)


@lru_cache(maxsize=8)
def _next_synchronization(minute: int) -> float:
    """The time of the next synchronization, Unix time, after the start of a minute of Unix time."""
    return next_synchronization(datetime.fromtimestamp(60 * minute, UTC)).timestamp()


def tag_of(pointer: Pointer, path: str, symbol: str, values: Mapping[str, Any]) -> str:
    """The cache key of a response: a hash of the build, the synchronization and the normalized request.

    Args:
        pointer: pointer of the current build.
        path: public address and path template of the endpoint; responses contain links with this address.
        symbol: symbol in the path, in any case.
        values: all parameters, with defaults filled in.
    """
    # non-ASCII text is never a symbol, but the upper case of some non-ASCII letters is ASCII
    question = (path, symbol.upper() if symbol.isascii() else symbol, sorted(values.items()))
    digest = _hash_of(pointer.build, pointer.content_hash, pointer.synchronization, pointer.synchronized_file).copy()
    digest.update(msgspec.json.encode(question))
    return digest.hexdigest()[:32]


@lru_cache(maxsize=8)
def _hash_of(*of_build: object) -> "hashlib._Hash":
    """The hash of a build and its synchronization; the hash of a request continues from a copy of it."""
    return hashlib.sha256(msgspec.json.encode(of_build))


def modified_at(pointer: Pointer) -> float:
    """When the data last changed, Unix time: the later of the build's publication and its last synchronization."""
    return max(_seconds(moment) for moment in (pointer.published_at, pointer.synchronization.finished_at))


@lru_cache(maxsize=8)
def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@lru_cache(maxsize=8)
def _http_date(seconds: int) -> bytes:
    return formatdate(seconds, usegmt=True).encode()


@lru_cache(maxsize=100)
def preferred_coding(accepted: bytes) -> str:
    """The content coding of CODERS that a client prefers (RFC 9110, 12.5.3); `""` if it prefers the plain body.

    Args:
        accepted: the value of Accept-Encoding.
    """
    weights: dict[str, float] = {}
    for member in accepted.decode("latin-1").split(","):
        coding, *settings = (part.strip().lower() for part in member.split(";"))
        weights[coding] = next((_weight(each) for each in settings if each.startswith("q=")), 1.0)
    others = weights.get("*", 0.0)
    best = max(CODERS, key=lambda coding: weights.get(coding, others))
    weight = weights.get(best, others)
    return best if weight > 0 and weight >= weights.get("identity", 0.0) else ""


def _weight(setting: str) -> float:
    """The weight in a parameter such as `q=0.5`; 0 if it is not a number."""
    try:
        return float(setting.removeprefix("q="))
    except ValueError:
        return 0.0


def _weakly(tag: bytes) -> bytes:
    """An entity tag without its weakness mark, for the weak comparison."""
    return tag.strip().removeprefix(b"W/")
