"""Windows: trailing twelve months at each quarter end, from the known amounts of a flow.

Belongs here: discrete quarters, twelve months in two ways, and their accounting basis. Does not: the elements of a flow
(elements), which amounts are known (known), balances at an instant (balance).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    Flags,
    Floats,
    Ints,
    ints,
    largest,
    numbers,
    smallest,
)
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import (
    DISAGREEMENT,
    Years,
    filing_of_quarters,
    restated,
    settled,
    years_on_one_basis,
)
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR, Known, amount_changes, points_to_compute, slot_key
from pipelines.normalize.ttm.lookups import Windows

SHORTEST_WINDOW, LONGEST_WINDOW = 350, 378
"""Fewest and most days of twelve months: 52 or 53 weeks, and the days by which filers shift a period end."""
WEEKS_53_DAYS = 369
"""Fewest days of a window of 53 weeks."""
LARGEST_RAISE = 1.5
"""A dividend is hardly ever raised by more than half within a year, so a larger difference is not that of one
quarter."""

OWN_APART = 0.1
"""A filer's own twelve months differ from the sum of its legs by restatements only. Measured: at most 4 % where Amazon
states them, while a figure of another period in such a context is off by half and more."""
FAR_APART = 0.5
"""Quarterly earnings per share do not add up exactly, but hardly ever differ by more than this share of the sum."""
DIGITS_OF_SUMS = 4
"""Sums of up to eight rounded legs may differ by so many units."""

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
    "If a filer itself states the twelve months to an interim quarter end, these count, unless they differ by more "
    f"than {OWN_APART:.0%} from those that follow from its years, because they then cover another period.",
    "Regulation S-X Rule 10-01(c)(3): a registrant may state the cash flows of the twelve months to the balance sheet "
    "date",
    "select",
)
METHODS = (FISCAL_YEAR, YEAR_TO_DATE, FOUR_QUARTERS, OWN_TWELVE_MONTHS)
METHOD_NAMES = {
    FISCAL_YEAR: "fiscal_year",
    YEAR_TO_DATE: "year_to_date",
    FOUR_QUARTERS: "four_quarters",
    OWN_TWELVE_MONTHS: "own_twelve_months",
}
"""The name of each way in column `method` of table `versions`."""

QUARTER_BY_DIFFERENCE = Rule(
    "ttm.quarter-by-difference",
    "A quarter that no filing states is the year to date at its end less the year to date at its beginning.",
    "Regulation S-X Rule 10-01(c)",
    "compose",
)
FOURTH_QUARTER_BY_THREE = Rule(
    "ttm.fourth-quarter-less-three-quarters",
    "If nine months are not stated, the fourth quarter is the fiscal year less its three quarters; of an amount that "
    f"cannot be negative, only if it is not negative and, per day, at most {LARGEST_RAISE:g} times the largest of "
    "them.",
    "Dividends are often stated for the quarter only; a year may have a special dividend that the quarters leave out",
    "compose",
)
YEAR_BEFORE_RECAST = Rule(
    "ttm.year-before-recast",
    "If a fiscal year was recast and its interim period was not, the year counts as before the recast, unless it was "
    "then less than the interim period and the amount cannot be negative.",
    "ASC 250-10-45-5: a change is applied to all periods presented; a recast year less an interim period on the former "
    "basis is on neither basis",
    "select",
)
QUARTER_BEFORE_RECAST = Rule(
    "ttm.quarter-before-recast",
    "If a fiscal year was recast and its nine months were not, the fourth quarter is computed from the year before the "
    "recast, unless it was then less than the nine months and the amount cannot be negative.",
    "ASC 250-10-45-5; otherwise the whole recast would fall into the fourth quarter",
    "select",
)
NEWEST_COMPARATIVE = Rule(
    "ttm.newest-comparative",
    "The interim period that is subtracted is as in the newest filing, if the figure known with the year is missing, "
    "was not restated with an amendment of the year, or follows other standards than the year.",
    "ASC 250-10-45-23: an error is corrected in all periods presented",
    "select",
)
NO_MIXED_REGIMES = Rule(
    "ttm.no-mixed-regimes",
    "Figures of two companies under one CIK, or of two sets of accounting standards, are never added up.",
    "ASC 805-40-45-1 (reverse acquisitions); IFRS 1 (first-time adoption)",
    "withhold",
)
NO_MIXED_ELEMENTS = Rule(
    "ttm.no-mixed-elements",
    "Figures are not added up if only some of them are from an element for which this company has stated another "
    "amount than for the best element.",
    "Taxonomy definitions: two elements with different amounts in one filing are different amounts",
    "withhold",
)
TWELVE_MONTHS_LONG = Rule(
    "ttm.length",
    f"Figures are twelve months only if together they span {SHORTEST_WINDOW} to {LONGEST_WINDOW} days.",
    "Fiscal years of 52 or 53 weeks have 364 or 371 days; filers shift a period end by some days",
    "withhold",
)
NO_MIXED_BASES = Rule(
    "ttm.no-mixed-bases",
    "Figures before and after a restatement are not added up: twelve months are withheld if no filings show the fiscal "
    f"year on the basis of the interim periods, and the restatement moves them by more than {DISAGREEMENT:.1%}.",
    "ASC 250-10-45-5; Regulation S-X Rule 10-01(c): interim statements have both interim periods on one basis",
    "withhold",
)
CONFIRMED_LEGS = Rule(
    "ttm.confirmed-legs",
    "If the two ways to twelve months of an amount of money or of dividends contradict each other and no leg was "
    "restated, that way counts whose legs are all stated in two filings, the way by years first.",
    "The identity of both ways: a year is the sum of its quarters; a figure that two filings repeat is no slip",
    "select",
)
NO_CONTRADICTING_WAYS = Rule(
    "ttm.no-contradicting-ways",
    "Twelve months of an amount of money or of dividends are withheld if the two ways to them contradict each other by "
    f"more than {DISAGREEMENT:.1%} and by more than rounding, no leg was restated, and neither way is confirmed.",
    "The identity of both ways: a year is the sum of its quarters",
    "withhold",
)
NO_NEGATIVE_SUM = Rule(
    "ttm.no-negative-sum",
    "If an amount cannot be negative, twelve months or a quarter by difference below zero are left out, because their "
    "legs contradict each other.",
    "Taxonomy definitions: amounts such as revenue, payments, shares and dividends are not negative",
    "withhold",
)
WEEKS_53 = Rule(
    "flag.weeks-53",
    "The twelve months have 53 weeks.",
    f"Measured by the rule: the window has at least {WEEKS_53_DAYS} days; 52 weeks have 364 days and 53 weeks 371",
    "flag",
)
OTHER_ELEMENT = Rule(
    "flag.other-element",
    "The value is from an element that had another amount than the best element when this company stated both; it may "
    "be a part of it.",
    "Taxonomy definitions of the two elements",
    "flag",
)
MIXED_BASIS = Rule(
    "flag.mixed-basis",
    "The legs of the twelve months are on different accounting bases, or the filer's own twelve months differ.",
    "ASC 250-10-45-5",
    "flag",
)
BEFORE_RECAST = Rule(
    "flag.before-recast",
    f"The fiscal year in the window counts as before a recast that changed it by more than {DISAGREEMENT:.1%}.",
    "ASC 250-10-45-5",
    "flag",
)
RECAST = Rule(
    "flag.recast",
    f"The fiscal year was restated by more than {DISAGREEMENT:.1%} after it was first stated; the twelve months to the "
    "quarter ends around it stay as before, unless filings restate all of their legs.",
    "ASC 250-10-45-5: a change is applied to all periods presented, and interim periods of former years are not",
    "flag",
)
WAYS_DISAGREE = Rule(
    "flag.ways-disagree",
    f"The two ways to twelve months differ by more than {DISAGREEMENT:.1%}, and no restatement explains the "
    "difference.",
    "The identity of both ways: a year is the sum of its quarters",
    "flag",
)
WINDOW_FLAGS = {
    "weeks_53": WEEKS_53,
    "other_element": OTHER_ELEMENT,
    "mixed_basis": MIXED_BASIS,
    "before_recast": BEFORE_RECAST,
    "recast": RECAST,
    "ways_disagree": WAYS_DISAGREE,
}
"""The flags of a window in the order in which they are published, and their rules."""

RULES = (
    *METHODS,
    QUARTER_BY_DIFFERENCE,
    FOURTH_QUARTER_BY_THREE,
    YEAR_BEFORE_RECAST,
    QUARTER_BEFORE_RECAST,
    NEWEST_COMPARATIVE,
    NO_MIXED_REGIMES,
    NO_MIXED_ELEMENTS,
    NO_MIXED_BASES,
    CONFIRMED_LEGS,
    NO_CONTRADICTING_WAYS,
    TWELVE_MONTHS_LONG,
    NO_NEGATIVE_SUM,
    *WINDOW_FLAGS.values(),
)

ITEM_OF_FLOW = {
    "revenue": "revenue",
    "net_income_common": "net_income",
    "net_income_parent": "net_income",
    "eps_basic": "eps_basic",
    "dividends_per_share": "dividends_per_share",
    "operating_cash_flow": "free_cash_flow",
    "capital_expenditure": "free_cash_flow",
    "shares_basic": "shares_basic",
    "shares_diluted": "shares_diluted",
}
"""The line item that has no value if the twelve months of a flow have none."""

IS_ADDITIVE = np.array(
    [concept.measure == "money" or concept.name == "dividends_per_share" for concept in BY_NAME.values()]
)
"""For each code of a concept: whether the quarters of a year add up to it exactly."""
BY_QUARTER_FIRST = np.array([concept.measure == "per_share" for concept in BY_NAME.values()])
"""For each code of a concept: whether the sum of quarters is the first choice (ASC 260-10-45: EPS of a period)."""


@dataclass(frozen=True)
class Leg:
    """One known amount of each window, added (`sign` 1) or subtracted (-1); `row` is NOTHING if there is none."""

    row: Ints
    sign: int = 1


@dataclass(frozen=True)
class Way:
    """One way to twelve months, for each window.

    `regime` is that of the sum. `is_whole`: all required legs are known, they span twelve months, and the sum is not
    below zero if it cannot be. `has_other_length` and `is_negative` say why a known sum is not whole.
    """

    amount: Floats
    days: Floats
    regime: Floats
    legs: tuple[Leg, ...]
    is_whole: Flags
    has_other_length: Flags
    is_negative: Flags
    grain: Floats
    mixes_regimes: Flags
    mixes_elements: Flags
    mixes_bases: Flags
    has_other_element: Flags

    @classmethod
    def of(
        cls,
        windows: Windows,
        legs: tuple[Leg, ...],
        amount: Floats,
        days: Floats,
        regime: Floats,
        mixes_bases: Flags | None = None,
    ) -> "Way":
        """Make a way from a sum and its legs."""
        regimes, grains, others = (
            [windows.of(name, leg.row) for leg in legs] for name in ("regime", "grain", "other_source")
        )
        has_length = (days >= SHORTEST_WINDOW) & (days <= LONGEST_WINDOW)
        is_negative = ~windows.can_be_negative & (amount < 0)
        has_other = largest(*others) > 0
        return cls(
            amount=amount,
            days=days,
            regime=regime,
            legs=legs,
            is_whole=~np.isnan(amount) & has_length & ~is_negative,
            has_other_length=~np.isnan(amount) & ~has_length,
            is_negative=is_negative,
            grain=largest(*grains),
            mixes_regimes=smallest(*regimes) != largest(*regimes),
            mixes_elements=has_other & (smallest(*others) == 0),
            mixes_bases=np.zeros(len(amount), dtype=np.bool_) if mixes_bases is None else mixes_bases,
            has_other_element=has_other,
        )

    @property
    def is_sound(self) -> Flags:
        """Whether it leads to twelve months without mixing regimes, elements or bases."""
        return self.is_whole & ~self.mixes_regimes & ~self.mixes_elements & ~self.mixes_bases


def flow_versions(
    known: pl.DataFrame, grid: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Twelve-month flows after each filing that changed them.

    At a fiscal year end, twelve months are the year as filed. Otherwise TTM = FY(previous) + YTD(current) -
    YTD(previous). The subtracted YTD(previous) must be on the accounting basis of FY(previous): it is the amount known
    when the year was last stated, or recast with it; if only the year was recast, the year before the recast is used.
    If this is not possible, and as the first choice for amounts per share, twelve months are the sum of four discrete
    quarters, the fourth being FY less nine months, or FY less the three quarters. Legs of two regimes (another company,
    other standards), or from elements with different amounts, are never added up. If the filer's own twelve months to
    an interim quarter end differ, the legs are on two bases (`mixed_basis`).

    Args:
        known: of ttm.known.known_amounts: durations.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        flows: `flow` (row number), `cik`, `concept`, `q`, `seq`, `amount` (additive, see known_amounts), `days`,
            `rule` (the way: METHODS), one boolean column for each of WINDOW_FLAGS, `regime`, `grain` (of the coarsest
            leg), `spread` (the largest daily amount of the legs divided by the smallest). There is no row if no way
            leads to twelve months: three quarters are not an estimate of four.
        legs: `flow`, `place` (order of the leg), `vintage`, `weight`.
        withheld: `cik`, `q`, `item`, `reason`, `rule`: items without twelve months because their legs must not be
            added up.
        decisions: `cik`, `rule`, `figures`.

    Source: Regulation S-X Rule 10-01(c).
    """
    companies = np.unique(np.concatenate([ints(known, "cik"), ints(grid, "cik")]))
    windows = Windows(points_to_compute(known), grid, Known.of(known, companies))
    by_years, years = _by_years(windows)
    by_quarters, quarters = _by_quarters(windows)
    return _chosen(windows, by_years, years, by_quarters, quarters)


