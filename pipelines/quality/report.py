"""The quality report of a build: one self-contained page in the folder of the build.

Belongs here: reading the tables, rendering, and the place of the page. Does not: the figures (figures, checks), the
layout (page.html).
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from pipelines.errors import PipelineError
from pipelines.quality import coverage, figures, missing, plots, text
from pipelines.quality.checks import BY_NAME, COVERAGE, tallied
from pipelines.storage.lake import Lake
from pipelines.tables.stored import assembled
from warehouse.build.publish import Pointer
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS

if TYPE_CHECKING:
    import jinja2

PAGE, LINK = "quality-{}.html", "quality.html"
BUILD = "warehouse-{}.duckdb"
MOST_RULES = 150
"""Rules that a table of the page shows: with all 900 it would be longer than all other pages."""
TEMPLATE = Path(__file__).with_name("page.html")


class ReportError(PipelineError):
    """The report cannot be written; its build is published nevertheless."""


def tables_of(lake: Lake, found: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The tables of the report, by name: `checks`, `coverage`, `newest`, `missing` (by item), `incomplete`
    (companies), `gaps`, `restatements`, `changes`, `largest` (changes), `rules` (with a decision), `idle_rules`
    (without a decision), `identities` and `quarantine`.

    Args:
        lake: the assembled tables.
        found: the comparisons of all checks over them.
    """

    def scan(name: str) -> pl.LazyFrame:
        return lake.scan(assembled(name))

    annual = scan("financials").filter(pl.col("period_kind") == "annual", "is_primary")
    trailing = pl.col("period_kind") == "ttm"
    periods = scan("financials").filter(trailing, "is_primary").select("symbol", *ITEM_NAMES).collect()
    reasons = scan("gaps").filter(trailing).select("item", "reason").collect()
    changed = scan("changes").filter(trailing).collect()
    rules = lake.read(assembled("rules"))
    return {
        "checks": tallied(found),
        "coverage": figures.coverage(annual.select("cik", "fiscal_year", *ITEM_NAMES).collect()),
        "newest": coverage.across(coverage.by_industry(found.filter(pl.col("check") == COVERAGE))),
        "missing": missing.by_item(periods, reasons),
        "incomplete": missing.by_company(periods),
        "gaps": figures.gaps(reasons),
        "restatements": figures.restatements(
            scan("versions").filter(trailing).select("version", "filed", "cause").collect()
        ),
        "changes": figures.changes(changed),
        "largest": figures.largest(changed, symbols_of(lake)),
        "rules": figures.deciding(rules),
        "idle_rules": figures.idle(rules),
        "identities": figures.identities(
            scan("proofs").filter(trailing).select("rule", "outcome").collect(),
            dict(rules.select("rule", "statement").iter_rows()),
        ),
        "quarantine": lake.read(assembled("quarantine")).drop("raw_document").head(figures.SHOWN),
    }


def render(pointer: Pointer, shown: Mapping[str, pl.DataFrame], found: pl.DataFrame, symbols: pl.DataFrame) -> str:
    """The page as HTML, without links to other files.

    Args:
        pointer: the published build.
        shown: the result of `tables_of`.
        found: the comparisons of all checks.
        symbols: `cik`, `symbol`.
    """
    restated = shown["restatements"]
    return _template().render(
        build=pointer,
        items=LINE_ITEMS,
        checks=[
            {
                **tally,
                "meaning": BY_NAME[tally["check"]].meaning,
                "source": BY_NAME[tally["check"]].source,
                "bar": plots.against(tally["failing"], tally["threshold"]),
                "failures": figures.failures(found, tally["check"], symbols),
            }
            for tally in shown["checks"].iter_rows(named=True)
        ],
        plot=plots.stacked_columns(restated, figures.causes(restated)),
        by_cause=figures.by_cause(restated),
        is_first=pointer.previous is None,
        most_rules=MOST_RULES,
        **{name: frame for name, frame in shown.items() if name != "checks"},
    )


def page_of(published: Path, pointer: Pointer) -> Path:
    """The path of the page of a build; the page may not exist yet."""
    return published / PAGE.format(pointer.build)


def write(published: Path, pointer: Pointer, content: str) -> Path:
    """Write the page of the published build, link to it, and remove pages of deleted builds.

    Args:
        published: the folder of builds.
        pointer: the published build.
        content: the page.

    Returns:
        the path of the page.

    Raises:
        ReportError: the folder of builds cannot be written.
    """
    page = page_of(published, pointer)
    try:
        _replace(page, content)
        link = published / f".{LINK}.tmp"
        link.unlink(missing_ok=True)
        link.symlink_to(page.name)
        link.replace(published / LINK)
        for other in published.glob(PAGE.format("*")):
            build = other.name.removeprefix("quality-").removesuffix(".html")
            if not (published / BUILD.format(build)).exists():
                other.unlink()
    except OSError as error:
        raise ReportError(f"{page}: the quality report cannot be written ({error.strerror}); check the disk") from error
    return page


def _replace(path: Path, content: str) -> None:
    """Write a file completely or not at all."""
    written = path.with_name(f".{path.name}.tmp")
    written.write_text(content, encoding="utf-8")
    written.replace(path)


def symbols_of(lake: Lake) -> pl.DataFrame:
    """`cik`, `symbol`: the primary symbol of each company."""
    return lake.read(assembled("companies")).filter("is_primary").select("cik", "symbol")


@cache
def _template() -> "jinja2.Template":
    import jinja2  # imported here, because most synchronizations write no page

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(cell=text.cell, heading=text.heading, records=_records, numeric=_numeric)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def _records(rows: pl.DataFrame) -> list[dict[str, Any]]:
    return rows.to_dicts()


def _numeric(rows: pl.DataFrame) -> dict[str, bool]:
    """Whether each column is numeric, by name."""
    return {name: kind.is_numeric() for name, kind in rows.schema.items()}
