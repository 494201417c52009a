"""The Dagster assets, in the order of the flow: documents, facts, values, versions, tables, the published build.

Belongs here: what each asset makes, and the metadata that the UI shows. Does not: any rule or path (stages, tables).
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import polars as pl

from pipelines import doubts, log, stages, tables
from pipelines.edgar.ways import chosen
from pipelines.lake import Lake
from pipelines.normalize.facts.reports import CURRENT_FORMS, PERIODIC_FORMS
from pipelines.progress import report as report_progress
from pipelines.quality import report
from pipelines.quality.checks import in_check_order, measured
from pipelines.quality.text import markdown
from pipelines.resources import Synchronization
from warehouse import publish

SAMPLE_ROWS = 12
WAY = "way"
"""The metadata of the documents that says how they were brought up to date, and why so."""
FEEDING_FORMS = frozenset((*PERIODIC_FORMS, *CURRENT_FORMS))
EXTRACT, NORMALIZE, PUBLISH = "extract", "normalize", "publish"


def row_metadata(rows: pl.DataFrame, **more: Any) -> dict[str, Any]:
    """Metadata of a table for the UI: number of rows and companies, further entries, and last a few sample rows."""
    metadata: dict[str, Any] = {"dagster/row_count": rows.height}
    if "cik" in rows.columns:
        metadata["companies"] = rows["cik"].n_unique()
    sample = [
        dg.TableRecord({name: _shown(value) for name, value in row.items()})
        for row in rows.head(SAMPLE_ROWS).iter_rows(named=True)
    ]
    return {**metadata, **more, "sample": dg.MetadataValue.table(sample, schema=_table_schema(rows))}


def table_metadata(lake: Lake, name: str, *, hidden: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """The same for a table of the lake; only a few rows are read. `hidden` columns are not shown."""
    head = lake.head(name, SAMPLE_ROWS).drop(hidden)
    companies = {"companies": lake.companies(name)} if "cik" in head.columns else {}
    return row_metadata(head) | {"dagster/row_count": lake.height(name), **companies, **more}


def _shown(value: object) -> str:
    """A cell as text."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.6g}"
    return "" if value is None else str(value)


def _table_schema(rows: pl.DataFrame) -> dg.TableSchema:
    return dg.TableSchema([dg.TableColumn(name, str(dtype)) for name, dtype in rows.schema.items()])


