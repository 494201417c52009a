"""The SQL queries that an explanation of a value runs, as functions of an open build.

Belongs here: queries of the published tables for the provenance of a value. Does not: combining their rows (explain),
the interface's queries (queries).
"""

from collections.abc import Collection

import msgspec

from warehouse.contract import quarters, schema
from warehouse.contract.fictional import address
from warehouse.contract.served import TEXT_OF_TIME
from warehouse.read.reader import OpenBuild
from warehouse.read.series import of_series


class Holder(msgspec.Struct, frozen=True):
    """The company that has a symbol of common equity, listed or not; `currency` is its reporting currency."""

    symbol: str
    name: str | None
    cik: str
    currency: str


class Span(msgspec.Struct, frozen=True):
    """A period of a company: its kind (`ttm`, `annual` or `quarter`), label and last day."""

    kind: str
    period: str
    period_end: str


class ValueVersion(msgspec.Struct, frozen=True):
    """One version of a value, with its filing and its cause; `value` is None if the version withdraws the value.

    `rule` is the rule that computed the value from its legs; None for versions recorded before rules had ids.
    """

    version: int
    value: float | None
    is_current: bool
    cause: str | None
    method: str | None
    flags: str | None
    form: str | None
    filed: str | None
    accession: str | None
    url: str | None
    recorded_at: str | None
    rule: str | None = None


class Leg(msgspec.Struct, frozen=True):
    """A filed fact behind a value, with the operation and the factors by which it enters the value (table `lineage`).

    `value` is as filed, `concept` the amount that the fact states, `rule` the rule that chose or corrected it; these
    two are None for values recorded before rules had ids. `source`, `member` and `label` are None in builds that were
    published without them.
    """

    leg: int
    operation: str
    weight: float
    split_factor: float
    value: float
    tag: str
    unit: str
    start: str | None
    end: str
    form: str | None
    filed: str | None
    accession: str | None
    url: str | None
    concept: str | None = None
    rule: str | None = None
    source: str | None = None
    member: str | None = None
    label: str | None = None


class Proof(msgspec.Struct, frozen=True):
    """The check of a value by an accounting identity, as in table `proofs`: both sides and the outcome."""

    rule: str
    outcome: str
    left_side: float | None
    right_side: float | None


class Gap(msgspec.Struct, frozen=True):
    """The reason for a missing value, as in table `gaps`, and the rule that leaves the value out."""

    reason: str
    rule: str | None = None


class SheetRow(msgspec.Struct, frozen=True):
    """A row of table `balance_sheet_lines` with its filing; `kind` is column `class`."""

    accession: str
    form: str | None
    filed: str | None
    url: str | None
    section: str
    adds_up: bool
    day: str
    compared_day: str | None
    element: str
    kind: str
    amount: float | None
    compared: float | None
    member: str | None = None


class StatementRow(msgspec.Struct, frozen=True):
    """A row of table `newest_statements` with its filing."""

    accession: str
    form: str | None
    filed: str | None
    url: str | None
    statement: str
    line: int
    depth: int | None
    label: str | None
    tag: str
    member: str | None
    is_heading: bool
    negated: bool
    unit: str | None
    quarters: int | None
    end: str | None
    value: float | None
    is_total: bool | None = None


class Repair(msgspec.Struct, frozen=True):
    """A corrected error of a filing (table `repairs`): the value as filed, the corrected value, the evidence.

    `value` is None if the correction leaves the figure out.
    """

    accession: str
    concept: str
    start: str | None
    end: str
    kind: str
    filed_value: float
    value: float | None
    evidence: str
    rule: str | None = None


class Rule(msgspec.Struct, frozen=True):
    """A rule as in table `rules`: `code` is the flag or method that the rule writes, `file` its source file."""

    id: str
    statement: str | None = None
    source: str | None = None
    action: str | None = None
    code: str | None = None
    file: str | None = None


def holder(build: OpenBuild, symbol: str) -> Holder | None:
    """The company that has a symbol (case does not matter); None if the symbol is not common equity with values."""
    found = build.rows("SELECT symbol, name, cik, currency FROM companies WHERE upper(symbol) = upper(?)", [symbol])
    return Holder(*found[0]) if found else None


def known_symbols(build: OpenBuild) -> dict[str, str]:
    """All symbols with their kind: `common`, or the kind of the other security."""
    return dict(build.rows("SELECT symbol, 'common' FROM companies UNION SELECT symbol, kind FROM securities"))


