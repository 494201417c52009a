"""The starting values of a projection: base free cash flow and initial growth, from a company's own history.

Belongs here: when twelve months are an outlier, the amount that replaces them, how growth is estimated and limited;
each with a description in words, which the interface shows. Does not: the projection (model), when a company has no
projection (reasons).

The free cash flow of a single year is a poor start for ten, because working capital and capital expenditure vary from
year to year. Twelve months that differ much from the company's usual margin are replaced by the usual margin times
revenue.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from statistics import linear_regression, median, median_low
from typing import TypeGuard

USUAL_YEARS = (3, 5)
"""Fiscal years from which the usual margin is computed. With three years a steady rise is not an outlier; with five
years a short decline is not."""

OUTLIER = 0.5
"""Twelve months are replaced if they differ by more than this share from both usual amounts, of three and of five
years."""

LOWEST_GROWTH, HIGHEST_GROWTH = -0.05, 0.15
"""Few companies grow faster for long: over ten years, one in ten kept 15 % a year (Chan, Karceski and Lakonishok, "The
Level and Persistence of Growth Rates", Journal of Finance 58, 2003)."""

SHORT, SPANS = 5, (5, 10)
"""Years over which the trend of free cash flow and growth of revenue are measured."""

NEAR = 0.6
"""Tolerance in years for the look-up of the fiscal year end five or ten years ago. If no year is missing, one fiscal
year end is always within it."""

BREAK = math.log(1.15)
"""Logarithm of a change by 15 %. A spin-off or a discontinued business reduces the restated years by more, and leaves
the years before as they were (ASC 205-20-45-3: only the years shown are restated)."""

LEAST_DAYS, MOST_DAYS = 340, 400
DAYS_A_YEAR = 365.25
RATE_DIGITS = 4
"""Growth is rounded to a hundredth of a per cent; more digits would suggest a precision that it does not have."""


@dataclass(frozen=True, slots=True)
class Year:
    """A fiscal year: its last day, free cash flow and revenue in units of currency; None if not known.

    `standard` is the taxonomy of its free cash flow; `restated` is its revenue today divided by its revenue as first
    filed; `is_repriced`, whether a later filing states it in another purchasing power.
    """

    end: date
    free_cash_flow: float | None
    revenue: float | None
    standard: str = ""
    restated: float = 1.0
    is_repriced: bool = False

    def follows(self, before: "Year") -> bool:
        """Whether this is the year directly after another."""
        return LEAST_DAYS <= (self.end - before.end).days <= MOST_DAYS

    def breaks_with(self, before: "Year") -> bool:
        """Whether the year before is not comparable: other standards or prices, or not restated with this one."""
        other_standard = bool(self.standard and before.standard and self.standard != before.standard)
        left_behind = abs(math.log(self.restated / before.restated)) > BREAK
        return other_standard or self.is_repriced or (left_behind and abs(math.log(self.restated)) > BREAK)


@dataclass(frozen=True, slots=True)
class Base:
    """Free cash flow that the projection starts from; `method` says in words how it was found."""

    free_cash_flow: float
    is_normalized: bool
    method: str


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth of the first projected year; `method` says in words how it was found."""

    rate: float
    method: str


def comparable(years: Sequence[Year]) -> tuple[list[Year], bool]:
    """The years since the last break or missing year, and whether it was a break.

    Args:
        years: fiscal years, oldest first.
    """
    for number in range(len(years) - 1, 0, -1):
        year, before = years[number], years[number - 1]
        if year.breaks_with(before) or not year.follows(before):
            return list(years[number:]), year.breaks_with(before)
    return list(years), False


def base_of(trailing: Year, years: Sequence[Year]) -> Base:
    """Free cash flow of the last twelve months, or its usual amount if the twelve months are an outlier.

    The usual amount is the median margin of free cash flow over three or five fiscal years (whichever is nearer) times
    revenue of the twelve months. If revenue is not known for all years, it is the median free cash flow.

    Args:
        trailing: the last twelve months, with free cash flow.
        years: fiscal years, oldest first; the last five with free cash flow.

    Source: normalizing by the usual margin, A. Damodaran, Investment Valuation, chapter 22.
    """
    held = _free_cash_flow(trailing)
    usual = [found for reach in USUAL_YEARS if (found := _usual(trailing, years[-reach:]))[0] > 0]
    if not usual or any(abs(held - amount) <= OUTLIER * amount for amount, _ in usual):
        return Base(held, False, "Trailing twelve months, as reported.")
    amount, words = min(usual, key=lambda found: abs(held - found[0]))
    off = f"{abs(held / amount - 1):.0%} {'above' if held > amount else 'below'}"
    return Base(amount, True, f"Normalized to {words}: the last twelve months are {off} that.")


def _usual(trailing: Year, years: Sequence[Year]) -> tuple[float, str]:
    """The usual free cash flow of twelve months, and how it is computed, in words."""
    margins = [_free_cash_flow(year) / year.revenue for year in years if year.revenue and year.revenue > 0]
    if trailing.revenue and len(margins) == len(years):
        share = median(margins)
        return round(share * trailing.revenue), f"{share:.1%} of revenue, the median of {len(years)} fiscal years"
    return round(median(_free_cash_flow(year) for year in years)), f"the median of {len(years)} fiscal years"


def growth_of(trailing: Year, years: Sequence[Year]) -> Growth | None:
    """The median of up to four growth rates of the company's history, within limits; None if no rate is known.

    The rates are the trend of free cash flow over five years (log-linear, only if all years are positive, because a
    loss has no logarithm) and the growth of revenue over five years, over ten years, and since the first comparable
    year, because five years alone may begin in a trough. Of an even number, the lower of the middle two is taken.

    Args:
        trailing: the last twelve months.
        years: comparable fiscal years, oldest first.
    """
    estimates = [
        _trend(years[-SHORT - 1 :]),
        *(_revenue_growth(trailing, year) for year in _first_years(trailing, [year for year in years if year.revenue])),
    ]
    rates = [found for found in estimates if found]
    if not rates:
        return None
    kept = min(max(median_low([rate for rate, _ in rates]), LOWEST_GROWTH), HIGHEST_GROWTH)
    listed = ", ".join(f"{rate:.2%} ({of})" for rate, of in rates)
    bounds = f"kept within {LOWEST_GROWTH:.0%} and {HIGHEST_GROWTH:.0%}"
    of = "" if len(rates) == 1 else "Median of " if len(rates) % 2 else "Lower median of "
    return Growth(round(kept, RATE_DIGITS), f"{of}{listed}, {bounds}; fades in equal steps to the perpetual growth.")


def _first_years(trailing: Year, years: Sequence[Year]) -> list[Year]:
    """The years from which growth of revenue is measured: about five and ten years ago, and the first year."""
    nearest = [min(years, key=lambda year: abs(_years_between(year, trailing) - reach)) for reach in SPANS if years]
    near = [
        year for year, reach in zip(nearest, SPANS, strict=False) if abs(_years_between(year, trailing) - reach) <= NEAR
    ]
    return [*near, *(year for year in years[:1] if _years_between(year, trailing) > max(SPANS) + NEAR)]


def _trend(years: Sequence[Year]) -> tuple[float, str] | None:
    """Yearly growth of free cash flow: least squares through the logarithms of the known years."""
    known = [year for year in years if year.free_cash_flow is not None]
    amounts = [_free_cash_flow(year) for year in known]
    if len(known) < SHORT or min(amounts) <= 0:
        return None
    times = [_years_between(known[0], year) for year in known]
    slope = linear_regression(times, [math.log(amount) for amount in amounts]).slope
    return math.exp(slope) - 1, f"trend of free cash flow over {len(known)} fiscal years"


def _revenue_growth(trailing: Year, first: Year) -> tuple[float, str] | None:
    """Compound growth of revenue from a fiscal year to the last twelve months."""
    if not _is_positive(trailing.revenue) or not _is_positive(first.revenue):
        return None
    span = _years_between(first, trailing)
    return (trailing.revenue / first.revenue) ** (1 / span) - 1, f"revenue over {span:.1f} years"


def _years_between(one: Year, other: Year) -> float:
    return (other.end - one.end).days / DAYS_A_YEAR


def _is_positive(amount: float | None) -> TypeGuard[float]:
    return amount is not None and amount > 0


def _free_cash_flow(year: Year) -> float:
    if year.free_cash_flow is None:
        raise ValueError(f"the year that ends on {year.end} has no free cash flow")
    return year.free_cash_flow
