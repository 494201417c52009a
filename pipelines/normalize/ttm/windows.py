"""Windows: trailing twelve months at each quarter end, from the known amounts of a flow.

Belongs here: the rows, flags, rules and proofs of the result. Does not: which method counts (choice), the legs of a
method (bases, quarters), which amounts are known (known), the elements of a flow (elements), balances at an instant
(balance).
"""

from collections.abc import Iterable

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    Flags,
    Floats,
    Ints,
    any_of,
    first_row,
    ints,
    largest,
    numbers,
    picked,
    starts,
)
from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.frames import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME, counted
from pipelines.normalize.periods.breaks import ACROSS
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import (
    CORRECTED_YEAR,
    LARGEST_EXCESS,
    NEWEST_COMPARATIVE,
    YEAR_BEFORE_RECAST,
    restated,
)
from pipelines.normalize.ttm.choice import NO_CONTRADICTING_METHODS, Choice, TwoMethods, choose_methods, spreads
from pipelines.normalize.ttm.known import (
    IS_ADDITIVE,
    NO_YEAR_IN_DISPUTE,
    QUARTERS_A_YEAR,
    amount_changes,
)
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.methods import (
    DISAGREEMENT,
    NO_MIXED_BASES,
    NO_MIXED_ELEMENTS,
    NO_MIXED_UNITS,
    NOT_TWELVE_MONTHS,
    QUARTER_BY_DIFFERENCE,
    TtmMethod,
)
from pipelines.normalize.ttm.quarters import sum_of_four_quarters
from pipelines.normalize.ttm.recasts import ACROSS_YEAR_ENDS, NEXT_LESS_QUARTER, QUARTERS_OF_RECAST, by_years_or_next
from warehouse.contract.line_items import LINE_ITEMS

WEEKS_53_DAYS = 369
"""Fewest days of a window of 53 weeks."""
WEEKS_53 = Rule(
    "flag.weeks-53",
    "The twelve months have 53 weeks.",
    f"Measured by the rule: the window has at least {WEEKS_53_DAYS} days; 52 weeks have 364 days and 53 weeks 371",
    "flag",
)
OTHER_ELEMENT = Rule(
    "flag.other-element",
    "The value is from an element whose amount differed from the best element's when this company stated both; it "
    "may be a part of that amount.",
    "Taxonomy definitions of the two elements",
    "flag",
)
BEFORE_RECAST = Rule(
    "flag.before-recast",
    f"The fiscal year in the twelve months counts as before a recast that changed it by more than {DISAGREEMENT:.1%}.",
    "ASC 250-10-45-5",
    "flag",
)
RECAST = Rule(
    "flag.recast",
    f"The fiscal year was restated by more than {DISAGREEMENT:.1%}, by the same standards, after it was first stated; "
    "the twelve months to the quarter ends around it stay as before, unless filings restate all of their figures.",
    "ASC 250-10-45-5: a change is applied to all periods presented, and interim periods of former years are not",
    "flag",
)
WAYS_DISAGREE = Rule(
    "flag.ways-disagree",
    f"Twelve months by fiscal years and as four quarters differ by more than {DISAGREEMENT:.1%}, and no restatement "
    "explains the difference.",
    "The identity of both methods: a year is the sum of its quarters",
    "flag",
)
WINDOW_FLAGS = {
    "weeks_53": WEEKS_53,
    "other_element": OTHER_ELEMENT,
    "before_recast": BEFORE_RECAST,
    "recast": RECAST,
    "ways_disagree": WAYS_DISAGREE,
}
"""The flags of a window in the order in which they are published, and their rules."""

LEG_TYPES = pl.Schema({"flow": pl.UInt32(), "place": pl.Int16(), "vintage": pl.UInt32(), "weight": pl.Float64()})
REASONS = {
    ACROSS: "basis_break",
    NO_MIXED_ELEMENTS: "elements_differ",
    NO_YEAR_IN_DISPUTE: "year_in_dispute",
    NO_MIXED_UNITS: "line_in_other_units",
    NO_MIXED_BASES: "mixed_basis",
}
"""The rules that forbid to add up legs, in order, and the reason of the missing value."""
ITEMS_OF_CONCEPT: dict[str, tuple[str, ...]] = {
    "revenue": ("revenue",),
    "net_income_common": ("net_income",),
    "net_income_parent": ("net_income",),
    "eps_basic": ("eps_basic",),
    "eps_diluted_otherwise": ("eps_diluted",),
    "dividends_per_share": ("dividends_per_share",),
    "operating_cash_flow": ("free_cash_flow",),
    "capital_expenditure": ("free_cash_flow",),
    "shares_basic": ("shares_basic",),
    "shares_diluted": ("shares_diluted",),
    "cash_of_flows": ("cash_and_equivalents",),
    "cash": ("cash_and_equivalents",),
}
"""For each concept, the line items that have no value without it. An item that is not served needs the concept of its
own name and is not listed here."""
_ITEMS_OF_CONCEPTS = pl.DataFrame(
    [(concept, item) for concept, items in ITEMS_OF_CONCEPT.items() for item in items]
    + [(item.name, item.name) for item in LINE_ITEMS if not item.is_served],
    {"concept": AMOUNT, "item": pl.String},
    orient="row",
)


