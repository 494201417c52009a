"""The table of checks, and the report of a build: its figures, its location, and that it is self-contained."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from pipelines.quality import __main__ as command
from pipelines.quality import checks, figures, missing, plots, report, text
from pipelines.quality.evidence import FOUND
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from tests.mirrors import ALFA, BRAVO, Mirror
from tests.texts import lacking
from warehouse.build import publish
from warehouse.contract.line_items import ITEM_NAMES

NAMES = [check.name for check in checks.CHECKS]


def synchronize(home: Home, mirror: Mirror) -> publish.Pointer:
    assert run_all(Synchronization(home, str(mirror.folder))).held_back_by == []
    pointer = publish.current(home.published)
    assert pointer
    return pointer


def page_of(home: Home) -> str:
    return (home.published / report.LINK).read_text(encoding="utf-8")


def pages_of(home: Home) -> set[str]:
    return {path.name for path in home.published.glob("quality-*.html")}


def rendered(home: Home, **tables: pl.DataFrame) -> str:
    """The page of a home with other rows in some tables."""
    lake = Lake(home.tables)
    found = checks.found(lake)
    shown = report.tables_of(lake, found) | tables
    return report.render(publish.current(home.published), shown, found, report.symbols_of(lake))


# --- The table of checks ----------------------------------------------------------------------------------------


def test_every_check_has_a_meaning_and_a_source():
    assert len(set(NAMES)) == len(NAMES)
    for check in checks.CHECKS:
        assert re.fullmatch(r"[a-z_]+", check.name)
        assert check.meaning.endswith(".")
        assert check.source
        assert 0 <= check.threshold < 0.5


def test_a_check_passes_up_to_its_threshold():
    check = next(check for check in checks.CHECKS if check.threshold == 0.02)
    for failing, passed in ((2, True), (3, False)):
        told = ["fails"] * failing + ["flagged"] * 50 + ["holds"] * (50 - failing)
        rows = pl.DataFrame({"check": check.name, "cik": [str(n % 2) for n in range(100)], "outcome": told})
        tally = checks.tallied(rows).filter(pl.col("check") == check.name)
        assert tally.rows() == [(check.name, 100, 50 - failing, 50, failing, 2, failing / 100, check.threshold, passed)]


def test_a_check_without_comparisons_passes_and_is_shown():
    tally = checks.tallied(pl.DataFrame(schema={"check": pl.String, **FOUND}))
    assert tally.select("check", "compared", "passed").rows() == [(name, 0, True) for name in NAMES]


def test_comparisons_are_repeated_only_for_changed_tables(synchronized, same_mirror, monkeypatch):
    lake, made = Lake(synchronized.tables), checks.found
    before = checks.measured(lake)
    assert checks.in_check_order(before).equals(checks.in_check_order(made(lake)))

    monkeypatch.setattr(checks, "found", lambda lake: pytest.fail("made again"))
    assert checks.measured(lake).equals(before)

    monkeypatch.setattr(checks, "found", made)
    same_mirror.hold(ALFA, replace(BRAVO, scale=900))
    synchronize(synchronized, same_mirror)
    assert not checks.measured(lake).equals(before)


# --- Figures ----------------------------------------------------------------------------------------------------


def test_coverage_is_of_the_companies_that_have_the_year():
    """A year that few companies have yet is not shown."""
    few = [("1", 2024, 1.0), ("2", 2024, None), ("1", 2023, 1.0)]
    shown = coverage(few).select("fiscal_year", "companies", "revenue", "roic")
    assert shown.rows() == [(2024, 2, 0.5, 0), (2023, 1, 1.0, 0)]
    many = [(str(n), 2024, 1.0) for n in range(100)]
    assert coverage([*many, ("1", 2025, 1.0)])["fiscal_year"].to_list() == [2024]


def coverage(rows: list[tuple[str, int, float | None]]) -> pl.DataFrame:
    """The coverage of the years of companies, which have no other item than revenue."""
    others = (pl.lit(None, pl.Float64).alias(item) for item in ITEM_NAMES if item != "revenue")
    schema = {"cik": pl.String, "fiscal_year": pl.Int64, "revenue": pl.Float64}
    return figures.coverage(pl.DataFrame(rows, schema, orient="row").with_columns(others))


def test_gaps_are_counted_by_reason_and_item():
    rows = pl.DataFrame({"item": ["roic", "roic", "revenue"], "reason": ["b", "b", "a"]})
    shown = figures.gaps(rows).select("reason", "periods", "revenue", "roic")
    assert shown.rows() == [("b", 2, 0, 2), ("a", 1, 1, 0)]


def test_what_is_missing_is_counted_by_item_and_by_company():
    """Two companies with two periods each; one lacks revenue of a period, the other one the return of both."""
    full = dict.fromkeys(ITEM_NAMES, 1.0)
    periods = pl.DataFrame(
        [
            {"symbol": "A", **full},
            {"symbol": "A", **full, "revenue": None},
            {"symbol": "B", **full, "roic": None},
            {"symbol": "B", **full, "roic": None},
        ]
    )
    reasons = pl.DataFrame({"item": ["roic", "roic", "revenue"], "reason": ["b", "b", "a"]})
    assert missing.by_item(periods, reasons).head(3).rows() == [
        ("roic", 4, 2, 0.5, "b"),
        ("revenue", 4, 1, 0.75, "a"),
        ("capital_expenditure", 4, 0, 1.0, None),
    ]
    values = 2 * len(ITEM_NAMES)
    assert missing.by_company(periods).rows() == [("B", 2, 2, 1 - 2 / values, "roic"), ("A", 2, 1, 1 - 1 / values, "")]


def test_restatements_are_versions_after_the_first_and_rare_causes_are_combined():
    of_causes = [
        (number, date(2020 + number % 2, 1, 1), f"cause_{cause}")
        for cause in range(9)
        for number in range(1, 12 - cause)
    ]
    served = [(2, date(2020, 1, 1), "method")] * 99
    rows = figures.restatements(pl.DataFrame(of_causes + served, ["version", "filed", "cause"], orient="row"))
    assert figures.causes(rows) == [*(f"cause_{n}" for n in range(figures.SERIES)), figures.OTHERS]
    assert rows["versions"].sum() == sum(10 - cause for cause in range(9))
    table = figures.by_cause(rows)
    assert (table.columns, table.row(0)) == (["cause", "2021", "2020"], ("cause_0", 5, 5))


def test_the_largest_changes_come_first():
    end = date(2024, 12, 31)
    rows = pl.DataFrame(
        [
            ("1", end, "revenue", 100.0, 110.0, "x"),
            ("1", end, "roic", 0.1, 0.2, "x"),
            ("1", end, "eps_basic", None, 1.0, "y"),
        ],
        schema=["cik", "period_end", "item", "before", "after", "cause"],
        orient="row",
    )
    shown = figures.largest(rows, pl.DataFrame({"cik": ["1"], "symbol": ["AAA"]}))
    assert shown.select("symbol", "item").rows() == [("AAA", "roic"), ("AAA", "revenue")]
    assert figures.changes(rows).select("cause", "values", "companies", "eps_basic").rows() == [
        ("x", 2, 1, 0),
        ("y", 1, 1, 1),
    ]


def test_rules_are_listed_by_decisions_and_unused_ones_separately():
    rules = pl.DataFrame(
        [
            ("a.b", "A.", "select", 2, 1, 4),
            ("c", "C.", "flag", 0, 0, 0),
            ("d", "D.", "compose", 7, 3, 0),
            ("e", "E.", "withhold", 0, 1, 9),
        ],
        schema=["rule", "statement", "action", "values", "companies", "figures"],
        orient="row",
    )
    assert figures.deciding(rules).rows() == [
        ("d", "D.", "compose", 7, 0, 3),
        ("a.b", "A.", "select", 2, 4, 1),
        ("e", "E.", "withhold", 0, 9, 1),
    ]
    assert figures.idle(rules).rows() == [("c", "C.", "flag")]


# --- Plots ------------------------------------------------------------------------------------------------------


def test_columns_are_stacked_from_the_base_and_no_year_is_left_out():
    rows = pl.DataFrame({"year": [2020, 2020, 2022], "cause": ["a", "b", "b"], "versions": [30, 10, 20]})
    plot = plots.stacked_columns(rows, ["a", "b"])
    first, second, third = plot.bars
    assert [label.text for label in plot.labels] == ["2020", "2021", "2022"]
    assert (first.series, second.series, third.series) == (0, 1, 1)
    near = pytest.approx
    assert (first.y + first.height, second.y + second.height) == (near(plot.base), near(first.y))
    assert (first.height, third.height) == (near(3 * second.height), near(2 * second.height))
    assert [tick.text for tick in plot.ticks] == ["0", "10", "20", "30", "40"]
    assert plot.ticks[-1].at == near(second.y)
    assert all(plot.left <= bar.x and bar.x + bar.width <= plot.right for bar in plot.bars)


def test_a_plot_without_data_is_empty():
    plot = plots.stacked_columns(pl.DataFrame(schema={"year": pl.Int32, "cause": pl.String, "versions": pl.UInt32}), [])
    assert (plot.bars, plot.labels) == ((), ())


@pytest.mark.parametrize(
    ("failing", "threshold", "end"), [(0, 0, 0), (0.1, 0, 1), (0.1, 0.1, 0.5), (0.05, 0.1, 0.25), (0.9, 0.1, 1)]
)
def test_a_bar_crosses_the_middle_above_the_threshold(failing, threshold, end):
    assert plots.against(failing, threshold) == end


# --- Text -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "column", "shown"),
    [
        (None, "", ""),
        (True, "passed", "yes"),
        (False, "passed", "no"),
        (0.0513, "failing", "5.1 %"),
        (1, "share", "100.0 %"),
        (1234567.0, "", "1,234,567"),
        (1234567.8, "", "1,234,568"),
        (12, "", "12"),
        (0.123456, "", "0.1235"),
        (date(2024, 12, 31), "", "2024-12-31"),
        ("[text]", "", "[text]"),
    ],
)
def test_cells_are_formatted(value, column, shown):
    assert text.cell(value, column) == shown


def test_names_are_shown_as_words():
    assert (text.heading("eps_basic"), text.heading("debt_to_fcf")) == ("EPS basic", "debt to FCF")


def test_bars_in_markdown_tables_are_escaped():
    rows = pl.DataFrame({"name": ["a|b"], "values": [1000]})
    assert text.markdown(rows) == "| name | values |\n|---|---:|\n| a\\|b | 1,000 |"


# --- The page ---------------------------------------------------------------------------------------------------


def test_each_build_has_a_page_that_is_removed_with_it(synchronized, same_mirror):
    builds = [publish.current(synchronized.published).build]
    assert pages_of(synchronized) == {report.PAGE.format(build) for build in builds}
    for scale in (300, 400):
        same_mirror.hold(ALFA, replace(BRAVO, scale=scale))
        builds.append(synchronize(synchronized, same_mirror).build)
    assert pages_of(synchronized) == {report.PAGE.format(build) for build in builds[1:]}
    assert (synchronized.published / report.LINK).resolve().name == report.PAGE.format(builds[-1])
    assert builds[-1] in page_of(synchronized)


def test_without_a_new_build_no_page_is_rendered(synchronized, same_mirror):
    page = (synchronized.published / report.LINK).resolve()
    page.write_text("as it was", encoding="utf-8")
    synchronize(synchronized, same_mirror)
    assert page_of(synchronized) == "as it was"
    page.unlink()
    synchronize(synchronized, same_mirror)
    assert "Quality of the build" in page_of(synchronized)


def test_the_page_loads_nothing_and_has_no_script(synchronized):
    page = page_of(synchronized)
    assert not re.search(r"<script|@import|\bon\w+=|url\(", page)
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"data:,"}
    assert "prefers-color-scheme: dark" in page


def test_the_page_shows_checks_coverage_gaps_changes_and_quarantine(synchronized, same_mirror):
    assert not lacking(
        page_of(synchronized),
        "This is the first build of its home.",
        "Every document could be used.",
        *(text.heading(check.name) for check in checks.CHECKS),
        *(f'<th scope="row">{text.heading(item)}</th>' for item in ITEM_NAMES),
    )

    same_mirror.hold(replace(ALFA, scale=150))
    same_mirror.facts(BRAVO).write_text('{"<b>broken"')
    synchronize(synchronized, same_mirror)
    parts = ("is the first build", "Changes by cause", f"<td>{BRAVO.cik}</td>")
    assert lacking(page_of(synchronized), *parts) == ["is the first build"]


def test_names_of_filers_are_escaped(synchronized):
    quarantined = pl.DataFrame({"cik": ["1"], "reason": ["<script>alert(1)</script>"], "place": ["&"]})
    page = rendered(synchronized, quarantine=quarantined)
    assert lacking(page, "<script", "&lt;script&gt;alert(1)&lt;/script&gt;") == ["<script"]


def test_of_many_rules_the_page_shows_those_that_decided_most(synchronized):
    """As code."""
    many = pl.DataFrame({"rule": [f"rule.number-{n}" for n in range(report.MOST_RULES + 1)]})
    page = rendered(synchronized, rules=many, idle_rules=many)
    assert page.count("<code>rule.number-") == page.count("rule.number-") == 2 * report.MOST_RULES
    assert f"the {report.MOST_RULES} that decided most, of {report.MOST_RULES + 1}" in page


def test_a_page_that_cannot_be_written_is_reported(synchronized):
    pointer = publish.current(synchronized.published)
    (synchronized.published / report.PAGE.format(pointer.build)).unlink()
    with pytest.raises(report.ReportError, match="the quality report cannot be written"):
        report.write(synchronized.published / "none", pointer, "page")


def test_the_asset_shows_the_tables_of_the_page(synchronized):
    pointer = publish.current(synchronized.published)
    with dg.DagsterInstance.from_config(str(synchronized.dagster)) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("quality_report"))
    told = {name: shown.value for name, shown in event.asset_materialization.metadata.items()}
    assert (told["build"], Path(told["file"]).name) == (pointer.build, report.PAGE.format(pointer.build))
    assert told["comparisons"] == told["dagster/row_count"] > 0
    assert told["checks"].startswith("| check | compared | holds |")
    assert "| fiscal year | companies | revenue |" in told["coverage"]
    assert told["idle_rules"].startswith("| rule | statement | action |")


def test_the_page_fits_a_narrow_window(synchronized, program):
    """Wide tables scroll inside their own boxes, not the window."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = program("chromium", "chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in (340, 1400):
            window = browser.new_page(viewport={"width": width, "height": 800})
            asked: list[str] = []
            window.on("request", lambda request, asked=asked: asked.append(request.url))
            window.goto((synchronized.published / report.LINK).as_uri())
            window.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert window.evaluate("document.documentElement.scrollWidth") <= width
            assert len(asked) == 1
        browser.close()


# --- The command ------------------------------------------------------------------------------------------------


def test_the_command_prints_the_tables_and_lists_the_failures(synchronized, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setenv("FUNDAMENTALS_HOME", str(synchronized.root.with_name("empty")))
        assert command.main([]) == 1
    assert "holds no tables" in capsys.readouterr().err

    meaning = checks.CHECKS[0].meaning
    shown = (*NAMES, "all (2)", "What is missing", "Rules that decided nothing in this build", meaning)
    assert command.main([]) == 0
    assert lacking(capsys.readouterr().out, *shown) == [meaning]

    assert command.main(["--list"]) == 0
    assert meaning in capsys.readouterr().out


def test_the_command_reports_a_damaged_table_in_one_line(synchronized, capsys):
    (synchronized.tables / "facts" / "manifest.json").write_bytes(b"damaged")
    assert command.main([]) == 1
    assert capsys.readouterr().err.startswith("make quality: ")
