"""Splits, inferred from the filings alone.

Belongs here: what a ratio between two filings of one period proves, and when it took effect.
Does not: what follows for the figures of a filing (share_basis), how many shares there are (flows).

The first periodic report after a split restates every period it shows (ASC 260-10-55-12); older periods are never
restated, so one series holds several bases.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import log, prod

import polars as pl

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
"""A ratio this near to a usual one is that one: weighted averages move a little with rounding."""
SMALLEST_ODD = 1.25
"""Any other ratio (two splits at once, an exchange of shares) is told where the periods agree on it to the digit, and
where it is so large that no correction of a count comes to it."""

THOUSAND = 1000.0

WITNESSES, WITNESSES_SMALL = 2, 4
"""So many restated periods make a split; one alone may be an error."""

HALF_WAY = 0.5
"""A count that has gone more than half of the way (in logarithms) to the new basis is on it."""

POTENTIAL = 1 / 3
"""Potential shares alone hardly make up more of a count."""

SHARE_CONCEPTS = ("shares_basic", "shares_diluted")
EARNINGS, SMALLEST_EARNINGS = "eps_basic", 0.5
"""Earnings per share move against the count, and tell where none is stated; in cents, small ones tell too little."""

SPLITS = pl.Schema(
    {
        "cik": pl.Int64(),
        "ratio": pl.Float64(),
        "effective_seq": pl.Int32(),
        "effective_by": pl.Date(),
        "effective_after": pl.Date(),
        "evidence": pl.String(),
    }
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two filings that state periods one after the other: by how much (new shares for one) each period moved, and most.

    The splits at the filings after the first, up to the second, multiply to it.
    """

    after_seq: int
    seq: int
    observed: Sequence[float]
    ratio: float
    seen: str

    def witnesses(self, ratio: float, snap: float) -> int:
        return sum(_near(each, ratio, snap) for each in self.observed)


@dataclass(frozen=True, slots=True)
class _Usual:
    """A usual ratio: how near a ratio must come to it, and how often it must be seen."""

    ratio: float
    snap: float
    needed: int


USUAL: tuple[_Usual, ...] = tuple(
    _Usual(ratio, snap, needed)
    for ratios, snap, needed in (
        (RATIOS, SNAP, WITNESSES),
        (SMALL_RATIOS, SNAP_SMALL, WITNESSES_SMALL),
        (DIVIDENDS_IN_SHARES, SNAP_EXACT, WITNESSES_SMALL),
    )
    for each in ratios
    for ratio in (float(each), 1 / each)
)


