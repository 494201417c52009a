"""The versions of code and rules that have written a store or a home, so that an older version does not undo the work
of a newer one.

A version is the name of its release and the digest of all code that makes data. Releases are ordered by their numbers,
versions of one release by the order in which they have written the store. Code of the same release that has never
written the store may be older: it does not write until the operator names it.

Belongs here: determining the version in force, and refusing older versions. Does not: storing it
(warehouse.shared.store: HEAD; warehouse.build.pointer), the digests that show which companies are up to date (batches,
build_tables).
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pipelines.code_digest import FOLDERS, digest_of
from pipelines.errors import PipelineError
from pipelines.release import RELEASE, order
from pipelines.tables import stored

DIGITS = 12


class CodeError(PipelineError):
    """The code or the rules of this machine are older than the version that last wrote the store or the home."""


@cache
def code_digest() -> str:
    """A digest of all code that makes data, and of the rules' texts, which tables publish."""
    return stored.digest(stored.code_digest(), digest_of(*FOLDERS))


def version() -> str:
    """The version of this machine: its release, and the first digits of its digest."""
    return f"{RELEASE}-{code_digest()[:DIGITS]}"


def in_force(known: Sequence[str]) -> tuple[str, ...]:
    """The versions that have written a store, with the version of this machine as the last one.

    Args:
        known: the versions in HEAD, in their order.

    Raises:
        CodeError: the version of this machine is neither the last one nor from a newer release, and the operator does
            not name it.
    """
    mine, last = version(), known[-1] if known else ""
    release = order(last.rpartition("-")[0])
    is_newer = mine not in known and order(RELEASE) > release
    if last not in ("", mine) and not is_newer and not _is_named():
        are = "may be" if mine not in known and order(RELEASE) == release else "are"
        raise CodeError(
            f"code and rules of this machine ({mine}) {are} older than those that the store was last written with "
            f"({last}): update this machine; if these are to write it, set FUNDAMENTALS_LEAD={mine} for one "
            "synchronization"
        )
    return (*(each for each in known if each != mine), mine)


def _is_named() -> bool:
    """Whether the operator names the version of this machine (FUNDAMENTALS_LEAD), so that it may write."""
    return os.environ.get("FUNDAMENTALS_LEAD") == version()


def require_no_newer(release: str, home: Path) -> None:
    """Refuse a home that a newer release wrote, because it may have rules and columns that this release does not know.

    Args:
        release: the newest release that has published in the home.
        home: the home.

    Raises:
        CodeError: the release is newer than the one of this machine, and the operator does not name this version.
    """
    if order(release) > order(RELEASE) and not _is_named():
        raise CodeError(
            f"release {release} wrote {home}, and this is {RELEASE}: check out v{release} again, or restore the backup "
            "that was made before the upgrade (`fundamentals restore PATH --replace`)"
        )
