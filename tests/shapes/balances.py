"""Balance sheets in which each rule of debt and cash decides.

Belongs here: lines of balance sheets of one day, and of later filings that show that day again. Does not: the elements
of a line (elements).

Amounts are in millions.
"""

from collections.abc import Sequence
from datetime import date, timedelta

from tests.factories import CASH, NET_INCOME, REVENUE, Row, fact, month_ends
from tests.shapes import Shape, joined

END = "2023-12-31"
FIRST_FILED, NEXT_FILED = "2024-02-20", "2025-02-20"
SECURITIES, INVENTORY, CURRENT_ASSETS = "ShortTermInvestments", "InventoryNet", "AssetsCurrent"
NONCURRENT, MATURITIES, SHORT, CURRENT = (
    "LongTermDebtNoncurrent",
    "LongTermDebtCurrent",
    "ShortTermBorrowings",
    "DebtCurrent",
)
WHOLE, NOTES, EVERYTHING = "LongTermDebt", "NotesPayable", "DebtLongtermAndShorttermCombinedAmount"
LIABILITIES, CURRENT_LIABILITIES, OTHER = "Liabilities", "LiabilitiesCurrent", "OtherLiabilities"
PAYABLES, ACCRUED = "AccountsPayableCurrent", "AccruedLiabilitiesCurrent"
ADVANCES, DEPOSITS = "AdvancesFromFederalHomeLoanBanks", "Deposits"
ASSETS, OF_FLOWS = "Assets", "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
TWO_LINES = {NOTES: 60, "LoansPayable": 15}
USUAL = {CASH: 20, SECURITIES: 80, NONCURRENT: 60, MATURITIES: 30}

Lines = dict[str, float]


def sheet(lines: Lines, *, filed: str = FIRST_FILED, form: str = "10-K") -> list[Row]:
    """A report on the year before it was filed, with the balance sheet of 2023."""
    year = int(filed[:4]) - 1
    flows = (
        fact(tag, 100e6, f"{year}-01-01", f"{year}-12-31", form=form, filed=filed) for tag in (REVENUE, NET_INCOME)
    )
    return [*flows, *(fact(tag, amount * 1e6, None, END, form=form, filed=filed) for tag, amount in lines.items())]


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


def quarters(*sheets: Lines) -> list[Row]:
    """Reports on quarters that follow each other, with one balance sheet each."""
    rows = []
    for number, lines in enumerate(sheets, 1):
        report = {"form": "10-Q", "filed": f"2023-{3 * number + 1:02}-20"}
        end = f"2023-{3 * number:02}-{30 if number > 1 else 31}"
        rows.append(fact(REVENUE, 10e6 * number, "2023-01-01", end, **report))
        rows += [fact(tag, amount * 1e6, None, end, **report) for tag, amount in lines.items()]
    return rows


SIX_ENDS = month_ends(2022, 6)


def six_quarters(debt: Sequence[float], due: Sequence[float], line: str = WHOLE, *, year_end: int = 0) -> list[Row]:
    """Reports on six quarters or more with one line of long-term debt alone, and the current liabilities.

    Args:
        year_end: the number of the quarter whose balance sheet is beside that of each quarter of the next year.
    """
    rows = []
    sheets = list(zip(month_ends(2022, len(debt)), debt, due, strict=True))
    for number, (end, *_) in enumerate(sheets):
        report = {"form": "10-K" if end.month == 12 else "10-Q", "filed": end + timedelta(days=40)}
        rows.append(fact(REVENUE, 10e6 * end.month, date(end.year, 1, 1), end, **report))
        beside = [sheets[year_end - 1]] if 0 < year_end <= number < year_end + 4 else []
        for day, amount, current in (sheets[number], *beside):
            lines = {line: amount, CURRENT_LIABILITIES: current, ASSETS: 2000 + day.month}
            rows += [fact(tag, value * 1e6, None, day, **report) for tag, value in lines.items()]
    return rows


