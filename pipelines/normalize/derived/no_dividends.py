"""No dividends: periods for which the statements prove that no dividends were declared on common stock.

Belongs here: retained earnings against net income, financing activities against their lines. Does not: dividends per
share that filings state (elements.per_share), their sum over twelve months (ttm).
"""

import polars as pl

from pipelines.normalize.derived.stated import EXACT, FILING, PERIOD, SAME_DAYS, durations, instants
from pipelines.normalize.elements import proving
from pipelines.normalize.elements.cash_flow_lines import FINANCING, LINES, SECTIONS
from pipelines.normalize.elements.proving import DIVIDENDS, INCOME
from pipelines.normalize.rule import Rule

RETAINED_EARNINGS = Rule(
    "dividends-per-share.none.retained-earnings",
    "No dividends were declared in a period in which retained earnings changed by net income (less preferred "
    "dividends), if no filing so far states a dividend of it; after losses carried forward, of any period. So none "
    "were declared in its parts.",
    "Regulation S-X Rule 3-04: dividends are a change of retained earnings; ASC 505-10-50-2",
    "compose",
)
FINANCING_ACTIVITIES = Rule(
    "dividends-per-share.none.financing-activities",
    "No dividends were declared in a period if its financing activities, and those of the next quarter where the filer "
    "paid dividends in two years before, are exactly the other stated lines, and no filing states a dividend.",
    "ASC 230-10-45-15: dividends paid are financing activities; a dividend is paid within weeks of its declaration",
    "compose",
)
STATED = Rule(
    "dividends-per-share.none.part-of-period",
    "No dividends were declared in the parts of a period for which a filing states dividends paid of zero, if no "
    "filing so far states a dividend of it.",
    "Dividends are not negative: if they add up to zero, each is zero",
    "compose",
)
BETWEEN = Rule(
    "dividends-per-share.none.between-periods-without",
    "No dividends were declared in a period between two that are proved to have none, by a filer whose filings so far "
    "state no dividend of any period: a change of accounting moved retained earnings.",
    "Regulation S-X Rule 3-04: dividends are a change of retained earnings, which a change of accounting is, too",
    "compose",
)
REST_OF_YEAR = Rule(
    "dividends-per-share.none.rest-of-year",
    "No dividends were declared in the rest of a year that has the same dividends, per share and in money, as a part "
    "of it.",
    "Dividends are not negative: if a part has all of a year, the rest has none",
    "compose",
)
RULES = (RETAINED_EARNINGS, FINANCING_ACTIVITIES, STATED, BETWEEN, REST_OF_YEAR)

PER_SHARE = ("CommonStockDividendsPerShareDeclared", "CommonStockDividendsPerShareCashPaid")

NOTHING_PAID = ("PaymentsOfDividendsCommonStock", "PaymentsOfDividends")
"""Elements that show with a zero that there were no dividends on common stock."""
PAYER = "730d"
"""A filer that stated a dividend of the two years before may pay one that it declared before."""
NEXT_QUARTER = "80d"
"""Fewest days from the end of a period to that of one that includes the following quarter."""
UNITS = (1e3, 1e6)
"""Units in which statements are shown: a sum is off by one of them."""
SHORTEST, LONGEST = 60, 380
"""Days of the parts of a year for which dividends are added up."""
YEAR = (340, LONGEST)
"""Days of a fiscal year."""


