"""The tables of the published warehouse, assembled from the tables of the stages.

Belongs here: joining values with listings, one frame for each table of warehouse.schema.
Does not: any rule of accounting (normalize), the file that is published (warehouse.publish).
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl

from pipelines import rule_table
from pipelines.code import digest_of
from pipelines.lake import Lake, Part
from pipelines.normalize.elements import describe_sources
from pipelines.normalize.frames import WITHHELD_OUTCOME as WITHHELD
from pipelines.normalize.industry.sic import MAJOR_GROUPS
from pipelines.normalize.items.item import SUM
from pipelines.normalize.items.line_items import served
from pipelines.normalize.rules import REGISTRY, path
from pipelines.stages import MADE_FROM, REPLAYED, VERSIONS, held_predecessors, in_batches
from pipelines.valuation.table import valuations
from pipelines.workers import ALONE, Workers
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
CONTENT = "content"
SEGMENTS = "segments"
COUNTED = "counted"
OF_COMPANIES = (
    *("companies", "financials", "versions", "lineage", "gaps", "proofs", "decisions", "changes", "splits", "breaks"),
    *("repairs", "valuations"),
)
"""The tables that are made of some companies at a time; the others are small."""
IN_ORDER = ("versions", "lineage")
"""Tables that are made in their order from the log, which is sorted; a build whose rows are not in order is refused."""
LAST = "syncs"
"""The table that is written last: it carries the digest of the inputs of all tables."""


def assemble(lake: Lake, synchronizations: pl.DataFrame, workers: Workers = ALONE) -> None:
    """Write every table of the warehouse that has rows, with the columns and the order of the schema.

    Companies are processed in batches, of which each process holds one at a time. The table that is written last has
    the digest of the inputs of all tables.

    Args:
        lake: tables of the stages.
        synchronizations: rows of table `syncs`.
        workers: the processes that share the batches.
    """
    ciks = sorted({*lake.inputs("profiles"), *lake.read(VERSIONS, ["cik"])["cik"].unique()})
    filings = filing_addresses(lake)
    newest_filing = max(filings["filed"], default=date.min)
    content = {table.name: Content(table.name) for table in schema.TABLES}
    with lake.gathering("warehouse") as batches:
        parts = [lake.only(batch) for batch in in_batches(ciks)]
        for of_part in batches.fill(workers, partial(_of_companies, newest_filing), parts):
            for each in of_part:
                content[each.name].merge(each)
        of_all = {
            "filings": filings,
            "rules": rule_table.table(REGISTRY, {rule: path(rule) for rule in REGISTRY}, batches.of(COUNTED).collect()),
            "securities": lake.read("listings").filter("is_listed", pl.col("kind") != "common"),
            "line_items": line_items(),
            "quarantine": lake.read("quarantine"),
            LAST: synchronizations,
        }
        for name in OF_COMPANIES:
            made, order = batches.of(name), schema.BY_NAME[name].order
            _store(lake, name, made if order[0] == "cik" else made.sort(*order), content[name])
        for name, frame in of_all.items():
            rows = conformed(name, frame)
            content[name].add(rows)
            _store(lake, name, rows.lazy(), content[name])


def _store(lake: Lake, name: str, rows: pl.LazyFrame, content: "Content") -> None:
    digests = {CONTENT: content.digest}
    lake.write(assembled(name), rows, digests | {MADE_FROM: _made_from(lake)} if name == LAST else digests)


def _of_companies(newest_filing: date, part: Part) -> tuple[dict[str, pl.DataFrame], list["Content"]]:
    """The rows of some companies: the tables of OF_COMPANIES, and what each rule decided (COUNTED); their contents."""
    versions = _by_kind(_with_rules(_labelled(part), part))
    current = versions.filter("is_current").drop_nulls("value")
    companies = _companies(part, current)
    gaps = _gaps(part, current)
    found = {"splits": _splits(part), "breaks": part.read("breaks"), "repairs": part.read("repairs")}
    decisions = rule_table.decisions(part.read("decisions"), *found.values())
    frames = {
        "companies": companies,
        "financials": _financials(current, companies),
        "versions": _versions(part, versions),
        "lineage": lineage(versions),
        "gaps": gaps,
        "proofs": _proofs(part, current, gaps),
        "decisions": decisions,
        "changes": _changes(part),
        **found,
        "valuations": _valuations(part, versions, current, newest_filing),
    }
    made = {name: conformed(name, frame) for name, frame in frames.items()}
    contents = [Content(name) for name in made]
    for content in contents:
        content.add(made[content.name])
    return made | {COUNTED: _counted(current, gaps, decisions)}, contents


def are_published(lake: Lake, published: Path) -> bool:
    """Whether the stored tables are those of the published build, and their inputs have not changed since."""
    before = published_before(published)
    return (
        before is not None
        and before.inputs == inputs(lake)
        and lake.inputs(assembled(LAST)).get(MADE_FROM) == _made_from(lake)
    )


def _made_from(lake: Lake) -> str:
    """A digest of the inputs of the tables, without the times of synchronizations, and of the code that makes them."""
    made = [f"{name} {lake.inputs(name)}" for name in ("profiles", "registrants", VERSIONS)]
    kept = [f"{name} {lake.digest(name)}" for name in ("listings", "quarantine")]
    return hashlib.sha256("\n".join([*made, *kept, _code_digest()]).encode()).hexdigest()


@cache
def _code_digest() -> str:
    """The digest of the code, without comments and docstrings, and of the rules' texts, which tables publish."""
    folders = (Path(__file__).parent, Path(schema.__file__).parent)
    digests = [digest_of(folder) for folder in folders]
    return hashlib.sha256("\n".join([*digests, *map(repr, REGISTRY.values())]).encode()).hexdigest()


