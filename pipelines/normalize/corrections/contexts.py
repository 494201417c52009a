"""Contexts: figures that a filing states for a wrong period.

Belongs here: errors of context that the same filing and earlier ones prove. Does not: scale, signs.

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.corrections.figures import A_QUARTER, A_YEAR, CONTEXT, RESTATED, Figures, Proposal
from pipelines.normalize.periods.calendar import QUARTERS_A_YEAR, SAME_END_DAYS
from pipelines.normalize.rule import Rule

FOUR_DIGITS = 1e3
"""An amount of at least four digits does not equal an amount of another year by chance; any amount that equals the
amount of a part of its own period is an error."""
AMOUNTS, ROUND_DIGITS = 2, 2
"""Two amounts of one period or of one line, each with more than two digits, do not both equal amounts of another year
by chance."""
EXACT_DIGITS = 9
"""Figures are equal if they agree to so many digits; figures corrected before may differ in binary fractions."""
LENGTH = 0.25
"""A quarter's figure in the context of a year to date differs from the right one by more than this share. A restated
figure of a year differs by less, even if an earlier filing has stated it in the context of a quarter."""
UNITS_OF_SUM = 2
"""A sum of rounded figures differs from the rounded whole by at most so many units."""
FEWER = 0.5
"""A year before the years of the statements has fewer than this share of their lines, for example lines of equity
alone."""
PART = 0.05
"""If the first part of a period has more than this share of its amount, the rest cannot have the same amount."""

CONTEXTS_MEASURED = (
    "Measured on 101 companies: 55 of 175,000 figures are in the context of another period, contrary to earlier filings"
)
SAME_END_PERIOD = Rule(
    "correction.context.same-end",
    "A figure that differs from the first statement of its period, and equals the first statement of a longer or "
    "shorter period with the same end, belongs to that other period, and is left out.",
    CONTEXTS_MEASURED,
    "correct",
)
OTHER_YEAR = Rule(
    "correction.context.other-year",
    "An amount of four digits or more, or two amounts that are not round, are left out if they differ from the first "
    "statements of their periods and equal those of the year before or after, to which they belong.",
    CONTEXTS_MEASURED,
    "correct",
)
WITH_PROVEN = Rule(
    "correction.context.with-proven",
    "If a figure of a filing is proved to belong to another period, the filing's other figures in the same context "
    "are left out, and figures of the same line that are shifted by a year in the same direction.",
    CONTEXTS_MEASURED,
    "correct",
)
IN_ONE_FILING = Rule(
    "correction.context.repeated-in-filing",
    "A figure is left out if its filing states the same figure for a longer period whose beginning has an amount "
    "too, for the next year with over twice as many lines, or (average shares) for part of the year.",
    "ASC 270-10-45-1: interim periods are parts of an annual period, so the quarters add up to the year; measured on "
    "228 companies: equal amounts of two years are right if the filing states as many lines for both",
    "correct",
)
QUARTERS_OF_OTHER_YEAR = Rule(
    "correction.context.quarters-of-other-year",
    "If the four quarters of a year in one filing add up to the year before and not to their own, they belong to the "
    "year before, and all figures of the filing in the same contexts are left out.",
    "ASC 270-10-45-1: interim periods are parts of an annual period, so the quarters add up to the year",
    "correct",
)
RULES = (SAME_END_PERIOD, OTHER_YEAR, WITH_PROVEN, IN_ONE_FILING, QUARTERS_OF_OTHER_YEAR)

PERIOD, LINE = ["company", "seq", "start", "end"], ["line", "seq"]
SAME_END = (pl.col("end") - pl.col("end_of")).abs() < SAME_END_DAYS
SAME_LENGTH = (pl.col("days") - pl.col("days_of")).abs() <= SAME_END_DAYS


def proposals(figures: Figures) -> list[Proposal]:
    """Proposals to leave out figures that belong to another period.

    Args:
        figures: on one scale and with their signs corrected.
    """
    flows = _flows(figures)
    proven = _proven(flows)
    repeated = flows.filter(pl.len().over(*LINE, "digits") > 1, pl.col("value") != 0)
    in_one_filing = repeated.join(repeated, on=[*LINE, "digits"], suffix="_of")
    ways = (
        _quarters_of_the_year_before(flows),
        proven,
        *_with_proven(flows, proven),
        _repeating_longer(flows, in_one_filing),
        _repeating_next_year(flows, in_one_filing),
        _annual_averages_of_part_years(flows, in_one_filing),
    )
    # the index in Figures, the number of the way (the lowest one counts), and the true period
    order = ["at", "way", "start_of", "end_of"]
    found = pl.concat([way.select(*order, "rule") for way in ways]).drop_nulls("rule").sort(order)
    true_period = (pl.col(name).cast(pl.Int32).cast(pl.Date) for name in ("start_of", "end_of"))
    evidence = "it is the figure of {} to {}, and filings so far say otherwise of this period"
    elsewhere = found.unique("at", keep="first", maintain_order=True).with_columns(
        evidence=pl.format(evidence, *true_period)
    )
    of_rules = ((rule, elsewhere.filter(rule=rule.id)) for rule in RULES)
    return [Proposal(rule, each["evidence"], each["at"].to_numpy(), kind=CONTEXT) for rule, each in of_rules]


def _flows(figures: Figures) -> pl.DataFrame:
    """The figures of durations: the columns of Figures, the index in Figures (`at`), and columns for the comparisons.

    first: the figure of the first filing that states the period.
    is_first: whether it is this figure.
    digits: equal for figures that agree to the digit.
    """
    at = np.flatnonzero(~figures.is_instant)
    names = ("company", "line", "seq", "start", "end", "days", "value", "grain", "measure_sign")
    flows = pl.DataFrame({name: getattr(figures, name)[at] for name in names})
    return flows.with_columns(
        at=at,
        first=figures.value[figures.first[at]],
        is_first=figures.first[at] == at,
        digits=pl.col("value").round_sig_figs(EXACT_DIGITS),
    )


def _differs(share: float) -> pl.Expr:
    """Whether a figure differs by more than a share from the first one of its period; true if the first one is 0."""
    return ~((pl.col("value") / pl.col("first") - 1).abs() <= share)


def _way_columns(way: int, rule: Rule) -> dict[str, pl.Expr]:
    """The number of the way in which figures of another period are found, and its rule (null if it is not in force)."""
    return {"way": pl.lit(way), "rule": pl.when(rule.where(pl.lit(value=True))).then(pl.lit(rule.id))}


def _equal_to_first(asked: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Pairs of figures and equal first statements of related periods in the same or an earlier filing.

    `shift` is 0 if both periods have the same end, 1 if the other one ends a year earlier, -1 if a year later.
    """
    apart = pl.col("end") - pl.col("end_of")
    is_longer = SAME_END & ((pl.col("days") - pl.col("days_of")).abs() > 2 * SAME_END_DAYS)
    is_other_year = apart.abs().is_between(*A_YEAR) & SAME_LENGTH
    return (
        asked.join(flows.filter("is_first"), on=["line", "digits"], suffix="_of")
        .filter(
            pl.col("seq_of") <= pl.col("seq"),
            is_other_year | (is_longer & (pl.col("is_first") | _differs(LENGTH))),
        )
        .with_columns(shift=pl.when(SAME_END).then(0).otherwise(apart.sign()))
    )


