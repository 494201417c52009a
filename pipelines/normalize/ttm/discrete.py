"""Discrete quarters: the flow of the quarter that ends at each quarter end, from the known amounts.

Belongs here: the filing from which a quarter is taken, the rules that withhold a quarter, its rows and flags. Does not:
the computation of a quarter from years to date (quarters), twelve months (windows), the line items (items).
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, any_of, ints, largest, numbers, whole
from pipelines.normalize.frames import WITHHELD, counted
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.bases import restated
from pipelines.normalize.ttm.choice import FAR_APART, excess_over
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR, amount_changes
from pipelines.normalize.ttm.lookups import IS_COUNT, IS_MONEY, Windows
from pipelines.normalize.ttm.methods import (
    A_THOUSANDTH,
    DIGITS_OF_SUMS,
    DISAGREEMENT,
    NOT_TWELVE_MONTHS,
    QUARTER_AS_FILED,
    QUARTER_BY_DIFFERENCE,
    QUARTER_DAYS,
    SMALLEST_UNIT,
    TtmMethod,
)
from pipelines.normalize.ttm.quarters import SIGNS, discrete_quarters
from pipelines.normalize.ttm.windows import REASONS, WINDOW_FLAGS, amount_before, legs_of, of_items

NO_RECAST_DIFFERENCE = Rule(
    "quarter.no-recast-difference",
    "A quarter by difference is withheld if the filing of the longer period restates the same period of the year "
    f"before by more than {DISAGREEMENT:.1%}, but the part that is subtracted is known only from before the "
    "restatement.",
    "ASC 250-10-45-5: a change is applied to all periods presented; the difference would have all of it in one quarter",
    "withhold",
)
NO_OTHER_ELEMENT = Rule(
    "quarter.no-other-element",
    "A filed quarter does not count if its element has had amounts that differ from the best element's, and the best "
    "element has the years to date at the quarter's end and beginning.",
    "Taxonomy definitions: two elements with different amounts in one filing are different amounts",
    "select",
)
FAR_FROM_TO_DATE = Rule(
    "quarter.far-from-years-to-date",
    "A filed quarter of an amount that cannot be negative is withheld if the years to date known with it lead to "
    f"another amount, and the two differ by more than {FAR_APART:.0%} of the larger one.",
    "Regulation S-X Rule 10-01(c): the year to date includes the quarter; one of the two is under the element of "
    "another amount, as AAR's quarter to February 2020",
    "withhold",
)
IN_OTHER_UNITS = Rule(
    "quarter.in-other-units",
    "A quarter in single units is withheld if its fiscal year (without one, every known adjacent quarter and the "
    f"same quarter of adjacent years) is in thousands, the largest {A_THOUSANDTH[0]} times larger per day: it lacks "
    "three zeros.",
    "Regulation S-X Rule 4-01(b): amounts may be stated in thousands or millions",
    "withhold",
)
REASONS_OF_QUARTERS = {
    **REASONS,
    NO_RECAST_DIFFERENCE: "mixed_basis",
    FAR_FROM_TO_DATE: "ways_contradict",
    IN_OTHER_UNITS: "line_in_other_units",
}
"""The rules that forbid a quarter, in order, and the reason of the missing value."""


class _Found(NamedTuple):
    """The quarter of each window.

    method: its amount and legs.
    ignores_as_filed: whether a quarter as filed is not used because its element is not the best one.
    faults: for each rule that forbids a quarter, the windows in which it does.
    """

    method: TtmMethod
    ignores_as_filed: Flags
    faults: dict[Rule, Flags]

    @property
    def is_stated(self) -> Flags:
        """Whether a filing states the quarter."""
        is_stated: Flags = self.method.rows[0] >= 0
        return is_stated

    @property
    def counts(self) -> Flags:
        """Whether the quarter is known and no rule forbids it."""
        return self.method.is_whole & ~any_of(list(self.faults.values()))


def quarter_versions(windows: Windows) -> tuple[pl.DataFrame, ...]:
    """Flows of one quarter after each filing that changed them.

    A quarter that filings state is taken from the newest of them. Otherwise it is the year to date at its end less the
    year to date at its beginning, both as known after the newest filing of the longer period, or the year less three
    quarters (quarters.discrete_quarters). A difference never mixes two regimes, elements with different amounts, or
    figures before and after a restatement.

    Args:
        windows: the windows, with the known amounts of durations.

    Returns:
        flows, legs: as in windows.flow_versions, but for one quarter.
        withheld: `cik`, `q`, `item`, `reason`, `rule`: items whose quarter a rule forbids.
        decisions: `cik`, `rule`, `figures`.

    Source: Regulation S-X Rule 10-01(c).
    """
    windows = _with_years(windows)
    found = _found(windows)
    counts = found.counts
    before = amount_before(windows, found.method.amount, counts)
    rows = _rows(windows, found).with_columns(window=np.arange(len(counts)))
    # a quarter that a later filing contradicts is followed by a row without amount
    kept = counts | (~counts & ~np.isnan(before))
    flows = amount_changes(rows.filter(kept))
    of_window = flows["window"].to_numpy().astype(np.int64)
    return (
        flows.drop("window").with_row_index("flow"),
        legs_of(windows, [(found.method, counts)], of_window),
        _withheld(windows, found),
        counted([(NO_OTHER_ELEMENT, ints(windows.points, "cik")[found.ignores_as_filed])]),
    )


def _with_years(windows: Windows) -> Windows:
    """The windows, and one more window for each quarter whose fiscal year is first filed after its last window.

    The additional window is after the first filing of the year, because the quarter is compared with the year.
    """
    last = np.flatnonzero(windows.newest(np.ones(len(windows.q), dtype=np.bool_)))
    some = windows.subset(last)
    year_end = np.where(some.is_year_end, np.nan, some.q + QUARTERS_A_YEAR - some.quarter)
    some.seq = np.full_like(some.seq, np.iinfo(np.int32).max)  # also filings after the one of the window
    filing = some.of("seq", some.first(year_end, QUARTERS_A_YEAR))
    later = filing > windows.seq[last]
    rows = np.concatenate([np.arange(len(windows.q)), last[later]])
    seq = np.concatenate([windows.seq, whole(filing[later])])
    order = np.lexsort((seq, rows))
    # rows of one quarter end are next to each other, and the added one is the last of them
    found = windows.subset(rows[order])
    found.seq = seq[order]
    found.points = windows.points[rows[order]].with_columns(seq=pl.Series(found.seq, dtype=pl.Int32))
    return found


def _found(windows: Windows) -> _Found:
    """The quarter of each window: as filed, or the difference as known after the newest filing of the longer period."""
    stated = windows.find(windows.q, 1)
    seq = windows.seq.astype(np.float64)
    as_of = windows.replaced(seq, stated < 0, _newest_on_one_basis, seq)
    no = np.zeros(len(as_of), dtype=np.bool_)
    is_other = NO_OTHER_ELEMENT.where(windows.of("other_source", stated) > 0)
    ignores_as_filed = windows.decide_for(is_other, _has_better_parts)
    quarters = discrete_quarters(windows, as_of, no, 1, ignores_as_filed)
    rows, amount, days = quarters.rows[0], quarters.amount[0], quarters.days[0]
    regime = windows.of("regime", np.where(rows[0] >= 0, rows[0], rows[1]))
    mixes = quarters.mixes_bases[0]
    method = TtmMethod.of(windows, QUARTER_AS_FILED, (amount, days, regime), rows, SIGNS, mixes, QUARTER_DAYS)
    asked = method.is_whole & (rows[0] < 0)
    recast = windows.decide_for(NO_RECAST_DIFFERENCE.where(asked), _is_partly_recast, rows)
    is_stated, is_money = method.is_whole & (rows[0] >= 0), IS_MONEY[windows.concept]
    is_compared = is_stated & is_money & ~windows.can_be_negative
    is_fine = method.is_whole & is_money & (method.grain < SMALLEST_UNIT)
    faults = {rule: method.faults[rule] & asked for rule in REASONS}
    faults[NO_RECAST_DIFFERENCE] = recast
    faults[FAR_FROM_TO_DATE] = windows.decide_for(FAR_FROM_TO_DATE.where(is_compared), _is_far_from_to_date, rows[0])
    faults[IN_OTHER_UNITS] = windows.decide_for(IN_OTHER_UNITS.where(is_fine), _is_in_other_units, amount, days)
    return _Found(method, ignores_as_filed, faults)


def _newest_on_one_basis(windows: Windows, seq: Floats) -> Floats:
    """The newest filing up to `seq` that states the longer period on the basis of the shorter one; otherwise NaN.

    A restatement of the longer period counts only if that filing or a later one states the shorter period, or if the
    shorter period was restated after the longer one was last stated with its former amount: comparatives of the shorter
    period are in earlier filings.
    """
    of, longer = windows.of, windows.find(windows.q, windows.quarter, seq)
    as_of, restated_by = of("seq", longer), of("revised", longer)
    shorter = windows.find(*_quarter_before(windows), as_of)
    former = windows.find_for(restated_by > of("seq", shorter), windows.q, windows.quarter, restated_by - 1)
    is_behind = (restated_by > of("seq", shorter)) & ~(of("revised", shorter) > of("seq", former))
    return windows.replaced(as_of, is_behind, _newest_on_one_basis, restated_by - 1)


def _has_better_parts(windows: Windows) -> Flags:
    """Whether the years to date at the end and at the beginning of the quarter are from the best element."""
    longer, shorter = _years_to_date(windows, windows.seq)
    found: Flags = (windows.of("other_source", longer) == 0) & (windows.of("other_source", shorter) == 0)
    return found


def _years_to_date(windows: Windows, seq: Floats | Ints) -> tuple[Ints, Ints]:
    """The rows of the years to date at the end of the quarter and at its beginning after filing `seq`."""
    return windows.find(windows.q, windows.quarter, seq), windows.find(*_quarter_before(windows), seq)


def _quarter_before(windows: Windows) -> tuple[Floats, Floats]:
    """The quarter before that of the window, NaN before a first quarter, and its number in the fiscal year."""
    return np.where(windows.quarter > 1, windows.q - 1, np.nan), windows.quarter - 1


def _is_far_from_to_date(windows: Windows, stated: Ints) -> Flags:
    """Whether a quarter as filed is far from the difference of the years to date that were known with it.

    A first quarter is compared with the half-year less the second quarter.
    """
    of, is_first = windows.of, windows.quarter == 1
    to_date = _years_to_date(windows, of("seq", stated))
    half_year = [windows.find(np.where(is_first, windows.q + 1, np.nan), n) for n in (2, 1)]
    longer, shorter = (np.where(is_first, *rows) for rows in zip(half_year, to_date, strict=True))
    amount, rest = of("amount", stated), of("amount", longer) - of("amount", shorter)
    rounding = DIGITS_OF_SUMS * largest(*(of("grain", row) for row in (stated, longer, shorter)))
    found: Flags = abs(amount - rest) > np.fmax(FAR_APART * np.fmax(abs(amount), abs(rest)), rounding)
    return found


def _is_in_other_units(windows: Windows, amount: Floats, days: Floats) -> Flags:
    """Whether a quarter lacks its last three zeros: the figures around it are in thousands and much larger a day.

    It is compared with its fiscal year or, if that is not known, with the neighbouring quarters and the same quarters
    of the years before and after.
    """
    of, q = windows.of, windows.q
    year = windows.find(q + QUARTERS_A_YEAR - windows.quarter, QUARTERS_A_YEAR)
    quarters = [windows.find(q + apart, 1) for apart in (-QUARTERS_A_YEAR, -1, 1, QUARTERS_A_YEAR)]
    compared = np.where(year >= 0, year, np.array(quarters))
    with np.errstate(invalid="ignore", divide="ignore"):
        times = abs(of("amount", compared) / of("days", compared)) / abs(amount / days)
    in_thousands = np.fmin.reduce(of("grain", compared)) >= SMALLEST_UNIT
    found: Flags = in_thousands & (np.fmax.reduce(times) >= A_THOUSANDTH[0]) & (amount != 0)
    return found


def _is_partly_recast(windows: Windows, rows: Ints) -> Flags:
    """Whether a quarter by difference subtracts an amount before a recast from an amount after it.

    The longer period is after a recast if the filing that first states its amount also restates the same period of the
    year before, unless an earlier filing already restated the shorter part of that period. A subtracted period is
    before the recast if neither that filing nor a later one states it. If the quarter is a year less three quarters, it
    also suffices that one of these was last stated before the year was restated.

    Args:
        windows: the windows.
        rows: the legs of each quarter, in the order of quarters.SIGNS.
    """
    of, q, n = windows.of, windows.q, windows.quarter
    longer, parts = rows[1], rows[2:]
    three, seq = parts[1:], of("since", longer)
    now, before = (windows.find(q - QUARTERS_A_YEAR, n, filing) for filing in (seq, seq - 1))
    is_restated = restated(windows, now, before, DISAGREEMENT * abs(of("amount", before)))
    part = windows.find(q - QUARTERS_A_YEAR - 1, n - 1, seq - 1)
    is_new = is_restated & ~(of("revised", part) > of("seq", before))
    is_older = any_of((three >= 0) & (of("seq", three) < of("revised", longer)))
    return is_older | (is_new & any_of((parts >= 0) & (of("seq", parts) < seq)))


def _rows(windows: Windows, found: _Found) -> pl.DataFrame:
    """The rows of frames.FRAMES["quarter_flows"] for all windows; the amount is null if the quarter does not count."""
    method, counts = found.method, found.counts
    rules = {**found.faults, QUARTER_AS_FILED: found.is_stated, QUARTER_BY_DIFFERENCE: counts}
    number = np.select(list(rules.values()), range(len(rules)), len(rules))  # below zero: NOT_TWELVE_MONTHS
    amount = np.where(counts, method.amount, np.nan)
    spread, excess = _spread_and_excess(windows, found)
    no = np.zeros(len(counts), dtype=np.bool_)
    flags = {**dict.fromkeys(WINDOW_FLAGS, no), "other_element": method.has_other_element}
    newest = windows.find(windows.q, windows.quarter)
    is_former = (method.rows[1] >= 0) & (windows.of("since", method.rows[1]) < windows.of("since", newest))
    flags["before_recast"] = counts & is_former
    return windows.points.with_columns(
        amount=numbers(amount),
        days=numbers(method.days).cast(pl.Int64),
        rule=pl.Series([*(rule.id for rule in (*rules, NOT_TWELVE_MONTHS))]).gather(number),
        **flags,
        regime=numbers(method.regime).cast(pl.Int32),
        grain=numbers(method.grain),
        spread=numbers(spread),
        own_spread=numbers(spread),
        gross=numbers(abs(np.nan_to_num(windows.of("amount", method.rows))).sum(axis=0)),
        excess=numbers(excess),
        is_derived=method.has_derived,
    )


def _spread_and_excess(windows: Windows, found: _Found) -> tuple[Floats, Floats]:
    """For average share counts by difference: how much the count changes, and how far it is outside the ones around it.

    Returns:
        the larger one of this average and the average before it, divided by the smaller one, 1 for a figure as filed;
        and the excess over the averages of the quarters around it and of the period that is subtracted, as a share of
        the sum of the longer period (choice.excess_over), NaN for a figure as filed.
    """
    method, of = found.method, windows.of
    is_rest = found.counts & ~found.is_stated
    spread, excess = np.where(is_rest, np.nan, 1.0), np.full(len(is_rest), np.nan)
    at = np.flatnonzero(is_rest & IS_COUNT[windows.concept])
    some, rows = windows.subset(at), method.rows[:, at]
    compared = np.array([rows[2], some.find(some.q - 1, 1), some.find(some.q + 1, 1)])
    with np.errstate(invalid="ignore", divide="ignore"):
        averages = of("amount", compared) / of("days", compared)
        rest, days, longer = method.amount[at], method.days[at], rows[1]
        rounding = of("grain", longer) * of("days", longer)
        excess[at] = excess_over(rest, days, averages, rounding) / of("amount", longer)
        times = rest / days / np.where(np.isnan(averages[0]), averages[1], averages[0])
        spread[at] = largest(times, 1 / times)
    return np.where(np.isfinite(spread), spread, np.nan), excess


def _withheld(windows: Windows, found: _Found) -> pl.DataFrame:
    """The items whose quarter has no amount after the newest filing, because a rule forbids it."""
    counts = found.counts
    asked = windows.newest(np.ones_like(counts)) & ~counts
    points = windows.points.select("cik", "q", "concept")
    rows = [
        points.filter(asked & holds).with_columns(reason=pl.lit(REASONS_OF_QUARTERS[rule]), rule=pl.lit(rule.id))
        for rule, holds in found.faults.items()
    ]
    return of_items(pl.concat(rows)).select(WITHHELD.names()).cast(WITHHELD)
