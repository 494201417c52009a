"""Periods for which the statements prove that no dividends were declared on common stock.

Belongs here: retained earnings against net income, financing activities against their lines. Does not: dividends per
share that filings state (elements), their sum over twelve months (ttm).
"""

import polars as pl

from pipelines.normalize.derived.stated import (
    EXACT,
    PERIOD,
    QUARTER,
    SAME_DAYS,
    SPAN,
    YEAR,
    durations,
    footings,
    instants,
    is_inside,
    is_zero_within_rounding,
    length,
    less_beginning,
)
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.elements.proving import (
    DECLARED_PER_SHARE,
    DIVIDENDS,
    EQUITY_LINES,
    FINANCING,
    INCOME,
    LINES,
    PAID_ON_ALL_STOCK,
    PAID_PER_SHARE,
    SECTIONS,
    SHOWN_BY_ZERO,
)
from pipelines.normalize.rule import Rule

RETAINED_EARNINGS = Rule(
    "dividends-per-share.none.retained-earnings",
    "If retained earnings changed in a period by net income (less preferred dividends or retired stock), and no "
    "filing so far states a dividend for it (if retained earnings are negative: for any period), none were declared "
    "in it.",
    "Regulation S-X Rule 3-04: dividends are a change of retained earnings; ASC 505-10-50-2",
    "compose",
)
CHANGES_OF_EQUITY = Rule(
    "dividends-per-share.none.changes-of-equity",
    "If equity changed in a period by exactly the stated income, other comprehensive income, and issues and "
    "repurchases of stock, and no filing so far states a dividend for any period, none were declared in the period "
    "or its parts.",
    "Regulation S-X Rule 3-04: dividends are one of the changes of equity, which are all shown",
    "compose",
)
FINANCING_ACTIVITIES = Rule(
    "dividends-per-share.none.financing-activities",
    "If a period's financing cash flow (and, where the filer paid dividends before, the next quarter's) is exactly "
    "the sum of lines other than dividends, and no filing states a dividend for the period, none were declared in "
    "it.",
    "ASC 230-10-45-15: dividends paid are financing activities; a dividend is paid within weeks of its declaration",
    "compose",
)
OF_A_PART = Rule(
    "dividends-per-share.none.of-a-part",
    "If a filing states zero dividends for a period, none were declared in its parts; if a year and a part of it "
    "have the same dividends, per share and in money, none were declared in the rest.",
    "Dividends are not negative: if they add up to zero, each is zero",
    "compose",
)
ON_PREFERRED = Rule(
    "dividends-per-share.none.all-on-preferred",
    "If all dividends paid in a period are exactly the dividends on preferred stock, none were declared on common "
    "stock in the period or its parts.",
    "us-gaap:PaymentsOfDividends (dividends on all stock); Regulation S-X Rule 3-04",
    "compose",
)
BETWEEN = Rule(
    "dividends-per-share.none.between-periods-without",
    "If the periods before and after a period are proved to have no dividends, and no filing so far states a "
    "dividend for any period, none were declared between them either: an accounting change moved retained earnings.",
    "Regulation S-X Rule 3-04: dividends are a change of retained earnings, which a change of accounting is, too",
    "compose",
)

_LINES = LINES.filter((pl.col("section") == FINANCING) & ~pl.col("is_dividend")).select("tag", "sign")


