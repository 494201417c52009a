"""Conversion of warehouse rows to responses: envelopes, numbers, links.

Belongs here: filling the shapes of section 2. Does not: their fields (models), the queries (warehouse.queries.queries),
the endpoints (endpoints).
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from serve import names
from serve.api import models
from serve.clock import timestamp
from serve.http.caching import Answer
from serve.http.errors import ApiError
from warehouse.contract import served_rows
from warehouse.contract.reasons import NO_FAIR_VALUE

Json = dict[str, Any]

EXACT = 2.0**53  # largest magnitude up to which a double represents every integer exactly
FILINGS = (
    "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK={cik}&type={form}&dateb=&owner=include&count=40"
)
FORMS = {"20-F": "20-F", "40-F": "40-F"}  # by the form of the newest annual report; others: 10-K and 10-Q


def success(data: object, meta: msgspec.Struct, now: float, headers: Mapping[str, str]) -> Response:
    """A 200 response with `data` and `meta`."""
    return plain(body(data, meta, now), headers)


def document(data: object, meta: msgspec.Struct, now: float) -> bytes:
    """The encoded body of a success; `data` may be encoded already (bytes), `meta` has the endpoint's own fields."""
    text = data if isinstance(data, bytes) else encoded(data)
    return b'{"data":%b,"meta":%b,%b}}' % (text, encoded(meta)[:-1], _common(int(now)))


def body(data: object, meta: msgspec.Struct, now: float) -> Json:
    """The body of a success: `data`, and `meta` with the endpoint's own fields and the common ones (section 2.1)."""
    return {"data": data, "meta": {**msgspec.structs.asdict(meta), **msgspec.structs.asdict(common(now))}}


def common(now: float) -> models.Common:
    """The common fields of `meta` (section 2.1)."""
    return models.Common(source="SEC EDGAR", api_version="v1", generated_at=timestamp(now))


@lru_cache(maxsize=8)
def _common(second: int) -> bytes:
    """The common fields as JSON members, without braces."""
    return encoded(common(second))[1:-1]


def plain(content: object, headers: Mapping[str, str]) -> Response:
    """A 200 response without an envelope, for the OpenAPI description."""
    return _json(content, 200, headers)


def failure(error: ApiError, pages: str) -> Response:
    """An error response: the envelope of section 7."""
    return _json(error.envelope(pages), error.status, error.headers or {})


def answer(error: ApiError, pages: str) -> Answer:
    """An error response that is ready to be sent."""
    response = failure(error, pages)
    head = [b"%s: %s\r\n" % field for field in response.raw_headers]
    return Answer(response.status_code, head, bytes(response.body))


def company(row: served_rows.Company, updated_at: str | None) -> models.Company:
    """A Company (section 2.2); `updated_at` is the time of its last synchronization, None if unknown."""
    return models.Company(**_company(row, updated_at))


def profile(
    row: served_rows.Company, updated_at: str | None, held: served_rows.Coverage, annual_form: str | None, base_url: str
) -> models.CompanyProfile:
    """A Company profile (section 2.3)."""
    address = f"{base_url}/companies/{quote(row.symbol, safe='')}"
    return models.CompanyProfile(
        **_company(row, updated_at),
        fiscal_year_end_month=row.fiscal_year_end_month,
        coverage=models.Coverage(
            first_period=models.LabelledPeriod(*held.first_period),
            last_period=models.LabelledPeriod(*held.last_period),
            ttm_periods=held.ttm_periods,
            annual_periods=held.annual_periods,
            line_items=held.line_items,
        ),
        links=models.Links(
            sec_filings=filings_url(row.cik, annual_form),
            financials=f"{address}/financials",
            valuation=f"{address}/valuation",
        ),
    )


def period(row: served_rows.Period, items: tuple[str, ...]) -> models.FinancialPeriod:
    """A Financial period (section 2.5); an item without a value is left out, because it is not zero."""
    values = zip(items, row.values, strict=True)
    return models.FinancialPeriod(
        period=row.period,
        period_end=row.period_end,
        fiscal_year=row.fiscal_year,
        fiscal_quarter=row.fiscal_quarter,
        values=models.Values({item: number(value) for item, value in values if value is not None}),
    )


def revision(row: served_rows.Revision) -> models.Revision:
    """A Revision (section 2.6).

    Only versions with a value are listed; a version without a value withdraws the item, and if it is the latest, no
    listed version is current.
    """
    return models.Revision(
        period=row.period,
        period_end=row.period_end,
        item=row.item,
        current_value=_number(row.current_value),
        versions=tuple(
            models.Version(version.version, number(version.value), version.is_current, version.recorded_at)
            for version in row.versions
        ),
    )


def valuation(of: served_rows.Company, row: served_rows.Valuation) -> models.FairValue | models.NoFairValue:
    """The valuation of a company (section 4.5).

    The column `assumptions` contains the model's inputs and results under the names of the shape, except the fair value
    and the projected years; if the model does not fit the company, only the base period.
    """
    fields = {"symbol": of.symbol, "currency": of.currency, **_numbers(row.assumptions), "meaningful": row.meaningful}
    if not row.meaningful:
        message = " ".join(NO_FAIR_VALUE[code] for code in row.reasons)
        reason = {"code": row.reasons[0], "message": message, "codes": row.reasons}
        return msgspec.convert({**fields, "reason": reason}, models.NoFairValue)
    value, projection = _number(row.fair_value_per_share), _numbers(row.projection)
    return msgspec.convert({**fields, "fair_value_per_share": value, "projection": projection}, models.FairValue)


def number(value: float) -> models.Number:
    """A double as a JSON number: an integer if it is whole. Published doubles are finite (see
    warehouse.build.publish)."""
    return int(value) if value.is_integer() and abs(value) <= EXACT else value


def _number(value: float | None) -> models.Number | None:
    return None if value is None else number(value)


def filings_url(cik: str, annual_form: str | None) -> str:
    """The SEC's list of a company's periodic filings."""
    return FILINGS.format(cik=cik, form=FORMS.get(annual_form or "", "10-"))


def _company(row: served_rows.Company, updated_at: str | None) -> Json:
    fields = {name: getattr(row, name) for name in models.Company.__struct_fields__}
    shown = row.name and names.shown(row.name)
    return {**fields, "name": shown, "data_updated_at": updated_at or row.data_updated_at}


def _numbers(text: str) -> Any:
    """Decode a JSON column, with whole numbers as integers."""
    return json.loads(text, parse_float=lambda digits: number(float(digits)))


def encoded(content: object) -> bytes:
    """The bytes of a response body."""
    return msgspec.json.encode(content)


def _json(content: object, status: int, headers: Mapping[str, str]) -> Response:
    return Response(encoded(content), status, headers, media_type="application/json")
