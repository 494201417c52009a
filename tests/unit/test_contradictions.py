"""Debt and cash against the rest of the balance sheet: what another fact contradicts is corrected or withheld."""

import pytest

from tests.factories import CASH, CIK, Row, Today, day, fact, month_ends, raw, row_of, standardized, value_of
from tests.shapes import of_company
from tests.shapes.balances import (
    ASSETS,
    BANK_WITH_ADVANCES,
    CURRENT,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    DEBT_AND_CASH,
    DEPOSITS,
    END,
    EVERYTHING,
    FIRST_FILED,
    HISTORIES,
    IN_DEBT_TO_OTHERS,
    INVENTORY,
    LIABILITIES,
    MATURITIES,
    NEXT_FILED,
    NONCURRENT,
    OF_FLOWS,
    OTHER,
    SECURITIES,
    SHORT,
    SIX_ENDS,
    TOTAL_ALONE,
    WHOLE,
    Lines,
    after,
    again,
    beside_year_end,
    between,
    joined,
    next_year,
    sheet,
    since_quarter,
    six_quarters,
    with_interest,
    with_related_parties,
)

PAYABLE, OTHER_NONCURRENT = "AccountsPayableCurrent", "OtherLiabilitiesNoncurrent"
RELATED, LOANS = "NotesPayableRelatedPartiesNoncurrent", "LoansPayableCurrent"
CONVERTIBLE = "ConvertibleNotesPayableCurrent"
PENSIONS_AND_OTHER = "PensionAndOtherPostretirementDefinedBenefitPlansLiabilitiesNoncurrent"

DEBT: dict[str, tuple[Lines, float]] = {
    "the non-current liabilities add up with long-term debt and notes to related parties": (
        {
            **{WHOLE: 42.404, RELATED: 25, MATURITIES: 13, LIABILITIES: 106.887, CURRENT_LIABILITIES: 34.804},
            **{OTHER_NONCURRENT: 3.443, "DeferredTaxLiabilitiesNoncurrent": 1.236},
        },
        80.404,
    ),
    "deposits and payables that bear interest are all liabilities": (
        {DEPOSITS: 236.612, "AccountsPayableInterestBearingCurrentAndNoncurrent": 1.051, LIABILITIES: 237.663},
        0,
    ),
    "long-term debt that is non-current debt, rounded": ({WHOLE: 500, NONCURRENT: 494, SHORT: 100}, 594),
    "long-term debt with maturities of more than rounding": ({WHOLE: 504, NONCURRENT: 494, SHORT: 100}, 604),
    "two equal payments of a loan": ({NONCURRENT: 127, MATURITIES: 127, PAYABLE: 73, CURRENT_LIABILITIES: 206}, 254),
    "secured debt is current debt and other borrowings": (
        {CURRENT: 111.169, "OtherBorrowings": 15.139, "SecuredDebt": 126.308, LIABILITIES: 130.031},
        126.308,
    ),
    "the reading with fewer lines is right": (
        {
            WHOLE: 1985,
            "ConvertibleDebtCurrent": 15,
            LIABILITIES: 3770,
            CURRENT_LIABILITIES: 1153,
            OTHER_NONCURRENT: 632,
            "DeferredRevenueNoncurrent": 15,
        },
        2000,
    ),
    "only without its maturities can long-term debt be in the non-current liabilities": (
        {
            WHOLE: 1982,
            "ConvertibleDebtCurrent": 1011,
            LIABILITIES: 4243,
            CURRENT_LIABILITIES: 2041,
            OTHER_NONCURRENT: 213,
            "DeferredTaxLiabilitiesNoncurrent": 88,
        },
        2993,
    ),
    "long-term debt includes the bank loans that are due": (
        {WHOLE: 43.959, "ShortTermBankLoansAndNotesPayable": 8.608, "OtherLongTermDebtNoncurrent": 35.177},
        43.959,
    ),
    "convertible debt is larger than the maturities, and the total lacks it": (
        {
            NONCURRENT: 2.409,
            MATURITIES: 1.042,
            WHOLE: 3.465,
            "ConvertibleDebtCurrent": 3.831,
            "LinesOfCreditCurrent": 4.994,
            PAYABLE: 43.4,
            CURRENT_LIABILITIES: 59.045,
            LIABILITIES: 61.702,
        },
        12.276,
    ),
    "notes to related parties are in long-term debt": (
        {NONCURRENT: 672, RELATED: 170, SHORT: 236, EVERYTHING: 909, LIABILITIES: 2353},
        908,
    ),
    "notes to related parties are beside it": ({NONCURRENT: 672, RELATED: 170, SHORT: 236, EVERYTHING: 1078}, 1078),
    "the filer's own total holds a line that no element has": (
        {NONCURRENT: 757, SHORT: 353, EVERYTHING: 1198, LIABILITIES: 9869, CURRENT_LIABILITIES: 7145, PAYABLE: 6100},
        1198,
    ),
    "loans of a subsidiary are long-term debt only": (
        {
            WHOLE: 18137,
            "OtherLongTermDebtNoncurrent": 1570,
            MATURITIES: 17,
            CURRENT: 543,
            EVERYTHING: 18707,
            LIABILITIES: 21161,
            CURRENT_LIABILITIES: 2198,
            PAYABLE: 978,
        },
        18707,
    ),
    "the total is the principal before discounts": (
        {NONCURRENT: 378, MATURITIES: 192, EVERYTHING: 580, LIABILITIES: 1089, CURRENT_LIABILITIES: 300},
        570,
    ),
    "the total does not fit into the liabilities": (
        {NONCURRENT: 70, MATURITIES: 20, EVERYTHING: 120, LIABILITIES: 110, CURRENT_LIABILITIES: 40},
        90,
    ),
    "unsecured debt is larger than the maturities": ({MATURITIES: 29, "UnsecuredDebtCurrent": 60}, 89),
    "loans are all of the maturities, and convertible notes another line": (
        {NONCURRENT: 30, MATURITIES: 25, LOANS: 25, CONVERTIBLE: 19},
        74,
    ),
    "loans of any term are less than the current ones": (
        {WHOLE: 35, MATURITIES: 35, LOANS: 35, CONVERTIBLE: 49, "LoansPayable": 5, LIABILITIES: 305},
        89,
    ),
    "maturities of a total that holds other long-term debt": (
        {NONCURRENT: 110, WHOLE: 250, CURRENT_LIABILITIES: 125},
        250,
    ),
    "convertible notes are a part of the maturities": ({NONCURRENT: 30, MATURITIES: 25, CONVERTIBLE: 19}, 55),
}

