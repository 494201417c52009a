"""Indicators: the elements whose presence in a filing shows the industry of its filer.

Belongs here: groups of elements, by the business that uses them. Does not: how many of a group it takes, and with which
SIC code (table).

The elements of LENDING_IFRS are of ifrs-full, the others of us-gaap.
"""

LENDING_IFRS = (
    "DepositsFromCustomers",
    "DepositLiabilities",
    "InterestRevenueExpense",
    "RevenueFromInterest",
    "FeeAndCommissionIncomeExpense",
    "LoansAndAdvancesToCustomers",
)
LENDING = (
    "InterestAndDividendIncomeOperating",
    "InterestIncomeExpenseNet",
    "NoninterestIncome",
    "Deposits",
    "ProvisionForLoanAndLeaseLosses",
    "ProvisionForLoanLeaseAndOtherLosses",
    *LENDING_IFRS,
)
INTEREST_EARNED = (
    "InterestAndDividendIncomeOperating",
    "InterestIncomeOperating",
    "InterestIncomeExpenseNet",
    "SecuritiesSoldUnderAgreementsToRepurchase",
)
INSURANCE = (
    "PremiumsEarnedNet",
    "PolicyholderBenefitsAndClaimsIncurredNet",
    "LiabilityForFuturePolicyBenefits",
    "LiabilityForClaimsAndClaimsAdjustmentExpense",
    "DeferredPolicyAcquisitionCosts",
    "BenefitsLossesAndExpenses",
    "UnearnedPremiums",
)
FUND = (
    "GrossInvestmentIncomeOperating",
    "InvestmentOwnedAtFairValue",
    "InvestmentOwnedAtCost",
    "NetAssetValuePerShare",
    "InvestmentCompanyDistributionToShareholdersPerShare",
)
CUSTOMERS_SECURITIES = (
    "PayablesToCustomers",
    "ReceivablesFromCustomers",
    "PayablesToBrokerDealersAndClearingOrganizations",
    "CashAndSecuritiesSegregatedUnderFederalAndOtherRegulations",
)
RENTED_PROPERTY = (
    "RealEstateInvestmentPropertyNet",
    "RealEstateInvestmentPropertyAtCost",
    "RealEstateInvestmentPropertyAccumulatedDepreciation",
    "RealEstateRevenueNet",
    "PaymentsForCapitalImprovements",
    "PaymentsToAcquireRealEstate",
)
RATES = (
    "RegulatedAndUnregulatedOperatingRevenue",
    "RegulatoryAssetsNoncurrent",
    "RegulatoryLiabilityNoncurrent",
    "PublicUtilitiesPropertyPlantAndEquipmentNet",
)
WELLS = (
    "PaymentsToAcquireOilAndGasPropertyAndEquipment",
    "OilAndGasPropertyFullCostMethodNet",
    "ExplorationExpense",
)
SETTLEMENT = ("SettlementAssetsCurrent", "SettlementLiabilitiesCurrent", "FundsHeldForClients")
FINANCE_ARM = (
    "PaymentsToAcquireEquipmentOnLease",
    "NotesReceivableNet",
    "FinancialServicesRevenue",
    "FinancialServicesCosts",
)
CREDIT_TO_BUYERS = (
    "PaymentsToAcquireFinanceReceivables",
    "ProceedsFromCollectionOfFinanceReceivables",
    "PaymentsToAcquireLeasesHeldForInvestment",
    "PropertySubjectToOrAvailableForOperatingLeaseNet",
    "FinancialServicesRevenue",
    "FinancialServicesCosts",
)
BALANCE_SHEET = ("StockholdersEquity", "LiabilitiesAndStockholdersEquity", "AssetsCurrent")
"""Of us-gaap only: IFRS has no elements that show credit to buyers."""
UNITS = (
    "NetIncomeLossPerOutstandingLimitedPartnershipUnitBasicNetOfTax",
    "WeightedAverageLimitedPartnershipUnitsOutstanding",
    "DistributionMadeToLimitedPartnerDistributionsPaidPerUnit",
    "PartnersCapital",
    "LimitedPartnersCapitalAccount",
)
CLASSIFIED = ("LiabilitiesCurrent",)
"""Insurance carriers do not present current liabilities separately (Regulation S-X 7-03); operating companies do."""
STATEMENTS = ("Assets", "NetIncomeLoss")
OPERATING = (
    *CLASSIFIED,
    "AssetsCurrent",
    "OperatingIncomeLoss",
    "InventoryNet",
    "InventoryRealEstate",
    "GrossProfit",
    "CostOfRevenue",
    "CostOfGoodsAndServicesSold",
    "ResearchAndDevelopmentExpense",
)
TRUST = ("AssetsHeldInTrustNoncurrent", "AssetsHeldInTrustCurrent")
SALES = (
    "Revenues",
    "RevenueFromContractWithCustomerExcludingAssessedTax",
    "RevenueFromContractWithCustomerIncludingAssessedTax",
    "SalesRevenueNet",
)
OPERATING_INCOME = ("OperatingIncomeLoss",)
NET_OF_INTEREST = ("RevenuesNetOfInterestExpense",)
