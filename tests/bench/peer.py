"""CPU seconds of edgartools for the same companies, for the items for which it has functions.

It runs with the packages of edgartools.lock, separate from the packages of this project:

    PYTHONPATH=FOLDER python tests/bench/peer.py MIRROR

Of each document it makes edgartools' facts, the yearly series of each element that the eleven items are made from, and
with `get_ttm` the trailing twelve months of each flow and mean at each end of a quarter or year for which net income is
stated. That is less than this project does: no other element where a filer uses one, no sums of several lines, no
ratios, no earlier versions, no proofs, and nothing is written.
"""

import json
import sys
import time
from datetime import date
from pathlib import Path

import orjson
from edgar.entity.parser import EntityFactsParser

PERIODS = (
    "Revenues",
    "NetIncomeLoss",
    "EarningsPerShareBasic",
    "CommonStockDividendsPerShareDeclared",
    "NetCashProvidedByUsedInOperatingActivities",
    "PaymentsToAcquirePropertyPlantAndEquipment",
    "OperatingIncomeLoss",
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
    "IncomeTaxExpenseBenefit",
    "WeightedAverageNumberOfSharesOutstandingBasic",
    "WeightedAverageNumberOfDilutedSharesOutstanding",
)
"""Elements of a period: revenue, net income, earnings and dividends per share, the two sides of free cash flow, what
the return on capital needs, and the two means of shares. edgartools adds quarters, and takes the mean of shares."""

BALANCES = (
    "LongTermDebtNoncurrent",
    "LongTermDebtCurrent",
    "StockholdersEquity",
    "CashAndCashEquivalentsAtCarryingValue",
)
MOST_YEARS = 50


def read(document: bytes) -> int:
    """Compute all that is computed for a company; return the number of trailing twelve months that have a value."""
    facts = EntityFactsParser.parse_company_facts(orjson.loads(document))
    for element in PERIODS + BALANCES:
        facts.time_series(f"us-gaap:{element}", periods=MOST_YEARS)
    stated = facts.query().by_concept("us-gaap:NetIncomeLoss").execute()
    ends = sorted({fact.period_end for fact in stated if fact.period_end})
    return sum(_has_twelve_months(facts, element, end) for element in PERIODS for end in ends)


def _has_twelve_months(facts: object, element: str, end: date) -> bool:
    try:
        facts.get_ttm(f"us-gaap:{element}", as_of=end)  # type: ignore[attr-defined]
    except (ValueError, KeyError):  # it has too few quarters, or none of this element
        return False
    return True


def main() -> None:
    documents = [
        path.read_bytes() for path in sorted(Path(sys.argv[1]).glob("data.sec.gov/api/xbrl/companyfacts/*.json"))
    ]
    began = time.process_time()
    values = sum(map(read, documents))
    seconds = time.process_time() - began
    print(json.dumps({"megabytes": sum(map(len, documents)) / 1e6, "cpu": seconds, "twelve_months": values}))


if __name__ == "__main__":
    main()
