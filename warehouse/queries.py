"""Every SQL statement that the interface runs, as functions of an open build.

Belongs here: what is asked of the published tables, and the rows that come back, named.
Does not: how they are shown to a client (serve), what the tables hold (schema).
"""

from collections.abc import Sequence
from datetime import date

import msgspec

from warehouse import schema
from warehouse.reader import OpenBuild

COVERED = "is_listed AND first_period_end IS NOT NULL"
TEXT_OF_TIME = "strftime(make_timestamp(epoch_us({0})), '%Y-%m-%dT%H:%M:%SZ')"
COMPANY = (
    "symbol, name, exchange, cik, sic, sic_description, currency, fiscal_year_end_month, "
    "CAST(first_period_end AS VARCHAR), CAST(last_period_end AS VARCHAR), " + TEXT_OF_TIME.format("data_updated_at")
)
# literal: neither % nor _ means anything; both sides are lowered, for tickers and names are searched without case
FOUND = (
    "($search IS NULL OR starts_with(lower(symbol), lower($search::VARCHAR)) "
    "OR contains(lower(name), lower($search::VARCHAR))) "
    "AND ($exchange IS NULL OR lower(exchange) = lower($exchange::VARCHAR))"
)
ANNUAL_FORMS = ("10-K", "20-F", "40-F")


class Company(msgspec.Struct, frozen=True):
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


class Coverage(msgspec.Struct, frozen=True):
    """What is held of a symbol: the first and the last period (label, end), counts, items that have a value."""

    first_period: tuple[str, str]
    last_period: tuple[str, str]
    ttm_periods: int
    annual_periods: int
    line_items: tuple[str, ...]


class Period(msgspec.Struct, frozen=True):
    """One period of a symbol: `values` are those of the items asked for, in that order, None where there is none."""

    period: str
    period_end: str
    fiscal_year: int
    fiscal_quarter: int
    values: tuple[float | None, ...]


class Version(msgspec.Struct, frozen=True):
    """One value that a period and item had; the time is ISO 8601."""

    version: int
    value: float
    is_current: bool
    recorded_at: str | None


class Revision(msgspec.Struct, frozen=True):
    """A period and item whose value changed after it was first recorded, with the values that it had, oldest first."""

    period: str
    period_end: str
    item: str
    current_value: float | None
    versions: tuple[Version, ...]


class Valuation(msgspec.Struct, frozen=True):
    """What the model came to for a company: a value, or codes of reasons; an object and an array of JSON."""

    meaningful: bool
    fair_value_per_share: float | None
    reasons: tuple[str, ...]
    assumptions: str
    projection: str


def companies(
    build: OpenBuild, *, search: str | None, exchange: str | None, limit: int, offset: int
) -> tuple[list[Company], int]:
    """Covered symbols by symbol, a page of them, and how many there are in all.

    Args:
        build: the build to ask.
        search: a ticker's beginning or any part of a name, without case, literally.
        exchange: the exchange's name, without case.
        limit: how many at most.
        offset: how many to pass over.
    """
    wanted = {"search": search, "exchange": exchange}
    [(total,)] = build.rows(f"SELECT count(*) FROM companies WHERE {COVERED} AND {FOUND}", wanted)
    found = build.rows(
        f"SELECT {COMPANY} FROM companies WHERE {COVERED} AND {FOUND} ORDER BY symbol LIMIT $limit OFFSET $offset",
        {**wanted, "limit": limit, "offset": offset},
    )
    return [Company(*row) for row in found], total


def company(build: OpenBuild, symbol: str) -> Company | None:
    """The covered company of a symbol, without case; None where there is none.

    Only ASCII is compared without case: Unicode has other letters whose capitals are S, K or I.
    """
    if not symbol.isascii():
        return None
    found = build.rows(f"SELECT {COMPANY} FROM companies WHERE {COVERED} AND upper(symbol) = upper(?)", [symbol])
    return Company(*found[0]) if found else None


def coverage(build: OpenBuild, symbol: str) -> Coverage | None:
    """What is held of a symbol, told by its trailing twelve months, or by its years where it has none of these.

    Args:
        build: the build to ask.
        symbol: as it stands in the table.

    Returns:
        None where no period has a value.
    """
    counts = ", ".join(f'count("{item}")' for item in schema.ITEM_NAMES)
    found = build.rows(
        "SELECT period_kind, count(*), "
        "arg_min(period, period_end), CAST(min(period_end) AS VARCHAR), "
        f"arg_max(period, period_end), CAST(max(period_end) AS VARCHAR), {counts} "
        f"FROM financials WHERE symbol = ? AND {_has_value(schema.ITEM_NAMES)} GROUP BY period_kind",
        [symbol],
    )
    kinds = {row[0]: row[1:] for row in found}
    told_by = kinds.get("ttm") or kinds.get("annual")
    if told_by is None:
        return None
    _, first, first_end, last, last_end, *_ = told_by
    items = zip(schema.ITEM_NAMES, *(row[5:] for row in kinds.values()), strict=True)
    return Coverage(
        first_period=(first, first_end),
        last_period=(last, last_end),
        ttm_periods=kinds["ttm"][0] if "ttm" in kinds else 0,
        annual_periods=kinds["annual"][0] if "annual" in kinds else 0,
        line_items=tuple(item for item, *held in items if any(held)),
    )


