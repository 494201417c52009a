"""Windows: trailing twelve months at each quarter end, from the known amounts of a flow.

Belongs here: which way to twelve months counts, and the flags of the result. Does not: the legs of a way (bases,
quarters), which amounts are known (known), the elements of a flow (elements), balances at an instant (balance).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    Flags,
    Floats,
    Ints,
    first_row,
    ints,
    largest,
    numbers,
    picked,
    starts,
)
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm import averages
from pipelines.normalize.ttm.bases import BEYOND, DISAGREEMENT, Years, on_basis_of_quarters, restated
from pipelines.normalize.ttm.beside_recasts import (
    NEXT_LESS_QUARTER,
    QUARTERS_OF_RECAST,
    YEAR_ON_NEW_BASIS,
    years_or_next,
)
from pipelines.normalize.ttm.judgements import (
    CONFIRMED_LEGS,
    NO_CONTRADICTING_WAYS,
    NO_MIXED_BASES,
    NO_YEAR_IN_DISPUTE,
    Judged,
    judged_ways,
    proofs,
)
from pipelines.normalize.ttm.known import (
    IS_ADDITIVE,
    QUARTERS_A_YEAR,
    Known,
    amount_changes,
    points_to_compute,
    slot_key,
)
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.payments import PAID_LATER, paid_later
from pipelines.normalize.ttm.quarters import (
    FOURTH_QUARTER_BY_THREE,
    QUARTER_BEFORE_RECAST,
    QUARTER_BY_DIFFERENCE,
    Quarter,
    quarters_added_up,
)
from pipelines.normalize.ttm.ways import (
    A_THOUSANDTH,
    BY_QUARTER_FIRST,
    LONGEST_WINDOW,
    SHORTEST_WINDOW,
    SMALLEST_UNIT,
    Leg,
    Way,
)

WEEKS_53_DAYS = 369
"""Fewest days of a window of 53 weeks."""
FAR_APART = 0.5
"""Quarterly earnings per share do not add up exactly, but hardly ever differ by more than this share of the sum."""
OWN_APART = 0.1
"""A filer's own twelve months differ from the sum of its legs by restatements only. Measured: at most 4 % where Amazon
states them, while a figure of another period in such a context is off by half and more."""
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

YEAR_BEFORE_RECAST = Rule(
    "ttm.year-before-recast",
    "If a fiscal year was recast and its interim period was not, the year counts as before the recast, unless it was "
    "then less than the interim period and the amount cannot be negative.",
    "ASC 250-10-45-5: a change is applied to all periods presented; a recast year less an interim period on the former "
    "basis is on neither basis",
    "select",
)
NEWEST_COMPARATIVE = Rule(
    "ttm.newest-comparative",
    "The interim period that is subtracted is as in the newest filing, if the figure known with the year is missing, "
    "was not restated with an amendment of the year, or follows other standards than the year.",
    "ASC 250-10-45-23: an error is corrected in all periods presented",
    "select",
)
CORRECTED_YEAR = Rule(
    "ttm.year-as-corrected",
    "A fiscal year counts as a later filing corrects it: restated alone to another sign or size, or an average of "
    "shares that only then lies, without its interim period, between the averages of both interim periods, with and "
    "without the quarters that filings state.",
    "ASC 250-10-45-23: an error is corrected in all periods presented; ASC 260-10-45-10: a weighted average",
    "select",
)
NO_MIXED_UNITS = Rule(
    "ttm.no-mixed-units",
    f"Amounts of money below {SMALLEST_UNIT:,.0f} are not added to one in thousands or millions, nor an amount that "
    f"cannot be negative to one in thousands that is at least {A_THOUSANDTH[0]} times larger a day: their filing is in "
    "thousands or millions as well, and states them without the zeros.",
    "Regulation S-X Rule 4-01(b): amounts may be stated in thousands or millions",
    "withhold",
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
RECAST = Rule(
    "flag.recast",
    f"The fiscal year was restated by more than {DISAGREEMENT:.1%}, by the same standards, after it was first stated; "
    "the twelve months to the quarter ends around it stay as before, unless filings restate all of their legs.",
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
    YEAR_BEFORE_RECAST,
    NEWEST_COMPARATIVE,
    CORRECTED_YEAR,
    NO_MIXED_REGIMES,
    NO_MIXED_UNITS,
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
ITEM_OF_CONCEPT = pl.Series([ITEM_OF_FLOW.get(name) for name in BY_NAME], dtype=pl.String)
"""The same for each code of a concept; null if there is none."""


def flow_versions(known: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    """Twelve-month flows after each filing that changed them.

    At a fiscal year end, twelve months are the year as filed. Otherwise TTM = FY(previous) + YTD(current) -
    YTD(previous), with all legs on one accounting basis (bases). If this is not possible, and as the first choice for
    amounts per share, twelve months are the sum of four discrete quarters (quarters). Legs of two regimes (another
    company, other standards), or from elements with different amounts, are never added up. If the two ways contradict
    each other, one counts that two filings confirm, or none (judgements). A filer's own twelve months to an interim
    quarter end come first.

    Args:
        known: of ttm.known.known_amounts: durations.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        flows: `flow` (row number), `cik`, `concept`, `q`, `seq`, `amount` (additive, see known_amounts), `days`,
            `rule` (the way: METHODS), one boolean column for each of WINDOW_FLAGS, `regime`, `grain` (of the coarsest
            leg), `is_derived` (no filing states a leg),
            `spread` (the largest daily amount of the legs divided by the smallest, by years or by quarters),
            `own_spread` (the same of the way that counts), `gross` (the sum of the legs without their signs), `beyond`
            (of averages.beyond). There is no row if no way leads to twelve months: three quarters are not an estimate
            of four.
        legs: `flow`, `place` (order of the leg), `vintage`, `weight`.
        withheld: `cik`, `q`, `item`, `reason`, `rule`: items without twelve months because their legs must not be
            added up.
        proofs: frames.PROOFS: for each window, whether its legs are on one basis, and whether its two ways agree.
        decisions: `cik`, `rule`, `figures`.

    Source: Regulation S-X Rule 10-01(c).
    """
    companies = np.unique(np.concatenate([ints(known, "cik"), ints(grid, "cik")]))
    windows = Windows(points_to_compute(known), grid, Known.of(known, companies))
    by_years, years, of_next = years_or_next(windows)
    by_quarters, quarters, of_recast = quarters_added_up(windows, years, ~by_years.is_whole)
    return _chosen(windows, by_years, years, by_quarters, quarters, of_recast, of_next)


def _behind_quarters(
    windows: Windows, by_years: Way, years: Years, by_quarters: Way, may_take_years: Flags
) -> tuple[Flags, Flags]:
    """Whether a year to date is on an older basis than the quarters stated in the filing of the year, or a later one.

    Args:
        may_take_years: the windows for which the way by years would count, or neither way.

    Returns:
        for each window, whether it is so, and whether the way by quarters is then on their basis.
    """
    is_behind, agrees = (np.zeros(len(may_take_years), dtype=np.bool_) for _ in range(2))
    is_same = by_quarters.is_sound & (np.abs(by_years.amount - by_quarters.amount) <= by_years.grain)
    rows = np.flatnonzero(may_take_years & ~is_same & IS_ADDITIVE[windows.concept] & (windows.quarter > 1))
    amount, is_behind[rows] = on_basis_of_quarters(windows, years, rows)
    is_near = np.abs(by_quarters.amount[rows] - amount) <= DISAGREEMENT * np.abs(amount)
    agrees[rows] = is_behind[rows] & by_quarters.is_sound[rows] & is_near
    return is_behind, agrees


def _chosen(
    windows: Windows,
    by_years: Way,
    years: Years,
    by_quarters: Way,
    quarters: tuple[Quarter, ...],
    of_recast: Flags,
    of_next: Flags,
) -> tuple[pl.DataFrame, ...]:
    """The results of flow_versions: the chosen way of each window, its flags, legs and decisions."""
    of = windows.of
    year = windows.find(np.where(windows.is_year_end, windows.q, np.nan), QUARTERS_A_YEAR)
    own = windows.find(np.where(windows.is_year_end, np.nan, windows.q), QUARTERS_A_YEAR)
    # four quarters that are stated are finer than a year that other figures prove
    is_year = (year >= 0) & ~(windows.is_derived(year) & by_quarters.is_sound & ~by_quarters.has_derived)
    first_year = windows.since(np.where(is_year, windows.q, np.nan), QUARTERS_A_YEAR, np.zeros_like(windows.q))
    is_same_regime = of("regime", year) == of("regime", first_year)
    by_year, by_own = (
        Way.of(windows, (Leg(row),), of("amount", row), of("days", row), of("regime", row)) for row in (year, own)
    )
    takes_own = by_own.is_whole & (np.abs(by_own.amount - by_years.amount) <= OWN_APART * np.abs(by_own.amount))
    both = by_years.is_sound & by_quarters.is_sound & ~is_year & ~takes_own
    apart = both & (np.abs(by_years.amount - by_quarters.amount) > DISAGREEMENT * np.abs(by_years.amount))
    far_apart = both & (np.abs(by_years.amount - by_quarters.amount) > FAR_APART * np.abs(by_years.amount))
    contradict = (apart & IS_ADDITIVE[windows.concept]) | (far_apart & BY_QUARTER_FIRST[windows.concept])
    judged = judged_ways(windows, by_years, years, by_quarters, contradict)
    quarters_first = BY_QUARTER_FIRST[windows.concept] & ~judged.by_years
    takes_quarters = by_quarters.is_sound & (quarters_first | judged.by_quarters | ~by_years.is_sound)
    excess = averages.beyond(windows, by_years, years, quarters)
    stated_all = by_quarters.is_sound & ~np.any([quarter.by_difference for quarter in quarters], axis=0)
    takes_quarters |= stated_all & (np.abs(excess[0]) > BEYOND)
    takes_quarters |= by_quarters.is_sound & by_years.has_derived & ~by_quarters.has_derived
    takes_quarters &= ~(of_next & by_years.is_sound)
    may_take_years = by_years.is_sound & ~takes_quarters & ~is_year & ~takes_own & ~of_next
    is_behind, agrees = _behind_quarters(windows, by_years, years, by_quarters, may_take_years)
    by_years.mixes_bases[is_behind] = True
    judged.neither[is_behind] = False
    takes_quarters |= agrees | of_recast
    judged.neither[of_recast | of_next] = False
    is_paid_later = paid_later(windows, quarters, takes_quarters & ~(is_year | takes_own))
    judged.neither[is_paid_later] = False
    no_way = judged.neither | is_paid_later
    holds = [is_year, takes_own, takes_quarters & ~no_way, by_years.is_sound & ~no_way]
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
    # after a later filing, legs that counted before contradict the others: nothing is known any more
    is_mixed = by_years.is_whole & by_years.mixes_bases & ~has_way
    former = _former(windows, amount, has_way)
    is_withdrawn = (is_mixed | no_way) & ~np.isnan(former)
    for way in (by_years, by_quarters):
        is_withdrawn &= ~(np.abs(way.amount - former) <= DISAGREEMENT * np.abs(former)) | is_behind
    is_disputed = by_years.is_whole & by_years.is_disputed & ~has_way
    mixes_units = by_years.is_whole & by_years.mixes_units & ~has_way
    is_withdrawn |= (is_disputed | mixes_units | is_paid_later) & ~np.isnan(former)
    rules = [FISCAL_YEAR.id, OWN_TWELVE_MONTHS.id, FOUR_QUARTERS.id, YEAR_TO_DATE.id]
    rules += [NO_CONTRADICTING_WAYS.id, NO_YEAR_IN_DISPUTE.id, NO_MIXED_UNITS.id, PAID_LATER.id, NO_MIXED_BASES.id]
    withholds = [judged.neither, is_disputed, mixes_units, is_paid_later, is_withdrawn]
    spreads = averages.spreads(windows, by_years, quarters)
    beyond = np.where(takes_quarters, excess[1], excess[0])
    found = windows.points.with_columns(
        amount=numbers(amount),
        days=numbers(days).cast(pl.Int64),
        rule=pl.Series(np.select([*holds, *withholds], rules, "")),
        weeks_53=days >= WEEKS_53_DAYS,
        other_element=other_element,
        mixed_basis=pl.lit(value=False),
        before_recast=~is_year & ~takes_own & years.is_before & ~of_recast,
        recast=is_year & is_same_regime & restated(windows, year, first_year, DISAGREEMENT * np.abs(by_year.amount)),
        ways_disagree=apart & ~IS_ADDITIVE[windows.concept],
        regime=numbers(chosen("regime")).cast(pl.Int32),
        grain=numbers(grain),
        spread=numbers(largest(*spreads)),
        own_spread=numbers(np.where(takes_quarters, spreads[1], spreads[0])),
        gross=numbers(averages.gross(windows, by_years, quarters, takes_quarters)),
        beyond=numbers(beyond),
        is_beyond=np.abs(beyond) > BEYOND,
        is_derived=np.select(holds, [way.has_derived for way in ways], default=False),
        window=np.arange(len(windows.q)),
    )
    flows = amount_changes(found.filter(has_way | is_withdrawn), ["cik", "concept", "q"], "is_beyond")
    kept = ints(flows, "window")
    legs = _legs(windows, [way.legs for way in ways], [condition[kept] for condition in holds], kept)
    decided = _decisions(windows, flows, by_years, years, quarters, has_way, by_quarters)
    cik = ints(windows.points, "cik")
    confirmed = counted(
        [
            (CONFIRMED_LEGS, cik[judged.by_years | judged.by_quarters]),
            (NO_CONTRADICTING_WAYS, cik[judged.neither & ~has_way]),
            (PAID_LATER, cik[is_paid_later & ~has_way]),
            (QUARTERS_OF_RECAST, cik[of_recast]),
            (NEXT_LESS_QUARTER, cik[of_next & has_way]),
            (YEAR_ON_NEW_BASIS, cik[years.is_newer & has_way]),
        ]
    )
    decided = pl.concat([decided, confirmed])
    withheld = _withheld(windows, by_years, by_quarters, judged, is_paid_later, has_way, is_withdrawn)
    proved = proofs(windows, by_years, years, by_quarters, judged, ITEM_OF_CONCEPT, has_way)
    return flows.drop("window", "is_beyond").with_row_index("flow"), legs, withheld, proved, decided


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


def _former(windows: Windows, amount: Floats, has_way: Flags) -> Floats:
    """The twelve months of the same window after an earlier filing; NaN if there were none."""
    last = np.maximum.accumulate(np.where(has_way, np.arange(len(amount)), NOTHING))
    last = np.append([NOTHING], last[:-1])[: len(amount)]
    begins = first_row(starts(windows.slot(windows.q, 0)))
    return picked(amount, np.where(last >= begins, last, NOTHING))


def _withheld(
    windows: Windows,
    by_years: Way,
    by_quarters: Way,
    judged: Judged,
    is_paid_later: Flags,
    has_way: Flags,
    is_withdrawn: Flags,
) -> pl.DataFrame:
    """The items without twelve months because their newest window would mix companies, standards or elements.

    `cik`, `q`, `item`, `reason`, `rule`.
    """
    window = slot_key(windows.company, windows.concept, windows.q, np.zeros_like(windows.q))
    is_newest = np.append(window[1:] != window[:-1], [True])[: len(window)]
    item = ITEM_OF_CONCEPT
    asked = is_newest & ~has_way & (is_withdrawn | ~np.isin(window, window[has_way]))
    asked &= item.is_not_null().to_numpy()[windows.concept]
    found = []
    either = [
        (by_years.is_whole & getattr(by_years, name)) | (by_quarters.is_whole & getattr(by_quarters, name))
        for name in ("mixes_regimes", "mixes_elements", "mixes_bases", "is_disputed", "mixes_units")
    ]
    for rule, reason, mixes in (
        (NO_MIXED_REGIMES, "basis_break", either[0]),
        (NO_MIXED_ELEMENTS, "elements_differ", either[1]),
        (NO_MIXED_UNITS, "line_in_other_units", either[4]),
        (NO_YEAR_IN_DISPUTE, "year_in_dispute", either[3]),
        (NO_MIXED_BASES, "mixed_basis", either[2]),
        (NO_CONTRADICTING_WAYS, "ways_contradict", judged.neither),
        (PAID_LATER, "elements_differ", is_paid_later),
    ):
        rows = np.flatnonzero(asked & mixes)
        found.append(
            windows.points[rows].select(
                "cik",
                "q",
                item=item[windows.concept[rows]],
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
        (CORRECTED_YEAR, cik[kept[is_years & years.was_error[kept]]]),
    ]
    for rule, name in (
        (NO_MIXED_REGIMES, "mixes_regimes"),
        (NO_MIXED_ELEMENTS, "mixes_elements"),
        (NO_MIXED_BASES, "mixes_bases"),
        (NO_YEAR_IN_DISPUTE, "is_disputed"),
        (NO_MIXED_UNITS, "mixes_units"),
    ):
        mixes = (by_years.is_whole & getattr(by_years, name)) | (by_quarters.is_whole & getattr(by_quarters, name))
        decided.append((rule, cik[mixes & ~has_way]))
    is_negative = by_years.is_negative | by_quarters.is_negative
    is_negative |= np.any([quarter.is_negative for quarter in quarters], axis=0)
    decided.append((NO_NEGATIVE_SUM, cik[is_negative & ~has_way]))
    decided.append((TWELVE_MONTHS_LONG, cik[(by_years.has_other_length | by_quarters.has_other_length) & ~has_way]))
    return counted(decided)
