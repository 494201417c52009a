"""The period kinds of rows: trailing twelve months, fiscal years and quarters, with their labels.

Belongs here: the columns `period_kind` and `period` of rows with a fiscal year and quarter. Does not: the rows
(build_tables, gaps, quarters).
"""

import polars as pl

from pipelines.normalize.classes.series import CLASS
from warehouse.contract import quarters

ITEM = ["cik", CLASS, "period_kind", "period_end", "item"]
"""The key of a value, without its version."""


def by_kind(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by period kind: each row as `ttm`, and at fiscal year ends as `annual` too.

    Sorted by company and period kind; otherwise the rows keep their order.
    """
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    ttm = rows.with_columns(period_kind=pl.lit("ttm"), period=pl.concat_str(year, pl.lit("Q"), quarter))
    annual = rows.filter("is_year_end").with_columns(
        period_kind=pl.lit("annual"), period=pl.concat_str(pl.lit("FY"), year)
    )
    return pl.concat([annual, ttm]).sort("cik", maintain_order=True)


def as_quarters(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of one quarter with their period kind and label, sorted by company; otherwise they keep their order."""
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    label = pl.concat_str(pl.lit("FY"), year, pl.lit("Q"), quarter)
    return rows.with_columns(period_kind=pl.lit(quarters.QUARTER), period=label).sort("cik", maintain_order=True)
