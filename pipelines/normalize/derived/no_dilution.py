"""No dilution: periods in which diluted shares are the basic ones.

Belongs here: losses, earnings per share that bound the difference, adjustments of zero. Does not: diluted shares that a
filing states or that are basic shares and a stated adjustment (elements).
"""

import polars as pl

from pipelines.normalize.derived.stated import FILING, PERIOD, durations, largest
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.rule import Rule

LARGEST_DIFFERENCE = 0.005
"""Diluted shares are the basic ones where they cannot differ by more than this share."""
HALF_A_CENT = 0.005

LOSS = Rule(
    "shares.diluted.basic-in-a-loss",
    "Diluted shares that no filing states are the basic ones in a period with a loss from continuing operations, "
    "unless the filing states other diluted earnings per share.",
    "ASC 260-10-45-17 to 45-19: with a loss from continuing operations no potential share is included",
    "compose",
)
EQUAL_EARNINGS = Rule(
    "shares.diluted.basic-by-equal-earnings",
    "Diluted shares that no filing states are the basic ones if basic and diluted earnings per share are equal, and so "
    f"large that their rounding leaves a difference of at most {LARGEST_DIFFERENCE:.1%}.",
    "ASC 260-10-45-10 and 45-16: both are income divided by the number of shares",
    "compose",
)
NO_ADJUSTMENT = Rule(
    "shares.diluted.basic-without-adjustment",
    "Diluted shares that no filing states are the basic ones in a period for which its filing states a dilutive "
    "adjustment of zero, and in the parts of that period.",
    "ASC 260-10-50-1: the adjustment is disclosed; 260-10-55-3: that of a year to date is the average of its quarters",
    "compose",
)
ONLY_COMMON = Rule(
    "shares.diluted.basic-of-common-stock-alone",
    "Diluted shares that no filing states are the basic ones of a filer whose reports so far state neither diluted "
    "earnings or shares nor potential shares or share-based pay.",
    "ASC 260-10-45-2: only entities with common stock alone present basic amounts per share without diluted ones",
    "compose",
)
RULES = (LOSS, EQUAL_EARNINGS, NO_ADJUSTMENT, ONLY_COMMON)


def amounts(facts: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """The basic averages that are the diluted ones, too.

    Args:
        facts: typed facts in filing order.
        stated: the vintages that count, with their facts (`legs` and `weights`).

    Returns:
        PERIOD, `concept`, `value`, `grain`, `repair`, `rule`, `fact` and `coefficient` (lists).
    """
    basic, diluted = (stated.filter(pl.col("concept") == name) for name in ("shares_basic", "shares_diluted"))
    found = basic.join(diluted, on=["cik", "start", "end"], how="anti", maintain_order="left")
    found = found.join(of_continuing(facts, stated), on=PERIOD, how="left", maintain_order="left")
    for name, element in {
        "basic": proving.BASIC_EARNINGS,
        "diluted": proving.DILUTED_EARNINGS,
        "average": proving.BASIC_AVERAGE,
    }.items():
        found = found.join(largest(facts, name, (element,)), on=PERIOD, how="left", maintain_order="left")
    is_equal = pl.col("basic") == pl.col("diluted")
    is_loss = (pl.max_horizontal("most", "continuing") < 0) & pl.col("continuing").is_not_null()
    earned = pl.col("basic").abs()
    times = (earned + HALF_A_CENT) / (earned - HALF_A_CENT)
    adjusted = durations(facts, (proving.DILUTIVE_ADJUSTMENT,)).select(*FILING, "value", first="start", last="end")
    within = found.select(PERIOD).join(adjusted, on=FILING)
    within = within.filter((pl.col("first") <= pl.col("start")) & (pl.col("last") >= pl.col("end")))
    without = within.group_by(PERIOD).agg(is_zero=(pl.col("value") == 0).all())
    potential = facts.filter(pl.col("tag").is_in(proving.DILUTION)).group_by("cik").agg(since=pl.col("seq").min())
    is_not_unequal = is_equal.fill_null(value=True)
    is_alone = pl.col("average").is_not_null() & (pl.col("since") > pl.col("seq")).fill_null(value=True)
    return (
        found.join(without, on=PERIOD, how="left")
        .join(potential, on="cik", how="left")
        .select(
            *PERIOD,
            "value",
            "grain",
            "repair",
            concept=pl.lit("shares_diluted", AMOUNT),
            fact="legs",
            coefficient="weights",
            rule=pl.when(is_loss & is_not_unequal)
            .then(pl.lit(LOSS.id))
            .when(is_equal & times.is_between(1, 1 + LARGEST_DIFFERENCE))
            .then(pl.lit(EQUAL_EARNINGS.id))
            .when(pl.col("is_zero") & is_not_unequal)
            .then(pl.lit(NO_ADJUSTMENT.id))
            .when(is_alone)
            .then(pl.lit(ONLY_COMMON.id)),
        )
        .drop_nulls("rule")
    )


def of_continuing(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Net income and income from continuing operations: PERIOD, `most` (net income), `continuing` (null: unknown)."""
    income = sound.filter(pl.col("concept").is_in(["net_income_parent", "net_income_common"]))
    found = income.group_by(PERIOD).agg(most=pl.col("value").max())
    for name, elements in {"continuing": proving.CONTINUING, "discontinued": proving.DISCONTINUED}.items():
        found = found.join(largest(facts, name, elements), on=PERIOD, how="full", coalesce=True)
    continues = pl.coalesce("continuing", pl.when(pl.col("discontinued").fill_null(0) == 0).then("most"))
    return found.select(*PERIOD, "most", continuing=continues)
