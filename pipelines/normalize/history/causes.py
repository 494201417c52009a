"""Why a value changed from one version to the next: a table of tests on the two, in order.

Belongs here: one row a cause, with what it means and the test for it, and what the tests look at. Does not: which
values are versions (replay).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.arrays import SEQ_BITS, Flags, Floats, Ints, before, flags, floats, ints, key_of, starts
from pipelines.normalize.facts.precision import granularity
from pipelines.normalize.items.item import MEAN, SUM

ITEM = ["cik", "item", "q"]

ROUNDED_DIGITS = range(3, 7)
"""A figure of so many digits may be another figure rounded."""
SCALES = (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
"""How far apart two figures are where one was filed in another scale."""
NEAR = 0.02
"""Two figures of another scale or sign are one within this share: they may be rounded or revised a little."""
SAME = 1e-6
"""Two figures within this share are one."""
HALF_CHANGED = 0.5
"""A change by more than this share is no restatement of one company's figures."""
HALF_A_UNIT = 0.5000001
"""Half of the unit that a figure is rounded to, a little more for binary fractions."""
SEVERAL_PERIODS = 2
"""From so many periods on whose net income a filing states anew, it is a change of accounting."""
SEVERAL_ITEMS = 3
"""From so many items on that change by more than half with the shares, the figures are another company's."""

OF_SHARES = ("shares_basic", "shares_diluted", "eps_basic", "dividends_per_share")
RATIOS = ("roic", "debt_to_fcf")
MOVED_BETWEEN_LINES = ("revenue", "free_cash_flow", "total_debt", "cash_and_equivalents")

DAYS_SINCE = 200_000
"""Added to day numbers, so that no date of a filing is negative."""


@dataclass(frozen=True)
class Compared:
    """Versions beside the ones before them, sorted by company, item, quarter end and filing.

    `value` and `earlier` are the two values, `earliest` the one before that; NaN where there is none.
    `restates`: a fact of the same period and part is another, by more than rounding. `rounds`: none is, and the values
    differ by no more than the rounding of the facts that differ. `rescaled`: one is a thousand or a million times more
    or less. `is_reversed`: one has the other sign, and about the same size. `other_elements`, `other_standards`: other
    elements, taxonomies or units are behind it. `moves_net_income`: the filing changes net income of the window;
    `periods_moved`: of so many windows. `shows_another_entity`: the filing shows another company's figures.
    """

    item: npt.NDArray[Any]
    value: Floats
    earlier: Floats
    earliest: Floats
    is_amended: Flags
    was_mixed_basis: Flags
    is_mixed_basis: Flags
    other_elements: Flags
    other_standards: Flags
    moves_net_income: Flags
    periods_moved: Ints
    shows_another_entity: Flags
    restates: Flags
    rounds: Flags
    rescaled: Flags
    is_reversed: Flags

    def is_of(self, items: tuple[str, ...]) -> Flags:
        """Whether a version is of one of some items."""
        return np.isin(self.item, items)


def _near(one: Floats, other: Floats, tolerance: float) -> Flags:
    return np.abs(one - other) <= tolerance * np.abs(other)


def _is_scaled(ratio: Floats) -> Flags:
    found: Flags = np.any([_near(ratio, np.full(len(ratio), scale), NEAR) for scale in SCALES], axis=0)
    return found


def _significant(value: Floats, digits: int) -> Floats:
    """A figure rounded to so many significant digits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(value))) + 1 - digits)
        return np.where(value == 0, value, np.round(value / unit) * unit)


def _is_rounded(compared: Compared) -> Flags:
    """Whether one of the two values is the other one rounded."""
    value, earlier = compared.value, compared.earlier
    found: Flags = np.any(
        [_near(_significant(value, digits), earlier, SAME) for digits in ROUNDED_DIGITS]
        + [_near(_significant(earlier, digits), value, SAME) for digits in ROUNDED_DIGITS],
        axis=0,
    )
    return found


def _ratio(compared: Compared) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return compared.value / compared.earlier


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: its name, what it means, and the test on versions and the ones before them."""

    name: str
    meaning: str
    holds: Callable[[Compared], Flags]


