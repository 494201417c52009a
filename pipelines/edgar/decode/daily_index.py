"""EDGAR's daily index: the filings of a day, with company and form.

Belongs here: addresses and formats of the index and of its folder's listing. Does not: which companies are requested
(download_plan).

    https://www.sec.gov/Archives/edgar/daily-index/2026/QTR3/index.json              the listing of a quarter
    https://www.sec.gov/Archives/edgar/daily-index/2026/QTR3/master.20260824.idx     the filings of a day

There is no index of weekends and holidays; the listing says which days have one. The index is text in Latin-1: a few
lines about it, a line of column names, a line of dashes, and one line a filing, with bars between the columns:

    1000184|SAP SE|6-K|20260824|edgar/data/1000184/0001104659-26-100300.txt
"""

import re
from collections.abc import Collection
from datetime import date
from typing import Any

import msgspec

from pipelines.edgar.decode.decoding import decode
from pipelines.edgar.errors import DocumentError

FOLDER = "https://www.sec.gov/Archives/edgar/daily-index/"
COLUMNS = "CIK|Company Name|Form Type|Date Filed|File Name"
NAME = re.compile(r"master\.(\d{8})\.idx", re.ASCII)
CIK = re.compile(r"\d{1,10}", re.ASCII)
AMENDMENT = "/A"

LARGEST_SHARE, FEW = 0.01, 3
"""A file counts as malformed if more than FEW of its lines, and more than LARGEST_SHARE of them, are malformed."""


class _Directory(msgspec.Struct):
    item: list[Any]


class _Listing(msgspec.Struct):
    directory: _Directory


def listing_url(day: date) -> str:
    """The address of the listing of the quarter in which a day lies."""
    return f"{FOLDER}{day.year}/QTR{(day.month + 2) // 3}/index.json"


def index_url(day: date) -> str:
    """The address of the index of a day."""
    return f"{listing_url(day).removesuffix('index.json')}master.{day:%Y%m%d}.idx"


def days_listed(raw: bytes) -> tuple[list[date], list[str]]:
    """The days that have an index, from the listing of a quarter, and the flaws of entries without a name.

    Other files of the folder are left out.

    Raises:
        DocumentError: it is not a listing.
    """
    place = "listing of the daily index"
    items = decode(msgspec.json.Decoder(_Listing), raw, place).directory.item
    named, malformed = list[str](), list[str]()
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str):
            named.append(name)
        else:
            malformed.append(f"{place}: has the file {str(item)[:80]}, expected one with a name")
    return sorted(day for name in named if (found := NAME.fullmatch(name)) and (day := _day(found[1]))), malformed


def companies_in(raw: bytes, day: date, forms: Collection[str]) -> tuple[set[str], list[str]]:
    """The companies, in ten digits, that filed one of these forms, or an amendment of one, on a day.

    A malformed line counts as a line with one of these forms if its company can be read, because one more request costs
    little.

    Returns:
        the companies, and the flaw of each malformed line.

    Raises:
        DocumentError: it is not an index, it is cut off, or many of its lines are malformed.
    """
    place = f"daily index of {day}"
    lines = iter(raw.decode("latin-1").split("\n"))  # splitlines would end a line at bytes that are part of a name
    if COLUMNS.lower() not in (line.strip().lower().replace("filename", "file name") for line in lines):
        raise DocumentError(f"has no line {COLUMNS!r}", place)
    filings = [line for each in lines if (line := each.rstrip("\r")).strip("- ")]
    malformed = [line for line in filings if not _is_filing(line)]
    wrong = [f"has the line {line[:80]!r}, expected {COLUMNS}" for line in malformed]
    if wrong and (malformed[-1] == filings[-1] or len(wrong) > max(FEW, LARGEST_SHARE * len(filings))):
        raise DocumentError(wrong[-1], place)  # the last line of a file that is cut off is malformed
    of_forms = [line for line in filings if line in malformed or _form(line).removesuffix(AMENDMENT) in forms]
    ciks = (line.partition("|")[0] for line in of_forms)
    return {cik.zfill(10) for cik in ciks if CIK.fullmatch(cik)}, [f"{place}: {each}" for each in wrong]


def _is_filing(line: str) -> bool:
    """Whether a line has all columns; the name of a company may contain bars."""
    if line.count("|") < COLUMNS.count("|"):
        return False
    cik, *_, filed, file = line.split("|")
    return bool(CIK.fullmatch(cik) and _day(filed.replace("-", ""))) and file.endswith(".txt")


def _form(line: str) -> str:
    return line.split("|")[-3].strip()


def _day(text: str) -> date | None:
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:8]))
    except ValueError:
        return None
