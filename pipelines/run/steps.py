"""The steps of a synchronization: documents, facts, values, versions, tables, and the report of the published build.

Belongs here: running each step, and its result to show. Does not: any rule or path (stages, tables), publishing
(publication), the order of the steps (plan), showing them in Dagster (assets).
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import polars as pl

from pipelines.edgar.decode import listing_checks
from pipelines.edgar.fetch.download_plan import chosen
from pipelines.health.tables import mend
from pipelines.loading import loading
from pipelines.normalize.forms import CURRENT_FORMS, PERIODIC_FORMS
from pipelines.normalize.history.log import TWELVE_MONTHS
from pipelines.progress import report as report_progress
from pipelines.quality import report
from pipelines.quality.checks import in_check_order, measured
from pipelines.quality.text import markdown
from pipelines.run import newest_filings, run_log
from pipelines.run.result import Link, Markdown, Shown, StepResult, shown_rows, shown_table
from pipelines.run.synchronization import Log, Synchronization, began
from pipelines.settings import filings_wanted
from pipelines.stages import documents as documents_stage
from pipelines.stages import facts as facts_stage
from pipelines.stages import values as values_stage
from pipelines.stages import versions as versions_stage
from pipelines.stages.batch import held_back
from pipelines.stages.batch.isolation import Fault, ciks_of
from pipelines.stages.batch.schemas import APPENDED, REPLAYED, VERSIONS
from pipelines.storage.lake import Lake
from pipelines.tables import stored
from warehouse.build import publish
from warehouse.record.service_place import pages_of

WAY = "way"
"""The name of the entry that says how the documents were brought up to date, with the reason."""
MALFORMED_ROWS = "malformed_rows"
"""The name of the count of skipped rows of the SEC's list."""
OF_YEARS = pl.col("n") == TWELVE_MONTHS
"""Only values of twelve months and balances are counted; values of quarters are parts of twelve months, and would count
twice."""
FEEDING_FORMS = frozenset((*PERIODIC_FORMS, *CURRENT_FORMS))


def documents(synchronization: Synchronization, log: Log) -> StepResult:
    """Fetches EDGAR's companyfacts and submissions of listed companies into the raw zone; one row for each company."""
    now, lake, store = synchronization.started_at, synchronization.lake, synchronization.store
    with synchronization.open() as source:
        for line in mend(synchronization.home):
            log.warning(line)
        listings = documents_stage.update_listings(source, store, lake, now)
        skipped = listing_checks.skipped(lake.read(listing_checks.TABLE))
        run_log.warn_of_each(log, "rows of the SEC's list are malformed and were skipped", skipped)
        ciks = documents_stage.companies_asked(listings, synchronization.asked)
        # named symbols, and with --full all companies, are requested even after a recorded 404
        again = synchronization.asked.symbols or synchronization.asked.full
        absence_lasts = timedelta(0) if again else None
        asked_for = _without_packages(synchronization, ciks)
        wanted = documents_stage.with_predecessors(asked_for, listings)
        named = bool(synchronization.asked.symbols)
        if not named:
            newest_filings.ask_again(synchronization.home)
        newest_filings.note_feed(synchronization.home, lake)
        full = synchronization.asked.full
        with chosen(source, store, now, FEEDING_FORMS, named=named, full=full, progress=report_progress) as way:
            quarantined = lake.read("quarantine")["cik"].to_list() if lake.holds("quarantine") else []
            asks = way.asks(wanted, store, quarantined, now)
            rows, extracted = documents_stage.update_documents(
                way.source, store, lake, wanted, now, absence_lasts, asks
            )
            documents_stage.note_read(lake, set(ciks).difference(asked_for), now)
            way.remember(store, rows.drop_nulls("failure")["cik"].to_list())
    with_facts = rows.drop_nulls("facts_digest").filter(pl.col("cik").is_in(listings["cik"].implode()))
    counts = extracted.counts
    numbers = {
        "seen": len(ciks),
        "with_documents": with_facts.height,
        "changed": counts["new"] + counts["changed"],
        "failed": rows.drop_nulls("failure").filter(pl.col("cik").is_in(ciks)).height,
        "listed": listings.filter("is_listed")["cik"].n_unique(),
        MALFORMED_ROWS: len(skipped),
    }
    reason = {WAY: way.why} if way.why else {}
    failed = rows.drop_nulls("failure").filter(pl.col("cik").is_in(ciks)).select("cik", "failure")
    run_log.warn_of_each(
        log, "companies failed and keep their values", [f"CIK {cik}: {why}" for cik, why in failed.iter_rows()]
    )
    unread = [f"CIK {company.cik}: {why}" for company in extracted.companies for why in company.unread]
    run_log.warn_of_each(log, "pages of older filings could not be read: times of acceptance are missing", unread)
    if unread:
        numbers["unread_pages"] = len(unread)
    if way.why:
        log.info(way.why)
    return StepResult(shown_rows(with_facts, source=source.name, skipped=counts["skipped"], **numbers, **reason))


