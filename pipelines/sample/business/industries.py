"""Statements of industries that report differently from a manufacturer, modelled after real statements.

Belongs here: tables of the lines of each industry, of misleading lines (segregated cash, customers' money, gross
revenue, purchases that are not capital expenditure), and of the true sums. Does not: the kinds of filers (traits),
choosing the lines of a filing (statements).
"""

from dataclasses import replace

from pipelines.sample.business.line import (
    BALANCE,
    CASH_FLOW,
    PER_SHARE,
    PRETAX,
    SAME_EVERYWHERE,
    SHARES,
    US_GAAP_EVERYWHERE,
    Line,
    Shares,
    Statements,
)
from pipelines.sample.filer.traits import CONTRACT_REVENUE, Kind

CASH = Line("cash", "CashAndCashEquivalentsAtCarryingValue", BALANCE)
RESTRICTED_TOO = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
REVENUES = Line("revenue", "Revenues")
OF_CONTRACTS = Line("contract_revenue", CONTRACT_REVENUE)
CLASSIFIED = (
    Line("debt_noncurrent", "LongTermDebtNoncurrent", BALANCE),
    Line("debt_current", "LongTermDebtCurrent", BALANCE),
)
COMMERCIAL_PAPER = Line("short_term_debt", "CommercialPaper", BALANCE)
BORROWED_SHORT = Line("short_term_debt", "ShortTermBorrowings", BALANCE)
LONG_AND_SHORT = {"total_debt": {"long_term_debt": 1, "short_term_debt": 1}}
TWO_LINES_OF_DEBT = {"total_debt": {"debt_noncurrent": 1, "all_current_debt": 1}}
ALL_CURRENT: dict[str, Shares] = {"all_current_debt": {"debt_current": 1, "short_term_debt": 1}}


def everywhere(**other_tags: str) -> tuple[Line, ...]:
    """The lines that all US-GAAP filers have, with other tags for the given lines; a line with an empty tag is left
    out."""
    tagged = (replace(one, tag=other_tags.get(one.item, one.tag)) for one in US_GAAP_EVERYWHERE)
    return tuple(line for line in tagged if line.tag)