def of_items(rows: pl.DataFrame) -> pl.DataFrame:
    """Repeat each row for every line item that needs its concept; the item is in column `item`.

    Args:
        rows: with `concept`; their order is kept.
    """
    return rows.join(_ITEMS_OF_CONCEPTS, on="concept", maintain_order="left")


def flow_versions(windows: Windows) -> tuple[pl.DataFrame, ...]:
    """Twelve-month flows after each filing that changed them.

    At a fiscal year end, twelve months are the year as filed. Otherwise TTM = FY(previous) + YTD(current) -
    YTD(previous), with all legs on one accounting basis (bases). If this is not possible, and as the first choice for
    amounts per share, twelve months are the sum of four discrete quarters (quarters). Legs of two regimes (another
    company, other standards), or from elements with different amounts, are never added up. If the two methods
    contradict each other, the one that filings confirm counts, or neither (choice). A filer's own twelve months to an
    interim quarter end are preferred to both.

    Args:
        windows: the windows, with the known amounts of durations.

    Returns:
        flows: `flow` (row number), `cik`, `concept`, `q`, `seq`, `amount` (additive, see known_amounts), `days`,
            `rule` (the id of the method, see METHODS, or of the rule that withdraws the amount), one boolean column for
            each of WINDOW_FLAGS, `regime`, `grain` (of the coarsest leg), `is_derived` (a leg is derived: no filing
            states it), `spread` (the largest daily amount of the legs divided by the smallest, by years or by quarters,
            the larger of the two), `own_spread` (the same for the method that counts), `gross` (the sum of the legs
            without their signs), `excess` (see choice.excess_of_unreported_part). There is no row if no method gives
            twelve months: three quarters are not an estimate of four.
        legs: `flow`, `place` (order of the leg), `vintage`, `weight`.
        withheld: `cik`, `q`, `item`, `reason`, `rule`: items without twelve months because their legs must not be
            added up.
        proofs: frames.PROOFS: for each window, whether its legs are on one basis, and whether its two methods agree.
        decisions: `cik`, `rule`, `figures`.

    Source: Regulation S-X Rule 10-01(c).
    """
    by_years, years, of_next = by_years_or_next(windows)
    by_quarters, quarters, of_recast = sum_of_four_quarters(windows, years, ~by_years.is_whole | years.is_across)
    methods = TwoMethods(by_years, years, by_quarters, quarters, of_recast, of_next)
    choice = choose_methods(windows, methods)
    is_withdrawn, rule = _rules(windows, methods, choice)
    found = _found(windows, methods, choice).with_columns(rule=rule, window=np.arange(len(windows.q)))
    flows = amount_changes(found.filter(choice.has_method | is_withdrawn), "is_excessive")
    return (
        flows.drop("window", "is_excessive").with_row_index("flow"),
        legs_of(windows, zip(choice.methods, choice.holds, strict=True), ints(flows, "window")),
        _withheld(windows, methods, choice, is_withdrawn),
        _proofs(windows, methods, choice),
        _decisions(windows, flows, methods, choice),
    )


def _found(windows: Windows, methods: TwoMethods, choice: Choice) -> pl.DataFrame:
    """The twelve months of each window and their flags; null where no method counts."""
    of, year = windows.of, choice.year
    is_year, takes_own, *_ = choice.holds
    first_year = windows.first(np.where(is_year, windows.q, np.nan), QUARTERS_A_YEAR)
    is_recast = is_year & (of("regime", year) == of("regime", first_year))
    is_recast &= restated(windows, year, first_year, DISAGREEMENT * abs(of("amount", year)))
    is_before = methods.years.is_before & ~(choice.takes_quarters & methods.differ_in_regime)
    *others, by_years = choice.methods
    is_other = [*(method.has_other_element for method in others), of("other_source", by_years.rows[1]) > 0]
    days = choice.of("days")
    of_legs = abs(of("amount", by_years.rows[:3]))
    of_years, of_quarters = spreads(windows, methods.by_years, methods.quarters)
    return windows.points.with_columns(
        amount=numbers(choice.of("amount")),
        days=numbers(days).cast(pl.Int64),
        weeks_53=days >= WEEKS_53_DAYS,
        other_element=np.select(list(choice.holds), is_other, default=False),
        before_recast=~is_year & ~takes_own & is_before & ~methods.of_recast,
        recast=is_recast,
        ways_disagree=choice.is_apart & ~IS_ADDITIVE[windows.concept],
        regime=numbers(choice.of("regime")).cast(pl.Int32),
        grain=numbers(choice.of("grain")),
        spread=numbers(largest(of_years, of_quarters)),
        own_spread=numbers(np.where(choice.takes_quarters, of_quarters, of_years)),
        gross=numbers(np.where(choice.takes_quarters, abs(methods.quarters.amount).sum(axis=0), of_legs.sum(axis=0))),
        excess=numbers(choice.excess),
        is_excessive=abs(choice.excess) > LARGEST_EXCESS,
        is_derived=choice.of("has_derived") > 0,
    )


