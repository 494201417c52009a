"""Debt and cash of one day as one filing states them: the type of a value, and its rules.

Belongs here: the fields of a value. Does not: which facts are lines (reading), which lines count (debt, cash), when
a part is unknown (evidence), which filing counts for a day (statements).
"""

from collections.abc import Iterable, Mapping
from itertools import chain

import msgspec

from pipelines.normalize.balance.reading import TOTALS_OF_BALANCE_SHEETS, Filing, Reading
from pipelines.normalize.balance.totals import NOT_STATED, Day
from pipelines.normalize.elements.lines import (
    ASSETS,
    BOTH_SIDES,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    LIABILITIES,
    LINES,
    NET_ASSETS,
    NONCURRENT_LIABILITIES,
    SECTION_TOTALS,
    TOTAL_ELEMENTS,
)
from pipelines.normalize.rule import Rule

DEBT, CASH_ITEM = "total_debt", "cash_and_equivalents"

OF_LINES = Rule(
    "balance.line",
    "An amount is a line of the balance sheet if the lines of its section add up with it to their total, or if its "
    "element usually is one and no other stated line includes it.",
    f"{TOTALS_OF_BALANCE_SHEETS}; definitions of the taxonomies",
    "select",
)
OF_FACE = Rule(
    "balance.line-of-face",
    "An amount is a line of the balance sheet if the face of the balance sheet shows it; an element of the filer's own "
    "is what the words of the line say.",
    f"{TOTALS_OF_BALANCE_SHEETS}; Regulation S-X Rule 5-02; the words are reviewed in faces/words.csv",
    "select",
)
ADDS_UP = {
    section: Rule(id, f"The lines of the {section} add up to their total.", TOTALS_OF_BALANCE_SHEETS, "select")
    for section, id in (
        (CURRENT_ASSETS, "balance.adds-up.current-assets"),
        (CURRENT_LIABILITIES, "balance.adds-up.current-liabilities"),
        (NONCURRENT_LIABILITIES, "balance.adds-up.noncurrent-liabilities"),
        (LIABILITIES, "balance.adds-up.liabilities"),
    )
}
"""For each section, the identity that its lines add up to its total."""
RULES = tuple(ADDS_UP.values())

FLAGS = (
    DERIVED_LINE,
    INCLUDES_FINANCE_LEASES,
    INCLUDES_FINANCED_PREMIUMS,
    MAY_BE_PRINCIPAL,
    MAY_INCLUDE_RESTRICTED,
    MAY_LACK_DEPOSITS,
    TOTAL_CONTRADICTS_PARTS,
) = (
    "derived_line",
    "includes_finance_leases",
    "includes_financed_premiums",
    "may_be_principal",
    "may_include_restricted_cash",
    "may_lack_interest_bearing_deposits",
    "total_contradicts_parts",
)
"""Flags of debt and cash (warehouse.contract.vocabulary has their meaning in words)."""

OF_ZERO = (*SECTION_TOTALS[CURRENT_LIABILITIES], *SECTION_TOTALS[LIABILITIES], *ASSETS, *BOTH_SIDES, NET_ASSETS)
"""Totals that are given as the source of a debt of zero; every balance sheet has one of them."""


class Value(msgspec.Struct, frozen=True, gc=False):
    """An item of one day as one filing states it.

    rule: the rule that composed it, or that withholds it. value: None if a part of it is unknown.
    reason: the reason of the gap, if the value is None.
    is_proved: whether the totals prove it. lines: the value without debt inside other lines.
    elements: the elements of its lines that are not zero.
    facts: the rows of the facts that it consists of, each with its coefficient: 1 for a line; for a zero 1 for the
        liabilities and -1 for each of their lines, or 0 for totals that only support it.
    grain: the power of ten to which amounts are rounded, times the number of lines.
    flag: the flag of a line. sections: the sections that add up, each with the sum of its lines and its total.
    sides: both sides of the failed identity for which it is withheld.
    is_stated_zero: whether lines of each section are stated as zero.
    is_single: whether its day has no balance sheet; then it can only restate another value.
    of_face: whether the face of the balance sheet shows its lines.
    withdraws: the number (`seq`) of an earlier filing whose value of the day this filing withdraws; else None.
    """

    cik: int
    seq: int
    day: int
    item: str
    rule: Rule
    value: float | None
    is_proved: bool = False
    lines: float = 0.0
    elements: frozenset[str] = frozenset()
    facts: tuple[tuple[int, float], ...] = ()
    grain: float = 1.0
    flag: str | None = None
    sections: tuple[tuple[str, float, float], ...] = ()
    reason: str = ""
    sides: tuple[float, float] | None = None
    is_stated_zero: bool = False
    is_single: bool = False
    of_face: bool = False
    withdraws: int | None = None

    @property
    def amount(self) -> float:
        """The value; zero without one."""
        return self.value or 0.0

    def withheld(self, rule: Rule, reason: str, sides: tuple[float, float] | None = None) -> "Value":
        """A copy without the amount, with the rule and the reason for which it is withheld."""
        return msgspec.structs.replace(
            self, rule=rule, value=None, is_proved=False, reason=reason, sides=sides, facts=(), sections=(), flag=None
        )


