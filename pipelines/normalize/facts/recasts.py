"""Recasts: which figures of current reports (8-K, 6-K) count in addition to those of periodic reports.

Belongs here: what a current report restates. Does not: which forms are read (reports).
"""

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.decisions import counted
from pipelines.normalize.rule import Rule

PARTIAL = Rule(
    "recast.partial",
    "A current report restates what periodic reports stated before only with a complete set of statements (profit, "
    "revenue and a balance sheet or cash flow statement); what none of them stated counts anyway.",
    "Form 8-K Item 2.02 and General Instruction B.2: a press release is furnished, not filed; Items 8.01 and 9.01: "
    "audited statements recast after a change of segments, a disposal or a new standard",
    "withhold",
)

COMPLETE: tuple[tuple[str, ...], ...] = (
    ("net_income_common", "net_income_parent"),
    ("revenue",),
    ("operating_cash_flow", "assets", "equity", "cash"),
)
"""A complete set of statements has at least one concept of each row: profit, revenue, and a second statement."""


def without_partial_recasts(vintages: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Leave out figures that a current report states again, unless it has a complete set of statements.

    Figures that no periodic report has stated before are also taken from press releases.

    Args:
        vintages: of stated.stated_concepts.

    Returns:
        the vintages that count; and the decisions (decisions.DECISIONS).
    """
    amount = ["cik", "concept", "start", "end"]
    current = vintages.filter(~pl.col("periodic"))
    reported = vintages.filter("periodic").join(current, on=amount, how="semi", nulls_equal=True)
    first_reports = reported.group_by(amount).agg(first_seq=pl.col("seq").min())
    shows_all = pl.all_horizontal(pl.col("concept").is_in(names).any() for names in COMPLETE)
    partial = current.group_by("cik", "seq").agg(shows_all=shows_all).filter(~pl.col("shows_all"))
    left_out = (
        current.join(first_reports, on=amount, nulls_equal=True)
        .join(partial, on=["cik", "seq"], how="semi")
        .filter(PARTIAL.where(pl.col("seq") > pl.col("first_seq")))
    )
    counts = ~pl.col("vintage").is_in(left_out["vintage"].implode())
    return vintages.filter(counts), counted([(PARTIAL, ints(left_out, "cik"))])
