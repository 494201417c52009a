"""Tables `rules` and `decisions`: every rule of the registry, and the number of its decisions in a build.

Belongs here: counting the values and gaps that name each rule, and the figures that it decided in the steps; finding
the rules of values that were recorded before rules had ids. Does not: any rule or its statement (normalize), the other
published tables (build_tables).
"""

from collections import Counter
from collections.abc import Mapping

import polars as pl

from pipelines.normalize.balance.values import OF_LINES
from pipelines.normalize.elements import COMPOSED, ITEM_CONCEPTS
from pipelines.normalize.elements.lines import LINES
from pipelines.normalize.history.log import VERSION_OF
from pipelines.normalize.history.replay import SAME_RATIO
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.methods import METHOD_NAMES
from warehouse.contract import schema
from warehouse.contract.vocabulary import FLAGS

RULE, LISTED = schema.RULE, "rules"
_METHOD_OF = {rule.id: name for rule, name in METHOD_NAMES.items()}
"""The ids of rules that compute twelve months, with their name in column `method`."""
COUNTED = pl.Schema({RULE: pl.String(), "cik": pl.String(), "figures": pl.Int64()})
"""The number of figures that a rule decided for a company."""

SAME_FACT = [*VERSION_OF, "of_version", "role", "tag", "unit", "start", "end"]
"""The columns that are equal in a logged leg and the same leg of today's replay: version, part, fact."""

COMPOSED_OF = {
    "total_debt": ("total_debt",),
    "cash_and_equivalents": ("cash_and_equivalents",),
    "roic": tuple(COMPOSED),
    "debt_to_fcf": ("total_debt",),
}
"""The items that are made from lines of the balance sheet, with the totals (COMPOSED) that the lines make up."""

OF_LINE = [
    (item, element if ":" in element else f"us-gaap:{element}", composed, OF_LINES.id)
    for item, parts in COMPOSED_OF.items()
    for composed in parts
    for table in LINES.values()
    for element, line in table.items()
    if line.kind in COMPOSED[composed]
]
OF_ELEMENT = pl.DataFrame(
    [
        (item, f"{source.taxonomy}:{source.elements[0]}", concept.name, source.rule)
        for item, concepts in ITEM_CONCEPTS.items()
        for concept in concepts
        for source in concept.sources
        if len(source.counted) == 1 and source.elements
    ]
    + OF_LINE,
    schema=["item", "tag", "concept_of_element", "rule_of_element"],
    orient="row",
).unique(["item", "tag"], keep="first", maintain_order=True)
"""The concept and the rule of each element that, without other elements, is an amount of an item, or a line of debt or
cash."""


def counts(
    registry: Mapping[str, Rule], values: pl.DataFrame, gaps: pl.DataFrame, decided: pl.DataFrame
) -> pl.DataFrame:
    """The number of decisions of each rule for each company: `cik`, `rule`, `values`, `figures`.

    Args:
        registry: the rules by id.
        values: current values, one row a value: `cik`, `rule`, `method`, `flags`, `legs` (with `rule`).
        gaps: missing values, one row a value: `cik`, `rule`.
        decided: table `decisions`.
    """
    of_values = pl.concat([_of_values(values, _alone(_codes(registry))), _rows(gaps)])
    zero = pl.lit(0, pl.Int64)
    counted = [
        of_values.select(RULE, "cik", values="figures", figures=zero),
        decided.select(RULE, "cik", values=zero, figures="figures"),
    ]
    return pl.concat(counted).group_by("cik", RULE).agg(pl.col("values", "figures").sum())


def table(registry: Mapping[str, Rule], files: Mapping[str, str], counted: pl.DataFrame) -> pl.DataFrame:
    """The rows of table `rules`, one for each rule of the registry.

    Args:
        registry: the rules by id.
        files: the file that holds each rule, by id.
        counted: the results of `counts` for all companies.
    """
    codes = _codes(registry)
    rows = [
        (rule.id, rule.statement, rule.source, rule.action, rule.applies, files[rule.id], codes[rule.id])
        for rule in registry.values()
    ]
    columns = (RULE, "statement", "source", "action", "applies", "file", "code")
    known = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    totals = counted.group_by(RULE).agg(pl.col("values").sum(), pl.len().alias("companies"), pl.col("figures").sum())
    return known.join(totals, on=RULE, how="left").with_columns(pl.col("values", "companies", "figures").fill_null(0))


def decisions(of_steps: pl.DataFrame, *found: pl.DataFrame) -> pl.DataFrame:
    """The rows of table `decisions`: `rule`, `cik`, `figures`, one row for each rule and company with a decision.

    Args:
        of_steps: `cik`, `rule`, `figures`: the counts of the steps.
        found: frames with `cik` and the deciding `rule` of each row: splits, breaks, repairs. Each row counts as a
            figure if the steps did not count the rule for the company.
    """
    counted = of_steps.select(pl.col(name).cast(dtype) for name, dtype in COUNTED.items())
    by_company = counted.group_by(RULE, "cik").agg(pl.col("figures").sum()).filter(pl.col("figures") > 0)
    rows = [_rows(frame).join(by_company, on=[RULE, "cik"], how="anti") for frame in found]
    return pl.concat([by_company, *rows])


def code_of(rule: Rule) -> str | None:
    """The flag that a rule writes (the last part of its id, with underscores), or its method (METHOD_NAMES)."""
    if rule.action != "flag":
        return _METHOD_OF.get(rule.id)
    code = rule.id.rpartition(".")[-1].replace("-", "_")
    return code if code in FLAGS else None


