"""Total debt and cash from the lines of one balance sheet: nothing twice, nothing beside its total."""

from datetime import date

import polars as pl
import pytest

from pipelines.normalize.balance import composition
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from tests.factories import CASH, CIK, NET_INCOME, REVENUE, Today, day, fact, raw, row_of, standardized, value_of

PARTS_ADD_UP = "classified.noncurrent-maturities-and-short-term"
WITH_CURRENT = "classified.noncurrent-and-current"
LARGEST_SUM = "instruments.largest-sum-without-double-counting"

DEBT_CASES = {
    # three lines that do not overlap
    "parts add up": ({"noncurrent": 70, "current_maturities": 20, "short_term": 10}, 100, PARTS_ADD_UP),
    "noncurrent alone": ({"noncurrent": 70}, 70, PARTS_ADD_UP),
    "maturities under two tags count once": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 20},
        90,
        "classified.noncurrent-and-maturities",
    ),
    "maturities under two tags, a rounding apart": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 20.01},
        90,
        "classified.noncurrent-and-maturities",
    ),
    # the parent of maturities and short-term borrowings
    "current debt is the parent of both": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 30},
        100,
        WITH_CURRENT,
    ),
    "current debt covers unnamed lines": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 31},
        101,
        WITH_CURRENT,
    ),
    "current debt without parts": ({"noncurrent": 70, "current": 30}, 100, WITH_CURRENT),
    "current debt that is the maturities": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 20},
        100,
        "classified.noncurrent-current-and-short-term",
    ),
    "one amount under three tags": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 20, "current": 20},
        90,
        WITH_CURRENT,
    ),
    "current debt below the maturities is no parent": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 5},
        100,
        PARTS_ADD_UP,
    ),
    # totals of long-term debt
    "a whole beside all parts adds nothing": (
        {"noncurrent": 70, "current_maturities": 20, "long_term": 90},
        90,
        PARTS_ADD_UP,
    ),
    "a whole that repeats the noncurrent part": (
        {"noncurrent": 70, "current_maturities": 20, "long_term": 70},
        90,
        PARTS_ADD_UP,
    ),
    "a whole with unnamed maturities": (
        {"noncurrent": 70, "long_term": 90},
        90,
        "classified.long-term-debt-with-unnamed-maturities",
    ),
    "a whole with unnamed maturities, and short-term": (
        {"noncurrent": 70, "short_term": 10, "long_term": 90},
        100,
        "classified.long-term-debt-with-unnamed-maturities",
    ),
    "the maturities are tagged as short-term": (
        {"noncurrent": 70, "short_term": 20, "long_term": 90},
        90,
        "classified.long-term-debt-with-maturities-as-short-term",
    ),
    "a whole below its part is no whole": ({"noncurrent": 70, "short_term": 10, "long_term": 60}, 80, PARTS_ADD_UP),
    "a whole without parts": ({"long_term": 90}, 90, LARGEST_SUM),
    "a whole and short-term": ({"long_term": 90, "short_term": 10}, 100, LARGEST_SUM),
    "a whole with its maturities beside it": (
        {"long_term": 90, "current_maturities": 20},
        90,
        "classified.long-term-debt-and-short-term",
    ),
    "a whole, its maturities under the short-term tag too": (
        {"long_term": 90, "current_maturities": 20, "short_term": 20},
        90,
        "classified.long-term-debt",
    ),
    # instruments, on a balance sheet without current and non-current parts
    "instruments add up": ({"advances": 50, "subordinated": 20, "junior": 10}, 80, LARGEST_SUM),
    "a total of the instruments beside them": (
        {"long_term": 80, "advances": 50, "subordinated": 20, "junior": 10},
        80,
        LARGEST_SUM,
    ),
    "a line that adds up the others": ({"other": 70, "advances": 50, "subordinated": 20}, 70, LARGEST_SUM),
    "a line beside the others": ({"other": 5, "advances": 50, "subordinated": 20}, 75, LARGEST_SUM),
    "one instrument under two elements": ({"other": 50, "advances": 50}, 50, LARGEST_SUM),
    "long-term debt covers the notes in it": ({"long_term": 90, "notes": 60}, 90, LARGEST_SUM),
    "advances above long-term debt are beside it": ({"long_term": 30, "advances": 50}, 80, LARGEST_SUM),
    "drawn credit lines count with proof alone": ({"advances": 50, "credit_line": 400}, 50, LARGEST_SUM),
    # one total of everything
    "everything in one line": ({"all": 100}, 100, "filer-total"),
    "everything in one line beside parts": ({"noncurrent": 70, "current_maturities": 20, "all": 105}, 90, PARTS_ADD_UP),
    # nothing of long term
    "current debt only": ({"current": 30}, 30, "classified.current-alone"),
    "short-term only": ({"short_term": 10}, 10, LARGEST_SUM),
    "maturities only": ({"current_maturities": 20}, 20, "classified.maturities-and-short-term"),
    "maturities and short-term only": (
        {"current_maturities": 20, "short_term": 10},
        30,
        "classified.maturities-and-short-term",
    ),
    "the same maturities twice, and nothing else": (
        {"current_maturities": 20, "short_term": 20},
        20,
        "classified.maturities-alone",
    ),
    # zero is an amount
    "no debt, and said so": ({"noncurrent": 0, "current_maturities": 0}, 0, PARTS_ADD_UP),
    "a whole of nothing": ({"long_term": 0}, 0, "filed-as-zero"),
    "an instrument of nothing": ({"advances": 0}, 0, "filed-as-zero"),
}

