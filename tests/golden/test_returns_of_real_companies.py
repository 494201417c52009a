"""Return on capital of real companies: the page of workings, the filings and the served values agree.

The page has the workings of four companies, amount by amount; of others, one year is tested, or the reason of the gap.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import PROJECT
from tests.factories import Today, row_of, standardized, value_of
from tests.golden.conftest import facts_of

PAGE = PROJECT / "docs/return-on-capital.md"
OTHER_NUMBERS = {
    "CLS": "0001030894",
    "CMCSA": "0001166691",
    "COST": "0000909832",
    "DIS": "0001744489",
    "GE": "0000040545",
    "META": "0001326801",
    "SNOW": "0001640147",
    "TXN": "0000097476",
}
COMPANY_NUMBERS = {"AAPL": "0000320193", "MSFT": "0000789019", "NVDA": "0001045810", "PG": "0000080424"}
FISCAL_YEARS = [f"FY{year}" for year in range(2020, 2026)]


@dataclass(frozen=True)
class Working:
    """The page's data on a company: the results by fiscal year, and the filed amounts."""

    symbol: str
    results: list[tuple[str, float]]
    amounts: list[tuple[str, str, str, float, str]]  # day, part, element, amount in millions, accession number

    def part(self, day: str, name: str) -> float:
        return sum(amount for at, part, _, amount, _ in self.amounts if (at, part) == (day, name))

    def returns(self) -> list[tuple[str, float]]:
        """Return on capital by period end, by the rule on the page."""
        days = sorted({day for day, *_ in self.amounts})
        found = []
        for before, day in pairwise(days):
            capital = [self.part(at, "debt") + self.part(at, "equity") - self.part(at, "cash") for at in (before, day)]
            rate = min(max(self.part(day, "income tax") / self.part(day, "income before tax"), 0), 0.35)
            found.append((day, self.part(day, "operating income") * (1 - rate) / (sum(capital) / 2)))
        return found


def workings() -> Iterator[Working]:
    for section in PAGE.read_text().split("\n## ")[1:]:
        if named := re.match(r".*\((\w+)\)\n", section):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()]
            results = [(cells[0], float(cells[-1])) for cells in rows if cells[0].startswith("FY")]
            amounts = [
                (day, part, element.strip("`"), float(amount.replace(",", "")), accession)
                for day, part, element, amount, accession in (cells for cells in rows if cells[0].startswith("20"))
            ]
            yield Working(named[1], results, amounts)


WORKINGS = list(workings())


@pytest.fixture(scope="module")
def served(mirror: Path) -> Today:
    facts = facts_of(mirror, (*COMPANY_NUMBERS.values(), *OTHER_NUMBERS.values()))
    return standardized(facts, registrants=pl.DataFrame({"cik": [OTHER_NUMBERS["GE"]], "sic": ["3600"]}))


def test_the_page_has_the_four_companies_and_six_years():
    assert {working.symbol for working in WORKINGS} == set(COMPANY_NUMBERS)
    assert all([year for year, _ in working.results] == FISCAL_YEARS for working in WORKINGS)


@pytest.mark.parametrize("working", WORKINGS, ids=lambda working: working.symbol)
def test_the_results_follow_from_the_filed_amounts(working):
    told = [value for _, value in working.results]

    assert [value for _, value in working.returns()] == pytest.approx(told, rel=1e-5)


@pytest.mark.parametrize("working", WORKINGS, ids=lambda working: working.symbol)
def test_each_amount_is_in_its_filing(working, mirror):
    document = mirror / f"data.sec.gov/api/xbrl/companyfacts/CIK{COMPANY_NUMBERS[working.symbol]}.json"
    elements = json.loads(document.read_text())["facts"]["us-gaap"]
    filed = {
        (row["end"], element, row["val"] / 1e6, row["accn"])
        for _, _, element, _, _ in working.amounts
        for row in elements[element]["units"]["USD"]
    }

    assert {(day, element, amount, accession) for day, _, element, amount, accession in working.amounts} <= filed


@pytest.mark.parametrize("working", WORKINGS, ids=lambda working: working.symbol)
def test_the_served_value_is_that_of_the_working(working, served):
    cik = COMPANY_NUMBERS[working.symbol]

    values = [value_of(served, "roic", "annual", day, cik) for day, _ in working.returns()]

    assert values == [value for _, value in working.results]


@pytest.mark.parametrize(
    ("symbol", "day", "after_tax", "capital"),
    [
        ("COST", "2025-08-31", 10383 * (1 - 2719 / 10818), (5713 + 75 + 29164 - 14161 - 1123, 5897 + 23622 - 11144)),
        ("META", "2024-12-31", 69380 * (1 - 8303 / 70663), (28826 + 182637 - 43889 - 33926, 18385 + 153168 - 65403)),
        ("TXN", "2024-12-31", 5465 * (1 - 654 / 5453), (13596 + 16903 - 3200 - 4380, 11223 + 16897 - 8575)),
        # debt with finance leases; equity with non-controlling interests
        ("CMCSA", "2024-12-31", 23297 * (1 - 2796 / 18673), (99093 + 86038 - 7322, 97090 + 83226 - 6215)),
        # no operating income on its income statement, and 17,551 of its segments tagged so; revenue less costs: 13,832;
        # a tax benefit
        ("DIS", "2025-09-27", 12003 + 1812 - 246, (42026 + 114612 - 5695, 45815 + 105522 - 6002)),
        # 12,121 of segments; interest expense as the report of that year states it, before the later negative sign
        (
            "DIS",
            "2022-10-01",
            (5285 + 1549 - 90) * (1 - 1732 / 5285),
            (48369 + 98879 - 11615, 54406 + 93011 - 15959),
        ),
    ],
)
def test_returns_by_hand(served, symbol, day, after_tax, capital):
    """In millions, from the annual reports of the year and of the year before."""
    expected = after_tax / (sum(capital) / 2)

    assert value_of(served, "roic", "annual", day, OTHER_NUMBERS[symbol]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("symbol", "day", "reason"),
    [
        ("GE", "2024-12-31", "no_operating_income"),  # interest is in an element of the filer's own
        ("SNOW", "2021-01-31", "non_positive_capital"),  # before the offering: more cash than equity and debt
        ("CLS", "2024-12-31", "basis_break"),  # the year before is under IFRS
    ],
)
def test_reasons_of_missing_returns(served, symbol, day, reason):
    assert row_of(served.gaps, "roic", "annual", day, OTHER_NUMBERS[symbol])["reason"] == reason
