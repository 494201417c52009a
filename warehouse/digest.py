"""The digest of a published build's files, by which damage is found.

Belongs here: computing it, and comparing it with the pointer. Does not: the hash of the rows, by which a build of an
earlier release is judged (verify); what happens to a damaged build (reader, pipelines).
"""

import hashlib
from pathlib import Path

from warehouse.pointer import Pointer, copies_of


def digest_of(published: Path, file: str) -> str:
    """The SHA-256 of the file of a build and of its Parquet copies: of the name and the digest of each.

    Raises:
        OSError: a file is missing or cannot be read.
    """
    lines = []
    for path in (published / file, *sorted((published / copies_of(file)).iterdir())):
        with path.open("rb") as stream:
            lines.append(f"{path.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def has_digest(published: Path, pointer: Pointer) -> bool:
    """Whether the files of a build have the digest that its pointer names; not without one, or if one is unreadable."""
    try:
        return digest_of(published, pointer.file) == pointer.digest
    except OSError:
        return False
