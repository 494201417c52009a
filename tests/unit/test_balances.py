"""Total debt and cash of balance sheets: no amount twice, and no part in addition to its total."""

from dataclasses import dataclass

import polars as pl
import pytest

from pipelines.normalize.items.line_items import recomputed
from pipelines.normalize.pipeline import standardize
from tests.factories import (
    CASH,
    KEY,
    NET_INCOME,
    REVENUE,
    Row,
    Today,
    day,
    fact,
    of_companies,
    raw,
    row_of,
    standardized,
    today,
    value_of,
)
from tests.shapes import balances, joined

END, BEFORE = "2023-12-31", "2022-12-31"
FIRST, NEXT = "2024-02-20", "2025-02-20"
DEBT, OF_CASH = "total_debt", "cash_and_equivalents"
NONCURRENT, MATURITIES, SHORT, CURRENT, WHOLE, EVERYTHING = (
    "LongTermDebtNoncurrent",
    "LongTermDebtCurrent",
    "ShortTermBorrowings",
    "DebtCurrent",
    "LongTermDebt",
    "DebtLongtermAndShorttermCombinedAmount",
)
ADVANCES, RELATED = "AdvancesFromFederalHomeLoanBanks", "NotesPayableRelatedPartiesNoncurrent"
CONVERTIBLE, LOANS, UNSECURED = "ConvertibleNotesPayableCurrent", "LoansPayableCurrent", "UnsecuredDebtCurrent"
OVERALL, SECURITIES = "CashCashEquivalentsAndShortTermInvestments", "ShortTermInvestments"
CURRENT_SECURITIES = "AvailableForSaleSecuritiesDebtSecuritiesCurrent"
RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
PAYABLE, OTHER_NONCURRENT = "AccountsPayableCurrent", "OtherLiabilitiesNoncurrent"
ASSETS, LIABILITIES, DUE = "Assets", "Liabilities", "LiabilitiesCurrent"

USUAL_LINES, FILER_TOTAL = "debt.read.usual-lines", "debt.read.filer-total"
WITH_MATURITIES, ZERO = "debt.read.long-term-debt-with-maturities", "debt.filed-as-zero"
PROVED, NO_DEBT = "debt.proved.lines-add-up", "debt.zero.proved"
CASH_LINES, CASH_PROVED = "cash.read.usual-lines", "cash.proved.lines-add-up"
OF_FLOWS, OF_BANKS = "cash.read.cash-of-flows", "cash.read.due-from-banks-and-deposits"
NO_FLOWS, ON_DEPOSITS = "debt.zero.no-flows", "debt.zero.all-interest-on-deposits"
NOT_STATED = "gap.no-tag"
OF_SHARES = {balances.PROCEEDS_OF_SHARES: 12.345, balances.BUYBACKS: 4.321}

Lines = dict[str, float]
TOTALS = {DUE: 60.123, LIABILITIES: 150.456, ASSETS: 500}
"""Totals of a classified balance sheet with a few lines."""


@dataclass(frozen=True)
class Case:
    """Filings that state a balance sheet of the end of 2023, and the debt or cash in millions, with its rule."""

    rows: list[Row]
    value: float | None
    rule: str
    item: str = DEBT
    flag: str = ""


def filed(lines: Lines, on: str = FIRST, form: str = "10-K", of: str = END) -> list[Row]:
    """The balance sheet of a day in a filing, in millions, with its flows."""
    year = int(on[:4]) - 1
    flows = [fact(tag, 100e6, f"{year}-01-01", f"{year}-12-31", form=form, filed=on) for tag in (REVENUE, NET_INCOME)]
    return [*flows, *(fact(tag, round(value * 1e6), None, of, form=form, filed=on) for tag, value in lines.items())]


def under_ifrs(lines: Lines) -> list[Row]:
    totals = {"CurrentLiabilities": 60.123, LIABILITIES: 150.456, ASSETS: 500}
    return [{**row, "taxonomy": "ifrs-full"} for row in filed({**totals, **lines}, form="20-F")]


def by_kind_of_deposit(interest: float) -> list[Row]:
    """A bank with interest on two kinds of deposits, and all of its interest expense."""
    of = {"InterestExpense": interest, "InterestExpenseTimeDeposits": 7.543, "InterestExpenseSavingsDeposits": 2.333}
    return [
        *filed({"Deposits": 850.123, LIABILITIES: 951.402, ASSETS: 1_000}),
        *(fact(tag, round(amount * 1e6), "2023-01-01", END, filed=FIRST) for tag, amount in of.items()),
    ]


def unclassified(value: float | None, rule: str, /, flag: str = "", **lines: float) -> Case:
    """Debt of a balance sheet without current liabilities."""
    return Case(filed({ASSETS: 1500, **lines}), value, rule, flag=flag)


def classified(value: float | None, rule: str, /, flag: str = "", **lines: float) -> Case:
    """Debt of a balance sheet with current and total liabilities."""
    return Case(filed({**TOTALS, **lines}), value, rule, flag=flag)


def cash(value: float | None, rule: str, /, flag: str = "", **lines: float) -> Case:
    return Case(filed({ASSETS: 900_000, **lines}), value, rule, OF_CASH, flag)


SHARES = (0.83, 0.91, 1.07, 0.76, 1.13, 0.95, 0.88, 1.21)
"""The amount of each line a year before, as a share of its amount: another share for each line."""


