"""Tables `valuations` and `projections`: a row of each covered company, and the projected years of each fair value.

Belongs here: gathering the data of each company from frames, and writing inputs and results of the model as columns and
as JSON. Does not: the model (model), its starting values (history), when it does not fit (reasons).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

import polars as pl

from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.classes.symbols import NOT_STATED
from pipelines.normalize.shares import latest as newest
from pipelines.normalize.shares.moves import FINEST_EARNINGS
from pipelines.valuation.history import Year, base_of, comparable, growth_of
from pipelines.valuation.model import PERPETUAL_GROWTH, PROJECTION_YEARS, REQUIRED_RETURN, Projection, fade, project
from pipelines.valuation.reasons import CompanyData, Shares, reasons, stale_after
from warehouse.contract.line_items import ITEM_NAMES

AS_CONVERTED = 0.05
"""If the count of a class differs by at most this share from net income over earnings per share, it is the count of all
shares, in units of the class. Dilution is hardly more."""
GRID_RETURNS = (0.075, 0.085, 0.095)
GRID_GROWTHS = (0.015, 0.025, 0.035)
SIGNIFICANT_DIGITS = 6

RESTATING = ("restatement", "reclassification", "accounting_change", "entity_change", "basis_change", "lines_changed")
"""Causes of versions after which a year is on another basis than the years that were not restated with it."""

NUMBERS = (
    *("base_free_cash_flow", "initial_growth", "perpetual_growth", "required_return", "shares"),
    *("present_value_of_projection", "present_value_of_terminal_value", "equity_value", "net_debt"),
    *("lowest_fair_value_per_share", "highest_fair_value_per_share"),
)
YEAR_NUMBERS = ("growth", "free_cash_flow", "discount_factor", "present_value")
VALUATIONS = pl.Schema(
    {
        "cik": pl.String(),
        "meaningful": pl.Boolean(),
        "fair_value_per_share": pl.Float64(),
        "reasons": pl.String(),
        "assumptions": pl.String(),
        "projection": pl.String(),
        "reason_codes": pl.List(pl.String()),
        "period": pl.String(),
        "period_end": pl.Date(),
        "base_is_normalized": pl.Boolean(),
        **dict.fromkeys(NUMBERS, pl.Float64()),
        "years": pl.List(pl.Struct({"year": pl.Int32(), **dict.fromkeys(YEAR_NUMBERS, pl.Float64())})),
        "stale_after": pl.Date(),
    }
)
"""Table `valuations`; the projected `years`; and `stale_after`, the last filing date of any company at which the data
is not stale."""

Row = dict[str, Any]


def valuations(
    current: pl.DataFrame,
    revenues: pl.DataFrame,
    profiles: pl.DataFrame,
    evidence: pl.DataFrame,
    latest_shares: pl.DataFrame,
    filings: pl.DataFrame,
    newest_filing: date,
) -> pl.DataFrame:
    """The fair value of each company that has any value, or the reasons why it has none: columns of VALUATIONS.

    Args:
        current: current values of the fiscal years and of the newest twelve months: `cik`, `period_kind`, `period_end`,
            `period`, `item`, `value` (as served), `tag` (of the first leg).
        revenues: all versions of revenue that have a value: `cik`, `period_kind`, `period_end`, `value`, `version`,
            `cause`.
        profiles: `cik`, `currency`, `industry`, `class_member`: the class of stock of the series, empty for the series
            of a company, or NOT_STATED.
        evidence: of normalize.evidence.
        latest_shares: of normalize.latest_shares.
        filings: `cik`, `form`, `filed`.
        newest_filing: the newest filing date of the whole source, which shows whether data is stale.
    """
    periods = _periods(current, revenues)
    companies = (
        periods.select("cik")
        .unique()
        .join(profiles.select("cik", "currency", "industry", CLASS), on="cik")
        .join(evidence, on="cik", how="left")
        .join(latest_shares.rename({"period_end": "shares_end"}), on="cik", how="left")
        .join(_annual_forms(filings), on="cik", how="left")
        .sort("cik")
    )
    held = {cik: rows.to_dicts() for (cik,), rows in periods.group_by("cik", maintain_order=True)}
    rows = [_valued(company, held[company["cik"]], newest_filing) for company in companies.iter_rows(named=True)]
    return pl.DataFrame(rows, schema=VALUATIONS, orient="row")


def projections(valued: pl.DataFrame) -> pl.DataFrame:
    """Table `projections`: the projected years of the valuations that have them, one row a year."""
    return valued.select("cik", CLASS, "years").drop_nulls("years").explode("years").unnest("years")


def _periods(current: pl.DataFrame, revenues: pl.DataFrame) -> pl.DataFrame:
    """One row a company, period kind and period end, oldest first: items, accounting standards and `restated`."""
    key = ["cik", "period_kind", "period_end"]
    is_cash_flow, is_revenue = pl.col("item") == "free_cash_flow", pl.col("item") == "revenue"
    standard = pl.col("tag").str.split(":").list.first()
    wide = current.group_by(key).agg(
        pl.col("period").first(),
        *(pl.col("value").filter(pl.col("item") == item).first().alias(item) for item in ITEM_NAMES),
        standard=pl.coalesce(standard.filter(which).first() for which in (is_cash_flow, is_revenue)),
    )
    ratio = pl.col("value") / pl.col("value").shift().over(key)
    moved = pl.when(pl.col("cause").is_in(RESTATING), ratio > 0, ratio.is_finite()).then(ratio)
    ordered = revenues.select(*key, "version", "value", "cause").sort(*key, "version")
    restated = (
        ordered.with_columns(moved=moved)
        .group_by(key)
        .agg(restated=pl.col("moved").product(), is_repriced=(pl.col("cause") == "purchasing_power").any())
    )
    return wide.join(restated, on=key, how="left").sort(key)


def _annual_forms(filings: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `annual_form`: the form of the newest annual report without its suffix; 6-K if there are only 6-Ks."""
    form = pl.col("form").str.slice(0, 4).str.strip_suffix("/")
    return (
        filings.with_columns(annual_form=form)
        .filter(pl.col("annual_form").is_in(["10-K", "20-F", "40-F", "6-K"]))
        .sort("cik", pl.col("annual_form") != "6-K", "filed")
        .group_by("cik", maintain_order=True)
        .agg(pl.col("annual_form").last())
    )


