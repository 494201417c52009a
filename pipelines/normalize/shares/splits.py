"""Splits, inferred from the filings alone.

Belongs here: what a ratio between two filings of one period proves, and when it took effect.
Does not: what follows for the figures of a filing (basis), how many shares there are (latest, items).

The first periodic report after a split restates every period it shows (ASC 260-10-55-12); older periods are never
restated, so one series holds several bases.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from math import log, prod

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, flags, floats, ints, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.keys import any_of, day_numbers, largest_of, packed, places_in
from pipelines.normalize.rule import Rule

RESTATED = "ASC 260-10-55-12: a split or a dividend in shares is applied to the earnings per share of all periods shown"

USUAL_RATIO = Rule(
    "split.usual-ratio",
    "Two filings between which at least two figures of share counts move by a usual ratio (2:1, 3:2, 1:10), to within "
    "1 %, lie on both sides of a split.",
    RESTATED,
    "correct",
)
SMALL_RATIO = Rule(
    "split.small-ratio",
    "A small split (5 % to 4:3) needs four figures that move by its ratio, to within 0.2 %.",
    RESTATED,
    "correct",
)
SHARE_DIVIDEND = Rule(
    "split.share-dividend",
    "A dividend in shares of 2 to 8 % needs four figures that move by its ratio, to within 0.05 %.",
    RESTATED,
    "correct",
)
ODD_RATIO = Rule(
    "split.odd-ratio",
    "Any other ratio of 1.25 and more (two splits at once, an exchange of shares) that is no power of a thousand needs "
    "four figures that move by it, to within 0.05 %.",
    RESTATED,
    "correct",
)
BY_EARNINGS = Rule(
    "split.earnings-per-share",
    "Where two filings state no common period's share counts, earnings per share that move the other way prove a split "
    "of one of these ratios.",
    RESTATED,
    "correct",
    "filers that state share counts for each class alone",
)
RULES = (USUAL_RATIO, SMALL_RATIO, SHARE_DIVIDEND, ODD_RATIO, BY_EARNINGS)

DIVIDENDS_IN_SHARES: tuple[float, ...] = (1.02, 1.03, 1.04, 1.06, 1.07, 1.08)
SMALL_RATIOS: tuple[float, ...] = (1.05, 1.1, 1.15, 1.2, 1.25, 4 / 3)
"""Dividends in shares and small splits: averages that are revised a little come near them, so they need more proof."""
RATIOS: tuple[float, ...] = (
    *(7 / 5, 3 / 2, 8 / 5, 5 / 3, 7 / 4, 5 / 2, 7 / 2),
    *range(2, 101),
    *range(105, 201, 5),
    *range(225, 501, 25),
)
"""Split ratios that are looked for, and their inverses; a thousand or a million is an error of scale."""

SNAP, SNAP_SMALL, SNAP_EXACT = 0.01, 0.002, 0.0005
"""A ratio this near to a usual one is that one: weighted averages move a little with rounding. The smaller a ratio or
the odder it is, the nearer it must come."""
SMALLEST_ODD = 1.25
"""Any other ratio (two splits at once, an exchange of shares) is taken where the periods agree on it to the digit, and
where it is so large that no correction of a count comes to it."""

THOUSAND = 1000.0

WITNESSES, WITNESSES_SMALL = 2, 4
"""So many restated figures make a split; one alone may be an error."""

HALF_WAY = 0.5
"""A count that has gone more than half of the way (in logarithms) to the new basis is on it."""

POTENTIAL = 1 / 3
"""Potential shares alone hardly make up more of a count."""

SHARE_CONCEPTS = ("shares_basic", "shares_diluted")
EARNINGS, SMALLEST_EARNINGS = "eps_basic", 0.5
"""Earnings per share move against the count, and count where none is stated; in cents, small ones are too coarse."""
WITNESS_CONCEPTS = (EARNINGS, *SHARE_CONCEPTS)
"""In this order, last first, the figures that evidence names."""
PER_SHARE, BASIC, DILUTED = range(3)

SPLITS = pl.Schema(
    {
        "cik": pl.Int64(),
        "ratio": pl.Float64(),
        "effective_seq": pl.Int32(),
        "effective_by": pl.Date(),
        "effective_after": pl.Date(),
        "evidence": pl.String(),
        "rule": pl.String(),
    }
)

_Witness = tuple[int, int, int]
"""A figure that moved: its place in WITNESS_CONCEPTS, first and last day of its period (days since 1970)."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two filings that state periods one after the other: by how much (new shares for one) each period moved, and most.

    The splits at the filings after the first, up to the second, multiply to it.
    """

    after_seq: int
    seq: int
    observed: Sequence[float]
    ratio: float
    seen: _Witness

    def witnesses(self, ratio: float, snap: float) -> int:
        return sum(_near(each, ratio, snap) for each in self.observed)


@dataclass(frozen=True, slots=True)
class _Usual:
    """A usual ratio: how near a ratio must come to it, and how often it must be seen."""

    ratio: float
    snap: float
    needed: int
    rule: Rule


USUAL: tuple[_Usual, ...] = tuple(
    sorted(
        (
            _Usual(ratio, snap, needed, rule)
            for ratios, snap, needed, rule in (
                (RATIOS, SNAP, WITNESSES, USUAL_RATIO),
                (SMALL_RATIOS, SNAP_SMALL, WITNESSES_SMALL, SMALL_RATIO),
                (DIVIDENDS_IN_SHARES, SNAP_EXACT, WITNESSES_SMALL, SHARE_DIVIDEND),
            )
            for each in ratios
            for ratio in (float(each), 1 / each)
        ),
        key=lambda usual: usual.ratio,
    )
)
_LOGARITHMS = [log(usual.ratio) for usual in USUAL]


@dataclass(frozen=True, slots=True)
class _Split:
    ratio: float
    seq: int
    after_seq: int
    evidence: str
    rule: Rule


def infer_splits(vintages: pl.DataFrame) -> pl.DataFrame:
    """Splits between consecutive filings of one period's weighted shares, or of its earnings per share.

    What a filing restates proves the product of all splits since the period was last stated. A period that is stated
    again unchanged proves that there was none, so what is left of a product lies where nothing else is known. What
    two companies under one CIK say of their shares proves no split, nor does an amendment, which may repeat a report
    on the basis of its day.

    Args:
        vintages: sound ones, in units, with `regime`.

    Returns:
        `cik`, `ratio` (new shares per old), `effective_seq` (the first filing on the new basis), `effective_by` and
        `effective_after` (filing dates around the event), `evidence`, `rule`.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        figures, filed = _Figures.of(vintages)
        moves = _moves(figures)
    has_moved = any_of(moves.company, int(figures.company.max(initial=-1)) + 1, np.abs(moves.observed - 1) > SNAP)
    moves, counts = moves.at(has_moved[moves.company]), _own_counts(figures.at(has_moved[figures.company]))
    ciks = np.unique(ints(vintages, "cik"))
    rows: list[tuple[int, float, int, date, date, str, str]] = []
    for company, pairs in _pairs(moves).items():
        rows += [
            (
                int(ciks[company]),
                each.ratio,
                each.seq,
                filed[company, each.seq],
                filed[company, each.after_seq],
                each.evidence,
                each.rule.id,
            )
            for each in _split_by_split(pairs, counts.get(company, {}))
        ]
    return pl.DataFrame(rows, schema=SPLITS, orient="row").sort("cik", "effective_seq", "ratio")


