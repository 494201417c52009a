"""Splits, inferred from the filings only, and the share basis to which they lead.

Belongs here: finding splits from the ratios between two filings that state the same period, when they took effect, and
converting the figures of each filing to the newest basis. Does not: the figures that can prove a split (moves), the
number of shares (latest, items).

The first periodic report after a split restates every period that it shows (ASC 260-10-55-12). Older periods are never
restated, so a series of filings has several share bases.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from math import log, prod
from typing import Any

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.frames import FRAMES, counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares.moves import (
    AMENDMENT,
    FIGURES,
    PAIR,
    SHARE_CONCEPTS,
    SNAP,
    figures_moved,
    figures_of,
    options_moved,
    own_counts,
    reports,
)
from pipelines.normalize.ttm.known import NOISE_OF_SUMS

USUAL_RATIO = Rule(
    "split.usual-ratio",
    "There was a split between two filings if at least two share counts (if none is stated, earnings per share of at "
    "least 0.5) differ by a usual ratio (2:1, 3:2, 1:10), within 1 %.",
    "ASC 260-10-55-12: a split or a dividend in shares is applied to the earnings per share of all periods shown",
    "correct",
)
SMALL_RATIO = Rule(
    "split.small-ratio",
    "A small split (5 % to 4:3) is proved by four figures that differ by its ratio within 0.2 %, a dividend in "
    "shares of 2 to 8 % by four within 0.05 %.",
    USUAL_RATIO.source,
    "correct",
)
ODD_RATIO = Rule(
    "split.odd-ratio",
    "A split of any other ratio of at least 1.25 (two splits at once, an exchange of shares) that is not a power of "
    "a thousand is proved by three figures that differ by it within 0.05 %.",
    USUAL_RATIO.source,
    "correct",
)
EXACT_RATIO = Rule(
    "split.exact-ratio",
    "One share count of at least six digits, or options outstanding and their exercise price, that differ by a usual "
    "ratio to the last digit prove a split, if the filing's own count has changed by this ratio as well.",
    "ASC 260-10-55-12 (share counts); ASC 718-20-35-6: options are adjusted in an equity restructuring",
    "correct",
    "filers that restate one share count, or options only",
)
PLACED = Rule(
    "split.filing.own-count",
    "A split takes effect with the filing whose own share count (or net income over earnings per share) changed most "
    "nearly by its ratio, by more than half of it; otherwise with the last for which most figures prove it.",
    USUAL_RATIO.source,
    "select",
)

NEWEST_BASIS = Rule(
    "share-basis.newest",
    "The share counts of a filing are multiplied, and its amounts per share divided, by the ratios of all splits that "
    "took effect after it.",
    "ASC 260-10-55-12: a split or a dividend in shares is applied to the earnings per share of all periods shown",
    "compose",
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
"""Usual split ratios; their inverses count too. A ratio of a thousand or a million is an error of scale."""

SNAP_SMALL, SNAP_EXACT = 0.002, 0.0005
"""Tolerances for small and for unusual ratios, where figures must be nearer to the ratio."""
SMALLEST_ODD = 1.25
"""Smallest unusual ratio (two splits at once, an exchange of shares). Corrections of a share count are smaller."""

THOUSAND = 1000.0

EXACT = 1e-6
"""Largest relative deviation from a ratio if restated counts of six or more digits differ by it to the last digit."""

FIGURES_USUAL, FIGURES_ODD, FIGURES_SMALL = 2, 3, 4
"""How many restated figures must prove a split of a usual, odd or small ratio; a single figure may be an error."""

HALF_WAY = 0.5
"""A count is on the new basis if it is nearer to it than to the old one (in logarithms)."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two successive filings with common periods: `observed` is the change of each figure (new shares for one), sorted.

    The median change counts as the product of the splits after the first filing, up to the second, because a period may
    not be restated, or be restated for another reason. `figure`: the number in FIGURES of the last changed figure, and
    its first and last day.
    """

    after_seq: int
    seq: int
    observed: Sequence[float]
    figure: tuple[int, date, date]

    @property
    def ratio(self) -> float:
        return self.observed[len(self.observed) // 2]

    def agreeing(self, ratio: float, snap: float) -> int:
        return sum(_near(each, ratio, snap) for each in self.observed)


@dataclass(frozen=True, slots=True)
class _Usual:
    """A usual ratio: its tolerance, and the number of figures that must show it."""

    ratio: float
    snap: float
    needed: int
    rule: Rule


USUAL = [
    _Usual(ratio, snap, needed, rule)
    for ratios, snap, needed, rule in (
        (RATIOS, SNAP, FIGURES_USUAL, USUAL_RATIO),
        (SMALL_RATIOS, SNAP_SMALL, FIGURES_SMALL, SMALL_RATIO),
        (DIVIDENDS_IN_SHARES, SNAP_EXACT, FIGURES_SMALL, SMALL_RATIO),
    )
    for each in ratios
    for ratio in (float(each), 1 / each)
]


def infer_splits(vintages: pl.DataFrame, facts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Splits between successive filings that state weighted shares, or earnings per share, of the same period.

    A restated figure proves the product of all splits since the period was last stated. A repeated unchanged figure
    proves that there was no split in between. So the rest of a product belongs to the filings without this proof.
    Filings of two companies under one CIK prove no split. Nor does an amendment, which may repeat a report on the basis
    of the report's day.

    Args:
        vintages: corrected amounts of filings, in units, with `regime`.
        facts: typed facts in filing order, for options_moved.

    Returns:
        splits: `cik`, `ratio` (new shares per old), `effective_seq` (the first filing on the new basis),
            `effective_by` and `effective_after` (filing dates around the event), `evidence`, `rule`.
        decisions: `cik`, `rule`, `figures`.
    """
    of_reports = reports(vintages)
    figures = figures_of(of_reports)
    moved, left_out = figures_moved(figures)
    moves = pl.concat([moved, options_moved(facts, of_reports, _usual_of_options)])
    has_moved = pl.col("cik").is_in(moves.filter((pl.col("observed") - 1).abs() > SNAP)["cik"].unique().implode())
    counts = own_counts(figures.filter(has_moved))
    days = of_reports.filter(has_moved).select("cik", "seq", "filed").iter_rows()
    filed = {(cik, seq): day for cik, seq, day in days}
    pairs = (
        moves.filter(has_moved)
        .sort(*PAIR, "concept", "start", "end")
        .group_by(PAIR, maintain_order=True)
        .agg(pl.col("observed").sort(), pl.col("concept").to_physical().last(), pl.col("start", "end").last())
    )
    rows: list[dict[str, Any]] = []
    for cik, of_company in groupby(pairs.iter_rows(), lambda row: row[0]):
        found = [_Pair(after, seq, observed, tuple(figure)) for _, after, seq, observed, *figure in of_company]
        rows += [
            {
                "cik": cik,
                **split,
                "effective_by": filed[cik, split["effective_seq"]],
                "effective_after": filed[cik, split["after_seq"]],
            }
            for split in _splits_of_company(found, counts.get(cik, {}))
        ]
    splits = pl.DataFrame(rows, schema=FRAMES["splits"].types).sort("cik", "effective_seq", "ratio")
    return splits, counted([*((rule, ciks.to_numpy()) for rule, ciks in left_out), (PLACED, ints(splits, "cik"))])


