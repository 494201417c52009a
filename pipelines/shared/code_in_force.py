"""The versions of code and rules that have written a store or a home: an older one must not undo what a newer one made.

Each has the name of its release and the digest of everything that makes data. Releases are ordered by their numbers;
within one by the order in which they have written the store. Of code of the same release that has never written it,
nobody can tell whether it is older: it does not write it until the operator names it.

Belongs here: which one is in force, and refusing another one. Does not: where it is kept (warehouse.shared.store: HEAD;
warehouse.build.pointer), the digests by which a stage knows what is done (batches, build_tables).
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
    """The code or the rules of this machine are older than those that the store or the home was last written with."""


@cache
def code_digest() -> str:
    """A digest of all code that makes data, and of the rules' texts, which tables publish."""
    return stored.digest(stored.code_digest(), digest_of(*FOLDERS))


def version() -> str:
    """The version of this machine: its release, and the first digits of its digest."""
    return f"{RELEASE}-{code_digest()[:DIGITS]}"


def in_force(known: Sequence[str]) -> tuple[str, ...]:
    """The versions that have written a store, and last that of this machine.

    Args:
        known: those that HEAD has, in their order.

    Raises:
        CodeError: that of this machine is neither the last one nor a new one of a newer release, and the operator does
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
    """Whether the operator names the version of this machine as the one that writes from now on."""
    return os.environ.get("FUNDAMENTALS_LEAD") == version()


def require_no_newer(release: str, home: Path) -> None:
    """Refuse a home that a newer release wrote: it may have rules and columns that this one does not know.

    Args:
        release: the newest one that has published in the home.
        home: the home.

    Raises:
        CodeError: it is newer than this one, and the operator does not name this one.
    """
    if order(release) > order(RELEASE) and not _is_named():
        raise CodeError(
            f"release {release} wrote {home}, and this is {RELEASE}: check out v{release} again, or restore the backup "
            "that was made before the upgrade (`fundamentals restore PATH --replace`)"
        )
