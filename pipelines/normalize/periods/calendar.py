"""Each company's fiscal calendar, derived from the dates of its filed facts only.

Belongs here: the periods that annual reports cover, and their names; the time between them, quarter ends, and the place
of a fact on this grid. Does not: sums over these periods (ttm), balances at their ends (balance).

`fy`, `fp` and `frame` describe a filing, not a fact: only the name of the year is taken from `fy`, by majority.
"""

from datetime import timedelta

import polars as pl

from pipelines.normalize.arrays import Ints, ints
from pipelines.normalize.forms import ANNUAL_FORMS
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule

SAME_END_DAYS = 8
"""Ends that are fewer days apart count as the same: filers shift a period by a day, or by a week if a calendar
changes."""

INTERIM_DAYS, YEAR_DAYS = (75, 300), (340, 390)
"""Fewest and most days of one to three quarters (12 to 40 weeks), and of a year (52 or 53 weeks with a shifted end)."""
QUARTER_BANDS: tuple[tuple[int, int, int], ...] = ((1, 75, 125), (2, 150, 215), (3, 230, 300), (4, 340, 390))
"""(quarters, fewest days, most days): wide enough for 12/12/12/16 and 16/12/12/12 weeks, and never overlapping."""

DAYS_OF_QUARTER, DAYS_OF_YEAR = 91.3, 365
"""Lengths of quarters and years in days where no report states their ends."""

EARLY_JANUARY_DAYS = 10
"""A year that ends in the first ten days of a month counts as ending in the month before (JNJ: 3 January)."""

FEWEST_ELEMENTS = 2
"""A fiscal year needs this many elements in an annual report; a period of only one element may not be a fiscal year."""

YEARS_THAT_NAME = 5
"""The newest annual reports, up to this number, decide how fiscal years are named. Measured: 22 of 1,214 annual reports
of 89 filers name the year inconsistently, up to 7 of one company."""
CURRENT_REPORT = "6-K"
TRANSITION_REPORTS = ("10-KT", "10-QT")

QUARTERS_A_YEAR = 4
NEARLY_A_YEAR = (QUARTER_BANDS[2][2] + 1, YEAR_DAYS[0] - 1)
"""A span of ten or eleven months (fewest and most days) has four quarters: three full ones and a shortened one."""
LONGEST_OPEN_YEAR = 381
"""Days after which the next year begins in a time without annual reports. The last quarter of a year may end a week or
two late there; this limit separates it from the first quarter of the next year."""

