"""Dividend rates: quarters whose dividends declared, in money, are those of a rate that the filer states elsewhere.

Belongs here: dividends declared over shares against rates per share of other quarters. Does not: dividends that a
filing dates by day (dated_dividends), periods without dividends (no_dividends), wrong rates (corrections.dividends).
"""

from functools import reduce

import polars as pl

from pipelines.normalize.derived.stated import FILING, PERIOD, SAME_DAYS, durations
from pipelines.normalize.rule import Rule

SAME = 0.02
"""Dividends declared are those of a rate if, over shares, they differ from it by less than this share of what the filer
usually has: rates are hardly ever changed by less. Measured on 228 companies: of 229 changes of a rate one is smaller,
Kellanova's from 0.59 to 0.60."""
APART = 1.9
"""Dividends per share are contradicted by dividends declared over shares that differ by such a factor: a special
dividend is missing, or alone."""
COARSEST = 0.04
"""... if they are rounded to less than this share of themselves."""
USUAL = (0.95, 1.06)
"""Dividends declared over rates and shares in the middle of the filer's other quarters: dividends on unvested shares
are declared, too."""
FEWEST, MOSTLY = 3, 0.8
"""Quarters that have to show what is usual, and the share of them that does."""
BETWEEN = 0.05
"""Between two quarters of the same rate dividends declared are those of this rate if they differ by less than this
share: another rate would be two changes within half a year, and dividends of a year on unvested shares are in one."""
SHORTEST, LONGEST = 60, 120
"""Days of a quarter: some have 16 or 17 weeks."""
YEAR = (340, 380)

CONFIRMED = Rule(
    "dividends-per-share.rate-confirmed-by-declared",
    "A quarter whose dividends per share no filing states has those of the nearest quarter before or after that states "
    f"them, if dividends declared over shares are, as usual, that rate (within {SAME:.0%}; between two quarters of "
    f"the same rate, {BETWEEN:.0%}).",
    "Taxonomy definitions: dividends per share times the shares are the dividends; ASC 505-10-50-2",
    "compose",
)
WITH_SPECIAL = Rule(
    "dividends-per-share.regular-and-special",
    "If filings state two amounts per share of one quarter, and dividends declared over shares are their sum and "
    "neither of them, one is a special dividend, and the quarter has both.",
    CONFIRMED.source,
    "compose",
)
REST_OF_YEAR = Rule(
    "dividends-per-share.year-less-three-quarters",
    "A quarter is the year less the other three, which are stated or have a confirmed rate, if dividends declared in "
    f"it over shares are that rest (within {SAME:.0%}).",
    CONFIRMED.source,
    "compose",
)
NOT_AS_DECLARED = Rule(
    "dividends-per-share.not-as-usually-declared",
    "Dividends per share of a quarter are left out if dividends declared over shares, usually equal, differ by a "
    f"factor of {APART:g}: a special dividend is missing, or alone.",
    CONFIRMED.source,
    "withhold",
)
RULES = (CONFIRMED, WITH_SPECIAL, REST_OF_YEAR, NOT_AS_DECLARED)

_PER_SHARE = ("CommonStockDividendsPerShareDeclared", "CommonStockDividendsPerShareCashPaid")
_DECLARED = ("DividendsCommonStockCash", "DividendsCommonStock", "DividendsCash")
_QUARTER = ["cik", "start", "end"]