def amounts(facts: pl.DataFrame, regimes: pl.DataFrame) -> pl.DataFrame:
    """The periods without dividends, each in the first filing that proves it.

    Args:
        facts: of derived.stated.stated.
        regimes: of periods.breaks.regimes: the company and the standards of each filing.

    Returns:
        PERIOD, `concept`, `value` (0), `rule`, `fact` and `coefficient` (lists: the facts that add up to zero).
    """
    stated = durations(facts, DIVIDENDS)
    on_preferred = durations(facts, proving.PREFERRED_DIVIDENDS).select(*PERIOD, "value", preferred="fact")
    all_preferred = (
        stated.filter(pl.col("tag") == PAID_ON_ALL_STOCK, pl.col("value") != 0)
        .join(on_preferred, on=[*PERIOD, "value"], maintain_order="left_right")
        .filter(ON_PREFERRED.where(pl.lit(value=True)))
        .select(
            *PERIOD,
            "tag",
            rule=pl.lit(ON_PREFERRED.id),
            fact=pl.concat_list("fact", "preferred"),
            coefficient=pl.lit([1.0, -1.0]),
        )
    )
    paid = _paid(facts, all_preferred)
    payers = paid.group_by("cik").agg(first_paid=pl.col("seq_paid").min())
    nothing = stated.filter(OF_A_PART.where((pl.col("value") == 0) & pl.col("tag").is_in(SHOWN_BY_ZERO)))
    proofs = [
        all_preferred,
        _of_retained_earnings(facts, payers),
        _of_equity(facts, payers),
        _of_financing(facts, payers),
        _alone(nothing).with_columns(rule=pl.lit(OF_A_PART.id)),
        _rest_of_year(stated),
    ]
    # a dividend at the beginning of a year shows that retained earnings do not reveal the year's dividends
    proved = pl.concat(proofs, how="diagonal").with_columns(pl.coalesce("since", "start").alias("since"))
    contradicted = proved.join(paid, on="cik").filter(
        (pl.col("seq_paid") <= pl.col("seq"))
        & (pl.col("first") >= pl.col("since").dt.offset_by(f"-{SAME_DAYS}"))
        & (pl.col("last") <= pl.col("end").dt.offset_by(SAME_DAYS))
    )
    proved = (
        proved.join(contradicted, on=PERIOD, how="anti", maintain_order="left")
        .sort(*SPAN, "seq", maintain_order=True)
        .unique(SPAN, keep="first", maintain_order=True)
        .select(*PERIOD, "rule", "fact", "coefficient")
    )
    of_statements = durations(facts, (*INCOME, SECTIONS[FINANCING])).select(SPAN)
    parts = pl.concat([of_statements, proved.select(SPAN)]).unique().filter(length <= YEAR[1])
    proved = pl.concat([proved, _between(proved, parts, payers, regimes)])
    part = parts.filter(length >= QUARTER[0]).select("cik", first="start", last="end")
    return (
        proved.join(part, on="cik")
        .filter(is_inside)
        .sort("cik", "first", "last", "seq", "rule", length, "start")
        .unique(["cik", "first", "last"], keep="first", maintain_order=True)
        .with_columns(start="first", end="last", value=pl.lit(0.0), concept=pl.lit("dividends_per_share", AMOUNT))
        .select(*proved.columns, "value", "concept")
    )


def _paid(facts: pl.DataFrame, all_preferred: pl.DataFrame) -> pl.DataFrame:
    """The dividends on common stock: `cik`, `seq_paid`, `first`, `last`.

    Dividends on any stock count only for a filer that also states dividends on common stock; otherwise they may be
    payments of a bank to its parent. Amounts that are paid entirely on preferred stock do not count.
    """
    amounts = facts.filter(pl.col("tag").is_in(DIVIDENDS), pl.col("value") != 0).join(
        all_preferred, on=[*SPAN, "tag"], how="anti", maintain_order="left"
    )
    is_of_any = pl.col("tag").is_in(proving.ALL_DIVIDENDS)
    of_common = amounts.filter(~is_of_any).group_by("cik").agg(since=pl.col("seq").min())
    return (
        amounts.join(of_common, on="cik", how="left", maintain_order="left")
        .filter(~is_of_any | pl.col("since").is_not_null())
        .select(
            "cik",
            seq_paid=pl.when(is_of_any).then(pl.max_horizontal("seq", "since")).otherwise("seq"),
            first=pl.coalesce("start", "end"),
            last="end",
        )
    )


def _rest_of_year(stated: pl.DataFrame) -> pl.DataFrame:
    """The rest of a year before and after a part that has all dividends of the year, per share and in money."""
    years = stated.filter(OF_A_PART.where((pl.col("value") > 0) & length.is_between(*YEAR)))
    parts = stated.filter(length < YEAR[0]).rename({"start": "first", "end": "last"})
    both = years.join(parts, on=["cik", "tag", "value"], suffix="_part").filter(
        pl.col("seq_part") <= pl.col("seq"), is_inside
    )
    is_per_share = pl.col("tag").is_in([DECLARED_PER_SHARE, PAID_PER_SHARE])
    whole = (
        both.filter(is_per_share)
        .join(both.filter(~is_per_share), on=[*PERIOD, "first", "last"], how="semi")
        .sort(*PERIOD, "fact", "fact_part")
        .with_columns(
            rule=pl.lit(OF_A_PART.id), fact=pl.concat_list("fact", "fact_part"), coefficient=pl.lit([1.0, -1.0])
        )
    )
    rests = [
        whole.with_columns(end=pl.col("first").dt.offset_by("-1d")),
        whole.with_columns(start=pl.col("last").dt.offset_by("1d")),
    ]
    return pl.concat(rests).filter(length >= QUARTER[0]).select(*PERIOD, "rule", "fact", "coefficient")