def _without_packages(synchronization: Synchronization, ciks: Sequence[str]) -> list[str]:
    """The companies whose documents are requested; companies with a report that is now read from its package are left
    out."""
    lake = synchronization.lake
    if not synchronization.newest or filings_wanted() == "off" or not lake.holds("documents"):
        return [*ciks]
    held = lake.read("documents").drop_nulls("facts_digest")["cik"]
    left_out = newest_filings.from_packages(synchronization.home, held)
    return [cik for cik in ciks if cik not in left_out]


def facts(synchronization: Synchronization, log: Log) -> StepResult:
    """Decodes the filed facts that the rules use, from valid documents; one row for each fact and filing."""
    counts = facts_stage.update(
        synchronization.store, synchronization.lake, again(synchronization), synchronization.workers
    )
    return facts_result(synchronization, log, counts)


def facts_result(synchronization: Synchronization, log: Log, counts: Mapping[str, Any]) -> StepResult:
    """The result of the facts that is shown."""
    lake = synchronization.lake
    _warn_of_quarantined(lake.read("quarantine"), log)
    return _result(lake, "facts", shown_table(lake, "facts", **counts))


def _warn_of_quarantined(rows: pl.DataFrame, log: Log) -> None:
    """Write a warning with the companies in quarantine."""
    quarantined = rows.select("cik", "place", "reason").iter_rows()
    run_log.warn_of_each(
        log,
        "companies are in quarantine and keep their values",
        [f"CIK {cik}: {place}: {reason}" for cik, place, reason in quarantined],
    )


def values(synchronization: Synchronization, log: Log) -> StepResult:
    """Applies the rules: values as known after each filing, with their causes and legs, and the reasons of gaps."""
    steps = Steps()
    if synchronization.first:
        synchronization.begin_again()
    counts = values_stage.update(synchronization.lake, _named(synchronization), steps.add, synchronization.workers)
    return values_result(synchronization, log, counts, steps)


def values_result(synchronization: Synchronization, log: Log, counts: Mapping[str, Any], steps: "Steps") -> StepResult:
    """The result of the values, and of the steps of the rules, that is shown."""
    lake = synchronization.lake
    if lines := [
        f"{name}: {height:,} rows, {seconds:.3f} seconds" for name, height, seconds in steps.table.iter_rows()
    ]:
        log.info("\n".join(lines))
    rows = lake.scan(REPLAYED).filter(OF_YEARS).select("cik", "period_end", "item").group_by("item", "cik")
    by_company = rows.agg(values=pl.col("period_end").n_unique(), versions=pl.len())
    by_item = by_company.group_by("item").agg(pl.col("values", "versions").sum(), companies=pl.len()).collect()
    shown = {
        "values_by_item": Markdown.of(by_item.sort("item")),
        "steps": Markdown.of(steps.table.with_columns(pl.col("seconds").round(3))),
    }
    return _result(lake, REPLAYED, shown_table(lake, REPLAYED, hidden=["legs"], **counts, **shown))


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


def versions(synchronization: Synchronization, _: Log) -> StepResult:
    """Compares the values with the version log; new versions go to a segment that is committed with the build."""
    segments = versions_stage.update(
        synchronization.lake,
        synchronization.home.log,
        pointed(synchronization),
        synchronization.sync_id,
        synchronization.started_at,
        synchronization.workers,
        _named(synchronization),
        appended_before=synchronization.first is not None,
    )
    return versions_result(synchronization, segments)


def _commit_segments(lake: Lake, segments: Sequence[str]) -> None:
    """Write the names of the segments that the build has to commit."""
    lake.write(stored.SEGMENTS, pl.DataFrame({"segment": segments}, schema={"segment": pl.String}))


def pointed(synchronization: Synchronization) -> tuple[str, ...]:
    """The segments of the version log that are committed with the published build."""
    pointer = publish.readable(synchronization.home.published)
    return tuple(pointer.log) if pointer else ()


def versions_result(synchronization: Synchronization, segments: Sequence[str]) -> StepResult:
    """The result of the versions that is shown; the segments that the build has to commit are written to a table."""
    lake = synchronization.lake
    _commit_segments(lake, segments)
    rows, current = lake.scan(VERSIONS).filter(OF_YEARS), pl.col("is_current") & pl.col("value").is_not_null()
    counted = rows.group_by("cause").agg(versions=pl.len(), values=current.sum()).collect()
    by_cause = counted.select("cause", "versions").sort("versions", "cause", descending=[True, False])
    shown = shown_table(
        lake,
        VERSIONS,
        hidden=["legs"],
        values=int(counted["values"].sum()),
        versions=int(counted["versions"].sum()),
        appended=lake.height(APPENDED),
        versions_by_cause=Markdown.of(by_cause),
    )
    return _result(lake, VERSIONS, shown)


