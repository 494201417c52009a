"""Table `rules`: the decisions of each rule, and the rules of values that were recorded before rules had ids."""

from datetime import date
from typing import Any

import polars as pl
import pytest

from pipelines.normalize import rules
from pipelines.normalize.balance.values import FLAGS
from pipelines.normalize.elements import OF_SOURCE
from pipelines.normalize.history.log import TWELVE_MONTHS
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm import methods
from pipelines.tables import rule_table
from warehouse.contract import vocabulary

CASH = Rule("cash.total", "The filer's own total.", "S-X 5-02", "select")
SUM = Rule("cash.sum", "Cash and securities are added.", "S-X 5-02", "compose", "banks")
BASES = Rule("ttm.before-recast", "The years are on two bases.", "measured", "flag")
RECAST = Rule("facts.partial-recast", "Part of a year stated anew is left out.", "measured", "withhold")
IDLE = Rule("gap.no-tag", "Nothing is stated.", "definition", "withhold")
REGISTRY = {rule.id: rule for rule in (CASH, SUM, BASES, RECAST, IDLE)}
FILES = {rule: f"{rule.partition('.')[0]}.py" for rule in REGISTRY}
LEG = pl.Struct(
    {
        "role": pl.String,
        "tag": pl.String,
        "unit": pl.String,
        "start": pl.Date,
        "end": pl.Date,
        "accession": pl.String,
        "concept": pl.String,
        "rule": pl.String,
    }
)
VALUES = pl.Schema(
    {
        "cik": pl.String(),
        "class_member": pl.String(),
        "period_end": pl.Date(),
        "n": pl.Int32(),
        "item": pl.String(),
        "accession": pl.String(),
        "value": pl.Float64(),
        "is_current": pl.Boolean(),
        "method": pl.String(),
        "flags": pl.String(),
        "rule": pl.String(),
        "legs": pl.List(LEG),
    }
)
DAY = date(2024, 12, 31)


def leg(tag: str, concept: str | None = "cash", rule: str | None = CASH.id, role: str = "sum") -> dict[str, Any]:
    return {
        "role": role,
        "tag": tag,
        "unit": "USD",
        "start": None,
        "end": DAY,
        "accession": "a1",
        "concept": concept,
        "rule": rule,
    }


def value(cik: str, rule: str | None, *legs: dict[str, Any], **of: Any) -> dict[str, Any]:
    given = {
        "class_member": "",
        "period_end": DAY,
        "n": TWELVE_MONTHS,
        "item": "cash",
        "accession": "a1",
        "value": 5.0,
        "is_current": True,
        "method": "",
        "flags": "",
    }
    return {"cik": cik, "rule": rule, "legs": list(legs), **given, **of}


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=VALUES)


NO_GAPS = pl.DataFrame(schema={"cik": pl.String, "rule": pl.String})


def of_steps(*rows: tuple[str, str, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"cik": pl.String, "rule": pl.String, "figures": pl.UInt32}, orient="row")


def decided(*rows: tuple[str, str, int]) -> pl.DataFrame:
    return rule_table.decisions(of_steps(*rows))


def told(legs: list[dict[str, Any]]) -> list[tuple[str, str | None, str | None]]:
    """What legs say of the rules that chose them."""
    return [(one["tag"], one["concept"], one["rule"]) for one in legs]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (BASES, "before_recast"),
        (Rule("ttm.before-recast", "", "", "select"), None),
        (Rule("ttm.unheard-of", "", "", "flag"), None),
        (Rule("ttm.year-to-date", "", "", "compose"), "year_to_date"),
        (Rule("cash.balance-sheet", "", "", "select"), None),
    ],
)
def test_a_code_belongs_to_the_rule_whose_id_ends_with_it(rule, code):
    """Flags belong to rules that flag, methods to rules of twelve months."""
    assert rule_table.code_of(rule) == code


def test_decisions_are_those_of_the_steps_and_the_rows_that_these_do_not_count():
    """One row for each company and rule; a split is a decision, a repair is counted where it is made."""
    splits = pl.DataFrame({"cik": ["1", "1", "2"], "rule": ["split.usual-ratio"] * 2 + [None]})
    repairs = pl.DataFrame({"cik": ["1", "2"], "rule": [CASH.id] * 2})
    counted = of_steps(("1", CASH.id, 4), ("1", CASH.id, 3), ("3", RECAST.id, 0))
    found = rule_table.decisions(counted, splits, repairs).sort("cik", "rule")
    assert found.select("cik", "rule", "figures").rows() == [
        ("1", CASH.id, 7),
        ("1", "split.usual-ratio", 2),
        ("2", CASH.id, 1),
    ]