CAUSES: tuple[Cause, ...] = (
    Cause("initial", "the first value", lambda it: np.isnan(it.earlier)),
    Cause(
        "precision",
        "the same figure to more digits, or sums of figures that differ by no more than their rounding",
        lambda it: (_is_rounded(it) & ~it.restates) | it.rounds,
    ),
    Cause(
        "scale_fix",
        "a figure, or one that it is made of, that was a thousand or a million times too large or too small",
        lambda it: _is_scaled(_ratio(it)) | it.rescaled,
    ),
    Cause(
        "sign_fix",
        "a figure, or one that it is made of, that had the other sign",
        lambda it: _near(it.value, -it.earlier, SAME) | it.is_reversed,
    ),
    Cause(
        "context_fix",
        "back to the value before the last: that one stood in the wrong period",
        lambda it: _near(it.value, it.earliest, SAME),
    ),
    Cause(
        "basis_change",
        "other accounting standards or another currency behind the figures",
        lambda it: it.other_standards,
    ),
    Cause(
        "entity_change",
        "revenue and net income of a period change by more than half at once, or shares with most of the items: the "
        "filing shows another company's figures",
        lambda it: it.shows_another_entity,
    ),
    Cause("restatement", "an amended filing states another figure", lambda it: it.is_amended),
    Cause(
        "lines_changed",
        "other lines of the statements make up the figure",
        lambda it: it.other_elements & ~it.moves_net_income,
    ),
    Cause(
        "mixed_basis_resolved",
        "the fiscal year behind the window was stated again on the accounting basis of the quarters",
        lambda it: it.was_mixed_basis & ~it.is_mixed_basis,
    ),
    Cause(
        "other_columns",
        "a later report states no figure anew, but shows columns that twelve months are better made of",
        lambda it: ~it.restates,
    ),
    Cause(
        "reclassification",
        "revenue, cash flow or a balance moves while net income of the period stays",
        lambda it: it.is_of(MOVED_BETWEEN_LINES) & ~it.moves_net_income,
    ),
    Cause(
        "accounting_change",
        "a later report states net income of several periods anew, and what belongs to it",
        lambda it: it.moves_net_income & (it.periods_moved >= SEVERAL_PERIODS),
    ),
    Cause("restatement", "a later report states net income of one period anew", lambda it: it.moves_net_income),
    Cause(
        "share_count_revised",
        "a later report states weighted shares, or amounts per share, anew while net income stays",
        lambda it: it.is_of(OF_SHARES),
    ),
    Cause(
        "input_changed",
        "an amount that the ratio is made of changed while net income stays",
        lambda it: it.is_of(RATIOS),
    ),
    Cause("unexplained", "none of the above", lambda it: np.ones(len(it.value), dtype=np.bool_)),
)


def classified(versions: pl.DataFrame, legs: pl.DataFrame) -> pl.DataFrame:
    """Add `cause` to versions: the first of CAUSES that holds.

    Args:
        versions: `version`, `cik`, `q`, `item`, `seq`, `value`, `method`, `mixed_basis`, `is_amended`, and
            `elements` and `standards`, numbers that two versions share where the same elements, or the same taxonomies
            and units, are behind them.
        legs: the filed facts behind them: `version`, `role`, `weight`, `split_factor`, `start`, `end`, `value`.

    Returns:
        the same rows with `cause`, sorted by company, item, quarter end and filing.
    """
    ordered = versions.sort(*ITEM, "seq")
    compared = _compared(ordered, legs)
    names = [cause.name for cause in CAUSES]
    cause = np.select([each.holds(compared) for each in CAUSES], list(range(len(CAUSES))), len(CAUSES) - 1)
    return ordered.with_columns(cause=pl.Series(names, dtype=pl.String).gather(cause))


