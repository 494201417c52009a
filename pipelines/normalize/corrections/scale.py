"""Scale: figures that are a thousand or a million times larger or smaller than in earlier filings.

Belongs here: errors of scale that earlier filings of the period and the level of the line prove. Does not: errors that
other figures of the same filing prove (identities), splits, which restate counts by small ratios (splits).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import Floats, Ints
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import ERRORS_MEASURED, power_of_thousand
from pipelines.normalize.corrections.side_by_side import COUNTS
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

NEAR_STATED = 0.01
"""The largest distance of a quotient from a power of a thousand, in powers of ten (about 2 %): the same figure in
another scale differs by rounding only."""
NEARER = 1.0
"""A corrected figure must be nearer to the level of its line by more than so many powers of ten."""
FEWEST_FILINGS = 4
"""The level of a line needs so many earlier filings; fewer may all be wrong."""

MOST_SHARES = 1e12
"""No company has so many shares."""

BY_LIMIT = "no company has so many shares"
BY_LEVEL = "the other figures of the line in this and earlier filings"
BY_FILINGS_AND_LEVEL = "earlier filings of the same period, and the level of the line"

SCALE_OF_EARLIER_FILINGS = Rule(
    "correction.scale.earlier-filings",
    "A figure that is a power of a thousand times the figure in the first filing of its period is divided by that "
    "power if this brings it nearer to the level of the line in earlier filings.",
    ERRORS_MEASURED,
    "correct",
)
SCALE_ALONE = Rule(
    "correction.scale.alone",
    "Revenue or dividends per share about a thousand or a million times the level of the line in earlier filings are "
    "left out if another figure of the line in the filing is at that level.",
    f"{ERRORS_MEASURED}; no other figure shows the amount",
    "withhold",
)
MORE_THAN_ANY = Rule(
    "correction.scale.more-shares-than-any-company",
    f"An average of more than {MOST_SHARES:,.0f} shares, also after a correction, is left out.",
    "Measured by market: the largest count, that of Industrial and Commercial Bank of China, is 0.36 trillion, and a "
    "thousand times the shares of a large company is more than a trillion",
    "withhold",
)
RULES = (SCALE_OF_EARLIER_FILINGS, SCALE_ALONE, MORE_THAN_ANY)

STEADY = ("revenue", "dividends_per_share")
"""Lines that hardly ever move by a thousand times from one period to the next."""
NEAR_LEVEL = 0.7
"""The largest distance of a figure from the level of its line, or from a thousand times of it, in powers of ten."""


def proposals(figures: Figures) -> list[Proposal]:
    """Figures in another scale than in earlier filings.

    If two figures of one period differ by a thousand or a million times, the one that is far from the level of the line
    is wrong. Figures of the newest period that are so far off alone are left out.
    """
    power = power_of_thousand(figures.value / figures.value[figures.first], NEAR_STATED)
    at = np.flatnonzero(np.abs(power) > 0)
    of_lines = np.flatnonzero(np.isin(figures.line, figures.line[at]))
    off = _off_level(figures, of_lines)[np.searchsorted(of_lines, at)]
    is_nearer = np.abs(off - power[at]) + NEARER < np.abs(off)
    at = at[is_nearer]
    alone = np.setdiff1d(_alone(figures), at)
    counts = figures.of_concepts(COUNTS)
    counts = np.setdiff1d(counts[figures.value[counts] > MOST_SHARES], at)
    return [
        Proposal(SCALE_OF_EARLIER_FILINGS, BY_FILINGS_AND_LEVEL, at, 10.0 ** -power[at]),
        Proposal(SCALE_ALONE, BY_LEVEL, alone, np.full(len(alone), np.nan)),
        Proposal(MORE_THAN_ANY, BY_LIMIT, counts, np.full(len(counts), np.nan)),
    ]


def _alone(figures: Figures) -> Ints:
    """Places of figures of steady lines that are off by a power of a thousand, in filings whose others are not."""
    at = figures.of_concepts(STEADY)
    off = _off_level(figures, at)
    power = power_of_thousand(10.0**off, NEAR_LEVEL)
    is_far, is_near = np.abs(power) > 0, np.abs(off) <= NEAR_LEVEL
    if not is_far.any():
        return at[:0]
    filing = np.unique(packed(figures.line[at], figures.seq[at]), return_inverse=True)[1]
    return at[is_far & (np.bincount(filing, weights=is_near)[filing] > 0)]


def _off_level(figures: Figures, at: Ints) -> Floats:
    """The distance of figures from the level of their line in earlier filings, in powers of ten; NaN without a level.

    The level is the mean over at least FEWEST_FILINGS filings of the mean logarithm of their figures: of the amount a
    day, or of the balance.
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
