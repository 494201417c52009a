"""Scale: figures that are a thousand or a million times larger or smaller than in earlier filings.

Belongs here: errors of scale that earlier filings of the period and the level of the line prove. Does not: errors that
other figures of the same filing prove (identities), splits, which restate counts by small ratios (splits).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, packed
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.period_rows import COUNTS
from pipelines.normalize.corrections.powers import ERRORS_MEASURED, power_of_thousand
from pipelines.normalize.rule import Rule

NEAR_STATED = 0.01
"""The largest distance of a quotient from a power of a thousand, in powers of ten (about 2 %): the same figure in
another scale differs by rounding only."""
FEWEST_FILINGS = 4
"""The level of a line needs so many earlier filings; fewer may all be wrong."""

MOST_SHARES = 1e12
"""No company has so many shares."""

BY_FILINGS_AND_LEVEL = "earlier filings of the same period, and the level of the line"

SCALE_OF_EARLIER_FILINGS = Rule(
    "correction.scale.earlier-filings",
    "A figure that is a power of a thousand times that in the first filing of its period is divided by it, with its "
    "filing's figures of the line, if this brings them nearer to the line's level before.",
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

STEADY = ("revenue", "dividends_per_share")
"""Lines that hardly ever move by a thousand times from one period to the next."""
NEAR_LEVEL = 0.7
"""The largest distance of a figure from the level of its line, or from a thousand times of it, in powers of ten."""


def proposals(figures: Figures) -> list[Proposal]:
    """Figures in another scale than in earlier filings.

    If two figures of one period differ by a thousand or a million times, the one that is far from the level of the line
    is wrong. Then the filing's figures of the line for other periods are wrong too, if they are as far off. Figures of
    the newest period that are so far off alone are left out.
    """
    off = _off_level(figures)
    own = power_of_thousand(figures.value / figures.value[figures.first], NEAR_STATED)
    power = _of_filing(figures, np.where((np.abs(own) > 0) & (np.abs(off - own) < np.abs(off)), own, np.nan))
    errs = np.abs(off - power) < np.abs(off)
    steady = figures.of_concepts(STEADY)
    filing = packed(figures.line[steady], figures.seq[steady])
    is_far = np.abs(power_of_thousand(10.0 ** off[steady], NEAR_LEVEL)) > 0
    is_alone = is_far & np.isin(filing, filing[np.abs(off[steady]) <= NEAR_LEVEL])
    counts = figures.of_concepts(COUNTS)
    too_many = counts[(figures.value[counts] > MOST_SHARES) & ~errs[counts]]
    by_level = "the other figures of the line in this and earlier filings"
    return [
        Proposal(SCALE_OF_EARLIER_FILINGS, BY_FILINGS_AND_LEVEL, np.flatnonzero(errs), 10.0 ** -power[errs]),
        Proposal(SCALE_ALONE, by_level, steady[is_alone & ~errs[steady]]),
        Proposal(MORE_THAN_ANY, "no company has so many shares", too_many),
    ]


def _of_filing(figures: Figures, proven: Floats) -> Floats:
    """The power that most figures of the same line and filing prove; of several, the smallest. NaN: none does."""
    filing = {"line": figures.line, "seq": figures.seq}
    powers = pl.DataFrame({**filing, "power": proven}, nan_to_null=True)
    modes = powers.drop_nulls().group_by("line", "seq").agg(pl.col("power").mode().min())
    of_figures = powers.drop("power").join(modes, on=["line", "seq"], how="left", maintain_order="left")
    return of_figures["power"].to_numpy()


def _off_level(figures: Figures) -> Floats:
    """The distance of figures from the level of their line in earlier filings, in powers of ten; NaN without a level.

    The level is the mean over at least FEWEST_FILINGS filings of the mean logarithm of their figures: of the amount a
    day, or of the balance.
    """
    height = np.log10(np.abs(figures.value) / figures.days)
    stated = pl.DataFrame({"line": figures.line, "seq": figures.seq, "height": height})
    filings = stated.filter(pl.col("height").is_finite()).group_by("line", "seq").agg(mean=pl.col("height").mean())
    number = pl.int_range(pl.len()).over("line")
    levels = filings.sort("line", "seq").select(
        "line",
        "seq",
        level=pl.when(number >= FEWEST_FILINGS).then((pl.col("mean").cum_sum() - pl.col("mean")).over("line") / number),
    )
    level: Floats = stated.join(levels, on=["line", "seq"], how="left", maintain_order="left")["level"].to_numpy()
    return height - level
