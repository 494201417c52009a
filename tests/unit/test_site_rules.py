"""The pages of rules: cards with the decisions of each rule, search and filters, and a page for each rule."""

import re
from pathlib import Path

import duckdb
import pytest

from serve import provenance
from serve.errors import NotFound
from serve.site.frame.directory import directory
from serve.site.lists import rules_page
from serve.site.text import rendering
from tests import builds
from tests.published import opened
from tests.sites import Read
from tests.texts import lacking
from warehouse.queries import rule_queries
from warehouse.queries.rule_queries import Decided, RuleCount

NOTHING = dict.fromkeys(rules_page.ASKED, "")


def rule(name: str, values: int = 0, figures: int = 0, statement: str = "It decides.") -> RuleCount:
    return RuleCount(
        name, statement, "ASC 230", "select", "all filers", values, figures, min(values, 3), "pipelines/normalize/a.py"
    )


RULES = [rule("cash.balance-sheet", 1234, 5678), rule("cash.total", figures=1), rule("net-income.common")]


def test_a_rule_is_a_card_with_its_facts_and_an_example() -> None:
    examples = {
        "cash.balance-sheet": Decided("ALFA", "cash_and_equivalents", "FY2024", 12_340_000.0),
        "cash.total": Decided("BRVO"),
    }
    shown = rendering.page(rules_page.page(RULES, examples, NOTHING, 1)).body
    assert Read(shown).ids == [each.id for each in RULES]
    assert shown.count('<section class="chart"') == len(RULES)
    first, second, third = shown.split("<section")[1:]
    assert not lacking(
        first,
        '<a href="/rules/cash.balance-sheet">cash.balance-sheet</a>',
        "<strong>It decides.</strong>",
        *(f"<dt>{name}</dt>" for name in ("Source", "Action", "Code", "In this build", "For example")),
        "ASC 230",
        "select; applies to all filers",
        "<code>a.py</code>",
        "1,234 values and gaps, 5,678 figures, of 3 companies",
        '<a href="/companies/ALFA/cash_and_equivalents/FY2024">Cash and equivalents of ALFA, FY2024</a>: 12.34M',
    )
    assert '<a href="/companies/BRVO">figures of BRVO</a>' in second
    assert "decided nothing" in third


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"search": "CASH asc"}, [0, 1]),
        ({"search": "common"}, [2]),
        ({"subject": "net-income"}, [2]),
        ({"action": "select"}, [0, 1, 2]),
        ({"action": "flag"}, []),
        ({"decided": "values"}, [0]),
        ({"decided": "figures"}, [1]),
        ({"decided": "nothing"}, [2]),
    ],
)
def test_rules_are_searched_and_filtered(asked: dict[str, str], found: list[int]) -> None:
    assert rules_page.chosen(RULES, {**NOTHING, **asked}) == [RULES[place] for place in found]


def test_replaced_rules_are_shown_if_asked_for() -> None:
    """They name the rule that replaced them, with a link."""
    old = RuleCount("cash.old", "`cash.total` replaced it.", "ASC 230", "compose", "all", 0, 0, 0, rules_page.RETIRED)
    for decided, found in (("", RULES), ("replaced", [old])):
        assert rules_page.chosen([*RULES, old], {**NOTHING, "decided": decided}) == found
    assert not lacking(
        rules_page.page(RULES, {}, NOTHING, 1, replaced=1).text,
        "[1 replaced](/rules?decided=replaced) rule is not listed",
        "[Cash (2)](/rules?subject=cash) · [Net income (1)](/rules?subject=net-income)",
    )
    shown = rendering.page(rules_page.page([old], {}, NOTHING, 1)).body
    assert '<a href="/rules/cash.total">cash.total</a> replaced it.' in shown


def test_a_long_list_has_pages_at_addresses_with_the_filter() -> None:
    many, asked = [rule(f"cash.{number:03}") for number in range(60)], {**NOTHING, "subject": "cash"}
    pages = [rules_page.page(many, {}, asked, number) for number in (1, 2, 3)]
    assert [len(re.findall("^## ", page.text, re.MULTILINE)) for page in pages] == [25, 25, 10]
    assert pages[1].turns == (
        ("Previous page", "/rules?subject=cash&page=1"),
        ("Next page", "/rules?subject=cash&page=3"),
    )
    assert "60 rules found; page 2 of 3." in pages[1].text


def test_a_rule_has_an_address_of_its_own() -> None:
    shown = rendering.page(rules_page.document(RULES, {}, "cash.total"))
    assert (shown.title, shown.summary) == ("cash.total", "<strong>It decides.</strong>")
    assert '<a href="/rules?subject=cash">More rules: Cash</a>' in shown.body
    with pytest.raises(NotFound):
        rules_page.document(RULES, {}, "cash")


def test_statements_of_rules_are_escaped() -> None:
    page = rules_page.page([rule("cash.total", statement="[a](https://x) | b")], {}, NOTHING, 1)
    assert r"\[a\](https://x) \| b" in page.text
    assert "<strong>[a](https://x) | b</strong>" in rendering.page(page).body


def test_a_build_without_rules_says_so() -> None:
    assert "No build with rules is published yet" in rules_page.page([], {}, NOTHING, 1).text


def test_an_example_is_the_newest_value_of_the_first_company(synchronized_sample: Path) -> None:
    """Values before gaps, years before twelve months; each example is a value whose page names the rule."""
    with opened(synchronized_sample / "published") as build:
        rules = rule_queries.rules(build)
        found = rules_page.examples(build, directory(build), rules)
        named = {rule: of for rule, of in found.items() if of.item}
        assert {rule.id for rule in rules if rule.values} == set(named)
        assert {rule.id for rule in rules if rule.figures} <= set(found)
        for rule in sorted(named)[::9]:
            of = named[rule]
            explained = provenance.find(build, of.symbol, of.item or "", of.period or "")
            assert rule in {each.rule.id for each in (*explained.decisions, *explained.judgements)}, of
            assert of.value == explained.value


def test_a_build_that_counts_no_figures_has_none(tmp_path: Path) -> None:
    builds.publish_small(tmp_path, rows=builds.tables())
    file = (tmp_path / "warehouse.duckdb").resolve()
    file.chmod(0o644)
    with duckdb.connect(file) as held:
        held.execute("ALTER TABLE rules DROP COLUMN figures")
    with opened(tmp_path) as build:
        found = [(one.values, one.figures, one.companies) for one in rule_queries.rules(build)]
    assert found == [(1234, 0, 4), (0, 0, 0)]


def test_the_rules_of_a_build_are_read_in_the_order_of_their_ids(tmp_path: Path) -> None:
    rows = builds.tables()
    builds.publish_small(tmp_path, rows=rows | {"rules": rows["rules"][::-1]})
    with opened(tmp_path) as build:
        found = [(one.id, one.values, one.figures, one.companies) for one in rule_queries.rules(build)]
    assert found == [("revenue.total", 1234, 2345, 4), ("ttm.four-quarters", 0, 0, 0)]
