"""The registry of rules: every decision that can change a served value has an id, a statement, a source and a test."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.normalize import elements, rules
from pipelines.normalize.balance.values import FLAGS
from pipelines.normalize.classes.symbols import WITHHELD as CLASS_NOT_STATED
from pipelines.normalize.elements import CONCEPTS
from pipelines.normalize.elements.sources import MOST_WORDS
from pipelines.normalize.items import line_items
from pipelines.normalize.periods.predecessors import CONTINUED, stitched
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.normalize.rule import Rule, switched_off
from pipelines.normalize.rules import REGISTRY
from pipelines.tables import dictionary, rule_page
from tests.factories import raw, with_total_assets
from tests.shapes import (
    balances,
    calendars,
    corrections,
    derived,
    facts,
    flows,
    industries,
    items,
    of_company,
    shares,
    statement_items,
)
from tests.shapes import elements as elements_shapes
from tests.shapes.faces import OF_FACES
from tests.unit.test_predecessors import SUCCEEDS, two_filers
from tests.unit.test_versions import unsupported_values

ROOT = Path(__file__).parents[2]
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
ONE = Rule("a.b", "One.", "A source.", "select")
OTHER = Rule("a.b", "Other.", "A source.", "select")
THIRD = Rule("a.c", "Third.", "A source.", "select")

OF_VERSIONS = [rule for rule, file in rules.FILES.items() if file == "pipelines/normalize/history/versions.py"]
"""Rules that decide about the values of a log."""


def test_every_rule_is_named_and_stated():
    """A dotted id, a statement that fits a table and is read once, and a source."""
    for rule in REGISTRY.values():
        assert len(rule.statement.split()) <= MOST_WORDS, rule
        assert ID.fullmatch(rule.id), rule
        assert rule.statement[0].isupper(), rule
        assert rule.statement.endswith("."), rule
        assert not {"\n", "|"} & set(rule.statement + rule.source + rule.applies), rule
        assert rule.source, rule


def test_every_rule_names_the_file_of_its_code():
    """Its id is written in full in the file that it is in, so that a search for the id finds the code."""
    files = {rule: ROOT / rules.FILES[rule] for rule in REGISTRY if rule not in rules.REPLACED}
    text = {file: file.read_text(encoding="utf-8") for file in set(files.values())}

    assert [rule for rule, file in files.items() if f'"{rule}"' not in text[file]] == []


def test_every_source_of_an_element_is_a_separate_rule():
    ranks = {(concept, rank): rule for concept, rank, rule in elements.OF_SOURCE.drop("reservation").iter_rows()}

    assert len(set(ranks.values())) == len(ranks) == sum(len(concept.sources) for concept in CONCEPTS)
    assert ranks["revenue", 0] == "revenue.net-of-interest-expense"
    assert set(ranks.values()) <= set(REGISTRY)
    assert rules.FILES["revenue.net-of-interest-expense"] == "pipelines/normalize/elements/sources.toml"


def test_two_rules_with_one_id_are_refused():
    """The error names the id and both files."""
    assert rules.collected([("here", [ONE]), ("there", [THIRD])]) == (
        {"a.b": ONE, "a.c": THIRD},
        {"a.b": "here", "a.c": "there"},
    )
    with pytest.raises(ValueError, match=r"two rules have the id 'a.b': in here and in there"):
        rules.collected([("here", [ONE]), ("there", [OTHER])])


def test_the_page_of_the_rules_is_generated_from_the_registry():
    """Every id has a row; `make docs` writes the page."""
    held = dictionary.RULES_PAGE.read_text(encoding="utf-8")

    assert held == dictionary.rules(), "stale: run make docs"
    assert set(re.findall(r"^\| `([^`]+)` \|", held, re.MULTILINE)) == set(REGISTRY)
    assert set(rule_page.SINGLE_COMPANY) <= set(REGISTRY)


# --- Each rule decides in its own document ------------------------------------------------------------------------

AREAS = (balances, calendars, corrections, derived, facts, flows, industries, items, shares, statement_items)
SHAPES = {str(9_992_000_000 + number): shape for number, shape in enumerate(s for area in AREAS for s in area.SHAPES)}
"""Each small document by the CIK that it is filed under: one company per document."""

PENDING: dict[str, str] = {}
"""Rules that no document exercises yet, with the reason."""

RESERVATIONS_AS_FLAGS = {
    f"flag.{flag.replace('_', '-')}"
    for flag in (*FLAGS, *(source.reservation for concept in CONCEPTS for source in concept.sources))
}
"""Flags with the rule of the source, or of the balance, with which they appear."""

OUTCOMES = {
    "versions": ("period_end", "item", "value", "method"),
    "gaps": ("period_end", "item", "reason"),
    "quarter_versions": ("period_end", "item", "value", "method"),
    "quarter_gaps": ("period_end", "item", "reason"),
    "proofs": ("period_end", "item", "rule", "outcome"),
    "evidence": ("customer_funds_end",),
}
"""The results that are compared between two companies."""


ALWAYS = {
    "balance.line": "a definition: without lines there is no balance sheet",
}
"""Rules that cannot be switched off, with the reason."""

RESULTS = {
    **OUTCOMES,
    "versions": (*OUTCOMES["versions"], "flags", "legs"),
    "splits": ("ratio", "effective_by"),
    "breaks": ("filed", "kind"),
    "periods": ("period_end", "fiscal_year", "fiscal_quarter", "is_year_end"),
    "profiles": ("industry", "currency"),
    "latest_shares": ("period_end", "shares_basic", "shares_diluted", "method"),
}
"""The results that a rule can change."""


@pytest.fixture(scope="module")
def reports() -> list[elements_shapes.Report]:
    """A report for each source of an element."""
    return list(elements_shapes.reports())


@pytest.fixture(scope="module")
def documents(reports) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The facts of all small documents, and the SIC code of each of their companies."""
    of_elements = raw(*(report.rows for report in reports), *map(elements_shapes.twins, reports))
    of_rules = raw(*(of_company(shape.rows, cik) for cik, shape in SHAPES.items()))
    told = [
        *((cik, report.sic, None) for report in reports for cik in (report.cik, report.twin) if cik),
        *((cik, shape.sic, shape.succeeded) for cik, shape in SHAPES.items()),
    ]
    registrants = pl.DataFrame(told, {"cik": pl.String, "sic": pl.String, "succeeded": pl.Date}, orient="row")
    return pl.concat([of_elements, with_total_assets(of_rules)]), registrants


