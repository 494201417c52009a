"""Why a value changed from one version to the next: a table of tests on the two, in order.

Belongs here: one row a cause, with what it means and the test that tells it. Does not: which values are versions.
"""

from dataclasses import dataclass

import polars as pl

ITEM = ["cik", "q", "item"]
FILING = ["cik", "seq"]

ROUNDED_DIGITS = 3
SCALES = (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
NEAR = 0.02
SAME = 1e-6
SMALL = 0.005
HALF_CHANGED = 0.5
SEVERAL_PERIODS = 2

FLOW_ITEMS = ("revenue", "free_cash_flow")


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: its name, what it means, and the test on a version and the one before it."""

    name: str
    meaning: str
    holds: pl.Expr


def _near(one: pl.Expr, other: pl.Expr, tolerance: float) -> pl.Expr:
    return ((one - other).abs() <= tolerance * other.abs()).fill_null(value=False)


VALUE, BEFORE = pl.col("value"), pl.col("before")
RATIO = VALUE / BEFORE
COARSER = BEFORE.abs() >= 100
ROUNDS = pl.any_horizontal(
    *(_near(VALUE.round_sig_figs(digits), BEFORE, SAME) for digits in range(ROUNDED_DIGITS, 7)),
    *(_near(BEFORE.round_sig_figs(digits), VALUE, SAME) for digits in range(ROUNDED_DIGITS, 7)),
)

CAUSES: tuple[Cause, ...] = (
    Cause("initial", "the first value", BEFORE.is_null()),
    Cause("precision", "the same figure to more digits, or sums of such figures", ROUNDS | _near(VALUE, BEFORE, 1e-4)),
    Cause(
        "scale_fix",
        "a figure that was a thousand or a million times too large or too small",
        pl.any_horizontal(_near(RATIO, pl.lit(scale), NEAR) for scale in SCALES),
    ),
    Cause("sign_fix", "a figure that had the other sign", _near(VALUE, -BEFORE, SAME)),
    Cause("context_fix", "back to the value before the last: that one stood in the wrong period", pl.col("returns")),
    Cause(
        "basis_change",
        "other accounting standards or another currency behind the figures",
        pl.col("standards") != pl.col("standards_before"),
    ),
    Cause(
        "entity_change",
        "most items of the period change by more than half, shares among them: another company's figures",
        pl.col("entity_changes"),
    ),
    Cause("restatement", "an amended filing says something else", pl.col("amends")),
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
        "reclassification",
        "revenue, cash flow or a balance moves while net income of the period stays",
        pl.col("item").is_in(["revenue", "free_cash_flow", "total_debt", "cash_and_equivalents"])
        & ~pl.col("moves_net_income"),
    ),
    Cause(
        "accounting_change",
        "a later report states several periods anew, net income among them",
        pl.col("periods_moved") >= SEVERAL_PERIODS,
    ),
    Cause("restatement", "a later report states one period anew", pl.col("moves_net_income")),
    Cause(
        "share_count_revised",
        "a later report states weighted shares, or amounts per share, anew while net income stays",
        pl.col("item").is_in(["shares_basic", "shares_diluted", "eps_basic", "dividends_per_share"]),
    ),
    Cause(
        "input_changed",
        "an amount that the ratio is made of changed",
        pl.col("item").is_in(["roic", "debt_to_fcf"]),
    ),
    Cause("unexplained", "none of the above tells", pl.lit(value=True)),
)


def classified(versions: pl.DataFrame) -> pl.DataFrame:
    """Add `cause` to versions: the first of CAUSES that holds.

    Args:
        versions: `cik`, `q`, `item`, `seq`, `value`, `flags`, `amended`, `tags` (elements behind the value, joined)
            and `standards` (taxonomies and units behind it, joined).

    Returns:
        the same rows with `cause`.
    """
    ordered = versions.sort(*ITEM, "seq")
    compared = ordered.with_columns(
        before=VALUE.shift().over(ITEM),
        before_that=VALUE.shift(2).over(ITEM),
        tags_before=pl.col("tags").shift().over(ITEM),
        standards_before=pl.col("standards").shift().over(ITEM),
        flags_before=pl.col("flags").shift().over(ITEM),
        amends=pl.col("amended"),
    ).with_columns(
        returns=_near(VALUE, pl.col("before_that"), SAME),
        changes=BEFORE.is_not_null(),
        large=(((VALUE - BEFORE).abs() > HALF_CHANGED * BEFORE.abs()) & BEFORE.is_not_null()),
    )
    is_net_income = pl.col("item") == "net_income"
    moved = (
        compared.filter("changes")
        .group_by(*FILING, "q")
        .agg(
            moves_net_income=(is_net_income & ((VALUE - BEFORE).abs() > SAME * BEFORE.abs())).any(),
            large_changes=pl.col("large").sum(),
            all_changes=pl.len(),
            shares_jump=(pl.col("item").is_in(["shares_basic", "shares_diluted"]) & pl.col("large")).any(),
        )
    )
    periods = compared.filter("changes").group_by(*FILING, "item").agg(periods_moved=pl.col("q").n_unique())
    told = (
        compared.join(moved, on=[*FILING, "q"], how="left", maintain_order="left")
        .join(periods, on=[*FILING, "item"], how="left", maintain_order="left")
        .with_columns(
            pl.col("moves_net_income", "shares_jump").fill_null(value=False),
            pl.col("periods_moved").fill_null(0),
            pl.col("flags_before").fill_null(""),
        )
        .with_columns(
            entity_changes=(
                pl.col("shares_jump")
                & (pl.col("large_changes") >= 3)
                & (2 * pl.col("large_changes") > pl.col("all_changes"))
            ).fill_null(value=False)
        )
    )
    cause = pl.lit(CAUSES[-1].name)
    for candidate in reversed(CAUSES[:-1]):
        cause = pl.when(candidate.holds.fill_null(value=False)).then(pl.lit(candidate.name)).otherwise(cause)
    return told.with_columns(cause=cause).select(*versions.columns, "cause")
