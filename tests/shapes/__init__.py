"""Small documents shaped after real filings, as Python tables: one for each rule that decides in them.

Belongs here: the structure of such a table. Does not: the documents (one module per area), the expected results
(unit.test_rules).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from tests.factories import CIK, Row


@dataclass(frozen=True)
class Shape:
    """Filings of one company in which a rule decides.

    rows: facts as filed, of company CIK. sic: SIC code of the filer, empty if EDGAR has none. succeeded: the day of its
    notice of succession.
    """

    rule: str
    rows: Sequence[Row]
    sic: str = ""
    succeeded: date | None = None


def joined(*parts: Iterable[Row]) -> list[Row]:
    """The facts of several filings."""
    return [row for part in parts for row in part]


def of_company(rows: Iterable[Row], cik: str) -> list[Row]:
    """The same facts, filed by another company."""
    return [{**row, "cik": cik, "accession": row["accession"].replace(CIK, cik)} for row in rows]
