"""A bank's revenue whose noninterest income no filing states: what the other lines of its income statement leave.

Belongs here: noninterest income as the rest of income before tax. Does not: revenue that filings state
(elements.income), revenue that the same lines contradict (corrections.agreement).
"""

from functools import reduce

import polars as pl

from pipelines.normalize.derived.stated import EXACT, FILING, PERIOD, durations
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.rule import Rule

FEWEST = 2
"""Periods that have to show that the filer's income statement has these lines alone."""

BY_THE_REST = Rule(
    "revenue.bank.noninterest-income-as-the-rest",
    "A bank's noninterest income that no filing states is income before tax plus noninterest expense less net interest "
    f"income after the provision, if it is so in all periods stated so far (at least {FEWEST}).",
    "Regulation S-X Rule 9-04: the lines of a bank's income statement foot",
    "compose",
)
RULES = (BY_THE_REST,)

_SIGNS = {"pretax": 1.0, "expense": 1.0, "after_provision": -1.0, "net_interest": 1.0}


def amounts(facts: pl.DataFrame) -> pl.DataFrame:
    """Revenue of the periods whose noninterest income is the rest: net interest income plus that rest.

    Args:
        facts: typed facts in filing order.

    Returns:
        PERIOD, `concept`, `value`, `rule`, `fact` and `coefficient` (lists).
    """
    lines = [
        durations(facts, (element,)).select(*PERIOD, pl.col("value").alias(name), pl.col("fact").alias(f"{name}_fact"))
        for name, element in zip(_SIGNS, proving.LINES_OF_BANK, strict=True)
    ]
    statements = reduce(lambda left, right: left.join(right, on=PERIOD, maintain_order="left"), lines)
    stated = durations(facts, (proving.NONINTEREST_INCOME,)).select(*PERIOD, stated="value")
    rest = pl.col("pretax") + pl.col("expense") - pl.col("after_provision")
    found = statements.join(stated, on=PERIOD, how="left", maintain_order="left").with_columns(rest=rest)
    is_rest = (pl.col("rest") - pl.col("stated")).abs() < EXACT
    so_far = (
        found.group_by(FILING)
        .agg(number=pl.col("stated").count(), other=(~is_rest).sum())
        .sort(FILING)
        .with_columns(pl.col("number", "other").cum_sum().over("cik"))
        .filter((pl.col("number") >= FEWEST) & (pl.col("other") == 0))
    )
    return (
        found.filter(pl.col("stated").is_null())
        .join(so_far, on=FILING, maintain_order="left")
        .select(
            *PERIOD,
            concept=pl.lit("revenue", AMOUNT),
            value=pl.col("rest") + pl.col("net_interest"),
            rule=pl.lit(BY_THE_REST.id),
            fact=pl.concat_list(f"{name}_fact" for name in _SIGNS),
            coefficient=pl.lit(list(_SIGNS.values())),
        )
        .filter(pl.col("value") > 0)
    )
