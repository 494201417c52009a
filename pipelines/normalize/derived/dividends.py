"""Dividends per share that no filing states for a period, derived from dated dividends or rates of other quarters.

Belongs here: dated dividends against dividends paid, rates against dividends declared. Does not: periods without
dividends (no_dividends), dividends per share that filings state (elements), wrong rates (corrections).
"""

import polars as pl

from pipelines.normalize.derived.stated import (
    FILING,
    PERIOD,
    QUARTER,
    SAME_DAYS,
    SPAN,
    YEAR,
    as_filed,
    durations,
    instants,
    is_inside,
    length,
    less_beginning,
    not_yet_stated,
)
from pipelines.normalize.elements import AMOUNT, proving
from pipelines.normalize.elements.proving import DECLARED_PER_SHARE, PAID, PAID_PER_SHARE
from pipelines.normalize.rule import Rule

DIGITS = 6
"""Decimals to which sums of amounts per share are compared, because binary fractions are not exact."""

SAME = 0.02
"""Dividends declared confirm a rate if, over shares and the filer's usual quotient, they differ from it by at most this
share, apart from rounding; companies hardly ever change a rate by less. Measured on 228 companies: of 229 changes of a
rate one is smaller, Kellanova's from 0.59 to 0.60. Dated dividends times shares are all dividends paid if they differ
by at most as much; one of twelve monthly dividends more or less would be a larger difference."""
APART = 1.9
"""Dividends declared over shares contradict dividends per share if they differ by more than this factor: a special
dividend is missing, or is stated alone."""
USUAL = (0.95, 1.1)
"""Bounds for the filer's median quotient of dividends declared over shares and its rates. It is not exactly 1, because
dividends are also declared on unvested shares, and on shares of a savings bank's employees that its average does not
count (Texas Community Bancshares 1.06 to 1.08)."""
LEAST_QUARTERS, LEAST_SHARE_NEAR = 3, 0.8
"""The least number of quarters that show the usual quotient, and the least share of quarters that are near it."""
BETWEEN = 0.05
"""Between two quarters with the same rate, dividends declared confirm this rate if they differ by at most this share. A
different rate would mean two changes within half a year, and one quarter may have all dividends of a year on unvested
shares."""

AS_DATED = Rule(
    "dividends-per-share.dated",
    "If the payments per share that a filing dates within a period, times shares, are all dividends paid in it "
    f"(within {SAME:.0%}), they, or dated declarations of the same sum, are the dividends per share of the period.",
    "ASC 505-10-50-2: dividends per share are disclosed for each period; taxonomy definitions: dividends per share "
    "times the shares are the dividends",
    "compose",
)
CONFIRMED = Rule(
    "dividends-per-share.confirmed-by-declared",
    "A quarter's dividends per share are a neighbouring quarter's rate, the sum of two amounts stated for it, or the "
    f"year less the other quarters, if dividends declared over shares, as usual, equal them (within {SAME:.0%}; "
    f"between equal rates {BETWEEN:.0%}).",
    "Taxonomy definitions: dividends per share times the shares are the dividends; ASC 505-10-50-2",
    "compose",
)
NOT_AS_DECLARED = Rule(
    "dividends-per-share.not-as-usually-declared",
    "Dividends per share of a quarter are left out if dividends declared over shares, which usually equal them, "
    f"differ by a factor of more than {APART:g}: a special dividend is missing, or is stated alone.",
    CONFIRMED.source,
    "withhold",
)

_DECLARED = ("DividendsCommonStockCash", "DividendsCommonStock", "DividendsCash")
_CONCEPT = pl.lit("dividends_per_share", AMOUNT)


