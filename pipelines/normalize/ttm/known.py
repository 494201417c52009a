"""Known amounts: the values of a concept and fiscal period as known after each filing.

Belongs here: which value of an amount is known after a filing, and looking it up. Does not: sums of amounts (windows),
the place of a fact on the grid (periods.calendar).

A slot is a concept, the quarter in which its period ends, and the number of quarters of the period (0 for an instant).
Weighted average shares are multiplied by the days of their period, so that they can be added.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    QUARTER_BITS,
    SEQ_BITS,
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
    numbers,
    picked,
    starts,
)
from pipelines.normalize.elements import AMOUNT, BY_NAME
from pipelines.normalize.facts.precision import grains
from pipelines.normalize.frames import counted
from pipelines.normalize.rule import Rule

SLOT = ["cik", "concept", "q", "n"]

HALF_A_UNIT = 0.5000001
"""Two figures are equal if they differ by at most half a unit of the coarser one; a little more for binary
fractions."""

ROUNDED_DIGITS, LOST = 2, 100
"""A figure of two digits repeats an amount that is a hundred times finer, in which it would hardly ever be so round."""

CENTS = 0.01
"""An amount per share of this rounding or a finer one has cents."""

NOISE_OF_SUMS = 1e-9
"""Largest relative difference between sums of the same legs in another order."""

SAME_DIGITS = 1e-3
"""Figures agree but for their sign or scale if they differ by less than this share."""
THOUSAND = 3
"""A thousand in powers of ten."""
SAME_SCALE = 1.0
"""Amounts of successive years are in one scale if they differ by less than a power of ten."""

AGREEING = 2
"""So many filings that state the same amount, and none that states another, outweigh one that states another."""
RESTATED_ALONE = 2
"""A filing that corrects one figure restates at most so many amounts of its period, as one element may feed two
concepts; a filing that follows another basis restates more."""

IS_ADDITIVE: Flags = np.array(
    [concept.measure == "money" or concept.name == "dividends_per_share" for concept in BY_NAME.values()]
)
"""For each code of a concept: whether the quarters of a year add up to it exactly."""

STATED_RANKS: Floats = np.array(
    [len(BY_NAME[name].sources) if name in BY_NAME else np.inf for name in AMOUNT.categories]
)
"""For each code of a concept: the rank from which on amounts are derived, not stated."""

DIVIDENDS = list(BY_NAME).index("dividends_per_share")
"""The code of the concept. Earnings per share are judged by net income over shares instead."""

PRETAX_INCOME = list(BY_NAME).index("pretax_income")
"""The code of the concept."""
RANKS_ALONE = [rank for rank, source in enumerate(BY_NAME["pretax_income"].sources) if source.rule.endswith("-alone")]
"""Ranks of its sources that are net income plus tax, where no discontinued operations are stated."""

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
    "A filing that states what other figures had proved, as an average number of shares, restates nothing: the amount "
    "is known since it was proved, as it is stated.",
    "ASC 250-10-20: a restatement revises financial statements that were issued; what was derived was in none",
    "select",
)
ERRATUM = Rule(
    "period.corrected-error",
    "A later figure of less than a year that differs from the known one by its sign alone, or by a power of a thousand "
    "towards the scale of the years around it, corrects an error; it restates nothing.",
    "ASC 250-10-20: the correction of an error is no change of an accounting principle; a restatement hardly ever "
    "leaves all digits as they were",
    "select",
)
OUTLIER = Rule(
    "period.outlier",
    f"A lone restatement of a figure that at least {AGREEING} filings state, in a statement that does not foot with "
    "it, changes nothing until another filing repeats it.",
    "ASC 250-10-45-5 and 250-10-45-23: a change or a correction of an error is applied to all periods presented",
    "select",
)
LACKS_DISCONTINUED = Rule(
    "period.lacks-discontinued-operations",
    "Net income plus income tax of a filing that states no discontinued operations of a period is no income before tax "
    "if an earlier filing leads to that of the period in another way.",
    "ASC 205-20-45-3: income before tax is of continuing operations; a table of several years may leave out the line "
    "that the statements of these years have",
    "select",
)
COARSER_REPETITION = Rule(
    "precision.coarser-repetition",
    "If a later filing repeats a known amount within half a unit of the coarser figure, or rounded to two digits (per "
    "share, to a whole unit) where the known amount has two digits more, the finer figure counts.",
    "Measured: 27 % of the changes between successive filings of a period are rounding (AAPL LongTermDebt 96,662 to "
    "96,700 million and back); Procter & Gamble's report of 2019 states 3 for dividends of 2.70 and 2.79",
    "select",
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
    figures, decided = _one_of_each_filing(placed)
    begins, cik = figures.begins, figures.cik
    value, grain, known_before = figures.value, figures.grain, before(figures.value, begins)
    half_a_unit = np.fmax(grain, before(grain, begins)) * HALF_A_UNIT
    repeats = COARSER_REPETITION.where((abs(value - known_before) <= half_a_unit) | _rounded(figures))
    repeats |= value == known_before
    was_proved = PROVED_BEFORE.where(~repeats & _proved_before(figures))
    is_erratum = ERRATUM.where(~repeats & ~was_proved & _errata(figures))
    restates_nothing = was_proved | is_erratum
    is_outlier = OUTLIER.where(_outliers(figures, repeats | restates_nothing, half_a_unit))
    # what follows an outlier repeats the amount before it, or confirms the outlier
    after = np.flatnonzero(np.append(False, is_outlier[:-1]) & ~begins)
    repeats[after] = abs(value[after] - value[after - 2]) <= half_a_unit[after]
    restates_nothing[after] = False
    repeats |= is_outlier
    of_run = first_row(~(repeats | restates_nothing))
    finest = _finest_so_far(np.where(is_outlier, np.inf, grain), ~repeats)
    rows = figures.rows
    weight = np.where(ints(rows, "measure_sign") > 0, floats(rows, "days"), 1.0)
    known = rows.select(*SLOT, "seq", "days", "regime", "rank").with_columns(
        amount=numbers(value[finest] * weight),
        weight=weight,
        vintage=rows["vintage"][finest],
        grain=numbers(grain[finest]),
        other_source=flags(rows, "other_source")[finest],
        since=figures.seq[of_run],
        is_revised=~begins[of_run],
    )
    is_finest = finest == np.arange(len(finest))
    is_rounding = repeats & ~is_outlier & (is_finest | (grain > grain[finest]))
    decided += [(COARSER_REPETITION, cik[is_rounding]), (OUTLIER, cik[is_outlier])]
    decided += [(PROVED_BEFORE, cik[was_proved & restates_nothing]), (ERRATUM, cik[is_erratum & restates_nothing])]
    return known, counted(decided)


@dataclass(frozen=True)
class _Figures:
    """The figures of each slot, one of each filing, sorted by slot and filing; `begins`: the first one of its slot."""

    rows: pl.DataFrame
    cik: Ints
    concept: Ints
    seq: Ints
    value: Floats
    grain: Floats
    rank: Floats
    begins: Flags

    @property
    def adds_up(self) -> Flags:
        """Whether the quarters of a year add up to it exactly."""
        return np.isin(self.concept, np.flatnonzero(IS_ADDITIVE))


def _one_of_each_filing(placed: pl.DataFrame) -> tuple[_Figures, list[tuple[Rule, Ints]]]:
    """The figures that count, and the decisions about the others.

    Of two periods of one filing that cover the same quarters, one counts. Income before tax that is net income plus tax
    does not if an earlier figure of the slot is computed in another way.
    """
    of_filing = pl.when(TWO_PERIODS_OF_ONE_FILING.where(pl.lit(value=True))).then(pl.col("rank", "end", "start"))
    rows = placed.sort(*SLOT, "seq", of_filing, maintain_order=True)
    cik, concept, seq = (ints(rows, name) for name in ("cik", "concept", "seq"))
    slot = [ints(rows, name) for name in SLOT]
    is_last = np.append(starts(*slot, seq), [True])[1:]
    is_alone = (concept == PRETAX_INCOME) & np.isin(floats(rows, "rank"), RANKS_ALONE)
    in_other_ways = np.cumsum(~is_alone)
    at_first = (in_other_ways - ~is_alone)[first_row(starts(*slot))]
    is_thin = LACKS_DISCONTINUED.where(is_last & is_alone & (in_other_ways > at_first))
    decided = [(TWO_PERIODS_OF_ONE_FILING, cik[~is_last]), (LACKS_DISCONTINUED, cik[is_thin])]
    counts = is_last & ~is_thin
    rows = rows.filter(counts)
    value, grain, rank = (floats(rows, name) for name in ("value", "grain", "rank"))
    begins = starts(*(part[counts] for part in slot))
    return _Figures(rows, cik[counts], concept[counts], seq[counts], value, grain, rank, begins), decided


def _rounded(figures: _Figures) -> Flags:
    """Whether a figure is the amount known before, rounded to two digits or, of dividends, to a whole unit."""
    value, known = figures.value, before(figures.value, figures.begins)
    found = np.zeros(len(value), dtype=np.bool_)
    rows = np.flatnonzero((value != 0) & (value != known) & ~figures.begins)
    rounded_to = np.where(_in_whole_units(figures)[rows], 1.0, grains(value[rows], ROUNDED_DIGITS))
    has_more = figures.grain[rows - 1] * LOST <= rounded_to
    found[rows] = has_more & (abs(value[rows] - known[rows]) <= rounded_to * HALF_A_UNIT)
    return found


def _in_whole_units(figures: _Figures) -> Flags:
    """The dividends per share of filings that state several, all of them in whole units."""
    found = np.zeros(len(figures.value), dtype=np.bool_)
    at = np.flatnonzero((figures.concept == DIVIDENDS) & (figures.value != 0) & ~figures.begins)
    is_whole = (pl.col("value") == pl.col("value").round()).all() & (pl.len() > 1)
    found[at] = figures.rows[at].select(is_whole.over("cik", "seq")).to_series().to_numpy()
    return found


def _proved_before(figures: _Figures) -> Flags:
    """Whether a filing states what other figures had proved, which restates nothing; if they add up, exactly."""
    beyond = figures.rank - STATED_RANKS[figures.concept]
    return (beyond < 0) & (before(beyond, figures.begins) >= 0) & ~figures.adds_up


def _outliers(figures: _Figures, repeats: Flags, half_a_unit: Floats) -> Flags:
    """Whether a figure of a duration differs from the one that several filings before it state, and nothing else does.

    Args:
        figures: the figures.
        repeats: whether each is the amount known before.
        half_a_unit: the largest difference by rounding.
    """
    found = np.zeros(len(repeats), dtype=np.bool_)
    at = np.flatnonzero(~figures.begins & ~repeats)
    # an element may feed two concepts: figures of a period that are the same are one
    is_alone = figures.rows[at].select(
        ~pl.col("foots")
        & (pl.len().over("cik", "seq") <= RESTATED_ALONE)
        & (pl.len().over("cik", "seq", "concept") == 1)
        & (pl.col("value").n_unique().over("cik", "seq", "q", "n") == 1)
        & (pl.col("n") > 0)
    )
    agreeing = at - first_row(~repeats)[at - 1]
    # two rounded figures on both sides of a limit are no outlier
    is_far = abs(figures.value[at] - figures.value[at - 1]) > 2 * half_a_unit[at]
    found[at] = flags(is_alone, "foots") & (agreeing >= AGREEING) & is_far
    return found


def _errata(figures: _Figures) -> Flags:
    """Whether a figure differs from the known one by its sign or a power of a thousand alone, and is the right one.

    In another scale the figures of the years before and after show which is right.
    """
    value, known = figures.value, before(figures.value, figures.begins)
    found = np.zeros(len(value), dtype=np.bool_)
    # a year in error is corrected as a year (bases), and so are the twelve months since
    is_interim = ints(figures.rows, "n") < QUARTERS_A_YEAR
    rows = np.flatnonzero((value != known) & (value != 0) & (abs(known) > 0) & is_interim)
    times = value[rows] / known[rows]
    power = np.round(np.log10(abs(times)))
    is_same = abs(abs(times) / 10.0**power - 1) <= SAME_DIGITS
    found[rows] = is_same & (power == 0) & (times < 0)
    rows = rows[is_same & (abs(power) >= THOUSAND) & (power % THOUSAND == 0) & (times > 0)]
    place = np.unique(figures.cik, return_inverse=True)[1]
    slots = slot_key(place, *(ints(figures.rows, name) for name in SLOT[1:]))
    timeline, year = Timeline(slots, figures.seq), QUARTERS_A_YEAR << SPAN_BITS
    others = picked(value, timeline.after(slots[rows] + np.array([[-year], [year]]), figures.seq[rows]))
    with np.errstate(divide="ignore"):
        found[rows] = np.fmax.reduce(abs(np.log10(abs(value[rows] / others)))) < SAME_SCALE
    return found


def _finest_so_far(grain: Floats, begins: Flags) -> Ints:
    """For each row the last row of its run, up to this row, that was finer than all earlier rows of the run."""
    if not len(grain):
        return np.zeros(0, dtype=np.int64)
    rank = np.unique(grain, return_inverse=True)[1]
    # shift each run below the one before, so that one running minimum works for all runs
    depth = rank - np.cumsum(begins) * (rank.max() + 1)
    is_finer = begins.copy()
    is_finer[1:] |= depth[1:] < np.minimum.accumulate(depth)[:-1]
    return first_row(is_finer)


def slot_key(company: Ints, concept: Ints, q: np.ndarray, n: np.ndarray) -> Ints:
    """The number of a slot; negative where `q` or `n` is missing."""
    return key_of((company, COMPANY_BITS), (concept, CONCEPT_BITS), (q, QUARTER_BITS), (n, SPAN_BITS))


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
    cik, concept, q, n, seq = (ints(known, name) for name in (*SLOT, "seq"))
    company, place = np.unique(cik, return_inverse=True)
    line = key_of((place, COMPANY_BITS), (concept, CONCEPT_BITS), (q, QUARTER_BITS))
    restated, amount = line[flags(known, "is_revised")], floats(known, "amount")
    changes = ~(amount == before(amount, starts(cik, concept, q, n))) | (n == QUARTERS_A_YEAR)
    within_a_year = (
        np.searchsorted(restated, line - QUARTERS_A_YEAR, "right"),
        np.searchsorted(restated, line + QUARTERS_A_YEAR),
    )
    changes |= within_a_year[0] < within_a_year[1]
    line, seq, shows_declared = line[changes], seq[changes], ((concept == DIVIDENDS) & (n == 1))[changes]
    ends, begins = np.unique(line, return_index=True)
    first = np.minimum.reduceat(seq, begins)
    points = []
    # the quarter after a window shows whether the dividends that were paid in it were declared in it
    for later in (*range(QUARTERS_A_YEAR + 1), -1):
        window = line + later
        at = np.minimum(np.searchsorted(ends, window), len(ends) - 1)
        counts = (ends[at] == window) & (seq >= first[at]) & ((later >= 0) | shows_declared)
        points.append((window[counts] << SEQ_BITS) | seq[counts])
    point = np.sort(np.concatenate(points))
    point = point[starts(point)]
    window, seq = point >> SEQ_BITS, point & ((1 << SEQ_BITS) - 1)
    return pl.DataFrame(
        {
            "cik": company[window >> (CONCEPT_BITS + QUARTER_BITS)],
            "concept": pl.Series(AMOUNT.categories, dtype=AMOUNT)[(window >> QUARTER_BITS) & ((1 << CONCEPT_BITS) - 1)],
            "q": (window & ((1 << QUARTER_BITS) - 1)).astype(np.int32),
            "seq": seq.astype(np.int32),
        }
    )


def amount_changes(rows: pl.DataFrame, of: list[str], also: str | None = None) -> pl.DataFrame:
    """For each `of`, the rows whose `amount` or `regime` differs from the row before, sorted by `of` and `seq`.

    Args:
        rows: the rows.
        of: the columns that tell what the amount is of.
        also: another column whose changes count.
    """
    ordered = rows.sort(*of, "seq")
    begins = starts(*(ints(ordered, name) for name in of))
    amount, regime = floats(ordered, "amount"), floats(ordered, "regime")
    earlier = before(amount, begins)
    same = (abs(amount - earlier) <= NOISE_OF_SUMS * abs(earlier)) & (regime == before(regime, begins))
    same |= np.isnan(amount) & np.isnan(earlier) & ~begins
    if also:
        other = floats(ordered, also)
        same &= other == before(other, begins)
    return ordered.filter(~same)
