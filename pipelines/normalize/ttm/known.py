"""Known amounts: the values of a concept and fiscal period as known after each filing.

Belongs here: which value of an amount is known after a filing, and from which filing on it is in dispute. Does not:
sums of amounts (windows), which sums a dispute withholds (methods), the place of a fact on the grid (periods.calendar).

A slot is a concept, the quarter in which its period ends, and the number of quarters of the period (0 for an instant).
Weighted average shares are multiplied by the days of their period, so that they can be added.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    QUARTER_BITS,
    Flags,
    Floats,
    Ints,
    Timeline,
    before,
    first_row,
    flags,
    floats,
    ints,
    key_of,
    packed,
    picked,
    previous,
)
from pipelines.normalize.elements import AMOUNT, BY_NAME, REPEATING
from pipelines.normalize.facts.precision import grains
from pipelines.normalize.frames import counted
from pipelines.normalize.powers import NEAR_STATED, power_of_thousand
from pipelines.normalize.rule import Rule

SLOT = ["cik", "concept", "q", "n"]
SERIES = SLOT[:3]

HALF_A_UNIT = 0.5000001
"""Two figures are equal if they differ by at most half a unit of the coarser one; a little more for binary
fractions."""

ROUNDED_DIGITS, LOST = 2, 100
"""A figure rounded to two digits repeats a known amount that is at least a hundred times finer: a new amount of that
precision would hardly ever be so round."""

CENTS = 0.01
"""An amount per share that is rounded to this unit or a finer one is stated in cents."""

NOISE_OF_SUMS = 1e-9
"""Largest difference between sums or products of the same figures in another order: decimals have binary fractions."""

SAME_SCALE = 1.0
"""Amounts of successive years are in one scale if they differ by less than a power of ten."""

AGREEING = 2
"""If at least this many filings in a row state the same amount, one filing with another amount does not replace it."""
RESTATED_ALONE = 2
"""A filing that corrects one figure restates at most this many amounts of its period, as one element may feed two
concepts; a filing that follows another basis restates more."""

IS_ADDITIVE: Flags = np.array(
    [
        name == "dividends_per_share" or (name in BY_NAME and BY_NAME[name].measure == "money")
        for name in AMOUNT.categories
    ]
)
"""For each code of a concept: whether the quarters of a year add up to it exactly."""

STATED_RANKS: Floats = np.array(
    [len(BY_NAME[name].sources) if name in BY_NAME else np.inf for name in AMOUNT.categories]
)
"""For each code of a concept: the rank from which on amounts are derived, not stated."""

RANKS_ALONE = [rank for rank, source in enumerate(BY_NAME["pretax_income"].sources) if source.rule.endswith("-alone")]
"""Ranks of the sources of income before tax as net income plus tax, if no discontinued operations are stated."""

FEWEST_UNITS, FEWEST_CENTS = 10, 2
"""Fewest units of rounding (of amounts per share: cents) by which two filings dispute an amount: amounts that differ by
one digit in the last place, or by a cent per share, may be rounded in another way."""
LEAST_DISPUTE = 0.001
"""A dispute about less than a thousandth of an amount moves no value."""
FEWEST_UNITS_OF = np.array(
    [FEWEST_CENTS if concept.measure == "per_share" else FEWEST_UNITS for concept in BY_NAME.values()]
)
"""For each code of a concept: FEWEST_CENTS or FEWEST_UNITS."""

COMPANY_BITS, CONCEPT_BITS, SPAN_BITS = 20, 8, 3

QUARTERS_A_YEAR = 4

TWO_PERIODS_OF_ONE_FILING = Rule(
    "period.two-in-one-filing",
    "If one filing states an amount for two periods that cover the same fiscal quarters, one figure counts: that of "
    "the last element in the order of sources, then of the later period end, then of the later start.",
    "A convention: nothing in the filing says which of the two periods is the fiscal one",
    "select",
)
PROVED_BEFORE = Rule(
    "period.proved-before",
    "A filing that states an amount which was only computed from other figures before, such as average shares, "
    "restates nothing: the stated amount counts from the filing that first proved it.",
    "ASC 250-10-20: a restatement revises financial statements that were issued; a derived amount was in none of them",
    "select",
)
ERRATUM = Rule(
    "period.corrected-error",
    "A later figure of an interim period that differs from the known one only by its sign, or by a power of a "
    "thousand towards the scale of the years before and after, corrects an error; it is no restatement.",
    "ASC 250-10-20: the correction of an error is no change of an accounting principle; a restatement hardly ever "
    "leaves all digits as they were",
    "select",
)
OUTLIER = Rule(
    "period.outlier",
    f"If a filing restates only one figure, which at least {AGREEING} filings state, and its statement does not foot "
    "with the new figure, the restatement changes nothing until another filing repeats it.",
    "ASC 250-10-45-5 and 250-10-45-23: a change or a correction of an error is applied to all periods presented",
    "select",
)
LACKS_DISCONTINUED = Rule(
    "period.lacks-discontinued-operations",
    "Net income plus income tax, in a filing that states no discontinued operations, does not count as income before "
    "tax of a period if an earlier filing gives this amount in another way.",
    "ASC 205-20-45-3: income before tax is of continuing operations; a table of several years may leave out the line "
    "that the statements of these years have",
    "select",
)
COARSER_REPETITION = Rule(
    "precision.coarser-repetition",
    "If a later filing repeats a known amount within half a unit of the coarser figure, or rounded to two digits "
    "(dividends per share: to whole units) where the known amount has two digits more, the finer figure counts.",
    "Measured: 27 % of the changes between successive filings of a period are rounding (AAPL LongTermDebt 96,662 to "
    "96,700 million and back); Procter & Gamble's report of 2019 states 3 for dividends of 2.70 and 2.79",
    "select",
)
NO_YEAR_IN_DISPUTE = Rule(
    "ttm.no-year-in-dispute",
    "If the next filing states a fiscal year with one digit changed and restates hardly anything else, the year is "
    "not added to interim periods until an interim period of this year or the next is restated.",
    "Measured on 101 companies: 5 of 10,380 amounts of fiscal years; capital expenditure of AT&T for 2019 (19,435 and "
    "19,635 million) was restated along with interim periods of 2019 and 2020",
    "withhold",
)


def known_amounts(placed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The amount of each slot after each filing that states it.

    A repetition of a known value changes it only if it has more digits. Of two periods of one filing that cover the
    same quarters, one counts.

    Args:
        placed: vintages on the grid (periods.calendar.on_grid), on one share basis, with `measure_sign` and `regime`.

    Returns:
        known: one row a slot (`cik`, `concept`, `q`, `n`) and `seq`, sorted by them: `amount` (additive: value x
            `weight`, which is the days for shares and 1 for others), `days` (null for an instant), `weight`, `vintage`
            (the row of `stated` from which the value is taken), its `grain` and `other_source`, the `regime` of the
            filing, the `rank` of its source, `since` (`seq` of the first filing with this value) and `is_revised`
            (whether another value was known before).
        decisions: `cik`, `rule`, `figures`.
    """
    rows, decided = _one_of_each_filing(placed)
    value, former, grain = (floats(rows, name) for name in ("value", "former", "grain"))
    cik, begins = ints(rows, "cik"), np.isnan(former)
    half_a_unit = np.fmax(grain, before(grain, begins)) * HALF_A_UNIT
    repeats = COARSER_REPETITION.where((abs(value - former) <= half_a_unit) | _rounded(rows))
    repeats |= value == former
    was_proved = PROVED_BEFORE.where(~repeats & _proved_before(rows))
    is_erratum = ERRATUM.where(~repeats & ~was_proved & _errata(rows))
    restates_nothing = was_proved | is_erratum
    is_outlier = OUTLIER.where(_outliers(rows, repeats | restates_nothing, half_a_unit))
    # the figure after an outlier either repeats the amount before the outlier, or confirms the outlier
    after = np.flatnonzero(np.append(False, is_outlier[:-1]) & ~begins)
    repeats[after] = abs(value[after] - value[after - 2]) <= half_a_unit[after]
    restates_nothing[after] = False
    repeats |= is_outlier
    of_run = first_row(~(repeats | restates_nothing))
    finest = _finest_so_far(np.where(is_outlier, np.inf, grain), ~repeats)
    taken = rows.select("value", "vintage", "grain", pl.col("other_source").fill_null(value=False))[finest]
    weight = pl.when(pl.col("measure_sign") > 0).then("days").otherwise(1.0).cast(pl.Float64)
    known = (
        rows.select(*SLOT, "seq", "days", "regime", "rank", weight=weight)
        .hstack(taken)
        .with_columns(amount=pl.col("value") * pl.col("weight"), since=rows["seq"][of_run], is_revised=~begins[of_run])
        .drop("value")
    )
    is_rounding = repeats & ~is_outlier & ((finest == np.arange(len(finest))) | (grain > grain[finest]))
    decided += [(COARSER_REPETITION, cik[is_rounding]), (OUTLIER, cik[is_outlier])]
    decided += [(PROVED_BEFORE, cik[was_proved & restates_nothing]), (ERRATUM, cik[is_erratum & restates_nothing])]
    return known, counted(decided)


