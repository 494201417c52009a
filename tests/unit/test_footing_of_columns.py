"""The solver, the table of lines, and the readings of balance sheets that their totals prove."""

from datetime import date
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipelines.normalize.balance.solver import solutions
from pipelines.normalize.elements.lines import (
    BORROWING,
    CASH,
    COUNTED,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    FACE_PREFIX,
    IFRS_PREFIX,
    LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
    SECURITY,
)
from tests.factories import Row, Today, fact, raw, value_of
from tests.together import in_one_call

DAY, BEFORE = "2023-12-31", "2022-12-31"
USUAL = {
    "CashAndCashEquivalentsAtCarryingValue": (20.123, 18.771),
    "AccountsReceivableNetCurrent": (31.507, 29.113),
    "AssetsCurrent": (51.63, 47.884),
    "Assets": (140.409, 131.008),
    "AccountsPayableCurrent": (11.019, 10.404),
    "LongTermDebtCurrent": (5.25, 5.25),
    "LiabilitiesCurrent": (16.269, 15.654),
    "LongTermDebtNoncurrent": (40.751, 46.001),
    "OtherLiabilitiesNoncurrent": (9.119, 9.377),
    "Liabilities": (66.139, 71.032),
}
"""The lines of a balance sheet of two days, in millions, which add up in all sections."""


CASH_LINE, DEBT_LINE = "CashAndCashEquivalentsAtCarryingValue", "LongTermDebtNoncurrent"
OF_CASH, OF_DEBT = "cash_and_equivalents", "total_debt"
NO_DEBT = {
    "LongTermDebtCurrent": (None, None),
    DEBT_LINE: (None, None),
    "LiabilitiesCurrent": (11.019, 10.404),
    "Liabilities": (20.138, 19.781),
}
"""No line of debt, and totals without it."""


def report(
    lines: dict[str, tuple[float | None, float | None]],
    filed: str = "2024-02-20",
    days: tuple[str, str] = (DAY, BEFORE),
) -> list[Row]:
    """An annual report with the balance sheets of both days."""
    flows = [fact(tag, 10e6, f"{days[0][:4]}-01-01", days[0], filed=filed) for tag in ("Revenues", "NetIncomeLoss")]
    return [
        *flows,
        *(
            fact(tag, round(amount * 1e6), None, day, filed=filed)
            for tag, amounts in lines.items()
            for day, amount in zip(days, amounts, strict=True)
            if amount is not None
        ),
    ]


def year_before(lines: dict[str, tuple[float, float]]) -> list[Row]:
    """The annual report of the year before; the amounts of its own comparison are nine tenths."""
    older = {tag: (amount, round(amount * 0.9, 3)) for tag, (_, amount) in lines.items()}
    return report(older, "2023-02-20", (BEFORE, "2021-12-31"))


def year_after(lines: dict[str, tuple[float, float | None]]) -> list[Row]:
    """The annual report of the year after, which states the same amounts for both days."""
    return report({tag: (amount, amount) for tag, (amount, _) in lines.items()}, "2025-02-20", ("2024-12-31", DAY))


def value(found: Today, item: str) -> float | None:
    """The current annual value of the newest day, in millions."""
    amount = value_of(found, item, "annual", DAY)
    return None if amount is None else amount / 1e6


amounts = st.integers(1, 10**9)


@settings(deadline=None)
@given(st.lists(st.tuples(amounts, amounts), min_size=4, max_size=14, unique=True), st.data())
def test_a_set_of_lines_that_adds_up_in_both_columns_is_found(pairs, data):
    """However up to four amounts were mistaken for lines or left out, the only small change that foots is found."""
    columns = np.array(pairs, dtype=np.float64).T
    lines = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))))
    assume(lines.any())
    mistaken = data.draw(st.lists(st.integers(0, len(pairs) - 1), min_size=1, max_size=3, unique=True))
    likeliest = lines.copy()
    likeliest[mistaken] ^= True
    totals = columns[:, lines].sum(axis=1)
    assume((totals > 10**6).all())
    assume(all((columns[:, list(some)].sum(axis=1) > 1).all() for some in combinations(mistaken, 2)))

    found = solutions(columns, likeliest, totals, 1.0)

    assert found == [lines.tolist()]


