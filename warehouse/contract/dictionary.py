"""The data dictionary as Markdown: the tables of the schema, and the line items.

Belongs here: the layout of the page. Does not: the meaning of tables and items (schema), the taxonomy elements of an
item (table `line_items` of a build; the caller of `render` passes them).
"""

from collections.abc import Iterator, Mapping, Sequence

from warehouse.contract import filed, views, vocabulary
from warehouse.contract.line_items import LINE_ITEMS
from warehouse.contract.table import Table

HEAD = """\
# Data dictionary

The tables of a published build, `published/warehouse.duckdb`. This page is generated. In the file, the COMMENT of each
table and column has the same text (`SELECT * FROM duckdb_columns()`).

- Amounts are in the company's reporting currency and in units, not thousands.
- Null means that the filings support no value; it never means zero. Table `gaps` has the reason.
- `cik` is text, ten digits. Times are in UTC.
- `start` and `end` are SQL keywords: write `"start"`, `"end"`.
"""

FILES = """\
## Files beside the builds

Two Parquet files in `published/statements/` have what filings state beside companyfacts: [filed_facts](#filed_facts)
and [statement_lines](#statement_lines). Their tables are below. No value of a build is made from them.
"""

SOURCES = """\
## Sources of the line items

The elements that state each amount, in order of preference: a filing's value is the first line of which every element
is in that filing for that period, among the lines that hold for the filer's [industry](#industries). `[+ …]` is added
and `[- …]` taken off where present.
"""


def render(sources: Mapping[str, str]) -> str:
    """Render the page.

    Args:
        sources: text by item, as in column `sources` of table `line_items`: one amount per line, `name: source |
            source`, in order of preference, each `elements (industries; reason)`; items that are calculated from other
            items are absent.

    Returns:
        Markdown that ends with a line feed; the same schema and sources give the same page.
    """
    parts = [HEAD, _overview(), _line_items(), *map(_table, views.PUBLISHED), FILES, *map(_table, filed.FILES), SOURCES]
    parts += [_sources(item.name, sources[item.name]) for item in LINE_ITEMS if sources.get(item.name)]
    parts += [_gaps()]
    return "\n".join(parts)


def _overview() -> str:
    rows = ((f"[{table.name}](#{table.name})", table.description, _named(table.key)) for table in views.PUBLISHED)
    return "## Tables\n\n" + _grid(("table", "holds", "key"), rows)


def _line_items() -> str:
    rows = ((f"`{item.name}`", item.unit, item.meaning, item.formula) for item in LINE_ITEMS)
    return "## The line items\n\n" + _grid(("item", "unit", "meaning", "formula"), rows)


def _table(table: Table) -> str:
    rows = (
        (f"`{column.name}`", column.type, column.unit, "" if column.required else "yes", column.description)
        for column in table.columns
    )
    grid = _grid(("column", "type", "unit", "nullable", "meaning"), rows)
    return f"## {table.name}\n\n{table.description} Key: {_named(table.key)}.\n\n{grid}"


def _sources(item: str, text: str) -> str:
    return f"### {item}\n\n" + "\n".join(_amount(*line.split(": ", 1)) for line in text.splitlines())


def _amount(name: str, sources: str) -> str:
    rows = ((str(place), *_source(source)) for place, source in enumerate(sources.split(" | "), 1))
    return f"`{name}`\n\n{_grid(('', 'elements', 'industries', 'why'), rows)}"


def _source(text: str) -> tuple[str, str, str]:
    """Split `elements (industries; reason)` into its three parts."""
    elements, _, rest = text.partition(" (")
    industries, _, why = rest.removesuffix(")").partition("; ")
    return f"`{elements}`", industries, why


def _gaps() -> str:
    rows = ((f"`{code}`", ", ".join(gap.items), gap.meaning) for code, gap in vocabulary.GAPS.items())
    return "## Reasons of gaps\n\n" + _grid(("reason", "items", "meaning"), rows)


def _named(columns: Sequence[str]) -> str:
    return ", ".join(f"`{column}`" for column in columns)


def _grid(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A Markdown table; bars in cells are escaped, because they would end the cell."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
