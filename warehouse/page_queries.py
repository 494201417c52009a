"""The SQL queries of the pages, as functions of an open build.

Belongs here: the rows shown on a company's page, in the data dictionary and on the page of rules. Does not: the
interface's queries (queries).
"""

import msgspec

from warehouse import schema
from warehouse.reader import OpenBuild


class Stated(msgspec.Struct, frozen=True):
    """The current value of a period and item, and the filing that its newest version comes from.

    `versions` is the number of versions; `earlier` is the previous value, if any. `url` is the address of the filing's
    index at the SEC, None if the filing is not in table `filings`.
    """

    item: str
    kind: str
    period: str
    period_end: str
    value: float
    versions: int
    earlier: float | None
    cause: str | None
    form: str | None
    filed: str | None
    url: str | None


class Gap(msgspec.Struct, frozen=True):
    """The periods of one kind without a value for an item for one reason: their number, first and last end."""

    item: str
    kind: str
    reason: str
    periods: int
    first_end: str
    last_end: str


class RuleCount(msgspec.Struct, frozen=True):
    """A rule with its counts in the build (table `rules`): `figures` is 0 for builds that do not count them."""

    id: str
    statement: str
    source: str
    action: str
    applies: str
    values: int
    figures: int
    companies: int


def stated(build: OpenBuild, cik: str) -> list[Stated]:
    """All current values of a company, with the filing of each.

    Args:
        build: the build to query.
        cik: the company; its symbols share the values.

    Returns:
        Items in the order of the specification, trailing twelve months before years, newest period first.
    """
    found = build.rows(
        "SELECT item, period_kind, period, CAST(period_end AS VARCHAR), value, recorded, earlier, cause, form, filed, "
        "url FROM (SELECT *, count(*) OVER (PARTITION BY period_kind, period_end, item) AS recorded, "
        "lag(value IGNORE NULLS) OVER (PARTITION BY period_kind, period_end, item ORDER BY version) AS earlier "
        "FROM (SELECT * REPLACE (CAST(filed AS VARCHAR) AS filed) FROM versions WHERE cik = $cik)) AS numbered "
        "LEFT JOIN (SELECT accession, url FROM filings WHERE cik = $cik) AS held USING (accession) "
        "WHERE is_current AND value IS NOT NULL "
        "ORDER BY list_position($order, item), list_position($kinds, period_kind), numbered.period_end DESC",
        {"cik": cik, "order": schema.ITEM_NAMES, "kinds": schema.PERIOD_KINDS},
    )
    return [Stated(*row) for row in found]


def gaps(build: OpenBuild, cik: str) -> list[Gap]:
    """The reasons for a company's missing values; items in the order of the specification, twelve months first."""
    found = build.rows(
        "SELECT item, period_kind, reason, count(*), "
        "CAST(min(period_end) AS VARCHAR), CAST(max(period_end) AS VARCHAR) "
        "FROM gaps WHERE cik = $cik GROUP BY item, period_kind, reason "
        "ORDER BY list_position($order, item), list_position($kinds, period_kind), min(period_end), reason",
        {"cik": cik, "order": schema.ITEM_NAMES, "kinds": schema.PERIOD_KINDS},
    )
    return [Gap(*row) for row in found]


def sources(build: OpenBuild) -> dict[str, str]:
    """The taxonomy elements of each item, as in column `sources`; without items calculated from other items."""
    return dict(build.rows("SELECT name, sources FROM line_items WHERE sources IS NOT NULL"))


def rules(build: OpenBuild) -> list[RuleCount]:
    """The rules in the order of their ids; empty for a build that was published before rules had ids."""
    if "rules" not in build.columns:
        return []
    figures = "figures" if "figures" in build.columns["rules"] else "0"
    found = build.rows(
        f'SELECT rule, statement, source, action, applies, "values", {figures}, companies FROM rules ORDER BY rule'
    )
    return [RuleCount(*row) for row in found]
