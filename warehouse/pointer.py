"""The pointer: the small file that says which build is current, and what is known of it.

Belongs here: the shape of CURRENT.json and of the file of synchronization times beside it, and reading both.
Does not: writing them (publish), opening the build (reader).
"""

from pathlib import Path

import msgspec

from warehouse.errors import BuildUnreadable

POINTER = "CURRENT.json"


class Synchronization(msgspec.Struct, frozen=True):
    """The synchronization after which the pointer was written; times are ISO 8601 in UTC."""

    sync_id: str
    started_at: str
    finished_at: str
    source: str


class Pointer(msgspec.Struct, frozen=True):
    """What CURRENT.json says: the current build and the last synchronization, which need not have made it.

    `rows` counts each table's rows, `inputs` identifies what the build was made from, `newest_filing` is the newest
    filing date held, `companies` the number of primary listed symbols, `previous` the file of the build before,
    which is kept for readers that still hold it and for going back, `log` the segments of the version log that the
    build was made from.
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


def current(published: Path) -> Pointer | None:
    """The pointer of a folder of builds, or None where nothing has been published there.

    Raises:
        BuildUnreadable: the file is there and cannot be read, or says something else than a pointer does.
    """
    path = published / POINTER
    try:
        return msgspec.json.decode(path.read_bytes(), type=Pointer)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise BuildUnreadable(f"{path}: {error}; run `fundamentals sync` to publish again") from error


def synchronized(published: Path, pointer: Pointer) -> dict[str, str]:
    """The time of each company's last synchronization, ISO 8601 in UTC, by CIK.

    Raises:
        BuildUnreadable: the file that the pointer names is missing or is no such map.
    """
    path = published / pointer.synchronized_file
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError) as error:
        raise BuildUnreadable(f"{path}: {error}; run `fundamentals sync` to publish again") from error