def after(before: Lines, lines: Lines) -> list[Row]:
    """A report with two balance sheets: the one of 2022, and below it that of 2023."""
    older = (fact(tag, amount * 1e6, None, "2022-12-31", filed=FIRST_FILED) for tag, amount in before.items())
    return [*older, *sheet(lines)]


def since_quarter(before: Lines, lines: Lines) -> list[Row]:
    """A report on the third quarter of 2023, and one on the year."""
    report = {"form": "10-Q", "filed": "2023-11-10"}
    flow = fact(REVENUE, 70e6, "2023-01-01", "2023-09-30", **report)
    older = (fact(tag, amount * 1e6, None, "2023-09-30", **report) for tag, amount in before.items())
    return [flow, *older, *sheet(lines)]


def beside_year_end(year_end: Lines, *sheets: Lines) -> list[Row]:
    """Reports on the quarters of 2023, each with the balance sheet of 2022 beside its own."""
    older = (
        fact(tag, amount * 1e6, None, "2022-12-31", form="10-Q", filed=f"2023-{3 * number + 1:02}-20")
        for number in range(1, len(sheets) + 1)
        for tag, amount in year_end.items()
    )
    return [*older, *quarters(*sheets)]


def part_of_cash() -> list[Row]:
    """Three reports on the cash of 2022, of which the third states a part of it, and of that of 2023."""
    rows = []
    for filed, form, cash in (("2023-02-20", "10-K", 160), ("2023-05-10", "10-Q", 155), ("2023-08-10", "10-Q", 155)):
        line = {CASH: cash, ASSETS: 1240}
        rows += [fact(tag, amount * 1e6, None, "2022-12-31", form=form, filed=filed) for tag, amount in line.items()]
    return [*rows, *after({CASH: 40, ASSETS: 1240}, {CASH: 7, ASSETS: 1460})]


BANK_WITH_ADVANCES = {ADVANCES: 500, DEPOSITS: 800, OTHER: 25, LIABILITIES: 1345, ASSETS: 1500}
"""A bank whose liabilities have room for another debt of 20."""


def with_interest(lines: Lines, filed: str = FIRST_FILED) -> list[Row]:
    """A balance sheet of 2023, and interest on subordinated debt of the year."""
    interest = fact("InterestExpenseSubordinatedNotesAndDebentures", 1.5e6, "2023-01-01", END, filed=filed)
    return [*sheet(lines, filed=filed), interest]


IN_DEBT_TO_OTHERS = {
    NONCURRENT: 5,
    MATURITIES: 13,
    PAYABLES: 22,
    ACCRUED: 23,
    CURRENT_LIABILITIES: 96,
    LIABILITIES: 102,
    ASSETS: 150,
}
"""A company whose liabilities have room for another debt of 39."""


def with_related_parties(lines: Lines, proceeds: float, repayments: float = 0) -> list[Row]:
    """A balance sheet of 2023, and what was borrowed from related parties, and paid back to them, in the year."""
    flows = {"ProceedsFromRelatedPartyDebt": proceeds, "RepaymentsOfRelatedPartyDebt": repayments}
    return [
        *sheet(lines),
        *(fact(tag, amount * 1e6, "2023-01-01", END, filed=FIRST_FILED) for tag, amount in flows.items()),
    ]


TOTAL_ALONE = {
    WHOLE: 123,
    PAYABLES: 28,
    ACCRUED: 27,
    CURRENT_LIABILITIES: 94,
    "DefinedBenefitPensionPlanLiabilitiesNoncurrent": 7,
    "OtherPostretirementDefinedBenefitPlanLiabilitiesNoncurrent": 4,
    "OtherLiabilitiesNoncurrent": 17,
    LIABILITIES: 205,
    ASSETS: 273,
}
"""A company whose other lines leave 122 of the liabilities for debt."""


