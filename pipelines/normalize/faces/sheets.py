"""The lines of the sections of a balance sheet, as its face shows them.

Belongs here: the section of each line, by the calculation of the filing and by its place between the totals. Does not:
whether the lines add up (balance.reading), the words of lines (words), the amounts (facts).

A line belongs to the total to which the calculation adds it, or else to the first total of a section below it. Both are
kept where they differ, because a calculation can be wrong, and a place, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pipelines.normalize.elements.lines import (
    ASSETS,
    BORROWING,
    BOTH_SIDES,
    CASH,
    COUNTED,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    IFRS_PREFIX,
    LIABILITIES,
    LINES,
    MOST_FACE_LINES,
    NET_ASSETS,
    NONCURRENT_LIABILITIES,
    OTHER,
    RESTRICTED,
    SECTION_TOTALS,
    SECTIONS,
    SECURITY,
    TOTALS,
    face_line,
)
from pipelines.normalize.faces.words import ASSETS_SIDE, LIABILITIES_SIDE, kind_of, kind_of_liability, plain

WITH_RESTRICTED = (
    "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
    "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsIncludingDisposalGroupAndDiscontinuedOperations",
)
"""Elements that some filers use for a line of cash alone: the words of the line decide."""
_DUE_TO = re.compile("DueTo")
_MERELY_DUE = re.compile(r"(amounts? )?(due|owed) to (?!.*\b(notes?|loans?|banks?)\b)")

_EQUITY = frozenset(TOTALS[TOTALS.index("StockholdersEquity") :]) | {NET_ASSETS, "PartnersCapital", "MembersEquity"}
_OTHER_TOTALS = frozenset(("AssetsNoncurrent", "ifrs-full:NoncurrentAssets", *ASSETS, *BOTH_SIDES, *_EQUITY))
_ALL_TOTALS = _OTHER_TOTALS.union(*SECTION_TOTALS.values())
_SECTION_OF = {total: section for section, totals in SECTION_TOTALS.items() for total in totals}
_EQUITY_WORDS = re.compile(r"\b(equity|deficit|deficiency|capital|stockholders|shareholders)\b")
_OF_EQUITY = re.compile(
    "(ifrs-full:)?(CommonStock|CommonUnit|PreferredStock|AdditionalPaidIn|RetainedEarnings|TreasuryStock|TreasuryShares|"
    "AccumulatedOtherComprehensive|AccumulatedDistributions|DeferredCompensationEquity|PartnersCapital|MembersEquity|"
    "LimitedPartners|GeneralPartners|UnearnedESOP|DevelopmentStage|IssuedCapital|SharePremium|OtherReserves|OtherEquity)"
)
"""Elements of equity, for faces without a calculation."""
_BEFORE_EQUITY = (CURRENT_ASSETS, CURRENT_LIABILITIES, NONCURRENT_LIABILITIES, LIABILITIES)
_CAPITALIZATION = re.compile("total capitali[sz]ation", re.IGNORECASE)
"""Equity and long-term debt together, with which the balance sheet of a utility begins."""
_SUBTOTAL = re.compile(r"total (?!cash)", re.IGNORECASE)
_CURRENT = re.compile("Current$|ShortTerm|Shortterm")
_SAYS_CURRENT = re.compile("short[- ]term|treasury bills", re.IGNORECASE)
_MOST_STEPS = 12
"""A calculation has fewer levels."""


@dataclass(frozen=True, slots=True)
class FaceLine:
    """A line of a balance sheet.

    element: with the prefix of IFRS where it is of that taxonomy. own: whether the filer defines it.
    member: the dimensions; None: the company as a whole. heading: the words of the heading above.
    parent, weight: by the calculation of the filing.
    """

    element: str
    own: bool
    member: str | None
    label: str
    heading: str
    parent: str | None
    weight: float


@dataclass(frozen=True, slots=True)
class SectionLine:
    """A line of a section: its name in elements.lines.LINES, and the line of the face.

    way: the calculation of the filing; the place between the totals; for current assets also the place from the first
        line of cash on; or none: a line below all totals.
    """

    section: str
    way: str
    name: str
    line: FaceLine


CALCULATION, PLACE, FROM_CASH, BELOW_TOTALS = WAYS = ("calculation", "place", "from cash", "none")


class Names:
    """Names for lines of a filer with elements that are not in the table: one name for each element and member."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], dict[tuple[str, str | None], int]] = defaultdict(dict)

    def name(self, section: str, line: FaceLine) -> str | None:
        """The name of a line in the table of its section; None if the section has too many lines of the class."""
        kind, is_in_table = kind_in(section, line)
        if is_in_table:
            return line.element
        of_kind = self._of[section, kind]
        number = of_kind.setdefault((line.element, line.member), len(of_kind))
        return face_line(section, kind, number) if number < MOST_FACE_LINES[section][kind] else None


