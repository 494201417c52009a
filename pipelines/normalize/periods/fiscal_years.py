"""Fiscal years: the periods that annual reports cover, and their names.

Belongs here: the possible lengths of years and quarters, which durations are fiscal years, and their names. Does not:
the quarters within and between them, the place of a fact on the grid (calendar).

`fy`, `fp` and `frame` describe a filing, not a fact: only the name of the year is taken from `fy`, by majority.
"""

import polars as pl

from pipelines.normalize.arrays import Ints, ints
from pipelines.normalize.facts.reports import ANNUAL_FORMS
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
"""A fiscal year needs so many elements in an annual report; a period that only one element states may be another."""

YEARS_THAT_NAME = 5
"""So many of the newest annual reports decide the name of the year. Measured: 22 of 1,214 annual reports of 89 filers
name it inconsistently, up to 7 of one company."""
CURRENT_REPORT = "6-K"

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
    "Years whose ends are less than 8 days apart are the same year: that which a report covers, otherwise that of most "
    "figures. A comparative that ends less than 340 days from a year that a report covers is none.",
    "Measured: filers repeat a year a day off, and a week where a calendar of weeks changes; Regulation S-X Rules 3-01 "
    "and 3-02: annual reports present fiscal years",
    "select",
)
FIRST_RUNNING = Rule(
    "period.year.first-running",
    "The fiscal years of a company without an annual report begin on the day, in any year, on which most years to "
    "date of its reports begin; comparatives do not count.",
    "Regulation S-X Rule 10-01(c): interim statements of income are for the quarter and for the fiscal year to date",
    "select",
    "filers without annual reports",
)
NAMED_AFTER_START = Rule(
    "period.year.named-after-start",
    "A fiscal year is named after the calendar year before the one in which it ends if most of the newest five annual "
    "reports name it so.",
    "Measured on 89 filers: the name of a year is its end's year, or the one before (HD in all of 17 reports)",
    "select",
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
    whether the report is an annual one; `is_current`, whether it is a Form 6-K; `fy` of the filing.
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


def first_years(durations: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """The years before the current ones of companies without an annual report, from the first days of most figures.

    Only figures of the newest period of a report count: comparatives may have more lines than the year itself.
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
    """The companies whose fiscal years are named after the calendar year before that of their end.

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
