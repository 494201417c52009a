"""The periods and the revised values of companies in memory.

Belongs here: reading the rows of many companies at once, storing them compactly, and finding the rows of one company.
Does not: which companies there are (memory), the text of a period (periods).

6,000 companies have 300,000 periods, and 270,000 versions of values that changed. They are NumPy arrays in the order of
the answers, with a slice for each company; as Python objects they would need several times the memory.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, date, datetime
from functools import lru_cache
from math import isnan
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from warehouse.contract import schema
from warehouse.contract.line_items import ITEMS_BY_CLASS, SERVED_NAMES
from warehouse.contract.served import Coverage, LabelledPeriod, Revision, Version, json_number
from warehouse.files import of_companies
from warehouse.read.periods import Periods

Array = NDArray[Any]

PERIOD = "period, period_end, fiscal_year, fiscal_quarter"
LABELS = f"""
SELECT period, CAST(period_end AS VARCHAR) AS ended, fiscal_year, fiscal_quarter, period_end,
  row_number() OVER (ORDER BY {PERIOD}) - 1 AS label
FROM (SELECT DISTINCT {PERIOD} FROM financials WHERE {{condition}}) ORDER BY label
"""
SYMBOLS = (
    "SELECT symbol, row_number() OVER (ORDER BY symbol) - 1 AS place FROM financials WHERE {condition} GROUP BY symbol"
)
DAY = "date_diff('day', DATE '1970-01-01', period_end)"
FINANCIALS = f"""
WITH labels AS ({LABELS}), symbols AS ({SYMBOLS})
SELECT 2 * place + list_position($kinds, period_kind) - 1 AS part, label, {DAY} AS day,
  {", ".join(f'''coalesce("{item}", 'NaN'::DOUBLE) AS "{item}"''' for item in SERVED_NAMES)}
FROM financials JOIN symbols USING (symbol)
  JOIN labels USING ({PERIOD})
WHERE coalesce({", ".join(SERVED_NAMES)}) IS NOT NULL AND {{condition}}
ORDER BY part, day DESC
"""
WITHOUT_CLASSES = {
    "companies": "(SELECT *, NULL::VARCHAR AS series_member FROM companies)",
    "versions": "(SELECT *, NULL::VARCHAR AS class_member FROM versions)",
}
"""Replacements for tables of earlier releases without these columns: all symbols of a company share one series."""
SERIES_OF_SYMBOLS = (
    "SELECT symbol, dense_rank() OVER (ORDER BY cik, series_member) AS series, * EXCLUDE symbol FROM {companies}"
)
VERSIONS = f"""
WITH series AS (SELECT DISTINCT cik, series, series_member FROM ({SERIES_OF_SYMBOLS})),
  chosen AS (SELECT versions.*, series FROM {{versions}} AS versions JOIN series USING (cik)
    WHERE {{condition}} AND class_member IS NOT DISTINCT FROM CASE WHEN item IN $by_class THEN series_member END),
  revised AS (SELECT DISTINCT series, period_kind, period_end, item FROM chosen WHERE version > 1),
  labels AS (SELECT period, row_number() OVER (ORDER BY period) - 1 AS label FROM chosen GROUP BY period)
SELECT series, list_position($kinds, period_kind) AS kind, list_position($items, item) - 1 AS item, label,
  {DAY} AS day, version, coalesce(value, 'NaN'::DOUBLE) AS value, is_current, coalesce(epoch_us(recorded_at), -1) AS at
