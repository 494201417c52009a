"""Look-ups: the windows to compute, and the amounts that were known for each after a filing.

Belongs here: the places of windows on the fiscal calendar, and the search for rows of known amounts. Does not: which
amounts are added up (methods), on which accounting basis they are (bases).
"""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
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
    packed,
    picked,
    starts,
    whole,
)
from pipelines.normalize.elements import BY_NAME, REPEATING
from pipelines.normalize.ttm.known import (
    CONCEPT_BITS,
    QUARTERS_A_YEAR,
    SLOT,
    SPAN_BITS,
    STATED_RANKS,
    disputed,
    points_to_compute,
    settled,
    slot_key,
)

PARTNERS = {"operating_cash_flow": "capital_expenditure", "capital_expenditure": "operating_cash_flow"}
"""Concepts of one statement that make up one line item, and so must be on one accounting basis."""
CODES = {name: code for code, name in enumerate(BY_NAME)}
"""The code of each concept. The arrays below have one element for each code."""
PARTNER_OF: Ints = np.array([CODES[PARTNERS.get(name, name)] for name in BY_NAME])
CAN_BE_NEGATIVE: Flags = np.array([concept.can_be_negative for concept in BY_NAME.values()])
IS_MONEY, IS_COUNT, IS_PER_SHARE = (
    np.array([concept.measure == measure for concept in BY_NAME.values()], dtype=np.bool_)
    for measure in ("money", "shares", "per_share")
)
AGO = np.arange(2 * QUARTERS_A_YEAR)[:, None]
"""Numbers of quarters as a column: a look-up of `q - AGO[...]` returns one line for each quarter."""


