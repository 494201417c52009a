"""Equity and assets of each balance sheet, without later filings that do not restate them.

Belongs here: amounts of a balance sheet that are one line each. Does not: debt and cash, which are composed (balances).
"""

import numpy as np
import polars as pl

from pipelines.normalize import arrays
from pipelines.normalize.balance.statements import BY_AMENDMENT, FEWER_LINES, SAME_LINES
from pipelines.normalize.decisions import DECISIONS, counted
from pipelines.normalize.elements import CONCEPTS

SINGLE_LINES = tuple(concept.name for concept in CONCEPTS if concept.instant and concept.name in ("equity", "assets"))


def single_lines(placed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The statements of equity and assets that count: the first of a day, amendments, and those with its elements.

    Args:
        placed: vintages on the grid (calendar.on_grid).

    Returns:
        the rows of `placed` that count, sorted by `cik`, `concept`, `q` and `seq`; and columns of decisions.DECISIONS.
    """
    lines = placed.filter(pl.col("concept").is_in(SINGLE_LINES)).sort("cik", "concept", "q", "seq", maintain_order=True)
    if lines.is_empty():
        return lines, DECISIONS.to_frame()
    cik, seq = arrays.ints(lines, "cik"), arrays.ints(lines, "seq")
    first = arrays.first_row(arrays.starts(cik, arrays.ints(lines, "concept"), arrays.ints(lines, "q")))
    used, is_later = arrays.ints(lines, "used"), seq != seq[first]
    repeats = used == used[first]
    is_amendment = arrays.flags(lines, "amended")
    decided = [
        (BY_AMENDMENT, is_later & is_amendment),
        (SAME_LINES, is_later & ~is_amendment & repeats),
        (FEWER_LINES, is_later & ~is_amendment & ~repeats),
    ]
    counts = np.logical_or.reduce([~is_later, is_amendment, repeats])
    return lines.filter(counts), counted([(rule, cik[holds]) for rule, holds in decided])
