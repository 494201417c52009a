"""The registry: every decision that can change a served value has a name, a statement, a source and a document."""

import re
from pathlib import Path

import polars as pl
import pytest

from pipelines import dictionary
from pipelines.normalize import elements, rules
from pipelines.normalize.elements import CONCEPTS
from pipelines.normalize.pipeline import standardize
from pipelines.normalize.rule import Rule
from pipelines.normalize.rules import REGISTRY
from tests.factories import raw, stated
from tests.shapes import elements as shapes

ROOT = Path(__file__).parents[2]
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
ONE = Rule("a.b", "One.", "A source.", "select")
OTHER = Rule("a.b", "Other.", "A source.", "select")
THIRD = Rule("a.c", "Third.", "A source.", "select")


@pytest.mark.parametrize("rule", REGISTRY.values(), ids=list(REGISTRY))
def test_every_rule_is_named_and_stated(rule):
    """A dotted id, one sentence that can stand in a table, a source."""
    assert ID.fullmatch(rule.id)
    assert rule.statement[0].isupper()
    assert rule.statement.endswith(".")
    assert not {"\n", "|"} & set(rule.statement + rule.source + rule.applies)
    assert rule.source


def test_every_rule_leads_to_its_code():
    """The file that a rule is in exists; its id, or that of the loop that makes it, stands there."""
    for rule in REGISTRY:
        assert rules.statement(rule)
        assert (ROOT / rules.path(rule)).is_file()


def test_every_source_of_an_element_is_a_rule_of_its_own():
    ranks = {(concept, rank): rule for concept, rank, rule in elements.RULE_OF_RANK.iter_rows()}

    assert len(set(ranks.values())) == len(ranks) == sum(len(concept.sources) for concept in CONCEPTS)
    assert ranks["revenue", 0] == "revenue.net-of-interest-expense"
    assert set(ranks.values()) <= set(REGISTRY)
    assert rules.path("revenue.net-of-interest-expense") == "pipelines/normalize/elements/income.py"


def test_two_rules_with_one_id_are_refused():
    """The error names the id and both modules; a rule that two modules name is one, of the shorter tuple."""
    assert rules.collected([("there", [ONE, THIRD]), ("here", [ONE])]) == (
        {"a.b": ONE, "a.c": THIRD},
        {"a.b": "here", "a.c": "there"},
    )
    with pytest.raises(ValueError, match=r"two rules have the id 'a.b': in here and in there"):
        rules.collected([("here", [ONE]), ("there", [OTHER])])


def test_the_page_of_the_rules_is_what_the_registry_says():
    """Every id has its row; `make docs` writes the page."""
    held = dictionary.RULES_PAGE.read_text(encoding="utf-8")

    assert held == dictionary.rules(), "stale: run make docs"
    assert set(re.findall(r"^\| `([^`]+)` \|", held, re.MULTILINE)) == set(REGISTRY)
    assert set(rules.SINGLE_COMPANY) <= set(REGISTRY)


# --- Each rule decides somewhere --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports() -> list[shapes.Report]:
    return list(shapes.reports())


@pytest.fixture(scope="module")
def standardized_reports(reports):
    """The report of each source of an element, and those of their twins, standardized together."""
    registrants = [{"cik": cik, "sic": report.sic} for report in reports for cik in (report.cik, report.twin) if cik]
    rows = raw(*(report.rows for report in reports), *map(shapes.twins, reports))
    return stated(rows, pl.DataFrame(registrants))[0], standardize(rows, None, pl.DataFrame(registrants))


def test_every_source_of_an_element_decides(reports, standardized_reports):
    """In a report that holds what it needs: it is the one that is chosen for its concept."""
    vintages = standardized_reports[0].join(elements.RULE_OF_RANK, on=["concept", "rank"])
    chosen = set(vintages.select(pl.col("cik").cast(pl.String), "rule").iter_rows())

    assert [report.rule for report in reports if (report.cik, report.rule) not in chosen] == []


def test_every_amount_that_is_no_part_of_a_value_decides_about_one(reports, standardized_reports):
    """The report and its twin without the amount lead to other values, gaps or evidence."""
    found = standardized_reports[1]
    outcome = {
        table: getattr(found, table).select("cik", *columns)
        for table, columns in (
            ("versions", ("period_end", "item", "value", "method")),
            ("gaps", ("period_end", "item", "reason")),
            ("evidence", ("customer_funds_end",)),
        )
    }

    def of(cik: str) -> list[list[tuple[object, ...]]]:
        return [sorted(frame.filter(cik=cik).drop("cik").rows(), key=str) for frame in outcome.values()]

    with_twin = [report for report in reports if report.twin]
    assert [report.rule for report in with_twin if of(report.cik) == of(report.twin)] == []
