"""Flows over time: from what filings state on the fiscal grid to trailing twelve months.

Belongs here: which version of an amount is known after a filing, discrete quarters, and twelve months by two ways.
Does not: which tag a flow comes from (concepts), which dates are quarter ends (calendar), what stands at an
instant (balances).

Weighted average shares become additive once they are multiplied by the days that they are averaged over, so one
arithmetic serves money, per-share amounts and shares.
"""

import polars as pl

from pipelines.normalize.legs import SUM

SLOT = ["cik", "concept", "q", "n"]
WINDOW_DAYS = (350, 378)
WEEKS_53_DAYS = 369
DISAGREEMENT = 0.005
"""Two ways to twelve months that differ by more than this share have legs on different accounting bases."""

SAME_VALUE = 1e-9
"""Sums of the same legs in another order differ by less."""

NO_FILING = -1


def known_values(placed: pl.DataFrame) -> pl.DataFrame:
    """The value of each slot after each filing that states it.

    A coarser repetition of a known value changes nothing and the finer value stays.

    Args:
        placed: vintages on the grid (calendar.on_grid), on one share basis, with `measure_sign`.

    Returns:
        one row a slot (`cik`, `concept`, `q`, `n`) and `seq`, sorted by it: `found`, a struct of `amount` (additive:
        value x `weight`, which is the days for shares and else 1), `days`, `weight`, `vintage` (the filing that the
        value is taken from), `seq` (the last filing that stated it) and `revised` (the filing that stated it anew,
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
        pl.when(settles).then(pl.col(name)).forward_fill().over(run) for name in ("value", "vintage")
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


def _look_up(
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


def _amount(name: str) -> pl.Expr:
    return pl.col(name).struct.field("amount")


def _days(name: str) -> pl.Expr:
    return pl.col(name).struct.field("days")


def _leg(name: str, sign: float = 1.0) -> pl.Expr:
    found = pl.col(name).struct
    leg = pl.struct(
        found.field("vintage").cast(pl.UInt32).alias("vintage"),
        pl.lit(SUM).alias("role"),
        (found.field("weight") * sign).alias("weight"),
    )
    return pl.when(found.field("vintage").is_not_null()).then(leg)


def _legs(*legs: pl.Expr) -> pl.Expr:
    return pl.concat_list(*legs).list.drop_nulls()


def twelve_months(points: pl.DataFrame, grid: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Twelve months to each quarter end, as known after a filing.

    At a fiscal year end the year as filed. Else TTM = FY(previous) + YTD(current) - YTD(previous), the last two
    legs on the accounting basis of one filing: the year to date is taken as known when the full year was last
    stated, for a recast column beside an old year would put two bases into the stub; and as stated last where it was
    not known then, or where that year was stated anew after it. Else, and first of all for
    amounts per share, the sum of four discrete quarters, the fourth being FY - 9M.

    Args:
        points: `cik`, `concept`, `seq` (after which filing to look), `by_quarter_first` (whether four quarters are
            preferred), `can_be_negative`, and `q` where not all quarter ends are asked for.
        grid: of calendar.fiscal_grid.
        known: of known_values.

    Returns:
        `cik`, `concept`, `seq`, `q`, `amount`, `days`, `method` (fiscal_year, year_to_date, four_quarters), `flags`,
        `legs`; no row where no way leads to twelve months, for three quarters are no estimate of four.

    Source: Regulation S-X Rule 10-01(c): interim statements carry the year to date beside the same stretch of the
    preceding year.
    """
    asked = [name for name in ("cik", "q") if name in points.columns]
    windows = points.join(grid.filter(pl.col("fiscal_quarter") > 0), on=asked)
    q, year_before, quarter = pl.col("q"), pl.col("year_before"), pl.col("fiscal_quarter")
    windows = _look_up(windows, known, "year", pl.when("is_year_end").then(q), pl.lit(4))
    windows = _look_up(windows, known, "last_year", year_before, pl.lit(4))
    windows = _look_up(windows, known, "to_date", q, quarter)
    stated_with = pl.col("last_year").struct.field("seq")
    windows = _look_up(windows, known, "prior", q - 4, quarter, seq=stated_with)
    windows = _look_up(windows, known, "prior_newest", q - 4, quarter)
    # an amended year has left behind what was known of its quarters: the newest is on its basis, if any is
    left_behind = pl.col("prior").struct.field("seq") < pl.col("last_year").struct.field("revised")
    takes_newest = left_behind.fill_null(value=False) | pl.col("prior").is_null()
    windows = windows.with_columns(prior=pl.when(takes_newest).then("prior_newest").otherwise("prior"))
    windows = windows.with_columns(
        is_year=_amount("year").is_not_null(),
        by_years=_amount("last_year") + _amount("to_date") - _amount("prior"),
        years_days=_days("last_year") + _days("to_date") - _days("prior"),
        recast=(_amount("prior_newest") - _amount("prior")).abs(),
        years_legs=_legs(_leg("last_year"), _leg("to_date"), _leg("prior", -1.0)),
    )
    windows = _four_quarters(windows, grid, known)
    return _chosen(windows)


