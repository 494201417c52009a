"""The SQL queries of the page of changes, as functions of an open build.

Belongs here: the values that differ from the previous build (table `changes`), with their filings, and the companies
that are new in this build. Does not: all versions of a value (queries, explain_queries).
"""

from collections.abc import Collection

import msgspec

from warehouse.contract.fictional import address
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import COVERED
from warehouse.read.reader import OpenBuild
from warehouse.read.series import with_class


class Change(msgspec.Struct, frozen=True):
    """A value that differs from the previous build: `before` is None for a new value, `after` for a withdrawn one.

    Form, day and address belong to the filing that led to the current version; None where unknown.
    """

    symbol: str
    period: str
    item: str
    before: float | None
    after: float | None
    cause: str | None
    form: str | None
    filed: str | None
    url: str | None
    cik: str = ""


class Counts(msgspec.Struct, frozen=True):
    """The numbers of new, restated and withdrawn values, and of the companies that have them."""

    new: int
    restated: int
    withdrawn: int
    companies: int

    @property
    def total(self) -> int:
        """The number of all changed values."""
        return self.new + self.restated + self.withdrawn


SYMBOL = f"first(symbol ORDER BY NOT is_primary, symbol) AS symbol FROM companies WHERE {COVERED}"


def _changed(build: OpenBuild) -> str:
    """SQL: the changes, each with the first symbol of its company, or of its class of stock."""
    covered = f"SELECT cik, '' AS of_class, {SYMBOL} GROUP BY cik"
    if "series_member" in build.columns["companies"]:
        covered += f" UNION ALL SELECT cik, series_member, {SYMBOL} AND series_member IS NOT NULL GROUP BY ALL"
    return f"FROM {with_class(build, 'changes')} AS changes JOIN ({covered}) AS covered USING (cik, of_class)"


def counts(build: OpenBuild, ciks: Collection[str] | None = None) -> Counts:
    """Count the values that differ from the previous build, of all covered companies or of the given CIKs."""
    withdrawn = "changes.after IS NULL"
    [row] = build.rows(
        f"SELECT count(*) FILTER (NOT {withdrawn} AND changes.before IS NULL), "
        f"count(*) FILTER (NOT {withdrawn} AND changes.before IS NOT NULL), "
        f"count(*) FILTER ({withdrawn}), count(DISTINCT cik) {_changed(build)} "
        f"WHERE item IN $items AND {_of(ciks)}",
        {"items": SERVED_NAMES, "ciks": list(ciks or ())},
    )
    return Counts(*row)


def added(build: OpenBuild) -> list[tuple[str, str | None]]:
    """The symbols and names of the covered companies that are new in this build; empty for the first build.

    They have no rows in table `changes`: all their values were first recorded by the newest synchronization.
    """
    found = build.rows(
        "WITH first_recorded AS (SELECT cik, min(recorded_at) AS since FROM versions GROUP BY cik), "
        "newest AS (SELECT max(started_at) AS began FROM syncs) "
        f"SELECT first(name), {SYMBOL} AND cik IN (SELECT cik FROM first_recorded, newest WHERE since >= began) "
        "AND (SELECT min(since) < any_value(began) FROM first_recorded, newest) GROUP BY cik ORDER BY symbol"
    )
    return [(symbol, name) for name, symbol in found]


def newest(build: OpenBuild, limit: int, ciks: Collection[str] | None = None) -> list[Change]:
    """The changes of a build, up to a limit; the most recently accepted filings come first.

    Args:
        build: the build.
        limit: the largest number of changes.
        ciks: the companies whose changes are wanted; None: all.
    """
    found = build.rows(
        "SELECT symbol, period, item, changes.before, changes.after, changes.cause, current.form, "
        f"CAST(current.filed AS VARCHAR), {address('filings')}, cik {_changed(build)} "
        f"JOIN (FROM {with_class(build, 'versions')} WHERE is_current) AS current "
        "USING (cik, of_class, period_kind, period_end, item) "
        f"LEFT JOIN filings USING (accession) WHERE item IN $items AND {_of(ciks)} "
        "ORDER BY known_at DESC NULLS LAST, symbol, period_end DESC, period_kind DESC, list_position($items, item) "
        "LIMIT $limit",
        {"items": SERVED_NAMES, "limit": limit, "ciks": list(ciks or ())},
    )
    return [Change(*row) for row in found]


def _of(ciks: Collection[str] | None) -> str:
    """SQL: whether a change belongs to one of the companies `$ciks`, or true for all of them without `ciks`."""
    return f"{'NOT ' if ciks is None else ''}list_contains($ciks::VARCHAR[], cik)"
