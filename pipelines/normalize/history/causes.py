"""Causes: why a value changed from one version to the next, decided by a table of tests in order.

Belongs here: one row for each cause with its meaning and its test, and the data that the tests use. Does not: which
values are versions (replay).
"""

from dataclasses import dataclass

import polars as pl

from pipelines.normalize.arrays import previous
from pipelines.normalize.facts.precision import granularity
from pipelines.normalize.items.item import MEAN, SUM
from pipelines.normalize.ttm.known import HALF_A_UNIT
from warehouse.contract.line_items import ITEMS_BY_CLASS, items_of

ITEM, WINDOW, FILING = ["cik", "item", "q"], ["cik", "seq", "q"], ["cik", "seq"]

ROUNDED_DIGITS = range(3, 7)
"""Numbers of significant digits to which a figure may be rounded."""
SCALES = (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)
"""Ratios of two figures if one was filed in another scale."""
REVISED_A_LITTLE = 0.02
"""Tolerance for figures in another scale or with another sign: they may be rounded or revised a little."""
SAME = 1e-6
"""Figures that differ by at most this share are equal."""
SEVERAL = 2
"""A filing that restates net income of at least this many periods is a change of accounting."""

RATIOS = items_of("ratio")
MOVED_BETWEEN_LINES = (
    *("revenue", "free_cash_flow", "total_debt", "cash_and_equivalents"),
    *("gross_profit", "operating_income", "operating_cash_flow", "capital_expenditure", "total_assets"),
)

PLACE = ["role", "start", "end", "is_added"]
"""Facts of two versions are compared if they have the same period, role and sign."""


def _nearly_equal(one: str | pl.Expr, other: str | pl.Expr, tolerance: float = SAME) -> pl.Expr:
    one, other = (pl.col(each) if isinstance(each, str) else each for each in (one, other))
    return (one - other).abs() <= tolerance * other.abs()


def _is_scaled(one: str, other: str) -> pl.Expr:
    return pl.any_horizontal(
        _nearly_equal(pl.col(one) / pl.col(other), pl.lit(scale), REVISED_A_LITTLE) for scale in SCALES
    )


