"""The digest of a published build's files, by which damage is found.

Belongs here: computing it, and comparing it with the pointer. Does not: the hash of the rows (verify), what happens to
a damaged build (publish, reader).
"""

import hashlib
from pathlib import Path

import duckdb

from warehouse import copies
from warehouse.pointer import Pointer
from warehouse.reader import open_read_only
from warehouse.verify import content_hash


def digest_of(published: Path, file: str) -> str:
    """The SHA-256 of the file of a build and of its Parquet copies: of the name and the digest of each.

    Raises:
        OSError: a file is missing or cannot be read.
    """
    lines = []
    for path in (published / file, *sorted((published / copies.folder_of(file)).iterdir())):
        with path.open("rb") as stream:
            lines.append(f"{path.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_whole(published: Path, pointer: Pointer) -> bool:
    """Whether the files of a build are as they were published.

    A file that cannot be read counts as damaged. An older build has no digest: only its rows are compared.
    """
    try:
        if pointer.digest:
            return digest_of(published, pointer.file) == pointer.digest
        with open_read_only(published / pointer.file) as connection:
            return content_hash(connection) == pointer.content_hash
    except (OSError, duckdb.Error):
        return False
