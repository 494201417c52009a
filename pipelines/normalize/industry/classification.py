"""Industries: which one a filer was in when it filed, and which line items mean nothing there.

Belongs here: industries as data: SIC codes, the elements that tell where codes do not, and items without meaning.
Does not: which elements feed an item in an industry (concepts).

A filing is judged by the code of its filer and by the elements of that filing and those of the year before it, so
that nothing filed later changes what was known. EDGAR keeps no history of codes: the code is today's.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

Industry = Literal[
    "general",
    "bank",
    "broker",
    "asset_manager",
    "exchange",
    "insurer",
    "financial",
    "investment_company",
    "reit",
    "utility",
    "oil_and_gas",
    "captive_finance",
    "partnership",
    "shell",
]
INDUSTRIES: tuple[Industry, ...] = get_args(Industry)
GENERAL: Industry = "general"

LOOKS_BACK_DAYS = 400
"""An annual report and what lies between it and the next: a filing that shows little is judged by those before it."""

Codes = tuple[tuple[int, int], ...]

ANY_CODE: Codes = ((0, 9999),)
FINANCE_OR_NONE: Codes = ((0, 0), (6099, 6111), (6163, 6199))
"""Finance services, and no code at all: what is left of them when nothing else tells may be lending."""
TELLS_NOTHING: Codes = ((0, 0), (6099, 6111), (6163, 6199), (6411, 6769), (6771, 6797), (6799, 6999), (7389, 7389))
"""Codes that firms of many industries have (card issuers, holding companies, business services), and none at all."""
MAKERS: Codes = ((3400, 3599), (3700, 3799))
"""Tools, machinery, computers and vehicles: what is often bought on credit that its maker gives."""
FINANCED: Codes = ((3523, 3523), (3531, 3531), (3711, 3711), (3751, 3751))
"""Farm and construction machinery, motor vehicles, motorcycles: the largest makers own the lender to their buyers."""

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
    "ReceivablesFromBrokersDealersAndClearingOrganizations",
    "PayablesToBrokerDealersAndClearingOrganizations",
    "CashAndSecuritiesSegregatedUnderFederalAndOtherRegulations",
    "FinancialInstrumentsSoldNotYetPurchasedAtFairValue",
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
    "ElectricUtilityRevenue",
    "RegulatoryAssetsNoncurrent",
    "RegulatoryLiabilityNoncurrent",
    "PublicUtilitiesPropertyPlantAndEquipmentNet",
)
WELLS = (
    "OilAndGasRevenue",
    "PaymentsToAcquireOilAndGasPropertyAndEquipment",
    "OilAndGasPropertySuccessfulEffortMethodNet",
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
"""Of us-gaap alone: IFRS has no elements that could tell credit to buyers."""
UNITS = (
    "NetIncomeLossPerOutstandingLimitedPartnershipUnitBasicNetOfTax",
    "WeightedAverageLimitedPartnershipUnitsOutstanding",
    "DistributionMadeToLimitedPartnerDistributionsPaidPerUnit",
    "PartnersCapital",
    "LimitedPartnersCapitalAccount",
)
CLASSIFIED = ("LiabilitiesCurrent",)
"""Carriers of insurance have no current liabilities apart (Regulation S-X 7-03); what has them operates."""
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


@dataclass(frozen=True, slots=True)
class Rule:
    """A filer is of an industry by its code, if it also uses `at_least` of `uses`, and none of `unless`."""

    industry: Industry
    codes: Codes
    why: str
    uses: tuple[str, ...] = ()
    at_least: int = 0
    unless: tuple[str, ...] = ()


RULES: tuple[Rule, ...] = (
    Rule("shell", ((6770, 6770), (9995, 9995)), "blank checks, while there is nothing to sell", unless=SALES),
    Rule("shell", TELLS_NOTHING, "all that it has is in trust", TRUST, 1, unless=SALES),
    Rule("insurer", ((6300, 6323), (6325, 6399)), "carriers; agents and brokers of insurance (6411) carry nothing"),
    Rule(
        "insurer",
        ((6324, 6324),),
        "health plans, unless their balance sheet is a business's: claims are paid within months, from operations",
        unless=CLASSIFIED,
    ),
    Rule("insurer", ((6282, 6282),), "managers of funds that own a carrier", INSURANCE, 2, unless=CLASSIFIED),
    Rule(
        "bank",
        ((6798, 6798),),
        "trusts that own mortgages: what they fund by repurchase agreements earns interest, not rent",
        INTEREST_EARNED,
        2,
        unless=RENTED_PROPERTY,
    ),
    Rule("reit", ((6798, 6798),), "real estate investment trusts"),
    Rule("asset_manager", ((6282, 6282),), "investment advice"),
    Rule(
        "asset_manager",
        ((6211, 6221),),
        "brokers have interest to pay and no operating income; managers of funds have the brokers' code",
        OPERATING_INCOME,
        1,
        unless=CUSTOMERS_SECURITIES,
    ),
    Rule("broker", ((6211, 6221),), "brokers and dealers in securities and commodities"),
    Rule("exchange", ((6200, 6200), (6231, 6231)), "exchanges and clearing houses"),
    Rule("bank", ((6020, 6036), (6081, 6082), (6712, 6712)), "commercial banks, savings institutions, their holdings"),
    Rule("bank", ((6040, 6199),), "lenders that take deposits or earn interest as banks do", LENDING, 3),
    Rule("captive_finance", ((6140, 6162), (6172, 6172)), "credit institutions: debt that funds receivables"),
    Rule("partnership", ANY_CODE, "units instead of shares", UNITS, 2, unless=RENTED_PROPERTY),
    Rule("utility", ((4900, 4949), (4961, 4991)), "electricity, gas, water and steam; waste (4950s) has no rates"),
    Rule("oil_and_gas", ((1311, 1389), (2911, 2911)), "production, drilling, services to it, and refining"),
    Rule(
        "insurer",
        TELLS_NOTHING,
        "premiums and claims; agents of carriers and health plans have them beside current liabilities",
        INSURANCE,
        2,
        unless=CLASSIFIED,
    ),
    Rule("investment_company", TELLS_NOTHING, "investments at fair value, and their income (ASC 946)", FUND, 2),
    Rule("bank", TELLS_NOTHING, "interest, deposits and provisions for loans", LENDING, 3),
    Rule("broker", TELLS_NOTHING, "customers' securities and cash", CUSTOMERS_SECURITIES, 2),
    Rule("bank", TELLS_NOTHING, "revenue after interest expense: lending is the business", NET_OF_INTEREST, 1),
    Rule("reit", TELLS_NOTHING, "rented property", RENTED_PROPERTY, 2),
    Rule("utility", TELLS_NOTHING, "regulated rates", RATES, 2),
    Rule("oil_and_gas", TELLS_NOTHING, "wells", WELLS, 2),
    Rule("exchange", TELLS_NOTHING, "settlement of other people's payments", SETTLEMENT, 1),
    Rule(
        "financial",
        FINANCE_OR_NONE,
        "presumed of who has statements, but nothing current, no operating income, and nothing to sell",
        STATEMENTS,
        2,
        unless=OPERATING,
    ),
    Rule("captive_finance", ANY_CODE, "a finance arm beside the maker of what it finances", FINANCE_ARM, 2),
    Rule("captive_finance", MAKERS, "credit to buyers, in the cash flow or on the balance sheet", CREDIT_TO_BUYERS, 2),
    Rule(
        "captive_finance", FINANCED, "presumed, where no balance sheet is there that could tell", unless=BALANCE_SHEET
    ),
)
"""The first rule that holds says the industry; where none does it is general."""

WITHOUT_MEANING: dict[Industry, dict[str, str]] = {
    "bank": {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    "broker": {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    "insurer": {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    "financial": {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    "investment_company": {"roic": "financial_company", "debt_to_fcf": "financial_company"},
    "captive_finance": {"debt_to_fcf": "finance_arm"},
    "shell": {"roic": "shell", "debt_to_fcf": "shell"},
}
"""Items that mean nothing in an industry, and the reason (warehouse.reasons)."""

EVIDENCE: frozenset[str] = frozenset(element for rule in RULES for element in (*rule.uses, *rule.unless))
"""The elements that tell an industry; those of LENDING_IFRS are of ifrs-full, the others of us-gaap."""


def industries(facts: pl.DataFrame, registrants: pl.DataFrame | None = None) -> pl.DataFrame:
    """The industry that each filing shows its filer to be in: `cik`, `seq`, `industry`.

    Args:
        facts: typed facts in the order of filing (order.in_filing_order).
        registrants: `cik`, `sic` (four digits, empty where EDGAR has none); None where no submissions are held.
    """
    filings = facts.select("cik", "seq", "filed").unique(["cik", "seq"], maintain_order=True).sort("seq")
    told = _elements_used(facts, filings)
    coded = _coded(filings, registrants).join(told, on=["cik", "seq"], how="left", maintain_order="left")
    industry = pl.lit(GENERAL)
    for rule in reversed(RULES):
        industry = pl.when(_holds(rule)).then(pl.lit(rule.industry)).otherwise(industry)
    return coded.select("cik", "seq", industry=industry).sort("cik", "seq")


def newest(of_industry: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `industry`: what the newest filing shows."""
    return of_industry.sort("cik", "seq").group_by("cik", maintain_order=True).agg(pl.col("industry").last())


