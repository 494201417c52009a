"""Reading the Markdown of pages: the part under a heading, rows of tables, code.

Belongs here: helpers that tests of pages share. Does not: any test, pages as HTML (sites).
"""

import re
from collections.abc import Iterator

HEADING = re.compile(r"^(#+) .*? \{#(\S+)\}$")
CELL = re.compile(r"(?<!\\)\|")


def section(text: str, anchor: str) -> str:
    """The text under the heading with an anchor, up to the next heading of its level."""
    level, found = 0, []
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading and level and len(heading[1]) <= level:
            break
        if level:
            found.append(line)
        elif heading and heading[2] == anchor:
            level = len(heading[1])
    assert level, f"no heading has the anchor {anchor!r}"
    return "\n".join(found)


def anchors(text: str) -> list[str]:
    """The anchors of all headings."""
    return [heading[2] for heading in map(HEADING.match, text.splitlines()) if heading]


def tables(text: str) -> Iterator[list[tuple[str, ...]]]:
    """The rows of each table, without its head."""
    for table in re.findall(r"(?:^(?:> )?\|.*\n?)+", text, re.MULTILINE):
        yield [tuple(cell.strip() for cell in CELL.split(row)[1:-1]) for row in table.splitlines()[2:]]


def first_cells(text: str) -> set[str]:
    """The first cells of all rows."""
    return {row[0] for table in tables(text) for row in table}


def programs(text: str, language: str) -> list[str]:
    """All code in a language."""
    bare = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    return re.findall(rf"^```{language}\n(.*?)\n```$", bare, re.DOTALL | re.MULTILINE)


def lacking(text: str, *parts: str) -> list[str]:
    """The parts that a text does not contain."""
    return [part for part in parts if part not in text]
