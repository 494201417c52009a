"""Annual reports of each industry, shaped after real ones, and what their items are (test_industries).

The lines beside the true ones are those that mislead in real reports: gross revenue, customers' money, restricted cash,
deposits, repurchase agreements, purchases of investments.
"""

from dataclasses import dataclass, field

from tests.factories import CAPITAL_SPENDING, CASH, CASH_FLOW

YEAR = ("2024-01-01", "2024-12-31")
CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"
WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
ITEMS = ("revenue", "total_debt", "cash_and_equivalents", "free_cash_flow")


@dataclass(frozen=True)
class Report:
    """A year's report, in millions; and what its items are, None where there is no value."""

    sic: str
    flows: dict[str, float]
    balances: dict[str, float]
    values: tuple[float | None, float | None, float | None, float | None]
    missing: dict[str, str] = field(default_factory=dict)


REPORTS: dict[str, Report] = {
    "general": Report(
        "3571",
        {CONTRACTS: 900, CASH_FLOW: 200, CAPITAL_SPENDING: 50},
        {
            CASH: 120,
            "MarketableSecuritiesCurrent": 80,
            "MarketableSecuritiesNoncurrent": 500,
            WITH_RESTRICTED: 130,
            "LongTermDebtNoncurrent": 300,
            "LongTermDebtCurrent": 40,
            "CommercialPaper": 25,
            "LongTermDebt": 340,
            "DebtInstrumentFaceAmount": 350,
            "FinanceLeaseLiabilityNoncurrent": 20,
            "OperatingLeaseLiabilityNoncurrent": 60,
        },
        (900, 365, 200, 150),
    ),
    "bank": Report(
        "6022",
        {
            "InterestAndDividendIncomeOperating": 100,
            "InterestExpense": 40,
            "InterestIncomeExpenseNet": 60,
            "NoninterestIncome": 15,
            CONTRACTS: 8,
            CASH_FLOW: 30,
            CAPITAL_SPENDING: 5,
        },
        {
            "CashAndDueFromBanks": 20,
            "InterestBearingDepositsInBanks": 90,
            "FederalFundsSold": 6,
            CASH: 110,
            "Deposits": 1800,
            "SecuritiesSoldUnderAgreementsToRepurchase": 25,
            "AdvancesFromFederalHomeLoanBanks": 70,
            "SubordinatedDebt": 30,
            "JuniorSubordinatedDebentureOwedToUnconsolidatedSubsidiaryTrust": 10,
            "AccruedLiabilitiesAndOtherLiabilities": 35,
            "Liabilities": 1970,
        },
        (75, 110, 110, 25),
        {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    ),
    "a bank that owes nothing but deposits": Report(
        "6021",
        {"InterestIncomeExpenseNet": 60, "NoninterestIncome": 15},
        {
            "Deposits": 1800,
            "OtherLiabilities": 12,
            "InterestPayableCurrentAndNoncurrent": 3,
            "Liabilities": 1815,
            CASH: 9,
        },
        (75, 0, 9, None),
    ),
    "broker": Report(
        "6211",
        {
            "Revenues": 1500,
            "InterestExpense": 400,
            "RevenuesNetOfInterestExpense": 1100,
            CASH_FLOW: -300,
            CAPITAL_SPENDING: 20,
        },
        {
            CASH: 250,
            "CashAndSecuritiesSegregatedUnderFederalAndOtherRegulations": 4000,
            "PayablesToCustomers": 9000,
            "SecuritiesSoldUnderAgreementsToRepurchase": 700,
            "SecuritiesLoaned": 300,
            "LongTermDebt": 600,
            "ShortTermBorrowings": 50,
        },
        (1100, 650, 250, -320),
        {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    ),
    "asset_manager": Report(
        "6282",
        {"Revenues": 400, CONTRACTS: 640, "OperatingIncomeLoss": 150, CASH_FLOW: 160, CAPITAL_SPENDING: 10},
        {CASH: 210, "NotesPayable": 300, "ShortTermBorrowings": 20},
        (400, 320, 210, 150),
    ),
    "exchange": Report(
        "6200",
        {"Revenues": 500, "OperatingIncomeLoss": 250, CASH_FLOW: 260, CAPITAL_SPENDING: 30},
        {
            CASH: 60,
            "RestrictedCashAndCashEquivalentsAtCarryingValue": 5000,
            WITH_RESTRICTED: 5060,
            "LongTermDebtNoncurrent": 700,
            "DebtCurrent": 100,
        },
        (500, 800, 60, 230),
    ),
    "payment network": Report(
        "7389",
        {"Revenues": 1000, CONTRACTS: 1500, CASH_FLOW: 500, CAPITAL_SPENDING: 40},
        {
            CASH: 300,
            "AvailableForSaleSecuritiesDebtSecuritiesCurrent": 90,
            "FundsHeldForClients": 2500,
            "SettlementAssetsCurrent": 800,
            "LongTermDebtNoncurrent": 700,
            "LongTermDebtCurrent": 100,
        },
        (1000, 800, 390, 460),
    ),
    "insurer": Report(
        "6331",
        {
            "PremiumsEarnedNet": 700,
            "NetInvestmentIncome": 180,
            "GainLossOnInvestments": -20,
            "InsuranceCommissionsAndFees": 15,
            CASH_FLOW: 220,
        },
        {
            "Cash": 30,
            "ShortTermInvestments": 120,
            "AvailableForSaleSecuritiesDebtSecurities": 5000,
            "LiabilityForClaimsAndClaimsAdjustmentExpense": 3500,
            "LongTermDebt": 400,
            "CommercialPaper": 30,
        },
        (875, 430, 150, None),
        {"free_cash_flow": "no_tag", "roic": "financial_company"},
    ),
    "health plan": Report(
        "6324",
        {
            "Revenues": 4000,
            "PremiumsEarnedNet": 3100,
            "PolicyholderBenefitsAndClaimsIncurredNet": 2640,
            CASH_FLOW: 240,
            CAPITAL_SPENDING: 35,
        },
        {
            CASH: 250,
            "ShortTermInvestments": 40,
            "LiabilityForClaimsAndClaimsAdjustmentExpense": 340,
            "DebtCurrent": 45,
            "LongTermDebtNoncurrent": 570,
            "LiabilitiesCurrent": 1000,
        },
        (4000, 615, 290, 205),
        {"roic": "no_operating_income"},
    ),
    "financial": Report(
        "",
        {"Revenues": 820, CASH_FLOW: 60, CAPITAL_SPENDING: 5},
        {CASH: 180, "LongTermDebt": 2870, "Assets": 23500},
        (820, 2870, 180, 55),
        {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    ),
    "investment_company": Report(
        "",
        {
            "GrossInvestmentIncomeOperating": 300,
            "InterestExpense": 70,
            "IncomeTaxExpenseBenefit": 4,
            CASH_FLOW: -200,
        },
        {
            CASH: 60,
            "InvestmentOwnedAtFairValue": 2700,
            "InvestmentOwnedAtCost": 2650,
            "LongTermDebt": 1370,
            "Liabilities": 1500,
            "StockholdersEquity": 1340,
            "Assets": 2840,
        },
        (300, 1370, 60, None),
        {"free_cash_flow": "no_tag", "roic": "financial_company", "debt_to_fcf": "financial_company"},
    ),
    "reit": Report(
        "6798",
        {
            "OperatingLeaseLeaseIncome": 270,
            CONTRACTS: 30,
            CASH_FLOW: 180,
            "PaymentsForCapitalImprovements": 40,
            "PaymentsToDevelopRealEstateAssets": 25,
            "PaymentsToAcquireRealEstate": 600,
        },
        {
            CASH: 12,
            WITH_RESTRICTED: 20,
            "SecuredDebt": 300,
            "UnsecuredDebt": 900,
            "LineOfCredit": 80,
            "MortgageLoansOnRealEstateCommercialAndConsumerNet": 150,
        },
        (300, 1280, 12, 115),
    ),
    "a trust with mortgages, notes, term loans and a revolver": Report(
        "6798",
        {"Revenues": 527, CASH_FLOW: 357, "PaymentsForCapitalImprovements": 12},
        {
            CASH: 44,
            "SecuredDebt": 8,
            "NotesPayable": 2266,
            "LoansPayable": 236,
            "LineOfCredit": 113,
            "LongTermDebtFairValue": 2500,
            "OperatingLeaseLiability": 40,
            "Liabilities": 2900,
        },
        (527, 2623, 44, 345),
    ),
    "a trust whose mortgages have an element of its own": Report(
        "6798",
        {"Revenues": 527, CASH_FLOW: 357, "PaymentsForCapitalImprovements": 12},
        {CASH: 44, "LineOfCredit": 0, "Liabilities": 2900},
        (527, None, 44, 345),
        {"total_debt": "not_on_balance_sheet"},
    ),
    "a trust that builds, and has an office": Report(
        "6798",
        {
            "Revenues": 298,
            CASH_FLOW: 160,
            "PaymentsForCapitalImprovements": 30,
            "PaymentsToDevelopRealEstateAssets": 22,
            CAPITAL_SPENDING: 3,
            "PaymentsToAcquireRealEstate": 500,
        },
        {CASH: 6, "SecuredDebt": 160, "UnsecuredDebt": 600},
        (298, 760, 6, 105),
    ),
    "a trust of data centres with senior notes and mortgages": Report(
        "6798",
        {"Revenues": 875, CASH_FLOW: 325, CAPITAL_SPENDING: 307},
        {
            CASH: 308,
            "ShortTermInvestments": 50,
            "SeniorLongTermNotes": 1336,
            "SecuredLongTermDebt": 64,
            "SeniorNotesCurrent": 120,
            "SecuredDebtCurrent": 1,
        },
        (875, 1521, 358, 18),
    ),
    "a trust of towers": Report(
        "6798",
        {"Revenues": 1010, CASH_FLOW: 530, CAPITAL_SPENDING: 160, "PaymentsToDevelopRealEstateAssets": 15},
        {CASH: 200, "LongTermDebtNoncurrent": 3200, "LongTermDebtCurrent": 370},
        (1010, 3570, 200, 370),
    ),
    "a utility of water": Report(
        "4941",
        {"Revenues": 60, CASH_FLOW: 20, "PaymentsToAcquireWaterAndWasteWaterSystems": 24},
        {CASH: 1, "LongTermDebtNoncurrent": 58},
        (60, 58, 1, -4),
    ),
    "a miner": Report(
        "1040",
        {"Revenues": 90, CASH_FLOW: 30, "PaymentsToAcquireMiningAssets": 12},
        {CASH: 15, "LongTermDebtNoncurrent": 20},
        (90, 20, 15, 18),
    ),
    "a utility with notes payable": Report(
        "4911",
        {"Revenues": 267, CASH_FLOW: 98, CAPITAL_SPENDING: 90},
        {CASH: 11, "LongTermDebtNoncurrent": 587, "LongTermDebtCurrent": 47, "NotesPayableCurrent": 13},
        (267, 647, 11, 8),
    ),
    "a utility whose notes are what is due of long-term debt": Report(
        "4911",
        {"Revenues": 267, CASH_FLOW: 98, CAPITAL_SPENDING: 90},
        {CASH: 11, "LongTermDebtNoncurrent": 587, "LongTermDebtCurrent": 13, "NotesPayableCurrent": 13},
        (267, 600, 11, 8),
    ),
    "mortgage trust": Report(
        "6798",
        {
            "InterestIncomeOperating": 290,
            "InterestExpense": 280,
            "InterestIncomeExpenseNet": 10,
            "IncomeTaxExpenseBenefit": 1,
            CASH_FLOW: 9,
        },
        {
            CASH: 50,
            "SecuritiesSoldUnderAgreementsToRepurchase": 6000,
            "SecuredDebt": 60,
            "StockholdersEquity": 970,
            "Assets": 8800,
        },
        (None, 60, 50, None),
        {"revenue": "no_tag", "free_cash_flow": "no_tag", "roic": "financial_company"},
    ),
    "utility": Report(
        "4911",
        {"RegulatedAndUnregulatedOperatingRevenue": 800, CONTRACTS: 760, CASH_FLOW: 240, CAPITAL_SPENDING: 300},
        {
            CASH: 5,
            "LongTermDebtNoncurrent": 1500,
            "LongTermDebtCurrent": 120,
            "ShortTermBorrowings": 60,
            "CommercialPaper": 45,
        },
        (800, 1680, 5, -60),
        {"debt_to_fcf": "negative_fcf"},
    ),
    "oil_and_gas": Report(
        "1311",
        {
            "Revenues": 600,
            CONTRACTS: 560,
            CASH_FLOW: 300,
            "PaymentsToAcquireOilAndGasPropertyAndEquipment": 180,
            "PaymentsToAcquireOtherPropertyPlantAndEquipment": 20,
            "PaymentsToAcquireBusinessesNetOfCashAcquired": 90,
        },
        {CASH: 40, "LongTermDebtAndCapitalLeaseObligations": 350, "DebtCurrent": 30},
        (600, 380, 40, 100),
    ),
    "a producer with wells, reserves bought, and an office": Report(
        "1311",
        {
            "Revenues": 430,
            CASH_FLOW: 85,
            "PaymentsToExploreAndDevelopOilAndGasProperties": 61,
            "PaymentsToAcquireOilAndGasPropertyAndEquipment": 200,
            CAPITAL_SPENDING: 2,
        },
        {CASH: 4, "LongTermDebtNoncurrent": 149},
        (430, 149, 4, 22),
    ),
    "captive_finance": Report(
        "3531",
        {
            "Revenues": 2000,
            CONTRACTS: 1700,
            "FinancialServicesRevenue": 200,
            "PaymentsToAcquireEquipmentOnLease": 150,
            CASH_FLOW: 400,
            CAPITAL_SPENDING: 120,
        },
        {CASH: 300, "LongTermDebtNoncurrent": 2500, "LongTermDebtCurrent": 700, "ShortTermBorrowings": 450},
        (2000, 3650, 300, 130),
        {"debt_to_fcf": "finance_arm"},
    ),
    "a maker of vehicles that leases them": Report(
        "3711",
        {
            "Revenues": 1874,
            CONTRACTS: 1716,
            CASH_FLOW: 201,
            CAPITAL_SPENDING: 108,
            "PaymentsToAcquireLeasesHeldForInvestment": 53,
            "PaymentsToAcquireFinanceReceivables": 380,
        },
        {
            f"{WITH_RESTRICTED}IncludingDisposalGroupAndDiscontinuedOperations": 199,
            "DebtCurrent": 394,
            "LongTermDebtAndCapitalLeaseObligations": 903,
        },
        (1874, 1297, 199, 40),
        {"debt_to_fcf": "finance_arm"},
    ),
    "a lessor of aircraft": Report(
        "7359",
        {
            "Revenues": 273,
            "OperatingLeaseLeaseIncome": 250,
            CASH_FLOW: 168,
            "PaymentsToAcquireEquipmentOnLease": 390,
            "PaymentsToAcquireOtherPropertyPlantAndEquipment": 20,
        },
        {CASH: 47, "LongTermDebt": 2020},
        (273, 2020, 47, -242),
        {"debt_to_fcf": "negative_fcf"},
    ),
    "a developer of drugs": Report(
        "2836",
        {"RevenueFromCollaborativeArrangementExcludingRevenueFromContractWithCustomer": 30, CASH_FLOW: -100},
        {CASH: 80},
        (30, None, 80, None),
        {"total_debt": "no_tag", "free_cash_flow": "no_tag"},
    ),
    "partnership": Report(
        "4922",
        {"Revenues": 700, CASH_FLOW: 250, CAPITAL_SPENDING: 90},
        {
            CASH: 8,
            "PartnersCapital": 900,
            "LimitedPartnersCapitalAccount": 880,
            "LongTermDebtNoncurrent": 1100,
            "LongTermDebtCurrent": 0,
        },
        (700, 1100, 8, 160),
    ),
    "a brewer that tags revenue before excise taxes as without them": Report(
        "2082",
        {
            CONTRACTS: 1373,
            "RevenueFromContractWithCustomerIncludingAssessedTax": 1163,
            "ExciseAndSalesTaxes": 210,
            "CostOfGoodsAndServicesSold": 710,
            "GrossProfit": 453,
            CASH_FLOW: 190,
            CAPITAL_SPENDING: 70,
        },
        {CASH: 97, "LongTermDebtNoncurrent": 611, "LongTermDebtCurrent": 3},
        (1163, 614, 97, 120),
    ),
    "a maker of cigarettes taxed higher than they are sold for": Report(
        "2111",
        {
            "Revenues": 920,
            "ExciseAndSalesTaxes": 541,
            "CostOfRevenue": 133,
            "GrossProfit": 246,
            CASH_FLOW: 120,
            CAPITAL_SPENDING: 14,
        },
        {CASH: 42, "LongTermDebtNoncurrent": 420, "LongTermDebtCurrent": 30},
        (379, 450, 42, 106),
    ),
    "a seller of fuel whose prices include the tax": Report(
        "5412",
        {"Revenues": 1594, "ExciseAndSalesTaxes": 130, "CostOfGoodsAndServicesSold": 1220, CASH_FLOW: 90},
        {CASH: 30, "LongTermDebtNoncurrent": 240, "LongTermDebtCurrent": 9},
        (1594, 249, 30, None),
        {"free_cash_flow": "no_tag"},
    ),
    "shell": Report(
        "6770",
        {CASH_FLOW: -1},
        {
            "Cash": 0.4,
            "AssetsHeldInTrustNoncurrent": 230,
            "AccountsPayableCurrent": 2,
            "NotesPayableRelatedPartiesClassifiedCurrent": 1.5,
            "Liabilities": 10,
        },
        (None, 1.5, 0.4, None),
        {"revenue": "no_tag", "roic": "shell", "debt_to_fcf": "shell"},
    ),
}
