"""Balance sheets in which each rule of debt and cash decides.

Belongs here: lines of balance sheets of one day, and of later filings that show that day again. Does not: the elements
of a line (elements).

Amounts are in millions.
"""

from datetime import date

from tests.factories import CASH, NET_INCOME, REVENUE, Row, fact, month_ends
from tests.shapes import Shape, joined

END = "2023-12-31"
FIRST_FILED, NEXT_FILED = "2024-02-20", "2025-02-20"
SECURITIES, INVENTORY, CURRENT_ASSETS = "ShortTermInvestments", "InventoryNet", "AssetsCurrent"
NONCURRENT, MATURITIES, SHORT = "LongTermDebtNoncurrent", "LongTermDebtCurrent", "ShortTermBorrowings"
WHOLE, NOTES, EVERYTHING = "LongTermDebt", "NotesPayable", "DebtLongtermAndShorttermCombinedAmount"
LIABILITIES, CURRENT_LIABILITIES, OTHER = "Liabilities", "LiabilitiesCurrent", "OtherLiabilities"
PAYABLES, OTHER_NONCURRENT = "AccountsPayableCurrent", "OtherLiabilitiesNoncurrent"
ADVANCES, DEPOSITS = "AdvancesFromFederalHomeLoanBanks", "Deposits"
ASSETS, OF_FLOWS = "Assets", "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
TWO_LINES = {NOTES: 60, "LoansPayable": 15}
USUAL = {CASH: 20, SECURITIES: 80, NONCURRENT: 60, MATURITIES: 30, CURRENT_LIABILITIES: 90}
FINANCING, PROCEEDS_OF_SHARES = "NetCashProvidedByUsedInFinancingActivities", "ProceedsFromIssuanceOfCommonStock"
BUYBACKS = "PaymentsForRepurchaseOfCommonStock"

Lines = dict[str, float]

NO_BORROWINGS: Lines = {PAYABLES: 30, OTHER_NONCURRENT: 25, CURRENT_LIABILITIES: 50, LIABILITIES: 90, ASSETS: 300}
"""A balance sheet with lines that leave a part of the liabilities unexplained."""


def sheet(lines: Lines, *, filed: str = FIRST_FILED, form: str = "10-K") -> list[Row]:
    """A report on the year before it was filed, with the balance sheet of 2023."""
    year = int(filed[:4]) - 1
    flows = (
        fact(tag, 100e6, f"{year}-01-01", f"{year}-12-31", form=form, filed=filed) for tag in (REVENUE, NET_INCOME)
    )
    return [*flows, *(fact(tag, amount * 1e6, None, END, form=form, filed=filed) for tag, amount in lines.items())]


def without_borrowing(financing: Lines, lines: Lines = NO_BORROWINGS, others: Lines | None = None) -> list[Row]:
    """A report on 2023; its financing activities are proceeds of shares less buybacks, and other flows."""
    total = {FINANCING: financing.get(PROCEEDS_OF_SHARES, 0.0) - financing.get(BUYBACKS, 0.0)}
    flows = {**total, **financing, **(others or {})}
    return [
        *sheet(lines),
        *(fact(tag, round(amount * 1e6), "2023-01-01", END, filed=FIRST_FILED) for tag, amount in flows.items()),
    ]


def again(first: Lines, later: Lines, form: str = "10-K") -> list[Row]:
    """The balance sheet of 2023 in the report on 2023, and as a comparative a year later."""
    return joined(sheet(first), sheet(later, filed=NEXT_FILED, form=form))


