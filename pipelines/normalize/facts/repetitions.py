"""Repetitions: one amount filed under two elements, or repeated by a later filing under another element.

Belongs here: amounts that must not be added twice, and amounts that restate nothing. Does not: repetitions on another
share basis (shares).
"""

import polars as pl

from pipelines.normalize.facts.candidates import SAME_WHEN_ROUNDED
from pipelines.normalize.facts.reports import FILED_TWICE
from pipelines.normalize.rule import Rule

LESSER_SOURCE = Rule(
    "fact.lesser-source-repeats",
    "A later filing that states a period only under a source of lower rank restates nothing, if earlier filings of the "
    "company stated both sources for the same periods and they mostly differed.",
    "ASC 810-10-50-1A: income of the parent and consolidated income are two amounts",
    "withhold",
)
OTHER_SOURCE = Rule(
    "fact.other-source",
    "A value is flagged if its source is, for this company, a different amount than the best source used so far.",
    "ASC 810-10-50-1A: income of the parent and consolidated income are two amounts",
    "flag",
)

MOSTLY = 0.5
"""Two sources are different amounts if they differed in more than half of the periods that have both."""


SERIES = ["cik", "concept"]


def of_other_elements(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs of optional parts that repeat another amount of their source (rule reports.FILED_TWICE).

    Args:
        pairs: of matching.matched.
    """
    optional = pl.col("role") == "plus"
    amount = pl.struct("candidate", "value")
    sums = pairs.filter(pl.col("source").is_in(pairs.filter(optional)["source"].unique().implode()))
    added = sums.filter(pl.col("coefficient") > 0, pl.col("value") != 0).sort(optional, maintain_order=True)
    return added.filter(FILED_TWICE.where(~amount.is_first_distinct()), optional)


def differences(candidates: pl.DataFrame) -> pl.DataFrame:
    """Whether two sources of a concept are different amounts, judged by the filings so far that state both.

    Args:
        candidates: in the order of filing, period and rank.

    Returns:
        `cik`, `concept`, `rank`, `better` (rank of the other source), `seq`, and `differs`: whether the two mostly
        differed in the periods that filings up to this one state; sorted by `seq`.
    """
    best = pl.col("value", "rank").first().over("amount").name.prefix("best_")
    several = candidates.filter(pl.col("amount").is_duplicated()).with_columns(best)
    compared = several.filter(pl.col("rank") > pl.col("best_rank"))
    differs = (pl.col("value") - pl.col("best_value")).abs() > SAME_WHEN_ROUNDED * pl.col("best_value").abs()
    pair = [*SERIES, "rank", "better"]
    return (
        compared.select(*SERIES, "rank", "seq", better="best_rank", differs=differs)
        .group_by(*pair, "seq", maintain_order=True)
        .agg(pl.len(), pl.col("differs").sum())
        .with_columns(pl.col("len", "differs").cum_sum().over(pair))
        .select(*pair, "seq", differs=pl.col("differs") > MOSTLY * pl.col("len"))
        .sort("seq")
    )


def of_lesser_sources(
    best: pl.DataFrame, compared: pl.DataFrame, noted: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Amounts of a later filing from a source of lower rank that is a different amount for this company.

    If earlier filings stated both sources and they mostly differed (net income with and without minorities, sales with
    and without membership fees), the source of lower rank alone restates nothing.

    Args:
        best: the best candidate of each filing, period and concept, in the order of filing.
        compared: of differences.
        noted: candidates of notes; the line that replaces one also replaces earlier amounts of the note.

    Returns:
        the amounts that restate nothing; and, among the others, those whose source is a different amount than the best
        source that the company has used for the concept so far.
    """
    ranked = best.join(compared.filter("differs"), on=SERIES, how="semi").sort("seq", "slot")
    before = pl.col("rank").cum_min().shift().over(*SERIES, "start", "end")
    lesser = _different(LESSER_SOURCE, ranked.with_columns(better=before), compared).join(
        noted, on="amount", how="anti"
    )
    kept = ranked.join(lesser, on="amount", how="anti", maintain_order="left")
    return lesser, _different(OTHER_SOURCE, kept.with_columns(better=pl.col("rank").cum_min().over(SERIES)), compared)


def _different(rule: Rule, ranked: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """The candidates whose source, up to their filing, mostly differed from that of rank `better`."""
    by = [*SERIES, "rank", "better"]
    return (
        ranked.join_asof(compared, on="seq", by=by, check_sortedness=False)
        .filter(rule.where(pl.col("differs")))
        .select("cik", "amount")
    )