def _rules(windows: Windows, methods: TwoMethods, choice: Choice) -> tuple[Flags, pl.Series]:
    """Whether an amount that counted after an earlier filing is withdrawn, and the rule that decides each window."""
    has_method = choice.has_method
    before = amount_before(windows, choice.of("amount"), has_method)
    mixes_bases, is_disputed, mixes_units = (
        methods.by_years.breaks(rule) & ~has_method for rule in (NO_MIXED_BASES, NO_YEAR_IN_DISPUTE, NO_MIXED_UNITS)
    )
    # after a later filing, legs that counted before contradict the others: the amount is withdrawn
    is_withdrawn = mixes_bases | choice.contradict
    for method in (methods.by_years, methods.by_quarters):
        is_withdrawn &= ~(abs(method.amount - before) <= DISAGREEMENT * abs(before)) | choice.is_behind
    is_withdrawn = (is_withdrawn | is_disputed | mixes_units | choice.is_paid_later) & ~np.isnan(before)
    rules = {method.rule: holds for method, holds in zip(choice.methods, choice.holds, strict=True)}
    rules |= {NO_CONTRADICTING_METHODS: choice.contradict, NO_YEAR_IN_DISPUTE: is_disputed, NO_MIXED_UNITS: mixes_units}
    rules |= {NO_MIXED_ELEMENTS: choice.is_paid_later, NO_MIXED_BASES: is_withdrawn}
    number = np.select(list(rules.values()), range(len(rules)), len(rules))
    return is_withdrawn, pl.Series([*(rule.id for rule in rules), ""]).gather(number)


def amount_before(windows: Windows, amount: Floats, has_method: Flags) -> Floats:
    """The last amount that counted for the same quarter end after an earlier filing; NaN if there is none.

    Args:
        windows: the windows, sorted by quarter end and filing.
        amount: the amount of each window.
        has_method: the windows whose amount counts.
    """
    last = np.maximum.accumulate(np.where(has_method, np.arange(len(amount)), NOTHING))
    last = np.append([NOTHING], last[:-1])[: len(amount)]
    return picked(amount, np.where(last >= first_row(starts(windows.slot(windows.q, 0))), last, NOTHING))


def legs_of(windows: Windows, methods: Iterable[tuple[TtmMethod, Flags]], kept: Ints) -> pl.DataFrame:
    """The legs of the methods that were chosen: `flow`, `place`, `vintage`, `weight`.

    Args:
        windows: the windows.
        methods: the methods, each with the windows in which it may count; the first method that may count is chosen.
        kept: the window of each flow.
    """
    legs, taken = [], np.zeros(len(kept), dtype=np.bool_)
    for method, holds in methods:
        counts = holds[kept] & ~taken
        taken |= counts
        rows = method.rows[:, kept]
        place, flow = np.nonzero(counts & (rows >= 0))
        row = rows[place, flow]
        weight = windows.rows["weight"][row] * np.array(method.signs)[place]
        legs.append(pl.DataFrame({"flow": flow, "place": place, "vintage": windows.vintage[row], "weight": weight}))
    return pl.concat(legs).cast(LEG_TYPES).sort("flow", "place")


def _broken_rules(methods: TwoMethods, choice: Choice) -> list[tuple[Rule, str, Flags]]:
    """The rules that withhold twelve months although all of their legs are known.

    Returns:
        for each rule, the reason of the missing value, and the windows in which the rule forbids one of the two
        methods, or the choice between them.
    """
    found = [
        (rule, reason, methods.by_years.breaks(rule) | methods.by_quarters.breaks(rule))
        for rule, reason in REASONS.items()
    ]
    found.append((NO_CONTRADICTING_METHODS, "ways_contradict", choice.contradict))
    found.append((NO_MIXED_ELEMENTS, "elements_differ", choice.is_paid_later))
    return found