def two_columns(sections: dict[str, Lines], notes: Lines | None = None, digits: int = 3) -> list[Row]:
    """Balance sheets of two days with totals that add up, and notes of the newer day.

    sections: for each total its lines; for all liabilities only the lines that are not current.
    """
    now: Lines = {}
    before: Lines = {}
    for total, lines in sections.items():
        earlier = {tag: round(amount * SHARES[place % 8], digits) for place, (tag, amount) in enumerate(lines.items())}
        for sheet, of_day in ((now, lines), (before, earlier)):
            base = sheet[DUE] if total == LIABILITIES else 0
            sheet |= {**of_day, total: round(base + sum(of_day.values()), digits)}
            sheet[ASSETS] = 2 * max(sheet.values())
    return [*filed({**now, **(notes or {})}), *filed(before, of=BEFORE)[2:]]


def again(first: Lines, later: Lines, on: str = NEXT, form: str = "10-K", totals: Lines = TOTALS) -> list[Row]:
    """The balance sheet of 2023 in the report on 2023, and in a later filing."""
    return [*filed({**totals, **first}), *filed({**totals, **later}, on, form)]


PARTS = {NONCURRENT: 70, MATURITIES: 20, SHORT: 10}
CLASSIFIED: dict[str, Case] = {
    # three lines that do not overlap
    "parts add up": classified(100, USUAL_LINES, **PARTS),
    "non-current debt alone": classified(70, USUAL_LINES, **{NONCURRENT: 70}),
    "maturities under two elements count once": classified(90, USUAL_LINES, **{**PARTS, SHORT: 20}),
    # the total of maturities and short-term borrowings
    "current debt is the total of both": classified(100, USUAL_LINES, **PARTS, **{CURRENT: 30}),
    "current debt has unnamed lines": classified(101, USUAL_LINES, **PARTS, **{CURRENT: 31}),
    "current debt without its parts": classified(100, USUAL_LINES, **{NONCURRENT: 70, CURRENT: 30}),
    "current debt that is the maturities": classified(
        100, USUAL_LINES, "total_contradicts_parts", **PARTS, **{CURRENT: 20}
    ),
    "one amount under three elements": classified(90, USUAL_LINES, **{**PARTS, SHORT: 20, CURRENT: 20}),
    # totals of long-term debt
    "a total beside all parts adds nothing": classified(90, USUAL_LINES, **{NONCURRENT: 70, MATURITIES: 20, WHOLE: 90}),
    "a total that repeats the non-current part": classified(
        90, USUAL_LINES, "total_contradicts_parts", **{NONCURRENT: 70, MATURITIES: 20, WHOLE: 70}
    ),
    "a total with unnamed maturities": classified(90, WITH_MATURITIES, **{NONCURRENT: 70, WHOLE: 90}),
    "a total with unnamed maturities, and short-term": classified(
        100, WITH_MATURITIES, **{NONCURRENT: 70, SHORT: 10, WHOLE: 90}
    ),
    "a total with maturities that are tagged as short-term": classified(
        90, USUAL_LINES, **{NONCURRENT: 70, SHORT: 20, WHOLE: 90}
    ),
    "a total below its part is no total": classified(
        80, USUAL_LINES, "total_contradicts_parts", **{NONCURRENT: 70, SHORT: 10, WHOLE: 60}
    ),
    "a total without parts": classified(90, WITH_MATURITIES, **{WHOLE: 90}),
    "a total with its maturities beside it": classified(
        90, WITH_MATURITIES, **{WHOLE: 90, MATURITIES: 20, LIABILITIES: 132.3}
    ),
    "a total, and room for it beside the maturities": classified(
        80, USUAL_LINES, **{WHOLE: 60, MATURITIES: 20, DUE: 70, OTHER_NONCURRENT: 20, LIABILITIES: 150}
    ),
    "a total, and hardly room for it beside the maturities": classified(
        2993,
        USUAL_LINES,
        **{WHOLE: 1982, "ConvertibleDebtCurrent": 1011, DUE: 2041, OTHER_NONCURRENT: 213},
        **{"DeferredTaxLiabilitiesNoncurrent": 88, LIABILITIES: 4243},
    ),
    "a total, its maturities under the short-term element too": classified(
        90, WITH_MATURITIES, **{WHOLE: 90, MATURITIES: 20, SHORT: 20, LIABILITIES: 132.3}
    ),
    "a total that is the non-current part, rounded": classified(
        594, USUAL_LINES, **{WHOLE: 500, NONCURRENT: 494, SHORT: 100, DUE: 200.123, LIABILITIES: 800}
    ),
    "a total with other long-term debt and its maturities": classified(
        150, WITH_MATURITIES, **{NONCURRENT: 110, WHOLE: 150, DUE: 125.3, LIABILITIES: 400}
    ),
    "a total that is the bank loans and other debt": classified(
        43.785,
        USUAL_LINES,
        **{WHOLE: 43.959, "ShortTermBankLoansAndNotesPayable": 8.608, "OtherLongTermDebtNoncurrent": 35.177},
    ),
    # instruments
    "unsecured debt has its maturities apart": classified(
        34, USUAL_LINES, UnsecuredLongTermDebt=27, UnsecuredDebtCurrent=7
    ),
    "unsecured debt is larger than the maturities": classified(
        89, USUAL_LINES, **{MATURITIES: 29, UNSECURED: 60, DUE: 95}
    ),
    "a current instrument is larger than the maturities": classified(
        75, USUAL_LINES, **{NONCURRENT: 30, MATURITIES: 5, "ConvertibleDebtCurrent": 40}
    ),
    "convertible notes are a part of the maturities": classified(
        55, USUAL_LINES, **{NONCURRENT: 30, MATURITIES: 25, CONVERTIBLE: 19}
    ),
    "loans are all of the maturities, and convertible notes another line": classified(
        74, USUAL_LINES, **{NONCURRENT: 30, MATURITIES: 25, LOANS: 25, CONVERTIBLE: 19}
    ),
    "loans of any term are less than the current ones": classified(
        84, USUAL_LINES, **{MATURITIES: 35, LOANS: 35, CONVERTIBLE: 49, "LoansPayable": 5, DUE: 90}
    ),
    "long-term debt is all due": classified(35, WITH_MATURITIES, **{WHOLE: 35, MATURITIES: 35}),
    "a non-current instrument is larger than the rest": classified(
        80, USUAL_LINES, **{NONCURRENT: 30, "ConvertibleDebtNoncurrent": 50}
    ),
    "notes are part of notes and loans": classified(
        327, USUAL_LINES, NotesPayableCurrent=24, NotesAndLoansPayableCurrent=27, **{NONCURRENT: 300, LIABILITIES: 500}
    ),
    "other long-term debt is beside loans": classified(
        40, USUAL_LINES, LongTermLoansPayable=30, OtherLongTermDebtNoncurrent=10
    ),
    "senior notes are part of long-term notes": classified(
        70, USUAL_LINES, LongTermNotesPayable=70, SeniorLongTermNotes=40
    ),
    "senior notes that are larger are beside them": classified(
        70, USUAL_LINES, LongTermNotesPayable=30, SeniorLongTermNotes=40
    ),
    "senior notes are part of a part": classified(
        90, USUAL_LINES, LongTermNotesAndLoans=90, LongTermNotesPayable=70, SeniorLongTermNotes=40, Liabilities=163.4
    ),
    "convertible and other notes are part of long-term notes": classified(
        70, USUAL_LINES, LongTermNotesPayable=70, ConvertibleLongTermNotesPayable=50, OtherLongTermNotesPayable=20
    ),
    "two equal payments of a loan": classified(
        254, USUAL_LINES, **{NONCURRENT: 127, MATURITIES: 127, PAYABLE: 73, DUE: 206, LIABILITIES: 350}
    ),
    # one total of all debt
    "a total of all debt": classified(100, FILER_TOTAL, "may_be_principal", **{EVERYTHING: 100}),
    "a total of all debt beside what is due": classified(
        100, FILER_TOTAL, "may_be_principal", **{CURRENT: 30, EVERYTHING: 100}
    ),
    "a total of all debt with a line that no element has": classified(
        105, FILER_TOTAL, "may_be_principal", **{NONCURRENT: 70, MATURITIES: 20, EVERYTHING: 105}
    ),
    "a total of all debt below its lines": classified(
        271, FILER_TOTAL, "may_be_principal", **{NONCURRENT: 269, MATURITIES: 17, EVERYTHING: 271, LIABILITIES: 400}
    ),
    "a total of all debt that includes repurchase agreements": Case(
        filed({WHOLE: 60, SHORT: 10, "SecuritiesSoldUnderAgreementsToRepurchase": 30, EVERYTHING: 100, ASSETS: 500}),
        70,
        USUAL_LINES,
        flag="total_contradicts_parts",
    ),
    "a total of all debt that leaves out short-term borrowings": classified(
        442,
        USUAL_LINES,
        "total_contradicts_parts",
        **{NONCURRENT: 368, MATURITIES: 28, SHORT: 46, EVERYTHING: 397, LIABILITIES: 900, DUE: 150},
    ),
    "a total of all debt with loans that are long-term debt only": classified(
        18707,
        FILER_TOTAL,
        "may_be_principal",
        **{WHOLE: 18137, "OtherLongTermDebtNoncurrent": 1570, MATURITIES: 17, CURRENT: 543, EVERYTHING: 18707},
        **{LIABILITIES: 21161, DUE: 2198, PAYABLE: 978, ASSETS: 30000},
    ),
    "a total that is the principal before discounts": classified(
        570,
        USUAL_LINES,
        "total_contradicts_parts",
        **{NONCURRENT: 378, MATURITIES: 192, EVERYTHING: 580, LIABILITIES: 1089, DUE: 300, ASSETS: 2000},
    ),
    "a total that does not fit into the liabilities": classified(
        90,
        USUAL_LINES,
        "total_contradicts_parts",
        **{NONCURRENT: 70, MATURITIES: 20, EVERYTHING: 120, LIABILITIES: 110, DUE: 40},
    ),
    # finance leases
    "a line with finance leases": classified(
        70, USUAL_LINES, "includes_finance_leases", LongTermDebtAndCapitalLeaseObligations=70
    ),
    # no long-term debt
    "current debt alone": classified(30, USUAL_LINES, **{CURRENT: 30, LIABILITIES: 80}),
    "maturities and short-term borrowings": classified(30, USUAL_LINES, **{MATURITIES: 20, SHORT: 10, LIABILITIES: 80}),
    "maturities under two elements alone": classified(20, USUAL_LINES, **{MATURITIES: 20, SHORT: 20, LIABILITIES: 80}),
    # zero is an amount
    "no debt, and said so": classified(0, ZERO, **{NONCURRENT: 0, MATURITIES: 0}),
    "a total of nothing": classified(0, ZERO, **{WHOLE: 0}),
    "one digit twice": unclassified(
        48, USUAL_LINES, **{NONCURRENT: 40, MATURITIES: 4, "CommercialPaper": 4, LIABILITIES: 1488}
    ),
    # Celestica's borrowings are lines of its own; the element belongs to an unused credit line in the notes
    "borrowings of nothing, and most liabilities without lines": Case(
        [
            {**row, "taxonomy": "ifrs-full"}
            for row in filed({"Borrowings": 0, LIABILITIES: 80, ASSETS: 100}, form="20-F")
        ],
        None,
        "debt.withheld.room-for-other-debt",
    ),
    "nothing is borrowed, and nothing is said": classified(
        None, "gap.no-tag", **{"OperatingLeaseLiabilityNoncurrent": 40, PAYABLE: 30}
    ),
    # IFRS
    "current bonds are within the current portion of borrowings": Case(
        under_ifrs(
            {
                "NoncurrentPortionOfNoncurrentBondsIssued": 70,
                "CurrentPortionOfLongtermBorrowings": 20,
                "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued": 15,
            }
        ),
        90,
        USUAL_LINES,
    ),
    "current bonds that are larger are beside it": Case(
        under_ifrs(
            {
                "NoncurrentPortionOfNoncurrentBondsIssued": 70,
                "CurrentPortionOfLongtermBorrowings": 20,
                "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued": 25,
            }
        ),
        115,
        USUAL_LINES,
    ),
}
"""Debt of classified balance sheets with lines that do not prove it."""

