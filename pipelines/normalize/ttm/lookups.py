"""Look-ups: the windows to compute, and the amounts that were known for each after a filing.

Belongs here: places of windows on the fiscal calendar, and rows of known amounts. Does not: which of them are added up
(windows), on which accounting basis they are (bases).
"""

from copy import copy

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    QUARTER_BITS,
    Flags,
    Floats,
    Ints,
    Timeline,
    flags,
    floats,
    ints,
    key_of,
    picked,
    whole,
)
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.ttm.known import COMPANY_BITS, CONCEPT_BITS, SPAN_BITS, STATED_RANKS, Known

PARTNERS = (("operating_cash_flow", "capital_expenditure"),)
"""Concepts of one statement that make up one item, which has to be on one basis."""

CAN_BE_NEGATIVE = np.array([concept.can_be_negative for concept in BY_NAME.values()])
"""For each code of a concept: whether its amounts can be below zero."""

IS_MONEY = np.array([concept.measure == "money" for concept in BY_NAME.values()])
"""For each code of a concept: whether it is an amount of money."""

_CODES = {name: code for code, name in enumerate(BY_NAME)}
PARTNER_OF = np.arange(len(BY_NAME))
for _one, _other in PARTNERS:
    PARTNER_OF[[_CODES[_one], _CODES[_other]]] = _CODES[_other], _CODES[_one]


class Windows:
    """The windows to compute, and look-ups of the amounts known after their filings."""

    def __init__(self, points: pl.DataFrame, grid: pl.DataFrame, known: Known) -> None:
        """Place the points on the grid; points that are not a quarter end of a fiscal year are left out.

        Args:
            points: `cik`, `concept`, `q`, `seq` (the filing of the point).
            grid: of periods.calendar.fiscal_grid.
            known: known amounts of durations.
        """
        company = np.searchsorted(known.companies, ints(grid, "cik"))
        quarters = Timeline(key_of((company, COMPANY_BITS), (ints(grid, "q"), QUARTER_BITS)), np.zeros_like(company))
        self._quarter = floats(grid, "fiscal_quarter")
        place = np.searchsorted(known.companies, ints(points, "cik"))
        at = quarters.after(key_of((place, COMPANY_BITS), (ints(points, "q"), QUARTER_BITS)), np.zeros_like(place))
        is_period = (at >= 0) & (picked(self._quarter, at) > 0)
        self.points = points.filter(is_period)
        self.company, at = place[is_period], at[is_period]
        self.concept, self.q, self.seq = (ints(self.points, name) for name in ("concept", "q", "seq"))
        self.quarter = picked(self._quarter, at)
        self.year_before = picked(floats(grid, "year_before"), at)
        self.is_year_end = flags(grid, "is_year_end")[at]
        self.can_be_negative = CAN_BE_NEGATIVE[self.concept]
        self.known = known
        self._quarters = quarters

    def at(self, rows: Ints) -> "Windows":
        """Some of the windows."""
        some = copy(self)
        for name in ("company", "concept", "q", "seq", "quarter", "year_before", "is_year_end", "can_be_negative"):
            setattr(some, name, getattr(self, name)[rows])
        return some

    def of_partner(self) -> "Windows":
        """The windows of the concept that makes up an item with the own one; other windows stay the same."""
        return self.of_concept(PARTNER_OF[self.concept])

    def of_concept(self, concept: Ints | int) -> "Windows":
        """The same windows of another concept."""
        other = copy(self)
        other.concept = np.full_like(self.concept, concept)
        return other

    def find(self, q: Floats | Ints, n: Floats | int, seq: Floats | Ints | None = None) -> Ints:
        """The row of `known` for slot (q, n) after filing `seq` (the window's own by default)."""
        return self.known.timeline.after(self.slot(q, n), self.seq if seq is None else seq)

    def since(self, q: Floats | Ints, n: Floats | int, seq: Floats | Ints) -> Ints:
        """The first row of `known` for slot (q, n) in filing `seq` or a later one, up to the window's own filing."""
        row = self.known.timeline.since(self.slot(q, n), seq)
        return np.where(self.of("seq", row) <= self.seq, row, NOTHING)

    def around(self, q: Floats | Ints, n: Floats | int, seq: Floats) -> Ints:
        """The row of `known` for slot (q, n) after filing `seq`; if it was not yet stated then, the first row."""
        slot = self.slot(q, n)
        row = self.known.timeline.after(slot, np.fmin(seq, self.seq))
        unknown = np.flatnonzero((row < 0) & (slot >= 0))
        if len(unknown):
            later = self.known.timeline.since(slot[unknown], np.zeros(len(unknown)))
            row[unknown] = np.where(picked(self.known.rows["seq"], later) <= self.seq[unknown], later, NOTHING)
        return row

    def beside(self, q: Ints, n: Floats | int) -> Floats:
        """The newest filing (`seq`) that states slot (q, n) and the same period of the year before; NaN if none."""
        known = self.known
        return picked(known.rows["seq"], known.with_year_before.after(self.slot(q, n), self.seq))

    def slot(self, q: Floats | Ints, n: Floats | int) -> Ints:
        """The key of a slot of each window, as known.slot_key packs it; negative where `q` or `n` is missing."""
        line = (self.company << CONCEPT_BITS) | self.concept
        # a negative number of the two makes the key negative
        return (line << (QUARTER_BITS + SPAN_BITS)) | (whole(q) << SPAN_BITS) | (n if isinstance(n, int) else whole(n))

    def of(self, name: str, row: Ints) -> Floats:
        """A column of known amounts at some rows: `amount`, `days`, `grain`, `seq` and so on; NaN for NOTHING."""
        return picked(self.known.rows[name], row)

    def is_derived(self, row: Ints) -> Flags:
        """Whether no filing states the known amount at some rows, but other figures prove it."""
        found: Flags = self.of("rank", row) >= STATED_RANKS[self.concept]
        return found

    def fiscal_quarter(self, q: Ints) -> Floats:
        """Number of a quarter within its fiscal year; NaN for a quarter that is not on the grid."""
        key = key_of((self.company, COMPANY_BITS), (q, QUARTER_BITS))
        return picked(self._quarter, self._quarters.after(key, np.zeros_like(q)))