CASH_CASES = {
    "the filer's own total comes first": (
        {"cash_total": 50, "cash": 30, "short_term_investments": 15},
        50,
        "filer-total",
    ),
    "a total without parts": ({"cash_total": 50}, 50, "filer-total"),
    "a total below its cash is no total": (
        {"cash_total": 20, "cash": 30, "short_term_investments": 15},
        45,
        "cash-and-securities",
    ),
    "cash and the securities beside it": ({"cash": 30, "short_term_investments": 15}, 45, "cash-and-securities"),
    "cash alone": ({"cash": 30}, 30, "cash-alone"),
    "nothing held": ({"cash": 0}, 0, "cash-alone"),
}


Case = tuple[dict[str, float], float, str]


def of_cases(cases: dict[str, Case], first: int = 0) -> list[tuple[int, float, str]]:
    """The number of each case (that of its company), its amount and its rule."""
    return [(number, amount, rule) for number, (_, amount, rule) in enumerate(cases.values(), first)]


ELEMENT = {concept.name: concept.sources[0].counted[0] for concept in CONCEPTS}
"""An element that states each line."""


def sheet(lines: dict[str, float]) -> pl.DataFrame:
    """One balance sheet with some lines, in millions, as placed on the grid."""
    rows = [
        {"concept": name, "value": value * 1e6, "vintage": number, "signature": ELEMENT[name]}
        for number, (name, value) in enumerate(lines.items())
    ]
    return pl.DataFrame(rows, schema_overrides={"vintage": pl.UInt32, "concept": AMOUNT}).with_columns(
        cik=pl.lit(int(CIK), pl.Int64),
        q=pl.lit(4, pl.Int32),
        seq=pl.lit(0, pl.Int32),
        n=pl.lit(0, pl.Int32),
        rank=pl.lit(0, pl.Int16),
        end=pl.lit(day("2023-12-31")),
        filed=pl.lit(day("2024-02-20")),
        regime=pl.lit(0, pl.Int32),
        amended=pl.lit(value=False),
        grain=pl.lit(1e6),
    )


def of_debt(lines: dict[str, float]) -> dict[str, float]:
    return {f"debt_{name}": value for name, value in lines.items()}


@pytest.fixture(scope="module")
def composed() -> pl.DataFrame:
    """What each of the cases above leads to: one company a case, in their order, in one batch."""
    cases = [*(of_debt(lines) for lines, *_ in DEBT_CASES.values()), *(lines for lines, *_ in CASH_CASES.values())]
    sheets = [sheet(lines).with_columns(cik=pl.lit(number, pl.Int64)) for number, lines in enumerate(cases)]
    return composition.balances(pl.concat(sheets)).composed


@pytest.mark.parametrize(("number", "debt", "rule"), of_cases(DEBT_CASES), ids=DEBT_CASES)
def test_total_debt(composed, number, debt, rule):
    """Long-term debt, current maturities and short-term borrowings, each amount once, and the rule that says so."""
    found = composed.filter(cik=number)

    assert found["value"].to_list() == pytest.approx([debt * 1e6], rel=1e-6)
    assert found["rule"].to_list() == [f"debt.{rule}"]


@pytest.mark.parametrize(("number", "cash", "rule"), of_cases(CASH_CASES, len(DEBT_CASES)), ids=CASH_CASES)
def test_cash_and_equivalents(composed, number, cash, rule):
    found = composed.filter(cik=number)

    assert found.select("value", "rule").rows() == [(cash * 1e6, f"cash.{rule}")]


