"""The Dagster assets, in the order of the flow: documents, facts, values, versions, tables, the published build.

Belongs here: what each asset makes, and the metadata that the UI shows. Does not: any rule or path (stages, tables).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import polars as pl

from pipelines import asset_specs, doubts, log, run_log, stages, tables
from pipelines.edgar.errors import RefusedError, SourceError
from pipelines.edgar.ways import chosen
from pipelines.lake import Lake
from pipelines.normalize.facts.reports import CURRENT_FORMS, PERIODIC_FORMS
from pipelines.progress import report as report_progress
from pipelines.quality import report
from pipelines.quality.checks import in_check_order, measured
from pipelines.quality.text import markdown
from pipelines.resources import Synchronization
from pipelines.run_history import is_scheduled as has_schedule
from warehouse import publish, runs, schema

SAMPLE_ROWS = 12
WAY = "way"
"""The metadata of the documents that says how they were brought up to date, and why so."""
FEEDING_FORMS = frozenset((*PERIODIC_FORMS, *CURRENT_FORMS))
DIGITS = 12
"""Digits of a digest that Dagster shows as a version of code or data."""
FRESH = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=36), warn_window=timedelta(hours=26))
"""A synchronization runs each morning: after 26 hours one is late, after 36 hours one was missed."""
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
    head = lake.head(name, SAMPLE_ROWS, hidden)
    companies = {"companies": lake.companies(name)} if "cik" in head.columns else {}
    return row_metadata(head) | {"dagster/row_count": lake.height(name), **companies, **more}


def _shown(value: object) -> str:
    """A cell as text."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.6g}"
    return "" if value is None else str(value)


def _table_schema(rows: pl.DataFrame) -> dg.TableSchema:
    return dg.TableSchema([dg.TableColumn(name, str(dtype)) for name, dtype in rows.schema.items()])


Work = Callable[[dg.AssetExecutionContext, Synchronization], dg.MaterializeResult[None]]

RETRIES = 3
FIRST_WAIT = 60
"""Seconds before a run that Dagster launched asks a source again that failed; each time twice as long."""


