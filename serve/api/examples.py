"""Example responses for the OpenAPI description, built from a fictional company by the same code as real responses.

Belongs here: one or more examples per endpoint. Does not: shapes (models), real values.
"""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from serve.api import models, responses
from warehouse.contract import served
from warehouse.contract.reasons import NO_FAIR_VALUE
from warehouse.contract.served import CompanyRow

Examples = Mapping[str, tuple[object, served.Shape]]  # `data` and the endpoint's own fields of `meta`, by name

BASE_URL = "https://data.example.org/v1"
MADE_AT = 1_772_452_800.0
SYMBOL = "XQORC"
COMPANY = CompanyRow(
    symbol=SYMBOL,
    name="Example Orchard Tools Inc",
    exchange="NYSE",
    cik="9990000001",
    sic="3420",
    sic_description="Fabricated Metal Products",
    currency="USD",
    fiscal_year_end_month=12,
    first_period_end="2019-12-31",
    last_period_end="2025-12-31",
    data_updated_at="2026-03-02T11:04:00Z",
)
FIRST, LAST = served.LabelledPeriod("2019Q4", "2019-12-31"), served.LabelledPeriod("2025Q4", "2025-12-31")
HELD = served.Coverage(FIRST, LAST, 25, 7, ("revenue", "free_cash_flow"))
VALUES = served.Values(revenue=5_120_000_000, free_cash_flow=100_000_000)
YEAR = served.FinancialPeriod("FY2025", "2025-12-31", 2025, 4, VALUES)
VERSIONS = (
    served.Version(1, 96_000_000, False, None),
    served.Version(2, 97_500_000, True, "2026-03-02T11:04:00Z"),
)
REVISION = served.Revision("FY2024", "2024-12-31", "free_cash_flow", 97_500_000, VERSIONS)
CODES = ("negative_free_cash_flow", "too_volatile")
NOT_VALUED = served.NoFairValue(
    symbol=SYMBOL,
    currency="USD",
    period="2025Q4",
    period_end="2025-12-31",
    meaningful=False,
    reason=served.Reason(CODES[0], " ".join(NO_FAIR_VALUE[code] for code in CODES), CODES),
)
ITEMS = ("revenue", "free_cash_flow")
RETURN, GROWTH = 0.085, 0.025


def _projected(year: int) -> served.ProjectedYear:
    free_cash_flow = round(100_000_000 * (1 + GROWTH) ** year)
    factor = (1 + RETURN) ** -year
    return served.ProjectedYear(year, GROWTH, free_cash_flow, factor, round(free_cash_flow * factor))


def _fair_value() -> served.FairValue:
    """The valuation of a company with free cash flow that grows at the perpetual rate from the first year."""
    projection = tuple(_projected(year) for year in range(1, 11))
    projected = sum(year.present_value for year in projection)
    terminal = round(projection[-1].free_cash_flow * (1 + GROWTH) / (RETURN - GROWTH))
    discounted = round(terminal * projection[-1].discount_factor)
    equity = projected + discounted
    return served.FairValue(
        symbol=SYMBOL,
        currency="USD",
        meaningful=True,
        period="2025Q4",
        period_end="2025-12-31",
        fair_value_per_share=round(equity / 100_000_000, 4),
        assumptions=served.Assumptions(
            required_return=RETURN,
            perpetual_growth=GROWTH,
            projection_years=10,
            base_free_cash_flow=100_000_000,
            base_is_normalized=False,
            base_method="Trailing twelve months, as reported.",
            reported_free_cash_flow=100_000_000,
            initial_growth=GROWTH,
            growth_method=(
                "Median of 1.80% (trend of free cash flow over 6 fiscal years), 2.50% (revenue over 5.0 years), 3.10% "
                "(revenue over 10.0 years), kept within -5% and 15%; fades in equal steps to the perpetual growth."
            ),
            shares=100_000_000,
            shares_method="Weighted average diluted shares of the quarter that ends on 2025-12-31.",
        ),
        projection=projection,
        present_value_of_projection=projected,
        terminal_value=terminal,
        present_value_of_terminal_value=discounted,
        terminal_share=round(discounted / equity, 6),
        equity_value=equity,
        net_debt=250_000_000,
        sensitivity=(served.GridValue(RETURN, GROWTH, round(equity / 100_000_000, 4)),),
    )


def body(data: object, meta: served.Shape) -> dict[str, Any]:
    """The response body after JSON encoding and decoding, as a client receives it."""
    return cast("dict[str, Any]", msgspec.json.decode(responses.encoded(responses.body(data, meta, MADE_AT))))


COMPANIES: Examples = {"page": ([responses.company(COMPANY, None)], models.PageMeta(1, 50, 1, 1))}
PROFILE: Examples = {"company": (responses.profile(COMPANY, None, HELD, "10-K", BASE_URL), models.SymbolMeta(SYMBOL))}
FINANCIALS: Examples = {
    "year": (
        [YEAR],
        models.FinancialsMeta(SYMBOL, "USD", "annual", ITEMS, 1, responses.filings_url(COMPANY.cik, "10-K")),
    )
}
REVISIONS: Examples = {
    "revised": ([REVISION], models.RevisionsMeta(SYMBOL, "USD", ITEMS, 1)),
    "nothing": ([], models.RevisionsMeta(SYMBOL, "USD", ITEMS, 0)),
}
VALUATION: Examples = {
    "meaningful": (_fair_value(), models.SymbolMeta(SYMBOL)),
    "not_meaningful": (NOT_VALUED, models.SymbolMeta(SYMBOL)),
}
STATUS: Examples = {
    "up": (
        models.Status("up", "b1", "2026-03-02T11:05:00Z", 3300, "2026-02-27", 1, 0, "2026-03-03T11:00:00Z", None),
        models.StatusMeta(),
    )
}