OF_BANK = {"Deposits": 900, LIABILITIES: 1001.234}
UNCLASSIFIED: dict[str, Case] = {
    "instruments add up": unclassified(
        80, USUAL_LINES, **OF_BANK, **{ADVANCES: 50, "SubordinatedDebt": 20, "JuniorSubordinatedNotes": 10}
    ),
    "a total of the instruments": unclassified(
        80, USUAL_LINES, **OF_BANK, **{WHOLE: 80, ADVANCES: 50, "SubordinatedDebt": 20, "JuniorSubordinatedNotes": 10}
    ),
    "a line beside the others": unclassified(
        75, USUAL_LINES, **OF_BANK, **{"OtherBorrowings": 5, ADVANCES: 50, "SubordinatedDebt": 20}
    ),
    "one instrument under two elements": unclassified(
        98, USUAL_LINES, **OF_BANK, **{"OtherBorrowings": 98, ADVANCES: 98}
    ),
    "long-term debt has the notes in it": unclassified(
        90, USUAL_LINES, **{WHOLE: 90, "NotesPayable": 60, LIABILITIES: 163.4}
    ),
    "long-term debt that is less than the advances is something else": unclassified(
        None, "debt.withheld.room-for-other-debt", **OF_BANK, **{WHOLE: 30, ADVANCES: 68}
    ),
    "the limit of a credit line": unclassified(98, USUAL_LINES, **OF_BANK, **{ADVANCES: 98, "LineOfCredit": 400}),
    "unsecured debt of a bank": unclassified(
        100, USUAL_LINES, **OF_BANK, UnsecuredLongTermDebt=70, ShortTermBorrowings=30
    ),
    "senior notes of a bank": unclassified(100, USUAL_LINES, **OF_BANK, SeniorLongTermNotes=70, ShortTermBorrowings=30),
    "notes to related parties are in long-term debt": unclassified(
        909,
        USUAL_LINES,
        "total_contradicts_parts",
        **{NONCURRENT: 672, RELATED: 170, SHORT: 236, EVERYTHING: 909, LIABILITIES: 2353},
    ),
    "notes to related parties are beside it": unclassified(
        1078, USUAL_LINES, **{NONCURRENT: 672, RELATED: 170, SHORT: 236, EVERYTHING: 1078, LIABILITIES: 2353}
    ),
    "an instrument of nothing": unclassified(0, ZERO, **{ADVANCES: 0, "Deposits": 97, LIABILITIES: 100}),
    "no flow of debt and no interest": Case(balances.without_borrowing(OF_SHARES), 0.0, NO_FLOWS),
    "interest without a flow of debt": Case(
        balances.without_borrowing(OF_SHARES, others={"InterestPaidNet": 1}), None, NOT_STATED
    ),
    "interest on a debt of zero before": Case(
        joined(
            filed({NONCURRENT: 0, MATURITIES: 0, ASSETS: 300}, on="2023-02-20", of=BEFORE),
            balances.without_borrowing(OF_SHARES, others={"InterestPaidNet": 1}),
        ),
        0.0,
        NO_FLOWS,
    ),
    "borrowed and repaid within the year": Case(
        balances.without_borrowing(OF_SHARES, others={"ProceedsFromLinesOfCredit": 5, "RepaymentsOfLinesOfCredit": 5}),
        None,
        NOT_STATED,
    ),
    "financing activities with an unknown line": Case(
        balances.without_borrowing(OF_SHARES, others={balances.FINANCING: 9}), None, NOT_STATED
    ),
    "a borrowing in the notes": Case(
        balances.without_borrowing(OF_SHARES, {**balances.NO_BORROWINGS, WHOLE: 5}), 5.0, WITH_MATURITIES
    ),
    "all interest is that of deposits by kind": Case(by_kind_of_deposit(9.876), 0.0, ON_DEPOSITS),
    "more interest than that of deposits by kind": Case(by_kind_of_deposit(9.877), None, NOT_STATED),
    "deposits and payables that bear interest are all liabilities": unclassified(
        0,
        NO_DEBT,
        **{"Deposits": 236.612, "AccountsPayableInterestBearingCurrentAndNoncurrent": 1.051, LIABILITIES: 237.663},
    ),
}
"""Debt of balance sheets without current liabilities."""

