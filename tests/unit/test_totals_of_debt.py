"""Totals of debt next to their parts: each borrowing counts once, and no total replaces a part that proves nothing."""

import pytest

from tests.factories import REVENUE, Row, fact, raw, value_of
from tests.together import in_one_call

NONCURRENT, MATURITIES, SHORT = "LongTermDebtNoncurrent", "LongTermDebtCurrent", "ShortTermBorrowings"
ALL_CURRENT, PAPER, OTHER_SHORT = "DebtCurrent", "CommercialPaper", "OtherShortTermBorrowings"
CURRENT_LIABILITIES, ASSETS = "LiabilitiesCurrent", "Assets"
END, BEFORE = "2023-12-31", "2022-12-31"

Lines = dict[str, float]


def report(lines: Lines, before: Lines | None) -> list[Row]:
    """An annual report with the balance sheets of its day and of the year before; amounts in millions."""
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


REPAID, BORROWED = "RepaymentsOfLongTermDebt", "ProceedsFromLinesOfCredit"


@pytest.mark.parametrize(
    ("before", "flows", "served"),
    [
        ({NONCURRENT: 40.5}, {REPAID: 40.5}, 0.0),
        ({NONCURRENT: 30.1, MATURITIES: 10.4}, {REPAID: 45.7, BORROWED: 5.2}, 0.0),
        ({NONCURRENT: 40.5}, {REPAID: 38.2}, None),
        ({NONCURRENT: 40.5}, {}, None),
    ],
    ids=["all of it", "more than it, and borrowed", "a part", "nothing stated"],
)
@in_one_call
def test_debt_that_was_repaid_is_zero(before, flows, served):
    rows = report({CURRENT_LIABILITIES: 250.5, ASSETS: 900.1}, {CURRENT_LIABILITIES: 251.5, ASSETS: 880.1, **before})
    found = yield raw(rows, [fact(tag, each * 1e6, "2023-01-01", END) for tag, each in flows.items()])

    assert value_of(found, "total_debt", "annual", END) == served


DEPOSITS, OTHER, LIABILITIES = "Deposits", "OtherLiabilities", "Liabilities"
ADVANCES = "AdvancesFromFederalHomeLoanBanks"


@pytest.mark.parametrize(
    ("stated", "flows", "served"),
    [
        ({}, {REPAID: 4.4, BORROWED: 9.8}, 24.096),
        ({SHORT: 13.6}, {REPAID: 4.4, BORROWED: 9.8}, 24.096),
        ({ADVANCES: 42.096}, {REPAID: 4.4, BORROWED: 9.8}, 24.096),
        ({SHORT: 13.6}, {REPAID: 4.4, BORROWED: 9.7}, None),
    ],
    ids=["no element", "one of two lines", "mistyped", "flows that lead to another amount"],
)
@in_one_call
def test_what_a_bank_owes_is_the_rest_of_its_liabilities_if_the_flows_lead_to_it(stated, flows, served):
    """Debt of 18.696 million a year before, as the lines of that balance sheet add up."""
    before = {DEPOSITS: 300.204, OTHER: 2.1, ADVANCES: 18.696, LIABILITIES: 321.0, ASSETS: 360.5}
    now = {DEPOSITS: 308.308, OTHER: 3.555, LIABILITIES: 335.959, ASSETS: 373.612, **stated}
    found = yield raw(report(now, before), [fact(tag, each * 1e6, "2023-01-01", END) for tag, each in flows.items()])

    assert value_of(found, "total_debt", "annual", END) == (served and pytest.approx(served * 1e6))


PAYABLE, ACCRUED = "AccountsPayableCurrent", "AccruedLiabilitiesCurrent"
ADDS_UP = {PAYABLE: 8045.123, ACCRUED: 760.321, CURRENT_LIABILITIES: 8813.555}
LARGE_MATURITIES = {NONCURRENT: 5000.7, MATURITIES: 8100.2, CURRENT_LIABILITIES: 9700.5, ASSETS: 40000.1}


@pytest.mark.parametrize(
    ("others", "served"),
    [
        (ADDS_UP, 5008.811),
        ({CURRENT_LIABILITIES: 8900.1, "LongTermDebt": 5008.811}, 5008.811),
        ({CURRENT_LIABILITIES: 8900.1, "DebtLongtermAndShorttermCombinedAmount": 5008.811}, 5008.811),
        ({CURRENT_LIABILITIES: 8900.1}, None),
    ],
    ids=["the current liabilities add up", "all long-term debt", "all debt", "nothing shows it"],
)
@in_one_call
def test_a_small_line_counts_if_a_total_shows_that_it_is_in_the_same_units(others, served):
    """Maturities of 8.1 million after 8,100.2 million."""
    lines = {NONCURRENT: 5000.7, MATURITIES: 8.111, ASSETS: 40000.1, **others}
    found = yield raw(report(lines, LARGE_MATURITIES))

    assert value_of(found, "total_debt", "annual", END) == (served and pytest.approx(served * 1e6))