def step(
    group: str, deps: Sequence[dg.AssetKey], kinds: set[str], name: str = "", code_version: str | None = None
) -> Callable[[Work], dg.AssetsDefinition]:
    """An asset that is one step of a synchronization; its log tells progress, counts and seconds."""

    def made(work: Work) -> dg.AssetsDefinition:
        @dg.asset(
            name=name or work.__name__,
            description=work.__doc__,
            group_name=group,
            deps=deps,
            kinds=kinds,
            owners=asset_specs.OWNERS,
            code_version=code_version,
        )
        def run(context: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
            began = time.monotonic()
            with run_log.progress_in(context.log):
                result = work(context, synchronization)
            context.log.info(run_log.in_words(_counts(result), time.monotonic() - began))
            return result

        return run

    return made


@step(EXTRACT, [spec.key for spec in asset_specs.upstream()], {"httpx"})
def documents(context: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """EDGAR's documents of every listed company, as received, in the raw zone; one row for each company."""
    now, lake, store = synchronization.started_at, synchronization.lake, synchronization.store
    with synchronization.open() as source, _asked_again(context, synchronization):
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
    failed = rows.drop_nulls("failure").filter(pl.col("cik").is_in(ciks)).select("cik", "failure")
    run_log.warn_of_each(
        context.log, "companies failed and keep their values", [f"CIK {cik}: {why}" for cik, why in failed.iter_rows()]
    )
    if way.why:
        context.log.info(way.why)
    return dg.MaterializeResult(
        metadata=row_metadata(with_facts, source=source.name, skipped=counts["skipped"], **numbers, **told)
    )


@step(EXTRACT, [documents.key], {"msgspec", "parquet"}, code_version=stages.elements_digest()[:DIGITS])
def facts(context: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The filed facts that the rules use, one row for each fact and filing, of every company with valid documents."""
    lake = synchronization.lake
    counts = stages.update_facts(synchronization.store, lake, _again(synchronization), synchronization.workers)
    quarantined = lake.read("quarantine").select("cik", "place", "reason").iter_rows()
    run_log.warn_of_each(
        context.log,
        "companies are in quarantine and keep their values",
        [f"CIK {cik}: {place}: {reason}" for cik, place, reason in quarantined],
    )
    return _made(lake, "facts", {**table_metadata(lake, "facts"), **counts})


@step(NORMALIZE, [facts.key], {"polars", "parquet"}, code_version=stages.rules_digest()[:DIGITS])
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
    return _made(lake, stages.REPLAYED, {**table_metadata(lake, stages.REPLAYED, hidden=["legs"]), **counts, **shown})


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


@step(NORMALIZE, [values.key], {"polars", "parquet"}, code_version=stages.rules_digest()[:DIGITS])
def versions(_: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
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
    metadata = table_metadata(
        lake,
        stages.VERSIONS,
        hidden=["legs"],
        values=counted["values"].sum(),
        versions=counted["versions"].sum(),
        appended=lake.height(stages.APPENDED),
        versions_by_cause=dg.MetadataValue.md(_markdown(by_cause)),
    )
    return _made(lake, stages.VERSIONS, metadata)


@step(PUBLISH, [versions.key], {"polars", "parquet"}, name="tables", code_version=tables.code_digest()[:DIGITS])
def assembly(_: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
    """The rows of all tables of the warehouse, before they are checked and published."""
    lake = synchronization.lake
    if not tables.are_published(lake, synchronization.before):
        tables.assemble(lake, _synchronizations(synchronization), synchronization.workers)
    sizes = pl.DataFrame(
        [(name, lake.height(tables.assembled(name))) for name in tables.files(lake)], ["table", "rows"], orient="row"
    )
    metadata = table_metadata(
        lake,
        tables.assembled("financials"),
        tables=dg.MetadataValue.md(_markdown(sizes)),
        covered=lake.read(tables.assembled("companies"), ["cik"])["cik"].n_unique(),
        valued=int(lake.read(tables.assembled("valuations"), ["meaningful"])["meaningful"].sum()),
    )
    return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(tables.inputs(lake)[:DIGITS]))


@dg.multi_asset(
    name="publish",
    specs=[
        dg.AssetSpec(
            asset_specs.BUILD,
            deps=[assembly],
            description="The published build: a new DuckDB file, verified before it becomes the current one; none if "
            "nothing is new.",
            group_name=PUBLISH,
            kinds={"duckdb"},
            owners=asset_specs.OWNERS,
            freshness_policy=FRESH,
        ),
        *(asset_specs.table(each, tables.code_digest()[:DIGITS]) for each in schema.TABLES),
    ],
)
def warehouse(
    context: dg.AssetExecutionContext, synchronization: Synchronization
) -> Iterator[dg.MaterializeResult[None]]:
    """Publish the tables; those of a new build are materialized, and the build in any case."""
    began = time.monotonic()
    published = _publish(synchronization, has_schedule(context.instance))
    yield from published
    context.log.info(run_log.in_words(_counts(published[0]), time.monotonic() - began))


def _publish(synchronization: Synchronization, is_scheduled: bool) -> list[dg.MaterializeResult[None]]:
    """Publish a build if a row is new; the result of the build, and those of its tables."""
    lake, published = synchronization.lake, synchronization.home.published
    rows = lake.read("documents").drop_nulls("synchronized_at")
    times: dict[str, Any] = {
        "synchronization": {
            "sync_id": synchronization.sync_id,
            "started_at": synchronization.started_at.isoformat(),
            "finished_at": datetime.now(UTC).isoformat(),
            "source": _source_name(synchronization),
        },
        "is_scheduled": is_scheduled,
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
    synchronization.ended(runs.PUBLISHED)
    of_tables: list[dg.MaterializeResult[None]] = [
        dg.MaterializeResult(
            asset_key=asset_specs.key_of(schema.BY_NAME[name]),
            metadata={"dagster/row_count": held.rows, "build": build.build_id},
            data_version=dg.DataVersion(str(held).replace(" ", "-")),
        )
        for name, held in build.sums.items()
    ]
    made = _published(build.build_id, build.content_hash, build.rows, is_new=True, is_mended=is_mended)
    return [made, *of_tables]


@step(PUBLISH, [asset_specs.BUILD], {"polars", "html"})
def quality_report(_: dg.AssetExecutionContext, synchronization: Synchronization) -> dg.MaterializeResult[None]:
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
    built = {"build": pointer.build, "page": dg.MetadataValue.path(page)}
    return dg.MaterializeResult(metadata=row_metadata(found, **built, **counts, **tables_shown))


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
) -> list[dg.MaterializeResult[None]]:
    """Readers keep the build that they have: nothing is new, or rows that were computed again are the same."""
    if tables.changed_since(synchronization.lake, build.build) is None:  # other code made the same rows
        tables.remember_built(synchronization.lake, build.build)
    publish.record(synchronization.home.published, inputs=inputs, **times)
    synchronization.ended(runs.UNCHANGED)
    return [_published(build.build, build.content_hash, build.rows, is_new=False)]


def _published(
    build: str, content_hash: str, rows: Mapping[str, int], *, is_new: bool, is_mended: bool = False
) -> dg.MaterializeResult[None]:
    sizes = pl.DataFrame({"table": list(rows), "rows": list(rows.values())})
    return dg.MaterializeResult(
        asset_key=asset_specs.BUILD,
        metadata={
            "build": build,
            "content_hash": content_hash,
            "tables": dg.MetadataValue.md(_markdown(sizes)),
            "published": int(is_new),
            "mended": int(is_mended),
            "dagster/row_count": sum(rows.values()),
        },
        data_version=dg.DataVersion(content_hash),
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
    newest = lake.inputs(table).get(tables.NEWEST) or led["build"].last()
    if not pointer or newest != pointer.build:
        led = led.filter(pl.col("build") != newest)  # it found nothing new, was held back, or was killed
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


def _made(lake: Lake, table: str, metadata: Mapping[str, Any]) -> dg.MaterializeResult[None]:
    """The result of a step that made a table of companies; its data version tells whether the rows may differ."""
    digest = tables.digest(*sorted(lake.inputs(table).items()))
    return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(digest[:DIGITS]))


@contextmanager
def _asked_again(context: dg.AssetExecutionContext, synchronization: Synchronization) -> Iterator[None]:
    """In a run that Dagster launched, ask a source that fails again, later; the command says at once that it failed."""
    try:
        yield
    except RefusedError:
        raise  # asking again is what the SEC objects to
    except SourceError as error:
        if synchronization.is_command:
            raise
        seconds = FIRST_WAIT * 2**context.retry_number
        context.log.warning(f"{error}; asked again {RETRIES} times at most, the next time in {seconds} seconds")
        raise dg.RetryRequested(RETRIES, seconds) from error


def _counts(result: dg.MaterializeResult[None]) -> dict[str, int]:
    return {name: count for name, count in (result.metadata or {}).items() if isinstance(count, int)}


def counts_of(metadata: Mapping[str, dg.MetadataValue]) -> dict[str, int]:
    """The counts in the metadata of an asset; each is an entry of its own, so that Dagster plots it over the runs."""
    return {name: entry.value for name, entry in metadata.items() if isinstance(entry, dg.IntMetadataValue)}  # type: ignore[misc]


ASSETS = (documents, facts, values, versions, assembly, warehouse, quality_report)
