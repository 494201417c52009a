"""Every SQL statement that the pages run beside those of the interface, as functions of an open build.

Belongs here: what a company's page, the data dictionary and the page of the rules show. Does not: the interface's
statements (queries).
"""

import msgspec

from warehouse import schema
from warehouse.reader import OpenBuild


class Stated(msgspec.Struct, frozen=True):
    """The current value of a period and item, and the filing that its newest version comes from.

    `versions` is how many the log has; `earlier` is the value before this one, where there was one. `url` is the
    filing's index at the SEC, None where the filing is not held.
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
    """Periods of one kind that have no value for an item for one reason: how many, and their first and last end."""

    item: str
    kind: str
    reason: str
    periods: int
    first_end: str
    last_end: str


class RuleCount(msgspec.Struct, frozen=True):
    """A rule, and how much it decided in the build: `values` of how many `companies` (table `rules`)."""

    id: str
    statement: str
    source: str
    action: str
    applies: str
    values: int
    companies: int


def stated(build: OpenBuild, cik: str) -> list[Stated]:
    """All current values of a company, with where each comes from.

    Args:
        build: the build to ask.
        cik: the company; its symbols share the values.

    Returns:
        items in the order of the specification, trailing twelve months before years, newest period first.
    """
    found = build.rows(
        "SELECT item, period_kind, period, CAST(period_end AS VARCHAR), value, told, earlier, cause, form, filed, url "
        "FROM (SELECT *, count(*) OVER (PARTITION BY period_kind, period_end, item) AS told, "
        "lag(value IGNORE NULLS) OVER (PARTITION BY period_kind, period_end, item ORDER BY version) AS earlier "
        "FROM (SELECT * REPLACE (CAST(filed AS VARCHAR) AS filed) FROM versions WHERE cik = $cik)) AS numbered "
        "LEFT JOIN (SELECT accession, url FROM filings WHERE cik = $cik) AS held USING (accession) "
        "WHERE is_current AND value IS NOT NULL "
        "ORDER BY list_position($order, item), list_position($kinds, period_kind), numbered.period_end DESC",
        {"cik": cik, "order": schema.ITEM_NAMES, "kinds": schema.PERIOD_KINDS},
    )
    return [Stated(*row) for row in found]


def gaps(build: OpenBuild, cik: str) -> list[Gap]:
    """Why a company's periods lack items; items in the order of the specification, trailing twelve months first."""
    found = build.rows(
        "SELECT item, period_kind, reason, count(*), "
        "CAST(min(period_end) AS VARCHAR), CAST(max(period_end) AS VARCHAR) "
        "FROM gaps WHERE cik = $cik GROUP BY item, period_kind, reason "
        "ORDER BY list_position($order, item), list_position($kinds, period_kind), min(period_end), reason",
        {"cik": cik, "order": schema.ITEM_NAMES, "kinds": schema.PERIOD_KINDS},
    )
    return [Gap(*row) for row in found]


def sources(build: OpenBuild) -> dict[str, str]:
    """By item, the taxonomy elements that feed it, as in column `sources`; none for one calculated from other items."""
    return dict(build.rows("SELECT name, sources FROM line_items WHERE sources IS NOT NULL"))


def rules(build: OpenBuild) -> list[RuleCount]:
    """The rules in the order of their ids; none in a build that was published before rules had ids."""
    if "rules" not in build.columns:
        return []
    found = build.rows('SELECT rule, statement, source, action, applies, "values", companies FROM rules ORDER BY rule')
    return [RuleCount(*row) for row in found]
