"""Windows beside a recast fiscal year: the ways to twelve months on its basis.

Belongs here: quarters that the filing of the recast states, and the next window, whose filing is on that basis. Does
not: the year and the interim periods that follow one basis by themselves (bases), which way counts (windows).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, smallest
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import DISAGREEMENT, Years, years_on_one_basis
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import IS_MONEY, Windows
from pipelines.normalize.ttm.ways import DIGITS_OF_SUMS, Leg, Way

NEAR = 0.01
"""Quarters of income before tax may differ by this share from their year, because a filing that states them without
minorities in discontinued operations states the year with them."""
_PRETAX, _TAX = (list(BY_NAME).index(name) for name in ("pretax_income", "income_tax"))

QUARTERS_OF_RECAST = Rule(
    "ttm.quarters-of-recast",
    "If the fiscal year before was recast and its interim periods were not, twelve months of an amount of money are "
    "the four quarters as the filing of the recast states them, if the quarters of that year add up to it there; those "
    f"of income before tax, if those of income tax do and its own are off by at most {NEAR:.0%}.",
    "ASC 250-10-45-5 and Regulation S-K Item 302(a): a change is applied to all periods presented, also to quarterly "
    "data",
    "select",
)
NEXT_LESS_QUARTER = Rule(
    "ttm.next-less-quarter",
    "If the fiscal year before was recast and this year to date was not, twelve months of an amount of money are those "
    "to the next quarter end, if their year to date is on the basis of the recast, less that quarter, plus the same "
    "quarter of the year before, both as the filing of that year to date states them.",
    "Regulation S-X Rule 10-01(c): interim statements have the quarter and the year to date, and those of the year "
    "before, on one basis",
    "compose",
)
YEAR_ON_NEW_BASIS = Rule(
    "ttm.year-restates-the-one-before",
    "If the filing that first states a fiscal year restates the year before it, and a later one restates an interim "
    "period of the year in the same direction and, of an amount that cannot be negative, by a like share, the year is "
    "already on the basis of the later filing.",
    "ASC 250-10-45-5: a change is applied to all periods presented; one in the last quarter is in the statements of "
    "the year first, and in the interim comparatives of the next report",
    "select",
)
RULES = (QUARTERS_OF_RECAST, NEXT_LESS_QUARTER, YEAR_ON_NEW_BASIS)


def quarters_of_recast(windows: Windows, years: Years) -> tuple[Ints, Floats, Floats]:
    """The windows whose four quarters are stated by the filing that recast the year before.

    Returns:
        the windows, the sum of the quarters of each, and the filing (`seq`).
    """
    asked = np.flatnonzero(years.is_before & IS_MONEY[windows.concept] & ~windows.is_year_end)
    some = windows.at(asked)
    total, filing, off, rounding = _as_recast(some)
    holds = off <= rounding
    near = np.flatnonzero((some.concept == _PRETAX) & ~holds & (off <= NEAR * np.abs(total)))
    if len(near):
        of_tax = some.at(near)
        of_tax.concept = np.full(len(near), _TAX)
        _, of_filing, off_tax, rounding_tax = _as_recast(of_tax)
        holds[near] = (of_filing == filing[near]) & (off_tax <= rounding_tax)
    holds &= ~np.isnan(total)
    return asked[holds], total[holds], filing[holds]


def _as_recast(windows: Windows) -> tuple[Floats, Floats, Floats, Floats]:
    """The four quarters of each window as the filing states them that states the year before as it is known.

    Returns:
        their sum, that filing (`seq`), how far its quarters of the year before are off that year, and the rounding.
    """
    of, newest_year = windows.of, windows.find(windows.year_before, QUARTERS_A_YEAR)
    filing = of("since", newest_year)
    # the quarters of the window and of the year before, from the last one back
    rows = [windows.find(windows.q - back, 1, filing) for back in range(2 * QUARTERS_A_YEAR - 1)]
    amounts = np.array([np.where(of("seq", row) == filing, of("amount", row), np.nan) for row in rows])
    back = np.arange(len(rows))[:, None]
    of_year = (back >= windows.quarter) & (back < windows.quarter + QUARTERS_A_YEAR)
    off = np.abs(np.where(of_year, amounts, 0.0).sum(axis=0) - of("amount", newest_year))
    return amounts[:QUARTERS_A_YEAR].sum(axis=0), filing, off, DIGITS_OF_SUMS * of("grain", newest_year)


def years_or_next(windows: Windows) -> tuple[Way, Years, Flags]:
    """The last fiscal year, plus this year to date, less the same period of the year before, on one basis.

    Or those of the next window, less its last quarter, plus the same quarter of the year before.

    Returns:
        the way, its legs, and for each window whether it follows from the next one.
    """
    years = years_on_one_basis(windows)
    following = _from_next_window(windows, years)
    rows, is_next = following.windows, np.zeros(len(windows.q), dtype=np.bool_)
    is_next[rows] = True
    years.replace(rows, following.years)
    legs: tuple[Leg, ...] = (Leg(years.year), Leg(years.to_date), Leg(years.prior, -1))
    way = _way(windows, years, legs)
    if not len(rows):
        return way, years, is_next
    others = (Leg(following.quarter, -1), Leg(following.prior))
    own = tuple(Leg(leg.row[rows], leg.sign) for leg in legs)
    legs += tuple(Leg(np.full(len(windows.q), NOTHING), leg.sign) for leg in others)
    for leg, other in zip(legs[-len(others) :], others, strict=True):
        leg.row[rows] = other.row
    return way.with_rows(rows, _way(windows.at(rows), years.at(rows), (*own, *others)), legs), years, is_next


def _way(windows: Windows, years: Years, legs: tuple[Leg, ...]) -> Way:
    """The sum of some legs."""
    amount, days = (
        np.sum([leg.sign * windows.of(name, leg.row) for leg in legs], axis=0) for name in ("amount", "days")
    )
    return Way.of(windows, legs, amount, days, windows.of("regime", years.to_date), mixes_bases=~years.holds)


@dataclass(frozen=True)
class _Next:
    """The windows that follow from the next ones: which, and rows of `known`.

    `years`: the legs of the next window. `quarter`, `prior`: its last quarter, and the same one of the year before.
    """

    windows: Ints
    years: Years
    quarter: Ints
    prior: Ints


def _from_next_window(windows: Windows, years: Years) -> _Next:
    """The windows whose year was recast, and whose next year to date is on its basis."""
    of = windows.of
    asked = np.flatnonzero((years.is_before | ~years.holds) & IS_MONEY[windows.concept])
    asked = asked[windows.quarter[asked] < QUARTERS_A_YEAR - 1]
    own = _twelve_months(windows, years.at(asked))
    some = windows.at(asked)
    some.q, some.quarter = some.q + 1, some.quarter + 1
    filing = some.beside(some.q, some.quarter)
    quarter, prior = (some.find(some.q - back, 1, filing) for back in (0, QUARTERS_A_YEAR))
    rows = np.flatnonzero((of("seq", quarter) == filing) & (of("seq", prior) == filing) & ~np.isnan(own))
    asked, quarter, prior = (each[rows] for each in (asked, quarter, prior))
    some, own, filing = some.at(rows), own[rows], filing[rows]
    following = years_on_one_basis(some)
    holds = following.holds & ~following.is_before
    holds &= (of("since", following.to_date) <= filing) & (of("since", following.prior) <= filing)
    parts = [of("amount", row) for row in (quarter, prior)]
    rests = [of("amount", row) - part for row, part in zip((following.to_date, following.prior), parts, strict=True)]
    holds &= some.can_be_negative | (smallest(*parts, *rests) >= 0)
    amount = _twelve_months(windows, following) + of("amount", prior) - of("amount", quarter)
    holds &= ~years.holds[asked] | (np.abs(amount - own) > DISAGREEMENT * np.abs(amount))
    rows = np.flatnonzero(holds)
    return _Next(asked[rows], following.at(rows), quarter[rows], prior[rows])


def _twelve_months(windows: Windows, years: Years) -> Floats:
    """The year, plus the year to date, less the period of the year before."""
    year, to_date, prior = (windows.of("amount", row) for row in (years.year, years.to_date, years.prior))
    return year + to_date - prior
