"""The steps of the filings themselves: fetching and decoding them.

Belongs here: the results that are shown, and continuing the run after a failure. Does not: choosing documents
(stages.filed.wanted_filings), their rows (stages.filed.statements), the steps of values (steps).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from pipelines.edgar.errors import RefusedError
from pipelines.errors import PipelineError
from pipelines.run import run_log
from pipelines.run.result import Shown, StepResult, shown_rows, shown_table
from pipelines.run.steps import again
from pipelines.run.synchronization import Log, Synchronization
from pipelines.settings import filings_wanted
from pipelines.stages.batch.schemas import PACKAGES
from pipelines.stages.documents import companies_asked
from pipelines.stages.filed import statements as statements_stage
from pipelines.stages.filed import wanted_filings
from pipelines.stages.filed.filed_digests import LINES
from pipelines.stages.filed.shares import UNREAD
from pipelines.stages.filed.wanted_filings import FilingSelection, Origin, mirrored
from pipelines.storage.lake import Lake
from pipelines.tables import filed_files
from pipelines.waiting import on_terminal
from warehouse.errors import WarehouseError

FAILURES = (PipelineError, WarehouseError, OSError, MemoryError, pl.exceptions.PolarsError, duckdb.Error)
STAYS = "; what is published stays as it is, and the next synchronization goes on with the filings"
KEYS = {"data_sets": ["name"], "packages": ["cik", "accession"]}


def filings(synchronization: Synchronization, log: Log) -> StepResult:
    """Fetches the SEC's data sets and the filings' XBRL packages into the raw zone; one row for each document."""
    with _going_on(log):
        _fetch(synchronization, log)
    return _result(synchronization.lake)


def _fetch(synchronization: Synchronization, log: Log) -> None:
    lake, store, asked = synchronization.lake, synchronization.store, synchronization.asked
    with _origin(synchronization) as origin:
        if origin:
            named = asked.symbols and companies_asked(lake.read("listings"), asked)
            newest = synchronization.newest
            request = FilingSelection(filings_wanted(), named or None, synchronization.started_at, asked.full, newest)
            committed = synchronization.commit_what_is_fetched
            try:
                failures = wanted_filings.update(origin, store, lake, request, log.info, log.warning, committed)
            except RefusedError as error:
                synchronization.record_and_commit(log)
                raise RefusedError(f"{error}{STAYS}", passes_in=error.passes_in) from error
            run_log.warn_of_each(log, "documents of filings failed, and are asked for again", failures)


def statements(synchronization: Synchronization, log: Log) -> StepResult:
    """Decodes filings: facts that companyfacts lacks (by member, under own elements), and the lines of statements."""
    with _going_on(log):
        return _decode(synchronization, log)
    return StepResult({"row_count": 0})


def _decode(synchronization: Synchronization, log: Log) -> StepResult:
    lake, is_of_some = synchronization.lake, bool(synchronization.asked.symbols)
    all_quarters = synchronization.full and not is_of_some
    counts = statements_stage.update(
        synchronization.store, lake, again(synchronization), synchronization.workers, all_quarters=all_quarters
    )
    unread = lake.read(UNREAD).select(pl.coalesce("name", "accession"), "reason").iter_rows()
    run_log.warn_of_each(
        log, "filings or data sets cannot be read", [f"{document}: {reason}" for document, reason in unread]
    )
    counts["files_written"] = filed_files.write(lake, synchronization.home.published, of_some=is_of_some)
    rows = filed_files.rows_of(synchronization.home.published)
    shown = {**shown_table(lake, LINES), **counts, **rows, "row_count": rows[LINES]}
    return StepResult(shown, filed_files.inputs(lake))


@contextmanager
def _going_on(log: Log) -> Iterator[None]:
    """Turn an error into a warning, and continue: values are made from the documents that exist. A refusal ends the
    run."""
    try:
        yield
    except RefusedError:
        raise
    except FAILURES as error:
        message = f"filings: {error}; values are made without, and the next synchronization goes on with the filings"
        log.warning(message)
        on_terminal(message)


@contextmanager
def _origin(synchronization: Synchronization) -> Iterator[Origin | None]:
    """The origin of the documents of filings; None if the source has no such documents."""
    if synchronization.source_name != "mirror":
        with synchronization.open() as source:
            yield Origin(source)
        return
    path = Path(synchronization.source)
    yield mirrored(path.parent if path.suffix.lower() == ".zip" else path)


def _result(lake: Lake) -> StepResult:
    """The result that is shown: the files of packages, and the numbers of data sets and packages in the raw zone."""
    counts: dict[str, Shown] = {name: _fetched(lake, name, key) for name, key in KEYS.items()}
    if not lake.holds("packages"):
        return StepResult(shown_rows(pl.DataFrame(schema=PACKAGES), **counts))
    return StepResult(shown_table(lake, "packages") | counts)


def _fetched(lake: Lake, name: str, key: list[str]) -> int:
    """The number of data sets, or of filings, with a fetched document."""
    if not lake.holds(name):
        return 0
    return int(lake.scan(name).drop_nulls("digest").select(pl.struct(key).n_unique()).collect().item())
