"""Windows: trailing twelve months at each quarter end, from the known amounts of a flow.

Belongs here: discrete quarters, twelve months in two ways, and their accounting basis. Does not: the elements of a flow
(elements), which amounts are known (known), balances at an instant (balance).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    QUARTER_BITS,
    Flags,
    Floats,
    Ints,
    Timeline,
    flags,
    floats,
    ints,
    key_of,
    largest,
    numbers,
    picked,
    smallest,
)
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import COMPANY_BITS, Known, amount_changes, points_to_compute, slot_key

QUARTERS_A_YEAR = 4

SHORTEST_WINDOW, LONGEST_WINDOW = 350, 378
"""Fewest and most days of twelve months: 52 or 53 weeks, and the days by which filers shift a period end."""
WEEKS_53_DAYS = 369
"""Fewest days of a window of 53 weeks."""
DISAGREEMENT = 0.005
"""Two ways to twelve months that differ by more than this share have legs on different accounting bases.

Measured: the two ways agree within it for 99.7 % of operating cash flow and 97.5 % of net income; nearly all others are
breaks of the accounting basis."""
LARGEST_RAISE = 1.5
"""A dividend is hardly ever raised by more than half within a year, so a larger difference is not that of one
quarter."""
LAST_DIGITS = 2
"""Twelve months of three rounded legs and the filer's own twelve months may differ by so many units."""

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
METHODS = (FISCAL_YEAR, YEAR_TO_DATE, FOUR_QUARTERS)
METHOD_NAMES = {FISCAL_YEAR: "fiscal_year", YEAR_TO_DATE: "year_to_date", FOUR_QUARTERS: "four_quarters"}
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

BY_QUARTER_FIRST = np.array([concept.measure == "per_share" for concept in BY_NAME.values()])
"""For each code of a concept: whether the sum of quarters is the first choice (ASC 260-10-45: EPS of a period)."""
CAN_BE_NEGATIVE = np.array([concept.can_be_negative for concept in BY_NAME.values()])


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
    has_other_element: Flags

    @classmethod
    def of(cls, windows: "Windows", legs: tuple[Leg, ...], amount: Floats, days: Floats, regime: Floats) -> "Way":
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
            has_other_element=has_other,
        )

    @property
    def is_sound(self) -> Flags:
        """Whether it leads to twelve months without mixing regimes or elements."""
        return self.is_whole & ~self.mixes_regimes & ~self.mixes_elements


class Windows:
    """The windows to compute, and look-ups of the amounts known after their filings."""

    def __init__(self, points: pl.DataFrame, grid: pl.DataFrame, known: Known) -> None:
        """Place the points on the grid; points that are not a quarter end of a fiscal year are left out.

        Args:
            points: `cik`, `concept`, `q`, `seq` (the filing of the point).
            grid: of periods.calendar.fiscal_grid.
            known: known amounts of durations.
        """
        company = np.searchsorted(known.companies, ints(grid, "cik"))
        quarters = Timeline(key_of((company, COMPANY_BITS), (ints(grid, "q"), QUARTER_BITS)), np.zeros_like(company))
        self._quarter = floats(grid, "fiscal_quarter")
        place = np.searchsorted(known.companies, ints(points, "cik"))
        at = quarters.after(key_of((place, COMPANY_BITS), (ints(points, "q"), QUARTER_BITS)), np.zeros_like(place))
        is_period = (at >= 0) & (picked(self._quarter, at) > 0)
        self.points = points.filter(is_period)
        self.company, at = place[is_period], at[is_period]
        self.concept, self.q, self.seq = (ints(self.points, name) for name in ("concept", "q", "seq"))
        self.quarter = picked(self._quarter, at)
        self.year_before = picked(floats(grid, "year_before"), at)
        self.is_year_end = flags(grid, "is_year_end")[at]
        self.can_be_negative = CAN_BE_NEGATIVE[self.concept]
        self.known = known
        self._quarters = quarters

    def find(self, q: Floats | Ints, n: Floats | int, seq: Floats | None = None) -> Ints:
        """The row of `known` for slot (q, n) after filing `seq` (the window's own by default)."""
        spans = np.full(len(self.q), n) if isinstance(n, int) else n
        key = slot_key(self.company, self.concept, q, spans)
        return self.known.timeline.after(key, self.seq if seq is None else seq)

    def of(self, name: str, row: Ints) -> Floats:
        """A column of known amounts at some rows: `amount`, `days`, `grain`, `seq` and so on; NaN for NOTHING."""
        return picked(self.known.rows[name], row)

    def fiscal_quarter(self, q: Ints) -> Floats:
        """Number of a quarter within its fiscal year; NaN for a quarter that is not on the grid."""
        key = key_of((self.company, COMPANY_BITS), (q, QUARTER_BITS))
        return picked(self._quarter, self._quarters.after(key, np.zeros_like(q)))


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
    by_years, recast = _by_years(windows)
    by_quarters, quarters = _by_quarters(windows)
    return _chosen(windows, by_years, recast, by_quarters, quarters)


