"""Statements of ordinary companies in small: how fictional filers tag capital expenditure, cash and debt.

Belongs here: one form of a statement per line, with the amount that a reader takes from it. Does not: special
industries (test_industries), how lines are chosen and added up (the unit tests).
"""

import polars as pl
import pytest

from tests.factories import CAPITAL_SPENDING, CASH, CASH_FLOW, NET_INCOME, Row, Today, fact, raw, value_of
from tests.together import in_one_call

YEAR = ("2024-01-01", "2024-12-31")
WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
Lines = dict[str, float]


def report(flows: Lines, balances: Lines) -> pl.DataFrame:
    """A year's report with a classified balance sheet, amounts in millions."""
    classified = {"LiabilitiesCurrent": 4 * max(balances.values(), default=0), **balances}
    rows: list[Row] = [fact(NET_INCOME, 1e6, *YEAR, filed="2025-02-20")]
    rows += [fact(tag, amount * 1e6, *YEAR, filed="2025-02-20") for tag, amount in flows.items()]
    rows += [fact(tag, amount * 1e6, None, YEAR[1], filed="2025-02-20") for tag, amount in classified.items()]
    return raw(rows)


def read(found: Today, item: str) -> float | None:
    """An item of the report, in millions."""
    value = value_of(found, item, "annual", YEAR[1])
    return None if value is None else value / 1e6


SPENT: dict[str, tuple[Lines, float]] = {
    "property, plant and equipment, and software on another line": (
        {CAPITAL_SPENDING: 300, "PaymentsToDevelopSoftware": 60},
        300,
    ),
    "property and intangible assets on one line": ({"PaymentsToAcquireProductiveAssets": 330}, 330),
    "a telephone company": (
        {"PaymentsToAcquireOtherProductiveAssets": 170, "PaymentsToAcquireIntangibleAssets": 9},
        170,
    ),
    "a maker of medicines": ({"PaymentsToAcquireOtherPropertyPlantAndEquipment": 78}, 78),
    "a chemical company that has gas wells": (
        {"PaymentsToAcquireMachineryAndEquipment": 248, "PaymentsToExploreAndDevelopOilAndGasProperties": 16},
        248,
    ),
    "a miner of bitcoin: machines that are more than its property are another line": (
        {CAPITAL_SPENDING: 194, "PaymentsToAcquireMachineryAndEquipment": 230},
        424,
    ),
    "machines that are a part of the property": (
        {CAPITAL_SPENDING: 600, "PaymentsToAcquireMachineryAndEquipment": 230},
        600,
    ),
    "a racecourse: what keeps its plant, and what adds to it": (
        {"PaymentsForCapitalImprovements": 70, "PaymentsToAcquireOtherPropertyPlantAndEquipment": 205},
        275,
    ),
    "a manager of funds: furniture": ({"PaymentsToAcquireFurnitureAndFixtures": 85}, 85),
    "machines and furniture": (
        {"PaymentsToAcquireMachineryAndEquipment": 10, "PaymentsToAcquireFurnitureAndFixtures": 3},
        13,
    ),
    "a lessor: what it leases, and its own machines": (
        {"PaymentsToAcquireEquipmentOnLease": 12, "PaymentsToAcquireMachineryAndEquipment": 5},
        17,
    ),
    "a holding company whose wells are more than its other property": (
        {"PaymentsToAcquireOilAndGasPropertyAndEquipment": 180, "PaymentsToAcquireOtherPropertyPlantAndEquipment": 20},
        200,
    ),
    "an airline: aircraft, and other property": (
        {"PaymentsForFlightEquipment": 817, "PaymentsToAcquireOtherPropertyPlantAndEquipment": 293},
        1110,
    ),
    "an airline: aircraft, and what is on the ground": (
        {"PaymentsForFlightEquipment": 224, "PaymentsToAcquireOtherProductiveAssets": 41},
        265,
    ),
    "an airline that states the total too": (
        {CAPITAL_SPENDING: 510, "PaymentsForFlightEquipment": 370, "PaymentsToAcquireOtherProductiveAssets": 140},
        510,
    ),
}


@pytest.mark.parametrize("shape", SPENT)
@in_one_call
def test_capital_expenditure(shape):
    """Operating cash flow of 2000 less the lines for property, plant and equipment, each once."""
    lines, spent = SPENT[shape]

    found = yield report({CASH_FLOW: 2000, **lines}, {})

    assert read(found, "free_cash_flow") == 2000 - spent


