"""Evidence: data on a company in addition to its line items, which valuations need."""

from datetime import date
from typing import Any

from pipelines.normalize.facts.reports import typed
from pipelines.normalize.frames import FRAMES
from pipelines.normalize.items.evidence import evidence
from tests.factories import CAPITAL_SPENDING, CASH, CASH_FLOW, fact, raw, stated

YEAR = ("2024-01-01", "2024-12-31")


def told(*rows: dict[str, Any]) -> dict[str, Any]:
    found = evidence(typed(raw(*rows))[0], stated(raw(*rows))[0])
    assert found.schema == FRAMES["evidence"].types
    return found.row(0, named=True)


def test_the_newest_statements_of_cash_flow_amounts():
    """Capital expenditure is not stated since the year before the last; amounts of customers never were."""
    row = told(
        fact(CASH_FLOW, 100, "2023-01-01", "2023-12-31"),
        fact(CASH_FLOW, 110, *YEAR, filed="2025-02-20"),
        fact(CAPITAL_SPENDING, 40, "2023-01-01", "2023-12-31"),
    )

    assert row["operating_cash_flow_end"] == date(2024, 12, 31)
    assert row["capital_expenditure_end"] == date(2023, 12, 31)
    assert row["customer_funds_end"] is None


def test_the_currency_of_the_newest_annual_report():
    """Dollars for years, then euros; a later quarter in dollars does not change that."""
    years = [
        fact(CASH_FLOW, 1, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20") for year in range(2019, 2024)
    ]
    euros = fact(CASH_FLOW, 2, *YEAR, filed="2025-02-20", unit="EUR")
    quarter = fact(CASH, 3, None, "2025-03-31", form="10-Q", filed="2025-05-01")

    assert told(*years, euros, quarter)["newest_currency"] == "EUR"


def test_a_translation_for_convenience_is_not_the_currency_of_a_report():
    """Two years in local currency, and the newest of them also in dollars."""
    own = [fact(CASH_FLOW, 30, f"{year}-01-01", f"{year}-12-31", form="20-F", unit="TWD") for year in (2022, 2023)]
    translated = fact(CASH_FLOW, 1, "2023-01-01", "2023-12-31", form="20-F", unit="USD")

    assert told(*own, translated)["newest_currency"] == "TWD"


def test_without_an_annual_report_all_reports_count():
    assert told(fact(CASH, 3, None, "2023-09-30", form="10-Q", unit="CAD"))["newest_currency"] == "CAD"
