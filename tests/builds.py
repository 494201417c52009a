"""Small published builds of fictional companies, for tests: Parquet files, published with the real code.

Belongs here: simple rows, and publishing them.
Does not: values that a pipeline computes from filings; these numbers are invented.
"""

import atexit
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from serve.api import examples
from warehouse.build import overlay, publish
from warehouse.build.digest import digests_of
from warehouse.build.pointer import copies_of
from warehouse.build.rows import Rows as FiledRows
from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.table import filed_of

Rows = list[dict[str, Any]]

ARROW = {
    "VARCHAR": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR[]": pa.list_(pa.string()),
}
SYNCHRONIZATION = {
    "sync_id": "s1",
    "started_at": "2026-03-02T06:00:00Z",
    "finished_at": "2026-03-02T06:05:00Z",
    "source": "sample",
}
MADE_AT = datetime(2026, 3, 1, 6, 0)  # noqa: DTZ001 - times of the tables are in UTC, without saying so
FIRST_AT = datetime(2026, 2, 1, 6, 0)  # noqa: DTZ001
UPDATED = {"9990000001": "2026-03-02T06:04:00Z", "9990000003": "2026-03-02T06:04:30Z"}
QUARTER_ENDS = (date(2024, 3, 31), date(2024, 6, 30), date(2024, 9, 30), date(2024, 12, 31))
MAPLE = {"roic": 0.18, "revenue": 100.0, "net_income": 10.0, "eps_basic": 0.5, "total_debt": 0.0}
YEAR_END = QUARTER_ENDS[-1]
PUBLISHED = date(2025, 2, 15)
AMENDED = date(2025, 5, 15)
Known = tuple[float | None, date, datetime | None, str]  # value, filed, recorded, cause
HISTORIES: dict[tuple[str, str, date, str], list[Known]] = {
    ("9990000001", "ttm", YEAR_END, "revenue"): [
        (3900.0, PUBLISHED, None, "initial"),
        (4000.0, AMENDED, FIRST_AT, "restatement"),
    ],
    ("9990000001", "ttm", YEAR_END, "eps_basic"): [
        (1.2, PUBLISHED, FIRST_AT, "initial"),
        (1.25, PUBLISHED, MADE_AT, "precision"),
    ],
    ("9990000001", "annual", YEAR_END, "revenue"): [
        (3900.5, PUBLISHED, None, "initial"),
        (4100.0, AMENDED, FIRST_AT, "restatement"),
        (4000.0, AMENDED, MADE_AT, "method"),
    ],
    ("9990000001", "annual", date(2023, 12, 31), "roic"): [
        (0.2, date(2024, 2, 15), FIRST_AT, "initial"),
        (None, date(2024, 2, 15), MADE_AT, "method"),
    ],
    ("9990000001", "annual", date(2022, 12, 31), "dividends_per_share"): [
        (0.5, date(2023, 2, 15), FIRST_AT, "initial"),
        (None, date(2023, 2, 15), MADE_AT, "method"),
        (0.0, PUBLISHED, MADE_AT, "reclassification"),
    ],
}
"""Values of LNTR with two versions, with three, withdrawn, and withdrawn and restored. All others have one; ABCX two.
"""


