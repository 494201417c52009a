"""The rows of quarters in the tables of quarters: what differs from the rows of twelve months.

Belongs here: the balances among the values of quarters, and the gaps of quarters. Does not: the rows that are made as
those of twelve months are (build_tables), labels (period_kinds), the columns of the tables
(warehouse.contract.quarters).
"""

import polars as pl

from pipelines.normalize.classes import symbols
from pipelines.normalize.history.log import ONE_QUARTER
from pipelines.storage.lake import LimitedLake
from pipelines.tables.gaps import found_by_rules, of_unread_reports
from pipelines.tables.period_kinds import ITEM, as_quarters
from warehouse.contract import quarters, schema
from warehouse.contract.line_items import items_of

OF_QUARTERS = items_of("flow", "balance")
"""The items with values of quarters."""


def with_balances(quarterly: pl.DataFrame, current: pl.DataFrame) -> pl.DataFrame:
    """Current values of quarters, and the balances of the companies with values of quarters."""
    is_balance = pl.col("item").is_in(items_of("balance")) & (pl.col("period_kind") == schema.PERIOD_KINDS[0])
    balances = current.filter(is_balance).join(quarterly, on="cik", how="semi", maintain_order="left")
    return pl.concat([quarterly, as_quarters(balances)])


def gaps_of_quarters(
    part: LimitedLake, periods: pl.DataFrame, quarterly: pl.DataFrame, series: pl.DataFrame
) -> pl.DataFrame:
    """Table `quarter_gaps`: as `gaps`, for the flows of companies with values of quarters."""
    held = found_by_rules(part, ONE_QUARTER)
    not_stated = symbols.not_stated(series, held.select("cik", "period_end"))
    labelled = as_quarters(pl.concat([held, not_stated], how="diagonal").join(periods, on=["cik", "period_end"]))
    is_flow = (pl.col("period_kind") == schema.PERIOD_KINDS[0]) & pl.col("item").is_in(items_of("flow"))
    unread = of_unread_reports(part).filter(is_flow).join(quarterly, on="cik", how="semi")
    rows = [unread.with_columns(period_kind=pl.lit(quarters.QUARTER)), labelled]
    found = pl.concat(rows, how="diagonal_relaxed").unique(ITEM, keep="first", maintain_order=True)
    return found.join(quarterly.select(ITEM), on=ITEM, how="anti")