@pytest.fixture(scope="module")
def found(documents) -> Standardized:
    """All small documents, standardized together; every frame between two steps is checked against its declaration."""
    facts, registrants = documents
    return standardize(facts, registrants=registrants, validate=True)


@pytest.fixture(scope="module")
def decided(found) -> set[tuple[str, str]]:
    """CIK and rule of every decision that a value, leg, flag, gap or repair names, and of counted decisions."""
    frames = [getattr(found, field.name) for field in fields(found)]
    legs = found.versions.select("cik", "legs").explode("legs").unnest("legs")
    flags = found.versions.select("cik", flag=pl.col("flags").str.split(",")).explode("flag")
    of_flags = flags.filter(pl.col("flag") != "").select(
        "cik", rule=pl.lit("flag.") + pl.col("flag").str.replace_all("_", "-")
    )
    named = [stitched(two_filers(), SUCCEEDS)[1].select("cik", "rule"), unsupported_values().select("cik", "rule")]
    named += [frame.select("cik", "rule") for frame in (*frames, legs) if "rule" in frame.columns]
    return set(pl.concat([*named, of_flags]).drop_nulls().unique().iter_rows())


def test_every_source_of_an_element_decides(reports, found, decided):
    """In a report with all its elements the source is chosen, and a leg of a value has its element."""
    tags = found.versions.select("cik", "legs").explode("legs").unnest("legs").select("cik", "tag")
    served = set(tags.with_columns(pl.col("tag").str.split(":").list.last()).iter_rows())

    def decides(report: elements_shapes.Report) -> bool:
        is_served = any((report.cik, element) in served for element in elements_shapes.SOURCES[report.rule].counted)
        return (report.cik, report.rule) in decided and (is_served or bool(report.twin))

    assert [report.rule for report in reports if not decides(report)] == []