OF_AVEPOINT = {
    DUE: {
        PAYABLE: 1.384,
        "AccruedLiabilitiesAndOtherLiabilities": 53.766,
        "ContractWithCustomerLiabilityCurrent": 121.515,
    },
    LIABILITIES: {
        "ContractWithCustomerLiabilityNoncurrent": 7.741,
        OTHER_NONCURRENT: 5.603,
        "BusinessCombinationContingentConsiderationLiabilityNoncurrent": 18.346,
        "DeferredCompensationSharebasedArrangementsLiabilityClassifiedNoncurrent": 9.383,
    },
}
OF_GOOGLE = {
    NONCURRENT: 1_990,
    "LongTermDebtAndCapitalLeaseObligations": 2_236,
    "CapitalLeaseObligationsNoncurrent": 246,
    "LongTermDebtAndCapitalLeaseObligationsCurrent": 1_009,
    CURRENT: 3_009,
    **{DUE: 15_908, LIABILITIES: 23_611, ASSETS: 110_920},
}
"""At the end of 2013: the line of the balance sheet is 2,236, and current debt includes leases of 9."""
OF_BK = {DUE: 20.1, LIABILITIES: 26.3, ASSETS: 50}
LEASES = {
    "LinesOfCreditCurrent": 6.516,
    "NotesPayableCurrent": 0.093,
    "LongTermNotesPayable": 0.024,
    "OtherShortTermBorrowings": 0.503,
    "OperatingLeaseLiabilityNoncurrent": 1.529,
}
NOTE = {MATURITIES: 0.127029, "LongTermNotesPayable": 0.127029}
ADVANCED_OXYGEN = {**NOTE, WHOLE: 0.127029, NONCURRENT: 0, DUE: 0.150434, LIABILITIES: 0.277463, ASSETS: 0.693077}

