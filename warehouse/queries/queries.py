"""The SQL queries of the interface, as functions of an open build.

Belongs here: queries of the published tables. Does not: the types of their rows (served_rows), converting rows to
responses (serve), the columns of the tables (schema).
"""

from collections.abc import Sequence
from datetime import date

from warehouse.contract import schema
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served_rows import (
    ANNUAL_FORMS,
    COMPANY,
    COVERED,
    SECURITY,
    TEXT_OF_TIME,
    VALUATION,
    Company,
    Coverage,
    Period,
    Revision,
    Security,
    Valuation,
    Version,
)
from warehouse.read.reader import OpenBuild
from warehouse.read.series import ANY_SYMBOL, MEMBER_OF_SYMBOL, OfSymbol, of_series

# a literal, case-insensitive search: % and _ are ordinary characters
FOUND = (
    "($search IS NULL OR starts_with(lower(symbol), lower($search::VARCHAR)) "
    "OR contains(lower(name), lower($search::VARCHAR))) "
    "AND ($exchange IS NULL OR lower(exchange) = lower($exchange::VARCHAR))"
)


def companies(
    build: OpenBuild, *, search: str | None, exchange: str | None, limit: int, offset: int
) -> tuple[list[Company], int]:
    """One page of the covered symbols, ordered by symbol, and their total number.

    Args:
        build: the build to query.
        search: beginning of a ticker or any part of a name, case-insensitive and literal; None: all.
        exchange: name of the exchange, case-insensitive; None: all.
        limit: largest number of rows.
        offset: number of rows to skip.
    """
    if build.memory and (search or "").isascii() and (exchange or "").isascii():
        return build.memory.companies(search=search, exchange=exchange, limit=limit, offset=offset)
    wanted = {"search": search, "exchange": exchange}
    [(total,)] = build.rows(f"SELECT count(*) FROM companies WHERE {COVERED} AND {FOUND}", wanted)
    found = build.rows(
        f"SELECT {COMPANY} FROM companies WHERE {COVERED} AND {FOUND} ORDER BY symbol LIMIT $limit OFFSET $offset",
        {**wanted, "limit": limit, "offset": offset},
    )
    return [Company(*row) for row in found], total


def company(build: OpenBuild, symbol: str) -> Company | None:
    """The covered company with a symbol (case does not matter); None if there is none.

    A symbol that is not ASCII never matches, because the upper case of some other letters is S, K or I.
    """
    if not symbol.isascii():
        return None
    if build.memory:
        return build.memory.company(symbol)
    found = build.rows(f"SELECT {COMPANY} FROM companies WHERE {COVERED} AND upper(symbol) = upper(?)", [symbol])
    return Company(*found[0]) if found else None


def security(build: OpenBuild, symbol: str) -> Security | None:
    """The security with a symbol (case does not matter), if it is listed and not common equity."""
    if not symbol.isascii():
        return None
    if build.memory:
        return build.memory.security(symbol)
    found = build.rows(f"SELECT {SECURITY} WHERE upper(symbol) = upper(?)", [symbol])
    return Security(*found[0]) if found else None


