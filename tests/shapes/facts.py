"""Filings in which each rule about filed facts selects, leaves out or orders some.

Belongs here: forms, units, currencies, order of filing, precision, and the precedence of elements. Does not: which
element feeds which line (elements), the values of the amounts (flows, items).
"""

from collections.abc import Sequence

from tests.factories import (
    CAPITAL_SPENDING,
    CASH_FLOW,
    DILUTED,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Row,
    fact,
    month_ends,
)
from tests.shapes import Shape

YEAR = ("2023-01-01", "2023-12-31")
CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"
PRODUCTIVE_ASSETS = "PaymentsToAcquireProductiveAssets"
INTERIM = ("03-31", "06-30", "09-30")


def year(**figures: float) -> list[Row]:
    """An annual report on 2023: net income and other figures."""
    return [fact(tag, value, *YEAR) for tag, value in {NET_INCOME: 90e6, **figures}.items()]


def series(**sums: Sequence[float]) -> list[Row]:
    """Two years of quarters."""
    return Filer(month_ends(2022, 8), {NET_INCOME: [9e6] * 8, **sums}).rows()


def plant_in_notes() -> list[Row]:
    """Quarterly reports state productive assets, annual ones also an amount of plant from a note."""
    rows = series(**{CASH_FLOW: [30e6] * 8, PRODUCTIVE_ASSETS: [10e6] * 8, CAPITAL_SPENDING: [9e6] * 8})
    return [row for row in rows if row["tag"] != CAPITAL_SPENDING or row["form"] == "10-K"]


def contracts_alone_later() -> list[Row]:
    """A report on 2022 states total revenue and the smaller revenue from contracts; the next repeats the latter."""
    first = [fact(tag, value, "2022-01-01", "2022-12-31", filed="2023-02-20") for tag, value in BOTH_REVENUES.items()]
    again = fact(CONTRACTS, 320e6, "2022-01-01", "2022-12-31", filed="2024-02-20")
    return [*first, *year(**{CONTRACTS: 340e6}), again]


BOTH_REVENUES = {NET_INCOME: 90e6, REVENUE: 400e6, CONTRACTS: 320e6}
TEN_LINES = (
    "OperatingIncomeLoss",
    "IncomeTaxExpenseBenefit",
    "InterestExpense",
    "NetCashProvidedByUsedInOperatingActivities",
    "PaymentsToAcquirePropertyPlantAndEquipment",
    "CostOfRevenue",
    "CostsAndExpenses",
    "ProfitLoss",
    "GrossProfit",
    "SellingGeneralAndAdministrativeExpense",
)

OF_PARENT = {
    "ProfitLoss": 12_874e6,
    "NetIncomeLossAttributableToNoncontrollingInterest": 16e6,
    EPS: 13.91,
    SHARES: 925e6,
    "EarningsPerShareDiluted": 13.89,
    DILUTED: 927e6,
}
"""Mastercard's year 2024."""

FACTS: dict[str, list[Row]] = {
    "report.forms": [*year(), fact(REVENUE, 97e6, *YEAR, form="DEF 14A", filed="2024-04-20")],
    "report.units": [
        *year(),
        *(fact(tag, 0.97, "2022-07-01", "2023-06-30", unit="pure") for tag in (REVENUE, NET_INCOME)),
    ],
    "report.period-ends-after-filing": [*year(), fact(REVENUE, 97e6, "2024-01-01", "2024-12-31")],
    "report.period-ends-long-before-filing": [*year(), fact(REVENUE, 97e6, "0203-07-01", "0204-06-30")],
    "report.filed-twice": [*year(), fact(REVENUE, 97e6, *YEAR), fact(REVENUE, 98e6, *YEAR)],
    "currency.reporting": [*year(**{REVENUE: 97e6}), fact(REVENUE, 90e6, *YEAR, unit="EUR")],
    "filing.order.same-day": [fact(NET_INCOME, 97e6, *YEAR, form="10-K/A", accession="0000000001-24-000001"), *year()],
    "precision.scale-of-filing": [
        *year(**{NET_INCOME: 9_412e3}),
        *(fact(tag, 1e6 * number, *YEAR, filed="2025-02-20") for number, tag in enumerate((NET_INCOME, *TEN_LINES), 9)),
    ],
    "fact.zero-share-count": year(**{SHARES: 0}),
    "fact.per-share-without-shares": [*year(), fact(DIVIDENDS, 0.4, *YEAR, unit="USD")],
    "fact.annual-note": plant_in_notes(),
    "fact.noncontrolling-interests-already": [fact(tag, value, *YEAR) for tag, value in OF_PARENT.items()],
    "fact.lesser-source-repeats": contracts_alone_later(),
    "fact.other-source": contracts_alone_later(),
    "source.revenue-that-foots": year(
        **{REVENUE: 60e6, CONTRACTS: 100e6, "CostsAndExpenses": 85e6, "OperatingIncomeLoss": 15e6}
    ),
    "source.no-less-than-part": year(**{REVENUE: 100e6, "SalesRevenueNet": 500e6}),
}

SHAPES = tuple(Shape(rule, rows) for rule, rows in FACTS.items())
