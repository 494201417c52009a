"""The table of lines follows the trees of borrowings of both taxonomies; each listed element is debt, or contradicts
zero.
"""

import csv
import re
from collections import defaultdict

import pytest

from pipelines.normalize.elements.lines import (
    BORROWING,
    CURRENT_LIABILITIES,
    IFRS_PREFIX,
    LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
)
from tests.conftest import SHARED
from tests.factories import ASSETS, NET_INCOME, REVENUE, Row, fact, value_of
from tests.together import in_one_call

PARTS = SHARED / "taxonomy" / "us-gaap-parts.csv"
TREES = {
    CURRENT_LIABILITIES: ("DebtCurrent",),
    NONCURRENT_LIABILITIES: ("LongTermDebtNoncurrent", "LongTermDebtAndCapitalLeaseObligations"),
    LIABILITIES: ("LongTermDebt", "ShortTermBorrowings", "OtherBorrowings", "DebtAndCapitalLeaseObligations"),
}
"""The totals of borrowings of the US GAAP taxonomy by section."""
NO_BORROWING = re.compile(
    r"Unamortized|DeferredFinanceCosts|AccumulatedAmortization|Maturi(ties|ng)|RepaymentsOfPrincipal"
)
"""Deductions from borrowings, and payments of future years, which are not amounts of the balance sheet."""
OTHER_CLASSES = {"finance lease", "repo", "payable"}
"""Parts of the trees that are never debt, or only on a line of debt."""


def parts_of(totals: tuple[str, ...]) -> set[str]:
    """All elements below some totals in the calculations of the taxonomies."""
    direct: dict[str, set[str]] = defaultdict(set)
    for row in csv.DictReader(PARTS.read_text().splitlines()):
        direct[row["total"]].add(row["part"])
    found: set[str] = set()
    pending = [*totals]
    while pending:
        new = direct[pending.pop()] - found
        found |= new
        pending += new
    return found


@pytest.mark.skipif(not PARTS.exists(), reason="the parts of the taxonomy are missing: ../shared/taxonomy")
@pytest.mark.parametrize("section", TREES)
def test_the_table_has_all_borrowings_of_the_us_gaap_taxonomy(section):
    parts = parts_of(TREES[section])
    known = {element for element in parts if element in LINES[section]}

    assert len(known) > 15
    assert {element for element in parts - known if not NO_BORROWING.search(element)} == set()
    assert {LINES[section][element].kind for element in known} - OTHER_CLASSES == {BORROWING}


DUE = "CurrentBorrowingsAndCurrentPortionOfNoncurrentBorrowings"
LOANS_DUE = "CurrentLoansReceivedAndCurrentPortionOfNoncurrentLoansReceived"
SECURED_DUE, UNSECURED_DUE = (
    f"Current{kind}BankLoansReceivedAndCurrentPortionOfNoncurrent{kind}BankLoansReceived"
    for kind in ("Secured", "Unsecured")
)
IFRS_TREES = {
    CURRENT_LIABILITIES: {
        DUE: (
            "ShorttermBorrowings",
            "CurrentPortionOfLongtermBorrowings",
            LOANS_DUE,
            "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",
            "CurrentNotesAndDebenturesIssuedAndCurrentPortionOfNoncurrentNotesAndDebenturesIssued",
            "CurrentCommercialPapersIssuedAndCurrentPortionOfNoncurrentCommercialPapersIssued",
            "OtherCurrentBorrowingsAndCurrentPortionOfOtherNoncurrentBorrowings",
            "CurrentDebtInstrumentsIssued",
        ),
        LOANS_DUE: (SECURED_DUE, UNSECURED_DUE),
    },
    NONCURRENT_LIABILITIES: {
        "LongtermBorrowings": (
            "NoncurrentPortionOfNoncurrentLoansReceived",
            "NoncurrentPortionOfNoncurrentBondsIssued",
            "NoncurrentPortionOfNoncurrentNotesAndDebenturesIssued",
            "NoncurrentPortionOfNoncurrentCommercialPapersIssued",
            "NoncurrentPortionOfOtherNoncurrentBorrowings",
            "NoncurrentDebtInstrumentsIssued",
            "SubordinatedLiabilities",
        ),
        "NoncurrentPortionOfNoncurrentLoansReceived": (
            "NoncurrentPortionOfNoncurrentSecuredBankLoansReceived",
            "NoncurrentPortionOfNoncurrentUnsecuredBankLoansReceived",
        ),
    },
    LIABILITIES: {
        "Borrowings": ("LoansReceived", "CommercialPapersIssued", "OtherBorrowings", DUE, "LongtermBorrowings"),
        "LoansReceived": ("SecuredBankLoansReceived", "UnsecuredBankLoansReceived", "LoansPayableInDefault"),
        "DebtSecurities": (
            *("NotesAndDebenturesIssued", "BondsIssued", "CommercialPapersIssued"),
            *("CurrentDebtInstrumentsIssued", "NoncurrentDebtInstrumentsIssued"),
            "DebtInstrumentsIssuedAtAmortisedCost",
        ),
        "SubordinatedLiabilities": ("DatedSubordinatedLiabilities", "UndatedSubordinatedLiabilities"),
    },
}
"""The borrowings of the IFRS taxonomy by section and total (800100: borrowings by type, debt instruments issued)."""