def assembly(synchronization: Synchronization, log: Log) -> StepResult:
    """Assembles the rows of all published tables; a company whose rows fail a row gate keeps its earlier rows."""
    lake = synchronization.lake
    named = _named(synchronization)
    before = synchronization.before
    if named or not before or not stored.are_published(lake, before.inputs):
        _assemble(synchronization, named)
    _warn_of_quarantined(held_back.found_after_facts(lake), log)
    sizes = pl.DataFrame(
        [(name, lake.height(stored.assembled(name))) for name in stored.files(lake)],
        ["table", "rows"],
        orient="row",
    )
    companies = lake.read(stored.assembled("companies"), ["cik"])
    shown = shown_table(
        lake,
        stored.assembled("financials"),
        tables=Markdown.of(sizes),
        covered=companies["cik"].n_unique(),
        symbols=companies.height,
        valued=int(lake.read(stored.assembled("valuations"), ["meaningful"])["meaningful"].sum()),
        quarantined=lake.read("quarantine")["cik"].n_unique(),
    )
    return StepResult(shown, stored.inputs(lake))


def _assemble(synchronization: Synchronization, named: Collection[str]) -> None:
    """Make the rows of companies with changed inputs, and of the named companies, and the small tables."""
    lake, before = synchronization.lake, synchronization.before
    with loading():
        from pipelines.tables import build_tables
    faults = build_tables.assemble_companies(lake, synchronization.workers, named)
    _hold_back(synchronization, faults)
    if before and (build_at := began(before.build)):
        versions_stage.add_since(lake, build_at, synchronization.started_at)
    this = build_tables.synchronization(
        synchronization.sync_id,
        synchronization.started_at.isoformat(),
        synchronization.source_name,
        {"versions": lake.height(VERSIONS), "companies": len(lake.inputs("profiles"))},
        build=synchronization.sync_id,
    )
    build_tables.assemble_others(
        lake, pl.concat(build_tables.conformed("syncs", each) for each in (*_led_to_build(synchronization), this))
    )


def _hold_back(synchronization: Synchronization, faults: Sequence[Fault]) -> None:
    """Quarantine companies whose rows may not be published, and remove them from the new segment of the log."""
    if not faults:
        return
    lake, home = synchronization.lake, synchronization.home
    segments = tuple(lake.read(stored.SEGMENTS)["segment"])
    _commit_segments(lake, versions_stage.take_back(lake, home.log, synchronization.sync_id, segments, ciks_of(faults)))
    held_back.add(lake, faults)


def quality_report(synchronization: Synchronization, _: Log) -> StepResult:
    """Writes the quality report of the published build: checks, coverage, gaps, restatements, differences."""
    lake, published = synchronization.lake, synchronization.home.published
    pointer = publish.current(published)
    if pointer is None:
        raise report.ReportError(f"{published}: nothing is published to report on; synchronize first")
    link = Link(f"{pages_of(synchronization.home.root)}/quality")
    if (page := report.page_of(published, pointer)).exists():
        return StepResult({"build": pointer.build, "page": link, "file": page})
    found = in_check_order(measured(lake, synchronization.workers))
    shown = report.tables_of(lake, found)
    page = report.write(published, pointer, report.render(pointer, shown, found, report.symbols_of(lake)))
    tables_shown = {name: Markdown(markdown(rows)) for name, rows in shown.items() if rows.height}
    counts = {"comparisons": found.height, "warnings": shown["checks"].filter(~pl.col("passed")).height}
    return StepResult(shown_rows(found, build=pointer.build, page=link, file=page, **counts, **tables_shown))


def _led_to_build(synchronization: Synchronization) -> list[pl.DataFrame]:
    """The rows of table `syncs` for the synchronizations that led to the published build, before this one."""
    lake, table = synchronization.lake, stored.assembled("syncs")
    if not lake.holds(table):
        return []
    led, pointer = lake.read(table), publish.readable(synchronization.home.published)
    newest = lake.inputs(table).get(stored.NEWEST) or led["build"].last()
    if not pointer or newest != pointer.build:
        led = led.filter(pl.col("build") != newest)  # it changed no row, was held back, or was killed
    return [led]


def again(synchronization: Synchronization) -> list[str]:
    """The companies to process again even if their inputs are unchanged."""
    if not synchronization.full:
        return []
    lake, asked = synchronization.lake, synchronization.asked
    held = () if asked.symbols else lake.inputs("facts")  # includes companies that are no longer listed
    return sorted({*documents_stage.companies_asked(lake.read("listings"), asked), *held})


def _named(synchronization: Synchronization) -> list[str]:
    """The companies of `again`; empty after the first build, which has processed them."""
    return [] if synchronization.first else again(synchronization)


def _result(lake: Lake, table: str, shown: Mapping[str, Shown]) -> StepResult:
    """The result of a step that made a table of companies."""
    return StepResult(shown, stored.digest(*sorted(lake.inputs(table).items())))