def financials(
    build: OpenBuild,
    symbol: str,
    kind: str,
    items: Sequence[str],
    *,
    since: date | None,
    until: date | None,
    limit: int,
) -> list[Period]:
    """Periods of a symbol, newest first; one without a value for any of the items is left out (section 4.3, rule 2).

    Args:
        build: the build to ask.
        symbol: as it stands in the table.
        kind: `ttm` or `annual`.
        items: names of line items.
        since: only periods that end on or after this day.
        until: only periods that end on or before this day.
        limit: how many at most.
    """
    found = build.rows(
        f"SELECT period, CAST(period_end AS VARCHAR), fiscal_year, fiscal_quarter, {_columns(items)} FROM financials "
        f"WHERE symbol = $symbol AND period_kind = $kind AND {_has_value(items)} "
        "AND ($since IS NULL OR period_end >= $since::DATE) AND ($until IS NULL OR period_end <= $until::DATE) "
        "ORDER BY period_end DESC LIMIT $limit",
        {"symbol": symbol, "kind": kind, "since": since, "until": until, "limit": limit},
    )
    return [Period(label, end, year, quarter, tuple(values)) for label, end, year, quarter, *values in found]


def revisions(
    build: OpenBuild,
    cik: str,
    items: Sequence[str],
    *,
    since: date | None,
    until: date | None,
    limit: int,
) -> list[Revision]:
    """Periods and items of a company that have more than one version (section 4.4).

    A version without a value withdraws: it counts as a change, and is no value to list. Where it is the latest,
    `current_value` is None and no version is current; the versions keep their numbers, so that one is missing where a
    value was withdrawn and came back.

    Args:
        build: the build to ask.
        cik: the company; its symbols share the versions.
        items: names of line items; they choose, and do not order.
        since: only periods that end on or after this day.
        until: only periods that end on or before this day.
        limit: how many pairs of period and item at most.

    Returns:
        period end descending, trailing twelve months before years, items in the order of the specification.
    """
    found = build.rows(
        "SELECT arg_max(period, version), CAST(period_end AS VARCHAR), item, max(value) FILTER (is_current), "
        f"list(row(version, value, is_current, {TEXT_OF_TIME.format('recorded_at')}) ORDER BY version) "
        "FILTER (value IS NOT NULL) FROM versions WHERE cik = $cik AND item IN $items "
        "AND ($since IS NULL OR period_end >= $since::DATE) AND ($until IS NULL OR period_end <= $until::DATE) "
        "GROUP BY period_kind, period_end, item HAVING count(*) > 1 "
        "ORDER BY versions.period_end DESC, list_position($kinds, period_kind), list_position($order, item) "
        "LIMIT $limit",
        {
            "cik": cik,
            "items": tuple(items),
            "since": since,
            "until": until,
            "kinds": schema.PERIOD_KINDS,
            "order": schema.ITEM_NAMES,
            "limit": limit,
        },
    )
    return [
        Revision(label, end, item, current, tuple(Version(*version) for version in versions))
        for label, end, item, current, versions in found
    ]


def valuation(build: OpenBuild, cik: str) -> Valuation | None:
    """The valuation of a company; None where it has not been valued."""
    found = build.rows(
        "SELECT meaningful, fair_value_per_share, CAST(coalesce(reasons, '[]')::JSON AS VARCHAR[]), "
        "coalesce(assumptions, '{}'), coalesce(projection, '[]') FROM valuations WHERE cik = ?",
        [cik],
    )
    return next((Valuation(fits, value, tuple(codes), *told) for fits, value, codes, *told in found), None)


def annual_form(build: OpenBuild, cik: str) -> str | None:
    """The form of a company's newest annual report: `10-K`, `20-F` or `40-F`, whatever its suffix; None without one."""
    found = build.rows(
        "SELECT left(form, 4) FROM filings WHERE cik = $cik AND left(form, 4) IN $forms ORDER BY filed DESC LIMIT 1",
        {"cik": cik, "forms": ANNUAL_FORMS},
    )
    return found[0][0] if found else None


def _columns(items: Sequence[str]) -> str:
    """Item names as columns; a name that is none would be SQL."""
    if unknown := [item for item in items if item not in schema.ITEM_NAMES]:
        raise ValueError(f"no such line item: {unknown}")
    return ", ".join(f'"{item}"' for item in items)


def _has_value(items: Sequence[str]) -> str:
    return f"coalesce({_columns(items)}) IS NOT NULL"
