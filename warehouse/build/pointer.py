"""The pointer file CURRENT.json, which names the current build.

Belongs here: the structure of CURRENT.json and of the files next to it: the pointer of each kept build, and the times
of synchronizations; reading them.
Does not: writing them (publish), opening the build (reader).
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from warehouse.build import seal
from warehouse.errors import BuildUnreadable

POINTER = "CURRENT.json"


class Synchronization(msgspec.Struct, frozen=True):
    """The synchronization that wrote the pointer; times are ISO 8601 in UTC."""

    sync_id: str
    started_at: str
    finished_at: str
    source: str


class Pointer(msgspec.Struct, frozen=True):
    """The content of CURRENT.json: the current build and the last synchronization, which may be newer than the build.

    rows: the number of rows of each table.
    inputs: a digest of the build's inputs.
    newest_filing: the newest filing date in the build (warehouse.build.newest_filing).
    companies: the number of covered primary symbols.
    previous: the file of the previous build, which is kept for readers that have it open and for a rollback.
    log: the segments of the version log from which the build was made.
    base: the build that the file and copies come from: this one, or an earlier one if this build has an overlay.
    base_at: when the base was published.
    renewed: the CIKs of the companies whose rows the overlay replaces; None: unknown, in a build of an earlier release.
    sums: the sums of the rows of each table (warehouse.build.verify.Sums) as text, separated by spaces.
    digest: the digest of the build's files (warehouse.build.digest); empty for a build of an earlier release.
    digests: the SHA-256 of each of these files by name; also empty for an earlier release.
    is_scheduled: whether the schedule of synchronizations was on.
    quarantined: the number of companies in quarantine.
    release: the newest release that has published in the home; empty if it is not known.
    """

    build: str
    file: str
    content_hash: str
    rows: dict[str, int]
    published_at: str
    inputs: str
    newest_filing: str | None
    companies: int
    synchronization: Synchronization
    synchronized_file: str
    previous: str | None = None
    log: tuple[str, ...] = ()
    base: str = ""
    base_at: str = ""
    renewed: tuple[str, ...] | None = None
    sums: dict[str, str] = {}
    digest: str = ""
    digests: dict[str, str] = {}
    is_scheduled: bool = False
    quarantined: int = 0
    release: str = ""


def copies_of(file: str) -> str:
    """The name of the folder of a build's Parquet copies, from the name of the build's file."""
    return file.replace("warehouse-", "parquet-", 1).removesuffix(".duckdb")


def overlay_of(file: str) -> str:
    """The name of the overlay of a build, from the name of the build's file.

    It is a write-ahead log of DuckDB with the rows that differ from the base; DuckDB reads it whenever it opens the
    file next to it.
    """
    return f"{file}.wal"


def description_of(file: str) -> str:
    """The name of the file with a build's own pointer, which is kept when another build becomes the current one."""
    return f"{file.removesuffix('.duckdb')}.json"


def current(published: Path) -> Pointer | None:
    """The pointer in a folder of builds; None if nothing is published there.

    Raises:
        BuildUnreadable: the file cannot be read, is not a pointer, or differs from its seal.
    """
    path = published / POINTER
    try:
        return seal.decoded(path.read_bytes(), Pointer)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BuildUnreadable(f"{path}: {error}; run `fundamentals sync` to publish again") from error


def kept(published: Path) -> list[Pointer]:
    """The pointers of the builds in a folder, each from its own file, the newest first; damaged files are left out."""
    found = []
    for path in published.glob(description_of("warehouse-*.duckdb")):
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            found.append(seal.decoded(path.read_bytes(), Pointer))
    return sorted(found, key=lambda pointer: pointer.published_at, reverse=True)


def synchronized(published: Path, pointer: Pointer) -> dict[str, str]:
    """The time of each company's last synchronization, ISO 8601 in UTC, by CIK.

    Raises:
        BuildUnreadable: the file that the pointer names is missing or malformed.
    """
    path = published / pointer.synchronized_file
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BuildUnreadable(f"{path}: {error}; run `fundamentals sync` to publish again") from error
