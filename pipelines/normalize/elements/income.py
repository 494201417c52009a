"""The income statement: revenue, operating income, taxes and net income.

Belongs here: elements of amounts earned over a duration. Does not: amounts per share (per_share), cash (cash_flow).
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us

COST_OF_REVENUE = ("CostOfRevenue", "cost of revenue")
COST_OF_GOODS_AND_SERVICES = ("CostOfGoodsAndServicesSold", "cost of goods and services sold")
"""The elements of the cost of sales, and their words."""

CONSOLIDATED = ("ProfitLoss", "consolidated net income")
OF_PARENT = ("NetIncomeLoss", "net income")
"""The elements of net income, and their words."""

NET_OF_DISCONTINUED = ("net of discontinued operations", ("IncomeLossFromDiscontinuedOperationsNetOfTax",))
NET_OF_DISCONTINUED_OF_PARENT = (
    "net of the parent's share of discontinued operations",
    ("IncomeLossFromDiscontinuedOperationsNetOfTaxAttributableToReportingEntity",),
)
NOTHING_DISCONTINUED: tuple[str, tuple[str, ...]] = ("where no discontinued operations are reported", ())
"""How net income excludes discontinued operations: words, and the elements subtracted."""

REVENUE = Concept(
    "revenue",
    "money",
    instant=False,
    can_be_negative=False,
    sources=(
        us(
            "RevenuesNetOfInterestExpense",
            rule="revenue.net-of-interest-expense",
            statement="Revenue is the filer's own total net of interest expense, as banks, brokers and card issuers "
            "report it.",
        ),
        us(
            "InterestIncomeExpenseNet",
            "NoninterestIncome",
            of=("bank",),
            rule="revenue.bank.net-interest-and-noninterest-income",
            statement="A bank's revenue is its net interest income plus its noninterest income.",
            source="Regulation S-X Rule 9-04",
        ),
        us(
            "InterestAndDividendIncomeOperating",
            "NoninterestIncome",
            minus=("InterestExpense",),
            of=("bank",),
            rule="revenue.bank.interest-income-less-expense",
            statement="Where a bank reports no net interest income, its revenue is interest and dividend income plus "
            "noninterest income, less interest expense.",
            source="Regulation S-X Rule 9-04",
        ),
        *(
            us(
                cost,
                "GrossProfit",
                where=("ExciseAndSalesTaxes",),
                but=("bank",),
                rule=rule,
                statement=f"Where excise taxes are reported, revenue is {words} plus gross profit, which is net of "
                "these taxes, because elements of revenue may include them.",
            )
            for rule, (cost, words) in (
                ("revenue.net-of-excise-taxes.cost-of-revenue", COST_OF_REVENUE),
                ("revenue.net-of-excise-taxes.cost-of-goods-and-services", COST_OF_GOODS_AND_SERVICES),
            )
        ),
        us(
            "InterestAndDividendIncomeOperating",
            "NoninterestIncome",
            minus=("InterestExpenseOperating",),
            of=("bank",),
            rule="revenue.bank.interest-income-less-operating-expense",
            statement="Where a bank tags its interest expense as operating, as many have since 2024, its revenue is "
            "interest and dividend income plus noninterest income, less that expense.",
            source="Regulation S-X Rule 9-04",
        ),
        us(
            "Revenues",
            at_least=("SalesRevenueNet",),
            rule="revenue.total",
            statement="Revenue is the total on the face of the income statement, unless net sales are larger, which "
            "shows that the figure is a segment's; revenue from contracts alone would lack rents, premiums, interest "
            "and derivatives.",
        ),
        us(
            "RealEstateRevenueNet",
            of=("reit",),
            rule="revenue.reit.real-estate",
            statement="A real estate company's revenue is its net real estate revenue, as reported until 2018.",
        ),
        us(
            "OperatingLeaseLeaseIncome",
            plus=("RevenueFromContractWithCustomerExcludingAssessedTax",),
            of=("reit",),
            rule="revenue.reit.rents-and-services",
            statement="A real estate company's revenue is its rents plus its services to tenants, if any.",
            source="ASC 842 (rents), ASC 606 (services)",
        ),
        us(
            "PremiumsEarnedNet",
            "NetInvestmentIncome",
            plus=("GainLossOnInvestments", "InsuranceCommissionsAndFees"),
            of=("insurer",),
            rule="revenue.insurer.premiums-and-investment-income",
            statement="An insurer's revenue is net premiums earned plus net investment income, with investment gains "
            "and commissions where reported.",
            source="Regulation S-X Rule 7-04",
        ),
        us(
            "RegulatedAndUnregulatedOperatingRevenue",
            rule="revenue.utility.regulated-and-unregulated",
            statement="A utility's revenue is its regulated and unregulated operating revenue; revenue from contracts "
            "alone lacks the adjustments of regulated rates.",
        ),
        us(
            "RegulatedOperatingRevenue",
            plus=("UnregulatedOperatingRevenue",),
            at_least=("RevenueFromContractWithCustomerExcludingAssessedTax",),
            rule="revenue.utility.regulated",
            statement="Without such a total, a utility's revenue is its regulated operating revenue plus unregulated "
            "operating revenue, if any, unless revenue from contracts is larger.",
        ),
        us(
            "RevenueFromContractWithCustomerExcludingAssessedTax",
            but=("bank",),
            rule="revenue.contract-with-customer",
            statement="Without a total, revenue is revenue from contracts with customers, excluding assessed taxes; a "
            "bank's interest is not from such contracts.",
            source="ASC 606",
        ),
        us(
            "RevenueFromContractWithCustomerIncludingAssessedTax",
            but=("bank",),
            rule="revenue.contract-with-customer-including-tax",
            statement="Where taxes are not split off, revenue is revenue from contracts with customers including "
            "assessed taxes.",
            source="ASC 606",
        ),
        us(
            "SalesRevenueNet",
            rule="revenue.net-sales",
            statement="Until 2018, where there is no element of total revenue, revenue is net sales.",
        ),
        us(
            "SalesRevenueGoodsNet",
            "SalesRevenueServicesNet",
            rule="revenue.goods-and-services",
            statement="Where only the two halves of net sales are reported, revenue is goods plus services.",
        ),
        us(
            "GrossInvestmentIncomeOperating",
            of=("investment_company",),
            rule="revenue.investment-company.investment-income",
            statement="An investment company's revenue is its total investment income; an insurer's same element is "
            "before investment costs and is not used.",
        ),
        us(
            "RealEstateRevenueNet",
            but=("reit", "bank"),
            rule="revenue.real-estate",
            statement="The revenue of a property owner that is not a trust is its net real estate revenue, as reported "
            "until 2018; a bank's is the rent of a building.",
        ),
        us(
            "SalesRevenueGoodsNet",
            rule="revenue.goods",
            statement="A seller of goods alone reports net sales of goods, which are its revenue.",
        ),
        us(
            "SalesRevenueServicesNet",
            rule="revenue.services",
            statement="A seller of services alone reports net sales of services, which are its revenue.",
        ),
        us(
            "CostOfRevenue",
            "GrossProfit",
            but=("bank",),
            rule="revenue.cost-and-gross-profit",
            statement="Where no revenue is tagged, it is cost of revenue plus gross profit.",
        ),
        us(
            "RevenueFromCollaborativeArrangementExcludingRevenueFromContractWithCustomer",
            rule="revenue.collaborative-arrangements",
            statement="A drug developer without sales reports revenue from collaborative arrangements, which is its "
            "revenue.",
            source="ASC 808",
        ),
        us(
            "CostsAndExpenses",
            "OperatingIncomeLoss",
            but=("bank", "broker", "insurer", "financial", "investment_company"),
            rule="revenue.costs-and-operating-income",
            statement="Where neither revenue nor gross profit is tagged, revenue is costs and expenses plus operating "
            "income.",
            source="Regulation S-X Rule 5-03: the income statement leads from revenue over costs to operating income",
        ),
        ifrs(
            "RevenueAndOperatingIncome",
            of=("bank",),
            rule="revenue.ifrs.bank-total",
            statement="Under IFRS a bank's revenue is its total of revenue and operating income, net of interest "
            "expense.",
        ),
        ifrs(
            "Revenue",
            but=("bank",),
            rule="revenue.ifrs.total",
            statement="Under IFRS revenue is the total on the face of the income statement; a bank's is before "
            "interest expense and is not used.",
            source="IAS 1.82(a)",
        ),
        ifrs(
            "RevenueFromContractsWithCustomers",
            but=("bank",),
            rule="revenue.ifrs.contract-with-customer",
            statement="Under IFRS, without a total, revenue is revenue from contracts with customers.",
            source="IFRS 15",
        ),
    ),
)

NET_INCOME_COMMON = Concept(
    "net_income_common",
    "money",
    instant=False,
    sources=(
        us(
            "NetIncomeLossAvailableToCommonStockholdersBasic",
            rule="net-income.common.available-to-common",
            statement="Net income available to common stockholders is the numerator of basic earnings per share.",
            source="ASC 260-10-45-11",
        ),
        us(
            "NetIncomeLossAllocatedToLimitedPartners",
            of=("partnership",),
            rule="net-income.common.limited-partners",
            statement="A partnership's net income for common units is the part allocated to limited partners, without "
            "that of preferred units and the general partner.",
        ),
        ifrs(
            "ProfitLossAttributableToOrdinaryEquityHoldersOfParentEntity",
            rule="net-income.common.ifrs.ordinary-equity-holders",
            statement="Under IFRS net income available to common is the profit attributable to ordinary equity "
            "holders, the numerator of basic earnings per share.",
            source="IAS 33.12",
        ),
    ),
)

NET_INCOME_PARENT = Concept(
    "net_income_parent",
    "money",
    instant=False,
    sources=(
        us(
            "NetIncomeLoss",
            rule="net-income.parent.attributable",
            statement="Net income of the parent is net income attributable to it.",
        ),
        us(
            "ProfitLoss",
            minus=("NetIncomeLossAttributableToNoncontrollingInterest",),
            rule="net-income.parent.less-noncontrolling-interests",
            statement="Where only consolidated net income is reported, the parent's is what remains after "
            "noncontrolling interests.",
        ),
        us(
            "ProfitLoss",
            rule="net-income.parent.consolidated",
            statement="Where no noncontrolling interests are reported, consolidated net income is the parent's.",
        ),
        ifrs(
            "ProfitLossAttributableToOwnersOfParent",
            rule="net-income.parent.ifrs.attributable",
            statement="Under IFRS net income of the parent is the profit attributable to its owners.",
            source="IAS 1.81B",
        ),
        ifrs(
            "ProfitLoss",
            rule="net-income.parent.ifrs.consolidated",
            statement="Under IFRS, where no attribution is reported, the profit for the period is the parent's.",
        ),
    ),
)

EARNINGS_NUMERATOR = Concept(
    "earnings_numerator",
    "money",
    instant=False,
    sources=tuple(
        us(
            "NetIncomeLossFromContinuingOperationsAvailableToCommonShareholdersBasic",
            *discontinued,
            rule=rule,
            statement=f"Where no earnings per share are stated, {words} is what they are computed from.",
            source="ASC 260-10-45-10 and 260-10-45-11: income from continuing operations available to common",
        )
        for rule, words, discontinued in (
            (
                "earnings-numerator.with-discontinued-of-parent",
                "income from continuing operations available to common plus the parent's share of discontinued "
                "operations",
                NET_OF_DISCONTINUED_OF_PARENT[1],
            ),
            (
                "earnings-numerator.with-discontinued",
                "income from continuing operations available to common plus discontinued operations",
                NET_OF_DISCONTINUED[1],
            ),
            (
                "earnings-numerator.continuing",
                "income from continuing operations available to common, if no discontinued operations are reported,",
                NOTHING_DISCONTINUED[1],
            ),
        )
    ),
)

PREFERRED_DIVIDENDS = Concept(
    "preferred_dividends",
    "money",
    instant=False,
    sources=(
        us(
            "PreferredStockDividendsIncomeStatementImpact",
            rule="preferred-dividends.income-statement",
            statement="Preferred dividends are the line between net income and income available to common.",
        ),
        us(
            "PreferredStockDividendsAndOtherAdjustments",
            rule="preferred-dividends.with-adjustments",
            statement="Where that line includes redemption premiums and other adjustments, they are included.",
        ),
        us(
            "DividendsPreferredStock",
            rule="preferred-dividends.declared",
            statement="Without such a line, preferred dividends are those declared in the statement of equity.",
        ),
    ),
)
OPERATING_INCOME = Concept(
    "operating_income",
    "money",
    instant=False,
    sources=(
        us(
            "OperatingIncomeLoss",
            rule="operating-income.reported",
            statement="Operating income is the subtotal on the face of the income statement.",
        ),
        ifrs(
            "ProfitLossFromOperatingActivities",
            rule="operating-income.ifrs.reported",
            statement="Under IFRS operating income is the subtotal of profit from operating activities.",
        ),
    ),
)

OPERATING_COSTS = Concept(
    "operating_costs",
    "money",
    instant=False,
    sources=(
        us(
            "CostsAndExpenses",
            rule="operating-costs.total",
            statement="Operating costs are the filer's own total of costs and expenses.",
        ),
        *(
            us(
                cost,
                "SellingGeneralAndAdministrativeExpense",
                rule=rule,
                statement=f"Without a total, operating costs are at least {words} plus selling, general and "
                "administrative expense.",
            )
            for rule, (cost, words) in (
                ("operating-costs.cost-of-revenue-and-sga", COST_OF_REVENUE),
                ("operating-costs.cost-of-goods-and-services-and-sga", COST_OF_GOODS_AND_SERVICES),
            )
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
            rule="pretax-income.with-equity-method",
            statement="Income before tax is the line of the income statement, with results of equity method "
            "investments.",
        ),
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments",
            rule="pretax-income.before-equity-method",
            statement="Otherwise income before tax is the line before results of equity method investments.",
        ),
        us(
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesDomestic",
            plus=("IncomeLossFromContinuingOperationsBeforeIncomeTaxesForeign",),
            rule="pretax-income.domestic-and-foreign",
            statement="Where the income statement has no such line, income before tax is domestic plus foreign income "
            "from the note on income taxes.",
            source="Regulation S-X Rule 4-08(h)",
        ),
        *(
            us(
                income,
                "IncomeTaxExpenseBenefit",
                minus=elements,
                rule=rule,
                statement=f"Without any such line, income before tax is {words} plus income tax, {which}.",
            )
            for rule, (income, words), (which, elements) in (
                ("pretax-income.from-consolidated-net-income", CONSOLIDATED, NET_OF_DISCONTINUED),
                ("pretax-income.from-consolidated-net-income-of-parent", CONSOLIDATED, NET_OF_DISCONTINUED_OF_PARENT),
                ("pretax-income.from-consolidated-net-income-alone", CONSOLIDATED, NOTHING_DISCONTINUED),
                ("pretax-income.from-net-income", OF_PARENT, NET_OF_DISCONTINUED),
                ("pretax-income.from-net-income-of-parent", OF_PARENT, NET_OF_DISCONTINUED_OF_PARENT),
                ("pretax-income.from-net-income-alone", OF_PARENT, NOTHING_DISCONTINUED),
            )
        ),
        ifrs(
            "ProfitLossBeforeTax",
            rule="pretax-income.ifrs.reported",
            statement="Under IFRS income before tax is the profit before tax.",
        ),
    ),
)

INCOME_TAX = Concept(
    "income_tax",
    "money",
    instant=False,
    sources=(
        us(
            "IncomeTaxExpenseBenefit",
            rule="income-tax.reported",
            statement="Income tax is the expense or benefit on income from continuing operations.",
            source="ASC 740",
        ),
        Source(
            "income-tax.none",
            "Income tax is zero if no line states it and net income is exactly income before tax.",
            "Regulation S-X Rule 5-03: net income is income before tax less income tax",
            elements=("NetIncomeLoss",),
            minus=("IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",),
            only_zero=True,
        ),
        ifrs(
            "IncomeTaxExpenseContinuingOperations",
            rule="income-tax.ifrs.reported",
            statement="Under IFRS income tax is the tax expense of continuing operations.",
            source="IAS 12.77",
        ),
    ),
)

INTEREST_EXPENSE = Concept(
    "interest_expense",
    "money",
    instant=False,
    sources=(
        us(
            "InterestExpenseNonoperating",
            rule="interest-expense.nonoperating",
            statement="Interest expense is the amount tagged as nonoperating, which lies below operating income.",
        ),
        us(
            "InterestExpense",
            rule="interest-expense.reported",
            statement="Otherwise interest expense is the line of the income statement.",
        ),
        us(
            "InterestAndDebtExpense",
            rule="interest-expense.with-debt-expense",
            statement="Otherwise interest expense is the line that includes other costs of debt.",
        ),
        us(
            "InterestExpenseDebt",
            rule="interest-expense.on-debt",
            statement="Otherwise interest expense is the interest on borrowings.",
        ),
        us(
            "InterestExpenseOperating",
            rule="interest-expense.operating",
            statement="Interest expense among the operating expenses counts where it is the only line.",
        ),
        ifrs(
            "FinanceCosts",
            rule="interest-expense.ifrs.finance-costs",
            statement="Under IFRS interest expense is finance costs.",
            source="IAS 1.82(b)",
        ),
    ),
)

INVESTMENT_INCOME = Concept(
    "investment_income",
    "money",
    instant=False,
    sources=(
        us(
            "InvestmentIncomeInterestAndDividend",
            rule="investment-income.interest-and-dividends",
            statement="Investment income is interest and dividends earned.",
        ),
        us(
            "InvestmentIncomeInterest",
            rule="investment-income.interest",
            statement="Otherwise investment income is the interest earned on cash and securities.",
        ),
        us(
            "InvestmentIncomeNet",
            rule="investment-income.net",
            statement="Otherwise investment income is the net amount, with gains and after investment costs.",
        ),
        us(
            "InvestmentIncomeNonoperating",
            rule="investment-income.nonoperating",
            statement="Otherwise investment income is the amount tagged as nonoperating.",
        ),
        ifrs(
            "FinanceIncome",
            rule="investment-income.ifrs.finance-income",
            statement="Under IFRS investment income is the finance income reported next to finance costs.",
        ),
    ),
)

NET_INTEREST = Concept(
    "net_interest",
    "money",
    instant=False,
    sources=(
        us(
            "InterestIncomeExpenseNonoperatingNet",
            rule="net-interest.nonoperating",
            statement="Net interest is interest income less interest expense, tagged as nonoperating.",
        ),
        us(
            "InterestIncomeExpenseNet",
            but=("bank",),
            rule="net-interest.reported",
            statement="Otherwise net interest is interest income less interest expense; a bank's is a part of its "
            "revenue and is not used.",
        ),
    ),
)

GROSS_PROFIT = Concept(
    "gross_profit",
    "money",
    instant=False,
    sources=(
        us(
            "GrossProfit",
            rule="gross-profit.total",
            statement="Gross profit is revenue less the cost of revenue.",
            source="Regulation S-X Rule 5-03",
        ),
        ifrs(
            "GrossProfit",
            rule="gross-profit.ifrs.total",
            statement="Under IFRS gross profit is revenue less cost of sales.",
            source="IAS 1.103",
        ),
    ),
)

COST_OF_REVENUE_TOTAL = Concept(
    "cost_of_revenue",
    "money",
    instant=False,
    sources=(
        us(
            "CostOfRevenue",
            rule="cost-of-revenue.total",
            statement="The cost of revenue is the filer's own total.",
            source="Regulation S-X Rule 5-03.2",
        ),
        us(
            "CostOfGoodsAndServicesSold",
            rule="cost-of-revenue.goods-and-services",
            statement="Without a total, the cost of revenue is the cost of goods and services sold.",
            source="Regulation S-X Rule 5-03.2",
        ),
        us(
            "CostOfGoodsSold",
            rule="cost-of-revenue.goods",
            statement="Without other costs, the cost of revenue is the cost of goods sold.",
            source="Regulation S-X Rule 5-03.2",
        ),
        ifrs(
            "CostOfSales",
            rule="cost-of-revenue.ifrs.sales",
            statement="Under IFRS the cost of revenue is the cost of sales.",
            source="IAS 1.103",
        ),
    ),
)
