"""The command that writes docs/data-dictionary.md: `python -m pipelines.dictionary`.

Belongs here: bringing the schema and the rules' tables together. Does not: the layout of the schema on the page
(warehouse.dictionary), elements (normalize.concepts), industries (normalize.industries).
"""

from collections.abc import Iterable
from pathlib import Path

from pipelines.normalize.elements import describe_sources
from pipelines.normalize.industry.classification import ANY_CODE, RULES, TELLS_NOTHING, WITHOUT_MEANING, Rule
from warehouse import dictionary, schema

PAGE = Path(__file__).resolve().parent.parent / "docs" / "data-dictionary.md"

INDUSTRIES = """
## Industries

The first line that holds for a filing says its filer's industry; where none does it is general. Elements count that the
filing or one of the year before it uses, so that later filings change nothing. Codes are SIC codes.

| industry | codes | elements | unless | why |
| --- | --- | --- | --- | --- |
"""

WITHOUT = """
Items that mean nothing in an industry; the reasons are [those of gaps](#reasons-of-gaps).

| industry | item | reason |
| --- | --- | --- |
"""


def page() -> str:
    """The data dictionary as the schema and the rules are now."""
    told = dictionary.render({item: describe_sources(item) for item in schema.ITEM_NAMES})
    without = (
        f"| {industry} | `{item}` | `{reason}` |\n"
        for industry, items in WITHOUT_MEANING.items()
        for item, reason in items.items()
    )
    return f"{told}{INDUSTRIES}{''.join(map(_rule, RULES))}{WITHOUT}{''.join(without)}"


def _rule(rule: Rule) -> str:
    uses = f"{rule.at_least} of {_listed(rule.uses)}" if rule.uses else ""
    return f"| {rule.industry} | {_codes(rule)} | {uses} | {_listed(rule.unless)} | {rule.why} |\n"


def _codes(rule: Rule) -> str:
    known = {ANY_CODE: "any", TELLS_NOTHING: "none, or one that tells nothing"}
    spans = (str(low) if low == high else f"{low}-{high}" for low, high in rule.codes)
    return known.get(rule.codes) or ", ".join(spans)


def _listed(elements: Iterable[str]) -> str:
    return ", ".join(f"`{element}`" for element in elements)


def main(path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
