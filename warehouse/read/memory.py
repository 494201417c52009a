"""The rows of a build that answer the questions of the interface, in memory; pages and commands use them, too.

Belongs here: the companies, and finding the rows of each. Does not: their periods and versions (histories), when the
rows are read (reader), other questions, which DuckDB answers (warehouse.queries).

A build with an overlay reuses the previous build's rows of all companies that it does not renew: reading and encoding
the rows of 6,000 companies takes two seconds of a processor core.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence, Set
from copy import copy
from datetime import date
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from warehouse.contract.reasons import NO_FAIR_VALUE
from warehouse.contract.served import (
    COVERED,
    TEXT_OF_TIME,
    CompanyRow,
    Coverage,
    FairValue,
    FinancialPeriod,
    NoFairValue,
    Revision,
    Security,
    json_number,
)
from warehouse.files import quoted
from warehouse.read.histories import Histories

COMPANIES = f"""
SELECT upper(symbol), lower(symbol), lower(name), lower(exchange), symbol, name, exchange, cik, sic, sic_description,
  currency, CAST(first_period_end AS VARCHAR), CAST(last_period_end AS VARCHAR),
  {TEXT_OF_TIME.format("data_updated_at")}, fiscal_year_end_month
FROM companies WHERE {COVERED} ORDER BY symbol
"""
"""Four texts by which a company is found, then the fields of CompanyRow."""
SECURITIES = f"""
SELECT upper(symbol), kind,
  (SELECT min(symbol) FROM companies WHERE companies.cik = securities.cik AND is_primary AND {COVERED})
FROM securities
"""
VALUATIONS = """
SELECT symbol, meaningful, fair_value_per_share, CAST(coalesce(reasons, '[]')::JSON AS VARCHAR[]),
  coalesce(assumptions, '{}'), coalesce(projection, '[]')