def between(lines: Lines, year_end: Lines, next_year_end: Lines | None = None) -> list[Row]:
    """A report on the first half of 2023, and then one that shows the year ends before and after.

    Args:
        next_year_end: the lines of the later year end; None: they are those of the earlier one.
    """
    half = {"form": "10-Q", "filed": "2023-08-10"}
    return [
        fact(REVENUE, 40e6, "2023-01-01", "2023-06-30", **half),
        *(fact(tag, amount * 1e6, None, "2023-06-30", **half) for tag, amount in lines.items()),
        *after(year_end, next_year_end or year_end),
    ]


def next_year(first: float, later: float) -> list[Row]:
    """Cash of 2023 on its balance sheet, and in the report on 2024, which shows the balance sheet of 2024 only."""
    of_2024 = (fact(tag, 150_456e3, None, "2024-12-31", filed=NEXT_FILED) for tag in (CASH, ASSETS))
    return [*of_2024, *again({CASH: first, ASSETS: 100.456}, {CASH: later})]


NOTE = {MATURITIES: 0.127029, "LongTermNotesPayable": 0.127029}


def one_note(before: Lines) -> list[Row]:
    """Advanced Oxygen's report: one note under two elements, and the balance sheet of the year before."""
    lines = {**NOTE, WHOLE: 0.127029, NONCURRENT: 0, LIABILITIES: 0.277463, ASSETS: 0.693077}
    rows = after({**before, LIABILITIES: 0.333277, ASSETS: 0.675214}, lines)
    flows = (fact(tag, 90e6, "2022-01-01", "2022-12-31", filed=FIRST_FILED) for tag in (REVENUE, NET_INCOME))
    return [*rows, *flows]


