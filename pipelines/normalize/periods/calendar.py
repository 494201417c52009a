"""Each company's fiscal calendar, derived from the dates of its filed facts only.

Belongs here: quarter ends, their labels, and the place of a fact on this grid. Does not: fiscal years and their names
(fiscal_years), the time between them (stretches), sums over these periods (ttm), balances at their ends (balance).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import NOTHING, Flags, Ints, ints, picked, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.decisions import counted
from pipelines.normalize.keys import company_key, dates, day_numbers, packed
from pipelines.normalize.periods import fiscal_years
from pipelines.normalize.periods.fiscal_years import (
    INTERIM_DAYS,
    SAME_END_DAYS,
    Decided,
    Durations,
    plain_year,
    quarters_spanned,
)
from pipelines.normalize.periods.stretches import DAYS_OF_YEAR, QUARTERS_A_YEAR, Stretches, stretches
from pipelines.normalize.rule import Rule

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
    "The quarters of the current year, and of years before the first annual report, are counted from the nearest "
    "fiscal year end in years of 365 days.",
    "Regulation S-X Rule 10-01(c): interim statements are for the fiscal quarter and the fiscal year to date",
    "select",
)
NO_FISCAL_PERIOD = Rule(
    "period.no-fiscal-period",
    "A figure whose period does not begin and end within a week of the company's fiscal quarter ends, or does not span "
    "one to four quarters, is left out.",
    "Regulation S-X Rules 3-01, 3-02 and 10-01: statements are for fiscal quarters, years to date and years",
    "withhold",
)
RULES = (MOST_FIGURES, OPEN_YEAR, NO_FISCAL_PERIOD)


@dataclass(frozen=True, slots=True)
class _Ends(Columns):
    """Quarter ends; `q` is the running number of the quarter.

    period_end: end of the quarter; year_end: end of the fiscal year that it belongs to; days since 1970.
    """

    company: Ints
    q: Ints
    period_end: Ints
    year_end: Ints
    fiscal_quarter: Ints
    closed: Flags


def fiscal_grid(facts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every quarter end of every company, in order.

    Args:
        facts: typed facts in filing order (facts.filings).

    Returns:
        grid: `cik`, `q` (running number of the quarter; quarters without facts are missing), `period_end`,
            `previous_end` (null if the quarter before is missing), `fiscal_year`, `fiscal_quarter` (1-4),
            `is_year_end`, and `year_before`, the `q` of the fiscal year end before. The first row of a company is the
            day before its first fiscal year; it is not a period (`fiscal_quarter` is 0).
        decisions: `cik`, `rule`, `figures` (years, quarters).
    """
    durations = Durations.of(facts)
    reported, by_report = fiscal_years.fiscal_years(durations, facts["tag"])
    running, without_report = fiscal_years.first_years(durations, reported)
    spans, between = stretches(reported.followed_by(running), durations)
    offsets, named = fiscal_years.name_offsets(durations)
    ends, by_figures = _quarter_ends(durations, spans)
    return _grid(durations, ends, offsets), counted([*by_report, *without_report, *named, *between, *by_figures])


def _grid(durations: Durations, ends: _Ends, offsets: Ints) -> pl.DataFrame:
    order = np.argsort(packed(ends.company, ends.q))
    company, q, quarter = ends.company[order], ends.q[order], ends.fiscal_quarter[order]
    follows = ~starts(company)
    follows[1:] &= np.diff(q) == 1
    period_end = dates(ends.period_end[order])
    year = plain_year(ends.year_end[order]) + offsets[company]
    return pl.DataFrame(
        {
            "cik": durations.cik[company],
            "q": q.astype(np.int32),
            "period_end": period_end,
            "previous_end": period_end.shift().set(pl.Series(~follows, dtype=pl.Boolean), None),
            "fiscal_year": year.astype(np.int32),
            "fiscal_quarter": quarter.astype(np.int32),
            "is_year_end": (quarter == QUARTERS_A_YEAR) & ends.closed[order],
            "year_before": (q - quarter).astype(np.int32),
        }
    )


