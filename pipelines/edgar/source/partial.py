"""A large file that is being downloaded, with the validator that is needed to continue the download later.

Belongs here: the incomplete file, next to its final place, with its validator. Does not: requests (client).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file was downloaded; `last_modified` is the header as received."""

    last_modified: str | None


class Begun(msgspec.Struct, frozen=True):
    """The stored note about a file whose download has begun: its validator."""

    validator: str | None = None


class Partial:
    """An incomplete file; `path` exists until the download is complete."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    @property
    def size(self) -> int:
        """The number of bytes that have arrived."""
        return self.path.stat().st_size if self.path.exists() else 0

    def headers(self) -> dict[str, str]:
        """The headers of a request for the rest; empty if the whole file has to be requested.

        The server compares `If-Range` with its present file, and sends the whole file if it has changed.
        """
        if not self.size or not (validator := self._begun().validator):
            return {}
        return {"Range": f"bytes={self.size}-", "If-Range": validator}

    def fits(self, content_range: str) -> bool:
        """Whether a partial answer with this `Content-Range` continues the incomplete file."""
        if not (found := CONTENT_RANGE.fullmatch(content_range)):
            return False
        first, last, total = found.groups()
        return int(first) == self.size and total in ("*", str(int(last) + 1))

    def note(self, url: str, headers: Mapping[str, str]) -> None:
        """Store the validator of a file whose download begins. A weak ETag is not used, because it does not prove equal
        bytes."""
        etag = headers.get("ETag", "")
        validator = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._note.write_bytes(msgspec.json.encode(Begun(validator)))

    def drop(self) -> None:
        """Delete the incomplete file and its note."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def complete(self) -> None:
        """Give the complete file its final name."""
        self.path.replace(self._target)
        self._note.unlink(missing_ok=True)

    def _begun(self) -> Begun:
        try:
            return msgspec.json.decode(self._note.read_bytes(), type=Begun)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return Begun()