FILED: dict[str, Case] = {
    "AAR 2012: its credit line, which is due, is among the current maturities": Case(
        two_columns(
            {
                DUE: {MATURITIES: 221.661, PAYABLE: 194.481, "AccruedLiabilitiesCurrent": 144.844},
                LIABILITIES: {NONCURRENT: 599.321},
            },
            {SHORT: 201.589, "CapitalLeaseObligationsCurrent": 0.085},
        ),
        820.982,
        PROVED,
    ),
    "Applied Optoelectronics 2024: long-term debt is stated as zero": classified(
        165.492,
        USUAL_LINES,
        **{MATURITIES: 26.682, NONCURRENT: 0, DUE: 170.069, LIABILITIES: 317.920},
        ConvertibleLongTermNotesPayable=134.497,
        NotesPayableToBankNoncurrent=4.313,
        OperatingLeaseLiabilityNoncurrent=9.041,
    ),
    "Advanced Oxygen 2025: the current liabilities have no room for what is the non-current loan": classified(
        0.127029, USUAL_LINES, **ADVANCED_OXYGEN
    ),
    "Coca-Cola 2023: loans and notes payable include commercial paper": Case(
        two_columns(
            {
                DUE: {
                    MATURITIES: 1171,
                    "NotesAndLoansPayable": 4828,
                    "AccountsPayableAndAccruedLiabilitiesCurrent": 16483,
                    "AccruedIncomeTaxesCurrent": 1633,
                }
            },
            {NONCURRENT: 35626, "CommercialPaper": 4643},
            0,
        ),
        41625,
        USUAL_LINES,
    ),
    "AvePoint 2023: the current leases are within the accrued liabilities": Case(
        two_columns(OF_AVEPOINT, {"OperatingLeaseLiabilityCurrent": 5.3}), 0, NO_DEBT
    ),
    "AvePoint 2023, if a line were missing": Case(
        two_columns(OF_AVEPOINT, {"OperatingLeaseLiabilityCurrent": 5.3, LIABILITIES: 218.738}), None, "gap.no-tag"
    ),
    "Fintech Scion 2023: its accrued and other liabilities include the other liabilities of a note": Case(
        two_columns(
            {DUE: {"AccruedLiabilitiesAndOtherLiabilities": 1.953123, "OtherLiabilitiesCurrent": 0.755456}},
            {"OtherLiabilities": 1.633789, LIABILITIES: 2.708579},
            6,
        ),
        0,
        NO_DEBT,
    ),
    "Sweets & Treats 2015: notes to related parties": Case(
        two_columns(
            {
                DUE: {
                    "AccountsPayableAndAccruedLiabilitiesCurrent": 0.022525,
                    "AccruedLiabilitiesCurrent": 0.000055,
                    "CustomerDepositsCurrent": 0.000304,
                    "SalesAndExciseTaxPayableCurrent": 0.000012,
                    "NotesPayableRelatedPartiesClassifiedCurrent": 0.010152,
                }
            },
            {LIABILITIES: 0.033048},
            6,
        ),
        0.010152,
        PROVED,
    ),
    "General Electric 2014: a line has no element; the total includes finance leases as its parts do": unclassified(
        261424,
        USUAL_LINES,
        "includes_finance_leases",
        **{"LongTermDebtAndCapitalLeaseObligations": 186596, SHORT: 70425, "DebtAndCapitalLeaseObligations": 261424},
        **{LIABILITIES: 518023, ASSETS: 648349},
    ),
    "General Electric 2014: the element of all current debt states only a part of it": unclassified(
        257,
        USUAL_LINES,
        "includes_finance_leases",
        **{"LongTermDebtAndCapitalLeaseObligations": 187, CURRENT: 12, SHORT: 70, LIABILITIES: 518},
    ),
    "Google 2013: both lines with finance leases": classified(
        5_245, USUAL_LINES, "includes_finance_leases", **OF_GOOGLE
    ),
    "United Parcel Service 2022: a line of all debt under the element of the non-current part": unclassified(
        19_662,
        USUAL_LINES,
        **{NONCURRENT: 17_321, "LongTermDebtAndCapitalLeaseObligations": 19_662, MATURITIES: 2_341},
        **{
            "FinanceLeaseLiabilityNoncurrent": 298,
            "LongTermDebtAndCapitalLeaseObligationsCurrent": 2_341,
            ASSETS: 71_124,
        },
    ),
    "BK Technologies 2022: its operating leases are under elements of borrowings": classified(
        4.23,
        USUAL_LINES,
        **{"LinesOfCreditCurrent": 3.958, "NotesPayableCurrent": 0.272, "OtherShortTermBorrowings": 0.466, **OF_BK},
        **{"LongTermDebtAndCapitalLeaseObligations": 2.032, "OperatingLeaseLiability": 2.498},
    ),
    "BK Technologies 2023: current leases, and later without their total": Case(
        [
            *filed({**OF_BK, **LEASES, "OperatingLeaseLiability": 2.032}),
            *filed({**OF_BK, **LEASES}, "2024-05-04", "10-Q"),
        ],
        6.633,
        USUAL_LINES,
    ),
    "Air Transport Services 2023: its line is cash, cash equivalents and restricted cash": cash(
        36.355, OF_FLOWS, **{OVERALL: 53.555, RESTRICTED: 53.555, "RestrictedCash": 17.2}
    ),
    "Netflix 2022: its total includes restricted cash": Case(
        two_columns(
            {"AssetsCurrent": {CASH: 5147.176, SECURITIES: 911.276, "OtherAssetsCurrent": 3208.021}},
            {OVERALL: 6081.858},
        ),
        6058.452,
        CASH_PROVED,
        OF_CASH,
    ),
    "Red Cat 2023: the cash flow statement includes the cash of a business for sale": Case(
        two_columns(
            {
                "AssetsCurrent": {
                    "Cash": 3.173649,
                    "Investments": 12.814038,
                    "AccountsReceivableNetCurrent": 0.719862,
                    "InventoryNet": 8.920573,
                    "OtherAssetsCurrent": 1.263735,
                    "AssetsOfDisposalGroupIncludingDiscontinuedOperationCurrent": 5.283155,
                }
            },
            {RESTRICTED: 3.260305},
            6,
        ),
        15.987687,
        CASH_PROVED,
        OF_CASH,
    ),
    "General Electric 2023: the line of cash includes restricted cash": cash(
        22226,
        OF_FLOWS,
        **{RESTRICTED: 16967, "RestrictedCash": 447, "EquitySecuritiesFvNi": 5706, "AssetsCurrent": 59799},
        **{"ReceivablesNetCurrent": 15466, "InventoryNet": 16528, "ContractWithCustomerAssetNetCurrent": 1500},
        **{"OtherAssetsCurrent": 1647, "AssetsOfDisposalGroupIncludingDiscontinuedOperationCurrent": 1985},
    ),
    "SharpLink 2022: the cash flow statement includes restricted cash and that of a business for sale": cash(
        39.324529,
        CASH_LINES,
        **{f"{RESTRICTED}IncludingDisposalGroupAndDiscontinuedOperations": 51.105486, "Cash": 39.324529},
        RestrictedCash=11.132957,
    ),
    "Mastercard 2023: its marketable securities are not current": Case(
        two_columns(
            {
                "AssetsCurrent": {
                    CASH: 8588,
                    "Investments": 592,
                    "AccountsReceivableNetCurrent": 4060,
                    "SettlementAssetsCurrent": 1233,
                    "RestrictedCashAndInvestmentsCurrent": 1845,
                    "PrepaidExpenseAndOtherAssetsCurrent": 2643,
                }
            },
            {
                "MarketableSecurities": 506,
                "AvailableForSaleSecuritiesDebtSecurities": 286,
                "HeldToMaturitySecurities": 306,
            },
            0,
        ),
        9180,
        CASH_PROVED,
        OF_CASH,
    ),
}
"""Lines of real balance sheets; the amounts of the year before are made up."""

