"""Averages of shares that no filing states: what earnings per share, a loss, and the rest of a period prove.

Belongs here: net income over earnings per share, a part of a year with a loss, a period less its last quarter. Does
not: diluted shares that are the basic ones as stated (no_dilution), averages before a company had shares (offerings).
"""

import polars as pl

from pipelines.normalize.derived import no_dilution, offerings
from pipelines.normalize.derived.no_dilution import HALF_A_CENT, of_continuing
from pipelines.normalize.derived.stated import (
    FILING,
    PERIOD,
    QUARTER,
    YEAR,
    durations,
    length,
    less_beginning,
    pairs_of_periods,
)
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.rule import Rule

OF_TWELVE_MONTHS = 0.0025
"""Largest share of twelve months of shares by which the rounding of earnings per share may move them. Measured on 101
companies: of 1,900 averages that filings state, 2 differ from this quotient by more than its rounding explains and by
more than a hundredth."""
ROUNDING = 0.0005
"""Averages and income are rounded, too: to thousands or millions."""
FEWEST = 4
"""Averages that have to show that the filer's earnings per share are net income over shares."""
YEAR_DAYS = 365
ALIKE = 0.005
"""An average lies between those of its parts, but for rounding."""
LARGEST_CHANGE = 1.1
"""An average that no filing states hardly ever differs by more than a tenth from those before and after it: VWF
Bancorp's first year leaves 15 % more to its last quarter, because it does not count the days before the offering."""

PERIOD_LESS_QUARTER = Rule(
    "shares.basic.period-less-its-last-quarter",
    "The basic average of the beginning of a period is, day by day, that of the period less that of its last quarter, "
    "if one filing states both and the result lies between its stated parts.",
    "ASC 260-10-45-10 and 260-10-55-2: a weighted average over a period is the mean of its parts; Regulation S-X Rule "
    "10-01(c): interim statements have the quarter and the year to date that end together",
    "compose",
)
OF_EARNINGS = Rule(
    "shares.net-income-over-earnings-per-share",
    "An average of shares that no filing states is net income over earnings per share, if their rounding moves twelve "
    f"months by at most {OF_TWELVE_MONTHS:.2%} and all averages so far (at least {FEWEST}) are this quotient, the last "
    "within a tenth.",
    "ASC 260-10-45-10 and 45-16: earnings per share are income divided by the weighted average of shares",
    "compose",
)
LOSS_OF_REST = Rule(
    "shares.diluted.basic-in-a-loss-of-the-rest",
    "Diluted shares of a part of a year with a loss from continuing operations, which no filing states, are its basic "
    "ones: those of a period less those of its rest, which may include potential shares.",
    "ASC 260-10-45-17 to 45-19: with a loss from continuing operations no potential share is included; each period is "
    "judged for itself",
    "compose",
)
RULES = (PERIOD_LESS_QUARTER, OF_EARNINGS, LOSS_OF_REST)

_SPAN = ["cik", "start", "end"]
_EARNINGS_OF = {"shares_basic": proving.BASIC_EARNINGS, "shares_diluted": proving.DILUTED_EARNINGS}


