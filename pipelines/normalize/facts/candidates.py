"""Candidates: the possible amounts of a filing for a concept and period, one for each source in the filing.

Belongs here: which sources of a concept are complete in a filing, and their sums. Does not: which of them is chosen
(stated).
"""

import polars as pl

from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.facts.matching import SOURCES
from pipelines.normalize.facts.precision import scale_of_filing
from pipelines.normalize.rule import Rule

NO_LESS_THAN_PART = Rule(
    "source.no-less-than-part",
    "If the sum of a source is less, by more than 0.5 %, than a part or total of the line in the same filing, the "
    "source is only a part, and the next source of the line is taken.",
    "taxonomy definitions of the elements: a total is no less than an amount that it includes",
    "select",
)

FOOTS_WITHIN = 1.0
"""Lines that add up to a total within one unit of the currency do so exactly."""
FEWEST_UNITS = 100
"""A total of fewer units, of those in which the lines are stated, may be met by chance: one sum is compared with it."""

SAME_WHEN_ROUNDED = 0.005
"""Amounts that differ by at most half a percent are the same amount, rounded differently."""

FIRST = ["candidate", "slot", "source", "cik", "seq", "start", "end", "filed", "fact"]


def candidates(pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The complete sources of each filing and period, and those of them that are only a part of another amount.

    Args:
        pairs: of matching.matched, without repetitions.

    Returns:
        found: the candidates, by filing, period and source: those with all required elements; of sources that only
            count if they are zero, or if they add up to a total, those that are or do. Columns of SOURCES and of the
            facts, and `value` (the sum), `grain` (the power of ten to which it is rounded), `is_scaled` (whether that
            is the scale of its filing), `used` (the bits of its elements that count), `fact` (its first fact), `amount`
            (number of the filing, period and concept).
        parts: the candidates that NO_LESS_THAN_PART leaves out.
    """
    counts = pl.col("coefficient") != 0
    money = pl.when("is_money", pl.col("value") != 0).then("value")
    of_pairs = pairs.with_columns(scale=scale_of_filing(money)).select(
        *FIRST,
        "is_needed",
        value=pl.col("value") * pl.col("coefficient"),
        grain=pl.when(counts).then(pl.max_horizontal("own_grain", "scale")),
        is_scaled=counts & (pl.col("scale") > pl.col("own_grain")),
        used=pl.when(counts).then("bit"),
        floor=pl.when(pl.col("role") == "at_least").then("value"),
    )
    found = (
        of_pairs.group_by("candidate", maintain_order=True)
        .agg(
            pl.col(FIRST[1:]).first(),
            pl.col("value", "used", "is_needed").sum(),
            pl.col("grain", "is_scaled", "floor").max(),
        )
        .join(SOURCES, on="source", maintain_order="left")
        .filter(pl.col("is_needed") == pl.col("needed"), ~pl.col("only_zero") | (pl.col("value") == 0))
    )
    foots = ~pl.col("has_footing") | pl.col("foots")
    complete = found.join(_footings(pairs, found), on="candidate", how="left").filter(foots)
    is_less = pl.col("value") < pl.col("floor") * (1 - SAME_WHEN_ROUNDED)
    is_part = NO_LESS_THAN_PART.where(is_less.fill_null(value=False))
    amount = pl.col("slot").cast(pl.Int64) * len(AMOUNT.categories) + pl.col("concept").to_physical()
    ordered = complete.with_columns(amount=amount).sort("candidate")
    return ordered.filter(~is_part), ordered.filter(is_part)


def _footings(pairs: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Whether sources that have a footing add up, as an outflow with its other lines, to its total: `foots`."""
    grains = found.filter("has_footing").select("candidate", "grain")
    outflow = (pl.col("value") * pl.col("foots")).sum()
    is_total = (pl.col("role") == "totals") & (pl.col("value").abs() >= FEWEST_UNITS * pl.col("grain"))
    return (
        pairs.join(grains, on="candidate")
        .group_by("candidate")
        .agg(foots=(is_total & ((pl.col("value") + outflow).abs() <= FOOTS_WITHIN)).any())
    )
