"""The rows of a build that the interface serves, in memory: they answer the queries of `queries` without DuckDB.

Belongs here: reading the rows of all companies at once, keeping them small, and choosing the rows of an answer.
Does not: the same choice in SQL (queries; a test compares both), when the rows are read (reader).

6,000 companies have 300,000 periods, and 270,000 versions of values that changed. They are NumPy arrays in the order of
the answers, with a slice for each company; as Python objects they would need several times the memory.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from warehouse import schema
from warehouse.files import quoted
from warehouse.periods import Periods
from warehouse.served_rows import (
    ANNUAL_FORMS,
    COMPANY,
    COVERED,
    SECURITY,
    VALUATION,
    Company,
    Coverage,
    Revision,
    Security,
    Valuation,
    Version,
)

Array = NDArray[Any]

SETTINGS: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "memory_limit": "300MB"}
"""Of the connection that reads: requests need the processor too, and its memory is free again when it is closed."""

FOLDED = "upper(symbol), lower(symbol), lower(name), lower(exchange)"
PERIOD = "period, period_end, fiscal_year, fiscal_quarter"
LABELS = f"""
SELECT period, CAST(period_end AS VARCHAR) AS ended, fiscal_year, fiscal_quarter, period_end,
  row_number() OVER (ORDER BY {PERIOD}) - 1 AS label
FROM (SELECT DISTINCT {PERIOD} FROM financials) ORDER BY label
"""
DAY = "date_diff('day', DATE '1970-01-01', period_end)"
FINANCIALS = f"""
WITH labels AS ({LABELS}),
  covered AS (SELECT symbol, row_number() OVER (ORDER BY symbol) - 1 AS company FROM companies WHERE {COVERED})
SELECT 2 * company + list_position($kinds, period_kind) - 1 AS part, label, {DAY} AS day,
  {", ".join(f'''coalesce("{item}", 'NaN'::DOUBLE) AS "{item}"''' for item in schema.SERVED_NAMES)}
FROM financials JOIN covered USING (symbol)
  JOIN labels USING ({PERIOD})
WHERE coalesce({", ".join(schema.SERVED_NAMES)}) IS NOT NULL
ORDER BY part, day DESC
"""
VERSIONS = f"""
WITH revised AS (SELECT DISTINCT cik, period_kind, period_end, item FROM versions WHERE version > 1),
  labels AS (SELECT period, row_number() OVER (ORDER BY period) - 1 AS label FROM versions GROUP BY period)
SELECT cik::BIGINT AS cik, list_position($kinds, period_kind) AS kind, list_position($items, item) - 1 AS item, label,
  {DAY} AS day, version, coalesce(value, 'NaN'::DOUBLE) AS value, is_current, coalesce(epoch_us(recorded_at), -1) AS at
