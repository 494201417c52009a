"""Which taxonomy elements feed which amount, in which order: data, not code.

Belongs here: the elements of us-gaap (FASB) and ifrs-full (IFRS Foundation), what each concept prefers and why.
Does not: how a source is chosen in a filing (facts), or how concepts combine into line items (items, balances).

A filing's value for a concept is its first source of which every element is there, in the same filing and for the
same period; `minus` elements are needed too, and taken off; `plus` ones are added where present. Where an `at_least`
element is present, a smaller sum is a part of it and no total, and the next source is asked.
"""

from dataclasses import dataclass
from typing import Literal

Measure = Literal["money", "per_share", "shares"]
Industry = Literal["general", "bank"]

US_GAAP = "us-gaap"
IFRS = "ifrs-full"


@dataclass(frozen=True, slots=True)
class Source:
    """Elements that together state a concept: the sum of `elements`, less `minus`, with `plus` where present."""

    elements: tuple[str, ...]
    why: str = ""
    plus: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    at_least: tuple[str, ...] = ()
    taxonomy: str = US_GAAP
    industries: tuple[Industry, ...] = ("general", "bank")


@dataclass(frozen=True, slots=True)
class Concept:
    """An amount that filers state: over a duration or at an instant, with its sources, best first."""

    name: str
    measure: Measure
    instant: bool
    sources: tuple[Source, ...]
    can_be_negative: bool = True


def us(
    *elements: str,
    why: str = "",
    plus: tuple[str, ...] = (),
    minus: tuple[str, ...] = (),
    at_least: tuple[str, ...] = (),
) -> Source:
    """A us-gaap source for any industry."""
    return Source(elements, why, plus, minus, at_least)


def ifrs(*elements: str, why: str = "", plus: tuple[str, ...] = (), at_least: tuple[str, ...] = ()) -> Source:
    """An ifrs-full source for any industry."""
    return Source(elements, why, plus, at_least=at_least, taxonomy=IFRS)


def of_banks(*elements: str, why: str = "", minus: tuple[str, ...] = ()) -> Source:
    """A us-gaap source for banks only."""
    return Source(elements, why, minus=minus, industries=("bank",))


def of_others(*elements: str, why: str = "") -> Source:
    """A us-gaap source for all but banks."""
    return Source(elements, why, industries=("general",))


REVENUE = Concept(
    "revenue",
    "money",
    instant=False,
    can_be_negative=False,
    sources=(
        of_banks("RevenuesNetOfInterestExpense", why="the filer's own total, net of interest expense"),
        of_banks("InterestIncomeExpenseNet", "NoninterestIncome", why="both halves of a bank's income, net"),
        of_banks(
            "InterestAndDividendIncomeOperating", "NoninterestIncome", minus=("InterestExpense",), why="net by hand"
        ),
        us(
            "Revenues",
            at_least=("SalesRevenueNet",),
            why="the face total, unless a segment's; contract revenue below is often only a part of it",
        ),
        of_others("RevenuesNetOfInterestExpense", why="brokers and card issuers"),
        us("RevenueFromContractWithCustomerExcludingAssessedTax", why="ASC 606, since 2018"),
        us("RevenueFromContractWithCustomerIncludingAssessedTax", why="ASC 606 where taxes are not split off"),
        us("SalesRevenueNet", why="until 2018"),
        us("SalesRevenueGoodsNet", "SalesRevenueServicesNet", why="the two halves of net sales"),
        us("RealEstateRevenueNet", why="REITs until 2018"),
        us("HealthCareOrganizationRevenue", why="health care until 2018"),
        us("RegulatedAndUnregulatedOperatingRevenue", why="utilities"),
        us("ElectricUtilityRevenue", why="electric utilities"),
        us("OilAndGasRevenue", why="oil and gas until 2018"),
        us("SalesRevenueGoodsNet", why="sellers of goods only"),
        us("SalesRevenueServicesNet", why="sellers of services only"),
        of_others("CostOfRevenue", "GrossProfit", why="the identity of the income statement"),
        ifrs("Revenue", why="IAS 1.82(a)"),
        ifrs("RevenueFromContractsWithCustomers", why="IFRS 15"),
    ),
)

