"""The versions of code and rules that have written a store: an older one must not undo what a newer one made.

Belongs here: the digest of everything that makes data, which one is in force, and refusing an older one. Does not:
where it is kept (warehouse.store: HEAD), the digests by which a stage knows what is done (batches, build_tables).
"""

import os
from collections.abc import Sequence
from functools import cache

from pipelines.code_digest import FOLDERS, digest_of
from pipelines.errors import PipelineError
from pipelines.tables import build_tables

DIGITS = 12


class CodeError(PipelineError):
    """The code or the rules of this machine are older than those that the store was last written with."""


@cache
def code_digest() -> str:
    """A digest of all code that makes data, and of the rules' texts, which tables publish."""
    return build_tables.digest(build_tables.code_digest(), digest_of(*FOLDERS))


def in_force(known: Sequence[str]) -> tuple[str, ...]:
    """The digests that have written a store, and last that of this machine.

    Args:
        known: those that HEAD has, in their order.

    Raises:
        CodeError: that of this machine is among them and is not the last one, and the operator does not name it.
    """
    mine = code_digest()[:DIGITS]
    if mine not in known or mine == known[-1]:
        return (*known[: -1 if mine in known else None], mine)
    if os.environ.get("FUNDAMENTALS_ROLLBACK") != mine:
        raise CodeError(
            f"code and rules of this machine ({mine}) are older than those that the store was last written with "
            f"({known[-1]}): update this machine; to go back to them on purpose, set FUNDAMENTALS_ROLLBACK={mine}"
        )
    return (*(each for each in known if each != mine), mine)
