"""A round amount that the lines of a bank leave of its liabilities is a borrowing that no element states."""

import pytest

from tests.factories import REVENUE, fact, raw, row_of, value_of
from tests.together import in_one_call

ADVANCES, SUBORDINATED = "AdvancesFromFederalHomeLoanBanks", "SubordinatedDebt"
END, BEFORE = "2023-12-31", "2022-12-31"


def report(rests, debt, lines=()):
    """An annual report of a bank, in thousands, and the liabilities of both days less its lines."""
    rows = [fact(REVENUE, 91_234e3, "2023-01-01", END)]
    for day, rest, deposits in zip((END, BEFORE), rests, (851_234, 804_321), strict=True):
        stated = {"Deposits": deposits, "OtherLiabilities": 9_876, **debt, **dict(lines)}
        total = sum(stated.values()) + rest
        of_day = {**stated, "Liabilities": total, "Assets": total + 99_999}
        rows += [fact(tag, amount * 1e3, None, day) for tag, amount in of_day.items()]
    return rows


@pytest.mark.parametrize(
    ("rests", "debt", "is_served"),
    [
        ((25_000, 25_000), {ADVANCES: 700_123}, False),
        ((65_000, 65_000), {ADVANCES: 400_123, SUBORDINATED: 30_456}, False),
        ((30_000, 4_321), {ADVANCES: 100_123}, False),
        ((4_000, 321), {ADVANCES: 300_123}, True),
        ((24_987, 24_911), {ADVANCES: 300_123}, True),
    ],
    ids=["25 million twice", "65 million twice", "30 million once", "too little", "not round"],
)
@in_one_call
def test_a_round_rest_withholds_debt(rests, debt, is_served):
    found = yield raw(report(rests, debt))

    assert value_of(found, "total_debt", "annual", END) == (sum(debt.values()) * 1e3 if is_served else None)
    if not is_served:
        gap = row_of(found.gaps, "total_debt", "annual", END)
        assert (gap["reason"], gap["rule"]) == ("debt_not_footing", "debt.withheld.room-for-other-debt")


@in_one_call
def test_an_element_of_the_amount_is_the_line():
    """Notes that are usually stated elsewhere, with exactly the amount that the lines leave."""
    found = yield raw(report((0, 0), {ADVANCES: 700_123}, {"NotesPayable": 25_000}))

    assert value_of(found, "total_debt", "annual", END) == 725_123e3
