"""Average share counts that no filing states, derived from other figures of the filings.

Belongs here: net income over earnings per share, parts of a period, losses and other periods without dilution, the time
before a company had shares. Does not: averages that filings state (elements), their twelve months (ttm).
"""

import polars as pl

from pipelines.normalize.derived.stated import (
    FILING,
    PERIOD,
    QUARTER,
    SPAN,
    YEAR,
    as_filed,
    durations,
    is_inside,
    largest,
    length,
    less_beginning,
    pairs_of_periods,
)
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares.moves import HALF_A_CENT, INCOME

OF_TWELVE_MONTHS = 0.0025
"""The largest part by which the rounding of earnings per share may change an average of twelve months. Measured on 101
companies: of 1,900 averages that filings state, 2 differ from this quotient by more than its rounding explains and by
more than a hundredth."""
ROUNDING = 0.0005
"""Tolerance for the rounding of averages and income to thousands or millions."""
FEWEST = 4
"""The least number of averages that must show that the filer's earnings per share are net income over shares."""
SAME_COUNT = 0.005
"""Averages that differ by at most this share are equal except for rounding. Measured on the six offerings of the
mirrors in which the year has the average of the days since: it differs from the next average by 0.1 to 0.4 %."""
LARGEST_CHANGE = 1.1
"""An average that no filing states hardly ever differs by more than a tenth from the averages before and after it. VWF
Bancorp's first year leaves 15 % more for its last quarter, because it does not count the days before the offering. For
the five offerings of the mirrors with a first average that counts these days, the next average is 1.16 to 8 times as
large."""

PERIOD_LESS_QUARTER = Rule(
    "shares.basic.period-less-its-last-quarter",
    "If one filing states average basic shares of a period and of its last quarter, the average of the time before "
    "that quarter is their difference, weighted by days, if it lies between the averages stated for its parts.",
    "ASC 260-10-45-10 and 260-10-55-2: a weighted average over a period is the mean of its parts; Regulation S-X Rule "
    "10-01(c): interim statements have the quarter and the year to date that end together",
    "compose",
)
OF_EARNINGS = Rule(
    "shares.net-income-over-earnings-per-share",
    "Average shares that no filing states are net income over earnings per share if rounding moves twelve months by "
    f"at most {OF_TWELVE_MONTHS:.2%}, all stated averages so far (at least {FEWEST}) equal this quotient, and the "
    "last is within a tenth.",
    "ASC 260-10-45-10 and 45-16: earnings per share are income divided by the weighted average of shares",
    "compose",
)
LOSS_OF_REST = Rule(
    "shares.diluted.basic-in-a-loss-of-the-rest",
    "If a longer period less a shorter one is a part of the year with a loss from continuing operations and no "
    "stated diluted shares, its diluted shares are its basic shares, which are computed by the same difference.",
    "ASC 260-10-45-17 to 45-19: with a loss from continuing operations no potential share is included; each period is "
    "judged for itself",
    "compose",
)
LOSS = Rule(
    "shares.diluted.basic-in-a-loss",
    "Diluted shares that no filing states equal basic shares in a period with a loss from continuing operations, "
    "unless the filing states diluted earnings per share that differ from basic ones.",
    "ASC 260-10-45-17 to 45-19: with a loss from continuing operations no potential share is included",
    "compose",
)
NO_DILUTION = Rule(
    "shares.diluted.basic-without-dilution",
    "Diluted shares that no filing states equal basic shares without dilution: both earnings per share are equal "
    f"(rounding explains at most {SAME_COUNT:.1%}), the stated adjustment is zero, or reports so far state neither "
    "potential shares nor share-based pay.",
    "ASC 260-10-45-2, 45-10 and 45-16; ASC 260-10-50-1: the adjustment is disclosed; 260-10-55-3: the adjustment of a "
    "year to date is the average of its quarters",
    "compose",
)
DAYS_SINCE = Rule(
    "shares.of-days-since-offering",
    f"If the average shares of the year of an offering equal the next period's (within {SAME_COUNT:.1%}), they are "
    "also the average of the year's parts without stated figures per share: the filer counts only the days since the "
    "offering.",
    "ASC 260-10-45-10; measured: savings banks present earnings per share for the period since their conversion",
    "compose",
)

_OF = ["cik", "concept"]
_EARNINGS_OF = {"shares_basic": proving.BASIC_EARNINGS, "shares_diluted": proving.DILUTED_EARNINGS}


