"""The cash flow statement: operating cash flow and capital expenditure.

Belongs here: elements of cash that moved over a duration. Does not: cash held at an instant (cash).
"""

from pipelines.normalize.elements.sources import IFRS, US_GAAP, Concept, Elements, Footing, Source, ifrs, us
from pipelines.normalize.industry.names import INDUSTRIES, Industry

OPERATING_CASH_FLOW = Concept(
    "operating_cash_flow",
    "money",
    instant=False,
    sources=(
        us(
            "NetCashProvidedByUsedInOperatingActivities",
            rule="operating-cash-flow.total",
            statement="Operating cash flow is the total of operating activities in the cash flow statement.",
            source="ASC 230-10-45-24",
        ),
        us(
            "NetCashProvidedByUsedInOperatingActivitiesContinuingOperations",
            plus=("CashProvidedByUsedInOperatingActivitiesDiscontinuedOperations",),
            rule="operating-cash-flow.continuing-and-discontinued",
            statement="Without a total, operating cash flow is that of continuing operations plus that of discontinued "
            "operations, if any; some filers use the first element for the total.",
        ),
        ifrs(
            "CashFlowsFromUsedInOperatingActivities",
            rule="operating-cash-flow.ifrs.total",
            statement="Under IFRS operating cash flow is the total of operating activities in the cash flow statement.",
            source="IAS 7.10",
        ),
    ),
)

LEASED_TO_OTHERS = ("PaymentsToAcquireEquipmentOnLease", "PaymentsToAcquireLeasesHeldForInvestment")
WELLS = ("PaymentsToAcquireOilAndGasPropertyAndEquipment", "PaymentsToExploreAndDevelopOilAndGasProperties")
WELLS_OR_DEVELOPMENT = (*WELLS, "PaymentsToDevelopRealEstateAssets")
"""If one of these is larger, other plant or other assets are a small part of what was spent. Development alone is no
capital expenditure either: Public Storage's improvements, more than its development, are lines of its own."""
WELLS_OR_BUILDINGS = (*WELLS, "PaymentsForCapitalImprovements", "PaymentsToAcquireMachineryAndEquipment")
"""If one of these is larger, property, plant and equipment is a separate line and not the total."""
PLANT_APART_FROM_WELLS = (
    "PaymentsToAcquireOtherPropertyPlantAndEquipment",
    "PaymentsToAcquirePropertyPlantAndEquipment",
)

PRODUCERS: tuple[Industry, ...] = ("oil_and_gas", "partnership", "utility")
NOT_PRODUCERS = tuple(industry for industry in INDUSTRIES if industry not in PRODUCERS)


def wells(of: tuple[Industry, ...], who: str, exploration: str, property_and_equipment: str) -> tuple[Source, ...]:
    """Spending on oil and gas wells: the main business of producers, a small investment of others.

    Args:
        of: the industries.
        who: the filers in words.
        exploration: the id of the rule for exploration and development.
        property_and_equipment: the id of the rule for payments for property and equipment.
    """
    return (
        us(
            "PaymentsToExploreAndDevelopOilAndGasProperties",
            plus=PLANT_APART_FROM_WELLS,
            of=of,
            rule=exploration,
            statement=f"Capital expenditure of {who} is exploration and development of oil and gas properties plus "
            "other plant and equipment, without purchases of reserves that are a separate line.",
        ),
        us(
            "PaymentsToAcquireOilAndGasPropertyAndEquipment",
            plus=PLANT_APART_FROM_WELLS,
            of=of,
            rule=property_and_equipment,
            statement=f"Where exploration and development is not a separate line, capital expenditure of {who} is "
            "payments for oil and gas property and equipment plus other plant and equipment.",
        ),
    )


Flows = tuple[str, str, str]
OF_US_GAAP: Flows = (
    US_GAAP,
    "NetCashProvidedByUsedInOperatingActivities",
    "NetCashProvidedByUsedInFinancingActivities",
)
OF_IFRS: Flows = (IFRS, "CashFlowsFromUsedInOperatingActivities", "CashFlowsFromUsedInFinancingActivities")


def no_investing(rule: str, words: str, change: str, effect: str, of: Flows) -> Source:
    """The proof that there was no investing: the change in cash less operating and financing cash flow is zero.

    Args:
        rule: the id of the rule.
        words: the change in cash in words.
        change: the element of the change in cash. effect: that of the effect of exchange rates, subtracted if present.
        of: the taxonomy, and the elements of operating and of financing cash flow.
    """
    taxonomy, operating, financing = of
    return Source(
        rule,
        f"Capital expenditure is zero if no line states it and {words} is exactly operating plus financing cash flow "
        "and the effect of exchange rates, because then nothing was invested.",
        "ASC 230-10-45-24 and IAS 7.10: operating, investing and financing activities add up to the change in cash",
        elements=(change,),
        minus=(operating, financing),
        less=(effect,),
        taxonomy=taxonomy,
        only_zero=True,
    )


