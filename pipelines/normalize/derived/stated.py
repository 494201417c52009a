"""What the filings state: the facts of some elements, as the rules of this folder compare them.

Belongs here: reading facts by element. Does not: any rule.
"""

from collections.abc import Iterable

import polars as pl

from pipelines.normalize.elements.sources import US_GAAP

FILING = ["cik", "seq"]
PERIOD = [*FILING, "start", "end"]

SAME_DAYS = "8d"
"""A period that begins or ends within a week of another begins or ends with it."""

EXACT = 0.5
"""Sums of amounts in whole units are equal if they differ by less."""


def durations(facts: pl.DataFrame, elements: Iterable[str]) -> pl.DataFrame:
    """The facts of some elements over durations: PERIOD, `tag`, `value`, `fact` (row of the facts)."""
    return _of(facts, elements, pl.col("start").is_not_null()).select(*PERIOD, "tag", "value", "fact")


def instants(facts: pl.DataFrame, elements: Iterable[str]) -> pl.DataFrame:
    """The facts of some elements at instants: `cik`, `seq`, `end`, `tag`, `value`, `fact` (row of the facts)."""
    return _of(facts, elements, pl.col("start").is_null()).select(*FILING, "end", "tag", "value", "fact")


def _of(facts: pl.DataFrame, elements: Iterable[str], when: pl.Expr) -> pl.DataFrame:
    return (
        facts.lazy()
        .with_row_index("fact")
        .filter(pl.col("tag").is_in(sorted(elements)) & (pl.col("taxonomy") == US_GAAP) & when)
        .unique([*PERIOD, "tag"], keep="last", maintain_order=True)
        .collect()
    )
