"""Errors of sign that other filings of the same figure prove."""

import pytest

from pipelines.normalize.corrections import identities, scale, signs
from pipelines.normalize.corrections.signs import BY_FILINGS_OF_PERIOD
from tests.factories import CAPITAL_SPENDING, CASH_FLOW, NET_INCOME, corrected_by, fact, raw, signed

HALF_YEAR = ("2022-10-03", "2023-04-02")
AMOUNT = 2_360.8e6
FILED = ["2023-05-02", "2024-04-30", "2025-04-29", "2026-04-28", "2027-05-04"]


def corrected(rows):
    return corrected_by(signed(raw(*rows)), identities.proposals, scale.proposals, signs.proposals)


def told(*amounts, tag=CASH_FLOW):
    """One period, stated by one filing after another."""
    rows = [
        fact(tag, amount, *HALF_YEAR, form="10-Q", filed=filed) for amount, filed in zip(amounts, FILED, strict=False)
    ]
    found = corrected(rows).sort("seq")
    return found["value"].to_list(), found["repair"].to_list(), found["evidence"].to_list()


def test_a_figure_that_differs_only_in_its_sign_is_corrected():
    """Six months of cash from operations, 2,360.8 million; the report of the year after states -2,360.8."""
    values, repairs, evidence = told(AMOUNT, -AMOUNT)

    assert values == [AMOUNT, AMOUNT]
    assert repairs == [1.0, -1.0]
    assert evidence == [None, BY_FILINGS_OF_PERIOD]


def test_the_first_sign_counts_until_more_filings_state_the_other():
    """Of two signs the first counts; a second filing with the other sign makes the first the error from then on."""
    assert told(AMOUNT, -AMOUNT, -AMOUNT)[0] == [AMOUNT, AMOUNT, -AMOUNT]
    assert told(AMOUNT, -AMOUNT, -AMOUNT, -AMOUNT)[0] == [AMOUNT, AMOUNT, -AMOUNT, -AMOUNT]
    assert told(-AMOUNT, AMOUNT, AMOUNT, -AMOUNT)[0] == [-AMOUNT, -AMOUNT, AMOUNT, -AMOUNT]


def test_later_filings_change_no_earlier_correction():
    """The corrections of the first filings do not depend on those that follow."""
    whole = told(AMOUNT, -AMOUNT, -AMOUNT, AMOUNT, AMOUNT)[0]

    assert [told(*([AMOUNT, -AMOUNT, -AMOUNT, AMOUNT, AMOUNT][:n]))[0] for n in range(1, 6)] == [
        whole[:n] for n in range(1, 6)
    ]


def test_a_restatement_may_change_the_sign():
    """A different amount with a different sign is a restatement: cash flow was restated from 52.7 to -130.9 million."""
    assert told(52.7e6, -130.9e6)[0] == [52.7e6, -130.9e6]


def test_zero_has_no_sign():
    assert told(0.0, 0.0, AMOUNT)[1] == [1.0, 1.0, 1.0]


def test_income_is_corrected_by_identities_only():
    """Earnings per share and tax prove its sign better than a number of filings."""
    assert told(AMOUNT, -AMOUNT, tag=NET_INCOME)[0] == [AMOUNT, -AMOUNT]


@pytest.mark.parametrize("tag", [CAPITAL_SPENDING, "OperatingIncomeLoss"])
def test_lines_without_an_identity_are_corrected_by_other_filings(tag):
    """Operating income; and payments, with one negative figure among positive ones."""
    beside = [fact(tag, 1e9, "2023-10-02", "2024-03-31", form="10-Q", filed=filed) for filed in FILED[1:2]]
    rows = [
        fact(tag, AMOUNT, *HALF_YEAR, form="10-Q", filed=FILED[0]),
        fact(tag, -AMOUNT, *HALF_YEAR, form="10-Q", filed=FILED[1]),
        *beside,
    ]

    found = corrected(rows)

    assert sorted(found["value"]) == [1e9, AMOUNT, AMOUNT]