OWED: dict[str, tuple[Lines, float]] = {
    "long-term debt, and notes to related parties on the next line": (
        {
            "LongTermDebt": 61.3,
            "NotesPayableRelatedPartiesNoncurrent": 27.104,
            "OtherLiabilitiesNoncurrent": 4.2,
            "LiabilitiesCurrent": 42,
            "Liabilities": 134.604,
        },
        88.404,
    ),
    "notes to related parties that the liabilities have no room for beside long-term debt": (
        {"LongTermDebt": 61, "NotesPayableRelatedPartiesNoncurrent": 27, "LiabilitiesCurrent": 12, "Liabilities": 80},
        61,
    ),
    "notes payable beside maturities that the line of short-term borrowings repeats": (
        {
            "LongTermDebtNoncurrent": 5089,
            "LongTermDebtCurrent": 663,
            "ShortTermBorrowings": 663,
            "LongTermDebt": 5752,
            "NotesPayableCurrent": 121,
        },
        5873,
    ),
    "notes of any term that are the current notes, rounded": (
        {"ConvertibleNotesPayableCurrent": 1.090651, "ConvertibleNotesPayable": 1.1, "Assets": 6.213406},
        1.090651,
    ),
    "maturities, and notes payable of a short term": (
        {"LongTermDebtNoncurrent": 1130, "LongTermDebtCurrent": 160, "NotesPayableCurrent": 51},
        1341,
    ),
    "notes payable that are the commercial paper of the notes to the statements": (
        {"LongTermDebtNoncurrent": 1130, "LongTermDebtCurrent": 160, "NotesPayableCurrent": 51, "CommercialPaper": 50},
        1341,
    ),
    "maturities that are named twice": (
        {"LongTermDebtNoncurrent": 230, "LongTermDebtCurrent": 87, "NotesPayableCurrent": 87},
        317,
    ),
    "maturities that are notes payable, and bank loans": (
        {"LongTermNotesPayable": 230, "NotesPayableCurrent": 87, "ShortTermBorrowings": 20},
        337,
    ),
    "commercial paper, loans payable and maturities with leases": (
        {
            "LongTermDebtAndCapitalLeaseObligations": 478,
            "LongTermDebtAndCapitalLeaseObligationsCurrent": 66,
            "LoansPayableCurrent": 36,
            "CommercialPaper": 126,
        },
        706,
    ),
    "commercial paper within short-term borrowings": (
        {"LongTermDebtNoncurrent": 153, "LongTermDebtCurrent": 21, "ShortTermBorrowings": 42, "CommercialPaper": 40},
        216,
    ),
    "short-term borrowings that have the maturities, told by instrument in the notes": (
        {
            "LongTermDebtAndCapitalLeaseObligations": 541,
            "LongTermDebtAndCapitalLeaseObligationsCurrent": 75,
            "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities": 616,
            "ShortTermBorrowings": 88,
            "ShortTermBankLoansAndNotesPayable": 10,
            "CommercialPaper": 3,
        },
        629,
    ),
    "short-term debt that has the maturities, told apart in the notes": (
        {"LongTermDebtNoncurrent": 574, "DebtCurrent": 69, "LongTermDebtCurrent": 28},
        643,
    ),
    "debt without leases in the notes, with leases on the balance sheet": (
        {
            "LongTermDebtAndCapitalLeaseObligations": 576,
            "LongTermDebtAndCapitalLeaseObligationsCurrent": 246,
            "LongTermDebtNoncurrent": 553,
            "LongTermDebtCurrent": 234,
        },
        787,
    ),
    "one caption, tagged as other long-term debt": (
        {"OtherLongTermDebtNoncurrent": 572, "OtherLongTermDebtCurrent": 46},
        618,
    ),
    "unsecured notes": ({"UnsecuredLongTermDebt": 248, "UnsecuredDebtCurrent": 35, "LinesOfCreditCurrent": 42}, 325),
    "medium-term notes": ({"MediumtermNotesNoncurrent": 300, "MediumtermNotesCurrent": 20}, 320),
    "a bank loan": ({"NotesPayableToBankNoncurrent": 30, "NotesPayableToBankCurrent": 2}, 32),
    "senior and subordinated notes": ({"SeniorLongTermNotes": 500, "SubordinatedLongTermDebt": 300}, 800),
    "long-term debt beneath its maturities, as the liabilities foot": (
        {
            "LongTermDebt": 421,
            "LongTermDebtCurrent": 38,
            "CommercialPaper": 99,
            "Liabilities": 954,
            "LiabilitiesCurrent": 350,
            "PensionAndOtherPostretirementDefinedBenefitPlansLiabilitiesNoncurrent": 70,
            "DeferredTaxLiabilitiesNoncurrent": 60,
            "OtherLiabilitiesNoncurrent": 53,
        },
        558,
    ),
    "long-term debt beneath its maturities, on one line with finance leases, as the liabilities foot": (
        {
            "LongTermDebt": 846,
            "DebtCurrent": 176,
            "FinanceLeaseLiabilityNoncurrent": 109,
            "ContractWithCustomerLiabilityNoncurrent": 128,
            "AccruedIncomeTaxesNoncurrent": 44,
            "OtherLiabilitiesNoncurrent": 333,
            "Liabilities": 2885,
            "LiabilitiesCurrent": 1425,
        },
        1022,
    ),
    "long-term debt beneath its maturities, as its principal says": (
        {"LongTermDebt": 1040, "DebtCurrent": 140, "DebtInstrumentCarryingAmount": 1249},
        1180,
    ),
    "long-term debt with its maturities, as its principal says": (
        {"LongTermDebt": 1180, "DebtCurrent": 140, "DebtInstrumentCarryingAmount": 1249},
        1180,
    ),
    "long-term debt with its maturities, as the liabilities foot, and with a discount that is more than they are": (
        {
            "LongTermDebt": 421,
            "LongTermDebtCurrent": 38,
            "DebtInstrumentCarryingAmount": 471,
            "Liabilities": 954,
            "LiabilitiesCurrent": 350,
            "OtherLiabilitiesNoncurrent": 221,
        },
        421,
    ),
    "long-term debt with its maturities, as the liabilities foot": (
        {
            "LongTermDebt": 421,
            "LongTermDebtCurrent": 38,
            "Liabilities": 954,
            "LiabilitiesCurrent": 350,
            "DeferredIncomeTaxLiabilitiesNet": 121,
            "OtherLiabilitiesNoncurrent": 100,
        },
        421,
    ),
    "long-term debt, and convertible debt that is more": (
        {"LongTermDebtNoncurrent": 400, "ConvertibleDebtNoncurrent": 600, "LongTermDebtCurrent": 25},
        1025,
    ),
    "long-term debt, of which convertible debt": (
        {"LongTermDebtNoncurrent": 1000, "ConvertibleDebtNoncurrent": 600, "LongTermDebtCurrent": 25},
        1025,
    ),
    "long-term debt, and a revolving credit beside it, as the total says": (
        {
            "LongTermDebtNoncurrent": 500,
            "LongTermLineOfCredit": 200,
            "LongTermDebtCurrent": 25,
            "LongTermDebt": 725,
        },
        725,
    ),
    "long-term debt, of which a revolving credit, as the total says": (
        {
            "LongTermDebtNoncurrent": 500,
            "LongTermLineOfCredit": 600,
            "LongTermDebtCurrent": 25,
            "LongTermDebt": 525,
        },
        525,
    ),
    "long-term debt, and a revolving credit beside it, as the liabilities foot": (
        {
            "LongTermDebtNoncurrent": 500,
            "LongTermLineOfCredit": 200.4,
            "Liabilities": 1250.4,
            "LiabilitiesCurrent": 350,
            "OperatingLeaseLiabilityNoncurrent": 160,
            "OtherLiabilitiesNoncurrent": 40,
        },
        700.4,
    ),
    "maturities, and convertible notes that are due and more": (
        {"LongTermDebtNoncurrent": 565, "LongTermDebtCurrent": 25, "ConvertibleNotesPayableCurrent": 390},
        980,
    ),
    "maturities, of which convertible notes": (
        {"LongTermDebtNoncurrent": 565, "LongTermDebtCurrent": 415, "ConvertibleNotesPayableCurrent": 390},
        980,
    ),
    "maturities, and convertible notes that are the short-term borrowings": (
        {
            "LongTermDebtNoncurrent": 565,
            "LongTermDebtCurrent": 25,
            "ConvertibleNotesPayableCurrent": 390,
            "ShortTermBorrowings": 390,
        },
        980,
    ),
    "nothing but what is due": ({"LongTermDebt": 0, "NotesPayableCurrent": 35}, 35),
    "senior notes beneath the maturities, as the liabilities foot": (
        {
            "SeniorNotes": 975.3,
            "LongTermDebtCurrent": 25,
            "Liabilities": 1400.3,
            "LiabilitiesCurrent": 325,
            "OtherLiabilitiesNoncurrent": 100,
        },
        1000.3,
    ),
    "convertible notes, and a term loan": ({"ConvertibleLongTermNotesPayable": 230, "LongTermLoansPayable": 100}, 330),
}


