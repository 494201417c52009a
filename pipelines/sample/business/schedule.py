"""Filing dates of a simulated filer, and the revisions and splits that were known at each date.

Belongs here: dates of filings. Does not: the reported facts (filings).
"""

from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from random import Random

from pipelines.sample.filer.traits import Filer, Kind, RevisedBy, Revision, Split

SATURDAY = 5
# days from the period's end until the report, earliest and latest
INTERIM_DAYS = (30, 40)
ANNUAL_DAYS = {Kind.FOREIGN: (70, 90), Kind.FUND: (60, 70)}
ANNUAL_DAYS_DOMESTIC = (40, 46)
HALF_YEAR = 2
AMENDED_AFTER = timedelta(days=35)  # before the next quarter's report


def business_day(day: date) -> date:
    """The day itself, or the following Monday if it is on a weekend."""
    return day + timedelta(days=max(0, 7 - day.weekday())) if day.weekday() >= SATURDAY else day


def reports(filer: Filer, year: int) -> tuple[int, ...]:
    """The quarters of a fiscal year with a report; the report of the last quarter is the annual report."""
    first_day = max(filer.offering.day if filer.offering else date.min, filer.since or date.min)
    return tuple(
        number
        for number in _reported(filer, year)
        if (year, number) not in filer.missing and report_filed(filer, year, number) > first_day
    )


def _reported(filer: Filer, year: int) -> tuple[int, ...]:
    """The quarters of a fiscal year for which a filer is required to report."""
    last = filer.calendar.year(year).last
    if filer.conversion and year == filer.conversion.year:
        return (last,)
    if filer.kind_in(year).is_domestic:
        return tuple(range(1, last + 1))
    return (HALF_YEAR, last) if filer.kind is Kind.FUND or filer.half_years else (last,)


def report_filed(filer: Filer, year: int, number: int) -> date:
    """The filing date of the report on a quarter; for the last quarter, of the annual report."""
    for of_year, of_number, day in filer.filed_on:
        if (of_year, of_number) == (year, number):
            return day
    fiscal_year = filer.calendar.year(year)
    is_annual = number == fiscal_year.last
    earliest, latest = ANNUAL_DAYS.get(filer.kind_in(year), ANNUAL_DAYS_DOMESTIC) if is_annual else INTERIM_DAYS
    delay = Random(f"filed/{filer.cik}/{filer.seed}/{year}/{number}").randint(earliest, latest)
    return business_day(fiscal_year.quarters[number - 1].end + timedelta(days=delay))


def annual_report_filed(filer: Filer, year: int) -> date:
    """The filing date of the report on a fiscal year."""
    return report_filed(filer, year, filer.calendar.year(year).last)


def amendment_filed(filer: Filer, year: int) -> date:
    """The filing date of an amended annual report."""
    return business_day(annual_report_filed(filer, year) + AMENDED_AFTER)


def known_from(filer: Filer, revision: Revision) -> date:
    """The filing date of the first report that shows the revised figures."""
    if revision.by is RevisedBy.AMENDMENT:
        return amendment_filed(filer, revision.year)
    following = revision.year + 1
    return report_filed(filer, following, reports(filer, following)[0])


def known_revisions(filer: Filer) -> tuple[Revision, ...]:
    """The revisions that become known within the filer's history."""
    return tuple(revision for revision in filer.revisions if known_from(filer, revision) <= filer.last_filed)


def newest_report(filer: Filer, filed_by: date) -> date | None:
    """The filing date of the newest periodic report up to a day, or None."""
    years = range(filer.first_year, filed_by.year + 2)
    filed = [report_filed(filer, year, number) for year in years for number in reports(filer, year)]
    return max((day for day in filed if day <= min(filed_by, filer.last_filed)), default=None)


def basis(filer: Filer, filed: date, newest: date) -> Fraction:
    """The number of shares, on the basis of the `newest` filing, that equal one share of a filing made on `filed`."""
    factor = Fraction(1)
    for split in _between(filer.splits, filed, newest):
        factor *= split.ratio
    return factor


def accepted_at(filed: date, accession: str) -> datetime:
    """The time when EDGAR accepted a filing, in UTC: in business hours; for every fourth filing, on the evening before.

    Filings accepted after 17:30 Eastern time have the filing date of the next business day.
    """
    rng = Random(f"accepted/{accession}")
    seconds = timedelta(seconds=rng.randrange(3600))
    if rng.randrange(4) == 0 and filed.weekday() != 0:
        return datetime.combine(filed, time(1), UTC) + seconds
    return datetime.combine(filed, time(rng.choice((11, 13, 20))), UTC) + seconds


def _between(splits: tuple[Split, ...], filed: date, newest: date) -> list[Split]:
    return [split for split in splits if filed < split.effective <= newest]
