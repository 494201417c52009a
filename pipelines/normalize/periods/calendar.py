"""Each company's fiscal calendar, derived from the dates of its filed facts only.

Belongs here: fiscal years and the time between them, quarter ends, their labels, and the place of a fact on this grid.
Does not: which periods are fiscal years, and their names (fiscal_years), sums over these periods (ttm), balances at
their ends (balance).
"""

from datetime import timedelta

import polars as pl

from pipelines.normalize.arrays import Ints, ints
from pipelines.normalize.frames import counted
from pipelines.normalize.periods.fiscal_years import (
    DAYS_OF_QUARTER,
    DAYS_OF_YEAR,
    FIRST_RUNNING,
    INTERIM_DAYS,
    NAMED_AFTER_START,
    QUARTER_BANDS,
    SAME_END_DAYS,
    YEAR_DAYS,
    as_date,
    duration_days,
    durations_of,
    first_years,
    fiscal_years,
    named_after_start,
    plain_year,
    quarters_spanned,
    years_on,
)
from pipelines.normalize.rule import Rule

QUARTERS_A_YEAR = 4
NEARLY_A_YEAR = (QUARTER_BANDS[2][2] + 1, YEAR_DAYS[0] - 1)
"""A span of ten or eleven months (fewest and most days) has four quarters: three full ones and a shortened one."""
LONGEST_OPEN_YEAR = 381
"""Days after which the next year begins in a stretch without annual reports. The last quarter of such a year may end a
week or two late; this limit separates it from the first quarter of the next year."""

MOST_FIGURES = Rule(
    "period.quarter.most-figures",
    "Among the days that fit its place in the fiscal year, a quarter ends on the day on which most figures end or "
    "before which most begin; the period ends of reports have priority over those of comparatives.",
    "Regulation S-X Rule 10-01(c): interim statements are for the fiscal quarter and the fiscal year to date",
    "select",
)
OPEN_YEAR = Rule(
    "period.quarter.open-year",
    "Time without an annual report (the current year, years before the first one, a transition period, a missing "
    "report) is no fiscal year: its quarters are counted from the nearest fiscal year end in years of 365 days.",
    "Regulation S-X Rule 10-01(c): interim statements are for the fiscal quarter and the fiscal year to date; Exchange "
    "Act Rule 13a-10: a transition period is reported on its own",
    "select",
)
NO_FISCAL_PERIOD = Rule(
    "period.no-fiscal-period",
    "A figure whose period does not begin and end within a week of the company's fiscal quarter ends, or does not span "
    "one to four quarters, is left out.",
    "Regulation S-X Rules 3-01, 3-02 and 10-01: statements are for fiscal quarters, years to date and years",
    "withhold",
)


