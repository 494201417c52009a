"""The rows of the interface's answers: their types, and the SQL that selects their columns.

Belongs here: types and SQL that the queries of DuckDB (queries) and the rows in memory (memory) have in common.
Does not: the tables (schema), converting rows to responses (serve).
"""

import msgspec

COVERED = "is_listed AND first_period_end IS NOT NULL"
TEXT_OF_TIME = "strftime(make_timestamp(epoch_us({0})), '%Y-%m-%dT%H:%M:%SZ')"
COMPANY = (
    "symbol, name, exchange, cik, sic, sic_description, currency, fiscal_year_end_month, "
    "CAST(first_period_end AS VARCHAR), CAST(last_period_end AS VARCHAR), " + TEXT_OF_TIME.format("data_updated_at")
)
VALUATION = (
    "meaningful, fair_value_per_share, CAST(coalesce(reasons, '[]')::JSON AS VARCHAR[]), coalesce(assumptions, '{}'), "
    "coalesce(projection, '[]')"
)
SECURITY = (
    "kind, (SELECT min(symbol) FROM companies "
    f"WHERE companies.cik = securities.cik AND is_primary AND {COVERED}) FROM securities"
)
ANNUAL_FORMS = ("10-K", "20-F", "40-F")


class Company(msgspec.Struct, frozen=True, gc=False):
    """A covered symbol; dates and times are ISO 8601."""

    symbol: str
    name: str | None
    exchange: str | None
    cik: str
    sic: str | None
    sic_description: str | None
    currency: str
    fiscal_year_end_month: int
    first_period_end: str
    last_period_end: str | None
    data_updated_at: str | None


class Coverage(msgspec.Struct, frozen=True, gc=False):
    """The coverage of a symbol: first and last period (label, end), numbers of periods, items with a value."""

    first_period: tuple[str, str]
    last_period: tuple[str, str]
    ttm_periods: int
    annual_periods: int
    line_items: tuple[str, ...]


class Period(msgspec.Struct, frozen=True, gc=False):
    """One period of a symbol: `values` of the requested items, in their order, None for a missing value."""

    period: str
    period_end: str
    fiscal_year: int
    fiscal_quarter: int
    values: tuple[float | None, ...]


class Version(msgspec.Struct, frozen=True, gc=False):
    """One version of the value of a period and item; the time is ISO 8601."""

    version: int
    value: float
    is_current: bool
    recorded_at: str | None


class Revision(msgspec.Struct, frozen=True, gc=False):
    """A period and item whose value changed after it was first recorded, with its versions, oldest first."""

    period: str
    period_end: str
    item: str
    current_value: float | None
    versions: tuple[Version, ...]


class Valuation(msgspec.Struct, frozen=True, gc=False):
    """The valuation of a company: a fair value, or reason codes; `assumptions` and `projection` are JSON texts."""

    meaningful: bool
    fair_value_per_share: float | None
    reasons: tuple[str, ...]
    assumptions: str
    projection: str


class Security(msgspec.Struct, frozen=True):
    """A listed security that is not common equity, and the covered symbol of its issuer, if there is one."""

    kind: str
    common: str | None
