"""Fiscal years: the periods that annual reports cover, and their names.

Belongs here: the possible lengths of years and quarters, which durations are fiscal years, and their names. Does not:
the quarters within and between them, the place of a fact on the grid (calendar).

`fy`, `fp` and `frame` describe a filing, not a fact: only the name of the year is taken from `fy`, by majority.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.arrays import Flags, Ints, flags, ints, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.facts.reports import ANNUAL_FORMS
from pipelines.normalize.keys import any_of, company_key, day_numbers, largest_of, packed
from pipelines.normalize.rule import Rule

Decided = tuple[Rule, Ints]
"""A rule and the CIK of each of its decisions."""

SAME_END_DAYS = 8
"""Ends that are fewer days apart count as the same: filers shift a period by a day, or by a week if a calendar
changes."""

INTERIM_DAYS, YEAR_DAYS = (75, 300), (340, 390)
"""Fewest and most days of one to three quarters (12 to 40 weeks), and of a year (52 or 53 weeks with a shifted end)."""
QUARTER_BANDS: tuple[tuple[int, int, int], ...] = ((1, 75, 125), (2, 150, 215), (3, 230, 300), (4, 340, 390))
"""(quarters, fewest days, most days): wide enough for 12/12/12/16 and 16/12/12/12 weeks, and never overlapping."""

DAYS_OF_YEAR = 365.25
"""On average."""

EARLY_JANUARY_DAYS = 10
"""A year that ends in the first ten days of a month counts as ending in the month before (JNJ: 3 January)."""

FEWEST_ELEMENTS = 2
"""A fiscal year needs so many elements in an annual report; a period that only one element states may be another."""

YEARS_THAT_NAME = 5
"""So many of the newest annual reports decide the name of the year. Measured: 22 of 1,214 annual reports of 89 filers
name it inconsistently, up to 7 of one company."""
MAJORITY = 0.5
"""More than this share of the reports must agree."""

CURRENT_REPORT = "6-K"
NO_YEAR = np.iinfo(np.int32).min
"""Value of `fy` for a fact without it."""

ANNUAL_PERIODS = "Regulation S-X Rules 3-01 and 3-02: annual reports present audited statements of fiscal years"
NAMES = "Measured on 89 filers: the name of a year is its end's year, or the one before (HD in all of 17 reports)"

ANNUAL_REPORT = Rule(
    "period.year.annual-report",
    "A fiscal year is a period of 340 to 390 days for which an annual report has at least two elements, or as many "
    "elements as for any other year of the company.",
    ANNUAL_PERIODS,
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
    "Years whose ends are less than 8 days apart are the same year; the dates of the year that a report covers are "
    "used, and otherwise those of most figures.",
    "Measured: filers repeat a year a day off, and a week where a calendar of weeks changes",
    "select",
)
OVERLAPPING = Rule(
    "period.year.overlapping-comparative",
    "A year that is only a comparative and ends less than 340 days from a year that an annual report covers is not a "
    "fiscal year of the company.",
    ANNUAL_PERIODS,
    "withhold",
)
FIRST_RUNNING = Rule(
    "period.year.first-running",
    "The fiscal years of a company without an annual report begin on the day on which most years to date that its "
    "reports cover begin, and on days some years before or after it on which others begin; comparatives do not count.",
    "Regulation S-X Rule 10-01(c): interim statements of income are for the quarter and for the fiscal year to date",
    "select",
    "filers without annual reports",
)
NAMED_AFTER_START = Rule(
    "period.year.named-after-start",
    "A fiscal year is named after the calendar year before the one in which it ends if most of the newest five annual "
    "reports name it so.",
    NAMES,
    "select",
)
RULES = (ANNUAL_REPORT, CURRENT_REPORTS, ONE_YEAR, OVERLAPPING, FIRST_RUNNING, NAMED_AFTER_START)


def duration_days() -> pl.Expr:
    """Days of a duration, first and last day included."""
    return (pl.col("end") - pl.col("start")).dt.total_days() + 1


def quarters_spanned(days: Ints) -> Ints:
    """The number of quarters (1 to 4) of a duration in days; 0 for other lengths."""
    spanned = np.zeros(len(days), dtype=np.int64)
    for quarters, fewest, most in QUARTER_BANDS:
        spanned[(days >= fewest) & (days <= most)] = quarters
    return spanned


def nominal_month(year_end: pl.Expr) -> pl.Expr:
    """The month of a fiscal year end; the first ten days of a month count as the month before."""
    return year_end.dt.offset_by(f"-{EARLY_JANUARY_DAYS}d").dt.month()


def plain_year(year_end: Ints) -> Ints:
    """The calendar year in which a fiscal year ends, from its last day since 1970."""
    years: Ints = _dates(year_end - EARLY_JANUARY_DAYS).astype("datetime64[Y]").astype(np.int64) + 1970
    return years


def years_on(day: Ints, years: Ints) -> Ints:
    """The same day so many years later, as days since 1970; 28 February instead of a missing 29th."""
    month = _dates(day).astype("datetime64[M]")
    day_of_month = day - month.astype("datetime64[D]").astype(np.int64)
    later = month + 12 * years
    after = later + np.timedelta64(1, "M")
    first, next_first = (each.astype("datetime64[D]").astype(np.int64) for each in (later, after))
    there: Ints = np.minimum(first + day_of_month, next_first - 1)
    return there


def _dates(days: Ints) -> npt.NDArray[np.datetime64]:
    return days.astype("datetime64[D]")


@dataclass(frozen=True, slots=True)
class Durations:
    """Facts over a duration, as arrays; days are counted since 1970.

    cik: the companies, in order; `company` is the place of a fact's company in it.
    row: row of the frame of facts.
    seq: place of the filing among the company's filings.
    start, end: first and last day.
    filed: day of filing.
    is_annual: whether the report is an annual one; is_current: whether it is a Form 6-K.
    fiscal_year: `fy` of the filing; NO_YEAR if it has none.
    """

    cik: Ints
    row: Ints
    company: Ints
    seq: Ints
    start: Ints
    end: Ints
    filed: Ints
    is_annual: Flags
    is_current: Flags
    fiscal_year: Ints

    @classmethod
    def of(cls, facts: pl.DataFrame) -> "Durations":
        """Make them from facts in filing order (facts.filings)."""
        row = np.flatnonzero(facts["start"].is_not_null().to_numpy())
        chosen = facts.select(
            "cik",
            "seq",
            "start",
            "end",
            "filed",
            is_annual=pl.col("form_family").is_in(ANNUAL_FORMS),
            is_current=pl.col("form_family") == CURRENT_REPORT,
            fiscal_year=pl.col("fy").fill_null(NO_YEAR),
        )
        cik, seq, fiscal_year = (ints(chosen, name)[row] for name in ("cik", "seq", "fiscal_year"))
        start, end, filed = (day_numbers(chosen[name])[row] for name in ("start", "end", "filed"))
        is_annual, is_current = (flags(chosen, name)[row] for name in ("is_annual", "is_current"))
        companies = np.unique(cik)
        company = np.searchsorted(companies, cik)
        return cls(companies, row, company, seq, start, end, filed, is_annual, is_current, fiscal_year)

    def lasting(self, days: tuple[int, int]) -> Flags:
        """Whether the length of each is within fewest and most days, first and last day included."""
        lasts = self.end - self.start + 1
        return (lasts >= days[0]) & (lasts <= days[1])


@dataclass(frozen=True, slots=True)
class Years(Columns):
    """One row a fiscal year; days are counted since 1970.

    company: place of the company in Durations.
    start, end: first and last day.
    """

    company: Ints
    start: Ints
    end: Ints


def fiscal_years(durations: Durations, tags: pl.Series) -> tuple[Years, list[Decided]]:
    """The fiscal years in annual reports.

    A fiscal year is a period of 340 to 390 days in an annual report, stated by at least two elements. Twelve-month
    figures of quarterly reports (Amazon) are not fiscal years. A comparative that overlaps a year that an annual report
    covers is left out.

    Args:
        durations: facts.
        tags: the element of each row of the frame of facts.

    Returns:
        the years, and the decisions of each rule.
    """
    at, has_no_report = _of_annual_reports(durations)
    company, start, end = (column[at] for column in (durations.company, durations.start, durations.end))
    filings, filing = np.unique(packed(company, durations.seq[at]), return_inverse=True)
    is_reported = end == largest_of(filing, len(filings), end)[filing]
    _, first, period, figures = np.unique(
        packed(company, start, end), return_index=True, return_inverse=True, return_counts=True
    )
    tag = tags[durations.row[at]].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    each_once = np.unique(packed(period, tag), return_index=True)[1]
    elements = np.bincount(period[each_once], minlength=len(first))
    shown = _ShownYears(company[first], start[first], end[first], any_of(period, len(first), is_reported), figures)
    most = largest_of(shown.company, len(durations.cik), elements)[shown.company]
    shown = shown.at((elements >= FEWEST_ELEMENTS) | (elements == most))
    kept = _one_of_each_end(shown)
    repeated = np.delete(shown.company, kept)
    shown = shown.at(kept)
    overlaps = ~shown.is_reported & _is_near(shown, shown.at(shown.is_reported), YEAR_DAYS[0])
    years = Years(shown.company, shown.start, shown.end).at(~overlaps)
    is_current = has_no_report[years.company]
    return years, [
        (ANNUAL_REPORT, durations.cik[years.company[~is_current]]),
        (CURRENT_REPORTS, durations.cik[years.company[is_current]]),
        (ONE_YEAR, durations.cik[repeated]),
        (OVERLAPPING, durations.cik[shown.company[overlaps]]),
    ]


def _of_annual_reports(durations: Durations) -> tuple[Ints, Flags]:
    """Places of the durations of a year in annual reports, and the companies for which Forms 6-K are used instead."""
    of_year = np.flatnonzero(durations.lasting(YEAR_DAYS))
    company, is_annual = durations.company[of_year], durations.is_annual[of_year]
    has_none = ~any_of(company, len(durations.cik), is_annual)
    # filers of 40-F may attach their statements to a 6-K, so that the annual report has no facts
    return of_year[is_annual | (has_none[company] & durations.is_current[of_year])], has_none


@dataclass(frozen=True, slots=True)
class _ShownYears(Columns):
    """Periods of a year in annual reports, by company.

    is_reported: whether it is the newest year in a report, and therefore the year that the report covers.
    figures: number of figures of the period.
    """

    company: Ints
    start: Ints
    end: Ints
    is_reported: Flags
    figures: Ints


def _one_of_each_end(shown: _ShownYears) -> Ints:
    """One row of each group of years whose ends are less than SAME_END_DAYS apart.

    The year that a report covers is kept; otherwise the one with most figures, then the one that ends last.
    """
    order = np.lexsort((shown.start, shown.end, shown.company))
    begins = starts(shown.company[order])
    begins[1:] |= np.diff(shown.end[order]) >= SAME_END_DAYS
    cluster = np.empty(len(order), dtype=np.int64)
    cluster[order] = np.cumsum(begins)
    best_first = np.lexsort((shown.start, -shown.end, -shown.figures, ~shown.is_reported, cluster))
    return best_first[starts(cluster[best_first])]


def _is_near(shown: _ShownYears, others: _ShownYears, days: int) -> Flags:
    """Whether a year ends less than so many days from the end of one of the company's `others`, which are sorted."""
    near = np.zeros(len(shown.company), dtype=np.bool_)
    if len(others.company):
        ends, of_others = company_key(shown.company, shown.end), company_key(others.company, others.end)
        after = np.searchsorted(of_others, ends)
        for place in (np.maximum(after - 1, 0), np.minimum(after, len(of_others) - 1)):
            near |= np.abs(of_others[place] - ends) < days
    return near


