"""Table `gaps`: the reasons of periods without a value.

Belongs here: the gaps of twelve months and fiscal years, and those that quarters share with them. Does not: finding a
reason (normalize), the gaps of quarters (quarters).
"""

import polars as pl

from pipelines.normalize.classes import symbols
from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.forms import ANNUAL_FORMS
from pipelines.normalize.history.log import TWELVE_MONTHS, with_later_columns
from pipelines.stages.batch.schemas import UNREAD_REPORTS
from pipelines.storage.lake import LimitedLake
from pipelines.tables.period_kinds import ITEM, by_kind
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.vocabulary import NOT_IN_COMPANYFACTS


def gaps_of_periods(
    part: LimitedLake, periods: pl.DataFrame, current: pl.DataFrame, series: pl.DataFrame
) -> pl.DataFrame:
    """Table `gaps`: reasons of periods without a value, unless the log still has a current value."""
    found = pl.concat([found_by_rules(part, TWELVE_MONTHS), symbols.not_stated(series, periods)], how="diagonal")
    labelled = by_kind(found.join(periods, on=["cik", "period_end"]))
    rows = pl.concat([of_unread_reports(part), labelled], how="diagonal_relaxed")
    return rows.unique(ITEM, keep="first", maintain_order=True).join(current.select(ITEM), on=ITEM, how="anti")


def found_by_rules(part: LimitedLake, n: int) -> pl.DataFrame:
    """The gaps that the rules found, for periods of `n` quarters."""
    return with_later_columns(part.read("gaps")).filter(pl.col("n") == n).drop("n")


def of_unread_reports(part: LimitedLake) -> pl.DataFrame:
    """The gaps of periods with an unread report, for all items of the company's series."""
    reports = part.read(UNREAD_REPORTS).drop_nulls("report_date")
    annual = reports.filter(pl.col("form").is_in(ANNUAL_FORMS)).with_columns(period_kind=pl.lit("annual"))
    of_kinds = pl.concat([reports.with_columns(period_kind=pl.lit("ttm")), annual])
    items = pl.DataFrame({"item": ITEM_NAMES})
    rows = of_kinds.select("cik", "period_kind", period_end="report_date").unique().join(items, how="cross")
    return rows.with_columns(
        pl.lit(COMPANY).alias(CLASS), reason=pl.lit(NOT_IN_COMPANYFACTS), rule=pl.lit(None, pl.String)
    )