OF_SOFTWARE = {PAYABLE: 20.123, "AccruedLiabilitiesCurrent": 60.456, "OperatingLeaseLiabilityCurrent": 5.789}
NOT_DUE = {"OperatingLeaseLiabilityNoncurrent": 25.111, OTHER_NONCURRENT: 10.222}
WITHOUT_DEBT: dict[str, tuple[Lines, Lines, Lines]] = {
    "whose leases are lines": ({}, {}, {}),
    "what customers paid ahead is a line": ({"ContractWithCustomerLiabilityCurrent": 200.357}, {}, {}),
    "what customers paid ahead is in a note": ({}, {}, {"ContractWithCustomerLiabilityCurrent": 8.357}),
    "what customers paid ahead, of any term": ({"ContractWithCustomerLiability": 200.357}, {}, {}),
    "what is owed for businesses and for settled claims": (
        {"SettlementLiabilitiesCurrent": 60.357},
        {"BusinessCombinationContingentConsiderationLiability": 18.864},
        {},
    ),
}
"""Further lines of the current and of the other liabilities, and notes."""

ADD_UP: dict[str, Case] = {
    "liabilities are what is no equity": unclassified(
        0,
        NO_DEBT,
        Deposits=850.123,
        OtherLiabilities=30.456,
        LiabilitiesAndStockholdersEquity=1000.579,
        StockholdersEquity=120,
    ),
    "two equal lines": Case(
        two_columns(
            {
                DUE: {MATURITIES: 20, SHORT: 20, "AccountsPayableTradeCurrent": 30.123},
                LIABILITIES: {NONCURRENT: 70, OTHER_NONCURRENT: 4.2},
            }
        ),
        110,
        PROVED,
    ),
    **{
        f"a company without debt, {name}": Case(
            two_columns({DUE: {**OF_SOFTWARE, **current}, LIABILITIES: {**NOT_DUE, **later}}, notes), 0, NO_DEBT
        )
        for name, (current, later, notes) in WITHOUT_DEBT.items()
    },
    "two current instruments beside the maturities": Case(
        two_columns(
            {
                DUE: {MATURITIES: 30.303, CONVERTIBLE: 10.101, "SubordinatedDebtCurrent": 5.252, PAYABLE: 40.404},
                LIABILITIES: {NONCURRENT: 70.707, OTHER_NONCURRENT: 9.123},
            }
        ),
        116.363,
        PROVED,
    ),
    "short-term borrowings are in another line": Case(
        two_columns({DUE: {MATURITIES: 12.007, PAYABLE: 900.123}}, {SHORT: 1.003, NONCURRENT: 1366.111}),
        1378.118,
        USUAL_LINES,
    ),
    "notes of any term are a line": Case(
        two_columns(
            {
                DUE: {MATURITIES: 15.123, PAYABLE: 55.1},
                LIABILITIES: {"NotesPayable": 60, OTHER_NONCURRENT: 20.4},
            }
        ),
        75.123,
        PROVED,
    ),
    "long-term debt and notes to related parties are lines": classified(
        80.404,
        USUAL_LINES,
        **{WHOLE: 42.404, RELATED: 25, MATURITIES: 13, LIABILITIES: 106.887, DUE: 34.804, OTHER_NONCURRENT: 3.443},
        DeferredTaxLiabilitiesNoncurrent=1.236,
    ),
    "available-for-sale securities of any term are a line": cash(
        50,
        CASH_LINES,
        **{CASH: 20, "AvailableForSaleSecuritiesDebtSecurities": 30, "AccountsReceivableNetCurrent": 10},
        AssetsCurrent=60,
    ),
    "short-term investments are no line of their own": cash(
        30, CASH_LINES, **{CASH: 30, SECURITIES: 15, "AccountsReceivableNetCurrent": 10, "AssetsCurrent": 40}
    ),
}
"""Amounts for which the totals show whether they are lines."""


