"""The command that writes docs/data-dictionary.md and docs/rules.md: `python -m pipelines.tables.dictionary`.

Belongs here: combining the schema with the tables of the rules. Does not: the layout of the schema on the page
(warehouse.contract.dictionary), the layout of the rules (rule_page), elements and industries (normalize).
"""

from collections.abc import Iterable
from pathlib import Path

from pipelines.normalize.elements import describe_sources
from pipelines.normalize.industry.classification import WITHOUT_MEANING
from pipelines.normalize.industry.table import TABLE, IndustryRow
from pipelines.normalize.rules import FILES, REGISTRY
from pipelines.tables import rule_page
from warehouse.contract import dictionary
from warehouse.contract.line_items import ITEM_NAMES

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "data-dictionary.md"
RULES_PAGE = DOCS / "rules.md"

INDUSTRIES = """
## Industries

The first line that holds for a filing gives its filer's industry. Elements count if the filing or one of the year
before it uses them, so that later filings change nothing. Codes are SIC codes.

| industry | codes | elements | unless | rule |
| --- | --- | --- | --- | --- |
"""

WITHOUT = """
Items that mean nothing in an industry; the reasons are [those of gaps](#reasons-of-gaps).

| industry | item | reason |
| --- | --- | --- |
"""


def page() -> str:
    """The page of the data dictionary, from the present schema and rules."""
    sections = dictionary.render({item: describe_sources(item) for item in ITEM_NAMES})
    without = (f"| {industry} | `{item}` | `{reason}` |\n" for industry, item, reason, _ in WITHOUT_MEANING.iter_rows())
    return f"{sections}{INDUSTRIES}{''.join(map(_row, TABLE))}{WITHOUT}{''.join(without)}"


def _row(row: IndustryRow) -> str:
    codes = ", ".join({"0000": "none", "0000-9999": "any"}.get(span, span) for span in row.codes)
    uses = f"{row.at_least} of {_listed(row.uses)}" if row.uses else ""
    return f"| {row.industry} | {codes} | {uses} | {_listed(row.unless)} | `{row.rule}`: {row.statement} |\n"


def _listed(elements: Iterable[str]) -> str:
    return ", ".join(f"`{element}`" for element in elements)


def rules() -> str:
    """The page of the rules, from the present registry."""
    return rule_page.page(REGISTRY, FILES, rule_page.SINGLE_COMPANY)


def main(folder: Path = DOCS) -> None:
    """Write both pages."""
    for name, text in ((PAGE.name, page()), (RULES_PAGE.name, rules())):
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