@dg.asset(group_name=EXTRACT, kinds={"httpx"})
def documents(synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """EDGAR's documents of every listed company, as received, in the raw zone; one row for each company."""
    now, lake, store = synchronization.started_at, synchronization.lake, synchronization.store
    with synchronization.open() as source:
        listings = stages.update_listings(source, store, lake, now)
        ciks = stages.companies_asked(listings, synchronization.asked)
        # symbols that are named, and with --full all, are requested even if a 404 is remembered
        again = synchronization.asked.symbols or synchronization.asked.full
        absence_lasts = timedelta(0) if again else None
        wanted = stages.with_predecessors(ciks, listings)
        named = bool(synchronization.asked.symbols)
        full = synchronization.asked.full
        with chosen(source, store, now, FEEDING_FORMS, named=named, full=full, progress=report_progress) as way:
            asks = way.asks(wanted, store)
            rows, counts = stages.update_documents(way.source, store, lake, wanted, now, absence_lasts, asks)
            way.remember(store, rows.drop_nulls("failure")["cik"].to_list())
    with_facts = rows.drop_nulls("facts_digest").filter(pl.col("cik").is_in(listings["cik"].implode()))
    numbers = {
        "seen": len(ciks),
        "with_documents": with_facts.height,
        "changed": counts["new"] + counts["changed"],
        "failed": rows.drop_nulls("failure").filter(pl.col("cik").is_in(ciks)).height,
        "listed": listings.filter("is_listed")["cik"].n_unique(),
    }
    told = {WAY: way.why} if way.why else {}
    return dg.MaterializeResult(metadata=row_metadata(with_facts, source=source.name, counts=dict(numbers), **told))


@dg.asset(group_name=EXTRACT, deps=[documents], kinds={"msgspec", "parquet"})
def facts(synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The filed facts that the rules use, one row for each fact and filing, of every company with valid documents."""
    lake = synchronization.lake
    counts = stages.update_facts(synchronization.store, lake, _again(synchronization), synchronization.workers)
    return dg.MaterializeResult(metadata=table_metadata(lake, "facts", counts=counts))


@dg.asset(group_name=NORMALIZE, deps=[facts], kinds={"polars", "parquet"})
def values(context: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """Every standardized value that a filing led to, with its cause and legs, and the reasons of gaps."""
    lake, steps = synchronization.lake, Steps()
    counts = stages.update_values(lake, _again(synchronization), steps.add, synchronization.workers)
    if told := [f"{name}: {made:,} rows, {seconds:.3f} seconds" for name, made, seconds in steps.table.iter_rows()]:
        context.log.info("\n".join(told))
    rows = lake.scan(stages.REPLAYED).select("cik", "period_end", "item").group_by("item", "cik")
    by_company = rows.agg(values=pl.col("period_end").n_unique(), versions=pl.len())
    by_item = by_company.group_by("item").agg(pl.col("values", "versions").sum(), companies=pl.len()).collect()
    shown = {
        "values_by_item": dg.MetadataValue.md(_markdown(by_item.sort("item"))),
        "steps": dg.MetadataValue.md(_markdown(steps.table.with_columns(pl.col("seconds").round(3)))),
    }
    return dg.MaterializeResult(metadata=table_metadata(lake, stages.REPLAYED, hidden=["legs"], counts=counts, **shown))


class Steps:
    """The steps of the rules, summed over the batches: rows and seconds of each."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, float]] = {}

    def add(self, name: str, rows: int, seconds: float) -> None:
        """Add one step of one batch."""
        before = self._of.get(name, (0, 0.0))
        self._of[name] = before[0] + rows, before[1] + seconds

    @property
    def table(self) -> pl.DataFrame:
        """`step`, `rows`, `seconds`, in the order in which the steps first ran."""
        rows = [(name, *sums) for name, sums in self._of.items()]
        return pl.DataFrame(rows, schema={"step": pl.String, "rows": pl.Int64, "seconds": pl.Float64}, orient="row")


@dg.asset(group_name=NORMALIZE, deps=[values], kinds={"polars", "parquet"})
def versions(synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The version log with the versions that are new; a new segment is committed with the build."""
    home, lake = synchronization.home, synchronization.lake
    pointer = publish.readable(home.published)
    segments = stages.update_versions(
        lake,
        home.log,
        pointer.log if pointer else (),
        synchronization.sync_id,
        synchronization.started_at,
        synchronization.workers,
    )
    lake.write(tables.SEGMENTS, pl.DataFrame({"segment": segments}, schema={"segment": pl.String}))
    rows, current = lake.scan(stages.VERSIONS), pl.col("is_current") & pl.col("value").is_not_null()
    counted = rows.group_by("cause").agg(versions=pl.len(), values=current.sum()).collect()
    by_cause = counted.select("cause", "versions").sort("versions", "cause", descending=[True, False])
    return dg.MaterializeResult(
        metadata=table_metadata(
            lake,
            stages.VERSIONS,
            hidden=["legs"],
            counts={"values": counted["values"].sum(), "versions": counted["versions"].sum()},
            versions_by_cause=dg.MetadataValue.md(_markdown(by_cause)),
        )
    )


@dg.asset(group_name=PUBLISH, deps=[versions], kinds={"polars", "parquet"})
def financials(synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The tables of the warehouse, ready to be published: companies, financials and all others."""
    lake = synchronization.lake
    if not tables.are_published(lake, synchronization.before):
        tables.assemble(lake, _synchronizations(synchronization), synchronization.workers)
    sizes = pl.DataFrame(
        [(name, lake.height(tables.assembled(name))) for name in tables.files(lake)], ["table", "rows"], orient="row"
    )
    return dg.MaterializeResult(
        metadata=table_metadata(
            lake,
            tables.assembled("financials"),
            tables=dg.MetadataValue.md(_markdown(sizes)),
            counts={
                "covered": lake.read(tables.assembled("companies"), ["cik"])["cik"].n_unique(),
                "valued": int(lake.read(tables.assembled("valuations"), ["meaningful"])["meaningful"].sum()),
            },
        )
    )


@dg.asset(group_name=PUBLISH, deps=[financials], kinds={"duckdb"})
def warehouse(synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The published build: a new DuckDB file, verified before it becomes the current one; none if nothing is new."""
    lake, published = synchronization.lake, synchronization.home.published
    rows = lake.read("documents").drop_nulls("synchronized_at")
    times = {
        "synchronization": {
            "sync_id": synchronization.sync_id,
            "started_at": synchronization.started_at.isoformat(),
            "finished_at": datetime.now(UTC).isoformat(),
            "source": _source_name(synchronization),
        },
        "updated": {cik: at.isoformat() for cik, at in rows.select("cik", "synchronized_at").iter_rows()},
    }
    lake.write("covered", lake.read(tables.assembled("companies"), ["cik"]).unique().sort("cik"))
    lake.write(doubts.TABLE, doubts.settled(lake.read(doubts.TABLE)))
    before, inputs = synchronization.before, tables.inputs(lake)
    is_mended = before is None and publish.readable(published) is not None
    if before and before.inputs == inputs:
        return _kept(synchronization, before, inputs, times)
    build = publish.build(published, tables.files(lake), synchronization.sync_id, _renewal(lake, before))
    if before and before.content_hash == build.content_hash:
        return _kept(synchronization, before, inputs, times)
    segments = tuple(lake.read(tables.SEGMENTS)["segment"])
    publish.point(published, build, inputs=inputs, log=segments, is_mended=is_mended, **times)
    tables.remember_built(lake, build.build_id)
    log.committed(synchronization.home.log, segments)
    return _published(build.build_id, build.content_hash, build.rows, is_new=True, is_mended=is_mended)


@dg.asset(group_name=PUBLISH, deps=[warehouse], kinds={"polars", "html"})
def quality_report(synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The quality report of the published build: checks, coverage, gaps, restatements, differences."""
    lake, published = synchronization.lake, synchronization.home.published
    pointer = publish.current(published)
    if pointer is None:
        raise report.ReportError(f"{published}: nothing is published to report on; synchronize first")
    if (page := report.page_of(published, pointer)).exists():
        return dg.MaterializeResult(metadata={"build": pointer.build, "page": dg.MetadataValue.path(page)})
    found = in_check_order(measured(lake, synchronization.workers))
    shown = report.tables_of(lake, found)
    page = report.write(published, pointer, report.render(pointer, shown, found, report.symbols_of(lake)))
    tables_shown = {name: dg.MetadataValue.md(markdown(rows)) for name, rows in shown.items() if rows.height}
    counts = {"comparisons": found.height, "warnings": shown["checks"].filter(~pl.col("passed")).height}
    built = {"build": pointer.build, "page": dg.MetadataValue.path(page), "counts": counts}
    return dg.MaterializeResult(metadata=row_metadata(found, **built, **tables_shown))


def _renewal(lake: Lake, before: publish.Pointer | None) -> publish.Renewal | None:
    """The companies whose rows replace those of the build before; None if all rows are written."""
    changed = tables.changed_since(lake, before.build) if before else None
    if before is None or changed is None:
        return None
    return publish.Renewal(
        before, frozenset(changed), {name: tables.files(lake, changed)[name] for name in tables.OF_COMPANIES}
    )


def _kept(
    synchronization: Synchronization, build: publish.Pointer, inputs: str, times: Mapping[str, Any]
) -> dg.MaterializeResult[None]:
    """Readers keep the build that they have: nothing is new, or rows that were computed again are the same."""
    if tables.changed_since(synchronization.lake, build.build) is None:  # other code made the same rows
        tables.remember_built(synchronization.lake, build.build)
    publish.record(synchronization.home.published, inputs=inputs, **times)
    return _published(build.build, build.content_hash, build.rows, is_new=False)


def _published(
    build: str, content_hash: str, rows: Mapping[str, int], *, is_new: bool, is_mended: bool = False
) -> dg.MaterializeResult[None]:
    sizes = pl.DataFrame({"table": list(rows), "rows": list(rows.values())})
    return dg.MaterializeResult(
        metadata={
            "build": build,
            "is_new": is_new,
            "content_hash": content_hash,
            "tables": dg.MetadataValue.md(_markdown(sizes)),
            "counts": {"published": int(is_new), "mended": int(is_mended)},
        }
    )


def _synchronizations(synchronization: Synchronization) -> pl.DataFrame:
    """The synchronizations that led to the build to be published, this one last."""
    lake, started, table = synchronization.lake, synchronization.started_at.isoformat(), tables.assembled("syncs")
    counts = {"versions": lake.height(stages.VERSIONS), "companies": len(lake.inputs("profiles"))}
    this = tables.synchronization(
        synchronization.sync_id, started, _source_name(synchronization), counts, build=synchronization.sync_id
    )
    if not lake.holds(table):
        return this
    led, pointer = lake.read(table), publish.readable(synchronization.home.published)
    if not pointer or led["build"].last() != pointer.build:
        led = led.head(-1)  # the last one found nothing new, was held back, or was killed
    return pl.concat([led, this])


def _again(synchronization: Synchronization) -> list[str]:
    """The companies to process again even if nothing is new."""
    if not synchronization.full:
        return []
    return stages.companies_asked(synchronization.lake.read("listings"), synchronization.asked)


def _source_name(synchronization: Synchronization) -> str:
    return synchronization.source if synchronization.source in ("live", "sample") else "mirror"


def _markdown(rows: pl.DataFrame) -> str:
    head = f"| {' | '.join(rows.columns)} |\n|{'---|' * rows.width}\n"
    return head + "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows.iter_rows())


def counts_of(metadata: Mapping[str, dg.MetadataValue]) -> dict[str, int]:
    """The counts in the metadata of an asset."""
    value = metadata["counts"].value if "counts" in metadata else {}
    return dict(json.loads(value) if isinstance(value, str) else value)  # type: ignore[arg-type]


ASSETS = (documents, facts, values, versions, financials, warehouse, quality_report)