def _one_of_each_filing(placed: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[Rule, Ints]]]:
    """The figures that count, one for each slot and filing, sorted by both, and the decisions about the other figures.

    Column `former` is the figure of the filing before; null for the first one. Of two periods of one filing that cover
    the same quarters, one counts. Income before tax that is computed as net income plus tax does not count if an
    earlier figure of the slot is computed in another way.
    """
    of_filing = pl.when(TWO_PERIODS_OF_ONE_FILING.where(pl.lit(value=True))).then(pl.col("rank", "end", "start"))
    is_alone = (pl.col("concept") == "pretax_income") & pl.col("rank").is_in(RANKS_ALONE)
    other = [pl.when(~is_alone).then(name).forward_fill().eq_missing(pl.col(name)) for name in SLOT]
    rows = placed.sort(*SLOT, "seq", of_filing, maintain_order=True).with_columns(
        is_last=pl.col("seq").ne_missing(previous(pl.col("seq"), SLOT, back=-1)),
        lacks_discontinued=LACKS_DISCONTINUED.where(is_alone & pl.all_horizontal(other)),
    )
    others, lacking = rows.filter(~pl.col("is_last")), rows.filter("is_last", "lacks_discontinued")
    counts = rows.filter("is_last", ~pl.col("lacks_discontinued")).with_columns(former=previous(pl.col("value"), SLOT))
    return counts, [(TWO_PERIODS_OF_ONE_FILING, ints(others, "cik")), (LACKS_DISCONTINUED, ints(lacking, "cik"))]