def periods_without(facts: pl.DataFrame, regimes: pl.DataFrame) -> pl.DataFrame:
    """The periods without dividends, each in the first filing that proves it.

    Args:
        facts: typed facts in filing order: `cik`, `seq`, `taxonomy`, `tag`, `start`, `end`, `value`.
        regimes: of periods.breaks.regimes: the company and the standards of each filing.

    Returns:
        PERIOD, `rule`, `fact` and `coefficient` (lists: the facts that add up to zero).
    """
    stated = durations(facts, DIVIDENDS)
    of_days = instants(facts, DIVIDENDS).with_columns(start="end")
    paid = pl.concat([stated, of_days.select(stated.columns)]).filter(pl.col("value") != 0).select(PERIOD).unique()
    nothing = stated.filter((pl.col("value") == 0) & pl.col("tag").is_in(NOTHING_PAID)).unique(PERIOD, keep="first")
    of_nothing = _alone(nothing).select(*PERIOD, "fact", "coefficient", rule=pl.lit(STATED.id))
    payers = paid.group_by("cik").agg(first_paid=pl.col("seq").min())
    earnings = _of_retained_earnings(facts).join(payers, on="cik", how="left")
    has_paid = (pl.col("first_paid") <= pl.col("seq")).fill_null(value=False)
    earnings = earnings.filter(~(has_paid & pl.col("never_only"))).drop("first_paid", "never_only")
    proved = pl.concat([earnings, _of_financing(facts, paid), of_nothing, _rest_of_year(stated)], how="diagonal")
    # a dividend of the beginning of a year shows that retained earnings do not show those of the year
    proved = proved.with_columns(pl.coalesce("since", "start").alias("since"))
    contradicted = proved.join(paid, on="cik", suffix="_paid").filter(
        (pl.col("seq_paid") <= pl.col("seq"))
        & (pl.col("start_paid") >= pl.col("since").dt.offset_by(f"-{SAME_DAYS}"))
        & (pl.col("end_paid") <= pl.col("end").dt.offset_by(SAME_DAYS))
    )
    proved = (
        proved.join(contradicted, on=PERIOD, how="anti", maintain_order="left")
        .sort("cik", "start", "end", "seq", maintain_order=True)
        .unique(["cik", "start", "end"], keep="first", maintain_order=True)
        .drop("since")
    )
    parts = durations(facts, (*INCOME, SECTIONS[FINANCING])).select("cik", part_start="start", part_end="end")
    parts = pl.concat([parts, proved.select("cik", part_start="start", part_end="end")]).unique()
    days = (pl.col("part_end") - pl.col("part_start")).dt.total_days()
    proved = pl.concat([proved, _between(proved, parts.filter(days <= LONGEST), payers, regimes)])
    return (
        proved.join(parts.filter(days.is_between(SHORTEST, LONGEST)), on="cik")
        .filter((pl.col("part_start") >= pl.col("start")) & (pl.col("part_end") <= pl.col("end")))
        .sort("cik", "part_start", "part_end", "seq", "rule", pl.col("end") - pl.col("start"), "start")
        .unique(["cik", "part_start", "part_end"], keep="first", maintain_order=True)
        .select("cik", "seq", "rule", "fact", "coefficient", start="part_start", end="part_end")
        .select(*PERIOD, "rule", "fact", "coefficient")
    )


def _rest_of_year(stated: pl.DataFrame) -> pl.DataFrame:
    """What is left of a year before and after a part that has all its dividends, per share and in money."""
    days = (pl.col("end") - pl.col("start")).dt.total_days()
    years = stated.filter((pl.col("value") > 0) & days.is_between(*YEAR))
    parts = stated.filter(days.is_between(SHORTEST, YEAR[0], closed="left"))
    both = years.join(parts, on=["cik", "tag", "value"], suffix="_part").filter(
        (pl.col("seq_part") <= pl.col("seq"))
        & (pl.col("start_part") >= pl.col("start"))
        & (pl.col("end_part") <= pl.col("end"))
    )
    is_per_share = pl.col("tag").is_in(PER_SHARE)
    in_money = both.filter(~is_per_share).select(*PERIOD, "start_part", "end_part").unique()
    whole = both.filter(is_per_share).join(in_money, on=in_money.columns).sort(*PERIOD, "fact", "fact_part")
    whole = whole.select(
        *PERIOD,
        "start_part",
        "end_part",
        rule=pl.lit(REST_OF_YEAR.id),
        fact=pl.concat_list("fact", "fact_part"),
        coefficient=pl.lit([1.0, -1.0]),
    )
    before = whole.with_columns(end=pl.col("start_part").dt.offset_by("-1d"))
    after = whole.with_columns(start=pl.col("end_part").dt.offset_by("1d"))
    return pl.concat([before, after]).drop("start_part", "end_part").filter(days >= SHORTEST)


