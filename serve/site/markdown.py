"""The text of pages: Markdown templates, and the marks of what is filled in.

Belongs here: escaping, the templates, and what a page has besides its text. Does not: the text of any page (templates,
page modules), its HTML (rendering).

What a template fills in is escaped, so that text from data is never a mark. Text that has marks of its own is of the
type Markdown: the filters `code`, `link` and `marked` make it. The filter `named` shows the name of a company.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from serve import names

TEMPLATES = Path(__file__).parent / "templates"
SIGNS = re.compile(r"([\\`*_\[\]<>&|#~!]|^[-+](?=\s|$)|^\d+(?=[.)](?:\s|$)))")
ADDRESS = re.compile(r"(?:https?://|/|#)[^\s\\]*")  # no javascript: addresses, even if the data contains some
EMPTY_LINES = re.compile(r"\n{3,}")


class Markdown(str):
    """Text whose marks are meant."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of one of several values, which may be left open; each option is a value with its text."""

    label: str
    name: str
    value: str
    all: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that a figure of the list must have at least and at most: the names of both fields, and their values."""

    label: str
    names: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Search:
    """A search field for the page's list, with the current text; choices, bounds, and values that stay as they are.

    `completes` says what the field takes: `one` company, `many`, or nothing that can be completed.
    """

    label: str
    name: str
    value: str
    button: str = "Search"
    choices: tuple[Choice, ...] = ()
    bounds: tuple[Bound, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    completes: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """The Markdown of a page, and what only a browser shows.

    text: a heading of the first level, a paragraph, and other blocks (see rendering).
    contents: a table of contents, if not None; with shorter texts of some headings, after their anchors.
    drawings: each drawing with its name: the address of an image, or the anchor of the first of several programs.
    marks: the mark of each item of the first list.
    styles: how the list under a heading of the second level looks, after its anchor (rendering.STYLES).
    cards: the tag of the headings (h2 or h3) whose parts are cards beside each other, to the end of the page.
    assets: static files that only this page loads.
    by_query: the query of the address chooses what the page shows.
    search: a search field.
    turns: texts and addresses of the pages before and after this one, which a browser also shows below the text.
    watch: the symbol and the CIK of the company whose star the page has; empty if its rows have stars; None if
        nothing has.
    address: where a browser finds the page, if it asked for it in other words.
    """

    text: str
    contents: tuple[tuple[str, str], ...] | None = None
    drawings: tuple[tuple[str, Markup], ...] = ()
    marks: tuple[Markup, ...] = ()
    styles: tuple[tuple[str, str], ...] = ()
    cards: str = ""
    assets: tuple[str, ...] = ()
    by_query: bool = False
    search: Search | None = None
    turns: tuple[tuple[str, str], ...] = ()
    watch: tuple[str, str] | None = None
    address: str = ""


def write(template: str, **values: object) -> str:
    """Fill in a Markdown template, without its superfluous empty lines."""
    return EMPTY_LINES.sub("\n\n", _environment().get_template(template).render(values))


def plain(value: object) -> Markdown:
    """A value as one line of text without marks."""
    return value if isinstance(value, Markdown) else Markdown(SIGNS.sub(_escaped, " ".join(str(value).split())))


def code(text: str) -> Markdown:
    """Text as code."""
    return Markdown(f"`{text.replace('`', chr(39))}`")


def link(text: object, address: str) -> Markdown:
    """A link; only the text if the address is not one of the web or of this site."""
    safe = address.replace("(", "%28").replace(")", "%29")
    return Markdown(f"[{plain(text)}]({safe})") if ADDRESS.fullmatch(safe) else plain(text)


def quoted(text: str) -> Markdown:
    """Blocks as a quotation."""
    return Markdown("".join(f"> {line}".rstrip() + "\n" for line in text.strip("\n").split("\n")))


def _escaped(sign: re.Match[str]) -> str:
    """A backslash before the sign; after the number, for a text that starts like a numbered list."""
    return f"{sign[0]}\\" if sign[0][0].isdigit() else f"\\{sign[0]}"


@cache
def _environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        finalize=plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # {# starts an anchor
        comment_start_string="{##",
        comment_end_string="##}",
    )
    templates.filters |= {"named": names.shown, "code": code, "link": link, "marked": Markdown, "quoted": quoted}
    return templates