def amounts(facts: pl.DataFrame, sound: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Dividends per share of quarters that dividends declared prove, and those that they contradict.

    Args:
        facts: typed facts in filing order.
        sound: the vintages that count (frames.Sound): dividends per share, average shares.

    Returns:
        PERIOD, `value`, `rule`, `fact` and `coefficient` (lists); one row a quarter, in the first filing that proves
            it.
        PERIOD, `rule`: the stated amounts that are contradicted.
    """
    every = durations(facts, _PER_SHARE).filter(pl.col("value") > 0)
    as_filed = sound.filter((pl.col("concept") == "dividends_per_share") & (pl.col("repair") == 1))
    per_share = every.join(as_filed.select(*PERIOD, "value"), on=[*PERIOD, "value"], how="semi")
    per_share = per_share.sort(*PERIOD, "tag").unique(PERIOD, keep="last", maintain_order=True)
    rates = per_share.filter(_days().is_between(SHORTEST, LONGEST))
    declared = _with_usual(_declared(facts, sound), rates)
    special = _of_two(declared, every)
    parts = rates.join(special.select(*_QUARTER, "rule", of="seq"), on=_QUARTER).filter(pl.col("seq") >= pl.col("of"))
    against = pl.concat([parts.select(*PERIOD, "rule"), _contradicted(declared, rates)])
    against = against.unique(PERIOD, keep="first", maintain_order=True)
    rates = rates.join(against, on=PERIOD, how="anti")
    stated = rates.group_by(_QUARTER).agg(pl.col("seq").min())
    confirmed = _of_neighbours(declared, rates)
    known = pl.concat(
        [
            rates.select(*PERIOD, "value", legs=pl.concat_list("fact")),
            confirmed.select(*PERIOD, "value", legs=pl.col("fact").list.slice(0, 1)),
        ]
    ).sort(PERIOD)
    rest = _of_year(declared, per_share.filter(_days().is_between(*YEAR)), known)
    rest = rest.join(special, on=_QUARTER, how="anti")
    found = pl.concat([special, confirmed, rest])
    found = (
        found.join(stated, on=_QUARTER, how="left", suffix="_stated")
        .filter((pl.col("seq_stated") > pl.col("seq")).fill_null(value=True))
        .sort(*_QUARTER, "seq", "rule")
        .unique(_QUARTER, keep="first", maintain_order=True)
        .select(*PERIOD, "value", "rule", "fact", "coefficient")
    )
    return found, against


def _contradicted(declared: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """The stated amounts of quarters that are clearly more or less than was declared, as known with their filing."""
    so_far = declared.select("cik", "start", "end", "a_share", "usual", of="seq").drop_nulls("usual")
    times = pl.col("a_share") / pl.col("usual") / pl.col("value")
    return (
        rates.join(so_far, on=_QUARTER)
        .filter(pl.col("of") <= pl.col("seq"))
        .sort(*PERIOD, "of")
        .unique(PERIOD, keep="last", maintain_order=True)
        .filter((times > APART) | (times < 1 / APART))
        .select(*PERIOD, rule=pl.lit(NOT_AS_DECLARED.id))
    )


def _declared(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Dividends declared and average shares of each quarter, as stated or by difference of two years to date.

    Returns:
        PERIOD, `declared`, `shares`, `proof` (list of facts), `off` (by how much rounding may change `declared`, as a
        share of it).
    """
    unit = sound.filter(pl.col("concept") == "net_income_parent").group_by(FILING).agg(unit=pl.col("grain").min())
    money = durations(facts, _DECLARED).filter(pl.col("value") != 0).join(unit, on=FILING)
    order = pl.col("tag").replace_strict({tag: place for place, tag in enumerate(_DECLARED)}, return_dtype=pl.Int8)
    money = money.sort(*PERIOD, order).unique(PERIOD, keep="first", maintain_order=True)
    average = sound.filter((pl.col("concept") == "shares_basic") & (pl.col("repair") == 1))
    both = money.join(average.select(*PERIOD, average="value"), on=PERIOD).select(
        *PERIOD,
        days=_days() + 1,
        declared=pl.col("value").abs(),
        shares="average",
        proof=pl.concat_list("fact"),
        unit="unit",
    )
    longer = both.sort("seq", "end")
    shorter = both.select(
        "cik", "start", *(pl.col(name).alias(f"{name}_less") for name in both.columns[1:] if name != "start")
    )
    less = (
        longer.join(shorter, on=["cik", "start"])
        .filter(pl.col("seq_less") <= pl.col("seq"))
        .with_columns(rest=pl.col("days") - pl.col("days_less"))
        .filter((pl.col("rest") - 1).is_between(SHORTEST, LONGEST))
        .sort(*PERIOD, "seq_less", "end_less")
        .unique([*PERIOD, "end_less"], keep="last", maintain_order=True)
        .select(
            "cik",
            "seq",
            "end",
            start=pl.col("end_less").dt.offset_by("1d"),
            declared=pl.col("declared") - pl.col("declared_less"),
            shares=(pl.col("shares") * pl.col("days") - pl.col("shares_less") * pl.col("days_less")) / pl.col("rest"),
            proof=pl.concat_list("proof", "proof_less"),
            unit=pl.max_horizontal("unit", "unit_less"),
        )
    )
    found = pl.concat([both.filter((pl.col("days") - 1).is_between(SHORTEST, LONGEST)), less], how="diagonal")
    return (
        found.filter((pl.col("declared") > 0) & (pl.col("shares") > 0))
        .with_columns(off=pl.col("unit") / 2 / pl.col("declared"))
        .filter(pl.col("off") <= COARSEST / 2)
        .unique(PERIOD, keep="first", maintain_order=True)
        .select(*PERIOD, "declared", "shares", "proof", "off")
    )


def _with_usual(declared: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """The quarters with what is usual for the filer so far: `a_share` (dividends declared over shares, by the usual
    quotient)."""
    quotients = declared.join(rates.select(*_QUARTER, "value", of="seq"), on=_QUARTER).select(
        *_QUARTER,
        "off",
        of=pl.max_horizontal("seq", "of"),
        quotient=pl.col("declared") / pl.col("shares") / pl.col("value"),
    )
    quotients = quotients.sort(*_QUARTER, "of", "quotient").unique(_QUARTER, keep="first", maintain_order=True)
    so_far = (
        declared.select("cik", "seq")
        .unique()
        .join(quotients.select("cik", "of", "quotient", usual_off="off"), on="cik")
    )
    so_far = so_far.filter(pl.col("of") <= pl.col("seq")).with_columns(
        usual=pl.col("quotient").median().over("cik", "seq")
    )
    usual = (
        so_far.group_by("cik", "seq")
        .agg(
            pl.col("usual").first(),
            number=pl.len(),
            near=((pl.col("quotient") / pl.col("usual") - 1).abs() <= SAME + pl.col("usual_off")).mean(),
        )
        .filter((pl.col("number") >= FEWEST) & (pl.col("near") >= MOSTLY) & pl.col("usual").is_between(*USUAL))
    )
    return (
        declared.sort("seq")
        .join_asof(usual.select("cik", "seq", "usual").sort("seq"), on="seq", by="cik", check_sortedness=False)
        .with_columns(a_share=pl.col("declared") / pl.col("shares"))
    )


def _fits(amount: pl.Expr, share: float = SAME) -> pl.Expr:
    """Whether dividends declared over shares are an amount per share, within a share of it."""
    return (pl.col("a_share") / pl.col("usual") / amount - 1).abs() <= share + pl.col("off")


def _of_neighbours(declared: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """The quarters that have the rate of the nearest one before or after."""
    near = rates.select("cik", value="value", fact="fact", of="seq", first="start", last="end")
    pairs = declared.join(near, on="cik").with_columns(
        is_before=pl.col("last") <= pl.col("start").dt.offset_by(SAME_DAYS),
        is_after=pl.col("first") >= pl.col("end").dt.offset_by(f"-{SAME_DAYS}"),
    )
    before = pairs.filter(pl.col("is_before") & (pl.col("of") <= pl.col("seq")))
    before = before.sort(*PERIOD, "last", "of", "fact").unique(PERIOD, keep="last", maintain_order=True)
    after = pairs.filter("is_after").with_columns(seq=pl.max_horizontal("seq", "of"))
    after = after.sort(*PERIOD, "first", "of", "fact").unique(PERIOD, keep="first", maintain_order=True)
    near = _proved(pl.concat([before, after]).filter(_fits(pl.col("value"))), CONFIRMED, [pl.col("fact")])
    both = before.join(after.select(*_QUARTER, "value", later="seq"), on=[*_QUARTER, "value"])
    both = both.filter(_fits(pl.col("value"), BETWEEN)).with_columns(seq=pl.max_horizontal("seq", "later"))
    both = _proved(both, CONFIRMED, [pl.col("fact")]).join(near, on=_QUARTER, how="anti")
    return pl.concat([near, both])


def _of_two(declared: pl.DataFrame, every: pl.DataFrame) -> pl.DataFrame:
    """The quarters whose dividends are the sum of two stated amounts."""
    one = every.select(*_QUARTER, "value", "fact", "tag", of="seq").filter(_days().is_between(SHORTEST, LONGEST))
    one = one.sort(*_QUARTER, "of", "fact").unique([*_QUARTER, "value"], keep="first", maintain_order=True)
    two = one.join(one, on=[*_QUARTER, "tag"], suffix="_special").filter(pl.col("value") < pl.col("value_special"))
    pairs = declared.join(two, on=_QUARTER).with_columns(seq=pl.max_horizontal("seq", "of", "of_special"))
    both = pl.col("value") + pl.col("value_special")
    pairs = pairs.filter(_fits(both) & ~_fits(pl.col("value")) & ~_fits(pl.col("value_special")))
    return _proved(pairs.with_columns(value=both), WITH_SPECIAL, [pl.col("fact"), pl.col("fact_special")])


def _of_year(declared: pl.DataFrame, years: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The quarters that are a year less its other three quarters."""
    quarters = known.sort(*_QUARTER, "seq", pl.col("legs").list.first()).unique(
        _QUARTER, keep="first", maintain_order=True
    )
    inside = (
        declared.join(
            years.select("cik", year="value", of="seq", first="start", last="end", year_fact="fact"), on="cik"
        )
        .filter((pl.col("start") >= pl.col("first")) & (pl.col("end") <= pl.col("last")))
        .join(quarters.rename({"start": "other", "end": "other_end", "seq": "other_seq", "value": "rate"}), on="cik")
        .filter((pl.col("other") >= pl.col("first")) & (pl.col("other_end") <= pl.col("last")))
        .filter((pl.col("other_end") < pl.col("start")) | (pl.col("other") > pl.col("end")))
    )
    inside = inside.sort(*PERIOD, "of", "other")
    days = (pl.col("other_end") - pl.col("other")).dt.total_days() + 1
    of_three = inside.group_by(*PERIOD, "declared", "shares", "off", "usual", "a_share", "of", "year", "year_fact").agg(
        pl.col("rate").sum(),
        pl.col("other_seq").max(),
        pl.col("legs").list.explode(keep_nulls=False, empty_as_null=False),
        number=pl.len(),
        days=days.sum() + (pl.col("end") - pl.col("start")).dt.total_days().first() + 1,
        length=(pl.col("last") - pl.col("first")).dt.total_days().first() + 1,
        proof=pl.col("proof").first(),
    )
    whole = of_three.filter((pl.col("number") == 3) & (pl.col("days") == pl.col("length"))).with_columns(
        value=(pl.col("year") - pl.col("rate")).round(6), seq=pl.max_horizontal("seq", "of", "other_seq")
    )
    return _proved(whole.filter(_fits(pl.col("value"))), REST_OF_YEAR, [pl.col("year_fact")], "legs")


def _proved(rows: pl.DataFrame, rule: Rule, facts: list[pl.Expr], less: str | None = None) -> pl.DataFrame:
    """PERIOD, `value`, `rule` and the facts; dividends declared prove the value, and are no part of it."""
    added = reduce(lambda lists, one: lists.list.concat(one), (pl.concat_list(one) for one in facts))
    weights = [pl.lit([1.0] * len(facts))]
    if less:
        added = added.list.concat(pl.col(less))
        weights.append(pl.lit(-1.0).repeat_by(pl.col(less).list.len()))
    weights.append(pl.lit(0.0).repeat_by(pl.col("proof").list.len()))
    return (
        rows.sort(*PERIOD)
        .select(
            *PERIOD,
            "value",
            rule=pl.lit(rule.id),
            fact=added.list.concat(pl.col("proof")),
            coefficient=pl.concat_list(weights),
        )
        .sort(*_QUARTER, "seq", "value", pl.col("fact").list.first())
        .unique(_QUARTER, keep="first", maintain_order=True)
    )


def _days() -> pl.Expr:
    return (pl.col("end") - pl.col("start")).dt.total_days()
