"""The SQL queries of the page of changes, as functions of an open build.

Belongs here: the values that differ from the build before (table `changes`), with their filings, and the companies that
it did not have. Does not: all versions of a value (queries, explain_queries).
"""

from collections.abc import Collection

import msgspec

from warehouse.fictional import address
from warehouse.line_items import SERVED_NAMES
from warehouse.reader import OpenBuild
from warehouse.series import with_class
from warehouse.served_rows import COVERED


class Change(msgspec.Struct, frozen=True):
    """A value that the build before had otherwise, or not at all (`before` is None); `after` is None if withdrawn.

    Form, day and address are those of the filing that led to the current version; None for what is not known.
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
    """The numbers of new, restated and withdrawn values, and of their companies."""

    new: int
    restated: int
    withdrawn: int
    companies: int

    @property
    def total(self) -> int:
        """All values."""
        return self.new + self.restated + self.withdrawn


SYMBOL = f"first(symbol ORDER BY NOT is_primary, symbol) AS symbol FROM companies WHERE {COVERED}"


def _changed(build: OpenBuild) -> str:
    """The changes, each with the first symbol of its company, or of its class of stock."""
    covered = f"SELECT cik, '' AS of_class, {SYMBOL} GROUP BY cik"
    if "series_member" in build.columns["companies"]:
        covered += f" UNION ALL SELECT cik, series_member, {SYMBOL} AND series_member IS NOT NULL GROUP BY ALL"
    return f"FROM {with_class(build, 'changes')} AS changes JOIN ({covered}) AS covered USING (cik, of_class)"


def counts(build: OpenBuild, ciks: Collection[str] | None = None) -> Counts:
    """How many values of covered companies differ from the build before, of all companies or of some CIKs."""
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
    """The symbols and names of the covered companies that no build before had; none if there was no build before.

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
    """The changes of a build, at most so many; the filings that were accepted last come first.

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
    """SQL: whether a change is of one of the companies `$ciks`; of all companies the list is empty."""
    return f"{'NOT ' if ciks is None else ''}list_contains($ciks::VARCHAR[], cik)"
