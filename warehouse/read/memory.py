"""The rows of a build that the interface serves, in memory: they answer the queries of `queries` without DuckDB.

Belongs here: reading the companies, and finding the rows of each. Does not: their periods and versions (histories),
the same choice in SQL (queries; a test compares both), when the rows are read (reader).

A build with an overlay reuses the previous build's rows of all companies that it does not renew: reading and encoding
the rows of 6,000 companies takes two seconds of a processor core.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence, Set
from copy import copy
from datetime import date
from itertools import accumulate
from pathlib import Path

import duckdb

from warehouse.contract.served_rows import (
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
)
from warehouse.files import quoted
from warehouse.read.histories import Histories

SETTINGS: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "memory_limit": "300MB"}
"""Of the connection that reads rows: one thread, because requests need the processor; closing it frees its memory."""

FOLDED = "upper(symbol), lower(symbol), lower(name), lower(exchange)"


class Lines:
    """Lines of text that are searched together in one string, which is forty times as fast as one after the other."""

    def __init__(self, lines: Iterable[str]) -> None:
        parts = ["\n" + line.replace("\n", " ") for line in lines]
        self._text = "".join(parts)
        self._starts = list(accumulate((len(part) for part in parts), initial=0))

    def lines_with(self, text: str) -> set[int]:
        """The numbers, from 0, of the lines that contain a text; a line feed in it matches the start of a line."""
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
            self._histories = Histories(connection)
        self._renewed: tuple[frozenset[str], Histories] = frozenset(), self._histories

    def with_renewed(self, connection: duckdb.DuckDBPyConnection, companies: Set[str]) -> "Memory":
        """The rows of a later build, which reuses the rows of all companies that have not changed.

        Args:
            connection: to the later build.
            companies: the CIKs of all companies whose periods or versions may differ.

        Raises:
            duckdb.Error: the build cannot be read.
        """
        later = copy(self)
        later._read_companies(connection)
        later._renewed = frozenset(companies), Histories(connection, companies)
        return later

    def company(self, symbol: str) -> Company | None:
        """Answers as `queries.company`."""
        return self._companies.get(symbol.upper()) if symbol.isascii() else None

    def security(self, symbol: str) -> Security | None:
        """Answers as `queries.security`."""
        return self._securities.get(symbol.upper()) if symbol.isascii() else None

    def companies(
        self, *, search: str | None, exchange: str | None, limit: int, offset: int
    ) -> tuple[list[Company], int]:
        """Answers as `queries.companies`; `search` and `exchange` must be ASCII.

        Python and DuckDB fold other letters differently.
        """
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
        """Answers as `queries.coverage`."""
        return self._of_symbol(symbol).coverage(symbol)

    def financials(
        self, symbol: str, kind: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> tuple[bytes, int]:
        """Answers as `queries.financials`, but returns the periods as an encoded JSON array, and their number."""
        return self._of_symbol(symbol).financials(symbol, kind, items, since=since, until=until, limit=limit)

    def revisions(
        self, symbol: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> list[Revision]:
        """Answers as `queries.revisions`."""
        return self._of_symbol(symbol).revisions(symbol, items, since=since, until=until, limit=limit)

    def valuation(self, symbol: str) -> Valuation | None:
        """Answers as `queries.valuation`."""
        return self._valuations.get(symbol)

    def annual_form(self, cik: str) -> str | None:
        """Answers as `queries.annual_form`."""
        return self._forms.get(cik)

    def _of(self, cik: str) -> Histories:
        """The histories that hold the rows of a company."""
        companies, histories = self._renewed
        return histories if cik in companies else self._histories

    def _of_symbol(self, symbol: str) -> Histories:
        return self._of(self._ciks[symbol])

    def _read_companies(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Read everything but the periods and versions of the companies."""
        rows = connection.execute(
            f"SELECT {FOLDED}, {COMPANY} FROM companies WHERE {COVERED} ORDER BY symbol"
        ).fetchall()
        self._listed = [Company(*row[4:]) for row in rows]
        self._companies = {row[0]: company for row, company in zip(rows, self._listed, strict=True)}
        self._symbols, self._names = (Lines(row[column] or "" for row in rows) for column in (1, 2))
        self._exchanges = {row[4]: row[3] for row in rows}
        self._ciks = {company.symbol: company.cik for company in self._listed}
        columns = {name for (name,) in connection.execute("SELECT column_name FROM (DESCRIBE valuations)").fetchall()}
        of_symbols = "JOIN companies USING (cik)"
        if "class_member" in columns:
            of_symbols += " WHERE valuations.class_member IS NOT DISTINCT FROM series_member"
        self._valuations = {
            symbol: Valuation(fits, value, tuple(codes), *texts)
            for symbol, fits, value, codes, *texts in connection.execute(
                f"SELECT symbol, {VALUATION} FROM valuations {of_symbols}"
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