@pytest.mark.parametrize("section", IFRS_TREES)
def test_the_table_has_all_borrowings_of_the_ifrs_taxonomy(section):
    table = LINES[section]
    pairs = [
        (IFRS_PREFIX + total, IFRS_PREFIX + part) for total, parts in IFRS_TREES[section].items() for part in parts
    ]

    assert {element for pair in pairs for element in pair if element not in table} == set()
    assert {table[element].kind for pair in pairs for element in pair} == {BORROWING}
    assert [(total, part) for total, part in pairs if total not in table[part].part_of] == []


END, MILLION = "2023-12-31", 1e6
BANK = {"Deposits": 850.123, "OtherLiabilities": 30.456}
BY_BRANCH = "FederalHomeLoanBankAdvancesBranchOfFHLBBankAmountOfAdvancesByBranch"
ADVANCES, NON_RECOURSE, INVESTED = (
    "AdvancesFromFederalHomeLoanBanks",
    "NonRecourseDebt",
    "BorrowingsUnderGuaranteedInvestmentAgreements",
)
US_GAAP = {
    "advances by branch alone": ({**BANK, "SubordinatedDebt": 20.5, BY_BRANCH: 45.25, "Liabilities": 951.402}, 65.75),
    "advances by branch are part of all": ({**BANK, ADVANCES: 60, BY_BRANCH: 45.25, "Liabilities": 951.402}, 60),
    "advances by branch, current and non-current": (
        {
            **{**BANK, "FederalHomeLoanBankAdvancesShortTerm": 15, "FederalHomeLoanBankAdvancesLongTerm": 30.25},
            **{BY_BRANCH: 45.25, "Liabilities": 931.402},
        },
        45.25,
    ),
    "advances under the element without an adjective": (
        {**BANK, "FederalHomeLoanBankAdvances": 33.5, "SubordinatedDebt": 20.5, "Liabilities": 939.402},
        54,
    ),
    "non-recourse debt beside unsecured debt": (
        {"AccountsPayableCurrentAndNoncurrent": 41, NON_RECOURSE: 310, "UnsecuredDebt": 205, "Liabilities": 570},
        515,
    ),
    "non-recourse debt is part of secured debt": (
        {"AccountsPayableCurrentAndNoncurrent": 41, NON_RECOURSE: 310, "SecuredDebt": 405, "Liabilities": 470},
        405,
    ),
    "guaranteed investment agreements beside senior notes": (
        {"PolicyholderFunds": 700, INVESTED: 120, "SeniorNotes": 80, "Liabilities": 930},
        200,
    ),
    "a warehouse facility that is a current line": (
        {
            **{"AccountsPayableCurrent": 120.4, "WarehouseAgreementBorrowings": 310.2, "ShortTermBorrowings": 55.1},
            **{"LiabilitiesCurrent": 500, "LongTermDebtNoncurrent": 90, "Liabilities": 600},
        },
        455.3,
    ),
}
IFRS = {
    "debt instruments beside subordinated liabilities": (
        {
            **{"DepositsFromCustomers": 644, "Borrowings": 47, "DebtSecurities": 258, "SubordinatedLiabilities": 57},
            **{"NotesAndDebenturesIssued": 245, "BondsIssued": 4.5, "Liabilities": 1020},
        },
        362,
    ),
    "debt instruments, and the same by maturity": (
        {
            **{"DepositsFromCustomers": 644, "DebtSecurities": 110.5, "NotesAndDebenturesIssued": 110.5},
            **{"CurrentDebtInstrumentsIssued": 21.8, "NoncurrentDebtInstrumentsIssued": 88.7, "Liabilities": 770},
        },
        110.5,
    ),
    "secured and unsecured bank loans by term": (
        {
            **{SECURED_DUE: 12.5, UNSECURED_DUE: 7.25, "TradeAndOtherCurrentPayables": 30, "CurrentLiabilities": 55},
            **{"NoncurrentPortionOfNoncurrentSecuredBankLoansReceived": 61, "NoncurrentProvisions": 4},
            **{"NoncurrentPortionOfNoncurrentUnsecuredBankLoansReceived": 19, "NoncurrentLiabilities": 90},
        },
        99.75,
    ),
    "commercial papers beside bonds": (
        {
            **{"CurrentCommercialPapersIssuedAndCurrentPortionOfNoncurrentCommercialPapersIssued": 35.2},
            **{"CurrentPortionOfLongtermBorrowings": 20.9, "CurrentLiabilities": 70},
            **{"NoncurrentPortionOfNoncurrentBondsIssued": 64.3, "NoncurrentLiabilities": 70},
        },
        120.4,
    ),
}