def companies() -> Rows:
    """Five listed symbols of four fictional companies, a delisted symbol, and a company without any period.

    The number of a company is the end of its CIK: LNTR has 9990000001, ABCX 9990000002. Tests of endpoints request
    LNTR. The pages show requests for ABCX, the first symbol; without rows of it their examples are empty.
    """
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
    """One row of `companies`, with defaults."""
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
    rows += [period(maple, "ttm", date(1970 + n // 4, 3 * (n % 4) + 3, 28), n % 4 + 1, **MAPLE) for n in range(50)]
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


def versions() -> Rows:
    """The versions of each value of `financials`, and of the withdrawn one."""
    rows = []
    for told in filter(lambda row: row["is_primary"], financials()):
        for item in ITEM_NAMES:
            key = (told["cik"], told["period_kind"], told["period_end"], item)
            known = HISTORIES.get(key) or (history(told, item) if item in told else [])
            rows += [version(told, item, number, *of, number == len(known)) for number, of in enumerate(known, 1)]
    return rows


def history(told: Mapping[str, Any], item: str) -> list[Known]:
    """The only version of a value; for ABCX also a version of five days before."""
    filed = told["period_end"] + timedelta(days=45)
    known: list[Known] = [(told[item], filed, FIRST_AT, "initial")]
    if told["symbol"] == "ABCX":
        known.insert(0, (told[item] - 1, filed - timedelta(days=5), None, "initial"))
    return known


def version(
    of: Mapping[str, Any],
    item: str,
    number: int,
    value: float | None,
    filed: date,
    recorded_at: datetime | None,
    cause: str,
    is_current: bool,
) -> dict[str, Any]:
    """One row of `versions`; its filing is the company's first of that day, or is not in table `filings`."""
    held = [row for row in filings() if (row["cik"], row["filed"]) == (of["cik"], filed)]
    return {
        "cik": of["cik"],
        "period_kind": of["period_kind"],
        "period_end": of["period_end"],
        "period": of["period"],
        "item": item,
        "version": number,
        "value": value,
        "is_current": is_current,
        "recorded_at": recorded_at,
        "known_at": datetime(filed.year, filed.month, filed.day, 21, 30),  # noqa: DTZ001
        "filed": filed,
        "accession": held[0]["accession"] if held else f"{of['cik']}-{filed:%y}-{filed:%m%d}00",
        "form": held[0]["form"] if held else "10-K",
        "cause": cause,
        "method": "fiscal_year",
        "flags": "",
        "rule": "ttm.four-quarters",
    }


def lineage(of: Rows) -> Rows:
    """Two legs of each version with a value: from the filing of the version, and from an earlier one."""
    return [
        {
            **{name: row.get(name) for name in schema.BY_NAME["lineage"].key if name != "leg"},
            "leg": leg,
            "tag": "us-gaap/Revenues",
            "unit": "USD",
            "end": row["period_end"],
            "value": row["value"],
            "operation": "sum",
            "weight": 0.5,
            "split_factor": 1.0,
            "accession": row["accession"],
            "form": row["form"],
            "filed": row["filed"] - timedelta(days=(leg - 1) * 30),
            "concept": "revenue",
            "rule": "revenue.total",
        }
        for row in of
        if row["value"] is not None
        for leg in (1, 2)
    ]


def with_filing_dates(told: Rows, of: Rows, legs: Rows) -> Rows:
    """Rows of `financials` with the filing date of each current value, and the first and the last of their legs."""
    key = ("cik", "period_kind", "period_end")
    value = (*key, "item", "version")
    current = {tuple(row[name] for name in value) for row in of if row["is_current"]}
    filing_dates: dict[tuple[Any, ...], dict[str, date]] = {}
    for row in of:
        if row["is_current"] and row["value"] is not None:
            item = filed_of(row["item"])
            filing_dates.setdefault(tuple(row[name] for name in key), {})[item] = row["filed"]
    filed: dict[tuple[Any, ...], list[date]] = {}
    for leg in legs:
        if tuple(leg[name] for name in value) in current:
            filed.setdefault(tuple(leg[name] for name in key), []).append(leg["filed"])
    dated = []
    for row in told:
        days = filed.get(tuple(row[name] for name in key))
        dates = {"first_filed": min(days), "last_filed": max(days)} if days else {}
        dated.append({**row, **dates, **filing_dates.get(tuple(row[name] for name in key), {})})
    return dated


def filings() -> Rows:
    """A domestic filer, a filer that changed to 20-F, and a filer of 40-F; the fourth company has no filings."""
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
            "accepted_at": datetime(year, month, 15, 21, 30),  # noqa: DTZ001
            "url": f"https://filings.example.org/{number}/{serial}",
        }
        for serial, (number, form, year, month) in enumerate(made, 1)
    ]


def tables() -> dict[str, Rows]:
    """The rows of the small build, by table."""
    told = versions()
    legs = lineage(told)
    return {
        "companies": companies(),
        "financials": with_filing_dates(financials(), told, legs),
        "versions": told,
        "lineage": legs,
        "filings": filings(),
        "valuations": valuations(),
        "rules": rules(),
        "decisions": decisions(),
    }


def rules() -> Rows:
    """Two rules, one of them without any decision."""
    about = {"source": "ASC 606-10-50-4", "applies": "all filers", "file": "pipelines/normalize/elements/sources.toml"}
    return [
        about
        | {
            "rule": "revenue.total",
            "statement": "Revenue is the filer's own total of revenues.",
            "action": "select",
            "values": 1234,
            "companies": 4,
            "figures": 2345,
        },
        about
        | {
            "rule": "ttm.four-quarters",
            "statement": "Twelve months are the sum of four quarters.",
            "action": "compose",
            "values": 0,
            "companies": 0,
            "figures": 0,
        },
    ]


def decisions() -> Rows:
    """The decisions of the rule for two of the companies."""
    return [
        {"cik": "9990000001", "rule": "revenue.total", "figures": 2000},
        {"cik": "9990000003", "rule": "revenue.total", "figures": 345},
    ]


def valuations() -> Rows:
    """A fair value of LNTR only: the description's example, with amounts in both number formats of a double."""
    example = examples.body(*examples.VALUATION["meaningful"])["data"]
    columns = ("symbol", "currency", "meaningful", "fair_value_per_share", "projection")
    lantern = {
        "cik": "9990000001",
        "meaningful": True,
        "fair_value_per_share": 17.0,
        "reasons": "[]",
        "reason_codes": [],
        "assumptions": json.dumps({name: value for name, value in example.items() if name not in columns}),
        "projection": json.dumps([{**year, "free_cash_flow": 1e8} for year in example["projection"]]),
    }
    without = [(2, ["negative_free_cash_flow", "too_volatile"]), (3, ["too_little_history"]), (4, ["missing_shares"])]
    of_base = json.dumps({"period": "2024Q4", "period_end": "2024-12-31"})
    others = [
        {
            "cik": f"{9990000000 + number:010d}",
            "meaningful": False,
            "reasons": json.dumps(codes),
            "reason_codes": codes,
            "assumptions": of_base,
        }
        for number, codes in without
    ]
    return [lantern, *others]


OVERLAID_FORM = "10-K/A"


def write(folder: Path, rows: Mapping[str, Rows]) -> dict[str, FiledRows]:
    """Write one Parquet file per table, with the columns and the order of the schema; return the rows in the files."""
    folder.mkdir(parents=True, exist_ok=True)
    filed = {}
    for name, table_rows in rows.items():
        table = schema.BY_NAME[name]
        fields = pa.schema([(column.name, ARROW[column.type]) for column in table.columns])
        ordered = pa.Table.from_pylist(table_rows, schema=fields).sort_by([(key, "ascending") for key in table.order])
        path = folder / f"{name}.parquet"
        pq.write_table(ordered, path)
        filed[name] = FiledRows([(path, None)])
    return filed


def publish_small(
    published: Path,
    build_id: str = "b1",
    rows: Mapping[str, Rows] | None = None,
    updated: Mapping[str, str] = UPDATED,
    **synchronization: str,
) -> publish.Build:
    """Publish the small build, or other rows, and point to it."""
    filed = write(published.parent / "tables", tables() if rows is None else rows)
    made = publish.build(published, filed, build_id)
    point(published, made, updated, **synchronization)
    return made


def publish_overlaid(published: Path, build_id: str = "b2", **synchronization: str) -> publish.Build:
    """Publish a build after the current one that differs in the form of a filing, with an overlay; point to it."""
    before, rows = publish.current(published), tables()
    assert before
    rows["filings"][0]["form"] = OVERLAID_FORM
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlay, "MIN_FILE_SIZE", 0)
        filed = write(published.parent / "tables", rows)
        made = publish.build(published, filed, build_id, publish.Renewal(before, frozenset(), {}))
    assert made.base == before.base
    point(published, made, **synchronization)
    return made