def spans(build: OpenBuild, cik: str, *, with_quarters: bool = True) -> list[Span]:
    """The periods of a company that have or had a value, newest first: twelve months, then years, then quarters.

    Periods with only withheld values are included; their last day is their label.
    """
    tables = [("versions", "gaps")]
    if with_quarters and quarters.QUARTERS in build.columns:
        tables.append((quarters.of_quarters("versions"), quarters.of_quarters("gaps")))
    of_tables = " UNION ALL ".join(
        f"SELECT DISTINCT period_kind, period, period_end FROM {versions} WHERE cik = $cik UNION ALL "
        f"SELECT DISTINCT period_kind, CAST(period_end AS VARCHAR), period_end FROM {gaps} ANTI JOIN {versions} "
        "USING (cik, period_kind, period_end) WHERE cik = $cik"
        for versions, gaps in tables
    )
    found = build.rows(
        f"SELECT period_kind, period, CAST(period_end AS VARCHAR) FROM ({of_tables}) AS held "
        "ORDER BY held.period_end DESC, list_position($kinds, period_kind)",
        {"cik": cik, "kinds": [*schema.PERIOD_KINDS, quarters.QUARTER]},
    )
    return [Span(*row) for row in found]


def value_versions(build: OpenBuild, holder: Holder, span: Span, item: str) -> list[ValueVersion]:
    """The versions of a value, oldest first; empty if there was never a value."""
    found = build.rows(
        "SELECT version, value, is_current, cause, method, flags, versions.form, CAST(versions.filed AS VARCHAR), "
        f"accession, {address('versions')}, {TEXT_OF_TIME.format('recorded_at')}, "
        f"{_column_or_null(build, 'versions', 'rule')} "
        f"FROM {_table(span, 'versions')} LEFT JOIN filings USING (accession) "
        f"WHERE versions.{OF_VALUE} AND {of_series(build, 'versions')} ORDER BY version",
        _of_value(holder, span, item),
    )
    return [ValueVersion(*row) for row in found]


def rules_of(build: OpenBuild, holder: Holder, span: Span, items: Collection[str]) -> dict[str, str]:
    """The rules that made the current values of a period, by item in the order given, as far as they are known."""
    if "rule" not in build.columns["versions"]:
        return {}
    found: dict[str, str] = dict(
        build.rows(
            f"SELECT item, rule FROM {_table(span, 'versions')} "
            "WHERE cik = $cik AND period_kind = $kind AND item IN $items "
            "AND period_end = $period_end::DATE AND is_current AND value IS NOT NULL AND rule IS NOT NULL "
            f"AND {of_series(build, 'versions')}",
            {**_of_span(holder, span), "items": list(items)},
        )
    )
    return {item: found[item] for item in items if item in found}


def legs(build: OpenBuild, holder: Holder, span: Span, item: str, version: int) -> list[Leg]:
    """The facts behind a version, in the order of their numbers."""
    newer = (_column_or_null(build, "lineage", name) for name in ("concept", "rule", "source", "member", "label"))
    found = build.rows(
        'SELECT leg, operation, weight, split_factor, value, tag, unit, CAST("start" AS VARCHAR), '
        'CAST("end" AS VARCHAR), lineage.form, CAST(lineage.filed AS VARCHAR), accession, '
        f"{address('lineage')}, "
        f"{', '.join(newer)} "
        f"FROM {_table(span, 'lineage')} LEFT JOIN filings USING (accession) "
        f"WHERE lineage.{OF_VALUE} AND {of_series(build, 'lineage')} AND version = $version ORDER BY leg",
        {**_of_value(holder, span, item), "version": version},
    )
    return [Leg(*row) for row in found]


def gap(build: OpenBuild, holder: Holder, span: Span, item: str) -> Gap | None:
    """The reason for a missing value, as in table `gaps`; None if the table has no row for it."""
    found = build.rows(
        f"SELECT reason, {_column_or_null(build, 'gaps', 'rule')} FROM {_table(span, 'gaps')} "
        f"WHERE {OF_VALUE} AND {of_series(build, 'gaps')}",
        _of_value(holder, span, item),
    )
    return next((Gap(*row) for row in found), None)


def repairs(build: OpenBuild, cik: str, accessions: Collection[str]) -> list[Repair]:
    """The corrected errors of filings of a company, by accession number."""
    found = build.rows(
        'SELECT accession, concept, CAST("start" AS VARCHAR), CAST("end" AS VARCHAR), kind, filed_value, value, '
        f"evidence, {_column_or_null(build, 'repairs', 'rule')} FROM repairs "
        'WHERE cik = $cik AND accession IN $accessions ORDER BY accession, concept, "end", "start"',
        {"cik": cik, "accessions": list(accessions)},
    )
    return [Repair(*row) for row in found]


