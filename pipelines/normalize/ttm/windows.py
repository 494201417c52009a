"""Flows over time: from amounts on the fiscal grid to trailing twelve months.

Belongs here: discrete quarters, twelve months by two ways, and on which accounting basis. Does not: which tag a flow
comes from (concepts), what is known of an amount (slots), what stands at an instant (balances).
"""

import polars as pl

from pipelines.normalize.items.legs import QUARTERS_A_YEAR
from pipelines.normalize.ttm.known import amount, days, grain, leg, legs, look_up, other_source, regime

WINDOW_DAYS = (350, 378)
WEEKS_53_DAYS = 369
DISAGREEMENT = 0.005
"""Two ways to twelve months that differ by more than this share have legs on different accounting bases."""
MUCH_MORE = 1.5
"""A dividend is hardly raised by more than half within a year."""

LAST_DIGITS = 2
"""What rounding explains between twelve months of three rounded legs and those that the filer states, in units."""


def twelve_months(points: pl.DataFrame, grid: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Twelve months to each quarter end, as known after a filing.

    At a fiscal year end the year as filed. Else TTM = FY(previous) + YTD(current) - YTD(previous), where the stretch
    that is taken off is on the accounting basis of the year that it is taken off from: the stretch as known when the
    year was last stated, or recast with it; and where the year alone was recast, the year as it was before. Else, and
    first of all for amounts per share, the sum of four discrete quarters, the fourth being FY - 9M, or FY less the
    three. Legs of two regimes (another company, other standards), or from elements that this company has stated apart,
    are never added up. Where the filer states twelve months to an interim quarter end itself and means others, the legs
    are on two bases (`mixed_basis`).

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
    windows = look_up(windows, known, "year", pl.when("is_year_end").then(q), pl.lit(4))
    windows = look_up(windows, known, "own", pl.when(~pl.col("is_year_end")).then(q), pl.lit(4))
    windows = look_up(windows, known, "last_year", year_before, pl.lit(4))
    windows = look_up(windows, known, "to_date", q, quarter)
    windows = look_up(windows, known, "prior_newest", q - 4, quarter)
    windows = _on_basis_of_prior(windows, known, year_before)
    stated_with = pl.col("last_year").struct.field("seq")
    windows = look_up(windows, known, "prior", q - 4, quarter, seq=stated_with)
    # an amended year has left behind what was known of its quarters: the newest is on its basis, if any is
    left_behind = pl.col("prior").struct.field("seq") < pl.col("last_year").struct.field("revised")
    of_another = regime("prior") != regime("last_year")
    takes_newest = (left_behind | of_another).fill_null(value=False) | pl.col("prior").is_null()
    windows = windows.with_columns(prior=pl.when(takes_newest).then("prior_newest").otherwise("prior"))
    not_recast_with_it = pl.col("prior").struct.field("seq") < pl.col("last_year").struct.field("revised")
    to_date_revised = pl.col("to_date").struct.field("revised")
    windows = look_up(windows, known, "to_date_before", q, quarter, seq=to_date_revised - 1)
    # a year to date that was recast alone stands beside a stub on the former basis
    recast_alone = (to_date_revised > pl.col("last_year").struct.field("seq")) & (
        pl.col("prior").struct.field("since") <= pl.col("last_year").struct.field("seq")
    )
    windows = windows.with_columns(
        is_year=amount("year").is_not_null(),
        years_regimes=pl.concat_list(regime("last_year"), regime("to_date"), regime("prior")),
        years_spread=_spread([amount(name) / days(name) for name in ("last_year", "to_date", "prior")]),
        years_grain=pl.max_horizontal(grain("last_year"), grain("to_date"), grain("prior")),
        years_sources=pl.concat_list(other_source("last_year"), other_source("to_date"), other_source("prior")),
        by_years=amount("last_year") + amount("to_date") - amount("prior"),
        years_days=days("last_year") + days("to_date") - days("prior"),
        recast=pl.max_horizontal(
            (amount("prior_newest") - amount("prior")).abs(),
            pl.when(not_recast_with_it & ~pl.col("recast_along")).then("year_moved"),
            pl.when(recast_alone).then((amount("to_date") - amount("to_date_before")).abs()),
        ),
        years_legs=legs(leg("last_year"), leg("to_date"), leg("prior", -1.0)),
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
    windows = look_up(windows, known, "last_year_before", year_before, pl.lit(4), seq=revised - 1)
    told_before = pl.col("last_year_before").struct.field("seq")
    recast_along = (pl.col("prior_newest").struct.field("since") > told_before).fill_null(value=False)
    possible = pl.col("can_be_negative") | (amount("last_year_before") >= amount("prior_newest"))
    before = amount("last_year_before").is_not_null() & ~recast_along & possible.fill_null(value=True)
    return windows.with_columns(
        last_year=pl.when(before).then("last_year_before").otherwise("last_year"),
        year_moved=(amount("last_year") - amount("last_year_before")).abs(),
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
        windows = look_up(windows, known, "direct", at, pl.lit(1))
        windows = look_up(windows, known, "longer", at, quarter)
        windows = look_up(windows, known, "shorter", pl.when(quarter > 1).then(at - 1), quarter - 1)
        revised = pl.col("longer").struct.field("revised")
        windows = look_up(windows, known, "longer_before", at, quarter, seq=revised - 1)
        # a recast year less nine months that were not recast would put the whole recast into the fourth quarter
        possible = pl.col("can_be_negative") | (amount("longer_before") >= amount("shorter"))
        told_before, told_since = pl.col("longer_before").struct.field("seq"), pl.col("shorter").struct.field("since")
        recast_along = (told_since > told_before).fill_null(value=False)
        left_behind = (pl.col("shorter").struct.field("seq") < revised) & possible & ~recast_along
        windows = windows.with_columns(
            longer=pl.when(left_behind.fill_null(value=False)).then("longer_before").otherwise("longer")
        )
        is_direct = amount("direct").is_not_null()
        windows = windows.with_columns(
            pl.when(is_direct)
            .then(amount("direct"))
            .when(pl.col("can_be_negative") | (amount("longer") >= amount("shorter")))
            .then(amount("longer") - amount("shorter"))
            .alias(f"q{back}"),
            pl.when(is_direct).then(days("direct")).otherwise(days("longer") - days("shorter")).alias(f"d{back}"),
            pl.when(is_direct)
            .then(legs(leg("direct")))
            .otherwise(legs(leg("longer"), leg("shorter", -1.0)))
            .alias(f"l{back}"),
            pl.when(is_direct)
            .then(pl.concat_list(regime("direct")))
            .otherwise(pl.concat_list(regime("longer"), regime("shorter")))
            .alias(f"r{back}"),
            pl.when(is_direct)
            .then(pl.concat_list(other_source("direct")))
            .otherwise(pl.concat_list(other_source("longer"), other_source("shorter")))
            .alias(f"s{back}"),
            pl.when(is_direct)
            .then(grain("direct"))
            .otherwise(pl.max_horizontal(grain("longer"), grain("shorter")))
            .alias(f"g{back}"),
        )
        windows = _fourth_quarter(windows, known, back).drop(
            "of_q", "of_quarter", "direct", "longer", "longer_before", "shorter"
        )
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


def _fourth_quarter(windows: pl.DataFrame, known: pl.DataFrame, back: int) -> pl.DataFrame:
    """Where no nine months are stated, the fourth quarter is the year less its three quarters.

    Dividends are often stated for the quarter alone. A difference that is much more than each of them is none of a
    quarter: the year may have a special dividend that the quarters leave out.
    """
    lacks = (pl.col("of_quarter") == QUARTERS_A_YEAR) & amount("longer").is_not_null()
    lacks &= amount("direct").is_null() & amount("shorter").is_null()
    numbered = windows.with_row_index("window")
    year = numbered.filter(lacks).select("window", "cik", "concept", "seq", "of_q", "can_be_negative", "longer")
    names = [f"earlier_{ago}" for ago in range(1, QUARTERS_A_YEAR)]
    for ago, name in enumerate(names, start=1):
        year = look_up(year, known, name, pl.col("of_q") - ago, pl.lit(1))
    rest = amount("longer") - pl.sum_horizontal(*(amount(name) for name in names), ignore_nulls=False)
    largest = pl.max_horizontal(amount(name) / days(name) for name in names)
    rest_days = days("longer") - pl.sum_horizontal(*(days(name) for name in names), ignore_nulls=False)
    all_of_it = ["longer", *names]
    found = year.filter(pl.col("can_be_negative") | (rest / rest_days).is_between(0, MUCH_MORE * largest)).select(
        "window",
        rest.alias(f"q{back}"),
        rest_days.alias(f"d{back}"),
        legs(leg("longer"), *(leg(name, -1.0) for name in names)).alias(f"l{back}"),
        pl.concat_list(regime(name) for name in all_of_it).alias(f"r{back}"),
        pl.concat_list(other_source(name) for name in all_of_it).alias(f"s{back}"),
        pl.max_horizontal(grain(name) for name in all_of_it).alias(f"g{back}"),
    )
    return numbered.update(found.drop_nulls(f"q{back}"), on="window").drop("window")


def _chosen(windows: pl.DataFrame) -> pl.DataFrame:
    def sound(way: str) -> pl.Expr:
        total, regimes = pl.col(f"by_{way}"), pl.col(f"{way}_regimes").list
        sources = pl.col(f"{way}_sources").list
        of_one_kind = (regimes.min() == regimes.max()) & (sources.any() == sources.all())
        possible = (pl.col("can_be_negative") | (total >= 0)) & of_one_kind
        return pl.col(f"{way}_days").is_between(*WINDOW_DAYS) & total.is_not_null() & possible

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
        "fiscal_year": (amount("year"), days("year"), legs(leg("year")), regime("year"), grain("year")),
        "year_to_date": (
            pl.col("by_years"),
            pl.col("years_days"),
            pl.col("years_legs"),
            regime("to_date"),
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
        pl.when("is_year")
        .then(other_source("year"))
        .when(pl.col("method") == "year_to_date")
        .then(other_source("to_date"))
    ).otherwise(pl.col("quarters_sources").list.any())
    is_mixed = (pl.col("recast") > DISAGREEMENT * pl.col("amount").abs()).fill_null(value=False)
    rounding = LAST_DIGITS * pl.min_horizontal("grain", grain("own")) * pl.col("own").struct.field("weight")
    is_mixed |= ((pl.col("amount") - amount("own")).abs() > rounding).fill_null(value=False)
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


def _spread(a_day: list[pl.Expr]) -> pl.Expr:
    """The largest of some amounts a day over the smallest."""
    return pl.max_horizontal(a_day) / pl.min_horizontal(a_day)
