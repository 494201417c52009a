"""The response cache: encoded bodies, their validators and their freshness.

Belongs here: ETag, Last-Modified and Cache-Control (RFC 9110 and 9111), content codings, the bounded cache. Does not:
the content of responses (api.endpoints), the checks before a response (api.routes).
"""

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import msgspec
import zstandard
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from warehouse.pointer import Pointer
from warehouse.schedule import next_synchronization

Field = tuple[bytes, bytes]  # a header field: name in lower case, value

OLDEST = 4 * 3600  # largest max-age of a response, seconds: "a few hours"
PUBLIC = 3600  # max-age of responses that are the same for all clients, seconds
WORTH_CODING = 512  # bytes; compressing a smaller body saves nothing
LARGEST = 96 * 1024 * 1024  # bytes of all cached representations in all codings
OVERHEAD = 1024  # bytes of memory that a cache entry needs in addition to its bodies
MOST_ASKED = 50_000  # paths and queries by which representations are found quickly
HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"  # the obsolete date forms of HTTP are treated as invalid
CODERS = {
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
"""Compressors by content coding, in order of preference for a client that accepts all of them equally."""


class Answer:
    """An ASGI response whose status, header fields and body are ready to be sent."""

    __slots__ = ("body", "fields", "status")

    def __init__(self, status: int, fields: list[Field], body: bytes = b"") -> None:
        self.status, self.fields, self.body = status, fields, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.fields})
        await send({"type": "http.response.body", "body": self.body})


class Representation:
    """The body of a 200 response, with its validators and compressed forms; valid for one build and synchronization."""

    def __init__(self, body: bytes, tag: str, modified_at: float | None = None, path: str = "") -> None:
        """Create a representation.

        Args:
            body: the response body, JSON.
            tag: identifies the build, the synchronization and the request.
            modified_at: Unix time of the last change of the data; None for a response that is the same for all clients
                and changes with a release only.
            path: path template of the endpoint, for the access log.
        """
        self.tag = tag
        self.path = path
        self.was_used = False
        self.size = len(body) * 3 // 2 + OVERHEAD  # the compressed forms of JSON together are half of the body or less
        self._modified_at = None if modified_at is None else int(modified_at)
        self._bodies = {"": body}
        self._validators: list[Field] = [(b"etag", f'W/"{tag}"'.encode())]
        if modified_at is None:
            self._validators += [(b"cache-control", b"public, max-age=%d" % PUBLIC), (b"vary", b"Accept-Encoding")]
        else:
            modified = _http_date(int(modified_at))
            self._validators += [(b"last-modified", modified), (b"vary", b"X-Api-Key, Accept-Encoding")]

    def coded(self, coding: str) -> bytes:
        """The body in a content coding, compressed once and kept; `""` stands for no coding."""
        if coding not in self._bodies:
            self._bodies[coding] = CODERS[coding](self._bodies[""])
        return self._bodies[coding]

    def coding_for(self, request: Headers) -> str:
        """The content coding that the client prefers; `""` if the body is too small to compress."""
        accepted = ",".join(request.getlist("accept-encoding"))
        return preferred_coding(accepted) if accepted and len(self._bodies[""]) >= WORTH_CODING else ""

    def fields(self, now: float) -> list[Field]:
        """The header fields that a 200 and a 304 share; unless public, fresh until the next synchronization."""
        if self._modified_at is None:
            return self._validators
        age = min(OLDEST, int(_next_synchronization(int(now // 60)) - now))
        return [*self._validators, (b"cache-control", b"private, max-age=%d" % age)]

    def answer(self, request: Headers, now: float, more: Iterable[Field] = ()) -> Answer:
        """A 304 if the client's copy is current, else a 200 in the client's preferred coding; with `more` fields."""
        fields = [*self.fields(now), *more]
        if self.is_held_by(request):
            return Answer(304, fields)
        coding = self.coding_for(request)
        body = self.coded(coding)
        if coding:
            fields.append((b"content-encoding", coding.encode()))
        fields += [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        return Answer(200, fields, body)

    def is_held_by(self, request: Headers) -> bool:
        """Whether the client's cached copy is current (RFC 9110, 13.2.2): by If-None-Match, else If-Modified-Since."""
        if tags := request.getlist("if-none-match"):
            return any(_weakly(tag) in ("*", f'"{self.tag}"') for tag in ",".join(tags).split(","))
        if self._modified_at is None or not (sent := request.get("if-modified-since")):
            return False
        try:
            since = datetime.strptime(sent, HTTP_DATE).replace(tzinfo=UTC)
        except ValueError:
            return False
        return self._modified_at <= since.timestamp()


class Representations:
    """A cache of the most recently requested representations, bounded in size and safe for threads.

    A representation is found by its tag, or quickly by the path and the query of a request that it has answered.
    """

    def __init__(self, largest: int = LARGEST) -> None:
        """Create a cache of at most `largest` bytes; 0 turns caching off."""
        self._largest = largest
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Representation] = OrderedDict()
        self._size = 0
        self._asked: WeakValueDictionary[tuple[str, bytes], Representation] = WeakValueDictionary()
        self._pointer: Pointer | None = None

    def get(self, tag: str) -> Representation | None:
        """The cached representation of a tag, or None."""
        with self._lock:
            if tag in self._kept:
                self._kept.move_to_end(tag)
            return self._kept.get(tag)

    def keep(self, tag: str, made: Representation) -> Representation:
        """Cache a representation; if another thread has cached the tag before, return that one."""
        with self._lock:
            if tag in self._kept:
                return self._kept[tag]
            self._kept[tag] = made
            self._size += made.size
            while self._size > self._largest:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size
        return made

    def asked(self, pointer: Pointer, path: str, query: bytes) -> Representation | None:
        """The cached representation that answered the same path and query from the same build before, or None."""
        if pointer is not self._pointer or (found := self._asked.get((path, query))) is None:
            return None
        return self.get(found.tag)

    def note(self, pointer: Pointer, path: str, query: bytes, representation: Representation) -> None:
        """Remember that a representation answers a path and a query; only as long as it is cached."""
        if pointer is not self._pointer or len(self._asked) >= MOST_ASKED:
            self._asked.clear()
            self._pointer = pointer
        self._asked[path, query] = representation


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
    synchronization = (pointer.synchronization, pointer.synchronized_file)
    # non-ASCII text is never a symbol, but the upper case of some non-ASCII letters is ASCII
    question = (path, symbol.upper() if symbol.isascii() else symbol, sorted(values.items()))
    asked = msgspec.json.encode((pointer.build, pointer.content_hash, synchronization, question))
    return hashlib.sha256(asked).hexdigest()[:32]


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
def preferred_coding(accepted: str) -> str:
    """The coding of CODERS with the highest weight in an Accept-Encoding field, else `""` (RFC 9110, 12.5.3)."""
    weights: dict[str, float] = {}
    for member in accepted.split(","):
        coding, *settings = (part.strip().lower() for part in member.split(";"))
        weights[coding] = next((_weight(each) for each in settings if each.startswith("q=")), 1.0)
    others = weights.get("*", 0.0)
    best = max(CODERS, key=lambda coding: weights.get(coding, others))
    weight = weights.get(best, others)
    return best if weight > 0 and weight >= weights.get("identity", 0.0) else ""


def _weight(setting: str) -> float:
    try:
        return float(setting.removeprefix("q="))
    except ValueError:
        return 0.0


def _weakly(tag: str) -> str:
    """An entity tag without its weakness mark, for the weak comparison."""
    return tag.strip().removeprefix("W/")
