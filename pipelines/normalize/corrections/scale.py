"""Scale: figures that a filing states a thousand or a million times larger or smaller than filings before it.

Belongs here: what earlier filings of a period, and the level of a line, prove about a figure. Does not: what the
figures of one filing prove about each other (identities), splits, which restate counts by small ratios (splits).

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import ERRORS_MEASURED, power_of_thousand
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

NEAR_STATED = 0.01
"""How far the same figure in another scale may be from the power of a thousand, in powers of ten (about 2 %): it
differs by its rounding only."""
NEARER = 1.0
"""A figure that is nearer to the level of its line by more than this many powers of ten is the one in units."""
FEWEST_FILINGS = 4
"""So many earlier filings make a level; fewer may all be wrong."""

BY_FILINGS_AND_LEVEL = "earlier filings of the same period, and the level of the line"

SCALE_OF_EARLIER_FILINGS = Rule(
    "correction.scale.earlier-filings",
    "A figure that is a power of a thousand away from what the first filing of its period states is divided by it "
    "where that brings it nearer to the level of the line in earlier filings.",
    ERRORS_MEASURED,
    "correct",
)
SCALE_WITHIN_FILING = Rule(
    "correction.scale.within-filing",
    "The other figures of a line in a filing that states one of them in thousands or millions are divided by the same "
    "power where that brings them nearer to the level of the line in earlier filings.",
    "Follows from correction.scale.earlier-filings: a filing shows one line of a statement in one scale",
    "correct",
)
RULES = (SCALE_OF_EARLIER_FILINGS, SCALE_WITHIN_FILING)


def proposals(figures: Figures) -> list[Proposal]:
    """Figures in another scale than filings before them.

    Of two figures of one period that are a thousand or a million times apart, the one that is far from the level of
    the line is wrong. A filing that is proven wrong in one period of a line by it, is so in the other periods of that
    line that are as far off.
    """
    later = np.flatnonzero(~figures.is_first)
    power = power_of_thousand(figures.value[later] / figures.value[figures.first[later]], NEAR_STATED)
    differs = ~np.isnan(power) & (power != 0)
    lines = np.unique(figures.line[later[differs]])
    of_lines = np.flatnonzero(np.isin(figures.line, lines)) if len(lines) else lines
    off = _off_level(figures, of_lines)
    own_power = np.full(len(figures.value), np.nan)
    own_power[later[differs]] = power[differs]
    own_power = own_power[of_lines]
    proves = _is_nearer(off, own_power)
    filing = packed(figures.line[of_lines], figures.seq[of_lines])
    proven = _most_frequent(filing, own_power, proves)
    errs = _is_nearer(off, proven)
    by_itself = errs & (own_power == proven)
    beside = errs & ~by_itself
    return [
        Proposal(rule, BY_FILINGS_AND_LEVEL, of_lines[holds], 10.0 ** -proven[holds])
        for rule, holds in ((SCALE_OF_EARLIER_FILINGS, by_itself), (SCALE_WITHIN_FILING, beside))
    ]


def _is_nearer(off: Floats, power: Floats) -> Flags:
    """Whether a figure divided by a power of ten is nearer to the level of its line."""
    return np.abs(off - power) + NEARER < np.abs(off)


def _off_level(figures: Figures, at: Ints) -> Floats:
    """By how many powers of ten figures are above the level of their line in earlier filings; NaN where it has none.

    The level is the mean over at least FEWEST_FILINGS filings of the mean height of their figures: the power of ten of
    the amount a day, or of the balance.
    """
    if not len(at):
        return np.zeros(0)
    height = np.log10(np.abs(figures.value[at]) / figures.days[at])
    counts = np.isfinite(height)
    line, seq = np.unique(figures.line[at], return_inverse=True)[1], figures.seq[at]
    filings = int(seq.max()) + 1
    bins = line * filings + seq
    number = np.bincount(bins[counts], minlength=(int(line.max()) + 1) * filings)
    total = np.bincount(bins[counts], weights=height[counts], minlength=len(number))
    mean = np.where(number > 0, total / number, 0.0).reshape(-1, filings)
    is_stated = (number > 0).reshape(-1, filings)
    filings_before: Ints = (np.cumsum(is_stated, axis=1) - is_stated).ravel()[bins]
    level = (np.cumsum(mean, axis=1) - mean).ravel()[bins] / filings_before
    return np.where(counts & (filings_before >= FEWEST_FILINGS), height - level, np.nan)


def _most_frequent(filing: Ints, power: Floats, proves: Flags) -> Floats:
    """The power that most proven figures of the same line and filing are off by, the smallest of several."""
    found = np.full(len(filing), np.nan)
    if proves.any():
        pairs, count = np.unique(np.stack([filing[proves], power[proves]]), axis=1, return_counts=True)
        order = np.lexsort((pairs[1], -count, pairs[0]))
        filings, first = np.unique(pairs[0][order], return_index=True)
        place = np.minimum(np.searchsorted(filings, filing), len(filings) - 1)
        found = np.where(filings[place] == filing, pairs[1][order][first][place], np.nan)
    return found
