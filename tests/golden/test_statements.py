"""Statements of ordinary companies in small: how fictional filers of many trades tag what they spend, hold and owe.

Belongs here: one shape of a statement a line, with the amount that its reader takes from it. Does not: other industries
(test_industries), how lines are chosen and added up (the unit tests).
"""

import pytest

from tests.factories import CAPITAL_SPENDING, CASH_FLOW, NET_INCOME, Row, fact, raw, standardized, value_of

YEAR = ("2024-01-01", "2024-12-31")
Lines = dict[str, float]


def read(item: str, flows: Lines, balances: Lines) -> float | None:
    """An item of a year's report, amounts in millions."""
    rows: list[Row] = [fact(NET_INCOME, 1e6, *YEAR, filed="2025-02-20")]
    rows += [fact(tag, amount * 1e6, *YEAR, filed="2025-02-20") for tag, amount in flows.items()]
    rows += [fact(tag, amount * 1e6, None, YEAR[1], filed="2025-02-20") for tag, amount in balances.items()]
    value = value_of(standardized(raw(rows)), item, "annual", YEAR[1])
    return None if value is None else value / 1e6


SPENT: dict[str, tuple[Lines, float]] = {
    "property, plant and equipment, and software on another line": (
        {CAPITAL_SPENDING: 300, "PaymentsToDevelopSoftware": 60},
        300,
    ),
    "property and intangible assets on one line": ({"PaymentsToAcquireProductiveAssets": 330}, 330),
    "a telephone company": (
        {"PaymentsToAcquireOtherProductiveAssets": 170, "PaymentsToAcquireIntangibleAssets": 9},
        170,
    ),
    "a maker of medicines": ({"PaymentsToAcquireOtherPropertyPlantAndEquipment": 78}, 78),
    "a chemical company that has gas wells": (
        {"PaymentsToAcquireMachineryAndEquipment": 248, "PaymentsToExploreAndDevelopOilAndGasProperties": 16},
        248,
    ),
    "an airline: aircraft, and other property": (
        {"PaymentsForFlightEquipment": 817, "PaymentsToAcquireOtherPropertyPlantAndEquipment": 293},
        1110,
    ),
    "an airline: aircraft, and what is on the ground": (
        {"PaymentsForFlightEquipment": 224, "PaymentsToAcquireOtherProductiveAssets": 41},
        265,
    ),
    "an airline that states the total too": (
        {CAPITAL_SPENDING: 510, "PaymentsForFlightEquipment": 370, "PaymentsToAcquireOtherProductiveAssets": 140},
        510,
    ),
}


@pytest.mark.parametrize("shape", SPENT)
def test_what_is_spent_on_capital(shape):
    """Operating cash flow of 2000 less the lines for property, plant and equipment, each once."""
    lines, spent = SPENT[shape]

    assert read("free_cash_flow", {CASH_FLOW: 2000, **lines}, {}) == 2000 - spent