@pytest.mark.parametrize(
    ("lines", "served"),
    [
        ({"LongTermDebt": 75.123, SHORT: 10.011, "SeniorNotes": 65.112}, 75.123),
        ({"LongTermDebt": 75.123, PAPER: 10.011, "SeniorNotes": 40.1, "UnsecuredDebt": 25.012}, 75.123),
        ({"LongTermDebt": 75.123, SHORT: 10.011, "SeniorNotes": 61.1}, 85.134),
    ],
    ids=["notes and short-term borrowings", "three of the notes", "no sum"],
)
@in_one_call
def test_short_term_borrowings_inside_all_long_term_debt_count_once(lines, served):
    found = yield raw(report({CURRENT_LIABILITIES: 250.5, ASSETS: 900.1, **lines}, None))

    assert value_of(found, "total_debt", "annual", END) == pytest.approx(served * 1e6)


WITH_LEASES, OTHER = "LongTermDebtAndCapitalLeaseObligations", "OtherLiabilitiesNoncurrent"


@pytest.mark.parametrize(
    ("later", "served"),
    [
        ({NONCURRENT: 2040.2, MATURITIES: 633.1}, 2673.3),
        ({NONCURRENT: 2040.2, SHORT: 33.1}, 2073.3),
        ({WITH_LEASES: 2060.2, NONCURRENT: 2040.2, MATURITIES: 633.1}, 2673.3),
    ],
    ids=["beside maturities", "beside short-term borrowings", "the usual line is there"],
)
@in_one_call
def test_what_was_no_line_before_is_one_as_the_only_borrowing_of_its_section(later, served):
    """Before, debt without leases was a note next to the line with leases."""
    usual = {"Liabilities": 5000.0, CURRENT_LIABILITIES: 1000.0, WITH_LEASES: 2040.4, NONCURRENT: 2000.1, OTHER: 1959.6}
    first = {END: usual, BEFORE: {**usual, WITH_LEASES: 2050.4, NONCURRENT: 2010.1, OTHER: 1949.6}}
    rows = [fact(tag, each * 1e6, None, day) for day, lines in first.items() for tag, each in lines.items()]
    rest = {"Liabilities": 5900.0, CURRENT_LIABILITIES: 1400.0, OTHER: 1500.0, ASSETS: 9000.0}
    again = [fact(tag, each * 1e6, None, "2024-12-31", filed="2025-02-20") for tag, each in {**rest, **later}.items()]
    year = fact(REVENUE, 100e6, "2024-01-01", "2024-12-31", filed="2025-02-20")
    found = yield raw(rows, fact(ASSETS, 9000e6, None, END), fact(REVENUE, 100e6, "2023-01-01", END), again, year)

    assert value_of(found, "total_debt", "annual", "2024-12-31") == pytest.approx(served * 1e6)


@pytest.mark.parametrize(
    ("column", "served"),
    [
        ({NONCURRENT: 268.88, ALL_CURRENT: 127.71}, 396.59),
        ({NONCURRENT: 268.88, SHORT: 112.2, MATURITIES: 15.51}, 396.59),
        ({NONCURRENT: 268.88}, 284.39),
    ],
    ids=["all current debt", "both current lines", "the non-current line alone"],
)
@in_one_call
def test_a_later_column_with_the_lines_restates_long_term_debt(column, served):
    """The annual report states all long-term debt and its non-current part."""
    first = report({CURRENT_LIABILITIES: 558.02, ASSETS: 1873.5, NONCURRENT: 268.88, "LongTermDebt": 284.39}, None)
    later = {CURRENT_LIABILITIES: 558.02, ASSETS: 1873.5, **column}
    quarter = {**later, ASSETS: 1900.1}
    days = ((END, later), ("2024-03-31", quarter))
    rows = [
        fact(tag, each * 1e6, None, day, form="10-Q", filed="2024-05-01")
        for day, of in days
        for tag, each in of.items()
    ]
    found = yield raw(first, rows)

    assert value_of(found, "total_debt", "annual", END) == pytest.approx(served * 1e6)
