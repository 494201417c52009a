"""Small Financial Statement Data Sets of fictional filings.

Belongs here: their tables, and the zip file. Does not: flaws of zip files (unit/test_data_sets).
"""

import io
import warnings
import zipfile

A, B = "0000000101-10-000001", "0000000102-10-000001"
SUB = ["adsh", "cik", "form", "period", "fy", "fp", "filed", "accepted", "prevrpt", "instance", "aciks"]
TAG = ["tag", "version", "custom", "datatype"]
NUM = ["adsh", "tag", "version", "ddate", "qtrs", "uom", "segments", "coreg", "value", "footnote"]
PRE = ["adsh", "report", "line", "stmt", "inpth", "rfile", "tag", "version", "plabel", "negating"]
HEADINGS = {"sub.txt": SUB, "tag.txt": TAG, "num.txt": NUM, "pre.txt": PRE}

FILING = [A, "101", "10-K", "20091231", "2009", "FY", "20100226", "2010-02-26 17:26:00.0", "0", "a.xml", ""]
FACT = [A, "Assets", "us-gaap/2009", "20091231", "0", "USD", "", "", "5.0000", ""]
LINE = [A, "2", "1", "BS", "0", "H", "Assets", "us-gaap/2009", "Total assets", "0"]
PRICES = [["EarningsPerShareBasic", "us-gaap/2009", "0", "perShare"], ["Price", A, "1", "perShare"]]
ROWS = {"sub.txt": [FILING], "tag.txt": PRICES, "num.txt": [FACT], "pre.txt": [LINE]}

Members = list[tuple[str, bytes]]


def with_(row: list[str], headings: list[str], **changes: str) -> list[str]:
    """A row with other texts in some columns."""
    return [changes.get(heading, text) for heading, text in zip(headings, row, strict=True)]


def fact(**changes: str) -> list[str]:
    """A row of `num.txt`."""
    return with_(FACT, NUM, **changes)


def line(**changes: str) -> list[str]:
    """A row of `pre.txt`."""
    return with_(LINE, PRE, **changes)


def filing(**changes: str) -> list[str]:
    """A row of `sub.txt`."""
    return with_(FILING, SUB, **changes)


def members(**rows: list[list[str]]) -> Members:
    """The tables with headings; `num=[...]` are the rows of one, the others have one row or two."""
    tables = {name: [headings, *rows.get(name[:3], ROWS[name])] for name, headings in HEADINGS.items()}
    return [(name, "".join("\t".join(row) + "\n" for row in table).encode()) for name, table in tables.items()]


def zipped(tables: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file of tables; names may repeat."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive, warnings.catch_warnings(action="ignore"):
        for name, text in tables:
            archive.writestr(name, text)
    return packed.getvalue()