INVESTING_PAYMENTS = (
    "PaymentsToAcquireBusinessesNetOfCashAcquired",
    "PaymentsToAcquireBusinessesGross",
    "PaymentsToAcquireBusinessesAndInterestInAffiliates",
    "PaymentsToAcquireInterestInSubsidiariesAndAffiliates",
    "PaymentsToAcquireEquityMethodInvestments",
    "PaymentsToAcquireInvestments",
    "PaymentsToAcquireMarketableSecurities",
    "PaymentsToAcquireShortTermInvestments",
    "PaymentsToAcquireLongtermInvestments",
    "PaymentsToAcquireOtherInvestments",
    "PaymentsToAcquireAvailableForSaleSecurities",
    "PaymentsToAcquireAvailableForSaleSecuritiesDebt",
    "PaymentsToAcquireHeldToMaturitySecurities",
    "PaymentsToAcquireRestrictedInvestments",
    "PaymentsToAcquireIntangibleAssets",
    "PaymentsToDevelopSoftware",
    "PaymentsToAcquireNotesReceivable",
    "PaymentsToAcquireLoansReceivable",
    "PaymentsToAcquireFinanceReceivables",
    "PaymentsToAcquireRealEstate",
    "PaymentsToAcquireRealEstateHeldForInvestment",
    "PaymentsForProceedsFromInvestments",
)
"""Payments for investing other than capital expenditure."""
OTHER_INVESTING_PAYMENTS = (
    "PaymentsToAcquireAssetsInvestingActivities",
    "PaymentsForProceedsFromOtherInvestingActivities",
    "PaymentsForProceedsFromOtherDeposits",
    "IncreaseDecreaseInDeferredCharges",
)
"""Further lines that some filers show among investing activities, and others elsewhere or net of proceeds."""
INVESTING_PROCEEDS = (
    "ProceedsFromSaleOfPropertyPlantAndEquipment",
    "ProceedsFromSaleOfProductiveAssets",
    "ProceedsFromDivestitureOfBusinesses",
    "ProceedsFromDivestitureOfBusinessesNetOfCashDivested",
    "ProceedsFromSaleMaturityAndCollectionsOfInvestments",
    "ProceedsFromSaleMaturityAndCollectionsOfShorttermInvestments",
    "ProceedsFromSaleOfShortTermInvestments",
    "ProceedsFromSaleAndMaturityOfMarketableSecurities",
    "ProceedsFromMaturitiesPrepaymentsAndCallsOfAvailableForSaleSecurities",
    "ProceedsFromSaleOfAvailableForSaleSecurities",
    "ProceedsFromSaleOfAvailableForSaleSecuritiesDebt",
    "ProceedsFromPaymentsForOtherInvestingActivities",
)
"""Proceeds of investing activities."""

ADDITIONS = "PropertyPlantAndEquipmentAdditions"
"""What was added to plant, which notes state with unpaid invoices; a few filers tag their payments with it."""


def additions(rule: str, words: str, elements: Elements = (), minus: Elements = ()) -> Source:
    """Additions to plant that the other lines of investing activities prove to be what was paid.

    Args:
        rule: the id of the rule. words: how the filer states the additions.
        elements: the element of additions as a positive amount. minus: the same as a negative one.
    """
    return Source(
        rule,
        f"Where no payments for plant are stated, capital expenditure is additions to property, plant and equipment"
        f"{words} if they and the other lines of investing activities add up exactly to investing cash flow.",
        "ASC 230-10-45-24: the lines of investing activities add up to their total",
        elements=elements,
        minus=minus,
        footing=Footing(
            (
                "NetCashProvidedByUsedInInvestingActivities",
                "NetCashProvidedByUsedInInvestingActivitiesContinuingOperations",
            ),
            (*INVESTING_PAYMENTS, *OTHER_INVESTING_PAYMENTS),
            INVESTING_PROCEEDS,
        ),
    )


