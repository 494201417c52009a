"""EDGAR's daily index: who filed which form on a day.

Belongs here: addresses and formats of the index and of its folder's listing. Does not: which companies are requested
(ways).

    https://www.sec.gov/Archives/edgar/daily-index/2026/QTR3/index.json              the listing of a quarter
    https://www.sec.gov/Archives/edgar/daily-index/2026/QTR3/master.20260824.idx     the filings of a day

There is no index of weekends and holidays; the listing says which days have one. The index is text in Latin-1: a few
lines about it, a line of column names, a line of dashes, and one line a filing, with bars between the columns:

    1000184|SAP SE|6-K|20260824|edgar/data/1000184/0001104659-26-100300.txt
"""

import re
from collections.abc import Collection, Iterator
from datetime import date

import msgspec

from pipelines.edgar.decoding import decode
from pipelines.edgar.errors import DocumentError

FOLDER = "https://www.sec.gov/Archives/edgar/daily-index/"
COLUMNS = "CIK|Company Name|Form Type|Date Filed|File Name"
NAME = re.compile(r"master\.(\d{8})\.idx", re.ASCII)
CIK = re.compile(r"\d{1,10}", re.ASCII)
AMENDMENT = "/A"


class _Item(msgspec.Struct):
    name: str


class _Directory(msgspec.Struct):
    item: list[_Item]


class _Listing(msgspec.Struct):
    directory: _Directory


def listing_url(day: date) -> str:
    """The address of the listing of the quarter in which a day lies."""
    return f"{FOLDER}{day.year}/QTR{(day.month + 2) // 3}/index.json"


def index_url(day: date) -> str:
    """The address of the index of a day."""
    return f"{listing_url(day).removesuffix('index.json')}master.{day:%Y%m%d}.idx"


def days_listed(raw: bytes) -> list[date]:
    """The days that have an index, from the listing of a quarter; other files of the folder are left out.

    Raises:
        DocumentError: it is not a listing.
    """
    listing = decode(msgspec.json.Decoder(_Listing), raw, "listing of the daily index")
    names = (NAME.fullmatch(item.name) for item in listing.directory.item)
    return sorted(day for name in names if name and (day := _day(name[1])))


def companies_in(raw: bytes, day: date, forms: Collection[str]) -> set[str]:
    """The companies, in ten digits, that filed one of these forms, or an amendment of one, on a day.

    Raises:
        DocumentError: it is not an index, or it is cut off.
    """
    place = f"daily index of {day}"
    lines = iter(raw.decode("latin-1").splitlines())
    if COLUMNS.lower() not in (line.strip().lower().replace("filename", "file name") for line in lines):
        raise DocumentError(f"has no line {COLUMNS!r}", place)
    return {cik.zfill(10) for cik, form in _filings(lines, place) if form.removesuffix(AMENDMENT) in forms}


def _filings(lines: Iterator[str], place: str) -> Iterator[tuple[str, str]]:
    for line in lines:
        if not line.strip("- "):
            continue
        cik, *_, form, filed, file = columns = line.split("|") if line.count("|") >= 4 else [line] * 5
        if len(columns) < 5 or not CIK.fullmatch(cik) or not _day(filed.replace("-", "")) or not file.endswith(".txt"):
            raise DocumentError(f"has the line {line[:80]!r}, expected {COLUMNS}", place)
        yield cik, form.strip()


def _day(text: str) -> date | None:
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:8]))
    except ValueError:
        return None