def table(registry: dict[str, Rule], values: pl.DataFrame, gaps: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """Table `rules`, counted in two parts: companies 1 and 2, and the others."""
    first = pl.col("cik").is_in(["1", "2"])
    parts = [
        rule_table.counts(registry, *(frame.filter(which) for frame in (values, gaps, decided)))
        for which in (first, ~first)
    ]
    return rule_table.table(registry, FILES | dict.fromkeys(registry, "cash.py"), pl.concat(parts))


def test_every_rule_of_the_registry_has_a_row_with_its_decisions():
    values = frame(
        value("1", SUM.id, leg("Cash"), leg("Securities"), flags="before_recast,weeks_53"),
        value("2", SUM.id, leg("Cash", rule=None), flags=None),
        value("2", None),
    )
    gaps = pl.DataFrame({"cik": ["1", "3"], "rule": [CASH.id, None]}, schema_overrides={"rule": pl.String})
    figures = decided(("1", RECAST.id, 4), ("2", RECAST.id, 1), ("1", CASH.id, 99), ("4", CASH.id, 1))
    found = table(REGISTRY, values, gaps, figures)
    assert found.select("rule", "action", "applies", "code", "values", "companies", "figures").rows() == [
        # two legs of one value are one value; the gap is another; company 4 has figures only
        (CASH.id, "select", "all filers", None, 2, 2, 100),
        (SUM.id, "compose", "banks", None, 2, 2, 0),
        (BASES.id, "flag", "all filers", "before_recast", 1, 1, 0),
        (RECAST.id, "withhold", "all filers", None, 0, 2, 5),
        (IDLE.id, "withhold", "all filers", None, 0, 0, 0),
    ]
    assert found.select("statement", "source", "file").row(0) == (CASH.statement, CASH.source, "cash.py")


def test_a_flag_of_two_rules_is_counted_for_neither():
    """The counts of the steps are used for such rules."""
    other = Rule("cash.before-recast", "Another.", "measured", "flag")
    registry = {rule.id: rule for rule in (BASES, other)}
    values = frame(value("1", None, flags="before_recast"))
    found = table(registry, values, NO_GAPS, decided(("1", other.id, 2)))
    assert found.select("rule", "code", "values", "figures").rows() == [
        (BASES.id, "before_recast", 0, 0),
        (other.id, "before_recast", 0, 2),
    ]


def test_without_values_there_are_no_decisions():
    found = table(REGISTRY, frame(), NO_GAPS, decided())
    assert found["values"].to_list() == found["figures"].to_list() == [0] * len(REGISTRY)
    assert table({}, frame(), NO_GAPS, decided()).is_empty()


def test_every_flag_and_method_has_a_rule():
    """Flags about the meaning of an element, or of the lines of a balance, are set by the rule that chose them."""
    codes = {rule_table.code_of(rule) for rule in rules.REGISTRY.values()}
    assert set(vocabulary.FLAGS) - codes == {*OF_SOURCE["reservation"].drop_nulls(), *FLAGS} - codes
    assert set(methods.METHOD_NAMES.values()) <= codes


def test_the_rule_of_a_method_counts_the_values_computed_by_it():
    """Also if another rule composed the value."""
    way = Rule("ttm.year-to-date", "", "", "compose")
    values = frame(value("1", SUM.id, method="year_to_date"), value("2", way.id, method="year_to_date"))
    found = table({way.id: way}, values, NO_GAPS, decided())
    assert found.select("code", "values", "companies").rows() == [("year_to_date", 2, 2)]


def test_values_recorded_before_rules_had_ids_get_the_rules_of_the_same_facts():
    """Only current values of the same filing; a leg that the current computation does not have stays without a rule.

    Another amount of another filing gives no rule; the same one does, because today's rules lead to it from an earlier
    filing already. Capital now and a year before may use the same element; the role distinguishes them.
    """
    unnamed = {"concept": None, "rule": None}
    of_tax = {"pretax_income": SUM.id, "income_tax": CASH.id}
    log = frame(
        value("1", None, leg("Cash", **unnamed), leg("Old", **unnamed)),
        value("1", None, leg("Cash", **unnamed), item="debt"),
        value("2", None, leg("Cash", **unnamed), is_current=False),
        value("2", None, value=None),
        value("3", SUM.id, leg("Cash", rule="other.rule")),
        value("4", None, leg("Cash", **unnamed)),
        value("5", None, *(leg("Tax", **unnamed, role=role) for role in of_tax)),
    )
    today = frame(
        value("1", SUM.id, leg("Securities"), leg("Cash")),
        value("1", SUM.id, leg("Cash"), item="debt", accession="a2", value=6.0),
        value("2", SUM.id, leg("Cash")),
        value("3", "changed.rule", leg("Cash")),
        value("4", SUM.id, leg("Cash"), accession="a2"),
        value("5", SUM.id, *(leg("Tax", role, rule, role) for role, rule in reversed(of_tax.items()))),
    )
    named = rule_table.with_rules_of_today(log, today)
    assert named.schema == log.schema
    assert [(rule, told(legs)) for rule, legs in named.select("rule", "legs").rows()] == [
        (SUM.id, [("Cash", "cash", CASH.id), ("Old", None, None)]),
        (None, [("Cash", None, None)]),
        (None, [("Cash", None, None)]),
        (None, []),
        (SUM.id, [("Cash", "cash", "other.rule")]),
        (SUM.id, [("Cash", "cash", CASH.id)]),
        (SUM.id, [("Tax", role, rule) for role, rule in of_tax.items()]),
    ]
    assert named.drop("rule", "legs").equals(log.drop("rule", "legs"))
    assert rule_table.with_rules_of_today(today, today) is today