FROM versions JOIN revised USING (cik, period_kind, period_end, item) JOIN labels USING (period)
ORDER BY cik, day DESC, kind, item, version
"""
EPOCH = date(1970, 1, 1).toordinal()
PLACES: Mapping[str, int] = {item: place for place, item in enumerate(schema.SERVED_NAMES)}


class Lines:
    """Lines of text that are searched all at once: forty times as fast as one after the other."""

    def __init__(self, lines: Iterable[str]) -> None:
        parts = ["\n" + line.replace("\n", " ") for line in lines]
        self._text = "".join(parts)
        self._starts = list(accumulate((len(part) for part in parts), initial=0))

    def lines_with(self, text: str) -> set[int]:
        """The lines that contain a text, from 0; a line feed in it stands for the start of a line."""
        return {bisect_right(self._starts, found.start()) - 1 for found in re.finditer(re.escape(text), self._text)}


class Memory:
    """The rows of a build; the methods are the functions of the same names in `queries`, without DuckDB."""

    def __init__(self, file: Path) -> None:
        """Read the rows of a build's file.

        Raises:
            duckdb.Error: the file is not a build.
        """
        with duckdb.connect(":memory:", config=SETTINGS) as connection:
            connection.execute(f"ATTACH {quoted(file)} AS build (READ_ONLY); USE build")
            connection.execute("SET enable_external_access = false; SET lock_configuration = true")
            self._read_companies(connection)
            self._read_financials(connection)
            self._read_versions(connection)
            self._valuations = {
                cik: Valuation(fits, value, tuple(codes), *texts)
                for cik, fits, value, codes, *texts in connection.execute(
                    f"SELECT cik, {VALUATION} FROM valuations"
                ).fetchall()
            }
            self._securities = {
                symbol: Security(kind, common)
                for symbol, kind, common in connection.execute(f"SELECT upper(symbol), {SECURITY}").fetchall()
            }
            self._forms: dict[str, str] = dict(
                connection.execute(
                    "SELECT cik, arg_max(left(form, 4), filed) FROM filings WHERE left(form, 4) IN $forms GROUP BY cik",
                    {"forms": ANNUAL_FORMS},
                ).fetchall()
            )

    def company(self, symbol: str) -> Company | None:
        """See queries."""
        return self._companies.get(symbol.upper()) if symbol.isascii() else None

    def security(self, symbol: str) -> Security | None:
        """See queries."""
        return self._securities.get(symbol.upper()) if symbol.isascii() else None

    def companies(
        self, *, search: str | None, exchange: str | None, limit: int, offset: int
    ) -> tuple[list[Company], int]:
        """See queries; `search` and `exchange` are ASCII, because Python and DuckDB fold other letters differently."""
        found = self._listed
        if search:
            wanted = search.lower()
            places = self._symbols.lines_with(f"\n{wanted}") | self._names.lines_with(wanted)
            found = [self._listed[place] for place in sorted(places)]
        if exchange:
            traded = exchange.lower()
            found = [company for company in found if self._exchanges[company.symbol] == traded]
        return found[offset : offset + limit], len(found)

    def coverage(self, symbol: str) -> Coverage | None:
        """See queries."""
        kinds = [self._periods(symbol, kind) for kind in schema.PERIOD_KINDS]
        rows = next((rows for rows in kinds if rows.start < rows.stop), None)
        if rows is None:
            return None
        first, last = self._labels[self._label[rows.stop - 1]], self._labels[self._label[rows.start]]
        ttm, annual = (rows.stop - rows.start for rows in kinds)
        held: Array = np.any(self._has_value[kinds[0].start : kinds[1].stop], axis=0)
        items = tuple(item for item, is_held in zip(schema.SERVED_NAMES, held.tolist(), strict=True) if is_held)
        return Coverage(first[:2], last[:2], ttm, annual, items)

    def financials(
        self, symbol: str, kind: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> tuple[bytes, int]:
        """See queries; but the periods are an encoded JSON array, with their number."""
        return self._encoded.chosen(_within(self._periods(symbol, kind), self._day, since, until), tuple(items), limit)

    def revisions(
        self, cik: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> list[Revision]:
        """See queries."""
        first, last = (int(np.searchsorted(self._revised_by, number)) for number in (int(cik), int(cik) + 1))
        rows = _within(slice(first, last), self._revised_day, since, until)
        wanted = {PLACES[item] for item in items}
        places = [n for n, item in enumerate(self._revised_item[rows].tolist(), rows.start) if item in wanted]
        return [self._revision(place) for place in places[:limit]]

    def valuation(self, cik: str) -> Valuation | None:
        """See queries."""
        return self._valuations.get(cik)

    def annual_form(self, cik: str) -> str | None:
        """See queries."""
        return self._forms.get(cik)

    def _read_companies(self, connection: duckdb.DuckDBPyConnection) -> None:
        rows = connection.execute(
            f"SELECT {FOLDED}, {COMPANY} FROM companies WHERE {COVERED} ORDER BY symbol"
        ).fetchall()
        self._listed = [Company(*row[4:]) for row in rows]
        self._companies = {row[0]: company for row, company in zip(rows, self._listed, strict=True)}
        self._symbols, self._names = (Lines(row[column] or "" for row in rows) for column in (1, 2))
        self._exchanges = {row[4]: row[3] for row in rows}
        self._place = {row[4]: place for place, row in enumerate(rows)}

    def _read_financials(self, connection: duckdb.DuckDBPyConnection) -> None:
        """The periods with a value: company by company, trailing twelve months before years, newest first."""
        self._labels: list[tuple[str, str, int, int]] = [row[:4] for row in connection.execute(LABELS).fetchall()]
        rows = connection.execute(FINANCIALS, {"kinds": schema.PERIOD_KINDS}).fetchnumpy()
        self._starts: list[int] = np.searchsorted(rows["part"], np.arange(2 * len(self._listed) + 1)).tolist()
        self._label, self._day = rows["label"].astype(np.int32), rows["day"].astype(np.int32)
        self._encoded = Periods(self._labels, self._label, rows)
        self._has_value: Array = np.column_stack([~np.isnan(rows[item]) for item in schema.SERVED_NAMES])

    def _read_versions(self, connection: duckdb.DuckDBPyConnection) -> None:
        """The versions of values that changed: company by company, in the order of the answer."""
        labels = connection.execute("SELECT DISTINCT period FROM versions ORDER BY period").fetchall()
        self._version_labels = [label for (label,) in labels]
        named = {"kinds": schema.PERIOD_KINDS, "items": schema.SERVED_NAMES}
        rows = connection.execute(VERSIONS, named).fetchnumpy()
        keys = [rows[name] for name in ("cik", "day", "kind", "item")]
        is_new = np.ones(len(keys[0]) + 1, dtype=bool)
        is_new[1:-1] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        starts = np.flatnonzero(is_new)
        changed = np.diff(starts) > 1
        self._revised_from, self._revised_to = starts[:-1][changed], starts[1:][changed]
        self._revised_by, self._revised_day = (rows[name][self._revised_from] for name in ("cik", "day"))
        self._revised_item = rows["item"][self._revised_from].astype(np.int8)
        self._versions = [rows[name] for name in ("version", "value", "is_current", "at")]
        self._version_label = rows["label"].astype(np.int32)

    def _periods(self, symbol: str, kind: str) -> slice:
        place = 2 * self._place[symbol] + schema.PERIOD_KINDS.index(kind)
        return slice(self._starts[place], self._starts[place + 1])

    def _revision(self, place: int) -> Revision:
        start, stop = int(self._revised_from[place]), int(self._revised_to[place])
        columns = zip(*(column[start:stop].tolist() for column in self._versions), strict=True)
        versions = [(version, value, is_current, _moment(at)) for version, value, is_current, at in columns]
        return Revision(
            self._version_labels[self._version_label[stop - 1]],
            date.fromordinal(EPOCH + int(self._revised_day[place])).isoformat(),
            schema.SERVED_NAMES[self._revised_item[place]],
            max((value for _, value, is_current, _ in versions if is_current and value == value), default=None),
            tuple(Version(*version) for version in versions if version[1] == version[1]),
        )


def _within(rows: slice, days: Array, since: date | None, until: date | None) -> slice:
    """The part of rows, newest first, whose days are within bounds."""
    if since is None and until is None:
        return rows
    ascending = -days[rows]
    start = 0 if until is None else int(np.searchsorted(ascending, EPOCH - until.toordinal()))
    stop = len(ascending) if since is None else int(np.searchsorted(ascending, EPOCH - since.toordinal(), "right"))
    return slice(rows.start + start, rows.start + max(start, stop))


@lru_cache(maxsize=1000)
def _moment(microseconds: int) -> str | None:
    """A time as ISO 8601 in UTC; there are as many as synchronizations."""
    return None if microseconds < 0 else f"{datetime.fromtimestamp(microseconds // 1_000_000, UTC):%Y-%m-%dT%H:%M:%SZ}"
