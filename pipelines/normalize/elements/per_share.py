"""Amounts per share, and the average numbers of shares that they are divided by.

Belongs here: elements with a unit per share or in shares. Does not: the earnings themselves (income), splits (shares).
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us

EPS_BASIC = Concept(
    "eps_basic",
    "per_share",
    instant=False,
    sources=(
        us(
            "EarningsPerShareBasic",
            rule="eps.basic.reported",
            statement="Basic earnings per share are those that the income statement shows.",
            source="ASC 260-10-45-2",
        ),
        us(
            "EarningsPerShareBasicAndDiluted",
            rule="eps.basic.basic-and-diluted",
            statement="Where one figure is reported for basic and diluted earnings per share, it counts as the basic "
            "one.",
        ),
        us(
            "IncomeLossFromContinuingOperationsPerBasicShare",
            plus=("IncomeLossFromDiscontinuedOperationsNetOfTaxPerBasicShare",),
            rule="eps.basic.continuing-and-discontinued",
            statement="Where only the parts are reported, basic earnings per share are those of continuing operations "
            "plus those of discontinued operations, if any.",
        ),
        us(
            "NetIncomeLossPerOutstandingLimitedPartnershipUnitBasicNetOfTax",
            rule="eps.basic.partnership-unit",
            statement="A partnership's basic earnings per share are those per limited partnership unit.",
        ),
        ifrs(
            "BasicEarningsLossPerShare",
            rule="eps.basic.ifrs.reported",
            statement="Under IFRS basic earnings per share are those that the income statement shows.",
            source="IAS 33.66",
        ),
    ),
)

DIVIDENDS_PER_SHARE = Concept(
    "dividends_per_share",
    "per_share",
    instant=False,
    can_be_negative=False,
    sources=(
        us(
            "CommonStockDividendsPerShareDeclared",
            rule="dividends-per-share.declared",
            statement="Dividends per share are those declared on common stock.",
        ),
        us(
            "CommonStockDividendsPerShareCashPaid",
            rule="dividends-per-share.paid",
            statement="Where no declared dividends are reported, dividends per share are those paid in cash.",
        ),
        us(
            "DistributionMadeToLimitedPartnerDistributionsPaidPerUnit",
            rule="dividends-per-share.partnership-paid",
            statement="A partnership's dividends per share are the distributions paid per limited partner unit.",
        ),
        us(
            "InvestmentCompanyDistributionToShareholdersPerShare",
            rule="dividends-per-share.investment-company",
            statement="An investment company's dividends per share are its distributions to shareholders per share.",
        ),
        Source(
            "dividends-per-share.nothing-paid",
            "Dividends per share are zero if the filing states none and dividends paid on common stock as zero.",
            elements=("PaymentsOfDividendsCommonStock",),
            only_zero=True,
            measure="money",
        ),
        Source(
            "dividends-per-share.nothing-paid-on-any-stock",
            "Dividends per share are zero if the filing states none and all dividends paid as zero.",
            elements=("PaymentsOfDividends",),
            only_zero=True,
            measure="money",
        ),
        ifrs(
            "DividendsRecognisedAsDistributionsToOwnersPerShare",
            rule="dividends-per-share.ifrs.recognised",
            statement="Under IFRS dividends per share are those recognised as distributions to owners.",
            source="IAS 1.107",
        ),
        ifrs(
            "DividendsPaidOrdinarySharesPerShare",
            rule="dividends-per-share.ifrs.paid",
            statement="Under IFRS, where no recognised dividends are reported, dividends per share are those paid per "
            "ordinary share.",
        ),
    ),
)
SHARES_BASIC = Concept(
    "shares_basic",
    "shares",
    instant=False,
    can_be_negative=False,
    sources=(
        us(
            "WeightedAverageNumberOfSharesOutstandingBasic",
            rule="shares.basic.weighted-average",
            statement="Basic shares are the weighted average that basic earnings per share are divided by.",
            source="ASC 260-10-45-10",
        ),
        us(
            "WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
            rule="shares.basic.basic-and-diluted",
            statement="Where one weighted average is reported for basic and diluted shares, it counts as the basic "
            "one.",
        ),
        us(
            "WeightedAverageNumberOfSharesIssuedBasic",
            rule="shares.basic.issued",
            statement="Where there is no other element, basic shares are the weighted average under the element of "
            "shares issued, as in older filings.",
        ),
        us(
            "WeightedAverageLimitedPartnershipUnitsOutstanding",
            rule="shares.basic.partnership-units",
            statement="A partnership's basic shares are the weighted average of its limited partnership units.",
        ),
        ifrs(
            "WeightedAverageShares",
            rule="shares.basic.ifrs.weighted-average",
            statement="Under IFRS basic shares are the weighted average that basic earnings per share are divided by.",
            source="IAS 33.70(b)",
        ),
    ),
)

SHARES_DILUTED = Concept(
    "shares_diluted",
    "shares",
    instant=False,
    can_be_negative=False,
    sources=(
        us(
            "WeightedAverageNumberOfDilutedSharesOutstanding",
            rule="shares.diluted.weighted-average",
            statement="Diluted shares are the weighted average that diluted earnings per share are divided by.",
            source="ASC 260-10-45-16",
        ),
        us(
            "WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
            rule="shares.diluted.basic-and-diluted",
            statement="Where one weighted average is reported for basic and diluted shares, it counts as the "
            "diluted one.",
        ),
        us(
            "WeightedAverageNumberOfSharesOutstandingBasic",
            "WeightedAverageNumberDilutedSharesOutstandingAdjustment",
            rule="shares.diluted.basic-and-adjustment",
            statement="Where no diluted average is reported, diluted shares are basic shares plus the reported "
            "dilutive adjustment.",
            source="ASC 260-10-45-16",
        ),
        us(
            "WeightedAverageNumberOfSharesOutstandingBasic",
            "IncrementalCommonSharesAttributableToShareBasedPaymentArrangements",
            plus=(
                "IncrementalCommonSharesAttributableToConversionOfPreferredStock",
                "IncrementalCommonSharesAttributableToConversionOfDebtSecurities",
                "IncrementalCommonSharesAttributableToCallOptionsAndWarrants",
            ),
            rule="shares.diluted.basic-and-incremental",
            statement="Where neither a diluted average nor its adjustment is reported, diluted shares are basic shares "
            "plus the incremental shares of share-based payment and of conversions.",
            source="ASC 260-10-45-16",
        ),
        us(
            "WeightedAverageLimitedPartnershipUnitsOutstandingDiluted",
            rule="shares.diluted.partnership-units",
            statement="A partnership's diluted shares are the diluted weighted average of its limited partnership "
            "units.",
        ),
        ifrs(
            "AdjustedWeightedAverageShares",
            rule="shares.diluted.ifrs.weighted-average",
            statement="Under IFRS diluted shares are the adjusted weighted average of ordinary shares.",
            source="IAS 33.70(b)",
        ),
    ),
)
