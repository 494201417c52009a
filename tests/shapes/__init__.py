"""Small documents shaped after real filings, as Python tables: one for each decision that they make the rules take.

Belongs here: the shape of such a table. Does not: the documents (a module an area), what they are expected to lead to
(unit.test_rules).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.factories import CIK, Row


@dataclass(frozen=True)
class Shape:
    """Filings of one company, in which a rule decides.

    rows: facts as filed, of company CIK. sic: the code of the filer, empty where EDGAR has none.
    """

    rule: str
    rows: Sequence[Row]
    sic: str = ""


def joined(*parts: Iterable[Row]) -> list[Row]:
    """The facts of several filings."""
    return [row for part in parts for row in part]


def of_company(rows: Iterable[Row], cik: str) -> list[Row]:
    """The same facts, filed by another company."""
    return [{**row, "cik": cik, "accession": row["accession"].replace(CIK, cik)} for row in rows]
