"""Table `valuations`: the fair value of each series of a company.

Belongs here: the inputs of the valuation model, with a series in the place of a company. Does not: the model
(valuation.table).
"""

from datetime import date

import polars as pl

from pipelines.normalize.classes import symbols
from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.classes.symbols import SERIES_MEMBER
from pipelines.normalize.history.log import TWELVE_MONTHS, with_later_columns
from pipelines.normalize.items.earnings import ONE_CLASS_REASON
from pipelines.normalize.items.line_items import served
from pipelines.storage.lake import LimitedLake
from pipelines.tables.gaps import found_by_rules
from pipelines.valuation.table import valuations
from warehouse.contract.line_items import SERVED_NAMES


def of_series(
    part: LimitedLake, versions: pl.DataFrame, current: pl.DataFrame, newest_filing: date, series: pl.DataFrame
) -> pl.DataFrame:
    """Table `valuations`: the fair value of each series with a symbol, or the reasons why it is missing."""
    of_symbols = series.select("cik", SERIES_MEMBER).unique(maintain_order=True)
    others = current.select("cik").unique(maintain_order=True).join(of_symbols, on="cik", how="anti")
    valued = pl.concat([of_symbols, others.with_columns(pl.lit(COMPANY).alias(SERIES_MEMBER))])
    row = ["cik", "period_kind", "period_end"]
    newest = pl.col("period_end") == pl.col("period_end").max().over("cik", "period_kind")
    narrow = current.filter(pl.col("item").is_in(SERVED_NAMES)).select(*row, CLASS, "period", "item", "value", "tag")
    of_items = symbols.rows_of_series(narrow, valued)
    ends = of_items.select(*row, SERIES_MEMBER, "period", "item", "tag", value=served("value")).filter(
        (pl.col("period_kind") == "annual") | newest
    )
    of_revenue = pl.col("item") == "revenue", pl.col("value").is_not_null()
    revenues = versions.select(*row, "item", "version", "cause", value=served("value")).filter(*of_revenue)
    revenues = revenues.join(ends, on=row, how="semi")
    profiles, evidence, filings, revenues = (
        _numbered(rows.join(valued, on="cik", maintain_order="left"))
        for rows in (part.read("profiles"), part.read("evidence"), part.read("filings"), revenues)
    )
    of_one_class = _of_one_class(part)
    shares = (
        with_later_columns(part.read("latest_shares"))
        .filter(~pl.col("cik").is_in(of_one_class))
        .rename({CLASS: SERIES_MEMBER})
        .join(valued, on=["cik", SERIES_MEMBER], how="semi")
    )
    evidence, shares = (rows.drop(CLASS) for rows in (evidence, _numbered(shares)))
    found = valuations(_numbered(ends), revenues, profiles, evidence, shares, filings, newest_filing)
    place = pl.col("cik").str.split(" ")
    return found.with_columns(place.list.get(1).alias(CLASS), cik=place.list.first())


def _of_one_class(part: LimitedLake) -> list[str]:
    """The companies whose newest share count covers only one of several classes; no fair value is divided by it."""
    gaps = found_by_rules(part, TWELVE_MONTHS).filter(pl.col("reason") == ONE_CLASS_REASON, pl.col(CLASS) == COMPANY)
    newest = (
        gaps.group_by("cik")
        .agg(pl.col("period_end").max())
        .join(
            part.read("periods").group_by("cik").agg(pl.col("period_end").max()), on=["cik", "period_end"], how="semi"
        )
    )
    return newest["cik"].to_list()


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with a name of each series in place of the CIK, because the valuation model treats a series as a company."""
    return rows.with_columns(cik=pl.concat_str("cik", SERIES_MEMBER, separator=" ")).rename({SERIES_MEMBER: CLASS})
