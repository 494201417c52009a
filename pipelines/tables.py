"""The tables of the published warehouse, put together from the tables of the stages.

Belongs here: joining values with listings, one frame a table of warehouse.schema.
Does not: any rule of accounting (normalize), the file that is published (warehouse.publish).
"""

import hashlib
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from pipelines.lake import Lake
from pipelines.normalize.concepts import describe_sources
from pipelines.normalize.sic import MAJOR_GROUPS
from warehouse import publish, schema
from warehouse.errors import BuildUnreadable
from warehouse.publish import Pointer

POLARS_TYPES: dict[str, pl.DataType] = {
    "VARCHAR": pl.String(),
    "DATE": pl.Date(),
    "TIMESTAMPTZ": pl.Datetime("us", "UTC"),
    "INTEGER": pl.Int32(),
    "BIGINT": pl.Int64(),
    "DOUBLE": pl.Float64(),
    "BOOLEAN": pl.Boolean(),
}
FILING_URL = "https://www.sec.gov/Archives/edgar/data/{}/{}/{}-index.htm"
FIRST_VERSION = 1
CONTENT = "content"


def assemble(lake: Lake, synchronizations: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Every table of the warehouse that has rows, with the columns of the schema, sorted as it says.

    Args:
        lake: tables of the stages.
        synchronizations: rows of table `syncs`.
    """
    companies = _companies(lake)
    financials = _financials(lake, companies)
    frames = {
        "companies": companies,
        "financials": financials,
        "lineage": lake.read("lineage").with_columns(version=pl.lit(FIRST_VERSION)),
        "gaps": lake.read("gaps"),
        "splits": lake.read("splits").unique(["cik", "effective_by"], keep="first", maintain_order=True),
        "filings": _filings(lake),
        "securities": lake.read("listings").filter("is_listed", pl.col("kind") != "common"),
        "line_items": line_items(),
        "quarantine": lake.read("quarantine"),
        "syncs": synchronizations,
    }
    return {name: conformed(name, frame) for name, frame in frames.items()}


def conformed(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with just the columns of its table, in their order and types, sorted by the table's order."""
    table = schema.BY_NAME[name]
    columns = [pl.col(column.name).cast(POLARS_TYPES[column.type]) for column in table.columns]
    return frame.select(columns).sort(*table.order)


def line_items() -> pl.DataFrame:
    """Table `line_items`: the eleven items, with the elements that feed them as the rules read them."""
    return pl.DataFrame(
        [
            {
                "name": item.name,
                "unit": item.unit,
                "meaning": item.meaning,
                "formula": item.formula,
                "sources": describe_sources(item.name) or None,
            }
            for item in schema.LINE_ITEMS
        ]
    )


def synchronization(
    sync_id: str, started_at: str, source: str, counts: Mapping[str, int], build: str | None
) -> pl.DataFrame:
    """One row of table `syncs`, for a synchronization that ends with the build; times in ISO 8601 UTC."""
    row = {
        "sync_id": sync_id,
        "started_at": started_at,
        "finished_at": datetime.now(UTC).isoformat(),
        "source": source,
        "counts": json.dumps(dict(sorted(counts.items()))),
        "build": build,
    }
    times = pl.col("started_at", "finished_at").str.to_datetime(time_unit="us", time_zone="UTC")
    return pl.DataFrame([row], schema_overrides={"build": pl.String}).with_columns(times)


def assembled(name: str) -> str:
    """Where in the lake a table of the warehouse waits to be published."""
    return f"warehouse_{name}"


def paths(lake: Lake) -> dict[str, Path]:
    """The files that a build is made from: table name to Parquet file."""
    return {
        table.name: lake.path(assembled(table.name)) for table in schema.TABLES if lake.holds(assembled(table.name))
    }


def content_digest(name: str, rows: pl.DataFrame) -> str:
    """Changes with what a table says, not with when it was made; cheap, and only compared with itself."""
    columns = schema.BY_NAME[name].content_names
    if not columns:
        return ""
    hashes = io.BytesIO()
    rows.select(columns).hash_rows(seed=0).sort().to_frame("hash").write_ipc(hashes)
    return hashlib.sha256(hashes.getvalue()).hexdigest()


def inputs(lake: Lake) -> str:
    """Identifies what a build would be made from: the same inputs make the same build."""
    told = [f"{name} {lake.inputs(assembled(name)).get(CONTENT, '')}" for name in sorted(paths(lake))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def published_before(published: Path) -> Pointer | None:
    """What is published now; None where nothing is, or where it cannot be read and must be published anew."""
    try:
        pointer = publish.current(published)
    except BuildUnreadable:
        return None
    return pointer if pointer and (published / pointer.file).exists() else None


def _companies(lake: Lake) -> pl.DataFrame:
    """One row a symbol of common equity of each company that has a value."""
    covered = (
        lake.read("values")
        .group_by("cik")
        .agg(first_period_end=pl.col("period_end").min(), last_period_end=pl.col("period_end").max())
    )
    registrants = lake.read("registrants").rename({"name": "registered_name"})
    groups = pl.DataFrame(
        {"major_group": list(MAJOR_GROUPS), "sic_description": list(MAJOR_GROUPS.values())},
        schema={"major_group": pl.String, "sic_description": pl.String},
    )
    return (
        lake.read("listings")
        .filter((pl.col("kind") == "common") | pl.col("is_primary"))
        .join(covered, on="cik")
        .join(lake.read("profiles"), on="cik")
        .join(registrants, on="cik", how="left")
        .with_columns(
            sic=pl.when(pl.col("sic").str.contains(r"^\d{1,4}$")).then(pl.col("sic").str.zfill(4)),
            name=pl.coalesce("registered_name", "name"),
        )
        .with_columns(major_group=pl.col("sic").str.slice(0, 2))
        .join(groups, on="major_group", how="left")
        .join(lake.read("documents").select("cik", data_updated_at="synchronized_at"), on="cik", how="left")
        .with_columns(fiscal_year_end_month=pl.coalesce("fiscal_year_end_month", pl.col("last_period_end").dt.month()))
    )


def _financials(lake: Lake, companies: pl.DataFrame) -> pl.DataFrame:
    """One row a symbol, period kind and period end, the items as columns."""
    row = ["cik", "period_kind", "period_end", "period", "fiscal_year", "fiscal_quarter"]
    wide = (
        lake.read("values")
        .group_by(row)
        .agg(
            pl.col("first_filed").min(),
            pl.col("last_filed").max(),
            *(pl.col("value").filter(pl.col("item") == item).first().alias(item) for item in schema.ITEM_NAMES),
        )
    )
    return wide.join(companies.select("cik", "symbol", "is_primary", "currency"), on="cik")


def _filings(lake: Lake) -> pl.DataFrame:
    accession = pl.col("accession")
    url = pl.format(
        FILING_URL,
        pl.col("cik").str.strip_chars_start("0"),
        accession.str.replace_all("-", "", literal=True),
        accession,
    )
    # co-registrants file one accession together; it stays with the first of them
    return (
        lake.read("filings")
        .sort("accession", "cik")
        .unique("accession", keep="first", maintain_order=True)
        .with_columns(url=url)
    )