class Windows:
    """The windows to compute, and look-ups of the amounts known after their filings.

    A window is the twelve months of one concept to one quarter end, as known after one filing (`points`). `rows` has
    the columns of known amounts; each ends with NaN, so that row NOTHING (-1) reads NaN. Companies are numbered.
    `_with_year_before` finds only rows whose filing also states the same period of the year before.
    """

    def __init__(self, known: pl.DataFrame, grid: pl.DataFrame) -> None:
        """Place the points to compute on the fiscal grid; points that are no quarter end on it are left out.

        Args:
            known: known amounts of durations (known.known_amounts).
            grid: of periods.calendar.fiscal_grid.
        """
        companies = np.unique(np.concatenate([ints(known, "cik"), ints(grid, "cik")]))
        company = np.searchsorted(companies, ints(known, "cik"))
        seq = ints(known, "seq")
        self.vintage = known["vintage"]
        slot = slot_key(company, *(ints(known, name) for name in SLOT[1:]))
        self._timeline = Timeline(slot, seq)
        rows = _columns(known, self._timeline, slot)
        year_before = self._timeline.after(slot - (QUARTERS_A_YEAR << SPAN_BITS), seq)
        self._with_year_before = self._timeline.of_rows(picked(rows["seq"], year_before) == seq)
        self.rows = {name: np.append(column, np.nan) for name, column in rows.items()}
        several = known.group_by("cik").agg(pl.col("regime").n_unique()).filter(pl.col("regime") > 1)
        self._have_break = np.isin(companies, ints(several, "cik"))
        # the row of the grid of each company and quarter
        self._quarters: Ints = np.full((len(companies), BEYOND_KEYS + 1), NOTHING)
        on_grid = np.flatnonzero(ints(grid, "q") < BEYOND_KEYS)
        self._quarters[np.searchsorted(companies, ints(grid, "cik")[on_grid]), ints(grid, "q")[on_grid]] = on_grid
        self._fiscal_quarter: Floats = np.append(floats(grid, "fiscal_quarter"), np.nan)
        points = points_to_compute(known)
        place = np.searchsorted(companies, ints(points, "cik"))
        at = self._row_of_quarter(place, ints(points, "q"))
        is_period = self._fiscal_quarter[at] > 0
        self.points = points.filter(is_period)
        self.company = place[is_period]
        at = at[is_period]
        self.concept, self.q, self.seq = (ints(self.points, name) for name in ("concept", "q", "seq"))
        self.quarter = self._fiscal_quarter[at]
        self.year_before = floats(grid, "year_before")[at]
        self.is_year_end = flags(grid, "is_year_end")[at]

    @property
    def can_be_negative(self) -> Flags:
        """Whether the amounts of each window can be below zero."""
        return CAN_BE_NEGATIVE[self.concept]

    @property
    def has_break(self) -> Flags:
        """Whether the company of each window has filings of several regimes."""
        return self._have_break[self.company]

    def subset(self, rows: Ints) -> "Windows":
        """The windows at the given rows."""
        some = copy(self)
        for name in ("company", "concept", "q", "seq", "quarter", "year_before", "is_year_end"):
            setattr(some, name, getattr(self, name)[rows])
        return some

    def decide_for(self, asked: Flags, decide: Callable[..., Flags], *columns: npt.NDArray[Any]) -> Flags:
        """The flags that `decide` returns for the windows in `asked`; false for all other windows.

        `decide` receives only these windows, and only their part of the columns.
        """
        return self.replaced(np.zeros(len(asked), dtype=np.bool_), asked, decide, *columns)

    def replaced(
        self,
        values: npt.NDArray[Any],
        asked: Flags,
        decide: Callable[..., npt.NDArray[Any]],
        *columns: npt.NDArray[Any],
    ) -> npt.NDArray[Any]:
        """The values, replaced by the results of `decide` for the windows in `asked`.

        `decide` receives only these windows, and only their part of the columns.
        """
        rows, found = np.flatnonzero(asked), values.copy()
        if len(rows):
            found[..., rows] = decide(self.subset(rows), *(column[..., rows] for column in columns))
        return found

    def newest(self, holds: Flags) -> Flags:
        """Mark the last window of each quarter end in which `holds` is true; its last window if it never is."""
        place, found = np.arange(len(holds)), np.zeros(len(holds), dtype=np.bool_)
        begins = np.flatnonzero(starts(self.slot(self.q, 0)))
        found[np.maximum.reduceat(np.where(holds, place + len(holds), place), begins) % max(len(holds), 1)] = True
        return found

    def of_concept(self, concept: Ints | int) -> "Windows":
        """The same windows for another concept."""
        other = copy(self)
        other.concept = np.full_like(self.concept, concept)
        return other

    def of_partner(self) -> "Windows":
        """The same windows for the partner of their concept (PARTNERS); a concept without a partner stays."""
        return self.of_concept(PARTNER_OF[self.concept])

    def find(self, q: Floats | Ints, n: Floats | Ints | int, seq: Floats | Ints | None = None) -> Ints:
        """The row of `known` for slot (q, n) after filing `seq` (the window's own by default)."""
        return self._timeline.after(self.slot(q, n), self.seq if seq is None else seq)

    def find_for(self, asked: Flags, q: Floats | Ints, n: Floats, seq: Floats) -> Ints:
        """The same for the windows in `asked`; NOTHING for all other windows."""
        return self.replaced(np.full(len(asked), NOTHING), asked, Windows.find, q, n, seq)

    def since(self, q: Floats | Ints, n: Floats | Ints | int, seq: Floats | Ints) -> Ints:
        """The first row of `known` for slot (q, n) in filing `seq` or a later one, up to the window's own filing."""
        row = self._timeline.since(self.slot(q, n), seq)
        return np.where(self.of("seq", row) <= self.seq, row, NOTHING)

    def first(self, q: Floats | Ints, n: Floats | Ints | int) -> Ints:
        """The first row of `known` for slot (q, n)."""
        return self.since(q, n, _FIRST)

    def find_or_first(self, q: Floats | Ints, n: Floats | Ints | int, seq: Floats) -> Ints:
        """The row of `known` for slot (q, n) after filing `seq`; if it was not yet stated then, the first row."""
        slot = self.slot(q, n)
        row = self._timeline.after(slot, np.fmin(seq, self.seq))
        unknown = np.nonzero((row < 0) & (slot >= 0))
        first = self._timeline.since(slot[unknown], _FIRST)
        row[unknown] = np.where(self.of("seq", first) <= self.seq[unknown[-1]], first, NOTHING)
        return row

    def newest_with_year_before(self, q: Ints, n: Floats | Ints | int) -> Floats:
        """The newest filing (`seq`) that states slot (q, n) and the same period of the year before; NaN if none."""
        return self.of("seq", self._with_year_before.after(self.slot(q, n), self.seq))

    def slot(self, q: Floats | Ints, n: Floats | Ints | int) -> Ints:
        """The key of a slot of each window, as known.slot_key packs it; negative where `q` or `n` is missing."""
        line = (self.company << CONCEPT_BITS) | self.concept
        # a negative `q` or `n` makes the key negative
        return (line << (QUARTER_BITS + SPAN_BITS)) | (whole(q) << SPAN_BITS) | (n if isinstance(n, int) else whole(n))

    def of(self, name: str, row: Ints) -> Floats:
        """A column of known amounts at some rows: `amount`, `days`, `grain`, `seq` and so on; NaN for NOTHING."""
        return self.rows[name][row]

    def is_derived(self, row: Ints) -> Flags:
        """Whether no filing states the known amount at some rows, but other figures prove it."""
        return self.of("is_derived", row) > 0

    def fiscal_quarter(self, q: Floats | Ints) -> Floats:
        """Number of a quarter within its fiscal year; NaN for a quarter that is not on the grid."""
        found: Floats = self._fiscal_quarter[self._row_of_quarter(self.company, whole(q))]
        return found

    def _row_of_quarter(self, company: Ints, q: Ints) -> Ints:
        """The row of the grid of each quarter; NOTHING if it is not on the grid or no key can have its number."""
        found: Ints = self._quarters[company, np.clip(q, NOTHING, BEYOND_KEYS)]
        return found


