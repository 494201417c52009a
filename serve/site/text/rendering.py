"""Markdown as HTML: every page for people is made from the text that programs read.

Belongs here: the Markdown that pages may use, and its HTML. Does not: the text of any page, the frame around it
(templates/document.html).

Besides headings, paragraphs, lists, tables, fenced code, `code`, **strong**, *emphasis* and links, the text may have:

    ## Heading {#anchor}        a heading with an anchor for links
    Caption {#prefix-}:         directly before a table: its caption; each row gets an anchor, made of the prefix and
                                the text of its first cell
    | Cell {#anchor} |          the first cell of a row may end with an anchor of the row
    Title {#anchor}:            directly before code: its title, with a button that copies the code; of several
                                programs with anchors in a row, a reader chooses one
    > **Title**                 a quotation with a strong first paragraph is folded; any other quotation is a notice
    *Text*                      a paragraph that is all emphasized is small
    | Heading ↓ |               the table is sorted by this column, in descending order (↑: ascending)
    ![Description](#name)       a drawing that the page makes itself; a screen reader reads the description. At the end
                                of a cell it is a button with its own name

`{#...}` may be left out. HTML is text, never an element, and only addresses of the web, of this site and of this page
become links.
"""

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from serve.site.text import tables
from serve.site.text.markdown import ADDRESS, Document

ANCHOR = re.compile(r" \{#([^\s{}\\]*)\}$")
DRAWING = re.compile(r"(?: |^)!\[[^\]]*\]\(#(?P<name>[^\s()]+)\)$")
RULES = (
    *("heading", "table", "fence", "list", "blockquote"),
    *("escape", "backticks", "emphasis", "link", "image", "newline"),
)
KEPT = 32  # rendered pages in the cache; a long page takes 10 to 50 ms
PARAGRAPH = 3  # tokens of a paragraph or heading: start, text, end

COPY = Markup('<button class="button quiet" type="button" data-copy="#{}" hidden>Copy</button>')
CODE = Markup(
    '<div class="code">\n<div class="code-title"><span>{}</span>{}</div>\n'
    '<pre tabindex="0" role="group" aria-label="{}"><code{}>{}</code></pre>\n</div>\n'
)
TABS = Markup('<fieldset class="tabs">\n<legend class="unseen">Language of the example</legend>\n{}')
TAB = Markup('<input type="radio" name="{0}" id="{1}"{2}><label for="{1}">{3}</label>\n')

Env = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """A page as HTML: title, first paragraph, other blocks; and the anchors and texts of its main headings."""

    title: Markup
    summary: Markup
    body: Markup
    contents: tuple[tuple[str, Markup], ...]


@lru_cache(KEPT)
def page(document: Document, root: str = "") -> Page:
    """Render a page; `root` is the prefix of every path in a link."""
    markdown, env = _markdown(), {"root": root, "document": document}
    tokens = markdown.parse(document.text, env)

    def html(some: Sequence[Token]) -> Markup:
        return Markup(markdown.renderer.render(some, markdown.options, env))

    rest = tokens[2 * PARAGRAPH :]
    main = [place for place, token in enumerate(rest) if token.type == "heading_open" and token.tag == "h2"]
    contents = []
    for place in main if document.contents is not None else ():
        anchor = str(rest[place].attrGet("id"))
        short = dict(document.contents or ()).get(anchor)
        contents.append((anchor, escape(short) if short else html(rest[place + 1 : place + 2])))
    if document.cards:
        rest = list(_cards(rest, document.cards))
    title, summary = (html(tokens[place : place + 1]) for place in (1, PARAGRAPH + 1))
    return Page(title, summary, html(rest), tuple(contents))


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a list: its class and tag; for items with a term and a text, their tags and the item's class."""

    name: str
    tag: str
    term: str = ""
    text: str = ""
    item: str = ""