TOTALS = {ASSETS: 900, LIABILITIES: 500}
FOLLOWED: dict[str, tuple[str, Lines, Lines, float]] = {
    "securities are gone, and the current assets add up without them": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 50, "AvailableForSaleSecuritiesDebtSecurities": 20, INVENTORY: 50, CURRENT_ASSETS: 120},
        {ASSETS: 900, CASH: 51, "AvailableForSaleSecuritiesDebtSecurities": 0, INVENTORY: 69, CURRENT_ASSETS: 120},
        51,
    ),
    "the securities of another day are no current assets, so the day without a balance sheet lacks none": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 30, SECURITIES: 15, INVENTORY: 10, CURRENT_ASSETS: 40},
        {ASSETS: 800, OF_FLOWS: 16},
        16,
    ),
    "the element for all long-term debt was hardly less than the non-current part": (
        "total_debt",
        {WHOLE: 320, NONCURRENT: 335, ASSETS: 2000},
        {WHOLE: 340, CURRENT_LIABILITIES: 272, ASSETS: 2010},
        340,
    ),
    "the liabilities fell with the debt": (
        "total_debt",
        {**TOTALS, NONCURRENT: 300},
        {**TOTALS, NONCURRENT: 200, LIABILITIES: 395},
        200,
    ),
    "another line fell instead of the liabilities": (
        "total_debt",
        {**TOTALS, NONCURRENT: 200, PAYABLE: 200},
        {**TOTALS, NONCURRENT: 300, PAYABLE: 100},
        300,
    ),
    "a line is zero, and the liabilities show it": (
        "total_debt",
        {**TOTALS, NONCURRENT: 200, SHORT: 100},
        {**TOTALS, NONCURRENT: 200, LIABILITIES: 400},
        200,
    ),
    "another line replaced the missing one": (
        "total_debt",
        {**TOTALS, NONCURRENT: 200, SHORT: 100},
        {**TOTALS, NONCURRENT: 305},
        305,
    ),
    "the liabilities changed by more than the debt": (
        "total_debt",
        {**TOTALS, NONCURRENT: 300},
        {**TOTALS, NONCURRENT: 200, LIABILITIES: 700, ASSETS: 1200},
        200,
    ),
    "cash paid for goods": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 100, CURRENT_ASSETS: 200, "InventoryNet": 50},
        {ASSETS: 900, CASH: 60, CURRENT_ASSETS: 200, "InventoryNet": 90},
        60,
    ),
    "debt did not change": (
        "total_debt",
        {ASSETS: 900.123, NONCURRENT: 312.345},
        {ASSETS: 950.456, NONCURRENT: 312.345},
        312.345,
    ),
    "cash and the other lines exceed the current assets by a trifle": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 100.123, CURRENT_ASSETS: 150.456, INVENTORY: 50.333},
        {ASSETS: 911, CASH: 110.123, CURRENT_ASSETS: 160.433, INVENTORY: 50.333},
        110.123,
    ),
    "a further line of the current assets": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 123, CURRENT_ASSETS: 150, "InventoryNet": 27},
        {ASSETS: 900, CASH: 133, CURRENT_ASSETS: 173, "InventoryNet": 27},
        133,
    ),
    "cash and the cash of the flows": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 100, OF_FLOWS: 110},
        {ASSETS: 900, CASH: 60, OF_FLOWS: 66},
        60,
    ),
    "cash that stayed the same, and foots": (
        "cash_and_equivalents",
        {ASSETS: 999, CASH: 123.456, "InventoryNet": 27, "AssetsCurrent": 150.456},
        {ASSETS: 900, CASH: 123.456, "InventoryNet": 28, "AssetsCurrent": 151.456},
        123.456,
    ),
    "assets of a company that shrank, and not by a thousand": (
        "cash_and_equivalents",
        {ASSETS: 900, CASH: 100},
        {ASSETS: 8, CASH: 5},
        5,
    ),
    "long-term debt was repaid within a year, and other lines rose": (
        "total_debt",
        {ASSETS: 2000, WHOLE: 400, CURRENT_LIABILITIES: 700},
        {ASSETS: 2010, WHOLE: 300, CURRENT_LIABILITIES: 810},
        300,
    ),
    "a day without a balance sheet, of a filer without securities": (
        "cash_and_equivalents",
        {ASSETS: 900, LIABILITIES: 500, CASH: 100},
        {ASSETS: 890, OF_FLOWS: 60},
        60,
    ),
    "a filing without any total of assets": ("cash_and_equivalents", {CASH: 100}, {CASH: 60}, 60),
}