FROM chosen JOIN revised USING (series, period_kind, period_end, item) JOIN labels USING (period)
ORDER BY series, day DESC, kind, item, version
"""
EPOCH = date(1970, 1, 1).toordinal()
PLACES: Mapping[str, int] = {item: place for place, item in enumerate(SERVED_NAMES)}


class Histories:
    """The periods and revised values of companies."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, companies: Set[str] | None = None) -> None:
        """Read the rows of a build.

        Args:
            connection: to the build.
            companies: the CIKs of the companies; None: all.

        Raises:
            duckdb.Error: the file is not a build.
        """
        condition = "true" if companies is None else of_companies(companies)
        self._read_financials(connection, condition)
        self._read_versions(connection, condition)

    def coverage(self, symbol: str) -> Coverage | None:
        """The periods and items of a symbol that have values; None if no period has one (Memory.coverage)."""
        kinds = [self._periods(symbol, kind) for kind in schema.PERIOD_KINDS]
        rows = next((rows for rows in kinds if rows.start < rows.stop), None)
        if rows is None:
            return None
        first, last = (self._labels[self._label[place]] for place in (rows.stop - 1, rows.start))
        ttm, annual = (rows.stop - rows.start for rows in kinds)
        held: Array = np.any(self._has_value[kinds[0].start : kinds[1].stop], axis=0)
        items = tuple(item for item, is_held in zip(SERVED_NAMES, held.tolist(), strict=True) if is_held)
        return Coverage(LabelledPeriod(*first[:2]), LabelledPeriod(*last[:2]), ttm, annual, items)

    def financials(
        self, symbol: str, kind: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> tuple[bytes, int]:
        """The periods of a symbol as an encoded JSON array, newest first, and their number.

        Memory.financials says what the arguments mean.
        """
        return self._encoded.chosen(_within(self._periods(symbol, kind), self._day, since, until), tuple(items), limit)

    def revisions(
        self, symbol: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> list[Revision]:
        """The periods and items of a symbol that have more than one version, the newest period first.

        Memory.revisions says what the arguments mean, and how withdrawn values are listed and numbered.
        """
        series = self._series[symbol]
        first, last = (int(np.searchsorted(self._revised_by, each)) for each in (series, series + 1))
        rows = _within(slice(first, last), self._revised_day, since, until)
        wanted = {PLACES[item] for item in items}
        places = [n for n, item in enumerate(self._revised_item[rows].tolist(), rows.start) if item in wanted]
        return [self._revision(place) for place in places[:limit]]

    def _read_financials(self, connection: duckdb.DuckDBPyConnection, condition: str) -> None:
        """Read the periods with a value: symbol by symbol, trailing twelve months before years, newest first.

        Args:
            connection: to the build.
            condition: the SQL condition that selects the companies.
        """
        symbols = connection.execute(SYMBOLS.format(condition=condition)).fetchall()
        self._place: dict[str, int] = {symbol: int(place) for symbol, place in symbols}
        labels = connection.execute(LABELS.format(condition=condition)).fetchall()
        self._labels: list[tuple[str, str, int, int]] = [row[:4] for row in labels]
        rows = connection.execute(FINANCIALS.format(condition=condition), {"kinds": schema.PERIOD_KINDS}).fetchnumpy()
        self._starts: list[int] = np.searchsorted(rows["part"], np.arange(2 * len(self._place) + 1)).tolist()
        self._label, self._day = rows["label"].astype(np.int32), rows["day"].astype(np.int32)
        self._encoded = Periods(self._labels, self._label, rows)
        self._has_value: Array = np.column_stack([~np.isnan(rows[item]) for item in SERVED_NAMES])

    def _read_versions(self, connection: duckdb.DuckDBPyConnection, condition: str) -> None:
        """Read the versions of values that changed: series by series, in the order of Memory.revisions.

        Args:
            connection: to the build.
            condition: the SQL condition that selects the companies.
        """
        columns = {name for (name,) in connection.execute("SELECT column_name FROM (DESCRIBE versions)").fetchall()}
        tables = {name: name for name in WITHOUT_CLASSES} if "class_member" in columns else WITHOUT_CLASSES
        series = connection.execute(f"SELECT symbol, series FROM ({SERIES_OF_SYMBOLS.format(**tables)})").fetchall()
        self._series: dict[str, int] = dict(series)
        labels = connection.execute(
            f"SELECT DISTINCT period FROM versions WHERE {condition} ORDER BY period"
        ).fetchall()
        self._version_labels = [label for (label,) in labels]
        named = {"kinds": schema.PERIOD_KINDS, "items": SERVED_NAMES, "by_class": ITEMS_BY_CLASS}
        rows = connection.execute(VERSIONS.format(condition=condition, **tables), named).fetchnumpy()
        keys = [rows[name] for name in ("series", "day", "kind", "item")]
        is_new = np.ones(len(keys[0]) + 1, dtype=bool)
        is_new[1:-1] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        starts = np.flatnonzero(is_new)
        changed = np.diff(starts) > 1
        self._revised_from, self._revised_to = starts[:-1][changed], starts[1:][changed]
        self._revised_by, self._revised_day = (rows[name][self._revised_from] for name in ("series", "day"))
        self._revised_item = rows["item"][self._revised_from].astype(np.int8)
        self._versions = [rows[name] for name in ("version", "value", "is_current", "at")]
        self._version_label = rows["label"].astype(np.int32)

    def _periods(self, symbol: str, kind: str) -> slice:
        """The rows of a symbol for one kind of period; empty if it has no values."""
        if symbol not in self._place:
            return slice(0, 0)
        place = 2 * self._place[symbol] + schema.PERIOD_KINDS.index(kind)
        return slice(self._starts[place], self._starts[place + 1])

    def _revision(self, place: int) -> Revision:
        """The revision at a place of the arrays, with its versions that have a value."""
        start, stop = int(self._revised_from[place]), int(self._revised_to[place])
        columns = zip(*(column[start:stop].tolist() for column in self._versions), strict=True)
        versions = tuple(
            Version(version, json_number(value), is_current, _moment(at))
            for version, value, is_current, at in columns
            if not isnan(value)
        )
        return Revision(
            self._version_labels[self._version_label[stop - 1]],
            date.fromordinal(EPOCH + int(self._revised_day[place])).isoformat(),
            SERVED_NAMES[self._revised_item[place]],
            max((version.value for version in versions if version.current), default=None),
            versions,
        )


def _within(rows: slice, days: Array, since: date | None, until: date | None) -> slice:
    """The rows whose day is from `since` to `until`, both included; None: no bound.

    Args:
        rows: sorted by day, the newest first.
        days: the day of each row of the array, as days since 1970.
        since, until: the bounds.
    """
    if since is None and until is None:
        return rows
    ascending = -days[rows]
    start = 0 if until is None else int(np.searchsorted(ascending, EPOCH - until.toordinal()))
    stop = len(ascending) if since is None else int(np.searchsorted(ascending, EPOCH - since.toordinal(), "right"))
    return slice(rows.start + start, rows.start + max(start, stop))


@lru_cache(maxsize=1000)
def _moment(microseconds: int) -> str | None:
    """A time as ISO 8601 in UTC; cached, because all rows of one synchronization have the same time."""
    return None if microseconds < 0 else f"{datetime.fromtimestamp(microseconds // 1_000_000, UTC):%Y-%m-%dT%H:%M:%SZ}"
