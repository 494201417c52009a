"""Every SQL statement that explaining a value runs, as functions of an open build.

Belongs here: what is asked of the published tables to say where a value comes from. Does not: how it is put together
(explain), the interface's statements (queries).
"""

from collections.abc import Collection

import msgspec

from warehouse import schema
from warehouse.queries import TEXT_OF_TIME
from warehouse.reader import OpenBuild


class Holder(msgspec.Struct, frozen=True):
    """Whom a symbol of common equity stands for, listed or not; `currency` is that of its reports."""

    symbol: str
    name: str | None
    cik: str
    currency: str


class Span(msgspec.Struct, frozen=True):
    """A period of a company: `ttm` or `annual`, its label, its last day."""

    kind: str
    period: str
    period_end: str


class Told(msgspec.Struct, frozen=True):
    """One version of a value, None where it withdraws; what it came from, and why it is what it is.

    `rule` made the value of its legs; None where that was recorded before rules had ids.
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
    """A filed fact behind a value: `value` as filed, and what takes it into the value (table `lineage`).

    `concept` is the amount that the fact states, `rule` chose or corrected it; both are None where the value was
    recorded before rules had ids.
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


class Gap(msgspec.Struct, frozen=True):
    """Why there is no value: the reason as in table `gaps`, and the rule that leaves the value out."""

    reason: str
    rule: str | None = None


class Repair(msgspec.Struct, frozen=True):
    """An error of a filing that other facts prove (table `repairs`): the figure, its value as it counts, the proof."""

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
    """A rule as table `rules` states it: `code` is what it writes into flags or method, `file` holds it."""

    id: str
    statement: str | None = None
    source: str | None = None
    action: str | None = None
    code: str | None = None
    file: str | None = None


def holder(build: OpenBuild, symbol: str) -> Holder | None:
    """Whom a symbol stands for, without case; None where it is no common equity that a value is held of."""
    found = build.rows("SELECT symbol, name, cik, currency FROM companies WHERE upper(symbol) = upper(?)", [symbol])
    return Holder(*found[0]) if found else None


def known_symbols(build: OpenBuild) -> dict[str, str]:
    """Every symbol and what it is: `common`, or the kind of the security."""
    return dict(build.rows("SELECT symbol, 'common' FROM companies UNION SELECT symbol, kind FROM securities"))


def spans(build: OpenBuild, cik: str) -> list[Span]:
    """The periods of a company that ever had a value, newest first, trailing twelve months before years."""
    found = build.rows(
        "SELECT period_kind, period, CAST(period_end AS VARCHAR) FROM "
        "(SELECT DISTINCT period_kind, period, period_end FROM versions WHERE cik = $cik) AS held "
        "ORDER BY held.period_end DESC, list_position($kinds, period_kind)",
        {"cik": cik, "kinds": schema.PERIOD_KINDS},
    )
    return [Span(*row) for row in found]


def told(build: OpenBuild, cik: str, span: Span, item: str) -> list[Told]:
    """The versions of a value, oldest first; none where it never had one."""
    found = build.rows(
        "SELECT version, value, is_current, cause, method, flags, versions.form, CAST(versions.filed AS VARCHAR), "
        f"accession, url, {TEXT_OF_TIME.format('recorded_at')}, {_held(build, 'versions', 'rule')} "
        "FROM versions LEFT JOIN filings USING (accession) "
        f"WHERE versions.{OF_VALUE} ORDER BY version",
        _of_value(cik, span, item),
    )
    return [Told(*row) for row in found]


def rules_of(build: OpenBuild, cik: str, span: Span, items: Collection[str]) -> dict[str, str]:
    """Item to the rule that made its current value of a period, in the order of the items; none where none is named."""
    if "rule" not in build.columns["versions"]:
        return {}
    found: dict[str, str] = dict(
        build.rows(
            "SELECT item, rule FROM versions WHERE cik = $cik AND period_kind = $kind AND item IN $items "
            "AND period_end = $period_end::DATE AND is_current AND value IS NOT NULL AND rule IS NOT NULL",
            {"cik": cik, "kind": span.kind, "period_end": span.period_end, "items": list(items)},
        )
    )
    return {item: found[item] for item in items if item in found}


def legs(build: OpenBuild, cik: str, span: Span, item: str, version: int) -> list[Leg]:
    """The facts behind a version, in the order of their numbers."""
    found = build.rows(
        'SELECT leg, operation, weight, split_factor, value, tag, unit, CAST("start" AS VARCHAR), '
        'CAST("end" AS VARCHAR), lineage.form, CAST(lineage.filed AS VARCHAR), accession, url, '
        f"{_held(build, 'lineage', 'concept')}, {_held(build, 'lineage', 'rule')} "
        "FROM lineage LEFT JOIN filings USING (accession) "
        f"WHERE lineage.{OF_VALUE} AND version = $version ORDER BY leg",
        {**_of_value(cik, span, item), "version": version},
    )
    return [Leg(*row) for row in found]


def gap(build: OpenBuild, cik: str, span: Span, item: str) -> Gap | None:
    """Why there is no value, as in table `gaps`; None where there is one, or nothing is said."""
    found = build.rows(
        f"SELECT reason, {_held(build, 'gaps', 'rule')} FROM gaps WHERE {OF_VALUE}", _of_value(cik, span, item)
    )
    return next((Gap(*row) for row in found), None)


def repairs(build: OpenBuild, cik: str, accessions: Collection[str]) -> list[Repair]:
    """The corrected errors of some filings of a company."""
    found = build.rows(
        'SELECT accession, concept, CAST("start" AS VARCHAR), CAST("end" AS VARCHAR), kind, filed_value, value, '
        f"evidence, {_held(build, 'repairs', 'rule')} FROM repairs WHERE cik = $cik AND accession IN $accessions "
        'ORDER BY accession, concept, "end", "start"',
        {"cik": cik, "accessions": list(accessions)},
    )
    return [Repair(*row) for row in found]


def rules(build: OpenBuild) -> dict[str, Rule]:
    """The rules by id, in the order of their ids; none in a build that was published before rules had ids."""
    if "rules" not in build.columns:
        return {}
    return {
        row[0]: Rule(*row)
        for row in build.rows("SELECT rule, statement, source, action, code, file FROM rules ORDER BY rule")
    }


def _held(build: OpenBuild, table: str, column: str) -> str:
    """A column of a table; null where the build was published by a version that did not have it."""
    return f'{table}."{column}"' if column in build.columns.get(table, ()) else "NULL"


OF_VALUE = "cik = $cik AND period_kind = $kind AND period_end = $period_end::DATE AND item = $item"


def _of_value(cik: str, span: Span, item: str) -> dict[str, str]:
    return {"cik": cik, "kind": span.kind, "period_end": span.period_end, "item": item}
