"""A line that takes another name must not drop money silently."""

from datetime import date

import pytest

from tests.factories import CASH, NET_INCOME, REVENUE, Row, Today, fact, month_ends, raw, row_of, standardized, value_of

ENDS = month_ends(2022, 8)
SECURITIES = "MarketableSecuritiesCurrent"
USUAL = {CASH: 20, SECURITIES: 80, "LongTermDebtNoncurrent": 60, "LongTermDebtCurrent": 30}
FIRST = 4
"""The quarter from which on balance sheets are others."""


def report(number: int, now: dict[str, float], before: dict[str, float]) -> list[Row]:
    """The report on a quarter: its flows, its balance sheet, and that of the year end before it; in millions."""
    end = ENDS[number]
    filed = date(end.year + end.month // 12, end.month % 12 + 1, 20)
    form = "10-K" if end.month == 12 else "10-Q"
    flows = [
        fact(tag, 10e6 * (number % 4 + 1), date(end.year, 1, 1), end, form=form, filed=filed)
        for tag in (REVENUE, NET_INCOME)
    ]
    sheets = [(end, now), (ENDS[FIRST - 1], before)]
    return flows + [
        fact(tag, amount * 1e6, None, at, form=form, filed=filed)
        for at, lines in sheets
        for tag, amount in lines.items()
    ]


def after(
    sheets: list[dict[str, float]], before: dict[str, float] | None = None, usual: dict[str, float] = USUAL
) -> Today:
    """A year of balance sheets that are all alike, then others, with the year end's as these reports show it."""
    rows = [row for number in range(FIRST) for row in report(number, usual, {})]
    return standardized(raw(rows, *(report(number, sheet, before or {}) for number, sheet in enumerate(sheets, FIRST))))


def at(found: Today, item: str, number: int = FIRST) -> float | str:
    """The value in millions, or the reason why there is none."""
    value = value_of(found, item, "ttm", ENDS[number])
    return row_of(found.gaps, item, "ttm", ENDS[number])["reason"] if value is None else value / 1e6


def test_cash_alone_is_too_little():
    """Securities were four fifths of it and are nowhere in the new report: cash alone would be a loss of 80."""
    found = after([{CASH: 22, "LongTermDebtNoncurrent": 60, "LongTermDebtCurrent": 30}])

    assert at(found, "cash_and_equivalents", FIRST - 1) == 100
    assert at(found, "cash_and_equivalents") == "securities_not_shown"
    assert at(found, "total_debt") == 90


def test_a_sibling_stands_in():
    """The securities under another element that is known."""
    found = after([{CASH: 22, "DebtSecuritiesCurrent": 79}], before={CASH: 20, "DebtSecuritiesCurrent": 80})

    assert at(found, "cash_and_equivalents") == 101


def test_securities_that_were_sold_are_nothing():
    """The report still shows them for the year end before: today's line is empty."""
    found = after([{CASH: 102}], before={CASH: 20, SECURITIES: 80})

    assert at(found, "cash_and_equivalents") == 102


def test_for_a_year_of_reports_they_are_missed():
    found = after([{CASH: 22, "LongTermDebtNoncurrent": 60, "LongTermDebtCurrent": 30}] * 4)

    assert {at(found, "cash_and_equivalents", number) for number in range(FIRST, FIRST + 4)} == {"securities_not_shown"}


@pytest.mark.parametrize(
    ("sheet", "debt"),
    [
        ({"LongTermDebtNoncurrent": 60}, "current_debt_not_shown"),
        ({"LongTermDebtCurrent": 30}, "noncurrent_debt_not_shown"),
        ({"LongTermDebtNoncurrent": 60, "DebtCurrent": 31}, 91),
        ({"LongTermDebt": 91}, 91),
    ],
)
def test_half_of_the_debt_is_no_debt(sheet, debt):
    """Where what was due within a year, or after it, is nowhere in the report, unless a total tells."""
    found = after([{CASH: 20, SECURITIES: 80, **sheet}])

    assert at(found, "total_debt") == debt


def test_debt_that_was_repaid_is_nothing():
    """The report still shows what was due for the year end before."""
    found = after([{CASH: 20, SECURITIES: 50, "LongTermDebtNoncurrent": 60}], before=USUAL)

    assert at(found, "total_debt") == 60


def test_what_falls_due_first_is_not_all_that_is_owed():
    """Nothing was due within a year; the year end told all of the debt, and the quarter tells what is due by now."""
    found = after([{CASH: 20, "DebtCurrent": 3}], usual={CASH: 20, "LongTermDebt": 60})

    assert at(found, "total_debt", FIRST - 1) == 60
    assert at(found, "total_debt") == "noncurrent_debt_not_shown"


def test_nothing_due_after_nothing_owed_is_nothing():
    found = after([{CASH: 20, "LongTermDebtCurrent": 0}], usual={CASH: 20, "LongTermDebtNoncurrent": 0})

    assert at(found, "total_debt") == 0
