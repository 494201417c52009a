"""The cash flow statement: operating cash flow and capital expenditure.

Belongs here: elements of cash that moved over a duration. Does not: cash held at an instant (cash).
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us
from pipelines.normalize.industry.classification import INDUSTRIES, Industry

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

LEASED_TO_OTHERS = ("PaymentsToAcquireEquipmentOnLease", "PaymentsToAcquireLeasesHeldForInvestment")
WELLS = ("PaymentsToAcquireOilAndGasPropertyAndEquipment", "PaymentsToExploreAndDevelopOilAndGasProperties")
WELLS_OR_BUILDINGS = (*WELLS, "PaymentsForCapitalImprovements")
"""Where more is spent on these, property, plant and equipment is a line beside them, and no total."""
BESIDE_WELLS = ("PaymentsToAcquireOtherPropertyPlantAndEquipment", "PaymentsToAcquirePropertyPlantAndEquipment")

PRODUCERS: tuple[Industry, ...] = ("oil_and_gas", "partnership", "utility")


def wells(of: tuple[Industry, ...]) -> tuple[Source, ...]:
    """What is paid for wells: the business of some; beside the plant of others it is a small investment."""
    return (
        us(
            "PaymentsToExploreAndDevelopOilAndGasProperties",
            plus=("PaymentsToAcquireOilAndGasEquipment", *BESIDE_WELLS),
            of=of,
            why="wells, without what is paid for reserves on another line",
        ),
        us(
            "PaymentsToAcquireOilAndGasPropertyAndEquipment",
            plus=BESIDE_WELLS,
            of=of,
            why="wells, where these are on no line of their own",
        ),
    )


CAPITAL_EXPENDITURE = Concept(
    "capital_expenditure",
    "money",
    instant=False,
    can_be_negative=False,
    in_notes=True,
    sources=(
        us("PaymentsToAcquirePropertyPlantAndEquipment", of=("bank",), why="what a bank leases to others is lending"),
        us(
            "PaymentsToAcquirePropertyPlantAndEquipment",
            plus=LEASED_TO_OTHERS,
            at_least=WELLS_OR_BUILDINGS,
            why="the common line of ASC 230-10-45-13, and equipment for leases on a line of its own",
            but=("bank", "reit"),
        ),
        us(
            "PaymentsToAcquirePropertyPlantAndEquipment",
            at_least=(*WELLS_OR_BUILDINGS, "PaymentsToDevelopRealEstateAssets"),
            why="towers and data centres; where more is built, only what the trust itself uses",
            of=("reit",),
        ),
        us(
            "PaymentsToAcquireProductiveAssets",
            plus=LEASED_TO_OTHERS,
            why="with intangible productive assets in one line",
        ),
        *wells(PRODUCERS),
        us(
            "PaymentsForCapitalImprovements",
            plus=("PaymentsToDevelopRealEstateAssets", "PaymentsToAcquirePropertyPlantAndEquipment"),
            of=("reit",),
            why="what is built and improved; acquisitions of buildings are investments",
        ),
        us(
            "PaymentsToDevelopRealEstateAssets",
            plus=("PaymentsToAcquirePropertyPlantAndEquipment",),
            of=("reit",),
            why="what is built",
        ),
        us(
            "PaymentsForFlightEquipment",
            plus=("PaymentsToAcquireOtherProductiveAssets", "PaymentsToAcquireOtherPropertyPlantAndEquipment"),
            why="two lines of airlines: aircraft, and what is on the ground",
        ),
        us(
            "PaymentsForCapitalImprovements",
            plus=("PaymentsToAcquirePropertyPlantAndEquipment",),
            but=("reit",),
            why="the only such line, or the larger one",
        ),
        us("PaymentsToAcquireMachineryAndEquipment", at_least=WELLS, why="the only such line, but for few wells"),
        us("PaymentsToAcquireWaterAndWasteWaterSystems", of=("utility",), why="the plant of water utilities"),
        us("PaymentsToAcquireMiningAssets", why="mines, where that is the only such line"),
        us(
            "PaymentsToAcquireEquipmentOnLease",
            plus=("PaymentsToAcquireOtherPropertyPlantAndEquipment",),
            why="lessors, which use little themselves",
            but=("bank",),
        ),
        us(
            "PaymentsToAcquireOtherPropertyPlantAndEquipment",
            at_least=WELLS,
            why="where it is the only such line, but for few wells",
        ),
        us(
            "PaymentsToAcquireOtherProductiveAssets",
            at_least=WELLS,
            why="where it is the only such line, but for few wells",
        ),
        us(
            "PaymentsForProceedsFromProductiveAssets",
            reservation="net_of_disposals",
            why="less what was sold, where only that is shown",
        ),
        us(
            "PaymentsForConstructionInProcess",
            of=("utility",),
            why="plant under construction, where only that is shown",
        ),
        *wells(tuple(industry for industry in INDUSTRIES if industry not in PRODUCERS)),
        ifrs("PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities", why="IAS 7.16(a)"),
        ifrs(
            "PurchaseOfPropertyPlantAndEquipmentIntangibleAssetsOtherThanGoodwillInvestmentPropertyAndOtherNoncurrentAssets",
            why="with intangible assets and other property in one line",
        ),
    ),
)

CUSTOMER_FUNDS = Concept(
    "customer_funds",
    "money",
    instant=False,
    sources=(
        us("IncreaseDecreaseInPayablesToCustomers", why="what customers left or took, within operating activities"),
    ),
)
