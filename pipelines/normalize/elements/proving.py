"""Elements that prove amounts which a filing does not state; no value is read from them.

Belongs here: their names. Does not: the rules that use them (derived), the lines of the cash flow statement
(cash_flow_lines), witnesses that are compared with stated amounts (witnesses).
"""

from pipelines.normalize.elements import cash_flow_lines

INCOME = ("NetIncomeLoss", "ProfitLoss", "NetIncomeLossAvailableToCommonStockholdersBasic")
"""Income that retained earnings change by; the first one is used where all are equal."""
PREFERRED_DIVIDENDS = (
    "PreferredStockDividendsIncomeStatementImpact",
    "DividendsPreferredStock",
    "DividendsPreferredStockCash",
    "PaymentsOfDividendsPreferredStockAndPreferenceStock",
)
RETAINED_EARNINGS = "RetainedEarningsAccumulatedDeficit"
DIVIDENDS_PAYABLE = ("DividendsPayableCurrent", "DividendsPayableCurrentAndNoncurrent")
DECLARED_PER_SHARE, PAID_PER_SHARE = "CommonStockDividendsPerShareDeclared", "CommonStockDividendsPerShareCashPaid"
PAID = ("PaymentsOfDividendsCommonStock", "PaymentsOfDividends")
"""Dividends paid on common stock; a zero shows that there were none."""
DIVIDENDS = (
    DECLARED_PER_SHARE,
    PAID_PER_SHARE,
    "DividendsCommonStock",
    "DividendsCommonStockCash",
    "DividendsCash",
    "Dividends",
    *cash_flow_lines.LINES.filter("is_dividend")["tag"],
)
"""Elements that show a dividend on common stock."""

DISCONTINUED = (
    "IncomeLossFromDiscontinuedOperationsNetOfTax",
    "IncomeLossFromDiscontinuedOperationsNetOfTaxAttributableToReportingEntity",
)
CONTINUING = (
    "IncomeLossFromContinuingOperations",
    "IncomeLossFromContinuingOperationsIncludingPortionAttributableToNoncontrollingInterest",
)
BASIC_EARNINGS, DILUTED_EARNINGS = "EarningsPerShareBasic", "EarningsPerShareDiluted"
EARNINGS_OF_BOTH = "EarningsPerShareBasicAndDiluted"
BASIC_AVERAGE = "WeightedAverageNumberOfSharesOutstandingBasic"
DILUTIVE_ADJUSTMENT = "WeightedAverageNumberDilutedSharesOutstandingAdjustment"
NONINTEREST_INCOME = "NoninterestIncome"
LINES_OF_BANK = (
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
    "NoninterestExpense",
    "InterestIncomeExpenseAfterProvisionForLoanLoss",
    "InterestIncomeExpenseNet",
)
"""Income before tax, noninterest expense, net interest income after the provision and before it."""

DILUTION = (
    DILUTED_EARNINGS,
    "NetIncomeLossAvailableToCommonStockholdersDiluted",
    DILUTIVE_ADJUSTMENT,
    EARNINGS_OF_BOTH,
    "WeightedAverageNumberOfDilutedSharesOutstanding",
    "WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
    "AntidilutiveSecuritiesExcludedFromComputationOfEarningsPerShareAmount",
    "IncrementalCommonSharesAttributableToShareBasedPaymentArrangements",
    "IncrementalCommonSharesAttributableToConversionOfPreferredStock",
    "IncrementalCommonSharesAttributableToConversionOfDebtSecurities",
    "IncrementalCommonSharesAttributableToCallOptionsAndWarrants",
    "ShareBasedCompensation",
    "AllocatedShareBasedCompensationExpense",
)
"""Elements of a filer that has potential shares, even if these do not dilute."""

ELEMENTS: frozenset[str] = cash_flow_lines.ELEMENTS.union(
    INCOME,
    PREFERRED_DIVIDENDS,
    (RETAINED_EARNINGS, BASIC_EARNINGS, BASIC_AVERAGE, DILUTED_EARNINGS, DILUTIVE_ADJUSTMENT),
    DIVIDENDS_PAYABLE,
    DIVIDENDS,
    DISCONTINUED,
    CONTINUING,
    DILUTION,
    (NONINTEREST_INCOME,),
    LINES_OF_BANK,
)
"""All elements of this module and of the lines of the cash flow statement."""