def _between(proved: pl.DataFrame, periods: pl.DataFrame, payers: pl.DataFrame, regimes: pl.DataFrame) -> pl.DataFrame:
    """Periods between two periods proved to have no dividends, of filers without any dividend and without a break."""
    # after a break (another company, other standards) only stated figures show which periods belong together
    unbroken = regimes.group_by("cik").agg(pl.col("regime").n_unique()).filter(pl.col("regime") == 1)
    one = proved.join(unbroken, on="cik", how="semi").select("cik", "seq", "fact", first="start", last="end")
    pairs = periods.join(proved, on=SPAN, how="anti").join(one, on="cik")
    before = (pl.col("first") < pl.col("start")) & (pl.col("last") >= pl.col("start").dt.offset_by(f"-{SAME_DAYS}"))
    after = (pl.col("last") > pl.col("end")) & (pl.col("first") <= pl.col("end").dt.offset_by(SAME_DAYS))
    first_proved, then_proved = (
        pairs.filter(is_beside)
        .sort(*SPAN, "seq", "first", "last", pl.col("fact").list.first())
        .unique(SPAN, keep="first", maintain_order=True)
        for is_beside in (before, after)
    )
    return (
        first_proved.join(then_proved, on=SPAN, suffix="_after")
        .with_columns(seq=pl.max_horizontal("seq", "seq_after"), fact=pl.concat_list("fact", "fact_after"))
        .join(payers, on="cik", how="left")
        .filter(BETWEEN.where(~_HAS_PAID))
        .with_columns(coefficient=pl.lit(0.0).repeat_by(pl.col("fact").list.len()), rule=pl.lit(BETWEEN.id))
        .select(proved.columns)
    )


def _of_retained_earnings(facts: pl.DataFrame, payers: pl.DataFrame) -> pl.DataFrame:
    """Periods in which retained earnings changed exactly by net income; `since`: the start of the income that shows it.

    For a filer that has stated a dividend, this proves nothing if retained earnings are negative.
    """
    stated = durations(facts, INCOME)
    others = durations(facts, (*proving.PREFERRED_DIVIDENDS, *proving.RETIRED)).filter(pl.col("value") != 0)
    after_others = stated.join(others, on=PERIOD, suffix="_less", maintain_order="left_right")
    rest = less_beginning(stated, ["tag"], "tag", "value", "fact")
    difference = pl.concat([after_others.with_columns(since="start"), rest], how="diagonal").with_columns(
        value=pl.col("value") - pl.col("value_less"),
        fact=pl.concat_list("fact", "fact_less"),
        coefficient=pl.lit([1.0, -1.0]),
    )
    sums, of_income = pl.col("closing") - pl.col("opening") - pl.col("value"), pl.col("fact").list
    flows = pl.concat([_alone(stated).with_columns(since="start"), difference], how="diagonal")
    return (
        _with_balances(flows.filter(pl.col("value") != 0), facts, proving.RETAINED_EARNINGS)
        .filter(RETAINED_EARNINGS.where(is_zero_within_rounding(sums, "opening", "closing", "value")))
        .sort(*PERIOD, sums.abs(), of_income.len(), of_income.first(), of_income.last(), "opening_fact", "closing_fact")
        .unique(PERIOD, keep="first", maintain_order=True)
        .join(payers, on="cik", how="left", maintain_order="left")
        .filter(~_HAS_PAID | (pl.min_horizontal("opening", "closing") >= 0))
        .select(
            *PERIOD,
            "since",
            rule=pl.lit(RETAINED_EARNINGS.id),
            fact=pl.concat_list(pl.concat_list("closing_fact", "opening_fact"), "fact"),
            coefficient=pl.concat_list(pl.lit([1.0, -1.0]), pl.col("coefficient").list.eval(-pl.element())),
        )
    )


