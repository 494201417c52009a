"""Small published builds of fictional companies, for tests: Parquet files, through the real publishing.

Belongs here: rows that are easy to reason about, and the way from them to a published build.
Does not: what a pipeline makes of filings; the numbers here are no company's.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse import publish, schema

Rows = list[dict[str, Any]]

ARROW = {
    "VARCHAR": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMPTZ": pa.timestamp("us", tz="UTC"),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
}
SYNCHRONIZATION = {
    "sync_id": "s1",
    "started_at": "2026-03-02T06:00:00Z",
    "finished_at": "2026-03-02T06:05:00Z",
    "source": "sample",
}
MADE_AT = datetime(2026, 3, 1, 6, 0, tzinfo=UTC)
UPDATED = {"9990000001": "2026-03-02T06:04:00Z", "9990000003": "2026-03-02T06:04:30Z"}
QUARTER_ENDS = (date(2024, 3, 31), date(2024, 6, 30), date(2024, 9, 30), date(2024, 12, 31))


def companies() -> Rows:
    """Five listed symbols of four fictional companies, one that left the list, one without any period."""
    lantern = company("LNTR", 1, name="Lantern Harbor Works, Inc.", exchange="Nasdaq", sic="3571")
    return [
        lantern,
        {**lantern, "symbol": "LNTR-B", "is_primary": False},
        company("ABCX", 2, name="100% Maple_Syrup Co", exchange="NYSE", sic="2060"),
        company("FJRD", 3, name="Fjörd Shipping PLC", exchange=None, currency="EUR"),
        company("ODDY", 4, name=None, exchange="OTC"),
        company("GONE", 5, name="Gone Lantern Corp", exchange="NYSE", is_listed=False),
        company("VOID", 6, name="Nothing Filed Corp", exchange="NYSE", first_period_end=None, last_period_end=None),
    ]


def company(symbol: str, number: int, **values: Any) -> dict[str, Any]:
    """One row of `companies`; what is not given is as for any other."""
    return {
        "symbol": symbol,
        "cik": f"{9990000000 + number:010d}",
        "currency": "USD",
        "fiscal_year_end_month": 12,
        "is_primary": True,
        "is_listed": True,
        "first_period_end": QUARTER_ENDS[0],
        "last_period_end": QUARTER_ENDS[-1],
        "data_updated_at": MADE_AT,
        "sic_description": "Industrial Machinery and Computer Equipment" if values.get("sic") == "3571" else None,
        **values,
    }


def financials() -> Rows:
    """Trailing twelve months and years: a gap in one quarter, fractions, a zero, negatives, a row without values."""
    rows = []
    for symbol, primary in (("LNTR", True), ("LNTR-B", False)):
        who = {"symbol": symbol, "cik": "9990000001", "is_primary": primary}
        for quarter, end in enumerate(QUARTER_ENDS, 1):
            values = {"revenue": 1000.0 * quarter, "net_income": 100.0, "eps_basic": 1.25, "shares_basic": 80.0}
            if quarter == 2:
                values = {"revenue": 2000.0}
            rows.append(period(who, "ttm", end, quarter, **values))
        for year in (2022, 2023, 2024):
            values = {"revenue": 4000.0, "dividends_per_share": 0.0, "free_cash_flow": -50.5, "total_debt": 4.1e11}
            rows.append(period(who, "annual", date(year, 12, 31), 4, **values))
        rows.append(period(who, "annual", date(2021, 12, 31), 4))
    maple = {"symbol": "ABCX", "cik": "9990000002"}
    rows += [period(maple, "ttm", date(1970 + n // 4, 3 * (n % 4) + 3, 28), n % 4 + 1, roic=0.18) for n in range(50)]
    fjord = {"symbol": "FJRD", "cik": "9990000003", "currency": "EUR"}
    rows += [period(fjord, "annual", date(year, 12, 31), 4, revenue=7.0) for year in (2023, 2024)]
    rows.append(period({"symbol": "ODDY", "cik": "9990000004"}, "ttm", QUARTER_ENDS[0], 1))
    rows.append(period({"symbol": "GONE", "cik": "9990000005"}, "ttm", QUARTER_ENDS[0], 1, revenue=5.0))
    return rows


def period(who: Mapping[str, Any], kind: str, end: date, quarter: int, **values: float) -> dict[str, Any]:
    """One row of `financials`."""
    return {
        "is_primary": True,
        "currency": "USD",
        **who,
        "period_kind": kind,
        "period_end": end,
        "period": f"FY{end.year}" if kind == "annual" else f"{end.year}Q{quarter}",
        "fiscal_year": end.year,
        "fiscal_quarter": quarter,
        **values,
    }


def filings() -> Rows:
    """A domestic filer, one that moved to 20-F, one that files 40-F; the fourth has none."""
    made = [
        (1, "10-K", 2025, 2),
        (1, "10-Q", 2025, 5),
        (2, "10-K", 2023, 2),
        (2, "20-F/A", 2024, 3),
        (3, "40-F", 2025, 3),
    ]
    return [
        {
            "accession": f"{9990000000 + number:010d}-{year % 100:02d}-{serial:06d}",
            "cik": f"{9990000000 + number:010d}",
            "form": form,
            "filed": date(year, month, 15),
            "accepted_at": datetime(year, month, 15, 21, 30, tzinfo=UTC),
        }
        for serial, (number, form, year, month) in enumerate(made, 1)
    ]


def tables() -> dict[str, Rows]:
    """The rows of the small build, by table."""
    return {"companies": companies(), "financials": financials(), "filings": filings()}


def write(folder: Path, rows: Mapping[str, Rows]) -> dict[str, Path]:
    """Write one Parquet file a table, columns in another order than the schema's; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, table_rows in rows.items():
        columns = sorted(schema.BY_NAME[name].columns, key=lambda column: column.name)
        fields = pa.schema([(column.name, ARROW[column.type]) for column in columns])
        paths[name] = folder / f"{name}.parquet"
        pq.write_table(pa.Table.from_pylist(table_rows, schema=fields), paths[name])
    return paths


def publish_small(
    published: Path,
    build_id: str = "b1",
    rows: Mapping[str, Rows] | None = None,
    updated: Mapping[str, str] = UPDATED,
    **synchronization: str,
) -> publish.Build:
    """Publish the small build, or other rows, and point to it."""
    paths = write(published.parent / "tables", tables() if rows is None else rows)
    made = publish.build(published, paths, build_id)
    publish.point(
        published, made, inputs="fictional", synchronization=SYNCHRONIZATION | synchronization, updated=updated
    )
    return made