@pytest.mark.parametrize("shape", OWED)
@in_one_call
def test_debt(shape):
    """Long-term debt, its maturities and short-term borrowings, each once."""
    lines, owed = OWED[shape]

    found = yield report({}, lines)

    assert read(found, "total_debt") == owed


UNKNOWN: dict[str, Lines] = {
    "senior notes larger than the maturities, which they may include or not": {
        "SeniorNotes": 975,
        "LongTermDebtCurrent": 25,
    },
    "senior notes that the liabilities have no room for beside their other lines": {
        "SeniorNotes": 975,
        "DebtCurrent": 25,
        "Liabilities": 1375,
        "LiabilitiesCurrent": 325,
        "OtherLiabilitiesNoncurrent": 100,
    },
}


@pytest.mark.parametrize("shape", UNKNOWN)
@in_one_call
def test_current_debt_is_not_all_debt(shape):
    """Total debt is unknown, if notes show that the current lines are not all of it."""
    found = yield report({}, UNKNOWN[shape])

    assert read(found, "total_debt") is None


HELD: dict[str, tuple[Lines, float]] = {
    "cash, and treasury bills held to maturity": (
        {CASH: 281, "DebtSecuritiesHeldToMaturityAmortizedCostAfterAllowanceForCreditLossCurrent": 30},
        311,
    ),
    "securities by class": (
        {
            CASH: 281,
            "AvailableForSaleSecuritiesDebtSecuritiesCurrent": 40,
            "HeldToMaturitySecuritiesCurrent": 30,
            "DebtSecuritiesHeldToMaturityAmortizedCostAfterAllowanceForCreditLossCurrent": 30,
            "TradingSecuritiesCurrent": 5,
        },
        356,
    ),
    "securities by class, and all of them": (
        {CASH: 281, "DebtSecuritiesCurrent": 70, "AvailableForSaleSecuritiesDebtSecuritiesCurrent": 40},
        351,
    ),
    "cash with what is restricted, which is current and not": (
        {WITH_RESTRICTED: 110, "RestrictedCashCurrent": 7, "RestrictedCashNoncurrent": 3},
        100,
    ),
    "a retailer's cash, of which short-term investments": (
        {
            CASH: 476,
            "ShortTermInvestments": 389,
            "InventoryNet": 1274,
            "OtherAssetsCurrent": 195,
            "AssetsCurrent": 1945,
        },
        476,
    ),
    "short-term investments beside the cash": (
        {
            CASH: 476,
            "ShortTermInvestments": 389,
            "InventoryNet": 1274,
            "OtherAssetsCurrent": 195,
            "AssetsCurrent": 2400,
        },
        865,
    ),
    "short-term investments beside the cash, and inventories within other current assets": (
        {
            CASH: 1079,
            "AvailableForSaleSecuritiesDebtSecuritiesCurrent": 42,
            "AccountsReceivableNetCurrent": 856,
            "InventoryNet": 30,
            "PrepaidExpenseAndOtherAssetsCurrent": 482,
            "AssetsCurrent": 2459,
        },
        1121,
    ),
    "securities of any term that are all current": (
        {
            CASH: 208,
            "AvailableForSaleSecuritiesDebtSecurities": 321,
            "AccountsReceivableNetCurrent": 226,
            "InventoryNet": 300,
            "OtherAssetsCurrent": 73,
            "AssetsCurrent": 1128,
        },
        529,
    ),
    "securities of any term that are not current": (
        {
            CASH: 208,
            "AvailableForSaleSecuritiesDebtSecurities": 321,
            "AccountsReceivableNetCurrent": 226,
            "OtherAssetsCurrent": 73,
            "AssetsCurrent": 507,
        },
        208,
    ),
    "cash with what is restricted for long": ({WITH_RESTRICTED: 110, "RestrictedCashNoncurrent": 3}, 107),
}


@pytest.mark.parametrize("shape", HELD)
@in_one_call
def test_cash(shape):
    """Cash, cash equivalents and short-term investments, each once, without restricted cash."""
    lines, held = HELD[shape]

    found = yield report({}, lines)

    assert read(found, "cash_and_equivalents") == held
