"""Share basis: splits inferred from the filings alone, and the factor that puts a filing on the newest basis.

Belongs here: what a ratio between two filings of one period proves, and when it took effect.
Does not: how many shares there are (flows).

The first periodic report after a split restates every period it shows (ASC 260-10-55-12); older periods are never
restated, so one series holds several bases.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import log, prod

import polars as pl

SMALL_RATIOS: tuple[float, ...] = (21 / 20, 11 / 10, 6 / 5, 5 / 4, 4 / 3)
"""Stock dividends and small splits: averages that are revised a little come near them, so they need more proof."""
RATIOS: tuple[float, ...] = (1.5, *range(2, 51), 60, 75, 80, 100, 120, 125, 150, 200, 250, 300, 400, 500)
"""Split ratios that are looked for, and their inverses; a thousand or a million is an error of scale."""

SNAP, SNAP_SMALL = 0.01, 0.002
"""A ratio this near to a usual one is that one: weighted averages move a little with rounding."""

WITNESSES, WITNESSES_SMALL = 2, 4
"""So many restated periods make a split; one alone may be an error."""

HALF_WAY = 0.5
"""A count that has gone more than half of the way (in logarithms) to the new basis is on it."""

SHARE_CONCEPTS = ("shares_basic", "shares_diluted")
SPLITS = pl.Schema(
    {
        "cik": pl.String(),
        "ratio": pl.Float64(),
        "effective_seq": pl.Int32(),
        "effective_by": pl.Date(),
        "effective_after": pl.Date(),
        "evidence": pl.String(),
    }
)


@dataclass(frozen=True, slots=True)
class _Event:
    """Periods that the filings after `after_seq` and from `seq` on state at `ratio` to each other."""

    ratio: float
    after_seq: int
    seq: int
    effective_by: date
    effective_after: date
    evidence: str


def infer_splits(vintages: pl.DataFrame) -> pl.DataFrame:
    """Splits between consecutive filings of one period's weighted shares.

    Where a period was not shown between two splits, its ratio is their product: it proves no third one. What two
    companies under one CIK say of their shares proves none either.

    Args:
        vintages: sound ones, in units, with `regime`.

    Returns:
        `cik`, `ratio` (new shares per old), `effective_seq` (the first filing on the new basis), `effective_by` and
        `effective_after` (filing dates around the event), `evidence`.
    """
    found: dict[str, list[_Event]] = {}
    for cik, *event in _restated(vintages).iter_rows():
        found.setdefault(cik, []).append(_Event(*event))
    rows = [
        (cik, event.ratio, event.seq, event.effective_by, event.effective_after, event.evidence)
        for cik, events in found.items()
        for event in _independent(events)
    ]
    splits = pl.DataFrame(rows, schema=SPLITS, orient="row")
    return _dated(splits, vintages).sort("cik", "effective_seq", "ratio")


def _restated(vintages: pl.DataFrame) -> pl.DataFrame:
    """One row a company, ratio and event: the columns of _Event; the shortest stretch of filings comes first."""
    period = ["cik", "concept", "start", "end"]
    pairs = (
        vintages.filter(pl.col("concept").is_in(SHARE_CONCEPTS), pl.col("value") > 0)
        .sort(*period, "seq")
        .with_columns(
            observed=pl.col("value") / pl.col("value").shift().over(period),
            after_seq=pl.col("seq").shift().over(period),
            after_regime=pl.col("regime").shift().over(period),
            after=pl.col("filed").shift().over(period),
        )
        .filter((pl.col("observed") - 1).abs() > SNAP, pl.col("regime") == pl.col("after_regime"))
        .sort("observed")
        .join_asof(_USUAL, on="observed", strategy="nearest", check_sortedness=False)
        .filter((pl.col("observed") / pl.col("ratio") - 1).abs() <= pl.col("snap"))
        .sort("cik", "ratio", "seq", "after_seq")
    )
    another = (pl.col("after_seq") >= pl.col("seq").shift()).fill_null(value=True).over("cik", "ratio")
    seen = pl.concat_str("concept", pl.lit(" "), "start", pl.lit(".."), "end")
    return (
        pairs.with_columns(event=another.cum_sum().over("cik", "ratio"))
        .group_by("cik", "ratio", "event")
        .agg(
            pl.col("after_seq").max(),
            pl.col("seq").min(),
            pl.col("needed").first(),
            witnesses=pl.len(),
            effective_by=pl.col("filed").min(),
            effective_after=pl.col("after").max(),
            seen=seen.max(),
        )
        .filter(pl.col("witnesses") >= pl.col("needed"))
        .sort(pl.col("seq") - pl.col("after_seq"), "cik", "seq", "ratio")
        .select(
            "cik",
            "ratio",
            "after_seq",
            "seq",
            "effective_by",
            "effective_after",
            pl.concat_str(pl.col("witnesses"), pl.lit(" restated averages, among them "), "seen"),
        )
    )


def _usual() -> pl.DataFrame:
    """`observed`, `ratio`, and how near (`snap`) and how often (`needed`) a ratio must be seen."""
    rows = [
        (ratio, ratio, snap, needed)
        for ratios, snap, needed in ((RATIOS, SNAP, WITNESSES), (SMALL_RATIOS, SNAP_SMALL, WITNESSES_SMALL))
        for each in ratios
        for ratio in (float(each), 1 / each)
    ]
    return pl.DataFrame(rows, schema=["observed", "ratio", "snap", "needed"], orient="row").sort("observed")


_USUAL = _usual()


def _independent(events: Sequence[_Event]) -> Iterable[_Event]:
    """The events that shorter ones within their stretch do not explain."""
    accepted: list[_Event] = []
    for event in events:
        within = prod(other.ratio for other in accepted if event.after_seq < other.seq <= event.seq)
        if abs(log(event.ratio / within)) > SNAP and within == 1:
            accepted.append(event)
    return accepted


def _dated(splits: pl.DataFrame, vintages: pl.DataFrame) -> pl.DataFrame:
    """Move a split ahead to the first filing whose own newest count is on the new basis.

    Filings between the last on the old basis and the first that restates anything show only new periods: their counts
    are near those before, or near those after.
    """
    own = (
        vintages.filter(pl.col("concept") == SHARE_CONCEPTS[0], pl.col("value") > 0)
        .sort("cik", "seq", "end", "start")
        .group_by("cik", "seq", "filed", maintain_order=True)
        .agg(count=pl.col("value").last())
    )
    around = splits.with_row_index("split").join(own, on="cik")
    before = (
        around.filter(pl.col("filed") <= pl.col("effective_after"))
        .group_by("split")
        .agg(old=pl.col("count").sort_by("seq").last(), old_seq=pl.col("seq").max())
    )
    between = around.join(before, on="split").filter(
        pl.col("seq") > pl.col("old_seq"), pl.col("seq") < pl.col("effective_seq")
    )
    moved = (pl.col("count") / pl.col("old")).log() / pl.col("ratio").log()
    first_new = (
        between.filter(moved > HALF_WAY)
        .group_by("split")
        .agg(new_seq=pl.col("seq").min(), new_by=pl.col("filed").min())
    )
    return (
        splits.with_row_index("split")
        .join(first_new, on="split", how="left", maintain_order="left")
        .with_columns(
            effective_seq=pl.coalesce("new_seq", "effective_seq"), effective_by=pl.coalesce("new_by", "effective_by")
        )
        .select(SPLITS.names())
    )


def share_factors(filings: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Add `factor`: new shares for one share of the filing's basis, the product of the splits effective after it.

    Args:
        filings: with `cik` and `seq`.
        splits: of infer_splits.
    """
    steps = (
        splits.sort("cik", "effective_seq")
        .select("cik", seq="effective_seq", so_far=pl.col("ratio").cum_prod().over("cik"))
        .sort("seq")
    )
    in_all = splits.group_by("cik").agg(in_all=pl.col("ratio").product())
    return (
        filings.sort("seq")
        .join_asof(steps, on="seq", by="cik", check_sortedness=False)
        .join(in_all, on="cik", how="left", maintain_order="left")
        .with_columns(factor=(pl.col("in_all") / pl.col("so_far").fill_null(1.0)).fill_null(1.0))
        .drop("so_far", "in_all")
    )


def on_newest_basis(vintages: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Put shares and per-share values on the share basis of the company's newest filing.

    Args:
        vintages: with `measure_sign`: 1 for shares, -1 for per-share values, 0 for money.
        splits: of infer_splits.

    Returns:
        the vintages with `value` and `grain` multiplied; a filing is on the basis of the splits effective by then.
    """
    sign, factor = pl.col("measure_sign"), pl.col("factor")
    scale = pl.when(sign > 0).then(factor).when(sign < 0).then(1 / factor).otherwise(1.0)
    return share_factors(vintages, splits).with_columns(pl.col("value", "grain") * scale).drop("factor")