def of_two_days(now: tuple[float, float], before: tuple[float, float], value: float) -> Case:
    """Cash of an unclassified balance sheet, from its cash and current securities on two days."""
    own, other = ({ASSETS: 900, CASH: cash, CURRENT_SECURITIES: securities} for cash, securities in (now, before))
    return Case([*filed(own), *filed(other, of=BEFORE)[2:]], value, CASH_LINES, OF_CASH)


OF_CASH_LINES: dict[str, Case] = {
    "the filer's own total": cash(50, CASH_LINES, **{OVERALL: 50, CASH: 30, SECURITIES: 15}),
    "a total without parts": cash(50, CASH_LINES, **{OVERALL: 50}),
    "a total below its cash is no total": cash(
        45, CASH_LINES, "total_contradicts_parts", **{OVERALL: 20, CASH: 30, SECURITIES: 15}
    ),
    "cash and the securities beside it": cash(45, CASH_LINES, **{CASH: 30, SECURITIES: 15}),
    "cash and securities of one amount, two amounts in the other column": of_two_days((275, 275), (310, 262), 550),
    "one amount under two elements in both columns": of_two_days((275, 275), (310, 310), 275),
    "cash alone": cash(30, CASH_LINES, **{CASH: 30}),
    "nothing held": cash(0, CASH_LINES, **{CASH: 0}),
    "securities without cash": cash(None, "gap.no-tag", **{SECURITIES: 15}),
    "a total of cash that is not that of the cash flow statement": cash(
        53.555, CASH_LINES, **{OVERALL: 53.555, RESTRICTED: 53.556, "RestrictedCash": 17.2}
    ),
    "a total of cash without restricted cash": cash(
        53.555, CASH_LINES, **{OVERALL: 53.555, RESTRICTED: 53.555, "RestrictedCash": 0}
    ),
    "restricted cash that is stated apart": cash(
        26, OF_FLOWS, **{RESTRICTED: 30, "RestrictedCashAndCashEquivalents": 4}
    ),
    "restricted cash that is not": cash(30, OF_FLOWS, "may_include_restricted_cash", **{RESTRICTED: 30}),
    # its securities are its business and not cash
    "a bank holds its cash on two lines": cash(
        320, OF_BANKS, Deposits=900, CashAndDueFromBanks=20, InterestBearingDepositsInBanks=300, ShortTermInvestments=50
    ),
}
"""Cash of balance sheets, and of cash flow statements."""

