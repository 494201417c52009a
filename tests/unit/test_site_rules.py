"""The page of rules: every rule of the build, under its subject, with its decisions."""

from pathlib import Path

import duckdb

from serve.site import rendering, rules_page
from tests import builds
from tests.sites import Read
from tests.texts import tables
from warehouse import page_queries
from warehouse.page_queries import RuleCount
from warehouse.reader import Warehouse


def rule(name: str, values: int = 0, figures: int = 0, statement: str = "It decides.") -> RuleCount:
    return RuleCount(name, statement, "ASC 230", "select", "all filers", values, figures, min(values, 3))


def test_rules_are_listed_by_subject_with_an_anchor_each() -> None:
    page = rules_page.document(
        [rule("cash.balance-sheet", 1234, 5678), rule("cash.total", figures=1), rule("net-income.common")]
    )
    shown = rendering.page(page)
    assert shown.contents == (("cash", "Cash"), ("net-income", "Net income"))
    first, _ = tables(page.text)
    assert first[0] == (
        "`cash.balance-sheet`",
        "1,234",
        "5,678",
        "3",
        "**It decides.** Source: ASC 230. Action: select. Applies to: all filers.",
    )
    assert Read(shown.body).ids == [
        "cash",
        "cash.balance-sheet",
        "cash.total",
        "net-income",
        "net-income.common",
    ]
    assert "\n3 rules, of which 1 decided nothing in this build.\n" in page.text


def test_statements_of_rules_are_escaped() -> None:
    page = rules_page.document([rule("cash.total", statement="[a](https://x) | b")])
    assert r"\[a\](https://x) \| b" in page.text
    assert "<strong>[a](https://x) | b</strong>" in rendering.page(page).body


def test_a_build_without_rules_says_so() -> None:
    page = rules_page.document([])
    assert not list(tables(page.text))
    assert not rendering.page(page).contents
    assert "No build with rules is published yet" in page.text


def test_a_build_that_counts_no_figures_has_none(tmp_path: Path) -> None:
    builds.publish_small(tmp_path, rows=builds.tables())
    file = (tmp_path / "warehouse.duckdb").resolve()
    file.chmod(0o644)
    with duckdb.connect(file) as held:
        held.execute("ALTER TABLE rules DROP COLUMN figures")
    warehouse = Warehouse(tmp_path)
    with warehouse.build() as build:
        assert [(one.values, one.figures, one.companies) for one in page_queries.rules(build)] == [
            (1234, 0, 4),
            (0, 0, 0),
        ]
    warehouse.close()


def test_the_rules_of_a_build_are_read_in_the_order_of_their_ids(tmp_path: Path) -> None:
    rows = builds.tables()
    builds.publish_small(tmp_path, rows=rows | {"rules": rows["rules"][::-1]})
    warehouse = Warehouse(tmp_path)
    with warehouse.build() as build:
        found = page_queries.rules(build)
    warehouse.close()
    assert [(one.id, one.values, one.figures, one.companies) for one in found] == [
        ("revenue.total", 1234, 2345, 4),
        ("ttm.four-quarters", 0, 0, 0),
    ]