Known = Mapping[tuple[str, int], Value]
"""Values by their item and day."""


def amount(stated: Day, element: str) -> float:
    """The stated amount of an element; zero if it is not stated."""
    return stated[element][0] if element in stated else 0.0


def first_amount(stated: Day, elements: Iterable[str]) -> float:
    """The amount of the first element that is stated; zero if no element is stated."""
    for element in elements:
        if element in stated:
            return stated[element][0]
    return 0.0


def sum_of(stated: Day, elements: Iterable[str]) -> float:
    """The sum of the stated amounts of the elements."""
    return sum([stated[element][0] for element in elements if element in stated])


def nonzero(stated: Day, elements: Iterable[str]) -> frozenset[str]:
    """The elements that are stated and not zero."""
    return frozenset([element for element in elements if element in stated and stated[element][0]])


def is_of_face(filing: Filing, item: str) -> bool:
    """Whether the lines of an item are read from the face of the balance sheet."""
    sections = {CURRENT_ASSETS} if item == CASH_ITEM else {CURRENT_LIABILITIES, LIABILITIES}
    return not sections.isdisjoint(filing.face_sections)


def adds_up(filing: Filing, read: Reading, day: int) -> tuple[str, float, float]:
    """A section with the sum of its lines and its total on a day."""
    lines = sum_of(filing.days[day], (group[0] for group in read.readings[0]))
    return read.section, lines, filing.totals[day][read.section]


def proved_section(filing: Filing, section: str, day: int) -> Reading | None:
    """The section of a day, if its lines add up."""
    read = filing.sections.get(section)
    return read if read is not None and ADDS_UP[section].where(day in read.days) else None


def agreed(read: Reading, stated: Day, kinds: tuple[str, ...]) -> tuple[str, ...] | None:
    """The elements of the lines that have one of the given classes (`kinds`); None if they are not certain.

    They are not certain if the possible readings have different sums, or if elements with the same amount belong to
    different classes.
    """
    table = LINES[read.section]
    if any(
        len({table[element].kind in kinds for element in group if table[element].usual}) > 1
        for group in chain(*read.readings)
        if len(group) > 1
    ):
        return None
    found = [[group[0] for group in lines if table[group[0]].kind in kinds] for lines in read.readings]
    if len({sum_of(stated, elements) for elements in found}) > 1:
        return None
    return tuple(element for element in found[0] if element in stated)


def lines_of(filing: Filing, section: str, day: int) -> tuple[str, ...]:
    """The lines of a section on a day: the lines that add up, else the likeliest ones."""
    read = proved_section(filing, section, day)
    if read is None:
        return filing.likely.get((section, day), ())
    return tuple(group[0] for group in read.readings[0] if amount(filing.days[day], group[0]))


SAME_DEBT = 0.01
"""Two amounts that differ by at most one per cent may be the same one, before and after issue costs."""


def without_repeated(filing: Filing, day: int, section: str, elements: list[str]) -> list[str]:
    """Drop the line by which the likeliest lines of the section exceed its total: it is part of another line."""
    total = filing.totals[day].get(section)
    if total is None:
        return elements
    stated = filing.days[day]
    more = sum_of(stated, filing.likely_lines(section, day)) - total
    repeated = [
        name
        for name in elements
        if amount(stated, name) <= total and abs(amount(stated, name) - more) <= SAME_DEBT * more
    ]
    return [name for name in elements if name not in repeated[:1]]


def total_contradicts(stated: Day, section: str) -> bool:
    """Whether an element that is a total by definition is more than one per cent less than its stated lines."""
    table = LINES[section]
    for total in TOTAL_ELEMENTS & stated.keys() & table.keys():
        parts = {name for name in stated.keys() & table.keys() if total in table[name].part_of and table[name].usual}
        lines = [name for name in parts if table[name].part_of.isdisjoint(parts)]
        amounts = {amount(stated, name) for name in lines if table[name].kind == table[total].kind}
        if sum(amounts) > amount(stated, total) * (1 + SAME_DEBT) > 0:
            return True
    return False


def legs(filing: Filing, day: int, elements: Iterable[str]) -> tuple[tuple[int, float], ...]:
    """The facts that lines consist of, each with its coefficient."""
    return filing.facts(day, tuple((element, 1.0) for element in elements))


def has_rest(stated: Day, elements: Iterable[str]) -> bool:
    """Whether one of the lines is derived as the remainder of the total."""
    return any(stated[element][1] == NOT_STATED for element in elements)