def _rounded(rows: pl.DataFrame) -> Flags:
    """Whether a figure is the amount known before, rounded to two digits or, of dividends, to a whole unit."""
    value, former, grain = (floats(rows, name) for name in ("value", "former", "grain"))
    found = np.zeros(len(value), dtype=np.bool_)
    at = np.flatnonzero((value != 0) & (value != former) & ~np.isnan(former))
    rounded_to = np.where(_in_whole_units(rows)[at], 1.0, grains(value[at], ROUNDED_DIGITS))
    has_more = grain[at - 1] * LOST <= rounded_to
    found[at] = has_more & (abs(value[at] - former[at]) <= rounded_to * HALF_A_UNIT)
    return found


def _in_whole_units(rows: pl.DataFrame) -> Flags:
    """Whether a figure is a dividend per share of a filing that states several, all of them in whole units."""
    value = floats(rows, "value")
    former = floats(rows, "former")
    found = np.zeros(rows.height, dtype=np.bool_)
    # earnings per share are judged by net income over shares instead
    is_dividend = (rows["concept"] == "dividends_per_share").to_numpy()
    at = np.flatnonzero(is_dividend & (value != 0) & ~np.isnan(former))
    is_whole = (pl.col("value") == pl.col("value").round()).all() & (pl.len() > 1)
    found[at] = rows[at].select(is_whole.over("cik", "seq")).to_series().to_numpy()
    return found


def _proved_before(rows: pl.DataFrame) -> Flags:
    """Whether a filing states an amount that was only derived until then, so that it restates nothing.

    Additive amounts are left out, because their derivation is exact.
    """
    concept = ints(rows, "concept")
    above_stated = floats(rows, "rank") - STATED_RANKS[concept]
    return (
        (above_stated < 0)
        & (before(above_stated, np.isnan(floats(rows, "former"))) >= 0)
        & ~np.isin(concept, np.flatnonzero(IS_ADDITIVE))
    )


