"""Replay: finds the successive versions of each value from all filings in their order.

Belongs here: which values are new versions and which repeat the one before. Does not: what a synchronization appends to
the log (versions), why a value changed (causes).
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Ints, before, floats, ints, numbers, starts
from pipelines.normalize.frames import WITHHELD, counted
from pipelines.normalize.industry.classification import without_meaning
from pipelines.normalize.items.flags import FLAGS
from pipelines.normalize.items.item import Item
from pipelines.normalize.items.line_items import CALCULATED, ROUNDED, SHARES, served
from pipelines.normalize.items.points import ONE_COMPANY, Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import NOISE_OF_SUMS

SAME_RATIO, SAME_COUNT = 1e-5, 1e-7
"""Ratios and share counts that differ by at most this share have the same served value (six significant digits, whole
shares)."""

SAME_WITHIN_ROUNDING = Rule(
    "version.same-within-rounding",
    f"A value that differs from the one before by at most {SAME_RATIO:.5f} of it (amounts per share and ratios), "
    f"{SAME_COUNT:.7f} (shares) or {NOISE_OF_SUMS:.9f} (money) is the same version.",
    "Such differences come from rounding and from the order in which figures are added, not from a filing",
    "select",
)
WITHOUT_INPUT = Rule(
    "version.withdrawn.input",
    "A value is withdrawn if, after a later filing, an amount that it is computed from has no value, or the item has "
    "no meaning in the company's industry.",
    "A ratio or a difference of amounts is only as good as each amount",
    "withhold",
)

LEG_TYPES = pl.Schema({"place": pl.Int16(), "role": pl.String(), "times": pl.Float64()})


def is_same(one: str, other: str) -> pl.Expr:
    """Whether two values of an item count as equal (SAME_WITHIN_ROUNDING), on any share basis; two nulls are equal."""
    item = pl.col("item")
    of_counts = pl.when(item.is_in(SHARES)).then(SAME_COUNT).otherwise(NOISE_OF_SUMS)
    tolerance = pl.when(item.is_in(CALCULATED)).then(SAME_RATIO).otherwise(of_counts)
    near = SAME_WITHIN_ROUNDING.where((pl.col(one) - pl.col(other)).abs() <= tolerance * pl.col(other).abs())
    return (near | (pl.col(one) == pl.col(other))).fill_null(pl.col(one).is_null() & pl.col(other).is_null())


def item_versions(
    points: Points, items: Iterable[Item], of_industry: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The versions of the items at all points: the first value, and each value that differs from the one before.

    A value that is no longer served after a later filing is followed by a version without value.

    Args:
        points: the amounts known at each quarter end after each filing.
        items: of items.line_items.
        of_industry: `cik`, `seq`, `industry`: items without meaning in the industry of a filing have no value.

    Returns:
        versions: `version` (row number), `cik`, `q`, `seq`, `item`, `entity` (of the figures, see breaks.regimes),
            `value` (null: withdrawn), `rule`, `method`, and a boolean column for each of items.flags.FLAGS.
        legs: `version`, `place` (order of the leg), `role`, `times`, and `flow` or `balance`: its row number.
        withheld: `cik`, `q`, `item`, `reason`, `rule`: the items that a rule withholds after the newest filing.
        decisions: `cik`, `rule`, `figures`.
    """
    meaningless = _without_meaning(points, of_industry)
    found, withheld, decided = [], [pl.DataFrame(schema=WITHHELD)], []
    for item in items:
        reasons = _reasons(points, item)
        has_value = pl.Series(np.isfinite(item.value))
        if item.name in meaningless:
            reasons = [meaningless[item.name], *reasons]
            has_value &= meaningless[item.name]["rule"].is_null()
        of_item = _at_points(points, item, has_value, [each["rule"] for each in reasons])
        without = pl.Series(points.is_newest) & of_item["value"].is_null()
        withheld += [of_item.select("cik", "q", "item").hstack(each).filter(without).drop_nulls() for each in reasons]
        compared = of_item.with_columns(earlier=numbers(before(floats(of_item, "value"), starts(points.window))))
        same = compared.select(is_same("value", "earlier")).to_series()
        is_without_input = pl.col("rule") == WITHOUT_INPUT.id
        of_rule = WITHOUT_INPUT.where(is_without_input) | ~is_without_input
        versions = compared.drop("earlier").filter(~same, of_rule)
        decided.append((SAME_WITHIN_ROUNDING, ints(compared.filter(same, pl.col("value") != pl.col("earlier")), "cik")))
        decided += [
            (rule, ints(versions.filter(holds[ints(versions, "point")]), "cik")) for rule, holds in item.decided
        ]
        found.append(versions)
    of_items = pl.concat(found).with_row_index("version")
    without_input = of_items.filter(pl.col("rule") == WITHOUT_INPUT.id, pl.col("value").is_null())
    rounded = of_items.filter(served("value") != pl.col("value"))
    decided += [(WITHOUT_INPUT, ints(without_input, "cik")), (ROUNDED, ints(rounded, "cik"))]
    decided += [(ONE_COMPANY, points.cik[holds]) for holds in points.of_another.values()]
    return of_items.drop("point"), _legs(points, items, of_items), pl.concat(withheld), counted(decided)


