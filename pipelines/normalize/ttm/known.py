"""Known amounts: the values of a concept and fiscal period as known after each filing.

Belongs here: which value of an amount is known after a filing, and looking it up. Does not: sums of amounts (windows),
the place of a fact on the grid (periods.calendar).

A slot is a concept, the quarter in which its period ends, and the number of quarters of the period (0 for an instant).
Weighted average shares are multiplied by the days of their period, so that they can be added.
"""

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
    largest,
    named,
    numbers,
    picked,
    starts,
)
from pipelines.normalize.decisions import counted
from pipelines.normalize.elements import AMOUNT, BY_NAME
from pipelines.normalize.facts.precision import grains
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

IS_ADDITIVE = np.array(
    [concept.measure == "money" or concept.name == "dividends_per_share" for concept in BY_NAME.values()]
)
"""For each code of a concept: whether the quarters of a year add up to it exactly."""

STATED_RANKS = np.array([len(BY_NAME[name].sources) if name in BY_NAME else np.inf for name in AMOUNT.categories])
"""For each code of a concept: the rank from which on amounts are derived, not stated."""

DIVIDENDS = list(BY_NAME).index("dividends_per_share")
"""The code of the concept. Earnings per share are judged by net income over shares instead."""

PRETAX_INCOME = list(BY_NAME).index("pretax_income")
"""The code of the concept."""
RANKS_ALONE = [rank for rank, source in enumerate(BY_NAME["pretax_income"].sources) if source.rule.endswith("-alone")]
"""Ranks of its sources that are net income plus tax, where no discontinued operations are stated."""

COMPANY_BITS, CONCEPT_BITS, SPAN_BITS = 20, 8, 3

QUARTERS_A_YEAR = 4

