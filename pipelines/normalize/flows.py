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
        placed: vintages on the grid (calendar.on_grid), on one share basis, with `measure_sign` and `regime`.

    Returns:
        one row a slot (`cik`, `concept`, `q`, `n`) and `seq`, sorted by it: `found`, a struct of `amount` (additive:
        value x `weight`, which is the days for shares and else 1), `days`, `weight`, `vintage` (the filing that the
        value is taken from), its `grain` and `other_source` (facts.stated_concepts), `seq` (the last filing that
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


def _spread(a_day: list[pl.Expr]) -> pl.Expr:
    """The largest of some amounts a day over the smallest."""
    return pl.max_horizontal(a_day) / pl.min_horizontal(a_day)


def _regime(name: str) -> pl.Expr:
    return pl.col(name).struct.field("regime")


def _grain(name: str) -> pl.Expr:
    return pl.col(name).struct.field("grain")


def _other(name: str) -> pl.Expr:
    return pl.col(name).struct.field("other_source")


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

    At a fiscal year end the year as filed. Else TTM = FY(previous) + YTD(current) - YTD(previous), where the stretch
    that is taken off is on the accounting basis of the year that it is taken off from: the stretch as known when the
    year was last stated, or recast with it; and where the year alone was recast, the year as it was before. Else, and
    first of all for amounts per share, the sum of four discrete quarters, the fourth being FY - 9M. Legs of two
    regimes (another company, other standards), or from elements that this company has stated apart, are never added
    up.

    Args:
        points: `cik`, `concept`, `seq` (after which filing to look), `by_quarter_first` (whether four quarters are
            preferred), `can_be_negative`, and `q` where not all quarter ends are asked for.
        grid: of calendar.fiscal_grid.
        known: of known_values.

    Returns:
        `cik`, `concept`, `seq`, `q`, `amount`, `days`, `method` (fiscal_year, year_to_date, four_quarters), `flags`,
        `legs`, `regime`, `grain` (of the coarsest leg), `spread` (the largest daily amount of the legs over the
        smallest); no row where no way leads to twelve months, for three quarters are no estimate of four.

    Source: Regulation S-X Rule 10-01(c): interim statements carry the year to date beside the same stretch of the
    preceding year.
    """
    asked = [name for name in ("cik", "q") if name in points.columns]
    windows = points.join(grid.filter(pl.col("fiscal_quarter") > 0), on=asked)
    q, year_before, quarter = pl.col("q"), pl.col("year_before"), pl.col("fiscal_quarter")
    windows = _look_up(windows, known, "year", pl.when("is_year_end").then(q), pl.lit(4))
    windows = _look_up(windows, known, "last_year", year_before, pl.lit(4))
    windows = _look_up(windows, known, "to_date", q, quarter)
    windows = _look_up(windows, known, "prior_newest", q - 4, quarter)
    windows = _on_basis_of_prior(windows, known, year_before)
    stated_with = pl.col("last_year").struct.field("seq")
    windows = _look_up(windows, known, "prior", q - 4, quarter, seq=stated_with)
    # an amended year has left behind what was known of its quarters: the newest is on its basis, if any is
    left_behind = pl.col("prior").struct.field("seq") < pl.col("last_year").struct.field("revised")
    of_another = _regime("prior") != _regime("last_year")
    takes_newest = (left_behind | of_another).fill_null(value=False) | pl.col("prior").is_null()
    windows = windows.with_columns(prior=pl.when(takes_newest).then("prior_newest").otherwise("prior"))
    not_recast_with_it = pl.col("prior").struct.field("seq") < pl.col("last_year").struct.field("revised")
    to_date_revised = pl.col("to_date").struct.field("revised")
    windows = _look_up(windows, known, "to_date_before", q, quarter, seq=to_date_revised - 1)
    # a year to date that was recast alone stands beside a stub on the former basis
    recast_alone = (to_date_revised > pl.col("last_year").struct.field("seq")) & (
        pl.col("prior").struct.field("since") <= pl.col("last_year").struct.field("seq")
    )
    windows = windows.with_columns(
        is_year=_amount("year").is_not_null(),
        years_regimes=pl.concat_list(_regime("last_year"), _regime("to_date"), _regime("prior")),
        years_spread=_spread([_amount(name) / _days(name) for name in ("last_year", "to_date", "prior")]),
        years_grain=pl.max_horizontal(_grain("last_year"), _grain("to_date"), _grain("prior")),
        years_sources=pl.concat_list(_other("last_year"), _other("to_date"), _other("prior")),
        by_years=_amount("last_year") + _amount("to_date") - _amount("prior"),
        years_days=_days("last_year") + _days("to_date") - _days("prior"),
        recast=pl.max_horizontal(
            (_amount("prior_newest") - _amount("prior")).abs(),
            pl.when(not_recast_with_it & ~pl.col("recast_along")).then("year_moved"),
            pl.when(recast_alone).then((_amount("to_date") - _amount("to_date_before")).abs()),
        ),
        years_legs=_legs(_leg("last_year"), _leg("to_date"), _leg("prior", -1.0)),
    )
    windows = _four_quarters(windows, grid, known)
    return _chosen(windows)


def _on_basis_of_prior(windows: pl.DataFrame, known: pl.DataFrame, year_before: pl.Expr) -> pl.DataFrame:
    """Take `last_year` back before its recast where the same stretch of that year was not recast with it.

    What is left of a recast year less a stretch on the former basis is on neither; both on the former basis are what
    was filed. Adds `year_moved`, by how much the year was recast, `before_recast`, and
    `recast_along` where the stretch was.
    """
    revised = pl.col("last_year").struct.field("revised")
    windows = _look_up(windows, known, "last_year_before", year_before, pl.lit(4), seq=revised - 1)
    told_before = pl.col("last_year_before").struct.field("seq")
    recast_along = (pl.col("prior_newest").struct.field("since") > told_before).fill_null(value=False)
    possible = pl.col("can_be_negative") | (_amount("last_year_before") >= _amount("prior_newest"))
    before = _amount("last_year_before").is_not_null() & ~recast_along & possible.fill_null(value=True)
    return windows.with_columns(
        last_year=pl.when(before).then("last_year_before").otherwise("last_year"),
        year_moved=(_amount("last_year") - _amount("last_year_before")).abs(),
        before_recast=before,
        recast_along=recast_along,
    ).drop("last_year_before")


def _four_quarters(windows: pl.DataFrame, grid: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Add the sum of four discrete quarters to the window's end.

    `by_quarters`, `quarters_days`, `quarters_legs`, `quarters_regimes`, `quarters_sources`, `quarters_grain`, and
    `spread`: the largest daily amount of a leg over the smallest (for weighted shares: of the counts).
    """
    quarters = grid.select("cik", pl.col("q").alias("of_q"), pl.col("fiscal_quarter").alias("of_quarter"))
    for back in range(4):
        at = pl.col("q") - back
        windows = windows.with_columns(of_q=at).join(quarters, on=["cik", "of_q"], how="left")
        quarter = pl.col("of_quarter")
        windows = _look_up(windows, known, "direct", at, pl.lit(1))
        windows = _look_up(windows, known, "longer", at, quarter)
        windows = _look_up(windows, known, "shorter", pl.when(quarter > 1).then(at - 1), quarter - 1)
        revised = pl.col("longer").struct.field("revised")
        windows = _look_up(windows, known, "longer_before", at, quarter, seq=revised - 1)
        # a recast year less nine months that were not recast would put the whole recast into the fourth quarter
        possible = pl.col("can_be_negative") | (_amount("longer_before") >= _amount("shorter"))
        told_before, told_since = pl.col("longer_before").struct.field("seq"), pl.col("shorter").struct.field("since")
        recast_along = (told_since > told_before).fill_null(value=False)
        left_behind = (pl.col("shorter").struct.field("seq") < revised) & possible & ~recast_along
        windows = windows.with_columns(
            longer=pl.when(left_behind.fill_null(value=False)).then("longer_before").otherwise("longer")
        )
        is_direct = _amount("direct").is_not_null()
        windows = windows.with_columns(
            pl.when(is_direct)
            .then(_amount("direct"))
            .when(pl.col("can_be_negative") | (_amount("longer") >= _amount("shorter")))
            .then(_amount("longer") - _amount("shorter"))
            .alias(f"q{back}"),
            pl.when(is_direct).then(_days("direct")).otherwise(_days("longer") - _days("shorter")).alias(f"d{back}"),
            pl.when(is_direct)
            .then(_legs(_leg("direct")))
            .otherwise(_legs(_leg("longer"), _leg("shorter", -1.0)))
            .alias(f"l{back}"),
            pl.when(is_direct)
            .then(pl.concat_list(_regime("direct")))
            .otherwise(pl.concat_list(_regime("longer"), _regime("shorter")))
            .alias(f"r{back}"),
            pl.when(is_direct)
            .then(pl.concat_list(_other("direct")))
            .otherwise(pl.concat_list(_other("longer"), _other("shorter")))
            .alias(f"s{back}"),
            pl.when(is_direct)
            .then(_grain("direct"))
            .otherwise(pl.max_horizontal(_grain("longer"), _grain("shorter")))
            .alias(f"g{back}"),
        ).drop("of_q", "of_quarter", "direct", "longer", "longer_before", "shorter")
    names = range(4)
    return windows.with_columns(
        by_quarters=pl.sum_horizontal(*(f"q{i}" for i in names), ignore_nulls=False),
        quarters_days=pl.sum_horizontal(*(f"d{i}" for i in names), ignore_nulls=False),
        quarters_legs=pl.concat_list(*(f"l{i}" for i in names)),
        quarters_regimes=pl.concat_list(*(f"r{i}" for i in names)).list.drop_nulls(),
        quarters_grain=pl.max_horizontal(*(f"g{i}" for i in names)),
        quarters_sources=pl.concat_list(*(f"s{i}" for i in names)).list.drop_nulls(),
        spread=pl.max_horizontal("years_spread", _spread([pl.col(f"q{i}") / pl.col(f"d{i}") for i in names])),
    ).drop(*(f"{letter}{i}" for letter in "qdlrsg" for i in names))


def _chosen(windows: pl.DataFrame) -> pl.DataFrame:
    def sound(way: str) -> pl.Expr:
        amount, regimes = pl.col(f"by_{way}"), pl.col(f"{way}_regimes").list
        sources = pl.col(f"{way}_sources").list
        of_one_kind = (regimes.min() == regimes.max()) & (sources.any() == sources.all())
        possible = (pl.col("can_be_negative") | (amount >= 0)) & of_one_kind
        return pl.col(f"{way}_days").is_between(*WINDOW_DAYS) & amount.is_not_null() & possible

    by_years, by_quarters = sound("years"), sound("quarters")
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
        "fiscal_year": (_amount("year"), _days("year"), _legs(_leg("year")), _regime("year"), _grain("year")),
        "year_to_date": (
            pl.col("by_years"),
            pl.col("years_days"),
            pl.col("years_legs"),
            _regime("to_date"),
            pl.col("years_grain"),
        ),
        "four_quarters": (
            pl.col("by_quarters"),
            pl.col("quarters_days"),
            pl.col("quarters_legs"),
            pl.col("quarters_regimes").list.first(),
            pl.col("quarters_grain"),
        ),
    }

    def picked(position: int) -> pl.Expr:
        # at most one of them is not null: the others are for other methods
        return pl.coalesce(
            pl.when(pl.col("method") == method).then(source[position]) for method, source in sources.items()
        )

    apart = (pl.col("by_years") - pl.col("by_quarters")).abs() > DISAGREEMENT * pl.col("by_years").abs()
    in_between = pl.col("method") != "fiscal_year"
    other_element = (
        pl.when("is_year").then(_other("year")).when(pl.col("method") == "year_to_date").then(_other("to_date"))
    ).otherwise(pl.col("quarters_sources").list.any())
    is_mixed = (pl.col("recast") > DISAGREEMENT * pl.col("amount").abs()).fill_null(value=False)
    moved = pl.col("year_moved") > DISAGREEMENT * pl.col("amount").abs()
    flags = {
        "weeks_53": pl.col("days") >= WEEKS_53_DAYS,
        "other_element": other_element,
        "mixed_basis": in_between & is_mixed,
        "before_recast": in_between & pl.col("before_recast") & moved,
        "ways_disagree": in_between & apart & by_years & by_quarters & ~is_mixed,
    }
    return (
        windows.with_columns(method=way)
        .filter(pl.col("method").is_not_null())
        .with_columns(amount=picked(0), days=picked(1), legs=picked(2), regime=picked(3), grain=picked(4))
        .with_columns(
            flags=pl.concat_str(
                *(pl.when(holds.fill_null(value=False)).then(pl.lit(name)) for name, holds in flags.items()),
                separator=",",
                ignore_nulls=True,
            )
        )
        .select("cik", "concept", "seq", "q", "amount", "days", "method", "flags", "legs", "regime", "grain", "spread")
    )


def at_instants(known: pl.DataFrame) -> pl.DataFrame:
    """What stands at each quarter end after each filing: `cik`, `concept`, `seq`, `q`, `amount`, `legs`, `regime`."""
    return known.filter(pl.col("n") == 0).select(
        "cik", "concept", "seq", "q", amount=_amount("found"), legs=_legs(_leg("found")), regime=_regime("found")
    )


def settled(rows: pl.DataFrame, of: list[str], value: str) -> pl.DataFrame:
    """The rows that change `value`, or its `regime`, against the one before, by `seq`, for each `of`."""
    before = pl.col(value).shift().over(of)
    same = ((pl.col(value) - before).abs() <= SAME_VALUE * before.abs()).fill_null(value=False)
    same &= pl.col("regime") == pl.col("regime").shift().over(of)
    return rows.sort(*of, "seq").filter(~same)
