"""Errors of sign that other filings of the same figure prove."""

from datetime import date

import pytest

from pipelines.normalize.corrections import scale, signs
from pipelines.normalize.corrections.signs import BY_FILINGS_OF_PERIOD, BY_LINE
from tests.factories import CAPITAL_SPENDING, CASH_FLOW, NET_INCOME, corrected_by, fact, raw, signed

HALF_YEAR = ("2022-10-03", "2023-04-02")
AMOUNT = 2_360.8e6
FILED = ["2023-05-02", "2024-04-30", "2025-04-29", "2026-04-28", "2027-05-04"]


def corrected(rows):
    correctors = (
        scale.proposals_for_shares,
        signs.proposals_for_tax_and_outflows,
        scale.proposals_by_filings,
        signs.proposals_by_filings,
    )
    return corrected_by(signed(raw(*rows)), *correctors)


def told(*amounts, tag=CASH_FLOW, others=()):
    """One period, stated by one filing after another; the first filing also states the other periods."""
    rows = [
        fact(tag, amount, *HALF_YEAR, form="10-Q", filed=filed) for amount, filed in zip(amounts, FILED, strict=False)
    ]
    rows += [
        fact(tag, amount, f"{year}-10-02", f"{year + 1}-04-01", form="10-Q", filed=FILED[0])
        for year, amount in enumerate(others, 2015)
    ]
    found = corrected(rows).filter(end=date.fromisoformat(HALF_YEAR[1])).sort("seq")
    return found["value"].to_list(), found["repair"].to_list(), found["evidence"].to_list()


@pytest.mark.parametrize(
    ("amounts", "others", "values"),
    [
        # a tie that no other period decides leaves the figure out
        ([AMOUNT, -AMOUNT], [], [AMOUNT]),
        ([AMOUNT, -AMOUNT], [1e9, -1e9], [AMOUNT]),
        # of two filings the one with the usual sign of the line counts, whichever is the first one
        ([AMOUNT, -AMOUNT], [1e9, 2e9, -3e9], [AMOUNT, AMOUNT]),
        ([-AMOUNT, AMOUNT], [1e9, 2e9, -3e9], [-AMOUNT, AMOUNT]),
        # the sign of most filings so far counts: after a second one with the other sign, the first one is the error
        ([AMOUNT, -AMOUNT, -AMOUNT], [1e9], [AMOUNT, AMOUNT, -AMOUNT]),
        ([AMOUNT, -AMOUNT, -AMOUNT, -AMOUNT], [1e9], [AMOUNT, AMOUNT, -AMOUNT, -AMOUNT]),
        ([-AMOUNT, AMOUNT, AMOUNT, -AMOUNT], [-1e9], [-AMOUNT, -AMOUNT, AMOUNT, -AMOUNT]),
        # a different amount with a different sign is a restatement of cash flow
        ([52.7e6, -130.9e6], [], [52.7e6, -130.9e6]),
    ],
)
def test_the_sign_of_most_filings_and_of_the_line_counts(amounts, others, values):
    assert told(*amounts, others=others)[0] == values


@pytest.mark.parametrize(("first", "evidence"), [(AMOUNT, BY_LINE), (-AMOUNT, None)])
def test_a_sign_that_the_line_decides_says_so(first, evidence):
    assert told(first, -first, others=[1e9, 2e9, -3e9])[2][1] == evidence


def test_income_is_corrected_by_identities_only():
    """Earnings per share and tax prove its sign better than a number of filings."""
    assert told(AMOUNT, -AMOUNT, tag=NET_INCOME)[0] == [AMOUNT, -AMOUNT]


def test_a_figure_that_differs_only_in_its_sign_is_corrected():
    """Six months of cash from operations, 2,360.8 million; the report of the year after states -2,360.8."""
    assert told(AMOUNT, AMOUNT, -AMOUNT) == (
        [AMOUNT, AMOUNT, AMOUNT],
        [1.0, 1.0, -1.0],
        [None, None, BY_FILINGS_OF_PERIOD],
    )


def test_later_filings_change_no_earlier_correction():
    """The corrections of the first filings do not depend on later filings."""
    amounts = [AMOUNT, -AMOUNT, -AMOUNT, AMOUNT, AMOUNT]
    whole = told(*amounts, others=[1e9])[0]

    assert [told(*amounts[:n], others=[1e9])[0] for n in range(1, 6)] == [whole[:n] for n in range(1, 6)]


def test_zero_has_no_sign():
    assert told(0.0, 0.0, AMOUNT)[1] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("tag", [CAPITAL_SPENDING, "OperatingIncomeLoss"])
def test_lines_without_an_identity_are_corrected_by_other_filings(tag):
    """Operating income; and payments, with one negative figure among positive ones."""
    of_half_year = fact(tag, 1e9, "2023-10-02", "2024-03-31", form="10-Q", filed=FILED[1])
    twice = [
        fact(tag, amount, *HALF_YEAR, form="10-Q", filed=filed)
        for amount, filed in zip((AMOUNT, -AMOUNT), FILED, strict=False)
    ]

    assert sorted(corrected([*twice, of_half_year])["value"]) == [1e9, AMOUNT, AMOUNT]
