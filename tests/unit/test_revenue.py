"""Several elements of revenue with other amounts in one filing: which of them is revenue."""

import pytest

from tests.factories import REVENUE, Row, fact, raw, value_of
from tests.together import in_one_call

CONTRACTS, COST, COSTS = "RevenueFromContractWithCustomerExcludingAssessedTax", "CostOfRevenue", "CostsAndExpenses"
GROSS_PROFIT, OPERATING = "GrossProfit", "OperatingIncomeLoss"
YEAR = ("2023-01-01", "2023-12-31")


def revenue_of(found) -> float | None:
    return value_of(found, "revenue", "annual", "2023-12-31")


@pytest.mark.parametrize(
    ("lines", "served"),
    [
        ({COST: 70_123e3, GROSS_PROFIT: 30_456e3}, 100_579e3),
        ({COSTS: 85_123e3, OPERATING: 15_456e3}, 100_579e3),
        ({COSTS: 45_321e3, OPERATING: 15e6, COST: 70_123e3, GROSS_PROFIT: 30_456e3}, 60_321e3),
        ({COST: 70_123e3, GROSS_PROFIT: 31_456e3}, 100_579e3),
        ({OPERATING: 61e6}, 100_579e3),
        ({COST: 40e6, OPERATING: 12e6}, 60_321e3),
        ({COST: 120e6, OPERATING: -30e6}, 60_321e3),
    ],
    ids=[
        "gross profit",
        "operating income",
        "both foot",
        "below its cost",
        "below operating income",
        "nothing contradicts",
        "a loss: both below cost",
    ],
)
@in_one_call
def test_the_amount_that_foots_or_is_not_below_its_lines_is_revenue(lines, served):
    """60 million under the element of total revenue, and 101 million of contracts."""
    rows = [fact(tag, value, *YEAR) for tag, value in {REVENUE: 60_321e3, CONTRACTS: 100_579e3, **lines}.items()]
    found = yield raw(rows)

    assert revenue_of(found) == served


def nine_months(value: float, filed: str = "2023-11-05") -> Row:
    return fact(CONTRACTS, value, "2023-01-01", "2023-09-30", form="10-Q", filed=filed)


@pytest.mark.parametrize(
    ("earlier", "total", "served"),
    [
        (nine_months(14.7e9), 12.8e9, 20.4e9),
        (nine_months(9.1e9), 12.8e9, 12.8e9),
        (nine_months(14.7e9, filed="2024-11-05"), 12.8e9, 12.8e9),
    ],
    ids=["below nine months", "above them", "nine months that are filed later"],
)
@in_one_call
def test_a_year_below_its_nine_months_is_another_amount(earlier, total, served):
    """Total revenue of the year is the amount of a part of the business; revenue of contracts is 20.4 billion."""
    rows = [fact(tag, value, *YEAR) for tag, value in {REVENUE: total, CONTRACTS: 20.4e9}.items()]
    found = yield raw(rows, earlier)

    assert found.found.versions.filter(item="revenue", is_year_end=True)["value"][0] == served
