"""The SQL queries by which people find companies, as functions of an open build.

Belongs here: all covered companies with their newest figures, companies with a similar name.
Does not: the questions of the interface (warehouse.read.memory), the rows of one company's page (page_queries).
"""

import msgspec

from warehouse.contract.served import COVERED
from warehouse.read.reader import OpenBuild

SIMILAR = 0.85
"""Smallest Jaro-Winkler similarity, at which `micorsoft` finds Microsoft and `apple` does not find Amphenol."""

INDUSTRY = "coalesce(sic_description, nullif(industry, 'general'))"
"""SQL: the name of the company's SIC major group; without a SIC code the industry that its statements show, if any."""


class Listed(msgspec.Struct, frozen=True):
    """A covered symbol with figures of the twelve months to its newest period; None for a missing value."""

    symbol: str
    name: str | None
    exchange: str | None
    industry: str | None
    cik: str
    currency: str
    period: str | None
    period_end: str | None
    revenue: float | None
    net_income: float | None
    free_cash_flow: float | None
    roic: float | None
    sic: str | None = None
    debt_to_fcf: float | None = None
    growth: float | None = None
    """Growth of revenue over the twelve months that ended a year before, as a fraction."""
    is_primary: bool = True
    gross_profit: float | None = None
    operating_income: float | None = None

    @property
    def net_margin(self) -> float | None:
        """Net income as a part of revenue; None without revenue."""
        return self._of_revenue(self.net_income)

    @property
    def gross_margin(self) -> float | None:
        """Gross profit as a part of revenue; None without revenue."""
        return self._of_revenue(self.gross_profit)

    @property
    def operating_margin(self) -> float | None:
        """Operating income as a part of revenue; None without revenue."""
        return self._of_revenue(self.operating_income)

    def _of_revenue(self, part: float | None) -> float | None:
        return None if part is None or self.revenue is None or self.revenue <= 0 else part / self.revenue


def industry(build: OpenBuild, symbol: str) -> str | None:
    """The industry of a company (INDUSTRY); None if it is not known."""
    found: str | None
    [(found,)] = build.rows(f"SELECT {INDUSTRY} FROM companies WHERE symbol = ?", [symbol])
    return found


def listed(build: OpenBuild) -> list[Listed]:
    """All covered symbols, by revenue, the largest first; the most common currency comes first.

    Amounts of different currencies cannot be compared, so companies are ordered within their currency.
    """
    held = build.columns["financials"]  # without the further items if an earlier version published the build
    further = ", ".join(name if name in held else f"NULL AS {name}" for name in ("gross_profit", "operating_income"))
    found = build.rows(
        f"SELECT covered.symbol, name, exchange, {INDUSTRY}, covered.cik, covered.currency, period, "
        "CAST(last_period_end AS VARCHAR), revenue, net_income, free_cash_flow, roic, covered.sic, "
        "debt_to_fcf, revenue_growth_1y, is_primary, gross_profit, operating_income "
        "FROM (SELECT *, count(*) OVER (PARTITION BY currency) AS in_currency "
        f"FROM companies WHERE {COVERED}) AS covered "
        "LEFT JOIN (SELECT symbol, period, period_end, revenue, net_income, free_cash_flow, roic, debt_to_fcf, "
        f"{further} "
        "FROM financials WHERE period_kind = 'ttm') AS newest "
        "ON newest.symbol = covered.symbol AND newest.period_end = last_period_end "
        "LEFT JOIN (SELECT cik, revenue_growth_1y FROM screener) AS grown ON grown.cik = covered.cik "
        "ORDER BY in_currency DESC, covered.currency, revenue DESC NULLS LAST, covered.symbol"
    )
    return [Listed(*row) for row in found]


def similar(build: OpenBuild, text: str, limit: int) -> list[str]:
    """The covered symbols that are most similar to a text, by symbol or name; empty if no company is similar."""
    found = build.rows(
        "SELECT symbol FROM (SELECT symbol, is_primary, greatest(jaro_winkler_similarity(lower(symbol), lower($text)), "
        "jaro_winkler_similarity(left(lower(coalesce(name, '')), length($text) + 1), lower($text))) AS alike "
        f"FROM companies WHERE {COVERED}) AS measured WHERE alike >= $least ORDER BY alike DESC, symbol LIMIT $limit",
        {"text": text, "least": SIMILAR, "limit": limit},
    )
    return [symbol for (symbol,) in found]


def hyphenated(symbol: str) -> str:
    """A symbol in the SEC's spelling, which separates a class by a hyphen: BRK-B for BRK.B and BRK/B."""
    return symbol.replace(".", "-").replace("/", "-").replace(" ", "-")