def with_meaning(items: pl.DataFrame, of_industry: pl.DataFrame) -> pl.DataFrame:
    """The items (`cik`, `seq`, `item`, ...) but those that mean nothing in the industry of that point."""
    return (
        items.join(of_industry, on=["cik", "seq"], maintain_order="left")
        .join(WITHOUT_MEANING_TABLE, on=["industry", "item"], how="anti", maintain_order="left")
        .drop("industry")
    )


WITHOUT_MEANING_TABLE = pl.DataFrame(
    [
        {"industry": industry, "item": item, "reason": reason}
        for industry, items in WITHOUT_MEANING.items()
        for item, reason in items.items()
    ]
)
"""WITHOUT_MEANING as rows."""


def _elements_used(facts: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `seq`, `used`: the telling elements of each filing and of those of the year before it."""
    evidence = facts.filter(pl.col("tag").is_in(EVIDENCE)).select("cik", "seq", "tag").unique()
    seen = evidence.join(filings.rename({"filed": "seen"}), on=["cik", "seq"]).sort("seq")
    asked = filings.join(evidence.select("cik", "tag").unique(), on="cik").sort("seq")
    return (
        asked.join_asof(seen, on="seq", by=["cik", "tag"], check_sortedness=False)
        .filter(pl.col("filed") - pl.col("seen") <= pl.duration(days=LOOKS_BACK_DAYS))
        .group_by("cik", "seq")
        .agg(used="tag")
    )


def _coded(filings: pl.DataFrame, registrants: pl.DataFrame | None) -> pl.DataFrame:
    if registrants is None:
        return filings.with_columns(code=pl.lit(0, pl.Int32))
    codes = registrants.select(pl.col("cik").cast(pl.Int64), code=pl.col("sic").cast(pl.Int32, strict=False)).unique(
        "cik"
    )
    return filings.join(codes, on="cik", how="left", maintain_order="left").with_columns(pl.col("code").fill_null(0))


def _holds(rule: Rule) -> pl.Expr:
    def count(elements: tuple[str, ...]) -> pl.Expr:
        return pl.col("used").list.set_intersection(pl.lit(list(elements))).list.len().fill_null(0)

    by_code = pl.any_horizontal(pl.col("code").is_between(low, high) for low, high in rule.codes)
    enough = count(rule.uses) >= rule.at_least
    return by_code & enough & (count(rule.unless) == 0)
