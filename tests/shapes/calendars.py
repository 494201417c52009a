"""Companies for each rule of periods, which decides their fiscal calendar.

Belongs here: the dates of reports. Does not: the values of the figures (flows, items).
"""

from collections.abc import Iterable

from tests.factories import NET_INCOME, REVENUE, SHARES, Filer, Row, fact, month_ends
from tests.shapes import Shape

BOTH = (REVENUE, NET_INCOME)
"""Two elements, so that a year is stated by more than one."""


def company(first_year: int, quarters: int, last_month: int = 12, names: int = 0) -> Filer:
    ends = month_ends(first_year, quarters, last_month)
    return Filer(ends, {tag: [100e6] * quarters for tag in BOTH}, names=names)


def both(start: str, end: str, filed: str, form: str = "10-K", value: float = 400e6) -> list[Row]:
    """Both elements over one period."""
    return [fact(tag, value, start, end, form=form, filed=filed) for tag in BOTH]


def in_6k(rows: Iterable[Row]) -> list[Row]:
    """The same reports, filed as Forms 6-K."""
    return [{**row, "form": "6-K"} for row in rows]


USUAL = company(2022, 8).rows()

PERIODS: dict[str, list[Row]] = {
    "period.year.annual-report": USUAL,
    "period.year.current-report": in_6k(company(2022, 8).rows()),
    "period.year.same-end": [*USUAL, *both("2022-01-02", "2023-01-01", "2024-02-29")],
    "period.year.first-running": company(2023, 3).rows(),
    "period.year.named-after-start": company(2022, 8, last_month=1, names=-1).rows(),
    "period.quarter.most-figures": [
        *USUAL,
        fact(REVENUE, 109e6, "2023-01-01", "2023-04-09", form="10-Q", filed="2023-05-10"),
    ],
    "period.quarter.open-year": company(2022, 6).rows(),
    "period.year.after-transition-report": [
        *USUAL,
        *both("2024-01-01", "2024-03-31", "2024-05-20", "10-KT", 100e6),
        *both("2024-04-01", "2024-06-30", "2024-08-05", "10-Q", 100e6),
    ],
    "period.no-fiscal-period": [
        *both("2021-11-01", "2022-10-31", "2023-01-10"),
        fact(SHARES, 100e6, "2021-11-01", "2022-10-31", filed="2023-01-10"),
        *both("2022-11-01", "2022-12-31", "2023-03-01", "10-KT", 66e6),
        fact(SHARES, 130e6, "2022-11-01", "2022-12-31", form="10-KT", filed="2023-03-01"),
        *both("2023-01-01", "2023-12-31", "2024-02-20"),
    ],
}

SHAPES = tuple(Shape(rule, rows) for rule, rows in PERIODS.items())
