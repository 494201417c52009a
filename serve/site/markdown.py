"""Rendering of documents as Markdown, for programs.

Belongs here: the Markdown of each kind of block. Does not: the content of pages, their HTML (templates/document.html).
"""

from collections.abc import Callable
from typing import Any

from serve.site.content import (
    Block,
    Cards,
    Code,
    Document,
    Drawing,
    Examples,
    Folded,
    Grid,
    Heading,
    Legend,
    Paragraph,
    Points,
)
from serve.site.pages import DISCLAIMER


def render(document: Document, site: str, path: str) -> str:
    """A document as Markdown that ends with a line feed; links within the site become absolute.

    Args:
        document: the document.
        site: public address of the pages.
        path: path of the HTML page, which has the anchors.
    """
    parts = [f"# {document.title}", document.summary, *map(_block, document.blocks), f"---\n\n{DISCLAIMER}"]
    text = "\n\n".join(part for part in parts if part)
    return text.replace("](/", f"]({site}/").replace("](#", f"]({site}{path}#") + "\n"


def _block(block: Block) -> str:
    return WRITTEN.get(type(block), _nothing)(block)


def _nothing(_: Block) -> str:
    """Empty: a block that only works in a browser, such as a search field."""
    return ""


def _heading(block: Heading) -> str:
    return f"{'#' * block.level} {block.text}"


def _paragraph(block: Paragraph) -> str:
    return block.text


def _points(block: Points) -> str:
    return "\n".join(f"- {point}" for point in block.points)


def _grid(block: Grid) -> str:
    rules = ["---:" if number in block.numbers else "---" for number in range(len(block.head))]
    lines = [block.head, rules, *block.rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{block.caption}:\n\n{table}"


def _code(block: Code) -> str:
    return f"{block.title}:\n\n```{block.language}\n{block.text}\n```"


def _examples(block: Examples) -> str:
    return "\n\n".join(map(_code, block.codes))


def _drawing(block: Drawing) -> str:
    return block.says


def _folded(block: Folded) -> str:
    return "\n\n".join([f"**{block.title}**", *map(_block, block.blocks)])


def _cards(block: Cards) -> str:
    return "\n\n".join(_block(inner) for card in block.cards for inner in card)


def _legend(block: Legend) -> str:
    """The meanings without the marks; they also explain the tables."""
    return "\n".join(f"- {meaning}" for _, meaning in block.marks)


WRITTEN: dict[type, Callable[[Any], str]] = {
    Heading: _heading,
    Paragraph: _paragraph,
    Points: _points,
    Grid: _grid,
    Code: _code,
    Examples: _examples,
    Drawing: _drawing,
    Folded: _folded,
    Cards: _cards,
    Legend: _legend,
}