ANNUAL_REPORT = Rule(
    "period.year.annual-report",
    "A fiscal year is a period of 340 to 390 days for which an annual report has at least two elements, or as many "
    "elements as for any other year of the company.",
    "Regulation S-X Rules 3-01 and 3-02: annual reports present audited statements of fiscal years",
    "select",
)
CURRENT_REPORTS = Rule(
    "period.year.current-report",
    "For a filer whose annual reports contain no facts, the fiscal years are those in its Forms 6-K.",
    "Observed with Canadian filers of Form 40-F, whose annual statements may be in Forms 6-K alone (CNI)",
    "select",
    "filers without facts in annual reports",
)
ONE_YEAR = Rule(
    "period.year.same-end",
    "Fiscal years whose ends are less than 8 days apart are one year: the one that a report covers, otherwise the "
    "one with most figures. A comparative ending less than 340 days from a covered year is no fiscal year.",
    "Measured: filers repeat a year a day off, and a week where a calendar of weeks changes; Regulation S-X Rules 3-01 "
    "and 3-02: annual reports present fiscal years",
    "select",
)
FIRST_RUNNING = Rule(
    "period.year.first-running",
    "Without an annual report, a company's fiscal years begin on the day of the year on which most years to date of "
    "its reports begin; comparatives do not count.",
    "Regulation S-X Rule 10-01(c): interim statements of income are for the quarter and for the fiscal year to date",
    "select",
    "filers without annual reports",
)
NAMED_AFTER_START = Rule(
    "period.year.named-after-start",
    "A fiscal year is named after the calendar year before the one in which it ends if most of the newest five annual "
    "reports name it so.",
    "Measured on 89 filers: a year is named after the year of its end, or the one before (HD in all of 17 reports)",
    "select",
)
MOST_FIGURES = Rule(
    "period.quarter.most-figures",
    "A quarter ends on the day, among those that fit its place in the fiscal year, on which most figures end or "
    "before which most begin; period ends of reports have priority over period ends of comparatives.",
    "Regulation S-X Rule 10-01(c): interim statements are for the fiscal quarter and the fiscal year to date",
    "select",
)
AFTER_TRANSITION = Rule(
    "period.year.after-transition-report",
    "The fiscal year after a transition report begins on the day after the transition period.",
    "Exchange Act Rule 13a-10: a transition period lies between the old fiscal year and the new one",
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
    anew = transitions(durations, reported)
    spans = _spans(pl.concat([reported, running]), anew, durations)
    ends, by_figures = _quarter_ends(durations, spans)
    holes = spans.filter(~pl.col("closed"), ~pl.col("running"), pl.col("first_q") > 0)
    begun = [(FIRST_RUNNING, ints(running, "cik")), (AFTER_TRANSITION, ints(anew, "cik"))]
    named = [(NAMED_AFTER_START, after_start.to_numpy()), *begun]
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


def _spans(years: pl.DataFrame, anew: pl.DataFrame, durations: pl.DataFrame) -> pl.DataFrame:
    """The fiscal years of each company, and the spans of time before, between and after them.

    After the last fiscal year there is one more year, or as many as the interim reports after it need. If interim
    reports come before the first annual report, as many years as they need are added before the first fiscal year.

    Args:
        years: fiscal years: `cik`, `start`, `end`, in any order.
        anew: of transitions.
        durations: of durations_of.

    Returns:
        `cik`; `before`, the day before the first day, and `end`, the last day; `closed`, whether it is a fiscal year;
        `running`, whether it is the time after the last fiscal year; `first_q`, the number of the quarter before; and
        `quarters`, the number of its quarters.
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
    between = pl.concat([between, anew])
    last_days = pl.concat([years, anew], how="diagonal").group_by("cik").agg(first=before.min(), last=end.max())
    around = last_days.join(needed, on="cik", how="left")
    around = around.with_columns(
        (((days - SAME_END_DAYS) // DAYS_OF_YEAR + 1).fill_null(0).clip(fewest)).alias(name)
        for name, days, fewest in (
            ("years_before", pl.col("first") - pl.col("earliest"), 0),
            ("years_after", pl.col("latest") - pl.col("last"), 1),
        )
    )
    first, last, years_before = pl.col("first"), pl.col("last"), pl.col("years_before")
    prelude = around.filter(years_before > 0).select("cik", before=years_on(first, -years_before), end="first")
    running = around.select("cik", before="last", end=years_on(last, pl.col("years_after")), running=True)
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
    """The most frequent end of each quarter within each span, and the ends of the spans themselves.

    Period ends of reports have priority, because after a change of the fiscal year comparatives have other ends.

    Returns:
        `cik`, `q`, `period_end`, `year_end` (days since 1970), `fiscal_quarter`, `closed`; and the decisions of each
        rule.
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
    """Days on which interim figures end, and days before which they begin.

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
            instant) and `days` (days on the grid between the ends; null for an instant). Vintages that do not start and
            end at quarter ends are left out, because they are not of a fiscal period.
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
    """The rows, each with the quarter end nearest to column `day`, if it is less than SAME_END_DAYS away."""
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


def duration_days() -> pl.Expr:
    """Days of a duration, first and last day included."""
    return (pl.col("end") - pl.col("start")).dt.total_days() + 1


def quarters_spanned(days: pl.Expr) -> pl.Expr:
    """The number of quarters (1 to 4) of a duration in days; 0 for other lengths."""
    spanned = pl.lit(0)
    for quarters, fewest, most in QUARTER_BANDS:
        spanned = pl.when(days.is_between(fewest, most)).then(quarters).otherwise(spanned)
    return spanned


def nominal_month(year_end: pl.Expr) -> pl.Expr:
    """The month of a fiscal year end; the first ten days of a month count as the month before."""
    return year_end.dt.offset_by(f"-{EARLY_JANUARY_DAYS}d").dt.month()


def plain_year(year_end: pl.Expr) -> pl.Expr:
    """The calendar year in which a fiscal year ends, from its last day since 1970."""
    return as_date(year_end - EARLY_JANUARY_DAYS).dt.year()


def as_date(day: pl.Expr) -> pl.Expr:
    """Days since 1970 as a date."""
    return day.cast(pl.Int32).cast(pl.Date)


def years_on(day: pl.Expr, years: pl.Expr) -> pl.Expr:
    """The same day so many years later, as days since 1970; 28 February instead of a missing 29th."""
    return as_date(day).dt.offset_by(pl.format("{}y", years.cast(pl.Int64))).dt.epoch("d").cast(pl.Int64)


def durations_of(facts: pl.DataFrame) -> pl.DataFrame:
    """Facts over a duration, in filing order.

    `cik`, `seq`, `tag`; `start`, `end`, `filed` (days since 1970); `days`, first and last day included; `is_annual`,
    whether the filing is an annual report; `is_current`, whether it is a Form 6-K; `is_transition`, whether it is a
    transition report; `fy` of the filing.
    """
    days = {name: pl.col(name).dt.epoch("d").cast(pl.Int64) for name in ("start", "end", "filed")}
    return facts.filter(pl.col("start").is_not_null()).select(
        "cik",
        "seq",
        "tag",
        "fy",
        **days,
        days=duration_days(),
        is_annual=pl.col("form_family").is_in(ANNUAL_FORMS),
        is_current=pl.col("form_family") == CURRENT_REPORT,
        is_transition=pl.col("form_family").is_in(TRANSITION_REPORTS),
    )


def fiscal_years(durations: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[Rule, Ints]]]:
    """The fiscal years in annual reports.

    A fiscal year is a period of 340 to 390 days in an annual report, stated by at least two elements. Twelve-month
    figures of quarterly reports (Amazon) are not fiscal years. A comparative that overlaps a year that an annual report
    covers is left out.

    Returns:
        the years (`cik`, `start`, `end`), and the decisions of each rule.
    """
    # filers of 40-F may attach their statements to a 6-K, so that the annual report has no facts
    in_6k = pl.col("is_current") & ~pl.col("is_annual").any().over("cik")
    most_elements = pl.col("elements") == pl.col("elements").max().over("cik")
    shown = (
        durations.filter(pl.col("days").is_between(*YEAR_DAYS))
        .with_columns(in_6k=in_6k)
        .filter(ANNUAL_REPORT.where(pl.col("is_annual")) | CURRENT_REPORTS.where(pl.col("in_6k")))
        .with_columns(is_reported=pl.col("end") == pl.col("end").max().over("cik", "seq"))
        .group_by("cik", "start", "end")
        .agg(pl.col("is_reported").any(), pl.col("in_6k").any(), figures=pl.len(), elements=pl.col("tag").n_unique())
        .filter((pl.col("elements") >= FEWEST_ELEMENTS) | most_elements)
        .sort("cik", "end", "start")
    )
    is_same = ONE_YEAR.where((pl.col("end").diff().over("cik") < SAME_END_DAYS).fill_null(value=False))
    one_of_each = (
        shown.with_columns(year=(~is_same).cum_sum())
        .sort("year", "is_reported", "figures", "end", "start", descending=[False, True, True, True, False])
        .unique("year", keep="first", maintain_order=True)
    )
    nearest = one_of_each.join_asof(
        one_of_each.filter("is_reported").select("cik", reported="end"),
        left_on="end",
        right_on="reported",
        by="cik",
        strategy="nearest",
        check_sortedness=False,
    )
    is_near = (pl.col("end") - pl.col("reported")).abs() < YEAR_DAYS[0]
    overlaps = ONE_YEAR.where(~pl.col("is_reported") & is_near.fill_null(value=False))
    years = nearest.filter(~overlaps)
    return years.select("cik", "start", "end"), [
        (ANNUAL_REPORT, ints(years.filter(~pl.col("in_6k")), "cik")),
        (CURRENT_REPORTS, ints(years.filter("in_6k"), "cik")),
        (ONE_YEAR, ints(shown.join(years, on=["cik", "start", "end"], how="anti"), "cik")),
    ]


def transitions(durations: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """The newest transition period of each company whose new fiscal year no annual report covers yet.

    Args:
        durations: of durations_of.
        years: of fiscal_years.

    Returns:
        `cik`; `before`, the last day of the fiscal year before, and `end`, the last day of the transition period.
    """
    own = durations.filter("is_transition").filter(pl.col("end") == pl.col("end").max().over("cik", "seq"))
    periods = own.group_by("cik", "end").agg(pl.col("start").min(), pl.col("days").max())
    former = years.group_by("cik").agg(before=pl.col("end").max())
    follows = (pl.col("start") - 1 - pl.col("before")).abs() < SAME_END_DAYS
    anew = former.join(periods, on="cik").filter(AFTER_TRANSITION.where(follows & (pl.col("days") < YEAR_DAYS[0])))
    return anew.group_by("cik").agg(pl.col("before").first(), pl.col("end").max())


def first_years(durations: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """For companies without an annual report, the years before their years to date: `cik`, `start`, `end`.

    A year to date begins on the day, in any year, on which most figures begin. Only figures of the newest period of a
    report count: comparatives may have more lines than the year itself.
    """
    start, apart = pl.col("start"), pl.col("years_apart")
    begun = (
        durations.join(years, on="cik", how="anti")
        .filter(pl.col("days").is_between(*INTERIM_DAYS))
        .filter(pl.col("end") == pl.col("end").max().over("cik", "seq"))
        .group_by("cik", "start")
        .agg(figures=pl.len())
        .sort("cik", "figures", "start", descending=[False, True, True])
        .with_columns(usual=start.first().over("cik"))
        .with_columns(years_apart=((start - pl.col("usual")) / DAYS_OF_YEAR).round())
        .filter(FIRST_RUNNING.where((years_on(pl.col("usual"), apart) - start).abs() < SAME_END_DAYS))
        .unique(["cik", "years_apart"], keep="first", maintain_order=True)
    )
    return begun.select("cik", start=years_on(start, pl.lit(-1)), end=start - 1)


def named_after_start(durations: pl.DataFrame) -> pl.Series:
    """The companies whose fiscal years are named after the calendar year before the one in which they end.

    The majority of `fy` in the newest five annual reports decides, for the company's whole history.
    """
    named = (
        durations.filter("is_annual", pl.col("days").is_between(*YEAR_DAYS), pl.col("fy").is_not_null())
        .group_by("cik", "seq")
        .agg(pl.col("end").max(), pl.col("fy").first())
        .sort("cik", "seq")
        .with_columns(offset=pl.col("fy") - plain_year(pl.col("end")))
        .filter(pl.col("offset").is_in([0, -1]))
        .group_by("cik", maintain_order=True)
        .agg(is_before=pl.col("offset").tail(YEARS_THAT_NAME).median() == -1)
        .filter(NAMED_AFTER_START.where(pl.col("is_before")))
    )
    return named["cik"]
