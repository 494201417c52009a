"""The covered companies of a build in memory, for pages that find companies.

Belongs here: searching, filtering and sorting them, and the peers of a company. Does not: their rows
(warehouse.queries.company_queries), pages (listing, search, comparison).

19,000 companies are read in a fifth of a second, once for each build; a search of them takes ten milliseconds.
"""

import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from weakref import WeakKeyDictionary

from warehouse.queries import company_queries
from warehouse.queries.company_queries import Listed, hyphenated
from warehouse.read.reader import OpenBuild

Amount = Callable[[Listed], float | None]
Words = Callable[[Listed], str | None]
Bounds = tuple[float | None, float | None]

BY_TEXT: Mapping[str, Words] = {
    "symbol": attrgetter("symbol"),
    "name": lambda row: (row.name or row.symbol).casefold(),
    "industry": lambda row: row.industry and row.industry.casefold(),
    "exchange": lambda row: row.exchange and row.exchange.casefold(),
    "period_end": attrgetter("period_end"),
}
BY_AMOUNT: Mapping[str, Amount] = {
    "revenue": attrgetter("revenue"),
    "net_income": attrgetter("net_income"),
    "gross_margin": attrgetter("gross_margin"),
    "operating_margin": attrgetter("operating_margin"),
    "net_margin": attrgetter("net_margin"),
    "free_cash_flow": attrgetter("free_cash_flow"),
    "roic": attrgetter("roic"),
    "growth": attrgetter("growth"),
    "debt_to_fcf": attrgetter("debt_to_fcf"),
}
IN_CURRENCY = frozenset({"revenue", "net_income", "free_cash_flow"})
"""Amounts that are sorted within their currency."""

PEERS = 5
TIMES = 10.0
"""A company with the same SIC code precedes other peers if it is at most this many times larger or smaller, as in macro
`peers`.
"""
CLOSE = 5  # companies that are suggested if no company matches a text

_kept: WeakKeyDictionary[OpenBuild, "Directory"] = WeakKeyDictionary()
_lock = threading.Lock()


class Directory:
    """The companies of a build, the largest first."""

    def __init__(self, rows: Sequence[Listed]) -> None:
        self.rows = rows
        self.exchanges = Counter(row.exchange for row in rows if row.exchange)
        self.industries = Counter(row.industry for row in rows if row.industry)
        self._currencies = {currency: place for place, currency in enumerate(dict.fromkeys(r.currency for r in rows))}
        self._names = [f" {(row.name or '').casefold()}" for row in rows]
        self._by_symbol = {row.symbol.upper(): row for row in rows}

    def company(self, symbol: str) -> Listed | None:
        """The company with a symbol (case does not matter); a class may be written with a point, as in BRK.B."""
        upper = symbol.upper() if symbol.isascii() else ""
        return self._by_symbol.get(upper) or self._by_symbol.get(hyphenated(upper))

    def found(self, text: str) -> list[Listed]:
        """The companies that match a text by symbol, name or CIK; the best matches first, then the largest.

        The symbol itself comes before symbols that begin with the text; then names, and words of names, that begin
        with it; then names that contain it.
        """
        wanted = " ".join(text.casefold().split())
        if not wanted:
            return []
        symbol = hyphenated(wanted.upper())
        number = wanted.removeprefix("cik").strip().lstrip("0") if wanted.lstrip("cik ").isdigit() else ""
        ranked = []
        for row, name in zip(self.rows, self._names, strict=True):
            rank = _rank(row, name, wanted, symbol, number)
            if rank is not None:
                ranked.append((rank, row))
        return [row for _, row in sorted(ranked, key=lambda pair: pair[0])]

    def peers(self, symbol: str) -> list[Listed]:
        """The companies in the industry of a symbol that are nearest in revenue, as macro `peers` finds them."""
        own = self._by_symbol.get(symbol.upper())
        if own is None or not own.industry or not own.revenue or own.revenue <= 0:
            return []
        ranked = []
        for row in self.rows:
            same = (row.industry, row.currency) == (own.industry, own.currency) and row.cik != own.cik
            if same and row.is_primary and row.revenue and row.revenue > 0:
                apart = abs(math.log(row.revenue / own.revenue))
                is_close = row.sic == own.sic is not None and apart <= math.log(TIMES)
                ranked.append((not is_close, apart, row.symbol, row))
        return [row for *_, row in sorted(ranked)[:PEERS]]

    def chosen(
        self, search: str, exchange: str, industry: str, sort: str, bounds: Mapping[str, Bounds] | None = None
    ) -> list[Listed]:
        """The companies of the list.

        Args:
            search: beginning of a symbol, or part of a name or CIK; empty: all.
            exchange: name of the exchange; empty: all.
            industry: name of the SIC major group; empty: all.
            sort: a key of BY_TEXT or BY_AMOUNT, after `-` in descending order; empty: best matches of a search first,
                otherwise by symbol. Missing values come last in either order.
            bounds: the smallest and the largest value of keys of BY_AMOUNT; None: no bound. A missing value never
                matches.
        """
        rows = self.found(search) if search else self.rows
        rows = [row for row in rows if exchange in ("", row.exchange) and industry in ("", row.industry)]
        for name, (least, most) in (bounds or {}).items():
            lower, upper = -math.inf if least is None else least, math.inf if most is None else most
            rows = [row for row in rows if (held := BY_AMOUNT[name](row)) is not None and lower <= held <= upper]
        return rows if search and not sort else self._sorted(rows, sort or "symbol")

    def _sorted(self, rows: Sequence[Listed], sort: str) -> list[Listed]:
        name, is_descending = sort.removeprefix("-"), sort.startswith("-")
        rows = sorted(rows, key=BY_TEXT["symbol"])  # type: ignore[arg-type]
        value: Callable[[Listed], object] = BY_TEXT.get(name) or BY_AMOUNT[name]
        held = [row for row in rows if value(row) is not None]
        held.sort(key=value, reverse=is_descending)  # type: ignore[arg-type]
        rows = [*held, *(row for row in rows if value(row) is None)]
        if name in IN_CURRENCY:
            rows.sort(key=lambda row: self._currencies[row.currency])
        return rows


def directory(build: OpenBuild) -> Directory:
    """The directory of a build, read once."""
    with _lock:
        found = _kept.get(build)
        if found is None:
            found = _kept[build] = Directory(company_queries.listed(build))
        return found


def close_matches(build: OpenBuild, text: str) -> list[Listed]:
    """Suggestions for a text that is not a covered symbol, the likeliest first.

    The symbol in another spelling, the issuer of another security, results of a search, and similar companies.
    """
    of = directory(build)
    security = build.memory.security(hyphenated(text))
    likely = [of.company(text), of.company(security.common) if security and security.common else None]
    similar = map(of.company, company_queries.similar(build, text, CLOSE))
    return list(dict.fromkeys(row for row in (*likely, *of.found(text)[:CLOSE], *similar) if row))[:CLOSE]


def _rank(row: Listed, name: str, wanted: str, symbol: str, number: str) -> int | None:
    """How well a company matches a text: 0 is best; None if it does not match."""
    upper = row.symbol.upper()
    if upper == symbol or (number and row.cik.lstrip("0") == number):
        return 0
    if upper.startswith(symbol) or (number and row.cik.lstrip("0").startswith(number)):
        return 1
    if name.startswith(wanted, 1):
        return 2
    place = name.find(wanted)
    if place < 0:
        return None
    return 3 if f" {wanted}" in name else 4