@pytest.mark.parametrize(
    ("columns", "likeliest", "totals", "unit"),
    [
        # amounts of two digits add up by chance, also in two columns
        ([[12.0, 35, 23, 11, 47, 58], [21.0, 30, 26, 15, 41, 59]], [True] * 6, [47.0, 51], 1.0),
        # 209 + 1,680 + 2,160 million are the liabilities by chance: the amounts in the middle include each other
        ([[209e6, 1680e6, 2160e6]], [True, False, True], [4049e6], 1e6),
        # 60 of 50 million, both rounded to ten million, do not add up: a unit of rounding is an error in a small total
        ([[60e6]], [True], [50e6], 10e6),
    ],
    ids=["few digits", "one column", "a unit of rounding"],
)
def test_lines_that_add_up_by_chance_prove_nothing(columns, likeliest, totals, unit):
    assert solutions(np.array(columns), np.array(likeliest), np.array(totals), unit) == []


def test_every_line_of_cash_or_debt_belongs_to_one_item():
    """Cash and securities are current assets; borrowings are liabilities."""
    for section, table in LINES.items():
        kinds = {line.kind for line in table.values()}
        assert (BORROWING in kinds) == ("liabilities" in section), section
        assert bool(kinds & {CASH, SECURITY}) == (section == "current assets"), section
        assert all(line.part_of <= table.keys() for line in table.values())


@in_one_call
def test_the_proof_names_the_totals_with_both_sides():
    """Each section that adds up, with the sum of its lines and its total."""
    found = yield report(USUAL)
    proofs = found.found.proofs.filter(period_end=date(2023, 12, 31), item="total_debt")
    sides = {row["rule"]: (row["left_side"] / 1e6, row["right_side"] / 1e6) for row in proofs.to_dicts()}

    assert sides["balance.adds-up.current-liabilities"] == pytest.approx((16.269, 16.269))
    assert sides["balance.adds-up.noncurrent-liabilities"] == pytest.approx((49.87, 49.87))
    assert sides["debt.proved.lines-add-up"] == pytest.approx((46.001, 46.001))


@pytest.mark.parametrize(
    ("lines", "rule", "is_proved"),
    [
        # PepsiCo's maturities are inside its short-term obligations: the proof does not add them
        (
            USUAL
            | {
                "ShortTermBorrowings": (8.008, 8.101),
                "LiabilitiesCurrent": (19.027, 18.505),
                "Liabilities": (68.897, 73.883),
            },
            "debt.proved.inside-another-line",
            False,
        ),
        # it may be inside one of the lines
        (USUAL | NO_DEBT | {"LineOfCredit": (3.5, None)}, "debt.zero.proved", False),
        (USUAL | NO_DEBT | {"LineOfCredit": (35.0, None)}, "debt.zero.proved", True),
    ],
    ids=["maturities beside a larger line of borrowings", "a small note of a borrowing", "a limit above every line"],
)
@in_one_call
def test_whether_an_amount_is_inside_another_line_may_be_open(lines, rule, is_proved):
    found = yield report(lines)

    assert (rule in found.found.versions["rule"].to_list()) == is_proved


@in_one_call
def test_a_balance_sheet_in_other_units_proves_nothing():
    """A whole balance sheet in thousands adds up, too; total assets of the year before are a thousand times as much."""
    before = [
        {**row, "start": row["start"] and "2022-01-01", "end": BEFORE}
        for row in report({tag: (later, later) for tag, (later, _) in USUAL.items()}, filed="2023-02-20")
        if row["end"] != DAY
    ]
    thousandth = {tag: (amounts[0] / 1000, amounts[1] / 1000) for tag, amounts in USUAL.items()}

    found = yield [*before, *report(thousandth)]

    assert value(found, OF_CASH) is None