DEBT_AND_CASH: dict[str, Lines] = {
    "cash.total-of-flows-less-restricted": {
        "CashCashEquivalentsAndShortTermInvestments": 53.555,
        "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents": 53.555,
        "RestrictedCash": 17.2,
    },
    "cash.filer-total": {"CashCashEquivalentsAndShortTermInvestments": 50, CASH: 30, SECURITIES: 20},
    "cash.total-contradicts-parts": {"CashCashEquivalentsAndShortTermInvestments": 50, CASH: 30, SECURITIES: 15},
    "cash.without-securities-by-footing": {CASH: 30, SECURITIES: 15, INVENTORY: 20, CURRENT_ASSETS: 50},
    "cash.cash-and-securities": {CASH: 30, SECURITIES: 15},
    "cash.cash-alone": {CASH: 30},
    "cash.securities.current-by-footing": {
        CASH: 30,
        "AvailableForSaleSecuritiesDebtSecurities": 15,
        INVENTORY: 20,
        CURRENT_ASSETS: 65,
    },
    "cash.alone-by-footing": {"Cash": 1.418, OF_FLOWS: 35.968, INVENTORY: 20.123, CURRENT_ASSETS: 21.541},
    "cash.investments.current-by-footing": {
        CASH: 30.123,
        "Investments": 15.456,
        INVENTORY: 20.123,
        CURRENT_ASSETS: 65.702,
    },
    "cash.investments.both-classes-of-debt-securities": {
        **{CASH: 8588, "Investments": 592, "MarketableSecurities": 506, CURRENT_ASSETS: 18961},
        **{"AvailableForSaleSecuritiesDebtSecurities": 286, "HeldToMaturitySecurities": 306},
    },
    "cash.parts-by-footing": {
        "CashCashEquivalentsAndShortTermInvestments": 45.8,
        CASH: 30.123,
        SECURITIES: 15.456,
        INVENTORY: 20.123,
        CURRENT_ASSETS: 65.702,
    },
    "debt.short-term.without-maturities": {NONCURRENT: 70, MATURITIES: 20, SHORT: 26, "CommercialPaper": 6},
    "debt.short-term.notes-payable": {NONCURRENT: 70, MATURITIES: 20, "NotesPayableCurrent": 8},
    "debt.notes.noncurrent-by-footing": {NOTES: 70, MATURITIES: 20, LIABILITIES: 150, CURRENT_LIABILITIES: 80},
    "debt.notes.long-term-debt-by-footing": {NOTES: 90, MATURITIES: 20, LIABILITIES: 150, CURRENT_LIABILITIES: 80},
    "debt.long-term-debt.noncurrent": {WHOLE: 70, MATURITIES: 20, LIABILITIES: 150, CURRENT_LIABILITIES: 80},
    "debt.beside.noncurrent-instrument": {NONCURRENT: 70, "ConvertibleDebtNoncurrent": 90},
    "debt.current.exact-amount": {NONCURRENT: 300, MATURITIES: 17, SHORT: 59.83, CURRENT: 60},
    "debt.short-term.net-of-issue-costs": {
        NONCURRENT: 300,
        "NotesPayableCurrent": 24,
        "NotesAndLoansPayableCurrent": 27,
        "DeferredFinanceCostsCurrentNet": 3,
    },
    "debt.current-maturities.part-of-notes-and-loans": {
        NONCURRENT: 300,
        "NotesPayableCurrent": 24,
        "NotesAndLoansPayableCurrent": 27,
    },
    "fact.part-of-other-element": {"LongTermNotesPayable": 70, "SeniorLongTermNotes": 40, MATURITIES: 5},
    "fact.equity-of-all-owners": {
        ASSETS: 4804279e-6,
        LIABILITIES: 2637108e-6,
        "StockholdersEquity": 2167171e-6,
        "MinorityInterest": -1241325e-6,
    },
    "debt.withheld.part-exceeds-its-liabilities": {
        NONCURRENT: 20,
        MATURITIES: 5,
        LIABILITIES: 60,
        CURRENT_LIABILITIES: 45,
    },
    "debt.beside.long-term-debt-by-footing": {
        "LongTermLoansPayable": 70,
        WHOLE: 30,
        LIABILITIES: 200,
        CURRENT_LIABILITIES: 100,
    },
    "debt.beside.current-instrument": {NONCURRENT: 70, MATURITIES: 5, "ConvertibleDebtCurrent": 20},
    "debt.classified.long-term-debt-with-maturities-as-short-term": {NONCURRENT: 70, SHORT: 20, WHOLE: 90},
    "debt.classified.long-term-debt-with-unnamed-maturities": {NONCURRENT: 70, SHORT: 10, WHOLE: 90},
    "debt.classified.noncurrent-current-and-short-term": {NONCURRENT: 70, MATURITIES: 20, SHORT: 10, CURRENT: 20},
    "debt.classified.noncurrent-and-current": {NONCURRENT: 70, MATURITIES: 20, SHORT: 10, CURRENT: 30},
    "debt.classified.noncurrent-and-short-term-by-footing": {
        **{NONCURRENT: 70, MATURITIES: 20, SHORT: 50, CURRENT_LIABILITIES: 80},
        "AccountsPayableCurrent": 30,
    },
    "debt.classified.current-by-footing": {
        **{NONCURRENT: 599.321, MATURITIES: 221.661, SHORT: 201.589, CURRENT_LIABILITIES: 560.901},
        **{"AccountsPayableCurrent": 194.481, "AccruedLiabilitiesCurrent": 144.759},
    },
    "debt.classified.noncurrent-by-footing": {
        **{NONCURRENT: 0, MATURITIES: 26.682, LIABILITIES: 317.920, CURRENT_LIABILITIES: 170.069},
        **{"ConvertibleLongTermNotesPayable": 134.497, "NotesPayableToBankNoncurrent": 4.313},
        "OperatingLeaseLiabilityNoncurrent": 9.041,
    },
    "debt.classified.noncurrent-and-maturities": {NONCURRENT: 70, MATURITIES: 20, SHORT: 20},
    "debt.classified.noncurrent-maturities-and-short-term": {NONCURRENT: 70, MATURITIES: 20, SHORT: 10},
    "debt.classified.long-term-debt": {WHOLE: 90, MATURITIES: 20, SHORT: 20},
    "debt.classified.long-term-debt-and-short-term": {WHOLE: 90, MATURITIES: 20, SHORT: 10},
    "debt.classified.filer-total": {MATURITIES: 20, EVERYTHING: 100},
    "debt.classified.current-alone": {CURRENT: 30},
    "debt.classified.maturities-alone": {MATURITIES: 20, SHORT: 20},
    "debt.classified.maturities-and-short-term": {MATURITIES: 20, SHORT: 10},
    "cash.proved.lines-add-up": {CASH: 20.123, SECURITIES: 80.456, INVENTORY: 31.507, CURRENT_ASSETS: 132.086},
    "balance.adds-up.current-assets": {CASH: 20.123, INVENTORY: 31.507, CURRENT_ASSETS: 51.63},
    "balance.adds-up.current-liabilities": {PAYABLES: 51.507, CURRENT_LIABILITIES: 51.507, LIABILITIES: 51.507},
    "balance.adds-up.noncurrent-liabilities": {
        **{PAYABLES: 51.507, CURRENT_LIABILITIES: 51.507, NONCURRENT: 60.251, LIABILITIES: 111.758},
    },
    "balance.adds-up.liabilities": {DEPOSITS: 850.123, OTHER: 30.456, ADVANCES: 70.707, LIABILITIES: 951.286},
    "balance.line": {CASH: 20.123, INVENTORY: 31.507, CURRENT_ASSETS: 51.63},
    "debt.proved.lines-add-up": {
        **{MATURITIES: 20.123, PAYABLES: 51.507, CURRENT_LIABILITIES: 71.63, NONCURRENT: 60.251},
        **{"OtherLiabilitiesNoncurrent": 9.119, LIABILITIES: 141},
    },
    "debt.zero.proved": {
        **{PAYABLES: 51.507, CURRENT_LIABILITIES: 51.507, "OtherLiabilitiesNoncurrent": 9.119, LIABILITIES: 60.626},
    },
    "debt.instruments.fill-the-liabilities": {DEPOSITS: 850, OTHER: 30, ADVANCES: 70, LIABILITIES: 950},
    "debt.leases.no-borrowings": {
        **{"LinesOfCreditCurrent": 6.516, "OtherShortTermBorrowings": 0.503, "LongTermNotesPayable": 0.024},
        **{"OperatingLeaseLiability": 2.032, "OperatingLeaseLiabilityNoncurrent": 1.529},
    },
    "debt.zero.both-terms-without-debt": {
        **{"AccountsPayableCurrent": 80.222, CURRENT_LIABILITIES: 80.222, LIABILITIES: 110.333},
        "OperatingLeaseLiabilityNoncurrent": 30.111,
        "OperatingLeaseLiabilityCurrent": 5.777,
    },
    "debt.one-line-of-both-terms": {
        **{"AccountsPayableCurrent": 22.525, "CustomerDepositsCurrent": 0.304},
        **{"NotesPayableRelatedPartiesClassifiedCurrent": 10.152, CURRENT_LIABILITIES: 32.981, LIABILITIES: 32.981},
    },
    "debt.zero.liabilities-without-debt": {DEPOSITS: 850, OTHER: 30, LIABILITIES: 880},
    "debt.instruments.largest-sum-without-double-counting": {ADVANCES: 50, "SubordinatedDebt": 20},
    "debt.filed-as-zero": {WHOLE: 0},
    "debt.filer-total": {EVERYTHING: 100},
    "debt.filer-total-above-notes": {MATURITIES: 20, NONCURRENT: 70, EVERYTHING: 120, LIABILITIES: 300},
    "debt.filer-total-below-lines": {NONCURRENT: 269, MATURITIES: 17, EVERYTHING: 271},
    "debt.total-contradicts-parts": {NONCURRENT: 70, MATURITIES: 20, WHOLE: 97},
    "debt.filer-total-above-lines": {
        MATURITIES: 20,
        NONCURRENT: 70,
        EVERYTHING: 120,
        LIABILITIES: 300,
        CURRENT_LIABILITIES: 80,
    },
    "debt.noncurrent.line-with-finance-leases": {
        NONCURRENT: 1_990,
        "LongTermDebtAndCapitalLeaseObligations": 2_236,
        "CapitalLeaseObligationsNoncurrent": 246,
        "LongTermDebtAndCapitalLeaseObligationsCurrent": 1_009,
        CURRENT: 3_009,
    },
    "debt.noncurrent.without-related-parties": {
        NONCURRENT: 70,
        "NotesPayableRelatedPartiesNoncurrent": 30,
        MATURITIES: 20,
        EVERYTHING: 90,
    },
    "debt.long-term-debt.with-related-parties": {
        WHOLE: 60,
        "NotesPayableRelatedPartiesNoncurrent": 30,
        LIABILITIES: 140,
    },
    "debt.beside.other-borrowings": {CURRENT: 111.169, "OtherBorrowings": 15.139, "SecuredDebt": 126.308},
    "debt.beside.short-term-loans": {NONCURRENT: 102, SHORT: 2, "LoansPayableCurrent": 32, CURRENT_LIABILITIES: 145},
    "debt.beside.loans-of-any-term": {MATURITIES: 25, "LoansPayableCurrent": 25, "LoansPayable": 7, LIABILITIES: 100},
    "debt.withheld.small-beside-unexplained-liabilities": {
        SHORT: 10,
        "NotesPayableCurrent": 1,
        CURRENT_LIABILITIES: 80,
        LIABILITIES: 90,
    },
    "debt.withheld.unexplained-liabilities": {ADVANCES: 1.9, DEPOSITS: 337, OTHER: 2.5, LIABILITIES: 351},
    "balance.withheld.negative-line": {NONCURRENT: -70, MATURITIES: 20},
    "balance.withheld.line-finer-than-filing": {NONCURRENT: 0.07, MATURITIES: 20, ASSETS: 1000},
    "debt.withheld.exceeds-liabilities": {NONCURRENT: 70, LIABILITIES: 50},
    "cash.withheld.exceeds-current-assets": {CASH: 60, CURRENT_ASSETS: 50},
    "cash.withheld.exceeds-cash-of-flows": {CASH: 60, OF_FLOWS: 50},
    "debt.withheld.large-maturities-without-line": {NONCURRENT: 65, WHOLE: 90, CURRENT_LIABILITIES: 55},
    "debt.withheld.current-maturities-with-larger-notes": {MATURITIES: 20, NOTES: 90},
}
"""The rule and the balance sheet of 2023 in which it decides."""

