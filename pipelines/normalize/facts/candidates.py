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
        the candidates with all required elements (of sources that only count if they are zero: those that are); and for
        each whether its amount is at least that of every `at_least` element in the filing, with the tolerance
        SAME_WHEN_ROUNDED.
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
    floor = np.where(counts | matching.IS_NEEDED[pairs.part], -np.inf, filed_value)
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
    return found.where(complete), (value >= largest * (1 - SAME_WHEN_ROUNDED))[complete]


def _reduced(function: np.ufunc, values: npt.NDArray[Any], begin: Ints) -> npt.NDArray[Any]:
    return function.reduceat(values, begin) if len(begin) else values[:0]
