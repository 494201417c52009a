"""Splits, inferred from the filings only.

Belongs here: finding splits from the ratios between two filings that state the same period, and when they took effect.
Does not: converting the figures of a filing (basis), the number of shares (latest, items).

The first periodic report after a split restates every period that it shows (ASC 260-10-55-12). Older periods are never
restated, so a series of filings has several share bases.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import log, prod

import numpy as np
import polars as pl

from pipelines.normalize.arrays import NOTHING, Ints, ints, starts
from pipelines.normalize.frames import counted
from pipelines.normalize.keys import any_of
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares import options
from pipelines.normalize.shares.moves import (
    MOVING_CONCEPTS,
    NO_AMENDMENTS,
    PER_SHARE,
    SNAP,
    Moves,
    ShareFigures,
    as_date,
    figures_moved,
    of_amendments,
    own_counts,
)

RESTATED = "ASC 260-10-55-12: a split or a dividend in shares is applied to the earnings per share of all periods shown"

USUAL_RATIO = Rule(
    "split.usual-ratio",
    "There was a split between two filings if at least two share counts differ by a usual ratio (2:1, 3:2, 1:10), "
    "within 1 %.",
    RESTATED,
    "correct",
)
SMALL_RATIO = Rule(
    "split.small-ratio",
    "A small split (5 % to 4:3) needs four figures that differ by its ratio, within 0.2 %.",
    RESTATED,
    "correct",
)
SHARE_DIVIDEND = Rule(
    "split.share-dividend",
    "A dividend in shares of 2 to 8 % needs four figures that differ by its ratio, within 0.05 %.",
    RESTATED,
    "correct",
)
ODD_RATIO = Rule(
    "split.odd-ratio",
    "Any other ratio of 1.25 and more (two splits at once, an exchange of shares) that is not a power of a thousand "
    "needs three figures that differ by it, within 0.05 %.",
    RESTATED,
    "correct",
)
EXACT_RATIO = Rule(
    "split.exact-ratio",
    "One share count of at least six digits that differs by a usual ratio of 2:1 or more to the last digit proves a "
    "split, if the filing's own count has changed by this ratio as well.",
    RESTATED,
    "correct",
    "filers that restate one share count",
)
BY_EARNINGS = Rule(
    "split.earnings-per-share",
    "If two filings have no share counts of a common period, earnings per share of at least 0.5 that differ by the "
    "inverse of one of these ratios prove a split.",
    RESTATED,
    "correct",
    "filers that state share counts for each class only",
)
BY_OPTIONS = Rule(
    "split.options",
    "If two filings state the options outstanding on one day and their exercise price, and the one differs by a usual "
    "ratio and the other by its inverse, to the last digit, there was a split between them, provided that the filing's "
    "own share count has changed by this ratio as well.",
    "ASC 718-20-35-6: options are adjusted in an equity restructuring; SEC Staff Accounting Bulletin Topic 4.C: a "
    "split is given effect retroactively",
    "correct",
    "filers whose filings have no common period with share counts",
)
BY_OWN_COUNT = Rule(
    "split.filing.own-count",
    "Of several possible filings, a split is placed at the one whose own share count, compared with the filing before, "
    "changed nearest to the ratio, if any changed by more than half of it (in logarithms); without a count, net income "
    "over earnings per share.",
    RESTATED,
    "select",
)
BY_MOST_FIGURES = Rule(
    "split.filing.most-figures",
    "If no filing's own share count shows where a split took effect, it is placed at the last of the filings for which "
    "most restated figures prove it.",
    RESTATED,
    "select",
)
RULES = (
    USUAL_RATIO,
    SMALL_RATIO,
    SHARE_DIVIDEND,
    ODD_RATIO,
    EXACT_RATIO,
    BY_EARNINGS,
    BY_OPTIONS,
    BY_OWN_COUNT,
    BY_MOST_FIGURES,
)

DIVIDENDS_IN_SHARES: tuple[float, ...] = (1.02, 1.03, 1.04, 1.06, 1.07, 1.08)
SMALL_RATIOS: tuple[float, ...] = (1.05, 1.1, 1.15, 1.2, 1.25, 4 / 3)
"""Dividends in shares and small splits: small revisions of averages come near them, so they need more proof."""
RATIOS: tuple[float, ...] = (
    *(7 / 5, 3 / 2, 8 / 5, 5 / 3, 7 / 4, 5 / 2, 7 / 2),
    *range(2, 101),
    *range(105, 201, 5),
    *range(225, 501, 25),
)
"""Usual split ratios; their inverses count too. A thousand or a million is an error of scale."""

SNAP_SMALL, SNAP_EXACT = 0.002, 0.0005
"""Tolerances for small and for unusual ratios, where figures must be nearer to the ratio."""
SMALLEST_ODD = 1.25
"""Smallest unusual ratio (two splits at once, an exchange of shares). Corrections of a share count are smaller."""

THOUSAND = 1000.0

EXACT = 1e-6
"""Restated counts of six digits and more that differ by a ratio to the last digit differ from it by less than this."""

FIGURES, FIGURES_ODD, FIGURES_SMALL = 2, 3, 4
"""A split needs so many restated figures; one alone may be an error."""

HALF_WAY = 0.5
"""A count is on the new basis if it is nearer to it than to the old one (in logarithms)."""

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

OF_OPTIONS = -1
_NAMES = (*MOVING_CONCEPTS, "options outstanding")
"""The names of changed figures, by their place; OF_OPTIONS is the last."""

_Figure = tuple[int, int, int]
"""A changed figure: its place in _NAMES, first and last day of its period (days since 1970)."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two successive filings with common periods: the change of each period (new shares for one), and the median.

    The product of the splits after the first filing, up to the second, is this change.
    """

    after_seq: int
    seq: int
    observed: Sequence[float]
    ratio: float
    named: _Figure

    def agreeing(self, ratio: float, snap: float) -> int:
        return sum(_near(each, ratio, snap) for each in self.observed)


@dataclass(frozen=True, slots=True)
class _Usual:
    """A usual ratio: its tolerance, and the number of figures that must show it."""

    ratio: float
    snap: float
    needed: int
    rule: Rule


USUAL: tuple[_Usual, ...] = tuple(
    sorted(
        (
            _Usual(ratio, snap, needed, rule)
            for ratios, snap, needed, rule in (
                (RATIOS, SNAP, FIGURES, USUAL_RATIO),
                (SMALL_RATIOS, SNAP_SMALL, FIGURES_SMALL, SMALL_RATIO),
                (DIVIDENDS_IN_SHARES, SNAP_EXACT, FIGURES_SMALL, SHARE_DIVIDEND),
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
    placed_by: Rule


def infer_splits(vintages: pl.DataFrame, facts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Splits between successive filings that state weighted shares, or earnings per share, of the same period.

    A restated figure proves the product of all splits since the period was last stated. A repeated unchanged figure
    proves that there was no split in between. So the rest of a product belongs to the filings without such proof.
    Filings of two companies under one CIK prove no split. Nor does an amendment, which may repeat a report on the basis
    of the report's day.

    Args:
        vintages: corrected amounts of filings, in units, with `regime`.
        facts: typed facts in filing order, of which options.restated uses some.

    Returns:
        splits: `cik`, `ratio` (new shares per old), `effective_seq` (the first filing on the new basis),
            `effective_by` and `effective_after` (filing dates around the event), `evidence`, `rule`.
        decisions: `cik`, `rule`, `figures`.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        figures, filed = ShareFigures.of(vintages)
        moves, left_out = figures_moved(figures)
    ciks = np.unique(ints(vintages, "cik"))
    has_moved = any_of(moves.company, len(ciks), np.abs(moves.observed - 1) > SNAP)
    of_options = _pairs_of_options(facts, ciks, filed)
    has_moved[list(of_options)] = True
    moves, counts = moves.at(has_moved[moves.company]), own_counts(figures.at(has_moved[figures.company]))
    rows: list[tuple[int, float, int, date, date, str, str]] = []
    decided = [(NO_AMENDMENTS, of_amendments(vintages)), *((rule, ciks[company]) for rule, company in left_out)]
    of_figures = _pairs(moves)
    for company in sorted(of_figures.keys() | of_options.keys()):
        pairs = [*of_figures.get(company, ()), *of_options.get(company, ())]
        found = _split_by_split(pairs, counts.get(company, {}))
        decided += [(each.placed_by, ciks[[company]]) for each in found]
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
            for each in found
        ]
    splits = pl.DataFrame(rows, schema=SPLITS, orient="row").sort("cik", "effective_seq", "ratio")
    return splits, counted(decided)


def _pairs(moves: Moves) -> dict[int, list[_Pair]]:
    """The pairs of filings of each company, with the median change.

    The median is used because some periods may not be restated, or be restated for another reason.
    """
    by_concept = np.lexsort((moves.end, moves.start, moves.concept, moves.seq, moves.after_seq, moves.company))
    begins = np.flatnonzero(starts(moves.company, moves.after_seq, moves.seq)).tolist()
    company, after_seq, seq, observed = (
        column.tolist() for column in (moves.company, moves.after_seq, moves.seq, moves.observed)
    )
    pairs: dict[int, list[_Pair]] = {}
    for first, after in pairwise([*begins, len(seq)]):
        last = by_concept[after - 1]
        figure = (int(moves.concept[last]), int(moves.start[last]), int(moves.end[last]))
        of_pair = observed[first:after]
        pair = _Pair(after_seq[first], seq[first], of_pair, of_pair[len(of_pair) // 2], figure)
        pairs.setdefault(company[first], []).append(pair)
    return pairs


def _pairs_of_options(facts: pl.DataFrame, ciks: Ints, filed: Mapping[tuple[int, int], date]) -> dict[int, list[_Pair]]:
    """The pairs of filings of each company whose options show a split: a count and a price, by the same ratio."""
    filing_of = {(company, day): seq for (company, seq), day in filed.items()}
    place = {cik: company for company, cik in enumerate(ciks.tolist())}
    pairs: dict[int, list[_Pair]] = {}
    for each in options.restated(facts, _usual_of_options):
        company = place.get(each.cik, NOTHING)
        after, seq = (filing_of.get((company, as_date(day)), NOTHING) for day in (each.after_filed, each.filed))
        if NOTHING < after < seq:
            pair = _Pair(after, seq, [each.ratio] * FIGURES, each.ratio, (OF_OPTIONS, each.end, each.end))
            pairs.setdefault(company, []).append(pair)
    return pairs


def _usual_of_options(ratio: float) -> float | None:
    """The usual ratio near a ratio; dividends in shares and small splits leave too little to tell them from grants."""
    usual = _usual(ratio)
    return usual.ratio if usual and usual.rule is USUAL_RATIO else None


def _split_by_split(pairs: Sequence[_Pair], counts: Mapping[int, float]) -> list[_Split]:
    """The splits that explain the changes between a company's filings.

    The pair with the fewest possible filings for a split is explained first, together with all other pairs that show
    the same split. Each split that is found leaves fewer possibilities for the other pairs.

    Args:
        pairs: the pairs of one company.
        counts: of own_counts.
    """
    filings = sorted({seq for pair in pairs for seq in (pair.after_seq, pair.seq)} | counts.keys())
    spans = [frozenset(seq for seq in filings if pair.after_seq < seq <= pair.seq) for pair in pairs]
    found: dict[int, _Split] = {}
    without: set[int] = set()
    pending = set(range(len(pairs)))
    while pending:
        known = {n: prod(found[seq].ratio for seq in spans[n] & found.keys()) for n in pending}
        explained = {n for n in pending if _near(pairs[n].ratio, known[n], SNAP)}
        without.update(*(spans[n] - found.keys() for n in explained))
        places = {n: spans[n] - without - found.keys() for n in pending - explained}
        pending = {n for n in places if places[n]}
        if not pending:
            break
        narrowest = min(pending, key=lambda n: (len(places[n]), pairs[n].seq, n))
        usual = _usual(pairs[narrowest].ratio / known[narrowest])
        split = usual and _placed(
            usual,
            sorted(places[narrowest]),
            [(pairs[n], known[n], places[n]) for n in sorted(pending)],
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
    """A split of a usual ratio at one of some filings; None if too few periods prove it.

    It is placed at the filing whose own count, compared with the one before, is nearest to the ratio, if any is on the
    new basis; otherwise at the filing with most proof.

    Args:
        usual: the ratio.
        places: possible filings of the split.
        pairs: pairs that are not explained yet: the pair, the product of its known splits, and the possible filings of
            another split.
        filings: all filings of the company.
        counts: of own_counts.
    """
    agreeing = [pair.agreeing(usual.ratio * known, usual.snap) for pair, known, _ in pairs]
    proof = {
        seq: [(count, pair) for count, (pair, _, at) in zip(agreeing, pairs, strict=True) if count and seq in at]
        for seq in places
    }
    proven = {seq: sum(count for count, _ in by) for seq, by in proof.items()}
    enough = [seq for seq in places if proven[seq] >= usual.needed]
    rule = usual.rule
    if not enough and rule is USUAL_RATIO:
        rule = EXACT_RATIO
        exactly = {seq for pair, known, at in pairs if pair.agreeing(usual.ratio * known, EXACT) for seq in at}
        # a filing whose newest count is the restated one itself has no second figure
        enough = [seq for seq in places if seq in exactly and HALF_WAY < _moved(usual.ratio, seq, counts) != 1.0]
    if not enough:
        return None
    moved = {seq: _moved(usual.ratio, seq, counts) for seq in enough}
    on_new = [seq for seq in enough if moved[seq] > HALF_WAY]
    named = max(pair.named for seq in enough for _, pair in proof[seq])
    if not on_new and named[0] == OF_OPTIONS:
        return None
    most = max(proven.values())
    if on_new:
        first = seq = min(on_new, key=lambda seq: abs(moved[seq] - 1))
    else:
        first, *_ = mostly = [seq for seq in enough if proven[seq] == most]
        seq = mostly[-1]
    concept, start, end = max(pair.named for _, pair in proof[seq])
    before = filings[filings.index(first) - 1]
    evidence = f"{proven[seq]} restated figures, among them {_NAMES[concept]} {as_date(start)}..{as_date(end)}"
    return _Split(
        usual.ratio,
        seq,
        before,
        evidence,
        rule={PER_SHARE: BY_EARNINGS, OF_OPTIONS: BY_OPTIONS}.get(concept, rule),
        placed_by=BY_OWN_COUNT if on_new else BY_MOST_FIGURES,
    )


def _moved(ratio: float, seq: int, counts: Mapping[int, float]) -> float:
    """The change of a filing's own count from the one before, as a share of the split (in logarithms)."""
    before = max((each for each in counts if each < seq), default=None)
    if before is None or seq not in counts:
        return 0.0
    return log(counts[seq] / counts[before]) / log(ratio)


def _usual(ratio: float) -> _Usual | None:
    """The usual ratio near a ratio, or the ratio itself if it is large enough; None for errors of scale."""
    place = bisect_left(_LOGARITHMS, log(ratio))
    nearest = min(USUAL[max(place - 1, 0) : place + 1], key=lambda usual: abs(log(ratio / usual.ratio)))
    if _near(ratio, nearest.ratio, nearest.snap):
        return nearest
    power = round(log(ratio, THOUSAND))
    is_odd = max(ratio, 1 / ratio) >= SMALLEST_ODD and not _near(ratio, THOUSAND**power, SNAP)
    return _Usual(ratio, SNAP_EXACT, FIGURES_ODD, ODD_RATIO) if is_odd else None


def _near(ratio: float, other: float, snap: float) -> bool:
    return abs(ratio / other - 1) <= snap
