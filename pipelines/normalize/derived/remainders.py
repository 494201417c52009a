"""Remainders: amounts that no filing states, as what the other lines of a statement leave.

Belongs here: capital expenditure. Does not: capital expenditure that filings state (elements).
"""

import polars as pl

from pipelines.normalize.derived.stated import EXACT, FILING, PERIOD, SAME_DAYS, footings
from pipelines.normalize.elements import AMOUNT, BY_NAME
from pipelines.normalize.elements.proving import INVESTING, LINES, SECTIONS
from pipelines.normalize.rule import Rule

RESIDUAL = Rule(
    "capital-expenditure.residual-of-investing-activities",
    "Capital expenditure without an element is what the stated lines leave of investing activities, if the statements "
    "before and after state it and leave nothing (in the same year: the same again).",
    "ASC 230-10-45-26: gross payments and receipts of investing activities add up to their total",
    "compose",
)

_LINES = LINES.filter(pl.col("section") == INVESTING).select("tag", "sign")
_STATED = frozenset(
    element for source in BY_NAME["capital_expenditure"].sources for element in (*source.elements, *source.plus)
).intersection(_LINES["tag"])
"""The lines of investing activities that are capital expenditure."""


def capital_expenditure(facts: pl.DataFrame) -> pl.DataFrame:
    """Capital expenditure of the newest period of each filing that does not state it.

    Args:
        facts: of derived.stated.stated.

    Returns:
        PERIOD (`seq`: the filing whose statement proves it), `concept`, `value`, `rule`, `fact` and `coefficient`
        (lists).
    """
    # the newest and longest period of each filing
    statements = (
        footings(facts, SECTIONS[INVESTING], _LINES)
        .sort(*FILING, "end", "start", descending=[False, False, False, True])
        .unique(FILING, keep="last", maintain_order=True)
    )
    states_it = pl.col("tags").list.set_intersection(sorted(_STATED)).list.len() > 0
    with_it = statements.filter(states_it).select(
        "cik", "seq", other="seq", start_other="start", rest_other="rest", legs="fact", signs="coefficient"
    )
    before, after = (
        statements.filter(~states_it).join_asof(
            with_it, on="seq", by="cik", strategy=strategy, allow_exact_matches=False, check_sortedness=False
        )
        for strategy in ("backward", "forward")
    )
    leaves_nothing = pl.col("rest_other").abs() < EXACT
    of_year = (pl.col("start_other") - pl.col("start")).dt.total_days().abs() <= int(SAME_DAYS.removesuffix("d"))
    carried = pl.when(of_year).then("rest_other").otherwise(0.0)
    own = pl.col("coefficient").list.eval(-pl.element())
    is_carried = carried.abs() >= EXACT
    return (
        before.filter(of_year | leaves_nothing)
        .join(after.filter(leaves_nothing).select(*PERIOD, next="other"), on=PERIOD, maintain_order="left_right")
        .filter(RESIDUAL.where(carried > pl.col("rest")))
        .select(
            *PERIOD[2:],
            cik="cik",
            seq="next",
            concept=pl.lit("capital_expenditure", AMOUNT),
            value=carried - pl.col("rest"),
            rule=pl.lit(RESIDUAL.id),
            fact=pl.when(is_carried).then(pl.concat_list("fact", "legs")).otherwise("fact"),
            coefficient=pl.when(is_carried).then(pl.concat_list(own, "signs")).otherwise(own),
        )
    )