def _usual_of_options(ratio: float) -> float | None:
    """The usual ratio near a ratio; None for small ratios, which could also be the effect of new grants of options."""
    usual = _usual(ratio)
    return usual.ratio if usual and usual.rule is USUAL_RATIO else None


def _splits_of_company(pairs: Sequence[_Pair], counts: Mapping[int, float]) -> list[dict[str, Any]]:
    """The splits that explain the changes between a company's filings.

    The pair with the fewest possible filings for a split is explained first, together with all other pairs that show
    the same split. Each split that is found leaves fewer possibilities for the other pairs.

    Args:
        pairs: the pairs of one company.
        counts: of own_counts.

    Returns:
        `ratio`, `effective_seq`, `after_seq` (the filing before), `evidence`, `rule` (its id).
    """
    filings = sorted({seq for pair in pairs for seq in (pair.after_seq, pair.seq)} | counts.keys())
    spans = [frozenset(seq for seq in filings if pair.after_seq < seq <= pair.seq) for pair in pairs]
    found: dict[int, dict[str, Any]] = {}
    without: set[int] = set()
    pending = set(range(len(pairs)))
    while pending:
        known = {n: prod(found[seq]["ratio"] for seq in spans[n] & found.keys()) for n in pending}
        explained = {n for n in pending if _near(pairs[n].ratio, known[n], SNAP)}
        without.update(*(spans[n] for n in explained))
        places = {n: spans[n] - without - found.keys() for n in pending - explained}
        pending = {n for n in places if places[n]}
        if not pending:
            break
        narrowest = min(pending, key=lambda n: (len(places[n]), pairs[n].seq, n))
        usual = _usual(pairs[narrowest].ratio / known[narrowest])
        unexplained = [(pairs[n], known[n], places[n]) for n in sorted(pending)]
        split = usual and _placed(usual, sorted(places[narrowest]), unexplained, filings, counts)
        if split:
            found[split["effective_seq"]] = split
        else:
            pending.remove(narrowest)
    return list(found.values())


