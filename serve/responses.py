"""What a client sees: envelopes, numbers, links.

Belongs here: how rows of the warehouse become the JSON of section 2. Does not: which rows (queries), when (routes).
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from serve.clock import timestamp
from serve.errors import ApiError
from warehouse.queries import Company, Coverage, Period, Revision

EXACT = 2.0**53  # beyond, a double is no longer sure of its integer
FILINGS = (
    "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK={cik}&type={form}&dateb=&owner=include&count=40"
)
FORMS = {"20-F": "20-F", "40-F": "40-F"}  # by the form of the newest annual report; the others file 10-K and 10-Q

Json = dict[str, Any]


def success(data: object, meta: Mapping[str, object], now: float, headers: Mapping[str, str]) -> Response:
    """A 200: `data`, and `meta` with the fields that every answer has (section 2.1)."""
    common = {"source": "SEC EDGAR", "api_version": "v1", "generated_at": timestamp(now)}
    return _json({"data": data, "meta": {**meta, **common}}, 200, headers)


def failure(error: ApiError, pages: str) -> Response:
    """The answer to a request that failed: the one envelope of section 7."""
    return _json(error.envelope(pages), error.status, error.headers or {})


def company(row: Company, updated_at: str | None) -> Json:
    """A Company (section 2.2); `updated_at` is the time of its last synchronization, where that is known."""
    return {
        "symbol": row.symbol,
        "name": row.name,
        "exchange": row.exchange,
        "cik": row.cik,
        "sic": row.sic,
        "sic_description": row.sic_description,
        "currency": row.currency,
        "first_period_end": row.first_period_end,
        "last_period_end": row.last_period_end,
        "data_updated_at": updated_at or row.data_updated_at,
    }


def profile(row: Company, updated_at: str | None, held: Coverage, annual_form: str | None, base_url: str) -> Json:
    """A Company profile (section 2.3)."""
    address = f"{base_url}/companies/{quote(row.symbol, safe='')}"
    return {
        **company(row, updated_at),
        "fiscal_year_end_month": row.fiscal_year_end_month,
        "coverage": {
            "first_period": _labelled(held.first_period),
            "last_period": _labelled(held.last_period),
            "ttm_periods": held.ttm_periods,
            "annual_periods": held.annual_periods,
            "line_items": held.line_items,
        },
        "links": {
            "sec_filings": filings_url(row.cik, annual_form),
            "financials": f"{address}/financials",
            "valuation": f"{address}/valuation",
        },
    }


def period(row: Period, items: tuple[str, ...]) -> Json:
    """A Financial period (section 2.5): an item without a value is left out, for it is not zero."""
    values = zip(items, row.values, strict=True)
    return {
        "period": row.period,
        "period_end": row.period_end,
        "fiscal_year": row.fiscal_year,
        "fiscal_quarter": row.fiscal_quarter,
        "values": {item: number(value) for item, value in values if value is not None},
    }


def revision(row: Revision) -> Json:
    """A Revision (section 2.6): the values only, for a version without one withdraws; then none is current."""
    return {
        "period": row.period,
        "period_end": row.period_end,
        "item": row.item,
        "current_value": None if row.current_value is None else number(row.current_value),
        "versions": [
            {
                "version": version.version,
                "value": number(version.value),
                "current": version.is_current,
                "recorded_at": version.recorded_at,
            }
            for version in row.versions
        ],
    }


def number(value: float) -> float | int:
    """A double as JSON shows it: an integer where it is whole. Published doubles are finite (see warehouse.publish)."""
    return int(value) if value.is_integer() and abs(value) <= EXACT else value


def filings_url(cik: str, annual_form: str | None) -> str:
    """The SEC's list of a company's periodic filings."""
    return FILINGS.format(cik=cik, form=FORMS.get(annual_form or "", "10-"))


def _labelled(labelled: tuple[str, str]) -> Json:
    label, end = labelled
    return {"period": label, "period_end": end}


def _json(body: object, status: int, headers: Mapping[str, str]) -> Response:
    return Response(msgspec.json.encode(body), status, headers, media_type="application/json")