def _compared(ordered: pl.DataFrame, legs: pl.DataFrame) -> Compared:
    item = ordered["item"].to_numpy().astype(str)
    begins = starts(ints(ordered, "cik"), np.unique(item, return_inverse=True)[1], ints(ordered, "q"))
    value = floats(ordered, "value")
    earlier = before(value, begins)
    earliest = before(earlier, begins)
    mixed = flags(ordered, "mixed_basis")

    def changed(name: str) -> Flags:
        own = ordered[name].to_numpy()
        found = np.zeros(len(own), dtype=np.bool_)
        found[1:] = own[1:] != own[:-1]
        return found & ~begins

    moves, periods, another = _what_filings_move(ordered, item, value, earlier)
    restates, rescaled, is_reversed, slack = _facts_compared(ordered, legs, begins)
    is_plain = ~np.isin(item, RATIOS) & (ordered["method"] != "net_income_over_shares").to_numpy()
    return Compared(
        item=item,
        value=value,
        earlier=earlier,
        earliest=earliest,
        is_amended=flags(ordered, "is_amended"),
        was_mixed_basis=before(mixed.astype(np.float64), begins) > 0,
        is_mixed_basis=mixed,
        other_elements=changed("elements"),
        other_standards=changed("standards"),
        moves_net_income=moves,
        periods_moved=periods,
        shows_another_entity=another,
        restates=restates,
        rounds=is_plain & ~restates & (np.abs(value - earlier) <= slack),
        rescaled=rescaled,
        is_reversed=is_reversed,
    )


def _what_filings_move(
    ordered: pl.DataFrame, item: npt.NDArray[Any], value: Floats, earlier: Floats
) -> tuple[Flags, Ints, Flags]:
    """What else the filing of each version changes: net income of the window, of how many windows, and most of it.

    Returns:
        whether it changes net income of the window, in how many windows it does, and whether a window shows another
        company's figures.
    """
    changes = (np.abs(value - earlier) > SAME * np.abs(earlier)) & ~np.isnan(earlier)
    large = changes & (np.abs(value - earlier) > HALF_CHANGED * np.abs(earlier))
    company = np.unique(ints(ordered, "cik"), return_inverse=True)[1]
    filing, of_filing = np.unique((company << SEQ_BITS) | ints(ordered, "seq"), return_inverse=True)
    window, of_window = np.unique(key_of((of_filing, 40), (ints(ordered, "q"), 16)), return_inverse=True)

    def count(holds: Flags) -> Ints:
        return np.bincount(of_window[holds], minlength=len(window))

    many = count(large)
    is_income, is_revenue = item == "net_income", item == "revenue"
    is_shares = np.isin(item, OF_SHARES[:2])
    moves = count(changes & is_income) > 0
    most = (many >= SEVERAL_ITEMS) & (2 * many > count(changes))
    another = ((count(large & is_income) > 0) & (count(large & is_revenue) > 0)) | (
        (count(large & is_shares) > 0) & most
    )
    filing_of = np.zeros(len(window), dtype=np.int64)
    filing_of[of_window] = of_filing
    periods = np.bincount(filing_of[moves], minlength=len(filing))
    entities = np.bincount(filing_of[another], minlength=len(filing)) > 0
    has_changes = count(changes) > 0
    return (moves & has_changes)[of_window], periods[of_filing], entities[of_filing]