def _placed(
    usual: _Usual,
    places: Sequence[int],
    pairs: Sequence[tuple[_Pair, float, Collection[int]]],
    filings: Sequence[int],
    counts: Mapping[int, float],
) -> dict[str, Any] | None:
    """Place a split of a usual ratio at one of the possible filings (rule PLACED); None if too few figures prove it.

    Args:
        usual: the ratio.
        places: possible filings of the split.
        pairs: pairs that are not explained yet: the pair, the product of its known splits, and the possible filings of
            another split.
        filings: all filings of the company.
        counts: of own_counts.
    """

    def proof(seq: int, snap: float) -> list[tuple[tuple[int, date, date], int]]:
        agreeing = ((pair, pair.agreeing(usual.ratio * known, snap)) for pair, known, at in pairs if seq in at)
        return [(pair.figure, count) for pair, count in agreeing if count]

    shown = {seq: sum(count for _, count in proof(seq, usual.snap)) for seq in places}
    moved = {seq: _moved(usual.ratio, seq, counts) for seq in places}
    rule, enough = usual.rule, [seq for seq in places if usual.rule.where(shown[seq] >= usual.needed)]
    if not enough and rule is USUAL_RATIO:
        # if the only restated count of a filing is its newest one, there is no second figure
        own = [seq for seq in places if EXACT_RATIO.where(HALF_WAY < moved[seq] != 1.0)]
        rule, enough = EXACT_RATIO, [seq for seq in own if proof(seq, EXACT)]
    if not enough:
        return None
    most = max(shown[seq] for seq in enough)
    chosen = [seq for seq in enough if shown[seq] == most]
    on_new = [seq for seq in enough if PLACED.where(moved[seq] > HALF_WAY)]
    if on_new:
        chosen = [min(on_new, key=lambda seq: abs(moved[seq] - 1))]
    first, seq = chosen[0], chosen[-1]
    (number, start, end), _ = max(proof(seq, usual.snap))
    figures = f"{shown[seq]} restated figure{'' if shown[seq] == 1 else 's'}"
    return {
        "ratio": usual.ratio,
        "effective_seq": seq,
        "after_seq": filings[filings.index(first) - 1],
        "evidence": f"{figures}, among them {FIGURES.categories[number]} {start}..{end}",
        "rule": rule.id,
    }