def first_years(durations: Durations, years: Years) -> tuple[Years, list[Decided]]:
    """The years before the current ones of companies without an annual report, from the first days of most figures.

    Only figures of the newest period of a report count: comparatives may have more lines than the year itself.
    """
    has_year = np.isin(np.arange(len(durations.cik)), years.company)
    at = np.flatnonzero(~has_year[durations.company] & durations.lasting(INTERIM_DAYS))
    filings, filing = np.unique(packed(durations.company[at], durations.seq[at]), return_inverse=True)
    at = at[durations.end[at] == largest_of(filing, len(filings), durations.end[at])[filing]]
    _, first, figures = np.unique(
        packed(durations.company[at], durations.start[at]), return_index=True, return_counts=True
    )
    company, start = durations.company[at][first], durations.start[at][first]
    most_first = np.lexsort((-start, -figures, company))
    chosen = most_first[starts(company[most_first])]
    usual = start[chosen][np.searchsorted(company[chosen], company)]
    years_apart = np.round((start - usual) / DAYS_OF_YEAR).astype(np.int64)
    is_same_day = np.abs(years_on(usual, years_apart) - start) < SAME_END_DAYS
    of_each = np.lexsort((-start, -figures, years_apart, company))
    of_each = of_each[is_same_day[of_each]]
    chosen = of_each[starts(company[of_each], years_apart[of_each])]
    company, start = company[chosen], start[chosen]
    running = Years(company, years_on(start, np.full(len(start), -1)), start - 1)
    return running, [(FIRST_RUNNING, durations.cik[company])]


