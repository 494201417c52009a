"""Candidates: the possible amounts of a filing for a concept and period, one for each source in the filing.

Belongs here: which sources of a concept are complete in a filing, and their sums. Does not: which of them is chosen
(stated).
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, ints, starts
from pipelines.normalize.facts import matching
from pipelines.normalize.facts.matching import Matched
from pipelines.normalize.facts.precision import grains, with_scale_of_filing
from pipelines.normalize.keys import packed, sortable_days
from pipelines.normalize.rule import Rule

NO_LESS_THAN_PART = Rule(
    "source.no-less-than-part",
    "If the sum of a source is less, by more than 0.5 %, than a part or total of the line in the same filing, the "
    "source is only a part, and the next source of the line is taken.",
    "taxonomy definitions of the elements: a total is no less than an amount that it includes",
    "select",
)
RULES = (NO_LESS_THAN_PART,)

FOOTS_WITHIN = 1.0
"""Lines that add up to a total within one unit of the currency do so exactly."""
FEWEST_UNITS = 100
"""A total of fewer units, of those in which the lines are stated, may be met by chance: one sum is compared with it."""

SAME_WHEN_ROUNDED = 0.005
"""Amounts that differ by at most half a percent are the same amount, rounded differently."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates as arrays, sorted by filing, period, concept and rank of the source.

    slot: increasing number of the filing, period and concept. source: number of the source. company: place of the
    company. seq: place of the filing. filed: day of filing. period: a number for each start and end. days: length of
    the period; 0 for an instant. value: sum of the source. grain: the power of ten to which it is rounded. is_scaled:
    whether that is the scale of its filing. parts: bits of the parts that are present and count. first: row of its
    first fact. number: place among the groups of pairs (its facts).
    """

    slot: Ints
    source: Ints
    company: Ints
    seq: Ints
    filed: Ints
    period: Ints
    days: Ints
    value: Floats
    grain: Floats
    is_scaled: Flags
    parts: Ints
    first: Ints
    number: Ints

    @property
    def concept(self) -> Ints:
        """The code of the source's concept in AMOUNT."""
        return matching.CONCEPT_OF_SOURCE[self.source]

    @property
    def rank(self) -> Ints:
        """The place of the source among those of its concept; 0 is best."""
        return matching.RANK_OF_SOURCE[self.source]

    def where(self, kept: Flags | Ints) -> "Candidates":
        """Some of the candidates, by flags or by rows."""
        return Candidates(*(getattr(self, field.name)[kept] for field in fields(self)))


def candidates(facts: pl.DataFrame, pairs: Matched) -> tuple[Candidates, Flags]:
    """The complete sources of each filing and period, and which of them are at least as large as stated totals.

    Args:
        facts: typed facts in filing order.
        pairs: pairs of these facts and parts of sources, without repetitions.

    Returns:
        the candidates with all required elements (of sources that only count if they are zero, or if they add up to a
        total: those that are or do); and for each whether its amount is at least that of every `at_least` element in
        the filing, with the tolerance SAME_WHEN_ROUNDED.
    """
    source = matching.SOURCE[pairs.part]
    begins = starts(pairs.slot, source)
    begin = np.flatnonzero(begins)
    coefficient = matching.COEFFICIENT[pairs.part]
    counts = coefficient != 0
    filed_value = facts["value"].to_numpy()[pairs.row]
    amount = np.where(matching.IS_MONEY[source] & (filed_value != 0), np.abs(filed_value), np.nan)
    own_grain = grains(filed_value)
    grain = with_scale_of_filing(own_grain, amount, np.flatnonzero(starts(pairs.filing)))
    is_floor = (matching.COEFFICIENT == 0) & ~matching.IS_NEEDED & (matching.FOOTS == 0) & ~matching.IS_TOTAL
    floor = np.where(is_floor[pairs.part], filed_value, -np.inf)
    present = _reduced(np.bitwise_or, matching.BIT[pairs.part], begin)
    value = _reduced(np.add, filed_value * coefficient, begin)
    largest = _reduced(np.maximum, floor, begin)
    needed = matching.NEEDED_BY_SOURCE[source[begin]]
    first = pairs.row[begin]
    start, end = sortable_days(facts["start"]), sortable_days(facts["end"])
    is_instant = facts["start"].is_null().to_numpy()
    found = Candidates(
        slot=np.cumsum(starts(pairs.slot[begin], matching.CONCEPT_OF_SOURCE[source[begin]])),
        source=source[begin],
        company=np.unique(ints(facts, "cik"), return_inverse=True)[1][first],
        seq=ints(facts, "seq")[first],
        filed=sortable_days(facts["filed"])[first],
        period=packed(start, end)[first],
        days=np.where(is_instant, 0, end - start)[first],
        value=value,
        grain=_reduced(np.maximum, np.where(counts, grain, -np.inf), begin),
        is_scaled=_reduced(np.logical_or, counts & (grain > own_grain), begin),
        parts=_reduced(np.bitwise_or, np.where(counts, matching.BIT[pairs.part], 0), begin),
        first=first,
        number=np.arange(len(begin)),
    )
    complete = (present & needed) == needed
    complete &= ~matching.ONLY_ZERO[source[begin]] | (value == 0)
    complete &= ~matching.HAS_FOOTING[source[begin]] | _foots(pairs, filed_value, begin, found)
    return found.where(complete), (value >= largest * (1 - SAME_WHEN_ROUNDED))[complete]


def _foots(pairs: Matched, filed_value: Floats, begin: Ints, found: Candidates) -> Flags:
    """Whether each source, as an outflow, adds up to the total of its footing with the other lines that are stated.

    Args:
        pairs: the pairs. filed_value: the amount of each. begin: the first pair of each source.
        found: the sources.
    """
    outflow = found.value + _reduced(np.add, filed_value * matching.FOOTS[pairs.part], begin)
    group = np.repeat(np.arange(len(begin)), np.diff(np.append(begin, len(pairs.part))))
    meets = matching.IS_TOTAL[pairs.part] & (np.abs(filed_value + outflow[group]) <= FOOTS_WITHIN)
    meets &= np.abs(filed_value) >= FEWEST_UNITS * found.grain[group]
    return _reduced(np.logical_or, meets, begin)


def _reduced(function: np.ufunc, values: npt.NDArray[Any], begin: Ints) -> npt.NDArray[Any]:
    return function.reduceat(values, begin) if len(begin) else values[:0]
