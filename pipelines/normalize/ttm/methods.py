"""The methods of computing twelve months, or a quarter, with their legs and the rules that forbid them.

Belongs here: the type of a method, the list of methods, and the checks of a method. Does not: which legs a method has
(bases, quarters), which method counts (choice).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, any_of
from pipelines.normalize.periods.breaks import ACROSS
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import NO_YEAR_IN_DISPUTE
from pipelines.normalize.ttm.lookups import IS_MONEY, Windows

YEAR_DAYS = 350, 378
"""Fewest and most days of twelve months: 52 or 53 weeks, and the days by which filers shift a period end."""
QUARTER_DAYS = 75, 125
"""Fewest and most days of a quarter: 12 to 17 weeks, as in the fiscal calendar."""
DISAGREEMENT = 0.005
"""Two sums of twelve months that differ by more than this share have legs on different accounting bases.

Measured: the two methods agree within it for 99.7 % of operating cash flow and 97.5 % of net income; nearly all others
are breaks of the accounting basis."""
RESTATED_BY = 0.1
"""Restatements of some legs change twelve months by at most this share. Measured: a filer's own twelve months differ
from the sum of its legs by at most 4 % where Amazon states them, while a figure of another period in such a context is
off by half or more; Mastercard's operating cash flow of 2017 moved by a fiftieth after its interim period, while a
year that moved from 101 to 495 million left its interim periods unchanged."""
DIGITS_OF_SUMS = 4
"""Sums of up to eight rounded legs may differ by this many units of the last digit."""
SMALLEST_UNIT = 1e3
"""A filer that states thousands or millions has no smaller amounts."""
LARGE_AMOUNT = 1e5
"""An amount of at least this size that is a multiple of a thousand is stated in thousands."""
A_THOUSANDTH = (200, 5000)
"""A leg whose amount a day is smaller than the other legs' by a factor in this range is in thousands, stated as
units."""

FISCAL_YEAR = Rule(
    "ttm.fiscal-year",
    "At a fiscal year end, trailing twelve months are the fiscal year as filed.",
    "Regulation S-X Rule 3-02: annual statements cover fiscal years",
    "select",
)
YEAR_TO_DATE = Rule(
    "ttm.year-to-date",
    "Trailing twelve months are the last fiscal year, plus this year to date, less the same period of the year before.",
    "Regulation S-X Rule 10-01(c): interim statements have the year to date and the same period of the year before",
    "compose",
)
FOUR_QUARTERS = Rule(
    "ttm.four-quarters",
    "Trailing twelve months are the sum of four discrete quarters: for amounts per share as the first choice, for "
    "other amounts if the year to date does not lead to twelve months.",
    "Regulation S-X Rule 10-01(c): interim statements have the quarter as well as the year to date",
    "compose",
)
OWN_TWELVE_MONTHS = Rule(
    "ttm.own-twelve-months",
    "If a filer itself states the twelve months to an interim quarter end, these count if they differ by at most "
    f"{RESTATED_BY:.0%} from twelve months computed from the fiscal year and the years to date; otherwise they cover "
    "another period.",
    "Regulation S-X Rule 10-01(c)(3): a registrant may state the cash flows of the twelve months to the balance sheet "
    "date",
    "select",
)
LARGEST_RAISE = 1.5
"""A dividend is hardly ever raised by more than half within a year, so a larger difference is not the dividend of one
quarter."""
QUARTER_AS_FILED = Rule(
    "quarter.as-filed",
    "A quarter is as stated in the newest filing that states it.",
    "Regulation S-X Rule 10-01(c): interim statements have the quarter as well as the year to date",
    "select",
)
QUARTER_BY_DIFFERENCE = Rule(
    "ttm.quarter-by-difference",
    "A quarter that no filing states is the year to date at its end less the one at its beginning, or the year less "
    f"three quarters (dividends: only if this is at most {LARGEST_RAISE:g} times the largest of the three).",
    "Regulation S-X Rule 10-01(c); dividends are often stated for the quarter only, and a year may have a special one",
    "compose",
)
METHODS = (
    *(FISCAL_YEAR, YEAR_TO_DATE, FOUR_QUARTERS, OWN_TWELVE_MONTHS),
    *(QUARTER_AS_FILED, QUARTER_BY_DIFFERENCE),
)
METHOD_NAMES = {
    FISCAL_YEAR: "fiscal_year",
    YEAR_TO_DATE: "year_to_date",
    FOUR_QUARTERS: "four_quarters",
    OWN_TWELVE_MONTHS: "own_twelve_months",
    QUARTER_AS_FILED: "quarter",
    QUARTER_BY_DIFFERENCE: "quarter_by_difference",
}
"""The name of each method in column `method` of table `versions`."""
SINGLE_FIGURES = (FISCAL_YEAR, QUARTER_AS_FILED)
"""The methods that consist of one figure as filed."""

NO_MIXED_UNITS = Rule(
    "ttm.no-mixed-units",
    f"Amounts below {SMALLEST_UNIT:,.0f} are not added to amounts in thousands or millions, nor an amount that cannot "
    f"be negative to one in thousands that is {A_THOUSANDTH[0]} times larger per day: the smaller amounts lack their "
    "last zeros.",
    "Regulation S-X Rule 4-01(b): amounts may be stated in thousands or millions",
    "withhold",
)
NO_MIXED_BASES = Rule(
    "ttm.no-mixed-bases",
    "Figures before and after a restatement are not added up: twelve months are withheld if no filings show the "
    "fiscal year on the accounting basis of the interim periods, and the restatement moves them by more than "
    f"{DISAGREEMENT:.1%}.",
    "ASC 250-10-45-5; Regulation S-X Rule 10-01(c): interim statements have both interim periods on one basis",
    "withhold",
)
NO_MIXED_ELEMENTS = Rule(
    "ttm.no-mixed-elements",
    "Figures are not added up if only some are from an element whose amounts differ from the best element's; nor are "
    "dividends paid in only some quarters if their sum changes one quarter later: they may be declared in others.",
    "Taxonomy definitions: two elements with different amounts in one filing are different amounts, such as dividends "
    "declared and dividends paid",
    "withhold",
)
NOT_TWELVE_MONTHS = Rule(
    "ttm.not-twelve-months",
    f"Figures are twelve months only if together they span {YEAR_DAYS[0]} to {YEAR_DAYS[1]} days (a quarter: "
    f"{QUARTER_DAYS[0]} to {QUARTER_DAYS[1]}), and, like a quarter by difference, are not below zero if the amount "
    "cannot be negative.",
    "Fiscal years of 52 or 53 weeks have 364 or 371 days, and filers shift a period end by some days; taxonomy "
    "definitions: amounts such as revenue, payments, shares and dividends are not negative",
    "withhold",
)


@dataclass(frozen=True)
class TtmMethod:
    """One method to compute twelve months, or a quarter, for each window: a sum of known amounts with signs.

    rule: the rule of this method.
    amount, days, regime: of the sum.
    rows: the legs, one line each: rows of `known`, NOTHING where a window does not have the leg.
    signs: 1 for a leg that is added, -1 for one that is subtracted.
    grain: the unit of rounding of the coarsest leg.
    is_whole: all required legs are known, they have the required length together, and the sum is not below zero if the
        amount cannot be negative.
    has_derived: a leg is derived: no filing states it, but other figures prove it.
    has_other_element: a leg is from an element that had another amount than the best element.
    faults: for each rule that forbids to add up the legs, the windows in which it does.
    """

    rule: Rule
    amount: Floats
    days: Floats
    regime: Floats
    rows: Ints
    signs: tuple[int, ...]
    grain: Floats
    is_whole: Flags
    has_derived: Flags
    has_other_element: Flags
    faults: dict[Rule, Flags]

    @classmethod
    def of(
        cls,
        windows: Windows,
        rule: Rule,
        sums: Sequence[Floats],
        rows: Ints,
        signs: tuple[int, ...],
        mixes_bases: Flags | bool = False,
        lengths: tuple[int, int] = YEAR_DAYS,
    ) -> "TtmMethod":
        """Make a method from its sums (amount, days, regime), its legs with their signs, and its fewest and most
        days."""
        amount, days, regime = sums

        def any_leg(holds: Flags) -> Flags:
            return any_of(holds[rows])

        known, is_money, grain = windows.rows, IS_MONEY[windows.concept], np.fmax.reduce(windows.of("grain", rows))
        amounts = abs(known["amount"])
        is_small = (known["grain"] < SMALLEST_UNIT) | ((amounts > 0) & (amounts < SMALLEST_UNIT))
        may_mix_units = is_money & (grain >= SMALLEST_UNIT) & any_leg(is_small)
        has_other = any_leg(known["other_source"] > 0)
        mixes_elements = has_other & any_leg(known["other_source"] == 0)
        is_negative = ~windows.can_be_negative & (amount < 0)
        has_length = (days >= lengths[0]) & (days <= lengths[1])
        is_known = ~np.isnan(amount)
        faults = {
            ACROSS: windows.decide_for(windows.has_break, _differ_in_regime, rows),
            NO_MIXED_ELEMENTS: mixes_elements & (~is_money | windows.decide_for(mixes_elements, _differ_in_rank, rows)),
            NO_MIXED_UNITS: windows.decide_for(may_mix_units, _mixes_units, rows),
            NO_YEAR_IN_DISPUTE: windows.decide_for(any_leg(known["disputed"] >= 0), _is_disputed, rows),
            NO_MIXED_BASES: np.full(len(amount), fill_value=False) | mixes_bases,
            NOT_TWELVE_MONTHS: is_known & (~has_length | is_negative),
        }
        faults = {fault: fault.where(holds) for fault, holds in faults.items()}
        return cls(
            rule=rule,
            amount=amount,
            days=days,
            regime=regime,
            rows=rows,
            signs=signs,
            grain=grain,
            is_whole=rule.where(is_known & ~faults[NOT_TWELVE_MONTHS]),
            has_derived=any_leg(known["is_derived"] > 0),
            has_other_element=has_other,
            faults=faults,
        )

    @property
    def is_sound(self) -> Flags:
        """Whether the sum is whole and no rule forbids it."""
        return self.is_whole & ~any_of(list(self.faults.values()))

    def breaks(self, rule: Rule) -> Flags:
        """Whether a rule forbids a sum that is otherwise whole."""
        return self.is_whole & self.faults[rule]


def _differ_in_regime(windows: Windows, rows: Ints) -> Flags:
    """Whether two legs are of different regimes."""
    return _differ(windows.of("regime", rows))


def _differ_in_rank(windows: Windows, rows: Ints) -> Flags:
    """Whether two legs are from sources of different ranks."""
    return _differ(windows.of("rank", rows))


def _differ(of_legs: Floats) -> Flags:
    found: Flags = np.fmin.reduce(of_legs) != np.fmax.reduce(of_legs)
    return found


def _is_disputed(windows: Windows, rows: Ints) -> Flags:
    """Whether a leg is in dispute after the filing of the window."""
    begins, ends = (windows.of(name, rows) <= windows.seq for name in ("disputed", "settled"))
    return any_of(begins & ~ends)


def _mixes_units(windows: Windows, rows: Ints) -> Flags:
    """Whether one leg is in thousands but stated as units, while another leg is stated in thousands."""
    amounts, grains = abs(windows.of("amount", rows)), windows.of("grain", rows)
    is_fine = grains < SMALLEST_UNIT
    has_small = any_of((amounts > 0) & (amounts < SMALLEST_UNIT)) & any_of(amounts >= LARGE_AMOUNT)
    with np.errstate(divide="ignore", invalid="ignore"):
        daily = amounts / windows.of("days", rows)
        times = np.fmax.reduce(np.where(is_fine, np.nan, daily)) / daily
    is_smaller = any_of(is_fine & (times >= A_THOUSANDTH[0]) & (times <= A_THOUSANDTH[1]))
    return has_small | (is_smaller & ~windows.can_be_negative)
