"""Return on capital of four companies: the page of workings, the filings, and what is served say the same."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.documents import FactColumns, decode_facts
from pipelines.normalize.concepts import wanted_elements
from pipelines.normalize.facts import RAW_SCHEMA
from tests.conftest import PROJECT
from tests.factories import Today, standardized, value_of

PAGE = PROJECT / "docs/return-on-capital.md"
WALT_DISNEY = "0001744489"
COMPANY_NUMBERS = {"AAPL": "0000320193", "MSFT": "0000789019", "NVDA": "0001045810", "PG": "0000080424"}
FISCAL_YEARS = [f"FY{year}" for year in range(2020, 2026)]


@dataclass(frozen=True)
class Working:
    """What the page tells of a company: the results by fiscal year, and the filed amounts."""

    symbol: str
    results: list[tuple[str, float]]
    amounts: list[tuple[str, str, str, float, str]]  # day, part, element, amount in millions, accession number

    def part(self, day: str, name: str) -> float:
        return sum(amount for at, part, _, amount, _ in self.amounts if (at, part) == (day, name))

    def returns(self) -> list[tuple[str, float]]:
        """Period end and return on capital, by the rule on the page."""
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
    columns = FactColumns()
    for cik in (*COMPANY_NUMBERS.values(), WALT_DISNEY):
        document = mirror / f"data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json"
        columns.extend(decode_facts(document.read_bytes(), cik, wanted_elements()).columns)
    return standardized(pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names()))


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
def test_what_is_served_is_the_working(working, served):
    cik = COMPANY_NUMBERS[working.symbol]

    values = [value_of(served, "roic", "annual", day, cik) for day, _ in working.returns()]

    assert values == [value for _, value in working.results]


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        # 17,551 of segments; 13,832 are left of revenue after costs; a tax benefit
        ("2025-09-27", (12003 + 1812 - 246) / ((42026 + 114612 - 5695 + 45815 + 105522 - 6002) / 2)),
        # 12,121 of segments; interest expense as the report of that year shows it, 1,549
        ("2022-10-01", (5285 + 1549 - 90) * (1 - 1732 / 5285) / ((48369 + 98879 - 11615 + 54406 + 93011 - 15959) / 2)),
    ],
)
def test_a_total_of_segments_is_not_taken_for_operating_income(served, day, expected):
    """Walt Disney has no operating income on its income statement, and tags the total of its segments so."""
    assert value_of(served, "roic", "annual", day, WALT_DISNEY) == pytest.approx(expected, rel=1e-5)