@dataclass(frozen=True, slots=True)
class _Figures(Columns):
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
    def of(cls, vintages: pl.DataFrame) -> "tuple[_Figures, dict[tuple[int, int], date]]":
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
        days = zip(company[filing][first].tolist(), first_seq.tolist(), filed[first].tolist(), strict=True)
        return found.at(np.lexsort((seq, end, start, concept, company[row]))), {(c, q): _day(day) for c, q, day in days}


@dataclass(frozen=True, slots=True)
class _Moves(Columns):
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


def _moves(figures: _Figures) -> _Moves:
    """By how much the figures of each pair of filings moved.

    Earnings per share stand in between filings that state no common period's shares.
    """
    is_count = figures.concept != PER_SHARE
    size = np.where(is_count, figures.value, 1 / np.abs(figures.value))
    figures, size = _only_telling(figures, size)
    again = np.flatnonzero(~starts(figures.company, figures.concept, figures.start, figures.end))
    before = again - 1
    holds = (figures.seq[before] < figures.seq[again]) & (figures.regime[before] == figures.regime[again])
    holds &= figures.value[before] * figures.value[again] > 0
    again, before = again[holds], before[holds]
    told = figures.at(again)
    moves = _Moves(
        told.company,
        figures.seq[before],
        told.seq,
        told.concept,
        told.start,
        told.end,
        size[again] / size[before],
    )
    _, pair = np.unique(packed(moves.company, moves.after_seq, moves.seq), return_inverse=True)
    has_count = any_of(pair, int(pair.max(initial=-1)) + 1, moves.concept != PER_SHARE)
    moves = moves.at(~_moves_alone(moves, pair) & ((moves.concept != PER_SHARE) | ~has_count[pair]))
    return moves.at(np.lexsort((moves.observed, moves.seq, moves.after_seq, moves.company)))


