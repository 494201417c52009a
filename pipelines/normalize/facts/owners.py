"""Owners: net income that is the parent's already, though it is filed as consolidated.

Belongs here: whether noncontrolling interests are subtracted from consolidated net income, as the earnings per share of
the filings show. Does not: the same of equity (repetitions), figures that differ from earnings per share by an error
(corrections.agreement).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, first_row, starts
from pipelines.normalize.facts import matching
from pipelines.normalize.facts.candidates import Candidates
from pipelines.normalize.facts.precision import SMALLEST_ROUNDING
from pipelines.normalize.keys import NUMBER_OF, packed
from pipelines.normalize.rule import Rule

OF_PARENT_ALREADY = Rule(
    "fact.net-income-of-parent-already",
    "Noncontrolling interests are not subtracted from consolidated net income if earnings per share times shares "
    "exclude the difference and allow the whole, to the rounding of both, in more periods that the filings state so "
    "far than the reverse: the whole is the parent's already.",
    "ASC 260-10-45-11A: earnings per share leave out the income of noncontrolling interests",
    "select",
)
RULES = (OF_PARENT_ALREADY,)

_PARENT = NUMBER_OF["net_income_parent"]
_LESS, _WHOLE = (
    matching.RULE_OF_SOURCE.to_list().index(f"net-income.parent.{name}")
    for name in ("less-noncontrolling-interests", "consolidated")
)
_PAIRS = (("eps_basic", "shares_basic"), ("eps_diluted", "shares_diluted"))


def of_parent_already(candidates: Candidates) -> Flags:
    """Which differences of consolidated net income and noncontrolling interests are not the parent's net income.

    Args:
        candidates: the candidates of all filings, sorted by filing and period.

    Returns:
        for each candidate whether it is such a difference, and the whole is the parent's, as far as its filing and
        earlier ones show.
    """
    found = np.zeros(len(candidates.slot), dtype=np.bool_)
    of = packed(candidates.company, candidates.seq, candidates.period)
    rows = np.flatnonzero(candidates.source == _LESS)
    if not len(rows):
        return found
    less, whole = candidates.value[rows], _at(candidates, candidates.source == _WHOLE, of, of[rows])[0]
    rounding = candidates.grain[rows] / 2
    allows_less, allows_whole = np.ones(len(rows), dtype=np.bool_), np.ones(len(rows), dtype=np.bool_)
    for each, count in _PAIRS:
        (earnings, of_earnings), (shares, of_shares) = (
            _at(candidates, candidates.concept == NUMBER_OF[name], of, of[rows]) for name in (each, count)
        )
        slack = rounding + _slack(earnings, of_earnings, shares, of_shares)
        allows_less &= ~(np.abs(earnings * shares - less) > slack)
        allows_whole &= ~(np.abs(earnings * shares - whole) > slack)
    shows = (allows_whole & ~allows_less).astype(np.int64) - (allows_less & ~allows_whole)
    filing = packed(candidates.company[rows], candidates.seq[rows])
    order = np.argsort(filing, kind="stable")
    filing, total = filing[order], np.append(0, np.cumsum(shows[order]))
    first = first_row(starts(candidates.company[rows][order]))
    found[rows[order]] = total[np.searchsorted(filing, filing, side="right")] > total[first]
    return found


def _at(candidates: Candidates, chosen: Flags, of: Ints, asked: Ints) -> tuple[Floats, Floats]:
    """The value and the grain of the first chosen candidate of each filing and period; NaN if there is none."""
    known, first = np.unique(of[chosen], return_index=True)
    if not len(known):
        return np.full(len(asked), np.nan), np.full(len(asked), np.nan)
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    is_known = known[place] == asked
    row = np.flatnonzero(chosen)[first[place]]
    return np.where(is_known, candidates.value[row], np.nan), np.where(is_known, candidates.grain[row], np.nan)


def _slack(earnings: Floats, of_earnings: Floats, shares: Floats, of_shares: Floats) -> Floats:
    """The largest error of a product of earnings per share and shares, by the rounding of both; NaN if unknown."""
    half, halves = np.fmin(of_earnings, SMALLEST_ROUNDING) / 2, of_shares / 2
    found: Floats = half * shares + halves * np.abs(earnings) + half * halves
    return found
