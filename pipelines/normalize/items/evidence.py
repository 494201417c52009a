"""Evidence: facts about a company, other than its line items, that decide whether a cash flow model fits it.

Belongs here: the currency of its newest report, the last periods of its cash flow statements, whether these include
customers' funds. Does not: its industry (industry), the decision (valuation.reasons).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.facts.reports import ANNUAL_FORMS
from pipelines.normalize.keys import any_of, dates, day_numbers, largest_of, places_in

REACHING = ("operating_cash_flow", "capital_expenditure", "customer_funds")
"""The amounts of cash flow statements whose last period is looked up."""

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
        vintages: amounts of filings in the reporting currency (stated.stated_concepts).

    Returns:
        `newest_currency`: the currency of most monetary facts of the newest annual report, or of all reports if there
        is none; and for each concept the last day of its last stated period, or null.
    """
    cik = ints(vintages, "cik")
    companies = np.unique(cik)
    place = places_in(REACHING, ints(vintages, "concept"))
    at = np.flatnonzero(place >= 0)
    group = place[at] * len(companies) + np.searchsorted(companies, cik[at])
    last = largest_of(group, len(REACHING) * len(companies), day_numbers(vintages["end"])[at])
    ends = {f"{name}_end": dates(days) for name, days in zip(REACHING, last.reshape(len(REACHING), -1), strict=True)}
    reach = pl.DataFrame({"cik": companies, **ends})
    return _newest_currency(periodic).join(reach, on="cik", how="left", maintain_order="left").select(EVIDENCE.names())


def _newest_currency(periodic: pl.DataFrame) -> pl.DataFrame:
    cik, filed = ints(periodic, "cik"), day_numbers(periodic["filed"])
    is_money = (periodic["measure"] == "money").to_numpy()
    is_annual = is_money & periodic["form_family"].is_in(ANNUAL_FORMS).to_numpy()
    companies = np.unique(cik)
    company = np.searchsorted(companies, cik)
    newest = largest_of(company[is_annual], len(companies), filed[is_annual])
    has_annual = any_of(company[is_annual], len(companies), is_annual[is_annual])
    counts = is_money & np.where(has_annual[company], is_annual & (filed == newest[company]), True)
    return (
        periodic.select("cik", "currency")
        .filter(counts)
        .group_by("cik", "currency")
        .len()
        .sort("cik", "len", "currency", descending=[False, True, False])
        .unique("cik", keep="first", maintain_order=True)
        .select("cik", newest_currency="currency")
    )
