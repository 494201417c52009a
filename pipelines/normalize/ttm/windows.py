"""Windows: trailing twelve months at each quarter end, from the known amounts of a flow.

Belongs here: the rows, flags and rules of the result. Does not: which way counts (choice), the legs of a way (bases,
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
from pipelines.normalize.decisions import counted
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm import averages
from pipelines.normalize.ttm.bases import BEYOND, DISAGREEMENT, restated
from pipelines.normalize.ttm.beside_recasts import (
    NEXT_LESS_QUARTER,
    QUARTERS_OF_RECAST,
    YEAR_ON_NEW_BASIS,
    years_or_next,
)
from pipelines.normalize.ttm.choice import OWN_APART, Choice, Ways, chosen
from pipelines.normalize.ttm.judgements import (
    CONFIRMED_LEGS,
    NO_CONTRADICTING_WAYS,
    NO_MIXED_BASES,
    NO_YEAR_IN_DISPUTE,
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
from pipelines.normalize.ttm.payments import PAID_LATER
from pipelines.normalize.ttm.quarters import (
    FOURTH_QUARTER_BY_THREE,
    QUARTER_BEFORE_RECAST,
    QUARTER_BY_DIFFERENCE,
    quarters_added_up,
)
from pipelines.normalize.ttm.ways import (
    A_THOUSANDTH,
    LONGEST_WINDOW,
    SHORTEST_WINDOW,
    SMALLEST_UNIT,
    Leg,
)

WEEKS_53_DAYS = 369
"""Fewest days of a window of 53 weeks."""
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
        proofs: decisions.PROOFS: for each window, whether its legs are on one basis, and whether its two ways agree.
        decisions: `cik`, `rule`, `figures`.

    Source: Regulation S-X Rule 10-01(c).
    """
    companies = np.unique(np.concatenate([ints(known, "cik"), ints(grid, "cik")]))
    windows = Windows(points_to_compute(known), grid, Known.of(known, companies))
    by_years, years, of_next = years_or_next(windows)
    by_quarters, quarters, of_recast = quarters_added_up(windows, years, ~by_years.is_whole)
    ways = Ways(by_years, years, by_quarters, quarters, of_recast, of_next)
    return _results(windows, ways, chosen(windows, ways))


def _results(windows: Windows, ways: Ways, choice: Choice) -> tuple[pl.DataFrame, ...]:
    """The results of flow_versions: the chosen way of each window, its flags, legs and decisions."""
    has_way = choice.has_way
    is_withdrawn, rule = _rules(windows, ways, choice)
    found = _found(windows, ways, choice).with_columns(rule=rule, window=np.arange(len(windows.q)))
    flows = amount_changes(found.filter(has_way | is_withdrawn), ["cik", "concept", "q"], "is_beyond")
    kept = ints(flows, "window")
    legs = _legs(windows, [way.legs for way in choice.ways], [condition[kept] for condition in choice.holds], kept)
    return (
        flows.drop("window", "is_beyond").with_row_index("flow"),
        legs,
        _withheld(windows, ways, choice, is_withdrawn),
        proofs(windows, ways.by_years, ways.years, ways.by_quarters, choice.judged, ITEM_OF_CONCEPT, has_way),
        pl.concat([_decisions(windows, flows, ways, has_way), _confirmed(windows, ways, choice)]),
    )


def _found(windows: Windows, ways: Ways, choice: Choice) -> pl.DataFrame:
    """The twelve months of each window and their flags; null where no way counts."""
    of, year = windows.of, choice.year
    is_year, takes_own = choice.holds[:2]
    first_year = windows.since(np.where(is_year, windows.q, np.nan), QUARTERS_A_YEAR, np.zeros_like(windows.q))
    is_recast = is_year & (of("regime", year) == of("regime", first_year))
    is_recast &= restated(windows, year, first_year, DISAGREEMENT * np.abs(of("amount", year)))
    *single, by_years = choice.ways
    is_other = [*(way.has_other_element for way in single), of("other_source", by_years.legs[1].row) > 0]
    days = choice.of("days")
    spreads = averages.spreads(windows, ways.by_years, ways.quarters)
    return windows.points.with_columns(
        amount=numbers(choice.of("amount")),
        days=numbers(days).cast(pl.Int64),
        weeks_53=days >= WEEKS_53_DAYS,
        other_element=np.select(list(choice.holds), is_other, default=False),
        mixed_basis=pl.lit(value=False),
        before_recast=~is_year & ~takes_own & ways.years.is_before & ~ways.of_recast,
        recast=is_recast,
        ways_disagree=choice.is_apart & ~IS_ADDITIVE[windows.concept],
        regime=numbers(choice.of("regime")).cast(pl.Int32),
        grain=numbers(choice.of("grain")),
        spread=numbers(largest(*spreads)),
        own_spread=numbers(np.where(choice.takes_quarters, spreads[1], spreads[0])),
        gross=numbers(averages.gross(windows, ways.by_years, ways.quarters, choice.takes_quarters)),
        beyond=numbers(choice.beyond),
        is_beyond=np.abs(choice.beyond) > BEYOND,
        is_derived=choice.flag("has_derived"),
    )