@in_one_call
def test_a_proved_value_stays_when_a_later_filing_states_less():
    """A later report that repeats a part of the balance sheet restates nothing."""
    later = report({"LongTermDebtNoncurrent": (40.751, None), "Assets": (140.409, None)}, filed="2025-02-20")
    found = yield [*report(USUAL), *later]

    versions = found.found.versions.filter(item=OF_DEBT, period_end=date(2023, 12, 31))
    assert versions["value"].to_list()[-1] == 46.001e6


@in_one_call
def test_a_line_that_a_later_filing_combines_with_another_one_stays():
    """The credit line of FinWise of 2024: the next report shows it within other liabilities, and its lines add up."""
    own = {
        "Deposits": (544.952, 404.833),
        "OtherLiabilities": (25.519, 24.087),
        "LineOfCredit": (0.064, 0.19),
        "Liabilities": (570.535, 429.11),
        "Assets": (745.976, 586.221),
    }
    later = {"Deposits": 544.952, "OtherLiabilities": 25.583, "Liabilities": 570.535, "Assets": 745.976}
    again = [
        fact(tag, round(amount * scale * 1e6), None, day, form="10-Q", filed="2024-05-15")
        for tag, amount in later.items()
        for day, scale in ((DAY, 1), ("2024-03-31", 1.25))
    ]
    quarter = [fact("Revenues", 3e6, "2024-01-01", "2024-03-31", form="10-Q", filed="2024-05-15")]

    found = yield [*report(own), *again, *quarter]

    assert value(found, "total_debt") == pytest.approx(0.064)


NO_LONGER_ADDS_UP = "balance.withheld.no-longer-adds-up"
WRONG = {
    "cash in thousands": (OF_CASH, {CASH_LINE: (0.020123, 18.771)}, "balance.withheld.in-other-units"),
    "cash with another digit": (OF_CASH, {CASH_LINE: (20.523, 18.771)}, NO_LONGER_ADDS_UP),
    "cash above the total": (OF_CASH, {CASH_LINE: (23.541, 18.771)}, NO_LONGER_ADDS_UP),
    "the cash of the year before": (OF_CASH, {CASH_LINE: (18.771, 18.771)}, NO_LONGER_ADDS_UP),
    "debt with another digit": (OF_DEBT, {DEBT_LINE: (40.151, 46.001)}, NO_LONGER_ADDS_UP),
    "debt above the total": (OF_DEBT, {DEBT_LINE: (43.888, 46.001)}, NO_LONGER_ADDS_UP),
    "a line that is missing, and a rest of three times its size": (
        OF_DEBT,
        {DEBT_LINE: (None, 46.001), "Liabilities": (170.139, 71.032), "Assets": (244.409, 131.008)},
        "debt.withheld.room-for-other-debt",
    ),
}
"""The amounts that replace amounts of USUAL, the item with the wrong or missing line, and the rule that withholds
it.
"""
SERVED = {
    "lines that add up": (OF_DEBT, {}, 46.001),
    "cash that adds up": (OF_CASH, {}, 20.123),
    # long-term debt, usually a note, is the non-current line of NVIDIA's quarter of July 2017
    "a line under an element of notes": (
        OF_DEBT,
        {"LongTermDebt": USUAL[DEBT_LINE], DEBT_LINE: (None, None)},
        46.001,
    ),
    # as Coca-Cola's marketable securities: they are current assets
    "securities below the filer's own subtotal of cash": (
        OF_CASH,
        {
            "CashCashEquivalentsAndShortTermInvestments": (25.5, 22.002),
            "MarketableSecuritiesCurrent": (7.707, 6.006),
            "AssetsCurrent": (64.714, 57.121),
        },
        33.207,
    ),
    # the current liabilities add up without the maturities: these are inside a line that is not borrowed
    "debt that its own element states inside another line": (
        OF_DEBT,
        {"LiabilitiesCurrent": (11.019, 10.404), "Liabilities": (60.889, 65.782)},
        46.001,
    ),
    "no lines of debt, and none is missing": (OF_DEBT, NO_DEBT, 0),
    # the amount is the operating lease less its non-current part, whatever its element says
    "an operating lease under an element of borrowings": (
        OF_DEBT,
        {"OperatingLeaseLiability": (6.25, 7.25), "OperatingLeaseLiabilityNoncurrent": (1.0, 2.0)},
        40.751,
    ),
    # liabilities of the usual size that are not stated are no debt if they are not borrowed in the other column
    "a missing line that is not borrowed": (OF_DEBT, NO_DEBT | {"OtherLiabilitiesNoncurrent": (None, 9.377)}, 0),
    "a line that no element states": (OF_CASH, {"AssetsCurrent": (54.847, 47.884)}, 20.123),
    "receivables are not stated": (OF_CASH, {"AccountsReceivableNetCurrent": (None, 29.113)}, 20.123),
    "a rest of half a per cent": (OF_CASH, {"AssetsCurrent": (51.73, 47.884)}, 20.123),
    "debt as the year before, beside a new line": (
        OF_DEBT,
        {DEBT_LINE: (46.001, 46.001), "Liabilities": (74.607, 71.032)},
        51.251,
    ),
    "debt under another element": (OF_DEBT, {DEBT_LINE: (None, 46.001), "SeniorLongTermNotes": (40.7, None)}, 45.95),
}
"""The amounts that replace amounts of USUAL, an item, and its value."""


