"""The page `/dictionary`: the data dictionary for users of the values.

Belongs here: the entries of the page. Does not: the text about conventions, splits and revisions
(templates/dictionary.md), the meanings of items and codes (warehouse.contract.line_items, vocabulary, reasons), the
elements (table `line_items` of the build).
"""

from collections.abc import Iterator, Mapping

from serve.site.text.figures import TITLES
from serve.site.text.markdown import Document, write
from warehouse.contract.line_items import LINE_ITEMS, LineItem
from warehouse.contract.reasons import NO_FAIR_VALUE
from warehouse.contract.vocabulary import CAUSES, FLAGS, GAPS, METHODS

SUMMARY = "What each value means, how it is calculated from filings, and why it may be missing or change."


def document(sources: Mapping[str, str]) -> Document:
    """The page; `sources` is the text of column `sources` of table `line_items`, by item."""
    text = write(
        "dictionary.md",
        summary=SUMMARY,
        items=[_item(item, sources.get(item.name, "")) for item in LINE_ITEMS],
        gaps={code: gap.meaning for code, gap in GAPS.items()},
        causes=CAUSES,
        methods=METHODS,
        flags=FLAGS,
        no_fair_value=NO_FAIR_VALUE,
    )
    return Document(text, contents=())


def _item(item: LineItem, sources: str) -> dict[str, object]:
    amounts = [line.split(": ", 1) for line in sources.splitlines()]
    return {
        "name": item.name,
        "title": TITLES[item.name],
        "unit": item.unit,
        "is_served": item.is_served,
        "meaning": item.meaning,
        "formula": item.formula,
        "reasons": [code for code, gap in GAPS.items() if item.name in gap.items],
        "amounts": [(name.replace("_", " ").capitalize(), list(_lines(stated))) for name, stated in amounts],
    }


def _lines(stated: str) -> Iterator[tuple[str, str, str]]:
    """For each source: its elements, the industries that it applies to, and the reason for it."""
    for source in stated.split(" | "):
        elements, _, rest = source.partition(" (")
        industries, _, why = rest.removesuffix(")").partition("; ")
        yield elements, industries, why
