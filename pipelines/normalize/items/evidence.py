"""Evidence: facts about a company, other than its line items, that decide whether a cash flow model fits it.

Belongs here: the currency of its newest report, the last periods of its cash flow statements, whether these include
customers' funds. Does not: its industry (industry), the decision (valuation.reasons).
"""

import polars as pl

from pipelines.normalize.forms import ANNUAL_FORMS


def evidence(periodic: pl.DataFrame, vintages: pl.DataFrame) -> pl.DataFrame:
    """The newest currency of each company, and the last days for which it states three amounts of its cash flows.

    Args:
        periodic: typed facts of all currencies (reports.typed).
        vintages: amounts of filings in the reporting currency (stated.stated_concepts).

    Returns:
        frame `evidence`, one row a company: `newest_currency`, the currency of most monetary facts of the newest annual
        report, or of all reports if there is no annual report; and for three amounts of cash flow statements, in
        columns `…_end`, the last day for which the amount is stated, or null.
    """
    reach = vintages.group_by("cik").agg(
        pl.col("end").filter(pl.col("concept") == name).max().alias(f"{name}_end")
        for name in ("operating_cash_flow", "capital_expenditure", "customer_funds")
    )
    return _newest_currency(periodic).join(reach, on="cik", how="left", maintain_order="left")


def _newest_currency(periodic: pl.DataFrame) -> pl.DataFrame:
    money = periodic.filter(pl.col("measure") == "money").select("cik", "currency", "form_family", "filed")
    annual = money.filter(pl.col("form_family").is_in(ANNUAL_FORMS))
    newest = annual.filter(pl.col("filed") == pl.col("filed").max().over("cik"))
    return (
        pl.concat([newest, money.join(annual, on="cik", how="anti")])
        .group_by("cik", "currency")
        .len()
        .sort("cik", "len", "currency", descending=[False, True, False])
        .unique("cik", keep="first", maintain_order=True)
        .select("cik", newest_currency="currency")
    )
