"""The balance sheet in the text that the command `fundamentals explain` prints.

Belongs here: its table in two columns, and sentences about its proof. Does not: which lines it has
(warehouse.explanation.balance_sheet), the other blocks of the text (explanation).
"""

import textwrap
from collections.abc import Iterator

from serve.provenance import UNITS, number, of_members
from warehouse.contract.sections import SECTIONS
from warehouse.explanation.balance_sheet import BalanceSheet, Section, SheetLine
from warehouse.explanation.explain import Explanation

MARK = 6
"""Width of the number of a fact."""
SPACE = "  "
"""The space between columns."""
UNCLASSIFIED = "liabilities"
"""The section of liabilities of a balance sheet that is not classified; it has no other section of liabilities."""
DERIVED_LINE = "derived_line"
"""The flag of a value with a line that the filing does not state."""
ADDED, LEFT, INSIDE = "sum of these lines", "without a line", "inside one of the lines"


def lines(explained: Explanation, width: int) -> Iterator[str]:
    """The text of the balance sheet behind total debt or cash, or behind its absence; empty for other items."""
    sheet = explained.sheet
    if sheet is None:
        return
    if not sheet.sections:
        yield "Balance sheet"
        yield from _wrapped(_without_sections(explained), width)
        return
    unit = next(one for one in UNITS if all(amount % one == 0 for amount in _amounts(sheet)) or one == 1)
    yield "Balance sheet"
    yield from _wrapped(
        f"{sheet.form or 'Filing'} of {sheet.filed or 'an unknown day'}, {sheet.accession}, in "
        f"{UNITS[unit]}{explained.unit}",
        width,
    )
    for sentence in _sentences(explained, sheet, unit):
        yield from _wrapped(sentence, width)
    yield from _table(sheet, unit, width)


