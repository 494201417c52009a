"""Replay: the versions that the filings led to, one after the other.

Belongs here: which values at the points are versions and which only repeat the one before. Does not: what a
synchronization appends to the log (versions), why a value changed (causes).
"""

from collections.abc import Iterable

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, Ints, before, starts
from pipelines.normalize.frames import counted
from pipelines.normalize.industry.classification import WITHOUT_MEANING_TABLE
from pipelines.normalize.items.flags import none_set
from pipelines.normalize.items.item import Item
from pipelines.normalize.items.line_items import CALCULATED, SHARES
from pipelines.normalize.items.points import Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import SAME_AMOUNT

SAME_RATIO, SAME_COUNT = 1e-5, 1e-7
"""What is served to six significant digits, or in whole shares, is one value when it differs by less."""

NO_RULE = ""
"""The rule of a balance comes with the balance."""


def same_within(item: str) -> float:
    """The share by which two values of an item may differ and still be served as one."""
    return SAME_RATIO if item in CALCULATED else SAME_COUNT if item in SHARES else SAME_AMOUNT


def item_versions(
    points: Points, items: Iterable[Item], of_industry: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The versions among the items at all points: the first value, and each that differs from the one before.

    Args:
        points: what stands at each quarter end after each filing.
        items: of items.line_items.
        of_industry: `cik`, `seq`, `industry`: items without meaning in the industry of a filing have no version.

    Returns:
        versions: `version` (row number), `cik`, `q`, `seq`, `item`, `value`, `rule` (empty for balances), `method`,
            and a boolean column for each of items.flags.FLAGS.
        legs: `version`, `place` (order of the leg), `role`, `times`, and `flow` or `balance`: the row that it is.
        decisions: `cik`, `rule`, `figures`.
    """
    has_meaning = _with_meaning(points, of_industry)
    versions: list[pl.DataFrame] = []
    legs: list[pl.DataFrame] = []
    decided: list[tuple[Rule, Ints]] = []
    number = 0
    for item in items:
        served = np.isfinite(item.value)
        if item.name in has_meaning:
            served &= has_meaning[item.name]
        kept = _changes(points, np.flatnonzero(served), item.value, same_within(item.name))
        rules = pl.Series([rule.id for rule in item.rules] or [NO_RULE], dtype=pl.String)
        methods = pl.Series(item.methods, dtype=pl.String)
        flags = {**none_set(len(kept)), **{name: holds[kept] for name, holds in item.flags.items()}}
        versions.append(
            points.frame[kept].with_columns(
                item=pl.lit(item.name),
                value=item.value[kept],
                rule=rules.gather(item.rule[kept]),
                method=methods.gather(item.method[kept]),
                **{name: pl.Series(holds) for name, holds in flags.items()},
            )
        )
        legs += _legs(item, kept, number)
        decided += [(rule, points.frame["cik"].to_numpy()[kept[holds[kept]]]) for rule, holds in item.decided]
        number += len(kept)
    return pl.concat(versions).with_row_index("version"), pl.concat(legs), counted(decided)


def _changes(points: Points, rows: Ints, value: Floats, tolerance: float) -> Ints:
    """The rows whose value is another than that of the row before of the same quarter end."""
    begins = starts(points.window[rows])
    own = value[rows]
    earlier = before(own, begins)
    return rows[~(np.abs(own - earlier) <= tolerance * np.abs(earlier))]


def _legs(item: Item, kept: Ints, first: int) -> Iterable[pl.DataFrame]:
    """The legs of the kept values of an item: one frame a leg."""
    for place, leg in enumerate(item.legs):
        rows = leg.rows[kept]
        there = np.flatnonzero(rows >= 0)
        row = pl.Series(rows[there], dtype=pl.UInt32)
        nothing = pl.lit(None, pl.UInt32)
        yield pl.DataFrame({"version": pl.Series(there + first, dtype=pl.UInt32)}).with_columns(
            place=pl.lit(place, pl.Int16),
            role=pl.lit(leg.role),
            times=pl.lit(leg.times),
            flow=row if leg.is_flow else nothing,
            balance=nothing if leg.is_flow else row,
        )


def _with_meaning(points: Points, of_industry: pl.DataFrame) -> dict[str, np.ndarray]:
    """For each item that means nothing in some industry: the points whose filing shows another industry."""
    industry = points.frame.join(
        of_industry.select("cik", "seq", "industry"), on=["cik", "seq"], how="left", maintain_order="left"
    )["industry"]
    found = {}
    for (item,), rows in WITHOUT_MEANING_TABLE.partition_by("item", as_dict=True).items():
        found[str(item)] = ~industry.is_in(rows["industry"].to_list()).fill_null(value=True).to_numpy()
    return found