@pytest.mark.parametrize(("item", "lines", "rule"), WRONG.values(), ids=WRONG)
@in_one_call
def test_lines_that_no_longer_add_up_withhold_the_item_whose_line_is_wrong(item, lines, rule):
    """In the column of the year before the lines add up; the other item is served."""
    found = yield report(USUAL | lines)
    other, amount = {OF_CASH: (OF_DEBT, 46.001), OF_DEBT: (OF_CASH, 20.123)}[item]

    assert value_of(found, item, "annual", DAY) is None
    assert found.found.gaps.filter(item=item)["rule"].to_list() == [rule]
    assert value_of(found, other, "annual", DAY) == pytest.approx(amount * 1e6)


@pytest.mark.parametrize(("item", "lines", "amount"), SERVED.values(), ids=SERVED)
@in_one_call
def test_lines_that_another_line_or_their_total_explains_are_served(item, lines, amount):
    found = yield report(USUAL | lines)

    assert value(found, item) == pytest.approx(amount)


YEAR_BEFORE = year_before(USUAL)
RELATED, OTHER_DEBT = "NotesPayableRelatedPartiesNoncurrent", "OtherLongTermDebtNoncurrent"
TWO_LINES = USUAL | {DEBT_LINE: (30.738, 35.002), RELATED: (10.013, 10.999)}
"""The non-current debt in two lines."""
YEAR_BEFORE_IN_TWO = year_before(TWO_LINES | {OTHER_DEBT: (10.013, 10.999)})
"""One of them is stated under two elements."""
SECURITIES = "MarketableSecuritiesCurrent"
WITH_SECURITIES = {"AssetsCurrent": (82.13, 69.884), "Assets": (170.909, 153.008)}
RESTS = {
    "debt of the other column is missing here": (report(USUAL | {DEBT_LINE: (None, 46.001)}), "total_debt", 46.001),
    "securities of the other column are missing here": (
        report(USUAL | WITH_SECURITIES | {SECURITIES: (None, 22)}),
        "cash_and_equivalents",
        50.623,
    ),
    "debt is missing in both columns, and an earlier report states that of the other": (
        YEAR_BEFORE + report(USUAL | {DEBT_LINE: (None, None)}),
        "total_debt",
        46.001,
    ),
    "two lines of debt are missing in both columns": (
        YEAR_BEFORE_IN_TWO + report(TWO_LINES | {DEBT_LINE: (None, None), RELATED: (None, None)}),
        "total_debt",
        46.001,
    ),
    "debt is missing, and another line of debt is stated under one of its two elements": (
        YEAR_BEFORE_IN_TWO + report(TWO_LINES | {DEBT_LINE: (None, None)}),
        "total_debt",
        46.001,
    ),
    "and under the other one": (
        YEAR_BEFORE_IN_TWO
        + report(TWO_LINES | {DEBT_LINE: (None, None), RELATED: (None, None), OTHER_DEBT: (10.013, 10.999)}),
        "total_debt",
        46.001,
    ),
}


