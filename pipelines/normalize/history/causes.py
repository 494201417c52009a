"""Causes: why a value changed from one version to the next, decided by a table of tests in order.

Belongs here: one row for each cause with its meaning and its test, and the data that the tests use. Does not: which
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
from warehouse.schema import items_of

ITEM = ["cik", "item", "q"]

ROUNDED_DIGITS = range(3, 7)
"""Numbers of significant digits to which a figure may be rounded."""
SCALES = (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
"""Ratios of two figures if one was filed in another scale."""
NEAR = 0.02
"""Tolerance for figures in another scale or with another sign: they may be rounded or revised a little."""
SAME = 1e-6
"""Figures that differ by at most this share are equal."""
HALF_CHANGED = 0.5
"""A change by more than this share suggests another company's figures, not a restatement."""
HALF_A_UNIT = 0.5000001
"""Half of the unit to which a figure is rounded, a little more for binary fractions."""
SEVERAL_PERIODS = 2
"""A filing that restates net income of at least so many periods is a change of accounting."""
SEVERAL_ITEMS = 3
"""If at least so many items change by more than half together with the shares, the figures are another company's."""

OF_SHARES = ("shares_basic", "shares_diluted", "eps_basic", "dividends_per_share")
RATIOS = items_of("ratio")
MOVED_BETWEEN_LINES = ("revenue", "free_cash_flow", "total_debt", "cash_and_equivalents")

DAYS_SINCE = 200_000
"""Added to day numbers, so that none is negative."""


@dataclass(frozen=True)
class Compared:
    """Versions compared with the versions before them, sorted by company, item, quarter end and filing.

    `value` and `earlier` are the two values, `earliest` the value before these; NaN if there is none. Versions without
    value are left out; `was_withdrawn`: such a version lies between `earlier` and `value`.
    `restates`: a fact of the same period and role differs by more than rounding. `rounds`: no fact does, and the values
    differ by at most the rounding of the facts that differ. `rescaled`: a fact differs by a thousand or a million
    times. `is_reversed`: a fact has the other sign and about the same size. `other_elements`, `other_standards`: the
    facts have other elements, or other taxonomies or units. `moves_net_income`: the filing changes net income of the
    window; `periods_moved`: the number of windows in which it does. `shows_another_entity`: the filing shows another
    company's figures.
    """

    item: npt.NDArray[Any]
    value: Floats
    earlier: Floats
    earliest: Floats
    was_withdrawn: Flags
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
        """Whether a version is of one of these items."""
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
    """Whether one of the two values is the other one, rounded."""
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
    """A cause: its name, its meaning, and the test on versions and the versions before them."""

    name: str
    meaning: str
    holds: Callable[[Compared], Flags]


WITHDRAWN = Cause(
    "withdrawn",
    "a later filing contradicts the value, or leaves an amount that it needs without value",
    lambda it: np.isnan(it.value),
)
CAUSES: tuple[Cause, ...] = (
    WITHDRAWN,
    Cause("initial", "the first value", lambda it: np.isnan(it.earlier)),
    Cause(
        "reinstated",
        "a later filing supports the withdrawn value again",
        lambda it: it.was_withdrawn & _near(it.value, it.earlier, SAME),
    ),
    Cause(
        "precision",
        "the same figure with more digits, or sums of figures that differ by at most their rounding",
        lambda it: (_is_rounded(it) & ~it.restates) | it.rounds,
    ),
    Cause(
        "scale_fix",
        "the figure, or one of its legs, was a thousand or a million times too large or too small",
        lambda it: _is_scaled(_ratio(it)) | it.rescaled,
    ),
    Cause(
        "sign_fix",
        "the figure, or one of its legs, had the wrong sign",
        lambda it: _near(it.value, -it.earlier, SAME) | it.is_reversed,
    ),
    Cause(
        "context_fix",
        "back to the value before the last, which was in the context of a wrong period",
        lambda it: _near(it.value, it.earliest, SAME),
    ),
    Cause(
        "basis_change",
        "the figures follow other accounting standards or are in another currency",
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
        "the fiscal year of the window was restated on the accounting basis of the quarters",
        lambda it: it.was_mixed_basis & ~it.is_mixed_basis,
    ),
    Cause(
        "other_columns",
        "a later report restates no figure, but has columns from which twelve months are better computed",
        lambda it: ~it.restates,
    ),
    Cause(
        "reclassification",
        "revenue, cash flow or a balance changes while net income of the period stays the same",
        lambda it: it.is_of(MOVED_BETWEEN_LINES) & ~it.moves_net_income,
    ),
    Cause(
        "accounting_change",
        "a later report restates the item, and net income of several periods with it",
        lambda it: it.moves_net_income & (it.periods_moved >= SEVERAL_PERIODS),
    ),
    Cause(
        "restatement",
        "a later report restates the item, and net income of the period with it",
        lambda it: it.moves_net_income,
    ),
    Cause(
        "share_count_revised",
        "a later report restates weighted shares or amounts per share while net income stays the same",
        lambda it: it.is_of(OF_SHARES),
    ),
    Cause(
        "input_changed",
        "an amount in the ratio changed while net income stays the same",
        lambda it: it.is_of(RATIOS),
    ),
    Cause("unexplained", "none of the above", lambda it: np.ones(len(it.value), dtype=np.bool_)),
)