CAPITAL_EXPENDITURE = Concept(
    "capital_expenditure",
    "money",
    instant=False,
    can_be_negative=False,
    in_notes=True,
    sources=(
        us(
            "PaymentsToAcquirePropertyPlantAndEquipment",
            of=("bank",),
            rule="capital-expenditure.bank.property-plant-and-equipment",
            statement="A bank's capital expenditure is payments for property, plant and equipment; equipment that it "
            "leases to others is lending and is not added.",
            source="ASC 230-10-45-13",
        ),
        us(
            "PaymentsToAcquirePropertyPlantAndEquipment",
            plus=LEASED_TO_OTHERS,
            at_least=WELLS_OR_BUILDINGS,
            but=("bank", "reit"),
            rule="capital-expenditure.property-plant-and-equipment",
            statement="Capital expenditure is payments for property, plant and equipment plus payments for equipment "
            "leased to others, such as a maker's vehicles, because its rents are operating cash flow, unless more was "
            "spent on wells, capital improvements or machinery.",
            source="ASC 230-10-45-13 (payments for productive assets); ASC 842-30-45-5: the rents are operating cash "
            "flow, so without the purchases free cash flow would have the income of the equipment and not its cost",
        ),
        us(
            "PaymentsToAcquirePropertyPlantAndEquipment",
            at_least=(*WELLS_OR_BUILDINGS, "PaymentsToDevelopRealEstateAssets"),
            of=("reit",),
            rule="capital-expenditure.reit.property-plant-and-equipment",
            statement="A real estate company's capital expenditure is payments for property, plant and equipment "
            "(towers, data centres), unless more was spent on developing or improving buildings.",
            source="ASC 230-10-45-13",
        ),
        us(
            "PaymentsToAcquireProductiveAssets",
            plus=LEASED_TO_OTHERS,
            rule="capital-expenditure.productive-assets",
            statement="Capital expenditure is payments for productive assets, which include intangible assets on the "
            "same line, plus payments for equipment leased to others.",
        ),
        *wells(
            PRODUCERS,
            "an oil and gas producer",
            "capital-expenditure.producer-wells.exploration-and-development",
            "capital-expenditure.producer-wells.property-and-equipment",
        ),
        us(
            "PaymentsForCapitalImprovements",
            plus=("PaymentsToDevelopRealEstateAssets", "PaymentsToAcquirePropertyPlantAndEquipment"),
            of=("reit",),
            rule="capital-expenditure.reit.improvements-and-development",
            statement="A real estate company's capital expenditure is capital improvements plus development and other "
            "plant; purchases of buildings are investments.",
        ),
        us(
            "PaymentsForFlightEquipment",
            plus=("PaymentsToAcquireOtherProductiveAssets", "PaymentsToAcquireOtherPropertyPlantAndEquipment"),
            rule="capital-expenditure.airline.flight-and-ground-equipment",
            statement="An airline's capital expenditure is its flight equipment plus its ground equipment.",
        ),
        us(
            "PaymentsForCapitalImprovements",
            plus=("PaymentsToAcquirePropertyPlantAndEquipment",),
            but=("reit",),
            rule="capital-expenditure.capital-improvements",
            statement="Capital expenditure is capital improvements plus property, plant and equipment where "
            "improvements are the only or the larger line.",
        ),
        us(
            "PaymentsToAcquireMachineryAndEquipment",
            plus=("PaymentsToAcquirePropertyPlantAndEquipment",),
            at_least=WELLS,
            rule="capital-expenditure.machinery-and-equipment",
            statement="Capital expenditure is payments for machinery and equipment plus property, plant and equipment "
            "where machinery is the only or the larger line, unless more was spent on wells.",
        ),
        us(
            "PaymentsToAcquireWaterAndWasteWaterSystems",
            of=("utility",),
            rule="capital-expenditure.utility.water-systems",
            statement="A water utility's capital expenditure is payments for water and waste water systems.",
        ),
        us(
            "PaymentsToAcquireMiningAssets",
            rule="capital-expenditure.mining-assets",
            statement="A miner's capital expenditure is payments for mining assets where they are the only line.",
        ),
        us(
            "PaymentsToAcquireEquipmentOnLease",
            plus=("PaymentsToAcquireOtherPropertyPlantAndEquipment",),
            but=("bank",),
            rule="capital-expenditure.lessor-equipment",
            statement="A lessor's capital expenditure is equipment leased to others plus other plant, if any.",
        ),
        us(
            "PaymentsToAcquireOtherPropertyPlantAndEquipment",
            at_least=WELLS_OR_DEVELOPMENT,
            rule="capital-expenditure.other-property-plant-and-equipment",
            statement="Capital expenditure is payments for other property, plant and equipment where they are the only "
            "line, unless more was spent on wells or on developing real estate.",
        ),
        us(
            "PaymentsToAcquireOtherProductiveAssets",
            at_least=WELLS_OR_DEVELOPMENT,
            rule="capital-expenditure.other-productive-assets",
            statement="Capital expenditure is payments for other productive assets where they are the only line, "
            "unless more was spent on wells or on developing real estate.",
        ),
        us(
            "PaymentsForProceedsFromProductiveAssets",
            reservation="net_of_disposals",
            rule="capital-expenditure.net-of-disposals",
            statement="Where only the net amount is reported, capital expenditure is payments for productive assets "
            "less proceeds of disposals, and the value is flagged.",
        ),
        *wells(
            NOT_PRODUCERS,
            "a company that is not a producer",
            "capital-expenditure.non-producer-wells.exploration-and-development",
            "capital-expenditure.non-producer-wells.property-and-equipment",
        ),
        additions("capital-expenditure.additions-by-footing", "", elements=(ADDITIONS,)),
        additions(
            "capital-expenditure.additions-by-footing.as-outflow", ", filed as a negative amount,", minus=(ADDITIONS,)
        ),
        ifrs(
            "PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities",
            rule="capital-expenditure.ifrs.property-plant-and-equipment",
            statement="Under IFRS capital expenditure is purchases of property, plant and equipment among investing "
            "activities.",
            source="IAS 7.16(a)",
        ),
        ifrs(
            "PurchaseOfPropertyPlantAndEquipmentIntangibleAssetsOtherThanGoodwillInvestmentPropertyAndOtherNoncurrentAssets",
            rule="capital-expenditure.ifrs.all-noncurrent-assets",
            statement="Under IFRS, where only one line is reported, capital expenditure is purchases of property, "
            "plant, equipment, intangible assets and other noncurrent assets.",
        ),
        no_investing(
            "capital-expenditure.no-investing.with-restricted-cash",
            "the change in cash, cash equivalents and restricted cash",
            "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncreaseDecreaseIncludingExchangeRate"
            "Effect",
            "EffectOfExchangeRateOnCashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
            OF_US_GAAP,
        ),
        no_investing(
            "capital-expenditure.no-investing.cash-and-equivalents",
            "the change in cash and cash equivalents",
            "CashAndCashEquivalentsPeriodIncreaseDecrease",
            "EffectOfExchangeRateOnCashAndCashEquivalents",
            OF_US_GAAP,
        ),
        no_investing(
            "capital-expenditure.no-investing.cash",
            "the change in cash",
            "CashPeriodIncreaseDecrease",
            "EffectOfExchangeRateOnCash",
            OF_US_GAAP,
        ),
        no_investing(
            "capital-expenditure.no-investing.ifrs",
            "the change in cash under IFRS",
            "IncreaseDecreaseInCashAndCashEquivalents",
            "EffectOfExchangeRateChangesOnCashAndCashEquivalents",
            OF_IFRS,
        ),
    ),
)

