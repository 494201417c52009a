"""Balance sheets as they are judged: the lines and totals of one day, and those of the filings before.

Belongs here: what a value is compared with. Does not: what follows for it (bounds, unknown, evidence).
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.short_term import SHORT_TERM
from pipelines.normalize.balance.totals import Day, sections_of
from pipelines.normalize.balance.values import CASH_ITEM, DEBT, Value, first_amount, lines_of, sum_of
from pipelines.normalize.elements.lines import (
    ALL_DEBT,
    ASSETS,
    BORROWING,
    COUNTED,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    LIABILITIES,
    LINES,
    LONG_TERM_DEBT,
    NONCURRENT_LIABILITIES,
    SECURITY,
)
from warehouse.sections import SECTIONS

REPORTS = 4
"""A line that no report of a year states counts as zero."""
QUARTERS = 460
"""Balance sheets are compared if they are at most five quarters apart, in days."""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of an item that a filer can stop stating.

    section, elements: of the lines. names: elements that show that a line is stated, or a total that includes it.
    """

    item: str
    section: str
    elements: frozenset[str]
    names: frozenset[str]


def _group(section: str, kind: str, wholes: tuple[str, ...], of: Iterable[str] | None = None) -> Group:
    lines = {name: LINES[section][name] for name in of or LINES[section] if LINES[section][name].kind == kind}
    return Group(
        CASH_ITEM if kind == SECURITY else DEBT,
        section,
        frozenset(lines),
        frozenset((*wholes, *(name for name in lines if lines[name].usual))),
    )


GROUPS = {
    "current_debt": _group(CURRENT_LIABILITIES, BORROWING, (*LONG_TERM_DEBT, *ALL_DEBT)),
    "short_term_debt": _group(CURRENT_LIABILITIES, BORROWING, ALL_DEBT, SHORT_TERM),
    "noncurrent_debt": _group(NONCURRENT_LIABILITIES, BORROWING, (*LONG_TERM_DEBT, *ALL_DEBT)),
    "securities": _group(CURRENT_ASSETS, SECURITY, ("CashCashEquivalentsAndShortTermInvestments",)),
}
"""The groups of lines that a filer can stop stating; the reason of the gap is their name and `_not_shown`."""


TABLES = {
    item: {name: line for section in sections for name, line in LINES[section].items() if line.kind in COUNTED}
    for item, sections in SECTIONS.items()
}
"""For each item the elements that can be a part of it."""


class Sheet(msgspec.Struct, frozen=True):
    """The balance sheet of one day as one filing states it.

    lines: for each section its lines. totals: of each section. parts: the amounts of GROUPS. assets: the total assets.
    """

    day: int
    stated: Day
    lines: Mapping[str, tuple[str, ...]]
    totals: Mapping[str, float]
    parts: Mapping[str, float]
    assets: float

    @classmethod
    def of(cls, filing: Filing, day: int) -> "Sheet":
        """The balance sheet of a day of a filing."""
        stated = filing.days[day]
        lines = {section: lines_of(filing, section, day) for section in sections_of(stated)}
        parts = {
            name: sum(stated[one][0] for one in lines.get(group.section, ()) if one in group.elements)
            for name, group in GROUPS.items()
        }
        return cls(day, stated, lines, filing.totals[day], parts, first_amount(stated, ASSETS))

    def sum_of(self, section: str, *kinds: str) -> float:
        """The lines of some classes of a section."""
        table = LINES[section]
        return sum(self.stated[name][0] for name in self.lines.get(section, ()) if table[name].kind in kinds)

    @property
    def liabilities(self) -> float | None:
        """Total liabilities, of a classified balance sheet too."""
        if self.totals.keys().isdisjoint((NONCURRENT_LIABILITIES, LIABILITIES)):
            return None
        return sum(self.totals[section] for section in SECTIONS[DEBT] if section in self.totals)

    def left(self, section: str) -> float | None:
        """What all lines leave of the total of a section; None without a total."""
        return self.totals[section] - sum_of(self.stated, self.lines[section]) if section in self.totals else None


@dataclass(slots=True)
class History:
    """The balance sheets of a filer before, the newest last, the values of their own days, and the filer's industry.

    lost: of each item the section that lost a line, and the rest as long as it is lost (unknown.lost_line).
    served: the values of the newest filings, each with the balance sheets of its day and of its filing's own day.
    """

    sheets: deque[Sheet] = field(default_factory=lambda: deque(maxlen=REPORTS + 1))
    values: dict[tuple[str, int], Value] = field(default_factory=dict)
    became_due: int = 0
    due_since: int = -REPORTS
    installments_since: int = -REPORTS
    is_part: bool = False
    last_with: dict[str, tuple[Sheet, int]] = field(default_factory=dict)
    lost: dict[str, tuple[str, float]] = field(default_factory=dict)
    filings: int = 0
    served: deque[tuple[Value, Sheet, Sheet]] = field(default_factory=lambda: deque(maxlen=4 * (REPORTS + 2)))
    industry: str = ""


class Case(msgspec.Struct, frozen=True):
    """A value that is judged, with its balance sheet.

    compared: the other columns of the filing, and the newest balance sheet of the filing before, if they are earlier.
    """

    value: Value
    sheet: Sheet
    filing: Filing
    history: History
    compared: tuple[Sheet, ...]