OF_COMPANIES = ("financials", "versions", "lineage", "valuations")


def without(rows: dict[str, Rows], cik: str) -> dict[str, Rows]:
    """The rows of tables without the rows of a company."""
    return {name: [row for row in rows[name] if row["cik"] != cik] for name in OF_COMPANIES}


def renewed(
    published: Path, build_id: str = "b2", revenue: float = 4321.0, **changed: Any
) -> tuple[publish.Build, dict[str, Rows]]:
    """Make the next build after the small one, or after the current one, with another revenue of a company; return it
    and its rows."""
    before = publish.current(published)
    if before is None:
        small(published)
        before = publish.current(published)
    assert before is not None
    rows = tables()
    cik = rows["financials"][0]["cik"]
    rows["financials"][0]["revenue"] = revenue
    rows["filings"][0]["form"] = "10-K/A"
    others = without(rows, cik)
    of_company = {name: [row for row in rows[name] if row["cik"] == cik] for name in OF_COMPANIES}
    filed = write(published.parent / "of-company", of_company)
    renewal = publish.Renewal(msgspec.structs.replace(before, **changed), frozenset({cik}), filed)
    all_rows = write(published.parent / "all", rows)
    assert all(others.values())
    return publish.build(published, all_rows, build_id, renewal), rows


def point(published: Path, made: publish.Build, updated: Mapping[str, str] = UPDATED, **synchronization: str) -> None:
    """Point to a build."""
    publish.point(
        published,
        made,
        inputs="fictional",
        synchronization=SYNCHRONIZATION | synchronization,
        updated=updated,
        is_scheduled=True,
    )


def small(published: Path, build_id: str = "b1", **synchronization: str) -> publish.Build:
    """The small build in a folder: made once per process, and copied; it is pointed to."""
    made, folder = _small_once()
    if build_id == made.build_id and not synchronization:
        shutil.copytree(folder, published, symlinks=True, dirs_exist_ok=True)
        return made
    copied = copy(folder, made, published, build_id)
    point(published, copied, **synchronization)
    return copied


def copy(folder: Path, made: publish.Build, published: Path, build_id: str) -> publish.Build:
    """A build of one folder in another, or under another id."""
    file = f"warehouse-{build_id}.duckdb"
    shutil.copytree(folder / copies_of(made.file), published / copies_of(file))
    shutil.copy2(folder / made.file, published / file)
    return replace(made, build_id=build_id, file=file, base=build_id, digests=digests_of(published, file))


@cache
def _small_once() -> tuple[publish.Build, Path]:
    """The small build in a folder that is deleted with the process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return publish_small(folder / "published"), folder / "published"
