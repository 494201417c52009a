"""The borrowings of a balance sheet: the lines of its sections, each once, and the flows that lead to a debt.

Belongs here: which lines of a section are borrowings, and which of them repeat others. Does not: which facts are lines
(reading), the debt that they give (composed).
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, combinations

import msgspec

from pipelines.normalize.balance.reading import Filing, Reading
from pipelines.normalize.balance.totals import NOT_STATED, Day
from pipelines.normalize.balance.values import (
    DEBT,
    DERIVED_LINE,
    INCLUDES_FINANCE_LEASES,
    INCLUDES_FINANCED_PREMIUMS,
    Known,
    agreed,
    amount,
    has_rest,
    nonzero,
    proved_section,
    sum_of,
    without_repeated,
)
from pipelines.normalize.elements.lines import BORROWING, BORROWINGS, DEPOSITS, LIABILITIES, LINES, PREMIUMS, SHORT_TERM
from pipelines.normalize.rule import Rule

DEBT_AS_READ = Rule(
    "debt.read.usual-lines",
    "Without proof, debt is the lines of borrowings that no other stated line includes.",
    "Regulation S-X Rule 5-02.19, 5-02.22, 9-03.13; IAS 1.54(m), 1.69; definitions of the taxonomies",
    "compose",
)
_WITH_LEASES = frozenset(
    (
        "LongTermDebtAndCapitalLeaseObligations",
        "LongTermDebtAndCapitalLeaseObligationsCurrent",
        "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities",
        "DebtAndCapitalLeaseObligations",
    )
)
MATURITIES = ("LongTermDebtCurrent", "LongTermDebtAndCapitalLeaseObligationsCurrent")
WITHOUT_LEASES = {
    "LongTermDebtAndCapitalLeaseObligations": "LongTermDebtNoncurrent",
    "LongTermDebtAndCapitalLeaseObligationsCurrent": "LongTermDebtCurrent",
}
"""Elements that include finance leases, each with the preferred element of the same debt without them."""
ALL_BORROWINGS = {name: place for place, name in enumerate(dict.fromkeys(chain(*BORROWINGS.values())))}
"""All elements of borrowings, with their place in the table."""
CREDIT_LINE = "LineOfCredit"
"""The element of drawn credit; banks also use it for the credit that they may draw."""
DISCOUNT = 0.03
"""Principal exceeds the carrying amount by discounts and issue costs, hardly ever by more than three per cent."""
Lines = tuple[str, ...]
"""The elements of lines."""


class SectionBorrowings(msgspec.Struct, frozen=True, gc=False):
    """The borrowings of one section.

    elements: the borrowings that are not zero. read: the section, if its lines add up.
    lines: the borrowings among the lines that add up, zeros too. inside: borrowings included in another line.
    """

    elements: tuple[str, ...]
    read: Reading | None = None
    lines: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


def borrowings_of_section(filing: Filing, day: int, section: str) -> SectionBorrowings:
    """The borrowings of a section: of lines that add up, or of the likeliest lines."""
    read, stated = proved_section(filing, section, day), filing.days[day]
    proved = agreed(read, stated, (BORROWING,)) if read else None
    if read is None or proved is None:
        return SectionBorrowings(_likely_borrowings(filing, day, section))
    inside = () if section == LIABILITIES else _borrowings_in_other_lines(read, stated, proved)
    if section in filing.face_sections and not all(_is_separate_borrowing(name, proved, stated) for name in inside):
        inside = ()
    elements = dict.fromkeys(name for name in (*proved, *inside) if amount(stated, name))
    return SectionBorrowings(tuple(elements), read, proved, inside)


def _likely_borrowings(filing: Filing, day: int, section: str) -> tuple[str, ...]:
    """The borrowings among the likeliest lines; without a face, each once and preferably without finance leases."""
    stated, likely = filing.days[day], filing.likely_lines(section, day)
    borrowings = [name for name in likely if LINES[section][name].kind == BORROWING]
    if section in filing.face_sections or not borrowings:
        return tuple(borrowings)
    is_limit = nonzero(stated, DEPOSITS) and sum_of(stated, likely) > filing.totals[day].get(section, 0.0)
    if is_limit:
        borrowings = [name for name in borrowings if name != CREDIT_LINE]
    lines = without_repeated(filing, day, section, borrowings)
    less = {one: of for one, of in WITHOUT_LEASES.items() if 0 < amount(stated, of) <= amount(stated, one)}
    return tuple(dict.fromkeys(less.get(one, one) for one in lines))


def _is_separate_borrowing(inside: str, lines: Iterable[str], stated: Day) -> bool:
    """Whether a borrowing inside another line is separate from the borrowings that the face shows.

    It is separate if it is short-term borrowings and the face shows only maturities of long-term debt, or the reverse,
    or if the face shows no borrowings.
    """
    shown = [name for name in lines if amount(stated, name)]
    if inside in SHORT_TERM:
        return all(name in MATURITIES for name in shown)
    return not shown or (inside in MATURITIES and all(name in SHORT_TERM for name in shown))


def _borrowings_in_other_lines(read: Reading, stated: Day, elements: tuple[str, ...]) -> tuple[str, ...]:
    """The borrowings that only another line of a section can include, as elements.

    Each is stated, but not as a line; it is larger than every line of borrowings, and at most as large as the largest
    other line.

    Args:
        read: a section with lines that add up.
        stated: the amounts of the day.
        elements: the section's lines of borrowings.
    """
    table = BORROWINGS[read.section]
    lines = {element for group in read.readings[0] for element in group}
    largest_borrowing = max((amount(stated, element) for element in elements), default=0.0)
    largest_other = max((amount(stated, line) for line in lines - {*elements}), default=0.0)
    return tuple(
        element
        for element in sorted((stated.keys() & table.keys()) - lines)
        if table[element].usual
        and stated[element][1] != NOT_STATED
        and largest_borrowing < stated[element][0] <= largest_other
        and not nonzero(stated, table[element].part_of & table.keys())
    )


def drop_double_counts(stated: Day, elements: tuple[str, ...]) -> tuple[str, ...]:
    """Drop lines that repeat a part of another line, or two or three lines that add up exactly to another one."""
    for one in elements:
        if _repeats_part(stated, one, elements):
            return drop_double_counts(stated, tuple(name for name in elements if name != one))
    parts = next(_parts_of_lines(stated, elements), ())
    return tuple(name for name in elements if name not in parts)


def _repeats_part(stated: Day, line: str, lines: tuple[str, ...]) -> bool:
    """Whether the amount of a line is also stated under an element that is a part of another line."""
    table = BORROWINGS[LIABILITIES]
    equal = [name for name in stated.keys() & table.keys() if amount(stated, name) == amount(stated, line)]
    return any(table[other].part_of.intersection({*lines} - {line}) for other in equal if other not in lines)


def _parts_of_lines(stated: Day, lines: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Two or three lines that add up exactly to another one."""
    for total in lines:
        others = [name for name in lines if name != total]
        for parts in (*combinations(others, 2), *combinations(others, 3)):
            if sum_of(stated, parts) == amount(stated, total):
                yield parts


