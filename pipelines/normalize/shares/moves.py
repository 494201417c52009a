"""Moves: changes of share counts and of related figures between two filings that state the same period.

Belongs here: which figures can prove a split, and their changes. Does not: which splits follow (splits).
"""

from collections.abc import Callable

import polars as pl

from pipelines.normalize.arrays import previous
from pipelines.normalize.elements import OPTION_PRICE, OPTIONS
from pipelines.normalize.rule import Rule

SNAP = 0.01
"""Two ratios count as the same if they differ by at most this share: weighted averages change a little by rounding."""

POTENTIAL = 1 / 3
"""Potential shares alone hardly ever change a diluted count by a larger share."""

ONE_REGIME = Rule(
    "split.no-mixed-regimes",
    "Share figures of two companies under one CIK, or of two sets of accounting standards, prove no split.",
    "ASC 805-40-45-1 (reverse acquisitions); IFRS 1 (first-time adoption)",
    "withhold",
)
DILUTED_ALONE = Rule(
    "split.diluted-alone",
    "A diluted share count proves no split if it changes differently from the basic count of its period, or by at most "
    "a third if no basic count is stated.",
    "A split changes all shares; a new standard (ASU 2020-06) changed the count of potential shares only",
    "withhold",
)
AMENDMENT = Rule(
    "share-basis.amendment",
    "An amendment proves no split. If it repeats the share counts of a report, to within 1 %, it is on the share basis "
    "of that report, even if splits took effect between them.",
    "Exchange Act Rule 12b-15: an amendment sets forth the complete text of each item as amended",
    "select",
)

SHARE_CONCEPTS = BASIC, DILUTED = "shares_basic", "shares_diluted"
EARNINGS, COARSEST_EARNINGS = "eps_basic", 0.5
"""Earnings per share change inversely to the count, and are used if no count is stated. Below COARSEST_EARNINGS they
are too coarse, because they are rounded to cents."""
MOVING_CONCEPTS = (EARNINGS, *SHARE_CONCEPTS)
"""The figures of periods that can prove a split."""
INCOME = ("net_income_parent", "net_income_common")
FINEST_EARNINGS = 0.1
"""Earnings per share of at least this amount show the share count of their filing within a twentieth."""
FEWEST_OPTIONS = 10_000
"""With fewer options, a count that changes by a ratio to the last digit may be chance."""
HALF_AN_OPTION, HALF_A_CENT = 0.5, 0.005
"""Rounding of option counts and of exercise prices."""

FIGURES = pl.Enum(("options outstanding", *MOVING_CONCEPTS, *INCOME))
"""The figures that show a share count; the evidence of a split names the last of these that proves it."""
PERIOD, PAIR = ["cik", "concept", "start", "end"], ["cik", "after_seq", "seq"]


def reports(vintages: pl.DataFrame) -> pl.DataFrame:
    """The vintages of reports without amendments; `seq` is the first filing of the day, as a day has one basis."""
    return vintages.filter(~AMENDMENT.where(pl.col("amended"))).with_columns(pl.col("seq").min().over("cik", "filed"))


def figures_of(vintages: pl.DataFrame) -> pl.DataFrame:
    """Shares, earnings per share and net income in reports, sorted by company, concept (one of FIGURES) and period."""
    return (
        vintages.filter(pl.col("concept").is_in([*MOVING_CONCEPTS, *INCOME]))
        .with_columns(pl.col("concept").cast(FIGURES))
        .select(*PERIOD, "seq", "value", "regime")
        .sort(*PERIOD, "seq", maintain_order=True)
    )


def figures_moved(figures: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[Rule, pl.Series]]]:
    """The changes of figures that two successive filings state: `observed` new shares for one old share.

    Earnings per share are used for pairs of filings without share counts of a common period.

    Args:
        figures: of figures_of.

    Returns:
        `cik`, `after_seq`, `seq`, `concept`, `start`, `end`, `observed`; and for each rule the companies of the figures
        that it leaves out.
    """
    is_count = pl.col("concept").is_in(SHARE_CONCEPTS)
    comparable = figures.filter(
        pl.col("concept").is_in(MOVING_CONCEPTS),
        pl.when(is_count).then(pl.col("value") > 0).otherwise(pl.col("value").abs() >= COARSEST_EARNINGS),
    ).with_columns(size=pl.when(is_count).then("value").otherwise(1 / pl.col("value").abs()))
    restated = comparable.with_columns(
        previous(pl.col(name), PERIOD).alias(f"after_{name}") for name in ("seq", "value", "size", "regime")
    ).filter(pl.col("after_seq") < pl.col("seq"), pl.col("value") * pl.col("after_value") > 0)
    is_mixed = ONE_REGIME.where(pl.col("regime") != pl.col("after_regime"))
    moves = restated.filter(~is_mixed).select(
        *PAIR, "concept", "start", "end", observed=pl.col("size") / pl.col("after_size")
    )
    basic = moves.filter(pl.col("concept") == BASIC).select(*PAIR, "start", "end", basic="observed")
    with_basic = moves.join(basic, on=[*PAIR, "start", "end"], how="left", maintain_order="left")
    excess = (pl.col("observed") / pl.col("basic").fill_null(1.0) - 1).abs()
    is_potential = (pl.col("concept") == DILUTED) & (excess > SNAP)
    is_alone = DILUTED_ALONE.where(is_potential & (pl.col("basic").is_not_null() | (excess <= POTENTIAL)))
    left_out = [(ONE_REGIME, restated.filter(is_mixed)["cik"]), (DILUTED_ALONE, with_basic.filter(is_alone)["cik"])]
    kept = with_basic.filter(~is_alone & (is_count | ~is_count.any().over(PAIR)))
    return kept.drop("basic"), left_out