NET_INCOME_COMMON = Concept(
    "net_income_common",
    "money",
    instant=False,
    sources=(
        us("NetIncomeLossAvailableToCommonStockholdersBasic", why="numerator of basic EPS, ASC 260-10-45-11"),
        ifrs("ProfitLossAttributableToOrdinaryEquityHoldersOfParentEntity", why="numerator of basic EPS, IAS 33.12"),
    ),
)

NET_INCOME_PARENT = Concept(
    "net_income_parent",
    "money",
    instant=False,
    sources=(
        us("NetIncomeLoss", why="attributable to the parent"),
        us(
            "ProfitLoss",
            minus=("NetIncomeLossAttributableToNoncontrollingInterest",),
            why="consolidated, less minorities",
        ),
        us("ProfitLoss", why="no minorities stated"),
        ifrs("ProfitLossAttributableToOwnersOfParent", why="IAS 1.81B"),
        ifrs("ProfitLoss", why="no minorities stated"),
    ),
)

PREFERRED_DIVIDENDS = Concept(
    "preferred_dividends",
    "money",
    instant=False,
    sources=(
        us("PreferredStockDividendsIncomeStatementImpact", why="the line between net income and income to common"),
        us("PreferredStockDividendsAndOtherAdjustments", why="the same line with redemption premiums"),
        us("DividendsPreferredStock", why="declared, statement of equity"),
    ),
)

EPS_BASIC = Concept(
    "eps_basic",
    "per_share",
    instant=False,
    sources=(
        us("EarningsPerShareBasic", why="ASC 260-10-45-2"),
        us("EarningsPerShareBasicAndDiluted", why="one figure where there is no dilution"),
        us(
            "IncomeLossFromContinuingOperationsPerBasicShare",
            plus=("IncomeLossFromDiscontinuedOperationsNetOfTaxPerBasicShare",),
            why="continuing and discontinued operations shown apart",
        ),
        us("NetIncomeLossPerOutstandingLimitedPartnershipUnitBasicNetOfTax", why="partnerships"),
        ifrs("BasicEarningsLossPerShare", why="IAS 33.66"),
        ifrs(
            "BasicEarningsLossPerShareFromContinuingOperations",
            plus=("BasicEarningsLossPerShareFromDiscontinuedOperations",),
            why="continuing and discontinued operations shown apart",
        ),
    ),
)

DIVIDENDS_PER_SHARE = Concept(
    "dividends_per_share",
    "per_share",
    instant=False,
    sources=(
        us("CommonStockDividendsPerShareDeclared", why="declared"),
        us("CommonStockDividendsPerShareCashPaid", why="paid, where only that is stated"),
        us("DistributionMadeToLimitedPartnerDistributionsPaidPerUnit", why="partnerships"),
        ifrs("DividendsRecognisedAsDistributionsToOwnersPerShare", why="IAS 1.107"),
        ifrs("DividendsPaidOrdinarySharesPerShare", why="paid, where only that is stated"),
    ),
)

OPERATING_CASH_FLOW = Concept(
    "operating_cash_flow",
    "money",
    instant=False,
    sources=(
        us("NetCashProvidedByUsedInOperatingActivities", why="the total of ASC 230-10-45-24"),
        us(
            "NetCashProvidedByUsedInOperatingActivitiesContinuingOperations",
            plus=("CashProvidedByUsedInOperatingActivitiesDiscontinuedOperations",),
            why="both halves; filers also use the first one alone for the total",
        ),
        ifrs("CashFlowsFromUsedInOperatingActivities", why="IAS 7.10"),
    ),
)

CAPITAL_EXPENDITURE = Concept(
    "capital_expenditure",
    "money",
    instant=False,
    can_be_negative=False,
    sources=(
        us("PaymentsToAcquirePropertyPlantAndEquipment", why="the common line of ASC 230-10-45-13"),
        us("PaymentsToAcquireProductiveAssets", why="with intangible productive assets in one line"),
        us(
            "PaymentsToAcquireOilAndGasPropertyAndEquipment",
            plus=("PaymentsToAcquireOtherPropertyPlantAndEquipment",),
            why="two lines of oil and gas producers",
        ),
        us("PaymentsForCapitalImprovements", why="REITs; acquisitions of buildings are investments"),
        us("PaymentsToAcquireOtherPropertyPlantAndEquipment", why="where it is the only such line"),
        ifrs("PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities", why="IAS 7.16(a)"),
    ),
)