def report(lines: dict[str, float], taxonomy: str = "us-gaap") -> list[Row]:
    """A report on 2023 with a balance sheet in millions."""
    form = "10-K" if taxonomy == "us-gaap" else "20-F"
    flows = {REVENUE: 100.0, NET_INCOME: 10.0} if taxonomy == "us-gaap" else {"Revenue": 100.0, "ProfitLoss": 10.0}
    return [
        *(fact(tag, each * MILLION, "2023-01-01", END, form=form, taxonomy=taxonomy) for tag, each in flows.items()),
        *(
            fact(tag, round(each * MILLION), None, END, form=form, taxonomy=taxonomy)
            for tag, each in {ASSETS: 2000.0, **lines}.items()
        ),
    ]


ADDS_UP = {**BANK, "Liabilities": 880.579}
BEFORE = {"Deposits": 811.777, "OtherLiabilities": 27.999, "Liabilities": 839.776, ASSETS: 1900}
"""A bank with lines that leave nothing of its liabilities, on two days."""
BESIDE_ZERO = {
    "nothing": ({}, 0),
    "advances of the notes": ({BY_BRANCH: 20.25}, None),
    "advances of the notes, above other liabilities": ({BY_BRANCH: 55.5}, None),
    "the balance of a credit line in the notes": ({"LineOfCreditFacilityAmountOutstanding": 5.125}, None),
    "notes above all lines": ({"DebtInstrumentPrincipalOutstanding": 900}, 0),
    "what the bank may draw": ({"LineOfCredit": 150}, 0),
    "advances that are stated as zero": ({BY_BRANCH: 0}, 0),
}


OTHERS = {
    **{"AccountsPayableCurrent": 119.6, "OtherLiabilitiesCurrent": 30.9, "LiabilitiesCurrent": 695.5},
    **{"DeferredIncomeTaxLiabilitiesNet": 4.9, "OtherLiabilitiesNoncurrent": 39.5},
}
"""Lines that leave a part of the current liabilities that no element states, also without the total of debt."""
ALL_DEBT, WAREHOUSE, SHORT, SENIOR = (
    "DebtLongtermAndShorttermCombinedAmount",
    "WarehouseAgreementBorrowings",
    "ShortTermBorrowings",
    "SeniorLongTermNotes",
)
TOTALS = {
    "the total has what the lines leave": ({ALL_DEBT: 151.3, "Liabilities": 838.2}, 251.9),
    "what the lines leave is another amount": ({ALL_DEBT: 151.3, "Liabilities": 842.4}, 234.2),
    "the total has all lines": ({ALL_DEBT: 251.9, "Liabilities": 838.2}, 251.9),
}


OF_2022 = [fact(tag, round(each * MILLION), None, "2022-12-31") for tag, each in BEFORE.items()]
CASES = {
    **{name: (report(lines), debt) for name, (lines, debt) in US_GAAP.items()},
    **{name: (report(lines, "ifrs-full"), debt) for name, (lines, debt) in IFRS.items()},
    # the lines of a bank add up to its liabilities; the borrowing of the notes may be inside one of them
    **{
        f"beside a proved zero: {name}": (OF_2022 + report({**ADDS_UP, **notes}), debt)
        for name, (notes, debt) in BESIDE_ZERO.items()
    },
    # the total is the other lines, and a line of the filer's own that the lines leave of the liabilities
    **{
        name: (report({**OTHERS, WAREHOUSE: 100.6, SHORT: 53.0, SENIOR: 80.6, **totals}), debt)
        for name, (totals, debt) in TOTALS.items()
    },
}


@pytest.mark.parametrize(("rows", "debt"), CASES.values(), ids=CASES)
@in_one_call
def test_an_element_of_the_trees_is_debt_once(rows, debt):
    found = yield rows

    assert value_of(found, "total_debt", "annual", END) == (None if debt is None else pytest.approx(debt * MILLION))
