"""Indicators: the elements whose presence in a filing shows the industry of its filer.

Belongs here: groups of elements, by the business that uses them. Does not: how many elements of a group are needed, and
with which SIC codes (table).

The elements of IFRS_ONLY are of ifrs-full, the others of us-gaap.
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
EQUITY_IFRS = ("Equity", "EquityAttributableToOwnersOfParent")
"""IFRS only: us-gaap has no elements of these names."""
TOTAL_EQUITY = (
    "StockholdersEquity",
    "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
    "LiabilitiesAndStockholdersEquity",
    *EQUITY_IFRS,
)
"""Every complete report states total equity (Regulation S-X 5-02, IAS 1.54): a document without it is incomplete.

Measured on 101 documents: none of the 30 documents with about twenty elements has one of these. Of 1,552 filings in
complete documents all but three have one; together with the filings of the year before them, all but two.
"""
BALANCE_SHEET = ("StockholdersEquity", "LiabilitiesAndStockholdersEquity", "AssetsCurrent")
"""Elements of us-gaap only: a document that has them would also have the elements of credit to buyers, if any."""
UNITS = (
    "NetIncomeLossPerOutstandingLimitedPartnershipUnitBasicNetOfTax",
    "WeightedAverageLimitedPartnershipUnitsOutstanding",
    "DistributionMadeToLimitedPartnerDistributionsPaidPerUnit",
    "PartnersCapital",
    "LimitedPartnersCapitalAccount",
)
PARTNERS_EQUITY = (
    "PartnersCapital",
    "LimitedPartnersCapitalAccount",
    "GeneralPartnersCapitalAccount",
    "PartnersCapitalIncludingPortionAttributableToNoncontrollingInterest",
)
SHAREHOLDERS_EQUITY = ("StockholdersEquity", "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest")
CLASSIFIED = ("LiabilitiesCurrent",)
"""Insurance carriers do not present current liabilities separately (Regulation S-X 7-03); operating companies do."""
STATEMENTS = ("Assets", "NetIncomeLoss")
GOODS_AND_COSTS = (
    *CLASSIFIED,
    "AssetsCurrent",
    "InventoryNet",
    "InventoryRealEstate",
    "GrossProfit",
    "CostOfRevenue",
    "CostOfGoodsAndServicesSold",
    "ResearchAndDevelopmentExpense",
)
"""Current items, and what only a company that sells goods or services has."""
OPERATING = (*GOODS_AND_COSTS, "OperatingIncomeLoss")
TRUST = ("AssetsHeldInTrustNoncurrent", "AssetsHeldInTrustCurrent")
SALES = (
    "Revenues",
    "RevenueFromContractWithCustomerExcludingAssessedTax",
    "RevenueFromContractWithCustomerIncludingAssessedTax",
    "SalesRevenueNet",
)
OPERATING_INCOME = ("OperatingIncomeLoss",)
NET_OF_INTEREST = ("RevenuesNetOfInterestExpense",)

IFRS_ONLY = (*LENDING_IFRS, *EQUITY_IFRS)
"""The elements that are of ifrs-full."""