SHARES_BASIC = Concept(
    "shares_basic",
    "shares",
    instant=False,
    can_be_negative=False,
    sources=(
        us("WeightedAverageNumberOfSharesOutstandingBasic", why="denominator of basic EPS, ASC 260-10-45-10"),
        us("WeightedAverageNumberOfShareOutstandingBasicAndDiluted", why="one figure where there is no dilution"),
        us("WeightedAverageNumberOfSharesIssuedBasic", why="older filings"),
        us("WeightedAverageLimitedPartnershipUnitsOutstanding", why="partnerships"),
        ifrs("WeightedAverageShares", why="IAS 33.70(b)"),
    ),
)

SHARES_DILUTED = Concept(
    "shares_diluted",
    "shares",
    instant=False,
    can_be_negative=False,
    sources=(
        us("WeightedAverageNumberOfDilutedSharesOutstanding", why="denominator of diluted EPS, ASC 260-10-45-16"),
        us("WeightedAverageNumberOfShareOutstandingBasicAndDiluted", why="one figure where there is no dilution"),
        ifrs("AdjustedWeightedAverageShares", why="IAS 33.70(b)"),
    ),
)

OPERATING_INCOME = Concept(
    "operating_income",
    "money",
    instant=False,
    sources=(
        us("OperatingIncomeLoss", why="the face subtotal"),
        ifrs("ProfitLossFromOperatingActivities", why="the face subtotal"),
    ),
)

PRETAX_INCOME = Concept(
    "pretax_income",
    "money",
    instant=False,
    sources=(
        us("IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"),
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments"
        ),
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesDomestic",
            plus=("IncomeLossFromContinuingOperationsBeforeIncomeTaxesForeign",),
        ),
        ifrs("ProfitLossBeforeTax"),
    ),
)

INCOME_TAX = Concept(
    "income_tax",
    "money",
    instant=False,
    sources=(
        us("IncomeTaxExpenseBenefit", why="ASC 740"),
        ifrs("IncomeTaxExpenseContinuingOperations", why="IAS 12.77"),
    ),
)

EQUITY = Concept(
    "equity",
    "money",
    instant=True,
    sources=(
        us("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest", why="with minorities"),
        us("StockholdersEquity", plus=("MinorityInterest",), why="parent's, minorities added"),
        ifrs("Equity", why="with minorities, IAS 1.54(q)-(r)"),
        ifrs("EquityAttributableToOwnersOfParent", plus=("NoncontrollingInterests",)),
    ),
)

ASSETS = Concept("assets", "money", instant=True, sources=(us("Assets"), ifrs("Assets")))

CASH_TOTAL = Concept(
    "cash_total",
    "money",
    instant=True,
    sources=(
        us("CashCashEquivalentsAndShortTermInvestments", why="the filer's own total cannot count anything twice"),
        of_banks("CashAndDueFromBanks", "InterestBearingDepositsInBanks", why="a bank's cash is on two lines"),
    ),
)

CASH = Concept(
    "cash",
    "money",
    instant=True,
    sources=(
        us("CashAndCashEquivalentsAtCarryingValue", why="the balance sheet line"),
        us("CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents", why="some tag the balance sheet line so"),
        us("CashAndDueFromBanks", why="banks with one line"),
        us("Cash", why="the only line"),
        ifrs("CashAndCashEquivalents", why="IAS 1.54(i)"),
    ),
)

SHORT_TERM_INVESTMENTS = Concept(
    "short_term_investments",
    "money",
    instant=True,
    sources=(
        of_others("ShortTermInvestments", why="the parent line"),
        of_others("MarketableSecuritiesCurrent"),
        of_others("AvailableForSaleSecuritiesDebtSecuritiesCurrent"),
        of_others("DebtSecuritiesCurrent"),
        of_others("AvailableForSaleSecuritiesCurrent"),
        of_others("DebtSecuritiesAvailableForSaleExcludingAccruedInterestCurrent"),
        of_others("HeldToMaturitySecuritiesCurrent"),
        of_others("OtherShortTermInvestments"),
        ifrs("ShorttermDepositsNotClassifiedAsCashEquivalents", why="deposits of more than three months"),
        ifrs("CurrentInvestments"),
    ),
)