WITHHELD = {
    "balance.withheld.no-total-assets": ("cash_and_equivalents", "not_on_balance_sheet"),
    "cash.withheld.no-balance-sheet-with-securities": ("cash_and_equivalents", "not_on_balance_sheet"),
    "cash.withheld.part-of-earlier-cash": ("cash_and_equivalents", "line_left_out"),
    "balance.withheld.negative-line": ("total_debt", "negative_line"),
    "balance.withheld.sheet-in-other-units": ("cash_and_equivalents", "sheet_in_other_units"),
    "balance.withheld.line-finer-than-filing": ("total_debt", "line_in_other_units"),
    "balance.withheld.line-a-thousandth": ("total_debt", "line_in_other_units"),
    "balance.withheld.line-left-out": ("total_debt", "line_left_out"),
    "debt.withheld.exceeds-liabilities": ("total_debt", "debt_not_footing"),
    "debt.withheld.liabilities-did-not-move": ("total_debt", "debt_not_footing"),
    "debt.withheld.large-maturities-without-line": ("total_debt", "debt_not_footing"),
    "debt.withheld.unexplained-liabilities": ("total_debt", "debt_not_footing"),
    "debt.withheld.small-beside-unexplained-liabilities": ("total_debt", "debt_not_footing"),
    "debt.withheld.maturities-left-long-term-debt": ("total_debt", "current_debt_not_shown"),
    "debt.withheld.lender-without-current-debt": ("total_debt", "current_debt_not_shown"),
    "debt.withheld.financial-company-without-short-term-debt": ("total_debt", "short_term_debt_not_shown"),
    "debt.withheld.proceeds-without-their-debt": ("total_debt", "debt_not_footing"),
    "debt.withheld.total-exceeds-its-room": ("total_debt", "debt_not_footing"),
    "debt.withheld.interest-without-its-debt": ("total_debt", "debt_not_footing"),
    "debt.withheld.long-term-debt-is-a-part": ("total_debt", "debt_not_footing"),
    "debt.withheld.total-agreed-before": ("total_debt", "debt_not_footing"),
    "debt.withheld.part-exceeds-its-liabilities": ("total_debt", "debt_not_footing"),
    "balance.withheld.no-longer-adds-up": ("total_debt", "debt_not_footing"),
    "cash.withheld.exceeds-current-assets": ("cash_and_equivalents", "cash_not_footing"),
    "cash.withheld.exceeds-cash-of-flows": ("cash_and_equivalents", "cash_not_footing"),
    "cash.withheld.current-assets-did-not-move": ("cash_and_equivalents", "cash_not_footing"),
    "cash.withheld.cash-of-flows-did-not-move": ("cash_and_equivalents", "cash_not_footing"),
}
SECURITIES_LEFT_OUT = after({ASSETS: 900, CASH: 50, SECURITIES: 50}, {ASSETS: 900, CASH: 50})
BANK_WITHOUT_ADVANCES = after(
    {ASSETS: 1000, "Deposits": 850, OTHER: 30, "AdvancesFromFederalHomeLoanBanks": 70, LIABILITIES: 950},
    {ASSETS: 930, "Deposits": 850, OTHER: 30, LIABILITIES: 880},
)