@dataclass(frozen=True, slots=True)
class _Split:
    ratio: float
    seq: int
    after_seq: int
    evidence: str


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
        `effective_after` (filing dates around the event), `evidence`.
    """
    # what is filed on one day is on one basis
    reports = vintages.filter(~pl.col("amended")).with_columns(pl.col("seq").min().over("cik", "filed"))
    moved = _pairs(reports).filter(pl.col("moved").any().over("cik"))
    of_moved = reports.join(moved.select("cik").unique(), on="cik", how="semi")
    counts = _own_counts(of_moved)
    filed = {(cik, seq): day for cik, seq, day in of_moved.select("cik", "seq", "filed").unique().rows()}
    rows: list[tuple[int, float, int, date, date, str]] = []
    for (cik,), of_company in moved.partition_by("cik", as_dict=True).items():
        found = _split_by_split(
            [_Pair(*row) for row in of_company.select("after_seq", "seq", "observed", "ratio", "seen").rows()],
            counts.get(cik, {}),
        )
        rows += [
            (cik, each.ratio, each.seq, filed[cik, each.seq], filed[cik, each.after_seq], each.evidence)
            for each in found
        ]
    return pl.DataFrame(rows, schema=SPLITS, orient="row").sort("cik", "effective_seq", "ratio")


def _pairs(vintages: pl.DataFrame) -> pl.DataFrame:
    """One row a pair of filings: `cik` and the columns of _Pair, and whether any period `moved`.

    Earnings per share stand in between filings that state no common period's shares.
    """
    period = ["cik", "concept", "start", "end"]
    is_count, value = pl.col("concept").is_in(SHARE_CONCEPTS), pl.col("value")
    size = pl.when(is_count).then(value).otherwise(1 / value.abs())
    tells = pl.when(is_count).then(value > 0).otherwise(value.abs() >= SMALLEST_EARNINGS)
    both = (
        vintages.filter(pl.col("concept").is_in([*SHARE_CONCEPTS, EARNINGS]), tells)
        .sort(*period, "seq")
        .with_columns(
            observed=size / size.shift().over(period),
            same_sign=value * value.shift().over(period) > 0,
            after_seq=pl.col("seq").shift().over(period),
            after_regime=pl.col("regime").shift().over(period),
        )
        .filter(pl.col("after_seq") < pl.col("seq"), pl.col("regime") == pl.col("after_regime"), pl.col("same_sign"))
    )
    pair = ["cik", "after_seq", "seq"]
    # a split moves all shares: potential ones alone are counted anew under another standard (ASU 2020-06)
    basic = pl.col("observed").filter(pl.col("concept") == SHARE_CONCEPTS[0]).first().over([*pair, "start", "end"])
    off = pl.col("observed") / basic.fill_null(1.0) - 1
    moves_alone = (pl.col("concept") == SHARE_CONCEPTS[1]) & (off.abs() > SNAP)
    moves_alone &= basic.is_not_null() | (off.abs() <= POTENTIAL)
    return (
        both.filter(~moves_alone, is_count | ~is_count.any().over(pair))
        .with_columns(seen=pl.concat_str("concept", pl.lit(" "), "start", pl.lit(".."), "end"))
        .group_by(pair)
        .agg(
            "observed",
            pl.col("seen").max(),
            # the middle one: some periods may be left unrestated, or be restated for another reason
            ratio=pl.col("observed").sort().get(pl.len() // 2),
            moved=((pl.col("observed") - 1).abs() > SNAP).any(),
        )
        .sort(pair)
    )


def _own_counts(vintages: pl.DataFrame) -> dict[int, dict[int, float]]:
    """Company to the average of the newest and shortest period that each filing states, by its `seq`."""
    own = (
        vintages.filter(pl.col("concept") == SHARE_CONCEPTS[0], pl.col("value") > 0)
        .sort("cik", "seq", "end", "start")
        .group_by("cik", "seq", maintain_order=True)
        .agg(count=pl.col("value").last())
    )
    counts: dict[int, dict[int, float]] = {}
    for cik, seq, count in own.rows():
        counts.setdefault(cik, {})[seq] = count
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
    seen = max(pair.seen for _, pair in proof[seq])
    before = filings[filings.index(first) - 1]
    return _Split(usual.ratio, seq, before, f"{proven[seq]} restated figures, among them {seen}")


def _moved(ratio: float, seq: int, counts: Mapping[int, float]) -> float:
    """How much of the way (in logarithms) to a split's basis a filing's own count is from the one before."""
    before = max((each for each in counts if each < seq), default=None)
    if before is None or seq not in counts:
        return 0.0
    return log(counts[seq] / counts[before]) / log(ratio)


def _usual(ratio: float) -> _Usual | None:
    """The usual ratio that one is near to, else itself if it is large; None for errors of scale."""
    nearest = min(USUAL, key=lambda usual: abs(log(ratio / usual.ratio)))
    if _near(ratio, nearest.ratio, nearest.snap):
        return nearest
    power = round(log(ratio, THOUSAND))
    is_odd = max(ratio, 1 / ratio) >= SMALLEST_ODD and not _near(ratio, THOUSAND**power, SNAP)
    return _Usual(ratio, SNAP_EXACT, WITNESSES_SMALL) if is_odd else None


def _near(ratio: float, other: float, snap: float) -> bool:
    return abs(ratio / other - 1) <= snap