@pytest.mark.parametrize(("rows", "item", "amount"), RESTS.values(), ids=RESTS)
@in_one_call
def test_one_line_that_is_missing_is_what_the_others_leave_of_their_total(rows, item, amount):
    """The value says so, and consists of the total less the other lines."""
    found = yield rows
    version = found.found.versions.filter(pl.col("item") == item).row(-1, named=True)

    assert value_of(found, item, "annual", DAY) == pytest.approx(amount * 1e6)
    assert (version["rule"], version["flags"]) == ("balance.proved.line-is-the-rest", "derived_line")
    assert sum(leg["weight"] * leg["value"] for leg in version["legs"]) == pytest.approx(amount * 1e6)


LESS = {"AccountsPayableCurrent": (9.019, 8.404)}
"""Current liabilities that do not add up, because a line is not stated."""
OF_CASH_FLOWS = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
IN_CASH = USUAL | {OF_CASH_FLOWS: (20.123, 18.771)}
"""The cash of the balance sheet equals the cash of the cash flow statement, which includes restricted cash."""
RESTS_WITHOUT_PROOF = {
    "debt alone": (
        USUAL | {"AccountsPayableCurrent": (14.269, 13.654), "LongTermDebtCurrent": (None, None)},
        {DEBT_LINE: (None, 46.001)},
        "total_debt",
        40.751,
    ),
    "debt beside maturities": (USUAL | LESS, {DEBT_LINE: (None, 46.001)}, "total_debt", 46.001),
    "securities beside cash less what is restricted": (
        IN_CASH | {SECURITIES: (30.5, 22.0), **WITH_SECURITIES},
        {SECURITIES: (None, 22.0), "RestrictedCashAndCashEquivalentsAtCarryingValue": (2.007, 2.003)},
        "cash_and_equivalents",
        48.616,
    ),
}


@pytest.mark.parametrize(("usual", "lines", "item", "amount"), RESTS_WITHOUT_PROOF.values(), ids=RESTS_WITHOUT_PROOF)
@in_one_call
def test_a_rest_in_a_value_without_proof_consists_of_the_total_and_the_other_lines(usual, lines, item, amount):
    """Not all of the value is proved, but each of its facts is in its legs."""
    stated = {tag: amounts for tag, amounts in usual.items() if amounts[1] is not None}
    found = yield year_before(stated) + report(usual | lines)
    version = found.found.versions.filter(item=item, period_end=date(2023, 12, 31)).row(-1, named=True)

    assert value(found, item) == pytest.approx(amount)
    assert (version["rule"].split(".")[1], version["flags"]) == ("read", "derived_line")
    assert sum(leg["weight"] * leg["value"] for leg in version["legs"]) == pytest.approx(amount * 1e6)


WITH_RESTRICTED = IN_CASH | {"RestrictedCashCurrent": (2.501, 2.11), "AssetsCurrent": (54.131, 49.994)}
WITH_NOTE = USUAL | NO_DEBT | {"NotesPayableCurrent": (2.01, None)}
OTHER_BEFORE = USUAL | {DEBT_LINE: (0, 45.001), "Liabilities": (0, 70.032)}
REPORTS = {
    # the cash flow statement has the amount of the line of cash alone
    "restricted cash that is the rest is a line of its own and not subtracted": (
        year_before(WITH_RESTRICTED) + report(WITH_RESTRICTED | {"RestrictedCashCurrent": (None, 2.11)}),
        OF_CASH,
        20.123,
    ),
    # the remainder of the year before differs from the amount in the earlier report: another line is missing
    "a missing line that no report knows is no rest": (
        report({tag: (older, older) for tag, (_, older) in OTHER_BEFORE.items()}, "2023-02-20", (BEFORE, "2021-12-31"))
        + report(USUAL | {DEBT_LINE: (None, None)}),
        OF_DEBT,
        None,
    ),
    "no note states a debt": (report(USUAL | NO_DEBT) + year_after(USUAL | NO_DEBT), OF_DEBT, 0),
    # a later filing with lines that add up without it says nothing about the content of these lines
    "a note that an earlier report states leaves zero open": (
        report(WITH_NOTE) + year_after(USUAL | NO_DEBT),
        OF_DEBT,
        2.01,
    ),
}
"""Several reports, an item, and its value."""