COARSER_REPETITION = Rule(
    "precision.coarser-repetition",
    "A later filing that repeats a known amount with fewer digits changes nothing; the finer figure stays.",
    "Measured: 27 % of the changes between successive filings of a period are rounding (AAPL LongTermDebt 96,662 to "
    "96,700 million and back)",
    "select",
)
FINER_REPETITION = Rule(
    "precision.finer-repetition",
    "A later filing that repeats a known amount with more digits, within half a unit of the coarser figure, replaces "
    "it by the finer figure.",
    COARSER_REPETITION.source,
    "select",
)
TWO_DIGITS = Rule(
    "precision.two-digits",
    "A later filing that repeats a known amount rounded to two digits, where the known amount has two digits more, "
    "changes nothing.",
    "Measured on 101 companies: 15 figures do so, such as 5,400 million in the text of a note for 5,445 million",
    "select",
)
WHOLE_UNITS = Rule(
    "precision.whole-units",
    "A later filing that repeats known dividends per share, which have cents, rounded to a whole unit of the currency, "
    "as it does with those of all periods, changes nothing.",
    "Measured: Procter & Gamble's report of 2019 states 3 for dividends of 2.70 and 2.79 that reports before it state",
    "select",
)
TWO_PERIODS_OF_ONE_FILING = Rule(
    "period.two-in-one-filing",
    "If one filing states an amount for two periods that cover the same fiscal quarters, one figure counts: that of "
    "the last element in the order of sources, then of the later period end, then of the later start.",
    "A convention: nothing in the filing says which of the two periods is the fiscal one",
    "select",
)
ERRATUM = Rule(
    "period.corrected-error",
    "A later figure that differs from the known one by its sign alone, or by a power of a thousand after which it is "
    "in the scale of the years before and after, corrects an error of filing; it does not restate the period on "
    "another basis.",
    "ASC 250-10-20: the correction of an error is no change of an accounting principle; a restatement hardly ever "
    "leaves all digits as they were",
    "select",
)
OUTLIER = Rule(
    "period.outlier",
    f"A figure of a period that differs from the one that at least {AGREEING} filings state, in a filing that restates "
    "no other figure of the period, hardly anything else, and whose statement does not foot with it, changes nothing, "
    "until another filing repeats it.",
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
RULES = (
    LACKS_DISCONTINUED,
    COARSER_REPETITION,
    FINER_REPETITION,
    TWO_DIGITS,
    WHOLE_UNITS,
    TWO_PERIODS_OF_ONE_FILING,
    ERRATUM,
    OUTLIER,
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
    sorted_rows = placed.sort(*SLOT, "seq", "rank", "end", "start")
    cik, seq = ints(sorted_rows, "cik"), ints(sorted_rows, "seq")
    slot = [cik, ints(sorted_rows, "concept"), ints(sorted_rows, "q"), ints(sorted_rows, "n")]
    is_last = np.append(starts(*slot, seq)[1:], [True]) if len(seq) else np.zeros(0, dtype=np.bool_)
    of_left_out, is_thin = cik[~is_last], is_last & _lacks_discontinued(slot, floats(sorted_rows, "rank"))
    of_thin, is_last = cik[is_thin], is_last & ~is_thin
    rows = sorted_rows.filter(is_last)
    cik, seq = cik[is_last], seq[is_last]
    begins = starts(*(part[is_last] for part in slot))
    value, grain = floats(rows, "value"), floats(rows, "grain")
    half_a_unit = np.fmax(grain, before(grain, begins)) * HALF_A_UNIT
    repeats = np.abs(value - before(value, begins)) <= half_a_unit
    in_two_digits = _rounded_to_two_digits(value, grain, begins, ~repeats)
    is_dividend = (slot[1][is_last] == DIVIDENDS) & (value != 0)
    is_rounded = ~begins & ~repeats & (before(grain, begins) <= CENTS) & (value == np.rint(value))
    is_rounded &= np.abs(value - before(value, begins)) <= HALF_A_UNIT
    in_whole_units = is_rounded & _of_several(cik, seq, is_dividend & is_rounded, is_dividend & ~begins & ~is_rounded)
    repeats |= in_two_digits | in_whole_units
    place = np.unique(cik, return_inverse=True)[1]
    slots = slot_key(place, *(part[is_last] for part in slot[1:]))
    is_erratum = _errata(value, before(value, begins), slots, seq)
    # a filing that states what other figures had proved restates nothing; of amounts that add up the proof is exact
    concept = slot[1][is_last]
    beyond, adds_up = floats(rows, "rank") - STATED_RANKS[concept], np.isin(concept, np.flatnonzero(IS_ADDITIVE))
    is_erratum |= ~repeats & (beyond < 0) & (before(beyond, begins) >= 0) & ~adds_up
    is_known = repeats | is_erratum
    foots = flags(rows, "foots")
    is_outlier = _outliers([part[is_last] for part in slot], seq, value, begins, is_known, half_a_unit, foots)
    # what follows an outlier repeats the amount before it, or confirms the outlier
    after = np.flatnonzero(np.append(False, is_outlier[:-1]) & ~begins)[:]
    repeats[after] = np.abs(value[after] - value[after - 2]) <= half_a_unit[after]
    is_erratum[after] = False
    repeats |= is_outlier
    # a corrected error is no restatement: the amount is known since its first statement, as corrected
    of_run = first_row(~(repeats | is_erratum))
    finest = _finest_so_far(np.where(is_outlier, np.inf, grain), ~repeats)
    weight = np.where(ints(rows, "measure_sign") > 0, floats(rows, "days"), 1.0)
    known = rows.select(*SLOT, "seq", "days", "regime", "rank").with_columns(
        amount=numbers(value[finest] * weight),
        weight=weight,
        vintage=rows["vintage"][finest],
        grain=numbers(grain[finest]),
        other_source=flags(rows, "other_source")[finest],
        since=seq[of_run],
        is_revised=~begins[of_run],
    )
    is_finest = finest == np.arange(len(finest))
    decided = [
        (COARSER_REPETITION, cik[repeats & ~is_finest & (grain > grain[finest]) & ~(in_two_digits | is_outlier)]),
        (TWO_DIGITS, cik[in_two_digits]),
        (WHOLE_UNITS, cik[in_whole_units]),
        (FINER_REPETITION, cik[repeats & is_finest]),
        (TWO_PERIODS_OF_ONE_FILING, of_left_out),
        (ERRATUM, cik[is_erratum]),
        (OUTLIER, cik[is_outlier]),
        (LACKS_DISCONTINUED, of_thin),
    ]
    return known, counted(decided)


def _lacks_discontinued(slot: list[Ints], rank: Floats) -> Flags:
    """Whether income before tax is net income plus tax, and an earlier figure of the slot is computed in another way.

    Args:
        slot: company, concept, quarter and number of quarters of each figure, sorted by them and by filing.
        rank: the rank of its source.
    """
    found = np.zeros(len(rank), dtype=np.bool_)
    at = np.flatnonzero(slot[1] == PRETAX_INCOME)
    is_alone = np.isin(rank[at], RANKS_ALONE)
    earlier = np.cumsum(~is_alone)
    begins = first_row(starts(*(part[at] for part in slot)))
    found[at] = is_alone & (earlier > earlier[begins] - ~is_alone[begins])
    return found


def _outliers(
    slot: list[Ints], seq: Ints, value: Floats, begins: Flags, repeats: Flags, half_a_unit: Floats, foots: Flags
) -> Flags:
    """Whether a figure of a duration differs from the one that several filings before it state, and from nothing else.

    Args:
        slot: company, concept, quarter and number of quarters of each figure, sorted by them and by filing.
        seq: the filing.
        value: the figure.
        begins: whether a figure is the first of its slot.
        repeats: whether it is the amount known before.
        half_a_unit: the largest difference by rounding.
        foots: whether the statement of the filing foots with the figure.
    """
    changes = ~begins & ~repeats
    outlier = np.zeros(len(seq), dtype=np.bool_)
    if not changes.any():
        return outlier
    cik, concept, q, n = slot
    filing = (np.unique(cik[changes], return_inverse=True)[1] << SEQ_BITS) | seq[changes]
    alone = ~foots[changes]
    for key, most in ((filing, RESTATED_ALONE), ((filing << CONCEPT_BITS) | concept[changes], 1)):
        _, of_key, number = np.unique(key, return_inverse=True, return_counts=True)
        alone &= number[of_key] <= most
    # an element may feed two concepts: figures of a period that are the same are one
    period = np.unique(
        (filing << (QUARTER_BITS + SPAN_BITS)) | (q[changes] << SPAN_BITS) | n[changes], return_inverse=True
    )[1]
    order = np.lexsort((value[changes], period))
    distinct = np.bincount(period[order], weights=starts(period[order], value[changes][order]))
    alone &= (distinct == 1)[period]
    at = np.flatnonzero(changes)
    agreeing = at - first_row(~repeats)[at - 1]
    outlier[at] = alone & (agreeing >= AGREEING) & (n[at] > 0)
    # two rounded figures on both sides of a limit are no outlier
    outlier[at] &= np.abs(value[at] - value[at - 1]) > 2 * half_a_unit[at]
    return outlier


def _errata(value: Floats, known: Floats, slot: Ints, seq: Ints) -> Flags:
    """Whether a figure differs from the known one by its sign or a power of a thousand alone, and is the right one.

    In another scale the figures of the years before and after show which is right.

    Args:
        value: of each figure.
        known: the figure that was known before; NaN if there is none.
        slot: key of the slot, as of slot_key.
        seq: the filing.
    """
    found = np.zeros(len(value), dtype=np.bool_)
    rows = np.flatnonzero((value != known) & (value != 0) & (np.abs(known) > 0))
    times = value[rows] / known[rows]
    power = np.round(np.log10(np.abs(times)))
    is_same = np.abs(np.abs(times) / 10.0**power - 1) <= SAME_DIGITS
    found[rows] = is_same & (power == 0) & (times < 0)
    off_scale = rows[is_same & (np.abs(power) >= THOUSAND) & (power % THOUSAND == 0) & (times > 0)]
    if len(off_scale):
        timeline = Timeline(slot, seq)
        steps = (years * (QUARTERS_A_YEAR << SPAN_BITS) for years in (-1, 1))
        beside = [picked(value, timeline.after(slot[off_scale] + step, seq[off_scale])) for step in steps]
        apart = largest(*(np.abs(np.log10(np.abs(value[off_scale] / other))) for other in beside))
        found[off_scale] = apart < SAME_SCALE
    return found


def _rounded_to_two_digits(value: Floats, grain: Floats, begins: Flags, differs: Flags) -> Flags:
    """Whether a figure is the amount known before, rounded to two digits."""
    found = np.zeros(len(value), dtype=np.bool_)
    rows = np.flatnonzero(differs & ~begins & (value != 0))
    rounded_to = grains(value[rows], ROUNDED_DIGITS)
    has_more = grain[rows - 1] * LOST <= rounded_to
    found[rows] = has_more & (np.abs(value[rows] - value[rows - 1]) <= rounded_to * HALF_A_UNIT)
    return found


def _of_several(cik: Ints, seq: Ints, which: Flags, others: Flags) -> Flags:
    """The figures that are not alone in their filing, which has none of the other ones."""
    filing = np.unique((cik << SEQ_BITS) | seq, return_inverse=True)[1]
    number, of_others = (np.bincount(filing, weights=what) for what in (which, others))
    found: Flags = which & ((number > 1) & (of_others == 0))[filing]
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
    amount = floats(known, "amount")
    changes = ~(amount == before(amount, starts(cik, concept, q, n))) | (n == QUARTERS_A_YEAR)
    changes |= _near_restatements(known)
    company, place = np.unique(cik[changes], return_inverse=True)
    concept, q, n, seq = concept[changes], q[changes], n[changes], seq[changes]

    def key(q: Ints) -> Ints:
        return key_of((place, COMPANY_BITS), (concept, CONCEPT_BITS), (q, QUARTER_BITS))

    own = key(q)
    ends, of_end = np.unique(own, return_inverse=True)
    first = np.full(len(ends), np.iinfo(np.int64).max)
    np.minimum.at(first, of_end, seq)
    points = []
    # the quarter after a window shows whether the dividends that were paid in it were declared in it
    for later in (*range(5), -1):
        asked = key(q + later)
        at = np.minimum(np.searchsorted(ends, asked), max(len(ends) - 1, 0))
        counts = (ends[at] == asked) & (seq >= first[at]) & ((later >= 0) | ((concept == DIVIDENDS) & (n == 1)))
        points.append((asked[counts] << SEQ_BITS) | seq[counts])
    point = np.unique(np.concatenate(points))
    window, seq = point >> SEQ_BITS, point & ((1 << SEQ_BITS) - 1)
    return pl.DataFrame(
        {
            "cik": company[window >> (CONCEPT_BITS + QUARTER_BITS)],
            "concept": named((window >> QUARTER_BITS) & ((1 << CONCEPT_BITS) - 1), AMOUNT),
            "q": (window & ((1 << QUARTER_BITS) - 1)).astype(np.int32),
            "seq": seq.astype(np.int32),
        }
    )


def _near_restatements(known: pl.DataFrame) -> Flags:
    """Whether a slot ends within a year of a restated one of the same concept."""
    company = np.unique(ints(known, "cik"), return_inverse=True)[1]
    concept, q, is_revised = ints(known, "concept"), ints(known, "q"), flags(known, "is_revised")

    def key(q: Ints) -> Ints:
        return key_of((company, COMPANY_BITS), (concept, CONCEPT_BITS), (q, QUARTER_BITS))

    own = key(q)
    restated = np.unique(own[is_revised])
    near = np.unique(np.concatenate([restated + apart for apart in range(1 - QUARTERS_A_YEAR, QUARTERS_A_YEAR)]))
    return np.isin(own, near)


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
    same = (np.abs(amount - earlier) <= NOISE_OF_SUMS * np.abs(earlier)) & (regime == before(regime, begins))
    same |= np.isnan(amount) & np.isnan(earlier) & ~begins
    if also:
        other = floats(ordered, also)
        same &= other == before(other, begins)
    return ordered.filter(~same)