INDUSTRIES: dict[Kind, Statements] = {
    Kind.BROKER: Statements(
        derived={
            "interest_expense": {"revenue": 0.3},
            "gross_revenue": {"revenue": 1, "interest_expense": 1},
            "noninterest_expense": {"revenue": 1, "pretax": -1},
            "segregated": {"assets": 0.3},
            "customers_money": {"assets": 0.4},
            "repurchase_agreements": {"assets": 0.1},
        },
        lines=(
            Line("gross_revenue", "Revenues"),
            Line("interest_expense", "InterestExpense"),
            Line("revenue", "RevenuesNetOfInterestExpense"),
            Line("noninterest_expense", "NoninterestExpense"),
            *everywhere(),
            CASH,
            Line("segregated", "CashAndSecuritiesSegregatedUnderFederalAndOtherRegulations", BALANCE),
            Line("customers_money", "PayablesToCustomers", BALANCE),
            Line("repurchase_agreements", "SecuritiesSoldUnderAgreementsToRepurchase", BALANCE),
            Line("long_term_debt", "LongTermDebt", BALANCE),
            BORROWED_SHORT,
        ),
        totals=SAME_EVERYWHERE | LONG_AND_SHORT,
    ),
    Kind.ASSET_MANAGER: Statements(
        derived={"contract_revenue": {"revenue": 1.6}},  # fees of all kinds, before payments to distributors
        lines=(
            REVENUES,
            OF_CONTRACTS,
            *everywhere(),
            CASH,
            Line("long_term_debt", "NotesPayable", BALANCE),
            BORROWED_SHORT,
        ),
        totals=SAME_EVERYWHERE | LONG_AND_SHORT,
    ),
    Kind.EXCHANGE: Statements(
        derived={
            "margin_deposits": {"cash": 9.0},
            "cash_with_margin": {"cash": 1, "margin_deposits": 1},
            **ALL_CURRENT,
        },
        lines=(
            REVENUES,
            Line("operating_income", "OperatingIncomeLoss"),
            *everywhere(),
            CASH,
            Line("margin_deposits", "RestrictedCashAndCashEquivalentsAtCarryingValue", BALANCE),
            Line("cash_with_margin", RESTRICTED_TOO, BALANCE),
            Line("debt_noncurrent", "LongTermDebtNoncurrent", BALANCE),
            Line("all_current_debt", "DebtCurrent", BALANCE),
        ),
        totals=SAME_EVERYWHERE | TWO_LINES_OF_DEBT,
    ),
    Kind.PAYMENTS: Statements(
        derived={"contract_revenue": {"revenue": 1.5}, "customers_funds": {"assets": 0.3}},  # before rebates
        lines=(
            REVENUES,
            OF_CONTRACTS,
            Line("operating_income", "OperatingIncomeLoss"),
            *everywhere(),
            CASH,
            Line("short_term_investments", "AvailableForSaleSecuritiesDebtSecuritiesCurrent", BALANCE),
            Line("customers_funds", "FundsHeldForClients", BALANCE),
            *CLASSIFIED,
            COMMERCIAL_PAPER,
        ),
        totals=SAME_EVERYWHERE,
    ),
    Kind.INSURER: Statements(
        derived={
            "premiums": {"revenue": 0.75},
            "investment_income": {"revenue": 0.2},
            "commissions": {"revenue": 1, "premiums": -1, "investment_income": -1},
            "benefits": {"revenue": 1, "pretax": -1},
            "fixed_maturities": {"assets": 0.7},
        },
        lines=(
            Line("premiums", "PremiumsEarnedNet"),
            Line("investment_income", "NetInvestmentIncome"),
            Line("commissions", "InsuranceCommissionsAndFees"),
            REVENUES,
            Line("benefits", "BenefitsLossesAndExpenses"),
            *everywhere(capex=""),
            Line("cash", "Cash", BALANCE),
            Line("short_term_investments", "ShortTermInvestments", BALANCE),
            Line("fixed_maturities", "AvailableForSaleSecuritiesDebtSecurities", BALANCE),
            Line("long_term_debt", "LongTermDebt", BALANCE),
            COMMERCIAL_PAPER,
        ),
        totals={item: parts for item, parts in SAME_EVERYWHERE.items() if item != "free_cash_flow"} | LONG_AND_SHORT,
    ),
    Kind.REIT: Statements(
        derived={
            "rent": {"revenue": 0.9},
            "contract_revenue": {"revenue": 1, "rent": -1},
            "buildings_bought": {"capex": 3.0},
            "secured_debt": {"debt": 0.3},
            "unsecured_debt": {"debt": 0.6},
            "credit_line": {"debt": 1, "secured_debt": -1, "unsecured_debt": -1},
            "cash_with_restricted": {"cash": 1.1},
        },
        lines=(
            Line("rent", "OperatingLeaseLeaseIncome"),
            OF_CONTRACTS,
            REVENUES,
            *everywhere(capex="PaymentsForCapitalImprovements"),
            Line("buildings_bought", "PaymentsToAcquireRealEstate", CASH_FLOW),
            CASH,
            Line("cash_with_restricted", RESTRICTED_TOO, BALANCE),
            Line("secured_debt", "SecuredDebt", BALANCE),
            Line("unsecured_debt", "UnsecuredDebt", BALANCE),
            Line("credit_line", "LineOfCredit", BALANCE),
        ),
        totals=SAME_EVERYWHERE | {"total_debt": {"secured_debt": 1, "unsecured_debt": 1, "credit_line": 1}},
    ),
    Kind.UTILITY: Statements(
        derived={"contract_revenue": {"revenue": 0.94}},
        lines=(
            Line("revenue", "RegulatedAndUnregulatedOperatingRevenue"),
            OF_CONTRACTS,
            Line("operating_income", "OperatingIncomeLoss"),
            *everywhere(capex="PaymentsToAcquireProductiveAssets"),
            CASH,
            Line("debt_noncurrent", "LongTermDebtAndCapitalLeaseObligations", BALANCE),
            Line("debt_current", "LongTermDebtAndCapitalLeaseObligationsCurrent", BALANCE),
            BORROWED_SHORT,
        ),
        totals=SAME_EVERYWHERE,
    ),
    Kind.OIL_AND_GAS: Statements(
        derived={
            "contract_revenue": {"revenue": 0.9},  # without gains on derivatives
            "wells": {"capex": 0.9},
            "other_property": {"capex": 1, "wells": -1},
            **ALL_CURRENT,
        },
        lines=(
            OF_CONTRACTS,
            REVENUES,
            Line("operating_income", "OperatingIncomeLoss"),
            *everywhere(capex=""),
            Line("wells", "PaymentsToAcquireOilAndGasPropertyAndEquipment", CASH_FLOW),
            Line("other_property", "PaymentsToAcquireOtherPropertyPlantAndEquipment", CASH_FLOW),
            CASH,
            Line("debt_noncurrent", "LongTermDebtNoncurrent", BALANCE),
            Line("all_current_debt", "DebtCurrent", BALANCE),
        ),
        totals=SAME_EVERYWHERE
        | TWO_LINES_OF_DEBT
        | {"free_cash_flow": {"operating_cash_flow": 1, "wells": -1, "other_property": -1}},
    ),
    Kind.CAPTIVE_FINANCE: Statements(
        derived={
            "contract_revenue": {"revenue": 0.85},  # excludes interest and rent that the finance arm earns
            "equipment_on_lease": {"capex": 0.5},
            "receivables": {"assets": 0.4},
        },
        lines=(
            OF_CONTRACTS,
            REVENUES,
            Line("operating_income", "OperatingIncomeLoss"),
            *everywhere(),
            Line("equipment_on_lease", "PaymentsToAcquireEquipmentOnLease", CASH_FLOW),
            CASH,
            Line("receivables", "NotesReceivableNet", BALANCE),
            *CLASSIFIED,
            Line("long_term_debt", "LongTermDebt", BALANCE),
            BORROWED_SHORT,
        ),
        totals=SAME_EVERYWHERE | {"free_cash_flow": {"operating_cash_flow": 1, "capex": -1, "equipment_on_lease": -1}},
    ),
    Kind.PARTNERSHIP: Statements(
        lines=(
            REVENUES,
            Line("operating_income", "OperatingIncomeLoss"),
            *everywhere(
                eps_basic="NetIncomeLossPerOutstandingLimitedPartnershipUnitBasicNetOfTax",
                eps_diluted="NetIncomeLossPerOutstandingLimitedPartnershipUnitDiluted",
                shares_basic="WeightedAverageLimitedPartnershipUnitsOutstanding",
                shares_diluted="WeightedAverageLimitedPartnershipUnitsOutstandingDiluted",
                dividends_per_share="DistributionMadeToLimitedPartnerDistributionsPaidPerUnit",
                dividends_paid="PaymentsOfCapitalDistribution",
                equity="PartnersCapital",
            ),
            CASH,
            *CLASSIFIED,
            BORROWED_SHORT,
        ),
        totals=SAME_EVERYWHERE,
    ),
    Kind.SHELL: Statements(
        derived={"trust": {"assets": 0.9}},
        lines=(
            Line("pretax", PRETAX),
            Line("net_income", "NetIncomeLoss"),
            Line("eps_basic", "EarningsPerShareBasicAndDiluted", measure=PER_SHARE),
            Line("shares_basic", "WeightedAverageNumberOfShareOutstandingBasicAndDiluted", measure=SHARES),
            Line("operating_cash_flow", "NetCashProvidedByUsedInOperatingActivities", CASH_FLOW),
            Line("cash", "Cash", BALANCE),
            Line("trust", "AssetsHeldInTrustNoncurrent", BALANCE),
            Line("assets", "Assets", BALANCE),
            Line("liabilities", "Liabilities", BALANCE),
            Line("equity", "StockholdersEquity", BALANCE),
        ),
        totals={"net_income": {"net_income": 1}, "cash_and_equivalents": {"cash": 1}},
    ),
}