WITHDRAWN = {
    "balance.withdrawn.filing-in-other-units": ("cash_and_equivalents", END, 0.02, "sheet_in_other_units"),
    "cash.withdrawn.securities-shown-around": ("cash_and_equivalents", "2023-06-30", 20, "securities_not_shown"),
    "cash.withdrawn.other-digit-in-next-filing": ("cash_and_equivalents", END, 20.123, "cash_not_footing"),
    "debt.withdrawn.current-debt-shown-around": ("total_debt", "2023-06-30", 60, "current_debt_not_shown"),
    "debt.withdrawn.short-term-debt-shown-around": ("total_debt", "2023-06-30", 60, "short_term_debt_not_shown"),
    "debt.withdrawn.line-shown-after": ("total_debt", "2023-09-30", 50, "line_left_out"),
    "debt.withdrawn.maturities-left-long-term-debt": ("total_debt", "2023-03-31", 300, "current_debt_not_shown"),
    "debt.withdrawn.one-line-is-a-part": ("total_debt", "2023-09-30", 98, "debt_not_footing"),
    "debt.withdrawn.noncurrent-debt-shown-around": ("total_debt", "2023-06-30", 10, "noncurrent_debt_not_shown"),
}
SECURITIES_AROUND: dict[str, tuple[float, float, float | None]] = {
    "few securities at one year end and many at the next": (1.5, 4, None),
    "few securities at both year ends": (1.5, 1.6, 100),
    "many securities at one year end and none at the next": (4, 0, 100),
}
"""Securities at two year ends beside cash of 100, and the cash served for a report between that lacks them."""
NEXT_YEARS = {"a difference of two digits": (20.123, 20.543), "a difference of a few units": (20.123, 20.127)}
"""Cash of a day, and that of the report of the next year without a balance sheet of that day."""
RESTATED: dict[str, tuple[list[Row], float | None]] = {
    "a later filing repeats the cash of a contradicted balance sheet": (
        again({CASH: 20, SECURITIES: -80}, {CASH: 20}),
        None,
    ),
    "a later filing shows securities beside the cash": (
        again({CASH: 36.219}, {OF_FLOWS: 36.122, SECURITIES: 7.319}),
        43.441,
    ),
    "a later filing shows securities beside other cash": (again({CASH: 36.219}, {OF_FLOWS: 30, SECURITIES: 7}), 36.219),
    "one small loan leaves most of the liabilities, although payables belong to two amounts": (
        sheet(
            {
                "OtherLoansPayableCurrent": 3.518,
                "AccountsPayableAndAccruedLiabilitiesCurrent": 358.441,
                "TaxesPayableCurrent": 570.494,
                "OperatingLeaseLiabilityCurrent": 132.188,
                CURRENT_LIABILITIES: 1509.185,
                LIABILITIES: 1537.393,
                ASSETS: 5711.371,
            }
        ),
        None,
    ),
    "a later filing shows the total of long-term debt": (again({NONCURRENT: 110}, {NONCURRENT: 110, WHOLE: 250}), 250),
    "an amendment lacks the total": (again({NONCURRENT: 4, WHOLE: 46}, {NONCURRENT: 4}, form="10-K/A"), 46),
    "an amendment states another total": (again({NONCURRENT: 4, WHOLE: 46}, {WHOLE: 40}, form="10-K/A"), 40),
}


OF_BANK = {"Deposits": 411.785, OTHER: 3.86, LIABILITIES: 489.893, ASSETS: 557.155}
LEFT: dict[str, tuple[Lines, float | None]] = {
    "other lines leave more than half of a bank's advances": (
        {**OF_BANK, "AdvancesFromFederalHomeLoanBanks": 44.877, "OffBalanceSheetCreditLossLiability": 413},
        None,
    ),
    "federal funds that repeat the advances are no line beside them": (
        {**OF_BANK, "AdvancesFromFederalHomeLoanBanks": 44.877, "FederalFundsPurchased": 44.877},
        None,
    ),
    "other lines leave a third of a bank's advances": ({**OF_BANK, "AdvancesFromFederalHomeLoanBanks": 56}, None),
    "other lines leave little of a bank's advances": ({**OF_BANK, "AdvancesFromFederalHomeLoanBanks": 68}, 68),
}
"""What the known lines leave of the liabilities, and the debt that is served."""