def amounts(facts: pl.DataFrame, stated: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Derive the averages of shares that other figures prove.

    Args:
        facts: of derived.stated.stated.
        stated: the vintages that count, with their facts (`legs` and `weights`).

    Returns:
        PERIOD, `concept`, `value`, `grain`, `rule`, `fact` and `coefficient` (lists): diluted shares that equal the
        basic ones of the same filing; and other averages, which count only if no average is stated.
    """
    filed = stated.filter(pl.col("repair") == 1)
    single = filed.filter(pl.col("legs").list.len() == 1).with_columns(fact=pl.col("legs").list.first())
    basic = single.filter(pl.col("concept") == "shares_basic")
    found = [
        _of_last_quarter(basic),
        *(_of_earnings(facts, filed, single, concept) for concept in _EARNINGS_OF),
        _in_a_loss(facts, filed, basic),
        _around_offerings(facts, single.filter(pl.col("concept").is_in(list(_EARNINGS_OF)))),
    ]
    return _without_dilution(facts, stated), pl.concat(found, how="diagonal")


def _of_last_quarter(basic: pl.DataFrame) -> pl.DataFrame:
    """Derive the basic average of the beginning of a period from two periods of one filing that end together.

    Diluted averages are not derived in this way, because they include potential shares in only some periods.
    """
    both = pairs_of_periods(basic, [*FILING, "end"], "rank", "value", "grain", "fact")
    is_quarter = (pl.col("days_less") - 1).is_between(*QUARTER) & (pl.col("rest") >= QUARTER[0])
    found = (
        both.filter(PERIOD_LESS_QUARTER.where(is_quarter & (pl.col("rank") == pl.col("rank_less"))))
        .with_columns(end=pl.col("start_less").dt.offset_by("-1d"))
        .select(
            *PERIOD, *_average_of_rest(), concept=pl.lit("shares_basic", AMOUNT), rule=pl.lit(PERIOD_LESS_QUARTER.id)
        )
        .filter(pl.col("value") > 0)
        .sort(*PERIOD, pl.col("fact").list.first(), pl.col("fact").list.last())
    )
    of_parts = (
        found.select(PERIOD)
        .join(basic.select("cik", part="value", of="seq", first="start", last="end"), on="cik")
        .filter((pl.col("of") <= pl.col("seq")) & is_inside)
        .group_by(PERIOD)
        .agg(least=pl.col("part").min() * (1 - SAME_COUNT), most=pl.col("part").max() * (1 + SAME_COUNT))
    )
    is_like = pl.col("value").is_between("least", "most").fill_null(value=True)
    return found.join(of_parts, on=PERIOD, how="left", maintain_order="left").filter(is_like).drop("least", "most")


def _of_earnings(facts: pl.DataFrame, filed: pl.DataFrame, single: pl.DataFrame, concept: str) -> pl.DataFrame:
    """Derive averages as net income over earnings per share, if all stated averages of the filer are this quotient."""
    income = single.filter(pl.col("concept").is_in(INCOME)).sort(*PERIOD, "concept")
    size = pl.col("earned").abs()
    earned = (
        durations(facts, (_EARNINGS_OF[concept],))
        .select(*PERIOD, earned="value", per_share="fact")
        .join(income.unique(PERIOD, keep="first").select(*PERIOD, income="value", of_income="fact"), on=PERIOD)
        .filter((size > HALF_A_CENT) & (pl.col("income") * pl.col("earned") > 0))
        .with_columns(
            value=pl.col("income") / pl.col("earned"),
            least=pl.col("income").abs() / (size + HALF_A_CENT),
            most=pl.col("income").abs() / (size - HALF_A_CENT),
        )
        .join(as_filed(filed, concept, "stated"), on=PERIOD, how="left")
    )
    is_it = pl.col("stated").is_between(pl.col("least") * (1 - ROUNDING), pl.col("most") * (1 + ROUNDING))
    so_far = (
        earned.group_by(FILING)
        .agg(number=pl.col("stated").count(), other=(~is_it).sum(), last=pl.col("stated").median())
        .sort(FILING)
        .with_columns(pl.col("number", "other").cum_sum().over("cik"), pl.col("last").forward_fill().over("cik"))
    )
    off = (pl.col("most") / pl.col("value") - 1) * pl.min_horizontal(length + 1, YEAR[1]) / YEAR[1]
    # the weights of both facts add up to one, as the lineage of an average requires
    of_income = (pl.col("value") - pl.col("earned")) / (pl.col("income") - pl.col("earned"))
    is_like_last = (pl.col("value") / pl.col("last")).is_between(1 / LARGEST_CHANGE, LARGEST_CHANGE)
    is_unstated = OF_EARNINGS.where(pl.col("stated").is_null() & (off <= OF_TWELVE_MONTHS) & is_like_last)
    return (
        earned.join(so_far.filter((pl.col("number") >= FEWEST) & (pl.col("other") == 0)), on=FILING)
        .filter(is_unstated)
        .select(
            *PERIOD,
            "value",
            concept=pl.lit(concept, AMOUNT),
            grain=pl.col("most") - pl.col("least"),
            rule=pl.lit(OF_EARNINGS.id),
            fact=pl.concat_list("of_income", "per_share"),
            coefficient=pl.concat_list(of_income, 1 - of_income),
        )
    )


def _in_a_loss(facts: pl.DataFrame, filed: pl.DataFrame, basic: pl.DataFrame) -> pl.DataFrame:
    """Diluted shares of the rest of a period in which the rest is a loss: they are the basic ones.

    The rest is the period less its beginning, or less its last quarter.
    """
    both = basic.join(_of_continuing(facts, filed), on=PERIOD)
    names = ("value", "grain", "fact", "most", "continuing")
    of_one_end = pairs_of_periods(both, [*FILING, "end"], *names)
    rests = [less_beginning(both, [], *names), of_one_end.with_columns(end=pl.col("start_less").dt.offset_by("-1d"))]
    is_loss = pl.all_horizontal(pl.col(name) < pl.col(f"{name}_less") for name in ("most", "continuing"))
    change = _average_of_rest()[0] / pl.col("value")
    earned = [durations(facts, (element,)).select(*SPAN, "value") for element in _EARNINGS_OF.values()]
    other = earned[0].join(earned[1], on=SPAN).filter(pl.col("value") != pl.col("value_right"))
    return (
        pl.concat(rests, how="diagonal")
        .filter(LOSS_OF_REST.where(pl.col("rest").is_between(QUARTER[0], YEAR[0]) & is_loss))
        .filter(change.is_between(1 / LARGEST_CHANGE, LARGEST_CHANGE))
        .select(*PERIOD, *_average_of_rest(), concept=pl.lit("shares_diluted", AMOUNT), rule=pl.lit(LOSS_OF_REST.id))
        .join(other, on=SPAN, how="anti")
        .sort(*PERIOD, "value", pl.col("fact").list.first(), pl.col("fact").list.last())
    )


def _average_of_rest() -> list[pl.Expr]:
    """The average of a period less another, weighted by days: `value`, `grain`, `fact` and `coefficient` (lists)."""
    of_period, of_other = pl.col("days") / pl.col("rest"), pl.col("days_less") / pl.col("rest")
    return [
        (pl.col("value") * of_period - pl.col("value_less") * of_other).alias("value"),
        (pl.col("grain") * of_period + pl.col("grain_less") * of_other).alias("grain"),
        pl.concat_list("fact", "fact_less").alias("fact"),
        pl.concat_list(of_period, -of_other).alias("coefficient"),
    ]


def _without_dilution(facts: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """Derive diluted averages that equal the basic ones: in a loss, or without dilution.

    Args:
        facts: of derived.stated.stated.
        stated: the vintages that count, with their facts (`legs` and `weights`).

    Returns:
        PERIOD, `concept`, `value`, `grain`, `repair`, `rule`, `fact` and `coefficient` (lists).
    """
    basic, diluted = (stated.filter(pl.col("concept") == name) for name in _EARNINGS_OF)
    of_elements = largest(facts, basic=proving.OF_BASIC, diluted=proving.OF_DILUTED, average=[proving.BASIC_AVERAGE])
    found = (
        basic.join(diluted, on=SPAN, how="anti", maintain_order="left")
        .join(_of_continuing(facts, stated), on=PERIOD, how="left", maintain_order="left")
        .join(of_elements, on=PERIOD, how="left", maintain_order="left")
    )
    is_equal = pl.col("basic") == pl.col("diluted")
    is_loss = (pl.max_horizontal("most", "continuing") < 0) & pl.col("continuing").is_not_null()
    # two equal amounts may differ by a cent before rounding
    is_bounded = is_equal & (2 * HALF_A_CENT / (pl.col("basic").abs() - HALF_A_CENT)).is_between(0, SAME_COUNT)
    without = (
        durations(facts, (proving.DILUTIVE_ADJUSTMENT,))
        .join(found.select(*FILING, first="start", last="end"), on=FILING)
        .filter(is_inside)
        .group_by(*FILING, start="first", end="last")
        .agg(is_zero=(pl.col("value") == 0).all())
    )
    potential = facts.filter(pl.col("tag").is_in(proving.DILUTION)).group_by("cik").agg(since=pl.col("seq").min())
    is_not_unequal = is_equal.fill_null(value=True)
    is_alone = pl.col("average").is_not_null() & (pl.col("since") > pl.col("seq")).fill_null(value=True)
    return (
        found.join(without, on=PERIOD, how="left")
        .join(potential, on="cik", how="left")
        .select(
            *PERIOD,
            pl.col("value", "grain", "repair"),
            concept=pl.lit("shares_diluted", AMOUNT),
            fact="legs",
            coefficient="weights",
            rule=pl.when(LOSS.where(is_loss & is_not_unequal))
            .then(pl.lit(LOSS.id))
            .when(NO_DILUTION.where(is_bounded | (pl.col("is_zero") & is_not_unequal) | is_alone))
            .then(pl.lit(NO_DILUTION.id)),
        )
        .drop_nulls("rule")
    )


def _of_continuing(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Net income and income from continuing operations: PERIOD, `most` (net income), `continuing` (null: unknown)."""
    income = sound.filter(pl.col("concept").is_in(INCOME)).group_by(PERIOD).agg(most=pl.col("value").max())
    parts = largest(facts, continuing=proving.CONTINUING, discontinued=proving.DISCONTINUED)
    continues = pl.coalesce("continuing", pl.when(pl.col("discontinued").fill_null(0) == 0).then("most"))
    return income.join(parts, on=PERIOD, how="full", coalesce=True).select(*PERIOD, "most", continuing=continues)


def _around_offerings(facts: pl.DataFrame, averages: pl.DataFrame) -> pl.DataFrame:
    """Derive averages of periods before the filer's first stated average, once a filing shows how it counts the days.

    Args:
        facts: of derived.stated.stated.
        averages: averages of shares that filings state and that were not corrected, with their `fact`.

    Returns:
        PERIOD, `concept`, `value`, `rule`, `fact` and `coefficient` (lists).
    """
    first = _first(averages, "first")
    later = averages.join(first, on=_OF).filter(pl.col("start") > pl.col("first_end"))
    before = (
        _unstated(facts, averages)
        .join(first.join(_first(later, "next"), on=_OF), on="cik")
        .filter(pl.col("end") < pl.col("first_end"))
        .with_columns(seq=pl.max_horizontal("seq", "first_seq", "next_seq"))
    )
    longer = before.join(
        averages.select(*_OF, whole="value", by="seq", of="start", to="end", leg="fact"), on=_OF
    ).filter((pl.col("of") <= pl.col("first_start")) & (pl.col("to") >= pl.col("first_end")))
    is_year = (pl.col("to") - pl.col("of")).dt.total_days().is_between(*YEAR) & (pl.col("of") <= pl.col("start"))
    is_same = (pl.col("whole") / pl.col("next_value") - 1).abs() <= SAME_COUNT
    found = longer.filter(DAYS_SINCE.where(is_year & is_same)).select(
        pl.col(*_OF, "start", "end"),
        seq=pl.max_horizontal("seq", "by"),
        value="whole",
        rule=pl.lit(DAYS_SINCE.id),
        fact=pl.concat_list("leg", "next_fact"),
        coefficient=pl.lit([1.0, 0.0]),
    )
    in_order = found.sort(*_OF, "start", "end", "seq", pl.col("fact").list.first())
    return in_order.unique([*_OF, "start", "end"], keep="first", maintain_order=True)


def _unstated(facts: pl.DataFrame, averages: pl.DataFrame) -> pl.DataFrame:
    """Periods with net income, in filings with averages, that end before the earliest period with per-share figures.

    The earliest period is of all filings so far with averages of shares or earnings per share.
    """
    earned = durations(facts, (*_EARNINGS_OF.values(), proving.EARNINGS_OF_BOTH)).filter(pl.col("value") != 0)
    stated = (
        pl.concat([averages.select(PERIOD), earned.select(PERIOD)])
        .group_by(FILING)
        .agg(pl.col("end").min())
        .sort(FILING)
        .select(*FILING, earliest=pl.col("end").cum_min().over("cik"))
    )
    income = durations(facts, proving.INCOME).select(PERIOD).unique().join(averages, on=FILING, how="semi")
    return income.join(stated, on=FILING).filter(pl.col("end") < pl.col("earliest")).drop("earliest")


def _first(averages: pl.DataFrame, name: str) -> pl.DataFrame:
    """The first average of each filer, for the shortest period and as first stated; its columns begin with `name`."""
    return (
        averages.sort(*_OF, "end", "start", "seq", "fact", descending=[False, False, False, True, False, False])
        .unique(_OF, keep="first", maintain_order=True)
        .select(*_OF, pl.col("seq", "start", "end", "value", "fact").name.prefix(f"{name}_"))
    )