def _is_rounded(one: str, other: str) -> pl.Expr:
    """Whether one of two values is the other one rounded."""
    return pl.any_horizontal(
        _nearly_equal(pl.col(fine).round_sig_figs(digits), coarse)
        for fine, coarse in ((one, other), (other, one))
        for digits in ROUNDED_DIGITS
    )


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of a new version: its name, its meaning, and its test on the columns of _compared."""

    name: str
    meaning: str
    holds: pl.Expr


WITHDRAWN = Cause(
    "withdrawn",
    "a later filing contradicts the value, or leaves an amount that it needs without value",
    pl.col("value").is_null(),
)
CAUSES: tuple[Cause, ...] = (
    WITHDRAWN,
    Cause("initial", "the first value", pl.col("earlier").is_null()),
    Cause(
        "reinstated",
        "a later filing supports the withdrawn value again",
        pl.col("was_withdrawn") & _nearly_equal("value", "earlier"),
    ),
    Cause(
        "precision",
        "the same figure with more digits, or sums of figures that differ by at most their rounding",
        (_is_rounded("value", "earlier") & ~pl.col("restates")) | pl.col("rounds"),
    ),
    Cause(
        "scale_fix",
        "the figure, or one of its legs, was a thousand or a million times too large or too small",
        _is_scaled("value", "earlier") | pl.col("rescaled"),
    ),
    Cause(
        "sign_fix",
        "the figure, or one of its legs, had the wrong sign",
        _nearly_equal("value", -pl.col("earlier")) | pl.col("is_reversed"),
    ),
    Cause(
        "context_fix",
        "back to the value before the last, which was in the context of a wrong period",
        _nearly_equal("value", "earliest"),
    ),
    Cause(
        "basis_change",
        "the figures follow other accounting standards or are in another currency",
        pl.col("other_standards"),
    ),
    Cause(
        "entity_change",
        "the figures are those of another company: the value before is from filings before a break of the entity",
        pl.col("other_entity"),
    ),
    Cause(
        "purchasing_power",
        "the filing states the amounts of earlier periods in the purchasing power of its own day",
        pl.col("purchasing_power"),
    ),
    Cause("restatement", "an amended filing states another figure", pl.col("is_amended")),
    Cause(
        "lines_changed",
        "other lines of the statements make up the figure",
        pl.col("other_elements") & ~pl.col("moves_net_income"),
    ),
    Cause(
        "other_columns",
        "a later report restates no figure, but has columns from which twelve months are better computed",
        ~pl.col("restates"),
    ),
    Cause(
        "reclassification",
        "revenue, cash flow or a balance changes while net income of the period stays the same",
        pl.col("item").is_in(MOVED_BETWEEN_LINES) & ~pl.col("moves_net_income"),
    ),
    Cause(
        "accounting_change",
        "a later report restates the item, and net income of several periods with it",
        pl.col("moves_net_income") & (pl.col("periods_moved") >= SEVERAL),
    ),
    Cause(
        "restatement",
        "a later report restates the item, and net income of the period with it",
        pl.col("moves_net_income"),
    ),
    Cause(
        "share_count_revised",
        "a later report restates weighted shares or amounts per share while net income stays the same",
        pl.col("item").is_in(ITEMS_BY_CLASS),
    ),
    Cause(
        "input_changed",
        "an amount in the ratio changed while net income stays the same",
        pl.col("item").is_in(RATIOS),
    ),
    Cause("unexplained", "none of the above", pl.lit(value=True)),
)


COMPARED = ("role", "weight", "split_factor", "start", "end", "value")
"""The columns of filed facts by which two versions are compared."""


def classified(versions: pl.DataFrame, legs: pl.DataFrame) -> pl.DataFrame:
    """Add `cause` to versions: the first of CAUSES that holds.

    Args:
        versions: `version`, `cik`, `q`, `item`, `entity`, `seq`, `value` (null: withdrawn), `method`,
            `is_amended`, `purchasing_power` (whether the filing restates by a price index), and `elements`,
            `standards` and `currency`: numbers that are equal for two versions with the same elements, taxonomies or
            currencies (0: no taxonomy, no currency).
        legs: the filed facts of the versions: `version`, `role`, `weight`, `split_factor`, `start`, `end`, `value`.

    Returns:
        the same rows with `cause`, sorted by company, item, quarter end and filing.
    """
    ordered = versions.sort(*ITEM, "seq")
    cause = pl.coalesce(pl.when(each.holds).then(pl.lit(each.name)) for each in CAUSES)
    found = _compared(ordered, legs).select("version", cause=cause)
    return ordered.join(found, on="version", how="left", maintain_order="left").with_columns(
        pl.col("cause").fill_null(WITHDRAWN.name)
    )


def _compared(ordered: pl.DataFrame, legs: pl.DataFrame) -> pl.DataFrame:
    """The versions with a value, each compared with the one before it.

    Returns:
        the versions with `earlier` and `earliest`, the last value before and the value before that (null if there is
        none); `was_withdrawn`: the version before has no value; `other_entity`: the figures are another company's;
        `other_elements`, `other_standards`: the facts have other elements, or other taxonomies or currencies; the
        columns of _filings_compared and _facts_compared; and `rounds`: no fact differs by more than rounding, and the
        values differ by at most the rounding of the facts that differ.
    """

    def before(name: str, back: int = 1) -> pl.Expr:
        return previous(pl.col(name), ITEM, back)

    def changes(name: str) -> pl.Expr:
        return (pl.col(name) != before(name)).fill_null(value=False)

    def is_replaced(name: str) -> pl.Expr:
        return changes(name) & (pl.col(name) > 0) & (before(name) > 0)

    with_value = ordered.with_columns(was_withdrawn=before("value").is_null()).drop_nulls("value")
    compared = with_value.with_columns(
        previous=before("version"),
        earlier=before("value"),
        earliest=before("value", 2),
        other_entity=changes("entity"),
        other_elements=changes("elements"),
        other_standards=is_replaced("standards") | is_replaced("currency"),
    )
    is_plain = ~pl.col("item").is_in(RATIOS) & pl.col("method").ne_missing("net_income_over_shares")
    rounds = is_plain & ~pl.col("restates") & ((pl.col("value") - pl.col("earlier")).abs() <= pl.col("slack"))
    return (
        _filings_compared(compared)
        .join(
            _facts_compared(compared.select("version", "previous"), legs),
            on="version",
            how="left",
            maintain_order="left",
        )
        .with_columns(pl.col("restates", "rescaled", "is_reversed").fill_null(value=False))
        .with_columns(rounds=rounds.fill_null(value=False))
    )


def _filings_compared(versions: pl.DataFrame) -> pl.DataFrame:
    """Add whether the filing of each version also changes net income.

    Returns:
        the versions with `moves_net_income`: whether the filing changes net income of the same twelve months; and
        `periods_moved`: the number of quarter ends for which it does.
    """
    changes = ~_nearly_equal("value", "earlier").fill_null(value=True)
    moved = (changes & (pl.col("item") == "net_income")).any().over(WINDOW)
    return versions.with_columns(moves_net_income=moved).with_columns(
        periods_moved=pl.col("q").filter("moves_net_income").n_unique().over(FILING)
    )


def _facts_compared(versions: pl.DataFrame, legs: pl.DataFrame) -> pl.DataFrame:
    """Compare the facts of each version with the facts of the version before.

    Args:
        versions: `version` and `previous`.
        legs: as in classified.

    Returns:
        for each version with other facts `restates`: a fact of the same PLACE differs by more than rounding;
        `rescaled`: a fact is a thousand or a million times larger or smaller; `is_reversed`: a fact has the other sign
        and about the same size; and `slack`: the largest change of the value that the rounding of the facts explains.
    """
    facts = _facts_by_place(legs)
    own = facts.join(versions.drop_nulls(), on="version").drop("previous")
    before = facts.rename({"version": "previous"}).join(versions, on="previous").drop("previous")
    pairs = own.join(before, on=["version", *PLACE], how="full", coalesce=True, nulls_equal=True, suffix="_before")
    slack = pl.col("slack").fill_null(0.0) + pl.col("slack_before").fill_null(0.0)
    return (
        pairs.filter(~_nearly_equal("amount", "amount_before").fill_null(value=False))
        .with_columns(off=(pl.col("amount") - pl.col("amount_before")).abs())
        .group_by("version")
        .agg(
            restates=(pl.col("off") > pl.max_horizontal("unit", "unit_before")).any(),
            rescaled=_is_scaled("amount", "amount_before").any(),
            is_reversed=_nearly_equal("amount", -pl.col("amount_before"), REVISED_A_LITTLE).any(),
            slack=slack.sum(),
        )
    )


def _facts_by_place(legs: pl.DataFrame) -> pl.DataFrame:
    """The sum of the facts of a version for each period, role and sign (PLACE): `amount`.

    Also `unit`, the largest rounding error of this sum, and `slack`, the largest change of the value by rounding.
    """
    of_means = pl.col("weight").filter(pl.col("role") == MEAN).sum().over("version")
    weight = pl.when(pl.col("role") == MEAN).then(pl.col("weight") / of_means)
    part = weight.when(pl.col("role") == SUM).then("weight").otherwise(0.0).abs()
    return (
        legs.with_columns(is_added=pl.col("weight") > 0, part=part, unit=HALF_A_UNIT * granularity(pl.col("value")))
        .with_columns(pl.col("value", "unit") * pl.col("split_factor"))
        .group_by("version", *PLACE)
        .agg(amount=pl.col("value").sum(), unit=pl.col("unit").sum(), slack=(pl.col("unit") * pl.col("part")).sum())
    )