NEW_LINE = [
    *since_quarter(
        {NONCURRENT: 50, CURRENT_LIABILITIES: 72, ASSETS: 420},
        {NONCURRENT: 51, MATURITIES: 1, CURRENT_LIABILITIES: 137, ASSETS: 487},
    ),
    *sheet(
        {NONCURRENT: 51, MATURITIES: 1, "CommercialPaper": 63, CURRENT_LIABILITIES: 137, ASSETS: 487},
        filed="2025-02-20",
    ),
]
FELL_DUE: dict[str, tuple[list[int], list[int], list[int | None]]] = {
    "new notes are issued before the old ones are paid": (
        [400, 300, 420, 421, 422, 423],
        [700, 810, 805, 815, 712, 715],
        [400, None, None, None, 422, 423],
    ),
    "it is paid within a year": (
        [400, 300, 301, 302, 303, 304],
        [700, 810, 805, 815, 820, 822],
        [400, None, None, None, None, 304],
    ),
    "the current liabilities fall by another amount": (
        [400, 300, 292, 283, 277, 268],
        [700, 810, 640, 650, 660, 670],
        [400, None, None, None, None, 268],
    ),
    "installments are paid after maturities left it": (
        [602, 501, 489, 476, 464, 451],
        [700, 810, 705, 704, 703, 702],
        [602, None, None, None, None, None],
    ),
    "installments are paid, but no maturities left it": (
        [602, 589, 577, 564, 552, 539],
        [700, 705, 704, 703, 702, 701],
        [602, 589, 577, 564, 552, 539],
    ),
}
"""Long-term debt and current liabilities at six quarter ends, and the debt that is served."""
NONCURRENT_FELL_DUE: dict[str, tuple[list[int], list[int], list[int | None]]] = {
    "a twentieth of non-current debt is paid after a year": (
        [400, 380, 381, 382, 383, 384],
        [300, 320, 322, 321, 300, 302],
        [400, None, None, None, 383, 384],
    ),
    "the current liabilities rise by three times as much": (
        [400, 360, 361, 362, 363, 364],
        [300, 420, 425, 421, 422, 423],
        [400, None, None, None, None, 364],
    ),
    "they rise by seven tenths of it": (
        [400, 300, 301, 302, 303, 304],
        [300, 372, 373, 371, 372, 373],
        [400, None, None, None, None, 304],
    ),
    "they rise by five times as much": (
        [400, 360, 361, 362, 363, 364],
        [300, 500, 505, 501, 502, 503],
        [400, 360, 361, 362, 363, 364],
    ),
    "half of what fell due at two quarter ends is paid": (
        [400, 340, 278, 279, 280, 281],
        [300, 370, 440, 380, 382, 383],
        [400, None, None, None, None, None],
    ),
    "all of it falls due": (
        [400, 0, 0, 0, 0, 250],
        [3000, 4600, 4700, 3800, 3700, 3700],
        [400, None, None, None, None, 250],
    ),
    "it falls due again after it was paid": (
        [400, 360, 361, 320, 321, 322],
        [300, 340, 300, 341, 300, 301],
        [400, None, 361, None, None, None],
    ),
    "new notes replace what fell due again": (
        [400, 360, 361, 320, 361, 362],
        [300, 340, 300, 341, 300, 301],
        [400, None, 361, None, 361, 362],
    ),
    "equal installments are paid": (
        [400, 390, 380, 361, 362, 363],
        [300, 301, 302, 303, 304, 305],
        [None, None, None, None, None, None],
    ),
    "new notes may replace the installments": (
        [400, 390, 380, 381, 400, 390],
        [300, 301, 302, 303, 304, 305],
        [None, None, None, None, 400, 390],
    ),
    "what is left after the installments falls due, and is paid": (
        [400, 390, 380, 100, 101, 102],
        [300, 301, 302, 582, 303, 304],
        [None, None, None, None, 101, 102],
    ),
    "installments are paid after it fell due": (
        [400, 300, 290, 280, 270, 260],
        [300, 400, 301, 302, 303, 304],
        [400, None, None, None, None, None],
    ),
    "equal installments of little": (
        [1000, 999, 998, 997, 996, 995],
        [300, 301, 302, 303, 304, 305],
        [1000, 999, 998, 997, 996, 995],
    ),
    "little of the current liabilities": (
        [400, 380, 381, 382, 383, 384],
        [1500, 1520, 1522, 1521, 1500, 1502],
        [400, 380, 381, 382, 383, 384],
    ),
}
"""The same for non-current debt alone."""
YEAR_ENDS_FELL_DUE: dict[str, tuple[int, int, int | None]] = {
    "notes fell due since the year end before": (499, 584, None),
    "notes fell due, and the current liabilities rose by twice as much": (499, 998, 499),
    "a twentieth fell due since the year end before": (50, 50, 948),
}
"""What non-current debt of 998 fell by within a year, what the current liabilities rose by, and the debt served."""
NONCURRENT_FELL_DUE_BEFORE = beside_year_end(
    {NONCURRENT: 400, CURRENT_LIABILITIES: 700, ASSETS: 2000},
    {NONCURRENT: 370, CURRENT_LIABILITIES: 705, ASSETS: 2010},
    {NONCURRENT: 376, CURRENT_LIABILITIES: 706, ASSETS: 2015},
    {NONCURRENT: 371, CURRENT_LIABILITIES: 729, ASSETS: 2020},
)


