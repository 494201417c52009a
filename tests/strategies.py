"""Strategies that more than one test draws from: simulated filers with any mix of traits, and cuts of their history.

Belongs here: what hypothesis draws, and how much of it. Does not: what must hold of it (the tests).

`PROPERTY_DEPTH=20 pytest tests/property` draws twenty times as many examples, other ones each time, and shrinks what
fails, which takes minutes.
"""

import os
from datetime import date
from fractions import Fraction

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from pipelines.edgar.sample import (
    Dividend,
    Economics,
    Filer,
    FiscalCalendar,
    Kind,
    Offering,
    RevisedBy,
    Revision,
    Split,
)

FIRST_DAY, LAST_DAY = date(2021, 1, 1), date(2025, 11, 21)
"""Between them the drawn filers file."""

DEPTH = int(os.environ.get("PROPERTY_DEPTH", "1"))


def examples(count: int) -> settings:
    """So many examples, the same each time; or many new ones where PROPERTY_DEPTH asks for them."""
    return settings(
        max_examples=count * DEPTH,
        derandomize=DEPTH == 1,
        database=None,
        phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if DEPTH > 1 else [])),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


calendars = st.builds(
    FiscalCalendar,
    month=st.integers(1, 12),
    weekday=st.none() | st.integers(0, 6),
    nearest=st.booleans(),
    weeks=st.sampled_from([(13, 13, 13, 13), (12, 12, 12, 16), (16, 12, 12, 12)]),
    named_after_start=st.booleans(),
)
splits = st.builds(
    Split,
    ratio=st.sampled_from([Fraction(2), Fraction(4), Fraction(3, 2), Fraction(1, 10)]),
    effective=st.dates(date(2021, 1, 1), date(2025, 11, 1)),
)
revisions = st.builds(Revision, year=st.integers(2021, 2025), by=st.sampled_from(RevisedBy))


@st.composite
def filers(draw: st.DrawFn, number: int | None = None) -> Filer:
    """A filer with any of the traits together, and a short history; `number` tells filers of one draw apart."""
    dividend = draw(st.none() | st.builds(Dividend, cents=st.integers(1, 90), annual_raise=st.integers(0, 9)))
    offering = draw(st.none() | st.builds(Offering, day=st.dates(date(2021, 1, 4), date(2021, 12, 30))))
    number = draw(st.integers(100, 9999)) if number is None else number
    return Filer(
        cik=f"{9990000000 + number}",
        name="Example Drawn Filer Inc",
        symbols=(f"XQ{number:04d}",),
        kind=draw(st.sampled_from([Kind.COMMERCIAL, Kind.BANK, Kind.FOREIGN])),
        calendar=draw(calendars),
        first_year=2021,
        unit=draw(st.sampled_from([1_000, 1_000_000])),
        economics=draw(st.builds(Economics, overhead=st.floats(0.1, 0.8), debt=st.floats(0, 4))),
        investments_tag=draw(st.sampled_from([None, "ShortTermInvestments"])),
        untagged=draw(st.frozensets(st.sampled_from(["capex", "debt_current", "eps_basic", "cash"]), max_size=2)),
        dividend=dividend,
        splits=tuple(draw(st.lists(splits, max_size=2))),
        revisions=tuple(draw(st.lists(revisions, max_size=1))),
        offering=offering,
        proxies=draw(st.booleans()),
        seed=draw(st.integers(0, 9)),
    )


days = st.dates(date(2021, 6, 1), LAST_DAY)


def cuts(most: int) -> st.SearchStrategy[list[date]]:
    """Some days of the history, in order: each is a synchronization before the last."""
    return st.lists(days, min_size=1, max_size=most, unique=True).map(sorted)
