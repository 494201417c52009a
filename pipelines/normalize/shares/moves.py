"""Moves: changes of share counts between two filings that state the same period.

Belongs here: which figures can prove a split, and their changes. Does not: which splits follow (splits).
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, flags, floats, ints, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.keys import any_of, day_numbers, largest_of, packed, places_in
from pipelines.normalize.rule import Rule

SNAP = 0.01
"""Two ratios count as the same if they differ by at most this share: weighted averages change a little by rounding."""

POTENTIAL = 1 / 3
"""Potential shares alone are hardly ever a larger part of a diluted count."""

NO_AMENDMENTS = Rule(
    "split.no-amendments",
    "Amendments prove no split: they may repeat a report on the share basis of its day.",
    "Exchange Act Rule 12b-15: an amendment sets forth the complete text of each item as amended",
    "withhold",
)
ONE_REGIME = Rule(
    "split.no-mixed-regimes",
    "Share figures of two companies under one CIK, or of two sets of accounting standards, prove no split.",
    "ASC 805-40-45-1 (reverse acquisitions); IFRS 1 (first-time adoption)",
    "withhold",
)
DILUTED_ALONE = Rule(
    "split.diluted-alone",
    "A diluted share count proves no split if it changes differently from the basic count of its period, or by at most "
    "a third if no basic count is stated.",
    "A split changes all shares; a new standard (ASU 2020-06) changed the count of potential shares only",
    "withhold",
)
RULES = (NO_AMENDMENTS, ONE_REGIME, DILUTED_ALONE)

SHARE_CONCEPTS = ("shares_basic", "shares_diluted")
EARNINGS, COARSEST_EARNINGS = "eps_basic", 0.5
"""Earnings per share change inversely to the count, and are used if no count is stated. Below the smallest amount they
are too coarse, because they are rounded to cents."""
MOVING_CONCEPTS = (EARNINGS, *SHARE_CONCEPTS)
"""The figures that can prove a split; the evidence names the last of these that does."""
PER_SHARE, BASIC, DILUTED, PARENT, COMMON = range(5)
FIGURES = (*MOVING_CONCEPTS, "net_income_parent", "net_income_common")
"""The figures that show the share count of a filing."""
FINEST_EARNINGS = 0.1
"""Earnings per share of at least so much show the count of their filing to within a twentieth."""


@dataclass(frozen=True, slots=True)
class ShareFigures(Columns):
    """Shares, earnings per share and net income in reports, by company, concept, period and filing.

    company: place of the CIK among all.
    concept: place in FIGURES.
    start, end: days since 1970.
    seq: place of the first filing of the day, because all filings of one day are on the same basis.
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
        """Make them from vintages without amendments; and the filing date by company and `seq`."""
        report = np.flatnonzero(~flags(vintages, "amended"))
        cik, seq = ints(vintages, "cik"), ints(vintages, "seq")
        company = np.searchsorted(np.unique(cik), cik)
        begins = starts(company[report], seq[report])
        filing = report[begins]
        filed = day_numbers(vintages["filed"])[filing]
        _, first, day = np.unique(packed(company[filing], filed), return_index=True, return_inverse=True)
        first_seq = -largest_of(day, len(first), -seq[filing])
        of_day = first_seq[day][np.cumsum(begins) - 1]
        concept = places_in(FIGURES, ints(vintages, "concept")[report])
        bears = concept >= 0
        row, concept, seq = report[bears], concept[bears], of_day[bears]
        start, end = (day_numbers(vintages[name])[row] for name in ("start", "end"))
        value, regime = floats(vintages, "value")[row], ints(vintages, "regime")[row]
        found = cls(company[row], concept, start, end, seq, value, regime)
        keys = zip(company[filing][first].tolist(), first_seq.tolist(), strict=True)
        filed_on = dict(zip(keys, map(as_date, filed[first].tolist()), strict=True))
        return found.at(np.lexsort((seq, end, start, concept, company[row]))), filed_on


@dataclass(frozen=True, slots=True)
class Moves(Columns):
    """Changes of figures that two successive filings state, by company and pair of filings.

    observed: new shares for one old share.
    """

    company: Ints
    after_seq: Ints
    seq: Ints
    concept: Ints
    start: Ints
    end: Ints
    observed: Floats


def of_amendments(vintages: pl.DataFrame) -> Ints:
    """The company of each figure of MOVING_CONCEPTS that an amendment states."""
    bears = places_in(MOVING_CONCEPTS, ints(vintages, "concept")) >= 0
    return ints(vintages, "cik")[bears & flags(vintages, "amended")]