def _by_years(windows: Windows) -> tuple[Way, Years]:
    """The last fiscal year, plus this year to date, less the same period of the year before, on one basis."""
    of = windows.of
    years = years_on_one_basis(windows)
    amount, days = (
        of(name, years.year) + of(name, years.to_date) - of(name, years.prior) for name in ("amount", "days")
    )
    legs = (Leg(years.year), Leg(years.to_date), Leg(years.prior, -1))
    way = Way.of(windows, legs, amount, days, of("regime", years.to_date), mixes_bases=~years.holds)
    return way, years


@dataclass(frozen=True)
class Quarter:
    """One discrete quarter of each window: amount and days (NaN if unknown), legs, and how it was found."""

    amount: Floats
    days: Floats
    legs: tuple[Leg, ...]
    by_difference: Flags
    by_three_quarters: Flags
    year_before: Flags
    is_negative: Flags
    mixes_bases: Flags


def _by_quarters(windows: Windows) -> tuple[Way, tuple[Quarter, ...]]:
    """The sum of the last four discrete quarters of the window."""
    as_of, is_recast = filing_of_quarters(windows)
    quarters = tuple(
        _quarter(windows, windows.q - back, as_of, is_recast & (back >= windows.quarter))
        for back in range(QUARTERS_A_YEAR)
    )
    amount, days = (np.sum([getattr(quarter, name) for quarter in quarters], axis=0) for name in ("amount", "days"))
    stated, longer, *_ = quarters[0].legs
    regime = windows.of("regime", np.where(stated.row >= 0, stated.row, longer.row))
    legs = tuple(leg for quarter in quarters for leg in quarter.legs)
    mixes = np.any([quarter.mixes_bases for quarter in quarters], axis=0)
    mixes |= _exceed_their_year(windows, quarters, as_of)
    recast = np.flatnonzero(is_recast & IS_ADDITIVE[windows.concept])
    if len(recast):
        mixes[recast] |= _leave_their_year_to_date(windows, quarters, recast, as_of)
    return Way.of(windows, legs, amount, days, regime, mixes), quarters