def gone(lines: Lines, usual: Lines = USUAL) -> list[Row]:
    """Four quarters with the usual lines, and one with only these."""
    ends = month_ends(2022, 5)
    rows = []
    for number, end in enumerate(ends):
        form, filed = "10-K" if end.month == 12 else "10-Q", date(end.year + end.month // 12, end.month % 12 + 1, 20)
        rows.append(fact(REVENUE, 10e6 * (number % 4 + 1), date(end.year, 1, 1), end, form=form, filed=filed))
        for tag, amount in (usual if number < 4 else lines).items():
            rows.append(fact(tag, amount * 1e6, None, end, form=form, filed=filed))
    return rows


def after(before: Lines, lines: Lines) -> list[Row]:
    """A report with two balance sheets: the balance sheet of 2022, and below it the one of 2023."""
    older = (fact(tag, amount * 1e6, None, "2022-12-31", filed=FIRST_FILED) for tag, amount in before.items())
    return [*older, *sheet(lines)]


def since_quarter(before: Lines, lines: Lines) -> list[Row]:
    """A report on the third quarter of 2023, and one on the year."""
    report = {"form": "10-Q", "filed": "2023-11-10"}
    flow = fact(REVENUE, 70e6, "2023-01-01", "2023-09-30", **report)
    older = (fact(tag, amount * 1e6, None, "2023-09-30", **report) for tag, amount in before.items())
    return [flow, *older, *sheet(lines)]


def part_of_cash() -> list[Row]:
    """Three reports on the cash of 2022; the third states a part of it, and a part of the cash of 2023."""
    rows = []
    for filed, form, cash in (("2023-02-20", "10-K", 160), ("2023-05-10", "10-Q", 155), ("2023-08-10", "10-Q", 155)):
        line = {CASH: cash, ASSETS: 1240}
        rows += [fact(tag, amount * 1e6, None, "2022-12-31", form=form, filed=filed) for tag, amount in line.items()]
    return [*rows, *after({CASH: 40, ASSETS: 1240}, {CASH: 7, ASSETS: 1460})]


def later_cash() -> list[Row]:
    """The cash of 2024, in the report on it."""
    return [
        fact(tag, amount * 1e6, None, "2024-12-31", filed=NEXT_FILED)
        for tag, amount in {CASH: 500.001, ASSETS: 2700}.items()
    ]


PROVED = {
    **{MATURITIES: 20.123, PAYABLES: 51.507, CURRENT_LIABILITIES: 71.63},
    **{NONCURRENT: 60.251, OTHER_NONCURRENT: 9.119, LIABILITIES: 141},
}
"""A balance sheet with liabilities that add up."""

DEBT_AND_CASH: dict[str, Lines] = {
    "cash.proved.lines-add-up": {CASH: 20.123, SECURITIES: 80.456, INVENTORY: 31.507, CURRENT_ASSETS: 132.086},
    "cash.read.usual-lines": {CASH: 30, SECURITIES: 15},
    "cash.read.cash-of-flows": {OF_FLOWS: 53.555, "RestrictedCash": 17.2},
    "cash.read.due-from-banks-and-deposits": {"CashAndDueFromBanks": 20, "InterestBearingDepositsInBanks": 90},
    "balance.withheld.exceeds-total": {CASH: 60, CURRENT_ASSETS: 50},
    "balance.line": {CASH: 20.123, INVENTORY: 31.507, CURRENT_ASSETS: 51.63},
    "balance.adds-up.current-assets": {CASH: 20.123, INVENTORY: 31.507, CURRENT_ASSETS: 51.63},
    "balance.adds-up.current-liabilities": PROVED,
    "balance.adds-up.noncurrent-liabilities": PROVED,
    "balance.adds-up.liabilities": {DEPOSITS: 850.123, OTHER: 30.456, ADVANCES: 70.707, LIABILITIES: 951.286},
    "balance.withheld.negative-line": {NONCURRENT: -70, MATURITIES: 20},
    "debt.proved.lines-add-up": PROVED,
    "debt.zero.proved": {
        **{PAYABLES: 51.507, CURRENT_LIABILITIES: 51.507, OTHER_NONCURRENT: 9.119, LIABILITIES: 60.626},
    },
    "debt.filed-as-zero": {WHOLE: 0},
    "debt.read.usual-lines": {NONCURRENT: 70, MATURITIES: 20, CURRENT_LIABILITIES: 90},
    "debt.read.long-term-debt-with-maturities": {WHOLE: 90, MATURITIES: 20, SHORT: 10, CURRENT_LIABILITIES: 95},
    "debt.read.filer-total": {MATURITIES: 20, EVERYTHING: 100, CURRENT_LIABILITIES: 95},
    "debt.withheld.room-for-other-debt": {ADVANCES: 1.9, DEPOSITS: 337, OTHER: 1, LIABILITIES: 351},
    "debt.withheld.may-be-a-part": {NONCURRENT: 65, WHOLE: 90, CURRENT_LIABILITIES: 55},
}
"""The rule and the balance sheet of 2023 in which it decides."""

INSIDE = {
    **{MATURITIES: (20.123, 20.007), PAYABLES: (51.507, 48.119), CURRENT_LIABILITIES: (51.507, 48.119)},
    **{NONCURRENT: (10.251, 11.113), OTHER_NONCURRENT: (9.119, 9.02), LIABILITIES: (70.877, 68.252)},
}
"""Two days on which the current liabilities add up without the maturities."""

HISTORIES: dict[str, list[Row]] = {
    "debt.proved.inside-another-line": [
        *sheet({ASSETS: 200, **{tag: amount for tag, (amount, _) in INSIDE.items()}}),
        *(
            fact(tag, amount * 1e6, None, "2022-12-31", filed=FIRST_FILED)
            for tag, amount in {ASSETS: 190, **{tag: before for tag, (_, before) in INSIDE.items()}}.items()
        ),
    ],
    "debt.zero.all-interest-on-deposits": [
        *sheet({DEPOSITS: 850.123, LIABILITIES: 951.402, ASSETS: 1_000}),
        *(
            fact(tag, 9.876e6, "2023-01-01", END, filed=FIRST_FILED)
            for tag in ("InterestExpense", "InterestExpenseDeposits")
        ),
    ],
    "debt.zero.no-flows": without_borrowing({PROCEEDS_OF_SHARES: 12.345, BUYBACKS: 4.321}),
    "debt.zero.repaid": [
        *sheet({CURRENT_LIABILITIES: 90, ASSETS: 300}),
        *(
            fact(tag, amount * 1e6, None, "2022-12-31", filed=FIRST_FILED)
            for tag, amount in {NONCURRENT: 60, CURRENT_LIABILITIES: 90, ASSETS: 350}.items()
        ),
        fact("RepaymentsOfLongTermDebt", 60e6, "2023-01-01", END, filed=FIRST_FILED),
    ],
    "debt.proved.rest-and-flows": [
        *after(
            {DEPOSITS: 300.204, ADVANCES: 18.696, LIABILITIES: 318.9, ASSETS: 360.5},
            {DEPOSITS: 308.308, SHORT: 13.6, LIABILITIES: 332.404, ASSETS: 373.612},
        ),
        fact("ProceedsFromLinesOfCredit", 5.4e6, "2023-01-01", END, filed=FIRST_FILED),
    ],
    "debt.withheld.maturities-left-long-term-debt": since_quarter(
        {WHOLE: 400, CURRENT_LIABILITIES: 700, ASSETS: 2000}, {WHOLE: 300, CURRENT_LIABILITIES: 810, ASSETS: 2010}
    ),
    "debt.withheld.financial-company-without-short-term-debt": [
        *sheet({WHOLE: 60, ASSETS: 200}),
        fact("RevenuesNetOfInterestExpense", 40e6, "2023-01-01", END, filed=FIRST_FILED),
    ],
    "balance.withheld.line-not-shown": gone({CASH: 20, SECURITIES: 80, NONCURRENT: 60, CURRENT_LIABILITIES: 120}),
    "balance.withheld.element-of-other-extent": part_of_cash(),
    "cash.withheld.cash-of-flows-did-not-move": since_quarter(
        {CASH: 60, OF_FLOWS: 62, ASSETS: 900}, {CASH: 30, OF_FLOWS: 62, ASSETS: 900}
    ),
    "balance.withheld.in-other-units": after({CASH: 20, ASSETS: 100}, {CASH: 0.03, ASSETS: 0.15}),
    "cash.read.cash-of-earlier-period": joined(
        sheet({CASH: 470.675, ASSETS: 2694}), sheet({CASH: 477.675}, filed=NEXT_FILED), later_cash()
    ),
    "balance.proved.line-is-the-rest": after(
        {ASSETS: 999, CASH: 20.123, SECURITIES: 30.111, INVENTORY: 31.507, CURRENT_ASSETS: 81.741},
        {ASSETS: 999, CASH: 21.123, INVENTORY: 30.507, CURRENT_ASSETS: 80.741},
    ),
    "balance.withheld.no-longer-adds-up": after(
        {ASSETS: 999, LIABILITIES: 500, CURRENT_LIABILITIES: 200, NONCURRENT: 273, OTHER_NONCURRENT: 27},
        {ASSETS: 999, LIABILITIES: 510, CURRENT_LIABILITIES: 200, NONCURRENT: 299, OTHER_NONCURRENT: 27},
    ),
    "balance.restated.by-proof": again({NONCURRENT: 60.251, CURRENT_LIABILITIES: 71.63}, PROVED),
    "balance.restated.by-amendment": again({NONCURRENT: 70, MATURITIES: 20}, {SHORT: 110}, form="10-K/A"),
    "balance.restated.all-lines": again({NONCURRENT: 70, MATURITIES: 20}, {NONCURRENT: 75, MATURITIES: 20}),
    "balance.left-out.other-lines": again(TWO_LINES, {NOTES: 60}),
}
"""The rule and the filings in which it decides."""

EVIDENCE: tuple[tuple[str, list[Row]], ...] = (
    ("balance.withheld.exceeds-total", sheet({CASH: 60, OF_FLOWS: 50})),
    ("balance.withheld.exceeds-total", sheet({NONCURRENT: 70, LIABILITIES: 50})),
    ("debt.withheld.may-be-a-part", sheet({MATURITIES: 20, NOTES: 90, CURRENT_LIABILITIES: 55})),
    (
        "debt.withheld.may-be-a-part",
        since_quarter(
            {WHOLE: 290, NONCURRENT: 335, CURRENT_LIABILITIES: 262, ASSETS: 2000},
            {WHOLE: 237, CURRENT_LIABILITIES: 272, ASSETS: 2010},
        ),
    ),
    (
        "debt.withheld.room-for-other-debt",
        [
            *sheet({ADVANCES: 68, DEPOSITS: 411.785, OTHER: 3.86, LIABILITIES: 489.893, ASSETS: 557.155}),
            fact("InterestExpenseSubordinatedNotesAndDebentures", 1e6, "2023-01-01", END, filed=FIRST_FILED),
        ],
    ),
    (
        "balance.withheld.line-not-shown",
        gone(
            {CASH: 20, WHOLE: 60, CURRENT_LIABILITIES: 130, ASSETS: 200},
            {CASH: 20, WHOLE: 60, SHORT: 30, CURRENT_LIABILITIES: 95, ASSETS: 200},
        ),
    ),
    ("balance.withheld.line-not-shown", gone({CASH: 20, SECURITIES: 80, MATURITIES: 30, CURRENT_LIABILITIES: 90})),
    ("balance.withheld.line-not-shown", gone({CASH: 22, NONCURRENT: 60, MATURITIES: 30, CURRENT_LIABILITIES: 90})),
    (
        "balance.withheld.line-not-shown",
        since_quarter(
            {NONCURRENT: 70, SHORT: 30, CURRENT_LIABILITIES: 90, ASSETS: 200},
            {NONCURRENT: 70, CURRENT_LIABILITIES: 90, ASSETS: 200},
        ),
    ),
    (
        "balance.withheld.line-not-shown",
        joined(
            since_quarter({CASH: 21, ASSETS: 910}, {CASH: 22, SECURITIES: 16, ASSETS: 930}),
            [
                fact(tag, amount * 1e6, None, "2022-12-31", filed=FIRST_FILED)
                for tag, amount in {CASH: 20, SECURITIES: 15, ASSETS: 900}.items()
            ],
        ),
    ),
    ("balance.withheld.in-other-units", since_quarter({CASH: 0.02, ASSETS: 0.1}, {CASH: 30, ASSETS: 110})),
    (
        "balance.withheld.in-other-units",
        after({NONCURRENT: 700, ASSETS: 1000}, {NONCURRENT: 0.7, ASSETS: 1000.1}),
    ),
    (
        "balance.withheld.in-other-units",
        sheet(
            {
                **{CASH: 0.535, INVENTORY: 590, ASSETS: 35_175},
                **{NONCURRENT: 9_000, CURRENT_LIABILITIES: 700, LIABILITIES: 20_000},
            }
        ),
    ),
    (
        "balance.withheld.element-of-other-extent",
        after({WHOLE: 90, NONCURRENT: 70, ASSETS: 900}, {NONCURRENT: 68, ASSETS: 905}),
    ),
)
"""Further filings in which a rule decides: one for each thing that it looks at."""

EQUITY_OF_ALL: Lines = {
    **{ASSETS: 4.804279, LIABILITIES: 2.637108, "StockholdersEquity": 2.167171, "MinorityInterest": -1.241325},
    **{CASH: 0.402117, NONCURRENT: 0.551003, CURRENT_LIABILITIES: 0.913406},
}
"""Equity that includes the noncontrolling interests, which are stated as well."""


def with_return(lines: Lines) -> list[Row]:
    """The same balance sheet at both ends of 2023, and operating income."""
    income = {"OperatingIncomeLoss": 0.3, PRETAX: 0.28, "IncomeTaxExpenseBenefit": 0.06}
    return [
        *sheet(lines),
        *(fact(tag, amount * 1e6, None, "2022-12-31", filed=FIRST_FILED) for tag, amount in lines.items()),
        *(fact(tag, amount * 1e6, "2023-01-01", END, filed=FIRST_FILED) for tag, amount in income.items()),
    ]


PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"

SHAPES = (
    Shape("fact.noncontrolling-interests-already", with_return(EQUITY_OF_ALL)),
    *(Shape(rule, sheet(lines)) for rule, lines in DEBT_AND_CASH.items()),
    *(Shape(rule, rows) for rule, rows in (*HISTORIES.items(), *EVIDENCE)),
)