def _only_telling(figures: _Figures, size: Floats) -> tuple[_Figures, Floats]:
    """Without counts of nothing, and earnings per share of cents."""
    is_count = figures.concept != PER_SHARE
    holds = np.where(is_count, figures.value > 0, np.abs(figures.value) >= SMALLEST_EARNINGS)
    return figures.at(holds), size[holds]


def _moves_alone(moves: _Moves, pair: Ints) -> Flags:
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


def _pairs(moves: _Moves) -> dict[int, list[_Pair]]:
    """The pairs of filings of each company, with the middle one of what moved.

    Some periods may be left unrestated, or be restated for another reason.
    """
    seen = np.lexsort((moves.end, moves.start, moves.concept, moves.seq, moves.after_seq, moves.company))
    begins = np.flatnonzero(starts(moves.company, moves.after_seq, moves.seq)).tolist()
    company, after_seq, seq, observed = (
        column.tolist() for column in (moves.company, moves.after_seq, moves.seq, moves.observed)
    )
    pairs: dict[int, list[_Pair]] = {}
    for first, after in pairwise([*begins, len(seq)]):
        last = seen[after - 1]
        witness = (int(moves.concept[last]), int(moves.start[last]), int(moves.end[last]))
        of_pair = observed[first:after]
        pair = _Pair(after_seq[first], seq[first], of_pair, of_pair[len(of_pair) // 2], witness)
        pairs.setdefault(company[first], []).append(pair)
    return pairs


def _own_counts(figures: _Figures) -> dict[int, dict[int, float]]:
    """Company to the average of the newest and shortest period that each filing states, by its `seq`."""
    figures = figures.at((figures.concept == BASIC) & (figures.value > 0))
    figures = figures.at(np.lexsort((figures.start, figures.end, figures.seq, figures.company)))
    counts: dict[int, dict[int, float]] = {}
    for company, seq, count in zip(figures.company.tolist(), figures.seq.tolist(), figures.value.tolist(), strict=True):
        counts.setdefault(company, {})[seq] = count
    return counts


def _split_by_split(pairs: Sequence[_Pair], counts: Mapping[int, float]) -> list[_Split]:
    """The splits that explain by how much the periods of a company's filings moved.

    The pair with the fewest filings that a split can lie at is explained first, together with all others that tell of
    the same; what is explained narrows the others down.

    Args:
        pairs: of one company.
        counts: of _own_counts.
    """
    filings = sorted({seq for pair in pairs for seq in (pair.after_seq, pair.seq)} | counts.keys())
    spans = [frozenset(seq for seq in filings if pair.after_seq < seq <= pair.seq) for pair in pairs]
    found: dict[int, _Split] = {}
    without: set[int] = set()
    pending = set(range(len(pairs)))
    while pending:
        told = {n: prod(found[seq].ratio for seq in spans[n] & found.keys()) for n in pending}
        explained = {n for n in pending if _near(pairs[n].ratio, told[n], SNAP)}
        without.update(*(spans[n] - found.keys() for n in explained))
        places = {n: spans[n] - without - found.keys() for n in pending - explained}
        pending = {n for n in places if places[n]}
        if not pending:
            break
        narrowest = min(pending, key=lambda n: (len(places[n]), pairs[n].seq, n))
        usual = _usual(pairs[narrowest].ratio / told[narrowest])
        split = usual and _placed(
            usual,
            sorted(places[narrowest]),
            [(pairs[n], told[n], places[n]) for n in sorted(pending)],
            filings,
            counts,
        )
        if split:
            found[split.seq] = split
        else:
            pending.remove(narrowest)
    return list(found.values())


def _placed(
    usual: _Usual,
    places: Sequence[int],
    pairs: Sequence[tuple[_Pair, float, Collection[int]]],
    filings: Sequence[int],
    counts: Mapping[int, float],
) -> _Split | None:
    """A split of a usual ratio at one of some filings; None where too few periods prove it.

    It is at the filing whose own count is nearest to its ratio from the one before, if any is on the new basis; else
    where most periods prove it.

    Args:
        usual: the ratio.
        places: filings that it may be at.
        pairs: what is not explained yet: each pair, the product of the splits known in it, and the filings that
            another may be at.
        filings: all of the company.
        counts: of _own_counts.
    """
    counted = [pair.witnesses(usual.ratio * told, usual.snap) for pair, told, _ in pairs]
    proof = {
        seq: [(count, pair) for count, (pair, _, at) in zip(counted, pairs, strict=True) if count and seq in at]
        for seq in places
    }
    proven = {seq: sum(count for count, _ in by) for seq, by in proof.items()}
    enough = [seq for seq in places if proven[seq] >= usual.needed]
    if not enough:
        return None
    moved = {seq: _moved(usual.ratio, seq, counts) for seq in enough}
    on_new = [seq for seq in enough if moved[seq] > HALF_WAY]
    most = max(proven.values())
    if on_new:
        first = seq = min(on_new, key=lambda seq: abs(moved[seq] - 1))
    else:
        first, *_ = mostly = [seq for seq in enough if proven[seq] == most]
        seq = mostly[-1]
    concept, start, end = max(pair.seen for _, pair in proof[seq])
    before = filings[filings.index(first) - 1]
    evidence = f"{proven[seq]} restated figures, among them {WITNESS_CONCEPTS[concept]} {_day(start)}..{_day(end)}"
    return _Split(usual.ratio, seq, before, evidence, BY_EARNINGS if concept == PER_SHARE else usual.rule)


def _day(number: int) -> date:
    return date(1970, 1, 1) + timedelta(days=number)


def _moved(ratio: float, seq: int, counts: Mapping[int, float]) -> float:
    """How much of the way (in logarithms) to a split's basis a filing's own count is from the one before."""
    before = max((each for each in counts if each < seq), default=None)
    if before is None or seq not in counts:
        return 0.0
    return log(counts[seq] / counts[before]) / log(ratio)


def _usual(ratio: float) -> _Usual | None:
    """The usual ratio that one is near to, else itself if it is large; None for errors of scale."""
    place = bisect_left(_LOGARITHMS, log(ratio))
    nearest = min(USUAL[max(place - 1, 0) : place + 1], key=lambda usual: abs(log(ratio / usual.ratio)))
    if _near(ratio, nearest.ratio, nearest.snap):
        return nearest
    power = round(log(ratio, THOUSAND))
    is_odd = max(ratio, 1 / ratio) >= SMALLEST_ODD and not _near(ratio, THOUSAND**power, SNAP)
    return _Usual(ratio, SNAP_EXACT, WITNESSES_SMALL, ODD_RATIO) if is_odd else None


def _near(ratio: float, other: float, snap: float) -> bool:
    return abs(ratio / other - 1) <= snap