@pytest.mark.parametrize(
    ("lines", "is_flagged"),
    [
        ({"noncurrent": 70, "current_maturities": 20, "long_term": 90}, False),
        ({"noncurrent": 70, "current_maturities": 20, "short_term": 10, "long_term": 90, "all": 100}, False),
        ({"noncurrent": 70, "current_maturities": 20, "long_term": 70}, False),
        ({"noncurrent": 70, "current_maturities": 20, "long_term": 97}, True),
        ({"noncurrent": 70, "current_maturities": 20, "all": 120}, True),
    ],
)
def test_a_total_that_contradicts_its_parts_is_flagged(lines, is_flagged):
    """The sum of the lines stands; the filer's own total is neither it, nor it without short-term borrowings."""
    found = composition.balances(sheet(of_debt(lines)))

    assert found.composed["flag"].to_list() == [composition.CONTRADICTED if is_flagged else None]
    assert ("debt.total-contradicts-parts" in found.decisions["rule"]) == is_flagged


def test_a_balance_sheet_without_such_lines_has_no_value():
    """Absence is no zero; securities without cash are no cash."""
    found = composition.balances(sheet({"assets": 500, "short_term_investments": 15}))

    assert found.composed.is_empty()
    assert found.parts.is_empty()


def test_nothing_stated_gives_empty_frames():
    found = composition.balances(sheet({"assets": 500}).clear())
    lines, decisions = composition.single_lines(sheet({"cash": 30}))

    assert found.composed.schema == composition.COMPOSED
    assert found.parts.schema == composition.PARTS
    assert [frame.height for frame in (found.composed, found.missed, found.decisions, lines, decisions)] == [0] * 5


def test_the_lines_that_were_added_are_kept():
    """With what they are stated to: a sum of two is rounded twice."""
    lines = {"debt_short_term": 20, "debt_current_maturities": 20, "debt_noncurrent": 70}

    found = composition.balances(sheet(lines))

    assert found.composed.select("sum", "concept", "grain").rows() == [(0, "total_debt", 2e6)]
    assert found.parts.rows() == [(0, 2, None), (0, 1, None)]


# --- From filings


def filed(date_filed: str, form: str = "10-K", **lines: float) -> list[dict]:
    """A report on 2023 and its balance sheet, or a later one that shows it again."""
    year = 2023 if date_filed < "2025" else 2024
    flows = [
        fact(tag, 100e6, f"{year}-01-01", f"{year}-12-31", form=form, filed=date_filed) for tag in (REVENUE, NET_INCOME)
    ]
    return [
        *flows,
        *(fact(tag, value * 1e6, None, "2023-12-31", form=form, filed=date_filed) for tag, value in lines.items()),
    ]


def at_the_end(found: Today, item: str, end: str | date = "2023-12-31") -> float | None:
    value = value_of(found, item, "annual", end)
    return None if value is None else value / 1e6