INSIDE = {
    **{MATURITIES: (20.123, 20.007), PAYABLES: (51.507, 48.119), CURRENT_LIABILITIES: (51.507, 48.119)},
    **{NONCURRENT: (10.251, 11.113), "OtherLiabilitiesNoncurrent": (9.119, 9.02), LIABILITIES: (70.877, 68.252)},
}
"""Two days whose current liabilities add up without the maturities."""

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
    "balance.withdrawn.filing-in-other-units": again({CASH: 0.02, ASSETS: 0.1}, {ASSETS: 100}),
    "cash.withdrawn.securities-shown-around": between(
        {CASH: 20, WHOLE: 60, ASSETS: 200}, {CASH: 20, SECURITIES: 80, WHOLE: 60, ASSETS: 200}
    ),
    "debt.withdrawn.current-debt-shown-around": between(
        {CASH: 20, NONCURRENT: 60, ASSETS: 200}, {CASH: 20, NONCURRENT: 60, SHORT: 40, ASSETS: 200}
    ),
    "debt.withdrawn.noncurrent-debt-shown-around": between(
        {CASH: 20, MATURITIES: 10, ASSETS: 200}, {CASH: 20, NONCURRENT: 60, MATURITIES: 10, ASSETS: 200}
    ),
    "debt.withdrawn.short-term-debt-shown-around": between(
        {CASH: 20, WHOLE: 60, ASSETS: 200}, {CASH: 20, WHOLE: 60, SHORT: 40, ASSETS: 200}
    ),
    "debt.noncurrent.repeats-maturities": one_note(NOTE),
    "debt.withdrawn.line-shown-after": joined(
        since_quarter(
            {NONCURRENT: 50, CURRENT_LIABILITIES: 132, ASSETS: 480},
            {NONCURRENT: 51, MATURITIES: 1, CURRENT_LIABILITIES: 137, ASSETS: 487},
        ),
        sheet(
            {NONCURRENT: 51, MATURITIES: 1, "CommercialPaper": 63, CURRENT_LIABILITIES: 137, ASSETS: 487},
            filed=NEXT_FILED,
        ),
    ),
    "debt.withdrawn.maturities-left-long-term-debt": beside_year_end(
        {WHOLE: 400, CURRENT_LIABILITIES: 700, ASSETS: 2000},
        {WHOLE: 300, CURRENT_LIABILITIES: 740, ASSETS: 2010},
        {WHOLE: 301, CURRENT_LIABILITIES: 805, ASSETS: 2020},
    ),
    "debt.withdrawn.one-line-is-a-part": since_quarter(
        {NONCURRENT: 98, CURRENT_LIABILITIES: 262, ASSETS: 1640},
        {NONCURRENT: 98, WHOLE: 57, CURRENT_LIABILITIES: 262, ASSETS: 1640},
    ),
    "debt.withheld.total-agreed-before": after(
        {WHOLE: 90, NONCURRENT: 70, MATURITIES: 20, ASSETS: 200},
        {WHOLE: 90, NONCURRENT: 77, MATURITIES: 20, ASSETS: 200},
    ),
    "cash.withdrawn.other-digit-in-next-filing": next_year(20.123, 20.523),
    "debt.withheld.maturities-left-long-term-debt": since_quarter(
        {WHOLE: 400, CURRENT_LIABILITIES: 700, ASSETS: 2000}, {WHOLE: 300, CURRENT_LIABILITIES: 810, ASSETS: 2010}
    ),
    "debt.withheld.current-debt-never-stated": six_quarters(
        [400, 360, 361, 320, 321, 322], [300, 340, 300, 341, 300, 301], NONCURRENT
    ),
    "debt.withheld.installments-without-line": six_quarters([400, 390, 380, 371, 372, 373], [300] * 6, NONCURRENT),
    "debt.withdrawn.installments-without-line": six_quarters([400, 390, 380, 371, 372, 373], [300] * 6, NONCURRENT),
    "debt.withheld.lender-without-current-debt": [
        *sheet({NONCURRENT: 70, CURRENT_LIABILITIES: 55, "NotesReceivableNet": 60, ASSETS: 200}),
        fact("FinancialServicesRevenue", 9e6, "2023-01-01", END, filed=FIRST_FILED),
    ],
    "debt.withheld.financial-company-without-short-term-debt": [
        *sheet({WHOLE: 60, ASSETS: 200}),
        fact("RevenuesNetOfInterestExpense", 40e6, "2023-01-01", END, filed=FIRST_FILED),
    ],
    "debt.withheld.interest-without-its-debt": with_interest(BANK_WITH_ADVANCES),
    "debt.withheld.proceeds-without-their-debt": with_related_parties(IN_DEBT_TO_OTHERS, proceeds=3),
    "debt.withheld.total-exceeds-its-room": sheet(TOTAL_ALONE),
    "debt.withheld.long-term-debt-is-a-part": since_quarter(
        {WHOLE: 302, NONCURRENT: 335, ASSETS: 2000}, {WHOLE: 237, CURRENT_LIABILITIES: 272, ASSETS: 2010}
    ),
    "cash.withheld.part-of-earlier-cash": part_of_cash(),
    "cash.withheld.no-balance-sheet-with-securities": after(
        {CASH: 20, SECURITIES: 10, ASSETS: 100, LIABILITIES: 60}, {OF_FLOWS: 30, ASSETS: 90}
    ),
    "balance.withheld.no-total-assets": after({CASH: 20, ASSETS: 100}, {CASH: 30}),
    "balance.withheld.sheet-in-other-units": after({CASH: 20, ASSETS: 100}, {CASH: 0.03, ASSETS: 0.15}),
    "balance.withheld.line-a-thousandth": after({NONCURRENT: 700, ASSETS: 1000}, {NONCURRENT: 0.7, ASSETS: 1000.1}),
    "balance.withheld.line-left-out": after({NONCURRENT: 70, SHORT: 30, ASSETS: 200}, {NONCURRENT: 70, ASSETS: 200}),
    "debt.withheld.liabilities-did-not-move": after(
        {NONCURRENT: 300, LIABILITIES: 500, ASSETS: 900}, {NONCURRENT: 200, LIABILITIES: 500, ASSETS: 900}
    ),
    "balance.proved.line-is-the-rest": after(
        {ASSETS: 999, CASH: 20.123, SECURITIES: 30.111, INVENTORY: 31.507, CURRENT_ASSETS: 81.741},
        {ASSETS: 999, CASH: 21.123, INVENTORY: 30.507, CURRENT_ASSETS: 80.741},
    ),
    "balance.withheld.no-longer-adds-up": after(
        {ASSETS: 999, LIABILITIES: 500, CURRENT_LIABILITIES: 200, NONCURRENT: 273, "OtherLiabilitiesNoncurrent": 27},
        {ASSETS: 999, LIABILITIES: 510, CURRENT_LIABILITIES: 200, NONCURRENT: 299, "OtherLiabilitiesNoncurrent": 27},
    ),
    "cash.withheld.current-assets-did-not-move": after(
        {CASH: 30, CURRENT_ASSETS: 50, ASSETS: 90}, {CASH: 20, CURRENT_ASSETS: 50, ASSETS: 90}
    ),
    "cash.withheld.cash-of-flows-did-not-move": after(
        {CASH: 30, OF_FLOWS: 50, ASSETS: 90}, {CASH: 20, OF_FLOWS: 50, ASSETS: 90}
    ),
    "cash.withheld.securities-not-shown": gone({CASH: 22, NONCURRENT: 60, MATURITIES: 30}),
    "debt.withheld.current-debt-not-shown": gone({CASH: 20, SECURITIES: 80, NONCURRENT: 60}),
    "debt.withheld.short-term-debt-not-shown": gone(
        {CASH: 20, WHOLE: 60, CURRENT_LIABILITIES: 90, ASSETS: 200},
        {CASH: 20, WHOLE: 60, SHORT: 30, CURRENT_LIABILITIES: 95, ASSETS: 200},
    ),
    "debt.withheld.noncurrent-debt-not-shown": gone({CASH: 20, SECURITIES: 80, MATURITIES: 30}),
    "balance.restated.by-amendment": again({NONCURRENT: 70, MATURITIES: 20}, {WHOLE: 110}, form="10-K/A"),
    "balance.restated.same-elements": again({NONCURRENT: 70, MATURITIES: 20}, {NONCURRENT: 75, MATURITIES: 20}),
    "balance.restated.more-lines": again(TWO_LINES, {**TWO_LINES, "SecuredDebt": 9}),
    "balance.restated.filer-total": again({NONCURRENT: 70}, {EVERYTHING: 105}),
    "balance.left-out.below-filer-total": joined(
        again({NONCURRENT: 3342}, {NONCURRENT: 3342, WHOLE: 4542}),
        sheet({NONCURRENT: 3342, WHOLE: 3342}, filed="2026-02-20"),
    ),
    "balance.left-out.other-lines": again(TWO_LINES, {NOTES: 60}),
}
"""The rule and the filings in which it decides."""

SHAPES = (
    *(Shape(rule, sheet(lines)) for rule, lines in DEBT_AND_CASH.items()),
    *(Shape(rule, rows) for rule, rows in HISTORIES.items()),
)