DEBT_NONCURRENT = Concept(
    "debt_noncurrent",
    "money",
    instant=True,
    sources=(
        us(
            "LongTermDebtNoncurrent",
            plus=("NotesPayableRelatedPartiesNoncurrent",),
            why="carrying amount without finance leases; debt to related parties is a line of its own",
        ),
        us(
            "LongTermDebtAndCapitalLeaseObligations",
            plus=("NotesPayableRelatedPartiesNoncurrent",),
            why="non-current despite its label; with finance leases",
        ),
        us(
            "ConvertibleDebtNoncurrent",
            plus=("SeniorLongTermNotes", "LongTermNotesPayable", "LongTermLineOfCredit", "UnsecuredLongTermDebt"),
            why="instruments on lines of their own",
        ),
        us("ConvertibleLongTermNotesPayable", plus=("LongTermLineOfCredit",)),
        us("SeniorLongTermNotes", plus=("LongTermLineOfCredit", "OtherLongTermDebtNoncurrent")),
        us("LongTermNotesPayable", plus=("LongTermLineOfCredit",)),
        us("UnsecuredLongTermDebt", plus=("SecuredLongTermDebt",)),
        us("LongTermLineOfCredit"),
        us("LongTermLoansPayable"),
        us("OtherLongTermDebtNoncurrent"),
        ifrs(
            "LongtermBorrowings",
            at_least=("NoncurrentPortionOfNoncurrentBondsIssued",),
            why="all borrowings, unless they are fewer than the bonds beside them",
        ),
        ifrs(
            "NoncurrentPortionOfNoncurrentBondsIssued",
            plus=("LongtermBorrowings", "NoncurrentPortionOfNoncurrentLoansReceived"),
            why="bonds and loans on lines of their own",
        ),
        ifrs("NoncurrentPortionOfNoncurrentBorrowings"),
    ),
)

DEBT_CURRENT_MATURITIES = Concept(
    "debt_current_maturities",
    "money",
    instant=True,
    sources=(
        us("LongTermDebtCurrent", why="current maturities of long-term debt"),
        us("LongTermDebtAndCapitalLeaseObligationsCurrent", why="with finance leases"),
        us("ConvertibleDebtCurrent"),
        us("ConvertibleNotesPayableCurrent"),
        us("SeniorNotesCurrent"),
        us("NotesPayableCurrent"),
        ifrs(
            "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",
            plus=("CurrentPortionOfLongtermBorrowings", "CurrentPortionOfNoncurrentLoansReceived"),
            why="bonds and loans on lines of their own",
        ),
        ifrs("CurrentPortionOfLongtermBorrowings", why="maturities of all borrowings"),
    ),
)

DEBT_SHORT_TERM = Concept(
    "debt_short_term",
    "money",
    instant=True,
    sources=(
        us("ShortTermBorrowings", why="the parent of commercial paper and bank loans"),
        us("CommercialPaper", plus=("OtherShortTermBorrowings",)),
        us("OtherShortTermBorrowings"),
        us("ShortTermBankLoansAndNotesPayable"),
        us("LoansPayableCurrent"),
        us("NotesAndLoansPayableCurrent"),
        us("LinesOfCreditCurrent"),
        ifrs("ShorttermBorrowings"),
    ),
)

DEBT_CURRENT = Concept(
    "debt_current",
    "money",
    instant=True,
    sources=(
        us("DebtCurrent", why="maturities and short-term borrowings together"),
        ifrs("CurrentBorrowingsAndCurrentPortionOfNoncurrentBorrowings"),
    ),
)

DEBT_LONG_TERM = Concept(
    "debt_long_term",
    "money",
    instant=True,
    sources=(
        us("LongTermDebt", why="long-term debt with its current maturities"),
        us("LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities"),
        us("NotesPayable"),
        us("SeniorNotes"),
        us("ConvertibleNotesPayable"),
        us("SecuredDebt", plus=("UnsecuredDebt", "LineOfCredit")),
        us("UnsecuredDebt", plus=("LineOfCredit",)),
        us("FederalHomeLoanBankAdvancesLongTerm"),
    ),
)

