"""The response cache: encoded bodies, their validators and their freshness.

Belongs here: ETag, Last-Modified and Cache-Control (RFC 9110 and 9111), content codings, the bounded cache. Does not:
the content of responses (api.endpoints), the checks before a response (api.routes).
"""

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Any

import msgspec
import zstandard
from starlette.datastructures import Headers

from warehouse.pointer import Pointer
from warehouse.schedule import next_synchronization

OLDEST = 4 * 3600  # largest max-age of a response, seconds: "a few hours"
PUBLIC = 3600  # max-age of responses that are the same for all clients, seconds
WORTH_CODING = 512  # bytes; compressing a smaller body saves nothing
LARGEST = 32 * 1024 * 1024  # bytes of all cached representations in all codings
OVERHEAD = 1024  # bytes of memory that a cache entry needs in addition to its bodies
HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"  # the obsolete date forms of HTTP are treated as invalid
CODERS = {
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
"""Compressors by content coding, in order of preference for a client that accepts all of them equally."""


class Representation:
    """The body of a 200 response, with its validators and compressed forms; valid for one build and synchronization."""

    def __init__(self, body: bytes, tag: str, modified_at: float | None = None) -> None:
        """Create a representation.

        Args:
            body: the response body, JSON.
            tag: identifies the build, the synchronization and the request.
            modified_at: Unix time of the last change of the data; None if unknown.
        """
        self.etag = f'W/"{tag}"'
        self.size = 2 * len(body) + OVERHEAD  # the compressed forms of JSON together are smaller than the body
        self._modified_at = None if modified_at is None else int(modified_at)
        self._bodies = {"": body}

    def coded(self, coding: str) -> bytes:
        """The body in a content coding, compressed once and kept; `""` stands for no coding."""
        if coding not in self._bodies:
            self._bodies[coding] = CODERS[coding](self._bodies[""])
        return self._bodies[coding]

    def coding_for(self, request: Headers) -> str:
        """The content coding that the client prefers; `""` if the body is too small to compress."""
        accepted = ",".join(request.getlist("accept-encoding"))
        return preferred_coding(accepted) if len(self._bodies[""]) >= WORTH_CODING else ""

    def headers(self, now: float) -> dict[str, str]:
        """The headers that a 200 and a 304 share: private, fresh until the next synchronization."""
        due = next_synchronization(datetime.fromtimestamp(now, UTC)).timestamp()
        return {
            "ETag": self.etag,
            "Last-Modified": formatdate(self._modified_at, usegmt=True),
            "Cache-Control": f"private, max-age={min(OLDEST, int(due - now))}",
            "Vary": "X-Api-Key, Accept-Encoding",
        }

    @property
    def public_headers(self) -> dict[str, str]:
        """The same headers for a response that is equal for all clients and changes with a release only."""
        return {"ETag": self.etag, "Cache-Control": f"public, max-age={PUBLIC}", "Vary": "Accept-Encoding"}

    def is_held_by(self, request: Headers) -> bool:
        """Whether the client's cached copy is current (RFC 9110, 13.2.2): by If-None-Match, else If-Modified-Since."""
        if tags := request.getlist("if-none-match"):
            return any(_weakly(tag) in ("*", _weakly(self.etag)) for tag in ",".join(tags).split(","))
        if self._modified_at is None:
            return False
        try:
            since = datetime.strptime(request.get("if-modified-since", ""), HTTP_DATE).replace(tzinfo=UTC)
        except ValueError:
            return False
        return self._modified_at <= since.timestamp()


class Representations:
    """A cache of the most recently requested representations, bounded in size and safe for threads."""

    def __init__(self, largest: int = LARGEST) -> None:
        """Create a cache of at most `largest` bytes; 0 turns caching off."""
        self._largest = largest
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Representation] = OrderedDict()
        self._size = 0

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
    moments = (pointer.published_at, pointer.synchronization.finished_at)
    return max(datetime.fromisoformat(moment).timestamp() for moment in moments)


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