INTEREST: dict[str, tuple[list[Row], float | None]] = {
    "the subordinated debt is a line": (with_interest({**BANK_WITH_ADVANCES, "SubordinatedDebt": 20}), 520),
    "long-term debt may include the subordinated debt": (
        with_interest({"LongTermDebt": 500, DEPOSITS: 800, OTHER: 25, LIABILITIES: 1345, ASSETS: 1500}),
        500,
    ),
    "the subordinated debt was repaid in the year": (with_interest({**BANK_WITH_ADVANCES, LIABILITIES: 1327.4}), 500),
    "the next report repeats the balance sheet without the interest": (
        joined(with_interest(BANK_WITH_ADVANCES), sheet(BANK_WITH_ADVANCES, filed=NEXT_FILED)),
        None,
    ),
}
"""Interest on subordinated debt of a bank that owes advances of 500, and the debt that is served."""

HAVE_ROOM: dict[str, tuple[list[Row], float]] = {
    "the related parties were paid back": (with_related_parties(IN_DEBT_TO_OTHERS, proceeds=3, repayments=4), 18),
    "what the related parties lent exceeds the room": (with_related_parties(IN_DEBT_TO_OTHERS, proceeds=40), 18),
    "the related parties have a line": (
        with_related_parties({**IN_DEBT_TO_OTHERS, "DueToRelatedPartiesCurrent": 3}, proceeds=3),
        18,
    ),
    "the other lines have room for the total": (sheet({**TOTAL_ALONE, LIABILITIES: 206}), 123),
    "the line of pensions includes other benefits": (
        sheet({**TOTAL_ALONE, PENSIONS_AND_OTHER: 7, LIABILITIES: 202}),
        123,
    ),
    "the total is not alone": (sheet({**TOTAL_ALONE, NONCURRENT: 110}), 123),
    "the balance sheet has no current part": (
        sheet({line: amount for line, amount in TOTAL_ALONE.items() if line != CURRENT_LIABILITIES}),
        123,
    ),
}
"""Balance sheets on which nothing shows that a debt is missing or too large, and the debt that is served."""


def _annual_only(fell: int, rose: int) -> list[Row]:
    """Annual reports on 2023 and 2024 with non-current debt, and quarterly reports between them without it."""
    year_end = {CURRENT_LIABILITIES: 1221 + rose, ASSETS: 5100}
    interim = [
        fact(tag, amount * 1e6, None, end, form="10-Q", filed=filed)
        for filed, sheets in {
            "2023-11-10": {"2023-09-30": {CURRENT_LIABILITIES: 1300, ASSETS: 5050}},
            "2024-05-10": {END: year_end, "2024-03-31": {CURRENT_LIABILITIES: 1300, ASSETS: 5050}},
        }.items()
        for end, lines in sheets.items()
        for tag, amount in lines.items()
    ]
    debt = {NONCURRENT: 998 - fell, **year_end}
    newest = [fact(tag, amount * 1e6, None, "2024-12-31", filed=NEXT_FILED) for tag, amount in debt.items()]
    before = {NONCURRENT: 998, CURRENT_LIABILITIES: 1221, ASSETS: 5000}
    return [*interim, *after(before, debt), *sheet(debt, filed=NEXT_FILED), *newest]


def _documents() -> dict[str, list[Row]]:
    shapes = {**{rule: sheet(lines) for rule, lines in DEBT_AND_CASH.items()}, **HISTORIES}
    return {
        **{name: sheet(lines) for name, (lines, _) in DEBT.items()},
        **{name: after(before, lines) for name, (_, before, lines, _) in FOLLOWED.items()},
        **{rule: shapes[rule] for rule in (*WITHHELD, *WITHDRAWN)},
        **{name: rows for name, (rows, _) in RESTATED.items()},
        **{name: sheet(lines) for name, (lines, _) in LEFT.items()},
        **{name: next_year(*cash) for name, cash in NEXT_YEARS.items()},
        **{name: six_quarters(*lines) for name, (*lines, _) in FELL_DUE.items()},
        **{name: six_quarters(*lines, NONCURRENT) for name, (*lines, _) in NONCURRENT_FELL_DUE.items()},
        **{name: _annual_only(fell, rose) for name, (fell, rose, _) in YEAR_ENDS_FELL_DUE.items()},
        "non-current debt fell due before": NONCURRENT_FELL_DUE_BEFORE,
        "installments for a year": six_quarters([400, 390, 380, 380, 381, 382, 383], [300] * 7, NONCURRENT),
        "installments beside a year end": six_quarters(
            [420, 412, 398, 386, 374, 340], [300] * 6, NONCURRENT, year_end=4
        ),
        "installments since before the year end": six_quarters(
            [440, 425, 413, 402, 390, 378], [300] * 6, NONCURRENT, year_end=4
        ),
        **{
            f"{line} after a total below its part": since_quarter(
                {WHOLE: 302, NONCURRENT: 335, ASSETS: 2000}, {line: 340}
            )
            for line in (NONCURRENT, WHOLE)
        },
        "new line": NEW_LINE,
        **{name: rows for name, (rows, _) in {**INTEREST, **HAVE_ROOM}.items()},
        **{
            name: between({CASH: 100, ASSETS: 900}, *({CASH: 100, SECURITIES: each, ASSETS: 900} for each in around))
            for name, (*around, _) in SECURITIES_AROUND.items()
        },
        "financial company with liabilities": [
            *HISTORIES["debt.withheld.financial-company-without-short-term-debt"],
            fact(LIABILITIES, 160e6, None, END, filed=FIRST_FILED),
        ],
        "securities": SECURITIES_LEFT_OUT,
        "bank": BANK_WITHOUT_ADVANCES,
    }