def _rules(windows: Windows, ways: Ways, choice: Choice) -> tuple[Flags, pl.Series]:
    """Whether the twelve months that counted after an earlier filing are withdrawn, and the rule of each window."""
    by_years, has_way, judged = ways.by_years, choice.has_way, choice.judged
    former = _former(windows, choice.of("amount"), has_way)
    # after a later filing, legs that counted before contradict the others: nothing is known any more
    is_mixed = by_years.is_whole & by_years.mixes_bases & ~has_way
    is_withdrawn = is_mixed | judged.neither | choice.is_paid_later
    for way in (by_years, ways.by_quarters):
        is_withdrawn &= ~(np.abs(way.amount - former) <= DISAGREEMENT * np.abs(former)) | choice.is_behind
    is_disputed, mixes_units = (
        by_years.is_whole & each & ~has_way for each in (by_years.is_disputed, by_years.mixes_units)
    )
    is_withdrawn |= is_disputed | mixes_units | choice.is_paid_later
    is_withdrawn &= ~np.isnan(former)
    rules = {
        FISCAL_YEAR: choice.holds[0],
        OWN_TWELVE_MONTHS: choice.holds[1],
        FOUR_QUARTERS: choice.holds[2],
        YEAR_TO_DATE: choice.holds[3],
        NO_CONTRADICTING_WAYS: judged.neither,
        NO_YEAR_IN_DISPUTE: is_disputed,
        NO_MIXED_UNITS: mixes_units,
        PAID_LATER: choice.is_paid_later,
        NO_MIXED_BASES: is_withdrawn,
    }
    return is_withdrawn, pl.Series(np.select(list(rules.values()), [rule.id for rule in rules], ""))


def _confirmed(windows: Windows, ways: Ways, choice: Choice) -> pl.DataFrame:
    """`cik`, `rule`, `figures`: the windows in which one way shows something about another."""
    cik, judged, has_way = ints(windows.points, "cik"), choice.judged, choice.has_way
    return counted(
        [
            (CONFIRMED_LEGS, cik[judged.by_years | judged.by_quarters]),
            (NO_CONTRADICTING_WAYS, cik[judged.neither & ~has_way]),
            (PAID_LATER, cik[choice.is_paid_later & ~has_way]),
            (QUARTERS_OF_RECAST, cik[ways.of_recast]),
            (NEXT_LESS_QUARTER, cik[ways.of_next & has_way]),
            (YEAR_ON_NEW_BASIS, cik[ways.years.is_newer & has_way]),
        ]
    )


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


def _withheld(windows: Windows, ways: Ways, choice: Choice, is_withdrawn: Flags) -> pl.DataFrame:
    """The items without twelve months because their newest window would mix companies, standards or elements.

    `cik`, `q`, `item`, `reason`, `rule`.
    """
    by_years, by_quarters, has_way = ways.by_years, ways.by_quarters, choice.has_way
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
        (NO_CONTRADICTING_WAYS, "ways_contradict", choice.judged.neither),
        (PAID_LATER, "elements_differ", choice.is_paid_later),
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


def _decisions(windows: Windows, flows: pl.DataFrame, ways: Ways, has_way: Flags) -> pl.DataFrame:
    """`cik`, `rule`, `figures`: the windows that each rule of this module decided."""
    by_years, years, by_quarters, quarters = ways.by_years, ways.years, ways.by_quarters, ways.quarters
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
