"""Dated dividends: the dividends that one filing dates, where they are all that was paid in a period.

Belongs here: dividends per share of a day or a quarter, against dividends paid. Does not: periods without dividends
(no_dividends), dividends of a period that a filing states as such (elements).
"""

import polars as pl

from pipelines.normalize.derived.stated import PERIOD, QUARTER, YEAR, durations, instants, length
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.rule import Rule

AS_PAID = 0.03
"""Dated dividends times shares are all that was paid if they differ by less than this share; one of twelve monthly
dividends more or less would be a larger difference."""
DIGITS = 6
"""Decimals to which sums of amounts per share are compared, because of binary fractions."""

AS_DATED = Rule(
    "dividends-per-share.dated-and-paid",
    "If the dividends per share that one filing dates within a period, on days or in quarters, times shares are the "
    f"dividends paid in it (within {AS_PAID:.0%}), they are all: each part has those dated in it, "
    "if no others were declared in it.",
    "ASC 505-10-50-2: dividends per share are disclosed for each period; taxonomy definitions: dividends per share "
    "times the shares are the dividends",
    "compose",
)
AS_DECLARED = Rule(
    "dividends-per-share.dated-declarations",
    "If the dividends that filings date as declared on days of a year are those paid in it, each part of the year has "
    "those declared in it; if the filer pays them in another part, payments are not added to declarations.",
    "ASC 505-10-50-2; taxonomy definition of dividends declared: the dividends of a period are those declared in it",
    "compose",
)
RULES = (AS_DATED, AS_DECLARED)

_PAID_PER_SHARE, _DECLARED_PER_SHARE = "CommonStockDividendsPerShareCashPaid", "CommonStockDividendsPerShareDeclared"
_PAID = ("PaymentsOfDividendsCommonStock", "PaymentsOfDividends")


