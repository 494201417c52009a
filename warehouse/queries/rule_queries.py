"""The SQL queries of the pages of rules, as functions of an open build.

Belongs here: the rules with their counts, and an example value for each. Does not: the rules behind one value
(explain_queries).
"""

from collections.abc import Collection, Sequence

import msgspec

from warehouse.contract.quarters import of_quarters
from warehouse.read.reader import OpenBuild
from warehouse.read.series import with_class


class RuleCount(msgspec.Struct, frozen=True):
    """A rule with its counts in the build (table `rules`): `figures` is 0 for builds that do not count them.

    `code` is the flag or method that the rule writes, `file` its source file.
    """

    id: str
    statement: str
    source: str
    action: str
    applies: str
    values: int
    figures: int
    companies: int
    file: str = ""
    code: str | None = None


class Decided(msgspec.Struct, frozen=True):
    """An example of a rule's decisions: the newest value that it decided for the first company that has one.

    Without `value` it is a gap or a check. Without an item, the rule decided figures of the company that no value
    names.
    """

    symbol: str
    item: str | None = None
    period: str | None = None
    value: float | None = None


def rules(build: OpenBuild) -> list[RuleCount]:
    """The rules in the order of their ids; empty for a build that was published before rules had ids."""
    if "rules" not in build.columns:
        return []
    figures = "figures" if "figures" in build.columns["rules"] else "0"
    found = build.rows(
        f'SELECT rule, statement, source, action, applies, "values", {figures}, companies, file, code '
        "FROM rules ORDER BY rule"
    )
    return [RuleCount(*row) for row in found]


NAMED = """
WITH asked AS (SELECT cik, symbol, place FROM
    (SELECT unnest($ciks) AS cik, unnest($symbols) AS symbol, unnest(range(len($ciks))) AS place)),
held AS (SELECT cik, period_kind, period_end, item, version, rule, method, flags FROM {versions}
    WHERE of_class = '' AND is_current AND value IS NOT NULL AND cik IN (SELECT cik FROM asked)),
codes AS (SELECT rule, code FROM rules WHERE code IS NOT NULL AND rule IN $rules),
named AS (
    SELECT 0 AS rank, rule, cik, period_kind, period_end, item FROM held WHERE rule IN $rules
    UNION ALL SELECT 0, codes.rule, cik, period_kind, period_end, item FROM codes JOIN held ON codes.code = held.method
    UNION ALL SELECT 0, codes.rule, cik, period_kind, period_end, item FROM codes
        JOIN (SELECT *, unnest(string_split(flags, ',')) AS flag FROM held WHERE flags <> '') AS flagged
        ON codes.code = trim(flagged.flag)
    UNION ALL SELECT 0, lineage.rule, cik, period_kind, period_end, item FROM {lineage} AS lineage
        SEMI JOIN held USING (cik, period_kind, period_end, item, version)
        WHERE of_class = '' AND lineage.rule IN $rules
    UNION ALL SELECT 1, rule, cik, period_kind, period_end, item FROM {gaps}
        WHERE rule IN $rules AND cik IN (SELECT cik FROM asked)
    {proofs}
),
best AS (SELECT rule, arg_min((symbol, cik, period_kind, period_end, item),
    (rank, place, list_position(['annual', 'ttm', 'quarter'], period_kind), -epoch(period_end), item)) AS of
    FROM named JOIN asked USING (cik) GROUP BY rule),
quarters_of AS (SELECT DISTINCT cik, period_end, 'FY' || period AS label FROM {versions}
    WHERE period_kind = 'ttm' AND cik IN (SELECT cik FROM asked))
SELECT best.rule, of[1], of[5],
    coalesce(period, CASE WHEN of[3] = 'quarter' THEN label END, CAST(of[4] AS VARCHAR)), value FROM best
LEFT JOIN quarters_of ON quarters_of.cik = of[2] AND quarters_of.period_end = of[4]
LEFT JOIN {versions} AS versions ON versions.cik = of[2] AND versions.period_kind = of[3]
    AND versions.period_end = of[4] AND versions.item = of[5] AND is_current AND of_class = ''
"""
PROOFS = """UNION ALL SELECT 2, rule, cik, period_kind, period_end, item FROM proofs
        WHERE rule IN $rules AND cik IN (SELECT cik FROM asked)"""


def decided(build: OpenBuild, rules: Collection[str], companies: Sequence[tuple[str, str]]) -> dict[str, Decided]:
    """An example value for each rule, by id; rules without a value of the given companies are absent.

    Args:
        build: the build to query.
        rules: ids.
        companies: CIK and symbol of the companies to look at; the first one with a value is used.
    """
    if not rules or not companies:
        return {}
    ciks, symbols = ([company[part] for company in companies] for part in (0, 1))
    found = build.rows(
        NAMED.format(
            proofs=PROOFS if "proofs" in build.columns else "",
            **{table: _of_all_kinds(build, table) for table in ("versions", "lineage", "gaps")},
        ),
        {"rules": list(rules), "ciks": ciks, "symbols": symbols},
    )
    return {rule: Decided(*rest) for rule, *rest in found}


def _of_all_kinds(build: OpenBuild, table: str) -> str:
    """SQL: the rows of a table and of its table of quarters, with column `of_class` (with_class)."""
    tables = [name for name in (table, of_quarters(table)) if name in build.columns]
    return f"({' UNION ALL BY NAME '.join(f'FROM {with_class(build, name)}' for name in tables)})"


def companies(build: OpenBuild) -> dict[str, str]:
    """For each rule, the CIK of the company with the most figures that it decided in the steps of the calculation."""
    if "decisions" not in build.columns:
        return {}
    return dict(build.rows("SELECT rule, arg_max(cik, (figures, cik)) FROM decisions GROUP BY rule"))