def _proven(flows: pl.DataFrame) -> pl.DataFrame:
    """Restated amounts that equal amounts of other periods, not by chance: with enough digits, or several of them."""
    anew = flows.filter(
        ~pl.col("is_first") & (pl.col("measure_sign") == 0) & (pl.col("value") != 0), _differs(RESTATED)
    )
    size, is_same_end = pl.col("value").abs(), pl.col("shift") == 0
    is_exact = size.round_sig_figs(ROUND_DIGITS) != size
    exact = size.filter(is_exact | is_same_end).n_unique()
    together = pl.max_horizontal(exact.over(*PERIOD, "start_of", "end_of"), exact.over(*LINE, "shift")) >= AMOUNTS
    is_other_year = ~is_same_end & is_exact & (together | (size >= FOUR_DIGITS * pl.col("grain")))
    return (
        _equal_to_first(anew, flows)
        .with_columns(
            way=pl.lit(1),
            rule=pl.when(SAME_END_PERIOD.where(is_same_end))
            .then(pl.lit(SAME_END_PERIOD.id))
            .when(OTHER_YEAR.where(is_other_year))
            .then(pl.lit(OTHER_YEAR.id)),
        )
        .drop_nulls("rule")
    )


def _with_proven(flows: pl.DataFrame, proven: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Figures in the same context as a proven one, and figures of the same line that are shifted by a year alike."""
    asked = flows.filter(pl.col("is_first") | _differs(RESTATED))
    others = _equal_to_first(asked.join(proven, on=["company", "seq"], how="semi"), flows)
    of_proven = others.join(proven, on=[*PERIOD, "start_of", "end_of"], how="semi")
    of_line = others.filter(pl.col("shift") != 0).join(proven, on=[*LINE, "shift"], how="semi")
    return of_proven.with_columns(**_way_columns(2, WITH_PROVEN)), of_line.with_columns(**_way_columns(3, WITH_PROVEN))


def _quarters_of_the_year_before(flows: pl.DataFrame) -> pl.DataFrame:
    """Figures in the contexts of four quarters that add up to the year before, and not to their own year."""
    amounts = flows.filter(pl.col("measure_sign") == 0)
    years = amounts.filter(pl.col("days").is_between(*A_YEAR)).select(*LINE, "start", "end", "value", "grain", "at")
    unit = UNITS_OF_SUM * pl.col("grain_year")
    quarters = (
        amounts.filter(pl.col("days").is_between(*A_QUARTER))
        .filter(pl.len().over(LINE) >= QUARTERS_A_YEAR)
        .join(years, on=LINE, suffix="_year")
        .filter(
            pl.col("start") > pl.col("start_year") - SAME_END_DAYS, pl.col("end") < pl.col("end_year") + SAME_END_DAYS
        )
        .with_columns(
            total=pl.col("value").sum().over("at_year"),
            spread=(pl.col("value").max() - pl.col("value").min()).over("at_year"),
        )
        .filter(pl.len().over("at_year") == QUARTERS_A_YEAR, pl.col("spread") > unit)
    )
    shifted = quarters.join(years, on=LINE, suffix="_before").filter(
        (pl.col("start_year") - pl.col("end_before") - 1).abs() < SAME_END_DAYS,
        (pl.col("total") - pl.col("value_before")).abs() <= unit,
        (pl.col("total") - pl.col("value_year")).abs() > unit,
        pl.col("total").abs() > FOUR_DIGITS * unit,
    )
    days = shifted.group_by(PERIOD).agg(shift=(pl.col("start_year") - pl.col("start_before")).min())
    return flows.join(days, on=PERIOD).with_columns(
        **_way_columns(0, QUARTERS_OF_OTHER_YEAR),
        start_of=pl.col("start") - pl.col("shift"),
        end_of=pl.col("end") - pl.col("shift"),
    )


def _repeating_longer(flows: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Figures that repeat the amount of a longer period with the same end, although its first part has an amount."""
    longer = pairs.filter(SAME_END, pl.col("measure_sign") <= 0, pl.col("days_of") - pl.col("days") > 2 * SAME_END_DAYS)
    parts = flows.select(
        "line", *(pl.col(name).name.suffix("_part") for name in ("seq", "start", "end", "days", "value"))
    )
    share = pl.col("value_part") / pl.col("value")
    of_part, of_whole, of_rest = (
        pl.col("value_part") / pl.col("days_part"),
        pl.col("value") / pl.col("days_of"),
        pl.col("value") / pl.col("days"),
    )
    return (
        longer.join(parts, left_on=["line", "start_of"], right_on=["line", "start_part"])
        .filter(
            pl.col("seq_part") <= pl.col("seq"),
            (share > PART) & (share < 1),
            (pl.col("start") - pl.col("end_part") - 1).abs() < SAME_END_DAYS,
            (of_whole - of_part).abs() < (of_rest - of_part).abs(),
        )
        .with_columns(**_way_columns(4, IN_ONE_FILING))
    )


def _repeating_next_year(flows: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Figures that equal those of the next year in the same filing, which has over twice as many lines for that year.

    Such a figure belongs to the next year, and was filed in the context of the year before.

    Args:
        flows: figures of durations (_flows).
        pairs: pairs of equal amounts of one line in one filing: the columns of `flows`, and the same of the other
            amount with suffix `_of`.

    Returns:
        the pairs, with the columns of _way_columns.
    """
    lines, next_year = flows.group_by(PERIOD).agg(lines=pl.len()), ["company", "seq", "start_of", "end_of"]
    of_next = lines.rename({"start": "start_of", "end": "end_of", "lines": "lines_of"})
    repeating = pairs.filter(
        "is_first",
        (pl.col("end_of") - pl.col("end")).is_between(*A_YEAR) & SAME_LENGTH & (pl.col("days") >= A_YEAR[0]),
        (pl.col("measure_sign") == 0) & (pl.col("value").abs() >= FOUR_DIGITS * pl.col("grain")),
    )
    return (
        repeating.join(lines, on=PERIOD)
        .join(of_next, on=next_year)
        .filter(pl.col("lines") < FEWER * pl.col("lines_of"))
        .with_columns(**_way_columns(5, IN_ONE_FILING))
    )


def _annual_averages_of_part_years(flows: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Average shares of a year that repeat the average of a part of the year, in a later interim report."""
    is_year = pl.col("days") >= A_YEAR[0]
    last_year, last_other = (pl.col("end").filter(holds).max() for holds in (is_year, ~is_year))
    interim = flows.filter(pl.col("measure_sign") > 0).group_by(LINE).agg(holds=last_other > last_year).filter("holds")
    return (
        pairs.join(interim, on=LINE, how="semi")
        .filter(
            pl.col("measure_sign") > 0,
            (pl.col("days") >= A_YEAR[0]) & (pl.col("days_of") < A_YEAR[0] - A_QUARTER[0]),
            pl.col("start_of") > pl.col("start") - SAME_END_DAYS,
            pl.col("end_of") < pl.col("end") + SAME_END_DAYS,
        )
        .with_columns(**_way_columns(6, IN_ONE_FILING))
    )