def first_stated(stated: Day, elements: Iterable[str]) -> str:
    """The first element with an amount other than zero; empty if no element has one."""
    return next((name for name in elements if amount(stated, name)), "")


def flag_of_lines(stated: Day, elements: Collection[str]) -> str | None:
    """The flag of the lines of debt: derived, with finance leases, with financed premiums; None without one."""
    flags = {
        DERIVED_LINE: has_rest(stated, elements),
        INCLUDES_FINANCE_LEASES: not _WITH_LEASES.isdisjoint(elements),
        INCLUDES_FINANCED_PREMIUMS: any(f":{PREMIUMS}:" in name for name in elements),
    }
    return next((flag for flag, holds in flags.items() if holds), None)


def states_borrowing(stated: Day) -> bool:
    """Whether a filing states any borrowing for a day, as a line or in the notes."""
    return any(stated[element][0] for element in stated if element in ALL_BORROWINGS)


def rolled_forward(filing: Filing, day: int, value: float, known: Known) -> tuple[int, ...]:
    """Find a period whose borrowings less repayments lead from known debt to the debt of a day.

    Args:
        filing: the filing that states the flows.
        day: the last day of the period.
        value: the debt of that day.
        known: values of other days, as far as this and earlier filings state them.

    Returns:
        the rows of the flows; empty if no period does.
    """
    for before, net, rows in filing.flows[day].borrowed:
        debt_before = known[DEBT, before].value if (DEBT, before) in known else None
        if debt_before is not None and abs(debt_before + net - value) < filing.unit and (net or debt_before):
            return rows
    return ()
