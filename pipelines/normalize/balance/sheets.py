"""Types for checking debt and cash: the balance sheet of a day, the filer's earlier ones, and the value to check.

Belongs here: the data with which a value is compared. Does not: the checks (bounds, unknown), what they withhold
(evidence).
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from pipelines.normalize.balance.reading import Filing
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
    SHORT_TERM,
)
from warehouse.contract.sections import SECTIONS

REPORTS = 4
"""The number of reports in a year; a line that none of them states counts as zero."""
QUARTERS = 460
"""The longest time between two balance sheets that are compared: five quarters, in days."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of debt or cash lines that a filer can stop reporting.

    section: the section of the lines. elements: their elements.
    names: elements that show that a line of the group is stated, or a total that includes it.
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
"""The groups of lines that a filer can stop reporting; the reason of the gap is the group's name plus `_not_shown`."""


TABLES = {
    item: {name: line for section in sections for name, line in LINES[section].items() if line.kind in COUNTED}
    for item, sections in SECTIONS.items()
}
"""For each item, the lines that can be a part of it, by element."""


class Sheet(msgspec.Struct, frozen=True, gc=False):
    """The balance sheet of one day as one filing states it.

    lines: the lines of each section. totals: the total of each section. parts: the amount of each of GROUPS.
    assets: total assets.
    """

    day: int
    stated: Day
    lines: Mapping[str, tuple[str, ...]]
    totals: Mapping[str, float]
    parts: Mapping[str, float]
    assets: float

    @classmethod
    def of(cls, filing: Filing, day: int) -> "Sheet":
        """Collect the balance sheet of a day from a filing."""
        stated = filing.days[day]
        lines = {section: lines_of(filing, section, day) for section in sections_of(stated)}
        parts = {
            name: sum([stated[one][0] for one in lines.get(group.section, ()) if one in group.elements])
            for name, group in GROUPS.items()
        }
        return cls(day, stated, lines, filing.totals[day], parts, first_amount(stated, ASSETS))

    def sum_of(self, section: str, *kinds: str) -> float:
        """The sum of a section's lines that have one of the given classes."""
        table = LINES[section]
        return sum([self.stated[name][0] for name in self.lines.get(section, ()) if table[name].kind in kinds])

    @property
    def liabilities(self) -> float | None:
        """Total liabilities; in a classified balance sheet, current plus non-current. None if not known."""
        if self.totals.keys().isdisjoint((NONCURRENT_LIABILITIES, LIABILITIES)):
            return None
        return sum(self.totals[section] for section in SECTIONS[DEBT] if section in self.totals)

    def left(self, section: str) -> float | None:
        """The total of a section less all of its lines; None without a total."""
        return self.totals[section] - sum_of(self.stated, self.lines[section]) if section in self.totals else None


@dataclass(slots=True)
class History:
    """The earlier balance sheets of a filer, the newest last, and what the checks keep from one filing to the next.

    values: the value of each item and day, from the first filing that states it.
    became_due: how often debt fell due without a current line. due_since, installments_since: the number of the filing
        in which debt fell due, or equal installments were paid, most recently.
    is_part: whether long-term debt was less than its non-current part when both were last stated.
    last_with: for each of GROUPS the newest balance sheet that has it, and the number of its filing.
    lost: for each item the section that lost a line, and the least remainder with which it stays lost
        (unknown.lost_line).
    filings: the number of filings so far.
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


class Case(msgspec.Struct, frozen=True, gc=False):
    """A value to check, with its balance sheet, its filing and the filer's history.

    compared: earlier balance sheets: other columns of the filing, and the newest balance sheet of the previous filing.
    """

    value: Value
    sheet: Sheet
    filing: Filing
    history: History
    compared: tuple[Sheet, ...]
