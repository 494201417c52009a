"""Slots: what is known of an amount on the fiscal grid, filing by filing.

Belongs here: which version of an amount stands after a filing, and how it is looked up. Does not: what amounts add up
to (flows), or where a fact lies on the grid (calendar).

A slot is a concept, the quarter that it ends in, and the quarters that it spans (none for an instant). Weighted average
shares become additive once they are multiplied by the days that they are averaged over.
"""

import polars as pl

from pipelines.normalize.items.legs import SUM

SLOT = ["cik", "concept", "q", "n"]

SAME_VALUE = 1e-9
"""Sums of the same legs in another order differ by less."""

NO_FILING = -1


def known_values(placed: pl.DataFrame) -> pl.DataFrame:
    """The value of each slot after each filing that states it.

    A coarser repetition of a known value changes nothing and the finer value stays.

    Args:
        placed: vintages on the grid (calendar.on_grid), on one share basis, with `measure_sign` and `regime`.

    Returns:
        one row a slot (`cik`, `concept`, `q`, `n`) and `seq`, sorted by it: `found`, a struct of `amount` (additive:
        value x `weight`, which is the days for shares and else 1), `days`, `weight`, `vintage` (the filing that the
        value is taken from), its `grain` and `other_source` (stated.stated_concepts), `seq` (the last filing that
        stated it) and its `regime` (breaks.regimes), `since` (the first that stated it so) and `revised` (the same,
        null where it is as first stated).
    """
    one_a_filing = placed.sort(*SLOT, "seq", "rank", "end", "start").unique(
        [*SLOT, "seq"], keep="last", maintain_order=True
    )
    previous, previous_grain = pl.col("value").shift().over(SLOT), pl.col("grain").shift().over(SLOT)
    half_a_unit = pl.max_horizontal("grain", previous_grain) * 0.5000001
    repeats = ((pl.col("value") - previous).abs() <= half_a_unit).fill_null(value=False)
    runs = one_a_filing.sort(*SLOT, "seq").with_columns(run=(~repeats).cum_sum().over(SLOT))
    run = [*SLOT, "run"]
    finer = pl.col("grain") < pl.col("grain").cum_min().shift().over(run)
    settles = finer.fill_null(value=True)
    settled = runs.with_columns(
        pl.when(settles).then(pl.col(name)).forward_fill().over(run)
        for name in ("value", "vintage", "grain", "other_source")
    )
    weight = pl.when(pl.col("measure_sign") > 0).then(pl.col("days").cast(pl.Float64)).otherwise(1.0)
    return settled.select(
        *SLOT,
        "seq",
        found=pl.struct(
            (pl.col("value") * weight).alias("amount"),
            "days",
            weight.alias("weight"),
            "vintage",
            "seq",
            "regime",
            "grain",
            "other_source",
            since=pl.col("seq").first().over(run),
            revised=pl.when(pl.col("run") > 1).then(pl.col("seq").first().over(run)),
        ),
    ).sort("seq")


def telling_points(known: pl.DataFrame) -> pl.DataFrame:
    """The filings after which twelve months to a quarter end may be something else than before.

    Args:
        known: of known_values.

    Returns:
        `cik`, `concept`, `q`, `seq`: each filing that changes a slot of the window, once something is known that ends
        with the window. A fiscal year that is stated again counts too: it takes the comparatives of its filing along.
    """
    before = pl.col("found").struct.field("amount").shift().over(SLOT)
    is_new = before.is_null() | (pl.col("found").struct.field("amount") != before)
    events = known.sort(*SLOT, "seq").filter(is_new | (pl.col("n") == 4)).select("cik", "concept", "q", "seq").unique()
    since = events.group_by("cik", "concept", "q").agg(since=pl.col("seq").min())
    windows = events.with_columns(q=pl.concat_list(pl.col("q") + later for later in range(5))).explode("q")
    return (
        windows.join(since, on=["cik", "concept", "q"])
        .filter(pl.col("seq") >= pl.col("since"))
        .select("cik", "concept", "q", "seq")
        .unique()
    )


def at_instants(known: pl.DataFrame) -> pl.DataFrame:
    """What stands at each quarter end after each filing: `cik`, `concept`, `seq`, `q`, `amount`, `legs`, `regime`."""
    return known.filter(pl.col("n") == 0).select(
        "cik", "concept", "seq", "q", amount=amount("found"), legs=legs(leg("found")), regime=regime("found")
    )


def settled(rows: pl.DataFrame, of: list[str], value: str) -> pl.DataFrame:
    """The rows that change `value`, or its `regime`, against the one before, by `seq`, for each `of`."""
    before = pl.col(value).shift().over(of)
    same = ((pl.col(value) - before).abs() <= SAME_VALUE * before.abs()).fill_null(value=False)
    same &= pl.col("regime") == pl.col("regime").shift().over(of)
    return rows.sort(*of, "seq").filter(~same)


def look_up(
    windows: pl.DataFrame, known: pl.DataFrame, name: str, q: pl.Expr, n: pl.Expr, seq: pl.Expr | None = None
) -> pl.DataFrame:
    """Add `name`: what is known of slot (q, n) after filing `seq` (the window's own by default); null where nothing."""
    asked = windows.with_columns(
        asked_q=q.cast(pl.Int32),
        asked_n=n.cast(pl.Int32),
        asked_seq=(pl.col("seq") if seq is None else seq).fill_null(NO_FILING),
    )
    return (
        asked.sort("asked_seq")
        .join_asof(
            known.rename({"found": name, "q": "asked_q", "n": "asked_n", "seq": "asked_seq"}),
            on="asked_seq",
            by=["cik", "concept", "asked_q", "asked_n"],
            check_sortedness=False,
        )
        .drop("asked_q", "asked_n", "asked_seq")
    )


def amount(name: str) -> pl.Expr:
    """The additive amount of what was looked up."""
    return pl.col(name).struct.field("amount")


def regime(name: str) -> pl.Expr:
    """Its regime."""
    return pl.col(name).struct.field("regime")


def grain(name: str) -> pl.Expr:
    """The power of ten that it is stated to."""
    return pl.col(name).struct.field("grain")


def other_source(name: str) -> pl.Expr:
    """Whether it is from another source than the best."""
    return pl.col(name).struct.field("other_source")


def days(name: str) -> pl.Expr:
    """The days that it spans."""
    return pl.col(name).struct.field("days")


def leg(name: str, sign: float = 1.0) -> pl.Expr:
    """It as a leg of a value, added or taken off; null where nothing is known."""
    found = pl.col(name).struct
    leg = pl.struct(
        found.field("vintage").cast(pl.UInt32).alias("vintage"),
        pl.lit(SUM).alias("role"),
        (found.field("weight") * sign).alias("weight"),
    )
    return pl.when(found.field("vintage").is_not_null()).then(leg)


def legs(*legs: pl.Expr) -> pl.Expr:
    """Legs in a list, without those that are not there."""
    return pl.concat_list(*legs).list.drop_nulls()