def _wrapped(sentence: str, width: int) -> list[str]:
    return textwrap.wrap(sentence, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


# --- What it proves ---------------------------------------------------------------------------------------------


def _without_sections(explained: Explanation) -> str:
    if explained.value is not None:
        return "The filing states no total of the section of these lines; the rules below chose them."
    sections = " or ".join(SECTIONS[explained.item])
    return f"No filing states both lines and the total of the {sections} of {explained.period_end}."


def _sentences(explained: Explanation, sheet: BalanceSheet, unit: float) -> Iterator[str]:
    """Sentences about what the sections prove, or about missing proof."""
    if explained.value is None:
        yield from _unknown(explained, sheet, unit)
        return
    numbered = "Those with the number of a fact above are"
    value = usual = f"{numbered} the value"
    usual += ": the usual lines that no other stated line includes"
    if any(flag.code == DERIVED_LINE for flag in explained.flags):
        value = usual = f"{numbered} what the value is computed from: one of its lines is not stated"
    proof = "The lines add up to the totals" + (" in both columns" if sheet.compared_day else "")
    if not all(section.adds_up for section in sheet.sections):
        yield f"{usual}."
        yield from (f"Not proved: {_open(explained, sheet, one, unit)}." for one in sheet.sections if not one.adds_up)
        return
    if explained.value == 0 and explained.item == "total_debt":
        yield f"{proof}, and nothing of {explained.period_end} is borrowed, so debt is zero."
    else:
        yield f"{proof}. {value}."
    if explained.period_end == sheet.compared_day:
        yield f"The value is that of {sheet.compared_day}, the day of comparison."


def _unknown(explained: Explanation, sheet: BalanceSheet, unit: float) -> Iterator[str]:
    """Sentences about a missing value: sections that do not add up, missing lines, and the rule of the gap."""
    for section in sheet.sections:
        if not section.adds_up:
            yield f"Unknown: {_open(explained, sheet, section, unit)}."
        if section.missing:
            names = ", ".join(f"{line.element} ({line.kind})" for line in section.missing)
            yield f"Not stated, but a line of the filer's last {section.name} that added up: {names}."
    shown = {section.name for section in sheet.sections}
    wanted = shown if UNCLASSIFIED in shown else {*SECTIONS[explained.item]} - {UNCLASSIFIED}
    absent = sorted(wanted - shown)
    for name in absent:
        yield f"Unknown: the {name}, of which the filing states no line or no total."
    if not absent and all(section.adds_up for section in sheet.sections):
        yield "The lines add up to the totals, but do not decide the value."
    if explained.reason:
        rules = [decision.rule.id for decision in explained.decisions if decision.about == "gap"]
        yield f"The value is left out by {' and '.join(rules) or explained.reason.code}."


def _open(explained: Explanation, sheet: BalanceSheet, section: Section, unit: float) -> str:
    """A text with the difference between the lines of a section and its total, preferably for the day of the value."""
    if not section.lines:
        return f"the filing states no line of the {section.name}"
    columns = [(sheet.day, section.added, section.total.amount)]
    if sheet.compared_day and section.added_compared is not None:
        columns.append((sheet.compared_day, section.added_compared, section.total.compared))
    for day, added, total in sorted(columns, key=lambda column: column[0] != explained.period_end):
        if total is not None and added != total:
            by = f"{number(abs(total - added) / unit)} {'less' if added < total else 'more'}"
            return f"the lines of the {section.name} of {day} add up to {by} than their total"
    return f"the lines of the {section.name} do not add up to their total"


# --- The table --------------------------------------------------------------------------------------------------


def _table(sheet: BalanceSheet, unit: float, width: int) -> Iterator[str]:
    """The lines of each section with their sum, the total, and any difference; then amounts inside of lines."""
    days = (sheet.day, sheet.compared_day or "")
    tables = [((section.name, "class", *days), list(_rows(section))) for section in sheet.sections]
    if sheet.inside:
        tables.append(((INSIDE, "class", *days), list(sheet.inside)))
    cells = {
        line: (
            of_members(line.element, line.member),
            line.kind,
            _figure(line.amount, unit),
            _figure(line.compared, unit),
        )
        for _, rows in tables
        for line in rows
    }
    texts = [*(head for head, _ in tables), *cells.values()]
    longest, kind, *amounts = (max(len(row[place]) for row in texts) for place in range(4))
    name = min(longest, width - MARK - kind - sum(amounts) - 3 * len(SPACE))
    for head, rows in tables:
        yield ""
        for mark, row in ((None, head), *((line.leg, cells[line]) for line in rows)):
            numbered = f"{f'[{mark}]' if mark else '':>{MARK - 1}} "
            if len(row[0]) > name:  # the figures stand on the next line
                yield f"{numbered}{row[0]}"
                numbered, row = " " * MARK, ("", *row[1:])
            figures = (f"{text:>{wide}}" for text, wide in zip(row[2:], amounts, strict=True))
            yield f"{numbered}{row[0]:<{name}}{SPACE}{row[1]:<{kind}}{SPACE}{SPACE.join(figures)}".rstrip()


def _rows(section: Section) -> Iterator[SheetLine]:
    total = section.total
    yield from section.lines
    if section.lines:
        yield SheetLine(ADDED, "", section.added, section.added_compared)
    yield total
    if section.lines and not section.adds_up:
        yield SheetLine(LEFT, "", *_left(section))


def _left(section: Section) -> tuple[float | None, float | None]:
    total = section.total
    own = None if total.amount is None else total.amount - section.added
    return (
        own,
        None if total.compared is None or section.added_compared is None else total.compared - section.added_compared,
    )


def _figure(amount: float | None, unit: float) -> str:
    return "-" if amount is None else number(amount / unit)


def _amounts(sheet: BalanceSheet) -> Iterator[float]:
    for section in sheet.sections:
        for line in (*section.lines, section.total, *sheet.inside):
            yield from (amount for amount in (line.amount, line.compared) if amount is not None)