@dataclass(frozen=True)
class Recast:
    """The effect of recasts of known figures on each window.

    `moved`: the amount by which figures were restated without other legs; NaN if there was no such restatement.
    `year_moved`: the amount by which the fiscal year was restated. `year_before`: whether it counts as before.
    `takes_newest`: whether the newest comparative is subtracted instead of the one filed with the year.
    """

    moved: Floats
    year_moved: Floats
    year_before: Flags
    takes_newest: Flags


def _by_years(windows: Windows) -> tuple[Way, Recast]:
    """The last fiscal year, plus this year to date, less the same period of the year before."""
    find, of = windows.find, windows.of
    q, quarter = windows.q, windows.quarter
    stated_year = find(windows.year_before, QUARTERS_A_YEAR)
    to_date = find(q, quarter)
    newest_prior = find(q - QUARTERS_A_YEAR, quarter)

    # a recast year less an interim period on the former basis is on neither basis; use both on the former basis
    former_year = find(windows.year_before, QUARTERS_A_YEAR, of("revised", stated_year) - 1)
    recast_along = of("since", newest_prior) > of("seq", former_year)
    leaves_negative = of("amount", former_year) < of("amount", newest_prior)
    year_before = (former_year >= 0) & ~recast_along & (windows.can_be_negative | ~leaves_negative)
    year_moved = np.abs(of("amount", stated_year) - of("amount", former_year))
    last_year = np.where(year_before, former_year, stated_year)

    # after an amendment of the year, earlier figures of its quarters are outdated: the newest is on its basis, if any
    with_year = find(q - QUARTERS_A_YEAR, quarter, of("seq", last_year))
    left_behind = of("seq", with_year) < of("revised", last_year)
    other_regime = np.abs(of("regime", with_year) - of("regime", last_year)) > 0
    takes_newest = left_behind | other_regime | (with_year < 0)
    prior = np.where(takes_newest, newest_prior, with_year)
    not_recast_with_it = of("seq", prior) < of("revised", last_year)

    # if only this year to date was recast, the rest of the last year is on the former basis
    to_date_before = find(q, quarter, of("revised", to_date) - 1)
    recast_alone = (of("revised", to_date) > of("seq", last_year)) & (of("since", prior) <= of("seq", last_year))
    moved = largest(
        np.abs(of("amount", newest_prior) - of("amount", prior)),
        np.where(not_recast_with_it & ~recast_along, year_moved, np.nan),
        np.where(recast_alone, np.abs(of("amount", to_date) - of("amount", to_date_before)), np.nan),
    )
    amount, days = (of(name, last_year) + of(name, to_date) - of(name, prior) for name in ("amount", "days"))
    legs = (Leg(last_year), Leg(to_date), Leg(prior, -1))
    way = Way.of(windows, legs, amount, days, of("regime", to_date))
    return way, Recast(moved, year_moved, year_before, takes_newest)


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


def _by_quarters(windows: Windows) -> tuple[Way, tuple[Quarter, ...]]:
    """The sum of the last four discrete quarters of the window."""
    quarters = tuple(_quarter(windows, windows.q - back) for back in range(QUARTERS_A_YEAR))
    amount, days = (np.sum([getattr(quarter, name) for quarter in quarters], axis=0) for name in ("amount", "days"))
    stated, longer, *_ = quarters[0].legs
    regime = windows.of("regime", np.where(stated.row >= 0, stated.row, longer.row))
    legs = tuple(leg for quarter in quarters for leg in quarter.legs)
    return Way.of(windows, legs, amount, days, regime), quarters


def _quarter(windows: Windows, q: Ints) -> Quarter:
    """A quarter as stated; otherwise the difference of two years to date; otherwise the year less three quarters.

    A difference much larger than each of the three quarters is not that of a quarter: the year may include a special
    dividend that the quarters do not.
    """
    find, of, can_be_negative = windows.find, windows.of, windows.can_be_negative
    number = windows.fiscal_quarter(q)
    stated = find(q, 1)
    longer = find(q, number)
    shorter = find(np.where(number > 1, q - 1, np.nan), number - 1)

    # a recast year less nine months before the recast would put the whole recast into the fourth quarter
    former = find(q, number, of("revised", longer) - 1)
    is_possible = can_be_negative | (of("amount", former) >= of("amount", shorter))
    recast_along = of("since", shorter) > of("seq", former)
    year_before = (of("seq", shorter) < of("revised", longer)) & is_possible & ~recast_along
    longer = np.where(year_before, former, longer)

    is_stated = stated >= 0
    rest, rest_days = (of(name, longer) - of(name, shorter) for name in ("amount", "days"))
    by_difference = ~is_stated & (can_be_negative | (rest >= 0)) & ~np.isnan(rest)

    lacks_nine_months = (number == QUARTERS_A_YEAR) & (longer >= 0) & ~is_stated & (shorter < 0)
    others = [np.where(lacks_nine_months, find(q - ago, 1), NOTHING) for ago in range(1, QUARTERS_A_YEAR)]
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
        year_before=year_before & by_difference,
        is_negative=~is_stated & ~can_be_negative & (rest < 0),
    )