def coverage(build: OpenBuild, symbol: str) -> Coverage | None:
    """The coverage of a symbol: its periods and items.

    First and last period are trailing twelve months, or fiscal years if the symbol has no others.

    Args:
        build: the build to query.
        symbol: symbol as in the table.

    Returns:
        The coverage; None if no period has a value.
    """
    if build.memory:
        return build.memory.coverage(symbol)
    counts = ", ".join(f'count("{item}")' for item in SERVED_NAMES)
    found = build.rows(
        "SELECT period_kind, count(*), "
        "arg_min(period, period_end), CAST(min(period_end) AS VARCHAR), "
        f"arg_max(period, period_end), CAST(max(period_end) AS VARCHAR), {counts} "
        f"FROM financials WHERE symbol = ? AND {_has_value(SERVED_NAMES)} GROUP BY period_kind",
        [symbol],
    )
    kinds = {row[0]: row[1:] for row in found}
    periods = kinds.get("ttm") or kinds.get("annual")
    if periods is None:
        return None
    _, first, first_end, last, last_end, *_ = periods
    items = zip(SERVED_NAMES, *(row[5:] for row in kinds.values()), strict=True)
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
    """Periods of a symbol that have a value for at least one of the items, newest first (section 4.3, rule 2).

    Args:
        build: the build to query.
        symbol: symbol as in the table.
        kind: `ttm` or `annual`.
        items: names of line items.
        since: only periods that end on or after this day.
        until: only periods that end on or before this day.
        limit: largest number of periods.
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
    company: OfSymbol,
    items: Sequence[str],
    *,
    since: date | None,
    until: date | None,
    limit: int,
) -> list[Revision]:
    """Periods and items of a symbol that have more than one version (section 4.4).

    A version without a value withdraws the value: it counts as a change, but is not listed. If it is the latest
    version, `current_value` is None and no listed version is current. The listed versions keep their numbers, so a
    number is missing if a value was withdrawn for a time.

    Args:
        build: the build to query.
        company: the symbol; the symbols of one class share the versions.
        items: names of line items; their order has no effect.
        since: only periods that end on or after this day.
        until: only periods that end on or before this day.
        limit: largest number of pairs of period and item.

    Returns:
        Newest period end first, trailing twelve months before years, items in the order of the specification.
    """
    if build.memory:
        return build.memory.revisions(company.symbol, items, since=since, until=until, limit=limit)
    found = build.rows(
        "SELECT arg_max(period, version), CAST(period_end AS VARCHAR), item, max(value) FILTER (is_current), "
        f"list(row(version, value, is_current, {TEXT_OF_TIME.format('recorded_at')}) ORDER BY version) "
        "FILTER (value IS NOT NULL) FROM versions WHERE cik = $cik AND item IN $items "
        f"AND {of_series(build, 'versions')} "
        "AND ($since IS NULL OR period_end >= $since::DATE) AND ($until IS NULL OR period_end <= $until::DATE) "
        "GROUP BY period_kind, period_end, item HAVING count(*) > 1 "
        "ORDER BY versions.period_end DESC, list_position($kinds, period_kind), list_position($order, item) "
        "LIMIT $limit",
        {
            "cik": company.cik,
            "symbol": company.symbol,
            "items": tuple(items),
            "since": since,
            "until": until,
            "kinds": schema.PERIOD_KINDS,
            "order": SERVED_NAMES,
            "limit": limit,
        },
    )
    return [
        Revision(label, end, item, current, tuple(Version(*version) for version in versions))
        for label, end, item, current, versions in found
    ]


def valuation(build: OpenBuild, company: OfSymbol) -> Valuation | None:
    """The valuation of a symbol; None if its company has not been valued."""
    if build.memory:
        return build.memory.valuation(company.symbol)
    has_classes = "class_member" in build.columns["valuations"]
    found = build.rows(
        f"SELECT {VALUATION} FROM valuations WHERE cik = $cik "
        f"AND {f'class_member IS NOT DISTINCT FROM {MEMBER_OF_SYMBOL}' if has_classes else ANY_SYMBOL}",
        {"cik": company.cik, "symbol": company.symbol},
    )
    return next((Valuation(fits, value, tuple(codes), *texts) for fits, value, codes, *texts in found), None)


def annual_form(build: OpenBuild, cik: str) -> str | None:
    """The form of a company's newest annual report, without suffix: `10-K`, `20-F`, `40-F`; None without a report."""
    if build.memory:
        return build.memory.annual_form(cik)
    found = build.rows(
        "SELECT left(form, 4) FROM filings WHERE cik = $cik AND left(form, 4) IN $forms ORDER BY filed DESC LIMIT 1",
        {"cik": cik, "forms": ANNUAL_FORMS},
    )
    return found[0][0] if found else None


def _columns(items: Sequence[str]) -> str:
    """Item names as SQL columns; refuses unknown names, which would allow SQL injection."""
    if unknown := [item for item in items if item not in SERVED_NAMES]:
        raise ValueError(f"no such line item: {unknown}")
    return ", ".join(f'"{item}"' for item in items)


def _has_value(items: Sequence[str]) -> str:
    return f"coalesce({_columns(items)}) IS NOT NULL"
