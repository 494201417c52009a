"""Totals of debt beside their parts: each borrowing counts once, and no total goes for a part that proves nothing."""

import pytest

from tests.factories import REVENUE, Row, fact, raw, value_of
from tests.together import in_one_call

NONCURRENT, MATURITIES, SHORT = "LongTermDebtNoncurrent", "LongTermDebtCurrent", "ShortTermBorrowings"
ALL_CURRENT, PAPER, OTHER_SHORT = "DebtCurrent", "CommercialPaper", "OtherShortTermBorrowings"
CURRENT_LIABILITIES, ASSETS = "LiabilitiesCurrent", "Assets"
END, BEFORE = "2023-12-31", "2022-12-31"

Lines = dict[str, float]


def report(lines: Lines, before: Lines | None) -> list[Row]:
    """An annual report with the balance sheet of its day, and that of the year before; amounts in millions."""
    days = {END: lines, BEFORE: before or {}}
    return [
        fact(REVENUE, 100e6, "2023-01-01", END),
        *(fact(tag, round(each * 1e6), None, day) for day, of_day in days.items() for tag, each in of_day.items()),
    ]


@pytest.mark.parametrize(
    ("current", "before", "served"),
    [
        ({ALL_CURRENT: 1600.3, PAPER: 0}, None, 42500.4),
        ({ALL_CURRENT: 1600.3, PAPER: 0, OTHER_SHORT: 0}, None, 42500.4),
        ({SHORT: 655.5, MATURITIES: 655.5, PAPER: 0}, {SHORT: 155.5, MATURITIES: 765.2, PAPER: 0}, 42211.1),
        ({SHORT: 1655.5, MATURITIES: 655.5, PAPER: 1000}, None, 42555.6),
    ],
    ids=["no paper", "two parts of zero", "equal by chance", "a part that is an amount"],
)
@in_one_call
def test_a_part_of_zero_does_not_show_that_a_line_includes_the_maturities(current, before, served):
    """Non-current debt is 40,900.1 million."""
    rest = {NONCURRENT: 40900.1, CURRENT_LIABILITIES: 25000.5, ASSETS: 90000}
    found = yield raw(report({**rest, **current}, before and {**rest, **before}))

    assert value_of(found, "total_debt", "annual", END) == pytest.approx(served * 1e6)