def _between(proved: pl.DataFrame, periods: pl.DataFrame, payers: pl.DataFrame, regimes: pl.DataFrame) -> pl.DataFrame:
    """The periods of filers without any dividend that begin and end with a proved one, without a break."""
    periods = periods.select("cik", start="part_start", end="part_end")
    unknown = periods.join(proved, on=["cik", "start", "end"], how="anti")
    # after a break, another company or other standards, its periods are told apart by what is stated alone
    unbroken = regimes.group_by("cik").agg(pl.col("regime").n_unique()).filter(pl.col("regime") == 1)
    one = proved.join(unbroken, on="cik", how="semi").select("cik", "seq", "fact", first="start", last="end")
    before = (
        unknown.join(one, on="cik")
        .filter((pl.col("first") < pl.col("start")) & (pl.col("last") >= pl.col("start").dt.offset_by(f"-{SAME_DAYS}")))
        .sort("cik", "start", "end", "seq", "first", "last", pl.col("fact").list.first())
        .unique(["cik", "start", "end"], keep="first", maintain_order=True)
        .drop("first", "last")
    )
    after = (
        unknown.join(one, on="cik")
        .filter((pl.col("last") > pl.col("end")) & (pl.col("first") <= pl.col("end").dt.offset_by(SAME_DAYS)))
        .sort("cik", "start", "end", "seq", "first", "last", pl.col("fact").list.first())
        .unique(["cik", "start", "end"], keep="first", maintain_order=True)
        .drop("first", "last")
    )
    facts = pl.concat_list("fact", "fact_after")
    return (
        before.join(after, on=["cik", "start", "end"], suffix="_after")
        .with_columns(seq=pl.max_horizontal("seq", "seq_after"), fact=facts)
        .join(payers, on="cik", how="left")
        .filter((pl.col("first_paid") > pl.col("seq")).fill_null(value=True))
        .select(
            *PERIOD,
            "fact",
            coefficient=pl.lit(0.0).repeat_by(pl.col("fact").list.len()),
            rule=pl.lit(BETWEEN.id),
        )
        .select(proved.columns)
    )


def _of_retained_earnings(facts: pl.DataFrame) -> pl.DataFrame:
    """The periods in which retained earnings changed by net income; `never_only`: proved if no dividend was ever
    stated, because losses were carried forward or the sum is off by a unit; `since`: the start of the income."""
    income = _alone(durations(facts, INCOME))
    less = _alone(durations(facts, proving.PREFERRED_DIVIDENDS)).filter(pl.col("value") != 0)
    after_preferred = income.join(less, on=PERIOD, suffix="_less", maintain_order="left_right").select(
        *PERIOD,
        value=pl.col("value") - pl.col("value_less"),
        fact=pl.concat_list("fact", "fact_less"),
        coefficient=pl.lit([1.0, -1.0]),
    )
    rest = _less_beginning(durations(facts, INCOME))
    balances = instants(facts, (proving.RETAINED_EARNINGS,)).select("cik", "end", "value", "fact", of="seq")
    opening = balances.rename({"end": "day", "value": "opening", "fact": "opening_fact", "of": "opening_of"})
    closing = balances.rename({"value": "closing", "fact": "closing_fact", "of": "seq"})
    return (
        pl.concat([*(each.with_columns(since="start") for each in (income, after_preferred)), rest])
        .filter(pl.col("value") != 0)
        .join(closing, on=["cik", "seq", "end"], maintain_order="left_right")
        .with_columns(day=pl.col("start").dt.offset_by("-1d"))
        .join(opening, on=["cik", "day"], maintain_order="left_right")
        .filter(pl.col("opening_of") <= pl.col("seq"))
        # the newest statement of the balance; the filing's own, if it has one
        .filter(pl.col("opening_of") == pl.col("opening_of").max().over(PERIOD))
        .with_columns(off=(pl.col("closing") - pl.col("opening") - pl.col("value")).abs(), unit=_unit())
        .with_columns(never_only=(pl.min_horizontal("opening", "closing") < 0) | (pl.col("off") >= EXACT))
        .filter(pl.col("off") <= pl.when(pl.col("since") < pl.col("start")).then(EXACT).otherwise("unit"))
        .sort(*PERIOD, "off", pl.col("fact").list.len(), pl.col("fact").list.first(), "opening_fact", "closing_fact")
        .unique(PERIOD, keep="first", maintain_order=True)
        .select(
            *PERIOD,
            "never_only",
            "since",
            rule=pl.lit(RETAINED_EARNINGS.id),
            fact=pl.concat_list(pl.concat_list("closing_fact", "opening_fact"), "fact"),
            # a sum that is off by a unit proves the zero, and is none
            coefficient=pl.when(pl.col("off") < EXACT)
            .then(pl.concat_list(pl.lit([1.0, -1.0]), pl.col("coefficient").list.eval(-pl.element())))
            .otherwise(pl.concat_list(pl.lit([0.0, 0.0]), pl.col("coefficient").list.eval(0.0 * pl.element()))),
        )
    )


