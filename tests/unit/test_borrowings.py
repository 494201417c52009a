"""Debt by instrument: total liabilities prove which lines are debt, or that there is no debt."""

from collections.abc import Callable

import pytest

from tests.factories import CASH, NET_INCOME, REVENUE, Row, Today, fact, raw, row_of, standardized, value_of

BANK = {"Deposits": 850, "OtherLiabilities": 30}
SOFTWARE = {
    "AccountsPayableCurrent": 20,
    "AccruedLiabilitiesCurrent": 60,
    "OperatingLeaseLiabilityCurrent": 5,
    "OperatingLeaseLiabilityNoncurrent": 25,
    "OtherLiabilitiesNoncurrent": 10,
}
"""Lines of a company that states no total of its current liabilities."""
ADVANCES, SUBORDINATED, JUNIOR = (
    "AdvancesFromFederalHomeLoanBanks",
    "SubordinatedDebt",
    "JuniorSubordinatedDebentureOwedToUnconsolidatedSubsidiaryTrust",
)
REPOS, LEASES = "SecuritiesSoldUnderAgreementsToRepurchase", "OperatingLeaseLiability"

PROVEN: dict[str, tuple[dict[str, float], float]] = {
    "every line is debt": ({**BANK, ADVANCES: 70, SUBORDINATED: 20, JUNIOR: 10, "Liabilities": 980}, 100),
    "one line is the total of others": ({**BANK, "OtherBorrowings": 90, ADVANCES: 70, "Liabilities": 970}, 90),
    "the same lines, side by side": ({**BANK, "OtherBorrowings": 90, ADVANCES: 70, "Liabilities": 1040}, 160),
    "long-term debt is the total": ({**BANK, "LongTermDebt": 64, ADVANCES: 14, "Liabilities": 944}, 64),
    "long-term debt is beside advances": (
        {**BANK, "LongTermDebt": 64, ADVANCES: 14.105, "Liabilities": 958.105},
        78.105,
    ),
    "a drawn credit line": ({**BANK, ADVANCES: 14, "LineOfCredit": 6, "Liabilities": 900}, 20),
    "the limit of a credit line": ({**BANK, ADVANCES: 14, "LineOfCredit": 420, "Liabilities": 894}, 14),
    "capital notes alone": ({**BANK, SUBORDINATED: 20, "Liabilities": 900}, 20),
    "repurchase agreements are beside it": ({**BANK, ADVANCES: 14, REPOS: 40, "Liabilities": 934}, 14),
    "a note of what a line holds": ({**BANK, ADVANCES: 14, LEASES: 5, "Liabilities": 894}, 14),
    "what a broker holds of customers is none": (
        {
            **BANK,
            "LongTermDebt": 64,
            ADVANCES: 14.105,
            "PayablesToCustomers": 300,
            "PayablesToBrokerDealersAndClearingOrganizations": 20,
            "Liabilities": 1278.105,
        },
        78.105,
    ),
    "an insurer's surplus notes, beside its notes": (
        {**BANK, "SurplusNotes": 20, "NotesPayable": 60, "JuniorSubordinatedLongTermNotes": 10, "Liabilities": 970},
        90,
    ),
    "a mortgage lender's warehouse": (
        {**BANK, "WarehouseAgreementBorrowings": 87, "SeniorNotes": 28, "Liabilities": 995},
        115,
    ),
    "advances of long term, and other notes": (
        {**BANK, "LongtermFederalHomeLoanBankAdvancesNoncurrent": 30, "OtherNotesPayable": 5, "Liabilities": 915},
        35,
    ),
    "every line is rounded": ({**BANK, ADVANCES: 70.001, SUBORDINATED: 20, "Liabilities": 970}, 90.001),
    "a bank without debt": ({**BANK, "Liabilities": 880}, 0),
    "a company without debt": ({**SOFTWARE, "Liabilities": 120}, 0),
    "what customers paid ahead is a line here": (
        {**SOFTWARE, "ContractWithCustomerLiabilityCurrent": 200, "Liabilities": 320},
        0,
    ),
    "what customers paid ahead, of any term": (
        {**SOFTWARE, "ContractWithCustomerLiability": 200, "Liabilities": 320},
        0,
    ),
    "what is owed for businesses and for settled claims": (
        {
            **SOFTWARE,
            "BusinessCombinationContingentConsiderationLiability": 18,
            "SettlementLiabilitiesCurrent": 61,
            "Liabilities": 199,
        },
        0,
    ),
    "liabilities are what is no equity": (
        {**SOFTWARE, "LiabilitiesAndStockholdersEquity": 300, "StockholdersEquity": 180},
        0,
    ),
    "an insurer's junior notes beside what it owes the insured": (
        {
            "LiabilityForFuturePolicyBenefits": 69.9,
            "LiabilityForClaimsAndClaimsAdjustmentExpense": 63.0,
            "UnearnedPremiums": 27.4,
            "OtherPolicyholderFunds": 2.1,
            "AccountsPayableAndAccruedLiabilitiesCurrentAndNoncurrent": 14.8,
            "JuniorSubordinatedNotes": 41.2,
            "Liabilities": 218.4,
        },
        41.2,
    ),
}