PARTS = {"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 20, "ShortTermBorrowings": 10}


def test_elements_become_debt_and_cash():
    found = standardized(raw(filed("2024-02-20", **PARTS, **{CASH: 30, "MarketableSecuritiesCurrent": 15})))

    assert at_the_end(found, "total_debt") == 100
    assert at_the_end(found, "cash_and_equivalents") == 45


def test_a_later_report_with_fewer_lines_restates_nothing():
    """The next year's report shows long-term debt of the old balance sheet alone: what it lacks is no restatement."""
    found = standardized(
        raw(
            filed("2024-02-20", **PARTS, **{CASH: 30, "MarketableSecuritiesCurrent": 15}),
            filed("2025-02-20", LongTermDebtNoncurrent=70, **{CASH: 30}),
        )
    )

    assert at_the_end(found, "total_debt") == 100
    assert at_the_end(found, "cash_and_equivalents") == 45


def test_a_later_report_with_the_same_lines_restates():
    found = standardized(
        raw(filed("2024-02-20", **PARTS), filed("2025-02-20", **{**PARTS, "LongTermDebtNoncurrent": 75}))
    )

    assert at_the_end(found, "total_debt") == 105


def test_a_later_report_that_tells_one_line_more_restates():
    """Mortgages that stood under an element of the filer's own have one of the taxonomy a quarter later.

    The year after shows the old lines alone again, which takes nothing away.
    """
    notes = {"NotesPayable": 60, "LoansPayable": 15}
    reports = [
        filed("2024-02-20", **notes),
        filed("2024-05-02", form="10-Q", **notes, SecuredDebt=9),
        filed("2025-02-20", **notes),
    ]

    found = [at_the_end(standardized(raw(*reports[:number])), "total_debt") for number in (1, 2, 3)]

    assert found == [75, 84, 84]


def test_an_amount_within_a_line_is_no_line_more():
    """The next year's report has what was one line under two elements, one of them for a part of the other."""
    lines = {"LongTermDebtNoncurrent": 70, "ShortTermBorrowings": 10}
    found = standardized(
        raw(filed("2024-02-20", **lines), filed("2025-02-20", **lines, NotesPayableRelatedPartiesNoncurrent=40))
    )

    assert at_the_end(found, "total_debt") == 80


def test_an_amendment_restates_with_whatever_lines():
    found = standardized(
        raw(filed("2024-02-20", **PARTS), filed("2024-06-20", form="10-K/A", LongTermDebt=110)),
    )

    assert at_the_end(found, "total_debt") == 110


def test_two_filings_never_make_one_balance_sheet():
    """Lines of different filings are not added up."""
    found = standardized(
        raw(filed("2024-02-20", LongTermDebtNoncurrent=70), filed("2025-02-20", LongTermDebtCurrent=20)),
    )

    assert at_the_end(found, "total_debt") == 70


def of_a_bank(**lines: float) -> Today:
    """A report on 2023 that shows a bank, and some lines of its balance sheet."""
    income = [
        fact(tag, 50e6, "2023-01-01", "2023-12-31", filed="2024-02-20")
        for tag in ("InterestIncomeExpenseNet", "NoninterestIncome")
    ]
    return standardized(raw(filed("2024-02-20", Deposits=900, **lines), income))


def test_a_bank_holds_its_cash_on_two_lines():
    """Cash and due from banks, and interest-bearing deposits; its securities are its business, not its cash."""
    found = of_a_bank(CashAndDueFromBanks=20, InterestBearingDepositsInBanks=300, ShortTermInvestments=50)

    assert at_the_end(found, "cash_and_equivalents") == 320


@pytest.mark.parametrize("element", ["UnsecuredLongTermDebt", "SeniorLongTermNotes"])
def test_a_bank_may_borrow_for_long_by_one_kind_of_notes(element):
    """Short-term borrowings are never all of it."""
    found = of_a_bank(**{element: 240, "ShortTermBorrowings": 70})

    assert at_the_end(found, "total_debt") == 310


def test_unsecured_debt_has_its_maturities_apart():
    found = standardized(raw(filed("2024-02-20", UnsecuredLongTermDebt=27, UnsecuredDebtCurrent=7)))

    assert at_the_end(found, "total_debt") == 34


def test_operating_leases_deposits_and_payables_are_no_debt():
    lines = {
        "OperatingLeaseLiabilityNoncurrent": 40,
        "Deposits": 900,
        "AccountsPayableCurrent": 30,
        "SecuritiesSoldUnderAgreementsToRepurchase": 60,
        CASH: 1,
    }

    found = standardized(raw(filed("2024-02-20", **lines)))

    assert at_the_end(found, "total_debt") is None
    assert found.gaps.filter(item="total_debt")["reason"].unique().to_list() == ["no_tag"]


@pytest.mark.parametrize(
    ("lines", "item", "flag"),
    [
        ({"LongTermDebtAndCapitalLeaseObligations": 70}, "total_debt", "includes_finance_leases"),
        ({"DebtLongtermAndShorttermCombinedAmount": 70}, "total_debt", "may_be_principal"),
        (
            {"CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents": 30},
            "cash_and_equivalents",
            "may_include_restricted_cash",
        ),
        ({"LongTermDebtNoncurrent": 70, CASH: 30}, "total_debt", ""),
    ],
)
def test_a_value_carries_the_reservations_of_its_sources(lines, item, flag):
    """What the only line holds besides is told with the value."""
    found = standardized(raw(filed("2024-02-20", **lines)))

    assert row_of(found.values, item, "annual", "2023-12-31")["flags"] == flag


def test_restricted_cash_that_is_told_apart_is_taken_off():
    """A filer whose only line is the total of the cash flow statement."""
    lines = {"CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents": 30, "RestrictedCashAndCashEquivalents": 4}

    found = standardized(raw(filed("2024-02-20", **lines)))

    assert at_the_end(found, "cash_and_equivalents") == 26
