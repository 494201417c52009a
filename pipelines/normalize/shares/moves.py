"""Moves: by how much share counts differ between two filings that state one period.

Belongs here: which figures of reports bear on splits, and how they moved. Does not: which splits follow (splits).
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, flags, floats, ints, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.keys import any_of, day_numbers, largest_of, packed, places_in

SNAP = 0.01
"""A ratio is another one where it is this near to it, as a share: weighted averages move a little with rounding."""

POTENTIAL = 1 / 3
"""Potential shares alone hardly make up more of a count."""

SHARE_CONCEPTS = ("shares_basic", "shares_diluted")
EARNINGS, SMALLEST_EARNINGS = "eps_basic", 0.5
"""Earnings per share move against the count, and count where none is stated; in cents, small ones are too coarse."""
WITNESS_CONCEPTS = (EARNINGS, *SHARE_CONCEPTS)
"""In this order, last first, the figures that evidence names."""
PER_SHARE, BASIC, DILUTED = range(3)


@dataclass(frozen=True, slots=True)
class ShareFigures(Columns):
    """What reports state of shares and of earnings per share, by company, concept, period and filing.

    company: place of the CIK among all.
    concept: place in WITNESS_CONCEPTS.
    start, end: as days since 1970.
    seq: place of the first filing of the day: what is filed on one day is on one basis.
    """

    company: Ints
    concept: Ints
    start: Ints
    end: Ints
    seq: Ints
    value: Floats
    regime: Ints

    @classmethod
    def of(cls, vintages: pl.DataFrame) -> "tuple[ShareFigures, dict[tuple[int, int], date]]":
        """Take them, and the day of filing by company and `seq`, from vintages; amendments are left out."""
        report = np.flatnonzero(~flags(vintages, "amended"))
        cik, seq = ints(vintages, "cik"), ints(vintages, "seq")
        company = np.searchsorted(np.unique(cik), cik)
        begins = starts(company[report], seq[report])
        filing = report[begins]
        filed = day_numbers(vintages["filed"])[filing]
        _, first, day = np.unique(packed(company[filing], filed), return_index=True, return_inverse=True)
        first_seq = -largest_of(day, len(first), -seq[filing])
        of_day = first_seq[day][np.cumsum(begins) - 1]
        concept = places_in(WITNESS_CONCEPTS, ints(vintages, "concept")[report])
        is_witness = concept >= 0
        row, concept, seq = report[is_witness], concept[is_witness], of_day[is_witness]
        start, end = (day_numbers(vintages[name])[row] for name in ("start", "end"))
        value, regime = floats(vintages, "value")[row], ints(vintages, "regime")[row]
        found = cls(company[row], concept, start, end, seq, value, regime)
        keys = zip(company[filing][first].tolist(), first_seq.tolist(), strict=True)
        filed_on = dict(zip(keys, map(as_date, filed[first].tolist()), strict=True))
        return found.at(np.lexsort((seq, end, start, concept, company[row]))), filed_on


@dataclass(frozen=True, slots=True)
class Moves(Columns):
    """Figures that two filings state one after the other, by company and pair of filings.

    observed: by how much the count moved: new shares for one.
    """

    company: Ints
    after_seq: Ints
    seq: Ints
    concept: Ints
    start: Ints
    end: Ints
    observed: Floats


def figures_moved(figures: ShareFigures) -> Moves:
    """By how much the figures of each pair of filings moved.

    Earnings per share stand in between filings that state no common period's shares.
    """
    is_count = figures.concept != PER_SHARE
    size = np.where(is_count, figures.value, 1 / np.abs(figures.value))
    figures, size = _only_witnesses(figures, size)
    again = np.flatnonzero(~starts(figures.company, figures.concept, figures.start, figures.end))
    before = again - 1
    holds = (figures.seq[before] < figures.seq[again]) & (figures.regime[before] == figures.regime[again])
    holds &= figures.value[before] * figures.value[again] > 0
    again, before = again[holds], before[holds]
    later = figures.at(again)
    observed = size[again] / size[before]
    moves = Moves(later.company, figures.seq[before], later.seq, later.concept, later.start, later.end, observed)
    _, pair = np.unique(packed(moves.company, moves.after_seq, moves.seq), return_inverse=True)
    has_count = any_of(pair, int(pair.max(initial=-1)) + 1, moves.concept != PER_SHARE)
    moves = moves.at(~_moves_alone(moves, pair) & ((moves.concept != PER_SHARE) | ~has_count[pair]))
    return moves.at(np.lexsort((moves.observed, moves.seq, moves.after_seq, moves.company)))


def _only_witnesses(figures: ShareFigures, size: Floats) -> tuple[ShareFigures, Floats]:
    """Without counts of nothing, and earnings per share of cents."""
    is_count = figures.concept != PER_SHARE
    holds = np.where(is_count, figures.value > 0, np.abs(figures.value) >= SMALLEST_EARNINGS)
    return figures.at(holds), size[holds]


def _moves_alone(moves: Moves, pair: Ints) -> Flags:
    """Whether a diluted count moves otherwise than the basic one of its period, or alone by no more than POTENTIAL.

    A split moves all shares: potential ones alone are counted anew under another standard (ASU 2020-06).
    """
    period = packed(pair, moves.start, moves.end)
    basic = np.flatnonzero(moves.concept == BASIC)
    basic = basic[np.argsort(period[basic], kind="stable")]
    place = np.minimum(np.searchsorted(period[basic], period), max(len(basic) - 1, 0))
    has_basic = np.zeros(len(period), dtype=np.bool_)
    beside = np.ones(len(period))
    if len(basic):
        has_basic = period[basic][place] == period
        beside[has_basic] = moves.observed[basic][place[has_basic]]
    off = np.abs(moves.observed / beside - 1)
    alone: Flags = (moves.concept == DILUTED) & (off > SNAP) & (has_basic | (off <= POTENTIAL))
    return alone


def own_counts(figures: ShareFigures) -> dict[int, dict[int, float]]:
    """Company to the average of the newest and shortest period that each filing states, by its `seq`."""
    figures = figures.at((figures.concept == BASIC) & (figures.value > 0))
    figures = figures.at(np.lexsort((figures.start, figures.end, figures.seq, figures.company)))
    counts: dict[int, dict[int, float]] = {}
    for company, seq, count in zip(figures.company.tolist(), figures.seq.tolist(), figures.value.tolist(), strict=True):
        counts.setdefault(company, {})[seq] = count
    return counts


def as_date(number: int) -> date:
    """A day since 1970 as a date."""
    return date(1970, 1, 1) + timedelta(days=number)
