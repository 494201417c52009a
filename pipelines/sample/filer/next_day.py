"""The next day of the sample, NEXT_DAY: the filings of its companies on that day.

Belongs here: the filers on that day, and detecting that a home has this day. Does not: the content of their filings
(filings).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any

from pipelines.sample.filer.calendar import FiscalCalendar
from pipelines.sample.filer.filers import SAMPLE
from pipelines.sample.filer.traits import (
    CONTRACT_REVENUE,
    NEWEST,
    NEXT_DAY,
    Economics,
    Error,
    Filer,
    Offering,
    RevisedBy,
    Revision,
    Served,
    Split,
)

END_OF_SEPTEMBER = FiscalCalendar(month=9)

LISTED = Filer(
    cik="9990000025",
    name="Example Kestrel Robotics Inc",
    symbols=("XQKST",),
    exchange="Nasdaq",
    sic="3571",
    calendar=END_OF_SEPTEMBER,
    first_year=2025,
    last_filed=NEXT_DAY,
    filed_on=((2025, 4, NEXT_DAY),),
    unit=1_000,
    revenue_tags=((0, CONTRACT_REVENUE),),
    economics=Economics(revenue=70_000_000, growth=0.25, gross_margin=0.55, overhead=0.4, shares=90_000_000),
    offering=Offering(day=date(2025, 12, 3)),
)
"""The company that is new in the SEC's list on that day."""


@dataclass(frozen=True)
class Event:
    """An event of the next day.

    Attributes:
        symbol: the symbol of the company.
        what: the event, in words.
        page: the end of the address of a page that shows it, after the address of the company's page.
        shows: the contents of the page, in words.
        traits: the traits of the filer that change.
    """

    symbol: str
    what: str
    page: str
    shows: str
    traits: dict[str, Any] = field(default_factory=dict)


EVENTS = (
    Event(
        symbol="XQLNT",
        what="files the report on its third quarter",
        page="/revenue/2025Q3",
        shows="a new period",
        traits={"filed_on": ((2025, 3, NEXT_DAY),)},
    ),
    Event(
        symbol="XQHBR",
        what="amends its annual report: revenue of two years was too high",
        page="/revenue/FY2025",
        shows="two versions of a value",
        traits={"revisions": (Revision(year=2025, by=RevisedBy.AMENDMENT, share=0.01),)},
    ),
    Event(
        symbol="XQWHC",
        what="splits its shares two for one, and files the report on its first quarter",
        page="/eps_basic/FY2025",
        shows="earlier values on the new share basis",
        traits={
            "filed_on": ((2026, 1, NEXT_DAY),),
            "splits": (Split(ratio=Fraction(2), effective=date(2025, 12, 8)),),
        },
    ),
    Event(
        symbol="XQKST",
        what="is listed, and files its first annual report",
        page="",
        shows="a new company",
    ),
    Event(
        symbol="XQSLH",
        what="files its first annual report, with counts of shares in thousands by mistake",
        page="/shares_basic/FY2025",
        shows="the corrected error, and its proof",
        traits={
            "calendar": END_OF_SEPTEMBER,
            "first_year": 2025,
            "since": NEWEST,
            "filed_on": ((2025, 4, NEXT_DAY),),
            "served": frozenset(Served),
            "errors": (
                Error(items=frozenset({"shares_basic", "shares_diluted"}), report=(2025, 4), factor=Fraction(1, 1_000)),
            ),
        },
    ),
)


def has_next_day(ciks: Iterable[str]) -> bool:
    """Whether the company that is new on the next day is among these companies."""
    return LISTED.cik in ciks


def next_day_filers() -> tuple[Filer, ...]:
    """The filers of the sample on the next day: four filers with changed traits, and a new one."""
    changed = {event.symbol: event.traits | {"last_filed": NEXT_DAY} for event in EVENTS}
    return (*(replace(filer, **changed.get(filer.symbols[0], {})) for filer in SAMPLE), LISTED)
