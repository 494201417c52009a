"""A source with companies that file every day, and the day to which an answer of the service belongs.

Belongs here: the documents of each day, and their contents. Does not: synchronizing them, or any fault.

On each day some companies amend their last annual report: revenue is a million more than before. So the number of
versions of this value, the value and the name of a company all say how often it has filed, and thereby which day it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.mirrors import LAST_YEAR, REVENUE, Filer, Mirror, companyfacts, submissions, write

COMPANIES = 11
FIRST_DAY = date(LAST_YEAR + 1, 3, 1)
MILLION = 1_000_000
PERIOD = f"FY{LAST_YEAR}"
PATHS = (
    "/companies",
    "/companies/DAY{}",
    "/companies/DAY{}/financials?period=annual",
    "/companies/DAY{}/financials/revisions?items=revenue",
)


class WrongAnswer(Exception):
    """An answer that is not of one published build."""


class Days:
    """A mirror directory that can be turned to any day."""

    def __init__(self, folder: Path) -> None:
        self.mirror = Mirror(folder)
        self.filers = [Filer(1001 + place, f"DAY{place}", 100 + place) for place in range(COMPANIES)]
        self.today = 0
        self.turn(0)

    @property
    def folder(self) -> Path:
        return self.mirror.folder

    def turn(self, day: int) -> None:
        """Write the documents of a day."""
        named = [replace(filer, name=f"Works {filings_of(place, day)}") for place, filer in enumerate(self.filers)]
        self.mirror.list(*named)
        for place, filer in enumerate(named):
            facts, filings = companyfacts(filer), submissions(filer)
            for number in range(1, filings_of(place, day) + 1):
                _amend(facts, filings, filer, number)
            write(self.mirror.facts(filer), facts)
            write(self.mirror.submissions(filer), filings)
        self.today = day

    def revenue(self, place: int, filed: int) -> int:
        """The revenue of the last year of a company after so many amendments."""
        return self.filers[place].trailing(LAST_YEAR, 4) + filed * MILLION

    def day_of(self, path: str, body: Mapping[str, Any]) -> tuple[int, int]:
        """The first and the last day from whose build an answer may come.

        Raises:
            WrongAnswer: there is no such day.
        """
        days = (0, 1 << 30)
        for symbol, filed in self._filed_in(path, body):
            first, last = days_of(int(symbol.removeprefix("DAY")), filed)
            days = max(days[0], first), min(days[1], last)
        if days[0] > days[1]:
            raise WrongAnswer(f"{path} mixes days: {str(body)[:2000]}")
        return days

    def _filed_in(self, path: str, body: Mapping[str, Any]) -> list[tuple[str, int]]:
        """Symbol, and number of amendments, of all that an answer says."""
        data, symbol = body["data"], path.split("/")[2].partition("?")[0] if path.count("/") > 1 else ""
        place = int(symbol.removeprefix("DAY") or 0)
        if "revisions" in path:
            found = [row for row in data if row["period"] == PERIOD]
            values = [each["value"] for row in found for each in row["versions"]]
            if values != [self.revenue(place, filed) for filed in range(len(values))]:
                raise WrongAnswer(f"{path} has versions {values}")
            return [(symbol, max(0, len(values) - 1))]
        if "financials" in path:
            [row] = [row for row in data if row["period"] == PERIOD]
            return [(symbol, (row["values"]["revenue"] - self.revenue(place, 0)) // MILLION)]
        listed = data if isinstance(data, list) else [data]
        if not symbol and len(listed) != COMPANIES:
            raise WrongAnswer(f"{path} has {len(listed)} companies")
        return [(each["symbol"], int(each["name"].split()[1])) for each in listed]


def filings_of(place: int, day: int) -> int:
    """The amendments that a company has filed by a day: the first company files daily, the others in turns."""
    return day if place == 0 else (day + COMPANIES - 1 - place) // (COMPANIES - 1)


def days_of(place: int, filed: int) -> tuple[int, int]:
    """The first and the last day on which a company has filed so many amendments."""
    if place == 0:
        return filed, filed
    first = place + (filed - 1) * (COMPANIES - 1)
    return max(0, first), first + COMPANIES - 2


def _amend(facts: dict[str, Any], filings: dict[str, Any], filer: Filer, number: int) -> None:
    """Add an amendment of the last annual report to the documents of a company."""
    filed = (FIRST_DAY + timedelta(days=number)).isoformat()
    accession = f"{filer.cik}-{LAST_YEAR + 1 - 2000}-{900_000 + number:06d}"
    for tag, concept in facts["facts"]["us-gaap"].items():
        for unit, rows in concept["units"].items():
            [told] = [row for row in rows if row["form"] == "10-K" and row["end"] == f"{LAST_YEAR}-12-31"]
            rows.append(
                told
                | {
                    "accn": accession,
                    "form": "10-K/A",
                    "filed": filed,
                    "val": told["val"] + number * ADDED.get((tag, unit), 0),
                }
            )
    recent = filings["filings"]["recent"]
    for name, value in (
        ("accessionNumber", accession),
        ("filingDate", filed),
        ("acceptanceDateTime", f"{filed}T21:30:00.000Z"),
        ("form", "10-K/A"),
    ):
        recent[name].insert(0, value)


ADDED = {(REVENUE, "USD"): MILLION}
