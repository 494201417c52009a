"""Debt and cash against the rest of the balance sheets: a value with a wrong or an unknown part is withheld."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import pytest

from pipelines.normalize.balance import evidence
from tests.factories import CASH, Row, Today, fact, month_ends, of_companies, row_of, standardized, value_of
from tests.shapes.faces import OF_FACES

SECURITIES, INVENTORY, OF_FLOWS = (
    "MarketableSecuritiesCurrent",
    "InventoryNet",
    "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
)
NONCURRENT, MATURITIES, SHORT, CURRENT, WHOLE = (
    "LongTermDebtNoncurrent",
    "LongTermDebtCurrent",
    "ShortTermBorrowings",
    "DebtCurrent",
    "LongTermDebt",
)
EVERYTHING, ADVANCES, DEPOSITS = (
    "DebtLongtermAndShorttermCombinedAmount",
    "AdvancesFromFederalHomeLoanBanks",
    "Deposits",
)
ASSETS, OF_CURRENT_ASSETS, LIABILITIES, DUE = "Assets", "AssetsCurrent", "Liabilities", "LiabilitiesCurrent"
OTHER, PAYABLE, OTHER_NONCURRENT = "OtherLiabilities", "AccountsPayableCurrent", "OtherLiabilitiesNoncurrent"

Lines = dict[str, float]


@dataclass(frozen=True)
class Case:
    """Balance sheets of quarters that follow each other, in millions, each in the report on its quarter.

    expected: for each of them the value in millions, or the rule that withholds it. comparatives: for a report the
    lines that it states of earlier quarters, by quarter; quarters count from 0. of_industry: a flow that companies of
    one industry, or with one kind of debt, state.
    """

    item: str
    sheets: Sequence[Lines]
    expected: Sequence[float | str]
    comparatives: dict[int, dict[int, Lines]] | None = None
    of_industry: str | None = None

    def rows(self) -> list[Row]:
        """The reports."""
        ends = month_ends(2022, len(self.sheets))
        rows = []
        for number, end in enumerate(ends):
            report = {"form": "10-K" if end.month == 12 else "10-Q", "filed": end + timedelta(days=40)}
            flows = {"Revenues": 10.0 * end.month} | ({self.of_industry: end.month} if self.of_industry else {})
            rows += [fact(tag, amount * 1e6, date(end.year, 1, 1), end, **report) for tag, amount in flows.items()]
            columns = {number: self.sheets[number], **(self.comparatives or {}).get(number, {})}
            rows += [
                fact(tag, amount * 1e6, None, ends[at], **report)
                for at, lines in columns.items()
                for tag, amount in lines.items()
            ]
        return rows


def cash(
    sheets: Sequence[Lines], expected: Sequence[float | str], comparatives: dict[int, dict[int, Lines]] | None = None
) -> Case:
    return Case("cash_and_equivalents", sheets, expected, comparatives)


def debt(
    sheets: Sequence[Lines], expected: Sequence[float | str], comparatives: dict[int, dict[int, Lines]] | None = None
) -> Case:
    return Case("total_debt", sheets, expected, comparatives)


def one_line(amounts: Sequence[float], due: Sequence[float], line: str = NONCURRENT) -> list[Lines]:
    """One line of long-term debt, and the current liabilities."""
    return [{line: amount, DUE: current, ASSETS: 2000} for amount, current in zip(amounts, due, strict=True)]


def beside_year_end(sheets: Sequence[Lines], year_end: int = 3) -> dict[int, dict[int, Lines]]:
    """In each report of the next year the balance sheet of a year end."""
    return {number: {year_end: sheets[year_end]} for number in range(year_end + 1, min(year_end + 5, len(sheets)))}


WITHHELD = {
    "units": "balance.withheld.in-other-units",
    "negative": "balance.withheld.negative-line",
    "too large": "balance.withheld.exceeds-total",
    "apart from flows": "cash.withheld.cash-of-flows-did-not-move",
    "extent": "balance.withheld.element-of-other-extent",
    "not shown": "balance.withheld.line-not-shown",
    "rest": "balance.withheld.no-longer-adds-up",
    "fell due": "debt.withheld.maturities-left-long-term-debt",
    "part": "debt.withheld.may-be-a-part",
    "room": "debt.withheld.room-for-other-debt",
    "financial": "debt.withheld.financial-company-without-short-term-debt",
}
"""The rules by a short name of the error or the unknown part."""

OTHERS = {OTHER_NONCURRENT: 4.711, DUE: 20.004, ASSETS: 120.0}
"""The other lines of a balance sheet."""

WRONG: dict[str, Case] = {
    "a sheet in other units": cash([{CASH: 20, ASSETS: 100}, {CASH: 0.03, ASSETS: 0.15}], [20, "units"]),
    "a first sheet in other units": cash([{CASH: 0.02, ASSETS: 0.1}, {CASH: 30, ASSETS: 110}], ["units", 30]),
    "assets that shrank, and not by a thousand": cash([{CASH: 100, ASSETS: 900}, {CASH: 5, ASSETS: 8}], [100, 5]),
    "a line in other units": debt(
        [{NONCURRENT: 700, DUE: 150, ASSETS: 1000}, {NONCURRENT: 0.7, DUE: 150, ASSETS: 1000.1}], [700, "units"]
    ),
    "a line in thousands, where all others are in whole millions": cash(
        [{CASH: 0.535, INVENTORY: 590, ASSETS: 35_175, NONCURRENT: 9_000, DUE: 700, LIABILITIES: 20_000}], ["units"]
    ),
    "a line in thousands among others": cash(
        [{CASH: 0.535, INVENTORY: 590.1, ASSETS: 35_175, NONCURRENT: 9_000, DUE: 700, LIABILITIES: 20_000}], [0.535]
    ),
    "a line without its element, as long as the rest is there": debt(
        [
            {NONCURRENT: 30.123, "SecuredLongTermDebt": 3.217, **OTHERS, LIABILITIES: 58.055},
            {NONCURRENT: 31.123, **OTHERS, LIABILITIES: 58.955},
            {NONCURRENT: 29.123, **OTHERS, LIABILITIES: 63.855},
            {NONCURRENT: 29.123, **OTHERS, LIABILITIES: 53.938},
        ],
        [33.34, "not shown", "not shown", 29.123],
    ),
    "short-term debt that is gone while current liabilities fell by more": debt(
        [{NONCURRENT: 76.1, SHORT: 9.2, DUE: 64.3, ASSETS: 240}, {NONCURRENT: 76.4, DUE: 51.2, ASSETS: 245}],
        [85.3, 76.4],
    ),
    "and by less than since their total was restated": debt(
        [{NONCURRENT: 76.1, SHORT: 9.2, DUE: 64.3, ASSETS: 240}, {NONCURRENT: 76.4, DUE: 51.2, ASSETS: 245}],
        [85.3, "not shown"],
        {1: {0: {NONCURRENT: 76.1, DUE: 55.2, ASSETS: 238}}},
    ),
    "a line that is inside another one now": debt(
        [
            {NONCURRENT: 30.123, "SecuredLongTermDebt": 3.217, **OTHERS, LIABILITIES: 58.055},
            {NONCURRENT: 33.222, **OTHERS, LIABILITIES: 57.937},
        ],
        [33.34, 33.222],
    ),
    "cash that is by chance as before": cash([{CASH: 20.12, ASSETS: 100}, {CASH: 20.12, ASSETS: 120}], [20.12, 20.12]),
    "cash mistyped in its own report": cash(
        [{CASH: 470.675, ASSETS: 2694}, {CASH: 500.001, ASSETS: 2700}], [477.675, 500.001], {1: {0: {CASH: 477.675}}}
    ),
    "cash of another extent in the cash flow statement of a later report": cash(
        [{CASH: 470.675, ASSETS: 2694}, {CASH: 500.001, ASSETS: 2700}], [470.675, 500.001], {1: {0: {CASH: 388.142}}}
    ),
    "a negative line": debt([{NONCURRENT: -70, MATURITIES: 20, DUE: 50}], ["negative"]),
    "debt above the liabilities": debt([{WHOLE: 70, LIABILITIES: 50}], ["too large"]),
    "non-current debt above the non-current liabilities": debt(
        [{NONCURRENT: 20, MATURITIES: 5, DUE: 45, LIABILITIES: 60}], ["too large"]
    ),
    "secured debt of any term, which includes the others": debt(
        [{CURRENT: 111.169, "OtherBorrowings": 15.139, "SecuredDebt": 126.308, LIABILITIES: 130.031}],
        [126.308],
    ),
    "cash above the current assets": cash([{CASH: 60, OF_CURRENT_ASSETS: 50}], ["too large"]),
    "cash and other lines that exceed the current assets by a trifle": cash(
        [{CASH: 110.123, OF_CURRENT_ASSETS: 160.433, INVENTORY: 50.333}], [110.123]
    ),
    "cash above that of the cash flow statement": cash([{CASH: 60, OF_FLOWS: 50, ASSETS: 90}], ["too large"]),
    "cash that doubled, and that of the cash flow statement did not": cash(
        [{CASH: 60, OF_FLOWS: 62, ASSETS: 900}, {CASH: 30, OF_FLOWS: 62, ASSETS: 900}], [60, "apart from flows"]
    ),
    "cash that stands still, and that of the cash flow statement does not": cash(
        [{CASH: 60, OF_FLOWS: 62, ASSETS: 900}, {CASH: 60, OF_FLOWS: 92, ASSETS: 900}], [60, "apart from flows"]
    ),
    # Scientific Energy in 2022
    "cash above that of the cash flow statement, which is less bank overdrafts": cash(
        [{CASH: 2.677775, OF_FLOWS: 2.077797, "BankOverdrafts": 0.599978, ASSETS: 9}], [2.677775]
    ),
    "a part of debt, whose total the other column states": debt(
        [{WHOLE: 90, NONCURRENT: 70, ASSETS: 900}, {NONCURRENT: 68, ASSETS: 905}],
        [90, "extent"],
        {1: {0: {WHOLE: 90, NONCURRENT: 70, ASSETS: 900}}},
    ),
    "cash with restricted cash, whose line the other column states": cash(
        [{CASH: 60, OF_FLOWS: 66, ASSETS: 900}, {OF_FLOWS: 70, ASSETS: 905}],
        [60, "extent"],
        {1: {0: {CASH: 60, OF_FLOWS: 66, ASSETS: 900}}},
    ),
    "cash of the cash flow statement, which was the line": cash(
        [{CASH: 66, OF_FLOWS: 66, ASSETS: 900}, {OF_FLOWS: 70, ASSETS: 905}],
        [66, 70],
        {1: {0: {CASH: 66, OF_FLOWS: 66, ASSETS: 900}}},
    ),
    "less cash than an earlier report of the day stated": cash(
        [{CASH: 160, ASSETS: 1240}, {CASH: 7, ASSETS: 1460}],
        [160, "extent"],
        {1: {0: {CASH: 40, ASSETS: 1240}}},
    ),
}
"""Amounts that cannot be right, and others that look like them."""

MOVED: dict[str, Case] = {
    "debt fell, and a line of the liabilities is left": debt(
        [
            {NONCURRENT: 300.123, OTHER_NONCURRENT: 90, PAYABLE: 100, DUE: 100, LIABILITIES: 490.123},
            {NONCURRENT: 200.123, OTHER_NONCURRENT: 90, PAYABLE: 100, DUE: 100, LIABILITIES: 490.123},
        ],
        [300.123, "rest"],
    ),
    "the liabilities fell with the debt": debt(
        [{WHOLE: 300, OTHER: 190, LIABILITIES: 500}, {WHOLE: 200, OTHER: 190, LIABILITIES: 395}], [300, 200]
    ),
    "another line fell instead of the liabilities": debt(
        [{WHOLE: 200, OTHER: 290, LIABILITIES: 500}, {WHOLE: 300, OTHER: 190, LIABILITIES: 500}], [200, 300]
    ),
    "short-term borrowings are not shown, and the liabilities show that they are gone": debt(
        [{NONCURRENT: 200, SHORT: 100, DUE: 190, LIABILITIES: 500}, {NONCURRENT: 200, DUE: 90, LIABILITIES: 400}],
        [300, 200],
    ),
    "another line replaced the missing one": debt(
        [{NONCURRENT: 200, SHORT: 100, DUE: 190, LIABILITIES: 500}, {NONCURRENT: 305, DUE: 90, LIABILITIES: 505}],
        [300, 305],
    ),
    "cash fell, and a line of the current assets is left": cash(
        [
            {CASH: 100.123, INVENTORY: 90, OF_CURRENT_ASSETS: 190.123},
            {CASH: 60.123, INVENTORY: 90, OF_CURRENT_ASSETS: 190.123},
        ],
        [100.123, "rest"],
    ),
    "cash paid for goods": cash(
        [{CASH: 100, INVENTORY: 50, OF_CURRENT_ASSETS: 200}, {CASH: 60, INVENTORY: 90, OF_CURRENT_ASSETS: 200}],
        [100, 60],
    ),
    "a further line of the current assets": cash(
        [{CASH: 123, INVENTORY: 27, OF_CURRENT_ASSETS: 150}, {CASH: 133, INVENTORY: 27, OF_CURRENT_ASSETS: 173}],
        [123, 133],
    ),
}
"""Changes of a balance, and whether its total followed."""

OF_YEAR: Lines = {CASH: 20, SECURITIES: 80, NONCURRENT: 60, MATURITIES: 30, DUE: 90, ASSETS: 400}
WITHOUT_SECURITIES: Lines = {**OF_YEAR, CASH: 22, SECURITIES: 0}
del WITHOUT_SECURITIES[SECURITIES]


def of_debt(now: Lines, *, due: float = 90, usual: Lines | None = None) -> list[Lines]:
    """A year with the usual lines of debt, and a quarter with others."""
    usual = usual or {NONCURRENT: 60, MATURITIES: 30}
    return [*[{**usual, DUE: 90, ASSETS: 9000}] * 4, {**now, DUE: due, ASSETS: 9000}]


PAPER: Lines = {WHOLE: 60, "CommercialPaper": 30}
VANISHED: dict[str, Case] = {
    # securities were four fifths: cash alone would look like a loss of 80
    "cash without securities, for a year": cash(
        [*[OF_YEAR] * 4, *[WITHOUT_SECURITIES] * 4], [100] * 4 + ["not shown"] * 4
    ),
    "debt of a report without securities": debt([*[OF_YEAR] * 4, WITHOUT_SECURITIES], [90] * 5),
    "securities under another element": cash(
        [*[OF_YEAR] * 4, {**WITHOUT_SECURITIES, "DebtSecuritiesCurrent": 79}], [100] * 4 + [101]
    ),
    "securities that the report states for the year end only": cash(
        [*[OF_YEAR] * 4, {**WITHOUT_SECURITIES, CASH: 102}], [100] * 4 + [102], {4: {3: OF_YEAR}}
    ),
    "equities of zero": cash(
        [
            *[{CASH: 60, "EquitySecuritiesFvNi": 40, INVENTORY: 50, OF_CURRENT_ASSETS: 150}] * 4,
            {CASH: 102, "EquitySecuritiesFvNi": 0, INVENTORY: 50, OF_CURRENT_ASSETS: 152},
        ],
        [100] * 4 + [102],
    ),
    "non-current debt alone": debt(of_debt({NONCURRENT: 60}), [90] * 4 + ["not shown"]),
    "current debt alone": debt(of_debt({MATURITIES: 30}), [90] * 4 + ["not shown"]),
    "current debt under another element": debt(of_debt({NONCURRENT: 60, CURRENT: 31}), [90] * 4 + [91]),
    "a total of long-term debt": debt(of_debt({WHOLE: 91}), [90] * 4 + [91]),
    "a total that is equal to the non-current part": debt(of_debt({NONCURRENT: 90, WHOLE: 90}), [90] * 5),
    "a total of all debt that is equal to it": debt(of_debt({NONCURRENT: 90, EVERYTHING: 90}), [90] * 5),
    "current debt is gone from the current liabilities": debt(of_debt({NONCURRENT: 60}, due=70), [90] * 4 + [60]),
    # Merck's reports state non-current debt alone
    "the current liabilities have room for what no report of a year states": debt(
        [*of_debt({NONCURRENT: 60}), *of_debt({NONCURRENT: 60})[-1:] * 4],
        [90] * 4 + ["not shown"] + ["not shown"] * 4,
    ),
    "most of the current liabilities are known, and no report of a year states current debt": debt(
        [*of_debt({NONCURRENT: 60}), *[{**of_debt({NONCURRENT: 60})[-1], PAYABLE: 70}] * 4],
        [90] * 4 + ["not shown"] + ["not shown"] * 3 + [60],
    ),
    "securities that only a later report shows on the balance sheets before and after": cash(
        [{CASH: 20, ASSETS: 900}, {CASH: 21, ASSETS: 910}, {CASH: 22, SECURITIES: 16, ASSETS: 930}],
        [35, "not shown", 38],
        {2: {0: {CASH: 20, SECURITIES: 15, ASSETS: 900}}},
    ),
    # Coca-Cola's annual report on 2009 states its loans under an element of its own
    "loans that the next report states for the newest balance sheet of an earlier one": debt(
        [{ASSETS: 900}, {NONCURRENT: 71, DUE: 40, ASSETS: 910}, {NONCURRENT: 72, SHORT: 16, DUE: 41, ASSETS: 930}],
        ["not shown", 86, 88],
        {1: {0: {NONCURRENT: 70, DUE: 39, ASSETS: 900}}, 2: {1: {NONCURRENT: 71, SHORT: 15, DUE: 40, ASSETS: 910}}},
    ),
    # BK Technologies tags its operating leases as borrowings; the annual report before states their total
    "operating leases under elements of borrowings, which the other column shows": debt(
        [
            {
                SHORT: 0.447,
                NONCURRENT: 2.269,
                "LinesOfCreditCurrent": 1.4,
                "OperatingLeaseLiability": 2.716,
                ASSETS: 49,
            },
            {SHORT: 0.476, NONCURRENT: 1.909, "LinesOfCreditCurrent": 4.2, ASSETS: 49},
        ],
        [1.4, 4.2],
        {1: {0: {SHORT: 0.447, NONCURRENT: 2.269, "LinesOfCreditCurrent": 1.4, ASSETS: 49}}},
    ),
    "little beside new debt": debt(of_debt({NONCURRENT: 6000}), [90] * 4 + [6000]),
    # Johnson & Johnson's interim reports state non-current debt alone
    "a line of six per cent": debt(
        of_debt({NONCURRENT: 94}, usual={NONCURRENT: 94, MATURITIES: 6}), [100] * 4 + ["not shown"]
    ),
    "a line of half a per cent": debt(
        of_debt({NONCURRENT: 99.5}, usual={NONCURRENT: 99.5, MATURITIES: 0.5}), [100] * 4 + [99.5]
    ),
    # Coca-Cola's interim reports state long-term debt alone
    "commercial paper that the current liabilities have room for": debt(
        of_debt({WHOLE: 60}, usual=PAPER), [90] * 4 + ["not shown"]
    ),
    "commercial paper that is repaid": debt(of_debt({WHOLE: 60}, due=65, usual=PAPER), [90] * 4 + [60]),
    "the first current maturities of long-term debt": debt(
        of_debt({CURRENT: 3}, usual={WHOLE: 60}), [60] * 4 + ["not shown"]
    ),
    "no debt, and no current maturities either": debt(of_debt({MATURITIES: 0}, usual={NONCURRENT: 0}), [0] * 5),
}
"""Lines that reports of a year state and the next one does not; and totals or other elements in their place."""

FELL_DUE: dict[str, Case] = {
    "long-term debt, for a year": debt(
        one_line([400, 300, 301, 302, 303, 304], [700, 810, 805, 815, 820, 822], WHOLE), [400, *["fell due"] * 4, 304]
    ),
    "the current liabilities fall by another amount": debt(
        one_line([400, 300, 292, 283, 277, 268], [700, 810, 640, 650, 660, 670], WHOLE), [400, *["fell due"] * 4, 268]
    ),
    "long-term debt falls by little": debt(
        one_line([602, 589, 577, 564, 552, 539], [700, 705, 704, 703, 702, 701], WHOLE), [602, 589, 577, 564, 552, 539]
    ),
    "a twentieth of non-current debt": debt(
        one_line([400, 380, 381, 382, 383, 384], [300, 320, 322, 321, 300, 302]), [400, *["fell due"] * 4, 384]
    ),
    "the current liabilities rise by seven tenths of it": debt(
        one_line([400, 300, 301, 302, 303, 304], [300, 372, 373, 371, 372, 373]), [400, *["fell due"] * 4, 304]
    ),
    "they rise by three times as much": debt(
        one_line([400, 360, 361, 362, 363, 364], [300, 420, 425, 421, 422, 423]), [400, *["fell due"] * 4, 364]
    ),
    "they rise by five times as much": debt(
        one_line([400, 360, 361, 362, 363, 364], [300, 500, 505, 501, 502, 503]), [400, 360, 361, 362, 363, 364]
    ),
    "little of the current liabilities": debt(
        one_line([400, 380, 381, 382, 383, 384], [1500, 1520, 1522, 1521, 1500, 1502]), [400, 380, 381, 382, 383, 384]
    ),
    "twice, and only half of it is paid": debt(
        one_line([400, 340, 278, *range(279, 285)], [300, 370, 440, 380, *range(382, 387)]), [400, *["fell due"] * 8]
    ),
    "all of it": debt(
        one_line([400, 0, 0, 0, 0, 250], [3000, 4600, 4700, 3800, 3700, 3700]), [400, *["fell due"] * 4, 250]
    ),
    "by equal installments, for a year after the last one": debt(
        one_line([400, 390, 380, 380, 381, 382, 383], [300] * 7), [400, 390, *["fell due"] * 4, 383]
    ),
    "by equal installments after it fell due at once": debt(
        one_line([400, 300, 290, 280, 270, 260], [300, 400, 301, 302, 303, 304]), [400, *["fell due"] * 5]
    ),
    "new notes may replace the installments": debt(
        one_line([400, 390, 380, 381, 400, 390], range(300, 306)), [400, 390, "fell due", "fell due", 400, 390]
    ),
    "equal installments of little": debt(
        one_line([1000, 999, 998, 997, 996, 995], range(300, 306)), [1000, 999, 998, 997, 996, 995]
    ),
    "a lender to the buyers owes commercial paper": Case(
        "total_debt",
        [{NONCURRENT: 70, DUE: 55, "NotesReceivableNet": 60, ASSETS: 200}],
        ["fell due"],
        of_industry="FinancialServicesRevenue",
    ),
}
"""Long-term debt alone: the amount that left it has become current, and no line states it."""

SYNOPSYS_2021 = one_line([400, 401, 402, 403, 303, 298, 294, 288, 283], [300, 301, 302, 303, *range(403, 408)])
INTUIT_2019 = one_line([420, 412, 398, 386, 374, 340], [300] * 6)
SYNOPSYS_2017 = one_line([440, 425, 413, 402, 390, 378], [300] * 6)
YEAR_ENDS: dict[str, Case] = {
    "Synopsys 2021: what fell due is missed for a year": debt(
        SYNOPSYS_2021, [400, 401, 402, 403, *["fell due"] * 4, 283], beside_year_end(SYNOPSYS_2021)
    ),
    "Intuit 2019: the report that shows the installments repeats the year end": debt(
        INTUIT_2019, [420, 412, 398, 386, *["fell due"] * 2], beside_year_end(INTUIT_2019)
    ),
    "Synopsys 2017: as far back as the debt fell in each quarter": debt(
        SYNOPSYS_2017, [440, 425, 413, 402, 390, "fell due"], beside_year_end(SYNOPSYS_2017)
    ),
}
"""The same for reports that repeat the balance sheet of the year end."""

ON_SUBORDINATED = "InterestExpenseSubordinatedNotesAndDebentures"
OF_BANK = {DEPOSITS: 411.785, OTHER: 3.86, LIABILITIES: 489.893, ASSETS: 557.155}
UNKNOWN: dict[str, Case] = {
    "long-term debt was less than its non-current part": debt(
        [{WHOLE: 290, NONCURRENT: 335, DUE: 270}, {WHOLE: 237, DUE: 272}], ["part", "part"]
    ),
    "and now the non-current part is alone": debt(
        [{WHOLE: 290, NONCURRENT: 335, DUE: 270}, {NONCURRENT: 340, DUE: 272}], ["part", "part"]
    ),
    "long-term debt was hardly less than its non-current part": debt(
        [{WHOLE: 320, NONCURRENT: 335, DUE: 270}, {WHOLE: 340, DUE: 272}], [335, 340]
    ),
    "large maturities, which may be payments with interest": debt([{NONCURRENT: 65, WHOLE: 90, DUE: 55}], ["part"]),
    "current debt, and notes that are more": debt([{CURRENT: 5, "NotesPayable": 60, DUE: 30}], ["part"]),
    "one small loan leaves most of the liabilities": debt(
        [
            {
                "OtherLoansPayableCurrent": 3.518,
                "AccountsPayableAndAccruedLiabilitiesCurrent": 358.441,
                "TaxesPayableCurrent": 570.494,
                "OperatingLeaseLiabilityCurrent": 132.188,
                DUE: 1509.185,
                LIABILITIES: 1537.393,
            }
        ],
        ["room"],
    ),
    "lines leave more than half of a bank's advances, and a note exceeds the rest": debt(
        [{**OF_BANK, ADVANCES: 44.877, "OffBalanceSheetCreditLossLiability": 413}], ["room"]
    ),
    "federal funds that repeat the advances": debt(
        [{**OF_BANK, ADVANCES: 44.877, "FederalFundsPurchased": 44.877}], ["room"]
    ),
    "interest on subordinated debt, and advances alone": Case(
        "total_debt", [{**OF_BANK, ADVANCES: 68}], ["room"], of_industry=ON_SUBORDINATED
    ),
    "interest on subordinated debt, which is a line": Case(
        "total_debt", [{**OF_BANK, ADVANCES: 58, "SubordinatedDebt": 10}], [68], of_industry=ON_SUBORDINATED
    ),
    "lines leave a third of a bank's advances": debt([{**OF_BANK, ADVANCES: 56}], ["room"]),
    "lines leave little of a bank's advances": debt([{**OF_BANK, ADVANCES: 68}], [68]),
    "lines leave nothing of a bank without advances": debt(
        [{DEPOSITS: 850, OTHER: 30, ADVANCES: 70, LIABILITIES: 950}, {DEPOSITS: 850, OTHER: 30, LIABILITIES: 880}],
        [70, 0],
    ),
    "a financial company without total liabilities": Case(
        "total_debt", [{WHOLE: 60, ASSETS: 200}], ["financial"], of_industry="RevenuesNetOfInterestExpense"
    ),
    "a company without total liabilities": debt([{NONCURRENT: 60, ASSETS: 200}], [60]),
    "a financial company with total liabilities": debt([{WHOLE: 60, LIABILITIES: 160, ASSETS: 200}], [60]),
}
"""Balance sheets on which a line of debt may be missing."""

CASES = {**WRONG, **MOVED, **VANISHED, **FELL_DUE, **YEAR_ENDS, **UNKNOWN}


@pytest.fixture(scope="module")
def filed() -> tuple[Today, dict[str, str]]:
    """All cases, standardized together: one company each."""
    rows, ciks = of_companies({name: case.rows() for name, case in CASES.items()})
    return standardized(rows), ciks


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_served_unless_a_part_is_wrong_or_unknown(filed, name):
    """The gap of each quarter names the rule that withholds the value."""
    found, ciks = filed
    item, cik = CASES[name].item, ciks[name]

    def of(end: date) -> float | str | None:
        value = value_of(found, item, "ttm", end, cik)
        return row_of(found.gaps, item, "ttm", end, cik).get("rule") if value is None else value / 1e6

    values = [of(end) for end in month_ends(2022, len(CASES[name].sheets))]
    assert values == [
        WITHHELD[one] if isinstance(one, str) else pytest.approx(one, abs=1e-9) for one in CASES[name].expected
    ]


def test_every_rule_that_withholds_has_a_case():
    assert {WITHHELD[one] for case in CASES.values() for one in case.expected if isinstance(one, str)} == {
        each.rule.id for each in evidence.EVIDENCE if each.rule.id not in OF_FACES
    }