def _valued(company: Row, periods: Sequence[Row], newest_filing: date) -> Row:
    """The row of one company."""
    last = [row for row in periods if row["period_kind"] == "ttm"][-1]
    known = _known(company, last, [row for row in periods if row["period_kind"] == "annual"], newest_filing)
    codes = reasons(known)
    base = {"period": last["period"], "period_end": last["period_end"]}
    of_base = {**base, "period_end": last["period_end"].isoformat()}
    row = {
        "cik": company["cik"],
        "meaningful": not codes,
        "reasons": json.dumps(codes),
        "reason_codes": codes,
        "stale_after": stale_after(known),
        **base,
    }
    if codes:
        return row | {"assumptions": json.dumps(of_base)}
    value, details, projection = _fair_value(known)
    debt, cash = last["total_debt"], last["cash_and_equivalents"]
    net_debt = None if debt is None or cash is None else debt - cash
    values = [cell["fair_value_per_share"] for cell in details["sensitivity"]]
    assumed = details["assumptions"]
    return row | {
        **{name: given[name] for given in (assumed, details) for name in NUMBERS if name in given},
        "base_is_normalized": assumed["base_is_normalized"],
        "net_debt": net_debt,
        "fair_value_per_share": value,
        "assumptions": json.dumps({**of_base, **details, "net_debt": net_debt}),
        "projection": json.dumps(projection),
        "lowest_fair_value_per_share": min(values),
        "highest_fair_value_per_share": max(values),
        "years": projection,
    }


def _known(company: Row, last: Row, annual: Sequence[Row], newest_filing: date) -> CompanyData:
    """The data of a company that the tests use."""
    trailing = _year(last)
    years, has_break = comparable([_year(row) for row in annual])
    spent = company["capital_expenditure_end"]
    flows = company["operating_cash_flow_end"]
    return CompanyData(
        industry=company["industry"],
        annual_form=company["annual_form"] or "",
        currency=company["currency"],
        newest_currency=company["newest_currency"],
        newest_filing=newest_filing,
        trailing=trailing,
        no_capital_expenditure=flows is not None and (spent is None or spent < flows),
        customer_funds_end=company["customer_funds_end"],
        years=years,
        has_break=has_break,
        growth=growth_of(trailing, years),
        class_not_stated=company[CLASS] == NOT_STATED,
        **_counts(company, last),
    )