def unnamed(versions: pl.DataFrame) -> pl.DataFrame:
    """The current versions with legs without a rule, because they were recorded before rules had ids."""
    return versions.filter("is_current", pl.col(RULE).is_null(), pl.col("legs").list.len() > 0)


def with_rules_of_today(versions: pl.DataFrame, replayed: pl.DataFrame) -> pl.DataFrame:
    """Add the rules to current versions that were recorded before rules had ids.

    The log is never changed, so these versions have no rule. If today's replay gives a value from the same filing, or
    otherwise the same newest value from another filing, the version gets the rule of this value. Each leg gets the
    concept and the rule of the same fact in the same part; otherwise of its element, if the element alone is an amount
    of the item.

    Args:
        versions: columns of versions.LOG and `is_current`.
        replayed: columns of versions.REPLAYED.

    Returns:
        `versions` in their order; `rule`, and `concept` and `rule` of the legs, stay null without a match.
    """
    row = pl.int_range(pl.len(), dtype=pl.UInt32)
    wanting = unnamed(versions.with_columns(row=row))
    if wanting.is_empty():
        return versions
    fields = versions["legs"].head(0).explode().struct.fields
    of_version = pl.col("accession").alias("of_version")
    logged = wanting.select("row", *VERSION_OF, of_version, "legs").explode("legs").unnest("legs")
    today = _of_versions(replayed, wanting).with_columns(of_version)
    facts = today.select(*VERSION_OF, "of_version", "legs").explode("legs").unnest("legs")
    again = (
        logged.drop("concept", RULE)
        .join(
            facts.select(*SAME_FACT, "concept", RULE).unique(SAME_FACT, keep="first"),
            on=SAME_FACT,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        .join(OF_ELEMENT, on=["item", "tag"], how="left", maintain_order="left")
        .join(
            today.select(*VERSION_OF, "of_version", matches=pl.lit(value=True)).unique(),
            on=[*VERSION_OF, "of_version"],
            how="left",
        )
        .with_columns(
            pl.coalesce(name, pl.when("matches").then(f"{name}_of_element")).alias(name) for name in ("concept", RULE)
        )
        .group_by("row", maintain_order=True)
        .agg(named_legs=pl.struct(fields))
    )
    rules = wanting.select("row", *VERSION_OF, "accession").join(
        today.select(*VERSION_OF, "accession", todays=RULE).unique([*VERSION_OF, "accession"], keep="last"),
        on=[*VERSION_OF, "accession"],
        how="left",
    )
    return (
        versions.with_columns(row=row)
        .join(again, on="row", how="left", maintain_order="left")
        .join(rules.select("row", "todays"), on="row", how="left", maintain_order="left")
        .with_columns(pl.coalesce(RULE, "todays").alias(RULE), legs=pl.coalesce("named_legs", "legs"))
        .select(versions.columns)
    )


def _of_versions(replayed: pl.DataFrame, wanting: pl.DataFrame) -> pl.DataFrame:
    """The replayed versions that match the logged versions: of the same filing, or the newest version if it has the
    same value.

    The newest version then gets the accession number of the logged version.
    """
    asked = wanting.select(*VERSION_OF, "accession", logged="value")
    same = replayed.join(asked.drop("logged"), on=[*VERSION_OF, "accession"], how="semi")
    newest = (
        replayed.drop("accession")
        .group_by(VERSION_OF, maintain_order=True)
        .last()
        .join(asked.join(same, on=[*VERSION_OF, "accession"], how="anti"), on=VERSION_OF)
        .filter((pl.col("value") - pl.col("logged")).abs() <= SAME_RATIO * pl.col("logged").abs())
    )
    return pl.concat([same, newest.select(same.columns)])


def _codes(registry: Mapping[str, Rule]) -> dict[str, str | None]:
    """The code of each rule, by id."""
    return {rule.id: code_of(rule) for rule in registry.values()}


def _alone(codes: Mapping[str, str | None]) -> dict[str, str]:
    """The rule of each code that only one rule writes, by code."""
    writers = Counter(codes.values())
    return {code: rule for rule, code in codes.items() if code and writers[code] == 1}


def _of_values(values: pl.DataFrame, rule_of_code: Mapping[str, str]) -> pl.DataFrame:
    """The number of values that name a rule in version, legs, method or flags; a value counts once for each rule.

    Values of a company that name the same rules are counted together.
    """
    of_legs = pl.col("legs").list.eval(pl.element().struct.field(RULE)).alias("of_legs")
    alike = (
        values.group_by("cik", RULE, "method", "flags", of_legs)
        .agg(figures=pl.len().cast(pl.Int64))
        .with_row_index("number")
    )
    codes = pl.concat_str(pl.col("method", "flags").fill_null(""), separator=",").str.split(",").alias(RULE)
    of_code = pl.col(RULE).replace_strict(rule_of_code, default=None, return_dtype=pl.String)
    named = [
        alike.select("number", RULE),
        alike.select("number", pl.col("of_legs").alias(RULE)).explode(RULE),
        alike.select("number", codes).explode(RULE).with_columns(of_code),
    ]
    once = pl.concat(named).drop_nulls(RULE).unique()
    counted = once.join(alike.select("number", "cik", "figures"), on="number")
    return counted.group_by(RULE, "cik").agg(pl.col("figures").sum()).select(COUNTED.names())


def _rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The number of rows that name a rule, by company."""
    named = frame.select(RULE, "cik").drop_nulls(RULE)
    return named.group_by(RULE, "cik").agg(figures=pl.len().cast(pl.Int64)).select(COUNTED.names())