def _exceed_their_year(windows: Windows, quarters: tuple[Quarter, ...], as_of: Floats) -> Flags:
    """Whether the quarters of last year add up to more than that year, of an amount that cannot be negative."""
    found = np.zeros(len(as_of), dtype=np.bool_)
    rows = np.flatnonzero(~windows.can_be_negative & IS_ADDITIVE[windows.concept])
    some = windows.at(rows)
    year = some.around(some.year_before, QUARTERS_A_YEAR, as_of[rows])
    of_last_year = np.sum(
        [np.where(back >= some.quarter, quarter.amount[rows], 0.0) for back, quarter in enumerate(quarters)], axis=0
    )
    rounding = DIGITS_OF_SUMS * some.of("grain", year)
    found[rows] = of_last_year > some.of("amount", year) * (1 + DISAGREEMENT) + rounding
    return found


def _leave_their_year_to_date(windows: Windows, quarters: tuple[Quarter, ...], rows: Ints, as_of: Floats) -> Flags:
    """Whether the quarters of this year do not add up to the year to date: some are as before a recast."""
    some = windows.at(rows)
    to_date = some.around(some.q, some.quarter, as_of[rows])
    of_this_year = np.sum(
        [np.where(back < some.quarter, quarter.amount[rows], 0.0) for back, quarter in enumerate(quarters)], axis=0
    )
    off = np.abs(of_this_year - some.of("amount", to_date))
    rounding = DIGITS_OF_SUMS * some.of("grain", to_date)
    is_apart: Flags = off > np.fmax(DISAGREEMENT * np.abs(of_this_year), rounding)
    return is_apart


