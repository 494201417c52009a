"""The values of a company in the order of its periods.

Belongs here: which periods are shown, the value a year before, the position of breaks. Does not: the queries
(warehouse.queries.page_queries), formatting (figures), tables and charts (sheet, charts).
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from operator import attrgetter
from statistics import median_low
from typing import NamedTuple

from warehouse.contract.views import RECAST_BY, RECASTED, SHORTEST_YEAR
from warehouse.queries.page_queries import Break, Gap, Stated

DAYS_A_YEAR = 365.25
DRIFT = 30
"""Days by which the ends of the same period of two years may differ, because a year of 52 weeks is shorter."""

RECAST = math.log(RECAST_BY)
"""Logarithm of the change from which a restatement counts as a change of the scope of the business."""

A_YEAR = timedelta(days=SHORTEST_YEAR)

BROKEN, RECAST_BETWEEN = "break", "not comparable"
"""Reasons why values of two years cannot be compared."""

BREAKS = {
    "entity": "another company",
    "standards": "other accounting standards",
    "purchasing_power": "another purchasing power",
    "recast": "another scope of the business",
}
"""What changes at a break, by its kind."""

INTERIM = ("Q1", "Q3")  # quarters that only companies with quarterly reports have
OLD = {True: 275, False: 500}
"""Days after which the newest period of a company is old, with and without quarterly reports: the next report was due
(Form 10-K: 60 to 90 days after the year, Form 10-Q: 40 or 45 days after the quarter, Form 20-F: four months).
"""


class Slot(NamedTuple):
    """A period: its kind, last day and label; the label is empty for a period without any report."""

    kind: str
    end: date
    label: str

    @property
    def is_ttm(self) -> bool:
        """Whether it is trailing twelve months to a quarter end."""
        return self.kind == "ttm"


class History:
    """All values of a company."""

    def __init__(self, stated: Sequence[Stated], gaps: Sequence[Gap], breaks: Sequence[Break] = ()) -> None:
        """Index the rows of page_queries."""
        self.breaks = breaks
        self._values = {(value.item, value.kind, date.fromisoformat(value.period_end)): value for value in stated}
        self._gaps = {(gap.item, gap.kind, date.fromisoformat(gap.period_end)): gap.reason for gap in gaps}
        labels = {(kind, end): value.period for (_, kind, end), value in self._values.items()}
        self._slots: dict[str, list[Slot]] = defaultdict(list)
        self._befores: dict[Slot, Slot | None] = {}
        self._recast_years: dict[str, list[tuple[date, str]]] = {}
        for (kind, end), label in sorted(labels.items()):
            self._slots[kind].append(Slot(kind, end, label))

    @property
    def kinds(self) -> list[str]:
        """The kinds of periods that have values."""
        return [kind for kind, held in self._slots.items() if held]

    @property
    def newest(self) -> Slot | None:
        """The newest twelve months, or the newest fiscal year of a company that has no twelve months."""
        held = self._slots["ttm"] or self._slots["annual"]
        return held[-1] if held else None

    def slots(self, kind: str, reach: int | None) -> list[Slot]:
        """The periods of a kind, oldest first.

        Args:
            kind: `ttm` or `annual`.
            reach: number of years before the newest period; None for all.
        """
        held = self._slots[kind]
        return [slot for slot in held if reach is None or (held[-1].end - slot.end).days < reach * DAYS_A_YEAR - DRIFT]

    def without_holes(self, slots: Sequence[Slot]) -> list[Slot]:
        """The periods, plus one without a label for each period that is missing between two others."""
        if len(slots) < 2:
            return list(slots)
        days = [(slot.end - before.end).days for before, slot in pairwise(slots)]
        step, filled = median_low(days), [slots[0]]
        for slot, apart in zip(slots[1:], days, strict=True):
            start, missing = filled[-1].end, max(0, round(apart / step) - 1) if step > DRIFT else 0
            ends = (date.fromordinal(start.toordinal() + (n + 1) * apart // (missing + 1)) for n in range(missing))
            filled += [*(Slot(slot.kind, end, "") for end in ends), slot]
        return filled

    def value(self, item: str, slot: Slot) -> Stated | None:
        """The value of an item in a period."""
        return self._values.get((item, slot.kind, slot.end))

    def number(self, item: str, slot: Slot | None) -> float | None:
        """The number of an item in a period."""
        value = self.value(item, slot) if slot else None
        return value.value if value else None

    def reason(self, item: str, slot: Slot) -> str:
        """The code of the reason why an item has no value in a period; empty if no reason is recorded."""
        return self._gaps.get((item, slot.kind, slot.end), "")

    def newest_year(self, item: str, before: Slot, years: int) -> Slot | None:
        """The newest fiscal year with a value of an item, if it ended less than `years` years before a period."""
        held = [slot for slot in self._slots["annual"] if self.value(item, slot)]
        is_recent = bool(held) and (before.end - held[-1].end).days < years * DAYS_A_YEAR
        return held[-1] if is_recent else None

    def year_before(self, item: str, slot: Slot) -> float | None:
        """The number of the same period a year before; None if it is missing or cannot be compared."""
        before = self._before(slot)
        return None if before is None or self.incomparable(item, slot) else self.number(item, before)

    def incomparable(self, item: str, slot: Slot) -> str:
        """Why a value cannot be compared with the value a year before; empty if it can, or if one is missing."""
        before = self._before(slot)
        if before and self.broken(item, [before, slot]):
            return BROKEN
        return RECAST_BETWEEN if before and item in RECASTED and self.is_recast_between(item, before, slot) else ""

    def is_recast_between(self, item: str, before: Slot, slot: Slot) -> bool:
        """Whether a fiscal year between two values was recast after the first one was filed, but not after the second.

        After a spin-off or for a discontinued business only the years that a report shows are restated (ASC 205-20-45):
        the quarters in them and the years before stay as they were. The screener compares in the same way.
        """
        then, now = self.value(item, before), self.value(item, slot)
        if not (then and now and then.filed and now.filed):
            return False
        return any(then.filed < filed <= now.filed for filed in self._recast_between(item, before, slot))

    def _recast_between(self, item: str, before: Slot, slot: Slot) -> Iterator[str]:
        """The filing dates of the recasts of fiscal years that overlap with one of two periods."""
        return (filed for end, filed in self._recasts(item) if before.end - A_YEAR < end <= slot.end)

    def _scopes(self, item: str, held: Sequence[tuple[Slot, str]]) -> Iterator[tuple[Slot, Break]]:
        """Breaks between a period and the one before it, where a recast applies to only one of the two."""
        for (before, then), (slot, now) in pairwise(held):
            parting = [filed for filed in self._recast_between(item, before, slot) if (then < filed) != (now < filed)]
            if parting:
                yield slot, Break(max(parting), "recast")

    def _recasts(self, item: str) -> list[tuple[date, str]]:
        """The last day of each fiscal year that was recast, and the filing date of its value."""
        if item not in self._recast_years:
            years = (
                (end, value) for (name, kind, end), value in self._values.items() if (name, kind) == (item, "annual")
            )
            self._recast_years[item] = [
                (end, value.filed)
                for end, value in years
                if value.filed and value.value > 0 and value.first > 0
                if abs(math.log(value.value / value.first)) > RECAST
            ]
        return self._recast_years[item]

    def _before(self, slot: Slot) -> Slot | None:
        """The same period a year before."""
        if slot not in self._befores:
            held = self._slots[slot.kind]
            place = bisect_left(held, slot.end - timedelta(DAYS_A_YEAR + DRIFT), key=attrgetter("end"))
            is_found = place < len(held) and (slot.end - held[place].end).days >= DAYS_A_YEAR - DRIFT
            self._befores[slot] = held[place] if is_found else None
        return self._befores[slot]

    def broken(self, item: str, slots: Sequence[Slot]) -> list[tuple[Slot, Break]]:
        """The breaks of an item's series, each with the first period after it.

        Values before a break come from earlier filings. So the period right after the last value from an earlier filing
        is the first one after the break. If a fiscal year was recast and the twelve months around it were not, there is
        a break before and after it.
        """
        held = [(slot, value.filed) for slot in slots if (value := self.value(item, slot)) and value.filed]
        found = [*self._scopes(item, held)] if item in RECASTED else []
        for each in self.breaks:
            before = [place for place, (_, filed) in enumerate(held) if filed < each.filed]
            if before and before[-1] + 1 < len(held):
                found.append((held[before[-1] + 1][0], each))
        return found

    def is_old(self, newest_filing: str | None) -> bool:
        """Whether the newest period is old, compared with the newest filing of any company."""
        if self.newest is None or newest_filing is None:
            return False
        is_quarterly = any(slot.label.endswith(INTERIM) for slot in self._slots["ttm"])
        return (date.fromisoformat(newest_filing) - self.newest.end).days > OLD[is_quarterly]
