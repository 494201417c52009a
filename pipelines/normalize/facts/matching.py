"""Matching: finds the sources and concepts that use each filed fact.

Belongs here: the element tables (elements.CONCEPTS) as arrays, and the pairs of a fact and a source that uses it.
Does not: which source of a filing is chosen (stated).

A part is one element of one source. Parts are numbered by concept, rank of the source and name of the element, so that
sorting by part sorts by all three.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, product
from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, ints
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.elements.sources import IFRS, Source
from pipelines.normalize.facts.reports import MEASURE, MEASURES
from pipelines.normalize.industry.names import INDUSTRIES
from pipelines.normalize.keys import filing_rows, packed, sortable_days
from pipelines.normalize.rule import Rule

ZERO_COUNT = Rule(
    "fact.zero-share-count",
    "An average number of shares of zero is left out, because filers state zero if the number is missing.",
    "ASC 260-10-45-10: basic earnings per share are income divided by the weighted average number of shares",
    "withhold",
)
WITHOUT_SHARES = Rule(
    "fact.per-share-without-shares",
    "An amount of an element per share in a unit of currency alone counts as one per share, unless the filing states "
    "it in a currency per share too, or it is so large that it must be a total.",
    "Taxonomy definitions: the elements have the type of amounts per share; EDGAR Filer Manual: their unit is a "
    "currency per share",
    "select",
)
RULES = (ZERO_COUNT, WITHOUT_SHARES)

LARGEST_PER_SHARE = 1e5
"""No amount per share is so large: Berkshire Hathaway earned 66,000 dollars per share in 2023."""

PART_BITS = 32
"""Bits for the parts of a source: no source has more elements."""


class Part(NamedTuple):
    """One element of a source.

    source: its number. bit: the place of the element in the source, as a bit; zero for an element of its footing.
    coefficient: with which it is added. is_needed: whether the source needs it.
    foots: 1 for another outflow of its footing, -1 for an inflow. is_total: whether it is the total of its footing.
    """

    source: int
    bit: int
    taxonomy: str
    tag: str
    coefficient: float
    is_needed: bool
    foots: float
    is_total: bool


def _parts_of(number: int, source: Source) -> list[Part]:
    uses = (
        (source.elements, 1.0, True),
        (source.plus, 1.0, False),
        (source.minus, -1.0, True),
        (source.less, -1.0, False),
        (source.at_least, 0.0, False),
        (source.where, 0.0, True),
    )
    named = sorted((tag, sign, needed, 0.0, False) for tags, sign, needed in uses for tag in tags)
    parts = [Part(number, 1 << place, source.taxonomy, *each) for place, each in enumerate(named)]
    if source.footing:
        of_footing = ((source.footing.totals, 0.0), (source.footing.paid, 1.0), (source.footing.received, -1.0))
        parts += [
            Part(number, 0, source.taxonomy, tag, 0.0, False, sign, sign == 0)
            for tags, sign in of_footing
            for tag in tags
        ]
    return sorted(parts, key=lambda part: part.tag)


_NUMBERED = [(concept, rank, source) for concept in CONCEPTS for rank, source in enumerate(concept.sources)]
_PARTS = [part for number, (_, _, source) in enumerate(_NUMBERED) for part in _parts_of(number, source)]

IS_MONEY: Flags = np.array([(source.measure or concept.measure) == "money" for concept, _, source in _NUMBERED])
CONCEPT_OF_SOURCE: Ints = np.array([AMOUNT.categories.index_of(concept.name) for concept, _, _ in _NUMBERED])
RULE_OF_SOURCE = pl.Series([source.rule for _, _, source in _NUMBERED])
RANK_OF_SOURCE: Ints = np.array([rank for _, rank, _ in _NUMBERED])
ONLY_ZERO: Flags = np.array([source.only_zero for _, _, source in _NUMBERED])
NEEDED_BY_SOURCE: Ints = np.zeros(len(_NUMBERED), dtype=np.int64)
"""For each source, the bits of its required parts."""
np.bitwise_or.at(
    NEEDED_BY_SOURCE,
    [part.source for part in _PARTS if part.is_needed],
    [part.bit for part in _PARTS if part.is_needed],
)

SOURCE: Ints = np.array([part.source for part in _PARTS])
BIT: Ints = np.array([part.bit for part in _PARTS])
COEFFICIENT: Floats = np.array([part.coefficient for part in _PARTS])
IS_NEEDED: Flags = np.array([part.is_needed for part in _PARTS])
FOOTS: Floats = np.array([part.foots for part in _PARTS])
IS_TOTAL: Flags = np.array([part.is_total for part in _PARTS])
HAS_FOOTING: Flags = np.array([source.footing is not None for _, _, source in _NUMBERED])
NAME = pl.Series("tag", [f"{part.taxonomy}:{part.tag}" for part in _PARTS])
"""For each part: number of its source, its bit, its coefficient, whether it is required, its sign in a footing, whether
it is the total of one, its name with taxonomy. For each source, whether it has a footing."""


def number_of(rule: str, element: str) -> int:
    """The number of the part with an element of the source with a rule."""
    return next(
        number for number, part in enumerate(_PARTS) if (RULE_OF_SOURCE[part.source], part.tag) == (rule, element)
    )


_PARTS_OF = {source: tuple(parts) for source, parts in groupby(_PARTS, lambda part: part.source)}
"""The parts of each source; those of one source follow each other."""


def elements_of(used: int) -> tuple[str, ...]:
    """The elements of a source that are present, in alphabetical order.

    Args:
        used: the number of the source, and in the last PART_BITS bits the parts that are present.
    """
    return tuple(part.tag for part in _PARTS_OF[used >> PART_BITS] if part.bit & used)


def used_of(concept: str, rank: int, elements: Iterable[str]) -> int:
    """The number of a source and its present parts, as `elements_of` reads it.

    Args:
        concept: the name of the concept.
        rank: place of the source among those of the concept.
        elements: the elements that are present.
    """
    wanted = set(elements)
    source = next(n for n, (each, place, _) in enumerate(_NUMBERED) if (each.name, place) == (concept, rank))
    parts = sum(part.bit for part in _PARTS if part.source == source and part.tag in wanted)
    return source << PART_BITS | parts


PER_SHARE = frozenset(
    tag
    for concept, _, source in _NUMBERED
    if concept.measure == "per_share" and source.measure is None
    for tag in source.counted
)
"""The elements per share."""

_TAG = pl.Enum(sorted({part.tag for part in _PARTS}))
_KINDS = 2 * len(MEASURES) * 2
"""Number of kinds: an element is looked up by name, standards (us-gaap or ifrs-full), measure, instant or duration."""


def _kind(is_ifrs: Ints | bool, measure: Ints | int, is_instant: Ints | bool) -> Ints | int:
    return (is_ifrs * len(MEASURES) + measure) * 2 + is_instant


def _lists() -> tuple[Ints, Ints, Ints]:
    """The parts of each element, kind and industry: first place and count in one list, and the list."""
    lists: dict[tuple[int, int], list[int]] = {}
    places = {tag: place for place, tag in enumerate(_TAG.categories)}
    for number, part in enumerate(_PARTS):
        concept, _, source = _NUMBERED[part.source]
        measures = {source.measure or concept.measure, *(("money",) if part.tag in PER_SHARE else ())}
        for measure, industry in product(sorted(measures), source.industries):
            kind = _kind(part.taxonomy == IFRS, MEASURES.index(measure), concept.instant)
            lists.setdefault((places[part.tag] * _KINDS + int(kind), INDUSTRIES.index(industry)), []).append(number)
    # the last row is for facts that no source uses
    first, count = (np.zeros((len(places) * _KINDS + 1, len(INDUSTRIES)), dtype=np.int64) for _ in range(2))
    flat: list[int] = []
    for place, numbers in lists.items():
        first[place], count[place] = len(flat), len(numbers)
        flat += numbers
    return first, count, np.array(flat)


_FIRST, _COUNT, _LIST = _lists()
_IS_PER_SHARE: Flags = np.array([tag in PER_SHARE for tag in _TAG.categories])


@dataclass(frozen=True, slots=True)
class Matched:
    """Pairs of a fact and a part, sorted by filing, start (instants first), end and part.

    row: row of the fact. filing: row of the filing. part: number of the part. slot: number of the filing and period;
    it increases with the order of the pairs.
    """

    row: Ints
    filing: Ints
    part: Ints
    slot: Ints

    def where(self, kept: Flags) -> "Matched":
        """Some of the pairs."""
        return Matched(self.row[kept], self.filing[kept], self.part[kept], self.slot[kept])


def matched(facts: pl.DataFrame, of_industry: pl.DataFrame) -> tuple[Matched, Ints, Ints]:
    """The facts that sources of the filer's industry use, one row for each fact and source.

    Args:
        facts: typed facts in filing order.
        of_industry: `cik`, `seq`, `industry` of every filing, sorted by `cik`, `seq`.

    Returns:
        the pairs; the rows of facts that ZERO_COUNT leaves out; and those that count by WITHOUT_SHARES.
    """
    filing = filing_rows(ints(facts, "cik"), ints(facts, "seq"), of_industry)
    industry = of_industry["industry"].cast(pl.Enum(INDUSTRIES)).to_physical().to_numpy()[filing]
    element, zero_counts, without_shares = _elements(facts)
    count = _COUNT[element, industry]
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    part = _LIST[_FIRST[element[row], industry[row]] + place]
    period = packed(filing, sortable_days(facts["start"]), sortable_days(facts["end"]))
    order = np.argsort(packed(period[row], part), kind="stable")
    row, part = row[order], part[order]
    slot = np.zeros(len(row), dtype=np.int64)
    slot[1:] = np.cumsum(period[row[1:]] != period[row[:-1]])
    pairs = Matched(row, filing[row], part, slot)
    if len(without_shares):
        pairs = pairs.where(~_stated_per_share(pairs, np.isin(row, without_shares)))
    return pairs, zero_counts, without_shares


def _stated_per_share(pairs: Matched, is_without: Flags) -> Flags:
    """Whether a pair is an amount without the unit of shares whose filing states the same in a currency per share."""
    found = np.zeros(len(is_without), dtype=np.bool_)
    key = pairs.slot * len(_PARTS) + pairs.part  # sorted, as the pairs are
    rows, per_share = np.flatnonzero(is_without), key[~is_without]
    if len(per_share):
        place = np.minimum(np.searchsorted(per_share, key[rows]), len(per_share) - 1)
        found[rows] = per_share[place] == key[rows]
    return found


def _elements(facts: pl.DataFrame) -> tuple[Ints, Ints, Ints]:
    """The row of `_FIRST` and `_COUNT` of each fact; and the rows that ZERO_COUNT and WITHOUT_SHARES decide."""
    tag = facts["tag"].cast(_TAG, strict=False).to_physical()
    is_known = tag.is_not_null().to_numpy()
    measure = facts["measure"].cast(MEASURE).to_physical().to_numpy().astype(np.int64)
    is_ifrs = (facts["taxonomy"] == IFRS).to_numpy()
    kind = _kind(is_ifrs, measure, facts["start"].is_null().to_numpy())
    value = facts["value"].to_numpy()
    is_zero_count = is_known & (measure == MEASURES.index("shares")) & ~(value > 0)
    of_tag = tag.fill_null(0).to_numpy().astype(np.int64)
    is_without = is_known & (measure == MEASURES.index("money")) & _IS_PER_SHARE[of_tag]
    is_total = is_without & (np.abs(value) >= LARGEST_PER_SHARE)
    is_used = is_known & ~is_zero_count & ~is_total
    found = np.where(is_used, of_tag * _KINDS + kind, len(_FIRST) - 1)
    return found, np.flatnonzero(is_zero_count), np.flatnonzero(is_without & ~is_total)
