"""Debt that the totals of a balance sheet prove: of lines that add up, or what other lines leave of a total.

Belongs here: the rules for it, and borrowings included in other lines. Does not: whether lines add up (reading,
solver).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from pipelines.normalize.balance.debt.borrowings import CREDIT_LINE, SectionBorrowings, flag_of_lines, rolled_forward
from pipelines.normalize.balance.debt.zero import Facts, as_zero
from pipelines.normalize.balance.reading import REST_OF_TOTAL, TOTALS_OF_BALANCE_SHEETS, Filing, Reading
from pipelines.normalize.balance.totals import NOT_STATED, Day
from pipelines.normalize.balance.values import (
    DEBT,
    DERIVED_LINE,
    OF_ZERO,
    Known,
    Value,
    adds_up,
    amount,
    legs,
    lines_of,
    nonzero,
    sum_of,
)
from pipelines.normalize.elements.lines import BORROWING, BORROWINGS, DEPOSITS, FACE_PREFIX, LIABILITIES, LINES
from pipelines.normalize.rule import Rule

DEBT_OF_LINES = Rule(
    "debt.proved.lines-add-up",
    "Debt is the borrowings among the lines that add up to current and non-current liabilities, or to "
    "unclassified liabilities, in both columns of the filing, or in one if these are the usual lines.",
    f"{TOTALS_OF_BALANCE_SHEETS}; Regulation S-X Rule 5-02.19, 5-02.22, 9-03.13",
    "compose",
)
DEBT_INSIDE = Rule(
    "debt.proved.inside-another-line",
    "Debt that its own element states, but no line of the liabilities that add up, is inside a line that is not "
    "borrowed, and is added if no line of borrowings is large enough to include it.",
    "Regulation S-X Rule 5-02.19, 5-02.22 (borrowings may be combined with other liabilities if not material)",
    "compose",
)
NO_DEBT = Rule(
    "debt.zero.proved",
    "Debt is zero if lines that are not borrowed add up to the liabilities, and this filing and earlier ones state no "
    "borrowing for the day that is small enough to be inside one.",
    TOTALS_OF_BALANCE_SHEETS,
    "compose",
)
REST_AND_FLOWS = Rule(
    "debt.proved.rest-and-flows",
    "Debt is what the other lines leave of unclassified liabilities, if this equals the debt before a period that "
    "ends on the day, plus what was borrowed in it, less what was repaid.",
    f"{TOTALS_OF_BALANCE_SHEETS}; ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt)",
    "compose",
)


def proved_debt(filing: Filing, day: int, parts: Collection[SectionBorrowings]) -> Value | None:
    """Debt of lines that add up; None if one of them is negative, or if a borrowing may be included in another line."""
    stated, reads = filing.days[day], [part.read for part in parts if part.read]
    elements = tuple(element for part in parts for element in part.lines)
    inside = _inside_other_lines(filing, day, parts, elements)
    counted = (*elements, *inside)
    if _has_negative(stated, counted):
        return None
    sections = tuple(adds_up(filing, read, day) for read in reads)
    if not nonzero(stated, counted):
        return _proved_zero(filing, day, reads, sections)
    flag = flag_of_lines(stated, elements)
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        REST_OF_TOTAL if flag == DERIVED_LINE else DEBT_INSIDE if inside else DEBT_OF_LINES,
        sum_of(stated, counted),
        is_proved=True,
        lines=sum_of(stated, elements),
        elements=nonzero(stated, elements),
        facts=legs(filing, day, counted),
        grain=max(read.unit for read in reads) * len(counted),
        flag=flag,
        sections=sections,
    )


def _has_negative(stated: Day, lines: Iterable[str]) -> bool:
    """Whether a line is negative; one of single members may be: an elimination of the consolidation."""
    return any(amount(stated, name) < 0 and not name.startswith(FACE_PREFIX) for name in lines)


def _inside_other_lines(
    filing: Filing, day: int, parts: Iterable[SectionBorrowings], elements: Iterable[str]
) -> list[str]:
    """The borrowings inside other lines; on a face, one with the amount of a line is this line."""
    stated = filing.days[day]
    shown = {amount(stated, element) for element in elements if filing.face}
    return [element for part in parts for element in part.inside if amount(stated, element) not in shown]


def _proved_zero(
    filing: Filing, day: int, reads: Sequence[Reading], sections: tuple[tuple[str, float, float], ...]
) -> Value | None:
    """Debt of zero, if no line can include a borrowing; else None."""
    stated = filing.days[day]
    own = {element: each for element, (each, _) in stated.items()}
    known = own if filing.face else {**filing.earlier[day], **own}
    if any(_lines_may_include_debt(read, known) for read in reads):
        return None
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        NO_DEBT,
        0.0,
        is_proved=True,
        facts=_facts_proving_zero(stated, reads),
        sections=sections,
    )


def _facts_proving_zero(stated: Day, sections: Sequence[Reading]) -> Facts:
    """The facts of a zero: liabilities less their lines, if exactly zero; else totals with the coefficient zero."""
    lines = [group[0] for read in sections for group in read.readings[0] if group[0] in stated]
    are_stated = all(stated[line][1] != NOT_STATED for line in lines)
    if are_stated and amount(stated, "Liabilities") == sum_of(stated, lines) != 0:
        return ((stated["Liabilities"][1], 1.0), *((stated[line][1], -1.0) for line in lines))
    return as_zero(stated, OF_ZERO)


def _lines_may_include_debt(read: Reading, amounts: Mapping[str, float]) -> bool:
    """Whether a borrowing is at most the largest line of a section, so that a line may include it.

    Element CREDIT_LINE is not a borrowing of a filer with deposits: it is the credit that a bank may still draw.

    Args:
        read: a section with lines that add up.
        amounts: all amounts of the day by element, including amounts of the notes and of earlier filings.
    """
    largest = max((amounts.get(group[0], 0.0) for lines in read.readings for group in lines), default=0.0)
    return any(
        0 < amounts[element] <= largest and (element != CREDIT_LINE or DEPOSITS.isdisjoint(amounts))
        for element in amounts.keys() & BORROWINGS[read.section].keys()
    )


def rest_by_flows(filing: Filing, day: int, known: Known) -> Value | None:
    """Liabilities less all lines that are not borrowings, if known debt and the flows since then confirm it; else None.

    Only for unclassified balance sheets.
    """
    stated, lines = filing.days[day], lines_of(filing, LIABILITIES, day)
    others = [name for name in lines if LINES[LIABILITIES][name].kind != BORROWING]
    remainder = filing.totals[day].get(LIABILITIES, 0.0) - sum_of(stated, others)
    if remainder <= 0 or not rolled_forward(filing, day, remainder, known):
        return None
    borrowings = [name for name in lines if name not in others]
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        REST_AND_FLOWS,
        remainder,
        is_proved=True,
        lines=remainder,
        elements=nonzero(stated, borrowings),
        facts=filing.facts(day, (*filing.terms[day][LIABILITIES], *((name, -1.0) for name in others))),
        grain=filing.unit * (len(others) + 1),
        flag=None if sum_of(stated, borrowings) == remainder else DERIVED_LINE,
    )
