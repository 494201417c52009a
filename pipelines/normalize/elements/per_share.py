"""Amounts per share, and the average shares that they are per.

Belongs here: elements with a unit per share or in shares. Does not: what they are made of (income).
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

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
        us("NetIncomeLossPerOutstandingLimitedPartnershipUnit", why="partnerships, one figure without dilution"),
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
    can_be_negative=False,
    sources=(
        us("CommonStockDividendsPerShareDeclared", why="declared"),
        us("CommonStockDividendsPerShareCashPaid", why="paid, where only that is stated"),
        us("DistributionMadeToLimitedPartnerDistributionsDeclaredPerUnit", why="partnerships, declared"),
        us("DistributionMadeToLimitedPartnerDistributionsPaidPerUnit", why="partnerships, paid"),
        us("InvestmentCompanyDistributionToShareholdersPerShare", why="investment companies distribute their income"),
        ifrs("DividendsRecognisedAsDistributionsToOwnersPerShare", why="IAS 1.107"),
        ifrs("DividendsPaidOrdinarySharesPerShare", why="paid, where only that is stated"),
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
        us("WeightedAverageLimitedPartnershipUnitsOutstandingDiluted", why="partnerships"),
        ifrs("AdjustedWeightedAverageShares", why="IAS 33.70(b)"),
    ),
)
