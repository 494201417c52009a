"""Elements that prove amounts which a filing does not state; no value is taken from them.

Belongs here: their names; the tables of the lines of investing and financing activities (cash_flow_lines.csv) and of
changes of equity (equity_lines.csv). Does not: the rules that use them (derived), amounts that are only compared with
stated ones, the sources of operating cash flow and capital expenditure (sources).

Columns of the table of cash flow lines:

- `section`: the total to which the line belongs, one of SECTIONS.
- `element`: of the US GAAP taxonomy.
- `sign`: 1 for a receipt and for a net amount that is positive when cash comes in, -1 for a payment.
- `class`: `dividend` for dividends on common stock, `borrowing` for debt that is taken up or repaid, and for its costs;
  otherwise `line`.
"""

from pathlib import Path

import polars as pl

from pipelines.normalize.elements.lines import FACE_PREFIX

INVESTING, FINANCING = "investing", "financing"
SECTIONS = {
    INVESTING: "NetCashProvidedByUsedInInvestingActivities",
    FINANCING: "NetCashProvidedByUsedInFinancingActivities",
}
"""The sections of the table, and the element of each total."""

DIVIDEND, BORROWING, LINE = "dividend", "borrowing", "line"

_ROWS = pl.read_csv(Path(__file__).with_name("cash_flow_lines.csv"), infer_schema=False)
_IS_KNOWN = pl.all_horizontal(
    pl.col("section").is_in(list(SECTIONS)),
    pl.col("sign").is_in(["1", "-1"]),
    pl.col("class").is_in([DIVIDEND, BORROWING, LINE]),
).fill_null(value=False)
if _WRONG := _ROWS.filter(~_IS_KNOWN | pl.struct("section", "element").is_duplicated()).rows():
    raise ValueError(f"cash_flow_lines.csv: {_WRONG} come twice, or have an unknown section, sign or class")

FACE_LINES = {BORROWING: 24, LINE: 40}
"""For each class, how many lines on the face of financing activities may have an element that is not in the table."""


def face_line(kind: str, number: int) -> str:
    """The name, in place of an element, of a face line that is not in the table; positive when cash comes in."""
    return f"{FACE_PREFIX}{FINANCING}:{kind}:{number}"


_OF_FACES = pl.DataFrame(
    [(FINANCING, face_line(kind, number), "1", kind) for kind, most in FACE_LINES.items() for number in range(most)],
    schema=_ROWS.schema,
    orient="row",
)
LINES = pl.concat([_ROWS, _OF_FACES]).select(
    "section",
    tag="element",
    sign=pl.col("sign").cast(pl.Float64),
    is_dividend=pl.col("class") == DIVIDEND,
    is_borrowing=pl.col("class") == BORROWING,
)
"""`section`, `tag`, `sign`, `is_dividend`, `is_borrowing`: one row for each line, including face lines."""

INCOME = ("NetIncomeLoss", "ProfitLoss", "NetIncomeLossAvailableToCommonStockholdersBasic")
"""Income that changes retained earnings; if all are equal, the first one is used."""
PREFERRED_DIVIDENDS = (
    "PreferredStockDividendsIncomeStatementImpact",
    "DividendsPreferredStock",
    "DividendsPreferredStockCash",
    "PaymentsOfDividendsPreferredStockAndPreferenceStock",
)
RETIRED = ("StockRepurchasedAndRetiredDuringPeriodValue", "TreasuryStockRetiredCostMethodAmount")
"""Stock that is bought back and retired: its cost above the issue price is taken off retained earnings."""
RETAINED_EARNINGS, EQUITY = "RetainedEarningsAccumulatedDeficit", "StockholdersEquity"
EQUITY_LINES = pl.read_csv(Path(__file__).with_name("equity_lines.csv")).select(
    "line", tag="element", sign=pl.col("sign").cast(pl.Float64), place=pl.int_range(pl.len())
)
"""Changes of equity except dividends: `tag`, `sign`, `line`. If a line has several elements, the one with the lowest
`place` is read."""
DIVIDENDS_PAYABLE = ("DividendsPayableCurrent", "DividendsPayableCurrentAndNoncurrent")
DECLARED_PER_SHARE, PAID_PER_SHARE = "CommonStockDividendsPerShareDeclared", "CommonStockDividendsPerShareCashPaid"
PAID_ON_ALL_STOCK = "PaymentsOfDividends"
PAID = ("PaymentsOfDividendsCommonStock", PAID_ON_ALL_STOCK)
"""Dividends paid on common stock."""
ALL_DIVIDENDS = ("DividendsCash", "Dividends")
"""Dividends on any stock; under these elements, a bank may also state dividends that it pays to its parent."""
SHOWN_BY_ZERO = (
    DECLARED_PER_SHARE,
    PAID_PER_SHARE,
    "DividendsCommonStock",
    "DividendsCommonStockCash",
    *ALL_DIVIDENDS,
    "ifrs-full:DividendsPaid",
    "ifrs-full:DividendsPaidOrdinaryShares",
    "ifrs-full:DividendsPaidClassifiedAsFinancingActivities",
    "ifrs-full:DividendsPaidToEquityHoldersOfParentClassifiedAsFinancingActivities",
    "ifrs-full:DividendsRecognisedAsDistributionsToOwners",
    "ifrs-full:DividendsRecognisedAsDistributionsToOwnersPerShare",
    "ifrs-full:DividendsPaidOrdinarySharesPerShare",
    *PAID,
)
"""A zero under one of these elements shows that there was no dividend on common stock. A zero capital distribution does
not show it."""
DIVIDENDS = tuple(dict.fromkeys((*SHOWN_BY_ZERO, *LINES.filter("is_dividend")["tag"])))
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
OF_BASIC = (BASIC_EARNINGS, "ifrs-full:BasicEarningsLossPerShare")
OF_DILUTED = (DILUTED_EARNINGS, "ifrs-full:DilutedEarningsLossPerShare")
EARNINGS_OF_BOTH = "EarningsPerShareBasicAndDiluted"
BASIC_AVERAGE = "WeightedAverageNumberOfSharesOutstandingBasic"
DILUTIVE_ADJUSTMENT = "WeightedAverageNumberDilutedSharesOutstandingAdjustment"
DILUTION = (
    *OF_DILUTED,
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
"""Elements that show that a filer has potential shares, even if these do not dilute."""

ELEMENTS: frozenset[str] = frozenset(LINES["tag"]).union(
    SECTIONS.values(),
    INCOME,
    PREFERRED_DIVIDENDS,
    (RETAINED_EARNINGS, EQUITY, BASIC_AVERAGE, DILUTIVE_ADJUSTMENT),
    EQUITY_LINES["tag"],
    RETIRED,
    OF_BASIC,
    DIVIDENDS_PAYABLE,
    DIVIDENDS,
    DISCONTINUED,
    CONTINUING,
    DILUTION,
)
"""All elements of this module."""