STYLES = {
    "figures": Style("figures wide", "dl", "dt", "dd"),
    "terms": Style("terms wide", "dl", "dt", "dd"),
    "choices": Style("choices wide", "dl", "dt", "dd"),
    "cards": Style("grid", "div", "h3", "p", "card"),
    "steps": Style("steps", "ol"),
    "rule": Style("rule", "dl", "dt", "dd"),
}


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("zero", renderer_cls=Html).enable(RULES)
    markdown.validateLink = _is_address  # type: ignore[method-assign]
    markdown.normalizeLink = _as_it_is  # type: ignore[method-assign]
    markdown.block.ruler.at("table", tables.read, {"alt": ["paragraph"]})
    for rule in (_anchors, _captions, _tabs, _folds, _asides, _drawings, _legend, _lists):
        markdown.core.ruler.push(rule.__name__, rule)
    return markdown


def _is_address(url: str) -> bool:
    return ADDRESS.fullmatch(url) is not None


def _as_it_is(url: str) -> str:
    """Leave an address unchanged: it is already encoded, and encoding it again would take a fifth of a page's time."""
    return url


# --- From CommonMark to the pages' own Markdown -----------------------------------------------------------------------


def _anchors(state: StateCore) -> None:
    """Set the anchors of headings."""
    for place, token in enumerate(state.tokens):
        if token.type == "heading_open" and (anchor := _taken(state.tokens[place + 1])) is not None:
            token.attrSet("id", anchor)


def _captions(state: StateCore) -> None:
    """Make a paragraph with a colon at its end, directly before a table or code, the caption of that block."""
    kept: list[Token] = []
    for token in state.tokens:
        is_block = token.type in ("table", "fence")
        if is_block and len(kept) >= PARAGRAPH and kept[-1].type == "paragraph_close" and _without_colon(kept[-2]):
            token.meta |= {"anchor": _taken(kept[-2]), "caption": kept[-2]}
            del kept[-PARAGRAPH:]
        kept.append(token)
    state.tokens = kept


def _tabs(state: StateCore) -> None:
    """Make several programs with anchors in a row alternatives; the drawing of the first anchor follows them."""
    by_name, tokens = dict(state.env["document"].drawings), list[Token]()
    for is_program, run in groupby(state.tokens, key=_is_program):
        some = list(run)
        if is_program and len(some) > 1:
            start = Token("tabs_open", "fieldset", 1, block=True, meta={"programs": some})
            drawn = Token("drawing", "", 0, content=by_name.get(some[0].meta["anchor"], Markup()))
            some = [start, *some, Token("tabs_close", "fieldset", -1, block=True), drawn]
        tokens += some
    state.tokens = tokens


def _is_program(token: Token) -> bool:
    return token.type == "fence" and bool(token.meta.get("anchor"))


def _folds(state: StateCore) -> None:
    """Fold quotations that start with a strong paragraph; make any other quotation a notice."""
    are_folded: list[bool] = []
    for place, token in enumerate(state.tokens):
        if token.type == "blockquote_open":
            are_folded.append(_fold(token, *state.tokens[place + 1 : place + 1 + PARAGRAPH]))
            if not are_folded[-1]:
                token.tag = "div"
                token.attrSet("class", "notice warning")
        elif token.type == "blockquote_close":
            token.tag = "details" if are_folded.pop() else "div"


def _fold(quotation: Token, start: Token, *rest: Token) -> bool:
    """Fold a quotation if it starts with a strong paragraph, which is its title."""
    if start.type != "paragraph_open":
        return False
    text, end, *_ = rest
    if (title := _within(text, "strong")) is None:
        return False
    quotation.tag, start.tag, end.tag, text.children = "details", "summary", "summary", title
    return True


def _asides(state: StateCore) -> None:
    """Make paragraphs small that are all emphasized."""
    for place, token in enumerate(state.tokens):
        if token.type == "paragraph_open" and (inner := _within(state.tokens[place + 1], "em")) is not None:
            token.attrSet("class", "muted small")
            state.tokens[place + 1].children = inner


