"""The filings of a company with XBRL, from its submissions document and its pages of older filings.

Belongs here: the fields that are needed to request the package of a filing. Does not: other fields of these documents
(documents), the choice of pages (older_pages), requesting packages (filing_documents).
"""

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from pipelines.edgar.decode.decoding import check_company, check_each, decode, is_date
from pipelines.edgar.errors import DocumentError

AMENDMENT = "/A"

_Flag = int | str | None


class XbrlFiling(NamedTuple):
    """One filing. `primary_document` is the name of its report; a flag is None if the document does not state it."""

    cik: str
    accession: str
    form: str
    filed: str
    primary_document: str
    is_xbrl: bool | None
    is_inline: bool | None


class Report(NamedTuple):
    """A periodic report; `period_end` is the last day of its period, empty if the document does not state it."""

    cik: str
    accession: str
    form: str
    filed: str
    period_end: str


class _Columns(msgspec.Struct, rename="camel"):
    accession_number: list[str]
    form: list[str]
    filing_date: list[str]
    report_date: list[str] = []
    primary_document: list[str] = []
    is_xbrl: list[_Flag] = msgspec.field(name="isXBRL", default_factory=list)
    is_inline: list[_Flag] = msgspec.field(name="isInlineXBRL", default_factory=list)
    is_numeric: list[_Flag] = msgspec.field(name="isXBRLNumeric", default_factory=list)


class _Filings(msgspec.Struct):
    recent: _Columns


class _Submissions(msgspec.Struct):
    cik: int | str
    filings: _Filings


_DECODER, _PAGE_DECODER = msgspec.json.Decoder(_Submissions), msgspec.json.Decoder(_Columns)


def decode_xbrl_filings(raw: bytes, cik: str, periodic: Collection[str], current: Collection[str]) -> list[XbrlFiling]:
    """The filings with XBRL. Filings whose XBRL has no numbers are left out, if the document says so: since 2019, most
    8-K have XBRL of their cover page only.

    Args:
        raw: the submissions document.
        cik: ten digits: the company whose document it must be.
        periodic, current: forms whose filings and amendments are included even if the document does not say whether
            they have XBRL; periodic reports are included even if it says that their XBRL has no numbers.

    Raises:
        DocumentError: not JSON, a wrong type or form, columns of unequal length, or another company's document.
    """
    place = f"submissions of CIK {cik}"
    document = decode(_DECODER, raw, place)
    check_company(document.cik, cik, place)
    return _filings(document.filings.recent, cik, periodic, current, f"{place}, filings/recent")


def decode_reports(raw: bytes, cik: str, periodic: Collection[str]) -> list[Report]:
    """The reports of a submissions document that may have XBRL, without amendments.

    Args:
        raw, cik: as for decode_xbrl_filings.
        periodic: the forms of reports.

    Raises:
        DocumentError: as decode_xbrl_filings.
    """
    columns = decode(_DECODER, raw, f"submissions of CIK {cik}").filings.recent
    ends = dict(zip(columns.accession_number, columns.report_date, strict=False))
    listed = decode_xbrl_filings(raw, cik, periodic, ())
    return [
        Report(cik, filing.accession, filing.form, filing.filed, ends.get(filing.accession, ""))
        for filing in listed
        if filing.form in periodic
    ]


def decode_xbrl_page(raw: bytes, cik: str, periodic: Collection[str], current: Collection[str]) -> list[XbrlFiling]:
    """The filings with XBRL on a page of older filings; the page does not name the company.

    Raises:
        DocumentError: not JSON, a wrong type or form, or columns of unequal length.
    """
    place = f"page of older filings of CIK {cik}"
    return _filings(decode(_PAGE_DECODER, raw, place), cik, periodic, current, place)


def _filings(
    columns: _Columns, cik: str, periodic: Collection[str], current: Collection[str], place: str
) -> list[XbrlFiling]:
    number = len(columns.accession_number)
    lengths = {name: len(values) or number for name, values in msgspec.structs.asdict(columns).items()}
    if set(lengths.values()) - {number}:
        raise DocumentError(f"the columns have unequal lengths: {lengths}", place)
    flags = ([_flag(value) for value in flags] or [None] * number for flags in _flags(columns))
    names = columns.primary_document or [""] * number
    found = []
    for accession, form, filed, name, is_xbrl, is_inline, is_numeric in zip(
        columns.accession_number, columns.form, columns.filing_date, names, *flags, strict=True
    ):
        family = form.removesuffix(AMENDMENT)
        is_report = family in periodic
        if (is_xbrl or (is_xbrl is None and (is_report or family in current))) and (
            is_numeric is not False or is_report
        ):
            found.append(XbrlFiling(cik, accession, form, filed, name, is_xbrl, is_inline))
    check_each(is_date, (filing.filed for filing in found), "a filingDate of the form YYYY-MM-DD", place)
    return found


def _flags(columns: _Columns) -> tuple[list[_Flag], ...]:
    return columns.is_xbrl, columns.is_inline, columns.is_numeric


def _flag(value: _Flag) -> bool | None:
    """The value of a flag, which is 1 or 0 in EDGAR's documents."""
    return bool(int(value)) if value in (0, 1, "0", "1") else None
