"""Each company's fiscal calendar, from the dates of its filed facts alone.

Belongs here: quarter ends and the stretches that they lie in, their labels, and the place of a fact on that grid.
Does not: which years there are and how they are named (fiscal_years), what is added up over those periods (flows), or
what stands at their ends (balances).
"""

import polars as pl

from pipelines.normalize.periods.fiscal_years import (
    INTERIM_DAYS,
    QUARTER_BANDS,
    SAME_END_DAYS,
    YEAR_DAYS,
    duration_days,
    first_years,
    fiscal_years,
    plain_year,
    quarters_spanned,
    year_names,
)


def fiscal_grid(facts: pl.DataFrame) -> pl.DataFrame:
    """Every quarter end of every company, in order.

    Returns:
        `cik`, `q` (running number of the quarter; a quarter without facts leaves a hole), `period_end`,
        `previous_end` (null after a hole), `fiscal_year`, `fiscal_quarter` (1-4), `is_year_end`, and `q` of the
        year end before, `year_before`. The first row of a company is the day before its first fiscal year; it is no
        period (`fiscal_quarter` is 0).
    """
    years = fiscal_years(facts)
    stretches = _stretches(pl.concat([years, first_years(facts, years)]).sort("cik", "year_end"), _spans(facts))
    ends = _quarter_ends(facts, stretches)
    named = year_names(facts, stretches)
    return (
        ends.join(named, on="cik")
        .with_columns(fiscal_year=plain_year(pl.col("year_end")) + pl.col("name_offset"))
        .sort("cik", "q")
        .with_columns(
            previous_end=pl.when(pl.col("q").diff().over("cik") == 1).then(pl.col("period_end").shift().over("cik"))
        )
        .select(
            "cik",
            "q",
            "period_end",
            "previous_end",
            pl.col("fiscal_year").cast(pl.Int32),
            "fiscal_quarter",
            is_year_end=(pl.col("fiscal_quarter") == 4) & pl.col("closed"),
            year_before=pl.col("q") - pl.col("fiscal_quarter"),
        )
    )


