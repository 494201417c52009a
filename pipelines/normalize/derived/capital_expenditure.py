"""Capital expenditure that a filing does not state, as what the lines of investing activities leave of their total.

Belongs here: the residual, and the statements before and after that prove it. Does not: capital expenditure that
filings state (elements.cash_flow), free cash flow (items).
"""

import polars as pl

from pipelines.normalize.derived.stated import EXACT, FILING, PERIOD, SAME_DAYS, durations
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.elements.cash_flow_lines import INVESTING, LINES, SECTIONS
from pipelines.normalize.rule import Rule

USUAL_SIZE = 4.0
"""Capital expenditure a day hardly ever is so many times more or less than in the statements before and after it."""

RESIDUAL = Rule(
    "capital-expenditure.residual-of-investing-activities",
    "Capital expenditure without an element is what the stated lines leave of investing activities, if the statements "
    "before and after state it and leave nothing (in the same year: the same again), and its size is usual.",
    "ASC 230-10-45-26: gross payments and receipts of investing activities add up to their total",
    "compose",
)
RULES = (RESIDUAL,)

_LINES = LINES.filter(pl.col("section") == INVESTING).select("tag", "sign")
_STATED = frozenset(
    element for source in BY_NAME["capital_expenditure"].sources for element in (*source.elements, *source.plus)
).intersection(_LINES["tag"])
"""The lines of investing activities that are capital expenditure."""


def residuals(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Capital expenditure of the newest period of each filing that does not state it.

    Args:
        facts: typed facts in filing order.
        sound: the vintages that count (frames.Sound): capital expenditure that any filing states of a period.

    Returns:
        PERIOD (`seq`: the filing whose statement proves it), `value`, `rule`, `fact` and `coefficient` (lists).
    """
    statements = _statements(facts)
    with_it = statements.filter("states_it").select(
        "cik", other="seq", start_other="start", rest_other="rest", daily="daily", legs="fact", signs="coefficient"
    )
    without = statements.filter(~pl.col("states_any")).drop("daily").sort("cik", "seq")
    before, after = (
        without.join_asof(
            with_it.sort("cik", "other"),
            left_on="seq",
            right_on="other",
            by="cik",
            strategy=strategy,
            allow_exact_matches=False,
            check_sortedness=False,
        ).drop_nulls("other")
        for strategy in ("backward", "forward")
    )
    of_year = (pl.col("start_other") - pl.col("start")).dt.total_days().abs() <= int(SAME_DAYS.removesuffix("d"))
    carried = pl.when(of_year).then("rest_other").otherwise(0.0)
    is_carried = carried.abs() >= EXACT
    value = carried - pl.col("rest")
    a_day = value / (pl.col("end") - pl.col("start")).dt.total_days()
    next_statement = after.filter(pl.col("rest_other").abs() < EXACT).select(*PERIOD, next="other", daily_after="daily")
    known = sound.filter(pl.col("concept") == "capital_expenditure")
    known = known.group_by("cik", "start", "end").agg(known=pl.col("seq").min())
    return (
        before.with_columns(value=value, carried=carried, is_carried=is_carried, a_day=a_day)
        .filter(of_year | (pl.col("rest_other").abs() < EXACT))
        .join(next_statement, on=PERIOD, maintain_order="left_right")
        .filter(
            pl.all_horizontal(
                pl.col("a_day").is_between(pl.col(daily) / USUAL_SIZE, pl.col(daily) * USUAL_SIZE)
                for daily in ("daily", "daily_after")
            )
        )
        .join(known, on=["cik", "start", "end"], how="left", maintain_order="left")
        .filter((pl.col("known") > pl.col("next")).fill_null(value=True))
        .select(
            "cik",
            "start",
            "end",
            "value",
            seq="next",
            rule=pl.lit(RESIDUAL.id),
            fact=pl.when("is_carried").then(pl.concat_list("fact", "legs")).otherwise("fact"),
            coefficient=pl.when("is_carried")
            .then(pl.concat_list(pl.col("coefficient").list.eval(-pl.element()), "signs"))
            .otherwise(pl.col("coefficient").list.eval(-pl.element())),
        )
        .select(*PERIOD, "value", "rule", "fact", "coefficient")
    )


def _statements(facts: pl.DataFrame) -> pl.DataFrame:
    """The newest statement of investing activities of each filing.

    Returns:
        PERIOD, `rest` (total less all stated lines), `daily` (stated capital expenditure a day), `states_it`,
        `states_any` (for any period of the filing), `fact` and `coefficient` (lists: the facts that add up to `rest`).
    """
    total = durations(facts, (SECTIONS[INVESTING],)).drop("tag")
    lines = durations(facts, _LINES["tag"]).filter(pl.col("value") != 0).join(_LINES, on="tag", maintain_order="left")
    is_it = pl.col("tag").is_in(sorted(_STATED))
    of_filing = lines.group_by(FILING).agg(states_any=is_it.any())
    added = lines.group_by(PERIOD, maintain_order=True).agg(
        sum=(pl.col("sign") * pl.col("value")).sum(),
        paid=-(pl.col("sign") * pl.col("value")).filter(is_it).sum(),
        states_it=is_it.any(),
        legs=pl.col("fact"),
        signs=-pl.col("sign"),
    )
    return (
        total.join(added, on=PERIOD, maintain_order="left")
        .join(of_filing, on=FILING, maintain_order="left")
        .sort(*FILING, "end", "start", descending=[False, False, False, True])
        .unique(FILING, keep="last", maintain_order=True)
        .select(
            *PERIOD,
            "states_it",
            "states_any",
            rest=pl.col("value") - pl.col("sum"),
            daily=pl.col("paid") / (pl.col("end") - pl.col("start")).dt.total_days(),
            fact=pl.concat_list("fact", "legs"),
            coefficient=pl.concat_list(pl.lit([1.0]), "signs"),
        )
    )