UNPROVEN: dict[str, dict[str, float]] = {
    "something is left": {"AccountsPayableCurrent": 20, "AccruedLiabilitiesCurrent": 60, "Liabilities": 150},
    "nothing but a total": {"Liabilities": 150},
    "capital notes, and more is left": {**BANK, SUBORDINATED: 20, "Liabilities": 1100},
    "the limit of a credit line, and more is left": {**BANK, "LineOfCredit": 420, "Liabilities": 1000},
    # lines above the liabilities that deposits and the like leave cannot all be debt
    "a sum must fit into the liabilities": {**BANK, "OtherBorrowings": 90, ADVANCES: 70, "Liabilities": 985},
    "nothing is left, but a line of debt is there": {**BANK, "LongTermDebt": 2000, "Liabilities": 880},
}


WITHOUT_LIABILITIES: dict[str, tuple[dict[str, float], float]] = {
    # the largest sum of lines that do not overlap
    "a total of lines that are stated too": ({"OtherBorrowings": 90, ADVANCES: 70, SUBORDINATED: 20}, 90),
    "a line beside others": ({"OtherBorrowings": 90, ADVANCES: 70, SUBORDINATED: 25}, 185),
    "long-term debt has advances and notes": (
        {"LongTermDebt": 90, ADVANCES: 70, SUBORDINATED: 20, "ShortTermBorrowings": 5},
        95,
    ),
    # instruments of different kinds do not overlap, unless notes are the sum of secured, unsecured and
    # lent by banks
    "mortgages, senior notes and bank loans": ({"SecuredDebt": 80, "SeniorNotes": 500, "LoansPayable": 60}, 640),
    "secured, unsecured and senior notes": ({"SecuredDebt": 80, "UnsecuredDebt": 40, "SeniorNotes": 500}, 620),
    "notes are the sum of the others": (
        {"NotesPayable": 180, "SecuredDebt": 80, "UnsecuredDebt": 40, "LoansPayable": 60},
        180,
    ),
}

COMPANIES = [
    *(lines for lines, _ in PROVEN.values()),
    *UNPROVEN.values(),
    *(lines for lines, _ in WITHOUT_LIABILITIES.values()),
]
"""The balance sheets of the cases above, in their order, one company each."""


def company(number: int) -> str:
    return f"{9_990_020_000 + number}"


def bank_or_company(number: int, lines: dict[str, float]) -> list[Row]:
    """A report on 2023 with some lines of its balance sheet, in millions."""
    cik = company(number)
    return [
        *(fact(tag, 100e6, "2023-01-01", "2023-12-31", cik=cik) for tag in (REVENUE, NET_INCOME)),
        fact(CASH, 5e6, None, "2023-12-31", cik=cik),
        *(fact(tag, amount * 1e6, None, "2023-12-31", cik=cik) for tag, amount in lines.items()),
    ]


@pytest.fixture(scope="module")
def served() -> Today:
    return standardized(raw(*(bank_or_company(number, lines) for number, lines in enumerate(COMPANIES))))


@pytest.fixture(scope="module")
def debt(served: Today) -> Callable[[dict[str, float]], float | None]:
    """The debt of a balance sheet, in millions."""

    def find(lines: dict[str, float]) -> float | None:
        found = value_of(served, "total_debt", "annual", "2023-12-31", company(COMPANIES.index(lines)))
        return None if found is None else found / 1e6

    return find


@pytest.mark.parametrize(("lines", "expected"), PROVEN.values(), ids=PROVEN)
def test_lines_that_add_up_to_the_liabilities_are_the_debt(debt, lines, expected):
    """If the liabilities leave nothing for debt, zero is proved."""
    assert debt(lines) == pytest.approx(expected)


@pytest.mark.parametrize("lines", UNPROVEN.values(), ids=UNPROVEN)
def test_debt_that_is_not_proved_has_no_value(debt, lines):
    """Neither zero, nor an amount that is surely only a part."""
    assert debt(lines) is None


@pytest.mark.parametrize(("lines", "expected"), WITHOUT_LIABILITIES.values(), ids=WITHOUT_LIABILITIES)
def test_without_proof_no_amount_counts_twice(debt, lines, expected):
    assert debt(lines) == expected


def test_long_term_debt_and_further_lines_do_not_contradict(served):
    """It is a part of the debt that the liabilities prove, and not its total."""
    cik = company(list(PROVEN).index("long-term debt is beside advances"))

    assert row_of(served.values, "total_debt", "annual", "2023-12-31", cik)["flags"] == ""


def test_proved_zero_has_the_lines_that_prove_it(served):
    """The liabilities, less each line that leaves nothing of them."""
    cik = company(list(PROVEN).index("a bank without debt"))

    legs = (
        served.lineage.filter(cik=cik, item="total_debt", period_kind="annual")
        .sort("tag")
        .select("tag", "weight", "value")
    )

    assert legs.rows() == [
        ("us-gaap:Deposits", -1.0, 850e6),
        ("us-gaap:Liabilities", 1.0, 880e6),
        ("us-gaap:OtherLiabilities", -1.0, 30e6),
    ]
