"""The SQL queries of the pages, as functions of an open build.

Belongs here: the rows shown on a company's page and in the data dictionary. Does not: the interface's queries
(queries), the queries of the pages of rules (rule_queries).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter

import msgspec

from warehouse.contract import quarters
from warehouse.contract.fictional import address
from warehouse.contract.line_items import items_of
from warehouse.read.reader import OpenBuild
from warehouse.read.series import OfSymbol, of_series

NEW = timedelta(days=1)
"""A value is new if its filing was accepted within this time before the build was published, or later."""


class Stated(msgspec.Struct, frozen=True):
    """The current value of a period and item, and the filing that its newest version comes from.

    `versions` is the number of versions; `earlier` is the previous value, if any, and `first` the first one. `url` is
    the address of the filing's index at the SEC, None if the filing is not in table `filings`. `is_new`: the filing
    was accepted less than a day before the build was published, or later.
    """

    item: str
    kind: str
    period: str
    period_end: str
    value: float
    versions: int
    earlier: float | None
    first: float
    cause: str | None
    form: str | None
    filed: str | None
    url: str | None
    is_new: bool = False


class Source(msgspec.Struct, frozen=True):
    """A filed fact behind a current value, with the columns of table `lineage` and the address of its filing."""

    item: str
    kind: str
    period: str
    period_end: str
    leg: int
    operation: str
    weight: float
    split_factor: float
    value: float
    unit: str
    tag: str
    start: str | None
    end: str
    form: str | None
    filed: str | None
    accession: str | None
    url: str | None


class Gap(msgspec.Struct, frozen=True):
    """A period without a value for an item, and the code of the reason."""

    item: str
    kind: str
    period_end: str
    reason: str


class Break(msgspec.Struct, frozen=True):
    """The filing day from which the figures belong to another company (`entity`) or follow other standards."""

    filed: str
    kind: str


class Report(msgspec.Struct, frozen=True):
    """A filing: its form, day and address; None where unknown."""

    form: str | None
    filed: str | None
    url: str | None


def reports(build: OpenBuild, cik: str) -> dict[str, Report]:
    """The filings of a company by accession number, in no order."""
    found = build.rows(
        f"SELECT accession, form, CAST(filed AS VARCHAR), {address('filings')} FROM filings WHERE cik = $cik",
        {"cik": cik},
    )
    return {accession: Report(*row) for accession, *row in found}


def newest(reports: Mapping[str, Report]) -> Report | None:
    """The newest filing of a company whose form and day are known; None if there is none."""
    known = ((report.filed, accession) for accession, report in reports.items() if report.form and report.filed)
    _, accession = max(known, default=(None, None))
    return reports[accession] if accession else None


def has_quarters(build: OpenBuild, company: OfSymbol) -> bool:
    """Whether a symbol has values of single quarters."""
    if quarters.QUARTERS not in build.columns:
        return False
    return bool(build.rows("SELECT 1 FROM quarters WHERE symbol = $symbol LIMIT 1", {"symbol": company.symbol}))


def _of_quarters(table: str, *, has_label: bool = False) -> str:
    """SQL that replaces a table by its rows of quarters: flows of each quarter, and balances on its last day."""
    balances = ", ".join(f"'{item}'" for item in items_of("balance"))
    label = ", 'FY' || period AS period" if has_label else ""
    return (
        f"(SELECT * FROM {quarters.of_quarters(table)} WHERE cik = $cik UNION ALL BY NAME "
        f"SELECT * REPLACE ('{quarters.QUARTER}' AS period_kind{label}) FROM {table} "
        f"WHERE cik = $cik AND period_kind = 'ttm' AND item IN ({balances})) AS {table}"
    )


def stated(
    build: OpenBuild, company: OfSymbol, reports: Mapping[str, Report], *, of_quarters: bool = False
) -> list[Stated]:
    """All current values of a symbol, in no order, with the filing of each.

    Args:
        build: the build.
        company: the symbol.
        reports: the filings of its company.
        of_quarters: True: values of quarters; False: values of twelve months and years.
    """
    source = _of_quarters("versions", has_label=True) if of_quarters else "versions"
    rows = build.rows(
        "SELECT item, period_kind, CAST(period_end AS VARCHAR) AS ended, period, value, is_current, cause, form, "
        f"CAST(filed AS VARCHAR), accession, coalesce(known_at > $since, false) FROM {source} WHERE cik = $cik "
        f"AND {of_series(build, 'versions')} ORDER BY item, period_kind, ended, version",
        {
            **_of(company),
            "since": datetime.fromisoformat(build.pointer.published_at).replace(tzinfo=None) - NEW,
        },
    )
    found = []
    for (item, kind, ended), group in groupby(rows, itemgetter(0, 1, 2)):
        versions = list(group)
        *_, period, value, is_current, cause, form, filed, accession, is_new = versions[-1]
        if is_current and value is not None:
            values = [version[4] for version in versions if version[4] is not None]
            earlier = values[-2] if len(values) > 1 else None
            url = reports[accession].url if accession in reports else None
            found.append(
                Stated(
                    *(item, kind, period, ended, value, len(versions), earlier, values[0], cause, form, filed, url),
                    is_new=is_new,
                )
            )
    return found


def facts_behind(build: OpenBuild, company: OfSymbol, *, of_quarters: bool = False) -> list[Source]:
    """The facts behind all current values of a symbol, the newest period first.

    Args:
        build: the build.
        company: the symbol.
        of_quarters: True: facts behind the flows of quarters; False: behind values of twelve months and years.
    """
    versions, lineage = (
        f"{quarters.of_quarters(name)} AS {name}" if of_quarters else name for name in ("versions", "lineage")
    )
    found = build.rows(
        "SELECT item, period_kind, period, CAST(period_end AS VARCHAR), leg, operation, weight, split_factor, value, "
        'unit, tag, CAST("start" AS VARCHAR), CAST("end" AS VARCHAR), lineage.form, CAST(lineage.filed AS VARCHAR), '
        f"accession, {address('lineage')} "
        f"FROM {lineage} JOIN (SELECT cik, period_kind, period_end, item, version, period FROM {versions} "
        f"WHERE cik = $cik AND is_current AND value IS NOT NULL AND {of_series(build, 'versions')}) AS newest "
        "USING (cik, period_kind, period_end, item, version) LEFT JOIN filings USING (accession) "
        f"WHERE lineage.cik = $cik AND {of_series(build, 'lineage')} "
        "ORDER BY period_kind DESC, lineage.period_end DESC, item, leg",
        _of(company),
    )
    return [Source(*row) for row in found]


def gaps(build: OpenBuild, company: OfSymbol, *, of_quarters: bool = False) -> list[Gap]:
    """The reasons for a symbol's missing values, in no order, of quarters or of twelve months and years."""
    source = _of_quarters("gaps") if of_quarters else "gaps"
    found = build.rows(
        f"SELECT item, period_kind, CAST(period_end AS VARCHAR), reason FROM {source} WHERE cik = $cik "
        f"AND {of_series(build, 'gaps')}",
        _of(company),
    )
    return [Gap(*row) for row in found]


def _of(company: OfSymbol) -> dict[str, str]:
    return {"cik": company.cik, "symbol": company.symbol}


def breaks(build: OpenBuild, cik: str) -> list[Break]:
    """The breaks of a company's series, oldest first."""
    found = build.rows(
        "SELECT CAST(filed AS VARCHAR), kind FROM breaks WHERE cik = $cik AND filed IS NOT NULL ORDER BY filed",
        {"cik": cik},
    )
    return [Break(*row) for row in found]


def sources(build: OpenBuild) -> dict[str, str]:
    """The taxonomy elements of each item, as in column `sources`; items calculated from other items are absent."""
    return dict(build.rows("SELECT name, sources FROM line_items WHERE sources IS NOT NULL"))
