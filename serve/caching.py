"""Representations: what an answer is in bytes, how long it holds, and those that are kept.

Belongs here: validators and ages (RFC 9110 and 9111), content codings, the bounded store. Does not: what is answered
(endpoints), when a request may be answered (routes).
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

OLDEST = 4 * 3600  # seconds that a client may keep an answer at most: "a few hours"
PUBLIC = 3600  # seconds that anybody may keep what is the same for everybody
WORTH_CODING = 512  # bytes, below which a coding saves nothing
LARGEST = 32 * 1024 * 1024  # bytes of all representations that are kept, in all codings
OVERHEAD = 1024  # bytes that an entry costs beside its bodies
HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"  # the obsolete forms are not told apart from nonsense
CODERS = {
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}
"""In the order in which they are chosen where a client does not mind."""


class Representation:
    """An answer as it was made, at one moment, of one build after one synchronization."""

    def __init__(self, body: bytes, tag: str, modified_at: float | None = None) -> None:
        """Keep a body.

        Args:
            body: the answer as JSON.
            tag: what identifies build, synchronization and question.
            modified_at: Unix time of the last change; None where that is not known.
        """
        self.etag = f'W/"{tag}"'
        self.size = 2 * len(body) + OVERHEAD  # all codings of JSON together take less than the body
        self._modified_at = None if modified_at is None else int(modified_at)
        self._bodies = {"": body}

    def coded(self, coding: str) -> bytes:
        """The body in a content coding, made once; `""` is none."""
        if coding not in self._bodies:
            self._bodies[coding] = CODERS[coding](self._bodies[""])
        return self._bodies[coding]

    def coding_for(self, request: Headers) -> str:
        """The coding that a client likes best, or none where that saves nothing."""
        accepted = ",".join(request.getlist("accept-encoding"))
        return preferred_coding(accepted) if len(self._bodies[""]) >= WORTH_CODING else ""

    def headers(self, now: float) -> dict[str, str]:
        """Those that a 200 and a 304 have in common: fresh until the next synchronization, for its client alone."""
        due = next_synchronization(datetime.fromtimestamp(now, UTC)).timestamp()
        return {
            "ETag": self.etag,
            "Last-Modified": formatdate(self._modified_at, usegmt=True),
            "Cache-Control": f"private, max-age={min(OLDEST, int(due - now))}",
            "Vary": "X-Api-Key, Accept-Encoding",
        }

    @property
    def public_headers(self) -> dict[str, str]:
        """Likewise, of what is the same for everybody and changes with the program."""
        return {"ETag": self.etag, "Cache-Control": f"public, max-age={PUBLIC}", "Vary": "Accept-Encoding"}

    def is_held_by(self, request: Headers) -> bool:
        """Whether a client has it already (RFC 9110, 13.2.2): tags decide where there are any, else the date."""
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
    """The representations that were asked for last, as many as fit; threads may share it."""

    def __init__(self, largest: int = LARGEST) -> None:
        """Keep so many bytes at most; none where `largest` is 0."""
        self._largest = largest
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Representation] = OrderedDict()
        self._size = 0

    def get(self, tag: str) -> Representation | None:
        """The one of a tag, if it is kept."""
        with self._lock:
            if tag in self._kept:
                self._kept.move_to_end(tag)
            return self._kept.get(tag)

    def keep(self, tag: str, made: Representation) -> Representation:
        """Keep one; where two were made at once, the first stays, with its time, and is returned."""
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
    """What identifies an answer: build, synchronization and question, in the one form that each question has.

    Args:
        pointer: of the build that is asked.
        path: of the endpoint, with the public address, which answers link to.
        symbol: of the path, whatever its case.
        values: all parameters, defaults among them.
    """
    synchronization = (pointer.synchronization, pointer.synchronized_file)
    # other letters than ASCII's are never a symbol, and some have capitals that are
    question = (path, symbol.upper() if symbol.isascii() else symbol, sorted(values.items()))
    asked = msgspec.json.encode((pointer.build, pointer.content_hash, synchronization, question))
    return hashlib.sha256(asked).hexdigest()[:32]


def modified_at(pointer: Pointer) -> float:
    """When what is answered changed last, Unix time: with the build, or with the synchronization after it."""
    moments = (pointer.published_at, pointer.synchronization.finished_at)
    return max(datetime.fromisoformat(moment).timestamp() for moment in moments)


def preferred_coding(accepted: str) -> str:
    """The coding of CODERS that an Accept-Encoding field likes best, `""` for none of them (RFC 9110, 12.5.3)."""
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
    """A tag as weak comparison sees it."""
    return tag.strip().removeprefix("W/")
