"""Tables of a page's Markdown, parsed and rendered row by row.

Belongs here: the lines of a table, its HTML, and the HTML of simple text. Does not: any other block (rendering).

markdown-it would make three tokens of each cell and write them one by one, which takes two thirds of the time of a page
with a long table.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from markdown_it.rules_block import StateBlock
from markupsafe import escape

from serve.site.text.figures import moment, typeset

DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d\d-[KQF]\b")
"""A day, or a form like 10-K: browsers would break the line after a hyphen."""
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
PLAIN = r"[^\\`*_\[\]!\n]"
LINK = rf"\[(?P<linked>{PLAIN}+)\]\((?P<address>[/#][^\\&<>\"'()\s]*)\)"
SIMPLE = re.compile(
    rf"(?P<text>{PLAIN}*)|(?:{LINK}(?P<space> (?=\*)|$))?(?:\*(?P<emphasized>(?!\s){PLAIN}+(?<!\s))\*)?"
)
"""Text without marks, a link, emphasized text, or a link and emphasized text: nearly all cells of a table."""
DIVIDER = re.compile(r"\|([ \t]*:?-+:?[ \t]*\|)+[ \t]*")
BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
ORDERS = {"↑": ' aria-sort="ascending"', "↓": ' aria-sort="descending"'}
KINDS = {True: ' class="num"', False: ""}
"""The class of a column with numbers; a class, because the content policy of the pages forbids inline styles."""


@dataclass(frozen=True, slots=True)
class Table:
    """The texts of a table's cells, and which columns have numbers."""

    head: Sequence[str]
    are_numbers: Sequence[bool]
    body: Sequence[Sequence[str]]


def read(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A rule of markdown-it that replaces its own: makes one token of a table that starts at a line.

    Every line of a table starts and ends with a bar, and has as many cells as the first one.
    """
    if start + 1 >= end or not (_is_row(_line(state, start)) and DIVIDER.fullmatch(_line(state, start + 1))):
        return False
    if not silent:
        head, divider, *body = map(_cells, takewhile(_is_row, (_line(state, place) for place in range(start, end))))
        state.push("table", "table", 0).meta = {"table": Table(head, [cell.endswith(":") for cell in divider], body)}
        state.line = start + 2 + len(body)
    return True


def html(table: Table, cell: Callable[[str], str], row: Callable[[str], str]) -> Iterator[str]:
    """The HTML of a table in parts; the first cell of a row is its heading.

    Args:
        table: the table.
        cell: returns the HTML of a cell's text.
        row: returns the start of a row, given the text of its first cell.
    """
    yield "<thead>\n<tr>\n"
    for text, is_number in zip(table.head, table.are_numbers, strict=False):
        yield f'<th scope="col"{KINDS[is_number]}{ORDERS.get(text[-1:], "")}>{cell(text)}</th>\n'
    yield "</tr>\n</thead>\n"
    if table.body:
        yield "<tbody>\n"
        starts = [f"<td{KINDS[is_number]}>" for is_number in table.are_numbers[1:]]
        for first, *others in table.body:
            yield f'{row(first)}\n<th scope="row">{cell(first)}</th>\n'
            for start, text in zip(starts, others, strict=False):
                yield f"{start}{cell(text)}</td>\n"
            yield "</tr>\n"
        yield "</tbody>\n"


def simple(content: str, root: str) -> str | None:
    """The HTML of a simple text; None if markdown-it must parse it. `root` is the prefix of every path in a link."""
    found = SIMPLE.fullmatch(content)
    if found is None:
        return None
    text, linked, address, space, emphasized = found.groups()
    if text is not None:
        return printed(text)
    before = f"{link(address, root)}{printed(linked)}</a>{space}" if linked else ""
    return f"{before}<em>{printed(emphasized)}</em>" if emphasized else before


def link(address: str, root: str) -> str:
    """The start of a link, with the path prefix of the site."""
    return f'<a href="{escape(root + address if address.startswith("/") else address)}">'


@lru_cache(1000)  # half of the cells of a long table are reason marks and other repeated texts
def printed(content: str) -> str:
    """The HTML of text: times as `<time>`, days without line breaks, and numbers in typeset form."""
    text = typeset(str(escape(content)))
    if "-" not in text:
        return text
    return TIME.sub(lambda time: moment(time[0]), DATE.sub(r'<span class="whole">\g<0></span>', text))


def _line(state: StateBlock, place: int) -> str:
    """A line of the current block without its indent; empty after the end of the block."""
    is_within = state.sCount[place] >= state.blkIndent
    return state.src[state.bMarks[place] + state.tShift[place] : state.eMarks[place]] if is_within else ""


def _is_row(line: str) -> bool:
    return line.startswith("|")


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t").replace(r"\|", "|") for cell in BETWEEN_CELLS.split(line)[1:-1]]