def _moved(ratio: float, seq: int, counts: Mapping[int, float]) -> float:
    """The change of a filing's own count from the one before, as a share of the split (in logarithms)."""
    before = max((each for each in counts if each < seq), default=None)
    if before is None or seq not in counts:
        return 0.0
    return log(counts[seq] / counts[before]) / log(ratio)


def _usual(ratio: float) -> _Usual | None:
    """The usual ratio near a ratio, otherwise the ratio itself; None if it is too small or an error of scale."""
    nearest = min(USUAL, key=lambda usual: abs(log(ratio / usual.ratio)))
    if _near(ratio, nearest.ratio, nearest.snap):
        return nearest
    power = round(log(ratio, THOUSAND))
    is_odd = max(ratio, 1 / ratio) >= SMALLEST_ODD and not _near(ratio, THOUSAND**power, SNAP)
    return _Usual(ratio, SNAP_EXACT, FIGURES_ODD, ODD_RATIO) if is_odd else None


def _near(ratio: float, other: float, snap: float) -> bool:
    return abs(ratio / other - 1) <= snap


def share_factors(
    filings: pl.DataFrame, vintages: pl.DataFrame, splits: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The factor between the share basis of each filing and the newest one.

    Args:
        filings: with `cik` and `seq`.
        vintages: corrected amounts of filings, in units.
        splits: of infer_splits.

    Returns:
        filings: the same with `factor`: new shares for one share of the filing's basis, the product of the splits that
            took effect after it.
        decisions: `cik`, `rule`, `figures` (filings).
    """
    still_to_come = (
        splits.filter(NEWEST_BASIS.where(pl.col("ratio") > 0))
        .sort("effective_seq")
        .select("cik", "effective_seq", factor=pl.col("ratio").cum_prod(reverse=True).over("cik"))
    )
    repetitions = _repeated(vintages)
    factors = (
        filings.join(repetitions, on=["cik", "seq"], how="left")
        .with_columns(basis=pl.coalesce("of_seq", "seq"))
        .sort("basis")
        .join_asof(
            still_to_come,
            left_on="basis",
            right_on="effective_seq",
            by="cik",
            strategy="forward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .select("cik", "seq", pl.col("factor").fill_null(1.0))
    )
    found = filings.join(factors, on=["cik", "seq"], how="left", maintain_order="left")
    older = found.filter((pl.col("factor") - 1).abs() > NOISE_OF_SUMS)
    return found, counted([(NEWEST_BASIS, ints(older, "cik")), (AMENDMENT, ints(repetitions, "cik"))])


def _repeated(vintages: pl.DataFrame) -> pl.DataFrame:
    """Amendments on the share basis of the report that they repeat: `cik`, `seq`, and `of_seq`, the report.

    A report that is amended after a split may show the share counts before the split, or restate them.
    """
    counts = vintages.filter(pl.col("concept").is_in(SHARE_CONCEPTS), pl.col("value") > 0).sort("cik", "seq")
    # an amendment is compared with the last report before it that states the period
    reported = pl.when(~pl.col("amended")).then(pl.col("seq", "value")).forward_fill()
    return (
        counts.with_columns(reported.over("cik", "concept", "start", "end").name.prefix("of_"))
        .filter(AMENDMENT.where(pl.col("amended")), (pl.col("value") / pl.col("of_value") - 1).abs() <= SNAP)
        .group_by("cik", "seq", maintain_order=True)
        .agg(pl.col("of_seq").max())
    )


def on_newest_basis(vintages: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """Put shares and per-share values on the share basis of the company's newest filing.

    Args:
        vintages: with `measure_sign`: 1 for shares, -1 for per-share values, 0 for money.
        filings: of share_factors.

    Returns:
        the vintages with converted `value` and `grain`.
    """
    of_filing = filings.select("cik", "seq", times="factor")
    found = vintages.join(of_filing, on=["cik", "seq"], how="left", maintain_order="left")
    return found.with_columns(pl.col("value", "grain") * pl.col("times").pow("measure_sign")).drop("times")