_FIRST = np.zeros(1, dtype=np.int64)
BEYOND_KEYS = 1 << QUARTER_BITS
"""The first number of a quarter that does not fit into a key: a mistyped year may count quarters from antiquity."""


def _columns(known: pl.DataFrame, timeline: Timeline, slot: Ints) -> dict[str, Floats]:
    """Columns of known amounts, and columns that depend on the amounts in other filings; missing numbers are NaN.

    `is_derived`: no filing states the amount. `revised`: the first filing of a revised value. `restated_along`: how
    many amounts of the period that filing revised. `repeated`: the next filing of the slot, if it states the same
    amount. `disputed`, `settled`: see the functions of these names in known.
    """
    names = ("amount", "days", "weight", "grain", "other_source", "regime", "rank", "seq", "since")
    rows, concept = {name: floats(known, name) for name in names}, ints(known, "concept")
    rows["is_derived"] = (rows["rank"] >= STATED_RANKS[concept]).astype(np.float64)
    is_revised = flags(known, "is_revised")
    rows["revised"] = np.where(is_revised, rows["since"], np.nan)
    _, of_period = np.unique(packed(*(ints(known, name) for name in ("cik", "q", "n", "since"))), return_inverse=True)
    is_shown = (rows["revised"] == rows["seq"]) & ~np.isin(concept, [CODES[name] for name in REPEATING])
    revisions = np.bincount(of_period, weights=is_shown).astype(np.float64)
    rows["restated_along"] = np.where(is_revised, revisions[of_period], 0.0)
    following = timeline.since(slot, rows["seq"] + 1)
    repeats = picked(rows["since"], following) == rows["since"]
    rows["repeated"] = np.where(repeats, picked(rows["seq"], following), np.nan)
    rows["disputed"] = disputed(rows, following, concept, ints(known, "n") == QUARTERS_A_YEAR)
    rows["settled"] = settled(rows, timeline, slot)
    return rows