CUSTOMER_FUNDS = Concept(
    "customer_funds",
    "money",
    instant=False,
    sources=(
        us(
            "IncreaseDecreaseInPayablesToCustomers",
            rule="customer-funds.change-in-payables",
            statement="The change in customer funds is the change in payables to customers within operating "
            "activities.",
        ),
    ),
)

INVESTING_CASH_FLOW = Concept(
    "investing_cash_flow",
    "money",
    instant=False,
    sources=(
        us(
            "NetCashProvidedByUsedInInvestingActivities",
            rule="investing-cash-flow.total",
            statement="Investing cash flow is the total of investing activities in the cash flow statement.",
            source="ASC 230-10-45-24",
        ),
        us(
            "NetCashProvidedByUsedInInvestingActivitiesContinuingOperations",
            plus=("CashProvidedByUsedInInvestingActivitiesDiscontinuedOperations",),
            rule="investing-cash-flow.continuing-and-discontinued",
            statement="Without a total, investing cash flow is that of continuing operations plus that of discontinued "
            "operations, if any.",
        ),
        ifrs(
            "CashFlowsFromUsedInInvestingActivities",
            rule="investing-cash-flow.ifrs.total",
            statement="Under IFRS investing cash flow is the total of investing activities in the cash flow statement.",
            source="IAS 7.10",
        ),
    ),
)

INVESTING_WITHOUT_PAYMENTS = Concept(
    "investing_without_payments",
    "money",
    instant=False,
    sources=(
        us(
            "NetCashProvidedByUsedInInvestingActivities",
            plus=INVESTING_PAYMENTS,
            of=("general", "utility", "oil_and_gas", "partnership"),
            rule="investing-cash-flow.without-payments",
            statement="Investing cash flow without the payments for businesses, securities, loans and other assets "
            "that are stated is compared with capital expenditure, unless lending or investing is the business.",
            source="ASC 230-10-45-13",
        ),
    ),
)

