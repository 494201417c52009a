"""What the facts tell of a company that its line items do not, and that decides whether a cash flow model fits it.

Belongs here: the currency of its newest report, how far its cash flow statements reach, whether customers' money passes
through them. Does not: its industry (industries), the judgement (valuation.reasons).
"""

import polars as pl

from pipelines.normalize.facts.reports import ANNUAL_FORMS

EVIDENCE = pl.Schema(
    {
        "cik": pl.Int64(),
        "newest_currency": pl.String(),
        "operating_cash_flow_end": pl.Date(),
        "capital_expenditure_end": pl.Date(),
        "customer_funds_end": pl.Date(),
    }
)


def evidence(periodic: pl.DataFrame, vintages: pl.DataFrame) -> pl.DataFrame:
    """One row a company: columns of EVIDENCE.

    Args:
        periodic: typed facts of all currencies (reports.typed).
        vintages: what the filings state, in the reporting currency (stated.stated_concepts).

    Returns:
        `newest_currency`: of most monetary facts of the newest annual report, or of all where there is none;
        and the last day of the last period that any filing states each concept for, null where none does.
    """
    ends = vintages.group_by("cik").agg(
        pl.col("end").filter(pl.col("concept") == concept).max().alias(f"{concept}_end")
        for concept in ("operating_cash_flow", "capital_expenditure", "customer_funds")
    )
    return _newest_currency(periodic).join(ends, on="cik", how="left").select(EVIDENCE.names())


def _newest_currency(periodic: pl.DataFrame) -> pl.DataFrame:
    filed = pl.col("filed").filter(pl.col("form_family").is_in(ANNUAL_FORMS)).max().over("cik")
    of_newest = pl.col("form_family").is_in(ANNUAL_FORMS) & (pl.col("filed") == filed)
    return (
        periodic.filter(pl.col("measure") == "money")
        .filter(of_newest | filed.is_null())
        .group_by("cik", "currency")
        .len()
        .sort("cik", "len", "currency", descending=[False, True, False])
        .group_by("cik", maintain_order=True)
        .agg(newest_currency=pl.col("currency").first())
    )