def _with_balances(periods: pl.DataFrame, facts: pl.DataFrame, element: str) -> pl.DataFrame:
    """Add to periods the balances of an element at their beginning and end: `opening`, `closing`, and their facts."""
    balances = instants(facts, (element,))
    opening = balances.select("cik", day="end", opening="value", opening_fact="fact", opening_of="seq")
    closing = balances.select("cik", "end", "seq", closing="value", closing_fact="fact")
    return (
        periods.join(closing, on=["cik", "seq", "end"], maintain_order="left_right")
        .with_columns(day=pl.col("start").dt.offset_by("-1d"))
        .join(opening, on=["cik", "day"], maintain_order="left_right")
        .filter(pl.col("opening_of") <= pl.col("seq"))
        # the opening balance as last stated, by the filing itself if it states it
        .filter(pl.col("opening_of") == pl.col("opening_of").max().over(PERIOD))
    )


def _of_equity(facts: pl.DataFrame, payers: pl.DataFrame) -> pl.DataFrame:
    """Periods in which the stated changes of equity, without dividends, are the whole change of equity."""
    changes = (
        durations(facts, EQUITY_LINES["tag"])
        .filter(pl.col("value") != 0)
        .join(EQUITY_LINES, on="tag", maintain_order="left")
        .sort(*PERIOD, "line", "place")
        .unique([*PERIOD, "line"], keep="first", maintain_order=True)
        .group_by(PERIOD, maintain_order=True)
        .agg(sum=(pl.col("sign") * pl.col("value")).sum(), fact="fact", coefficient=-pl.col("sign"))
    )
    rest = pl.col("closing") - pl.col("opening") - pl.col("sum")
    return (
        _with_balances(changes, facts, proving.EQUITY)
        .join(payers, on="cik", how="left", maintain_order="left")
        .filter(CHANGES_OF_EQUITY.where(~_HAS_PAID & is_zero_within_rounding(rest, "opening", "closing")))
        .unique(PERIOD, keep="first", maintain_order=True)
        .select(
            *PERIOD,
            rule=pl.lit(CHANGES_OF_EQUITY.id),
            fact=pl.concat_list("closing_fact", "opening_fact", "fact"),
            coefficient=pl.concat_list(pl.lit([1.0, -1.0]), "coefficient"),
        )
    )


def _of_financing(facts: pl.DataFrame, payers: pl.DataFrame) -> pl.DataFrame:
    """Periods in which the stated lines, without dividends, are all financing activities."""
    rest = pl.col("rest")
    payable = instants(facts, proving.DIVIDENDS_PAYABLE).filter(pl.col("value") != 0)
    footing = (
        footings(facts, SECTIONS[FINANCING], _LINES)
        .join(payable, on=["cik", "seq", "end"], how="anti", maintain_order="left")
        .join(payers, on="cik", how="left", maintain_order="left")
        .filter(
            FINANCING_ACTIVITIES.where((rest.abs() < EXACT) | (~_HAS_PAID & is_zero_within_rounding(rest, "total")))
        )
    )
    then = footing.select("cik", next="seq", next_start="start", next_end="end")
    followed = (
        footing.filter(_HAS_PAID)
        .join(then, on="cik", maintain_order="left_right")
        .filter((pl.col("next_end") - pl.col("end")).dt.total_days() >= QUARTER[0])
        .filter(pl.col("next_start") <= pl.col("end").dt.offset_by(SAME_DAYS))
        .with_columns(seq=pl.max_horizontal("seq", "next"))
        .sort(PERIOD, maintain_order=True)
    )
    known = pl.concat([footing.filter(~_HAS_PAID), followed], how="diagonal")
    return known.select(*PERIOD, "fact", "coefficient", rule=pl.lit(FINANCING_ACTIVITIES.id))


_HAS_PAID = (pl.col("first_paid") <= pl.col("seq")).fill_null(value=False)


def _alone(rows: pl.DataFrame) -> pl.DataFrame:
    """Each fact as a sum of one fact: PERIOD, `value`, `fact`, `coefficient`."""
    return rows.select(*PERIOD, "value", fact=pl.concat_list("fact"), coefficient=pl.lit([1.0]))