def dated(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Derive dividends per share of a period from the dividends that filings date within it.

    Args:
        facts: of derived.stated.stated.
        sound: the vintages that count (frames.Sound): average shares.

    Returns:
        PERIOD, `concept`, `value`, `rule`, `other_source` (paid by a filer that declares in another quarter), `fact`
        and `coefficient` (lists).
    """
    paid, declared = _dated_payments(facts), _dated_declarations(facts)
    is_equal = pl.col("declared").round(DIGITS) == pl.col("value").round(DIGITS)
    proved = _with_dated(_proved(facts, sound, paid), declared, ["cik"], "declared", "days").select(
        *PERIOD, "proof", is_declared=is_equal
    )
    with_paid = _with_dated(_parts(facts, proved), paid, FILING, "value", "fact")
    parts = _with_dated(with_paid, declared, ["cik"], "declared", "days")
    # a filer that pays a dividend in another quarter than it declares it
    pays_later = parts.filter("is_declared", ~is_equal).group_by("cik").agg(since=pl.col("seq").min())
    is_later = (pl.col("seq") >= pl.col("since")).fill_null(value=False)
    own = pl.when("is_declared").then("days").otherwise("fact").fill_null(pl.lit([], pl.List(pl.UInt32)))
    # dividends paid only prove that the dated ones are complete; they are no part of the value
    weights = pl.lit(1.0).repeat_by(own.list.len())
    return (
        parts.filter(pl.col("is_declared") | is_equal | pl.col("days").is_null())
        .join(pays_later, on="cik", how="left", maintain_order="left")
        .select(
            *PERIOD,
            rule=pl.lit(AS_DATED.id),
            other_source=~pl.col("is_declared") & is_later,
            value=pl.when("is_declared").then(pl.col("declared").round(DIGITS)).otherwise("value"),
            concept=_CONCEPT,
            fact=pl.concat_list(own, "proof"),
            coefficient=pl.concat_list(weights, pl.lit([0.0])),
        )
        .sort(PERIOD)
    )


def _dated_payments(facts: pl.DataFrame) -> pl.DataFrame:
    """Dividends paid per share on a day or in a quarter, by filing: the columns of _dated_declarations, and `seq`."""
    return (
        facts.filter(pl.col("tag") == PAID_PER_SHARE, pl.col("value") > 0)
        .with_columns(start=pl.coalesce("start", "end"))
        .filter(length <= QUARTER[1])
        .select("cik", "seq", of="seq", amount="value", of_fact="fact", first="start", last="end")
    )


def _dated_declarations(facts: pl.DataFrame) -> pl.DataFrame:
    """Dividends per share declared on a day: `cik`, `of` (filing), `amount`, `of_fact`, `first`, `last`."""
    return (
        instants(facts, (DECLARED_PER_SHARE,))
        .select("cik", of="seq", amount="value", of_fact="fact", first="end", last="end")
        .sort("cik", "of", "of_fact")
        .unique(["cik", "last", "amount"], keep="first", maintain_order=True)
    )


def _proved(facts: pl.DataFrame, sound: pl.DataFrame, dated: pl.DataFrame) -> pl.DataFrame:
    """Periods in which dated dividends times shares equal all dividends paid (`proof`: the fact of dividends paid)."""
    paid = (
        durations(facts, PAID)
        .filter((pl.col("value") > 0) & (length <= YEAR[1]))
        .sort(*PERIOD, "tag")
        .unique(PERIOD, keep="last", maintain_order=True)
        .select(*PERIOD, paid="value", proof="fact")
        .join(as_filed(sound, "shares_basic", "shares"), on=PERIOD, maintain_order="left")
    )
    is_all = (pl.col("value") * pl.col("shares") / pl.col("paid") - 1).abs() <= SAME
    # an amount that is also stated for the whole period has the dates of a part by mistake
    of_period = durations(facts, (DECLARED_PER_SHARE, PAID_PER_SHARE)).join(
        dated.select("cik", "seq", value="amount"), on=["cik", "seq", "value"]
    )
    return (
        _with_dated(paid, dated, FILING, "value", "fact")
        .filter(AS_DATED.where(is_all))
        .join(of_period, on=[*PERIOD, "value"], how="anti", maintain_order="left")
    )


def _parts(facts: pl.DataFrame, proved: pl.DataFrame) -> pl.DataFrame:
    """The periods with income within each proved period, which may be the same: PERIOD, `proof`, `is_declared`."""
    ends = (
        durations(facts, proving.INCOME)
        .filter(length >= QUARTER[0])
        .select("cik", part_start="start", part_end="end")
        .unique()
    )
    return (
        proved.join(ends, on="cik", maintain_order="left")
        .filter((pl.col("part_start") >= pl.col("start")) & (pl.col("part_end") <= pl.col("end")))
        .select("cik", "seq", "proof", "is_declared", start="part_start", end="part_end")
        .unique(PERIOD, keep="first", maintain_order=True)
    )


def _with_dated(periods: pl.DataFrame, dated: pl.DataFrame, of: list[str], name: str, of_facts: str) -> pl.DataFrame:
    """Add to each period the sum and the facts of the dividends that filings so far date within it.

    Args:
        periods: the periods.
        dated: payments or declarations.
        of: FILING to count only dividends that the period's own filing dates, otherwise the company.
        name: the column of the sum; 0 without dividends.
        of_facts: the column of the facts; null without dividends.
    """
    found = (
        periods.join(dated, on=of, maintain_order="left_right")
        .filter((pl.col("of") <= pl.col("seq")) & is_inside)
        .group_by(PERIOD)
        .agg(pl.col("amount").sum().alias(name), pl.col("of_fact").alias(of_facts))
    )
    return periods.join(found, on=PERIOD, how="left", maintain_order="left").with_columns(pl.col(name).fill_null(0.0))


def confirmed_rates(facts: pl.DataFrame, sound: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Find dividends per share of quarters that dividends declared confirm, and stated ones that they contradict.

    Args:
        facts: of derived.stated.stated.
        sound: the vintages that count (frames.Sound): dividends per share, average shares.

    Returns:
        PERIOD, `concept`, `value`, `rule`, `fact` and `coefficient` (lists); one row a quarter, in the first filing
            that proves it.
        PERIOD, `concept`, `rule`: the stated amounts that dividends declared contradict.
    """
    every = durations(facts, (DECLARED_PER_SHARE, PAID_PER_SHARE)).filter(pl.col("value") > 0)
    per_share = (
        every.join(as_filed(sound, "dividends_per_share", "value"), on=[*PERIOD, "value"], how="semi")
        .sort(*PERIOD, "tag")
        .unique(PERIOD, keep="last", maintain_order=True)
    )
    rates = per_share.filter(length.is_between(*QUARTER))
    declared = _with_usual(_declared(facts, sound), rates)
    special = _confirmed(_of_two(declared, every))
    parts = rates.join(special.select(*SPAN, of="seq"), on=SPAN).filter(pl.col("seq") >= pl.col("of"))
    against = (
        pl.concat([parts.select(PERIOD), _contradicted(declared, rates)])
        .unique(maintain_order=True)
        .with_columns(concept=_CONCEPT, rule=pl.lit(NOT_AS_DECLARED.id))
        .filter(NOT_AS_DECLARED.where(pl.lit(value=True)))
    )
    rates = rates.join(against, on=PERIOD, how="anti")
    confirmed = _confirmed(_of_neighbours(declared, rates))
    known = [
        rates.select(*PERIOD, "value", legs=pl.concat_list("fact")),
        confirmed.select(*PERIOD, "value", legs=pl.col("fact").list.slice(0, 1)),
    ]
    rest = _confirmed(_of_year(declared, per_share.filter(length.is_between(*YEAR)), pl.concat(known)))
    found = (
        not_yet_stated(pl.concat([confirmed, special, rest]), rates, SPAN)
        .sort(*SPAN, "seq", maintain_order=True)
        .unique(SPAN, keep="first", maintain_order=True)
        .select(*PERIOD, "value", "rule", "fact", "coefficient", concept=_CONCEPT)
    )
    return found, against


def _contradicted(declared: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """Stated amounts of quarters that differ clearly (APART) from dividends declared over shares as known by then."""
    times = pl.col("a_share") / pl.col("value")
    return (
        rates.join(declared.select(*SPAN, "a_share", of="seq").drop_nulls("a_share"), on=SPAN)
        .filter(pl.col("of") <= pl.col("seq"))
        .sort(*PERIOD, "of")
        .unique(PERIOD, keep="last", maintain_order=True)
        .filter(~times.is_between(1 / APART, APART))
        .select(PERIOD)
    )


def _declared(facts: pl.DataFrame, sound: pl.DataFrame) -> pl.DataFrame:
    """Dividends declared over average shares of each quarter, as stated or as the difference of two periods.

    Returns:
        PERIOD, `a_share`, `proof` (list of facts), `off` (by how much rounding may change it, as a share of it).
    """
    unit = sound.filter(pl.col("concept") == "net_income_parent").group_by(FILING).agg(unit=pl.col("grain").min())
    both = (
        durations(facts, _DECLARED)
        .filter(pl.col("value") != 0)
        .join(unit, on=FILING)
        .sort(*PERIOD, pl.col("tag").cast(pl.Enum(_DECLARED)))
        .unique(PERIOD, keep="first", maintain_order=True)
        .join(as_filed(sound, "shares_basic", "shares"), on=PERIOD)
        .with_columns(declared=pl.col("value").abs(), proof=pl.concat_list("fact"))
    )
    shares = pl.col("shares") * pl.col("days") - pl.col("shares_less") * pl.col("days_less")
    rest = less_beginning(both, [], "declared", "shares", "proof", "unit").with_columns(
        declared=pl.col("declared") - pl.col("declared_less"),
        shares=shares / pl.col("rest"),
        proof=pl.concat_list("proof", "proof_less"),
        unit=pl.max_horizontal("unit", "unit_less"),
    )
    return (
        pl.concat([both, rest], how="diagonal")
        .filter(length.is_between(*QUARTER) & (pl.col("declared") > 0) & (pl.col("shares") > 0))
        .with_columns(off=pl.col("unit") / 2 / pl.col("declared"))
        .filter(pl.col("off") <= SAME)
        .unique(PERIOD, keep="first", maintain_order=True)
        .select(*PERIOD, "proof", "off", a_share=pl.col("declared") / pl.col("shares"))
    )


def _with_usual(declared: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """Divide `a_share` of each quarter by the filer's usual quotient so far of dividends declared over rates."""
    quotients = (
        declared.join(rates.select(*SPAN, "value", of="seq"), on=SPAN)
        .with_columns(of=pl.max_horizontal("seq", "of"), quotient=pl.col("a_share") / pl.col("value"))
        .sort(*SPAN, "of", "quotient", "off")
        .unique(SPAN, keep="first", maintain_order=True)
        .select("cik", "of", "quotient", usual_off="off")
    )
    is_near = (pl.col("quotient") / pl.col("usual") - 1).abs() <= SAME + pl.col("usual_off")
    usual = (
        declared.select(FILING)
        .unique()
        .join(quotients, on="cik")
        .filter(pl.col("of") <= pl.col("seq"))
        .with_columns(usual=pl.col("quotient").median().over(FILING))
        .group_by(FILING)
        .agg(pl.col("usual").first(), number=pl.len(), near=is_near.mean())
        .filter(
            (pl.col("number") >= LEAST_QUARTERS)
            & (pl.col("near") >= LEAST_SHARE_NEAR)
            & pl.col("usual").is_between(*USUAL)
        )
    )
    return (
        declared.sort("seq", maintain_order=True)
        .join_asof(usual.select(*FILING, "usual").sort("seq"), on="seq", by="cik", check_sortedness=False)
        .with_columns(a_share=pl.col("a_share") / pl.col("usual"))
    )


def _fits(amount: pl.Expr, share: pl.Expr) -> pl.Expr:
    """Whether dividends declared over shares equal an amount per share, within a tolerance (a share of it)."""
    return (pl.col("a_share") / amount - 1).abs() <= share + pl.col("off")


def _of_neighbours(declared: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """Candidates: the rate of the nearest quarter before, of the nearest one after, and the rate that both share."""
    near = rates.select("cik", value="value", legs=pl.concat_list("fact"), of="seq", first="start", last="end")
    pairs = declared.join(near, on="cik")
    order = pl.col("legs").list.first()
    before = (
        pairs.filter(pl.col("last") <= pl.col("start").dt.offset_by(SAME_DAYS), pl.col("of") <= pl.col("seq"))
        .sort(*PERIOD, "last", "of", order)
        .unique(PERIOD, keep="last", maintain_order=True)
    )
    after = (
        pairs.filter(pl.col("first") >= pl.col("end").dt.offset_by(f"-{SAME_DAYS}"))
        # among equal statements of the rate, the newest amount declared comes first
        .with_columns(declared_in="seq", seq=pl.max_horizontal("seq", "of"))
        .sort(*PERIOD, "first", "of", order, -pl.col("declared_in"))
        .unique(PERIOD, keep="first", maintain_order=True)
    )
    both = before.join(after.select(*SPAN, "value", later="seq"), on=[*SPAN, "value"]).with_columns(
        seq=pl.max_horizontal("seq", "later"), within=BETWEEN
    )
    return pl.concat([before, after, both], how="diagonal")


def _of_two(declared: pl.DataFrame, every: pl.DataFrame) -> pl.DataFrame:
    """Candidates: sums of two amounts stated for one quarter, if neither alone equals dividends declared."""
    one = (
        every.select(*SPAN, "value", "fact", "tag", of="seq")
        .sort(*SPAN, "of", "fact")
        .unique([*SPAN, "value"], keep="first", maintain_order=True)
    )
    two = one.join(one, on=[*SPAN, "tag"], suffix="_special").filter(pl.col("value") < pl.col("value_special"))
    is_one = [_fits(pl.col(name), pl.lit(SAME)) for name in ("value", "value_special")]
    return (
        declared.join(two, on=SPAN)
        .filter(~is_one[0] & ~is_one[1])
        .with_columns(
            value=pl.col("value") + pl.col("value_special"),
            seq=pl.max_horizontal("seq", "of", "of_special"),
            legs=pl.concat_list("fact", "fact_special"),
        )
    )


def _of_year(declared: pl.DataFrame, years: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Candidates: the year less its three other quarters."""
    of_year = years.select("cik", year="value", of="seq", first="start", last="end", year_fact="fact")
    others = (
        known.sort(*PERIOD, pl.col("legs").list.first())
        .unique(SPAN, keep="first", maintain_order=True)
        .rename({"start": "other", "end": "other_end", "seq": "other_seq", "value": "rate"})
    )
    days = (pl.col("other_end") - pl.col("other")).dt.total_days() + 1
    of_three = (
        declared.join(of_year, on="cik")
        .filter((pl.col("start") >= pl.col("first")) & (pl.col("end") <= pl.col("last")))
        .join(others, on="cik")
        .filter((pl.col("other") >= pl.col("first")) & (pl.col("other_end") <= pl.col("last")))
        .filter((pl.col("other_end") < pl.col("start")) | (pl.col("other") > pl.col("end")))
        .sort(*PERIOD, "of", "other", "other_end")
        .group_by(*PERIOD, "a_share", "off", "of", "year", "year_fact", "first", "last", maintain_order=True)
        .agg(
            pl.col("proof").first(),
            pl.col("rate").sum(),
            pl.col("other_seq").max(),
            less=pl.col("legs").list.explode(keep_nulls=False, empty_as_null=False),
            days=days.sum(),
        )
    )
    whole = (pl.col("last") - pl.col("first")).dt.total_days() + 1
    return of_three.filter((pl.col("less").list.len() == 3) & (pl.col("days") + length + 1 == whole)).with_columns(
        value=(pl.col("year") - pl.col("rate")).round(DIGITS),
        seq=pl.max_horizontal("seq", "of", "other_seq"),
        legs=pl.concat_list("year_fact"),
    )


def _confirmed(candidates: pl.DataFrame) -> pl.DataFrame:
    """The first candidate of each quarter that dividends declared confirm: PERIOD, `value`, `rule` and the facts.

    Args:
        candidates: quarters with `a_share` and `off`, a `value`, its facts (`legs`, and subtracted ones as `less`),
            `proof`, and `within`: the share by which it may differ, if it is not SAME.
    """
    none = pl.DataFrame(schema={"less": pl.List(pl.UInt32), "within": pl.Float64})
    weights = {"legs": 1.0, "less": -1.0, "proof": 0.0}  # dividends declared only prove the value
    return (
        pl.concat([candidates, none], how="diagonal")
        .with_columns(pl.col("within").fill_null(SAME), pl.col("less").fill_null(pl.lit([], pl.List(pl.UInt32))))
        .filter(CONFIRMED.where(_fits(pl.col("value"), pl.col("within"))))
        .sort(*SPAN, "seq", "within", "value", *(pl.col(name).list.first() for name in weights))
        .unique(SPAN, keep="first", maintain_order=True)
        .select(
            *PERIOD,
            "value",
            rule=pl.lit(CONFIRMED.id),
            fact=pl.concat_list(*weights),
            coefficient=pl.concat_list(
                pl.lit(weight).repeat_by(pl.col(name).list.len()) for name, weight in weights.items()
            ),
        )
    )
