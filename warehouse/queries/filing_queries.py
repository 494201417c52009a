"""The SQL queries of the pages of filings, as functions of an open build.

Belongs here: the filings of a company, one filing, and its facts that values use. Does not: the facts behind one value
(explain_queries).
"""

import msgspec

from warehouse.contract.fictional import address
from warehouse.read.reader import OpenBuild


class Filing(msgspec.Struct, frozen=True):
    """A filing of a company; `url` is its page at the SEC, or in this service if the company is fictional."""

    accession: str
    cik: str
    form: str | None
    filed: str | None
    url: str | None


class Fact(msgspec.Struct, frozen=True):
    """A fact as filed that current or earlier values use; `start` is None for an instant."""

    tag: str
    start: str | None
    end: str
    value: float
    unit: str


COLUMNS = f"accession, cik, form, CAST(filed AS VARCHAR), {address('filings')}"


def filings(build: OpenBuild, cik: str) -> list[Filing]:
    """The filings of a company, newest first."""
    found = build.rows(
        f"SELECT {COLUMNS} FROM filings WHERE cik = $cik ORDER BY filings.filed DESC NULLS LAST, accession DESC",
        {"cik": cik},
    )
    return [Filing(*row) for row in found]


def filing(build: OpenBuild, accession: str) -> Filing | None:
    """A filing by its accession number."""
    found = build.rows(f"SELECT {COLUMNS} FROM filings WHERE accession = $accession", {"accession": accession})
    return Filing(*found[0]) if found else None


def facts(build: OpenBuild, of: Filing) -> list[Fact]:
    """The facts of a filing that values use, as filed, by element and period."""
    found = build.rows(
        'SELECT DISTINCT tag, CAST("start" AS VARCHAR) AS began, CAST("end" AS VARCHAR) AS ended, value, unit '
        "FROM lineage WHERE cik = $cik AND accession = $accession ORDER BY tag, ended DESC, began DESC, value",
        {"cik": of.cik, "accession": of.accession},
    )
    return [Fact(*row) for row in found]


def symbol(build: OpenBuild, cik: str) -> str | None:
    """The symbol of a company by its CIK; the primary one if there are several."""
    found = build.rows("SELECT symbol FROM companies WHERE cik = $cik ORDER BY NOT is_primary, symbol", {"cik": cik})
    return found[0][0] if found else None