def _quarter_ends(durations: Durations, spans: Stretches) -> tuple[_Ends, list[Decided]]:
    """The most frequent end of each quarter of each stretch, and the ends of the stretches themselves.

    Period ends of reports have priority, because after a change of the fiscal year comparatives have other ends.
    """
    reported = _reported_ends(durations)
    place = spans.holding(reported.company, reported.day)
    reported, of = reported.at(place >= 0), spans.at(place[place >= 0])
    days = reported.day - of.before
    # quarters of a gap of several years are counted in years of 365 days
    years_in = np.where(of.closed, 0, days // LONGEST_OPEN_YEAR)
    quarter = quarters_spanned(days - DAYS_OF_YEAR * years_in)
    number = quarter + QUARTERS_A_YEAR * years_in
    first_q, quarters = (column[place[place >= 0]] for column in (spans.first_q, spans.quarters))
    fits = (quarter > 0) & ~(of.closed & (quarter == QUARTERS_A_YEAR)) & (number <= quarters)
    year_end = np.where(of.closed, of.end, _end_of_open_year(of.before, years_in))
    interim = _Ends(reported.company, first_q + number, reported.day, year_end, quarter, of.closed)
    closes = _closes(spans)
    fits &= ~np.isin(company_key(interim.company, interim.q), company_key(closes.company, closes.q))
    order = np.lexsort((-reported.day, -reported.figures, ~reported.is_own, interim.q, reported.company))
    order = order[fits[order]]
    chosen = order[starts(interim.company[order], interim.q[order])]
    is_open = ~of.closed & (of.running | (first_q == 0))
    decided = [
        (MOST_FIGURES, durations.cik[interim.company[chosen]]),
        (OPEN_YEAR, durations.cik[interim.company[chosen[is_open[chosen]]]]),
    ]
    return interim.at(chosen).followed_by(closes, _days_before_first_year(spans)), decided


@dataclass(frozen=True, slots=True)
class _ReportedEnds(Columns):
    """Days on which interim figures end or before which they begin, by company.

    day: days since 1970.
    figures: number of figures that end or begin so.
    is_own: whether the day is the period end of a report.
    """

    company: Ints
    day: Ints
    figures: Ints
    is_own: Flags


def _reported_ends(durations: Durations) -> _ReportedEnds:
    at = np.flatnonzero(durations.lasting(INTERIM_DAYS))
    company, start, end = (column[at] for column in (durations.company, durations.start, durations.end))
    # the first day of a quarter shows the last day of the quarter before
    both, days = np.concatenate([company, company]), np.concatenate([end, start - 1])
    _, first, group, figures = np.unique(
        company_key(both, days), return_index=True, return_inverse=True, return_counts=True
    )
    # most figures of a report are of its own period, or as many of the same period a year before
    _, of_end, in_filing = np.unique(packed(company, durations.seq[at], end), return_index=True, return_counts=True)
    filing = packed(company[of_end], durations.seq[at][of_end])
    most_first = np.lexsort((-end[of_end], -in_filing, filing))
    own = of_end[most_first[starts(filing[most_first])]]
    is_own = np.zeros(len(first), dtype=np.bool_)
    is_own[group[own]] = True
    return _ReportedEnds(both[first], days[first], figures, is_own)


def _closes(spans: Stretches) -> _Ends:
    """The last days of the stretches that have ended."""
    over, quarters = ~spans.running, spans.quarters
    year_end = np.where(spans.closed, spans.end, _end_of_open_year(spans.before, (quarters - 1) // QUARTERS_A_YEAR))
    fiscal_quarter = (quarters - 1) % QUARTERS_A_YEAR + 1
    return _Ends(spans.company, spans.first_q + quarters, spans.end, year_end, fiscal_quarter, spans.closed).at(over)


def _days_before_first_year(spans: Stretches) -> _Ends:
    """The day before the first stretch of each company."""
    first = spans.at(starts(spans.company))
    zero = np.zeros(len(first.company), dtype=np.int64)
    return _Ends(first.company, zero, first.before, first.before, zero, zero > 0)


def _end_of_open_year(before: Ints, years_in: Ints) -> Ints:
    """The expected end of a year without annual report: 365 days for each year after the last known end."""
    return before + DAYS_OF_YEAR * (years_in + 1)


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
    cik, is_instant = ints(vintages, "cik"), vintages["start"].is_null().to_numpy()
    companies = np.unique(ints(grid, "cik"))
    company = np.searchsorted(companies, cik)
    company[np.append(companies, 0)[company] != cik] = -1
    start, end = day_numbers(vintages["start"]), day_numbers(vintages["end"])
    ends = company_key(np.searchsorted(companies, ints(grid, "cik")), day_numbers(grid["period_end"]))
    order = np.argsort(ends, kind="stable")
    quarter, day = ints(grid, "q")[order], day_numbers(grid["period_end"])[order]
    ends_at = _nearest(ends[order], company_key(company, end))
    starts_at = np.full(len(cik), NOTHING)
    starts_at[~is_instant] = _nearest(ends[order], company_key(company, start - 1)[~is_instant])
    n = np.where(is_instant, 0, picked(quarter, ends_at) - picked(quarter, starts_at))
    days = picked(day, ends_at) - picked(day, starts_at)
    spanned = quarters_spanned(end - start + 1)
    fits = (ends_at >= 0) & (company >= 0) & (is_instant | ((spanned > 0) & (spanned == n)))
    placed = vintages.filter(fits).with_columns(
        q=picked(quarter, ends_at)[fits].astype(np.int32),
        n=n[fits].astype(np.int32),
        days=pl.Series(days[fits], nan_to_null=True).cast(pl.Int64),
    )
    return placed, counted([(NO_FISCAL_PERIOD, cik[~fits])])


def _nearest(ends: Ints, days: Ints) -> Ints:
    """The row of the end that is nearest to each day and less than SAME_END_DAYS away; NOTHING if there is none.

    Args:
        ends: sorted keys of company and day.
        days: keys of company and day.
    """
    if not len(ends):
        return np.full(len(days), NOTHING)
    after = np.searchsorted(ends, days)
    before, after = np.maximum(after - 1, 0), np.minimum(after, len(ends) - 1)
    nearest = np.where(np.abs(ends[after] - days) <= np.abs(ends[before] - days), after, before)
    return np.where(np.abs(ends[nearest] - days) < SAME_END_DAYS, nearest, NOTHING)
