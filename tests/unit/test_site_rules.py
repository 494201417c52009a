"""The page of rules: every rule of the build, under its subject, with its decisions."""

from pathlib import Path

import duckdb

from serve.site import markdown, rules_page
from serve.site.content import Grid, Heading, Paragraph
from tests import builds
from warehouse import page_queries
from warehouse.page_queries import RuleCount
from warehouse.reader import Warehouse


def rule(name: str, values: int = 0, figures: int = 0, statement: str = "It decides.") -> RuleCount:
    return RuleCount(name, statement, "ASC 230", "select", "all filers", values, figures, min(values, 3))


def test_rules_are_listed_by_subject_with_an_anchor_each() -> None:
    page = rules_page.document(
        [rule("cash.balance-sheet", 1234, 5678), rule("cash.total", figures=1), rule("net-income.common")]
    )
    assert [(block.text, block.anchor) for block in page.contents] == [("Cash", "cash"), ("Net income", "net-income")]
    first, second = (block for block in page.blocks if isinstance(block, Grid))
    assert first.rows[0] == (
        "`cash.balance-sheet`",
        "1,234",
        "5,678",
        "3",
        "**It decides.** Source: ASC 230. Action: select. Applies to: all filers.",
    )
    assert first.anchors == ("cash.balance-sheet", "cash.total")
    assert second.anchors == ("net-income.common",)
    [counted] = [block.text for block in page.blocks if isinstance(block, Paragraph)]
    assert counted == "3 rules, of which 1 decided nothing in this build."


def test_statements_of_rules_are_escaped() -> None:
    page = rules_page.document([rule("cash.total", statement="[a](https://x) | b")])
    written = markdown.render(page, "https://here", "/rules")
    assert r"\[a\](https://x) \| b" in written


def test_a_build_without_rules_says_so() -> None:
    page = rules_page.document([])
    assert not any(isinstance(block, Grid | Heading) for block in page.blocks)
    assert rules_page.NONE_YET in markdown.render(page, "", "/rules")


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