@in_one_call
def test_a_rest_of_the_other_column_is_without_the_lines_that_this_states():
    """Neither column has the debt, and only the older one has that to related parties."""
    found = yield YEAR_BEFORE_IN_TWO + report(TWO_LINES | {DEBT_LINE: (None, None), RELATED: (None, 10.999)})

    assert value(found, "total_debt") == pytest.approx(46.001)
    assert value_of(found, "total_debt", "annual", BEFORE) == pytest.approx(51.251 * 1e6)


@pytest.mark.parametrize(("rows", "item", "amount"), REPORTS.values(), ids=REPORTS)
@in_one_call
def test_a_report_beside_those_of_other_years(rows, item, amount):
    found = yield rows

    assert value(found, item) == (None if amount is None else pytest.approx(amount))


@pytest.mark.parametrize(("other", "receivables", "cash"), [(20.119, 31.507, 20.123), (20.223, 31.407, 20.223)])
@in_one_call
def test_a_later_filing_restates_a_proved_value_by_more_than_rounding(other, receivables, cash):
    """Less than a thousandth is the same money where the lines of the later filing do not add up."""
    later = {tag: (amount, amount) for tag, (amount, _) in USUAL.items()}
    later |= {CASH_LINE: (20.123, other), "AccountsReceivableNetCurrent": (31.507, receivables)}

    found = yield report(USUAL) + report(later, "2025-02-20", ("2024-12-31", DAY))

    assert value(found, OF_CASH) == pytest.approx(cash)


UNCLASSIFIED = {"AccountsPayableAndAccruedLiabilitiesCurrentAndNoncurrent": (20.138, 25.031)}
PLACES = {
    CURRENT_ASSETS: "CashAndCashEquivalentsAtCarryingValue",
    CURRENT_LIABILITIES: "LongTermDebtCurrent",
    NONCURRENT_LIABILITIES: DEBT_LINE,
}
"""The element that another element replaces on the usual balance sheet."""


def with_line(section: str, element: str, kind: str) -> Row:
    """A balance sheet that has the line of an element, and adds up with it."""
    if kind == SECURITY:
        return USUAL | WITH_SECURITIES | {element: (30.5, 22)}
    if section == LIABILITIES:
        return UNCLASSIFIED | {
            element: (46.001, 46.001),
            "Liabilities": USUAL["Liabilities"],
            "Assets": USUAL["Assets"],
        }
    return {element if tag == PLACES[section] else tag: amounts for tag, amounts in USUAL.items()}


@in_one_call
def test_each_line_of_debt_and_cash_in_the_table_counts_where_the_balance_sheet_adds_up_with_it():
    """Whatever the name of its element, and whether it usually is a line or a detail in the notes."""
    lines = [
        (section, element, line.kind)
        for section, table in LINES.items()
        for element, line in table.items()
        if line.kind in COUNTED and not element.startswith((IFRS_PREFIX, FACE_PREFIX))
    ]
    amounts = {BORROWING: 46.001, CASH: 20.123, SECURITY: 50.623}

    found = yield tuple(raw(report(with_line(*line))) for line in lines)
    values = [
        value(each, "total_debt" if kind == BORROWING else "cash_and_equivalents")
        for each, (*_, kind) in zip(found, lines, strict=True)
    ]

    assert len(lines) > 200
    assert [
        line for line, amount in zip(lines, values, strict=True) if amount != pytest.approx(amounts[line[-1]])
    ] == []
