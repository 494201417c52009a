"""Why a value changed from one version to the next: a table of tests on the two, in order.

Belongs here: one row a cause, with what it means and the test that tells it, and what the tests look at. Does not:
which values are versions.
"""

from dataclasses import dataclass

import polars as pl

from pipelines.normalize.facts.precision import granularity
from pipelines.normalize.items.legs import MEAN, SUM

ITEM = ["cik", "q", "item"]
FILING = ["cik", "seq"]
WINDOW = [*FILING, "q"]
PLACE = ["role", "start", "end", "added"]
"""Facts of two versions at one place tell the same period, in the same part of the value."""

ROUNDED_DIGITS = 3
SCALES = (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
NEAR = 0.02
SAME = 1e-6
HALF_CHANGED = 0.5
HALF_A_UNIT = 0.5000001
SEVERAL_PERIODS = 2
SEVERAL_ITEMS = 3


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: its name, what it means, and the test on a version and the one before it."""

    name: str
    meaning: str
    holds: pl.Expr


def _near(one: pl.Expr, other: pl.Expr, tolerance: float) -> pl.Expr:
    return ((one - other).abs() <= tolerance * other.abs()).fill_null(value=False)


def _is_scaled(ratio: pl.Expr) -> pl.Expr:
    return pl.any_horizontal(_near(ratio, pl.lit(scale), NEAR) for scale in SCALES)


VALUE, BEFORE = pl.col("value"), pl.col("before")
ROUNDS = pl.any_horizontal(
    *(_near(VALUE.round_sig_figs(digits), BEFORE, SAME) for digits in range(ROUNDED_DIGITS, 7)),
    *(_near(BEFORE.round_sig_figs(digits), VALUE, SAME) for digits in range(ROUNDED_DIGITS, 7)),
)
IS_OF_SHARES = pl.col("item").is_in(["shares_basic", "shares_diluted", "eps_basic", "dividends_per_share"])
IS_RATIO = pl.col("item").is_in(["roic", "debt_to_fcf"])

CAUSES: tuple[Cause, ...] = (
    Cause("initial", "the first value", BEFORE.is_null()),
    Cause(
        "precision",
        "the same figure to more digits, or sums of figures that differ by no more than their rounding",
        (ROUNDS & ~pl.col("restates")) | pl.col("rounds"),
    ),
    Cause(
        "scale_fix",
        "a figure, or one that it is made of, that was a thousand or a million times too large or too small",
        _is_scaled(VALUE / BEFORE) | pl.col("rescaled"),
    ),
    Cause(
        "sign_fix",
        "a figure, or one that it is made of, that had the other sign",
        _near(VALUE, -BEFORE, SAME) | pl.col("reversed"),
    ),
    Cause("context_fix", "back to the value before the last: that one stood in the wrong period", pl.col("returns")),
    Cause(
        "basis_change",
        "other accounting standards or another currency behind the figures",
        pl.col("standards") != pl.col("standards_before"),
    ),
    Cause(
        "entity_change",
        "revenue and net income of a period change by more than half at once, or shares with most of the items: the "
        "filing shows another company's figures",
        pl.col("entity_changes"),
    ),
    Cause("restatement", "an amended filing says something else", pl.col("amended")),
    Cause(
        "lines_changed",
        "other lines of the statements make up the figure",
        (pl.col("tags") != pl.col("tags_before")) & ~pl.col("moves_net_income"),
    ),
    Cause(
        "mixed_basis_resolved",
        "the fiscal year behind the window was stated again on the accounting basis of the quarters",
        pl.col("flags_before").str.contains("mixed_basis") & ~pl.col("flags").str.contains("mixed_basis"),
    ),
    Cause(
        "other_columns",
        "a later report states no figure anew, but shows columns that twelve months are better made of",
        ~pl.col("restates"),
    ),
    Cause(
        "reclassification",
        "revenue, cash flow or a balance moves while net income of the period stays",
        pl.col("item").is_in(["revenue", "free_cash_flow", "total_debt", "cash_and_equivalents"])
        & ~pl.col("moves_net_income"),
    ),
    Cause(
        "accounting_change",
        "a later report states net income of several periods anew, and what belongs to it",
        pl.col("moves_net_income") & (pl.col("periods_moved") >= SEVERAL_PERIODS),
    ),
    Cause("restatement", "a later report states net income of one period anew", pl.col("moves_net_income")),
    Cause(
        "share_count_revised",
        "a later report states weighted shares, or amounts per share, anew while net income stays",
        IS_OF_SHARES,
    ),
    Cause("input_changed", "an amount that the ratio is made of changed while net income stays", IS_RATIO),
    Cause("unexplained", "none of the above tells", pl.lit(value=True)),
)


def classified(versions: pl.DataFrame) -> pl.DataFrame:
    """Add `cause` to versions: the first of CAUSES that holds.

    Args:
        versions: `cik`, `q`, `item`, `seq`, `value`, `method`, `flags`, `amended`, `tags` (elements behind the value,
            joined), `standards` (taxonomies and units behind it, joined) and `legs` (versions.FACT).

    Returns:
        the same rows with `cause`.
    """
    beside = [
        pl.col(name).shift().over(ITEM).alias(f"{name}_before") for name in ("tags", "standards", "flags", "method")
    ]
    compared = (
        versions.sort(*ITEM, "seq")
        .with_row_index("row")
        .with_columns(*beside, before=VALUE.shift().over(ITEM), before_that=VALUE.shift(2).over(ITEM))
        .with_columns(returns=_near(VALUE, pl.col("before_that"), SAME))
    )
    told = _with_facts_compared(_with_what_moves(compared))
    cause = pl.lit(CAUSES[-1].name)
    for candidate in reversed(CAUSES[:-1]):
        cause = pl.when(candidate.holds.fill_null(value=False)).then(pl.lit(candidate.name)).otherwise(cause)
    return told.with_columns(cause=cause).select(*versions.columns, "cause")


def _with_what_moves(compared: pl.DataFrame) -> pl.DataFrame:
    """Add what else the filing changes: `moves_net_income` (of the window), `periods_moved`, `entity_changes`."""
    changes = compared.filter(BEFORE.is_not_null() & ~_near(VALUE, BEFORE, SAME))
    of_income, of_revenue = pl.col("item") == "net_income", pl.col("item") == "revenue"
    of_shares = pl.col("item").is_in(["shares_basic", "shares_diluted"])
    large = (VALUE - BEFORE).abs() > HALF_CHANGED * BEFORE.abs()
    most = (large.sum() >= SEVERAL_ITEMS) & (2 * large.sum() > pl.len())
    of_window = changes.group_by(WINDOW).agg(
        moves_net_income=of_income.any(),
        window_is_anothers=((large & of_income).any() & (large & of_revenue).any())
        | ((large & of_shares).any() & most),
    )
    of_filing = of_window.group_by(FILING).agg(
        periods_moved=pl.col("moves_net_income").sum(), entity_changes=pl.col("window_is_anothers").any()
    )
    return (
        compared.join(of_window.drop("window_is_anothers"), on=WINDOW, how="left", maintain_order="left")
        .join(of_filing, on=FILING, how="left", maintain_order="left")
        .with_columns(
            pl.col("moves_net_income", "entity_changes").fill_null(value=False),
            pl.col("periods_moved").fill_null(0),
            pl.col("flags_before").fill_null(""),
        )
    )


def _with_facts_compared(told: pl.DataFrame) -> pl.DataFrame:
    """Add what the facts behind a version and the one before it say of each other.

    `restates`: a fact of the same period and part is another, by more than rounding. `rounds`: none is, and the values
    differ by no more than the rounding of the facts that differ. `rescaled`: one is a thousand or a million times more
    or less. `reversed`: one has the other sign, and about the same size.
    """
    changes = told.filter(BEFORE.is_not_null()).select("row")
    amounts = _amounts(told)
    before = amounts.with_columns(row=pl.col("row") + 1)
    pairs = (
        amounts.join(before, on=["row", *PLACE], how="full", suffix="_before", coalesce=True, nulls_equal=True)
        .join(changes, on="row", how="semi")
        .filter(~_near(pl.col("amount"), pl.col("amount_before"), SAME))
    )
    unit = pl.max_horizontal("unit", "unit_before")
    restates = (pl.col("amount") - pl.col("amount_before")).abs() > unit
    of_version = pairs.group_by("row").agg(
        restates=restates.fill_null(value=False).any(),
        rescaled=_is_scaled(pl.col("amount") / pl.col("amount_before")).any(),
        reversed=_near(pl.col("amount"), -pl.col("amount_before"), NEAR).any(),
        slack=pl.sum_horizontal(pl.col("slack").fill_null(0).sum(), pl.col("slack_before").fill_null(0).sum()),
    )
    is_plain = ~IS_RATIO & (pl.col("method") != "net_income_over_shares")
    rounds = is_plain & ~pl.col("restates") & ((VALUE - BEFORE).abs() <= pl.col("slack"))
    return (
        told.join(of_version, on="row", how="left", maintain_order="left")
        .with_columns(
            pl.col("restates", "rescaled", "reversed").fill_null(value=False), rounds=rounds.fill_null(value=False)
        )
        .drop("row", "slack")
    )


def _amounts(told: pl.DataFrame) -> pl.DataFrame:
    """What facts of a version come to at each PLACE: `amount`, the `unit` it is rounded to, `slack` in the value."""
    share = pl.when(pl.col("role") == MEAN).then(pl.col("weight") / pl.col("weight").sum().over("row", "role"))
    weight = share.when(pl.col("role") == SUM).then(pl.col("weight")).otherwise(0.0)
    legs = told.select("row", "legs").explode("legs").unnest("legs").drop_nulls("value")
    return (
        legs.with_columns(
            added=pl.col("weight") > 0,
            amount=pl.col("value") * pl.col("split_factor"),
            unit=HALF_A_UNIT * granularity(pl.col("value")) * pl.col("split_factor"),
            part=weight.abs(),
        )
        .group_by("row", *PLACE)
        .agg(pl.col("amount").sum(), pl.col("unit").sum(), slack=(pl.col("unit") * pl.col("part")).sum())
    )