def kind_in(section: str, line: FaceLine) -> tuple[str, bool]:
    """The class of a line of a section, and whether its element is in the table of lines with this class.

    The element decides, then the words of the label. For an element that some filers use for another class, the words
    decide.
    """
    row = None if line.own else LINES[section].get(line.element)
    is_liability = section != CURRENT_ASSETS
    if line.element in WITH_RESTRICTED and "restricted" not in line.label.lower():
        return CASH if section == CURRENT_ASSETS else OTHER, False
    if row and is_liability and (said := _of_related_party(row.kind, line)):
        return said, False
    if row:
        return row.kind if line.member is None or row.kind in MOST_FACE_LINES[section] else OTHER, line.member is None
    if not is_liability:
        kind = kind_of(ASSETS_SIDE, line.label, line.element) if line.own else OTHER
    else:
        kind = kind_of_liability(line.label, line.element.removeprefix(IFRS_PREFIX), line.heading)
    return kind if kind in MOST_FACE_LINES[section] else OTHER, False


def _of_related_party(kind: str, line: FaceLine) -> str | None:
    """The class that the words of a line show against its standard element; None if they show no other class.

    An amount due to a related party is a borrowing if the line says loan or note, and no borrowing if it only says due.
    """
    if kind == BORROWING:
        return OTHER if _MERELY_DUE.match(plain(line.label)) else None
    said = kind_of(LIABILITIES_SIDE, line.label) if _DUE_TO.match(line.element) else None
    return said if said == BORROWING else None


def section_lines(face: Sequence[FaceLine], headings: Mapping[int, str], names: Names) -> list[SectionLine]:
    """The lines of the sections of one balance sheet, by each way; empty if a section has too many lines of a class.

    Args:
        face: its lines, in their order.
        headings: the words of the headings, by the place of the line that follows each.
        names: of the filer's lines.
    """
    shown = {line.element for line in face}
    is_classified = not shown.isdisjoint(SECTION_TOTALS[CURRENT_LIABILITIES])
    by_calculation = _by_calculation(face, is_classified=is_classified)
    by_place = _by_place(face, headings, is_classified=is_classified)
    has_current_assets = not shown.isdisjoint(SECTION_TOTALS[CURRENT_ASSETS])
    of_cash = by_place.get(CURRENT_ASSETS, [])
    first = next((place for place, line in enumerate(of_cash) if kind_in(CURRENT_ASSETS, line)[0] == CASH), 0)
    from_cash = {CURRENT_ASSETS: of_cash[first:]} if first else {}
    found = []
    for way, of_way in ((CALCULATION, by_calculation), (PLACE, by_place), (FROM_CASH, from_cash)):
        for section, lines in of_way.items():
            for line in lines:
                name = names.name(section, line)
                if name is None:
                    return []
                if section != CURRENT_ASSETS or has_current_assets or _is_of_cash(name, line):
                    found.append(SectionLine(section, way, name, line))
    last = max((place for place, line in enumerate(face) if line.element in BOTH_SIDES), default=len(face))
    below = [
        line for line in face[last + 1 :] if not line.parent and not line.member and line.element not in _ALL_TOTALS
    ]
    for section, line in product(SECTIONS, below):
        kind, is_in_table = kind_in(section, line)
        if (is_in_table or kind == OTHER) and (name := names.name(section, line)):
            found.append(SectionLine(section, BELOW_TOTALS, name, line))
    return found


def _is_of_cash(name: str, line: FaceLine) -> bool:
    """Whether a line of all assets counts as cash: securities only if the element or the label says current."""
    kind = LINES[CURRENT_ASSETS][name].kind
    is_current = _CURRENT.search(line.element) or _SAYS_CURRENT.search(line.label)
    return kind in (CASH, RESTRICTED) or (kind == SECURITY and bool(is_current))


