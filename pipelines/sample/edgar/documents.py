"""The filings of simulated filers as EDGAR's JSON documents: companyfacts, submissions and the tickers file.

Belongs here: keys, their order and their types, as EDGAR serves them. Does not: the reported facts (filings).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, timedelta
from random import Random
from typing import Any

from pipelines.sample.business.filings import Fact, Filing
from pipelines.sample.edgar.faces import WORDS
from pipelines.sample.edgar.package import is_inline, primary_document
from pipelines.sample.filer.traits import Filer, Kind

Document = dict[str, Any]

DESCRIPTION = "Value of a simulated filer; everything about it is fictional."

INDUSTRIES = {  # the SEC's description of each SIC code of the sample, and its review office
    "3420": ("Cutlery, Handtools & General Hardware", "04 Manufacturing"),
    "3571": ("Electronic Computers", "06 Technology"),
    "3523": ("Farm Machinery & Equipment", "06 Technology"),
    "3674": ("Semiconductors & Related Devices", "04 Manufacturing"),
    "1311": ("Crude Petroleum & Natural Gas", "01 Energy & Transportation"),
    "2836": ("Biological Products, (No Diagnostic Substances)", "03 Life Sciences"),
    "3841": ("Surgical & Medical Instruments & Apparatus", "08 Industrial Applications and Services"),
    "4213": ("Trucking (No Local)", "01 Energy & Transportation"),
    "4610": ("Pipe Lines (No Natural Gas)", "01 Energy & Transportation"),
    "5331": ("Retail-Variety Stores", "07 Trade & Services"),
    "5651": ("Retail-Family Clothing Stores", "07 Trade & Services"),
    "6022": ("State Commercial Banks", "02 Finance"),
    "6211": ("Security Brokers, Dealers & Flotation Companies", "02 Finance"),
    "6331": ("Fire, Marine & Casualty Insurance", "02 Finance"),
    "6770": ("Blank Checks", "05 Real Estate & Construction"),
    "6798": ("Real Estate Investment Trusts", "05 Real Estate & Construction"),
    "7372": ("Services-Prepackaged Software", "06 Technology"),
}
ENTITY_TYPES = {Kind.FOREIGN: "other", Kind.FUND: "other"}
ADDRESS = {
    "street1": "1 EXAMPLE WAY",
    "street2": None,
    "city": "EXAMPLE",
    "stateOrCountry": "DE",
    "zipCode": "00000",
    "stateOrCountryDescription": "DE",
    "isForeignLocation": 0,
    "foreignStateTerritory": None,
    "country": None,
    "countryCode": None,
}

ANNUAL_SLOT = range(335, 396)  # lengths in days for which EDGAR assigns a calendar year or a calendar quarter
QUARTER_SLOT = range(61, 122)


def companyfacts(filer: Filer, filings: Iterable[Filing]) -> Document:
    """`api/xbrl/companyfacts/CIK##########.json` after the given filings."""
    reported: dict[tuple[str, str, str], list[tuple[Fact, Filing]]] = defaultdict(list)
    for filing in filings:
        for fact in filing.facts:
            reported[fact.taxonomy, fact.tag, fact.unit].append((fact, filing))
    facts: Document = {}
    for (taxonomy, tag, unit), rows in sorted(reported.items(), key=lambda item: item[0]):
        about = {"label": WORDS.sub(" ", tag), "description": DESCRIPTION, "units": {}}
        facts.setdefault(taxonomy, {}).setdefault(tag, about)["units"][unit] = _fact_rows(rows)
    return {"cik": int(filer.cik), "entityName": filer.name, "facts": facts}


def _fact_rows(rows: Sequence[tuple[Fact, Filing]]) -> list[Document]:
    """The facts of one tag and unit, sorted by end, start and filing date, with `frame` as EDGAR assigns it."""
    ordered = sorted(rows, key=lambda row: (row[0].end, row[0].start or row[0].end, row[1].filed))
    framed: dict[str, int] = {}  # if several facts have one calendar slot, the last filed one gets the frame
    for index, (fact, filing) in enumerate(ordered):
        slot = frame(fact.start, fact.end)
        if slot and (slot not in framed or filing.filed >= ordered[framed[slot]][1].filed):
            framed[slot] = index
    slots = {index: slot for slot, index in framed.items()}
    return [_fact_row(fact, filing, slots.get(index)) for index, (fact, filing) in enumerate(ordered)]


def _fact_row(fact: Fact, filing: Filing, slot: str | None) -> Document:
    return {
        **({"start": fact.start.isoformat()} if fact.start else {}),
        "end": fact.end.isoformat(),
        "val": fact.value,
        "accn": filing.accession,
        "fy": filing.fiscal_year,
        "fp": filing.fiscal_period,
        "form": filing.form,
        "filed": filing.filed.isoformat(),
        **({"frame": slot} if slot else {}),
    }


def frame(start: date | None, end: date) -> str | None:
    """The calendar slot of a period, from its middle day; of an instant, from the nearest end of a quarter."""
    if start is None:
        inside = end - timedelta(days=45)  # this day is in the quarter whose end is nearest
        return f"CY{inside.year}Q{_quarter_of(inside)}I"
    days = (end - start).days + 1
    middle = start + timedelta(days=days // 2)
    if days in ANNUAL_SLOT:
        return f"CY{middle.year}"
    return f"CY{middle.year}Q{_quarter_of(middle)}" if days in QUARTER_SLOT else None


def _quarter_of(day: date) -> int:
    return (day.month + 2) // 3


def submissions(filer: Filer, filings: Sequence[Filing]) -> Document:
    """`submissions/CIK##########.json` after the given filings."""
    description, office = INDUSTRIES.get(filer.sic, ("", "")) if filer.sic else ("", "")
    pages = submissions_pages(filer, filings)
    return {
        "cik": filer.cik,
        "entityType": ENTITY_TYPES.get(filer.kind, "operating"),
        "sic": filer.sic,
        "sicDescription": description,
        "ownerOrg": office or None,
        "insiderTransactionForOwnerExists": 0,
        "insiderTransactionForIssuerExists": 0,
        "name": filer.name,
        "tickers": list(filer.symbols),
        "exchanges": [filer.exchange] * len(filer.symbols),
        "ein": "000000000",
        "lei": None,
        "description": "",
        "website": "",
        "investorWebsite": "",
        "category": "Non-accelerated filer",
        "fiscalYearEnd": f"{filer.calendar.year_end(filer.last_filed.year - 1):%m%d}",
        "stateOfIncorporation": "DE",
        "stateOfIncorporationDescription": "DE",
        "addresses": {"mailing": dict(ADDRESS), "business": dict(ADDRESS, isForeignLocation=None)},
        "phone": "555-0100",
        "flags": "",
        "formerNames": [],
        "filings": {
            "recent": _columnar(list(reversed(filings))[: filer.recent]),
            "files": [
                {
                    "name": name,
                    "filingCount": len(page["form"]),
                    "filingFrom": page["filingDate"][-1],
                    "filingTo": page["filingDate"][0],
                }
                for name, page in pages.items()
            ],
        },
    }


def submissions_pages(filer: Filer, filings: Sequence[Filing]) -> dict[str, Document]:
    """The further pages of the submissions by file name: older filings, with as many on each page as on the first."""
    older = list(reversed(filings))[filer.recent :]
    pages = [older[first : first + filer.recent] for first in range(0, len(older), filer.recent)]
    return {f"CIK{filer.cik}-submissions-{n:03d}.json": _columnar(page) for n, page in enumerate(pages, start=1)}


def _columnar(filings: Sequence[Filing]) -> Document:
    """Filings as EDGAR lists them: one array for each column, newest first."""
    rows = [_submission(filing) for filing in filings]
    return {column: [row[column] for row in rows] for column in _SUBMISSION_COLUMNS}


_SUBMISSION_COLUMNS = (
    "accessionNumber",
    "filingDate",
    "reportDate",
    "acceptanceDateTime",
    "act",
    "form",
    "fileNumber",
    "filmNumber",
    "items",
    "core_type",
    "size",
    "isXBRL",
    "isInlineXBRL",
    "isXBRLNumeric",
    "primaryDocument",
    "primaryDocDescription",
)


def _submission(filing: Filing) -> Document:
    rng, tagged = Random(f"submission/{filing.accession}"), int(bool(filing.facts))
    return {
        "accessionNumber": filing.accession,
        "filingDate": filing.filed.isoformat(),
        "reportDate": filing.report_date.isoformat(),
        "acceptanceDateTime": f"{filing.accepted.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000Z",
        "act": "34",
        "form": filing.form,
        "fileNumber": "001-00000",
        "filmNumber": f"{filing.filed:%y}{rng.randrange(1_000_000):06d}",
        "items": filing.items,
        "core_type": "XBRL" if tagged else filing.form,
        "size": rng.randrange(100_000, 9_000_000),
        "isXBRL": tagged,
        "isInlineXBRL": int(tagged and is_inline(filing)),
        "isXBRLNumeric": tagged,
        "primaryDocument": primary_document(filing),
        "primaryDocDescription": filing.form,
    }


def tickers(filers: Iterable[Filer]) -> Document:
    """`files/company_tickers_exchange.json`: first all primary symbols, then all further symbols."""
    rows = [
        (rank, [int(filer.cik), filer.name, symbol, filer.exchange])
        for filer in filers
        for rank, symbol in enumerate(filer.symbols)
    ]
    ordered = sorted(rows, key=lambda row: row[0] > 0)
    return {"fields": ["cik", "name", "ticker", "exchange"], "data": [row for _, row in ordered]}