def fiscal_grid(facts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every quarter end of every company, in order.

    Args:
        facts: typed facts in filing order (facts.order).

    Returns:
        grid: `cik`, `q` (running number of the quarter; quarters without facts are missing), `period_end`,
            `previous_end` (null if the quarter before is missing), `fiscal_year`, `fiscal_quarter` (1-4),
            `is_year_end`, and `year_before`, the `q` of the fiscal year end before. The first row of a company is the
            day before its first fiscal year; it is not a period (`fiscal_quarter` is 0).
        decisions: `cik`, `rule`, `figures` (years, quarters).
    """
    durations = durations_of(facts)
    reported, by_report = fiscal_years(durations)
    running, after_start = first_years(durations, reported), named_after_start(durations)
    spans = _spans(pl.concat([reported, running]), durations)
    ends, by_figures = _quarter_ends(durations, spans)
    holes = spans.filter(~pl.col("closed"), ~pl.col("running"), pl.col("first_q") > 0)
    named = [(NAMED_AFTER_START, after_start.to_numpy()), (FIRST_RUNNING, ints(running, "cik"))]
    return _grid(ends, after_start), counted([*by_report, *named, (OPEN_YEAR, ints(holes, "cik")), *by_figures])


def _grid(ends: pl.DataFrame, named_after_start: pl.Series) -> pl.DataFrame:
    fiscal_year = plain_year(pl.col("year_end")) - pl.col("cik").is_in(named_after_start.implode()).cast(pl.Int32)
    return (
        ends.sort("cik", "q")
        .with_columns(period_end=as_date(pl.col("period_end")), fiscal_year=fiscal_year)
        .select(
            "cik",
            "q",
            "period_end",
            "fiscal_year",
            "fiscal_quarter",
            previous_end=pl.when(pl.col("q").diff().over("cik") == 1).then(pl.col("period_end").shift()),
            is_year_end=(pl.col("fiscal_quarter") == QUARTERS_A_YEAR) & pl.col("closed"),
            year_before=pl.col("q") - pl.col("fiscal_quarter"),
        )
        .with_columns(pl.col("q", "fiscal_year", "fiscal_quarter", "year_before").cast(pl.Int32))
    )


def _spans(years: pl.DataFrame, durations: pl.DataFrame) -> pl.DataFrame:
    """The fiscal years and the time before, between and after them.

    After the last fiscal year there is one more year, or as many as the interim reports after it need. If interim
    reports come before the first annual report, as many years as they need are added before the first fiscal year.

    Args:
        years: fiscal years: `cik`, `start`, `end`, in any order.
        durations: of durations_of.

    Returns:
        `cik`; `before`, the day before the first day, and `end`, the last one; `closed`, whether it is a fiscal year,
        `running`, whether it is the current one; `first_q`, the number of the quarter before, and `quarters`.
    """
    before, end, former = pl.col("before"), pl.col("end"), pl.col("former")
    years = years.sort("cik", "end", "start").with_columns(before=pl.col("start") - 1)
    years = years.with_columns(former=end.shift().over("cik"))
    is_shifted = ((before - former).abs() < SAME_END_DAYS).fill_null(value=False)
    closed = years.select("cik", before=pl.when(is_shifted).then(former).otherwise(before), end="end", closed=True)
    between = years.filter(before - former >= SAME_END_DAYS).select("cik", before="former", end="before")
    # figures of periods that end after their filing are errors
    interim = durations.filter(pl.col("days").is_between(*INTERIM_DAYS) & (end <= pl.col("filed")))
    needed = interim.group_by("cik").agg(earliest=pl.col("start").min() - 1, latest=end.max())
    beyond = years.group_by("cik").agg(first=before.min(), last=end.max()).join(needed, on="cik", how="left")
    beyond = beyond.with_columns(
        (((days - SAME_END_DAYS) // DAYS_OF_YEAR + 1).fill_null(0).clip(fewest)).alias(name)
        for name, days, fewest in (
            ("years_before", pl.col("first") - pl.col("earliest"), 0),
            ("years_after", pl.col("latest") - pl.col("last"), 1),
        )
    )
    first, last, years_before = pl.col("first"), pl.col("last"), pl.col("years_before")
    prelude = beyond.filter(years_before > 0).select("cik", before=years_on(first, -years_before), end="first")
    running = beyond.select("cik", before="last", end=years_on(last, pl.col("years_after")), running=True)
    days = end - before
    by_days = (days / DAYS_OF_QUARTER).round().cast(pl.Int64).clip(1)
    has_four = pl.col("closed") | days.is_between(*NEARLY_A_YEAR)
    return (
        pl.concat([prelude, closed, between, running], how="diagonal")
        .with_columns(pl.col("closed", "running").fill_null(value=False))
        .filter(pl.col("closed") | OPEN_YEAR.where(~pl.col("closed")))
        .sort("cik", "before", maintain_order=True)
        .with_columns(quarters=pl.when(has_four).then(QUARTERS_A_YEAR).otherwise(by_days).cast(pl.Int64))
        .with_columns(first_q=pl.col("quarters").cum_sum().over("cik") - pl.col("quarters"))
    )


def _quarter_ends(durations: pl.DataFrame, spans: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[Rule, Ints]]]:
    """The most frequent end of each quarter of each span, and the ends of the spans themselves.

    Period ends of reports have priority, because after a change of the fiscal year comparatives have other ends.
    `cik`, `q`, `period_end`, `year_end` (days since 1970), `fiscal_quarter`, `closed`.
    """
    before, end, closed, quarters = (pl.col(name) for name in ("before", "end", "closed", "quarters"))
    quarter, years_in = pl.col("fiscal_quarter"), pl.col("years_in")
    # quarters of a gap of several years are counted in years of 365 days
    year_end = pl.when(closed).then(end).otherwise(before + DAYS_OF_YEAR * (years_in + 1))
    number = quarter + QUARTERS_A_YEAR * years_in
    columns = ("cik", "q", "period_end", "year_end", "fiscal_quarter", "closed")
    closes = (
        spans.filter(~pl.col("running"))
        .with_columns(years_in=(quarters - 1) // QUARTERS_A_YEAR, fiscal_quarter=(quarters - 1) % QUARTERS_A_YEAR + 1)
        .with_columns(q=pl.col("first_q") + quarters, year_end=year_end, period_end="end")
    )
    days = pl.col("day") - before
    most = pl.when(MOST_FIGURES.where(pl.col("figures") > 0)).then(pl.struct("is_own", "figures"))
    interim = (
        _reported_ends(durations)
        .with_columns(eve=pl.col("day") - 1)
        .join_asof(spans, left_on="eve", right_on="before", by="cik", check_sortedness=False, coalesce=False)
        .filter(before.is_not_null())
        .with_columns(years_in=pl.when(closed).then(0).otherwise(days // LONGEST_OPEN_YEAR))
        .with_columns(fiscal_quarter=quarters_spanned(days - DAYS_OF_YEAR * years_in).cast(pl.Int64))
        .filter((quarter > 0) & ~(closed & (quarter == QUARTERS_A_YEAR)) & (number <= quarters))
        .with_columns(q=pl.col("first_q") + number, year_end=year_end, period_end="day")
        .join(closes, on=["cik", "q"], how="anti")
        .sort("cik", "q", most, "day", descending=[False, False, True, True])
        .unique(["cik", "q"], keep="first", maintain_order=True)
    )
    first = spans.group_by("cik").agg(before.first())
    first = first.select("cik", q=0, period_end="before", year_end="before", fiscal_quarter=0, closed=False)
    is_open = interim.filter(~closed, pl.col("running") | (pl.col("first_q") == 0))
    decided = [(MOST_FIGURES, ints(interim, "cik")), (OPEN_YEAR, ints(is_open, "cik"))]
    return pl.concat([frame.select(columns) for frame in (interim, closes, first)], how="vertical_relaxed"), decided


def _reported_ends(durations: pl.DataFrame) -> pl.DataFrame:
    """Days on which interim figures end or before which they begin.

    `cik`, `day` (since 1970), `figures` (their number), `is_own` (whether the day is the period end of a report).
    """
    interim = durations.filter(pl.col("days").is_between(*INTERIM_DAYS))
    # most figures of a report are of its own period, or as many of the same period a year before
    own = (
        interim.group_by("cik", "seq", day="end")
        .agg(figures=pl.len())
        .sort("cik", "seq", "figures", "day", descending=[False, False, True, True])
        .unique(["cik", "seq"], keep="first")
        .select("cik", "day", is_own=True)
        .unique()
    )
    # the first day of a quarter shows the last day of the quarter before
    days = pl.concat([interim.select("cik", day="end"), interim.select("cik", day=pl.col("start") - 1)])
    ends = days.group_by("cik", "day").agg(figures=pl.len()).join(own, on=["cik", "day"], how="left")
    return ends.with_columns(pl.col("is_own").fill_null(value=False)).sort("cik", "day")


def on_grid(vintages: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Place the amounts of filings on the fiscal grid.

    Args:
        vintages: amounts of filings: `cik`, `start` (null for an instant), `end`.
        grid: of fiscal_grid.

    Returns:
        placed: the vintages that fit, with `q` (the quarter in which they end), `n` (quarters spanned; 0 for an
            instant) and `days` (days on the grid between the ends; null for an instant). Vintages that start or end
            elsewhere are left out, because they are not of a fiscal period.
        decisions: `cik`, `rule`, `figures`.
    """
    eve, is_instant = pl.col("start").dt.offset_by("-1d"), pl.col("start").is_null()
    n = pl.when(is_instant).then(0).otherwise(pl.col("q") - pl.col("before"))
    is_other = NO_FISCAL_PERIOD.where(quarters_spanned(duration_days()) != n)
    spans = n.is_between(1, QUARTERS_A_YEAR) & ~is_other
    fits = pl.col("q").is_not_null() & (is_instant | spans.fill_null(value=False))
    found = (
        vintages.with_columns(at_end=pl.col("end"), eve=eve)
        .pipe(_with_nearest, "at_end", grid.select("cik", "q", at="period_end"))
        .pipe(_with_nearest, "eve", grid.select("cik", before="q", at_before="period_end"))
        .with_columns(fits=fits, n=n.cast(pl.Int32), days=(pl.col("at") - pl.col("at_before")).dt.total_days())
    )
    placed = found.filter("fits").select(*vintages.columns, "q", "n", "days")
    return placed, counted([(NO_FISCAL_PERIOD, ints(found.filter(~pl.col("fits")), "cik"))])


def _with_nearest(rows: pl.DataFrame, day: str, ends: pl.DataFrame) -> pl.DataFrame:
    """The rows, each with the quarter end that is nearest to a day and less than SAME_END_DAYS away."""
    at = ends.columns[-1]
    return (
        rows.with_row_index("row")
        .sort(day)
        .join_asof(
            ends.sort(at),
            left_on=day,
            right_on=at,
            by="cik",
            strategy="nearest",
            tolerance=timedelta(days=SAME_END_DAYS - 1),
            coalesce=False,
            check_sortedness=False,
        )
        .sort("row")
        .drop("row")
    )
