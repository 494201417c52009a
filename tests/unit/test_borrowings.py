"""Debt by instrument: total liabilities prove which lines are debt, or that there is no debt."""

import pytest

from tests.factories import CASH, NET_INCOME, REVENUE, Row, fact, row_of, value_of
from tests.together import in_one_call

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


def report(lines: dict[str, float]) -> list[Row]:
    """A report on 2023 with some lines of its balance sheet, in millions."""
    return [
        *(fact(tag, 100e6, "2023-01-01", "2023-12-31") for tag in (REVENUE, NET_INCOME)),
        fact(CASH, 5e6, None, "2023-12-31"),
        *(fact(tag, amount * 1e6, None, "2023-12-31") for tag, amount in lines.items()),
    ]


CASES = PROVEN | {name: (lines, None) for name, lines in UNPROVEN.items()} | WITHOUT_LIABILITIES


@pytest.mark.parametrize(("lines", "debt"), CASES.values(), ids=CASES)
@in_one_call
def test_the_debt_of_a_balance_sheet(lines, debt):
    """Lines that add up to the liabilities are the debt; if the liabilities leave nothing for debt, zero is proved.

    Debt that is not proved has no value: neither zero, nor an amount that is surely only a part. Without proof no
    amount counts twice.
    """
    found = yield report(lines)

    assert value_of(found, "total_debt", "annual", "2023-12-31") == (
        None if debt is None else pytest.approx(debt * 1e6)
    )


@in_one_call
def test_long_term_debt_and_further_lines_do_not_contradict():
    """It is a part of the debt that the liabilities prove, and not its total."""
    found = yield report(PROVEN["long-term debt is beside advances"][0])

    assert row_of(found.values, "total_debt", "annual", "2023-12-31")["flags"] == ""


@in_one_call
def test_proved_zero_has_the_lines_that_prove_it():
    """The liabilities, less each line that leaves nothing of them."""
    found = yield report(PROVEN["a bank without debt"][0])

    legs = found.lineage.filter(item="total_debt", period_kind="annual").sort("tag").select("tag", "weight", "value")
    assert legs.rows() == [
        ("us-gaap:Deposits", -1.0, 850e6),
        ("us-gaap:Liabilities", 1.0, 880e6),
        ("us-gaap:OtherLiabilities", -1.0, 30e6),
    ]
