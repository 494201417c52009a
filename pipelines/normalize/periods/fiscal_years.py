"""Fiscal years: the stretches of time that annual reports are about, and what companies call them.

Belongs here: how long a year and a quarter may be, which durations are fiscal years, and their names. Does not: the
quarters within and between them, and the place of a fact on that grid (calendar).

`fy`, `fp` and `frame` describe a filing, not a fact: only the year's name is taken from `fy`, by majority.
"""

import polars as pl

from pipelines.normalize.facts.reports import ANNUAL_FORMS

SAME_END_DAYS = 8
"""Ends less than this apart are one end: filers shift a period by a day, and a week where a calendar changes."""

INTERIM_DAYS, YEAR_DAYS = (75, 300), (340, 390)
QUARTER_BANDS: tuple[tuple[int, int, int], ...] = ((1, 75, 125), (2, 150, 215), (3, 230, 300), (4, 340, 390))
"""(quarters, fewest days, most days): wide enough for 12/12/12/16 and 16/12/12/12 weeks, and never overlapping."""

EARLY_JANUARY_DAYS = 10
"""A year that ends in the first ten days of a month belongs to the month before (JNJ: 3 January)."""

YEARS_THAT_NAME = 5


def duration_days() -> pl.Expr:
    """Days of a duration, both ends counted."""
    return (pl.col("end") - pl.col("start")).dt.total_days() + 1


def quarters_spanned(days: pl.Expr) -> pl.Expr:
    """1 to 4 quarters by the number of days; null where it is no such stretch."""
    spanned = pl.lit(None, pl.Int32)
    for quarters, fewest, most in QUARTER_BANDS:
        spanned = pl.when(days.is_between(fewest, most)).then(pl.lit(quarters, pl.Int32)).otherwise(spanned)
    return spanned


def nominal_month(year_end: pl.Expr) -> pl.Expr:
    """Month that a fiscal year end stands for: the first ten days count to the month before."""
    return year_end.dt.offset_by(f"-{EARLY_JANUARY_DAYS}d").dt.month()


def fiscal_years(facts: pl.DataFrame) -> pl.DataFrame:
    """The fiscal years that annual reports show: `cik`, `year_start`, `year_end`.

    A year is a stretch of 340 to 390 days in an annual report, stated by at least two elements. Twelve-month
    figures of quarterly reports (Amazon) are no fiscal years. A comparative that overlaps a year some annual
    report is about is dropped.
    """
    of_a_year = facts.filter(pl.col("start").is_not_null(), duration_days().is_between(*YEAR_DAYS))
    is_annual = pl.col("form_family").is_in(ANNUAL_FORMS)
    # 40-F filers may attach their statements to a 6-K, and the annual report itself has no facts
    has_none = ~is_annual.any().over("cik") & (pl.col("form_family") == "6-K")
    years = (
        of_a_year.filter(is_annual | has_none)
        .with_columns(reported=pl.col("end") == pl.col("end").max().over("cik", "accession"))
        .group_by("cik", "start", "end")
        .agg(pl.len(), elements=pl.col("tag").n_unique(), reported=pl.col("reported").any())
        .filter((pl.col("elements") >= 2) | (pl.col("elements") == pl.col("elements").max().over("cik")))
    )
    snapped = _snapped(years, "end", by=["reported", "len"]).rename({"start": "year_start", "end": "year_end"})
    reported = snapped.filter("reported").select("cik", reported_end="year_end")
    near = (
        snapped.filter(~pl.col("reported"))
        .join(reported, on="cik")
        .filter((pl.col("year_end") - pl.col("reported_end")).dt.total_days().abs() < YEAR_DAYS[0])
        .select("cik", "year_end")
        .unique()
    )
    return (
        snapped.join(near, on=["cik", "year_end"], how="anti")
        .select("cik", "year_start", "year_end")
        .sort("cik", "year_end")
    )


def year_names(facts: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `name_offset`: 0 where a fiscal year is named after the year it ends in, -1 after the one before.

    By majority of `fy` in the newest five annual reports, constant through the company's history.
    """
    reports = (
        facts.filter(pl.col("form_family").is_in(ANNUAL_FORMS), pl.col("start").is_not_null())
        .filter(duration_days().is_between(*YEAR_DAYS), pl.col("fy").is_not_null())
        .group_by("cik", "accession", "filed")
        .agg(pl.col("end").max(), pl.col("fy").first())
        .with_columns(offset=pl.col("fy") - plain_year(pl.col("end")))
        .filter(pl.col("offset").is_in([0, -1]))
        .sort("cik", "filed", "accession")
        .group_by("cik", maintain_order=True)
        .tail(YEARS_THAT_NAME)
    )
    offsets = reports.group_by("cik").agg(
        name_offset=pl.when((pl.col("offset") == -1).mean() > 0.5).then(-1).otherwise(0).cast(pl.Int32)
    )
    return (
        years.select("cik")
        .unique()
        .join(offsets, on="cik", how="left")
        .with_columns(pl.col("name_offset").fill_null(0))
    )


def plain_year(year_end: pl.Expr) -> pl.Expr:
    """The year that a fiscal year ends in."""
    return year_end.dt.offset_by(f"-{EARLY_JANUARY_DAYS}d").dt.year()


def first_years(facts: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """The running year of companies that have filed no annual report yet, from their longest year to date."""
    return (
        facts.join(years, on="cik", how="anti")
        .filter(pl.col("start").is_not_null(), duration_days().is_between(*INTERIM_DAYS))
        .group_by("cik", "start")
        .len()
        .sort("cik", "len", "start")
        .group_by("cik", maintain_order=True)
        .last()
        .select(
            "cik",
            year_start=pl.col("start").dt.offset_by("-1y"),
            year_end=pl.col("start").dt.offset_by("-1d"),
        )
    )


def _snapped(frame: pl.DataFrame, end: str, by: list[str]) -> pl.DataFrame:
    """One row for ends less than SAME_END_DAYS apart: the one that is largest in `by`."""
    cluster = (pl.col(end).diff().dt.total_days() >= SAME_END_DAYS).fill_null(value=True).cum_sum().over("cik")
    return (
        frame.sort("cik", end)
        .with_columns(cluster=cluster)
        .sort("cik", "cluster", *by, end, descending=[False, False, *[True] * len(by), True])
        .unique(["cik", "cluster"], keep="first", maintain_order=True)
        .drop("cluster")
    )
