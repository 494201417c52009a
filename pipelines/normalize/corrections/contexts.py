"""Contexts: figures that a filing states for another period than the one that they belong to.

Belongs here: what earlier filings and the same filing prove about the period of a figure. Does not: scale, signs.

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import polars as pl

SERIES = ["cik", "concept"]
SLOT = [*SERIES, "start", "end"]
SHOWN_AS = ["cik", "seq", "start", "end", "true_start", "true_end"]
SHIFTED = ["cik", "seq", "concept", "shift"]
STATED_OF = ["vintage", "true_start", "true_end"]

DIGITS = 1e3
"""An amount of four digits and more is not met in another year by chance; in a part of its own period none is."""
AMOUNTS, ROUND_DIGITS = 2, 2
"""Nor are so many amounts, rounder ones not counted, that a filing states for one period and that are of one other, or
of one line for several periods and that are each of the year before."""
QUARTERS = 3
"""Nor, however round, so many of one line."""
EXACT_DIGITS = 9
RESTATED = 0.005
A_YEAR = (350, 380)
LENGTH = 0.25
"""A quarter's figure in the place of a year to date is off by more than this; a year's figure that is merely
restated is not, though an earlier filing may have put it into a quarter's place."""
SAME_END = 8
PART = 0.05
"""A stretch that begins with the longer one, and made up more than this of it, leaves another figure for its rest."""


def misplaced(vintages: pl.DataFrame) -> pl.DataFrame:
    """The vintages that state another period's figure: `vintage`, `true_start`, `true_end` (the period it is of).

    An amount of enough digits, or amounts that are enough together, that the first filing of their period stated
    otherwise, and that are, to the digit, what was first stated of a period with the same end and another length, or of
    the same stretch a year before or after, stand in the wrong context. What the filing says of that period in other
    concepts, and of other periods in that concept, is misplaced in the same way where it, too, repeats the figure of
    the other period. And a filing that states one figure of a year and of its last quarter contradicts what was said
    of the nine months between: the quarter's stands in the wrong context.

    Args:
        vintages: durations and instants on one scale: of signs.repaired.
    """
    durations = vintages.filter(pl.col("start").is_not_null()).with_columns(
        days=(pl.col("end") - pl.col("start")).dt.total_days() + 1
    )
    ordered = durations.sort(*SLOT, "seq").with_columns(
        first_stated=pl.col("value").first().over(SLOT), is_first=pl.int_range(pl.len()).over(SLOT) == 0
    )
    differs = _off() > RESTATED
    twins = _twins(ordered.filter(differs | pl.col("is_first")), ordered.filter("is_first"))
    size = pl.col("value").abs()
    is_round = (size.round_sig_figs(ROUND_DIGITS) == size) & (pl.col("shift") != 0)
    stated_anew = twins.filter(~pl.col("is_first"), pl.col("measure_sign") == 0, pl.col("value") != 0)
    line_through = stated_anew.filter(size.n_unique().over(SHIFTED) >= QUARTERS)
    amounts = stated_anew.filter(~is_round)
    together = (size.n_unique().over(SHOWN_AS) >= AMOUNTS) | (size.n_unique().over(SHIFTED) >= AMOUNTS)
    enough = amounts.filter((pl.col("shift") == 0) | (size >= DIGITS * pl.col("grain")) | together)
    proven = pl.concat([line_through, enough])
    beside = twins.join(proven.select(SHOWN_AS).unique(), on=SHOWN_AS, how="semi")
    of_other_periods = twins.filter(pl.col("shift") != 0).join(proven.select(SHIFTED).unique(), on=SHIFTED, how="semi")
    return pl.concat(
        [frame.select(STATED_OF) for frame in (proven, beside, of_other_periods, _repeating_longer(durations))]
    ).unique("vintage", keep="first", maintain_order=True)


def _twins(stated: pl.DataFrame, first: pl.DataFrame) -> pl.DataFrame:
    """Figures beside the equal first ones of related periods that the same or an earlier filing states."""
    others = first.select(
        *SERIES, other_seq="seq", true_start="start", true_end="end", true_days="days", key=_to_the_digit()
    )
    apart = (pl.col("end") - pl.col("true_end")).dt.total_days()
    longer = (pl.col("days") - pl.col("true_days")).abs()
    same_end = (apart.abs() < SAME_END) & (longer > 2 * SAME_END)
    a_year_apart = apart.abs().is_between(*A_YEAR) & (longer <= SAME_END)
    return (
        stated.with_columns(key=_to_the_digit())
        .join(others, on=[*SERIES, "key"])
        .filter(pl.col("other_seq") <= pl.col("seq"), same_end | a_year_apart)
        .filter(~same_end | pl.col("is_first") | (_off() > LENGTH))
        .with_columns(shift=pl.when(same_end).then(0).otherwise(apart.sign()))
    )


def _repeating_longer(durations: pl.DataFrame) -> pl.DataFrame:
    """What repeats the figure of a longer stretch with the same end, of which the stretch before it made up a part."""
    additive = durations.filter(pl.col("measure_sign") <= 0).with_columns(key=_to_the_digit())
    longer = additive.select(*SERIES, "seq", "key", true_start="start", true_end="end", true_days="days", whole="value")
    before = additive.select(
        *SERIES, true_start="start", part_end="end", part="value", part_days="days", part_seq="seq"
    )
    apart = (pl.col("end") - pl.col("true_end")).dt.total_days().abs()
    gap = (pl.col("start") - pl.col("part_end")).dt.total_days() - 1
    share = pl.col("part") / pl.col("whole")
    of_part, of_whole, of_rest = (
        pl.col(amount) / pl.col(days)
        for amount, days in (("part", "part_days"), ("whole", "true_days"), ("whole", "days"))
    )
    return (
        additive.join(longer, on=[*SERIES, "seq", "key"])
        .filter(apart < SAME_END, pl.col("true_days") - pl.col("days") > 2 * SAME_END)
        .join(before, on=[*SERIES, "true_start"])
        .filter(pl.col("part_seq") <= pl.col("seq"), gap.abs() < SAME_END, share.is_between(PART, 1, closed="none"))
        .filter((of_whole - of_part).abs() < (of_rest - of_part).abs())
    )


def _off() -> pl.Expr:
    return (pl.col("value") / pl.col("first_stated") - 1).abs()


def _to_the_digit() -> pl.Expr:
    return pl.col("value").round_sig_figs(EXACT_DIGITS)
