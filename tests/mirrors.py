"""Small mirror directories of fictional companies with EDGAR's layout and formats, for tests.

Belongs here: filers with simple numbers, and the files that a mirror has of them.
Does not: realistic accounting beyond the needs of a test (the sample simulates filers).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

REVENUE, INCOME = "RevenueFromContractWithCustomerExcludingAssessedTax", "NetIncomeLoss"
EARNINGS, SHARES = "EarningsPerShareBasic", "WeightedAverageNumberOfSharesOutstandingBasic"
ASSETS, EQUITY = "Assets", "StockholdersEquity"
QUARTER_ENDS = ((3, 31), (6, 30), (9, 30), (12, 31))
LAST_YEAR = 2024


@dataclass(frozen=True, slots=True)
class Filer:
    """A fictional company with calendar years: three 10-Qs with year-to-date columns, and a 10-K.

    `scale` is the revenue of its first quarter in millions; each quarter adds one million. Net income is a tenth of it.
    With `comparatives`, its reports state the same periods of the year before, too.
    """

    number: int
    symbol: str
    scale: int = 100
    first_year: int = 2022
    name: str = ""
    exchange: str | None = "Nasdaq"
    comparatives: bool = False

    @property
    def cik(self) -> str:
        """The CIK in ten digits."""
        return f"{self.number:010d}"

    def revenue(self, year: int, quarter: int) -> int:
        """Revenue of one quarter, in dollars."""
        return (self.scale + (year - self.first_year) * 4 + quarter - 1) * 1_000_000

    def trailing(self, year: int, quarter: int) -> int:
        """The sum of the four quarters that end with this one."""
        last = year * 4 + quarter - 1
        return sum(self.revenue(*divmod(n, 4)) + 1_000_000 for n in range(last - 3, last + 1))


ALFA, BRAVO, CARGO = Filer(101, "ALFA", 100), Filer(102, "BRVO", 200), Filer(103, "CRGO", 300)
ABSENT = Filer(109, "NONE")
"""Listed companies without documents, which give 404, as most funds do."""


class Mirror:
    """A mirror directory that tests can change: its list of companies and their documents."""

    def __init__(self, folder: Path, *filers: Filer) -> None:
        self.folder = folder
        self.list(*filers)
        self.hold(*(filer for filer in filers if filer != ABSENT))

    @property
    def tickers(self) -> Path:
        return self.folder / "www.sec.gov/files/company_tickers_exchange.json"

    def facts(self, filer: Filer) -> Path:
        return self.folder / f"data.sec.gov/api/xbrl/companyfacts/CIK{filer.cik}.json"

    def submissions(self, filer: Filer) -> Path:
        return self.folder / f"data.sec.gov/submissions/CIK{filer.cik}.json"

    def list(self, *filers: Filer) -> None:
        """Write the list of exactly these companies."""
        rows = [[filer.number, filer.name or filer.symbol, filer.symbol, filer.exchange] for filer in filers]
        write(self.tickers, {"fields": ["cik", "name", "ticker", "exchange"], "data": rows})

    def hold(self, *filers: Filer) -> None:
        """Write the documents of these companies."""
        for filer in filers:
            write(self.facts(filer), companyfacts(filer))
            write(self.submissions(filer), submissions(filer))

    def page(self, filer: Filer, *sizes: int) -> tuple[Path, ...]:
        """Write the submissions of a company with so many filings on their first page, and on each older one.

        Returns:
            the older pages.
        """
        document, files, paths = submissions(filer), [], []
        columns = document["filings"]["recent"]
        for number, (first, last) in enumerate(pairwise((0, *accumulate(sizes)))):
            page = {name: values[first:last] for name, values in columns.items()}
            if not number:
                document["filings"] = {"recent": page, "files": files}
                continue
            days, name = page["filingDate"], f"CIK{filer.cik}-submissions-{number:03d}.json"
            files.append({"name": name, "filingCount": len(days), "filingFrom": days[-1], "filingTo": days[0]})
            paths.append(self.submissions(filer).with_name(name))
            write(paths[-1], page)
        write(self.submissions(filer), document)
        return tuple(paths)


def companyfacts(filer: Filer) -> dict[str, Any]:
    """A companyfacts document of all its filings."""
    concepts: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for year, quarter in _quarters(filer):
        past = _columns(year - 1, quarter) if filer.comparatives else []
        for start, end, quarters in _columns(year, quarter) + past:
            revenue = sum(filer.revenue(end.year, n) for n in quarters)
            told = ((REVENUE, "USD", revenue), (INCOME, "USD", revenue // 10), (SHARES, "shares", 10_000_000))
            for tag, unit, value in (*told, (EARNINGS, "USD/shares", revenue / 100_000_000)):
                fact = {"start": start.isoformat(), "end": end.isoformat(), "val": value}
                concepts.setdefault(tag, {}).setdefault(unit, []).append(fact | _filing(filer, year, quarter))
        for tag, value in ((ASSETS, 5_000_000_000), (EQUITY, 2_000_000_000)):
            fact = {"end": _end(year, quarter).isoformat(), "val": value}
            concepts.setdefault(tag, {}).setdefault("USD", []).append(fact | _filing(filer, year, quarter))
    return {
        "cik": filer.number,
        "entityName": filer.symbol,
        "facts": {"us-gaap": {tag: {"label": tag, "description": tag, "units": of} for tag, of in concepts.items()}},
    }


def document(filer: Filer, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A companyfacts document with some facts."""
    concepts: dict[str, Any] = {}
    for row in rows:
        of = {"end": row["end"], "val": row["value"], "accn": row["accession"], "fy": 2023, "fp": "FY"}
        of |= {"form": row["form"], "filed": row["filed"]} | ({"start": row["start"]} if row["start"] else {})
        concepts.setdefault(row["tag"], {"units": {}})["units"].setdefault(row["unit"], []).append(of)
    return {"cik": filer.number, "entityName": filer.symbol, "facts": {"us-gaap": concepts}}


