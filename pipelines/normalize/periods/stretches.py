"""Stretches: the division of each company's time into fiscal years and the time before, between and after them.

Belongs here: first and last days of stretches, and the number of their quarters. Does not: which fiscal years there are
(fiscal_years), the ends of quarters (calendar).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Ints, first_row, picked, starts
from pipelines.normalize.columns import Columns
from pipelines.normalize.keys import company_key, largest_of
from pipelines.normalize.periods.fiscal_years import (
    INTERIM_DAYS,
    QUARTER_BANDS,
    SAME_END_DAYS,
    YEAR_DAYS,
    Decided,
    Durations,
    Years,
    years_on,
)
from pipelines.normalize.rule import Rule

QUARTERS_A_YEAR = 4
DAYS_OF_QUARTER, DAYS_OF_YEAR = 91.3, 365
"""Lengths of quarters and years in days where no report states their ends."""
NEARLY_A_YEAR = (QUARTER_BANDS[2][2], YEAR_DAYS[0])
"""A stretch of ten or eleven months (more than the first, fewer than the second number of days) has four quarters:
three full ones and a shortened one."""

HOLE = Rule(
    "period.quarter.hole",
    "Time between two fiscal years without an annual report (a transition period, a missing report) is divided into "
    "quarters of 91.3 days, and is not a fiscal year.",
    "Exchange Act Rule 13a-10: a transition period is reported on its own",
    "select",
)
RULES = (HOLE,)


@dataclass(frozen=True, slots=True)
class Stretches(Columns):
    """One row a stretch, by company and day; days are counted since 1970.

    company: place of the company in Durations.
    before: the day before the first day; end: the last day.
    closed: whether it is a fiscal year; false for the current year, transition periods and years without report.
    running: whether it is the current year.
    """

    company: Ints
    before: Ints
    end: Ints
    closed: Flags
    running: Flags

    @property
    def quarters(self) -> Ints:
        """The number of quarters of each stretch."""
        days = self.end - self.before
        by_days = np.round(days / DAYS_OF_QUARTER).astype(np.int64)
        is_nearly_a_year = (days > NEARLY_A_YEAR[0]) & (days < NEARLY_A_YEAR[1])
        return np.maximum(np.where(self.closed | is_nearly_a_year, QUARTERS_A_YEAR, by_days), 1)

    @property
    def first_q(self) -> Ints:
        """The running number of the quarter before each stretch."""
        so_far = np.cumsum(self.quarters) - self.quarters
        numbers: Ints = so_far - so_far[first_row(starts(self.company))]
        return numbers

    @property
    def between(self) -> Flags:
        """Whether each stretch is between two fiscal years."""
        return ~self.closed & ~self.running & ~starts(self.company)

    def holding(self, company: Ints, day: Ints) -> Ints:
        """The row of the stretch that contains each day; NOTHING for days before the first one."""
        eves = company_key(self.company, self.before)
        place = np.searchsorted(eves, company_key(company, day - 1), side="right") - 1
        return np.where((place >= 0) & (picked(self.company, place) == company), place, NOTHING)


def stretches(years: Years, durations: Durations) -> tuple[Stretches, list[Decided]]:
    """The fiscal years and the time before, between and after them.

    After the last fiscal year there is one more year, or as many as the interim reports after it need. If interim
    reports come before the first annual report, as many years as they need are added before the first fiscal year.

    Args:
        years: fiscal years in any order.
        durations: facts.
    """
    years = years.at(np.lexsort((years.start, years.end, years.company)))
    company, before = years.company, years.start - 1
    begins = starts(company)
    last_end = np.concatenate([years.end[:1], years.end[:-1]])
    gap = np.where(begins, 0, before - last_end)
    is_shifted, is_apart = ~begins & (np.abs(gap) < SAME_END_DAYS), gap >= SAME_END_DAYS
    closed = _stretches(company, np.where(is_shifted, last_end, before), years.end, closed=True)
    between = _stretches(company[is_apart], last_end[is_apart], before[is_apart])
    known = company[begins]
    first, last = (largest_of(company, len(durations.cik), days)[known] for days in (-before, years.end))
    first = -first
    years_before, years_after = _years_beyond(durations, known, first, last)
    needed = years_before > 0
    prelude = _stretches(known[needed], years_on(first, -years_before)[needed], first[needed])
    running = _stretches(known, last, years_on(last, years_after), running=True)
    found = prelude.followed_by(closed, between, running)
    return found.at(np.lexsort((found.before, found.company))), [(HOLE, durations.cik[between.company])]


def _stretches(company: Ints, before: Ints, end: Ints, *, closed: bool = False, running: bool = False) -> Stretches:
    return Stretches(company, before, end, np.full(len(company), closed), np.full(len(company), running))


def _years_beyond(durations: Durations, known: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The number of years that interim figures need before a company's first and after its last year (at least one).

    Figures of periods that end after their filing are errors and are not used.

    Args:
        durations: facts.
        known: the companies that have years.
        first: for each of those, the day before its first year; last: the last day of its last one.
    """
    companies = len(durations.cik)
    at = durations.lasting(INTERIM_DAYS) & (durations.end <= durations.filed)
    earliest, latest = np.zeros(companies, dtype=np.int64), np.zeros(companies, dtype=np.int64)
    earliest[known], latest[known] = first, last
    np.minimum.at(earliest, durations.company[at], durations.start[at] - 1)
    np.maximum.at(latest, durations.company[at], durations.end[at])
    years_before, years_after = (
        np.maximum((days - SAME_END_DAYS) // DAYS_OF_YEAR + 1, 0)
        for days in (first - earliest[known], latest[known] - last)
    )
    return years_before, np.maximum(years_after, 1)