def _outliers(rows: pl.DataFrame, repeats: Flags, half_a_unit: Floats) -> Flags:
    """Whether a figure of a duration is the only restatement of its filing, and several earlier filings contradict it.

    Args:
        rows: the figures.
        repeats: whether each is the amount known before.
        half_a_unit: the largest difference by rounding.
    """
    found = np.zeros(len(repeats), dtype=np.bool_)
    value = floats(rows, "value")
    former = floats(rows, "former")
    at = np.flatnonzero(~np.isnan(former) & ~repeats)
    # an element may feed two concepts: equal figures of a period count once
    shown = pl.when(~pl.col("concept").is_in(REPEATING)).then("value")
    is_alone = rows[at].select(
        ~pl.col("foots")
        & (shown.count().over("cik", "seq") <= RESTATED_ALONE)
        & (pl.len().over("cik", "seq", "concept") == 1)
        & (shown.drop_nulls().n_unique().over("cik", "seq", "q", "n") <= 1)
        & (pl.col("n") > 0)
    )
    agreeing = at - first_row(~repeats)[at - 1]
    # figures that are rounded in different directions are no outliers
    is_far = abs(value[at] - former[at]) > 2 * half_a_unit[at]
    found[at] = flags(is_alone, "foots") & (agreeing >= AGREEING) & is_far
    return found


def _errata(rows: pl.DataFrame) -> Flags:
    """Whether a figure corrects the known one by its sign alone, or by a power of a thousand alone.

    A change of scale is a correction if the figures of the years before and after are in the new scale.
    """
    value, former, seq = floats(rows, "value"), floats(rows, "former"), ints(rows, "seq")
    # errors in fiscal years are left to rule ttm.year-as-corrected (bases), which also corrects later twelve months
    at = np.flatnonzero((value != former) & (value != 0) & (abs(former) > 0) & (ints(rows, "n") < QUARTERS_A_YEAR))
    times = value[at] / former[at]
    found = np.zeros(len(value), dtype=np.bool_)
    power = power_of_thousand(abs(times), NEAR_STATED)
    found[at] = (power == 0) & (times < 0)
    at = at[(abs(power) > 0) & (times > 0)]
    slots = slot_key(np.unique(rows["cik"], return_inverse=True)[1], *(ints(rows, name) for name in SLOT[1:]))
    years = slots[at] + (QUARTERS_A_YEAR << SPAN_BITS) * np.array([[-1], [1]])
    others = picked(value, Timeline(slots, seq).after(years, seq[at]))
    with np.errstate(divide="ignore"):
        found[at] = np.fmax.reduce(abs(np.log10(abs(value[at] / others)))) < SAME_SCALE
    return found


def _finest_so_far(grain: Floats, begins: Flags) -> Ints:
    """For each row the last row of its run, up to this row, that was finer than all earlier rows of the run."""
    # each run is shifted below the one before, so that one running minimum works for all runs
    depth = np.unique(grain, return_inverse=True)[1] - np.cumsum(begins) * len(grain)
    return first_row(np.diff(np.minimum.accumulate(depth), prepend=len(grain)) < 0)


def slot_key(company: Ints, concept: Ints, q: np.ndarray, n: np.ndarray) -> Ints:
    """The number of a slot; negative where `q` or `n` is missing."""
    return key_of((company, COMPANY_BITS), (concept, CONCEPT_BITS), (q, QUARTER_BITS), (n, SPAN_BITS))


def disputed(rows: Mapping[str, Floats], following: Ints, concept: Ints, is_year: Flags) -> Floats:
    """The filing from which on an amount of a year is in dispute; missing for other amounts.

    An amount is in dispute if the next filing that states the year has the same element with one other digit, and
    restates hardly anything else of that year: one of the two amounts is mistyped. Interim periods are left out:
    restatements change their comparatives in the same way.

    Args:
        rows: columns of the known amounts (lookups._columns).
        following: the row of the same amount in the next filing that states it; NOTHING if there is none.
        concept: the code of the concept of each row.
        is_year: whether the row is of a fiscal year.
    """
    other = {name: picked(column, following) for name, column in rows.items()}
    # figures as filed, not weighted by days
    figure, next_figure = (each["amount"] / each["weight"] for each in (rows, other))
    off, unit = abs(next_figure - figure), np.minimum(rows["grain"], other["grain"])
    digits = off / 10.0 ** np.floor(np.log10(np.maximum(off, unit)) + NOISE_OF_SUMS)
    holds = abs(digits - np.rint(digits)) <= NOISE_OF_SUMS
    holds &= is_year & (off >= FEWEST_UNITS_OF[concept] * unit - NOISE_OF_SUMS) & (off > LEAST_DISPUTE * abs(figure))
    holds &= (rows["rank"] == other["rank"]) & (other["restated_along"] <= RESTATED_ALONE)
    holds &= (rows["since"] == rows["seq"]) & (other["since"] == other["seq"])
    return np.where(holds, other["seq"], np.nan)