def _facts_compared(ordered: pl.DataFrame, legs: pl.DataFrame, begins: Flags) -> tuple[Flags, Flags, Flags, Floats]:
    """What the facts behind a version and the one before it show of each other.

    Returns:
        for each version `restates`, `rescaled` and `is_reversed` of Compared, and by how much rounding of the facts
        that differ can move the value (NaN where none differs).
    """
    count = ordered.height
    row, place, amount, unit, slack = _amounts(ordered, legs)
    # beside each version the facts of the version before it
    has_successor = np.zeros(count, dtype=np.bool_)
    has_successor[:-1] = ~begins[1:]
    own, earlier = np.flatnonzero(~begins[row]), np.flatnonzero(has_successor[row])
    both_rows = np.concatenate([row[own], row[earlier] + 1])
    both_places = np.concatenate([place[own], place[earlier]])
    is_own = np.concatenate([np.ones(len(own), dtype=np.bool_), np.zeros(len(earlier), dtype=np.bool_)])
    taken = np.concatenate([own, earlier])
    by_place = np.lexsort((both_places, both_rows))
    pair = np.cumsum(starts(both_rows[by_place], both_places[by_place])) - 1 if len(by_place) else by_place
    pairs = int(pair[-1]) + 1 if len(pair) else 0
    sides = {}
    for name, values in (("amount", amount), ("unit", unit), ("slack", slack)):
        for side, on_side in (("own", is_own[by_place]), ("earlier", ~is_own[by_place])):
            found = np.full(pairs, np.nan)
            found[pair[on_side]] = values[taken[by_place][on_side]]
            sides[name, side] = found
    of_version = np.zeros(pairs, dtype=np.int64)
    of_version[pair] = both_rows[by_place]
    one, other = sides["amount", "own"], sides["amount", "earlier"]
    differs = ~_near(one, other, SAME)
    units = np.fmax(sides["unit", "own"], sides["unit", "earlier"])
    with np.errstate(divide="ignore", invalid="ignore"):
        is_scaled = _is_scaled(one / other)

    def any_of(holds: Flags) -> Flags:
        return np.bincount(of_version[holds & differs], minlength=count) > 0

    moved = np.nan_to_num(sides["slack", "own"]) + np.nan_to_num(sides["slack", "earlier"])
    rounding = np.bincount(of_version[differs], weights=moved[differs], minlength=count).astype(np.float64)
    total = np.where(any_of(np.ones(pairs, dtype=np.bool_)), rounding, np.nan)
    return any_of(np.abs(one - other) > units), any_of(is_scaled), any_of(_near(one, -other, NEAR)), total


def _amounts(ordered: pl.DataFrame, legs: pl.DataFrame) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """What the facts of a version come to at each place: the same period, in the same part of the value.

    Returns:
        for each version and place: the row of the version, the place, the amount, the unit that it is rounded to, and
        how far rounding can move the value.
    """
    number = ints(ordered, "version")
    row_of = np.zeros(number.max(initial=-1) + 1, dtype=np.int64)
    row_of[number] = np.arange(ordered.height)
    row = row_of[legs["version"].to_numpy()]
    role = legs["role"].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    is_mean, is_sum = (legs["role"] == MEAN).to_numpy(), (legs["role"] == SUM).to_numpy()
    weight = floats(legs, "weight")
    days = [legs[name].to_physical().fill_null(-DAYS_SINCE).to_numpy().astype(np.int64) for name in ("start", "end")]
    start, end = (day + DAYS_SINCE for day in days)
    place = (((role << 20 | start) << 20) | end) << 1 | (weight > 0)
    of_means = np.bincount(row[is_mean], weights=weight[is_mean], minlength=ordered.height)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.abs(np.select([is_mean, is_sum], [weight / of_means[row], weight], 0.0))
    value, factor = floats(legs, "value"), floats(legs, "split_factor")
    unit = HALF_A_UNIT * legs.select(granularity(pl.col("value")))[:, 0].to_numpy() * factor
    order = np.lexsort((place, row))
    if not len(order):
        return order, order, value, value, value
    begins = np.flatnonzero(starts(row[order], place[order]))
    sums = [np.add.reduceat(each[order], begins) for each in (value * factor, unit, unit * part)]
    return row[order][begins], place[order][begins], sums[0], sums[1], sums[2]