def _spans(facts: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `earliest`, `latest`: the days that interim figures are about, none of them later than they were filed."""
    return (
        facts.filter(duration_days().is_between(*INTERIM_DAYS), pl.col("end") <= pl.col("filed"))
        .group_by("cik")
        .agg(earliest=pl.col("start").min().dt.offset_by("-1d"), latest=pl.col("end").max())
    )


def _stretches(years: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Fiscal years and what lies between and after them, tiling each company's time.

    The running stretch is a year, or as many as interim reports go on after the last annual one; where interim reports
    come first, as many years as they need are before the first one.

    `cik`, `before` (the day before), `year_end`, `first_q` (number of the quarter before the stretch), `quarters`,
    `closed` (false for the running year, transition periods and holes), `running`.
    """
    known = years.with_columns(before=pl.col("year_start").dt.offset_by("-1d"), closed=pl.lit(True))
    snapped = known.with_columns(last_end=pl.col("year_end").shift().over("cik")).with_columns(
        gap=(pl.col("before") - pl.col("last_end")).dt.total_days()
    )
    snapped = snapped.with_columns(
        before=pl.when(pl.col("gap").abs() < SAME_END_DAYS).then(pl.col("last_end")).otherwise(pl.col("before"))
    )
    between = snapped.filter(pl.col("gap") >= SAME_END_DAYS).select(
        "cik", before="last_end", year_end="before", closed=pl.lit(False)
    )
    known_time = years.group_by("cik").agg(
        first=pl.col("year_start").min().dt.offset_by("-1d"), last=pl.col("year_end").max()
    )
    beyond = known_time.join(spans, on="cik", how="left").with_columns(
        years_before=_whole_years(pl.col("first") - pl.col("earliest")),
        years_after=_whole_years(pl.col("latest") - pl.col("last")).clip(1),
        closed=pl.lit(value=False),
    )
    prelude = beyond.filter(pl.col("years_before") > 0).select(
        "cik", "closed", before=_years_on(pl.col("first"), -pl.col("years_before")), year_end="first"
    )
    running = beyond.select("cik", "closed", before="last", year_end=_years_on(pl.col("last"), pl.col("years_after")))
    columns = ["cik", "before", "year_end", "closed"]
    known = pl.concat([frame.select(columns) for frame in (prelude, snapped, between)])
    stretches = pl.concat(
        [
            known.with_columns(running=pl.lit(value=False)),
            running.select(columns).with_columns(running=pl.lit(value=True)),
        ]
    )
    days = (pl.col("year_end") - pl.col("before")).dt.total_days()
    # ten or eleven months are three quarters and what is left of a fourth
    nearly_a_year = days.is_between(QUARTER_BANDS[2][2], YEAR_DAYS[0], closed="none")
    quarters = pl.when(nearly_a_year).then(4).otherwise((days / 91.3).round()).cast(pl.Int32)
    return (
        stretches.with_columns(quarters=pl.when("closed").then(4).otherwise(quarters).clip(1))
        .sort("cik", "before")
        .with_columns(first_q=(pl.col("quarters").cum_sum() - pl.col("quarters")).over("cik"))
    )


def _whole_years(time: pl.Expr) -> pl.Expr:
    """So many years cover it; none where it is not more than a shifted end."""
    return ((time.dt.total_days().fill_null(0) - SAME_END_DAYS) // 365 + 1).clip(0)


def _years_on(day: pl.Expr, years: pl.Expr) -> pl.Expr:
    return day.dt.offset_by(pl.format("{}y", years))


def _quarter_ends(facts: pl.DataFrame, stretches: pl.DataFrame) -> pl.DataFrame:
    """The end that most facts agree on, for each quarter of each stretch; the ends of stretches as they are.

    Ends that some report is about go first: after a change of the fiscal year, comparatives have ends of their own.
    """
    interim_facts = facts.filter(pl.col("start").is_not_null(), duration_days().is_between(*INTERIM_DAYS))
    # a quarter that starts says as well as one that ends where the one before it ended
    ends = interim_facts.group_by("cik", "accession", "end").len()
    # most figures of a report are of its own period, or as many of the same one a year before
    newest = pl.col("end") == pl.col("end").sort_by("len", "end").last().over("cik", "accession")
    ends = ends.with_columns(own=newest)
    eves = (
        interim_facts.group_by("cik", end=pl.col("start").dt.offset_by("-1d"))
        .len()
        .with_columns(own=pl.lit(value=False))
    )
    told = ["cik", "end", "len", "own"]
    reported = (
        pl.concat([ends.select(told), eves.select(told)])
        .group_by("cik", "end")
        .agg(pl.col("len").sum(), pl.col("own").any())
    )
    placed = (
        reported.with_columns(eve=pl.col("end").dt.offset_by("-1d"))
        .sort("eve")
        .join_asof(stretches.with_columns(eve="before").sort("eve"), on="eve", by="cik", check_sortedness=False)
        .drop_nulls("before")
        .with_columns(days=(pl.col("end") - pl.col("before")).dt.total_days())
    )
    # a hole of several years has no calendar of its own: its quarters are counted in years of 365 days
    years_in = pl.when(pl.col("closed")).then(0).otherwise(pl.col("days") // 381)
    interim = (
        placed.with_columns(years_in=years_in)
        .with_columns(quarter=quarters_spanned(pl.col("days") - 365 * pl.col("years_in")))
        .filter(
            pl.col("quarter").is_not_null(),
            ~(pl.col("closed") & (pl.col("quarter") == 4)),
            (pl.col("quarter") + 4 * pl.col("years_in")) <= pl.col("quarters"),
        )
        .with_columns(q=pl.col("first_q") + pl.col("quarter") + 4 * pl.col("years_in"))
        .sort("cik", "q", "own", "len", "end", descending=[False, False, True, True, True])
        .unique(["cik", "q"], keep="first", maintain_order=True)
        .with_columns(year_end=pl.when("closed").then("year_end").otherwise(_end_of_open_year(pl.col("years_in"))))
        .select("cik", "q", "closed", "year_end", period_end="end", fiscal_quarter="quarter")
    )
    closes = stretches.filter(~pl.col("running")).select(
        "cik",
        "closed",
        year_end=pl.when("closed").then("year_end").otherwise(_end_of_open_year((pl.col("quarters") - 1) // 4)),
        q=pl.col("first_q") + pl.col("quarters"),
        period_end="year_end",
        fiscal_quarter=(pl.col("quarters") - 1) % 4 + 1,
    )
    interim = interim.join(closes, on=["cik", "q"], how="anti")
    origins = (
        stretches.group_by("cik")
        .agg(pl.col("before").min())
        .select(
            "cik",
            q=pl.lit(0, pl.Int32),
            closed=pl.lit(False),
            year_end="before",
            period_end="before",
            fiscal_quarter=pl.lit(0, pl.Int32),
        )
    )
    columns = ["cik", pl.col("q", "fiscal_quarter").cast(pl.Int32), "closed", "year_end", "period_end"]
    return pl.concat([frame.select(columns) for frame in (interim, closes, origins)])


def _end_of_open_year(years_in: pl.Expr) -> pl.Expr:
    """Where a year of an open stretch is expected to end: 365 days a year after the last known end."""
    return pl.col("before") + pl.duration(days=365 * (years_in + 1))


def on_grid(vintages: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """Place what filings state on the fiscal grid.

    Args:
        vintages: of stated_concepts.
        grid: of fiscal_grid.

    Returns:
        the vintages that fit, with `q` (quarter that they end in), `n` (quarters spanned; 0 for an instant) and
        `days` (of the grid, between the ends). What starts or ends elsewhere is left out: it is no fiscal period.
    """
    ends = grid.select("cik", "q", "period_end").sort("period_end")
    tolerance = f"{SAME_END_DAYS - 1}d"
    placed = vintages.sort("end").join_asof(
        ends,
        left_on="end",
        right_on="period_end",
        by="cik",
        strategy="nearest",
        tolerance=tolerance,
        check_sortedness=False,
    )
    started = (
        placed.with_columns(before=pl.col("start").dt.offset_by("-1d"))
        .sort("before")
        .join_asof(
            ends.rename({"q": "start_q", "period_end": "start_end"}),
            left_on="before",
            right_on="start_end",
            by="cik",
            strategy="nearest",
            tolerance=tolerance,
            check_sortedness=False,
        )
        .with_columns(
            n=pl.when(pl.col("start").is_null()).then(0).otherwise(pl.col("q") - pl.col("start_q")).cast(pl.Int32),
            days=(pl.col("period_end") - pl.col("start_end")).dt.total_days(),
        )
    )
    fits = pl.col("start").is_null() | (quarters_spanned(duration_days()) == pl.col("n"))
    return started.filter(pl.col("q").is_not_null(), fits).drop("before", "start_q", "start_end", "period_end")
