"""What a page says, apart from how it looks: blocks of text, tables, code and drawings.

Belongs here: the kinds of block, and the few marks that a line of text may have. Does not: HTML (the templates),
Markdown (markdown), what any page says.

Text is written with four marks of Markdown: `code`, **strong**, [a link](/path) and a backslash before a sign that is
none. Whatever comes from data goes through `plain`, so that it has none of them.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup, escape

SIGNS = re.compile(r"([\\`*_\[\]<>&|#~!])")
ADDRESS = r"(?:https?://|/|#)[^\s)\\]*"  # nothing that runs, whatever stands in the data
MARKED = re.compile(
    r"\\(?P<sign>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>(?:\\.|[^\\])+?)\*\*"
    rf"|\[(?P<text>(?:\\.|[^\]\\])+)\]\((?P<address>{ADDRESS})\)"
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within the page, which links lead to; `short` is what a list of contents calls it."""

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
    """A list of points."""

    kind: ClassVar[str] = "points"
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: `numbers` are the columns that are set flush right, `anchors` what links lead to, one a row."""

    kind: ClassVar[str] = "grid"
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a language; those with an anchor can be copied with a button."""

    kind: ClassVar[str] = "code"
    language: str
    text: str
    title: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Examples:
    """The same in several languages, of which a reader wants one."""

    kind: ClassVar[str] = "examples"
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing and what it shows; it says no more than the table after it."""

    kind: ClassVar[str] = "drawing"
    svg: Markup
    says: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are looked up rather than read."""

    kind: ClassVar[str] = "folded"
    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards that may stand side by side, each with blocks of its own, of which the first is a heading."""

    kind: ClassVar[str] = "cards"
    cards: tuple[tuple["Block", ...], ...]


@dataclass(frozen=True, slots=True)
class Legend:
    """What the marks of drawings mean: each mark and its meaning."""

    kind: ClassVar[str] = "legend"
    marks: tuple[tuple[Markup, str], ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A field to search the page's list with, and what was looked for."""

    kind: ClassVar[str] = "search"
    label: str
    name: str
    value: str


Block = Heading | Paragraph | Points | Grid | Code | Examples | Drawing | Folded | Cards | Legend | Search


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its title, what it is in one sentence, and its blocks; `has_contents` asks for a list of its headings."""

    title: str
    summary: str
    blocks: tuple[Block, ...]
    has_contents: bool = False

    @property
    def contents(self) -> tuple[Heading, ...]:
        """The headings that are listed."""
        wanted = (block for block in self.blocks if isinstance(block, Heading) and block.level == 2)
        return tuple(wanted) if self.has_contents else ()


def plain(text: str) -> str:
    """Text from data, without marks."""
    return SIGNS.sub(r"\\\1", " ".join(text.split()))


def link(text: str, address: str) -> str:
    """A link; an address that leads nowhere on the web, or on this site, leaves the text alone."""
    safe = address.replace("(", "%28").replace(")", "%29")
    return f"[{text}]({safe})" if re.fullmatch(ADDRESS, safe) else text


def inline(text: str, root: str = "") -> Markup:
    """A line of text as HTML; `root` goes before every path in a link."""
    parts, end = [], 0
    for mark in MARKED.finditer(text):
        parts += [escape(text[end : mark.start()]), _marked(mark, root)]
        end = mark.end()
    return Markup("").join([*parts, escape(text[end:])])


def bare(text: str) -> str:
    """A line of text without its marks, for names and titles."""
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