def settled(rows: Mapping[str, Floats], timeline: Timeline, slot: Ints) -> Floats:
    """The filing from which on an amount of a year is no longer in dispute; missing for other amounts.

    It is settled when a later filing restates an interim period of the year or of the next one: the definition of the
    line changed.

    Args:
        rows: columns of the known amounts, with `disputed`.
        timeline: of these rows.
        slot: the key of each row.
    """
    found = np.full(len(slot), np.nan)
    at = np.flatnonzero(~np.isnan(rows["disputed"]))
    revisions = timeline.of_rows(rows["revised"] == rows["seq"])
    quarters = [later << SPAN_BITS for later in range(1 - QUARTERS_A_YEAR, QUARTERS_A_YEAR) if later]
    interim = np.array([slot[at] + end - less for end in quarters for less in range(1, QUARTERS_A_YEAR)])
    found[at] = np.fmin.reduce(picked(rows["seq"], revisions.since(interim, rows["seq"][at] + 1)))
    return found


def points_to_compute(known: pl.DataFrame) -> pl.DataFrame:
    """The filings that may change the twelve months to a quarter end.

    Args:
        known: of known_amounts: durations.

    Returns:
        `cik`, `concept`, `q`, `seq`, sorted: each filing that changes a slot of the window, once an amount is known
        that ends with the window. A fiscal year that is stated again counts too, because the comparatives of its
        filing are then used, and so does a figure within a year of a restated one, because it may confirm it. For
        dividends also each filing that changes the quarter after the window.
    """
    differs = [pl.col(name).ne_missing(previous(pl.col(name), SLOT)) for name in ("amount", "regime")]
    changes = pl.any_horizontal(*differs, pl.col("n") == QUARTERS_A_YEAR)
    restated = _quarters_later(known.filter("is_revised"), range(1 - QUARTERS_A_YEAR, QUARTERS_A_YEAR))
    of_slots = known.select(*SLOT, "seq", changes=changes)
    near_restated = of_slots.filter(~pl.col("changes")).join(restated, on=SERIES, how="semi")
    changing = pl.concat([of_slots.filter("changes"), near_restated])
    first = changing.group_by(SERIES).agg(first=pl.col("seq").min())
    # the quarter after a window shows whether the dividends that were paid in it were declared in it
    dividends = changing.filter((pl.col("concept") == "dividends_per_share") & (pl.col("n") == 1))
    points = pl.concat([_quarters_later(changing, range(QUARTERS_A_YEAR + 1)), _quarters_later(dividends, [-1])])
    counts = points.join(first, on=SERIES).filter(pl.col("seq") >= pl.col("first")).drop("first")
    _, once = np.unique(packed(*(ints(counts, name) for name in counts.columns)), return_index=True)
    return counts[once]


def _quarters_later(rows: pl.DataFrame, quarters: Sequence[int]) -> pl.DataFrame:
    """The company, concept, quarter and filing of each row, repeated for each number of quarters later."""
    return (
        rows.select(*SERIES, "seq")
        .join(pl.DataFrame({"later": quarters}), how="cross")
        .select(*SERIES[:2], (pl.col("q") + pl.col("later")).cast(pl.Int32), "seq")
    )


def amount_changes(rows: pl.DataFrame, *also: str) -> pl.DataFrame:
    """The rows whose `amount` or `regime` differs from the row before of the same company, concept and quarter, sorted.

    Args:
        rows: the rows.
        also: other columns whose changes count.
    """
    amount, earlier = pl.col("amount"), pl.col("amount").shift()
    is_near = (amount - earlier).abs() <= NOISE_OF_SUMS * earlier.abs()
    same = [pl.col(name).eq_missing(pl.col(name).shift()) for name in (*SERIES, "regime", *also)]
    is_same = pl.all_horizontal(is_near.fill_null(amount.is_null() & earlier.is_null()), *same)
    return rows.sort(*SERIES, "seq").filter(~is_same)