COMPANY = {name: str(int(CIK) + 1000 + number).zfill(10) for number, name in enumerate(_documents())}


@pytest.fixture(scope="module")
def found() -> Today:
    """All documents, standardized together: one company each."""
    return standardized(raw(*(of_company(rows, COMPANY[name]) for name, rows in _documents().items())))


def _value(found: Today, name: str, item: str) -> float | None:
    value = value_of(found, item, "annual", END, COMPANY[name])
    return None if value is None else value / 1e6


@pytest.mark.parametrize("name", DEBT)
def test_debt_has_every_line_once(found, name):
    """The lines that are debt by the totals of the balance sheet, and no line that another contains."""
    assert _value(found, name, "total_debt") == pytest.approx(DEBT[name][1])


@pytest.mark.parametrize("name", FOLLOWED)
def test_balances_that_totals_follow_are_served(found, name):
    """No value is withheld where the totals agree, or where nothing contradicts it."""
    item, _, _, value = FOLLOWED[name]

    assert _value(found, name, item) == pytest.approx(value)


@pytest.mark.parametrize("rule", WITHHELD)
def test_contradicted_balances_are_withheld(found, rule):
    """The gap names the rule and the reason."""
    item, reason = WITHHELD[rule]
    gap = row_of(found.gaps, item, "annual", END, COMPANY[rule])

    assert _value(found, rule, item) is None
    assert (gap["rule"], gap["reason"]) == (rule, reason)


@pytest.mark.parametrize("name", INTEREST)
def test_interest_on_subordinated_debt_shows_a_line_that_is_missing(found, name):
    """The other lines are no subordinated debt, and the liabilities have room for it."""
    value = INTEREST[name][1]

    assert _value(found, name, "total_debt") == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize("name", HAVE_ROOM)
def test_debt_that_the_liabilities_have_room_for_is_served(found, name):
    assert _value(found, name, "total_debt") == pytest.approx(HAVE_ROOM[name][1])


def test_long_term_debt_of_a_financial_company_that_states_liabilities_is_served(found):
    assert _value(found, "financial company with liabilities", "total_debt") == 60


@pytest.mark.parametrize("name", [*FELL_DUE, *NONCURRENT_FELL_DUE])
def test_maturities_are_missed_until_they_are_paid(found, name):
    """The current liabilities fall by about as much, or a year has passed; new notes do not show it."""
    values = [value_of(found, "total_debt", "ttm", end, COMPANY[name]) for end in SIX_ENDS]

    assert [None if value is None else value / 1e6 for value in values] == {**FELL_DUE, **NONCURRENT_FELL_DUE}[name][2]


@pytest.mark.parametrize("end", ["2023-03-31", "2023-06-30"])
def test_maturities_that_left_non_current_debt_are_seen_in_the_next_reports(found, end):
    gap = row_of(found.gaps, "total_debt", "ttm", end, COMPANY["non-current debt fell due before"])

    assert gap["rule"] == "debt.withdrawn.maturities-left-long-term-debt"


def test_what_fell_due_at_a_year_end_is_missed_for_one_year():
    """Synopsys 2021: the later quarters of the year show again, beside the year end, that non-current debt fell."""
    debt, due = [400, 401, 402, 403, 303, 298, 294, 288, 283], [300, 301, 302, 303, 403, 404, 405, 406, 407]
    found = standardized(raw(six_quarters(debt, due, NONCURRENT, year_end=4)))

    assert value_of(found, "total_debt", "ttm", "2023-12-31") is None
    assert value_of(found, "total_debt", "ttm", "2024-03-31") == 283e6


def test_installments_are_missed_for_a_year_after_the_last_one(found):
    """Current debt is due within a year, so that nothing of it is left then."""
    company = COMPANY["installments for a year"]
    values = [value_of(found, "total_debt", "ttm", end, company) for end in month_ends(2022, 7)]

    assert values == [*[None] * 6, 383e6]


def test_installments_are_missed_at_the_year_end_that_the_next_report_repeats(found):
    """Intuit 2019: the report that shows them states the year end again, which is withdrawn all the same."""
    gap = row_of(found.gaps, "total_debt", "annual", "2022-12-31", COMPANY["installments beside a year end"])

    assert gap["rule"] == "debt.withdrawn.installments-without-line"