def name_offsets(durations: Durations) -> tuple[Ints, list[Decided]]:
    """For each company 0 if fiscal years are named after the calendar year of their end, -1 if after the year before.

    The majority of `fy` in the newest five annual reports decides, for the company's whole history.
    """
    at = np.flatnonzero(durations.is_annual & durations.lasting(YEAR_DAYS) & (durations.fiscal_year != NO_YEAR))
    _, first, filing = np.unique(
        packed(durations.company[at], durations.seq[at]), return_index=True, return_inverse=True
    )
    end = largest_of(filing, len(first), durations.end[at])
    offset = durations.fiscal_year[at][first] - plain_year(end)
    is_name = (offset == 0) | (offset == -1)
    company, offset = durations.company[at][first][is_name], offset[is_name]
    # rows are in the order of filing, so the last ones of each company are its newest
    from_last = np.searchsorted(company, company, side="right") - np.arange(len(company))
    is_newest = from_last <= YEARS_THAT_NAME
    company, offset = company[is_newest], offset[is_newest]
    number = np.bincount(company, minlength=len(durations.cik))
    before = np.bincount(company, weights=offset == -1, minlength=len(durations.cik))
    is_before = before > MAJORITY * number
    return np.where(is_before, -1, 0), [(NAMED_AFTER_START, durations.cik[is_before])]
