"""The digest of a published build's files, by which damage is found.

Belongs here: computing it, and comparing it with the pointer: the digest of all files, and the digest of the overlay
when a build is opened. Does not: the hash of the rows, which verifies builds of earlier releases (verify); what happens
to a damaged build (reader, pipelines).
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from warehouse.build.pointer import Pointer, copies_of, overlay_of
from warehouse.errors import BuildUnreadable


def digests_of(published: Path, file: str) -> dict[str, str]:
    """The SHA-256 of a build's file, of its overlay, if it has one, and of each of its copies, by file name.

    Raises:
        OSError: a file is missing or cannot be read.
    """
    overlay = published / overlay_of(file)
    paths = [
        published / file,
        *([overlay] if overlay.exists() else []),
        *sorted((published / copies_of(file)).iterdir()),
    ]
    return {path.name: file_digest(path) for path in paths}


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(digests: Mapping[str, str]) -> str:
    """The SHA-256 of a build: of the name and the digest of each of its files, in the order of `digests_of`."""
    return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in digests.items()).encode()).hexdigest()


def has_digest(published: Path, pointer: Pointer) -> bool:
    """Whether the files of a build have the digest in its pointer; False without digest or if a file is unreadable."""
    try:
        return digest_of(digests_of(published, pointer.file)) == pointer.digest
    except OSError:
        return False


def refuse_other_overlay(published: Path, pointer: Pointer) -> None:
    """Refuse to open a build if its overlay differs from the published one; overlays have their own digests.

    DuckDB treats a truncated or missing overlay, and some overlays with a flipped bit, as one that ends earlier, and
    answers with rows of earlier builds. The build's main file is not compared, because it may be large: DuckDB checks
    its size and the checksums of its headers when it opens the file, and the checksum of each block when it reads the
    block.

    Raises:
        BuildUnreadable: the overlay differs, is missing, or should not exist.
    """
    overlay = published / overlay_of(pointer.file)
    try:
        digest = file_digest(overlay) if overlay.exists() else None
    except OSError as error:
        raise BuildUnreadable(f"{overlay}: {error.strerror}; run `fundamentals sync`") from error
    if digest != pointer.digests.get(overlay.name):
        raise BuildUnreadable(f"{overlay} is not as it was published; run `fundamentals sync`")