def classified(versions: pl.DataFrame, legs: pl.DataFrame) -> pl.DataFrame:
    """Add `cause` to versions: the first of CAUSES that holds.

    Args:
        versions: `version`, `cik`, `q`, `item`, `seq`, `value` (null: withdrawn), `method`, `mixed_basis`,
            `is_amended`, and `elements`, `standards` and `currency`, numbers that are equal for two versions with the
            same elements, taxonomies or currencies (0: no currency).
        legs: the filed facts of the versions: `version`, `role`, `weight`, `split_factor`, `start`, `end`, `value`.

    Returns:
        the same rows with `cause`, sorted by company, item, quarter end and filing.
    """
    ordered = versions.sort(*ITEM, "seq")
    has_value = ordered["value"].is_not_null().to_numpy()
    after_none = np.append([False], ~has_value[:-1])[: len(has_value)]
    compared = _compared(ordered.filter(has_value), legs, after_none[has_value])
    names = [cause.name for cause in CAUSES]
    cause = np.full(len(has_value), CAUSES.index(WITHDRAWN))
    cause[has_value] = np.select([each.holds(compared) for each in CAUSES], list(range(len(CAUSES))), len(CAUSES) - 1)
    return ordered.with_columns(cause=pl.Series(names, dtype=pl.String)[cause])


def _compared(ordered: pl.DataFrame, legs: pl.DataFrame, after_none: Flags) -> Compared:
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

    currency = floats(ordered, "currency")
    moves, periods, another = _what_filings_move(ordered, item, value, earlier)
    restates, rescaled, is_reversed, slack = _facts_compared(ordered, legs, begins)
    is_plain = ~np.isin(item, RATIOS) & (ordered["method"] != "net_income_over_shares").to_numpy()
    return Compared(
        item=item,
        value=value,
        earlier=earlier,
        earliest=earliest,
        was_withdrawn=after_none & ~begins,
        is_amended=flags(ordered, "is_amended"),
        was_mixed_basis=before(mixed.astype(np.float64), begins) > 0,
        is_mixed_basis=mixed,
        other_elements=changed("elements"),
        other_standards=changed("standards") | (changed("currency") & (currency > 0) & (before(currency, begins) > 0)),
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
    """Other changes by the filing of each version.

    Returns:
        whether it changes net income of the window, the number of windows in which it does, and whether a window shows
        another company's figures.
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
    """Compare the facts of each version with those of the version before.

    Returns:
        for each version `restates`, `rescaled` and `is_reversed` of Compared, and the largest change of the value that
        rounding of the different facts explains (NaN if no fact differs).
    """
    count = ordered.height
    row, place, amount, unit, slack = _amounts(ordered, legs)
    # pair each version with the facts of the version before it
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
    """The sum of the facts of a version at each place: for the same period and in the same role.

    Returns:
        for each version and place: the row of the version, the place, the amount, the unit to which it is rounded, and
        the largest change of the value by rounding.
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