def _drawings(state: StateCore) -> None:
    """Replace an image by a drawing of the page, and a sentence for screen readers; no image is ever loaded.

    In a table cell, whose text is parsed separately, an image is shown as its text.
    """
    by_name: Mapping[str, Markup] = dict(state.env["document"].drawings)
    tokens: list[Token] = []
    for token in state.tokens:
        children = token.children or []
        if tokens and len(children) == 1 and children[0].type == "image":
            drawn = by_name.get(str(children[0].attrGet("src")).removeprefix("#"), Markup())
            tokens[-1].attrSet("class", "unseen")
            tokens.insert(-1, Token("drawing", "", 0, content=drawn))
            token.children = children[0].children
        tokens.append(token)
    state.tokens = tokens


def _legend(state: StateCore) -> None:
    """Add marks to the items of the first list, if the page has any."""
    marks, is_within = list(state.env["document"].marks), False
    for token in state.tokens:
        if token.type == "bullet_list_open" and marks and not is_within:
            token.attrSet("class", "legend")
            is_within = True
        elif is_within and token.type == "inline" and token.level > 1 and marks:
            before = [Token("drawing", "", 0, content=marks.pop(0)), Token("span_open", "span", 1)]
            token.children = [*before, *(token.children or []), Token("span_close", "span", -1)]


def _lists(state: StateCore) -> None:
    """Style the lists under headings that have a style."""
    styles, style, is_inside = dict(state.env["document"].styles), None, False
    tokens: list[Token] = []
    for token in state.tokens:
        if token.type == "heading_open":
            style = STYLES.get(styles.get(str(token.attrGet("id")), ""))
        elif style and token.tag in ("ul", "ol"):
            token.tag, is_inside = style.tag, token.nesting == 1
            token.attrs = {"class": style.name} if is_inside else {}
        elif style and token.tag == "li" and style.term:
            token.tag, token.attrs = "div", {"class": style.item} if style.item and token.nesting == 1 else {}
        elif style and is_inside and style.term and token.type == "inline":
            tokens += _term(style, token)
            continue
        tokens.append(token)
    state.tokens = tokens


def _term(style: Style, text: Token) -> Iterator[Token]:
    """Split an item into a term (its strong or code part) and the text after it."""
    children = _shown(text)
    after = next(place for place, child in enumerate(children) if child.type in ("strong_close", "code_inline")) + 1
    term = [child for child in children[:after] if not child.type.startswith("strong")]
    for tag, part in ((style.term, term), (style.text, children[after:])):
        part[0].content = part[0].content.lstrip(": ")
        yield Token(f"{tag}_open", tag, 1, block=True)
        yield Token("inline", "", 0, children=part)
        yield Token(f"{tag}_close", tag, -1, block=True)


def _cards(tokens: Sequence[Token], tag: str) -> Iterator[Token]:
    """The tokens, with each part under a heading of this tag as a card."""
    below = [place for place, token in enumerate(tokens) if token.type == "heading_open" and token.tag == tag]
    yield from tokens[: below[0]] if below else tokens
    yield Token("cards_open", "div", 1, {"class": "charts"}, block=True)
    for place, end in pairwise([*below, len(tokens)]):
        label = str(tokens[place].attrGet("id"))
        yield Token("card_open", "section", 1, {"class": "chart", "aria-labelledby": label}, block=True)
        yield from tokens[place:end]
        yield Token("card_close", "section", -1, block=True)
    yield Token("cards_close", "div", -1, block=True)


def _without_colon(text: Token) -> bool:
    """Remove the colon from the end of a text; False if there is none."""
    return _cut(text, ":") if text.content.endswith(":") else False


def _shown(text: Token) -> list[Token]:
    """The parts of a text that are not empty."""
    return [child for child in text.children or [] if child.type != "text" or child.content]