def _by_calculation(face: Sequence[FaceLine], *, is_classified: bool) -> dict[str, list[FaceLine]]:
    """The lines of each section, without subtotals, as the calculation adds them to the total of the section."""
    parents = {line.element: line.parent for line in face if line.parent}
    found: dict[str, list[FaceLine]] = defaultdict(list)
    for line in face:
        if line.element in _ALL_TOTALS:
            continue
        chain = [*_chain(line.parent, parents)]
        total = next((each for each in chain if each in _ALL_TOTALS), None)
        section = _SECTION_OF.get(total or "")
        if section == LIABILITIES and is_classified:
            section = NONCURRENT_LIABILITIES
        elif section in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES) and not is_classified:
            section = LIABILITIES
        if section is None and total in BOTH_SIDES:
            section = None if _is_equity(line) else NONCURRENT_LIABILITIES if is_classified else LIABILITIES
        if section:
            found[section].append(line)
    return {section: _without_subtotals(section, lines, is_total=True) for section, lines in found.items()}


def _chain(element: str | None, parents: Mapping[str, str | None]) -> Iterator[str]:
    for _ in range(_MOST_STEPS):
        if not element:
            return
        yield element
        element = parents.get(element)


def _without_subtotals(section: str, lines: Iterable[FaceLine], *, is_total: bool) -> list[FaceLine]:
    """The lines without subtotals; a subtotal that is itself debt, cash or securities stays, without its parts.

    Without a total of the section (`is_total`), a subtotal of securities may be of any term, so its parts count.
    """
    lines = list(lines)
    children = {line.parent for line in lines}
    subtotals = {line.element for line in lines if line.element in children}
    if not subtotals:
        return lines
    table = LINES[section]
    kinds = COUNTED if is_total else (CASH,)
    whole = {one for one in subtotals if one in table and table[one].kind in kinds}
    whole |= {line.parent for line in lines if line.parent in subtotals and line.weight < 0}
    parents = {line.element: line.parent for line in lines}
    return [
        line
        for line in lines
        if (line.element not in subtotals or line.element in whole) and whole.isdisjoint(_chain(line.parent, parents))
    ]


def _by_place(
    face: Sequence[FaceLine], headings: Mapping[int, str], *, is_classified: bool
) -> dict[str, list[FaceLine]]:
    """The lines of each section: all before its total; current assets without a total: all before total assets."""
    found: dict[str, list[FaceLine]] = {}
    pending: list[FaceLine] = []
    rest = NONCURRENT_LIABILITIES if is_classified else LIABILITIES
    is_ended = has_total = False
    for place, line in enumerate(face):
        of_equity = line.element in _EQUITY or line.element in BOTH_SIDES
        heading = headings.get(place, "")
        begins_equity = _is_equity(line) or (bool(_EQUITY_WORDS.search(heading)) and "liabilit" not in heading)
        if (of_equity or begins_equity) and not is_ended and not found.keys().isdisjoint(_BEFORE_EQUITY):
            if not has_total:
                found.setdefault(rest, []).extend(pending)
            is_ended, pending = True, []
        if line.element not in _ALL_TOTALS and _CAPITALIZATION.search(line.label):
            found.setdefault(rest, []).extend(one for one in pending if not _is_equity(one))
            pending = []
        elif line.element not in _ALL_TOTALS:
            pending += [line] if line.parent or not _SUBTOTAL.match(line.label) else []
        elif not line.member:
            section = _SECTION_OF.get(line.element)
            section = rest if section == LIABILITIES else section
            has_total |= line.element in SECTION_TOTALS[LIABILITIES]
            if section == rest:
                found.setdefault(rest, []).extend(pending)
            elif section:
                found.setdefault(section, pending)
            elif line.element in ASSETS:
                found.setdefault(CURRENT_ASSETS, pending)
            pending = []
    shown = {line.element for line in face}
    has_current_assets = not shown.isdisjoint(SECTION_TOTALS[CURRENT_ASSETS])
    return {
        section: _without_subtotals(section, lines, is_total=section != CURRENT_ASSETS or has_current_assets)
        for section, lines in found.items()
    }


def _is_equity(line: FaceLine) -> bool:
    """Whether a line belongs to equity, by its element or its total."""
    return line.element in _EQUITY or line.parent in _EQUITY or bool(_OF_EQUITY.match(line.element))
