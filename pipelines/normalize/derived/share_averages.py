"""Averages of shares that no filing states: what earnings per share, and a loss, prove.

Belongs here: net income over earnings per share, a part of a year with a loss. Does not: diluted shares that are the
basic ones as stated (no_dilution).
"""

import polars as pl

from pipelines.normalize.derived import offerings, rests
from pipelines.normalize.derived.no_dilution import HALF_A_CENT, of_continuing
from pipelines.normalize.derived.stated import FILING, PERIOD, durations
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
REST = (60, 300)
"""Days of a part of a year."""
LARGEST_CHANGE = 1.1
"""An average that no filing states hardly ever differs by more than a tenth from those before and after it: VWF
Bancorp's first year leaves 15 % more to its last quarter, because it does not count the days before the offering."""

OF_EARNINGS = Rule(
    "shares.net-income-over-earnings-per-share",
    "An average of shares that no filing states is net income over earnings per share if their rounding moves twelve "
    f"months by at most {OF_TWELVE_MONTHS:.2%}, and all averages stated so far (at least {FEWEST}) are this quotient, "
    "the last ones within a tenth of it.",
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
RULES = (OF_EARNINGS, LOSS_OF_REST)

_QUARTER = ["cik", "start", "end"]
_EARNINGS_OF = {"shares_basic": proving.BASIC_EARNINGS, "shares_diluted": proving.DILUTED_EARNINGS}


def amounts(facts: pl.DataFrame, stated_facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """The averages of shares that other figures of their filing prove.

    Args:
        facts: typed facts in filing order.
        stated_facts: the facts of each vintage (frames.StatedFacts).
        sound: the vintages that count (frames.Sound).

    Returns:
        PERIOD, `concept`, `value`, `grain`, `rule`, `fact` and `coefficient` (lists).
    """
    as_filed = sound.filter(pl.col("repair") == 1).join(
        stated_facts.group_by("vintage").agg(fact=pl.col("fact").first(), facts=pl.len()), on="vintage"
    )
    of_earnings = [_of_earnings(facts, as_filed, concept) for concept in _EARNINGS_OF]
    found = [rests.amounts(as_filed), *of_earnings, _in_a_loss(facts, as_filed), offerings.amounts(facts, as_filed)]
    return pl.concat(found, how="diagonal")


def _of_earnings(facts: pl.DataFrame, as_filed: pl.DataFrame, concept: str) -> pl.DataFrame:
    """Net income over earnings per share, for a filer whose averages of shares are this quotient."""
    income = as_filed.filter(pl.col("concept").is_in(["net_income_common", "net_income_parent"])).sort(
        *PERIOD, "concept"
    )
    income = income.unique(PERIOD, keep="first", maintain_order=True).filter(pl.col("facts") == 1)
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
            days=(pl.col("end") - pl.col("start")).dt.total_days() + 1,
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


def _in_a_loss(facts: pl.DataFrame, as_filed: pl.DataFrame) -> pl.DataFrame:
    """Basic shares of the rest of a period that is a loss: the period less an earlier one, or less its last quarter."""
    basic = as_filed.filter((pl.col("concept") == "shares_basic") & (pl.col("facts") == 1))
    both = basic.join(of_continuing(facts, as_filed), on=PERIOD)
    names = ("value", "grain", "fact", "most", "continuing")
    to_date = rests.pairs_of_periods(both, ["cik", "start"], *names).filter(pl.col("seq_less") <= pl.col("seq"))
    to_date = to_date.sort(*PERIOD, "seq_less", "end_less").unique([*PERIOD, "end_less"], keep="last")
    of_one_end = rests.pairs_of_periods(both, [*FILING, "end"], *names)
    both = pl.concat(
        [
            to_date.with_columns(start=pl.col("end_less").dt.offset_by("1d")),
            of_one_end.with_columns(end=pl.col("start_less").dt.offset_by("-1d")),
        ],
        how="diagonal",
    )
    is_loss = pl.all_horizontal(pl.col(name) < pl.col(f"{name}_less") for name in ("most", "continuing"))
    earned = [durations(facts, (element,)).select(*_QUARTER, "value") for element in _EARNINGS_OF.values()]
    other = earned[0].join(earned[1], on=_QUARTER).filter(pl.col("value") != pl.col("value_right"))
    return (
        both.filter(pl.col("rest").is_between(*REST) & is_loss)
        .select(
            *PERIOD,
            *rests.average_of_rest(),
            concept=pl.lit("shares_diluted", AMOUNT),
            rule=pl.lit(LOSS_OF_REST.id),
            change=rests.average_of_rest()[0] / pl.col("value"),
        )
        .filter(pl.col("change").is_between(1 / LARGEST_CHANGE, LARGEST_CHANGE))
        .drop("change")
        .join(other, on=_QUARTER, how="anti")
        .sort(*PERIOD, "value")
    )
