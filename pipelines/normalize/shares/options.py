"""Options: a split as the options on the company's shares show it.

Belongs here: option counts and exercise prices of one day, which two filings state on two share bases. Does not: which
splits follow (splits).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.elements import OPTION_PRICE, OPTIONS
from pipelines.normalize.keys import day_numbers

FEWEST_OPTIONS = 10_000
"""Of fewer options a change to the last digit may be chance."""
HALF_AN_OPTION, HALF_A_CENT = 0.5, 0.005
"""Rounding of counts and of prices."""


class Restated(NamedTuple):
    """Options and their price of one day that two successive filings state with one ratio.

    cik: the company. after_filed, filed: days of the filings, since 1970. ratio: options in the second for one in the
    first. end: the day of the options, since 1970.
    """

    cik: int
    after_filed: int
    filed: int
    ratio: float
    end: int


def restated(facts: pl.DataFrame, usual: Callable[[float], float | None]) -> list[Restated]:
    """The pairs of successive filings whose option counts and exercise prices of a day differ by a usual ratio.

    Outstanding options are adjusted in a split: their number by the ratio, the exercise price by its inverse, both to
    the last digit.

    Args:
        facts: typed facts in filing order: `cik`, `tag`, `start`, `end`, `value`, `filed`, `amended`.
        usual: the usual ratio near a ratio, or None.
    """
    of_options = facts.filter(
        pl.col("tag").is_in([OPTIONS, OPTION_PRICE]) & pl.col("start").is_null() & ~pl.col("amended")
    )
    beside = (
        of_options.group_by("cik", "end", "filed", "tag")
        .agg(value=pl.col("value").first(), values=pl.col("value").n_unique())
        .filter((pl.col("values") == 1) & (pl.col("value") > 0))
        .pivot(on="tag", index=["cik", "end", "filed"], values="value")
    )
    if not {OPTIONS, OPTION_PRICE} <= set(beside.columns):
        return []
    moves = (
        beside.drop_nulls([OPTIONS, OPTION_PRICE])
        .sort("cik", "end", "filed")
        .with_columns(pl.col("filed", OPTIONS, OPTION_PRICE).shift(1).over("cik", "end").name.prefix("first_"))
        .drop_nulls(f"first_{OPTIONS}")
        .filter((pl.col(OPTIONS) != pl.col(f"first_{OPTIONS}")) & (pl.col(f"first_{OPTIONS}") >= FEWEST_OPTIONS))
    )
    days = [day_numbers(moves[name]).tolist() for name in ("first_filed", "filed", "end")]
    names = (f"first_{OPTIONS}", OPTIONS, f"first_{OPTION_PRICE}", OPTION_PRICE)
    found = []
    for cik, (after_filed, filed, end), (count, counted, price, priced) in zip(
        moves["cik"].to_list(), zip(*days, strict=True), moves.select(names).iter_rows(), strict=True
    ):
        ratio = usual(counted / count)
        if (
            ratio
            and _is_adjusted(count, counted, ratio, HALF_AN_OPTION)
            and _is_adjusted(price, priced, 1 / ratio, HALF_A_CENT)
        ):
            found.append(Restated(cik, after_filed, filed, ratio, end))
    return found


def _is_adjusted(first: float, later: float, ratio: float, rounding: float) -> bool:
    """Whether an amount was multiplied by a ratio, to the last digit."""
    return bool(np.abs(first * ratio - later) <= rounding * (1 + ratio))
