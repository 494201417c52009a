"""The arithmetic of balance sheets: sums of all subsets of lines, and sets of elements as bits."""

from itertools import combinations

import numpy as np
import pytest

from pipelines.normalize.balance import element_sets
from pipelines.normalize.balance.subset_sums import subset_sums
from pipelines.normalize.facts.matching import used_of

LINES = np.array(
    [
        [5.0, np.nan, 1.0, 0.0],
        [7.0, np.nan, np.nan, 2.0],
        [0.0, np.nan, 4.0, -3.0],
    ]
)
"""One column per balance sheet."""


def by_hand(amounts: list[float]) -> list[tuple[int, float]]:
    """Each subset of the stated lines that are not zero, as bits, with its sum."""
    there = [number for number, amount in enumerate(amounts) if amount == amount and amount != 0]
    chosen = [part for size in range(len(there) + 1) for part in combinations(there, size)]
    return sorted((sum(1 << line for line in part), sum(amounts[line] for line in part)) for part in chosen)


def test_every_subset_of_each_sheet():
    """Including the empty subset, sheet after sheet; lines that are zero or not stated are in no subset."""
    found = subset_sums(LINES)

    rows = list(zip(found.sheet.tolist(), found.members.tolist(), found.total.tolist(), strict=True))
    assert rows == [(sheet, *part) for sheet in range(4) for part in by_hand(LINES[:, sheet].tolist())]
    assert found.begins.tolist() == [0, 4, 5, 9]


def test_without_sheets_there_are_no_subsets():
    found = subset_sums(np.empty((3, 0)))

    assert len(found.total) == len(found.begins) == 0


def test_sets_of_elements():
    """In any order of the names, across the words that hold the bits."""
    elements = ["Assets", "StockholdersEquity", "LongTermDebtNoncurrent", "WarehouseAgreementBorrowings"]
    sets = np.stack([element_sets.set_of(each) for each in (elements, elements[::-1], elements[:1])], axis=1)

    assert element_sets.are_equal(sets, sets[:, [1, 2, 0]]).tolist() == [True, False, False]
    assert element_sets.contain(sets, sets[:, [1, 2, 0]]).tolist() == [True, True, False]
    assert element_sets.have_any(sets, element_sets.set_of(elements[2:])).tolist() == [True, True, False]
    assert element_sets.are_equal(element_sets.united(sets, np.array([0, 2])), sets[:, [0, 2]]).all()


def test_the_elements_that_a_source_finds_are_a_set():
    """Of equity of the parent plus noncontrolling interests, with and without the part that is optional."""
    elements = ["StockholdersEquity", "MinorityInterest"]
    used = np.array([used_of("equity", 1, elements), used_of("equity", 1, elements[:1])])

    sets = element_sets.sets_of(used)

    assert element_sets.are_equal(sets[:, :1], element_sets.set_of(elements)[:, None]).all()
    assert element_sets.are_equal(sets[:, 1:], element_sets.set_of(elements[:1])[:, None]).all()


def test_an_element_that_states_no_balance_is_refused():
    with pytest.raises(KeyError, match="Revenues"):
        element_sets.set_of(["Revenues"])
