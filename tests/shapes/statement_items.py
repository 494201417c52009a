"""Companies for which each rule of the items beyond the specification decides: gross profit, lines as filed.

Belongs here: three years of a company, with the lines of such an item. Does not: the other items (items).

Amounts are in millions.
"""

from tests.factories import REVENUE, Row, fact
from tests.shapes import Shape
from tests.shapes.items import ASSETS, COSTS, EQUITY, INTEREST, OPERATING, PRETAX, TAX, company

GROSS, COST, GOODS, SERVICES = "GrossProfit", "CostOfRevenue", "CostOfGoodsSold", "CostOfServices"


def revenue_restated() -> list[Row]:
    """A later report restates revenue of all years, as after a disposal, and not the cost."""
    restated = [
        fact(REVENUE, 300e6, f"{year}-01-01", f"{year}-12-31", filed="2025-02-28") for year in range(2021, 2024)
    ]
    return [*company({COST: 60.0}), *restated]


def gross_profit_until(year: int) -> list[Row]:
    """Reports state a gross profit that is not revenue less the cost, and in later years the cost alone."""
    rows = company({GROSS: 30.0, COST: 60.0})
    return [row for row in rows if row["tag"] != GROSS or str(row["filed"]) < f"{year + 1}-04-01"]


WITHHELD = {
    "gross-profit.withheld.other-scope": company({COST: 80.0, OPERATING: 20.0}),
    "gross-profit.withheld.goods-alone": company({GOODS: 40.0, SERVICES: 20.0}),
    "gross-profit.withheld.revenue-restated": revenue_restated(),
    "gross-profit.withheld.other-cost": gross_profit_until(2022),
    "operating-income.withheld.of-segments": company(
        {OPERATING: 40.0, PRETAX: 20.0, TAX: 8.0, INTEREST: 2.0, COSTS: 78.0}
    ),
}
TAKEN = {
    "gross-profit.as-filed": company({GROSS: 40.0}),
    "gross-profit.revenue-less-cost": company({COST: 60.0}),
    "balance.line-as-filed": company({}, {ASSETS: 1000.0, EQUITY: 500.0}),
}
SHAPES = (
    *(Shape(rule, rows) for rules in (WITHHELD, TAKEN) for rule, rows in rules.items()),
    Shape("industry.withhold.gross-profit", company({GROSS: 40.0}), "6022"),
)