def _year(row: Row) -> Year:
    return Year(
        end=row["period_end"],
        free_cash_flow=row["free_cash_flow"],
        revenue=row["revenue"],
        standard=row["standard"] or "",
        restated=row["restated"] or 1.0,
        is_repriced=bool(row["is_repriced"]),
    )


PERIODS = {
    newest.QUARTER: "the quarter that ends on {}",
    newest.DIFFERENCE: "the quarter that ends on {}, by difference of longer periods",
    newest.TO_DATE: "the fiscal year to date that ends on {}, because no quarter is filed",
}


def _counts(company: Row, last: Row) -> Row:
    """The count that the value is divided by, and the twelve months' average; for a class, all shares in its units.

    The count of a class covers all shares if it is about net income over earnings per share. Otherwise this quotient is
    used (shares as converted, ASC 260-10-45-60B).
    """
    count, of_year = _shares(company), last["shares_diluted"] or last["shares_basic"]
    if company[CLASS] == COMPANY:
        return {"shares": count, "shares_of_year": of_year}
    earned, income = last["eps_basic"], last["net_income"]
    if not earned or not income or abs(earned) < FINEST_EARNINGS or earned * income < 0:
        return {"shares": None, "shares_of_year": None}
    converted = income / earned
    if count and of_year and abs(of_year / converted - 1) <= AS_CONVERTED:
        return {"shares": count, "shares_of_year": of_year}
    method = "Net income of twelve months over earnings per share of the class: all shares as converted into it."
    return {"shares": Shares(round(converted), last["period_end"], method), "shares_of_year": converted}


def _shares(company: Row) -> Shares | None:
    """Diluted shares; in a loss basic shares, because potential shares would reduce it (ASC 260-10-45-17).

    In a loss filers state the same count for both. If no diluted count was filed for a year, basic shares are used.
    """
    basic, diluted, income = company["shares_basic"], company["shares_diluted"], company["net_income"]
    is_loss = income is not None and income < 0
    is_basic = bool(basic) and (is_loss or not company["has_diluted"])
    count = basic if is_basic else diluted
    if not count:
        return None
    kind, why = ("basic", ", for it made a loss" if is_loss else "") if is_basic else ("diluted", "")
    period = PERIODS[company["method"]].format(company["shares_end"])
    return Shares(round(count), company["shares_end"], f"Weighted average {kind} shares of {period}{why}.")


def _fair_value(known: CompanyData) -> tuple[float, Row, list[Row]]:
    """Value per share; inputs and results of the model with the names of the interface; the projected years.

    Amounts are in whole units of currency. Each is rounded before it is used, so that the shown amounts add up to the
    value to the last digit.
    """
    if known.growth is None or known.shares is None:
        raise ValueError("a company without growth or shares is not valued")
    base, initial, shares = base_of(known.trailing, known.years), known.growth.rate, known.shares.count

    def projected(required_return: float, perpetual_growth: float) -> Projection:
        growth = fade(initial, perpetual_growth)
        return project(base.free_cash_flow, growth, required_return, perpetual_growth, decimals=0)

    found = projected(REQUIRED_RETURN, PERPETUAL_GROWTH)
    details = {
        "assumptions": {
            "required_return": REQUIRED_RETURN,
            "perpetual_growth": PERPETUAL_GROWTH,
            "projection_years": PROJECTION_YEARS,
            "base_free_cash_flow": base.free_cash_flow,
            "base_is_normalized": base.is_normalized,
            "base_method": base.method,
            "reported_free_cash_flow": known.trailing.free_cash_flow,
            "initial_growth": initial,
            "growth_method": known.growth.method,
            "shares": shares,
            "shares_method": known.shares.method,
        },
        "present_value_of_projection": found.present_value_of_projection,
        "terminal_value": found.terminal_value,
        "present_value_of_terminal_value": found.present_value_of_terminal_value,
        "terminal_share": _significant(found.terminal_share),
        "equity_value": found.equity_value,
        "sensitivity": [
            {
                "required_return": required_return,
                "perpetual_growth": growth,
                "fair_value_per_share": _significant(projected(required_return, growth).equity_value / shares),
            }
            for required_return in GRID_RETURNS
            for growth in GRID_GROWTHS
        ],
    }
    return _significant(found.equity_value / shares), details, [asdict(year) for year in found.years]


def _significant(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
