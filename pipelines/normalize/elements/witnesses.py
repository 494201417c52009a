"""Amounts that no item is made of, but that prove or contradict those of the items: witnesses.

Belongs here: elements that are compared with net income, earnings per share, dividends and revenue. Does not: these
amounts themselves (income, per_share), the comparison (corrections).
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

PROFIT = Concept(
    "profit",
    "money",
    instant=False,
    sources=(
        us(
            "ProfitLoss",
            minus=("NetIncomeLossAttributableToNoncontrollingInterest",),
            rule="witness.profit.less-noncontrolling-interests",
            statement="Consolidated net income less that of noncontrolling interests is compared with net income of "
            "the parent.",
            source="ASC 810-10-50-1A",
        ),
        us(
            "ProfitLoss",
            rule="witness.profit.consolidated",
            statement="Otherwise consolidated net income, the first line of many cash flow statements, is compared "
            "with net income of the parent.",
        ),
        ifrs(
            "ProfitLoss",
            minus=("ProfitLossAttributableToNoncontrollingInterests",),
            rule="witness.profit.ifrs.less-noncontrolling-interests",
            statement="Under IFRS the profit less that of noncontrolling interests is compared with that of the "
            "parent's owners.",
            source="IAS 1.81B",
        ),
        ifrs(
            "ProfitLoss",
            rule="witness.profit.ifrs.consolidated",
            statement="Otherwise, under IFRS, the profit for the period is compared with that of the parent's owners.",
            source="IAS 1.81A",
        ),
    ),
)

EPS_DILUTED = Concept(
    "eps_diluted",
    "per_share",
    instant=False,
    sources=(
        us(
            "EarningsPerShareDiluted",
            rule="witness.eps-diluted.reported",
            statement="Diluted earnings per share times diluted shares are compared with net income.",
            source="ASC 260-10-45-16",
        ),
        ifrs(
            "DilutedEarningsLossPerShare",
            rule="witness.eps-diluted.ifrs.reported",
            statement="Under IFRS diluted earnings per share times diluted shares are compared with the profit.",
            source="IAS 33.66",
        ),
    ),
)

COMPREHENSIVE_INCOME = Concept(
    "comprehensive_income",
    "money",
    instant=False,
    sources=(
        us(
            "ComprehensiveIncomeNetOfTax",
            rule="witness.comprehensive-income.of-parent",
            statement="The sign of comprehensive income of a similar amount is a weak witness of the sign of net "
            "income.",
        ),
        ifrs(
            "ComprehensiveIncome",
            rule="witness.comprehensive-income.ifrs.total",
            statement="Under IFRS the sign of comprehensive income of a similar amount is a weak witness of the sign "
            "of the profit.",
        ),
    ),
)

RETAINED_EARNINGS = Concept(
    "retained_earnings",
    "money",
    instant=True,
    sources=(
        us(
            "RetainedEarningsAccumulatedDeficit",
            rule="witness.retained-earnings.reported",
            statement="The change of retained earnings over a period, where it has the amount of net income, proves "
            "its sign.",
            source="Regulation S-X Rule 5-02.30",
        ),
        ifrs(
            "RetainedEarnings",
            rule="witness.retained-earnings.ifrs.reported",
            statement="Under IFRS the change of retained earnings, where it has the amount of the profit, proves its "
            "sign.",
        ),
    ),
)

DIVIDENDS_PAID = Concept(
    "dividends_paid",
    "money",
    instant=False,
    sources=(
        us(
            "PaymentsOfDividendsCommonStock",
            rule="witness.dividends-paid.common",
            statement="Dividends paid on common stock are compared with dividends per share times shares.",
        ),
        us(
            "PaymentsOfDividends",
            rule="witness.dividends-paid.all",
            statement="Otherwise all dividends paid are compared with dividends per share times shares.",
        ),
        us(
            "PaymentsOfOrdinaryDividends",
            rule="witness.dividends-paid.ordinary",
            statement="Otherwise ordinary dividends paid are compared with dividends per share times shares.",
        ),
        ifrs(
            "DividendsPaidClassifiedAsFinancingActivities",
            rule="witness.dividends-paid.ifrs.financing",
            statement="Under IFRS dividends paid are compared with dividends per share times shares.",
        ),
    ),
)

DIVIDENDS_DECLARED = Concept(
    "dividends_declared",
    "money",
    instant=False,
    sources=(
        us(
            "DividendsCommonStockCash",
            rule="witness.dividends-declared.common-in-cash",
            statement="Dividends declared on common stock in cash are compared with dividends per share times shares.",
        ),
        us(
            "DividendsCommonStock",
            rule="witness.dividends-declared.common",
            statement="Otherwise all dividends declared on common stock are compared with dividends per share times "
            "shares.",
        ),
        us(
            "DividendsCash",
            rule="witness.dividends-declared.in-cash",
            statement="Otherwise all dividends declared in cash are compared with dividends per share times shares.",
        ),
    ),
)

DIVIDENDS_PAID_PER_SHARE = Concept(
    "dividends_paid_per_share",
    "per_share",
    instant=False,
    sources=(
        us(
            "CommonStockDividendsPerShareCashPaid",
            rule="witness.dividends-paid-per-share.cash",
            statement="Dividends paid per share are compared with those declared per share.",
        ),
        ifrs(
            "DividendsPaidOrdinarySharesPerShare",
            rule="witness.dividends-paid-per-share.ifrs.ordinary",
            statement="Under IFRS dividends paid per share are compared with those recognised per share.",
        ),
    ),
)

OTHER_REVENUE = Concept(
    "other_revenue",
    "money",
    instant=False,
    sources=(
        us(
            "RevenueFromContractWithCustomerExcludingAssessedTax",
            but=("bank",),
            rule="witness.revenue.contract-with-customer",
            statement="Revenue from contracts with customers is compared with revenue, if both are usually equal.",
            source="ASC 606",
        ),
        us(
            "SalesRevenueNet",
            but=("bank",),
            rule="witness.revenue.net-sales",
            statement="Net sales are compared with revenue, if both are usually equal.",
        ),
    ),
)

REVENUE_OF_BANK = Concept(
    "revenue_of_bank",
    "money",
    instant=False,
    sources=(
        us(
            "InterestAndDividendIncomeOperating",
            "NoninterestIncome",
            minus=("InterestExpense",),
            of=("bank",),
            rule="witness.revenue.bank-interest-less-expense",
            statement="A bank's interest and noninterest income less interest expense are compared with its revenue.",
            source="Regulation S-X Rule 9-04",
        ),
        us(
            "InterestAndDividendIncomeOperating",
            "NoninterestIncome",
            minus=("InterestExpenseOperating",),
            of=("bank",),
            rule="witness.revenue.bank-interest-less-operating-expense",
            statement="Otherwise a bank's interest and noninterest income less interest expense that is tagged as "
            "operating are compared with its revenue.",
            source="Regulation S-X Rule 9-04",
        ),
    ),
)

_PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
REVENUE_BY_EXPENSES = Concept(
    "revenue_by_expenses",
    "money",
    instant=False,
    sources=tuple(
        us(
            _PRETAX,
            "NoninterestExpense",
            *provision,
            of=("bank",),
            rule=rule,
            statement=f"A bank's income before tax plus noninterest expense and {words} is compared with its revenue.",
            source="Regulation S-X Rule 9-04",
        )
        for rule, words, provision in (
            (
                "witness.revenue.bank-expenses-and-provision-for-loans-and-leases",
                "the provision for losses on loans, leases and others",
                ("ProvisionForLoanLeaseAndOtherLosses",),
            ),
            (
                "witness.revenue.bank-expenses-and-provision-expensed",
                "the provision for loan losses",
                ("ProvisionForLoanLossesExpensed",),
            ),
            (
                "witness.revenue.bank-expenses-and-provision",
                "the provision for losses on loans and leases",
                ("ProvisionForLoanAndLeaseLosses",),
            ),
        )
    ),
)

WITNESSES_OF_INCOME = (
    PROFIT,
    EPS_DILUTED,
    COMPREHENSIVE_INCOME,
    RETAINED_EARNINGS,
    DIVIDENDS_PAID,
    DIVIDENDS_DECLARED,
    DIVIDENDS_PAID_PER_SHARE,
    OTHER_REVENUE,
    REVENUE_OF_BANK,
    REVENUE_BY_EXPENSES,
)
"""The amounts that only prove others; the corrections use them, and no later step."""