def test_every_amount_outside_of_values_changes_one(reports, found):
    """The report and its copy without the amount lead to different values, gaps or evidence."""
    outcome = {table: getattr(found, table).select("cik", *columns) for table, columns in OUTCOMES.items()}

    def of(cik: str) -> list[list[tuple[object, ...]]]:
        return [sorted(frame.filter(cik=cik).drop("cik").rows(), key=str) for frame in outcome.values()]

    with_twin = [report for report in reports if report.twin]
    assert [report.rule for report in with_twin if of(report.cik) == of(report.twin)] == []


def test_every_other_rule_decides(decided):
    """In the document that was written for it."""
    silent = {shape.rule for cik, shape in SHAPES.items() if (cik, shape.rule) not in decided}
    assert silent == set(PENDING)


def apart(documents: Iterable[tuple[str, str, set[str]]]) -> list[list[tuple[str, str]]]:
    """Rules with their documents in groups, in which no document uses the rule of another.

    So the rules of a group can be switched off together.

    Args:
        documents: a rule, the company of its document, and the rules that decide in it.
    """
    groups: list[tuple[list[tuple[str, str]], set[str], set[str]]] = []
    for rule, cik, used in documents:
        others = used - {rule}
        fitting = [group for group in groups if rule not in group[2] and others.isdisjoint(group[1])]
        if not fitting:
            groups.append(([], set(), set()))
        pairs, switched, needed = (fitting or groups[-1:])[0]
        pairs.append((rule, cik))
        switched.add(rule)
        needed |= others
    return [pairs for pairs, *_ in groups]


def are_equal(frames: list[pl.DataFrame], others: list[pl.DataFrame]) -> bool:
    """Whether two results are the same."""
    return len(frames) == len(others) and all(one.equals(other) for one, other in zip(frames, others, strict=True))


def results(found: Standardized) -> dict[str, list[pl.DataFrame]]:
    """The results by company, with values as they are served."""
    served = replace(found, versions=found.versions.with_columns(value=line_items.served("value")))
    frames = [getattr(served, table).select("cik", *columns) for table, columns in RESULTS.items()]
    return {cik: [frame.filter(cik=cik) for frame in frames] for cik in found.profiles["cik"]}


def test_every_rule_changes_its_documents(documents, reports, found, decided):
    """Without the rule each of its documents leads to other values, flags, gaps, judgements, periods or evidence."""
    of_rule = [(report.rule, report.cik) for report in reports] + [(shape.rule, cik) for cik, shape in SHAPES.items()]
    used = {cik: set[str]() for _, cik in of_rule}
    for cik, rule in decided:
        used.get(cik, set()).add(rule)
    facts, registrants = documents
    before = results(found)

    def unchanged(group: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The rules and documents of a group, without documents that change when all its rules are switched off."""
        with switched_off(rule for rule, _ in group):
            of_group = facts.filter(pl.col("cik").is_in([cik for _, cik in group]))
            after = results(standardize(of_group, registrants=registrants))
        return [(rule, cik) for rule, cik in group if are_equal(before.get(cik, []), after.get(cik, []))]

    groups = apart([(rule, cik, used[cik]) for rule, cik in of_rule])
    suspects = [pair for group in groups for pair in unchanged(group)]  # another rule of the group may take its place
    assert [rule for pair in suspects if pair[0] not in ALWAYS for rule, _ in unchanged([pair])] == []


@pytest.mark.parametrize("rule", [CONTINUED.id, *OF_VERSIONS])
def test_rules_of_other_inputs_change_their_results(rule):
    """Without the rule two companies that follow each other, or the values of a log, lead to other results."""

    def found() -> list[pl.DataFrame]:
        return [unsupported_values(), *stitched(two_filers(), SUCCEEDS)]

    before = found()
    with switched_off([rule]):
        assert not are_equal(before, found())


def test_every_rule_has_its_own_document(reports, decided):
    """Every name in these documents is the id of a rule."""
    exercised = {report.rule for report in reports} | {shape.rule for shape in SHAPES.values()} | {CONTINUED.id}
    exercised |= {*OF_VERSIONS, *rules.REPLACED, *OF_FACES, CLASS_NOT_STATED.id}  # the last one: test_classes
    assert set(OF_VERSIONS) <= {rule for _, rule in decided}
    assert exercised == set(REGISTRY)
    assert set(rules.REPLACED) & {rule for _, rule in decided} == set()
    assert {rule for _, rule in decided} - set(REGISTRY) - RESERVATIONS_AS_FLAGS == set()
