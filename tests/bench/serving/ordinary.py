"""An ordinary service for the same financials: FastAPI over the SQLite file DATABASE, without keys, limits or cache.

It runs with the packages of tests/bench/fastapi.lock.
"""

import os
import sqlite3
import threading
from typing import Annotated, Literal

from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel

ITEMS = (
    "revenue",
    "net_income",
    "eps_basic",
    "dividends_per_share",
    "free_cash_flow",
    "shares_basic",
    "shares_diluted",
    "total_debt",
    "cash_and_equivalents",
    "roic",
    "debt_to_fcf",
)
FINANCIALS = f"""
SELECT period, period_end, fiscal_year, fiscal_quarter, {", ".join(ITEMS)} FROM financials
WHERE symbol = ? AND period_kind = ? ORDER BY period_end DESC LIMIT ?
"""


class Period(BaseModel):
    period: str
    period_end: str
    fiscal_year: int
    fiscal_quarter: int
    values: dict[str, float]


class Meta(BaseModel):
    symbol: str
    currency: str
    period: str
    items: tuple[str, ...]
    count: int


class Financials(BaseModel):
    data: list[Period]
    meta: Meta


app = FastAPI()
threads = threading.local()


def connection() -> sqlite3.Connection:
    """The connection of this thread."""
    if not hasattr(threads, "connection"):
        threads.connection = sqlite3.connect(f"file:{os.environ['DATABASE']}?mode=ro", uri=True)
    return threads.connection


@app.get("/v1/companies/{symbol}/financials")
def list_financials(
    symbol: str, period: Literal["ttm", "annual"] = "ttm", limit: Annotated[int, Query(ge=1, le=40)] = 20
) -> Financials:
    company = connection().execute("SELECT currency FROM companies WHERE symbol = ?", [symbol.upper()]).fetchone()
    if company is None:
        raise HTTPException(404)
    periods = [
        Period(
            period=label,
            period_end=end,
            fiscal_year=year,
            fiscal_quarter=quarter,
            values={item: value for item, value in zip(ITEMS, values, strict=True) if value is not None},
        )
        for label, end, year, quarter, *values in connection().execute(FINANCIALS, [symbol.upper(), period, limit])
    ]
    meta = Meta(symbol=symbol.upper(), currency=company[0], period=period, items=ITEMS, count=len(periods))
    return Financials(data=periods, meta=meta)