def submissions(filer: Filer) -> dict[str, Any]:
    """A submissions document: the filer, and its filings, newest first."""
    filings = [_filing(filer, *quarter) for quarter in _quarters(filer)][::-1]
    recent = {
        "accessionNumber": [filing["accn"] for filing in filings],
        "filingDate": [filing["filed"] for filing in filings],
        "acceptanceDateTime": [f"{filing['filed']}T21:30:00.000Z" for filing in filings],
        "form": [filing["form"] for filing in filings],
    }
    return {
        "cik": filer.cik,
        "name": f"{filer.name or filer.symbol} WORKS INC",
        "sic": "3571",
        "fiscalYearEnd": "1231",
        "category": "Large accelerated filer",
        "tickers": [filer.symbol],
        "exchanges": [filer.exchange],
        "filings": {"recent": recent, "files": []},
    }


def _quarters(filer: Filer) -> Iterator[tuple[int, int]]:
    yield from ((year, quarter) for year in range(filer.first_year, LAST_YEAR + 1) for quarter in (1, 2, 3, 4))


def _columns(year: int, quarter: int) -> list[tuple[date, date, range]]:
    """The durations of a report: a 10-K states the year, a 10-Q the quarter and the year to date."""
    end, first_day = _end(year, quarter), date(year, 1, 1)
    if quarter in (1, 4):
        return [(first_day, end, range(1, quarter + 1))]
    first_of_quarter = _end(year, quarter - 1) + timedelta(days=1)
    return [(first_of_quarter, end, range(quarter, quarter + 1)), (first_day, end, range(1, quarter + 1))]


def _filing(filer: Filer, year: int, quarter: int) -> dict[str, Any]:
    return {
        "accn": f"{filer.cik}-{(year + quarter // 4) % 100:02d}-{quarter:06d}",
        "fy": year,
        "fp": "FY" if quarter == 4 else f"Q{quarter}",
        "form": "10-K" if quarter == 4 else "10-Q",
        "filed": (_end(year, quarter) + timedelta(days=40)).isoformat(),
    }


def _end(year: int, quarter: int) -> date:
    return date(year, *QUARTER_ENDS[quarter - 1])


@contextmanager
def changed(path: Path) -> Iterator[Any]:
    """A JSON document of a mirror, which is written again as the block leaves it."""
    document = json.loads(path.read_bytes())
    yield document
    path.write_text(json.dumps(document))


def write(path: Path, document: dict[str, Any]) -> None:
    """Write a document as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
