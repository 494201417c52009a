"""Responses: envelopes, and what a build does not know of a company: links, its last synchronization.

Belongs here: filling the shapes of section 2. Does not: their fields (models, warehouse.contract.served), the rows of a
build (warehouse.read.memory), the endpoints (endpoints).
"""

from functools import lru_cache
from typing import Any
from urllib.parse import quote

import msgspec

from serve import names
from serve.api import models
from serve.clock import timestamp
from serve.http.caching import Answer, body_lines
from warehouse.contract.served import Company, CompanyRow, Coverage

Json = dict[str, Any]

FILINGS = (
    "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK={cik}&type={form}&dateb=&owner=include&count=40"
)
FORMS = {"20-F": "20-F", "40-F": "40-F"}  # by the form of the newest annual report; others: 10-K and 10-Q


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


def success(data: object, meta: msgspec.Struct, now: float) -> Answer:
    """A 200 response that is not cached."""
    content = encoded(body(data, meta, now))
    return Answer(200, [body_lines(content)], content)


def company(row: CompanyRow, updated_at: str | None) -> Company:
    """A Company (section 2.2); `updated_at` is the time of its last synchronization, None if unknown."""
    return Company(**_company(row, updated_at))


def profile(
    row: CompanyRow, updated_at: str | None, held: Coverage, annual_form: str | None, base_url: str
) -> models.CompanyProfile:
    """A Company profile (section 2.3)."""
    address = f"{base_url}/companies/{quote(row.symbol, safe='')}"
    links = models.Links(filings_url(row.cik, annual_form), f"{address}/financials", f"{address}/valuation")
    month = row.fiscal_year_end_month
    return models.CompanyProfile(**_company(row, updated_at), fiscal_year_end_month=month, coverage=held, links=links)


def filings_url(cik: str, annual_form: str | None) -> str:
    """The SEC's list of a company's periodic filings."""
    return FILINGS.format(cik=cik, form=FORMS.get(annual_form or "", "10-"))


def _company(row: CompanyRow, updated_at: str | None) -> Json:
    fields = {name: getattr(row, name) for name in Company.__struct_fields__}
    shown = row.name and names.shown(row.name)
    return {**fields, "name": shown, "data_updated_at": updated_at or row.data_updated_at}


def encoded(content: object) -> bytes:
    """The bytes of a response body."""
    return msgspec.json.encode(content)