def figures_moved(figures: ShareFigures) -> tuple[Moves, list[tuple[Rule, Ints]]]:
    """The changes of figures between each pair of filings.

    Earnings per share are used for pairs of filings without share counts of a common period.

    Returns:
        the changes, and the company of each figure that a rule leaves out.
    """
    figures = figures.at(figures.concept < len(MOVING_CONCEPTS))
    is_count = figures.concept != PER_SHARE
    size = np.where(is_count, figures.value, 1 / np.abs(figures.value))
    figures, size = _comparable(figures, size)
    again = np.flatnonzero(~starts(figures.company, figures.concept, figures.start, figures.end))
    before = again - 1
    is_later = (figures.seq[before] < figures.seq[again]) & (figures.value[before] * figures.value[again] > 0)
    is_same_regime = figures.regime[before] == figures.regime[again]
    of_two_regimes = figures.company[again[is_later & ~is_same_regime]]
    holds = is_later & is_same_regime
    again, before = again[holds], before[holds]
    later = figures.at(again)
    observed = size[again] / size[before]
    moves = Moves(later.company, figures.seq[before], later.seq, later.concept, later.start, later.end, observed)
    _, pair = np.unique(packed(moves.company, moves.after_seq, moves.seq), return_inverse=True)
    has_count = any_of(pair, int(pair.max(initial=-1)) + 1, moves.concept != PER_SHARE)
    moves_alone = _moves_alone(moves, pair)
    left_out = [(ONE_REGIME, of_two_regimes), (DILUTED_ALONE, moves.company[moves_alone])]
    moves = moves.at(~moves_alone & ((moves.concept != PER_SHARE) | ~has_count[pair]))
    return moves.at(np.lexsort((moves.observed, moves.seq, moves.after_seq, moves.company))), left_out


def _comparable(figures: ShareFigures, size: Floats) -> tuple[ShareFigures, Floats]:
    """Without share counts of zero, and without small earnings per share."""
    is_count = figures.concept != PER_SHARE
    holds = np.where(is_count, figures.value > 0, np.abs(figures.value) >= COARSEST_EARNINGS)
    return figures.at(holds), size[holds]


def _moves_alone(moves: Moves, pair: Ints) -> Flags:
    """Whether a diluted count changes differently from the basic one of its period, or alone by at most POTENTIAL.

    A split changes all shares; a change of potential shares only comes from a new standard (ASU 2020-06).
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
    """For each company the average count of the newest and shortest period in each filing, by `seq`.

    It is the basic one; the diluted one for companies that state no other; in a filing without counts, net income
    divided by earnings per share.
    """
    has_basic = any_of(figures.company, int(figures.company.max(initial=-1)) + 1, figures.concept == BASIC)
    is_count = (figures.concept == BASIC) | ((figures.concept == DILUTED) & ~has_basic[figures.company])
    counts: dict[int, dict[int, float]] = {}
    for rows in (_of_earnings(figures), figures.at(is_count & (figures.value > 0))):
        ordered = rows.at(np.lexsort((rows.start, rows.end, rows.seq, rows.company)))
        for company, seq, count in zip(
            *(each.tolist() for each in (ordered.company, ordered.seq, ordered.value)), strict=True
        ):
            counts.setdefault(company, {})[seq] = count
    return counts


def _of_earnings(figures: ShareFigures) -> ShareFigures:
    """Net income over earnings per share of each filing and period that has both, as share counts."""
    period = packed(figures.company, figures.seq, figures.start, figures.end)
    earnings = np.flatnonzero((figures.concept == PER_SHARE) & (np.abs(figures.value) >= FINEST_EARNINGS))
    income = np.flatnonzero(figures.concept >= PARENT)
    # of two incomes of a period, the one available to common is the last
    income = income[np.lexsort((figures.concept[income], period[income]))]
    place = np.searchsorted(period[income], period[earnings], side="right") - 1
    has_income = (place >= 0) & (period[income][place] == period[earnings]) if len(income) else place >= 0
    earnings, income = earnings[has_income], income[place[has_income]]
    found = figures.at(earnings)
    count = figures.value[income] / found.value
    return replace(found, value=count).at(count > 0)


def as_date(number: int) -> date:
    """A day since 1970 as a date."""
    return date(1970, 1, 1) + timedelta(days=number)
