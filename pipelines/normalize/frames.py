"""The frames that pass between the steps of the pipeline: their columns, types, units and keys.

Belongs here: what a frame between two steps looks like. Does not: how it is made (the steps).
"""

import polars as pl

CIK_DIGITS = 10


def with_ten_digits(table: pl.DataFrame) -> pl.DataFrame:
    """A table with `cik` as it is published, ten digits of text; between the steps it is a number."""
    return table.with_columns(pl.col("cik").cast(pl.String).str.zfill(CIK_DIGITS))