def _withheld(windows: Windows, methods: TwoMethods, choice: Choice, is_withdrawn: Flags) -> pl.DataFrame:
    """The items without twelve months because a rule forbids to add up the legs of their newest window.

    `cik`, `q`, `item`, `reason`, `rule`.
    """
    has_method = choice.has_method
    asked = windows.newest(has_method) | (windows.newest(np.ones_like(has_method)) & is_withdrawn)
    asked &= ~has_method
    points = windows.points.select("cik", "q", "concept")
    found = pl.concat(
        points.filter(asked & holds).with_columns(reason=pl.lit(reason), rule=pl.lit(rule.id))
        for rule, reason, holds in _broken_rules(methods, choice)
    )
    return of_items(found).select("cik", "q", "item", "reason", "rule")


def _decisions(windows: Windows, flows: pl.DataFrame, methods: TwoMethods, choice: Choice) -> pl.DataFrame:
    """The number of windows that each rule decided: `cik`, `rule`, `figures`."""
    years, quarters, has_method = methods.years, methods.quarters, choice.has_method
    kept = np.zeros(len(windows.q), dtype=np.bool_)
    kept[ints(flows, "window")] = True
    by_year, by_own, takes_quarters, takes_years = choice.holds
    is_single = by_year | by_own
    is_quarters, is_years = kept & takes_quarters & ~is_single, kept & takes_years & ~takes_quarters & ~is_single
    is_other = any_of([method.faults[NOT_TWELVE_MONTHS] for method in (methods.by_years, methods.by_quarters)])
    decided = {
        QUARTER_BY_DIFFERENCE: is_quarters & any_of(quarters.by_difference | quarters.by_three),
        YEAR_BEFORE_RECAST: (is_quarters & any_of(quarters.recast_by >= 0)) | (is_years & years.is_before),
        NEWEST_COMPARATIVE: is_years & (years.is_recast | years.is_newer),
        CORRECTED_YEAR: is_years & years.was_error,
        NOT_TWELVE_MONTHS: (quarters.is_negative.any(axis=0) | is_other) & ~has_method,
        NO_CONTRADICTING_METHODS: choice.is_confirmed,
        QUARTERS_OF_RECAST: methods.of_recast,
        NEXT_LESS_QUARTER: methods.of_next & has_method,
        ACROSS_YEAR_ENDS: is_years & years.is_across,
    }
    withheld = [(rule, holds & ~has_method) for rule, _, holds in _broken_rules(methods, choice)]
    cik = ints(windows.points, "cik")
    return counted((rule, cik[holds]) for rule, holds in (*decided.items(), *withheld))


def _proofs(windows: Windows, methods: TwoMethods, choice: Choice) -> pl.DataFrame:
    """The outcome of two accounting identities for the windows that count today: columns of frames.PROOFS.

    One basis: the interim period of the year before as known with the year (`left_side`) and as subtracted
    (`right_side`). Two methods: twelve months by years (`left_side`) and by quarters (`right_side`).

    Args:
        windows: the windows.
        methods: the two methods to their twelve months.
        choice: the method that counts for each window.
    """
    has_method, years = choice.has_method, methods.years
    is_newest = windows.newest(has_method) & ~windows.is_year_end

    def of_identity(rule: str, asked: Flags, fails: Flags, chose: Flags, *sides: np.ndarray) -> pl.DataFrame:
        outcome = np.select([fails & ~has_method, chose], [2, 1], 0)
        left, right = map(numbers, sides)
        found = windows.points.with_columns(rule=pl.lit(rule), rank=outcome, left_side=left, right_side=right)
        return found.filter(is_newest & asked)

    one_basis = of_identity(
        NO_MIXED_BASES.id,
        methods.by_years.is_whole,
        methods.by_years.faults[NO_MIXED_BASES],
        years.is_recast | years.is_before,
        *(windows.of("amount", row) for row in (years.with_year, years.prior)),
    )
    two_methods = of_identity(
        NO_CONTRADICTING_METHODS.id,
        methods.both_sound & IS_ADDITIVE[windows.concept],
        choice.contradict,
        choice.is_confirmed,
        *(method.amount for method in (methods.by_years, methods.by_quarters)),
    )
    outcome = pl.col("rank").replace_strict({0: HOLDS, 1: CHOSE, 2: WITHHELD_OUTCOME}, return_dtype=PROOFS["outcome"])
    # an item that needs several concepts has the most serious outcome among them
    return (
        of_items(pl.concat([two_methods, one_basis]))
        .sort("rank", descending=True, maintain_order=True)
        .unique(["cik", "q", "item", "rule"], keep="first", maintain_order=True)
        .sort("cik", "q", "item", pl.col("rule") == NO_MIXED_BASES.id)
        .with_columns(outcome=outcome)
        .select(*PROOFS)
    )
