"""What the totals of a balance sheet prove about its lines: it foots with those on it, and not with those of the notes.

Belongs here: whether amounts and some of the lines beside them are a total. Does not: elements (concepts), how lines
add up to an item (balances), balance sheets without current and non-current parts (borrowings).
"""

from collections.abc import Sequence
from itertools import combinations

import polars as pl

from pipelines.normalize.elements.cash import OTHER_CURRENT_ASSETS
from pipelines.normalize.elements.loans import OTHER_NONCURRENT_LIABILITIES
from pipelines.normalize.elements.sources import Concept

ROUNDED = 1
"""A total of rounded amounts may miss them by a unit; more would let any lines foot."""


def within_current_assets(cash: pl.Expr) -> pl.Expr:
    """Whether cash and some of the lines beside it are the current assets; false where unknown."""
    return _foots(cash, pl.col("value_current_assets"), pl.col("grain_current_assets"), OTHER_CURRENT_ASSETS)


def within_noncurrent_liabilities(debt: pl.Expr) -> pl.Expr:
    """Whether debt and some of the lines beside it are what is not current of the liabilities; false where unknown."""
    noncurrent = pl.col("value_liabilities") - pl.col("value_liabilities_current")
    unit = pl.max_horizontal("grain_liabilities", "grain_liabilities_current")
    return _foots(debt, noncurrent, unit, OTHER_NONCURRENT_LIABILITIES)


def _foots(amount: pl.Expr, total: pl.Expr, unit: pl.Expr, beside: Sequence[Concept]) -> pl.Expr:
    lines = [pl.col(f"value_{concept.name}").fill_null(0.0) for concept in beside]
    parts = (part for size in range(len(lines) + 1) for part in combinations(lines, size))
    missed = pl.min_horizontal((total - amount - sum(part)).abs() for part in parts)
    return (missed <= ROUNDED * unit).fill_null(value=False)
