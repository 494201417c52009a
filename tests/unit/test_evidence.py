"""Evidence: data on a company in addition to its line items, which valuations need."""

from datetime import date

import pytest

from pipelines.normalize.facts.reports import typed
from pipelines.normalize.frames import FRAMES
from pipelines.normalize.items.evidence import evidence
from tests.factories import CAPITAL_SPENDING, CASH, CASH_FLOW, fact, raw, stated

YEAR = ("2024-01-01", "2024-12-31")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # capital expenditure is not stated since the year before the last; amounts of customers never were
        (
            [
                fact(CASH_FLOW, 100, "2023-01-01", "2023-12-31"),
                fact(CASH_FLOW, 110, *YEAR, filed="2025-02-20"),
                fact(CAPITAL_SPENDING, 40, "2023-01-01", "2023-12-31"),
            ],
            {
                "operating_cash_flow_end": date(2024, 12, 31),
                "capital_expenditure_end": date(2023, 12, 31),
                "customer_funds_end": None,
            },
        ),
        # dollars for years, then euros; a later quarter in dollars does not change that
        (
            [
                *(
                    fact(CASH_FLOW, 1, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20")
                    for year in range(2019, 2024)
                ),
                fact(CASH_FLOW, 2, *YEAR, filed="2025-02-20", unit="EUR"),
                fact(CASH, 3, None, "2025-03-31", form="10-Q", filed="2025-05-01"),
            ],
            {"newest_currency": "EUR"},
        ),
        # two years in local currency, and the newest of them also in dollars
        (
            [
                fact(CASH_FLOW, 30, "2022-01-01", "2022-12-31", form="20-F", unit="TWD"),
                fact(CASH_FLOW, 30, "2023-01-01", "2023-12-31", form="20-F", unit="TWD"),
                fact(CASH_FLOW, 1, "2023-01-01", "2023-12-31", form="20-F", unit="USD"),
            ],
            {"newest_currency": "TWD"},
        ),
        ([fact(CASH, 3, None, "2023-09-30", form="10-Q", unit="CAD")], {"newest_currency": "CAD"}),
    ],
    ids=[
        "the newest statements of cash flow amounts",
        "the currency of the newest annual report",
        "a translation for convenience is not the currency of a report",
        "without an annual report all reports count",
    ],
)
def test_the_evidence_of_a_company(rows, expected):
    found = evidence(typed(raw(*rows))[0], stated(raw(*rows))[0])
    assert found.schema == FRAMES["evidence"].types
    assert {name: found.row(0, named=True)[name] for name in expected} == expected
