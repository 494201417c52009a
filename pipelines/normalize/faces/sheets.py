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

from pipelines.normalize.elements.lines import (
    ASSETS,
    BOTH_SIDES,
    CASH,
    COUNTED,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    IFRS_PREFIX,
    LIABILITIES,
    LINES,
    NET_ASSETS,
    NONCURRENT_LIABILITIES,
    OTHER,
    PLACES,
    SECTION_TOTALS,
    TOTALS,
    face_line,
)
from pipelines.normalize.faces.words import ASSETS_SIDE, LIABILITIES_SIDE, kind_of

WITH_RESTRICTED = (
    "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
    "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsIncludingDisposalGroupAndDiscontinuedOperations",
)
"""Elements that some filers use for a line of cash alone: the words of the line decide."""
OF_RELATED_PARTIES = re.compile("^DueTo")
"""Elements of amounts due to others, which the words of the line can show to be a loan or a note."""

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

    way: the calculation of the filing, or the place between the totals.
    """

    section: str
    way: str
    name: str
    line: FaceLine


CALCULATION, PLACE = WAYS = ("calculation", "place")


class Names:
    """The names of the lines of a filer whose elements are not in the table: one element and member, one name."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], dict[tuple[str, str | None], int]] = defaultdict(dict)

    def name(self, section: str, line: FaceLine) -> str | None:
        """The name of a line in the table of its section; None if the section has too many lines of the class."""
        table, row = LINES[section], None if line.own or line.member else LINES[section].get(line.element)
        side = ASSETS_SIDE if section == CURRENT_ASSETS else LIABILITIES_SIDE
        kind = row.kind if row else None
        if line.element in WITH_RESTRICTED and not line.member:
            kind, row = (kind, row) if "restricted" in line.label.lower() else (CASH, None)
        elif row and OF_RELATED_PARTIES.match(line.element):
            kind, row = (kind, row) if kind_of(side, line.label) not in COUNTED else (kind_of(side, line.label), None)
        if row:
            return line.element
        if kind is None and not line.own and (known := table.get(line.element)):
            kind = known.kind
        if kind is None:
            kind = kind_of(side, line.label, line.element.removeprefix(IFRS_PREFIX), line.heading)
        kind = kind if kind in PLACES else OTHER
        of_kind = self._of[section, kind]
        number = of_kind.setdefault((line.element, line.member), len(of_kind))
        return face_line(section, kind, number) if number < PLACES[kind] else None


def section_lines(face: Sequence[FaceLine], headings: Mapping[int, str], names: Names) -> Iterator[SectionLine]:
    """The lines of the sections of one balance sheet, by either way.

    Args:
        face: its lines, in their order.
        headings: the words of the headings, by the place of the line that follows each.
        names: of the filer's lines.
    """
    shown = {line.element for line in face}
    is_classified = not shown.isdisjoint(SECTION_TOTALS[CURRENT_LIABILITIES])
    by_calculation = _by_calculation(face, is_classified=is_classified)
    by_place = _by_place(face, headings, is_classified=is_classified)
    for way, of_way in ((CALCULATION, by_calculation), (PLACE, by_place)):
        for section, lines in of_way.items():
            for line in lines:
                if name := names.name(section, line):
                    yield SectionLine(section, way, name, line)


def _by_calculation(face: Sequence[FaceLine], *, is_classified: bool) -> dict[str, list[FaceLine]]:
    """The lines of each section, as the calculation adds them to its total, without subtotals."""
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
        if section is None and total in BOTH_SIDES:
            section = None if _is_equity(line) else NONCURRENT_LIABILITIES if is_classified else LIABILITIES
        if section:
            found[section].append(line)
    return {section: _without_subtotals(section, lines) for section, lines in found.items()}


def _chain(element: str | None, parents: Mapping[str, str | None]) -> Iterator[str]:
    for _ in range(_MOST_STEPS):
        if not element:
            return
        yield element
        element = parents.get(element)


def _without_subtotals(section: str, lines: Iterable[FaceLine]) -> list[FaceLine]:
    """The lines without subtotals of others; of one that is itself debt, cash or securities without its parts."""
    lines = list(lines)
    children = {line.parent for line in lines}
    subtotals = {line.element for line in lines if line.element in children}
    if not subtotals:
        return lines
    table = LINES[section]
    whole = {one for one in subtotals if one in table and table[one].kind in COUNTED}
    whole |= {line.parent for line in lines if line.parent in subtotals and line.weight < 0}
    parents = {line.element: line.parent for line in lines}
    return [
        line
        for line in lines
        if (line.element not in subtotals or line.element in whole)
        and whole.isdisjoint(_chain(line.parent, parents))
    ]


def _by_place(
    face: Sequence[FaceLine], headings: Mapping[int, str], *, is_classified: bool
) -> dict[str, list[FaceLine]]:
    """The lines of each section: those before its total; current assets that have none are all before the assets."""
    found: dict[str, list[FaceLine]] = {}
    pending: list[FaceLine] = []
    rest = NONCURRENT_LIABILITIES if is_classified else LIABILITIES
    is_ended = False
    for place, line in enumerate(face):
        of_equity = line.element in _EQUITY or line.element in BOTH_SIDES
        heading = headings.get(place, "")
        begins_equity = bool(_EQUITY_WORDS.search(heading)) and "liabilit" not in heading
        if (of_equity or begins_equity) and not is_ended and not found.keys().isdisjoint(_BEFORE_EQUITY):
            liabilities = [one for one in pending if not _is_equity(one)]
            if liabilities:
                found.setdefault(rest, liabilities)
            is_ended, pending = True, []
        if line.element not in _ALL_TOTALS:
            pending.append(line)
        elif not line.member:
            section = _SECTION_OF.get(line.element)
            section = rest if section == LIABILITIES else section
            if section:
                found.setdefault(section, pending)
            elif line.element in ASSETS:
                found.setdefault(CURRENT_ASSETS, pending)
            pending = []
    return {section: _without_subtotals(section, lines) for section, lines in found.items()}


def _is_equity(line: FaceLine) -> bool:
    """Whether a line is of the equity: by its element or its total."""
    return line.element in _EQUITY or line.parent in _EQUITY or bool(_OF_EQUITY.match(line.element))
