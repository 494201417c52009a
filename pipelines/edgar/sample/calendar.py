"""Fiscal calendars of simulated filers: where years and quarters begin and end.

Belongs here: dates only. Does not: when something is filed, or what a business does in a quarter.
"""

import calendar as months
from dataclasses import dataclass
from datetime import date, timedelta

ONE_DAY = timedelta(days=1)
FOUR_QUARTERS = (1, 2, 3, 4)


@dataclass(frozen=True, order=True)
class Period:
    """The days from `start` to `end`, both included."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """How many days the period has."""
        return (self.end - self.start).days + 1


@dataclass(frozen=True)
class FiscalYear:
    """A fiscal year of four quarters; `label` is the year that the company calls it by."""

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


@dataclass(frozen=True, kw_only=True)
class FiscalCalendar:
    """How a company cuts time into fiscal years and quarters.

    month: the month that the fiscal year nominally ends in.
    weekday: None where years end on the month's last day; else the weekday (Monday 0) that they end on.
    nearest: the weekday nearest to the month's end, which may be early in the next month; else the month's last one.
    weeks: weeks of the quarters in a year of 52; a 53rd week goes to the last quarter.
    named_after_start: the fiscal year bears the number of the calendar year that it starts in.
    """

    month: int = 12
    weekday: int | None = None
    nearest: bool = False
    weeks: tuple[int, int, int, int] = (13, 13, 13, 13)
    named_after_start: bool = False

    def year_end(self, label: int) -> date:
        """The last day of the fiscal year called `label`."""
        last = _month_end(label + self.named_after_start, self.month)
        if self.weekday is None:
            return last
        latest = last + timedelta(days=3) if self.nearest else last
        return latest - timedelta(days=(latest.weekday() - self.weekday) % 7)

    def year(self, label: int) -> FiscalYear:
        """The fiscal year called `label` with its quarters."""
        start, end = self.year_end(label - 1) + ONE_DAY, self.year_end(label)
        starts = [start, *self._later_starts(start, label)]
        ends = [later - ONE_DAY for later in starts[1:]] + [end]
        return FiscalYear(label, tuple(Period(first, last) for first, last in zip(starts, ends, strict=True)))

    def _later_starts(self, start: date, label: int) -> list[date]:
        """First days of the second, third and fourth quarter."""
        if self.weekday is not None:
            return [start + timedelta(weeks=sum(self.weeks[:n])) for n in (1, 2, 3)]
        last = (label + self.named_after_start) * 12 + self.month - 1
        return [_month_end(*_month(last - 12 + 3 * n)) + ONE_DAY for n in (1, 2, 3)]


def _month(ordinal: int) -> tuple[int, int]:
    """Year and month of the month with this number since year 0."""
    return ordinal // 12, ordinal % 12 + 1


def _month_end(year: int, month: int) -> date:
    return date(year, month, months.monthrange(year, month)[1])
