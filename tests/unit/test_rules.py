"""The registry: every decision that can change a served value has a name, a statement, a source and a document."""

import re
from pathlib import Path

import pytest

from pipelines import dictionary
from pipelines.normalize import elements, rules
from pipelines.normalize.elements import CONCEPTS
from pipelines.normalize.rule import Rule
from pipelines.normalize.rules import REGISTRY

ROOT = Path(__file__).parents[2]
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
ONE = Rule("a.b", "One.", "A source.", "select")
OTHER = Rule("a.b", "Other.", "A source.", "select")


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
    """The error names the id and both modules; a rule that two modules name is one."""
    assert rules.collected([("here", [ONE]), ("there", [ONE, "no rule"])]) == ({"a.b": ONE}, {"a.b": "here"})
    with pytest.raises(ValueError, match=r"two rules have the id 'a.b': in here and in there"):
        rules.collected([("here", [ONE]), ("there", [OTHER])])


def test_the_page_of_the_rules_is_what_the_registry_says():
    """Every id has its row; `make docs` writes the page."""
    held = dictionary.RULES_PAGE.read_text(encoding="utf-8")

    assert held == dictionary.rules(), "stale: run make docs"
    assert set(re.findall(r"^\| `([^`]+)` \|", held, re.MULTILINE)) == set(REGISTRY)
    assert set(rules.SINGLE_COMPANY) <= set(REGISTRY)
