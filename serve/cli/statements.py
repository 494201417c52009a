"""The statements as filed in the text that the command `fundamentals explain` prints.

Belongs here: their tables, with the number of each fact at its line. Does not: which lines they have
(warehouse.explanation.statements), the other blocks of the text (explanation).
"""

import textwrap
from collections.abc import Iterator

from serve.provenance import UNITS, amounts_in, is_amount, number, of_members
from warehouse.explanation.explain import Explanation
from warehouse.explanation.statements import Statement, StatementLine

SPACE, INDENT = "  ", " "
LEAST = 20
"""The least width of a line's label; longer labels continue on the next line."""


def lines(explained: Explanation, width: int, *, is_whole: bool) -> Iterator[str]:
    """The text of the statements that contain the facts: only the first one, or all with `is_whole`."""
    for place, statement in enumerate(explained.statements if is_whole else explained.statements[:1]):
        if place:
            yield ""
        yield from _statement(statement, explained.unit, width)
    if not is_whole and (count := len(explained.statements) - 1) > 0:
        yield ""
        have = "statement has" if count == 1 else "statements have"
        yield f"  {count} more {have} facts of the value; --all shows them."


def _statement(statement: Statement, currency: str, width: int) -> Iterator[str]:
    """The title, the column heads, and the lines."""
    unit = amounts_in(statement)
    money = next((line.unit for line in statement.lines if is_amount(line)), currency)
    yield f"{statement.name} as filed"
    title = f"{statement.form or 'Filing'} of {statement.filed or 'an unknown day'}, {statement.accession}, in "
    yield from textwrap.wrap(f"{title}{UNITS[unit]}{money}", width, initial_indent="  ", subsequent_indent="  ")
    yield ""
    cells = [[_figure(line, value, unit) for value in line.values] for line in statement.lines]
    heads = [[f"{column.months} months" if column.months else "", column.end] for column in statement.columns]
    wide = [max(len(text) for text in (*heads[place], *(row[place] for row in cells))) for place in range(len(heads))]
    marks = [" ".join(f"[{number}]" for number in line.marks) for line in statement.lines]
    margin = max(5, *map(len, marks)) + 1
    longest = max(len(INDENT * line.depth + of_members(line.label, line.member)) for line in statement.lines)
    name = max(LEAST, min(longest, width - margin - sum(wide) - len(SPACE) * len(wide)))
    for row in zip(*heads, strict=True):
        if any(row):
            yield _row(" " * (margin + name), row, wide)
    for mark, line, figures in zip(marks, statement.lines, cells, strict=True):
        words = textwrap.wrap(
            of_members(line.label, line.member),
            name,
            initial_indent=INDENT * line.depth,
            subsequent_indent=INDENT * (line.depth + 2),
        )
        for place, text in enumerate(words):
            start = f"{mark if place == 0 else '':>{margin - 1}} {text:<{name}}"
            yield _row(start, figures, wide) if place == len(words) - 1 else start.rstrip()


def _row(start: str, figures: list[str] | tuple[str, ...], wide: list[int]) -> str:
    return (start + "".join(f"{SPACE}{text:>{each}}" for text, each in zip(figures, wide, strict=True))).rstrip()


def _figure(line: StatementLine, value: float | None, unit: float) -> str:
    if value is None:
        return "" if line.is_heading else "-"
    return number(value / unit if is_amount(line) else value)