TWO_LINES = {"NotesPayable": 60, "LoansPayable": 15, LIABILITIES: 163.4}
ONE_LINE = {NONCURRENT: 70, SHORT: 10}
RESTATED: dict[str, Case] = {
    "fewer lines of debt restate nothing": Case(again(PARTS, {NONCURRENT: 70}), 100, USUAL_LINES),
    "the same lines restate": Case(again(PARTS, {**PARTS, NONCURRENT: 75}), 105, USUAL_LINES),
    "one line more restates": Case(again(TWO_LINES, {**TWO_LINES, "SecuredDebt": 9}, totals={}), 84, USUAL_LINES),
    "a report without it again takes nothing away": Case(
        [*again(TWO_LINES, {**TWO_LINES, "SecuredDebt": 9}, "2024-05-02", "10-Q", {}), *filed(TWO_LINES, NEXT)],
        84,
        USUAL_LINES,
    ),
    "an amount within a line is no line more": Case(again(ONE_LINE, {**ONE_LINE, RELATED: 40}), 80, USUAL_LINES),
    "another line takes the place of none": Case(again({NONCURRENT: 70}, {MATURITIES: 20}), 70, USUAL_LINES),
    "a total of long-term debt restates": Case(
        again({NONCURRENT: 50}, {NONCURRENT: 50, WHOLE: 65}), 65, WITH_MATURITIES
    ),
    "a total that is the part restates nothing": Case(
        [
            *again({NONCURRENT: 50}, {NONCURRENT: 50, WHOLE: 65}),
            *filed({**TOTALS, NONCURRENT: 50, WHOLE: 50}, "2026-02-20"),
        ],
        65,
        WITH_MATURITIES,
    ),
    "a total of all debt restates": Case(again(PARTS, {EVERYTHING: 130}), 130, FILER_TOTAL, flag="may_be_principal"),
    "an amendment restates with other lines": Case(
        again({NONCURRENT: 70, MATURITIES: 20}, {WHOLE: 110}, "2024-06-20", "10-K/A"), 110, WITH_MATURITIES
    ),
    "an amendment with less of a total restates nothing": Case(
        again({NONCURRENT: 34, WHOLE: 46}, {WHOLE: 40}, "2024-06-20", "10-K/A"), 46, WITH_MATURITIES
    ),
    # JPMorgan's 10-Q/A of 2012 repeats long-term debt of the year end without commercial paper
    "an amendment that lacks a line restates nothing": Case(
        again(PARTS, {NONCURRENT: 70}, "2024-06-20", "10-Q/A"), 100, USUAL_LINES
    ),
    "cash without securities restates nothing": Case(
        again({CASH: 30, SECURITIES: 15}, {CASH: 30}), 45, CASH_LINES, OF_CASH
    ),
    "cash of the flows with securities restates nothing": Case(
        again({CASH: 36.219}, {RESTRICTED: 36.122, SECURITIES: 7.319}), 36.219, CASH_LINES, OF_CASH
    ),
    "cash that was withheld is not known by itself": Case(
        again({CASH: 20, SECURITIES: -80}, {CASH: 20}), None, "balance.withheld.negative-line", OF_CASH
    ),
}
"""A balance sheet that a later filing states again."""

CASES = {**CLASSIFIED, **UNCLASSIFIED, **FILED, **ADD_UP, **OF_CASH_LINES, **RESTATED}


@pytest.fixture(scope="module")
def served() -> tuple[Today, dict[str, str]]:
    """All cases, standardized together: one company each."""
    rows, ciks = of_companies({name: case.rows for name, case in CASES.items()})
    return standardized(rows), ciks


@pytest.mark.parametrize("name", CASES)
def test_debt_and_cash_of_filings(served, name):
    """Each amount once, with the rule that chose the lines or leaves the value out, and its reservation."""
    found, ciks = served
    case, cik = CASES[name], ciks[name]
    row = row_of(found.values, case.item, "annual", END, cik)
    gap = row_of(found.gaps, case.item, "annual", END, cik)
    chosen = found.found.versions.filter(cik=cik, item=case.item, period_end=day(END))["rule"].to_list()

    value = row["value"] / 1e6 if row else None
    assert (value, (chosen or [gap.get("rule")])[-1], row.get("flags", "")) == (
        case.value if case.value is None else pytest.approx(case.value),
        case.rule,
        case.flag,
    )


def test_debt_and_cash_are_what_their_facts_add_up_to(served):
    """Also a zero with the facts that prove it, and a line that is not stated."""
    values = served[0].values.filter(pl.col("item").is_in([DEBT, OF_CASH]))
    again = values.join(recomputed(served[0].lineage, KEY), on=KEY, how="left", maintain_order="left")

    assert again["recomputed"].to_list() == pytest.approx(again["value"].to_list())


def test_a_zero_of_a_statement_of_net_assets_has_facts():
    """A bank that states neither assets nor liabilities in total has the net assets as the fact."""
    rows = [row for row in by_kind_of_deposit(9.876) if row["tag"] not in (ASSETS, LIABILITIES)]
    found = today(standardize(raw(rows, filed({"AssetsNet": 48.598, "StockholdersEquity": 48.598})[-2:])))
    legs = found.lineage.filter(item=DEBT, period_kind="annual")

    assert value_of(found, DEBT, "annual", END) == 0
    assert legs["tag"].to_list() == ["us-gaap:AssetsNet"]


@pytest.mark.parametrize(
    ("before", "debt"),
    [
        (NOTE, 127_029),
        ({**NOTE, "LongTermNotesPayable": 0.127030}, 254_059),
    ],
    ids=["one amount", "another amount"],
)
def test_one_note_under_two_elements_is_one_borrowing_on_both_days(before, debt):
    """Advanced Oxygen: the total of the newest day shows that both elements state one note; the day before has no
    total.
    """
    older = {**before, LIABILITIES: 0.333277, ASSETS: 0.675214}
    newer = {**NOTE, WHOLE: 0.127029, NONCURRENT: 0, LIABILITIES: 0.277463, ASSETS: 0.693077}
    rows, ciks = of_companies({"": [*filed(newer), *filed(older, "2023-02-20")[:2], *filed(older, of=BEFORE)[2:]]})
    found = standardized(rows)

    assert value_of(found, DEBT, "annual", END, ciks[""]) == 127_029
    assert value_of(found, DEBT, "annual", BEFORE, ciks[""]) == debt


def test_a_value_has_the_facts_that_were_added(served):
    """And a value without a line of debt has the reason that no element states one."""
    found, ciks = served
    legs = found.lineage.filter(cik=ciks["parts add up"], item=DEBT, period_kind="annual").sort("tag")
    gaps = found.gaps.filter(cik=ciks["nothing is borrowed, and nothing is said"], item=DEBT)

    assert legs.select("tag", "weight").rows() == [(f"us-gaap:{tag}", 1.0) for tag in sorted(PARTS)]
    assert gaps["reason"].unique().to_list() == ["no_tag"]
