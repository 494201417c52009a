"""Remainders: amounts that no filing states, computed as a total less other stated amounts.

Belongs here: capital expenditure (a total less its other lines), the beginning of a period (the period less its last
quarter). Does not: amounts that filings state (elements).
"""

import polars as pl

from pipelines.normalize.derived.stated import (
    EXACT,
    FILING,
    PERIOD,
    QUARTER,
    SAME_DAYS,
    YEAR,
    footings,
    length,
    not_yet_stated,
    pairs_of_periods,
)
from pipelines.normalize.elements import AMOUNT, BY_NAME
from pipelines.normalize.elements.proving import INVESTING, LINES, SECTIONS
from pipelines.normalize.rule import Rule

RESIDUAL = Rule(
    "capital-expenditure.residual-of-investing-activities",
    "Capital expenditure that a filing does not state is what its other lines leave of investing cash flow, if the "
    "statements before and after state it and leave nothing; what an earlier statement of the same year leaves is "
    "deducted.",
    "ASC 230-10-45-26: gross payments and receipts of investing activities add up to their total",
    "compose",
)
BEGINNING = Rule(
    "period.beginning-by-difference",
    "If one filing states an interim period and its last quarter under one source, and none yet the time before the "
    "quarter, that is the difference: money, and dividends per share whose daily amount changes by at most half.",
    "Regulation S-X Rule 10-01(c): interim statements have the quarter and the year to date that end together",
    "compose",
)
_RATE = "dividends_per_share"
_MONEY = [concept.name for concept in BY_NAME.values() if concept.measure == "money" and not concept.compared_with]
_ADDED_UP = (*_MONEY, _RATE)
LARGEST_CHANGE = 1.5
"""If the dividend per day changes by more than this factor within a year, it is a special dividend, or a quarter's that
is tagged for a longer period."""

_LINES = LINES.filter(pl.col("section") == INVESTING).select("tag", "sign")
_STATED = frozenset(
    element for source in BY_NAME["capital_expenditure"].sources for element in (*source.elements, *source.plus)
).intersection(_LINES["tag"])
"""The lines of investing activities that are capital expenditure."""


def capital_expenditure(facts: pl.DataFrame) -> pl.DataFrame:
    """Derive capital expenditure of the newest period of each filing that does not state it.

    Args:
        facts: of derived.stated.stated.

    Returns:
        PERIOD (`seq`: the filing whose statement proves it), `concept`, `value`, `rule`, `fact` and `coefficient`
        (lists).
    """
    statements = footings(facts, SECTIONS[INVESTING], _LINES).sort(
        *FILING, "end", pl.col("start"), descending=[False, False, False, True]
    )
    states_it = pl.col("tags").list.set_intersection(sorted(_STATED)).list.len() > 0
    # the newest and longest period of each filing
    without = (
        statements.unique(FILING, keep="last", maintain_order=True).filter(~states_it).sort("end", maintain_order=True)
    )
    with_it = (
        statements.filter(states_it)
        .sort("end", "seq", "start")
        .unique(["cik", "end"], keep="first", maintain_order=True)
        .select("cik", "end", other="seq", start_other="start", rest_other="rest", legs="fact", signs="coefficient")
    )
    before, after = (
        without.join_asof(
            with_it, on="end", by="cik", strategy=strategy, allow_exact_matches=False, check_sortedness=False
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
            "cik",
            *PERIOD[2:],
            seq=pl.max_horizontal("seq", "other", "next"),
            concept=pl.lit("capital_expenditure", AMOUNT),
            value=carried - pl.col("rest"),
            rule=pl.lit(RESIDUAL.id),
            fact=pl.when(is_carried).then(pl.concat_list("fact", "legs")).otherwise("fact"),
            coefficient=pl.when(is_carried).then(pl.concat_list(own, "signs")).otherwise(own),
        )
    )


def beginnings(stated: pl.DataFrame) -> pl.DataFrame:
    """Derive the beginning of a period: the period less its last quarter, if one filing states both.

    Args:
        stated: the vintages that count, with their facts (`legs` and `weights`).

    Returns:
        PERIOD, `concept`, `used`, `value`, `grain`, `rule`, `fact` and `coefficient` (lists).
    """
    is_sound = pl.col("concept").is_in(_ADDED_UP) & (pl.col("repair") == 1) & ~pl.col("other_source")
    filed = stated.filter(is_sound, length.is_between(QUARTER[0], YEAR[0]))
    names = ("concept", "used", "value", "grain", "legs", "weights")
    both = pairs_of_periods(filed, [*FILING, "end", "concept"], *names)
    is_quarter = (pl.col("days_less") - 1).is_between(*QUARTER) & (pl.col("rest") >= QUARTER[0])
    value = pl.col("value") - pl.col("value_less")
    a_day, a_day_before = pl.col("value_less") / pl.col("days_less"), value / pl.col("rest")
    is_steady = (pl.col("concept") != _RATE) | a_day_before.is_between(a_day / LARGEST_CHANGE, a_day * LARGEST_CHANGE)
    found = both.filter(BEGINNING.where(is_quarter & is_steady & (pl.col("used") == pl.col("used_less")))).select(
        *PERIOD[:3],
        "concept",
        "used",
        end=pl.col("start_less").dt.offset_by("-1d"),
        value=value,
        grain=pl.col("grain") + pl.col("grain_less"),
        rule=pl.lit(BEGINNING.id),
        fact=pl.concat_list("legs", "legs_less"),
        coefficient=pl.concat_list("weights", pl.col("weights_less").list.eval(-pl.element())),
    )
    return not_yet_stated(found, stated, ["cik", "concept", "end"]).sort(*PERIOD, "concept")
