"""Balance sheet lines that change their element: no part of debt or cash may be lost silently."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

import pytest

from tests.factories import CASH, NET_INCOME, REVENUE, Row, fact, month_ends, raw, row_of, standardized, value_of

ENDS = month_ends(2022, 9)
SECURITIES = "MarketableSecuritiesCurrent"
USUAL = {CASH: 20, SECURITIES: 80, "LongTermDebtNoncurrent": 60, "LongTermDebtCurrent": 30}
FIRST = 4
"""The first quarter with the other kind of balance sheet."""


ALONE = {CASH: 22, "LongTermDebtNoncurrent": 60, "LongTermDebtCurrent": 30}
NEW_ELEMENT = {CASH: 22, "DebtSecuritiesCurrent": 79}
WITHOUT_CURRENT = {CASH: 20, SECURITIES: 80, "LongTermDebtNoncurrent": 60}
HALVES: list[tuple[dict[str, float], float | str]] = [
    ({"LongTermDebtNoncurrent": 60}, "current_debt_not_shown"),
    ({"LongTermDebtCurrent": 30}, "noncurrent_debt_not_shown"),
    ({"LongTermDebtNoncurrent": 60, "DebtCurrent": 31}, 91),
    ({"LongTermDebt": 91}, 91),
    ({"LongTermDebtNoncurrent": 90, "LongTermDebt": 90}, 90),
    ({"LongTermDebtNoncurrent": 90, "DebtLongtermAndShorttermCombinedAmount": 90}, 90),
]


LONG_TERM = {CASH: 20, "LongTermDebt": 60, "LiabilitiesCurrent": 90}


@dataclass(frozen=True)
class Case:
    """A year of equal balance sheets, then others, with the comparative of the year end in these reports."""

    sheets: list[dict[str, float]]
    before: dict[str, float] = field(default_factory=dict)
    usual: dict[str, float] = field(default_factory=lambda: USUAL)


CASES = {
    "cash alone": Case([ALONE]),
    "another element": Case([NEW_ELEMENT], before={CASH: 20, "DebtSecuritiesCurrent": 80}),
    "equities sold": Case(
        [{CASH: 102, "EquitySecuritiesFvNi": 0, "InventoryNet": 50, "AssetsCurrent": 152}],
        usual={CASH: 60, "EquitySecuritiesFvNi": 40, "InventoryNet": 50, "AssetsCurrent": 150},
    ),
    "sold": Case([{CASH: 102}], before={CASH: 20, SECURITIES: 80}),
    "a year": Case([ALONE] * 4),
    **{f"half {number}": Case([{CASH: 20, SECURITIES: 80, **sheet}]) for number, (sheet, _) in enumerate(HALVES)},
    "repaid": Case(
        [{CASH: 20, SECURITIES: 50, "LongTermDebtNoncurrent": 60, "Liabilities": 70}],
        before={**USUAL, "Liabilities": 100},
        usual={**USUAL, "Liabilities": 100},
    ),
    "still owed": Case([{**WITHOUT_CURRENT, "Liabilities": 150}] * 5, usual={**USUAL, "Liabilities": 150}),
    "owed no more": Case([{**WITHOUT_CURRENT, "Liabilities": 125}] * 5, usual={**USUAL, "Liabilities": 150}),
    "due": Case([{**WITHOUT_CURRENT, "LiabilitiesCurrent": 50}] * 5, usual={**USUAL, "LiabilitiesCurrent": 50}),
    "due no more": Case([{**WITHOUT_CURRENT, "LiabilitiesCurrent": 30}] * 5, usual={**USUAL, "LiabilitiesCurrent": 50}),
    "little beside new debt": Case(
        [{"LongTermDebtNoncurrent": 6000, "LiabilitiesCurrent": 50}] * 5, usual={**USUAL, "LiabilitiesCurrent": 50}
    ),
    "payments with interest": Case(
        [{"LongTermDebtNoncurrent": 60, "LiabilitiesCurrent": 55}] * 5,
        usual={"LongTermDebtNoncurrent": 60, "LongTermDebt": 90, "LiabilitiesCurrent": 55},
    ),
    "a small line": Case(
        [{"LongTermDebtNoncurrent": 94}], usual={"LongTermDebtNoncurrent": 94, "LongTermDebtCurrent": 6}
    ),
    "a tiny line": Case(
        [{"LongTermDebtNoncurrent": 99.5}], usual={"LongTermDebtNoncurrent": 99.5, "LongTermDebtCurrent": 0.5}
    ),
    "paper": Case([LONG_TERM], usual={**LONG_TERM, "CommercialPaper": 30}),
    "paper repaid": Case([{**LONG_TERM, "LiabilitiesCurrent": 65}], usual={**LONG_TERM, "CommercialPaper": 30}),
    "paper, and the current liabilities of before are recast": Case(
        [{**LONG_TERM, "LiabilitiesCurrent": 65}],
        before={**LONG_TERM, "LiabilitiesCurrent": 70},
        usual={**LONG_TERM, "CommercialPaper": 30},
    ),
    "due first": Case([{CASH: 20, "DebtCurrent": 3}], usual={CASH: 20, "LongTermDebt": 60}),
    "nothing owed": Case([{CASH: 20, "LongTermDebtCurrent": 0}], usual={CASH: 20, "LongTermDebtNoncurrent": 0}),
}


def company(case: str) -> str:
    return f"{9_990_030_000 + list(CASES).index(case)}"


def report(cik: str, number: int, now: dict[str, float], before: dict[str, float]) -> list[Row]:
    """A quarter's report: its flows, its balance sheet, and that of the last year end; in millions."""
    end = ENDS[number]
    filed = date(end.year + end.month // 12, end.month % 12 + 1, 20)
    form = "10-K" if end.month == 12 else "10-Q"
    flows = [
        fact(tag, 10e6 * (number % 4 + 1), date(end.year, 1, 1), end, form=form, filed=filed, cik=cik)
        for tag in (REVENUE, NET_INCOME)
    ]
    sheets = [(end, now), (ENDS[FIRST - 1], before)]
    return flows + [
        fact(tag, amount * 1e6, None, at, form=form, filed=filed, cik=cik)
        for at, lines in sheets
        for tag, amount in lines.items()
    ]


def reports(case: Case, cik: str) -> list[Row]:
    usual = [row for number in range(FIRST) for row in report(cik, number, case.usual, {})]
    return usual + [
        row for number, sheet in enumerate(case.sheets, FIRST) for row in report(cik, number, sheet, case.before)
    ]


@pytest.fixture(scope="module")
def at() -> Callable[..., float | str]:
    """The value of a case and item in millions, or the reason of its gap."""
    found = standardized(raw(*(reports(case, company(name)) for name, case in CASES.items())))

    def find(name: str, item: str, number: int = FIRST) -> float | str:
        value = value_of(found, item, "ttm", ENDS[number], company(name))
        reason = row_of(found.gaps, item, "ttm", ENDS[number], company(name))
        return reason["reason"] if value is None else value / 1e6

    return find


def test_cash_without_securities_is_withheld(at):
    """Securities were four fifths and are not in the new report: cash alone would look like a loss of 80."""
    assert at("cash alone", "cash_and_equivalents", FIRST - 1) == 100
    assert at("cash alone", "cash_and_equivalents") == "securities_not_shown"
    assert at("cash alone", "total_debt") == 90


def test_securities_under_another_element_are_used(at):
    """The other element is one that is read."""
    assert at("another element", "cash_and_equivalents") == 101


def test_securities_that_were_sold_are_zero(at):
    """The report still states them for the year end before: the current line is empty."""
    assert at("sold", "cash_and_equivalents") == 102


def test_equities_of_zero_are_no_missing_line(at):
    """Current assets proved that the equities are current; now they are stated as zero."""
    assert at("equities sold", "cash_and_equivalents", FIRST - 1) == 100
    assert at("equities sold", "cash_and_equivalents") == 102


def test_missing_securities_are_expected_for_a_year(at):
    of_year = {at("a year", "cash_and_equivalents", number) for number in range(FIRST, FIRST + 4)}

    assert of_year == {"securities_not_shown"}


@pytest.mark.parametrize(("number", "debt"), [(number, debt) for number, (_, debt) in enumerate(HALVES)])
def test_half_of_the_debt_is_withheld(at, number, debt):
    """If the current or the non-current part is missing in the report, unless a total states the debt.

    A total that is equal to the non-current part proves that nothing is current.
    """
    assert at(f"half {number}", "total_debt") == debt


def test_debt_that_was_repaid_is_zero(at):
    """The report still states the debt of the year end before."""
    assert at("repaid", "total_debt") == 60


def test_a_line_is_not_forgotten_while_the_liabilities_have_room_for_it(at):
    """After more than a year without the line the total decides; without a total the line counts as zero."""
    assert at("still owed", "total_debt", FIRST + 4) == "current_debt_not_shown"
    assert at("owed no more", "total_debt", FIRST + 3) == "current_debt_not_shown"
    assert at("owed no more", "total_debt", FIRST + 4) == 60


def test_current_debt_is_not_forgotten_while_the_current_liabilities_have_room_for_it(at):
    """Without total liabilities the current ones decide, as for Merck, whose reports state non-current debt alone.

    A line that would be little of the debt of today counts as zero, and so does a total that looks like payments with
    interest.
    """
    assert at("due", "total_debt", FIRST + 4) == "current_debt_not_shown"
    assert at("due no more", "total_debt", FIRST + 4) == 60
    assert at("little beside new debt", "total_debt", FIRST + 4) == 6000
    assert at("payments with interest", "total_debt", FIRST + 4) == 60


def test_a_line_of_six_per_cent_is_missed_and_one_of_half_a_per_cent_is_not(at):
    """Johnson & Johnson's interim reports state non-current debt alone, which lacks six per cent of the debt."""
    assert at("a small line", "total_debt", FIRST - 1) == 100
    assert at("a small line", "total_debt") == "current_debt_not_shown"
    assert at("a tiny line", "total_debt") == 99.5


def test_long_term_debt_without_short_term_borrowings_is_withheld(at):
    """Coca-Cola's interim reports state long-term debt alone; current liabilities still have room for the paper."""
    assert at("paper", "total_debt", FIRST - 1) == 90
    assert at("paper", "total_debt") == "short_term_debt_not_shown"
    assert at("paper repaid", "total_debt") == 60
    assert at("paper, and the current liabilities of before are recast", "total_debt") == "short_term_debt_not_shown"


def test_the_first_current_maturities_are_not_all_debt(at):
    """The year end had only non-current debt, and the quarter states only the current part."""
    assert at("due first", "total_debt", FIRST - 1) == 60
    assert at("due first", "total_debt") == "noncurrent_debt_not_shown"


def test_no_current_maturities_after_no_debt_is_zero(at):
    assert at("nothing owed", "total_debt") == 0