def conformed(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with the columns of its table in their order and types, sorted in the table's order."""
    table = schema.BY_NAME[name]
    columns = [pl.col(column.name).cast(POLARS_TYPES[column.type]) for column in table.columns]
    typed = frame.select(columns)
    return typed if name in IN_ORDER else typed.sort(*table.order)


def line_items() -> pl.DataFrame:
    """Table `line_items`: the eleven items, with the elements that are their sources."""
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
    """The row of table `syncs` for a synchronization that ends with the build; times in ISO 8601 UTC."""
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
    """The name in the lake of a table of the warehouse before it is published."""
    return f"warehouse_{name}"


def paths(lake: Lake) -> dict[str, Path]:
    """The files that a build is made from: table name to Parquet file."""
    return {
        table.name: lake.path(assembled(table.name)) for table in schema.TABLES if lake.holds(assembled(table.name))
    }


class Content:
    """The contents of a table without times, rows added in any order: fast, only comparable with this class."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._columns = schema.BY_NAME[name].content_names
        self._rows = self._total = self._xor = 0

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows of the table."""
        if self._columns and rows.height:
            hashes = rows.select(self._columns).hash_rows(seed=0).to_numpy()
            self._rows += len(hashes)
            self._total += int(hashes.sum(dtype=np.uint64))
            self._xor ^= int(np.bitwise_xor.reduce(hashes))

    def merge(self, other: "Content") -> None:
        """Add the rows of another part of the table."""
        self._rows += other._rows
        self._total += other._total
        self._xor ^= other._xor

    @property
    def digest(self) -> str:
        """A digest of all rows."""
        if not self._columns:
            return ""
        sums = (self._rows, self._total & 0xFFFF_FFFF_FFFF_FFFF, self._xor)
        return hashlib.sha256(" ".join(map(str, sums)).encode()).hexdigest()


def inputs(lake: Lake) -> str:
    """A digest of the inputs of a build; the same inputs need no new build.

    Without table `changes`, which lists what is new since the previous build and is empty once that is published.
    """
    names = sorted(paths(lake).keys() - {"changes"})
    digests = [f"{name} {lake.inputs(assembled(name)).get(CONTENT, '')}" for name in names]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def published_before(published: Path) -> Pointer | None:
    """The pointer to the published build; None if there is none, or if it is unreadable and must be published again."""
    try:
        pointer = publish.current(published)
    except BuildUnreadable:
        return None
    return pointer if pointer and (published / pointer.file).exists() else None


def _companies(part: Part, current: pl.DataFrame) -> pl.DataFrame:
    """One row for each symbol of common equity of a company that has a value."""
    covered = current.group_by("cik").agg(
        first_period_end=pl.col("period_end").min(), last_period_end=pl.col("period_end").max()
    )
    registrants = part.read("registrants").rename({"name": "registered_name"})
    groups = pl.DataFrame(
        {"major_group": list(MAJOR_GROUPS), "sic_description": list(MAJOR_GROUPS.values())},
        schema={"major_group": pl.String, "sic_description": pl.String},
    )
    return (
        part.read("listings")
        .filter((pl.col("kind") == "common") | pl.col("is_primary"))
        .join(covered, on="cik")
        .join(part.read("profiles"), on="cik")
        .join(registrants, on="cik", how="left")
        .with_columns(
            sic=pl.when(pl.col("sic").str.contains(r"^\d{1,4}$")).then(pl.col("sic").str.zfill(4)),
            name=pl.coalesce("registered_name", "name"),
        )
        .with_columns(major_group=pl.col("sic").str.slice(0, 2))
        .join(groups, on="major_group", how="left")
        .join(part.read("documents").select("cik", data_updated_at="synchronized_at"), on="cik", how="left")
        .with_columns(fiscal_year_end_month=pl.coalesce("fiscal_year_end_month", pl.col("last_period_end").dt.month()))
    )


def _labelled(part: Part) -> pl.DataFrame:
    """All versions with labels of today's fiscal calendar; periods that are not in it keep their recorded labels."""
    names = ["fiscal_year", "fiscal_quarter", "is_year_end"]
    today = part.read("periods").unique(["cik", "period_end"], keep="first", maintain_order=True)
    labelled = part.read("versions").join(
        today, on=["cik", "period_end"], how="left", suffix="_today", maintain_order="left"
    )
    return labelled.with_columns(pl.coalesce(f"{name}_today", name).alias(name) for name in names)


def _with_rules(logged: pl.DataFrame, part: Part) -> pl.DataFrame:
    """All versions with their rules, including those that were recorded before rules had ids."""
    if rule_table.unnamed(logged).height:
        logged = rule_table.with_rules_of_today(logged, part.read(REPLAYED))
    return logged


def _counted(current: pl.DataFrame, gaps: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """What each rule decided; a value or gap of a fiscal year end is published twice but counts once."""
    values, missing = (rows.filter(pl.col("period_kind") == schema.PERIOD_KINDS[0]) for rows in (current, gaps))
    return rule_table.counts(REGISTRY, values, missing, decisions)


def _splits(part: Part) -> pl.DataFrame:
    """Table `splits`: one row for each company and day."""
    return part.read("splits").unique(["cik", "effective_by"], keep="first", maintain_order=True)


def _changes(part: Part) -> pl.DataFrame:
    """Table `changes`: current values that are new since the previous build, with the values before them."""
    row = ["cik", "period_kind", "period_end", "item"]
    appended = _by_kind(part.read("appended").filter("is_current"))
    return appended.select(*row, served("before").alias("before"), served("value").alias("after"), "cause")


def _by_kind(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by period kind: each row as `ttm`, and at fiscal year ends as `annual` too.

    Sorted by company and period kind; otherwise the rows keep their order.
    """
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    ttm = rows.with_columns(period_kind=pl.lit("ttm"), period=pl.concat_str(year, pl.lit("Q"), quarter))
    annual = rows.filter("is_year_end").with_columns(
        period_kind=pl.lit("annual"), period=pl.concat_str(pl.lit("FY"), year)
    )
    return pl.concat([annual, ttm]).sort("cik", maintain_order=True)


def _versions(part: Part, versions: pl.DataFrame) -> pl.DataFrame:
    accepted = part.read("filings").select("cik", "accession", known_at="accepted_at")
    return versions.join(accepted, on=["cik", "accession"], how="left").with_columns(value=served("value"))


def lineage(versions: pl.DataFrame) -> pl.DataFrame:
    """Table `lineage`: the legs of versions, numbered from 1; a leg of a sum is added or subtracted (`operation`)."""
    key = ["cik", "period_kind", "period_end", "item", "version"]
    summed = pl.when(pl.col("weight") < 0).then(pl.lit("subtract")).otherwise(pl.lit("add"))
    return (
        versions.filter(pl.col("legs").list.len() > 0)
        .select(*key, "legs", leg=pl.int_ranges(1, pl.col("legs").list.len() + 1, dtype=pl.Int32))
        .explode("legs", "leg")
        .unnest("legs")
        .with_columns(operation=pl.when(pl.col("role") == SUM).then(summed).otherwise(pl.col("role")))
    )


def _gaps(part: Part, current: pl.DataFrame) -> pl.DataFrame:
    """Table `gaps`: reasons of periods without a value; not where the log still holds a value that is current."""
    row = ["cik", "period_kind", "period_end", "item"]
    periods = part.read("periods").unique(["cik", "period_end"], keep="first", maintain_order=True)
    labelled = _by_kind(part.read("gaps").join(periods, on=["cik", "period_end"]))
    return labelled.join(current.select(row), on=row, how="anti")


def _proofs(part: Part, current: pl.DataFrame, gaps: pl.DataFrame) -> pl.DataFrame:
    """Table `proofs`: the identities that current values satisfy, and those that withhold a value."""
    row = ["cik", "period_kind", "period_end", "item"]
    periods = part.read("periods").unique(["cik", "period_end"], keep="first", maintain_order=True)
    labelled = _by_kind(part.read("proofs").join(periods, on=["cik", "period_end"]))
    values = current.select(row)
    is_withheld = pl.col("outcome") == WITHHELD
    of_gaps = labelled.filter(is_withheld).join(gaps.select(row), on=row, how="semi")
    return pl.concat([labelled.filter(~is_withheld).join(values, on=row, how="semi"), of_gaps])


def _valuations(part: Part, versions: pl.DataFrame, current: pl.DataFrame, newest_filing: date) -> pl.DataFrame:
    """Table `valuations`: the fair value of each covered company, or the reasons why there is none."""
    row = ["cik", "period_kind", "period_end"]
    newest = pl.col("period_end") == pl.col("period_end").max().over("cik", "period_kind")
    tag = pl.col("legs").list.first().struct.field("tag")
    ends = current.select(*row, "period", "item", value=served("value"), tag=tag).filter(
        (pl.col("period_kind") == "annual") | newest
    )
    of_revenue = pl.col("item") == "revenue", pl.col("value").is_not_null()
    revenues = versions.select(*row, "item", "version", "cause", value=served("value")).filter(*of_revenue)
    revenues = revenues.join(ends, on=row, how="semi")
    profiles, evidence, shares, filings = map(part.read, ("profiles", "evidence", "latest_shares", "filings"))
    return valuations(ends, revenues, profiles, evidence, shares, filings, newest_filing)


def _financials(current: pl.DataFrame, companies: pl.DataFrame) -> pl.DataFrame:
    """Table `financials`: one row for each symbol, period kind and period end, with the items as columns."""
    row = ["cik", "period_kind", "period_end", "period", "fiscal_year", "fiscal_quarter"]
    filed = pl.col("legs").list.eval(pl.element().struct.field("filed"))
    wide = (
        current.with_columns(value=served("value"), first=filed.list.min(), last=filed.list.max())
        .group_by(row)
        .agg(
            pl.col("first").min().alias("first_filed"),
            pl.col("last").max().alias("last_filed"),
            *(pl.col("value").filter(pl.col("item") == item).first().alias(item) for item in schema.ITEM_NAMES),
        )
    )
    return wide.join(companies.select("cik", "symbol", "is_primary", "currency"), on="cik")


def filing_addresses(lake: Lake) -> pl.DataFrame:
    """Table `filings`: the filings with facts, with the `url` of each at the SEC."""
    accession = pl.col("accession")
    url = pl.format(
        FILING_URL,
        pl.coalesce("filer", "cik").str.strip_chars_start("0"),
        accession.str.replace_all("-", "", literal=True),
        accession,
    )
    # the URL of a predecessor's filing has the predecessor's CIK
    predecessors = [cik for chain in held_predecessors(lake).values() for cik in chain]
    filers = lake.of_companies("facts", predecessors).select("accession", filer="cik").unique("accession")
    # co-registrants file under one accession number; the filing is listed under the first of them
    return (
        lake.read("filings")
        .sort("accession", "cik")
        .unique("accession", keep="first", maintain_order=True)
        .join(filers, on="accession", how="left", maintain_order="left")
        .with_columns(url=url, share_basis="factor")
    )