def amounts(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Dividends per share of periods whose dividends a filing dates.

    Args:
        facts: typed facts in filing order.
        sound: the vintages that count (frames.Sound): average shares.

    Returns:
        PERIOD, `concept`, `value`, `rule`, `other_source` (paid by a filer that declares in another quarter), `fact`
        and `coefficient` (lists).
    """
    dated, declared = _dated(facts), _declared(facts)
    proved = _with_declared(_proved(facts, sound, dated), declared).select(
        *PERIOD, "proof", is_declared=pl.col("declared").eq(pl.col("value").round(DIGITS)).fill_null(value=False)
    )
    parts = _with_declared(_with_dated(_parts(facts, proved), dated), declared).with_columns(
        differs=pl.col("declared").fill_null(0.0) != pl.col("value").round(DIGITS)
    )
    # a filer that pays in one quarter what it declared in another one
    pays_later = parts.filter("is_declared", "differs").group_by("cik").agg(since=pl.col("seq").min())
    of_payment = parts.filter(~pl.col("is_declared") & (~pl.col("differs") | pl.col("declared").is_null()))
    of_payment = of_payment.join(pays_later, on="cik", how="left", maintain_order="left").with_columns(
        rule=pl.lit(AS_DATED.id), other_source=(pl.col("seq") >= pl.col("since")).fill_null(value=False)
    )
    of_declaration = parts.filter("is_declared").with_columns(
        value=pl.col("declared").fill_null(0.0), fact="days", rule=pl.lit(AS_DECLARED.id)
    )
    # dividends paid prove that there are no others, and are no part of the value
    weights = pl.lit(1.0).repeat_by(pl.col("fact").list.len())
    return (
        pl.concat([of_payment, of_declaration], how="diagonal")
        .with_columns(fact=pl.col("fact").fill_null(pl.lit([], pl.List(pl.UInt32))))
        .select(
            *PERIOD,
            "value",
            "rule",
            "other_source",
            concept=pl.lit("dividends_per_share", AMOUNT),
            fact=pl.concat_list("fact", "proof"),
            coefficient=pl.concat_list(weights, pl.lit([0.0])),
        )
        .sort(PERIOD)
    )


def _dated(facts: pl.DataFrame) -> pl.DataFrame:
    """Dividends paid per share of a day or a quarter: `cik`, `seq`, `value`, `fact`, `first`, `last` (days)."""
    of_days = instants(facts, (_PAID_PER_SHARE,)).with_columns(start="end")
    of_quarters = durations(facts, (_PAID_PER_SHARE,)).filter(length <= QUARTER[1])
    found = pl.concat([of_days, of_quarters], how="diagonal").filter(pl.col("value") > 0)
    return found.select("cik", "seq", "value", "fact", first="start", last="end")


def _declared(facts: pl.DataFrame) -> pl.DataFrame:
    """Dividends per share whose declaration has a day: `cik`, `of` (filing), `day`, `amount`, `day_fact`."""
    found = instants(facts, (_DECLARED_PER_SHARE,)).select("cik", of="seq", day="end", amount="value", day_fact="fact")
    return found.sort("cik", "of", "day_fact").unique(["cik", "day", "amount"], keep="first", maintain_order=True)


def _proved(facts: pl.DataFrame, sound: pl.DataFrame, dated: pl.DataFrame) -> pl.DataFrame:
    """The periods of which dated dividends times shares are all dividends paid (`proof`: the fact of these)."""
    paid = durations(facts, _PAID).filter((pl.col("value") > 0) & (length <= YEAR[1]))
    paid = paid.sort(*PERIOD, "tag").unique(PERIOD, keep="last", maintain_order=True)
    shares = sound.filter((pl.col("concept") == "shares_basic") & (pl.col("repair") == 1))
    periods = paid.select(*PERIOD, paid="value", proof="fact").join(
        shares.select(*PERIOD, shares="value"), on=PERIOD, maintain_order="left"
    )
    is_all = (pl.col("value") * pl.col("shares") / pl.col("paid") - 1).abs() <= AS_PAID
    # one amount that is stated of the whole period, too, has the dates of a part by mistake
    of_period = durations(facts, (_PAID_PER_SHARE, _DECLARED_PER_SHARE)).join(dated, on=["cik", "seq", "value"])
    return (
        _with_dated(periods, dated)
        .filter(is_all)
        .join(of_period, on=[*PERIOD, "value"], how="anti", maintain_order="left")
    )


def _parts(facts: pl.DataFrame, proved: pl.DataFrame) -> pl.DataFrame:
    """The periods of income within the proved ones, these included: PERIOD, `proof`, `is_declared`."""
    periods = durations(facts, proving.INCOME).filter(length >= QUARTER[0])
    ends = periods.select("cik", part_start="start", part_end="end").unique()
    return (
        proved.join(ends, on="cik", maintain_order="left")
        .filter((pl.col("part_start") >= pl.col("start")) & (pl.col("part_end") <= pl.col("end")))
        .select("cik", "seq", "proof", "is_declared", start="part_start", end="part_end")
        .unique(PERIOD, keep="first", maintain_order=True)
    )


def _with_dated(periods: pl.DataFrame, dated: pl.DataFrame) -> pl.DataFrame:
    """Periods with the sum and the facts of the dividends that are dated within each: `value`, `fact`."""
    inside = periods.join(dated, on=["cik", "seq"], maintain_order="left_right").filter(
        (pl.col("first") >= pl.col("start")) & (pl.col("last") <= pl.col("end"))
    )
    found = inside.group_by(PERIOD).agg("fact", pl.col("value").sum())
    return periods.join(found, on=PERIOD, how="left", maintain_order="left").with_columns(
        pl.col("value").fill_null(0.0)
    )


def _with_declared(periods: pl.DataFrame, declared: pl.DataFrame) -> pl.DataFrame:
    """Periods with the dividends whose declaration filings so far date within each: `declared`, `days` (facts)."""
    inside = periods.join(declared, on="cik", maintain_order="left_right").filter(
        (pl.col("of") <= pl.col("seq")) & pl.col("day").is_between(pl.col("start"), pl.col("end"))
    )
    found = inside.group_by(PERIOD).agg(declared=pl.col("amount").sum().round(DIGITS), days=pl.col("day_fact"))
    return periods.join(found, on=PERIOD, how="left", maintain_order="left")
