"""Sets of taxonomy elements as bits: which elements state a line of a balance sheet, compared without text.

Belongs here: how a set of elements is kept and compared. Does not: which elements state which line (elements), what
follows from them (roles, restated).

A set is a column of WORDS numbers of 64 bits, one bit an element of any balance sheet amount, so that the sets of many
lines are an array of WORDS rows.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.arrays import Flags, Ints
from pipelines.normalize.elements import CONCEPTS

Sets = npt.NDArray[np.uint64]

BITS = 64
_BIT = {
    element: number
    for number, element in enumerate(
        sorted(
            {
                element
                for concept in CONCEPTS
                if concept.instant
                for source in concept.sources
                for element in source.counted
            }
        )
    )
}
WORDS = -(-len(_BIT) // BITS)


def set_of(elements: Iterable[str]) -> Sets:
    """One set: the elements by name."""
    words = [0] * WORDS
    for element in elements:
        word, bit = divmod(_BIT[element], BITS)
        words[word] |= 1 << bit
    return np.array(words, dtype=np.uint64)


def sets_of(signatures: pl.Series) -> Sets:
    """The sets of a column of element names joined by "+"."""
    distinct = signatures.unique(maintain_order=True)
    codes = signatures.cast(pl.Enum(distinct)).to_physical().to_numpy()
    table = [set_of(signature.split("+")) for signature in distinct]
    sets: Sets = np.array(table, dtype=np.uint64).reshape(-1, WORDS)[codes].T
    return sets


def have_any(sets: Sets, wanted: Sets) -> Flags:
    """Whether each set has any of the wanted elements."""
    found: Flags = ((sets & wanted[:, None]) != 0).any(axis=0)
    return found


def are_equal(sets: Sets, others: Sets) -> Flags:
    """Whether two sets are the same, pair by pair."""
    found: Flags = (sets == others).all(axis=0)
    return found


def contain(sets: Sets, others: Sets) -> Flags:
    """Whether each set has all elements of the other, pair by pair."""
    found: Flags = ((others & ~sets) == 0).all(axis=0)
    return found


def united(sets: Sets, begins: Ints) -> Sets:
    """The union of the sets of each group; `begins` are the rows where groups begin."""
    return np.bitwise_or.reduceat(sets, begins, axis=1) if len(begins) else sets[:, :0]