def _quarter(windows: Windows, q: Ints, as_of: Floats, stated_anew: Flags) -> Quarter:
    """A quarter as stated; otherwise the difference of two years to date; otherwise the year less three quarters.

    A difference much larger than each of the three quarters is not that of a quarter: the year may include a special
    dividend that the quarters do not.

    Args:
        q: the quarter.
        as_of: the filing after which amounts are taken.
        stated_anew: whether only amounts count that this or a later filing states.
    """
    of, can_be_negative = windows.of, windows.can_be_negative
    anew = np.flatnonzero(stated_anew)
    some, since = windows.at(anew), as_of[anew]

    def on_basis(row: Ints, q: Floats | Ints, n: Floats | int) -> Ints:
        if len(anew):
            row[anew] = some.since(q[anew], n if isinstance(n, int) else n[anew], since)
        return row

    def find(q: Floats | Ints, n: Floats | int) -> Ints:
        return on_basis(windows.around(q, n, as_of), q, n)

    number = windows.fiscal_quarter(q)
    stated = on_basis(settled(windows, q, np.ones(len(q)), as_of)[0], q, 1)
    longer = find(q, number)
    newest = longer.copy()
    fourth = np.flatnonzero(number == QUARTERS_A_YEAR)
    newest[fourth] = windows.at(fourth).find(q[fourth], number[fourth])
    shorter = find(np.where(number > 1, q - 1, np.nan), number - 1)

    # a year that was first stated as less than its nine months
    is_wrong = ~can_be_negative & (of("amount", longer) < of("amount", shorter)) & ~stated_anew
    longer = np.where(is_wrong, newest, longer)
    # a recast year less nine months before the recast would put the whole recast into the fourth quarter
    former = windows.find(q, number, of("revised", longer) - 1)
    is_possible = can_be_negative | (of("amount", former) >= of("amount", shorter))
    recast_along = of("since", shorter) > of("seq", former)
    year_before = (of("seq", shorter) < of("revised", longer)) & is_possible & ~recast_along & ~stated_anew
    longer = np.where(year_before, former, longer)

    is_stated = stated >= 0
    rest, rest_days = (of(name, longer) - of(name, shorter) for name in ("amount", "days"))
    by_difference = ~is_stated & (can_be_negative | (rest >= 0)) & ~np.isnan(rest)

    lacks_nine_months = (number == QUARTERS_A_YEAR) & (longer >= 0) & ~is_stated & (shorter < 0)
    others = [np.full(len(q), NOTHING) for _ in range(1, QUARTERS_A_YEAR)]
    lacking = np.flatnonzero(lacks_nine_months)
    if len(lacking):
        for ago, row in enumerate(others, start=1):
            row[lacking] = windows.at(lacking).around(q[lacking] - ago, 1, as_of[lacking])
            row[lacking] = np.where(stated_anew[lacking], NOTHING, row[lacking])
    left, left_days = (
        of(name, longer) - np.sum([of(name, row) for row in others], axis=0) for name in ("amount", "days")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        most = LARGEST_RAISE * largest(*(of("amount", row) / of("days", row) for row in others))
        a_day = left / left_days
    is_like_the_others = (a_day >= 0) & (a_day <= most)
    by_three = lacks_nine_months & ~np.isnan(left) & (can_be_negative | is_like_the_others)

    def where(holds: Flags, row: Ints) -> Ints:
        return np.where(holds, row, NOTHING)

    return Quarter(
        amount=np.select([is_stated, by_three, by_difference], [of("amount", stated), left, rest], np.nan),
        days=np.select([is_stated, by_three, by_difference], [of("days", stated), left_days, rest_days], np.nan),
        legs=(
            Leg(stated),
            Leg(where(by_difference | by_three, longer)),
            Leg(where(by_difference, shorter), -1),
            *(Leg(where(by_three, row), -1) for row in others),
        ),
        by_difference=by_difference,
        by_three_quarters=by_three,
        year_before=(year_before | (of("since", newest) > of("since", longer))) & by_difference,
        is_negative=~is_stated & ~can_be_negative & (rest < 0),
        mixes_bases=_quarters_restated_since(windows, q, shorter, by_difference & (number == QUARTERS_A_YEAR), as_of),
    )


def _quarters_restated_since(windows: Windows, q: Ints, nine_months: Ints, asked: Flags, as_of: Floats) -> Flags:
    """Whether a quarter of the nine months was restated after these were last stated."""
    found = np.zeros(len(q), dtype=np.bool_)
    rows = np.flatnonzero(asked)
    if len(rows):
        some, stated_on = windows.at(rows), windows.of("seq", nine_months[rows])
        for ago in range(1, QUARTERS_A_YEAR):
            quarter = some.find(q[rows] - ago, 1, as_of[rows])
            found[rows] |= windows.of("revised", quarter) > stated_on
    return found


def _chosen(
    windows: Windows, by_years: Way, years: Years, by_quarters: Way, quarters: tuple[Quarter, ...]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The results of flow_versions: the chosen way of each window, its flags, legs and decisions."""
    of = windows.of
    year = windows.find(np.where(windows.is_year_end, windows.q, np.nan), QUARTERS_A_YEAR)
    own = windows.find(np.where(windows.is_year_end, np.nan, windows.q), QUARTERS_A_YEAR)
    is_year = year >= 0
    first_year = windows.since(np.where(is_year, windows.q, np.nan), QUARTERS_A_YEAR, np.zeros_like(windows.q))
    by_year, by_own = (
        Way.of(windows, (Leg(row),), of("amount", row), of("days", row), of("regime", row)) for row in (year, own)
    )
    takes_own = by_own.is_whole & (np.abs(by_own.amount - by_years.amount) <= OWN_APART * np.abs(by_own.amount))
    both = by_years.is_sound & by_quarters.is_sound & ~is_year & ~takes_own
    apart = both & (np.abs(by_years.amount - by_quarters.amount) > DISAGREEMENT * np.abs(by_years.amount))
    far_apart = both & (np.abs(by_years.amount - by_quarters.amount) > FAR_APART * np.abs(by_years.amount))
    contradict = (apart & IS_ADDITIVE[windows.concept]) | (far_apart & BY_QUARTER_FIRST[windows.concept])
    judged = _judged(windows, by_years, years, by_quarters, contradict)
    quarters_first = BY_QUARTER_FIRST[windows.concept] & ~judged.by_years
    takes_quarters = by_quarters.is_sound & (quarters_first | judged.by_quarters | ~by_years.is_sound)
    holds = [is_year, takes_own, takes_quarters & ~judged.neither, by_years.is_sound & ~judged.neither]
    ways = (by_year, by_own, by_quarters, by_years)

    def chosen(name: str) -> Floats:
        return np.select(holds, [getattr(way, name) for way in ways], np.nan)

    amount, days, grain = chosen("amount"), chosen("days"), chosen("grain")
    to_date_is_other = of("other_source", by_years.legs[1].row) > 0
    is_other = [
        by_year.has_other_element,
        by_own.has_other_element,
        by_quarters.has_other_element,
        to_date_is_other,
    ]
    other_element = np.select(holds, is_other, default=False)
    has_way = np.any(holds, axis=0)
    rules = [FISCAL_YEAR.id, OWN_TWELVE_MONTHS.id, FOUR_QUARTERS.id, YEAR_TO_DATE.id]
    found = windows.points.with_columns(
        amount=numbers(amount),
        days=numbers(days).cast(pl.Int64),
        rule=pl.Series(np.select(holds, rules, "")),
        weeks_53=days >= WEEKS_53_DAYS,
        other_element=other_element,
        mixed_basis=pl.lit(value=False),
        before_recast=~is_year & ~takes_own & years.is_before,
        recast=is_year & restated(windows, year, first_year, DISAGREEMENT * np.abs(by_year.amount)),
        ways_disagree=apart & ~IS_ADDITIVE[windows.concept],
        regime=numbers(chosen("regime")).cast(pl.Int32),
        grain=numbers(grain),
        spread=numbers(_spread(windows, by_years, quarters)),
        window=np.arange(len(windows.q)),
    )
    flows = amount_changes(found.filter(has_way), ["cik", "concept", "q"])
    kept = ints(flows, "window")
    legs = _legs(windows, [way.legs for way in ways], [condition[kept] for condition in holds], kept)
    decided = _decisions(windows, flows, by_years, years, quarters, has_way, by_quarters)
    cik = ints(windows.points, "cik")
    confirmed = counted(
        [
            (CONFIRMED_LEGS, cik[judged.by_years | judged.by_quarters]),
            (NO_CONTRADICTING_WAYS, cik[judged.neither & ~has_way]),
        ]
    )
    decided = pl.concat([decided, confirmed])
    withheld = _withheld(windows, by_years, by_quarters, judged, has_way)
    return flows.drop("window").with_row_index("flow"), legs, withheld, decided


@dataclass(frozen=True)
class Judged:
    """Which way counts in windows whose two ways contradict each other: at most one holds for each window."""

    by_years: Flags
    by_quarters: Flags
    neither: Flags


def _judged(windows: Windows, by_years: Way, chosen: Years, by_quarters: Way, apart: Flags) -> Judged:
    """Decide between two ways of an additive amount that differ.

    After a restatement the quarters are often on two bases, and the way by years counts; but if the quarters add up
    with the year as restated, and its interim period was restated, too, then the year is on another basis.

    Args:
        chosen: the legs of the way by years.
        apart: the windows whose ways differ.
    """
    years, quarters, neither = (np.zeros(len(apart), dtype=np.bool_) for _ in range(3))
    rows = np.flatnonzero(apart)
    if len(rows):
        some = windows.at(rows)
        off = np.abs(by_years.amount[rows] - by_quarters.amount[rows])
        digits = DIGITS_OF_SUMS * largest(by_years.grain[rows], by_quarters.grain[rows])
        legs = [[leg.row[rows] for leg in way.legs] for way in (by_years, by_quarters)]
        of_years, of_quarters = (_confirmed(some, of_way) for of_way in legs)
        is_restated = np.any([some.of("revised", row) >= 0 for of_way in legs for row in of_way], axis=0)
        is_restated &= IS_ADDITIVE[some.concept]
        restated_year = some.of("amount", some.find(some.year_before, QUARTERS_A_YEAR))
        as_restated = by_years.amount[rows] - some.of("amount", chosen.year[rows]) + restated_year
        adds_up = chosen.is_doubtful[rows] & (np.abs(as_restated - by_quarters.amount[rows]) <= digits)
        contradict = off > digits
        years[rows] = contradict & ((is_restated & ~adds_up) | of_years)
        quarters[rows] = contradict & ~years[rows] & (of_quarters | adds_up)
        neither[rows] = contradict & ~years[rows] & ~quarters[rows]
    return Judged(years, quarters, neither)


def _confirmed(windows: Windows, legs: list[Ints]) -> Flags:
    """Whether each leg is stated with the same amount in two filings."""
    of = windows.of
    found = np.ones(len(windows.q), dtype=np.bool_)
    for row in legs:
        found &= (row < 0) | (of("seq", row) > of("since", row)) | (of("repeated", row) <= windows.seq)
    return found


def _spread(windows: Windows, by_years: Way, quarters: tuple[Quarter, ...]) -> Floats:
    """The largest daily amount of a leg divided by the smallest; for shares, the change of their count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        years = [windows.of("amount", leg.row) / windows.of("days", leg.row) for leg in by_years.legs]
        discrete = [quarter.amount / quarter.days for quarter in quarters]
        spread = largest(largest(*years) / smallest(*years), largest(*discrete) / smallest(*discrete))
        return np.where(np.isfinite(spread), spread, np.nan)


def _legs(windows: Windows, legs: list[tuple[Leg, ...]], holds: list[Flags], kept: Ints) -> pl.DataFrame:
    """The legs of the ways that were chosen: `flow`, `place`, `vintage`, `weight`."""
    flow, place, row, sign = [], [], [], []
    taken = np.zeros(len(kept), dtype=np.bool_)
    for of_way, is_way in zip(legs, holds, strict=True):
        numbers_of_way = np.flatnonzero(is_way & ~taken)
        taken |= is_way
        for number, leg in enumerate(of_way):
            rows = leg.row[kept[numbers_of_way]]
            there = rows >= 0
            flow.append(numbers_of_way[there])
            row.append(rows[there])
            place.append(np.full(int(there.sum()), number))
            sign.append(np.full(int(there.sum()), leg.sign))
    rows = np.concatenate(row)
    return pl.DataFrame(
        {
            "flow": np.concatenate(flow).astype(np.uint32),
            "place": np.concatenate(place).astype(np.int16),
            "vintage": windows.known.vintage[rows].astype(np.uint32),
            "weight": windows.known.rows["weight"][rows] * np.concatenate(sign),
        }
    ).sort("flow", "place")


def _withheld(windows: Windows, by_years: Way, by_quarters: Way, judged: Judged, has_way: Flags) -> pl.DataFrame:
    """The items without twelve months because their newest window would mix companies, standards or elements.

    `cik`, `q`, `item`, `reason`, `rule`.
    """
    window = slot_key(windows.company, windows.concept, windows.q, np.zeros_like(windows.q))
    is_newest = np.append(window[1:] != window[:-1], [True])[: len(window)]
    item = pl.Series([ITEM_OF_FLOW.get(name) for name in BY_NAME], dtype=pl.String)
    asked = is_newest & ~np.isin(window, window[has_way]) & item.is_not_null().to_numpy()[windows.concept]
    found = []
    either = [
        (by_years.is_whole & getattr(by_years, name)) | (by_quarters.is_whole & getattr(by_quarters, name))
        for name in ("mixes_regimes", "mixes_elements", "mixes_bases")
    ]
    for rule, reason, mixes in (
        (NO_MIXED_REGIMES, "basis_break", either[0]),
        (NO_MIXED_ELEMENTS, "elements_differ", either[1]),
        (NO_MIXED_BASES, "mixed_basis", either[2]),
        (NO_CONTRADICTING_WAYS, "ways_contradict", judged.neither),
    ):
        rows = np.flatnonzero(asked & mixes)
        found.append(
            windows.points[rows].select(
                "cik",
                "q",
                item=item.gather(windows.concept[rows]),
                reason=pl.lit(reason, pl.String),
                rule=pl.lit(rule.id, pl.String),
            )
        )
    return pl.concat(found)


def _decisions(
    windows: Windows,
    flows: pl.DataFrame,
    by_years: Way,
    years: Years,
    quarters: tuple[Quarter, ...],
    has_way: Flags,
    by_quarters: Way,
) -> pl.DataFrame:
    """`cik`, `rule`, `figures`: the windows that each rule of this module decided."""
    kept = ints(flows, "window")
    is_years, is_quarters = ((flows["rule"] == rule.id).to_numpy() for rule in (YEAR_TO_DATE, FOUR_QUARTERS))

    def of_quarters(name: str) -> Flags:
        found: Flags = is_quarters & np.any([getattr(quarter, name)[kept] for quarter in quarters], axis=0)
        return found

    cik = ints(windows.points, "cik")
    decided = [
        (QUARTER_BY_DIFFERENCE, cik[kept[of_quarters("by_difference")]]),
        (FOURTH_QUARTER_BY_THREE, cik[kept[of_quarters("by_three_quarters")]]),
        (QUARTER_BEFORE_RECAST, cik[kept[of_quarters("year_before")]]),
        (YEAR_BEFORE_RECAST, cik[kept[is_years & years.is_before[kept]]]),
        (NEWEST_COMPARATIVE, cik[kept[is_years & years.is_recast[kept]]]),
    ]
    for rule, name in (
        (NO_MIXED_REGIMES, "mixes_regimes"),
        (NO_MIXED_ELEMENTS, "mixes_elements"),
        (NO_MIXED_BASES, "mixes_bases"),
    ):
        mixes = (by_years.is_whole & getattr(by_years, name)) | (by_quarters.is_whole & getattr(by_quarters, name))
        decided.append((rule, cik[mixes & ~has_way]))
    is_negative = by_years.is_negative | by_quarters.is_negative
    is_negative |= np.any([quarter.is_negative for quarter in quarters], axis=0)
    decided.append((NO_NEGATIVE_SUM, cik[is_negative & ~has_way]))
    decided.append((TWELVE_MONTHS_LONG, cik[(by_years.has_other_length | by_quarters.has_other_length) & ~has_way]))
    return counted(decided)
