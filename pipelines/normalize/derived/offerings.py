"""Offerings: averages of shares of the time before a company had shares, such as a savings bank before its offering.

Belongs here: whether the filer counts the days before its first shares, and the averages that follow. Does not:
averages that filings state (elements), twelve months (ttm), which withhold a mean that is not like its parts.
"""

import polars as pl

from pipelines.normalize.derived.stated import FILING, PERIOD, YEAR, durations
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.rule import Rule

SAME_COUNT = 0.005
"""The average of the year of an offering is that of the days since if it differs from the next one by at most this
share. Measured on the six offerings of the mirrors that are shown so: 0.1 to 0.4 %."""
COUNTS_ALL_DAYS = 1.05
"""A next average that is so many times the first one shows that the days before the offering count. Measured on the
five offerings of the mirrors that are shown so: 1.16 to 8 times."""

NOTHING_BEFORE = Rule(
    "shares.none-before-offering",
    "Before a company's first shares its average is zero if the filer counts the days before them: its first average "
    "is less than the next one, and none that includes the first is more than the next.",
    "ASC 260-10-45-10: shares issued during the period are weighted for the portion of the period that they were "
    "outstanding",
    "compose",
)
DAYS_SINCE = Rule(
    "shares.of-days-since-offering",
    "A part of the year of an offering, of which no filing states shares or earnings per share, has the year's average "
    f"if this is that of the next period (within {SAME_COUNT:.1%}): the filer counts the days since the offering.",
    "ASC 260-10-45-10; measured: savings banks present earnings per share for the period since their conversion",
    "compose",
)
RULES = (NOTHING_BEFORE, DAYS_SINCE)

_EARNINGS = (proving.BASIC_EARNINGS, proving.DILUTED_EARNINGS, proving.EARNINGS_OF_BOTH)
_OF = ["cik", "concept"]


def amounts(facts: pl.DataFrame, averages: pl.DataFrame) -> pl.DataFrame:
    """The averages of periods before the filer's first shares, in the filing that shows how it counts the days.

    Args:
        facts: typed facts in filing order.
        averages: averages of shares that filings state and that were not corrected, with their `fact`.

    Returns:
        PERIOD, `concept`, `value`, `rule`, `fact` and `coefficient` (lists).
    """
    averages = averages.select(*_OF, "seq", "start", "end", "value", "fact")
    unstated = _unstated(facts, averages)
    first = _first(averages, "first")
    later = averages.join(first.select(*_OF, after="first_end"), on=_OF).filter(pl.col("start") > pl.col("after"))
    counted = first.join(_first(later.drop("after"), "next"), on=_OF)
    before = unstated.join(counted, on="cik").filter(pl.col("end") < pl.col("first_end"))
    before = before.with_columns(seq=pl.max_horizontal("seq", "first_seq", "next_seq"))
    longer = before.join(averages.select(*_OF, whole="value", by="seq", of="start", to="end", leg="fact"), on=_OF)
    longer = longer.filter((pl.col("of") <= pl.col("first_start")) & (pl.col("to") >= pl.col("first_end")))
    # an average of the first one and more than the next one counts the days since
    since_alone = longer.filter((pl.col("by") <= pl.col("seq")) & (pl.col("whole") > pl.col("next_value")))
    grows = pl.col("next_value") - pl.col("first_value")
    nothing = (
        before.filter(pl.col("next_value") >= COUNTS_ALL_DAYS * pl.col("first_value"))
        .join(since_alone, on=[*_OF, *PERIOD[1:]], how="anti")
        .select(
            *_OF,
            *PERIOD[1:],
            value=pl.lit(0.0),
            rule=pl.lit(NOTHING_BEFORE.id),
            fact=pl.concat_list("first_fact", "next_fact"),
            # the weights of both add up to those of an average, as its lineage needs, and their sum is nothing
            coefficient=pl.concat_list(pl.col("next_value") / grows, -pl.col("first_value") / grows),
        )
    )
    is_year = (pl.col("to") - pl.col("of")).dt.total_days().is_between(*YEAR) & (pl.col("of") <= pl.col("start"))
    is_same = (pl.col("whole") / pl.col("next_value") - 1).abs() <= SAME_COUNT
    since = longer.filter(is_year & is_same).select(
        *_OF,
        "start",
        "end",
        seq=pl.max_horizontal("seq", "by"),
        value="whole",
        rule=pl.lit(DAYS_SINCE.id),
        fact=pl.concat_list("leg", "next_fact"),
        coefficient=pl.lit([1.0, 0.0]),
    )
    found = pl.concat([nothing, since.select(nothing.columns)])
    found = found.sort(*_OF, "start", "end", "seq", pl.col("fact").list.first())
    return found.unique([*_OF, "start", "end"], keep="first", maintain_order=True).cast({"concept": AMOUNT})


def _unstated(facts: pl.DataFrame, averages: pl.DataFrame) -> pl.DataFrame:
    """The periods with net income in a filing with averages, if none so far states any per share of them or before."""
    earned = durations(facts, _EARNINGS).filter(pl.col("value") != 0)
    stated = pl.concat([averages.select(PERIOD), earned.select(PERIOD)])
    stated = stated.group_by(FILING).agg(pl.col("end").min()).sort(FILING)
    stated = stated.select(*FILING, earliest=pl.col("end").cum_min().over("cik"))
    income = durations(facts, proving.INCOME).select(PERIOD).unique().join(averages, on=FILING, how="semi")
    return income.join(stated, on=FILING).filter(pl.col("end") < pl.col("earliest")).drop("earliest")


def _first(averages: pl.DataFrame, name: str) -> pl.DataFrame:
    """The first average of each filer, of the shortest period, as first stated: its columns begin with `name`."""
    ordered = averages.sort(*_OF, "end", "start", "seq", "fact", descending=[False, False, False, True, False, False])
    found = ordered.unique(_OF, keep="first", maintain_order=True)
    return found.select(*_OF, pl.exclude(_OF).name.prefix(f"{name}_"))