DEBT_ALL = Concept(
    "debt_all",
    "money",
    instant=True,
    sources=(
        us("DebtLongtermAndShorttermCombinedAmount", why="the filer's own total; gross principal for some"),
        us("DebtAndCapitalLeaseObligations"),
        ifrs("Borrowings"),
    ),
)

CONCEPTS: tuple[Concept, ...] = (
    REVENUE,
    NET_INCOME_COMMON,
    NET_INCOME_PARENT,
    PREFERRED_DIVIDENDS,
    EPS_BASIC,
    DIVIDENDS_PER_SHARE,
    OPERATING_CASH_FLOW,
    CAPITAL_EXPENDITURE,
    SHARES_BASIC,
    SHARES_DILUTED,
    OPERATING_INCOME,
    PRETAX_INCOME,
    INCOME_TAX,
    EQUITY,
    ASSETS,
    CASH_TOTAL,
    CASH,
    SHORT_TERM_INVESTMENTS,
    DEBT_NONCURRENT,
    DEBT_CURRENT_MATURITIES,
    DEBT_SHORT_TERM,
    DEBT_CURRENT,
    DEBT_LONG_TERM,
    DEBT_ALL,
)
BY_NAME: dict[str, Concept] = {concept.name: concept for concept in CONCEPTS}

BANK_EVIDENCE: tuple[str, ...] = (
    "InterestAndDividendIncomeOperating",
    "InterestIncomeExpenseNet",
    "NoninterestIncome",
    "Deposits",
    "ProvisionForLoanAndLeaseLosses",
    "ProvisionForLoanLeaseAndOtherLosses",
)
"""A filer that uses at least three of these elements is treated as a bank."""

ITEM_CONCEPTS: dict[str, tuple[Concept, ...]] = {
    "revenue": (REVENUE,),
    "net_income": (NET_INCOME_COMMON, NET_INCOME_PARENT, PREFERRED_DIVIDENDS),
    "eps_basic": (EPS_BASIC,),
    "dividends_per_share": (DIVIDENDS_PER_SHARE,),
    "free_cash_flow": (OPERATING_CASH_FLOW, CAPITAL_EXPENDITURE),
    "shares_basic": (SHARES_BASIC,),
    "shares_diluted": (SHARES_DILUTED,),
    "total_debt": (DEBT_NONCURRENT, DEBT_CURRENT_MATURITIES, DEBT_SHORT_TERM, DEBT_CURRENT, DEBT_LONG_TERM, DEBT_ALL),
    "cash_and_equivalents": (CASH_TOTAL, CASH, SHORT_TERM_INVESTMENTS),
    "roic": (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX, EQUITY, ASSETS),
    "debt_to_fcf": (),
}
"""The concepts that each line item is made of, in the order of the specification."""


def wanted_elements() -> dict[str, frozenset[str]]:
    """Taxonomy -> elements that any rule reads: what is decoded from a companyfacts document."""
    wanted: dict[str, set[str]] = {US_GAAP: set(BANK_EVIDENCE), IFRS: set()}
    for concept in CONCEPTS:
        for source in concept.sources:
            wanted[source.taxonomy].update(source.elements, source.plus, source.minus, source.at_least)
    return {taxonomy: frozenset(elements) for taxonomy, elements in wanted.items()}


def describe_sources(item: str) -> str:
    """The elements that feed a line item, one concept a line, best first: the `sources` of the data dictionary."""
    lines = []
    for concept in ITEM_CONCEPTS[item]:
        stated = ["".join(_described(source)) for source in concept.sources]
        lines.append(f"{concept.name}: " + " | ".join(stated))
    return "\n".join(lines)


def _described(source: Source) -> list[str]:
    parts = [" + ".join(source.elements)]
    parts += [f" - {element}" for element in source.minus]
    parts += [f" [+ {element}]" for element in source.plus]
    parts += [f" [no less than {element}]" for element in source.at_least]
    return [f"{source.taxonomy}:", *parts]