PLANT_BESIDE_LEASED = Concept(
    "plant_beside_leased",
    "money",
    instant=False,
    sources=(
        us(
            "PaymentsToAcquirePropertyPlantAndEquipment",
            where=("PaymentsToAcquireEquipmentOnLease",),
            but=("bank", "reit"),
            rule="capital-expenditure.plant-beside-leased",
            statement="Where equipment leased to others is stated as well, payments for property, plant and equipment "
            "alone are compared with investing cash flow.",
            source="ASC 230-10-45-13",
        ),
    ),
)

FINANCING_CASH_FLOW = Concept(
    "financing_cash_flow",
    "money",
    instant=False,
    sources=(
        us(
            "NetCashProvidedByUsedInFinancingActivities",
            rule="financing-cash-flow.total",
            statement="Financing cash flow is the total of financing activities in the cash flow statement.",
            source="ASC 230-10-45-24",
        ),
        us(
            "NetCashProvidedByUsedInFinancingActivitiesContinuingOperations",
            plus=("CashProvidedByUsedInFinancingActivitiesDiscontinuedOperations",),
            rule="financing-cash-flow.continuing-and-discontinued",
            statement="Without a total, financing cash flow is that of continuing operations plus that of discontinued "
            "operations, if any.",
        ),
        ifrs(
            "CashFlowsFromUsedInFinancingActivities",
            rule="financing-cash-flow.ifrs.total",
            statement="Under IFRS financing cash flow is the total of financing activities in the cash flow statement.",
            source="IAS 7.10",
        ),
    ),
)

EXCHANGE_EFFECT = Concept(
    "exchange_effect",
    "money",
    instant=False,
    sources=(
        us(
            "EffectOfExchangeRateOnCashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
            rule="exchange-effect.with-restricted-cash",
            statement="The effect of exchange rates on cash is that on cash, cash equivalents and restricted cash.",
            source="ASC 230-10-45-24",
        ),
        us(
            "EffectOfExchangeRateOnCashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsIncludingDisposalGroup"
            "AndDiscontinuedOperations",
            rule="exchange-effect.with-restricted-cash-and-disposal-groups",
            statement="Where only that is stated, the effect of exchange rates on cash includes cash of disposal "
            "groups and discontinued operations.",
        ),
        us(
            "EffectOfExchangeRateOnCashAndCashEquivalents",
            rule="exchange-effect.cash-and-equivalents",
            statement="Before restricted cash was part of the statement, the effect of exchange rates is that on cash "
            "and cash equivalents.",
            source="ASC 230-10-45-24",
        ),
        ifrs(
            "EffectOfExchangeRateChangesOnCashAndCashEquivalents",
            rule="exchange-effect.ifrs.cash-and-equivalents",
            statement="Under IFRS the effect of exchange rates is that on cash and cash equivalents.",
            source="IAS 7.28",
        ),
    ),
)

CHANGE_IN_CASH = Concept(
    "change_in_cash",
    "money",
    instant=False,
    sources=(
        us(
            "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncreaseDecreaseIncludingExchangeRate"
            "Effect",
            rule="change-in-cash.with-restricted-cash",
            statement="The change in cash is that of cash, cash equivalents and restricted cash, after the effect of "
            "exchange rates.",
            source="ASC 230-10-45-24",
        ),
        us(
            "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncreaseDecreaseExcludingExchangeRate"
            "Effect",
            rule="change-in-cash.with-restricted-cash-before-exchange",
            statement="Where only that is stated, the change in cash is that before the effect of exchange rates.",
        ),
        us(
            "CashAndCashEquivalentsPeriodIncreaseDecrease",
            rule="change-in-cash.cash-and-equivalents",
            statement="Before restricted cash was part of the statement, the change in cash is that of cash and cash "
            "equivalents.",
            source="ASC 230-10-45-24",
        ),
        us(
            "CashPeriodIncreaseDecrease",
            rule="change-in-cash.cash-alone",
            statement="The change in cash of filers without cash equivalents is that of cash.",
        ),
        ifrs(
            "IncreaseDecreaseInCashAndCashEquivalents",
            rule="change-in-cash.ifrs.cash-and-equivalents",
            statement="Under IFRS the change in cash is that of cash and cash equivalents.",
            source="IAS 7.45",
        ),
        ifrs(
            "IncreaseDecreaseInCashAndCashEquivalentsBeforeEffectOfExchangeRateChanges",
            rule="change-in-cash.ifrs.before-exchange",
            statement="Under IFRS, where only that is stated, the change in cash is that before the effect of exchange "
            "rates.",
        ),
    ),
)