def _less_beginning(income: pl.DataFrame) -> pl.DataFrame:
    """Income of the end of each period: the period less its beginning, as stated last so far."""
    beginning = income.select("cik", "start", "tag", of="seq", day="end", less="value", fact_less="fact")
    both = income.join(beginning, on=["cik", "start", "tag"]).filter(
        (pl.col("of") <= pl.col("seq")) & ((pl.col("end") - pl.col("day")).dt.total_days() >= SHORTEST)
    )
    both = both.sort(*PERIOD, "tag", "day", "of").unique([*PERIOD, "tag", "day"], keep="last", maintain_order=True)
    return both.select(
        *FILING,
        "end",
        start=pl.col("day").dt.offset_by("1d"),
        value=pl.col("value") - pl.col("less"),
        fact=pl.concat_list("fact", "fact_less"),
        coefficient=pl.lit([1.0, -1.0]),
        since="start",
    ).select(*PERIOD, "value", "fact", "coefficient", "since")


def _unit() -> pl.Expr:
    """The unit in which balances and income are shown."""
    unit = pl.lit(EXACT)
    for each in UNITS:
        is_shown = pl.all_horizontal(pl.col(name) % each == 0 for name in ("opening", "closing", "value"))
        unit = pl.when(is_shown).then(each).otherwise(unit)
    return unit


def _of_financing(facts: pl.DataFrame, paid: pl.DataFrame) -> pl.DataFrame:
    """The periods whose financing activities are their stated lines without dividends."""
    total = durations(facts, (SECTIONS[FINANCING],)).filter(pl.col("value") != 0).drop("tag")
    lines = LINES.filter((pl.col("section") == FINANCING) & ~pl.col("is_dividend")).select("tag", "sign")
    stated = durations(facts, lines["tag"]).filter(pl.col("value") != 0).join(lines, on="tag", maintain_order="left")
    added = stated.group_by(PERIOD).agg(
        sum=(pl.col("sign") * pl.col("value")).sum(), lines=pl.col("fact"), signs=-pl.col("sign")
    )
    payable = instants(facts, proving.DIVIDENDS_PAYABLE).filter(pl.col("value") != 0).select("cik", "seq", "end")
    footing = (
        total.join(added, on=PERIOD, maintain_order="left")
        .filter((pl.col("value") - pl.col("sum")).abs() < EXACT)
        .join(payable, on=["cik", "seq", "end"], how="anti", maintain_order="left")
        .select(
            *PERIOD,
            fact=pl.concat_list("fact", "lines"),
            coefficient=pl.concat_list(pl.lit([1.0]), "signs"),
        )
    )
    by_payers = (
        footing.join(paid, on="cik", suffix="_paid")
        .filter((pl.col("seq_paid") <= pl.col("seq")) & (pl.col("end_paid") >= pl.col("end").dt.offset_by(f"-{PAYER}")))
        .select(PERIOD)
        .unique()
    )
    followed = (
        footing.join(by_payers, on=PERIOD, maintain_order="left")
        .join(
            footing.select("cik", next="seq", next_start="start", next_end="end"), on="cik", maintain_order="left_right"
        )
        .filter(pl.col("next_end") >= pl.col("end").dt.offset_by(NEXT_QUARTER))
        .filter(pl.col("next_start") <= pl.col("end").dt.offset_by(SAME_DAYS))
        .with_columns(seq=pl.max_horizontal("seq", "next"))
        .sort(PERIOD, maintain_order=True)
        .unique(PERIOD, keep="first", maintain_order=True)
    )
    others = footing.join(by_payers, on=PERIOD, how="anti", maintain_order="left")
    known = pl.concat([others, followed.select(footing.columns)])
    return known.select(*PERIOD, "fact", "coefficient", rule=pl.lit(FINANCING_ACTIVITIES.id)).select(
        *PERIOD, "rule", "fact", "coefficient"
    )


def _alone(rows: pl.DataFrame) -> pl.DataFrame:
    """Facts as sums of one fact: PERIOD, `value`, `fact`, `coefficient`."""
    return rows.select(*PERIOD, "value", fact=pl.concat_list("fact"), coefficient=pl.lit([1.0]))