def _reasons(points: Points, item: Item) -> list[pl.DataFrame]:
    """Why the item is withheld at each point: for each rule that applies, `reason` and `rule`, or null."""
    concepts = sorted({leg.concept for leg in item.legs} & points.of_another.keys())
    others = [("basis_break", ONE_COMPANY, points.of_another[concept]) for concept in concepts]
    return [
        pl.select(
            pl.when(pl.Series(holds)).then(pl.struct(reason=pl.lit(reason), rule=pl.lit(rule.id))).struct.unnest()
        )
        for reason, rule, holds in (*item.withheld, *others)
        if holds.any()
    ]


def _at_points(points: Points, item: Item, has_value: pl.Series, withdrawn_by: Sequence[pl.Series]) -> pl.DataFrame:
    """The item at every point, one row a point.

    Args:
        points: the points.
        item: the item.
        has_value: whether it has a value at each point; otherwise column `rule` names the rule that withdraws it.
        withdrawn_by: for each rule that may withdraw it, the strongest first: its id, or null, at each point.

    Returns:
        `point` (row number), `cik`, `q`, `seq`, `item`, `entity`, `value`, `rule`, `method` and flags.
    """
    by = [*withdrawn_by, *(points.withheld_by(concept) for concept in dict.fromkeys(leg.concept for leg in item.legs))]
    no_flags = np.zeros(len(points), dtype=np.bool_)
    return (
        points.frame.with_row_index("point")
        .with_columns(
            item=pl.lit(item.name),
            entity=numbers(points.entity).cast(pl.Int32),
            value=numbers(item.value),
            rule=pl.Series([*item.rules, None], dtype=pl.String)[item.rule],  # -1: no rule
            method=pl.Series([*item.methods, None], dtype=pl.String)[item.method],
            **{name: pl.Series(item.flags.get(name, no_flags)) for name in FLAGS},
        )
        .with_columns(
            pl.when(has_value).then(pl.col("value", "method")),
            pl.when(has_value).then("rule").otherwise(pl.coalesce(*by, pl.lit(WITHOUT_INPUT.id))).alias("rule"),
            pl.col(*FLAGS) & has_value,
        )
    )


def _legs(points: Points, items: Iterable[Item], versions: pl.DataFrame) -> pl.DataFrame:
    """The legs of the versions: one row a leg, in the order of items and legs."""
    legs: list[tuple[int, str, float]] = []
    found: list[Ints] = []
    for item in items:
        of_item = versions.filter(pl.col("item") == item.name, pl.col("value").is_not_null())
        of_version, point = ints(of_item, "version"), ints(of_item, "point")
        for place, leg in enumerate(item.legs):
            rows = leg.rows[point]
            legs.append((place, leg.role, leg.times))
            found.append(np.array([np.full_like(rows, len(found)), of_version, rows])[:, rows >= 0])
    number, version, row = (pl.Series(column, dtype=pl.UInt32) for column in np.concatenate(found, axis=1))
    is_flow = row < points.first_balance
    return pl.DataFrame(legs, LEG_TYPES, orient="row")[number].with_columns(
        version=version,
        flow=pl.when(is_flow).then(row),
        balance=pl.when(~is_flow).then(row - points.first_balance),
    )


def _without_meaning(points: Points, of_industry: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """For each item that has no meaning in an industry: `reason` and `rule` at each point, null if it has a meaning.

    Two kinds of filings do not show the industry of earlier periods: the first one after a reverse split, which changed
    no amount, and one that changed no amount of an item of the specification. The industry at the point before counts
    instead, if the period has one.
    """
    shown = pl.when(~pl.col("says_nothing")).then("industry").forward_fill().over("cik", "q")
    industry = (
        points.frame.with_columns(says_nothing=pl.Series(points.is_of_split | points.is_of_further))
        .join(of_industry.select("cik", "seq", "industry"), on=["cik", "seq"], how="left", maintain_order="left")
        .select(industry=pl.coalesce(shown, "industry"))
    )
    return {
        str(item): industry.join(rows, on="industry", how="left", maintain_order="left").select("reason", "rule")
        for (item,), rows in without_meaning().partition_by("item", as_dict=True).items()
    }
