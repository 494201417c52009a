"""Repetitions: one amount filed under two elements, or repeated by a later filing under another element.

Belongs here: amounts that must not be added twice, and amounts that restate nothing. Does not: repetitions on another
share basis (shares).
"""

import numpy as np

from pipelines.normalize.arrays import NOTHING, SEQ_BITS, Flags, Floats, Ints, Timeline, key_of, starts
from pipelines.normalize.facts import matching
from pipelines.normalize.facts.candidates import SAME_WHEN_ROUNDED, Candidates
from pipelines.normalize.facts.matching import Matched
from pipelines.normalize.facts.notes import COMPANY_BITS, CONCEPT_BITS, RANK_BITS
from pipelines.normalize.rule import Rule

TWO_ELEMENTS = Rule(
    "fact.repeated-under-two-elements",
    "An optional part of a sum that equals another part of it is one amount under two elements, and is added once.",
    "taxonomy definitions of the elements: an amount filed under a broad and a narrow element is one amount",
    "withhold",
)
LESSER_SOURCE = Rule(
    "fact.lesser-source-repeats",
    "A later filing that states a period only under a source of lower rank restates nothing, if earlier filings of the "
    "company stated both sources for the same periods and they mostly differed.",
    "ASC 810-10-50-1A: income of the parent and consolidated income are two amounts",
    "withhold",
)
OTHER_SOURCE = Rule(
    "fact.other-source",
    "A value is flagged if its source is, for this company, a different amount than the best source used so far.",
    "ASC 810-10-50-1A: income of the parent and consolidated income are two amounts",
    "flag",
)
OF_ALL_OWNERS = Rule(
    "fact.equity-of-all-owners",
    "Noncontrolling interests are not added to the equity of the parent if assets less liabilities are that equity "
    "already.",
    "ASC 810-10-45-16 (noncontrolling interests are part of equity); measured: 6 of 10 filers with these four figures "
    "and no total",
    "withhold",
)
RULES = (TWO_ELEMENTS, LESSER_SOURCE, OTHER_SOURCE, OF_ALL_OWNERS)

ONE_OF = 0.1
"""Assets less liabilities are the equity if they differ by less than a tenth of the noncontrolling interests."""

MOSTLY = 0.5
"""Two sources are different amounts if they differed in more than half of the periods that have both."""


def of_other_elements(pairs: Matched, values: Floats) -> Flags:
    """Pairs of optional parts that repeat another amount of their source: one amount under two elements.

    Args:
        pairs: pairs of facts and parts of sources.
        values: value of each fact.
    """
    found = np.zeros(len(pairs.row), dtype=np.bool_)
    part = pairs.part
    adds = matching.COEFFICIENT[part] > 0
    may_repeat = adds & ~matching.IS_NEEDED[part]
    group = np.cumsum(starts(pairs.slot, matching.SOURCE[part]))
    is_asked = np.zeros(len(part) + 1, dtype=np.bool_)
    is_asked[group[may_repeat]] = True
    rows = np.flatnonzero(adds & is_asked[group])
    value = values[pairs.row[rows]]
    order = np.lexsort((part[rows], may_repeat[rows], value, group[rows]))
    rows, value = rows[order], value[order]
    found[rows] = ~starts(group[rows], value) & may_repeat[rows] & (value != 0)
    return found


def of_owners(pairs: Matched, values: Floats) -> Flags:
    """Noncontrolling interests that the equity includes already: assets less liabilities are the equity without them.

    Args:
        pairs: pairs of facts and parts of sources.
        values: value of each fact.
    """
    found = np.zeros(len(pairs.row), dtype=np.bool_)
    added = np.flatnonzero(pairs.part == _MINORITIES)
    if not len(added):
        return found
    size = len(matching.SOURCE)
    keys = pairs.slot * size + pairs.part
    amounts = []
    for part in (_ASSETS, _LIABILITIES, _OF_PARENT):
        asked = pairs.slot[added] * size + part
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        amounts.append(np.where(keys[place] == asked, values[pairs.row[place]], np.nan))
    assets, liabilities, equity = amounts
    minorities = values[pairs.row[added]]
    # exact: what is not the whole equity differs from it by the noncontrolling interests
    found[added] = np.abs(assets - liabilities - equity) < ONE_OF * np.abs(minorities)
    return found


_ASSETS, _LIABILITIES, _OF_PARENT, _MINORITIES = (
    matching.number_of(rule, element)
    for rule, element in (
        ("assets.total", "Assets"),
        ("liabilities.total", "Liabilities"),
        ("equity.parent-and-noncontrolling-interests", "StockholdersEquity"),
        ("equity.parent-and-noncontrolling-interests", "MinorityInterest"),
    )
)