def _chosen(
    windows: Windows, by_years: Way, recast: Recast, by_quarters: Way, quarters: tuple[Quarter, ...]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The results of flow_versions: the chosen way of each window, its flags, legs and decisions."""
    of = windows.of
    year = windows.find(np.where(windows.is_year_end, windows.q, np.nan), QUARTERS_A_YEAR)
    own = windows.find(np.where(windows.is_year_end, np.nan, windows.q), QUARTERS_A_YEAR)
    is_year = year >= 0
    takes_quarters = by_quarters.is_sound & (BY_QUARTER_FIRST[windows.concept] | ~by_years.is_sound)
    holds = [is_year, takes_quarters, by_years.is_sound]
    by_year = Way.of(windows, (Leg(year),), of("amount", year), of("days", year), of("regime", year))
    ways = (by_year, by_quarters, by_years)

    def chosen(name: str) -> Floats:
        return np.select(holds, [getattr(way, name) for way in ways], np.nan)

    amount, days, grain = chosen("amount"), chosen("days"), chosen("grain")
    to_date_is_other = of("other_source", by_years.legs[1].row) > 0
    is_other = [by_year.has_other_element, by_quarters.has_other_element, to_date_is_other]
    other_element = np.select(holds, is_other, default=False)
    size = DISAGREEMENT * np.abs(amount)
    rounding = LAST_DIGITS * smallest(grain, of("grain", own)) * of("weight", own)
    is_mixed = (recast.moved > size) | (np.abs(amount - of("amount", own)) > rounding)
    apart = np.abs(by_years.amount - by_quarters.amount) > DISAGREEMENT * np.abs(by_years.amount)
    both = by_years.is_sound & by_quarters.is_sound
    has_way = holds[0] | holds[1] | holds[2]
    found = windows.points.with_columns(
        amount=numbers(amount),
        days=numbers(days).cast(pl.Int64),
        rule=pl.Series(np.select(holds, [FISCAL_YEAR.id, FOUR_QUARTERS.id, YEAR_TO_DATE.id], "")),
        weeks_53=days >= WEEKS_53_DAYS,
        other_element=other_element,
        mixed_basis=~is_year & is_mixed,
        before_recast=~is_year & recast.year_before & (recast.year_moved > size),
        ways_disagree=~is_year & apart & both & ~is_mixed,
        regime=numbers(chosen("regime")).cast(pl.Int32),
        grain=numbers(grain),
        spread=numbers(_spread(windows, by_years, quarters)),
        window=np.arange(len(windows.q)),
    )
    flows = amount_changes(found.filter(has_way), ["cik", "concept", "q"])
    kept = ints(flows, "window")
    legs = _legs(windows, [way.legs for way in ways], [condition[kept] for condition in holds], kept)
    decided = _decisions(windows, flows, by_years, recast, quarters, has_way, by_quarters)
    withheld = _withheld(windows, by_years, by_quarters, has_way)
    return flows.drop("window").with_row_index("flow"), legs, withheld, decided


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


def _withheld(windows: Windows, by_years: Way, by_quarters: Way, has_way: Flags) -> pl.DataFrame:
    """The items without twelve months because their newest window would mix companies, standards or elements.

    `cik`, `q`, `item`, `reason`, `rule`.
    """
    window = slot_key(windows.company, windows.concept, windows.q, np.zeros_like(windows.q))
    is_newest = np.append(window[1:] != window[:-1], [True])[: len(window)]
    item = pl.Series([ITEM_OF_FLOW.get(name) for name in BY_NAME], dtype=pl.String)
    asked = is_newest & ~np.isin(window, window[has_way]) & item.is_not_null().to_numpy()[windows.concept]
    found = []
    for rule, reason, name in (
        (NO_MIXED_REGIMES, "basis_break", "mixes_regimes"),
        (NO_MIXED_ELEMENTS, "elements_differ", "mixes_elements"),
    ):
        mixes = (by_years.is_whole & getattr(by_years, name)) | (by_quarters.is_whole & getattr(by_quarters, name))
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
    recast: Recast,
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
        (YEAR_BEFORE_RECAST, cik[kept[is_years & recast.year_before[kept]]]),
        (NEWEST_COMPARATIVE, cik[kept[is_years & recast.takes_newest[kept]]]),
    ]
    for rule, name in ((NO_MIXED_REGIMES, "mixes_regimes"), (NO_MIXED_ELEMENTS, "mixes_elements")):
        mixes = (by_years.is_whole & getattr(by_years, name)) | (by_quarters.is_whole & getattr(by_quarters, name))
        decided.append((rule, cik[mixes & ~has_way]))
    is_negative = by_years.is_negative | by_quarters.is_negative
    is_negative |= np.any([quarter.is_negative for quarter in quarters], axis=0)
    decided.append((NO_NEGATIVE_SUM, cik[is_negative & ~has_way]))
    decided.append((TWELVE_MONTHS_LONG, cik[(by_years.has_other_length | by_quarters.has_other_length) & ~has_way]))
    return counted(decided)
