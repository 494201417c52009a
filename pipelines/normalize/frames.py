"""The frames that pass between the steps of the pipeline: their columns, types, units and keys.

Belongs here: what a frame between two steps looks like. Does not: how it is made (the steps).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.rule import Rule

CIK_DIGITS = 10


def with_ten_digits(table: pl.DataFrame) -> pl.DataFrame:
    """A table with `cik` as it is published, ten digits of text; between the steps it is a number."""
    return table.with_columns(pl.col("cik").cast(pl.String).str.zfill(CIK_DIGITS))


DECISIONS = pl.Schema({"cik": pl.Int64(), "rule": pl.String(), "figures": pl.UInt32()})
"""How often each rule of a step decided for a company; key `cik`, `rule`."""


def counted(decided: Iterable[tuple[Rule, npt.NDArray[Any]]]) -> pl.DataFrame:
    """Decisions of a step: columns of DECISIONS.

    Args:
        decided: each rule with the CIK of every figure, window or filing that it decided, once each.
    """
    rows: list[tuple[int, str, int]] = []
    for rule, ciks in decided:
        companies, counts = np.unique(ciks, return_counts=True)
        rows += [(int(cik), rule.id, int(count)) for cik, count in zip(companies, counts, strict=True)]
    return pl.DataFrame(rows, schema=DECISIONS, orient="row")


class _Any:
    def checked(self, frame, step, *, validate=False):
        return frame


class _All(dict):
    def __missing__(self, name):
        return _Any()


FRAMES = _All()