def _four_quarters(windows: pl.DataFrame, grid: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Add `by_quarters`, `quarters_days`, `quarters_legs`: the sum of four discrete quarters to the window's end."""
    quarters = grid.select("cik", pl.col("q").alias("of_q"), pl.col("fiscal_quarter").alias("of_quarter"))
    for back in range(4):
        at = pl.col("q") - back
        windows = windows.with_columns(of_q=at).join(quarters, on=["cik", "of_q"], how="left")
        quarter = pl.col("of_quarter")
        windows = _look_up(windows, known, "direct", at, pl.lit(1))
        windows = _look_up(windows, known, "longer", at, quarter)
        windows = _look_up(windows, known, "shorter", pl.when(quarter > 1).then(at - 1), quarter - 1)
        is_direct = _amount("direct").is_not_null()
        windows = windows.with_columns(
            pl.when(is_direct)
            .then(_amount("direct"))
            .otherwise(_amount("longer") - _amount("shorter"))
            .alias(f"q{back}"),
            pl.when(is_direct).then(_days("direct")).otherwise(_days("longer") - _days("shorter")).alias(f"d{back}"),
            pl.when(is_direct)
            .then(_legs(_leg("direct")))
            .otherwise(_legs(_leg("longer"), _leg("shorter", -1.0)))
            .alias(f"l{back}"),
        ).drop("of_q", "of_quarter", "direct", "longer", "shorter")
    names = range(4)
    return windows.with_columns(
        by_quarters=pl.sum_horizontal(*(f"q{i}" for i in names), ignore_nulls=False),
        quarters_days=pl.sum_horizontal(*(f"d{i}" for i in names), ignore_nulls=False),
        quarters_legs=pl.concat_list(*(f"l{i}" for i in names)),
    ).drop(*(f"{letter}{i}" for letter in "qdl" for i in names))


def _chosen(windows: pl.DataFrame) -> pl.DataFrame:
    def sound(amount: str, days: str) -> pl.Expr:
        possible = pl.col("can_be_negative") | (pl.col(amount) >= 0)
        return pl.col(days).is_between(*WINDOW_DAYS) & pl.col(amount).is_not_null() & possible

    by_years, by_quarters = sound("by_years", "years_days"), sound("by_quarters", "quarters_days")
    quarters_first = by_quarters & (pl.col("by_quarter_first") | ~by_years)
    way = (
        pl.when("is_year")
        .then(pl.lit("fiscal_year"))
        .when(quarters_first)
        .then(pl.lit("four_quarters"))
        .when(by_years)
        .then(pl.lit("year_to_date"))
    )
    sources = {
        "fiscal_year": (_amount("year"), _days("year"), _legs(_leg("year"))),
        "year_to_date": (pl.col("by_years"), pl.col("years_days"), pl.col("years_legs")),
        "four_quarters": (pl.col("by_quarters"), pl.col("quarters_days"), pl.col("quarters_legs")),
    }

    def picked(position: int) -> pl.Expr:
        # at most one of them is not null: the others are for other methods
        return pl.coalesce(
            pl.when(pl.col("method") == method).then(source[position]) for method, source in sources.items()
        )

    apart = (pl.col("by_years") - pl.col("by_quarters")).abs() > DISAGREEMENT * pl.col("by_years").abs()
    in_between = pl.col("method") != "fiscal_year"
    flags = {
        "weeks_53": pl.col("days") >= WEEKS_53_DAYS,
        "mixed_basis": in_between & (pl.col("recast") > DISAGREEMENT * pl.col("amount").abs()),
        "ways_disagree": apart & by_years & by_quarters & in_between & (pl.col("recast").fill_null(0.0) == 0),
    }
    return (
        windows.with_columns(method=way)
        .filter(pl.col("method").is_not_null())
        .with_columns(amount=picked(0), days=picked(1), legs=picked(2))
        .with_columns(
            flags=pl.concat_str(
                *(pl.when(holds.fill_null(value=False)).then(pl.lit(name)) for name, holds in flags.items()),
                separator=",",
                ignore_nulls=True,
            )
        )
        .select("cik", "concept", "seq", "q", "amount", "days", "method", "flags", "legs")
    )


def at_instants(known: pl.DataFrame) -> pl.DataFrame:
    """What stands at each quarter end after each filing: `cik`, `concept`, `seq`, `q`, `amount`, `legs`."""
    return known.filter(pl.col("n") == 0).select(
        "cik", "concept", "seq", "q", amount=_amount("found"), legs=_legs(_leg("found"))
    )


def settled(rows: pl.DataFrame, of: list[str], value: str) -> pl.DataFrame:
    """The rows that change `value` against the one before, by `seq`, for each `of`."""
    before = pl.col(value).shift().over(of)
    same = ((pl.col(value) - before).abs() <= SAME_VALUE * before.abs()).fill_null(value=False)
    return rows.sort(*of, "seq").filter(~same)
