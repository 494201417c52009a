"""The SQL queries of the pages of statements as filed, as functions of an open build.

Belongs here: the filings whose statements a build has, their lines, and which values are made from a filing's facts.
Does not: the lines of the filings behind one value (explain_queries), finding facts among lines (statements).
"""

from collections.abc import Sequence

import msgspec

from warehouse.contract.fictional import address
from warehouse.contract.schema import PERIOD_KINDS
from warehouse.queries.explain_queries import StatementRow
from warehouse.read.reader import OpenBuild
from warehouse.read.series import OfSymbol, of_series

USED = ("lineage", "versions")
"""The tables that connect values with the facts from which they are made."""


class StatedFiling(msgspec.Struct, frozen=True):
    """A filing whose statements are in the build; `end` is the last day of its newest column."""

    accession: str
    form: str | None
    filed: str | None
    url: str | None
    end: str


class Use(msgspec.Struct, frozen=True):
    """A fact of a filing from which a value of a symbol is made, with the item and period of that value.

    `leg` numbers the uses of facts within the filing. `is_current` is false if a later version has replaced the value.
    """

    leg: int
    item: str
    kind: str
    period: str
    period_end: str
    is_current: bool
    accession: str
    tag: str
    member: str | None
    start: str | None
    end: str
    value: float


def filings(build: OpenBuild, cik: str) -> list[StatedFiling]:
    """The filings of a company whose statements the build has, newest first; empty for builds without the table."""
    if "newest_statements" not in build.columns:
        return []
    found = build.rows(
        f"SELECT accession, form, CAST(filed AS VARCHAR), {address('filings')}, CAST(ended AS VARCHAR) FROM "
        '(SELECT accession, max("end") AS ended FROM newest_statements WHERE cik = $cik GROUP BY accession) AS stated '
        "JOIN filings USING (accession) WHERE filings.cik = $cik AND ended IS NOT NULL "
        "ORDER BY filings.filed DESC NULLS LAST, accession DESC",
        {"cik": cik},
    )
    return [StatedFiling(*row) for row in found]


def rows(build: OpenBuild, cik: str, filing: StatedFiling) -> list[StatementRow]:
    """The lines of the statements of a filing, in their order."""
    is_total = "is_total" if "is_total" in build.columns["newest_statements"] else "NULL"
    found = build.rows(
        "SELECT statement, line, depth, label, tag, member, is_heading, negated, unit, quarters, "
        f'CAST("end" AS VARCHAR), value, {is_total} FROM newest_statements '
        'WHERE cik = $cik AND accession = $accession ORDER BY statement, line, member, "end"',
        {"cik": cik, "accession": filing.accession},
    )
    return [StatementRow(filing.accession, filing.form, filing.filed, filing.url, *row) for row in found]


def uses(build: OpenBuild, company: OfSymbol, accession: str, items: Sequence[str]) -> list[Use]:
    """The facts of a filing from which values of a symbol are made, in their current or earlier versions.

    Args:
        build: the build.
        company: the symbol.
        accession: the filing.
        items: the line items whose values count.

    Returns:
        the facts by item in the order given, the newest period of each first.
    """
    member = "member" if "member" in build.columns["lineage"] else "NULL"
    keys = {
        table: f"item, period_kind, CAST(period_end AS VARCHAR), version, {_series(build, table)}" for table in USED
    }
    facts = build.rows(
        f'SELECT {keys["lineage"]}, tag, {member}, CAST("start" AS VARCHAR), CAST("end" AS VARCHAR), value '
        f"FROM lineage WHERE cik = $cik AND accession = $accession AND {of_series(build, 'lineage')}",
        {"cik": company.cik, "symbol": company.symbol, "accession": accession},
    )
    versions = build.rows(
        f"SELECT {keys['versions']}, period, is_current FROM versions WHERE cik = $cik", {"cik": company.cik}
    )
    of_key = {tuple(row[:5]): row[5:] for row in versions}
    place = {item: at for at, item in enumerate(items)}
    wanted = [row for row in dict.fromkeys(facts) if row[0] in place and row[1] in PERIOD_KINDS]
    wanted.sort(key=lambda row: row[2], reverse=True)
    wanted.sort(key=lambda row: (place[row[0]], row[1]))
    found = []
    for number, row in enumerate(wanted):
        item, kind, ended, *_ = row
        period, is_current = of_key[row[:5]]
        found.append(Use(number, item, kind, period, ended, is_current, accession, *row[5:]))
    return found


def _series(build: OpenBuild, table: str) -> str:
    return "class_member" if "class_member" in build.columns[table] else "NULL"
