"""The text of pages: Markdown templates, and escaping of the values that are filled in.

Belongs here: escaping, the templates, and the parts of a page besides its text. Does not: the text of any page
(templates, page modules), its HTML (rendering).

Values in a template are escaped, so that text from data never acts as Markdown. Text with intended Markdown has the
type Markdown: the filters `code`, `link` and `marked` make it. The filter `named` shows the name of a company.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from serve import names

TEMPLATES = Path(__file__).parents[1] / "templates"
SIGNS = re.compile(r"([\\`*_\[\]<>&|#~!]|^[-+](?=\s|$)|^\d+(?=[.)](?:\s|$)))")
ADDRESS = re.compile(r"(?:https?://|/|#)[^\s\\]*")  # excludes javascript: addresses, even if the data contain one
EMPTY_LINES = re.compile(r"\n{3,}")


class Markdown(str):
    """Text that is already Markdown and is not escaped."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A select field with several options, which may be left empty; each option is a value with its text."""

    label: str
    name: str
    value: str
    all: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """The smallest and the largest value of a figure as form fields: label, names and values of both fields."""

    label: str
    names: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Search:
    """A search form for the page's list: its text field, choices, bounds, and hidden values that are kept.

    `completes` says whether the field completes `one` company or `many`; empty: no completion.
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
    """The Markdown of a page, and additions for browsers.

    text: a heading of the first level, a paragraph, and other blocks (see rendering).
    contents: a table of contents, if not None; it maps anchors of headings to shorter texts.
    drawings: each drawing with its name: the address of an image, or the anchor of the first of several programs.
    marks: the mark of each item of the first list.
    styles: the look of the list under a heading of the second level, by its anchor (rendering.STYLES).
    cards: the tag of the headings (h2 or h3) whose parts are shown as cards, up to the end of the page.
    assets: static files that only this page loads.
    by_query: whether the content depends on the query of the address.
    search: a search form.
    turns: texts and addresses of the pages before and after this one, which a browser also shows below the text.
    watch: the symbol and the CIK of the company whose star the page has; empty if its rows have stars; None without
        stars.
    address: the address to which a browser is redirected; empty if the requested address is right.
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
    """Fill in a Markdown template, and remove superfluous empty lines."""
    return EMPTY_LINES.sub("\n\n", _environment().get_template(template).render(values))


def plain(value: object) -> Markdown:
    """A value as one line of escaped text."""
    return value if isinstance(value, Markdown) else Markdown(SIGNS.sub(_escaped, " ".join(str(value).split())))


def code(text: str) -> Markdown:
    """Text as code."""
    return Markdown(f"`{text.replace('`', chr(39))}`")


def link(text: object, address: str) -> Markdown:
    """A link; only the text if the address is not on the web or on this site."""
    safe = address.replace("(", "%28").replace(")", "%29")
    return Markdown(f"[{plain(text)}]({safe})") if ADDRESS.fullmatch(safe) else plain(text)


def quoted(text: str) -> Markdown:
    """Blocks as a quotation."""
    return Markdown("".join(f"> {line}".rstrip() + "\n" for line in text.strip("\n").split("\n")))


def _escaped(sign: re.Match[str]) -> str:
    """Escape with a backslash: before the sign, or after the number of a text that looks like a numbered list."""
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
        # comments must not start with {#, which starts an anchor
        comment_start_string="{##",
        comment_end_string="##}",
    )
    templates.filters |= {"named": names.shown, "code": code, "link": link, "marked": Markdown, "quoted": quoted}
    return templates