class Differences:
    """Whether two sources of a concept are different amounts, judged by earlier filings that state both."""

    def __init__(self, candidates: Candidates) -> None:
        """Compare each candidate with the best one of its slot.

        Args:
            candidates: the candidates of all filings.
        """
        begins = starts(candidates.slot)
        best = np.flatnonzero(begins)[np.cumsum(begins) - 1]
        beside = np.flatnonzero(~begins)
        lesser, better = candidates.where(beside), candidates.where(best[beside])
        differs = np.abs(lesser.value - better.value) > SAME_WHEN_ROUNDED * np.abs(better.value)
        pair = _pair(lesser, better.rank)
        order = np.argsort((pair << SEQ_BITS) | lesser.seq, kind="stable")
        pair, seq, differs = pair[order], lesser.seq[order], differs[order]
        first = np.maximum.accumulate(np.where(starts(pair), np.arange(len(pair)), 0))
        total = np.cumsum(differs)
        share = (total - total[first] + differs[first]) / (np.arange(len(pair)) - first + 1)
        newest = np.flatnonzero(np.append(starts(pair, seq)[1:], True)) if len(pair) else np.zeros(0, dtype=np.int64)
        self._mostly: Flags = share[newest] > MOSTLY
        self._after = Timeline(pair[newest], seq[newest])
        series = _series(lesser)[order][newest][self._mostly]
        self.series: Ints = np.unique(series)

    def mostly(self, candidates: Candidates, better: Ints) -> Flags:
        """Whether the source of each candidate, up to its filing, mostly differed from a better source.

        Args:
            candidates: the candidates to test.
            better: rank of the other source of the concept; NOTHING if there is none.
        """
        newest = self._after.after(_pair(candidates, better), candidates.seq)
        found: Flags = newest != NOTHING
        found[found] = self._mostly[newest[found]]
        return found

    def rows(self, candidates: Candidates) -> Ints:
        """The candidates of companies and concepts with sources that mostly differed at any time."""
        return np.flatnonzero(np.isin(_series(candidates), self.series))


def of_lesser_sources(best: Candidates, differences: Differences, keeps: Flags) -> tuple[Flags, Flags]:
    """Amounts of a later filing from a source of lower rank that is a different amount for this company.

    If earlier filings stated both sources and they mostly differed (net income with and without minorities, sales with
    and without membership fees), the source of lower rank alone restates nothing.

    Args:
        best: the best candidate of each slot.
        differences: made from all candidates.
        keeps: slots in which the amount of a note was left out; their line replaces earlier amounts of the note.

    Returns:
        the amounts that restate nothing; and, among the others, those whose source is a different amount than the best
        source that the company has used for the concept so far.
    """
    is_lesser, is_other = (np.zeros(len(best.slot), dtype=np.bool_) for _ in range(2))
    rows = differences.rows(best)
    if not len(rows):
        return is_lesser, is_other
    of = best.where(rows)
    by_period = np.lexsort((of.seq, of.period, _series(of)))
    ordered = of.where(by_period)
    before = _least_before(ordered.rank, starts(_series(ordered), ordered.period))
    lesser = differences.mostly(ordered, before) & ~keeps[rows][by_period]
    is_lesser[rows[by_period]] = lesser
    rows = rows[by_period][~lesser]
    of = best.where(rows)
    by_filing = np.lexsort((of.seq, _series(of)))
    ordered = of.where(by_filing)
    so_far = _least_so_far(ordered.rank, starts(_series(ordered)))
    is_other[rows[by_filing]] = differences.mostly(ordered, so_far)
    return is_lesser, is_other


def _series(candidates: Candidates) -> Ints:
    return key_of((candidates.company, COMPANY_BITS), (candidates.concept, CONCEPT_BITS))


def _pair(candidates: Candidates, better: Ints) -> Ints:
    series = ((candidates.company, COMPANY_BITS), (candidates.concept, CONCEPT_BITS))
    return key_of(*series, (candidates.rank, RANK_BITS), (better, RANK_BITS))


def _least_so_far(rank: Ints, begins: Flags) -> Ints:
    """The running minimum within each group."""
    if not len(rank):
        return rank
    group = np.cumsum(begins)
    # shift each group below the one before, so that one running minimum works for all groups
    below = group * (rank.max() + 1)
    least: Ints = np.minimum.accumulate(rank - below) + below
    return least


def _least_before(rank: Ints, begins: Flags) -> Ints:
    """The minimum of the earlier rows of the group; NOTHING for the first row of a group."""
    least = np.full(len(rank), NOTHING)
    least[1:] = _least_so_far(rank, begins)[:-1]
    least[begins] = NOTHING
    return least
