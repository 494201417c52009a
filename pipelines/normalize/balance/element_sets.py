"""Sets of taxonomy elements as bits, so that the elements of balance sheet lines are compared without text.

Belongs here: storing and comparing sets of elements. Does not: which elements belong to which line (elements), what
follows from them (roles, restated).

A set is a column of WORDS numbers of 64 bits, with one bit for each element of a balance sheet amount. The sets of many
lines are an array of WORDS rows.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pipelines.normalize.arrays import Flags, Ints
from pipelines.normalize.elements import CONCEPTS
from pipelines.normalize.elements.liabilities import DEBT_CONTROLS
from pipelines.normalize.facts.matching import elements_of

Sets = npt.NDArray[np.uint64]

BITS = 64
_BIT = {
    element: number
    for number, element in enumerate(
        sorted(
            {
                element
                for concept in CONCEPTS
                if concept.instant or concept in DEBT_CONTROLS
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


def sets_of(used: Ints) -> Sets:
    """The sets of a column of sources and their present elements (facts.matching.elements_of)."""
    distinct, codes = np.unique(used, return_inverse=True)
    table = [set_of(elements_of(int(number))) for number in distinct]
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
    """The union of the sets of each group; `begins` are the first rows of the groups."""
    return np.bitwise_or.reduceat(sets, begins, axis=1) if len(begins) else sets[:, :0]