FROM valuations JOIN companies USING (cik)
"""
OF_SYMBOL = "WHERE valuations.class_member IS NOT DISTINCT FROM series_member"
ANNUAL_FORMS = "SELECT cik, arg_max(left(form, 4), filed) FROM filings WHERE left(form, 4) IN $forms GROUP BY cik"
FORMS = ("10-K", "20-F", "40-F")
LOWER_CASE = """
SELECT letter, lower(chr(letter)) FROM (SELECT CAST(range AS INTEGER) AS letter FROM range(1, 131072))
WHERE letter NOT BETWEEN 55296 AND 57343 AND lower(chr(letter)) <> chr(letter)
"""
"""The lower case of all letters, as DuckDB defines it; Python's differs, also from release to release. There are no
letters with case in the planes of Unicode beyond, and surrogates are not characters; a test compares all letters.
"""


SETTINGS: dict[str, str | bool | int | float | list[str]] = {"threads": 1, "memory_limit": "300MB"}
"""Settings of the connection that reads rows: one thread, because requests need the processor. Closing the connection
frees its memory."""


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
    """The rows of a build."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Read the rows of all companies.

        Args:
            connection: to the build.

        Raises:
            duckdb.Error: the build cannot be read.
        """
        self._lower: dict[int, str] = dict(connection.execute(LOWER_CASE).fetchall())
        self._read_companies(connection)
        self._histories = Histories(connection)
        self._renewed: tuple[frozenset[str], Histories] = frozenset(), self._histories
        """The CIKs of the companies that differ from `_histories`, and the histories of these companies."""

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

    def company(self, symbol: str) -> CompanyRow | None:
        """The covered company with a symbol (case does not matter); None if there is none.

        A symbol that is not ASCII never matches, because the upper case of some other letters is S, K or I.
        """
        return self._companies.get(symbol.upper()) if symbol.isascii() else None

    def covered(self, symbols: Iterable[str]) -> list[str]:
        """Filter symbols, given in capitals, to the covered ones; their order stays."""
        return [symbol for symbol in symbols if symbol in self._companies]

    def security(self, symbol: str) -> Security | None:
        """The security with a symbol (case does not matter), if it is listed and not common equity."""
        return self._securities.get(symbol.upper()) if symbol.isascii() else None

    def companies(
        self, *, search: str | None = None, exchange: str | None = None, limit: int, offset: int = 0
    ) -> tuple[list[CompanyRow], int]:
        """One page of the covered symbols, ordered by symbol, and their total number.

        Args:
            search: beginning of a ticker or any part of a name, case-insensitive and literal; None: all.
            exchange: name of the exchange, case-insensitive; None: all.
            limit: largest number of rows.
            offset: number of rows to skip.
        """
        found = self._listed
        if search:
            wanted = search.translate(self._lower)
            places = self._symbols.lines_with(f"\n{wanted}") | self._names.lines_with(wanted)
            found = [self._listed[place] for place in sorted(places)]
        if exchange:
            traded = exchange.translate(self._lower)
            found = [company for company in found if self._exchanges[company.symbol] == traded]
        return found[offset : offset + limit], len(found)

    def coverage(self, symbol: str) -> Coverage | None:
        """The coverage of a symbol: its periods and items; None if no period has a value.

        First and last period are trailing twelve months, or fiscal years if the symbol has no others.
        """
        return self._histories_of(symbol).coverage(symbol)

    def financials(
        self,
        symbol: str,
        kind: str,
        items: Sequence[str],
        *,
        since: date | None = None,
        until: date | None = None,
        limit: int,
    ) -> tuple[bytes, int]:
        """Periods of a symbol that have a value for at least one of the items, newest first (section 4.3, rule 2).

        Args:
            symbol: symbol as in the table.
            kind: `ttm` or `annual`.
            items: names of line items.
            since: only periods that end on or after this day.
            until: only periods that end on or before this day.
            limit: largest number of periods.

        Returns:
            The periods as an encoded JSON array of FinancialPeriod, and their number.
        """
        return self._histories_of(symbol).financials(symbol, kind, items, since=since, until=until, limit=limit)

    def periods(self, symbol: str, kind: str, items: Sequence[str], limit: int) -> list[FinancialPeriod]:
        """The newest periods of `financials`, with all values as floats."""
        text, _ = self.financials(symbol, kind, items, limit=limit)
        return msgspec.json.decode(text, type=list[FinancialPeriod], dec_hook=_values)

    def revisions(
        self, symbol: str, items: Sequence[str], *, since: date | None, until: date | None, limit: int
    ) -> list[Revision]:
        """Periods and items of a symbol that have more than one version (section 4.4).

        A version without a value withdraws the value: it counts as a change, but is not listed. If it is the latest
        version, `current_value` is None and no listed version is current. The listed versions keep their numbers, so a
        number is missing if a value was withdrawn for a time. The symbols of one class share the versions.

        Args:
            symbol: symbol as in the table.
            items: names of line items; their order has no effect.
            since: only periods that end on or after this day.
            until: only periods that end on or before this day.
            limit: largest number of pairs of period and item.

        Returns:
            Newest period end first, trailing twelve months before years, items in the order of the specification.
        """
        return self._histories_of(symbol).revisions(symbol, items, since=since, until=until, limit=limit)

    def valuation(self, company: CompanyRow) -> FairValue | NoFairValue | None:
        """The valuation of a symbol; None if its company has not been valued.

        Column `assumptions` has all fields of the shape, except the fair value and the projected years; if the model
        does not fit the company, only the base period.
        """
        if company.symbol not in self._valuations:
            return None
        is_meaningful, value, codes, assumptions, projection = self._valuations[company.symbol]
        fields = {"symbol": company.symbol, "currency": company.currency, "meaningful": is_meaningful}
        fields |= _numbers(assumptions)
        if not is_meaningful:
            message = " ".join(NO_FAIR_VALUE[code] for code in codes)
            return msgspec.convert(
                fields | {"reason": {"code": codes[0], "message": message, "codes": codes}}, NoFairValue
            )
        fields |= {"fair_value_per_share": json_number(value), "projection": _numbers(projection)}
        return msgspec.convert(fields, FairValue)

    def annual_form(self, cik: str) -> str | None:
        """The form of a company's newest annual report, without suffix: `10-K`, `20-F`, `40-F`; None without one."""
        return self._forms.get(cik)

    def _histories_of(self, symbol: str) -> Histories:
        """The histories that hold the rows of a symbol's company."""
        companies, histories = self._renewed
        return histories if self._ciks[symbol] in companies else self._histories

    def _read_companies(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Read the companies, valuations, securities and annual forms; periods and versions are in Histories."""
        rows = connection.execute(COMPANIES).fetchall()
        self._listed = [CompanyRow(*row[4:]) for row in rows]
        self._companies = {row[0]: company for row, company in zip(rows, self._listed, strict=True)}
        self._symbols, self._names = (Lines(row[column] or "" for row in rows) for column in (1, 2))
        self._exchanges = {row[4]: row[3] for row in rows}
        self._ciks = {company.symbol: company.cik for company in self._listed}
        columns = {name for (name,) in connection.execute("SELECT column_name FROM (DESCRIBE valuations)").fetchall()}
        of_symbol = OF_SYMBOL if "class_member" in columns else ""  # builds of earlier releases have no classes
        self._valuations = {
            symbol: (fits, value, tuple(codes), *texts)
            for symbol, fits, value, codes, *texts in connection.execute(VALUATIONS + of_symbol).fetchall()
        }
        securities = connection.execute(SECURITIES).fetchall()
        self._securities = {symbol: Security(*described) for symbol, *described in securities}
        self._forms: dict[str, str] = dict(connection.execute(ANNUAL_FORMS, {"forms": FORMS}).fetchall())


def read(file: Path) -> Memory:
    """Read the rows of a build's file, over a connection of their own.

    Raises:
        duckdb.Error: the file is not a build.
    """
    with duckdb.connect(":memory:", config=SETTINGS) as connection:
        connection.execute(f"ATTACH {quoted(file)} AS build (READ_ONLY); USE build")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        return Memory(connection)


def _values(shape: type, members: dict[str, float]) -> Any:
    """The values of a decoded period, whose whole numbers are integers in JSON."""
    return shape({item: float(value) for item, value in members.items()})


def _numbers(text: str) -> Any:
    """Decode a JSON column, with whole numbers as integers."""
    return json.loads(text, parse_float=lambda digits: json_number(float(digits)))