def _within(text: Token, mark: str) -> list[Token] | None:
    """The parts of a text that is completely within one mark; None if it is not."""
    inner = _shown(text)
    kinds = [child.type for child in inner]
    is_within = kinds[:1] == [f"{mark}_open"] and kinds.index(f"{mark}_close") == len(kinds) - 1
    return inner[1:-1] if is_within else None


def _taken(text: Token) -> str | None:
    """Remove the anchor from the end of a text, and return it; None if there is none. In data # is escaped."""
    found = ANCHOR.search(text.content)
    if not found:
        return None
    _cut(text, found[0])
    return found[1]


def _cut(text: Token, end: str) -> bool:
    """Remove unmarked characters from the end of a text."""
    text.content = text.content.removesuffix(end)
    last = (text.children or [])[-1]
    last.content = last.content.removesuffix(end)
    return True


def _plain(text: Token) -> str:
    """A text without its marks."""
    return "".join(child.content for child in text.children or [])


# --- HTML -------------------------------------------------------------------------------------------------------------


class Html(RendererHTML):
    """The HTML of the blocks that markdown-it does not write as the pages need it."""

    def table(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """A table that scrolls in its own box, which the keyboard can reach."""
        meta, label, caption = tokens[place].meta, "", ""
        prefix = meta.get("anchor")
        if "caption" in meta:
            label = Markup(' aria-label="{}"').format(_plain(meta["caption"]))
            caption = f"<caption>{self.renderInline(meta['caption'].children, options, env)}</caption>\n"

        def parsed(text: str) -> Token:
            return _markdown().parseInline(text, env)[0]

        drawings: Mapping[str, Markup] = dict(env["document"].drawings)

        def cell(text: str) -> str:
            if text.endswith(")") and (found := DRAWING.search(text)) and found["name"] in drawings:
                return f"{cell(text[: found.start()])} {drawings[found['name']]}"
            text = ANCHOR.sub("", text) if text.endswith("}") else text
            html = tables.simple(text, env["root"])
            return self.renderInline(parsed(text).children or [], options, env) if html is None else html

        def row(first: str) -> str:
            if first.endswith("}") and (own := ANCHOR.search(first)):
                return Markup('<tr id="{}">').format(own[1])
            return "<tr>" if prefix is None else Markup('<tr id="{}{}">').format(prefix, _plain(parsed(first)))

        rows = "".join(tables.html(meta["table"], cell, row))
        return f'<div class="scroll" role="region" tabindex="0"{label}>\n<table>\n{caption}{rows}</table>\n</div>\n'

    def fence(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """Code with its title, and with a button to copy it if it has an anchor."""
        token = tokens[place]
        title, anchor = _plain(token.meta["caption"]) if token.meta else "Code", token.meta.get("anchor")
        button = COPY.format(anchor) if anchor else ""
        target = Markup(' id="{}"').format(anchor) if anchor else ""
        return CODE.format(title, button, title, target, token.content.removesuffix("\n"))

    def tabs_open(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """The start of alternative programs; works without a script, because the style sheet hides the others."""
        anchors = [(token.meta["anchor"], _plain(token.meta["caption"])) for token in tokens[place].meta["programs"]]
        return TABS.format(
            Markup("").join(
                TAB.format(f"{anchors[0][0]}-tabs", f"{anchor}-tab", Markup("" if number else " checked"), title)
                for number, (anchor, title) in enumerate(anchors)
            )
        )

    def tabs_close(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """The end of the programs."""
        return "</fieldset>\n"

    def text(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """Text in its printed form (tables.printed)."""
        return tables.printed(tokens[place].content)

    def link_open(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """The start of a link, with the path prefix of the site."""
        return tables.link(str(tokens[place].attrGet("href")), env["root"])

    def image(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """The text of an image within other text."""
        return str(escape(_plain(tokens[place])))

    def drawing(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
        """A drawing of the page."""
        return tokens[place].content
