"""Debt and cash that the totals of a balance sheet prove: the highest authority for both.

Belongs here: the value of a proved reading, and what it consists of. Does not: which lines add up (reading), its place
among the values without proof (authority), these (composition).

A proved value is not replaced by a total of the notes, and not withheld because of other balance sheets. It changes
when a later filing proves another set of lines for the same day, or restates the amount with the elements that it had.
Footing proves which amounts are lines. It proves neither their class nor their scale: a balance sheet whose amounts
other balance sheets contradict by a power of a thousand proves nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipelines.normalize.balance import contradictions, withdrawn
from pipelines.normalize.balance.reading import NOT_STATED, Day, Filing, Reading
from pipelines.normalize.elements.debt import INCLUDES_FINANCE_LEASES
from pipelines.normalize.elements.lines import (
    BORROWING,
    BORROWINGS,
    CASH,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
    RESTRICTED,
    SECURITY,
)
from pipelines.normalize.rule import Rule

_TOTALS = "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet)"

CASH_OF_LINES = Rule(
    "cash.proved.lines-add-up",
    "Cash is the cash and the securities among the lines that add up to the current assets, in both columns of the "
    "filing, or in one of them if these are the usual lines.",
    f"{_TOTALS}; Regulation S-X Rule 5-02.1, 5-02.2",
    "compose",
    "classified balance sheets",
)
DEBT_OF_LINES = Rule(
    "debt.proved.lines-add-up",
    "Debt is the borrowings among the lines that add up to the current and to the non-current liabilities, or to the "
    "liabilities of an unclassified balance sheet, in both columns of the filing, or in one of them if these are the "
    "usual lines.",
    f"{_TOTALS}; Regulation S-X Rule 5-02.19, 5-02.22, 9-03.13",
    "compose",
)
DEBT_INSIDE = Rule(
    "debt.proved.inside-another-line",
    "Debt that its own element states, and that is not a line of a balance sheet whose liabilities add up, is inside a "
    "line that is not borrowed, and is added, if no line of borrowings is large enough to include it.",
    "Regulation S-X Rule 5-02.19, 5-02.22 (borrowings may be combined with other liabilities if not material)",
    "compose",
)
REST_OF_TOTAL = Rule(
    "balance.proved.line-is-the-rest",
    "A line of debt or cash that is not stated is what the other lines leave of the total, if it is a line in the "
    "other column, of the usual size, or if the others leave there what an earlier filing stated for it.",
    f"{_TOTALS}; comparative balance sheets (Regulation S-X Rule 3-01, 10-01(c))",
    "compose",
)
NO_DEBT = Rule(
    "debt.zero.proved",
    "Debt is zero if lines that are not borrowed add up to the liabilities and, on a classified balance sheet, the "
    "filing and those before state no borrowing for the day that is small enough to be inside one of them.",
    _TOTALS,
    "compose",
)
NO_INTEREST_BUT_ON_DEPOSITS = Rule(
    "debt.zero.all-interest-on-deposits",
    "A bank's debt is zero if its interest expense of the period that ends on the day is the interest on deposits, and "
    "the filing states no borrowings for the day.",
    "Regulation S-X Rule 9-04.6 to 9-04.9 (interest on deposits, on short-term borrowings and on long-term debt)",
    "compose",
    "banks",
)
OF_LINES = Rule(
    "balance.line",
    "An amount is a line of the balance sheet if the lines of its section add up with it to their total.",
    _TOTALS,
    "select",
)
ADDS_UP = {
    section: Rule(id, f"The lines of the {section} add up to their total.", _TOTALS, "select")
    for section, id in (
        (CURRENT_ASSETS, "balance.adds-up.current-assets"),
        (CURRENT_LIABILITIES, "balance.adds-up.current-liabilities"),
        (NONCURRENT_LIABILITIES, "balance.adds-up.noncurrent-liabilities"),
        (LIABILITIES, "balance.adds-up.liabilities"),
    )
}
"""For each section the identity of its lines and its total."""

COMPOSING = (CASH_OF_LINES, DEBT_OF_LINES, DEBT_INSIDE, REST_OF_TOTAL, NO_DEBT, NO_INTEREST_BUT_ON_DEPOSITS)
RULES: tuple[Rule, ...] = (*COMPOSING, OF_LINES, *ADDS_UP.values())

OUTRANKED_BY = frozenset(
    each.rule.id for each in (contradictions.OTHER_SCALE, contradictions.FINER, contradictions.FELL)
) | {withdrawn.OTHER_UNITS.id}
"""The rules that doubt the scale of a balance sheet, which footing does not prove."""

WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
_WITH_LEASES = frozenset(
    (
        "LongTermDebtAndCapitalLeaseObligations",
        "LongTermDebtAndCapitalLeaseObligationsCurrent",
        "DebtAndCapitalLeaseObligations",
    )
)

DERIVED_LINE = "derived_line"
"""Flag of a value with a line that the filing does not state."""

OF_ZERO = ("LiabilitiesCurrent", "Liabilities", "Assets")
"""The totals that show which balance sheet has no debt."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The value of an item of one day that one filing proves.

    lines: the value without debt inside other lines. elements: those of its lines that are not zero.
    facts: the rows of the facts that it consists of, each with its coefficient: 1 for a line; for a zero 1 for the
        liabilities and -1 for each of their lines, or 0 for totals that prove it with others.
    grain: the power of ten to which the value is rounded, for each of its lines.
    flag: of a line. sections: those that add up, with the sum of their lines and their total.
    """

    cik: int
    seq: int
    day: int
    item: str
    rule: Rule
    value: float
    lines: float
    elements: frozenset[str]
    facts: tuple[tuple[int, float], ...]
    grain: float
    flag: str | None
    sections: tuple[tuple[str, float, float], ...]


def proved(filings: Iterable[Filing]) -> Iterator[Proved]:
    """The values that the totals of the balance sheets prove, for each day of each filing."""
    for filing in filings:
        for day, stated in filing.days.items():
            sections = {name: read for name, read in filing.sections.items() if day in read.days}
            if CURRENT_ASSETS in sections:
                yield from _cash(filing, day, stated, sections[CURRENT_ASSETS])
            of_debt = (
                [sections[LIABILITIES]]
                if LIABILITIES in sections
                else [sections[name] for name in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES) if name in sections]
            )
            if LIABILITIES in sections or len(of_debt) == 2:
                yield from _debt(filing, day, stated, of_debt)
            elif filing.pays_interest_on_deposits_only.get(day) and not _borrowings(stated):
                facts = [(stated[name][1], 0.0) for name in OF_ZERO if name in stated]
                yield _of_debt(filing, day, NO_INTEREST_BUT_ON_DEPOSITS, 0.0, 0.0, frozenset(), facts, 1.0, None, ())


def _amount(stated: Day, element: str) -> float:
    return stated[element][0] if element in stated else 0.0


def _adds_up(read: Reading, day: int, stated: Day) -> tuple[str, float, float]:
    """A section with the sum of its lines and its total on a day."""
    lines = sum(_amount(stated, group[0]) for group in read.readings[0])
    return read.section, lines, read.totals[read.days.index(day)]


def _nonzero(stated: Day, elements: Iterable[str]) -> frozenset[str]:
    return frozenset(element for element in elements if _amount(stated, element))


def _of_kinds(section: str, lines: tuple[tuple[str, ...], ...], kinds: tuple[str, ...]) -> tuple[str, ...] | None:
    """The elements of the lines of some classes; None if elements that state one amount are of several classes."""
    found = []
    for group in lines:
        of_group = {LINES[section][element].kind in kinds for element in group if LINES[section][element].usual}
        if len(of_group) > 1:
            return None
        if LINES[section][group[0]].kind in kinds:
            found.append(group[0])
    return tuple(found)


def _agreed(read: Reading, stated: Day, kinds: tuple[str, ...]) -> tuple[str, ...] | None:
    """The elements of the lines of some classes; None if the possible readings have different amounts."""
    found = [_of_kinds(read.section, lines, kinds) for lines in read.readings]
    amounts = {None if one is None else sum(_amount(stated, element) for element in one) for one in found}
    if found[0] is None or len(amounts) > 1:
        return None
    return tuple(element for element in found[0] if element in stated)


def _cash(filing: Filing, day: int, stated: Day, read: Reading) -> Iterator[Proved]:
    """Cash and securities; nothing if restricted cash may be inside, or no line is cash."""
    elements = _agreed(read, stated, (CASH, SECURITY))
    table = LINES[CURRENT_ASSETS]
    if elements is None or not any(table[element].kind == CASH for element in elements):
        return
    groups = [group for lines in read.readings for group in lines]
    if any(WITH_RESTRICTED in group and _amount(stated, WITH_RESTRICTED) for group in groups) and (
        WITH_RESTRICTED in elements
        or any(
            table[element].kind == RESTRICTED and amount for element, (amount, _) in stated.items() if element in table
        )
    ):
        return
    value = sum(_amount(stated, element) for element in elements)
    is_rest = _has_rest(read, elements)
    yield Proved(
        filing.cik,
        filing.seq,
        day,
        "cash_and_equivalents",
        REST_OF_TOTAL if is_rest else CASH_OF_LINES,
        value,
        value,
        _nonzero(stated, elements),
        tuple(_legs(read, day, stated, elements)),
        read.unit * len(elements),
        DERIVED_LINE if is_rest else None,
        (_adds_up(read, day, stated),),
    )


def _has_rest(read: Reading, elements: Iterable[str]) -> bool:
    """Whether one of some lines of a section is a rest."""
    return read.rest is not None and read.rest.element in elements


def _legs(read: Reading, day: int, stated: Day, elements: tuple[str, ...]) -> list[tuple[int, float]]:
    """The facts that lines consist of: their own, or if one is a rest, those of the total and of the other lines."""
    if not _has_rest(read, elements):
        return [(stated[element][1], 1.0) for element in elements]
    others = [next((one for one in group if one in stated), None) for group in read.readings[0]]
    terms = read.terms[read.days.index(day)]
    return [
        *((stated[element][1], coefficient) for element, coefficient in terms),
        *((stated[one][1], -1.0) for one in others if one is not None and one not in elements),
    ]


def _debt(filing: Filing, day: int, stated: Day, sections: list[Reading]) -> Iterator[Proved]:
    """Borrowings; nothing if a class is doubtful, or if nothing shows whether a borrowing is inside a line."""
    elements: list[str] = []
    inside: list[str] = []
    facts: list[tuple[int, float]] = []
    for read in sections:
        of_section = _agreed(read, stated, (BORROWING,))
        if of_section is None:
            return
        hidden = [] if read.section == LIABILITIES else _inside(read, stated, of_section)
        if hidden is None:
            return
        elements += of_section
        inside += hidden
        facts += _legs(read, day, stated, of_section)
    amounts = [_amount(stated, element) for element in (*elements, *inside)]
    leases = _amount(stated, "OperatingLeaseLiability") - _amount(stated, "OperatingLeaseLiabilityNoncurrent")
    if any(amount < 0 or (amount and amount == leases) for amount in amounts):
        return
    add_up = tuple(_adds_up(read, day, stated) for read in sections)
    if not any(amounts):
        known = {**filing.earlier[day], **{element: amount for element, (amount, _) in stated.items()}}
        if any(read.section != LIABILITIES and _may_be_inside(read, known) for read in sections):
            return
        facts = _that_leave_nothing(stated, sections)
        yield _of_debt(filing, day, NO_DEBT, 0.0, 0.0, frozenset(), facts, 1.0, None, add_up)
        return
    facts += [(stated[element][1], 1.0) for element in inside]
    flag = INCLUDES_FINANCE_LEASES if _WITH_LEASES.intersection(elements) else None
    rule = DEBT_INSIDE if inside else DEBT_OF_LINES
    if any(_has_rest(read, elements) for read in sections):
        rule, flag = REST_OF_TOTAL, DERIVED_LINE
    of_lines = sum(_amount(stated, element) for element in elements)
    grain = max(read.unit for read in sections) * len(amounts)
    named = _nonzero(stated, elements)
    yield _of_debt(filing, day, rule, sum(amounts), of_lines, named, facts, grain, flag, add_up)


def _of_debt(
    filing: Filing,
    day: int,
    rule: Rule,
    value: float,
    lines: float,
    elements: frozenset[str],
    facts: list[tuple[int, float]],
    grain: float,
    flag: str | None,
    add_up: tuple[tuple[str, float, float], ...],
) -> Proved:
    return Proved(
        filing.cik, filing.seq, day, "total_debt", rule, value, lines, elements, tuple(facts), grain, flag, add_up
    )


def _that_leave_nothing(stated: Day, sections: list[Reading]) -> list[tuple[int, float]]:
    """The liabilities less their lines, if they leave nothing to the unit; else the totals, which do not count."""
    lines = [group[0] for read in sections for group in read.readings[0] if group[0] in stated]
    are_stated = all(stated[line][1] != NOT_STATED for line in lines)
    if are_stated and _amount(stated, "Liabilities") == sum(_amount(stated, line) for line in lines) != 0:
        return [(stated["Liabilities"][1], 1.0), *((stated[line][1], -1.0) for line in lines)]
    return [(stated[name][1], 0.0) for name in OF_ZERO if name in stated]


def _borrowings(stated: Day) -> bool:
    """Whether a filing states any borrowing for a day, as a line or in the notes."""
    return any(_amount(stated, element) for table in BORROWINGS.values() for element in stated.keys() & table.keys())


def _may_be_inside(read: Reading, amounts: Mapping[str, float]) -> bool:
    """Whether any borrowing, also one of the notes or of an earlier filing, is small enough to be inside a line."""
    largest = max((amounts.get(group[0], 0.0) for lines in read.readings for group in lines), default=0.0)
    return any(0 < amounts[element] <= largest for element in amounts.keys() & BORROWINGS[read.section].keys())


def _inside(read: Reading, stated: Day, elements: tuple[str, ...]) -> list[str] | None:
    """Borrowings that are no lines of a section and that no stated one includes; None if one may be inside a line."""
    table = BORROWINGS[read.section]
    lines = {element for group in read.readings[0] for element in group}
    largest = max((_amount(stated, element) for element in elements), default=0.0)
    found = []
    for element in sorted((stated.keys() & table.keys()) - lines):
        (amount, fact), line = stated[element], table[element]
        if not amount or fact == NOT_STATED or not line.usual:
            continue
        if any(_amount(stated, total) for total in line.part_of & table.keys()):
            continue
        if amount <= largest:
            return None
        found.append(element)
    return found