def test_installments_are_missed_as_far_back_as_the_debt_fell_in_each_quarter(found):
    """Synopsys 2017: what it fell by had become current; the year end is repeated by the report that shows them."""
    company = COMPANY["installments since before the year end"]

    assert [value_of(found, "total_debt", "ttm", end, company) for end in SIX_ENDS] == [None] * 6


@pytest.mark.parametrize("name", YEAR_ENDS_FELL_DUE)
def test_maturities_are_seen_where_only_annual_reports_state_non_current_debt(found, name):
    """The current liabilities rose by about as much within the year; if they rose by more, other lines may have.

    The next annual report states the balance sheet again, and says no more about current debt than the first one.
    """
    assert _value(found, name, "total_debt") == YEAR_ENDS_FELL_DUE[name][2]


@pytest.mark.parametrize("rule", WITHDRAWN)
def test_values_that_a_later_filing_disproves_are_withdrawn(found, rule):
    """The value stays what was known until then; the later filing leads to a version without a value."""
    item, end, value, reason = WITHDRAWN[rule]
    versions = found.found.versions.filter(cik=COMPANY[rule], item=item, period_end=day(end)).sort("filed")
    gap = row_of(found.gaps, item, "ttm", end, COMPANY[rule])

    assert versions["value"].to_list() == [pytest.approx(value * 1e6), None]
    assert versions["rule"][-1] == rule
    assert (gap["rule"], gap["reason"]) == (rule, reason)


@pytest.mark.parametrize("name", SECURITIES_AROUND)
def test_a_line_between_two_year_ends_is_their_average(found, name):
    """Cash is withdrawn if they are on average 2 % of it; what is zero at one year end may have been zero before."""
    value = value_of(found, "cash_and_equivalents", "ttm", "2023-06-30", COMPANY[name])
    expected = SECURITIES_AROUND[name][-1]

    assert value == (expected if expected is None else expected * 1e6)


@pytest.mark.parametrize("name", NEXT_YEARS)
def test_cash_that_the_next_filing_states_otherwise_stays(found, name):
    """More digits or fewer units differ where the balance was restated or rounded."""
    assert _value(found, name, "cash_and_equivalents") == pytest.approx(NEXT_YEARS[name][0])


@pytest.mark.parametrize("name", RESTATED)
def test_lines_are_not_lost_by_later_filings(found, name):
    """A later total replaces a part; a filing that lacks the total, or a contradicted line, does not replace it."""
    item = "cash_and_equivalents" if "cash" in name else "total_debt"
    value = RESTATED[name][1]

    assert _value(found, name, item) == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize("name", LEFT)
def test_debt_that_leaves_too_much_of_the_liabilities_is_withheld(found, name):
    """A line without an element would be debt, too."""
    value = LEFT[name][1]

    assert _value(found, name, "total_debt") == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize("line", [NONCURRENT, WHOLE])
def test_one_of_two_lines_that_contradict_each_other_is_no_debt(found, line):
    """Long-term debt was less than its non-current part, so that one of them is something else."""
    assert _value(found, f"{line} after a total below its part", "total_debt") is None


def test_a_line_that_the_current_liabilities_show_to_be_new_was_not_hidden(found):
    """They rose by the commercial paper in the fourth quarter."""
    assert _value(found, "new line", "total_debt") == 115
    assert value_of(found, "total_debt", "ttm", "2023-09-30", COMPANY["new line"]) == 50e6


def test_securities_that_a_filing_leaves_out_are_missed(found):
    """Cash fell by the securities, and no total shows that they were sold."""
    assert _value(found, "securities", "cash_and_equivalents") is None


def test_debt_that_the_liabilities_prove_to_be_zero_is_zero(found):
    """The advances are missing, and the other lines add up to the liabilities."""
    assert _value(found, "bank", "total_debt") == 0


PROVED = {
    "the liabilities fell with the debt": ("debt.withheld.liabilities-did-not-move", "holds", -100, -105),
    "cash and the cash of the flows": ("cash.withheld.exceeds-cash-of-flows", "holds", 60, 66),
    "cash paid for goods": ("cash.withheld.current-assets-did-not-move", "holds", -40, -40),
    "notes to related parties are beside it": ("debt.total-contradicts-parts", "holds", 1078, 1078),
    "bank": ("debt.zero.liabilities-without-debt", "chose", 0, 0),
    "debt.withheld.exceeds-liabilities": ("debt.withheld.exceeds-liabilities", "withheld", 70, 50),
}


@pytest.mark.parametrize("name", PROVED)
def test_proofs_name_the_identities_that_were_compared(found, name):
    """With their outcome and both sides."""
    rule, outcome, left, right = PROVED[name]
    proof = found.found.proofs.filter(cik=COMPANY[name], rule=rule).sort("period_end").row(-1, named=True)

    assert proof["outcome"] == outcome
    assert proof["left_side"] == pytest.approx(left * 1e6)
    assert proof["right_side"] == (right if right is None else pytest.approx(right * 1e6))
