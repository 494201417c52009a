"""No dilution: periods in which diluted shares are the basic ones.

Belongs here: losses, earnings per share that bound the difference, adjustments of zero. Does not: diluted shares that a
filing states or that are basic shares and a stated adjustment (elements.per_share).
"""

from collections.abc import Iterable

import polars as pl

from pipelines.normalize.derived.stated import FILING, PERIOD, durations
from pipelines.normalize.elements import proving
from pipelines.normalize.rule import Rule

LARGEST_DIFFERENCE = 0.005
"""Diluted shares are the basic ones where they cannot differ by more than this share."""
HALF_A_CENT = 0.005

LOSS = Rule(
    "shares.diluted.basic-in-a-loss",
    "Diluted shares that no filing states are the basic ones in a period with a loss from continuing operations, "
    "unless the filing states other diluted earnings per share or another income for them.",
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


def periods_without(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """The basic averages that are the diluted ones, too.

    Args:
        facts: typed facts in filing order.
        sound: the vintages that count (frames.Sound).

    Returns:
        the rows of `sound` with basic shares, and `rule`.
    """
    of = {name: sound.filter(pl.col("concept") == name) for name in ("shares_basic", "shares_diluted")}
    unstated = of["shares_basic"].join(
        of["shares_diluted"], on=["cik", "start", "end"], how="anti", maintain_order="left"
    )
    found = unstated.join(of_continuing(facts, sound), on=PERIOD, how="left", maintain_order="left")
    for name, element in {
        "basic": proving.BASIC_EARNINGS,
        "diluted": proving.DILUTED_EARNINGS,
        "adjusted": proving.DILUTED_INCOME,
        "average": proving.BASIC_AVERAGE,
    }.items():
        found = found.join(_largest(facts, name, (element,)), on=PERIOD, how="left", maintain_order="left")
    is_equal = pl.col("basic") == pl.col("diluted")
    is_loss = (pl.max_horizontal("most", "continuing") < 0) & is_equal.fill_null(value=True)
    is_loss &= pl.col("adjusted").is_null() | (pl.col("adjusted") == pl.col("most"))
    earned = pl.col("basic").abs()
    is_bounded = is_equal & ((earned + HALF_A_CENT) / (earned - HALF_A_CENT) - 1 <= LARGEST_DIFFERENCE)
    is_bounded &= earned > HALF_A_CENT
    rule = pl.when(is_loss & pl.col("continuing").is_not_null()).then(pl.lit(LOSS.id))
    adjusted = durations(facts, (proving.DILUTIVE_ADJUSTMENT,)).select(*FILING, "value", first="start", last="end")
    within = found.select(PERIOD).join(adjusted, on=FILING)
    within = within.filter((pl.col("first") <= pl.col("start")) & (pl.col("last") >= pl.col("end")))
    without = within.group_by(PERIOD).agg(is_zero=(pl.col("value") == 0).all())
    potential = facts.filter(pl.col("tag").is_in(proving.DILUTION)).group_by("cik").agg(since=pl.col("seq").min())
    return (
        found.join(without, on=PERIOD, how="left")
        .join(potential, on="cik", how="left")
        .with_columns(
            rule=rule.when(is_bounded)
            .then(pl.lit(EQUAL_EARNINGS.id))
            .when("is_zero", is_equal.fill_null(value=True))
            .then(pl.lit(NO_ADJUSTMENT.id))
            .when(pl.col("average").is_not_null(), (pl.col("since") > pl.col("seq")).fill_null(value=True))
            .then(pl.lit(ONLY_COMMON.id))
        )
        .drop_nulls("rule")
        .select(*sound.columns, "rule")
    )


def of_continuing(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Net income and income from continuing operations: PERIOD, `most` (net income), `continuing` (null: unknown)."""
    income = sound.filter(pl.col("concept").is_in(["net_income_parent", "net_income_common"]))
    found = income.group_by(PERIOD).agg(most=pl.col("value").max())
    for name, elements in {"continuing": proving.CONTINUING, "discontinued": proving.DISCONTINUED}.items():
        found = found.join(_largest(facts, name, elements), on=PERIOD, how="full", coalesce=True)
    continues = pl.coalesce("continuing", pl.when(pl.col("discontinued").fill_null(0) == 0).then("most"))
    return found.select(*PERIOD, "most", continuing=continues)


def _largest(facts: pl.DataFrame, name: str, elements: Iterable[str]) -> pl.DataFrame:
    """The largest amount that a filing states under some elements: PERIOD and the amount."""
    return durations(facts, elements).group_by(PERIOD).agg(pl.col("value").max().alias(name))
