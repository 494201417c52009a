"""The income statement: revenue, operating income, taxes and net income.

Belongs here: elements of amounts earned over a duration. Does not: amounts per share (per_share), cash (cash_flow).
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

REVENUE = Concept(
    "revenue",
    "money",
    instant=False,
    can_be_negative=False,
    sources=(
        us(
            "RevenuesNetOfInterestExpense",
            why="the filer's own total, net of interest expense: banks, brokers and card issuers",
        ),
        us("InterestIncomeExpenseNet", "NoninterestIncome", of=("bank",), why="both halves of a bank's income, net"),
        us(
            "InterestAndDividendIncomeOperating",
            "NoninterestIncome",
            minus=("InterestExpense",),
            of=("bank",),
            why="net by hand",
        ),
        *(
            us(
                cost,
                "GrossProfit",
                where=("ExciseAndSalesTaxes",),
                but=("bank",),
                why="net of excise taxes, as the filer measures its profit: elements of revenue do not tell which is",
            )
            for cost in ("CostOfRevenue", "CostOfGoodsAndServicesSold")
        ),
        us(
            "InterestAndDividendIncomeOperating",
            "NoninterestIncome",
            minus=("InterestExpenseOperating",),
            of=("bank",),
            why="the same, with interest expense as banks tag it since 2024",
        ),
        us(
            "Revenues",
            at_least=("SalesRevenueNet",),
            why="the face total, unless a segment's; contract revenue below leaves out rents, premiums, interest and "
            "derivatives, and is gross of rebates to customers",
        ),
        us("RealEstateRevenueNet", of=("reit",), why="rents and what goes with them, until 2018"),
        us(
            "OperatingLeaseLeaseIncome",
            plus=("RevenueFromContractWithCustomerExcludingAssessedTax",),
            of=("reit",),
            why="rents (ASC 842), and services to tenants (ASC 606)",
        ),
        us(
            "PremiumsEarnedNet",
            "NetInvestmentIncome",
            plus=("GainLossOnInvestments", "InsuranceCommissionsAndFees"),
            of=("insurer",),
            why="what Regulation S-X 7-04 adds up to revenues",
        ),
        us("RegulatedAndUnregulatedOperatingRevenue", why="utilities; contract revenue leaves out what rates true up"),
        us("RevenueFromContractWithCustomerExcludingAssessedTax", why="ASC 606, since 2018"),
        us("RevenueFromContractWithCustomerIncludingAssessedTax", why="ASC 606 where taxes are not split off"),
        us("SalesRevenueNet", why="until 2018"),
        us("SalesRevenueGoodsNet", "SalesRevenueServicesNet", why="the two halves of net sales"),
        us(
            "GrossInvestmentIncomeOperating",
            of=("investment_company",),
            why="total investment income; with insurers it is before what investing costs",
        ),
        us("RealEstateRevenueNet", but=("reit",), why="owners of property that are no trusts, until 2018"),
        us("HealthCareOrganizationRevenue", why="health care until 2018"),
        us("ElectricUtilityRevenue", why="electric utilities"),
        us("OilAndGasRevenue", why="oil and gas until 2018"),
        us("SalesRevenueGoodsNet", why="sellers of goods only"),
        us("SalesRevenueServicesNet", why="sellers of services only"),
        us("CostOfRevenue", "GrossProfit", but=("bank",), why="the identity of the income statement"),
        us(
            "RevenueFromCollaborativeArrangementExcludingRevenueFromContractWithCustomer",
            why="developers of drugs that sell none, ASC 808",
        ),
        ifrs("RevenueAndOperatingIncome", of=("bank",), why="a bank's total, net of interest expense"),
        ifrs("Revenue", but=("bank",), why="IAS 1.82(a); with banks it is gross of interest expense"),
        ifrs("RevenueFromContractsWithCustomers", but=("bank",), why="IFRS 15"),
    ),
)

NET_INCOME_COMMON = Concept(
    "net_income_common",
    "money",
    instant=False,
    sources=(
        us("NetIncomeLossAvailableToCommonStockholdersBasic", why="numerator of basic EPS, ASC 260-10-45-11"),
        us(
            "NetIncomeLossAllocatedToLimitedPartners",
            why="numerator of earnings per unit: without what preferred units and the general partner get",
            of=("partnership",),
        ),
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
OPERATING_INCOME = Concept(
    "operating_income",
    "money",
    instant=False,
    sources=(
        us("OperatingIncomeLoss", why="the face subtotal"),
        ifrs("ProfitLossFromOperatingActivities", why="the face subtotal"),
    ),
)

OPERATING_COSTS = Concept(
    "operating_costs",
    "money",
    instant=False,
    sources=(
        us("CostsAndExpenses", why="the filer's own total"),
        *(
            us(
                cost,
                "SellingGeneralAndAdministrativeExpense",
                why="the lines that most filers have; others beside them only add to the total",
            )
            for cost in ("CostOfRevenue", "CostOfGoodsAndServicesSold")
        ),
    ),
)

PRETAX_INCOME = Concept(
    "pretax_income",
    "money",
    instant=False,
    in_notes=True,
    sources=(
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
            why="with associates' results",
        ),
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments",
            why="without them",
        ),
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesDomestic",
            plus=("IncomeLossFromContinuingOperationsBeforeIncomeTaxesForeign",),
            why="by country, from the note on income taxes",
        ),
        *(
            us(income, "IncomeTaxExpenseBenefit", minus=discontinued, why="the income statement read from below")
            for income in ("ProfitLoss", "NetIncomeLoss")
            for discontinued in (
                ("IncomeLossFromDiscontinuedOperationsNetOfTax",),
                ("IncomeLossFromDiscontinuedOperationsNetOfTaxAttributableToReportingEntity",),
                (),
            )
        ),
        ifrs("ProfitLossBeforeTax", why="IAS 1.102"),
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

INTEREST_EXPENSE = Concept(
    "interest_expense",
    "money",
    instant=False,
    sources=(
        us("InterestExpenseNonoperating", why="below operating income, by its name"),
        us("InterestExpense", why="the face line"),
        us("InterestAndDebtExpense", why="with the costs of debt"),
        us("InterestExpenseDebt", why="on borrowings"),
        us("InterestExpenseOperating", why="among operating expenses, where it is the only line"),
        ifrs("FinanceCosts", why="IAS 1.82(b)"),
    ),
)

INVESTMENT_INCOME = Concept(
    "investment_income",
    "money",
    instant=False,
    sources=(
        us("InvestmentIncomeInterestAndDividend", why="interest and dividends"),
        us("InvestmentIncomeInterest", why="interest on cash and securities"),
        us("InvestmentIncomeNet", why="with gains, less costs"),
        us("InvestmentIncomeNonoperating", why="below operating income, by its name"),
        ifrs("FinanceIncome", why="beside finance costs"),
    ),
)

NET_INTEREST = Concept(
    "net_interest",
    "money",
    instant=False,
    sources=(
        us("InterestIncomeExpenseNonoperatingNet", why="income less expense, below operating income, by its name"),
        us("InterestIncomeExpenseNet", but=("bank",), why="income less expense"),
    ),
)
