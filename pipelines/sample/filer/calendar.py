"""Fiscal calendars of simulated filers: first and last days of years and quarters.

Belongs here: dates only. Does not: filing dates (schedule), amounts of a quarter (books).
"""

import calendar as months
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

ONE_DAY = timedelta(days=1)
FOUR_QUARTERS = (1, 2, 3, 4)
QUARTER_MONTHS = 3


@dataclass(frozen=True, order=True)
class Period:
    """The days from `start` to `end`, both included."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """Number of days in the period."""
        return (self.end - self.start).days + 1


@dataclass(frozen=True)
class FiscalYear:
    """A fiscal year of four quarters, or a transition period of fewer; `label` is the company's number for the year."""

    label: int
    quarters: tuple[Period, ...]

    @property
    def start(self) -> date:
        """First day."""
        return self.quarters[0].start

    @property
    def end(self) -> date:
        """Last day."""
        return self.quarters[-1].end

    @property
    def last(self) -> int:
        """The number of its last quarter, which the annual (or transition) report covers."""
        return len(self.quarters)


@dataclass(frozen=True, kw_only=True)
class NewYearEnd:
    """From `year` on fiscal years end with `month`: that year is a transition period of one to three quarters."""

    year: int
    month: int


@dataclass(frozen=True, kw_only=True)
class FiscalCalendar:
    """How a company divides time into fiscal years and quarters.

    month: the month in which the fiscal year nominally ends.
    weekday: the weekday (Monday is 0) on which years end; None: years end on the month's last day.
    nearest: years end on the weekday nearest to the month's end, possibly in the next month; otherwise on the month's
        last such weekday.
    weeks: weeks of the quarters in a year of 52 weeks; a 53rd week is added to the last quarter.
    named_after_start: the fiscal year has the number of the calendar year in which it starts.
    change: a change of the fiscal year end, or None.

    Raises ValueError for a change that is not a whole number of quarters to an earlier month, and for a change of a
    calendar of weeks.
    """

    month: int = 12
    weekday: int | None = None
    nearest: bool = False
    weeks: tuple[int, int, int, int] = (13, 13, 13, 13)
    named_after_start: bool = False
    change: NewYearEnd | None = None

    def __post_init__(self) -> None:
        """Refuse a change whose transition period is not a whole number of quarters."""
        if self.change and (self.weekday is not None or self.month - self.change.month not in (3, 6, 9)):
            raise ValueError(
                f"the year end moves from month {self.month} to {self.change.month}, expected the end of a month"
                " that is 3, 6 or 9 months earlier in the year"
            )

    def year_end(self, label: int) -> date:
        """The last day of the fiscal year called `label`."""
        last = _month_end(label + self.named_after_start, self._month_of(label))
        if self.weekday is None:
            return last
        latest = last + timedelta(days=3) if self.nearest else last
        return latest - timedelta(days=(latest.weekday() - self.weekday) % 7)

    def year(self, label: int) -> FiscalYear:
        """The fiscal year called `label`, with its quarters."""
        return _year(self, label)

    def _month_of(self, label: int) -> int:
        return self.change.month if self.change and label >= self.change.year else self.month

    def later_starts(self, start: date, label: int) -> list[date]:
        """First days of the quarters after the first."""
        if self.weekday is not None:
            return [start + timedelta(weeks=sum(self.weeks[:n])) for n in (1, 2, 3)]
        is_transition = self.change is not None and label == self.change.year
        months_long = 12 - (self.month - self._month_of(label)) if is_transition else 12
        last = (label + self.named_after_start) * 12 + self._month_of(label) - 1
        ends = range(last - months_long + QUARTER_MONTHS, last, QUARTER_MONTHS)
        return [_month_end(*_month(end)) + ONE_DAY for end in ends]


def _month(ordinal: int) -> tuple[int, int]:
    """Year and month of the month with this number since year 0."""
    return ordinal // 12, ordinal % 12 + 1


@cache
def _year(calendar: FiscalCalendar, label: int) -> FiscalYear:
    """A fiscal year with its quarters, computed once and cached: a filer's years are needed for each column."""
    start, end = calendar.year_end(label - 1) + ONE_DAY, calendar.year_end(label)
    starts = [start, *calendar.later_starts(start, label)]
    ends = [later - ONE_DAY for later in starts[1:]] + [end]
    return FiscalYear(label, tuple(Period(first, last) for first, last in zip(starts, ends, strict=True)))


def _month_end(year: int, month: int) -> date:
    return date(year, month, months.monthrange(year, month)[1])
