"""The content of a page independent of its format: blocks of text, tables, code and drawings.

Belongs here: the kinds of block, and the inline markup of text. Does not: HTML (the templates), Markdown (markdown),
the text of any page.

Text may use four marks of Markdown: `code`, **strong**, [a link](/path), and a backslash that escapes a character. Text
from data is passed through `plain`, which escapes all marks.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup, escape

SIGNS = re.compile(r"([\\`*_\[\]<>&|#~!])")
ADDRESS = r"(?:https?://|/|#)[^\s)\\]*"  # no javascript: addresses, even if the data contains some
MARKED = re.compile(
    r"\\(?P<sign>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>(?:\\.|[^\\])+?)\*\*"
    rf"|\[(?P<text>(?:\\.|[^\]\\])+)\]\((?P<address>{ADDRESS})\)"
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with an anchor for links; `short` is its text in the table of contents."""

    kind: ClassVar[str] = "heading"
    text: str
    anchor: str
    level: int = 2
    short: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """A bulleted list."""

    kind: ClassVar[str] = "points"
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: `numbers` are the right-aligned columns, `anchors` the link targets, one per row."""

    kind: ClassVar[str] = "grid"
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """A code block; one with an anchor has a copy button."""

    kind: ClassVar[str] = "code"
    language: str
    text: str
    title: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Examples:
    """The same code in several languages; the first is shown, the others are folded."""

    kind: ClassVar[str] = "examples"
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing, and a sentence `says` for screen readers and Markdown; all its data is in the table after it."""

    kind: ClassVar[str] = "drawing"
    svg: Markup
    says: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are collapsed until a reader opens them."""

    kind: ClassVar[str] = "folded"
    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards in a grid; each is a tuple of blocks that starts with a heading."""

    kind: ClassVar[str] = "cards"
    cards: tuple[tuple["Block", ...], ...]


@dataclass(frozen=True, slots=True)
class Legend:
    """A legend: each mark of the drawings with its meaning."""

    kind: ClassVar[str] = "legend"
    marks: tuple[tuple[Markup, str], ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A search field for the page's list, with the current search text."""

    kind: ClassVar[str] = "search"
    label: str
    name: str
    value: str


Block = Heading | Paragraph | Points | Grid | Code | Examples | Drawing | Folded | Cards | Legend | Search


@dataclass(frozen=True, slots=True)
class Document:
    """A page: title, summary in one sentence, and blocks; `has_contents` adds a table of contents."""

    title: str
    summary: str
    blocks: tuple[Block, ...]
    has_contents: bool = False

    @property
    def contents(self) -> tuple[Heading, ...]:
        """The headings of the table of contents."""
        wanted = (block for block in self.blocks if isinstance(block, Heading) and block.level == 2)
        return tuple(wanted) if self.has_contents else ()


def plain(text: str) -> str:
    """Text from data with all marks escaped."""
    return SIGNS.sub(r"\\\1", " ".join(text.split()))


def link(text: str, address: str) -> str:
    """A link; only the text if the address is not one of the web or of this site."""
    safe = address.replace("(", "%28").replace(")", "%29")
    return f"[{text}]({safe})" if re.fullmatch(ADDRESS, safe) else text


def inline(text: str, root: str = "") -> Markup:
    """A line of text as HTML; `root` is prepended to every path in a link."""
    parts, end = [], 0
    for mark in MARKED.finditer(text):
        parts += [escape(text[end : mark.start()]), _marked(mark, root)]
        end = mark.end()
    return Markup("").join([*parts, escape(text[end:])])


def bare(text: str) -> str:
    """A line of text without its marks, for labels and titles."""
    return str(inline(text).striptags())


def _marked(mark: re.Match[str], root: str) -> Markup:
    if mark["sign"]:
        return escape(mark["sign"])
    if mark["code"]:
        return Markup("<code>{}</code>").format(mark["code"])
    if mark["strong"]:
        return Markup("<strong>{}</strong>").format(inline(mark["strong"], root))
    address = root + mark["address"] if mark["address"].startswith("/") else mark["address"]
    return Markup('<a href="{}">{}</a>').format(address, inline(mark["text"], root))