def options_moved(facts: pl.DataFrame, filings: pl.DataFrame, usual: Callable[[float], float | None]) -> pl.DataFrame:
    """The option counts and exercise prices of one day that two successive filings state with a usual ratio.

    Outstanding options are adjusted in a split: their number by the ratio, the exercise price by its inverse, both to
    the last digit.

    Args:
        facts: typed facts in filing order: `cik`, `tag`, `start`, `end`, `value`, `filed`.
        filings: `cik`, `filed`, `seq` of reports.
        usual: the usual ratio near a ratio, or None.

    Returns:
        one row for a count and its price: columns of figures_moved; `start` and `end` are the day.
    """
    stated = (
        facts.filter(pl.col("tag").is_in([OPTIONS, OPTION_PRICE]), pl.col("start").is_null(), pl.col("value") > 0)
        .join(filings.select("cik", "filed", "seq").unique(), on=["cik", "filed"])
        .group_by("cik", "end", "seq", "tag")
        .agg(pl.col("value").unique())
        .filter(pl.col("value").list.len() == 1)
        .with_columns(pl.col("value").list.first())
        .pivot(on="tag", on_columns=[OPTIONS, OPTION_PRICE], index=["cik", "end", "seq"], values="value")
        .rename({OPTIONS: "count", OPTION_PRICE: "price"})
    )
    restated = (
        stated.drop_nulls()
        .sort("cik", "end", "seq")
        .with_columns(pl.col("seq", "count", "price").shift().over("cik", "end").name.prefix("after_"))
        .filter(pl.col("count") != pl.col("after_count"), pl.col("after_count") >= FEWEST_OPTIONS)
    )
    ratio = (pl.col("count") / pl.col("after_count")).map_elements(usual, return_dtype=pl.Float64)
    inverse = 1 / pl.col("observed")
    return (
        restated.with_columns(observed=ratio, concept=pl.lit(FIGURES.categories[0], FIGURES), start="end")
        .filter(_is_adjusted("count", pl.col("observed"), HALF_AN_OPTION), _is_adjusted("price", inverse, HALF_A_CENT))
        .select(*PAIR, "concept", "start", "end", "observed")
    )


def _is_adjusted(amount: str, ratio: pl.Expr, rounding: float) -> pl.Expr:
    """Whether an amount was multiplied by a ratio, to the last digit."""
    return (pl.col(f"after_{amount}") * ratio - pl.col(amount)).abs() <= rounding * (1 + ratio)


def own_counts(figures: pl.DataFrame) -> dict[int, dict[int, float]]:
    """For each company and filing (`seq`) the average share count of the newest and shortest period.

    It is the basic count; the diluted count for companies that state no basic one; in a filing without counts, net
    income divided by earnings per share.
    """
    has_basic = (pl.col("concept") == BASIC).any().over("cik")
    is_count = (pl.col("concept") == BASIC) | ((pl.col("concept") == DILUTED) & ~has_basic)
    period = ["cik", "seq", "start", "end"]
    earnings = figures.filter(pl.col("concept") == EARNINGS, pl.col("value").abs() >= FINEST_EARNINGS)
    # if a period has two incomes, the last one is available to common stock
    income = figures.filter(pl.col("concept").is_in(INCOME)).unique(period, keep="last", maintain_order=True)
    both = earnings.join(income, on=period, maintain_order="left")
    of_earnings = both.with_columns(value=pl.col("value_right") / pl.col("value"))
    counts: dict[int, dict[int, float]] = {}
    for rows in (of_earnings, figures.filter(is_count)):
        ordered = rows.filter(pl.col("value") > 0).sort("end", "start", maintain_order=True)
        for cik, seq, count in ordered.select("cik", "seq", "value").iter_rows():
            counts.setdefault(cik, {})[seq] = count
    return counts