def amounts(facts: pl.DataFrame, stated_facts: pl.DataFrame, sound: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The averages of shares that other figures of their filing prove.

    Args:
        facts: typed facts in filing order.
        stated_facts: the facts of each vintage (frames.StatedFacts).
        sound: the vintages that count (frames.Sound).

    Returns:
        PERIOD, `concept`, `value`, `grain`, `rule`, `fact` and `coefficient` (lists): diluted shares that are the basic
        ones of the same filing; and other averages, which count where none is stated.
    """
    of_vintage = stated_facts.group_by("vintage", maintain_order=True).agg(legs="fact", weights="coefficient")
    stated = sound.join(of_vintage, on="vintage", maintain_order="left")
    like_basic = no_dilution.amounts(facts, stated)
    as_filed = stated.filter(pl.col("repair") == 1)
    single = as_filed.filter(pl.col("legs").list.len() == 1).with_columns(fact=pl.col("legs").list.first())
    averages = {name: single.filter(pl.col("concept") == name) for name in _EARNINGS_OF}
    found = [
        _of_last_quarter(averages["shares_basic"]),
        *(_of_earnings(facts, as_filed, single, concept) for concept in _EARNINGS_OF),
        _in_a_loss(facts, as_filed, averages["shares_basic"]),
        offerings.amounts(facts, pl.concat(averages.values())),
    ]
    return like_basic, pl.concat(found, how="diagonal")


def _of_last_quarter(basic: pl.DataFrame) -> pl.DataFrame:
    """The basic averages of the beginning of a period, as the difference of two periods of one filing.

    Source: two periods of one filing that end together. Not: diluted averages, which leave potential shares out of some
    periods and not of others.
    """
    both = pairs_of_periods(basic, [*FILING, "end"], "rank", "value", "grain", "fact")
    is_quarter = (pl.col("days_less") - 1).is_between(*QUARTER) & (pl.col("rest") >= QUARTER[0])
    found = (
        both.filter(is_quarter & (pl.col("rank") == pl.col("rank_less")))
        .with_columns(end=pl.col("start_less").dt.offset_by("-1d"))
        .select(
            *PERIOD, *_average_of_rest(), concept=pl.lit("shares_basic", AMOUNT), rule=pl.lit(PERIOD_LESS_QUARTER.id)
        )
        .filter(pl.col("value") > 0)
    )
    parts = basic.select("cik", part="value", of="seq", first="start", last="end")
    inside = found.select(PERIOD).join(parts, on="cik").filter(pl.col("of") <= pl.col("seq"))
    inside = inside.filter((pl.col("first") >= pl.col("start")) & (pl.col("last") <= pl.col("end")))
    of_parts = inside.group_by(PERIOD).agg(least=pl.col("part").min(), most=pl.col("part").max())
    is_like = pl.col("value").is_between(pl.col("least") * (1 - ALIKE), pl.col("most") * (1 + ALIKE))
    found = found.join(of_parts, on=PERIOD, how="left", maintain_order="left").filter(is_like.fill_null(value=True))
    return found.drop("least", "most")


def _of_earnings(facts: pl.DataFrame, as_filed: pl.DataFrame, single: pl.DataFrame, concept: str) -> pl.DataFrame:
    """Net income over earnings per share, for a filer whose averages of shares are this quotient."""
    income = single.filter(pl.col("concept").is_in(["net_income_common", "net_income_parent"]))
    income = income.sort(*PERIOD, "concept").unique(PERIOD, keep="first", maintain_order=True)
    size = pl.col("earned").abs()
    earned = (
        durations(facts, (_EARNINGS_OF[concept],))
        .select(*PERIOD, earned="value", per_share="fact")
        .join(income.select(*PERIOD, income="value", of_income="fact"), on=PERIOD)
        .filter((size > HALF_A_CENT) & (pl.col("income") * pl.col("earned") > 0))
        .with_columns(
            value=pl.col("income") / pl.col("earned"),
            least=pl.col("income").abs() / (size + HALF_A_CENT),
            most=pl.col("income").abs() / (size - HALF_A_CENT),
            days=length + 1,
        )
        .join(as_filed.filter(pl.col("concept") == concept).select(*PERIOD, stated="value"), on=PERIOD, how="left")
    )
    is_it = pl.col("stated").is_between(pl.col("least") * (1 - ROUNDING), pl.col("most") * (1 + ROUNDING))
    so_far = (
        earned.group_by(FILING)
        .agg(number=pl.col("stated").count(), other=(~is_it).sum(), last=pl.col("stated").median())
        .sort(FILING)
        .with_columns(pl.col("number", "other").cum_sum().over("cik"), pl.col("last").forward_fill().over("cik"))
    )
    proves = earned.join(so_far.filter((pl.col("number") >= FEWEST) & (pl.col("other") == 0)), on=FILING)
    off = (pl.col("most") / pl.col("value") - 1) * pl.min_horizontal("days", YEAR_DAYS) / YEAR_DAYS
    # the weights of both facts add up to those of an average, as its lineage needs: one
    of_income = (pl.col("value") - pl.col("earned")) / (pl.col("income") - pl.col("earned"))
    is_like_last = (pl.col("value") / pl.col("last")).is_between(1 / LARGEST_CHANGE, LARGEST_CHANGE)
    return proves.filter(pl.col("stated").is_null() & (off <= OF_TWELVE_MONTHS) & is_like_last).select(
        *PERIOD,
        "value",
        concept=pl.lit(concept, AMOUNT),
        grain=pl.col("most") - pl.col("least"),
        rule=pl.lit(OF_EARNINGS.id),
        fact=pl.concat_list("of_income", "per_share"),
        coefficient=pl.concat_list(of_income, 1 - of_income),
    )


def _in_a_loss(facts: pl.DataFrame, as_filed: pl.DataFrame, basic: pl.DataFrame) -> pl.DataFrame:
    """Basic shares of the rest of a period that is a loss: the period less an earlier one, or less its last quarter."""
    both = basic.join(of_continuing(facts, as_filed), on=PERIOD)
    names = ("value", "grain", "fact", "most", "continuing")
    of_one_end = pairs_of_periods(both, [*FILING, "end"], *names)
    rests = [less_beginning(both, [], *names), of_one_end.with_columns(end=pl.col("start_less").dt.offset_by("-1d"))]
    is_loss = pl.all_horizontal(pl.col(name) < pl.col(f"{name}_less") for name in ("most", "continuing"))
    change = _average_of_rest()[0] / pl.col("value")
    earned = [durations(facts, (element,)).select(*_SPAN, "value") for element in _EARNINGS_OF.values()]
    other = earned[0].join(earned[1], on=_SPAN).filter(pl.col("value") != pl.col("value_right"))
    return (
        pl.concat(rests, how="diagonal")
        .filter(pl.col("rest").is_between(QUARTER[0], YEAR[0]) & is_loss)
        .filter(change.is_between(1 / LARGEST_CHANGE, LARGEST_CHANGE))
        .select(*PERIOD, *_average_of_rest(), concept=pl.lit("shares_diluted", AMOUNT), rule=pl.lit(LOSS_OF_REST.id))
        .join(other, on=_SPAN, how="anti")
        .sort(*PERIOD, "value")
    )


def _average_of_rest() -> list[pl.Expr]:
    """The average of the rest of two periods: `value`, `grain`, `fact` and `coefficient` (lists)."""
    of_period, of_other = pl.col("days") / pl.col("rest"), pl.col("days_less") / pl.col("rest")
    return [
        (pl.col("value") * of_period - pl.col("value_less") * of_other).alias("value"),
        (pl.col("grain") * of_period + pl.col("grain_less") * of_other).alias("grain"),
        pl.concat_list("fact", "fact_less").alias("fact"),
        pl.concat_list(of_period, -of_other).alias("coefficient"),
    ]