def proofs(build: OpenBuild, holder: Holder, span: Span, item: str) -> list[Proof]:
    """The checks of a value or gap by identities, in the order of rules; empty for builds without table `proofs`."""
    if "proofs" not in build.columns:
        return []
    found = build.rows(
        f"SELECT rule, outcome, left_side, right_side FROM proofs "
        f"WHERE {OF_VALUE} AND {of_series(build, 'proofs')} ORDER BY rule",
        _of_value(holder, span, item),
    )
    return [Proof(*row) for row in found]


def sheet_rows(build: OpenBuild, cik: str, day: str, sections: Collection[str]) -> list[SheetRow] | None:
    """The lines and totals of balance sheet sections for an own day or day of comparison, in a fixed order.

    None for builds without table `balance_sheet_lines`.
    """
    if "balance_sheet_lines" not in build.columns:
        return None
    found = build.rows(
        f"SELECT accession, form, CAST(filed AS VARCHAR), {address('filings')}, section, adds_up, "
        "CAST(day AS VARCHAR), CAST(compared_day AS VARCHAR), element, class, amount, compared, "
        f"{_column_or_null(build, 'balance_sheet_lines', 'member', 'lines')} "
        "FROM balance_sheet_lines AS lines LEFT JOIN filings USING (accession) "
        "WHERE lines.cik = $cik AND $day::DATE IN (day, compared_day) AND section IN $sections "
        "ORDER BY accession, section, element",
        {"cik": cik, "day": day, "sections": list(sections)},
    )
    return [SheetRow(*row) for row in found]


def statement_rows(build: OpenBuild, cik: str, accessions: Collection[str]) -> list[StatementRow]:
    """The lines of the filings' statements, in their order; empty for builds without table `newest_statements`."""
    if "newest_statements" not in build.columns or not accessions:
        return []
    found = build.rows(
        f"SELECT accession, form, CAST(filed AS VARCHAR), {address('filings')}, statement, line, depth, label, tag, "
        'member, is_heading, negated, unit, quarters, CAST("end" AS VARCHAR), value, '
        f"{_column_or_null(build, 'newest_statements', 'is_total', 'lines')} "
        "FROM newest_statements AS lines LEFT JOIN filings USING (accession) "
        'WHERE lines.cik = $cik AND accession IN $accessions ORDER BY accession, statement, line, member, "end"',
        {"cik": cik, "accessions": list(accessions)},
    )
    return [StatementRow(*row) for row in found]


def rules(build: OpenBuild) -> dict[str, Rule]:
    """The rules by id, in the order of their ids; empty for a build that was published before rules had ids."""
    if "rules" not in build.columns:
        return {}
    return {
        row[0]: Rule(*row)
        for row in build.rows("SELECT rule, statement, source, action, code, file FROM rules ORDER BY rule")
    }


def decisions(build: OpenBuild, cik: str) -> dict[str, int]:
    """The number of figures that each rule decided for a company (table `decisions`), in the order of the ids.

    Rules that leave values out are not included, because table `gaps` names them; empty for a build without the table.
    """
    if "decisions" not in build.columns:
        return {}
    return dict(
        build.rows(
            "SELECT rule, figures FROM decisions WHERE cik = $cik AND NOT starts_with(rule, 'gap.') "
            "AND rule NOT IN (SELECT rule FROM gaps WHERE rule IS NOT NULL) ORDER BY rule",
            {"cik": cik},
        )
    )


def _table(span: Span, name: str) -> str:
    """SQL for a table of quarters.OF_QUARTERS under its usual name: the table of quarters if the span is a quarter."""
    return f"{quarters.of_quarters(name)} AS {name}" if span.kind == quarters.QUARTER else name


def _column_or_null(build: OpenBuild, table: str, column: str, alias: str = "") -> str:
    """SQL for a column of a table; NULL if the build was published before the column existed."""
    return f'{alias or table}."{column}"' if column in build.columns.get(table, ()) else "NULL"


OF_VALUE = "cik = $cik AND period_kind = $kind AND period_end = $period_end::DATE AND item = $item"


def _of_value(holder: Holder, span: Span, item: str) -> dict[str, str]:
    return {**_of_span(holder, span), "item": item}


def _of_span(holder: Holder, span: Span) -> dict[str, str]:
    return {"cik": holder.cik, "symbol": holder.symbol, "kind": span.kind, "period_end": span.period_end}
